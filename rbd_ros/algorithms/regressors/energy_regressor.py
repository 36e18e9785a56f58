# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Regressors of energy and momentum: linear in the inertial parameters of all bodies.

Source: book eq 2.58 and 2.67; the parameters are those of `RigidBodyInertia.parameters`.
"""

from typing import Any, List, NamedTuple, Sequence

from rbd_ros.algorithms.declaration import algorithm
from rbd_ros.algorithms.kinds import CONFIGURATION, MOMENTUM_REGRESSOR, PARAMETER_ROW, VELOCITY
from rbd_ros.algorithms.kinematics.kinematics import body_velocities
from rbd_ros.algorithms.regressors.torque_regressor import unit_inertias
from rbd_ros.model import Model
from rbd_ros.spatial import linear3
from rbd_ros.spatial.scalar import Scalar


class EnergyRegressor(NamedTuple):
    """Rows whose products with the inertial parameters are energies.

    :param kinetic: of the kinetic energy, without that of rotors, (10 bodies,)
    :param potential: of the potential energy, (10 bodies,)
    """

    kinetic: Any
    potential: Any


@algorithm(
    'energy_regressor',
    inputs={'q': CONFIGURATION, 'qd': VELOCITY},
    outputs={'kinetic': PARAMETER_ROW, 'potential': PARAMETER_ROW},
    result=EnergyRegressor,
    source='RBDA 2.12, eq 2.67',
)
def energy_regressor(model: Model, q: Sequence[Scalar], qd: Sequence[Scalar]) -> EnergyRegressor:
    """Return the regressors of kinetic energy, without that of rotors, and of potential energy.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :param qd: velocity of the tree, (tree_nv,) [rad/s, m/s]
    :return: two rows, (10 bodies,) each
    """
    X0, v = body_velocities(model, q, qd)
    kinetic: List[Scalar] = []
    potential: List[Scalar] = []
    for i, _ in model.outward():
        for I in unit_inertias():
            moment = linear3.add(
                linear3.apply_transpose(X0[i].E, I.h), linear3.scale(I.mass, X0[i].r)
            )
            kinetic.append(v[i].dot(I * v[i]) * 0.5)
            potential.append(-linear3.dot(tuple(model.gravity), moment))
    return EnergyRegressor(kinetic, potential)


@algorithm(
    'momentum_regressor',
    inputs={'q': CONFIGURATION, 'qd': VELOCITY},
    outputs={'Y': MOMENTUM_REGRESSOR},
    source='RBDA eq 2.58',
)
def momentum_regressor(
    model: Model, q: Sequence[Scalar], qd: Sequence[Scalar]
) -> List[List[Scalar]]:
    """Return the regressor of the spatial momentum in base coordinates, h = Y pi.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :param qd: velocity of the tree, (tree_nv,) [rad/s, m/s]
    :return: Y, (6, 10 bodies), angular momentum about the base's origin first
    """
    X0, v = body_velocities(model, q, qd)
    columns = [
        list(X0[i].inverse_apply(I * v[i])) for i, _ in model.outward() for I in unit_inertias()
    ]
    return [list(row) for row in zip(*columns)]
