# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Faults of actuators, messages, joints and encoders; for the order of these, `SensorFaults`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rbd_ros.hil.faults.kinds import (
    ACTUATORS,
    FaultKind,
    FaultTarget,
    MESSAGES,
    PHYSICS,
    SENSORS,
)

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


def _disturb(target: FaultTarget, fault: Fault) -> None:
    target.add_disturbance(fault, **{fault.kind: fault.value})


LATENCY = FaultKind(
    name='latency',
    scope='messages',
    quantity='delay [s]',
    maximum=10.0,
    meaning='A fixed delay of messages.',
    domain=MESSAGES,
    apply=_disturb,
)
JITTER = FaultKind(
    name='jitter',
    scope='messages',
    quantity='maximum additional delay [s]',
    maximum=10.0,
    meaning='A random delay of messages, uniform from zero to the value; messages may overtake '
    'each other.',
    domain=MESSAGES,
    apply=_disturb,
)
DROP = FaultKind(
    name='drop',
    scope='messages',
    quantity='probability',
    maximum=1.0,
    meaning='Messages are lost at random.',
    domain=MESSAGES,
    apply=_disturb,
)
DUPLICATE = FaultKind(
    name='duplicate',
    scope='messages',
    quantity='probability',
    maximum=1.0,
    meaning='Messages are duplicated at random.',
    domain=MESSAGES,
    apply=_disturb,
)


#: Dry friction of a locked joint, above the effort of any drive [N m, N].
LOCKED = 1e9


def _lock(target: FaultTarget, fault: Fault) -> None:
    target.plant.friction[target.plant.at_v[target.joints(fault)]] = LOCKED


def _change_friction(target: FaultTarget, fault: Fault) -> None:
    plant, at = target.plant, target.plant.at_v[target.joints(fault)]
    present = plant.friction[at]
    changed = np.maximum(0.0, plant.own_friction[at] + fault.value)
    plant.friction[at] = np.where(present < LOCKED, changed, present)


def _carry(target: FaultTarget, fault: Fault) -> None:
    """Do nothing: the bench or the node changes the inertias, see `FaultInjector.payloads`."""


JOINT_LOCK = FaultKind(
    name='joint_lock',
    scope='joints',
    quantity='',
    maximum=0.0,
    meaning='The joint is locked by dry friction that no drive overcomes.',
    domain=PHYSICS,
    apply=_lock,
)
FRICTION = FaultKind(
    name='friction',
    scope='joints',
    quantity='additional dry friction [N m, N]',
    maximum=1e6,
    meaning='Dry friction is added to that of the joint; a negative value reduces it, down to '
    'none.',
    domain=PHYSICS,
    apply=_change_friction,
    minimum=-1e6,
)
PAYLOAD = FaultKind(
    name='payload',
    scope='link',
    quantity='mass [kg]',
    maximum=1e5,
    meaning='A mass is fixed to a link.',
    domain=PHYSICS,
    apply=_carry,
    samples=11,  # each is compiled
)


def _set_sensor_error(target: FaultTarget, fault: Fault) -> None:
    target.sensors.set(fault.kind, target.joints(fault), fault.value)


POSITION_NOISE = FaultKind(
    name='position_noise',
    scope='joints',
    quantity='standard deviation [rad, m]',
    maximum=1e3,
    meaning='Gaussian noise of measured positions.',
    domain=SENSORS,
    apply=_set_sensor_error,
)
VELOCITY_NOISE = FaultKind(
    name='velocity_noise',
    scope='joints',
    quantity='standard deviation [rad/s, m/s]',
    maximum=1e3,
    meaning='Gaussian noise of measured velocities.',
    domain=SENSORS,
    apply=_set_sensor_error,
)
POSITION_BIAS = FaultKind(
    name='position_bias',
    scope='joints',
    quantity='offset [rad, m]',
    maximum=1e3,
    meaning='Offset of measured positions.',
    domain=SENSORS,
    apply=_set_sensor_error,
    minimum=-1e3,
)
VELOCITY_BIAS = FaultKind(
    name='velocity_bias',
    scope='joints',
    quantity='offset [rad/s, m/s]',
    maximum=1e3,
    meaning='Offset of measured velocities.',
    domain=SENSORS,
    apply=_set_sensor_error,
    minimum=-1e3,
)
QUANTIZATION = FaultKind(
    name='quantization',
    scope='joints',
    quantity='resolution [rad, m]',
    maximum=1e3,
    meaning='Measured positions are rounded to an encoder step.',
    domain=SENSORS,
    apply=_set_sensor_error,
)
BACKLASH = FaultKind(
    name='backlash',
    scope='joints',
    quantity='width of the backlash [rad, m]',
    maximum=10.0,
    meaning='Backlash between joint and encoder: the measured position follows at the edge of the '
    'backlash, and the measured velocity is zero within.',
    domain=SENSORS,
    apply=_set_sensor_error,
)
