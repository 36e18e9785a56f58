# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Stewart platform: six legs with sliders between the ground and a platform."""

import numpy as np

from rbd_ros import Robot
from rbd_ros.model.joints import Floating, Prismatic, Revolute, Spherical
from rbd_ros.spatial import PluckerTransform, RigidBodyInertia
from rbd_ros.textbook.models import assemble, Connection


def stewart():
    """Return the Stewart platform.

    Six legs of a universal joint and a slider, each with a ball on top.
    """
    inertias = {
        'platform': RigidBodyInertia.from_mass_center(
            3.0, (0.01, 0.02, 0.03), np.diag([0.04, 0.05, 0.07]).tolist()
        )
    }
    joints = [Connection('free', 'world', 'platform', Floating())]
    move = PluckerTransform.translation
    for k in range(6):
        below, above = 2.0 * (k // 2) + 0.5 * (k % 2), 2.0 * ((k + 1) // 2) + 0.5 * (k % 2) - 0.75
        foot = (0.5 * np.cos(below), 0.5 * np.sin(below), 0.0)
        head = (0.3 * np.cos(above), 0.3 * np.sin(above), -0.02)
        for name, mass, center in (
            (f'cross{k}', 0.05, 0.0),
            (f'lower{k}', 0.3, 0.1),
            (f'upper{k}', 0.2, -0.1),
        ):
            inertias[name] = RigidBodyInertia.from_mass_center(
                mass, (0.0, 0.0, center), np.diag([0.002, 0.002, 0.001]).tolist()
            )
        joints += [
            Connection(f'x{k}', 'world', f'cross{k}', Revolute((1.0, 0.0, 0.0)), move(foot)),
            Connection(f'y{k}', f'cross{k}', f'lower{k}', Revolute((0.0, 1.0, 0.0))),
            Connection(
                f'slide{k}',
                f'lower{k}',
                f'upper{k}',
                Prismatic((0.0, 0.0, 1.0)),
                move((0, 0, 0.5)),
            ),
            Connection(
                f'ball{k}', f'upper{k}', 'platform', Spherical(), move((0, 0, 0)), move(head)
            ),
        ]
    return Robot(
        assemble('stewart', 'world', inertias, joints, loop_joints=[f'ball{k}' for k in range(6)])
    )


def stewart_start(robot):
    q = robot.neutral()
    at = next(s for i, (s, _) in robot.model.independent_slices.items() if s.stop - s.start == 7)
    q[at] = [1.0, 0.02, 0.01, -0.03, 0.02, 0.01, 0.55]
    return q
