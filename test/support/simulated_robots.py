# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Small robots with analytic motions, for tests of contact and simulation."""

import numpy as np

from rbd_ros import Robot

GRAVITY = 9.81


def link(name, mass=0.0, inertia=(0.0, 0.0, 0.0), center=(0, 0, 0), shape=''):
    """Return a link with principal inertia about its center of mass, and with collision shapes."""
    inertial = (
        f'<inertial><origin xyz="{_text(center)}"/><mass value="{mass!r}"/>'
        f'<inertia ixx="{inertia[0]!r}" iyy="{inertia[1]!r}" izz="{inertia[2]!r}"'
        ' ixy="0" ixz="0" iyz="0"/></inertial>'
    )
    return f'<link name="{name}">{inertial if mass else ""}{shape}</link>'


def collision(shape, xyz=(0, 0, 0), rpy=(0, 0, 0)):
    """Return the text of a collision shape, such as 'sphere radius="0.1"'."""
    return (
        f'<collision><origin xyz="{_text(xyz)}" rpy="{_text(rpy)}"/>'
        f'<geometry><{shape}/></geometry></collision>'
    )


def joint(name, parent, child, kind='continuous', axis=(0, 1, 0), xyz=(0, 0, 0), inside=''):
    """Return the joint between two links."""
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{_text(xyz)}"/><axis xyz="{_text(axis)}"/>{inside}</joint>'
    )


def robot(*elements, **options):
    """Return the robot of some elements."""
    return Robot.from_urdf(f'<robot name="small">{"".join(elements)}</robot>', **options)


def sled(mass, shape, lower=-100.0, upper=100.0, effort=1e9, velocity=1000.0, **options):
    """Return a mass with a shape on a frictionless rail along x."""
    return robot(
        link('base'),
        link('sled', mass, (0.01,) * 3, (0, 0, 0), collision(shape)),
        joint(
            'slide', 'base', 'sled', 'prismatic', (1, 0, 0),
            inside=f'<limit lower="{lower}" upper="{upper}" effort="{effort}" '
            f'velocity="{velocity}"/>',
        ),
        **options,
    )  # fmt: skip


def pendulum(mass=1.0, length=0.5, damping=0.0, friction=0.0, limit='', kind='continuous'):
    """Return a point-like mass on a rod that rotates about the base's y axis, hanging at zero."""
    inside = f'<dynamics damping="{damping!r}" friction="{friction!r}"/>{limit}'
    return robot(
        link('base'),
        link('rod', mass, (1e-13, 1e-13, 1e-13), (0, 0, -length)),
        joint('swing', 'base', 'rod', kind, inside=inside),
    )


def turntable(inertia=0.2, damping=0.0, friction=0.0, limit='', kind='continuous'):
    """Return a body that rotates about the vertical axis."""
    inside = f'<dynamics damping="{damping!r}" friction="{friction!r}"/>{limit}'
    return robot(
        link('base'),
        link('table', 1.0, (inertia,) * 3),
        joint('turn', 'base', 'table', kind, (0, 0, 1), inside=inside),
    )


def body(mass=1.0, inertia=(0.01, 0.01, 0.01), shape='', center=(0, 0, 0), **options):
    """Return a free body."""
    return robot(link('body', mass, inertia, center, shape), floating_base=True, **options)


def ball(mass=1.0, radius=0.1, share=0.4, **options):
    """Return a free ball of inertia `share` m r^2."""
    return body(
        mass, (share * mass * radius**2,) * 3, collision(f'sphere radius="{radius}"'), **options
    )


def at(position, quaternion=(1, 0, 0, 0)):
    """Return the configuration of a free body; the quaternion, w first, may have any length."""
    return np.array([*(np.array(quaternion) / np.linalg.norm(quaternion)), *position], dtype=float)


def _text(values):
    return ' '.join(repr(float(x)) for x in values)
