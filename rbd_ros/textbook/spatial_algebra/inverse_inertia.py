# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Inverse inertia and bias acceleration of a rigid body, free or constrained (book 2.15).

A body's acceleration is a = Phi f + b. A constrained body has no inertia in that sense, but it has
an inverse inertia, whose range is the motion space of the constraints (book 3.3).
"""

from __future__ import annotations

from typing import List, Optional, Tuple

import numpy as np

from rbd_ros.spatial import linear3
from rbd_ros.spatial.inertia import ArticulatedBodyInertia, RigidBodyInertia
from rbd_ros.spatial.linear3 import Matrix3, Symmetric3
from rbd_ros.spatial.quantities import SpatialQuantity
from rbd_ros.spatial.scalar import Scalar, ScalarArray
from rbd_ros.spatial.spatial_vectors import ForceVector, MotionSubspace, MotionVector
from rbd_ros.spatial.transform import PluckerTransform


class InverseInertia(SpatialQuantity):
    """Inverse inertia Phi, [[A, B], [B^T, C]], symmetric, from forces to motions.

    :param A: lower triangle of the block from moments to angular motion, (6,) [1/(kg m^2)]
    :param B: block from linear forces to angular motion, (3, 3) [1/(kg m)]
    :param C: lower triangle of the block from linear forces to linear motion, (6,) [1/kg]

    >>> from rbd_ros.textbook.spatial_algebra.inverse_inertia import InverseInertia
    >>> Phi = InverseInertia.of_body(tool)
    >>> np.allclose(Phi.matrix() @ tool.matrix(), np.eye(6))
    True
    >>> S = MotionSubspace([MotionVector((1.0, 0.0, 0.0), (0.0, 0.0, 0.0))])
    >>> hinged = InverseInertia.of_constrained_body(tool, S)
    >>> np.linalg.matrix_rank(hinged.matrix())
    1
    >>> np.allclose(Phi.transformed(PluckerTransform.identity()).matrix(), Phi.matrix())
    True
    """

    __slots__ = ('A', 'B', 'C')

    def __init__(self, A: Symmetric3, B: Matrix3, C: Symmetric3):
        self.A: Symmetric3 = tuple(A)
        self.B: Matrix3 = linear3.matrix3(B, 'B')
        self.C: Symmetric3 = tuple(C)

    @classmethod
    def of_body(cls, inertia: RigidBodyInertia) -> InverseInertia:
        """Return the inverse inertia of a free rigid body, in closed form (book eq 2.74).

        :raises ZeroDivisionError: if the inertia is constant and singular
        """
        mass, center, I_C = inertia.mass_center()
        A = linear3.inverse_symmetric(linear3.symmetric(I_C))
        cA = linear3.cross_matrix(center, linear3.full(A))
        # c x^T is the opposite of c x
        m = 1 / mass
        moved = linear3.matrix_cross(cA, center)
        xx, yx, yy, zx, zy, zz = linear3.symmetric(moved)
        return cls(A, linear3.transpose(cA), (m - xx, -yx, m - yy, -zx, -zy, m - zz))

    @classmethod
    def of_constrained_body(cls, inertia: RigidBodyInertia, S: MotionSubspace) -> InverseInertia:
        """Return apparent inverse inertia S (S^T I S)^-1 S^T of a body that can move along S only.

        Source: book eq 3.54. It is the same for all S that span the same space.

        :raises ZeroDivisionError: if the columns of S are constant and dependent
        """
        n = len(S.columns)
        identity = [[1 if i == j else 0 for j in range(n)] for i in range(n)]
        total: ScalarArray = np.zeros((6, 6), dtype=object)
        for column, row in zip(S.columns, _solve(_projected(inertia, S), identity)):
            total = total + np.outer(tuple(column), tuple(S @ row))
        return cls(
            linear3.symmetric(linear3.matrix3(total[:3, :3])),
            linear3.matrix3(total[:3, 3:]),
            linear3.symmetric(linear3.matrix3(total[3:, 3:])),
        )

    def matrix(self) -> ScalarArray:
        """Return the matrix [[A, B], [B^T, C]], (6, 6)."""
        B: ScalarArray = np.array(self.B)
        return np.block(
            [[np.array(linear3.full(self.A)), B], [B.T, np.array(linear3.full(self.C))]]
        )

    def __mul__(self, force: ForceVector) -> MotionVector:
        """Return the acceleration Phi f that a force causes (36m + 30a)."""
        if not isinstance(force, ForceVector):
            raise TypeError(f'inverse inertia * {type(force).__name__}: it maps forces to motions')
        n, f = force.moment, force.linear
        return MotionVector(
            linear3.add(linear3.apply(linear3.full(self.A), n), linear3.apply(self.B, f)),
            linear3.add(
                linear3.apply_transpose(self.B, n), linear3.apply(linear3.full(self.C), f)
            ),
        )

    def transformed(self, X: PluckerTransform) -> InverseInertia:
        """Return the same inverse inertia in the coordinates that X leads to, X Phi X^T.

        Table 2.5.
        """
        # As [[C, B^T], [B, A]] it transforms like an articulated-body inertia, whose halves are in
        # the opposite order, since it maps motions to forces.
        swapped = X.apply(ArticulatedBodyInertia(self.A, linear3.transpose(self.B), self.C))
        return InverseInertia(swapped.M, linear3.transpose(swapped.H), swapped.I)

    def __repr__(self) -> str:
        return f'InverseInertia(A={self.A}, B={self.B}, C={self.C})'


def bias_acceleration(
    inverse: InverseInertia,
    inertia: RigidBodyInertia,
    bias_force: ForceVector,
    bias: Optional[MotionVector] = None,
) -> MotionVector:
    """Return the acceleration b that a body has without an applied force (book eq 2.72, 3.55).

    :param inverse: inverse inertia Phi of the body, free or constrained
    :param inertia: inertia I of the body itself
    :param bias_force: bias force p, v x* I v minus the known forces
    :param bias: Sdot qd of a constrained body, whose acceleration is S qdd + Sdot qd

    >>> from rbd_ros.textbook.spatial_algebra.inverse_inertia import bias_acceleration
    >>> from rbd_ros.textbook.spatial_algebra.inverse_inertia import InverseInertia
    >>> weight = ForceVector.at_point((0.0, 0.0, -19.62), (0.0, 0.0, 0.1))  # [N]
    >>> bias_acceleration(InverseInertia.of_body(tool), tool, -weight).to_array()  # it falls
    array([-0.  , -0.  , -0.  , -0.  , -0.  , -9.81])
    """
    if bias is None:
        return -(inverse * bias_force)
    return bias - inverse * (inertia * bias + bias_force)


def split_force(
    inertia: RigidBodyInertia, S: MotionSubspace, force: ForceVector
) -> Tuple[ForceVector, ForceVector]:
    """Split a force into the parts that accelerate a constrained body and load its constraints.

    The first is I S (S^T I S)^-1 S^T f (book eq 3.28). The second is the rest of f, which does no
    work along S. Both are the same for all S that span the same space.

    :param S: motion subspace of the constraints, (6, n)
    :param force: force on the body at rest
    :return: f_a and f_c with f_a + f_c = f and S^T f_c = 0
    :raises ZeroDivisionError: if the columns of S are constant and dependent

    >>> from rbd_ros.textbook.spatial_algebra.inverse_inertia import split_force
    >>> slide = MotionSubspace([MotionVector((0.0, 0.0, 0.0), (0.0, 0.0, 1.0))])
    >>> push = ForceVector((0.0, 0.0, 0.0), (5.0, 0.0, 10.0))  # [N]
    >>> moves, held = split_force(tool, slide, push)
    >>> np.round(moves.linear, 6), np.round(held.linear, 6)
    (array([ 0.,  0., 10.]), array([5., 0., 0.]))
    """
    rates = _solve(_projected(inertia, S), [[value] for value in S.T @ force])
    accelerating = inertia * (S @ [row[0] for row in rates])
    return accelerating, force - accelerating


def _projected(inertia: RigidBodyInertia, S: MotionSubspace) -> List[List[Scalar]]:
    """Return the inertia S^T I S of motion along S."""
    return [S.T @ (inertia * column) for column in S.columns]


def _solve(A: List[List[Scalar]], B: List[List[Scalar]]) -> List[List[Scalar]]:
    """Return the solution X of A X = B by elimination, for a positive definite A."""
    n = len(A)
    rows = [[*a, *b] for a, b in zip(A, B)]
    for k in range(n):
        pivot = 1 / rows[k][k]
        rows[k] = [pivot * x for x in rows[k]]
        for i in range(n):
            if i != k:
                factor = rows[i][k]
                rows[i] = [x - factor * y for x, y in zip(rows[i], rows[k])]
    return [row[n:] for row in rows]
