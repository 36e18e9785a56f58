# SPDX-License-Identifier: Apache-2.0
"""Faults of encoders: see `SensorFaults` for their order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rbd_ros.hil.faults.fault_kind import FaultKind, FaultTarget, SENSORS

if TYPE_CHECKING:
    from rbd_ros.hil.faults.faults import Fault


def _mismeasure(target: FaultTarget, fault: Fault) -> None:
    target.sensors.set(fault.kind, target.joints(fault), fault.value)


POSITION_NOISE = FaultKind(
    name='position_noise',
    scope='joints',
    quantity='standard deviation [rad, m]',
    maximum=1e3,
    meaning='Gaussian noise of measured positions.',
    domain=SENSORS,
    apply=_mismeasure,
)
VELOCITY_NOISE = FaultKind(
    name='velocity_noise',
    scope='joints',
    quantity='standard deviation [rad/s, m/s]',
    maximum=1e3,
    meaning='Gaussian noise of measured velocities.',
    domain=SENSORS,
    apply=_mismeasure,
)
POSITION_BIAS = FaultKind(
    name='position_bias',
    scope='joints',
    quantity='offset [rad, m]',
    maximum=1e3,
    meaning='Offset of measured positions.',
    domain=SENSORS,
    apply=_mismeasure,
    minimum=-1e3,
)
VELOCITY_BIAS = FaultKind(
    name='velocity_bias',
    scope='joints',
    quantity='offset [rad/s, m/s]',
    maximum=1e3,
    meaning='Offset of measured velocities.',
    domain=SENSORS,
    apply=_mismeasure,
    minimum=-1e3,
)
QUANTIZATION = FaultKind(
    name='quantization',
    scope='joints',
    quantity='resolution [rad, m]',
    maximum=1e3,
    meaning='Measured positions are rounded to an encoder step.',
    domain=SENSORS,
    apply=_mismeasure,
)
BACKLASH = FaultKind(
    name='backlash',
    scope='joints',
    quantity='width of the backlash [rad, m]',
    maximum=10.0,
    meaning='Backlash between joint and encoder: the measured position follows at the edge of the '
    'backlash, and the measured velocity is zero within.',
    domain=SENSORS,
    apply=_mismeasure,
)
