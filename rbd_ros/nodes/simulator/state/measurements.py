# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Measurements of the simulated robot: sensors of all kinds, joint torques, odometry.

All methods run in the thread of the simulation loop, after a cycle. Like the cycle, they need no
node: messages pass through `MeasurementPorts`. Without subscribers, nothing is measured.
"""

from __future__ import annotations

from typing import Any, List, Mapping, NamedTuple, Optional, Protocol, Sequence

from rbd_ros.nodes.messages.conversions import NANOSECONDS
from rbd_ros.nodes.simulator.state.declared_sensors import SensorNames
from rbd_ros.nodes.simulator.state.measured_robots import MeasuredBase, MeasuredRobot
from rbd_ros.robot import Robot
from rbd_ros.simulation import Simulator
from rbd_ros.simulation.sensors.sensor import Sensor
from rbd_ros.simulation.sensors.sensors import SensorBinding, Sensors
from rbd_ros.wire import (
    JointStateWriter,
    OdometryWriter,
    TransformsWriter,
)

ODOM, TF, TORQUES = 'odom', '/tf', 'joint_torques'


class MeasurementPorts(Protocol):
    """Sinks of messages with measurements, by topic."""

    def open(self, topic: str, declared: str, message_type: str = '') -> bool:
        """Open a topic before the first message; return whether it can exist.

        :param topic: name of the topic
        :param declared: its name in the interface of the node
        :param message_type: type of a topic that is not in the interface
        """

    def has_subscribers(self, topic: str) -> bool:
        """Return whether a topic has subscribers."""

    def send(self, topic: str, data: bytes) -> None:
        """Send a message."""


class _Reading(NamedTuple):
    """Message of a sensor, with its kind and its index there."""

    topic: str
    message: Any
    kind: Sensor
    k: int


class _Torques(NamedTuple):
    """Message with the joint torques of a robot, and their indices."""

    topic: str
    message: JointStateWriter
    chosen: slice


class _Base:
    """Odometry of a base, which is exact here, and its frame on /tf.

    :param prefix: prefix of its topic
    :param ports: sink of messages
    :param publish_tf: whether /tf is published
    """

    def __init__(self, base: MeasuredBase, prefix: str, ports: MeasurementPorts, publish_tf: bool):
        self._ports, self._topic = ports, prefix + ODOM
        self._q = slice(base.at_q, base.at_q + 7)
        self._v = slice(base.at_v, base.at_v + 6)
        self._odometry = OdometryWriter(base.frame, base.child)
        self._frame = TransformsWriter(base.frame, [base.child])
        self._has_odometry = ports.open(self._topic, f'<robot>/{ODOM}' if prefix else ODOM)
        self._has_frame = base.publishes_frame and publish_tf and ports.open(TF, TF)
        self._published_frame = -1

    def send(self, simulator: Simulator, time: int) -> None:
        """Publish the topics that have subscribers.

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
        # Listeners of /tf warn of two transforms with the same time.
        if self._has_frame and time > self._published_frame and has_subscribers(TF):
            self._published_frame = time
            (row,) = self._frame.poses
            row[:3], row[3:6], row[6] = q[4:7], q[1:4], q[0]
            self._frame.set_stamp_ns(time)
            send(TF, self._frame.data())


class Measurements:
    """Sensors of the simulated robot, published on topics.

    :param parameters: values of the simulator node's parameters
    :param names: frames of sensors by kind and name
    :param robots: robots whose joint torques and odometry are published
    :param ports: sink of messages
    :param timestep: simulated time of a cycle [ns]
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
        self._messages: List[_Reading] = []
        self._torques: List[_Torques] = []
        places = {kind: list(each.values()) for kind, each in names.items()}
        if joints:
            places[TORQUES] = joints
        if places:
            self._sensors = simulator.sensors(**places)
        for name, each in names.items():
            kind = self._sensors.kinds[name]
            for k, sensor in enumerate(each):
                topic = f'{sensor}/{kind.topic}'
                if ports.open(topic, f'<sensor>/{kind.topic}', kind.message_type):
                    message = kind.message(prefix + kind.frame(k))
                    self._messages.append(_Reading(topic, message, kind, k))
        begin = 0
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
        """Publish due messages.

        :param time: simulated time [ns]
        """
        if time >= self._next:
            self._next = max(self._next + self._period, time)
            self.publish(time)

    def publish(self, time: int) -> None:
        """Measure and publish topics that have subscribers.

        :param time: simulated time [ns]
        """
        for base in self._bases:
            base.send(self._simulator, time)
        if self._sensors is None:
            return
        has_subscribers, send = self._ports.has_subscribers, self._ports.send
        readings = [each for each in self._messages if has_subscribers(each.topic)]
        torques = [each for each in self._torques if has_subscribers(each.topic)]
        if not readings and not torques:
            return
        self._sensors.read()
        for topic, message, kind, k in readings:
            kind.fill(message, k)
            message.set_stamp_ns(time)
            send(topic, message.data())
        for topic, efforts, chosen in torques:
            efforts.effort[:] = self._sensors.kinds[TORQUES].torque[chosen]
            efforts.set_stamp_ns(time)
            send(topic, efforts.data())

    def prepare(self, robot: Robot) -> None:
        """Compile sensors for a robot with other inertias; callable in any thread.

        :param robot: the robot
        """
        if self._sensors is not None:
            self._sensors.prepare(robot)

    # -- another world --------------------------------------------------------------------------

    def prepared(self, scene: Any) -> Optional[SensorBinding]:
        """Return the binding of the sensors to another world; not in the thread of the loop.

        :param scene: the world, as `Physics.prepared` returned it
        """
        if self._sensors is None:
            return None
        return self._sensors.binding(scene.record, scene.scene)

    def use(self, binding: Optional[SensorBinding]) -> None:
        """Switch to another world.

        :param binding: result of `prepared` for it
        """
        if self._sensors is not None and binding is not None:
            self._sensors.use(binding)
