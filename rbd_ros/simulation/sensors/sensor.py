# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Interface of a kind of sensors: a class with these attributes and methods, in this folder.

A file is named after the kind, and registered nowhere else. Other packages name their classes in
the entry points `rbd_ros.sensors`. `test/simulation/test_sensor_kinds.py` tests all of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Callable, ClassVar, Optional, Sequence, Tuple

from rbd_ros.compiler.loops import Record
from rbd_ros.model import Model
from rbd_ros.simulation.physics import Physics
from rbd_ros.simulation.sensors.sensor_places import Cut
from rbd_ros.simulation.sensors.transmitted_forces import TransmittedForces


class Sensor(ABC):
    """Sensors of one kind on the robot of a simulation.

    :param physics: the simulation
    :param places: names of the links or joints where they are
    :raises ValueError: for names that `check` rejects
    """

    #: Keyword of `Simulator.sensors`, and name of the file.
    name: ClassVar[str]
    #: Topic of the simulator node, below the name of a sensor; '': the node has none.
    topic: ClassVar[str] = ''
    #: Type of its messages, such as 'sensor_msgs/msg/Imu'.
    message_type: ClassVar[str] = ''
    #: Parameter of the node that has places of this kind alone; `sensors` has those of all kinds.
    parameter: ClassVar[str] = ''
    #: State interfaces, without `.x`, by which a <sensor> of a <ros2_control> tag is of this kind.
    quantities: ClassVar[Tuple[str, ...]] = ()

    #: Joints whose transmitted force the sensors need.
    cuts: Sequence[Cut] = ()

    def __init__(self, physics: Physics, places: Sequence[str]):
        for place in places:
            try:
                self.check(physics.robot.model, place)
            except ValueError as error:
                raise type(error)(f'{self.name}: {error}') from None
        self.physics, self.places = physics, tuple(places)

    @classmethod
    @abstractmethod
    def check(cls, model: Model, place: str) -> None:
        """Reject a place that cannot have such a sensor.

        :raises ValueError: naming the place and the alternatives
        """

    def bind(
        self, record: Record, forces: Optional[TransmittedForces], first: int
    ) -> Callable[[], Any]:
        """Return the function that reads all sensors after the last step; `reading` by default.

        :param record: the simulation, perhaps in a future world
        :param forces: transmitted forces, computed before; None if no sensor has `cuts`
        :param first: number of the first of `cuts` among these joints
        """
        return lambda: None

    @abstractmethod
    def reading(self, k: int) -> Any:
        """Return the reading of a sensor, as a new object.

        :param k: its number
        """

    # -- for the node -----------------------------------------------------------------------------

    def frame(self, k: int) -> str:
        """Return the link in whose axes a sensor measures."""
        return self.places[k]

    def message(self, frame_id: str) -> Any:
        """Return a reusable message for one sensor.

        :param frame_id: frame of its header
        """
        raise NotImplementedError

    def fill(self, message: Any, k: int) -> None:
        """Write the reading of a sensor into its message, without the stamp."""
        raise NotImplementedError
