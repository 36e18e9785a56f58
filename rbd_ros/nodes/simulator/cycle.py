"""One cycle of the simulated robot: commands in, a step of the physics, state and clock out.

Everything here runs in the thread of the simulation loop. Commands are taken from a node of their
own that no executor knows, right before they are needed, so that no callback ever stands between
two steps.
"""

from __future__ import annotations

import time
from typing import Any, Callable, Dict, List

from geometry_msgs.msg import PoseStamped, TwistStamped
import numpy as np
from rclpy.node import Node
from rclpy.qos import ReliabilityPolicy
from rclpy.subscription import Subscription

from rbd_ros.contact import ContactParameters, HalfSpace
from rbd_ros.model.model import FLOATING_BASE_JOINT
from rbd_ros.nodes.common.communication import input_node, publisher, subscription
from rbd_ros.nodes.common.conversions import (
    NANOSECONDS,
    pose_from_floating_joint,
    set_stamp,
    twist_from_motion,
)
from rbd_ros.nodes.common.diagnostics import Diagnostics, OK
from rbd_ros.nodes.common.joint_names import JointNames
from rbd_ros.nodes.common.parameters import ParameterTable
from rbd_ros.nodes.common.text import shorten
from rbd_ros.nodes.common.wire import ClockWriter, JointStateWriter
from rbd_ros.nodes.simulator.commands import Commands, SUBJECT as COMMANDS
from rbd_ros.nodes.simulator.interface import INTERFACE
from rbd_ros.nodes.simulator.wrenches import ExternalWrenches
from rbd_ros.robot import Robot
from rbd_ros.simulation import Simulator

# Real time between two messages of the unchanged state while paused [s].
PAUSED_STATE_PERIOD = 0.02
PAUSED_CLOCK_PERIOD = 0.1  # likewise for /clock, for nodes that start in the meantime [s]
CYCLES_BETWEEN_WRENCHES = 4  # looking costs, and a wrench is no control loop
MOST_MESSAGES_A_CYCLE = 50  # a flood of commands must not stop the simulation


class SimulationCycle:
    """The simulated robot with its inputs and outputs.

    :param node: the simulator node
    :param robot: the robot
    :param parameters: parameters of the node
    :param diagnostics: where to report
    :raises ValueError: for parameters that do not fit the robot
    """

    def __init__(
        self, node: Node, robot: Robot, parameters: ParameterTable, diagnostics: Diagnostics
    ):
        self._node, self._parameters, self._diagnostics = node, parameters, diagnostics
        self.robot = robot
        self.substeps = parameters['substeps']
        self.timestep = parameters['timestep']
        self._timestep_ns = round(self.timestep * NANOSECONDS)
        self.simulator = Simulator(
            robot,
            self.timestep / self.substeps,
            integrator=parameters['integrator'],
            **self._contact_options(),
        )
        self.commands = Commands(
            robot, diagnostics, parameters['joints'], parameters['servo_bandwidth']
        )
        self.wrenches = ExternalWrenches(self.simulator, diagnostics)
        self._initial_q = self._initial_configuration()
        self.time_ns = self._timestep_ns  # not 0: a zero stamp means that there is no time
        self._state_period = self._period_ns('state_publish_rate')
        self._clock_period = self._period_ns('clock_publish_rate')
        self._next_state = self._next_clock = self._until_wrenches = 0
        self._last_state_at = self._last_clock_at = 0.0
        self._create_outputs()
        self._create_inputs()
        self.reset()

    def _contact_options(self) -> dict:
        if not self._parameters['ground']:
            return {}
        return {
            'ground': HalfSpace(normal=(0.0, 0.0, 1.0), offset=self._parameters['ground_height']),
            'contact': ContactParameters(
                stiffness=self._parameters['contact_stiffness'],
                damping=self._parameters['contact_damping'],
                friction=self._parameters['contact_friction'],
            ),
        }

    def _initial_configuration(self) -> np.ndarray:
        positions, names = (
            self._parameters['initial_positions'],
            self._parameters['initial_joints'],
        )
        self.simulator.reset()
        q = self.simulator.q
        if positions:
            order = JointNames(self.commands.names).naming(names or self.commands.names)
            if order.unknown:
                raise ValueError(
                    f'parameter initial_joints: the robot has no joint {shorten(order.unknown)}'
                )
            if len(positions) != order.size:
                raise ValueError(
                    f'parameter initial_positions has {len(positions)} numbers for the '
                    f'{order.size} joints {shorten(names or self.commands.names)}'
                )
            q[self.commands.at_q[order.target]] = np.array(positions)[order.source]
        if self._has_floating_base:
            x, y, z, *quaternion = self._parameters['initial_base_pose']
            qx, qy, qz, qw = np.array(quaternion) / np.linalg.norm(quaternion)
            q[:7] = qw, qx, qy, qz, x, y, z
        return q

    def _period_ns(self, rate: str) -> float:
        """Nanoseconds between two messages; never less than a cycle."""
        if self._parameters[rate] <= 0.0:
            return self._timestep_ns if rate == 'state_publish_rate' else float('inf')
        return max(NANOSECONDS / self._parameters[rate], self._timestep_ns)

    @property
    def _has_floating_base(self) -> bool:
        return self.robot.joint_names[:1] == (FLOATING_BASE_JOINT,)

    def _create_outputs(self) -> None:
        def create(topic: str) -> Any:
            return publisher(self._node, INTERFACE.topic(topic))

        self._state = JointStateWriter(self.commands.names, ('position', 'velocity', 'effort'))
        self._clock = ClockWriter()
        self._state_publisher = create('joint_states')
        self._clock_publisher = self._pose_publisher = None
        if self._clock_period != float('inf'):
            self._clock_publisher = create('/clock')
        if self._has_floating_base:
            self._pose_publisher = create('base_pose')
            self._twist_publisher = create('base_twist')

    def _create_inputs(self) -> None:
        self._input_node = input_node(self._node, 'input')
        # By name and in parts: two controllers may answer within one cycle, and both count.
        self._by_name = self._subscribe('joint_commands', raw=True)
        self._by_order = self._subscribe('effort_commands', raw=True)
        self._wrench = self._subscribe('external_wrench')

    def _subscribe(self, topic: str, raw: bool = False) -> Subscription:
        return subscription(
            self._input_node,
            INTERFACE.topic(topic),
            _no_callback,
            raw=raw,
            resolved_by=self._node,
        )

    @property
    def command_topics(self) -> List[str]:
        """Full names of the topics with commands."""
        return [self._by_name.topic_name, self._by_order.topic_name]

    @property
    def output_topics(self) -> List[str]:
        """Full names of the topics that nobody else should publish."""
        publishers = (self._state_publisher, self._clock_publisher)
        return [each.topic_name for each in publishers if each is not None]

    def destroy(self) -> None:
        """Give up the inputs."""
        self._input_node.destroy_node()

    # -- verbs ------------------------------------------------------------------------------------

    def reset(self) -> None:
        """Put the robot at its initial position, at rest and without commands; time goes on."""
        self._drain(self._by_name, lambda message: None)
        self._drain(self._by_order, lambda message: None)
        self._drain(self._wrench, lambda message: None)
        self.simulator.reset(self._initial_q)
        for warning in self.simulator.warnings:
            self._node.get_logger().warning(warning)
        self.wrenches.clear()
        action = self._parameters['initial_command']
        self.commands.stand_in(action, self.simulator.q)
        self._locked = action == 'hold'
        self._holding_effort = self.robot.gravity_torque(self.simulator.q)
        self._diagnostics.condition(
            COMMANDS, OK, f'waiting for the first command; until then: {action}', code='waiting'
        )
        self.publish()

    def run(self) -> None:
        """One cycle."""
        now = time.monotonic()
        self._take_inputs(now)
        if not self._locked:
            self._move(now)
        self.time_ns += self._timestep_ns
        if self.time_ns >= self._next_state:
            self._next_state = max(self._next_state + self._state_period, self.time_ns)
            self._publish_state()
        if self.time_ns >= self._next_clock:
            self._next_clock = max(self._next_clock + self._clock_period, self.time_ns)
            self._publish_clock()

    def idle(self) -> None:
        """Show the unchanged state while paused, so that nobody takes the robot for dead."""
        now = time.monotonic()
        if now - self._last_state_at >= PAUSED_STATE_PERIOD:
            self._publish_state()
        if now - self._last_clock_at >= PAUSED_CLOCK_PERIOD:
            self._publish_clock()

    def refresh_commands(self) -> None:
        """Count the age of commands from now: simulated time stood still."""
        self.commands.refresh(time.monotonic())

    def unreliable_publishers(self) -> Dict[str, int]:
        """Publishers that cannot be heard because they are best effort: how many, by topic."""
        result = {}
        for each in (self._by_name, self._by_order, self._wrench):
            topic = each.topic_name
            count = sum(
                info.qos_profile.reliability == ReliabilityPolicy.BEST_EFFORT
                for info in self._node.get_publishers_info_by_topic(topic)
            )
            if count:
                result[topic] = count
        return result

    def publish(self) -> None:
        """Publish state and clock now."""
        self._publish_state()
        self._publish_clock()

    # -- parts of a cycle -------------------------------------------------------------------------

    def _take_inputs(self, now: float) -> None:
        commands = self.commands
        moved = self._drain(self._by_order, lambda message: commands.take_array(message, now))
        moved |= self._drain(
            self._by_name, lambda message: commands.take_joint_state(message, now)
        )
        if moved:
            self._locked = False
        self._until_wrenches -= 1
        if self._until_wrenches <= 0:
            self._until_wrenches = CYCLES_BETWEEN_WRENCHES
            duration = self._parameters['external_wrench_duration']
            self._drain(self._wrench, lambda message: self.wrenches.take(message, duration))

    @staticmethod
    def _drain(source: Subscription, use: Callable[[Any], Any]) -> bool:
        """Take what has arrived, oldest first, so that the newest has the last word.

        :return: whether `use` returned true for any
        """
        result = False
        with source.handle:
            for _ in range(MOST_MESSAGES_A_CYCLE):
                taken = source.handle.take_message(source.msg_type, source.raw)
                if taken is None:
                    break
                result |= bool(use(taken[0]))
        return result

    def _move(self, now: float) -> None:
        simulator, timeout = self.simulator, self._parameters['command_timeout']
        q, v = simulator.q, simulator.v
        if timeout > 0.0:
            self.commands.expire(now, timeout, self._parameters['timeout_command'], q)
        torque = self.commands.torque(q, v)
        self.wrenches.apply(self.timestep, self.substeps)
        simulator.step(torque, self.substeps)

    def _publish_state(self) -> None:
        self._last_state_at = time.monotonic()
        simulator, commands, state = self.simulator, self.commands, self._state
        q = simulator.q
        state.position[:] = q[commands.at_q]
        state.velocity[:] = simulator.v[commands.at_v]
        effort = self._holding_effort if self._locked else simulator.tau
        state.effort[:] = effort[commands.at_v]
        state.set_stamp_ns(self.time_ns)
        self._state_publisher.publish(state.data())
        if self._pose_publisher is not None:
            self._publish_base(q, simulator.v)

    def _publish_base(self, q: np.ndarray, v: np.ndarray) -> None:
        pose = PoseStamped(pose=pose_from_floating_joint(q[:7]))
        twist = TwistStamped(twist=twist_from_motion(v[:6]))
        for message, frame in ((pose, 'world'), (twist, self.robot.model.body(1).name)):
            set_stamp(message.header.stamp, self.time_ns)
            message.header.frame_id = frame
        self._pose_publisher.publish(pose)
        self._twist_publisher.publish(twist)

    def _publish_clock(self) -> None:
        self._last_clock_at = time.monotonic()
        if self._clock_publisher is not None:
            self._clock.set_stamp_ns(self.time_ns)
            self._clock_publisher.publish(self._clock.data())


def _no_callback(message: Any) -> None:
    """Stand where rclpy wants a callback: the messages are taken by hand."""
