# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Random planar robots as URDF text: a tilted plane, branches, bodies above each other."""

import numpy as np

from rbd_ros.model import load_urdf
from support import dense
from support.layout import read
from support.random_trees import inertial_element
from support.textbook import Textbook

GRAVITY = (1.0, -2.0, -9.0)
TYPES = ('revolute', 'prismatic', 'planar', 'continuous', 'prismatic', 'revolute', 'continuous')
# name: seed, types, whether the plane is the base's x-y plane, number of gears
KINDS = {
    'tilted tree': (1, TYPES, False, 0),
    'tilted tree with gears': (2, TYPES, False, 2),
    'upright arm': (3, ('revolute',) * 5, True, 0),
    'tilted arm': (3, ('revolute',) * 5, False, 0),
    'sliders': (4, ('prismatic',) * 4, False, 0),
    'sliders with a gear': (5, ('prismatic',) * 4, False, 1),
}


def _numbers(values):
    return ' '.join(repr(float(x)) for x in values)


def _rpy(R):
    """Return the roll, pitch and yaw of R = Rz Ry Rx."""
    return (
        np.arctan2(R[2, 1], R[2, 2]),
        np.arcsin(-R[2, 0]),
        np.arctan2(R[1, 0], R[0, 0]),
    )


def urdf(seed, types, upright, gears):
    """Return the URDF text of a planar tree, and the plane's normal in base coordinates."""
    rng = np.random.default_rng(seed)
    normal = np.array([0.0, 0.0, 1.0]) if upright else rng.normal(size=3)
    normal = normal / np.linalg.norm(normal)
    normals = [normal]
    links, joints, leaders = [f'<link name="base">{inertial_element(rng)}</link>'], [], []
    kinds = [*types, *['mimic'] * gears]
    for i, kind in enumerate(kinds, start=1):
        parent = int(rng.integers(max(0, i - 3), i))
        if upright:
            angle = rng.uniform(-3.0, 3.0)
            rpy, R = (0.0, 0.0, angle), np.eye(3)
        else:
            # x and y of a planar joint are unambiguous where z is the normal.
            R = _turn_to(rng, normals[parent]) if kind == 'planar' else dense.rotation(rng)
            rpy = _rpy(R)
        n = R.T @ normals[parent]
        normals.append(n)
        extra = ''
        if kind == 'mimic':
            leader, kind = leaders[int(rng.integers(len(leaders)))]
            extra = f'<mimic joint="{leader}" multiplier="{rng.uniform(-2, 2)!r}" offset="0.2"/>'
        elif kind != 'planar':
            leaders.append((f'joint{i}', kind))
        if kind == 'prismatic':
            axis = np.cross(n, rng.normal(size=3))
            axis /= np.linalg.norm(axis)
        else:
            axis = n if kind == 'planar' else n * rng.choice([-1.0, 1.0])
        if kind in ('revolute', 'prismatic'):
            extra += '<limit lower="-3" upper="3" effort="100" velocity="10"/>'
        links.append(f'<link name="link{i}">{inertial_element(rng)}</link>')
        joints.append(
            f'<joint name="joint{i}" type="{kind}"><parent link="{_name(parent)}"/>'
            f'<child link="link{i}"/><origin xyz="{_numbers(rng.uniform(-0.5, 0.5, 3))}" '
            f'rpy="{_numbers(rpy)}"/><axis xyz="{_numbers(axis)}"/>{extra}</joint>'
        )
    return f'<robot name="planar{seed}">{"".join(links)}{"".join(joints)}</robot>', normal


def _turn_to(rng, normal):
    """Return the rotation whose z axis is `normal`."""
    x = np.cross(normal, rng.normal(size=3))
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(normal, x), normal])


def _name(i):
    return f'link{i}' if i else 'base'


def planar_tree(name):
    """Return the model, independent textbook, URDF text, and the normal of a robot of `KINDS`."""
    text, normal = urdf(*KINDS[name])
    rng = np.random.default_rng(9)
    armature = {joint: rng.uniform(0.1, 0.9) for joint in sorted(read(text).types)}
    model = load_urdf(text, False, GRAVITY, armature=armature)
    return model, Textbook(text, False, GRAVITY, armature), text, normal
