# SPDX-License-Identifier: Apache-2.0
"""Measurements of the simulated robot: inertial units, wrenches, joint torques, odometry.

All runs in the thread of the simulation loop, after a cycle. Like the cycle, it needs no node:
messages go out through `MeasurementPorts`. What nobody listens to is not measured.
"""

from __future__ import annotations

from typing import Any, List, Mapping, NamedTuple, Optional, Protocol, Sequence

from rbd_ros.nodes.messages.conversions import NANOSECONDS
from rbd_ros.nodes.simulator.state.declared_sensors import SensorNames
from rbd_ros.nodes.simulator.state.measured_robots import MeasuredBase, MeasuredRobot
from rbd_ros.robot import Robot
from rbd_ros.simulation import Simulator
from rbd_ros.simulation.sensors.sensors import SensorBinding, Sensors
from rbd_ros.wire import (
    ImuWriter,
    JointStateWriter,
    OdometryWriter,
    TransformsWriter,
    WrenchStampedWriter,
)

ODOM, TF, TORQUES = 'odom', '/tf', 'joint_torques'


class MeasurementPorts(Protocol):
    """Sinks of messages about measurements, by topic."""

    def open(self, topic: str, declared: str) -> bool:
        """Open a topic before the first message; return whether there can be one.

        :param topic: its name
        :param declared: the name that the interface of the node has for it
        """

    def has_subscribers(self, topic: str) -> bool:
        """Return whether anybody listens to a topic."""

    def send(self, topic: str, data: bytes) -> None:
        """Send a message."""


class _Torques(NamedTuple):
    """Message with joint torques of a robot, and which of all these are."""

    topic: str
    message: JointStateWriter
    chosen: slice


class _Base:
    """Pose and velocity of a base as odometry, which here is exact, and on /tf.

    :param base: the base
    :param prefix: what the name of its topic begins with
    :param ports: where messages go to
    :param publish_tf: whether anything is published on /tf
    """

    def __init__(self, base: MeasuredBase, prefix: str, ports: MeasurementPorts, publish_tf: bool):
        self._ports, self._topic = ports, prefix + ODOM
        self._q = slice(base.at_q, base.at_q + 7)
        self._v = slice(base.at_v, base.at_v + 6)
        self._odometry = OdometryWriter(base.frame, base.child)
        self._frame = TransformsWriter(base.frame, [base.child])
        self._has_odometry = ports.open(self._topic, f'<robot>/{ODOM}' if prefix else ODOM)
        self._has_frame = base.tells_frame and publish_tf and ports.open(TF, TF)
        self._published_frame = -1

    def send(self, simulator: Simulator, time: int) -> None:
        """Publish what somebody listens to.

        :param time: simulated time [ns]
        """
        state, send = simulator.physics.state, self._ports.send
        has_subscribers = self._ports.has_subscribers
        q, v = state.q[self._q], state.v[self._v]
        if self._has_odometry and has_subscribers(self._topic):
            message = self._odometry
            message.pose[:3], message.pose[3:6], message.pose[6] = q[4:7], q[1:4], q[0]
            message.twist[:3], message.twist[3:] = v[3:6], v[:3]
            message.set_stamp_ns(time)
            send(self._topic, message.data())
        # Who listens to /tf takes no two transforms of the same time, and warns.
        if self._has_frame and time > self._published_frame and has_subscribers(TF):
            self._published_frame = time
            (row,) = self._frame.poses
            row[:3], row[3:6], row[6] = q[4:7], q[1:4], q[0]
            self._frame.set_stamp_ns(time)
            send(TF, self._frame.data())


class Measurements:
    """Sensors of the simulated robot, as topics show them.

    :param simulator: the simulation
    :param parameters: values of the simulator node's parameters
    :param names: sensors that there are
    :param robots: robots whose joint torques and odometry are published
    :param ports: where messages go to
    :param timestep: of a cycle [ns]
    """

    def __init__(
        self,
        simulator: Simulator,
        parameters: Mapping[str, Any],
        names: SensorNames,
        robots: Sequence[MeasuredRobot],
        ports: MeasurementPorts,
        timestep: int,
    ):
        self._simulator, self._ports = simulator, ports
        prefix = parameters['frame_prefix']
        joints = [joint for robot in robots for joint in robot.joints]
        self._sensors: Optional[Sensors] = None
        self._imus: List[ImuWriter] = []
        self._wrenches: List[WrenchStampedWriter] = []
        self._torques: List[_Torques] = []
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
        begin = len(self._wrenches)
        for robot in robots:
            if robot.joints:
                topic, end = robot.prefix + TORQUES, begin + len(robot.joints)
                own = [joint[len(robot.prefix) :] for joint in robot.joints]
                ports.open(topic, f'<robot>/{TORQUES}' if robot.prefix else TORQUES)
                message = JointStateWriter(own, ['effort'])
                self._torques.append(_Torques(topic, message, slice(begin, end)))
                begin = end
        self._bases = [
            _Base(robot.base, robot.prefix, ports, parameters['publish_tf'])
            for robot in robots
            if robot.base is not None
        ]
        rate = parameters['sensor_publish_rate']
        self._period = max(NANOSECONDS / rate, timestep) if rate > 0.0 else float(timestep)
        self._next = 0.0

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
        for base in self._bases:
            base.send(self._simulator, time)
        if self._sensors is None:
            return
        has_subscribers, send = self._ports.has_subscribers, self._ports.send
        imus = [k for k, topic in enumerate(self._imu_topics) if has_subscribers(topic)]
        wrenches = [k for k, topic in enumerate(self._wrench_topics) if has_subscribers(topic)]
        torques = [each for each in self._torques if has_subscribers(each.topic)]
        if not imus and not wrenches and not torques:
            return
        self._sensors.read()
        buffers = self._sensors.buffers
        for k in imus:
            message = self._imus[k]
            message.orientation[:3] = buffers.orientation[k, 1:]
            message.orientation[3] = buffers.orientation[k, 0]
            message.angular_velocity[:] = buffers.angular_velocity[k]
            message.linear_acceleration[:] = buffers.acceleration[k]
            message.set_stamp_ns(time)
            send(self._imu_topics[k], message.data())
        for k in wrenches:
            wrench = self._wrenches[k]
            wrench.torque[:], wrench.force[:] = buffers.wrench[k, :3], buffers.wrench[k, 3:]
            wrench.set_stamp_ns(time)
            send(self._wrench_topics[k], wrench.data())
        for topic, efforts, chosen in torques:
            efforts.effort[:] = buffers.torque[chosen]
            efforts.set_stamp_ns(time)
            send(topic, efforts.data())

    def prepare(self, robot: Robot) -> None:
        """Compile what sensors need if the robot gets other inertias; in any thread.

        :param robot: the robot with them
        """
        if self._sensors is not None:
            self._sensors.prepare(robot)

    # -- another world --------------------------------------------------------------------------

    def prepared(self, scene: Any) -> Optional[SensorBinding]:
        """Return what `use` needs for another world; not in the thread of the loop.

        :param scene: the world, as `Physics.prepared` made it
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
