# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Derivatives of forward dynamics, through those of inverse dynamics.

For a = FD(q, v, tau), ID(q, v, a) is tau for all q and v, so that

    da/dq = -H^-1 dID/dq,   da/dv = -H^-1 dID/dv,   da/dtau = H^-1

with the derivatives of inverse dynamics at that fixed acceleration (J. Carpentier and N. Mansard,
"Analytical derivatives of rigid body dynamics algorithms", RSS 2018). The products with H^-1
dominate the cost: they use the factors of H, column by column, and preserve branch-induced zeros
(response.py).
"""

from dataclasses import replace
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from rbd_ros.algorithms.array import position_rates
from rbd_ros.algorithms.declaration import algorithm, EQUIVALENT, INDEPENDENT, Kind
from rbd_ros.algorithms.derivatives.analytical_derivatives import (
    analytical_derivatives,
    has_constant_subspaces,
    InverseDynamicsDerivatives,
)
from rbd_ros.algorithms.derivatives.derivatives import has_many_dofs
from rbd_ros.algorithms.derivatives.derivatives_by_bodies import (
    always,
    derivatives_by_bodies,
    has_very_many_dofs,
)
from rbd_ros.algorithms.derivatives.response import Followers, responses, responses_by
from rbd_ros.algorithms.inertia_matrix.crba import mass_matrix
from rbd_ros.algorithms.inertia_matrix.factorization import LTDL, ltdl
from rbd_ros.algorithms.inertia_matrix.inverse_mass_matrix import symmetric_inverse
from rbd_ros.algorithms.inertia_matrix.singularity import require_regular_mass_matrix
from rbd_ros.algorithms.inverse_dynamics.forces import gravity_acceleration
from rbd_ros.algorithms.inverse_dynamics.rnea import rnea
from rbd_ros.algorithms.kinds import (
    ACCELERATION,
    CONFIGURATION,
    EXTERNAL_FORCES,
    FORCE,
    INVERSE_INERTIA_MATRIX,
    MATRIX,
    VELOCITY,
)
from rbd_ros.array_types import ResultArray
from rbd_ros.model import Model
from rbd_ros.spatial import ForceVector, linear3, MotionVector
from rbd_ros.spatial.scalar import derivatives, is_zero, Scalar, simd_hint

Matrix = List[List[Scalar]]
_Forces = Optional[Mapping[int, ForceVector]]

_INPUTS: Mapping[str, Kind] = {
    'q': CONFIGURATION,
    'qd': VELOCITY,
    'tau': FORCE,
    'external_forces': EXTERNAL_FORCES,
}
# Stored whole, like the compiler's derivatives.
_OUTPUTS = {
    'a': ACCELERATION,
    'da_dq': MATRIX,
    'da_dv': MATRIX,
    'da_dtau': replace(INVERSE_INERTIA_MATRIX, symmetric=False),
}


class ForwardDynamicsDerivatives(NamedTuple):
    """Forward dynamics and its derivatives; by q along the velocities.

    :param a: accelerations, (nv,) [rad/s^2, m/s^2]
    :param da_dq: their derivatives by the configuration, (nv, nv)
    :param da_dv: by the velocity, (nv, nv)
    :param da_dtau: by the generalized forces, the inverse of the inertia matrix, (nv, nv)
    """

    a: ResultArray
    da_dq: ResultArray
    da_dv: ResultArray
    da_dtau: ResultArray


@algorithm(
    'forward_dynamics_analytical_derivatives',
    inputs=_INPUTS,
    outputs=_OUTPUTS,
    result=ForwardDynamicsDerivatives,
    coordinates=INDEPENDENT,
    model=EQUIVALENT,
    source='Carpentier and Mansard, RSS 2018; Singh, Russell and Wensing, IEEE RA-L 2022',
    check=require_regular_mass_matrix,
    slow_compile=True,
    pinocchio_equivalent='computeABADerivatives',
)
def forward_dynamics_analytical_derivatives(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    tau: Sequence[Scalar],
    external_forces: _Forces = None,
) -> ForwardDynamicsDerivatives:
    """Return the forward dynamics and its analytical derivatives, by those of inverse dynamics.

    Of a tree whose joints have constant motion subspaces. Arguments and results are those of
    `forward_dynamics_derivatives`.

    >>> D = robot.kernel('forward_dynamics_analytical_derivatives').function(q, v, tau)
    >>> np.allclose(D.da_dq, robot.derivatives.forward_dynamics(q, v, tau).da_dq)
    True
    """
    return _by_hand(_analytical_derivatives, model, q, qd, tau, external_forces)


@algorithm(
    'forward_dynamics_derivatives_by_bodies',
    inputs=_INPUTS,
    outputs=_OUTPUTS,
    result=ForwardDynamicsDerivatives,
    coordinates=INDEPENDENT,
    model=EQUIVALENT,
    source='Carpentier and Mansard, RSS 2018; RBDA 2.11',
    check=require_regular_mass_matrix,
    slow_compile=True,
    pinocchio_equivalent='computeABADerivatives',
    specialization=forward_dynamics_analytical_derivatives,
    prefer_when=has_very_many_dofs,
    applicable_when=always,
)
def forward_dynamics_derivatives_by_bodies(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    tau: Sequence[Scalar],
    external_forces: _Forces = None,
) -> ForwardDynamicsDerivatives:
    """Return the forward dynamics and its derivatives, by those of inverse dynamics body by body.

    Of a tree whose joints have constant motion subspaces. Arguments and results are those of
    `forward_dynamics_derivatives`.

    >>> result = robot.kernel('forward_dynamics_derivatives_by_bodies').function(q, v, tau)
    >>> np.allclose(result.da_dq, robot.derivatives.forward_dynamics(q, v, tau).da_dq)
    True
    """
    return _by_hand(derivatives_by_bodies, model, q, qd, tau, external_forces)


def _by_hand(
    derivatives_of_inverse: Callable[..., InverseDynamicsDerivatives],
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    tau: Sequence[Scalar],
    external_forces: _Forces,
) -> ForwardDynamicsDerivatives:
    factors, a = forward_motion(model, q, qd, tau, external_forces)
    found: Any = derivatives_of_inverse(model, q, qd, a, external_forces)
    known = _columns_of_free_base(model, q, qd, external_forces)
    return _solved(factors, a, found.dtau_dq, found.dtau_dv, known)


def _analytical_derivatives(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    external_forces: _Forces,
) -> InverseDynamicsDerivatives:
    """Return the derivatives of inverse dynamics by `analytical_derivatives`, gears applied."""
    tree = (model.tree_position(q), model.tree_velocity(qd), model.tree_velocity(qdd))
    found: Any = analytical_derivatives(model, *tree, external_forces)
    tau, *matrices = found
    return InverseDynamicsDerivatives(
        model.independent_force(tau), *(model.independent_matrix(x) for x in matrices)
    )


@algorithm(
    'forward_dynamics_derivatives',
    inputs=_INPUTS,
    outputs=_OUTPUTS,
    result=ForwardDynamicsDerivatives,
    coordinates=INDEPENDENT,
    model=EQUIVALENT,
    source='RBDA 6.1',
    check=require_regular_mass_matrix,
    slow_compile=True,
    pinocchio_equivalent='computeABADerivatives',
    differentiates=True,
    specialization=forward_dynamics_derivatives_by_bodies,
    prefer_when=has_many_dofs,
    applicable_when=has_constant_subspaces,
)
def forward_dynamics_derivatives(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    tau: Sequence[Scalar],
    external_forces: _Forces = None,
) -> ForwardDynamicsDerivatives:
    """Return the forward dynamics and its derivatives, by differentiation of inverse dynamics.

    :param q: independent configuration, (nq,) [rad, m]
    :param qd: independent velocity, (nv,) [rad/s, m/s]
    :param tau: independent generalized forces, (nv,) [N m, N]
    :param external_forces: force on each body in base coordinates, by body number [N m, N]
    :return: accelerations, (nv,), and their derivatives by position (along the velocities),
        velocity and force, (nv, nv)
    """
    factors, a = forward_motion(model, q, qd, tau, external_forces)
    n, m, nothing = model.nv, model.nq, [0.0] * model.nv

    def torque(x: List[Scalar]) -> List[Scalar]:
        tree = (
            model.tree_position(x[:m]),
            model.tree_velocity(x[m : m + n]),
            model.tree_velocity(x[m + n :]),
        )
        return model.independent_force(rnea(model, *tree, external_forces))

    by_q = [[*rates, *nothing, *nothing] for rates in position_rates(model, q)]
    by_v = [[0.0] * m + unit(n, k) + nothing for k in range(n)]
    rows = derivatives(torque, [*q, *qd, *a], by_q + by_v) if n else []
    known = _columns_of_free_base(model, q, qd, external_forces)
    return _solved(factors, a, [row[:n] for row in rows], [row[n:] for row in rows], known)


def forward_motion(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    tau: Sequence[Scalar],
    external_forces: _Forces,
) -> Tuple[LTDL, List[Scalar]]:
    """Return the factors of the inertia matrix, and the accelerations H^-1 (tau - C) (eq 6.1)."""
    rest = [0.0] * model.tree_nv
    C = model.independent_force(
        rnea(model, model.tree_position(q), model.tree_velocity(qd), rest, external_forces)
    )
    factors = ltdl(mass_matrix(model, q))
    return factors, factors.solve([t - c for t, c in zip(tau, C)])


def solved_columns(factors: LTDL, dtau: Sequence[Sequence[Scalar]]) -> Matrix:
    """Return the columns of -H^-1 B.

    These are the changes of acceleration that the forces B do not compensate.

    :param factors: factors of the inertia matrix, (n, n)
    :param dtau: B, (n, m)
    :return: m columns, (n,) each
    """
    return responses(factors, _opposite_columns(dtau))


def _opposite_columns(B: Sequence[Sequence[Scalar]]) -> Matrix:
    return [[-x for x in column] for column in zip(*B)]


def _solved(
    factors: LTDL,
    a: List[Scalar],
    dtau_dq: Matrix,
    dtau_dv: Matrix,
    known: Mapping[int, List[Scalar]],
) -> ForwardDynamicsDerivatives:
    n = len(a)
    left = [k for k in range(2 * n) if k not in known]
    by_both = [[*x, *y] for x, y in zip(dtau_dq, dtau_dv)]
    simd_hint(*(column for k, column in enumerate(zip(*by_both)) if k in left))
    followers = Followers(factors)
    forces = _opposite_columns([[row[k] for k in left] for row in by_both])
    found = dict(zip(left, responses_by(followers, forces)))
    columns = [known[k] if k in known else found[k] for k in range(2 * n)]
    simd_hint(*columns[:n])
    simd_hint(*columns[n:])
    return ForwardDynamicsDerivatives(
        a,
        [[column[i] for column in columns[:n]] for i in range(n)],
        [[column[i] for column in columns[n:]] for i in range(n)],
        symmetric_inverse(factors, followers.known),
    )


def _columns_of_free_base(
    model: Model, q: Sequence[Scalar], qd: Sequence[Scalar], external_forces: _Forces
) -> Dict[int, List[Scalar]]:
    """Return the columns of da/dq and then da/dv that are known for a floating base.

    The motion does not depend on the pose of the whole robot, except for gravity and forces in
    base coordinates, which rotate in the coordinates of the base; nor on a constant linear
    velocity, except for the difference of classical and spatial acceleration (book 2.11).
    """
    roots = [body for _, body in model.outward() if body.parent == 0]
    if len(roots) != 1 or roots[0].joint.nv != 6 or not is_zero(roots[0].armature):
        return {}  # a rotor has inertia without weight
    joint = roots[0].joint
    columns = joint.motion_subspace(q[: joint.nq]).columns
    if [tuple(s) for s in columns] != [tuple(unit(6, k)) for k in range(6)]:
        return {}
    X = joint.transform(q[: joint.nq]) * roots[0].tree_transform

    def column(base: MotionVector) -> List[Scalar]:
        accelerations: List[Scalar] = [0.0] * model.nv
        accelerations[:6] = base
        return accelerations

    found: Dict[int, List[Scalar]] = {}
    for k, s in enumerate(columns):
        if not external_forces:
            found[k] = column(-s.cross(X.apply(gravity_acceleration(model))))
        if k >= 3:
            turning = linear3.cross(s.linear, tuple(qd[:3]))
            found[model.nv + k] = column(MotionVector(linear3.ZERO3, turning))
    return found


def unit(n: int, k: int) -> List[Scalar]:
    """Return the vector of zeros with a one in place k, (n,)."""
    return [1.0 if i == k else 0.0 for i in range(n)]
