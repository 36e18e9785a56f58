# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Small robots in contact, for tests of event-driven contact."""

from support.simulated_robots import joint, link, robot

LIMIT = '<limit lower="-99" upper="99" effort="9" velocity="99"/>'


def planar_body(mass, inertia):
    """Return a body that moves in the plane y = 0: q = (x, z, angle about y)."""
    return robot(
        link('base'), link('cart'), link('lift'), link('body', mass, (inertia,) * 3),
        joint('x', 'base', 'cart', 'prismatic', (1, 0, 0), inside=LIMIT),
        joint('z', 'cart', 'lift', 'prismatic', (0, 0, 1), inside=LIMIT),
        joint('turn', 'lift', 'body', axis=(0, 1, 0)),
    )  # fmt: skip


def row_of_balls(masses, gravity=(0.0, 0.0, 0.0)):
    """Return balls that slide along x, independent of one another."""
    names = [f'ball{i}' for i in range(len(masses))]
    elements = [link('base')]
    for name, mass in zip(names, masses):
        elements += [
            link(name, mass, (0.01,) * 3),
            joint(f'{name}_x', 'base', name, 'prismatic', (1, 0, 0), inside=LIMIT),
        ]
    return robot(*elements, gravity=gravity)
