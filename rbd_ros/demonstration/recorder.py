"""Runs a tracking experiment with a simulated arm and records it; the ROS side of the demo.

For each law of a plan it sets the parameters of the inverse_dynamics node, resets the simulator,
sends the trajectory, and records states and commands with the times at which they were sent. What
it does, it says on standard output, one JSON object a line.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
import signal
import sys
import time
from typing import Any, Callable, List, Mapping, Optional, Sequence, Tuple

import numpy as np
from rcl_interfaces.srv import SetParameters
import rclpy
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.serialization import deserialize_message
from rclpy.signals import SignalHandlerOptions
from rclpy.subscription import Subscription
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from rbd_ros.demonstration.experiment import held_up, Law, least_answered, Plan, Recording
from rbd_ros.nodes.common.communication import quality_of_service
from rbd_ros.nodes.common.conversions import NANOSECONDS, nanoseconds, set_stamp
from rbd_ros.nodes.inverse_dynamics import JOINT_TRAJECTORY

DRAIN_INTERVAL = 0.002  # messages wait in the middleware, which has noted their times already [s]
PROGRESS_INTERVAL = 0.1  # [s]
QUEUE = 1000
STARTUP_TIMEOUT = 180.0  # the first time of all, the simulation's loops are compiled [s]
PATIENCE = 5.0  # after which the reader is told what is waited for [s]
SERVICE_TIMEOUT = 5.0
SILENCE_TIMEOUT = 2.0  # longest time without a state [s]
WAY_PART = 0.8  # fraction of the lead for the way to the start of the motion
SETTLING = 0.05  # recorded after the motion [s]
LEAST_ANSWERED = 0.25  # fraction of states answered in the worst 0.1 s; less disturbs a run
LONGEST_DELAY = 0.002  # by which pauses may hold the motion up; more disturbs a run [s]
LONGEST_PAUSE = 0.5  # real time between states; more disturbs a run [s]
MOST_REPEATS = 6  # of all runs together
SLOW = 0.5  # speed of the simulation in repeated runs
NODES = ('simulator', 'inverse_dynamics')

Raw = Tuple[bytes, int]


class ExperimentError(RuntimeError):
    """The experiment cannot continue; the message says why."""


def report(event: str, **values: Any) -> None:
    """Report an event to the process that started this one."""
    sys.stdout.write(json.dumps({'event': event, **values}) + '\n')
    sys.stdout.flush()


class TrajectoryExperiment(Node):
    """Node that runs the laws of a plan and records states and commands.

    :param plan: the plan
    """

    def __init__(self, plan: Plan):
        super().__init__('trajectory_experiment')
        self._plan = plan
        self._set_parameters = {
            name: self.create_client(SetParameters, f'{name}/set_parameters') for name in NODES
        }
        self._reset = self.create_client(Trigger, 'simulator/reset')
        self._publisher = self.create_publisher(
            JointTrajectory, JOINT_TRAJECTORY.name, quality_of_service(JOINT_TRAJECTORY)
        )
        # Topics are read by a node that no executor spins: 2000 callbacks a second would cost
        # more than the taking of messages in bulk, and disturb what is measured.
        self._listener = Node('trajectory_experiment_listener', use_global_arguments=True)
        self._states = self._listen('joint_states')
        self._commands = self._listen('joint_commands')

    def _listen(self, topic: str) -> Subscription:
        return self._listener.create_subscription(
            JointState, topic, lambda _: None, QUEUE, raw=True
        )

    def destroy_node(self) -> None:
        """Destroy the node and its listener."""
        self._listener.destroy_node()
        super().destroy_node()

    # -- the run ----------------------------------------------------------------------------------

    def wait_for_nodes(self) -> None:
        """Wait until the simulator and the inverse_dynamics node work together.

        :raises ExperimentError: if one of them does not come, naming it
        """
        begin = time.monotonic()
        for what, ready in (
            ('service simulator/reset', self._reset.service_is_ready),
            *(
                (f'service {name}/set_parameters', client.service_is_ready)
                for name, client in self._set_parameters.items()
            ),
            ('joint_states of the simulator', lambda: bool(_take(self._states))),
            ('commands of inverse_dynamics', lambda: bool(_take(self._commands))),
            ('a subscriber of joint_trajectory', self._publisher.get_subscription_count),
        ):
            self._wait(ready, begin + STARTUP_TIMEOUT - time.monotonic(), what)

    def run(self, law: Law, real_time_factor: float) -> Recording:
        """Track the motion under a law and return what was recorded.

        :param real_time_factor: speed of the simulation
        :raises ExperimentError: if a node refuses or falls silent
        """
        self._configure('inverse_dynamics', law.parameters)
        self._configure('simulator', {'real_time_factor': real_time_factor})
        self._call(self._reset, Trigger.Request(), 'simulator/reset')
        _take(self._states)
        _take(self._commands)
        self._wait(lambda: bool(self._latest()), SILENCE_TIMEOUT, 'joint_states after the reset')
        start = self._now + round(self._plan.lead * NANOSECONDS)
        self._publisher.publish(trajectory_message(self._plan, start))
        states, commands = self._record(start, law)
        return decode(self._plan, start, real_time_factor, states, commands)

    def _configure(self, node: str, values: Mapping[str, Any]) -> None:
        request = SetParameters.Request()
        request.parameters = [
            Parameter(name, value=value).to_parameter_msg() for name, value in values.items()
        ]
        response = self._call(self._set_parameters[node], request, f'{node}/set_parameters')
        for result in response.results:
            if not result.successful:
                raise ExperimentError(f'{node} refuses a parameter: {result.reason}')

    def _record(self, start: int, law: Law) -> Tuple[List[Raw], List[Raw]]:
        length = self._plan.times[-1]
        end = start + round((length + SETTLING) * NANOSECONDS)
        states: List[Raw] = []
        commands: List[Raw] = []
        heard = told = time.monotonic()
        while self._now < end:
            time.sleep(DRAIN_INTERVAL)
            now = time.monotonic()
            new = _take(self._states)
            states += new
            commands += _take(self._commands)
            if new:
                heard = now
                self._now = _stamp(new[-1])
            elif now - heard > SILENCE_TIMEOUT:
                raise ExperimentError('the simulator has fallen silent')
            if now - told > PROGRESS_INTERVAL:
                told = now
                part = (self._now - start) / NANOSECONDS / length
                report('progress', law=law.key, part=float(np.clip(part, 0.0, 1.0)))
        commands += _take(self._commands)
        return states, commands

    # -- small helpers ----------------------------------------------------------------------------

    def _latest(self) -> int:
        states = _take(self._states)
        if not states:
            return 0
        self._now = _stamp(states[-1])
        return self._now

    def _wait(self, ready: Callable[[], Any], timeout: float, what: str) -> None:
        begin = told = time.monotonic()
        while not ready():
            now = time.monotonic()
            if now - begin > timeout:
                raise ExperimentError(f'no {what} within {max(timeout, 0.0):.0f} s')
            if now - told > PATIENCE:
                told = now
                report('waiting', what=what)
            time.sleep(DRAIN_INTERVAL)

    def _call(self, client: Any, request: Any, name: str) -> Any:
        future = client.call_async(request)
        deadline = time.monotonic() + SERVICE_TIMEOUT
        while not future.done():
            if time.monotonic() > deadline:
                raise ExperimentError(f'service {name} does not answer')
            rclpy.spin_once(self, timeout_sec=0.05)
        result = future.result()
        if not getattr(result, 'success', True):
            raise ExperimentError(f'service {name} fails: {result.message}')
        return result


def run_all(node: TrajectoryExperiment, plan: Plan, output: Path) -> None:
    """Run all laws and save the recordings.

    A run in which the machine was too busy is repeated with the simulation slowed down, and so are
    those after it: what counts is that commands come in time. The least disturbed one is saved.
    """
    factor, repeats = 1.0, MOST_REPEATS
    for law in plan.laws:
        recordings: List[Tuple[float, float, Recording]] = []
        while True:
            report('run', law=law.key)
            recording = node.run(law, factor)
            # After a long pause the nodes give the trajectory up.
            pause = np.diff(recording.state_sent).max(initial=0) / NANOSECONDS
            answered = least_answered(plan, recording) if pause < LONGEST_PAUSE else 0.0
            late = held_up(plan, recording)
            recordings.append((-late, answered, recording))
            if answered >= LEAST_ANSWERED and late <= LONGEST_DELAY or not repeats:
                break
            factor, repeats = SLOW, repeats - 1
            report('disturbed', law=law.key, answered=answered, late=late, factor=factor)
        max(recordings, key=lambda each: each[:2])[2].save(output / f'{law.key}.npz')


def _take(subscription: Subscription) -> List[Raw]:
    """All messages that wait, as they came over the wire, and when each was sent [ns]."""
    result = []
    with subscription.handle:
        while True:
            taken = subscription.handle.take_message(JointState, True)
            if taken is None:
                return result
            result.append((taken[0], taken[1]['source_timestamp']))


def _stamp(raw: Raw) -> int:
    return nanoseconds(deserialize_message(raw[0], JointState).header.stamp)


def trajectory_message(plan: Plan, start: int) -> JointTrajectory:
    """Trajectory of a plan as a message, with its first point at a stamp [ns].

    It begins before that, with a way to the first point from wherever the arm was to be.
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


def decode(
    plan: Plan,
    start: int,
    real_time_factor: float,
    states: Sequence[Raw],
    commands: Sequence[Raw],
) -> Recording:
    """Recording from messages as they came over the wire."""
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
        real_time_factor=real_time_factor,
        state_stamps=np.array([nanoseconds(m.header.stamp) for m in messages], dtype=np.int64),
        state_sent=np.array([sent for _, sent in states], dtype=np.int64),
        q=columns('position'),
        v=columns('velocity'),
        effort=columns('effort'),
        command_stamps=np.array([_stamp(raw) for raw in commands], dtype=np.int64),
        command_sent=np.array([sent for _, sent in commands], dtype=np.int64),
    )


def main(args: Optional[Sequence[str]] = None) -> int:
    """Run the experiment of a plan file; exit code 0 if it was recorded whole."""
    parser = argparse.ArgumentParser(description='Run a tracking experiment and record it.')
    parser.add_argument('plan', type=Path, help='plan, as experiment.py saves it')
    parser.add_argument('output', type=Path, help='folder for the recordings')
    rclpy.init(args=args, signal_handler_options=SignalHandlerOptions.NO)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    arguments = parser.parse_args(rclpy.utilities.remove_ros_args(sys.argv)[1:])
    plan = Plan.load(arguments.plan)
    node = TrajectoryExperiment(plan)
    try:
        node.wait_for_nodes()
        report('ready')
        run_all(node, plan, arguments.output)
        report('done')
        return 0
    except ExperimentError as error:
        report('error', message=str(error))
        return 1
    except KeyboardInterrupt:
        return 130
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is ending already
        node.destroy_node()
        rclpy.try_shutdown()


if __name__ == '__main__':
    sys.exit(main())
