# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Kinds of faults: each is a `FaultKind` in a file of this folder, and nothing else lists it."""

from __future__ import annotations

from typing import Any, Callable, NamedTuple, Protocol, TYPE_CHECKING

from rbd_ros.array_types import AnyArray

if TYPE_CHECKING:
    from rbd_ros.hil.faults.disturbances import SensorFaults
    from rbd_ros.hil.faults.fault_injector import PlantFaults
    from rbd_ros.hil.faults.faults import Fault


#: Where faults act: messages, measured states, torques, or all else in the machine.
MESSAGES, SENSORS, ACTUATORS, PHYSICS = 'messages', 'sensors', 'actuators', 'physics'


class FaultTarget(Protocol):
    """Machine with its sensors and messages, after the previous faults have been applied."""

    sensors: SensorFaults

    @property
    def plant(self) -> PlantFaults:
        """Actuators and joints, for faults in `ACTUATORS` and `PHYSICS`."""

    def joints(self, fault: Fault) -> AnyArray:
        """Return the places of the joints that a fault concerns, (k,)."""

    def add_disturbance(self, fault: Fault, **changes: float) -> None:
        """Change the `Disturbance` of the channels that a fault concerns."""


class FaultKind(NamedTuple):
    """A kind of fault.

    :param scope: what it concerns: 'joints', 'messages', 'link' or 'robot'
    :param quantity: what its value is, with the unit; '' if it has none
    :param maximum: largest value that makes sense
    :param meaning: what it does
    :param domain: where it acts: only a simulation of the robot has faults in `PHYSICS`
    :param apply: lets it act on a target
    :param minimum: smallest value that makes sense
    :param limits_effort: whether its value is a fraction of effort limits, which joints must have
    :param samples: number of values in a campaign; 0: any between two
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
        """True if it acts in the machine itself."""
        return self.domain in (ACTUATORS, PHYSICS)
