# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Second derivatives of inverse and forward dynamics, by differentiation of the first.

A second derivative by the configuration is along two velocities, one after the other: X_k (X_j f),
where X_j f is the change of f per unit of velocity of DoF j. If the velocity is the rate of the
position, and between different joints, the order does not matter; for two DoFs of one joint that
rotates about several axes, both orders differ by the derivative along their bracket.

Those of forward dynamics follow from ID(q, v, FD(q, v, tau)) = tau, differentiated twice: with F
the inverse dynamics at a = FD held, and F_a = H,

    H a_qq = -(F_qq + F_qa a_q + (F_qa a_q)^T),   H a_qv = -(F_qv + F_qa a_v),   H a_vv = -F_vv,
    H a_qtau = -F_qa H^-1

Source: S. Singh, R. P. Russell and P. M. Wensing, "On second-order derivatives of rigid-body
dynamics: theory and implementation" (IEEE T-RO 2024).
"""

from functools import partial
from typing import Any, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from rbd_ros.algorithms.array import position_rates
from rbd_ros.algorithms.declaration import algorithm, EQUIVALENT, INDEPENDENT
from rbd_ros.algorithms.derivatives.analytical_derivatives import (
    analytical_derivatives,
    has_constant_subspaces,
)
from rbd_ros.algorithms.derivatives.forward_dynamics_derivatives import (
    forward_motion,
    solved_columns,
    unit,
)
from rbd_ros.algorithms.inertia_matrix.inverse_mass_matrix import symmetric_inverse
from rbd_ros.algorithms.inertia_matrix.singularity import require_regular_mass_matrix
from rbd_ros.algorithms.inverse_dynamics.rnea import rnea
from rbd_ros.algorithms.kinds import (
    ACCELERATION,
    CONFIGURATION,
    EXTERNAL_FORCES,
    FORCE,
    TENSOR,
    VELOCITY,
)
from rbd_ros.array_types import ResultArray
from rbd_ros.model import Model
from rbd_ros.spatial import ForceVector
from rbd_ros.spatial.scalar import derivatives, inner, Scalar

Matrix = List[List[Scalar]]
Tensor = List[Matrix]
_Forces = Optional[Mapping[int, ForceVector]]


class InverseDynamicsSecondDerivatives(NamedTuple):
    """Second derivatives of inverse dynamics, (nv, nv, nv) each: force, first DoF, second.

    :param dtau_dqdq: along two velocities, the first one first
    :param dtau_dqdv: by the configuration, then the velocity
    :param dtau_dvdv: by the velocity twice
    :param dtau_dqda: by the configuration, then the acceleration: element i, j, k is the
        derivative of H_ik along degree of freedom j
    """

    dtau_dqdq: ResultArray
    dtau_dqdv: ResultArray
    dtau_dvdv: ResultArray
    dtau_dqda: ResultArray


class ForwardDynamicsSecondDerivatives(NamedTuple):
    """Second derivatives of forward dynamics, (nv, nv, nv) each: acceleration, first, second.

    :param da_dqdq: along two velocities, the first one first
    :param da_dqdv: by the configuration, then the velocity
    :param da_dvdv: by the velocity twice
    :param da_dqdtau: by the configuration, then the generalized force: element i, j, k is the
        derivative of (H^-1)_ik along degree of freedom j
    """

    da_dqdq: ResultArray
    da_dqdv: ResultArray
    da_dvdv: ResultArray
    da_dqdtau: ResultArray


@algorithm(
    'inverse_dynamics_second_derivatives',
    inputs={
        'q': CONFIGURATION,
        'qd': VELOCITY,
        'qdd': ACCELERATION,
        'external_forces': EXTERNAL_FORCES,
    },
    outputs={'dtau_dqdq': TENSOR, 'dtau_dqdv': TENSOR, 'dtau_dvdv': TENSOR, 'dtau_dqda': TENSOR},
    result=InverseDynamicsSecondDerivatives,
    coordinates=INDEPENDENT,
    model=EQUIVALENT,
    source='RBDA 4.4; Singh, Russell and Wensing, IEEE T-RO 2024',
    differentiates=True,
)
def inverse_dynamics_second_derivatives(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    external_forces: _Forces = None,
) -> InverseDynamicsSecondDerivatives:
    """Return the second derivatives of inverse dynamics.

    :param q: independent configuration, (nq,) [rad, m]
    :param qd: independent velocity, (nv,) [rad/s, m/s]
    :param qdd: independent acceleration, (nv,) [rad/s^2, m/s^2]
    :param external_forces: force on each body in base coordinates, by body number [N m, N]
    """
    n = model.nv
    at, along_q, along_v, along_a = _directions(model, q, qd, qdd)

    def first(x: List[Scalar], which: int) -> List[Scalar]:
        y, yd, ydd = _parts(model, x)
        found = _first(model, y, yd, ydd, external_forces)[which]
        return [element for row in found for element in row]

    rows = derivatives(partial(first, which=0), at, along_q + along_v + along_a) if n else []
    twice_v = derivatives(partial(first, which=1), at, along_v) if n else []
    of_q = [rows[n * i : n * (i + 1)] for i in range(n)]
    of_v = [twice_v[n * i : n * (i + 1)] for i in range(n)]
    alike = _kin(model)
    return InverseDynamicsSecondDerivatives(
        [
            [
                [row[j][k] if k <= j or alike[j] == alike[k] else row[k][j] for k in range(n)]
                for j in range(n)
            ]
            for row in of_q
        ],
        [[x[n : 2 * n] for x in row] for row in of_q],
        [[[row[max(j, k)][min(j, k)] for k in range(n)] for j in range(n)] for row in of_v],
        [[x[2 * n :] for x in row] for row in of_q],
    )


@algorithm(
    'forward_dynamics_second_derivatives',
    inputs={
        'q': CONFIGURATION,
        'qd': VELOCITY,
        'tau': FORCE,
        'external_forces': EXTERNAL_FORCES,
    },
    outputs={'da_dqdq': TENSOR, 'da_dqdv': TENSOR, 'da_dvdv': TENSOR, 'da_dqdtau': TENSOR},
    result=ForwardDynamicsSecondDerivatives,
    coordinates=INDEPENDENT,
    model=EQUIVALENT,
    source='RBDA 4.4, 6.1; Singh, Russell and Wensing, IEEE T-RO 2024',
    check=require_regular_mass_matrix,
    differentiates=True,
)
def forward_dynamics_second_derivatives(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    tau: Sequence[Scalar],
    external_forces: _Forces = None,
) -> ForwardDynamicsSecondDerivatives:
    """Return the second derivatives of forward dynamics.

    :param q: independent configuration, (nq,) [rad, m]
    :param qd: independent velocity, (nv,) [rad/s, m/s]
    :param tau: independent generalized forces, (nv,) [N m, N]
    :param external_forces: force on each body in base coordinates, by body number [N m, N]
    """
    factors, a = forward_motion(model, q, qd, tau, external_forces)
    by_q, by_v = _first(model, q, qd, a, external_forces)
    a_q, a_v = solved_columns(factors, by_q), solved_columns(factors, by_v)
    a_tau = symmetric_inverse(factors)
    F: Any = inverse_dynamics_second_derivatives(model, q, qd, a, external_forces)

    def turned(columns: Matrix) -> Tensor:
        """Return the products F_qa x for each of some columns x, (n, n, columns)."""
        return [[[inner(row, x) for x in columns] for row in of_i] for of_i in F.dtau_dqda]

    along_q, along_v, along_tau = turned(a_q), turned(a_v), turned(a_tau)
    return ForwardDynamicsSecondDerivatives(
        *(
            _solved(a_tau, tensor)
            for tensor in (
                _sum(_sum(F.dtau_dqdq, along_q), [list(zip(*x)) for x in along_q]),
                _sum(F.dtau_dqdv, along_v),
                F.dtau_dvdv,
                along_tau,
            )
        )
    )


def _first(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    external_forces: _Forces,
) -> List[Matrix]:
    """Return the first derivatives of inverse dynamics by q and v, (nv, nv) each."""
    tree = (model.tree_position(q), model.tree_velocity(qd), model.tree_velocity(qdd))
    if has_constant_subspaces(model):
        found: Any = analytical_derivatives(model, *tree, external_forces)
        return [model.independent_matrix(x) for x in (found.dtau_dq, found.dtau_dv)]
    at, along_q, along_v, _ = _directions(model, q, qd, qdd)

    def torque(x: List[Scalar]) -> List[Scalar]:
        y, yd, ydd = _parts(model, x)
        tree = (model.tree_position(y), model.tree_velocity(yd), model.tree_velocity(ydd))
        return model.independent_force(rnea(model, *tree, external_forces))

    return [derivatives(torque, at, along) for along in (along_q, along_v)]


def _parts(model: Model, x: List[Scalar]) -> List[List[Scalar]]:
    """Return the configuration, velocity and acceleration from one list."""
    return [x[: model.nq], x[model.nq : model.nq + model.nv], x[model.nq + model.nv :]]


def _directions(
    model: Model, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> Tuple[List[Scalar], Matrix, Matrix, Matrix]:
    """Return q, v and a as one list, and its rates along each of them."""
    n = model.nv
    by_q = [[*rates, *[0.0] * (2 * n)] for rates in position_rates(model, q)]
    others = [[0.0] * model.nq + unit(2 * n, k) for k in range(2 * n)]
    return [*q, *qd, *qdd], by_q, others[:n], others[n:]


def _kin(model: Model) -> List[int]:
    """Return the number of the body whose joint has each degree of freedom, (nv,)."""
    return [i for i in model.independent for _ in range(model.body(i).joint.nv)]


def _sum(A: Sequence[Any], B: Sequence[Any]) -> Tensor:
    return [[[x + y for x, y in zip(*rows)] for rows in zip(*each)] for each in zip(A, B)]


def _solved(inverse: Matrix, tensor: Sequence[Any]) -> Tensor:
    """Return -H^-1 T over the first axis, with the inverse of H."""
    n = len(tensor)
    of_pairs = [[[x[j][k] for x in tensor] for k in range(n)] for j in range(n)]
    return [[[-inner(row, x) for x in each] for each in of_pairs] for row in inverse]
