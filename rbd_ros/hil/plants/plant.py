# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Plants of the bench, which a controller drives by torques, and their kinds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import (
    Any,
    List,
    Mapping,
    Optional,
    Protocol,
    runtime_checkable,
    Sequence,
    Tuple,
    Union,
)

import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.hil.faults.faults import Fault, FAULT_KINDS
from rbd_ros.hil.faults.kinds import PHYSICS
from rbd_ros.hil.scenario.factories import Kinds
from rbd_ros.model.extension.fields import Field
from rbd_ros.robot import Robot


class PlantFailure(RuntimeError):
    """The plant failed: it rejects a step, or its state is not finite."""


class Actuators(Protocol):
    """Limits of torques and dry friction, (n,) each [N m, N], which faults change in place."""

    @property
    def effort(self) -> FloatArray:
        """Limits of the torques."""

    @property
    def friction(self) -> FloatArray:
        """Dry friction of the joints."""


class PlantState(Protocol):
    """Present state and torques of the last step, (n,) each, in constant arrays."""

    @property
    def q(self) -> FloatArray:
        """Positions [rad, m]."""

    @property
    def v(self) -> FloatArray:
        """Velocities [rad/s, m/s]."""

    @property
    def applied(self) -> FloatArray:
        """Torques of the last step after saturation [N m, N]."""


@runtime_checkable
class Actuated(Protocol):
    """Robot whose actuators may have faults."""

    @property
    def model(self) -> Actuators:
        """Object with the limits."""

    def allow_friction(self) -> None:
        """Allow friction in all joints that support it."""


@runtime_checkable
class Plant(Actuated, Protocol):
    """Robot that the bench drives by torques; the controller receives its state."""

    @property
    def state(self) -> PlantState:
        """Object with positions, velocities and torques."""

    def reset(self, q: FloatArray, v: Optional[FloatArray] = None, time: float = 0.0) -> None:
        """Reset to a state.

        :param q: positions, (n,) [rad, m]
        :param v: velocities, (n,) [rad/s, m/s]; None: at rest
        :param time: time of the state [s]
        """

    def step(self, torque: FloatArray) -> object:
        """Take a step.

        :param torque: desired torques, saturated at the limits, (n,) [N m, N]
        :raises PlantFailure: if the plant fails, or its state is not finite
        """


class ArrayPlant:
    """Base class of plants that store their state in arrays.

    :param effort_limits: maximum torques, infinite: no limit, (n,) [N m, N]
    """

    def __init__(self, effort_limits: Union[Sequence[float], FloatArray]):
        #: Limits of the torques, which faults change
        self.effort: FloatArray = np.array(effort_limits, dtype=float)
        n = len(self.effort)
        self.q, self.v, self.applied, self.friction = (np.zeros(n) for _ in range(4))

    @property
    def model(self) -> Actuators:
        """Object with the limits: this."""
        return self

    @property
    def state(self) -> PlantState:
        """Object with positions, velocities and torques: this."""
        return self

    def allow_friction(self) -> None:
        """Do nothing: faults of friction are rejected before."""


@dataclass(frozen=True)
class PlantEntry:
    """The plant of a scenario in place of a simulation of the robot.

    :param kind: one of `PLANTS`
    :param name: path of the FMU; name of the function
    :param options: further entries of the scenario
    """

    kind: str
    name: str
    options: Mapping[str, Any]


class PlantKind(ABC):
    """A kind of plants: reads its entry, and creates a plant.

    It is the object `KIND` of a file `<key>_plant.py` in `hil/plants/`.
    """

    keys: Tuple[str, ...] = ()
    example: Any

    @abstractmethod
    def read(self, given: Field, entries: Mapping[str, Field], folder: Path) -> PlantEntry:
        """Return the plant of an entry.

        :param given: value of its key
        :param entries: further entries, by `keys`
        :param folder: folder of the file, the base of relative paths
        :raises ModelError: if it is invalid, with file, line, key and cure
        """

    @abstractmethod
    def make(self, entry: PlantEntry, robot: Robot, timestep: float) -> Plant:
        """Create the plant.

        :param robot: joints, their order and their limits
        :param timestep: length of a step [s]
        :raises ValueError: if it cannot be created
        """

    def joints(self, entry: PlantEntry, field: Field) -> Robot:
        """Return the joints of a plant without a description of the robot; see `PlantJoints`.

        :param field: the entry `plant`, for errors
        :raises ModelError: if they are unknown
        """
        raise field.error('the joints of the plant are unknown; give robot in addition to plant')

    def files(self, entry: PlantEntry) -> List[str]:
        """Return the names of files that define its motion."""
        return [entry.name]


#: The kinds of plants, by their key in a scenario.
PLANTS: Kinds[PlantKind] = Kinds('plant', 'rbd_ros.hil.plants')


class PlantJoints:
    """Joints of a plant without a robot description.

    It replaces a `Robot`; attributes that need dynamics raise AttributeError.

    :param name: name of the robot
    :param joint_names: names of its joints, each with one degree of freedom, (n,)
    :param effort_limits: maximum torques, infinite: unknown, (n,) [N m, N]
    """

    def __init__(self, name: str, joint_names: Tuple[str, ...], effort_limits: FloatArray):
        self.name, self.joint_names, self.effort_limits = name, joint_names, effort_limits
        self.nq = self.nv = len(joint_names)
        self.upper_limits: FloatArray = np.full(self.nq, np.inf)
        self.lower_limits: FloatArray = -self.upper_limits
        # Continuous joints are unknown, so no positions are equivalent.
        self.position_periods: FloatArray = np.full(self.nv, np.inf)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f'{name} of the robot is unknown, because the plant is an FMU; give robot in '
            'addition to plant in the scenario'
        )


def read_plant(field: Field, folder: Path) -> PlantEntry:
    """Return the plant of a scenario.

    :param field: the entry `plant`
    :param folder: folder of the file, the base of relative paths
    :raises ModelError: if it is invalid, with file, line, key and cure
    """
    name, kind, entries = PLANTS.read(field)
    return kind.read(entries[name], entries, folder)


def reject_faults(field: Field, robot: Robot) -> None:
    """Reject faults that a plant does not support, by line and name.

    :param field: the list of faults
    :raises ModelError: for the first one
    """
    limited: List[bool] = np.isfinite(robot.effort_limits).tolist()
    for entry in field.sequence():
        named = entry.mapping(['fault'], None)['fault']
        kind = named.choice(FAULT_KINDS)
        if FAULT_KINDS[kind].domain == PHYSICS:
            raise named.error(inside(kind))
        if FAULT_KINDS[kind].limits_effort and not all(limited):
            raise named.error(
                f'{kind} is a fraction of the effort limit, which the plant does not '
                'contain; give robot in addition to plant'
            )


def check_fault(fault: Fault) -> None:
    """Reject a fault that a plant does not support.

    :raises ValueError: for a fault in its physics
    """
    if FAULT_KINDS[fault.kind].domain == PHYSICS:
        raise ValueError(inside(fault.kind))


def inside(kind: str) -> str:
    """Return the reason for the rejection of a fault inside the plant."""
    return (
        f'{kind} changes the physics inside the plant; only faults of messages, sensors and '
        'actuators are possible; give robot instead of plant'
    )
