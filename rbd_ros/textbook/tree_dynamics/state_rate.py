# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Forward dynamics of the state: rates of positions and of velocities (book 3.1, FDx)."""

from typing import Any, Mapping, NamedTuple, Optional, Sequence

from rbd_ros.algorithms.declaration import algorithm, EQUIVALENT, INDEPENDENT
from rbd_ros.algorithms.inertia_matrix.forward_dynamics import forward_dynamics
from rbd_ros.algorithms.inertia_matrix.singularity import require_regular_mass_matrix
from rbd_ros.algorithms.kinds import ACCELERATION, CONFIGURATION, EXTERNAL_FORCES, FORCE, VELOCITY
from rbd_ros.algorithms.kinematics.position_rate import POSITION_RATE, position_rate
from rbd_ros.model import Model
from rbd_ros.spatial import ForceVector
from rbd_ros.spatial.scalar import Scalar


class StateRate(NamedTuple):
    """Rate of the state (q, v) of a robot.

    :param q_rate: rate of the configuration, (nq,) [rad/s, m/s]
    :param a: acceleration, (nv,) [rad/s^2, m/s^2]
    """

    q_rate: Any
    a: Any


@algorithm(
    'state_rate',
    inputs={
        'q': CONFIGURATION,
        'qd': VELOCITY,
        'tau': FORCE,
        'external_forces': EXTERNAL_FORCES,
    },
    outputs={'q_rate': POSITION_RATE, 'a': ACCELERATION},
    coordinates=INDEPENDENT,
    model=EQUIVALENT,
    result=StateRate,
    source='RBDA 3.1',
    check=require_regular_mass_matrix,
)
def state_rate(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    tau: Sequence[Scalar],
    external_forces: Optional[Mapping[int, ForceVector]] = None,
) -> StateRate:
    """Return the rate [Q(q) qd; H^-1 (tau - C)] of the state, as an integrator needs it.

    FDx.

    :param q: configuration, (nq,) [rad, m]
    :param qd: velocity, (nv,) [rad/s, m/s]
    :param tau: generalized forces, (nv,) [N m, N]
    :param external_forces: force on each body in base coordinates, by body number [N m, N]

    >>> rate = robot.kernel('state_rate').function(q, v, tau)
    >>> np.allclose(rate.q_rate, v), np.allclose(rate.a, a)
    (True, True)
    """
    a = forward_dynamics(model, q, qd, tau, external_forces)
    return StateRate(position_rate(model, q, qd), a)
