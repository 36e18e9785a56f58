# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Frictionless contacts of one rigid body with fixed surfaces (book 11.1, 11.2).

All vectors are in one fixed coordinate system, of any choice.
"""

from typing import List, NamedTuple, Sequence, Tuple

from rbd_ros.algorithms.articulated_body.matrices import Matrix, Vector
from rbd_ros.spatial import ForceVector, MotionVector, RigidBodyInertia
from rbd_ros.spatial.scalar import Scalar, where_positive
from rbd_ros.textbook.spatial_algebra.inverse_inertia import InverseInertia


class BodyContacts(NamedTuple):
    """Coefficients of zeta_dot = M lambda + d, and of the acceleration a = free + A lambda.

    :param M: separation accelerations per contact force N^T I^-1 N, (c, c) [1/kg]
    :param d: separation accelerations without contact forces, (c,) [m/s^2]
    :param free: acceleration without contact forces [rad/s^2, m/s^2]
    :param A: acceleration per contact force I^-1 N, by columns
    """

    M: Matrix
    d: Vector
    free: MotionVector
    A: List[MotionVector]


def single_contact(M: Scalar, d: Scalar) -> Tuple[Scalar, Scalar]:
    """Return the contact force and separation acceleration of a single contact (book eq 11.10).

    :param M: n . I^-1 n, positive [1/kg]
    :param d: separation acceleration without a contact force [m/s^2]
    :return: lambda [N] and zeta_dot [m/s^2]: one of them is zero, the other not negative

    >>> from rbd_ros.textbook.contact_dynamics.single_body import single_contact
    >>> single_contact(0.5, -9.81)  # 2 kg on the ground: held [N]
    (19.62, 0.0)
    >>> single_contact(0.5, 1.0)  # pulled up: it leaves [m/s^2]
    (0.0, 1.0)
    """
    return where_positive(-d, -d / M, 0.0), where_positive(d, d, 0.0)


def body_contacts(
    inertia: RigidBodyInertia,
    velocity: MotionVector,
    force: ForceVector,
    normals: Sequence[ForceVector],
    normal_rates: Sequence[ForceVector],
) -> BodyContacts:
    """Return the contact problem of one body (book eq 11.8, 11.9, 11.21 and 11.22).

    :param inertia: inertia of the body
    :param velocity: its velocity [rad/s, m/s]; for contacts that persist, n . v = 0
    :param force: sum of the forces on it, with gravity, without contact forces [N m, N]
    :param normals: contact normals, unit forces on the body (`contact_forces.contact_force`)
    :param normal_rates: their rates (`contact_forces.contact_force_rate`)
    :raises ZeroDivisionError: if the inertia is constant and singular

    >>> from rbd_ros.textbook.contact_dynamics.contact_forces import contact_force
    >>> from rbd_ros.textbook.contact_dynamics.single_body import body_contacts
    >>> from rbd_ros.spatial import ForceVector, MotionVector, RigidBodyInertia
    >>> block = RigidBodyInertia.from_mass_center(2.0, (0.0, 0.0, 0.0), 0.01 * np.eye(3))
    >>> weight = ForceVector((0.0, 0.0, 0.0), (0.0, 0.0, -19.62))
    >>> normal = contact_force((0.0, 0.0, -0.1), (0.0, 0.0, 1.0))
    >>> found = body_contacts(block, MotionVector.zero(), weight, [normal], [ForceVector.zero()])
    >>> found.M, np.round(found.d, 3)  # [1/kg], [m/s^2]
    ([[0.5]], array([-9.81]))
    """
    inverse = InverseInertia.of_body(inertia)
    free = inverse * (force - velocity.cross(inertia * velocity))
    A = [inverse * n for n in normals]
    M = [[A[max(i, j)].dot(normals[min(i, j)]) for j in range(len(A))] for i in range(len(A))]
    d = [free.dot(n) + velocity.dot(rate) for n, rate in zip(normals, normal_rates)]
    return BodyContacts(M, d, free, A)
