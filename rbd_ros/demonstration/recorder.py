# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Runs a tracking experiment with a simulated arm and records it; the ROS side of the demo.

For each law of a plan it sets the parameters of the inverse_dynamics node, resets the simulator,
sends the trajectory, and records states and commands with their sending times. In lockstep it
forwards each command to the simulator after the state is recorded, so that none is lost on a busy
machine. It reports its progress on standard output, one JSON object per line.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
import signal
import sys
import time
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
import numpy as np
from rcl_interfaces.srv import SetParameters
import rclpy
from rclpy.duration import Duration
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.serialization import deserialize_message
from rclpy.signals import SignalHandlerOptions
from rclpy.subscription import Subscription
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from rbd_ros.demonstration.experiment import ANSWERS, Law, Plan, Recording
from rbd_ros.nodes.common.communication import quality_of_service
from rbd_ros.nodes.common.declared import DIAGNOSTICS_TOPIC
from rbd_ros.nodes.inverse_dynamics import JOINT_TRAJECTORY
from rbd_ros.nodes.messages.conversions import NANOSECONDS, nanoseconds, set_stamp
from rbd_ros.nodes.simulator.cycle.lockstep import stamp_of

DRAIN_INTERVAL = 0.002  # messages wait in the middleware, which has recorded their times [s]
PROGRESS_INTERVAL = 0.1  # [s]
QUEUE = 1000
# Timeout of anything; the first state waits for the compilation of the simulation, on a busy
# machine [s].
CEILING = 600.0
NOTICE_DELAY = 5.0  # time after which the awaited event is printed [s]
WAY_PART = 0.8  # fraction of the lead for the motion to the start
SETTLING = 0.05  # recording time after the motion [s]
CONTROLLER = 'inverse_dynamics'

Raw = Tuple[bytes, int]


class ExperimentError(RuntimeError):
    """The experiment cannot continue; the message gives the reason."""


def report(event: str, **values: Any) -> None:
    """Report an event to the parent process."""
    sys.stdout.write(json.dumps({'event': event, **values}) + '\n')
    sys.stdout.flush()


class TrajectoryExperiment(Node):
    """Node that runs the laws of a plan and records states and commands.

    :param lockstep: whether the simulator waits for the answer to each state
    """

    def __init__(self, plan: Plan, lockstep: bool):
        super().__init__('trajectory_experiment')
        self._plan = plan
        # Clients first: a publisher to later subscriptions has discovered them (RepeatedRequest).
        self._set_parameters = self.create_client(SetParameters, f'{CONTROLLER}/set_parameters')
        self._change_state = self.create_client(ChangeState, f'{CONTROLLER}/change_state')
        self._reset = self.create_client(Trigger, 'simulator/reset')
        self._pause = self.create_client(SetBool, 'simulator/pause')
        self._publisher = self.create_publisher(
            JointTrajectory, JOINT_TRAJECTORY.name, quality_of_service(JOINT_TRAJECTORY)
        )
        self._sent = 0  # trajectories sent
        self._status: Dict[str, DiagnosticStatus] = {}  # newest one of the controller, by subject
        self.create_subscription(
            DiagnosticArray,
            DIAGNOSTICS_TOPIC.name,
            self._on_diagnostics,
            quality_of_service(DIAGNOSTICS_TOPIC),
        )
        # Topics are polled by a node without an executor: 2000 callbacks a second would cost more
        # than polling messages in bulk, and disturb the measurement.
        self._listener = Node('trajectory_experiment_listener', use_global_arguments=True)
        self._states = self._listen('joint_states')
        self._commands = self._listen(ANSWERS if lockstep else 'joint_commands')
        self._lockstep_publisher = lockstep and self.create_publisher(
            JointState, 'joint_commands', 1
        )
        self._wait_set = _rclpy.WaitSet(1, 0, 0, 0, 0, 0, self.context.handle)
        self._now = 0  # stamp of the newest state [ns]

    def _listen(self, topic: str) -> Subscription:
        return self._listener.create_subscription(
            JointState, topic, lambda _: None, QUEUE, raw=True
        )

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            node, _, subject = status.name.partition(': ')
            if node == CONTROLLER:
                self._status[subject] = status

    def destroy_node(self) -> None:
        """Destroy the node and its listener."""
        self._listener.destroy_node()
        super().destroy_node()

    # -- the run ----------------------------------------------------------------------------------

    def wait_for_nodes(self) -> None:
        """Wait until the simulator and the inverse_dynamics node work together.

        :raises ExperimentError: if one of them does not come, with its name
        """
        clients = (self._reset, self._pause, self._set_parameters, self._change_state)
        for what, ready in (
            *((f'service {client.srv_name}', client.service_is_ready) for client in clients),
            ('joint_states of the simulator', self._new_states),
            (f'commands of {CONTROLLER}', lambda: _take(self._commands)),
            (f'diagnostics of {CONTROLLER}', lambda: self._status),
            ('a subscriber of joint_trajectory', self._publisher.get_subscription_count),
        ):
            self._wait(ready, what)
        if self._lockstep_publisher:
            self._wait(
                self._lockstep_publisher.get_subscription_count, 'a subscriber of joint_commands'
            )

    def run(self, law: Law) -> Recording:
        """Track the motion with a law and return the recording.

        Time is paused while the law is changed and the trajectory sent, so that the duration of
        both has no effect. A deactivated node has no state of the previous law.

        :raises ExperimentError: if a node rejects a request or does not answer
        """
        self._call(self._pause, SetBool.Request(data=True))
        self._change('deactivate')
        self._configure(law.parameters)
        self._call(self._reset, Trigger.Request())
        before = self._now
        self._wait(lambda: self._new_states() and self._now > before, 'state after the reset')
        _take(self._commands)
        self._change('activate')
        self._wait(lambda: _take(self._commands), f'command of {CONTROLLER}')
        self._new_states()
        start = self._now + round(self._plan.lead * NANOSECONDS)
        self._follow(start)
        self._call(self._pause, SetBool.Request(data=False))
        states, commands = self._record(start, law)
        return decode(self._plan, start, states, commands)

    def _change(self, transition: str) -> None:
        request = ChangeState.Request(transition=Transition(label=transition))
        self._call(self._change_state, request)

    def _configure(self, values: Mapping[str, Any]) -> None:
        request = SetParameters.Request()
        request.parameters = [
            Parameter(name, value=value).to_parameter_msg() for name, value in values.items()
        ]
        for result in self._call(self._set_parameters, request).results:
            if not result.successful:
                raise ExperimentError(f'{CONTROLLER} rejects a parameter: {result.reason}')

    def _follow(self, start: int) -> None:
        """Send the trajectory, and wait until the controller has accepted it."""
        self._publisher.publish(trajectory_message(self._plan, start))
        self._sent += 1

        def count(key: str) -> int:
            values = {each.key: each.value for each in self._status['torque'].values}
            return int(values[f'trajectories_{key}'])

        self._wait(lambda: count('received') >= self._sent, 'diagnostics of the trajectory')
        if count('rejected'):
            raise ExperimentError(f'{CONTROLLER}: {self._status["trajectory"].message}')

    def _record(self, start: int, law: Law) -> Tuple[List[Raw], List[Raw]]:
        length = self._plan.times[-1]
        end = start + round((length + SETTLING) * NANOSECONDS)
        states: Dict[int, Raw] = {}  # by stamp, since a state may be repeated in lockstep
        commands: List[Raw] = []
        waiting: List[Raw] = []  # commands that are not forwarded yet
        received = reported = time.monotonic()
        while self._now < end:
            self._pass_time()
            now = time.monotonic()
            for state in self._new_states():
                states.setdefault(stamp_of(state[0]), state)
                received = now
            new = _take(self._commands)
            commands += new
            if self._lockstep_publisher:
                waiting = [*waiting, *new]
                while waiting and stamp_of(waiting[0][0]) <= self._now < end:
                    self._lockstep_publisher.publish(waiting.pop(0)[0])
            if now - received > CEILING:
                raise ExperimentError('the simulator no longer publishes joint states')
            if now - reported > PROGRESS_INTERVAL:
                reported = now
                part = (self._now - start) / NANOSECONDS / length
                report('progress', law=law.key, part=float(np.clip(part, 0.0, 1.0)))
        commands += _take(self._commands)
        return list(states.values()), commands

    # -- small helpers ----------------------------------------------------------------------------

    def _new_states(self) -> List[Raw]:
        states = _take(self._states)
        self._now = max([self._now, *(stamp_of(data) for data, _ in states)])
        return states

    def _pass_time(self) -> None:
        """Wait for the next command in lockstep, otherwise for a batch of messages."""
        if not self._lockstep_publisher:
            time.sleep(DRAIN_INTERVAL)
            return
        # A wait removes the entities that were not ready.
        self._wait_set.clear_entities()
        self._wait_set.add_subscription(self._commands.handle)
        self._wait_set.wait(round(DRAIN_INTERVAL * NANOSECONDS))

    def _wait(self, ready: Callable[[], Any], what: str) -> None:
        begin = reported = time.monotonic()
        while not ready():
            now = time.monotonic()
            if now - begin > CEILING:
                raise ExperimentError(f'no {what} within {CEILING:.0f} s')
            if now - reported > NOTICE_DELAY:
                reported = now
                report('waiting', what=what)
            rclpy.spin_once(self, timeout_sec=DRAIN_INTERVAL)

    def _call(self, client: Any, request: Any) -> Any:
        future = client.call_async(request)
        self._wait(future.done, f'answer of {client.srv_name}')
        result = future.result()
        if not getattr(result, 'success', True):
            reason = getattr(result, 'message', '') or str(request)
            raise ExperimentError(f'service {client.srv_name} fails: {reason}')
        return result


def _take(subscription: Subscription) -> List[Raw]:
    """Return all waiting messages as serialized bytes, with their sending times [ns]."""
    result = []
    with subscription.handle:
        while True:
            taken = subscription.handle.take_message(JointState, True)
            if taken is None:
                return result
            result.append((taken[0], taken[1]['source_timestamp']))


def trajectory_message(plan: Plan, start: int) -> JointTrajectory:
    """Return the trajectory of a plan as a message, with its first point at a stamp [ns].

    It begins earlier, with a motion from the desired position to the first point.
    """
    way = round(WAY_PART * plan.lead * NANOSECONDS)
    message = JointTrajectory(joint_names=list(plan.joint_names))
    set_stamp(message.header.stamp, start - way)
    for t, q, v, a in zip(plan.times, plan.positions, plan.velocities, plan.accelerations):
        message.points.append(
            JointTrajectoryPoint(
                positions=q.tolist(),
                velocities=v.tolist(),
                accelerations=a.tolist(),
                time_from_start=Duration(nanoseconds=way + round(t * NANOSECONDS)).to_msg(),
            )
        )
    return message


def decode(plan: Plan, start: int, states: Sequence[Raw], commands: Sequence[Raw]) -> Recording:
    """Return the recording of serialized messages."""
    messages = [deserialize_message(data, JointState) for data, _ in states]
    order: List[int] = []
    if messages:
        names = list(messages[0].name)
        missing = [name for name in plan.joint_names if name not in names]
        if missing:
            raise ExperimentError(f'joint_states lack joint {", ".join(missing)}')
        order = [names.index(name) for name in plan.joint_names]

    def columns(field: str) -> np.ndarray:
        rows = [getattr(message, field) for message in messages]
        return np.array(rows, dtype=float).reshape(len(rows), -1)[:, order]

    return Recording(
        start=start,
        state_stamps=np.array([nanoseconds(m.header.stamp) for m in messages], dtype=np.int64),
        state_sent=np.array([sent for _, sent in states], dtype=np.int64),
        q=columns('position'),
        v=columns('velocity'),
        effort=columns('effort'),
        command_stamps=np.array([stamp_of(data) for data, _ in commands], dtype=np.int64),
        command_sent=np.array([sent for _, sent in commands], dtype=np.int64),
    )


def main(args: Optional[Sequence[str]] = None) -> int:
    """Run the experiment of a plan file; exit code 0 if it was recorded completely."""
    parser = argparse.ArgumentParser(description='Run a tracking experiment and record it.')
    parser.add_argument('plan', type=Path, help='plan, as experiment.py saves it')
    parser.add_argument('output', type=Path, help='folder for the recordings')
    parser.add_argument('--lockstep', action='store_true', help='the simulator waits for answers')
    rclpy.init(args=args, signal_handler_options=SignalHandlerOptions.NO)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    arguments = parser.parse_args(rclpy.utilities.remove_ros_args(sys.argv)[1:])
    plan = Plan.load(arguments.plan)
    node = TrajectoryExperiment(plan, arguments.lockstep)
    try:
        node.wait_for_nodes()
        report('ready')
        for law in plan.laws:
            report('run', law=law.key)
            node.run(law).save(arguments.output / f'{law.key}.npz')
        report('done')
        return 0
    except ExperimentError as error:
        report('error', message=str(error))
        return 1
    except KeyboardInterrupt:
        return 130
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # already ending
        node.destroy_node()
        rclpy.try_shutdown()


if __name__ == '__main__':
    sys.exit(main())
