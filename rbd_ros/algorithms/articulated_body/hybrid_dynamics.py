# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Hybrid dynamics: forces given at some DoFs, accelerations at the others (book 9.1, 9.2).

With all forces given it is forward dynamics, with all accelerations given inverse dynamics. The
selection may be known when the function is traced, and folds away, or be a number 0 or 1 like any
other.
"""

from typing import List, Mapping, NamedTuple, Optional, Sequence

from rbd_ros.algorithms.articulated_body.aba import plus_diagonal, times_inverse
from rbd_ros.algorithms.declaration import algorithm, EQUIVALENT, INDEPENDENT
from rbd_ros.algorithms.inertia_matrix.crba import mass_matrix
from rbd_ros.algorithms.inertia_matrix.factorization import ltdl
from rbd_ros.algorithms.inertia_matrix.singularity import require_open_chains
from rbd_ros.algorithms.inverse_dynamics.forces import gravity_acceleration, to_body_coordinates
from rbd_ros.algorithms.inverse_dynamics.rnea import bias_force
from rbd_ros.algorithms.kinds import (
    ACCELERATION,
    CONFIGURATION,
    EXTERNAL_FORCES,
    FORCE,
    KNOWN,
    PARTITION,
    VELOCITY,
)
from rbd_ros.array_types import ResultArray
from rbd_ros.model import Model
from rbd_ros.spatial import ArticulatedBodyInertia, ForceVector, MotionVector
from rbd_ros.spatial.scalar import Scalar

Scalars = Sequence[Scalar]


class HybridDynamics(NamedTuple):
    """Motion and forces of all degrees of freedom, including the given ones.

    :param a: acceleration, (nv,) [rad/s^2, m/s^2]
    :param tau: generalized force, (nv,) [N m, N]
    """

    a: ResultArray
    tau: ResultArray


@algorithm(
    'hybrid_dynamics',
    inputs={
        'q': CONFIGURATION,
        'qd': VELOCITY,
        'known': KNOWN,
        'forward': PARTITION,
        'external_forces': EXTERNAL_FORCES,
    },
    outputs={'a': ACCELERATION, 'tau': FORCE},
    coordinates=INDEPENDENT,
    result=HybridDynamics,
    model=EQUIVALENT,
    source='RBDA 9.1 and 9.2',
    check=require_open_chains,
)
def hybrid_dynamics(
    model: Model,
    q: Scalars,
    qd: Scalars,
    known: Scalars,
    forward: Scalars,
    external_forces: Optional[Mapping[int, ForceVector]] = None,
) -> HybridDynamics:
    """Return the accelerations and forces of all DoFs, by the algorithm that suits the model.

    :param q: independent configuration, (nq,) [rad, m]
    :param qd: independent velocity, (nv,) [rad/s, m/s]
    :param known: force where `forward` is 1, acceleration where it is 0, (nv,)
    :param forward: 1 where the force is given, else 0, (nv,)
    :param external_forces: force on each body in base coordinates, by body number [N m, N]
    :return: both for all degrees of freedom, including the given ones
    """
    solve = by_inertia_matrix if model.couplings else articulated_body_hybrid_dynamics
    return solve(model, q, qd, known, forward, external_forces)


def by_inertia_matrix(
    model: Model,
    q: Scalars,
    qd: Scalars,
    known: Scalars,
    forward: Scalars,
    external_forces: Optional[Mapping[int, ForceVector]] = None,
) -> HybridDynamics:
    """Return the hybrid dynamics by H a + C = tau, its rows and columns of the given forces.

    Book eq 9.3.

    Arguments are those of `hybrid_dynamics`.
    """
    n = range(len(known))
    tree_q, tree_qd = model.tree_position(q), model.tree_velocity(qd)
    H = mass_matrix(model, q)
    C = model.independent_force(bias_force(model, tree_q, tree_qd, external_forces))
    given = [(1.0 - f) * x for f, x in zip(forward, known)]
    rest = [forward[i] * (known[i] - C[i] - _dot(H[i], given)) for i in n]
    a = [x + y for x, y in zip(ltdl(_restricted(H, forward)).solve(rest), given)]
    tau = [f * x + (1.0 - f) * (_dot(H[i], a) + C[i]) for i, f, x in zip(n, forward, known)]
    return HybridDynamics(a, tau)


def articulated_body_hybrid_dynamics(
    model: Model,
    q: Scalars,
    qd: Scalars,
    known: Scalars,
    forward: Scalars,
    external_forces: Optional[Mapping[int, ForceVector]] = None,
) -> HybridDynamics:
    """Return the articulated-body algorithm for joints with given accelerations.

    Book table 9.3.

    A DoF with given acceleration does not yield to forces, so the articulated-body inertia is not
    reduced; its acceleration adds to the velocity-product terms.

    Arguments are those of `hybrid_dynamics`, for a tree without gears.
    """
    X, S, v, c, IA, pA, U, D, u = {}, {}, {0: MotionVector.zero()}, {}, {}, {}, {}, {}, {}
    given = [(1.0 - f) * x for f, x in zip(forward, known)]
    for i, body in model.outward():
        joint = body.joint.calc(q[body.q], qd[body.v])
        S[i] = joint.S
        X[i] = joint.X * body.tree_transform
        v[i] = X[i] * v[body.parent] + joint.v
        c[i] = joint.c + v[i].cross(joint.v) + S[i] @ given[body.v]
        IA[i] = ArticulatedBodyInertia.from_rigid(body.inertia)
        pA[i] = v[i].cross(body.inertia * v[i])
    for i, force in to_body_coordinates(model, X, external_forces).items():
        pA[i] = pA[i] - force

    for i, body in model.inward():
        free = forward[body.v]
        columns = [IA[i] * s for s in S[i].columns]
        D_full = plus_diagonal(
            [S[i].T @ column for column in columns], [body.armature] * len(free)
        )
        U[i] = [column * f for column, f in zip(columns, free)]
        D[i] = ltdl(_restricted(D_full, free))
        u[i] = [f * (t - p) for f, t, p in zip(free, known[body.v], S[i].T @ pA[i])]
        if body.parent != 0:
            UD = times_inverse(U[i], D[i])
            Ia = IA[i]
            for column, scaled in zip(U[i], UD):
                Ia = Ia.minus_dyad(scaled, column)
            pa = pA[i] + Ia * c[i]
            for scaled, x in zip(UD, u[i]):
                pa = pa + scaled * x
            IA[body.parent] = IA[body.parent] + X[i].inverse_apply(Ia)
            pA[body.parent] = pA[body.parent] + X[i].inverse_apply(pa)

    a = {0: -gravity_acceleration(model)}
    qdd: List[Scalar] = [0.0] * model.nv
    tau: List[Scalar] = [0.0] * model.nv
    for i, body in model.outward():
        a_ = X[i] * a[body.parent] + c[i]
        found = D[i].solve([x - column.dot(a_) for x, column in zip(u[i], U[i])])
        a[i] = a_ + S[i] @ found
        qdd[body.v] = [x + y for x, y in zip(found, given[body.v])]
        needed = S[i].T @ (IA[i] * a[i] + pA[i])
        tau[body.v] = [
            f * x + (1.0 - f) * (t + body.armature * acceleration)
            for f, x, t, acceleration in zip(forward[body.v], known[body.v], needed, qdd[body.v])
        ]
    return HybridDynamics(qdd, tau)


def _restricted(H: Sequence[Scalars], forward: Scalars) -> List[List[Scalar]]:
    """Return the rows and columns of the given forces.

    The identity in the others, which decouples them.
    """
    return [
        [f * g * H[i][j] + ((1.0 - f) if i == j else 0.0) for j, g in enumerate(forward)]
        for i, f in enumerate(forward)
    ]


def _dot(a: Scalars, b: Scalars) -> Scalar:
    return sum(x * y for x, y in zip(a, b))
