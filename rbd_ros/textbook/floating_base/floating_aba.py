# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Floating-base articulated-body algorithm (book 9.4, table 9.4)."""

from typing import Dict, List, Mapping, NamedTuple, Optional, Sequence

from rbd_ros.algorithms.articulated_body.aba import plus_diagonal, times_inverse
from rbd_ros.algorithms.declaration import algorithm, EQUIVALENT, INDEPENDENT
from rbd_ros.algorithms.inertia_matrix.factorization import ltdl
from rbd_ros.algorithms.inverse_dynamics.forces import to_body_coordinates
from rbd_ros.algorithms.kinds import CONFIGURATION, EXTERNAL_FORCES, VELOCITY
from rbd_ros.algorithms.momentum.centroidal import rows_of
from rbd_ros.array_types import ResultArray
from rbd_ros.model import Model
from rbd_ros.spatial import ArticulatedBodyInertia, ForceVector, MotionVector
from rbd_ros.spatial.scalar import Scalar
from rbd_ros.textbook.floating_base.floating_base_kinds import (
    BASE_ACCELERATION,
    JOINT_ACCELERATION,
    JOINT_FORCE,
)
from rbd_ros.textbook.floating_base.floating_equations import (
    floating_crba,
    floating_rnea,
    independent,
)
from rbd_ros.textbook.floating_base.floating_state import (
    accelerated,
    factors,
    floating_base,
    FloatingBase,
    require_floating_mass,
)


class FloatingForwardDynamics(NamedTuple):
    """Acceleration of a robot with a floating base.

    :param a0: spatial acceleration of the base in its coordinates, (6,) [rad/s^2, m/s^2]
    :param qdd: acceleration of the joints, (nv - 6,) [rad/s^2, m/s^2]
    """

    a0: ResultArray
    qdd: ResultArray


@algorithm(
    'floating_forward_dynamics',
    inputs={
        'q': CONFIGURATION,
        'qd': VELOCITY,
        'tau': JOINT_FORCE,
        'external_forces': EXTERNAL_FORCES,
    },
    outputs={'a0': BASE_ACCELERATION, 'qdd': JOINT_ACCELERATION},
    result=FloatingForwardDynamics,
    coordinates=INDEPENDENT,
    model=EQUIVALENT,
    source='RBDA table 9.4; eq 9.13 with gears',
    check=require_floating_mass,
)
def floating_forward_dynamics(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    tau: Sequence[Scalar],
    external_forces: Optional[Mapping[int, ForceVector]] = None,
) -> FloatingForwardDynamics:
    """Return the accelerations of base and joints, by the algorithm that suits the model.

    :param q: independent configuration, (nq,) [rad, m]
    :param qd: independent velocity, (nv,) [rad/s, m/s]
    :param tau: independent forces of the joints, (nv - 6,) [N m, N]
    :param external_forces: force on each body in world coordinates, by body number [N m, N]
    :return: a0, (6,), and qdd, (nv - 6,) [rad/s^2, m/s^2]
    """
    base = floating_base(model, q, qd, external_forces)
    return (by_equations_of_motion if model.couplings else floating_aba)(base, tau)


def floating_aba(base: FloatingBase, tau: Sequence[Scalar]) -> FloatingForwardDynamics:
    """Return the accelerations of base and joints by articulated bodies (book table 9.4).

    Gravity accelerates all bodies alike. The motion is computed without it; the acceleration of
    the base gets it at the end.

    :param base: tree on a floating base, and its state
    :param tau: forces of all joints of the tree, (tree.tree_nv,) [N m, N]
    :return: a0, (6,), and qdd, (tree.tree_nv,) [rad/s^2, m/s^2]
    """
    tree, v = base.tree, {0: base.v0}
    X, S, c, U, D, u = {}, {}, {}, {}, {}, {}
    IA: Dict[int, ArticulatedBodyInertia] = {}
    pA: Dict[int, ForceVector] = {}
    for i, body in tree.outward():
        joint = body.joint.calc(base.q[body.q], base.qd[body.v])
        S[i] = joint.S
        X[i] = joint.X * body.tree_transform
        v[i] = X[i] * v[body.parent] + joint.v
        c[i] = joint.c + v[i].cross(joint.v)
        IA[i] = ArticulatedBodyInertia.from_rigid(body.inertia)
        pA[i] = v[i].cross(body.inertia * v[i])
    for i, force in to_body_coordinates(tree, X, base.forces).items():
        pA[i] = pA[i] - force
    IA[0] = ArticulatedBodyInertia.from_rigid(base.inertia)
    pA[0] = v[0].cross(base.inertia * v[0]) - base.force_on_base

    for i, body in tree.inward():
        U[i] = [IA[i] * s for s in S[i].columns]
        rotor = [body.armature] * body.joint.nv
        D[i] = ltdl(plus_diagonal([S[i].T @ column for column in U[i]], rotor))
        u[i] = [t - p for t, p in zip(tau[body.v], S[i].T @ pA[i])]
        UD = times_inverse(U[i], D[i])
        Ia = IA[i]
        for column, scaled in zip(U[i], UD):
            Ia = Ia.minus_dyad(scaled, column)
        pa = pA[i] + Ia * c[i]
        for scaled, x in zip(UD, u[i]):
            pa = pa + scaled * x
        IA[body.parent] = IA[body.parent] + X[i].inverse_apply(Ia)
        pA[body.parent] = pA[body.parent] + X[i].inverse_apply(pa)

    a: Dict[int, MotionVector] = {0: -accelerated(factors(IA[0]), pA[0])}
    qdd: List[Scalar] = [0.0] * tree.tree_nv
    for i, body in tree.outward():
        a_ = X[i] * a[body.parent] + c[i]
        qdd[body.v] = D[i].solve([x - column.dot(a_) for x, column in zip(u[i], U[i])])
        a[i] = a_ + S[i] @ qdd[body.v]
    return FloatingForwardDynamics(a[0] + base.a_g, qdd)


def by_equations_of_motion(base: FloatingBase, tau: Sequence[Scalar]) -> FloatingForwardDynamics:
    """Return the accelerations of base and joints by their equation of motion, gears included.

    Eq 9.13.

    The base comes first, as body 1 does in the equivalent system with a fixed base, so that the
    factors keep the sparsity of the tree.

    :param base: tree on a floating base, and its state
    :param tau: independent forces of the joints, (tree.nv,) [N m, N]
    :return: a0, (6,), and qdd, (tree.nv,) [rad/s^2, m/s^2]
    """
    I0c, F, H, p0c, C = independent(base.tree, *floating_crba(base), *floating_rnea(base))
    matrix = [[*x, *f] for x, f in zip(rows_of(I0c), F)]
    matrix += [[*f, *h] for f, h in zip(zip(*F), H)]
    rest = [-p for p in p0c] + [t - x for t, x in zip(tau, C)]
    solution = ltdl(matrix).solve(rest)
    return FloatingForwardDynamics(MotionVector.from_array(solution[:6]), solution[6:])
