# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Articulated-body algorithm: forward dynamics of a kinematic tree (book 7.3, table 7.1)."""

from typing import List, Mapping, Optional, Sequence

from rbd_ros.algorithms.inertia_matrix.factorization import LTDL, ltdl
from rbd_ros.algorithms.inverse_dynamics.forces import gravity_acceleration, to_body_coordinates
from rbd_ros.model import Model
from rbd_ros.spatial import ArticulatedBodyInertia, ForceVector, MotionVector
from rbd_ros.spatial.scalar import Scalar


def aba(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    tau: Sequence[Scalar],
    external_forces: Optional[Mapping[int, ForceVector]] = None,
    diagonal: Optional[Sequence[Scalar]] = None,
) -> List[Scalar]:
    """Return the accelerations that joint forces cause, by the articulated-body algorithm.

    Book table 7.1.

    Rotor inertia is included (book eq 9.28), joint friction is not. IA and pA of each body are the
    inertia and bias force of the body with its subtree, free to move at its joints.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :param qd: velocity of the tree, (tree_nv,) [rad/s, m/s]
    :param tau: generalized forces, (tree_nv,) [N m, N]
    :param external_forces: force on each body in base coordinates, by body number [N m, N]
    :param diagonal: added to the diagonal of the inertia matrix, (tree_nv,) [kg m^2, kg]
    :return: qdd = FD(q, qd, tau, fx), (tree_nv,) [rad/s^2, m/s^2]
    :raises ZeroDivisionError: if the inertia at a joint is the constant 0
    """
    X, S, v, c, IA, pA, U, D, u = {}, {}, {0: MotionVector.zero()}, {}, {}, {}, {}, {}, {}
    extra = [0.0] * model.tree_nv if diagonal is None else diagonal
    for i, body in model.outward():
        joint = body.joint.calc(q[body.q], qd[body.v])
        S[i] = joint.S
        X[i] = joint.X * body.tree_transform
        v[i] = X[i] * v[body.parent] + joint.v
        c[i] = joint.c + v[i].cross(joint.v)
        IA[i] = ArticulatedBodyInertia.from_rigid(body.inertia)
        pA[i] = v[i].cross(body.inertia * v[i])
    for i, force in to_body_coordinates(model, X, external_forces).items():
        pA[i] = pA[i] - force

    for i, body in model.inward():
        U[i] = [IA[i] * s for s in S[i].columns]
        rotor = [body.armature + x for x in extra[body.v]]
        D[i] = ltdl(plus_diagonal([S[i].T @ column for column in U[i]], rotor))
        u[i] = [t - p for t, p in zip(tau[body.v], S[i].T @ pA[i])]
        if body.parent != 0:
            UD = times_inverse(U[i], D[i])
            Ia, pa = IA[i], pA[i]
            for column, scaled in zip(U[i], UD):
                Ia = Ia.minus_dyad(scaled, column)
            pa = pa + Ia * c[i]
            for scaled, x in zip(UD, u[i]):
                pa = pa + scaled * x
            IA[body.parent] = IA[body.parent] + X[i].inverse_apply(Ia)
            pA[body.parent] = pA[body.parent] + X[i].inverse_apply(pa)

    a, qdd = {0: -gravity_acceleration(model)}, [0.0] * model.tree_nv
    for i, body in model.outward():
        a_ = X[i] * a[body.parent] + c[i]
        qdd[body.v] = D[i].solve([x - column.dot(a_) for x, column in zip(u[i], U[i])])
        a[i] = a_ + S[i] @ qdd[body.v]
    return qdd


def plus_diagonal(D: List[List[Scalar]], extra: Sequence[Scalar]) -> List[List[Scalar]]:
    """Return the sum of a square matrix and a diagonal one, such as the inertia of rotors.

    Book eq 9.28.

    :param D: square matrix, (n, n)
    :param extra: the diagonal, (n,)
    """
    return [[x + extra[i] if i == j else x for j, x in enumerate(row)] for i, row in enumerate(D)]


def times_inverse(U: List[ForceVector], D: LTDL) -> List[ForceVector]:
    """Return the columns of U D^-1.

    :param U: columns of a 6 by n matrix
    :param D: factors of a symmetric matrix, (n, n)
    """
    rows = [D.solve(row) for row in zip(*(tuple(column) for column in U))]
    return [ForceVector.from_array(column) for column in zip(*rows)]
