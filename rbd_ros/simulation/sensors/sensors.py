# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Sensors on a simulated robot, of all kinds in this folder and in other packages.

Readings are exact, without noise. Nothing is computed until they are read.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple, Type

from rbd_ros.array_types import FloatArray
from rbd_ros.collision.scene.scene import Scene
from rbd_ros.compiler.loops import Record
from rbd_ros.extension_points import declared_in, ExtensionError, load, names_of
from rbd_ros.model.errors import unknown_name
from rbd_ros.robot import Robot
from rbd_ros.simulation import sensors as folder
from rbd_ros.simulation.physics import Physics
from rbd_ros.simulation.records.mutex import exclusive
from rbd_ros.simulation.sensors.imus import ImuReading
from rbd_ros.simulation.sensors.sensor import Sensor
from rbd_ros.simulation.sensors.transmitted_forces import TransmittedForces

#: Entry points of other packages, each a subclass of `Sensor`.
GROUP = 'rbd_ros.sensors'


def sensor_kinds() -> Dict[str, Type[Sensor]]:
    """Return the kinds of sensors of this folder, by name."""
    return {kind.name: kind for kind in declared_in(folder, Sensor)}


def sensor_kind(name: str) -> Type[Sensor]:
    """Return the kind of sensors of a name, also of another package.

    :raises ValueError: for an unknown or unusable kind
    """
    known = sensor_kinds()
    if name in known:
        return known[name]
    if name not in (others := names_of(GROUP)):
        raise ValueError(unknown_name('kind of sensors', name, (*known, *others)))
    kind, package = load(GROUP, name)
    if not (isinstance(kind, type) and issubclass(kind, Sensor) and kind.name == name):
        raise ExtensionError(
            f'{name!r} of the package {package} ({GROUP}) is not a subclass of '
            f'{Sensor.__module__}.Sensor with this name; repair or uninstall it'
        )
    return kind


class SensorBinding(NamedTuple):
    """Sensors in one world, bound to its records.

    :param record: the simulation
    :param readers: functions that read them, in this order
    """

    record: Record
    readers: Tuple[Callable[[], Any], ...]


class Sensors:
    """Sensors on the robot of a simulation; see `Simulator.sensors`.

    If a step is divided because joints rotate fast, contact forces are those of its last part.

    :param physics: the simulation
    :param places: names of links or joints by kind of sensors, see `sensor_kind`
    :raises ValueError: for unknown names, and for links without a parent joint
    :raises ModelError: for force and torque sensors on a robot with kinematic loops
    """

    def __init__(self, physics: Physics, places: Dict[str, Sequence[str]]):
        self._physics = physics
        #: The kinds by name.
        self.kinds: Dict[str, Sensor] = {
            name: sensor_kind(name)(physics, given) for name, given in places.items() if given
        }
        cuts = [cut for kind in self.kinds.values() for cut in kind.cuts]
        self._forces = TransmittedForces(physics, cuts) if cuts else None
        self._binding: Optional[SensorBinding] = None

    def prepare(self, robot: Robot) -> None:
        """Compile the kernels for other inertias, see `Physics.change_inertias`.

        :param robot: the robot with them
        """
        if self._forces is not None:
            self._forces.prepare(robot)

    def binding(self, record: Record, scene: Optional[Scene]) -> SensorBinding:
        """Return the sensors for a world, perhaps a future one.

        :param record: the simulation in it
        :param scene: its shapes
        """
        readers: List[Callable[[], Any]] = []
        if self._forces is not None:
            readers.append(self._forces.bind(record, scene))
        first = 0
        for kind in self.kinds.values():
            readers.append(kind.bind(record, self._forces, first))
            first += len(kind.cuts)
        return SensorBinding(record, tuple(readers))

    def use(self, binding: SensorBinding) -> None:
        """Switch to another world.

        :param binding: result of `binding`
        """
        self._binding = binding

    @exclusive
    def read(self) -> None:
        """Read all sensors after the last step."""
        binding, record = self._binding, self._physics.record
        if binding is None or binding.record is not record:
            binding = self._binding = self.binding(record, self._physics.scene)
        for read in binding.readers:
            read()

    @exclusive
    def __getitem__(self, name: str) -> Dict[str, Any]:
        """Return the readings of the sensors of a kind, by place.

        :param name: the kind
        """
        self.read()
        kind = self.kinds.get(name)
        return {} if kind is None else {at: kind.reading(k) for k, at in enumerate(kind.places)}

    @property
    def imus(self) -> Dict[str, ImuReading]:
        """Readings of the inertial units, by link."""
        return self['imus']

    @property
    def wrenches(self) -> Dict[str, FloatArray]:
        """Readings of force and torque sensors by name: moment, force [N m, N]."""
        return self['force_torque']

    @property
    def joint_torques(self) -> Dict[str, float]:
        """Forces that joints transmit along their degrees of freedom, by name [N m, N]."""
        return self['joint_torques']
