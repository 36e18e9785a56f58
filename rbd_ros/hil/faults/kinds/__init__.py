# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Kinds of faults: each `FaultKind` in a file of this folder is found by itself."""

from __future__ import annotations

from typing import Any, Callable, NamedTuple, Protocol, TYPE_CHECKING

from rbd_ros.array_types import AnyArray

if TYPE_CHECKING:
    from rbd_ros.hil.faults.disturbances import SensorFaults
    from rbd_ros.hil.faults.fault_injector import PlantFaults
    from rbd_ros.hil.faults.faults import Fault


#: Domains of faults: messages, measured states, torques, or the physics of the robot.
MESSAGES, SENSORS, ACTUATORS, PHYSICS = 'messages', 'sensors', 'actuators', 'physics'


class FaultTarget(Protocol):
    """Robot with its sensors and messages, after the previous faults have been applied."""

    sensors: SensorFaults

    @property
    def plant(self) -> PlantFaults:
        """Actuators and joints, for faults in `ACTUATORS` and `PHYSICS`."""

    def joints(self, fault: Fault) -> AnyArray:
        """Return the indices of a fault's joints, (k,)."""

    def add_disturbance(self, fault: Fault, **changes: float) -> None:
        """Change the `Disturbance` of a fault's channels."""


class FaultKind(NamedTuple):
    """A kind of fault.

    :param scope: 'joints', 'messages', 'link' or 'robot'
    :param quantity: meaning of its value, with the unit; '' without a value
    :param maximum: largest sensible value
    :param meaning: description of its effect
    :param domain: domain; only a simulation of the robot supports `PHYSICS`
    :param apply: applies it to a target
    :param minimum: smallest sensible value
    :param limits_effort: whether its value is a fraction of effort limits, which joints must have
    :param samples: number of values in a campaign; 0: continuous
    """

    scope: str
    quantity: str
    maximum: float
    meaning: str
    name: str
    domain: str
    apply: Callable[[FaultTarget, Any], None]
    minimum: float = 0.0
    limits_effort: bool = False
    samples: int = 0

    @property
    def is_plant_fault(self) -> bool:
        """True if it changes actuators or physics."""
        return self.domain in (ACTUATORS, PHYSICS)
