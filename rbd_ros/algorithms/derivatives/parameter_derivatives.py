# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Derivatives of forward dynamics by the inertial parameters.

For a = FD(q, v, tau; pi), the torque Y(q, v, a) pi plus that of rotors is tau for all pi, so that
da/dpi = -H^-1 Y, with the regressor at that acceleration (book 9.7). Those of inverse dynamics are
the regressor itself (regressors/torque_regressor.py).
"""

from typing import List, Mapping, NamedTuple, Optional, Sequence

from rbd_ros.algorithms.declaration import algorithm, INDEPENDENT
from rbd_ros.algorithms.derivatives.forward_dynamics_derivatives import (
    forward_motion,
    solved_columns,
)
from rbd_ros.algorithms.inertia_matrix.singularity import require_regular_mass_matrix
from rbd_ros.algorithms.kinds import (
    ACCELERATION,
    CONFIGURATION,
    EXTERNAL_FORCES,
    FORCE,
    TORQUE_REGRESSOR,
    VELOCITY,
)
from rbd_ros.algorithms.regressors.torque_regressor import torque_regressor
from rbd_ros.array_types import ResultArray
from rbd_ros.model import Model
from rbd_ros.spatial import ForceVector
from rbd_ros.spatial.scalar import Scalar


class ForwardDynamicsParameterDerivatives(NamedTuple):
    """Forward dynamics and its derivatives by the inertial parameters.

    :param a: accelerations, (nv,) [rad/s^2, m/s^2]
    :param da_dpi: their derivatives by the parameters, ten for each body, (nv, 10 bodies)
    """

    a: ResultArray
    da_dpi: ResultArray


@algorithm(
    'forward_dynamics_parameter_derivatives',
    inputs={
        'q': CONFIGURATION,
        'qd': VELOCITY,
        'tau': FORCE,
        'external_forces': EXTERNAL_FORCES,
    },
    outputs={'a': ACCELERATION, 'da_dpi': TORQUE_REGRESSOR},
    result=ForwardDynamicsParameterDerivatives,
    coordinates=INDEPENDENT,
    source='RBDA 6.1, 9.7',
    check=require_regular_mass_matrix,
)
def forward_dynamics_parameter_derivatives(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    tau: Sequence[Scalar],
    external_forces: Optional[Mapping[int, ForceVector]] = None,
) -> ForwardDynamicsParameterDerivatives:
    """Return the forward dynamics and its derivatives by the ten inertial parameters of each body.

    :param q: independent configuration, (nq,) [rad, m]
    :param qd: independent velocity, (nv,) [rad/s, m/s]
    :param tau: independent generalized forces, (nv,) [N m, N]
    :param external_forces: force on each body in base coordinates, by body number [N m, N]
    :return: accelerations, (nv,), and their derivatives, (nv, 10 bodies), in the order of
        `RigidBodyInertia.parameters`
    """
    factors, a = forward_motion(model, q, qd, tau, external_forces)
    Y = torque_regressor(
        model, model.tree_position(q), model.tree_velocity(qd), model.tree_velocity(a)
    )
    columns: List[List[Scalar]] = [model.independent_force(column) for column in zip(*Y)]
    found = solved_columns(factors, list(zip(*columns)))
    return ForwardDynamicsParameterDerivatives(a, list(zip(*found)) if found else [])
