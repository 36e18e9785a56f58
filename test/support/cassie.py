# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Cassie of example-robot-data, a walker with closed legs, in SDF, which has loops."""

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from rbd_ros import Robot
from rbd_ros.model.joints import Revolute, Spherical
from rbd_ros.spatial import PluckerTransform, RigidBodyInertia
from rbd_ros.spatial.rotation import rpy_rotation
from rbd_ros.textbook.models import assemble, Connection
from support import outside

LOOPS = tuple(
    f'{side}-{name}-joint'
    for side in ('left', 'right')
    for name in ('achilles-spring', 'plantar-foot')
)


def exact(angle):
    """Return the multiple of a right angle that a rounded number stands for, or the number."""
    right = 0.5 * np.pi * round(angle / (0.5 * np.pi))
    return right if abs(angle - right) < 1e-5 else angle


def placement(element, angle=exact):
    """Return the transform to the coordinates of a <pose>.

    :param angle: function that corrects each of its angles
    """
    pose = element.find('pose')
    x, y, z, *rpy = map(float, pose.text.split()) if pose is not None else [0.0] * 6
    E = np.transpose(rpy_rotation(*map(angle, rpy)))
    return PluckerTransform(tuple(map(tuple, E.tolist())), (x, y, z))


def inertia(element):
    """Return the inertia of a link in its own coordinates."""

    def number(name):
        return float(element.find(f'inertia/{name}').text)

    xx, yy, zz, xy, xz, yz = map(number, ('ixx', 'iyy', 'izz', 'ixy', 'ixz', 'iyz'))
    center = placement(element)
    R = np.transpose(center.E)
    I = R @ [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]] @ R.T
    return RigidBodyInertia.from_mass_center(
        float(element.find('mass').text), center.r, I.tolist()
    )


def cassie(angle=exact):
    """Return the robot, with loops closed at the neutral configuration, the poses of the file.

    The upper loops have a ball joint instead of the file's hinge, whose axis is misaligned by a
    milliradian: with five constraints instead of three they jam. The lower ones jam, too, with the
    file's right angles of five digits, as the axes of a foot's hinges are not parallel then. The
    pelvis is fixed.

    :param angle: function that corrects each angle of the file
    """
    folder = outside.example_robots_folder()
    if folder is None:
        pytest.skip('no example-robot-data: pip install example-robot-data')
    path = folder / 'cassie_description' / 'robots' / 'cassie_v2.sdf'
    model = ElementTree.parse(path).getroot().find('model')
    links = {link.get('name'): link for link in model.iter('link')}
    poses = {name: placement(link, angle) for name, link in links.items()}
    inertias = {name: inertia(link.find('inertial')) for name, link in links.items()}
    joints = []
    for joint in model.iter('joint'):
        parent, child = joint.find('parent').text.strip(), joint.find('child').text.strip()
        axis = np.array(joint.find('axis/xyz').text.split(), dtype=float)
        ball = joint.get('type') == 'ball' or joint.get('name') in LOOPS
        kind = Spherical() if ball else Revolute(tuple(axis.tolist()))
        at = placement(joint, angle)  # on the child
        damping = float(joint.findtext('axis/dynamics/damping') or 0.0)
        if joint.get('name') in LOOPS:
            damping = 0.0
        joints.append(
            Connection(
                joint.get('name'),
                parent,
                child,
                kind,
                at * poses[child] * poses[parent].inverse(),
                at,
                damping=damping,
            )
        )
    del inertias['pelvis']
    return Robot(assemble('cassie', 'pelvis', inertias, joints, loop_joints=LOOPS))
