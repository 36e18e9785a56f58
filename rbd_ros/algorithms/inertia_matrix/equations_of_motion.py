# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Both coefficients of the equation of motion H(q) a + C(q, v) = tau in one pass (book 3.1)."""

from typing import Mapping, NamedTuple, Optional, Sequence

from rbd_ros.algorithms.declaration import algorithm, EQUIVALENT, INDEPENDENT
from rbd_ros.algorithms.inertia_matrix.crba import mass_matrix
from rbd_ros.algorithms.inverse_dynamics.rnea import bias_force
from rbd_ros.algorithms.kinds import (
    CONFIGURATION,
    EXTERNAL_FORCES,
    FORCE,
    INERTIA_MATRIX,
    VELOCITY,
)
from rbd_ros.array_types import ResultArray
from rbd_ros.model import Model
from rbd_ros.spatial import ForceVector
from rbd_ros.spatial.scalar import Scalar


class EquationsOfMotion(NamedTuple):
    """Coefficients of H a + C = tau.

    :param H: joint-space inertia matrix, (nv, nv) [kg m^2, kg m, kg]
    :param C: bias force: Coriolis, centrifugal, gravity and external forces, (nv,) [N m, N]
    """

    H: ResultArray
    C: ResultArray


@algorithm(
    'equations_of_motion',
    inputs={'q': CONFIGURATION, 'qd': VELOCITY, 'external_forces': EXTERNAL_FORCES},
    outputs={'H': INERTIA_MATRIX, 'C': FORCE},
    result=EquationsOfMotion,
    coordinates=INDEPENDENT,
    model=EQUIVALENT,
    source='RBDA eq 3.1; tables 5.1 and 6.2; 9.6 with gears',
)
def equations_of_motion(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    external_forces: Optional[Mapping[int, ForceVector]] = None,
) -> EquationsOfMotion:
    """Return the inertia matrix and bias force; common parts are computed once.

    :param q: independent configuration, (nq,) [rad, m]
    :param qd: independent velocity, (nv,) [rad/s, m/s]
    :param external_forces: force on each body in base coordinates, by body number [N m, N]
    :return: H, (nv, nv) [kg m^2, kg m, kg], and C, (nv,) [N m, N]
    """
    C = bias_force(model, model.tree_position(q), model.tree_velocity(qd), external_forces)
    return EquationsOfMotion(mass_matrix(model, q), model.independent_force(C))
