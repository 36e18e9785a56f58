# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Force and torque sensors: wrench of the parent of a joint on its child."""

from __future__ import annotations

from typing import Any, Callable, NamedTuple, Optional, Sequence

from rbd_ros.array_types import FloatArray
from rbd_ros.compiler.loops import (
    allocate,
    cross,
    entry_point,
    floats,
    load_transform,
    load_vec,
    Record,
)
from rbd_ros.model import Model
from rbd_ros.simulation.physics import Physics
from rbd_ros.simulation.sensors.sensor import Sensor
from rbd_ros.simulation.sensors.sensor_places import check_no_loops, find_cut
from rbd_ros.simulation.sensors.transmitted_forces import CutForces, TransmittedForces
from rbd_ros.wire import WrenchStampedWriter


class Wrenches(NamedTuple):
    """Readings of force and torque sensors.

    :param wrench: moment and force of each, in its axes, about its origin [N m, N]
    """

    wrench: FloatArray = floats('n', 6)


class ForceTorqueSensors(Sensor):
    """Force and torque sensors at joints, fixed ones too, or at links for their parent joints.

    They read the wrench of the parent on the child, about the origin and in the axes of the child
    link: [moment; force], the mean of the last step. It is the inertial wrench of all links beyond
    the joint, less gravity, contacts and external forces there.
    """

    name = 'force_torque'
    parameter = 'force_torque_sensors'
    topic = 'wrench'
    message_type = 'geometry_msgs/msg/WrenchStamped'
    quantities = ('force', 'torque')

    def __init__(self, physics: Physics, places: Sequence[str]):
        super().__init__(physics, places)
        self.cuts = [find_cut(physics.robot.model, name) for name in places]
        self._wrenches = allocate(Wrenches, n=len(places))
        self._record = Record(self._wrenches)

    @classmethod
    def check(cls, model: Model, place: str) -> None:
        """Reject places without a parent joint, and robots with loops."""
        find_cut(model, place)
        check_no_loops(model, 'sensors of forces')

    def bind(
        self, record: Record, forces: Optional[TransmittedForces], first: int
    ) -> Callable[[], Any]:
        """Return the function that reads them."""
        assert forces is not None
        read = read_wrenches.bind(forces.record, self._record, release_gil=False)
        return lambda: read(first)

    def reading(self, k: int) -> FloatArray:
        """Return moment and force, (6,) [N m, N]."""
        wrench: FloatArray = self._wrenches.wrench[k].copy()
        return wrench

    def frame(self, k: int) -> str:
        """Return the link beyond the joint."""
        return self.cuts[k].link

    def message(self, frame_id: str) -> WrenchStampedWriter:
        """Return a message."""
        return WrenchStampedWriter(frame_id)

    def fill(self, message: WrenchStampedWriter, k: int) -> None:
        """Write the reading of a sensor."""
        wrench = self._wrenches.wrench[k]
        message.torque[:], message.force[:] = wrench[:3], wrench[3:]


@entry_point
def read_wrenches(forces: CutForces, wrenches: Wrenches, first: int) -> int:
    """Read the sensors.

    :param first: number of the first one among the joints of `forces`
    """
    for k in range(len(wrenches.wrench)):
        frame, total = load_transform(forces.pose[first + k]), forces.wrench[first + k]
        # The reverse of `into_base` of transmitted_forces.py.
        force = load_vec(total, 3, 3)
        moment = load_vec(total, 3) - cross(frame.position, force)
        wrenches.wrench[k, 0:3] = frame.rotation.T @ moment
        wrenches.wrench[k, 3:6] = frame.rotation.T @ force
    return 0
