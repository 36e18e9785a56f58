# SPDX-License-Identifier: Apache-2.0
"""Faults of actuators: limits of their torques."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rbd_ros.hil.faults.fault_kind import ACTUATORS, FaultKind, FaultTarget

if TYPE_CHECKING:
    from rbd_ros.hil.faults.faults import Fault


def _derate(target: FaultTarget, fault: Fault) -> None:
    plant, at = target.plant, target.plant.at_v[target.joints(fault)]
    limit = plant.own_effort[at]
    if not np.isfinite(limit).all():
        raise ValueError(
            'effort_derating is a fraction of the effort limit, and a joint has none: give effort '
            'in the <limit> of the URDF'
        )
    plant.effort[at] = np.minimum(plant.effort[at], fault.value * limit)


def _fail(target: FaultTarget, fault: Fault) -> None:
    target.plant.effort[target.plant.at_v[target.joints(fault)]] = 0.0


def _cut_power(target: FaultTarget, fault: Fault) -> None:
    target.plant.effort[:] = 0.0


EFFORT_DERATING = FaultKind(
    name='effort_derating',
    scope='joints',
    quantity='fraction of the effort limit',
    maximum=1.0,
    meaning='The actuator gives at most a fraction of its effort limit.',
    domain=ACTUATORS,
    apply=_derate,
    limits_effort=True,
)
ACTUATOR_FAILURE = FaultKind(
    name='actuator_failure',
    scope='joints',
    quantity='',
    maximum=0.0,
    meaning='The actuator gives no torque.',
    domain=ACTUATORS,
    apply=_fail,
)
POWER_CUT = FaultKind(
    name='power_cut',
    scope='robot',
    quantity='',
    maximum=0.0,
    meaning='No actuator gives any torque.',
    domain=ACTUATORS,
    apply=_cut_power,
)
