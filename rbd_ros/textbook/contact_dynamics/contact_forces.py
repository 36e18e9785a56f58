# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Contact normals as spatial forces, and their rates (book 11.1).

A contact normal n is a unit force along the line through the contact point C with the direction e:
[C x e; e] in Pluecker coordinates. It changes as the point moves and as the direction rotates.
"""

from typing import List, Sequence, Tuple

from rbd_ros.spatial import ForceVector, linear3
from rbd_ros.spatial.scalar import Scalar

Scalars = Sequence[Scalar]


def contact_force(point: Scalars, direction: Scalars) -> ForceVector:
    """Return the unit force along a line.

    :param point: a point C of the line, (3,) [m]
    :param direction: unit vector e along it, (3,)

    >>> from rbd_ros.textbook.contact_dynamics.contact_forces import contact_force
    >>> contact_force((0.5, 0.0, 0.0), (0.0, 0.0, 1.0)).moment
    (0.0, -0.5, 0.0)
    """
    e = linear3.vector3(direction)
    return ForceVector(linear3.cross(linear3.vector3(point), e), e)


def contact_force_rate(
    point: Scalars, direction: Scalars, point_rate: Scalars, direction_rate: Scalars
) -> ForceVector:
    """Return the rate of `contact_force`.

    :param point: point C, (3,) [m]
    :param direction: unit vector e, (3,)
    :param point_rate: velocity of C, (3,) [m/s]
    :param direction_rate: rate of e, (3,) [1/s]

    >>> from rbd_ros.textbook.contact_dynamics.contact_forces import contact_force_rate
    >>> up, still = (0.0, 0.0, 1.0), (0.0, 0.0, 0.0)
    >>> contact_force_rate((0.5, 0.0, 0.0), up, (1.0, 0.0, 0.0), still).moment  # it moves along x
    (0.0, -1.0, 0.0)
    """
    e, rate = linear3.vector3(direction), linear3.vector3(direction_rate)
    moved = linear3.cross(linear3.vector3(point_rate), e)
    turned = linear3.cross(linear3.vector3(point), rate)
    return ForceVector(linear3.add(moved, turned), rate)


def contact_forces(
    points: Scalars,
    directions: Scalars,
    point_rates: Scalars,
    direction_rates: Scalars,
    rows: int,
) -> List[List[Tuple[ForceVector, ForceVector]]]:
    """Return the unit forces of several contacts, each with its rate, from flat arrays.

    :param points: points, (3 c,) [m]
    :param directions: directions, by contact, (3 c rows,)
    :param point_rates: velocities of the points, (3 c,) [m/s]
    :param direction_rates: rates of the directions, (3 c rows,) [1/s]
    :param rows: number of directions of each contact
    :return: for each contact pairs of a force and its rate, one pair for each direction
    """
    found = []
    for i in range(len(points) // 3):
        C, Cdot = points[3 * i : 3 * i + 3], point_rates[3 * i : 3 * i + 3]
        forces = []
        for k in range(i * rows, (i + 1) * rows):
            e, edot = directions[3 * k : 3 * k + 3], direction_rates[3 * k : 3 * k + 3]
            forces.append((contact_force(C, e), contact_force_rate(C, e, Cdot, edot)))
        found.append(forces)
    return found
