"""What the simulated robot's sensors tell: inertial units, wrenches, joint torques, odometry.

All runs in the thread of the simulation loop, after a cycle. Like the cycle, it needs no node:
messages go out through `MeasurementPorts`. What nobody listens to is not measured.
"""

from __future__ import annotations

from typing import Any, List, Mapping, Optional, Protocol, Sequence

from rbd_ros.nodes.common.conversions import NANOSECONDS
from rbd_ros.nodes.common.wire import (
    ImuWriter,
    JointStateWriter,
    OdometryWriter,
    TransformsWriter,
    WrenchStampedWriter,
)
from rbd_ros.nodes.simulator.sensor_places import SensorNames
from rbd_ros.simulation import Simulator
from rbd_ros.simulation.sensors import SensorBinding, Sensors

ODOM, TF, TORQUES = 'odom', '/tf', 'joint_torques'


class MeasurementPorts(Protocol):
    """Where messages about measurements go to, by topic."""

    def open(self, topic: str, declared: str) -> bool:
        """Open a topic before the first message; returns whether there can be one.

        :param topic: its name
        :param declared: the name that the interface of the node has for it
        """

    def wanted(self, topic: str) -> bool:
        """Whether anybody listens to a topic."""

    def send(self, topic: str, data: bytes) -> None:
        """Send a message."""


class Measurements:
    """Sensors of the simulated robot, as topics show them.

    :param simulator: the simulation
    :param parameters: values of the simulator node's parameters
    :param names: sensors that there are
    :param joints: joints whose torque is told, in the order of the message
    :param base: link that moves freely, '' if there is none
    :param ports: where messages go to
    :param timestep: of a cycle [ns]
    """

    def __init__(
        self,
        simulator: Simulator,
        parameters: Mapping[str, Any],
        names: SensorNames,
        joints: Sequence[str],
        base: str,
        ports: MeasurementPorts,
        timestep: int,
    ):
        self._simulator, self._ports = simulator, ports
        prefix, model = parameters['frame_prefix'], simulator.robot.model
        self._sensors: Optional[Sensors] = None
        self._imus: List[ImuWriter] = []
        self._wrenches: List[WrenchStampedWriter] = []
        self._torques: Optional[JointStateWriter] = None
        if names.imus or names.force_torque or joints:
            self._sensors = simulator.sensors(
                list(names.imus.values()), list(names.force_torque.values()), joints
            )
            self._imus = [ImuWriter(prefix + link) for link in names.imus.values()]
            self._wrenches = [
                WrenchStampedWriter(prefix + link) for link in self._sensors.wrench_links
            ]
        self._imu_topics = [f'{name}/imu' for name in names.imus]
        self._wrench_topics = [f'{name}/wrench' for name in names.force_torque]
        for topic in self._imu_topics:
            ports.open(topic, '<sensor>/imu')
        for topic in self._wrench_topics:
            ports.open(topic, '<sensor>/wrench')
        if joints:
            self._torques = JointStateWriter(joints, ['effort'])
            ports.open(TORQUES, TORQUES)
        self._has_base = bool(base)
        self._has_odometry = self._has_frame = False
        if base:
            frames = prefix + parameters['odom_frame'], prefix + model.body(1).name
            self._odometry = OdometryWriter(*frames)
            self._frame = TransformsWriter(frames[0], [frames[1]])
            self._has_odometry = ports.open(ODOM, ODOM)
            self._has_frame = parameters['publish_tf'] and ports.open(TF, TF)
        rate = parameters['sensor_publish_rate']
        self._period = max(NANOSECONDS / rate, timestep) if rate > 0.0 else float(timestep)
        self._next, self._told_frame = 0.0, -1

    def after_cycle(self, time: int) -> None:
        """Publish what is due.

        :param time: simulated time [ns]
        """
        if time >= self._next:
            self._next = max(self._next + self._period, time)
            self.publish(time)

    def publish(self, time: int) -> None:
        """Measure and publish what somebody listens to.

        :param time: simulated time [ns]
        """
        if self._has_base:
            self._send_base(time)
        if self._sensors is None:
            return
        wanted, send = self._ports.wanted, self._ports.send
        imus = [k for k, topic in enumerate(self._imu_topics) if wanted(topic)]
        wrenches = [k for k, topic in enumerate(self._wrench_topics) if wanted(topic)]
        torques = self._torques if self._torques is not None and wanted(TORQUES) else None
        if not imus and not wrenches and torques is None:
            return
        self._sensors.read()
        room = self._sensors.room
        for k in imus:
            message = self._imus[k]
            message.orientation[:3] = room.orientation[k, 1:]
            message.orientation[3] = room.orientation[k, 0]
            message.angular_velocity[:] = room.angular_velocity[k]
            message.linear_acceleration[:] = room.acceleration[k]
            message.set_stamp_ns(time)
            send(self._imu_topics[k], message.data())
        for k in wrenches:
            wrench = self._wrenches[k]
            wrench.torque[:], wrench.force[:] = room.wrench[k, :3], room.wrench[k, 3:]
            wrench.set_stamp_ns(time)
            send(self._wrench_topics[k], wrench.data())
        if torques is not None:
            torques.effort[:] = room.torque[len(self._wrenches) :]
            torques.set_stamp_ns(time)
            send(TORQUES, torques.data())

    def _send_base(self, time: int) -> None:
        """Tell pose and velocity of the base as odometry, which here is exact, and on /tf."""
        state, send, wanted = self._simulator.world.state, self._ports.send, self._ports.wanted
        q, v = state.q, state.v
        if self._has_odometry and wanted(ODOM):
            message = self._odometry
            message.pose[:3], message.pose[3:6], message.pose[6] = q[4:7], q[1:4], q[0]
            message.twist[:3], message.twist[3:] = v[3:6], v[:3]
            message.set_stamp_ns(time)
            send(ODOM, message.data())
        # Who listens to /tf takes no two transforms of the same time, and warns.
        if self._has_frame and time > self._told_frame and wanted(TF):
            self._told_frame = time
            (row,) = self._frame.poses
            row[:3], row[3:6], row[6] = q[4:7], q[1:4], q[0]
            self._frame.set_stamp_ns(time)
            send(TF, self._frame.data())

    # -- another world --------------------------------------------------------------------------

    def prepared(self, scene: Any) -> Optional[SensorBinding]:
        """What `use` needs for another world; not in the thread of the loop.

        :param scene: the world, as `World.prepared` made it
        """
        if self._sensors is None:
            return None
        return self._sensors.binding(scene.record, scene.scene)

    def use(self, binding: Optional[SensorBinding]) -> None:
        """Go over to another world.

        :param binding: what `prepared` made for it
        """
        if self._sensors is not None and binding is not None:
            self._sensors.use(binding)
