# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A controller under test behind topics: it receives a state and, in lockstep, returns efforts."""

from __future__ import annotations

import math
from time import monotonic, sleep
from typing import Any, Callable, Dict, Iterable, Iterator, Optional, Sequence

from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState, GetState
import numpy as np
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
from rclpy.qos import DurabilityPolicy, QoSProfile
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory as TrajectoryMessage, JointTrajectoryPoint

from rbd_ros.hil.report.run_recorder import (
    BEGIN,  # stamp of time 0; the robot is held before [ns]
)
from rbd_ros.hil.scenario.controller_entry import BY_ORDER, ControllerFailure
from rbd_ros.hil.scenario.scenario import Scenario
from rbd_ros.hil.update_rate import NUDGE_AFTER, nudged, PACE, SETTLING_TIME
from rbd_ros.nodes.common.receipts import Receipts
from rbd_ros.nodes.common.repeated_request import RepeatedRequest
from rbd_ros.nodes.messages.conversions import NANOSECONDS, set_stamp
from rbd_ros.nodes.simulator.cycle.lockstep import stamp_of
from rbd_ros.wire import (
    ClockWriter,
    JointStateReader,
    JointStateWriter,
    NameList,
    WireError,
)

CONTACT = NANOSECONDS  # stamp of the first state; the next ones follow in minimal steps [ns]
CONTACT_STEP = 1000  # [ns]
STEPS_BEFORE = 100  # states at the rate of the scenario, before time 0

WAIT = 20_000_000  # longest wait for a message before the process is checked [ns]
FIRST_CONTACT = 0.05  # wall time after which the first state is sent again [s]
TRAJECTORY_TIMEOUT = 2.0  # for subscribers of the trajectory, after the first answer [s]
# Wall time before the trajectory is sent again, and for the controller to accept it [s].
# The second pair is for a controller that has accepted a trajectory before.
FIRST_WAITS, KNOWN_WAITS = (0.3, 0.5), (0.1, 0.25)
CLOCK_PERIOD = 10_000_000  # period of /clock [ns]


class TopicController:
    """Publishes states and waits for the command with the stamp of each; a context manager.

    :param scenario: the scenario
    :param description: URDF of the robot, published on /robot_description
    :param ended: returns the error of the controller's process; '' while it runs
    """

    def __init__(self, scenario: Scenario, description: str, ended: Callable[[], str]):
        self._scenario, self._ended = scenario, ended
        self._by_order = scenario.controller.options.get('answers') == BY_ORDER
        self._names = list(scenario.robot.joint_names)
        self._context = rclpy.Context()
        rclpy.init(context=self._context)
        node = self._node = rclpy.create_node('hil_run', context=self._context)
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._description = node.create_publisher(String, 'robot_description', latched)
        self._description.publish(String(data=description))
        self._states = node.create_publisher(JointState, 'joint_states', QoSProfile(depth=10))
        self._clock = node.create_publisher(Clock, '/clock', QoSProfile(depth=1))
        self._trajectories = node.create_publisher(
            TrajectoryMessage, 'joint_trajectory', QoSProfile(depth=1)
        )
        self._commands = node.create_subscription(
            JointState, 'joint_commands', lambda _: None, QoSProfile(depth=10), raw=True
        )
        self._wait_set = _rclpy.WaitSet(1, 0, 0, 0, 0, 0, self._context.handle)
        self._writer = JointStateWriter(self._names, ['position', 'velocity'])
        self._clock_writer, self._reader = ClockWriter(), JointStateReader()
        self._orders: Dict[NameList, np.ndarray] = {}
        self._unstamped, self._problem = False, ''
        self._begin = BEGIN
        # By order only: whether states are sent at the pace of real time, and commands are usable.
        self._paced, self._ready = self._by_order, False
        self._receipts = (
            Receipts(self._context, self._commands.topic_name) if self._by_order else None
        )
        self._rest, self._last_tick = np.zeros(len(self._names)), -1

    def __enter__(self) -> TopicController:
        return self

    def __exit__(self, *_: object) -> None:
        if self._receipts is not None:
            self._receipts.close()
        self._node.destroy_node()
        rclpy.shutdown(context=self._context)

    def restart(self, timeout: float) -> None:
        """Restart the controller: deactivate and activate its lifecycle nodes.

        Other nodes have to notice it by the stamps of states, which go back.

        :param timeout: timeout of each step of each node [s]
        :raises ControllerFailure: if a node does not answer, or rejects the transition
        """
        for name, kinds in self._node.get_service_names_and_types():
            if 'lifecycle_msgs/srv/ChangeState' in kinds:
                change = self._node.create_client(ChangeState, name)
                state = self._node.create_client(
                    GetState, name[: -len('change_state')] + 'get_state'
                )
                try:
                    # A node that answers the second client has discovered the first
                    # (RepeatedRequest).
                    found = RepeatedRequest(state, GetState.Request())
                    self._spin_until(found.answered, name, timeout)
                    for step, number in (
                        ('deactivate', Transition.TRANSITION_DEACTIVATE),
                        ('activate', Transition.TRANSITION_ACTIVATE),
                    ):
                        request = ChangeState.Request(transition=Transition(id=number))
                        answer = change.call_async(request)
                        self._spin_until(answer.done, name, timeout)
                        if not answer.result().success:
                            raise ControllerFailure(
                                f'{name}: the controller does not {step} between two runs'
                            )
                finally:
                    self._node.destroy_client(change)
                    self._node.destroy_client(state)

    def _spin_until(self, done: Callable[[], bool], name: str, timeout: float) -> None:
        end = monotonic() + timeout
        executor = SingleThreadedExecutor(context=self._context)
        executor.add_node(self._node)
        try:
            while not done():
                if problem := self._ended():
                    raise ControllerFailure(problem)
                if monotonic() > end:
                    raise ControllerFailure(f'{name}: no answer between two runs')
                executor.spin_once(timeout_sec=0.01)
        finally:
            executor.remove_node(self._node)
            executor.shutdown()

    def connect(self, timeout: float, known: bool = False) -> None:
        """Wait until the controller answers the first state, and send it the trajectory.

        :param timeout: timeout of the first answer [s]
        :param known: whether the controller has received a trajectory before
        :raises ControllerFailure: if there is no answer
        """
        if self._by_order:
            self._connect_in_order(timeout)
            return
        stamp, begin = CONTACT, monotonic()
        while self._held(stamp) is None:
            if monotonic() - begin > timeout:
                raise ControllerFailure(self._silence(stamp, timeout))
            stamp += CONTACT_STEP
        begin = monotonic()
        while (
            not self._trajectories.get_subscription_count()
            and monotonic() - begin < TRAJECTORY_TIMEOUT
        ):
            stamp += CONTACT_STEP
            self._held(stamp)
        # Sent twice: a discovered subscriber may miss the first message. It is the same plan.
        for settling in KNOWN_WAITS if known else FIRST_WAITS:
            self._trajectories.publish(self._trajectory())
            begin = monotonic()
            while monotonic() - begin < settling:
                stamp += CONTACT_STEP
                self._held(stamp)
        # A constant number of answered states, so that the duration of the above has no effect.
        period = round(self._scenario.timestep * NANOSECONDS)
        self._answered(range(BEGIN - STEPS_BEFORE * period, BEGIN, period))

    def _connect_in_order(self, timeout: float) -> None:
        """Connect with states that are one whole period apart.

        Shorter steps do not wake a controller_manager. It answers nothing before its hardware is
        active, and NaN before its controllers are. How many cycles that takes depends on the
        machine; the stamp of time 0 does not.
        """
        period = round(self._scenario.timestep * NANOSECONDS)
        seconds = timeout + TRAJECTORY_TIMEOUT + sum(FIRST_WAITS)
        self._begin = CONTACT + (math.ceil(seconds / PACE) + STEPS_BEFORE) * period
        stamps = iter(range(CONTACT, self._begin, period))
        self._paced, self._ready = True, False
        if not self._pass(stamps, timeout, lambda: self._ready):
            raise ControllerFailure(
                f'no usable command within {timeout:g} s'
                + (f': {self._problem}' if self._problem else '')
                + '; a controller_manager must have use_sim_time, and a controller active'
            )
        self._pass(stamps, TRAJECTORY_TIMEOUT, self._trajectories.get_subscription_count)
        for settling in FIRST_WAITS:
            self._trajectories.publish(self._trajectory())
            self._pass(stamps, settling, lambda: False)
        sleep(SETTLING_TIME)
        self._paced = False
        self._answered(stamps)

    def _pass(self, stamps: Iterator[int], seconds: float, done: Callable[[], Any]) -> bool:
        """Advance time at the pace of real time until a future is done; return whether it is."""
        end = monotonic() + seconds
        while not done():
            if monotonic() > end:
                return False
            next_at = monotonic() + PACE
            self._held(next(stamps), PACE)
            sleep(max(next_at - monotonic(), 0.0))
        return True

    def _held(self, stamp: int, timeout: float = FIRST_CONTACT) -> Optional[np.ndarray]:
        """Send the initial state to the controller; return its answer, None if there is none."""
        return self._exchange(stamp, self._scenario.start, self._rest, timeout)

    def _answered(self, stamps: Iterable[int]) -> None:
        """Send the initial state with each stamp.

        :raises ControllerFailure: if one is not answered within the response timeout
        """
        timeout = self._scenario.response_timeout
        for stamp in stamps:
            if self._held(stamp, timeout) is None:
                raise ControllerFailure(self._silence(stamp, timeout))

    def _trajectory(self) -> TrajectoryMessage:
        """Return the trajectory that begins at time 0."""
        desired = self._scenario.trajectory
        message = TrajectoryMessage(joint_names=self._names)
        set_stamp(message.header.stamp, self._begin)
        for time, positions in zip(desired.times, desired.positions):
            point = JointTrajectoryPoint(positions=[float(x) for x in positions])
            nanoseconds = round(float(time) * NANOSECONDS)
            point.time_from_start.sec = nanoseconds // NANOSECONDS
            point.time_from_start.nanosec = nanoseconds % NANOSECONDS
            message.points.append(point)
        return message

    def __call__(self, time: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return the torques for a state, (n,) [N m, N].

        :param time: time of the state [s]
        :raises ControllerFailure: if no answer comes, or an unusable one
        """
        stamp, timeout = self._begin + round(time * NANOSECONDS), self._scenario.response_timeout
        torque = self._exchange(stamp, q, v, timeout)
        if torque is None:
            raise ControllerFailure(self._silence(stamp, timeout))
        return torque

    def _silence(self, stamp: int, timeout: float) -> str:
        text = f'no answer to the state of {stamp / NANOSECONDS:.6f} s within {timeout:g} s'
        if self._unstamped:
            text += (
                ': commands come without the stamp of their state; set header.stamp to it, or '
                'write "answers: order" in the scenario'
            )
        if self._by_order:
            text += (
                ': one is due in each period; a controller_manager has the update_rate of the '
                'scenario, and trigger_joint_command_threshold -1'
            )
        return text

    def _exchange(
        self, stamp: int, q: np.ndarray, v: np.ndarray, timeout: float
    ) -> Optional[np.ndarray]:
        """Send a state and return the answer; None if none comes in time."""
        self._writer.position[:], self._writer.velocity[:] = q, v
        self._writer.set_stamp_ns(stamp)
        handle = self._commands.handle
        if self._by_order:
            while handle.take_message(JointState, True) is not None:
                pass  # commands from before the state are no answer to it
        self._states.publish(bytes(self._writer.data()))
        end = monotonic() + timeout
        if self._receipts is not None:  # /clock must wake only nodes that have received the state
            self._receipts.ask(all_nodes=self._paced)
            while not self._receipts.wait(PACE / 2) and not self._paced:
                if not self._should_wait(end):
                    return None
            self._publish_time(stamp)
        elif stamp // CLOCK_PERIOD != self._last_tick:
            self._last_tick = stamp // CLOCK_PERIOD
            self._publish_time(stamp)
        nudge_at, nudges = monotonic() + NUDGE_AFTER, 0
        while True:
            # A wait removes the entities that were not ready.
            self._wait_set.clear_entities()
            self._wait_set.add_subscription(handle)
            self._wait_set.wait(WAIT)
            while (taken := handle.take_message(JointState, True)) is not None:
                found = stamp_of(taken[0])
                if self._by_order:
                    return self._answer(taken[0])
                if found == stamp:
                    return self._efforts(taken[0])
                self._unstamped = self._unstamped or found == 0
            if not self._should_wait(end):
                return None
            if self._by_order and monotonic() > nudge_at:
                nudges += 1
                self._publish_time(nudged(stamp, nudges))

    def _should_wait(self, end: float) -> bool:
        """Return whether to continue waiting.

        :param end: wall time of the timeout [s]
        :raises ControllerFailure: if the controller has ended
        """
        if problem := self._ended():
            raise ControllerFailure(problem)
        return monotonic() < end

    def _publish_time(self, stamp: int) -> None:
        self._clock_writer.set_stamp_ns(stamp)
        self._clock.publish(bytes(self._clock_writer.data()))

    def _answer(self, data: bytes) -> Optional[np.ndarray]:
        """Return the efforts of a command; None for an empty one before time 0."""
        try:
            efforts = self._efforts(data)
        except ControllerFailure as error:
            if not self._paced:
                raise
            self._problem = str(error)
            return None
        self._ready = bool(np.isfinite(efforts).all())
        if not self._ready:
            self._problem = 'its efforts are not finite'
        return efforts

    def _efforts(self, data: bytes) -> np.ndarray:
        try:
            message = self._reader.read(data)
        except WireError as error:
            raise ControllerFailure(f'a command cannot be read: {error}') from None
        order = self._orders.get(message.names)
        if order is None:
            order = self._orders[message.names] = self._order(message.names.names)
        effort: Any = message.effort
        if effort is None or len(effort) != len(self._names):
            raise ControllerFailure(
                f'a command has {0 if effort is None else len(effort)} efforts for '
                f'{len(self._names)} joints; the bench needs one effort for each joint'
            )
        return np.array(effort)[order]

    def _order(self, names: Sequence[str]) -> np.ndarray:
        missing = [name for name in self._names if name not in names]
        if missing or len(names) != len(self._names):
            raise ControllerFailure(
                f'a command names {", ".join(names) or "no joint"}; it must name all joints: '
                f'{", ".join(self._names)}'
            )
        return np.array([list(names).index(name) for name in self._names], dtype=np.intp)
