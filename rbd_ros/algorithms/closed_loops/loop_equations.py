# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""All coefficients of the equations of motion of a closed-loop system (book 8.1, 8.6, 8.7).

H a + C' = tau + K^T lambda and K a = k, with C' = C - tau^a: the active forces of the loop joints
count as external forces on the spanning tree (book table 8.2).
"""

from typing import List, Mapping, NamedTuple, Optional, Sequence, Tuple

from rbd_ros.algorithms.articulated_body.aba import times_inverse
from rbd_ros.algorithms.closed_loops.loop_closure import loop_transforms
from rbd_ros.algorithms.closed_loops.loop_constraints import (
    bias_motion,
    BiasMotion,
    constraints_of,
)
from rbd_ros.algorithms.declaration import algorithm
from rbd_ros.algorithms.inertia_matrix.crba import crba
from rbd_ros.algorithms.inertia_matrix.factorization import ltdl
from rbd_ros.algorithms.inverse_dynamics.forces import to_body_coordinates
from rbd_ros.algorithms.kinds import (
    CONFIGURATION,
    EXTERNAL_FORCES,
    FORCE,
    INERTIA_MATRIX,
    LOOP_BIAS,
    LOOP_FORCES,
    LOOP_JACOBIAN,
    LOOP_RESIDUAL,
    LOOP_VELOCITY,
    VELOCITY,
)
from rbd_ros.array_types import ResultArray
from rbd_ros.model import Model
from rbd_ros.model.joints import JointType
from rbd_ros.spatial import ForceVector, PluckerTransform
from rbd_ros.spatial.scalar import Scalar


class LoopEquations(NamedTuple):
    """Coefficients of H a + C = tau + K^T lambda, K a = k, and errors of the constraints.

    :param H: joint-space inertia matrix of the spanning tree, (nv, nv) [kg m^2, kg m, kg]
    :param C: bias force less the active forces of the loop joints, (nv,) [N m, N]
    :param K: Jacobian of the constraints, (n^c, nv)
    :param k: right-hand side without stabilization, (n^c,) [rad/s^2, m/s^2]
    :param delta: position errors, (n^c,) [rad, m]
    :param velocity: velocity errors K v, (n^c,) [rad/s, m/s]
    """

    H: ResultArray
    C: ResultArray
    K: ResultArray
    k: ResultArray
    delta: ResultArray
    velocity: ResultArray


@algorithm(
    'loop_equations',
    inputs={
        'q': CONFIGURATION,
        'qd': VELOCITY,
        'loop_forces': LOOP_FORCES,
        'external_forces': EXTERNAL_FORCES,
    },
    outputs={
        'H': INERTIA_MATRIX,
        'C': FORCE,
        'K': LOOP_JACOBIAN,
        'k': LOOP_BIAS,
        'delta': LOOP_RESIDUAL,
        'velocity': LOOP_VELOCITY,
    },
    result=LoopEquations,
    source='RBDA eq 8.36; tables 6.2, 8.3 and 8.4',
)
def loop_equations(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    loop_forces: Sequence[Scalar],
    external_forces: Optional[Mapping[int, ForceVector]] = None,
) -> LoopEquations:
    """Return the equations of motion of the spanning tree, and the constraints of the loops.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :param qd: velocity of the tree, (tree_nv,) [rad/s, m/s]
    :param loop_forces: active forces of the loop joints along their degrees of freedom [N m, N]
    :param external_forces: force on each body in base coordinates, by body number [N m, N]
    """
    motion = bias_motion(model, q, qd)
    C = bias_less_active_forces(model, motion, loop_forces, external_forces)
    constraints = constraints_of(model, motion)
    return LoopEquations(
        crba(model, q), C, constraints.K, constraints.k, constraints.delta, constraints.velocity
    )


def bias_less_active_forces(
    model: Model,
    motion: BiasMotion,
    loop_forces: Sequence[Scalar],
    external_forces: Optional[Mapping[int, ForceVector]] = None,
) -> List[Scalar]:
    """Return the bias force of the spanning tree less tau^a, C' = C - tau^a (book table 8.3).

    :param motion: result of `bias_motion`
    :param loop_forces: active forces of the loop joints along their degrees of freedom [N m, N]
    :param external_forces: force on each body in base coordinates, by body number [N m, N]
    :return: generalized forces, (tree_nv,) [N m, N]
    """
    X, X0, S, v, a = motion
    f = {0: ForceVector.zero()}
    for i, body in model.outward():
        f[i] = body.inertia * a[i] + v[i].cross(body.inertia * v[i])
    for i, force in to_body_coordinates(model, X, external_forces).items():
        f[i] = f[i] - force

    at = 0
    for loop in model.loops:
        p, s = loop.predecessor.body, loop.successor.body
        active = ForceVector.zero()
        _, relative = loop_transforms(loop, X0)
        for column in active_force_subspace(loop.joint, relative):
            active, at = active + column * loop_forces[at], at + 1
        fa = loop.successor.placement.inverse_apply(active)
        f[s] = f[s] - fa
        f[p] = f[p] + X0[p].apply(X0[s].inverse_apply(fa))

    C: List[Scalar] = [0.0] * model.tree_nv
    for i, body in model.inward():
        C[body.v] = S[i].T @ f[i]
        if body.parent != 0:
            f[body.parent] = f[body.parent] + X[i].inverse_apply(f[i])
    return C


def active_force_subspace(
    joint: JointType, X: Optional[PluckerTransform] = None
) -> Tuple[ForceVector, ...]:
    """Return the columns of T^a, the forces of unit generalized forces of a loop joint.

    Book eq 3.36.

    Of all T^a with S^T T^a = 1 this is S (S^T S)^-1 read as forces. Another one would change the
    constraint forces, but not the motion.

    :param joint: type of the joint
    :param X: transform from predecessor to successor coordinates; does not matter for a lower pair
    :return: nv forces in successor coordinates
    """
    at = PluckerTransform.identity() if X is None else X
    S = [tuple(s) for s in joint.motion_subspace_at(at).columns]
    if not S:
        return ()
    gram = [[sum(x * y for x, y in zip(s, t)) for t in S] for s in S]
    return tuple(times_inverse([ForceVector.from_array(s) for s in S], ltdl(gram)))
