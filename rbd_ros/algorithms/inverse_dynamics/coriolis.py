# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Coriolis matrix of the Christoffel symbols: C qd is the velocity-product force.

Of all matrices with that product, it is one that makes Hdot - 2 C skew-symmetric.

Sources: book eq 5.4 for the definition; the recursion over bodies is that of Echeandia and
Wensing, "Numerical methods to compute the Coriolis matrix and Christoffel symbols for rigid-body
systems" (J. Comput. Nonlinear Dyn. 2021), here in base coordinates, where quantities of a subtree
are plain sums.
"""

from __future__ import annotations

from typing import List, Sequence

from rbd_ros.algorithms.declaration import algorithm, EQUIVALENT
from rbd_ros.algorithms.kinds import CONFIGURATION, MATRIX, VELOCITY
from rbd_ros.algorithms.kinematics.kinematics import (
    apparent_column_rates,
    body_velocities,
    motion_columns,
)
from rbd_ros.model import Model
from rbd_ros.spatial import ForceVector, linear3, MotionVector, RigidBodyInertia
from rbd_ros.spatial.scalar import Scalar


@algorithm(
    'coriolis_matrix',
    inputs={'q': CONFIGURATION, 'qd': VELOCITY},
    outputs={'C': MATRIX},
    model=EQUIVALENT,
    source='Echeandia and Wensing, J. Comput. Nonlinear Dyn. 2021',
    pinocchio_equivalent='computeCoriolisMatrix',
)
def coriolis_matrix(model: Model, q: Sequence[Scalar], qd: Sequence[Scalar]) -> List[List[Scalar]]:
    """Return the Coriolis matrix C(q, qd): C qd is the force of Coriolis and centrifugal effects.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :param qd: velocity of the tree, (tree_nv,) [rad/s, m/s]
    :return: C, (tree_nv, tree_nv) [kg m^2/s, kg m/s, kg/s]
    """
    X0, v_body = body_velocities(model, q, qd)
    S = motion_columns(model, q, X0)
    v = {i: X0[i].inverse_apply(v_body[i]) for i in v_body}
    Sring = apparent_column_rates(model, q, qd, X0)
    Sdot = {i: [v[i].cross(s) + ring for s, ring in zip(S[i], Sring[i])] for i in S}
    Ic = {i: X0[i].inverse_apply(body.inertia) for i, body in model.outward()}
    Bc = {i: VelocityFactor.of(Ic[i], v[i]) for i in Ic}

    C: List[List[Scalar]] = [[0.0] * model.tree_nv for _ in range(model.tree_nv)]
    for j, body in model.inward():
        if body.parent != 0:
            Ic[body.parent] = Ic[body.parent] + Ic[j]
            Bc[body.parent] = Bc[body.parent] + Bc[j]
        for column, s, sdot in zip(range(model.tree_nv)[body.v], S[j], Sdot[j]):
            f1 = Ic[j] * sdot + Bc[j].apply(s)
            f2 = Ic[j] * s
            f3 = Bc[j].apply_transpose(s)
            for i in model.support(j):
                for row, t, tdot in zip(range(model.tree_nv)[model.body(i).v], S[i], Sdot[i]):
                    C[row][column] = t.dot(f1)
                    if i != j:
                        C[column][row] = tdot.dot(f2) + linear3.dot(t.angular, f3)
    return C


class VelocityFactor:
    """Matrix B = 1/2 (v x* I - I v x + (I v) xbar*), with (f xbar*) m = m x* f.

    That of a subtree is the sum over its bodies, in common coordinates. By the Jacobi identity it
    is B = [[P, 0], [-f x, 0]] with f = m v - h x w the linear momentum, P = -w x Sigma - v h^T +
    (h . v) 1, and Sigma = tr(I)/2 1 - I the second moment of mass.

    :param P: upper left block, (3, 3)
    :param f: linear momentum, (3,)
    """

    __slots__ = ('P', 'f')

    def __init__(self, P: linear3.Matrix3, f: linear3.Vector3):
        self.P, self.f = P, f

    @classmethod
    def of(cls, inertia: RigidBodyInertia, velocity: MotionVector) -> VelocityFactor:
        """Return the factor of one body, in the coordinates of `inertia` and `velocity`."""
        w, v, h = velocity.angular, velocity.linear, inertia.h
        xx, yx, yy, zx, zy, zz = inertia.I
        half_trace = (xx + yy + zz) * 0.5
        sigma = linear3.full((half_trace - xx, -yx, half_trace - yy, -zx, -zy, half_trace - zz))
        rotation = linear3.cross_matrix(w, sigma)
        hv = linear3.dot(h, v)

        def row(i: int) -> linear3.Vector3:
            x, y, z = ((hv if i == j else 0.0) - rotation[i][j] - v[i] * h[j] for j in range(3))
            return x, y, z

        return cls((row(0), row(1), row(2)), (inertia * velocity).linear)

    def __add__(self, other: VelocityFactor) -> VelocityFactor:
        return VelocityFactor(linear3.add_matrices(self.P, other.P), linear3.add(self.f, other.f))

    def apply(self, m: MotionVector) -> ForceVector:
        """Return the product B m, a force."""
        return ForceVector(linear3.apply(self.P, m.angular), linear3.cross(m.angular, self.f))

    def apply_transpose(self, m: MotionVector) -> linear3.Vector3:
        """Return the angular part of the product B^T m, (3,); its linear part is zero."""
        return linear3.add(
            linear3.apply_transpose(self.P, m.angular), linear3.cross(self.f, m.linear)
        )
