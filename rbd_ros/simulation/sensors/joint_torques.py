# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Joint torque sensors: forces that joints transmit along their degree of freedom."""

from __future__ import annotations

from typing import Any, Callable, NamedTuple, Optional, Sequence

from rbd_ros.array_types import FloatArray, IntArray
from rbd_ros.compiler.loops import allocate, entry_point, floats, Record
from rbd_ros.model import Model
from rbd_ros.model.errors import unknown_name
from rbd_ros.simulation.physics import Physics
from rbd_ros.simulation.sensors.sensor import Sensor
from rbd_ros.simulation.sensors.sensor_places import find_cut, integers
from rbd_ros.simulation.sensors.transmitted_forces import CutForces, TransmittedForces


class JointPlaces(NamedTuple):
    """Joints with a sensor, constants.

    :param column: degree of freedom of each in the tree, (n,)
    """

    column: IntArray


class Torques(NamedTuple):
    """Readings of joint torque sensors.

    :param torque: transmitted force along the degree of freedom of each joint [N m, N]
    """

    torque: FloatArray = floats('n')


class JointTorques(Sensor):
    """Torque sensors at joints with one degree of freedom.

    They read the transmitted force along the joint: the sum of drive, friction, limits, springs
    and damping, less the inertia of the rotor (armature). The simulator node publishes them by
    robot, not by sensor.
    """

    name = 'joint_torques'

    def __init__(self, physics: Physics, places: Sequence[str]):
        super().__init__(physics, places)
        model = physics.robot.model
        self.cuts = [find_cut(model, name) for name in places]
        column = {body.joint_name: body.v.start for body in model.bodies}
        self._places = Record(JointPlaces(integers([column[name] for name in places])))
        readings = allocate(Torques, n=len(places))
        #: The readings, (n,) [N m, N].
        self.torque = readings.torque
        self._record = Record(readings)

    @classmethod
    def check(cls, model: Model, place: str) -> None:
        """Reject names that are not those of joints with one degree of freedom."""
        single = tuple(body.joint_name for body in model.bodies if body.joint.nv == 1)
        if place not in single:
            raise ValueError(unknown_name('joint with one degree of freedom', place, single))

    def bind(
        self, record: Record, forces: Optional[TransmittedForces], first: int
    ) -> Callable[[], Any]:
        """Return the function that reads them."""
        assert forces is not None
        read = read_torques.bind(forces.record, self._places, self._record, release_gil=False)
        return lambda: read(first)

    def reading(self, k: int) -> float:
        """Return the torque or force of a joint [N m, N]."""
        return float(self.torque[k])


@entry_point
def read_torques(forces: CutForces, places: JointPlaces, torques: Torques, first: int) -> int:
    """Read the sensors.

    :param first: number of the first one among the joints of `forces`
    """
    for k in range(len(places.column)):
        torques.torque[k] = 0.0
        for r in range(6):
            torques.torque[k] += forces.columns[places.column[k], r] * forces.wrench[first + k, r]
    return 0
