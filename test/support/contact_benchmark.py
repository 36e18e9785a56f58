# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The contact benchmark for tests; benchmark/ is no package, so its modules are found by path."""

import sys

import numpy as np

from support.source_imports import ROOT

_before = list(sys.path)
sys.path.insert(0, str(ROOT / 'benchmark'))
import contact  # noqa: E402
import contact_engines  # noqa: E402
from contact_engines import engine, front, our_engine, rules  # noqa: E402
import contact_scenes  # noqa: E402
from contact_scenes import arms, balls, boxes, quadruped, scene, urdf  # noqa: E402
import energy  # noqa: E402
import friction  # noqa: E402
import goals  # noqa: E402
import inverse_kinematics  # noqa: E402
import marked  # noqa: E402
import robots  # noqa: E402
import scale  # noqa: E402
import scale_scenes  # noqa: E402
from scale_scenes import machines  # noqa: E402
from sections import contact as section  # noqa: E402

sys.path[:] = _before

__all__ = [
    'arms',
    'balls',
    'boxes',
    'contact',
    'contact_engines',
    'contact_scenes',
    'energy',
    'engine',
    'friction',
    'front',
    'goals',
    'inverse_kinematics',
    'machines',
    'made_up',
    'marked',
    'our_engine',
    'quadruped',
    'robots',
    'rules',
    'scale',
    'scale_scenes',
    'scene',
    'section',
    'urdf',
]


def made_up(the_scene, time, position=None, velocity=None, quaternion=None, contacts=()):
    """Return the trajectory of the free bodies of a scene.

    What is left out is as at the start, at rest.
    """
    count = len(time)
    start = np.array([body.position for body in the_scene.free]).reshape(-1, 3)
    turned = np.array([body.quaternion for body in the_scene.free]).reshape(-1, 4)
    return scene.Trajectory(
        1e-3,
        np.asarray(time, dtype=float),
        np.tile(start, (count, 1, 1)) if position is None else position,
        np.tile(turned, (count, 1, 1)) if quaternion is None else quaternion,
        np.zeros((count, len(start), 6)) if velocity is None else velocity,
        *(np.zeros((count, n)) for n in (7, 6, 0, 0)),
        contacts=list(contacts),
    )
