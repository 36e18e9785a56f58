# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Impulses: step changes of velocity of a body, of a handle, of a whole tree (book 11.7).

An impulse is the time integral of a force over zero time: positions stay, and all finite terms of
the equations of motion, such as velocity products and gravity, vanish.
"""

from dataclasses import replace
from typing import List, Mapping, Optional, Sequence

from rbd_ros.algorithms.articulated_body.aba import plus_diagonal, times_inverse
from rbd_ros.algorithms.declaration import algorithm, EQUIVALENT, INDEPENDENT
from rbd_ros.algorithms.inertia_matrix.crba import mass_matrix
from rbd_ros.algorithms.inertia_matrix.factorization import ltdl
from rbd_ros.algorithms.inertia_matrix.singularity import require_regular_mass_matrix
from rbd_ros.algorithms.inverse_dynamics.forces import to_body_coordinates
from rbd_ros.algorithms.kinds import CONFIGURATION, EXTERNAL_FORCES, FORCE, VELOCITY
from rbd_ros.model import Model
from rbd_ros.spatial import (
    ArticulatedBodyInertia,
    ForceVector,
    MotionVector,
    RigidBodyInertia,
)
from rbd_ros.spatial.scalar import Scalar
from rbd_ros.textbook.spatial_algebra.inverse_inertia import InverseInertia

Impulses = Optional[Mapping[int, ForceVector]]

#: A generalized impulse u, conjugate to the velocity.
IMPULSE = replace(
    FORCE,
    symbol='impulse',
    meaning='generalized impulse',
    unit='[N m s, N s]',
)
VELOCITY_CHANGE = replace(VELOCITY, symbol='dv', meaning='step change of the velocity')


def rigid_body_impulse(inertia: RigidBodyInertia, impulse: ForceVector) -> MotionVector:
    """Step change dv of a free rigid body's velocity under an impulse iota = I dv (book eq 11.55).

    :param inertia: inertia I
    :param impulse: iota, in the same coordinates [N m s, N s]
    :return: dv in these coordinates [rad/s, m/s]
    :raises ZeroDivisionError: if the body has no mass
    """
    return InverseInertia.of_body(inertia) * impulse


@algorithm(
    'impulse_response',
    inputs={'q': CONFIGURATION, 'impulse': IMPULSE, 'external_forces': EXTERNAL_FORCES},
    outputs={'dv': VELOCITY_CHANGE},
    coordinates=INDEPENDENT,
    model=EQUIVALENT,
    source='RBDA eq 11.56 to 11.59',
    check=require_regular_mass_matrix,
)
def impulse_response(
    model: Model,
    q: Sequence[Scalar],
    impulse: Sequence[Scalar],
    external_forces: Impulses = None,
) -> List[Scalar]:
    """Step change of the velocity by impulses: H dqd = u + sum of J_i^T iota_i.

    :param q: independent configuration, (nq,) [rad, m]
    :param impulse: generalized impulse u of the joints, (nv,) [N m s, N s]
    :param external_forces: impulse iota on each body in base coordinates, by body number [N m s,
        N s]
    :return: dqd, (nv,) [rad/s, m/s]
    :raises ZeroDivisionError: if the inertia at a joint is the constant 0
    """
    if model.couplings:
        return impulse_response_by_inertia_matrix(model, q, impulse, external_forces)
    return impulse_response_by_articulated_bodies(model, q, impulse, external_forces)


def impulse_response_by_inertia_matrix(
    model: Model, q: Sequence[Scalar], impulse: Sequence[Scalar], impulses: Impulses = None
) -> List[Scalar]:
    """Solve H dqd = u + J^T iota, the impulsive equation of motion (book eq 11.57 and 11.58).

    Arguments are those of `impulse_response`.
    """
    tree_q = model.tree_position(q)
    X = {
        i: body.joint.transform(tree_q[body.q]) * body.tree_transform
        for i, body in model.outward()
    }
    iota = to_body_coordinates(model, X, impulses)
    tree_u: List[Scalar] = [0.0] * model.tree_nv
    for i, body in model.inward():
        if i in iota:
            tree_u[body.v] = body.joint.motion_subspace(tree_q[body.q]).T @ iota[i]
            if body.parent != 0:
                carried = X[i].inverse_apply(iota[i])
                parent = iota.get(body.parent)
                iota[body.parent] = carried if parent is None else parent + carried
    u = [x + y for x, y in zip(impulse, model.independent_force(tree_u))]
    return ltdl(mass_matrix(model, q)).solve(u)


def impulse_response_by_articulated_bodies(
    model: Model, q: Sequence[Scalar], impulse: Sequence[Scalar], impulses: Impulses = None
) -> List[Scalar]:
    """Propagate impulses through articulated bodies: iota_i = IA_i dv_i + pA_i at each handle.

    The articulated-body algorithm (book table 7.1) of a tree without gears, with impulses in the
    place of forces (book eq 11.56). Arguments are those of `impulse_response`.
    """
    X, S, IA, pA, U, D, u = {}, {}, {}, {}, {}, {}, {}
    for i, body in model.outward():
        X[i] = body.joint.transform(q[body.q]) * body.tree_transform
        S[i] = body.joint.motion_subspace(q[body.q])
        IA[i] = ArticulatedBodyInertia.from_rigid(body.inertia)
        pA[i] = ForceVector.zero()
    for i, iota in to_body_coordinates(model, X, impulses).items():
        pA[i] = -iota

    for i, body in model.inward():
        U[i] = [IA[i] * s for s in S[i].columns]
        D[i] = ltdl(
            plus_diagonal([S[i].T @ column for column in U[i]], [body.armature] * body.joint.nv)
        )
        u[i] = [x - p for x, p in zip(impulse[body.v], S[i].T @ pA[i])]
        if body.parent != 0:
            UD = times_inverse(U[i], D[i])
            Ia, pa = IA[i], pA[i]
            for column, scaled, x in zip(U[i], UD, u[i]):
                Ia = Ia.minus_dyad(scaled, column)
                pa = pa + scaled * x
            IA[body.parent] = IA[body.parent] + X[i].inverse_apply(Ia)
            pA[body.parent] = pA[body.parent] + X[i].inverse_apply(pa)

    dv, dqd = {0: MotionVector.zero()}, [0.0] * model.tree_nv
    for i, body in model.outward():
        dv_ = X[i] * dv[body.parent]
        dqd[body.v] = D[i].solve([x - column.dot(dv_) for x, column in zip(u[i], U[i])])
        dv[i] = dv_ + S[i] @ dqd[body.v]
    return dqd
