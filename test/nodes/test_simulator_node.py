# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The simulator node as a separate process, over DDS."""

import math

import pytest
from support import outside

outside.load('rclpy')

from geometry_msgs.msg import WrenchStamped
from node_harness import efforts, Feed, gravity_torque, joint_state, reliable, TWO_LINK_ARM
from rclpy.qos import qos_profile_sensor_data, QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool, Trigger

from rbd_ros.nodes.common.diagnostics import OK, WARN

START = [0.5, -0.8]
HOLDING = list(gravity_torque(START).values())


def seconds(stamp):
    return stamp.sec + stamp.nanosec * 1e-9


class Rig:
    def __init__(self, ros):
        self.ros = ros
        self.process = ros.start(
            'simulator',
            {
                'robot_description': TWO_LINK_ARM,
                'initial_positions': START,
                'command_timeout': 0.3,
            },
        )
        self.states = ros.listen(JointState, 'joint_states', reliable(1))
        self.clock = ros.listen(Clock, '/clock')
        self.by_name = ros.publisher(JointState, 'joint_commands')
        self.by_order = ros.publisher(Float64MultiArray, 'effort_commands')
        self.wrench = ros.publisher(WrenchStamped, 'external_wrench')
        self.first = ros.until(lambda: self.states and self.states[0], 'a joint state')

    def state(self):
        """Return a state published from now on."""
        count = len(self.states)
        self.ros.until(lambda: len(self.states) > count + 5, 'new joint states')
        return self.states[-1]

    def trigger(self, name):
        return self.ros.call(Trigger, f'/simulator/{name}', Trigger.Request())

    def pause(self, paused):
        return self.ros.call(SetBool, '/simulator/pause', SetBool.Request(data=paused))

    def reset(self):
        assert self.pause(False).success
        assert self.trigger('reset').success
        self.state()


@pytest.fixture(scope='module')
def rig(ros):
    return Rig(ros)


@pytest.fixture(autouse=True)
def begin_at_the_initial_position(rig):
    rig.reset()


def test_the_arm_is_held_from_the_first_state_on(rig):
    assert list(rig.first.name) == ['shoulder', 'elbow']
    for state in (rig.first, rig.state()):
        assert list(state.position) == START
        assert list(state.velocity) == [0.0, 0.0]
        assert list(state.effort) == pytest.approx(HOLDING)


def test_efforts_by_name_move_the_joints_in_any_order(rig):
    command = joint_state(['elbow', 'shoulder'], effort=[HOLDING[1] + 2.0, HOLDING[0]])
    with Feed(rig.by_name, command):
        rig.ros.until(lambda: rig.states[-1].position[1] > START[1] + 0.05, 'the elbow moves up')
    assert rig.states[-1].effort[1] == pytest.approx(HOLDING[1] + 2.0)


def test_efforts_by_order_move_the_joints(rig):
    with Feed(rig.by_order, efforts(HOLDING[0], HOLDING[1] + 2.0), stamped=False):
        rig.ros.until(lambda: rig.states[-1].position[1] > START[1] + 0.05, 'the elbow moves up')


def test_the_torque_applied_is_within_the_limits_and_reported(rig):
    with Feed(rig.by_order, efforts(-1000.0, 1000.0), stamped=False):
        rig.ros.until(lambda: abs(rig.states[-1].effort[0] + 40.0) < 1e-9, 'the effort limit')
    assert rig.states[-1].effort[1] == 15.0


def test_a_command_for_some_joints_leaves_the_others_held(rig):
    with Feed(rig.by_name, joint_state(['elbow'], effort=[HOLDING[1] + 1.0])):
        rig.ros.until(lambda: rig.states[-1].position[1] > START[1] + 0.3, 'the elbow moves')
        assert rig.states[-1].position[0] == pytest.approx(START[0], abs=1e-3)


def test_position_commands_are_followed_by_a_servo(rig):
    with Feed(rig.by_name, joint_state(position=[0.7, -0.4])):
        rig.ros.until(
            lambda: (
                max(abs(rig.states[-1].position[0] - 0.7), abs(rig.states[-1].position[1] + 0.4))
                < 1e-3
            ),
            'the commanded position',
        )


def test_silence_after_position_commands_is_reported_and_the_position_is_held(rig):

    def level_of_silence():
        with Feed(rig.by_name, joint_state(position=[0.7, -0.4])):
            rig.ros.until(lambda: abs(rig.states[-1].position[0] - 0.7) < 1e-3, 'the position')
            since = rig.ros.mark()
            rig.ros.spin(0.3)
        return rig.ros.until_status('command timeout after 0.3 s', 'commands', since=since).level

    # Beside other work the commands may come in pieces, which are no stream that ends.
    rig.ros.until(lambda: level_of_silence() == WARN, 'a warning')
    # The effort limit makes the servo swing over its goal, in simulated time.
    rig.ros.until(lambda: abs(rig.state().velocity[0]) < 1e-6, 'the shoulder is at rest')
    assert rig.states[-1].position[0] == pytest.approx(0.7, abs=1e-3)


def test_velocity_commands_are_followed_by_a_servo(rig):
    with Feed(rig.by_name, joint_state(velocity=[0.2, 0.0])):
        rig.ros.until(
            lambda: abs(rig.states[-1].velocity[0] - 0.2) < 1e-3, 'the commanded velocity'
        )


def test_silent_controllers_are_replaced_by_holding(rig):
    with Feed(rig.by_order, efforts(HOLDING[0], HOLDING[1] + 2.0), stamped=False):
        rig.ros.until(lambda: rig.states[-1].velocity[1] > 0.5, 'the elbow moves')
    status = rig.ros.until_status('no command for 0.3 s', 'commands')
    assert 'trigger_joint_command_threshold' in status.message
    rig.ros.until(lambda: abs(rig.state().velocity[1]) < 1e-6, 'the elbow is held')
    assert rig.states[-1].position[1] == pytest.approx(rig.state().position[1], abs=1e-6)


@pytest.mark.parametrize(
    'message, text',
    [
        (joint_state(['shoulder', 'wing'], effort=[0.0, 0.0]), 'unknown joints ignored: wing'),
        (joint_state(['wing'], effort=[0.0]), 'names no joint of the robot'),
        (joint_state(effort=[1.0]), 'effort has 1 elements for 2 names'),
        (joint_state(effort=[1.0, 2.0, 3.0]), 'effort has 3 elements for 2 names'),
        (joint_state(), 'effort, position and velocity are all empty'),
        (joint_state(effort=[math.inf, 0.0]), 'is infinite'),
        (joint_state(['elbow', 'elbow'], effort=[1.0, 1.0]), 'given twice: elbow'),
        (joint_state([], effort=[]), 'names no joint of the robot'),
    ],
)
def test_a_bad_command_by_name_is_reported_and_the_arm_stays_held(rig, message, text):
    since = rig.ros.mark()
    rig.by_name.publish(message)
    rig.ros.until_status(text, 'commands', since=since)
    state = rig.state()
    assert all(map(math.isfinite, [*state.position, *state.velocity, *state.effort]))
    if (
        'shoulder' not in message.name
        or not message.effort
        or not math.isfinite(message.effort[0])
    ):
        assert list(state.position) == START


def test_nan_by_name_is_ignored_without_a_warning(rig):
    """As from ros2_control, before a controller is active."""
    for message in (
        joint_state(effort=[math.nan, math.nan]),
        joint_state(position=[math.nan, math.nan], velocity=[math.nan, math.nan]),
    ):
        since = rig.ros.mark()
        with Feed(rig.by_name, message):
            rig.ros.until_status('NaN is not a command', 'commands', level=OK, since=since)
        assert list(rig.state().position) == START


@pytest.mark.parametrize(
    'values, text',
    [
        ([1.0], '1 efforts for 2 joints'),
        ([1.0, math.nan], 'not finite'),
        ([], '0 efforts for 2 joints'),
        ([math.inf, 0.0], 'not finite'),
    ],
)
def test_a_bad_command_by_order_is_reported_and_the_arm_stays_held(rig, values, text):
    since = rig.ros.mark()
    rig.by_order.publish(efforts(*values))
    rig.ros.until_status(text, 'commands', since=since)
    assert list(rig.state().position) == START


def test_good_commands_count_again_after_bad_ones(rig):
    rig.by_name.publish(joint_state(effort=[math.nan, 0.0, 0.0]))
    with Feed(rig.by_order, efforts(HOLDING[0], HOLDING[1] + 2.0), stamped=False):
        rig.ros.until(lambda: rig.states[-1].position[1] > START[1] + 0.05, 'the elbow moves up')


def test_a_best_effort_commander_is_reported(rig):
    publisher = rig.ros.publisher(
        JointState,
        'joint_commands',
        QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT),
        wait=False,
    )
    rig.ros.until_status('best-effort publishers')
    rig.ros.node.destroy_publisher(publisher)


def test_a_pause_is_not_an_over_run(rig):
    since = rig.ros.mark()
    for _ in range(4):  # about a second each, at any phase of the diagnostics
        rig.pause(True)
        rig.ros.spin(0.55)
        rig.pause(False)
        rig.ros.spin(0.6)
    # A machine that is too busy is reported as well, but then there are over-runs.
    reports = [s for s in rig.ros.diagnostics[since:] if s.name == 'simulator: simulation']
    values = [{v.key: v.value for v in s.values} for s in reports]
    counts = [[int(v.get(key, 0)) for key in ('count: over-run', 'overruns')] for v in values]
    for (events, overruns), (more_events, more_overruns) in zip(counts, counts[1:]):
        assert more_events == events or more_overruns > overruns


def test_time_stands_still_while_paused_and_the_state_is_still_shown(rig):
    assert rig.pause(True).success
    state = rig.state()
    clock = rig.clock[-1]
    assert rig.state().header.stamp == state.header.stamp
    count = len(rig.clock)
    rig.ros.until(lambda: len(rig.clock) > count + 2, '/clock while paused')
    assert rig.clock[-1] == clock
    assert rig.pause(False).success
    rig.ros.until(
        lambda: seconds(rig.states[-1].header.stamp) > seconds(state.header.stamp), 'time'
    )


def test_stepping_advances_time_by_the_requested_steps(rig):
    rig.pause(True)
    before = seconds(rig.state().header.stamp)
    rig.ros.set_parameter('/simulator', 'step_count', 25)
    answer = rig.trigger('step')
    assert answer.success, answer.message
    rig.ros.until(
        lambda: (
            rig.states[-1].header.stamp == rig.clock[-1].clock
            and abs(seconds(rig.states[-1].header.stamp) - before - 0.025) < 1e-9
        ),
        'state and clock 25 ms later',
    )


def test_stepping_is_rejected_while_running(rig):
    answer = rig.trigger('step')
    assert not answer.success and 'not paused' in answer.message


def test_reset_restores_the_initial_position_and_never_turns_time_back(rig):
    with Feed(rig.by_order, efforts(0.0, 0.0), stamped=False):
        rig.ros.until(lambda: rig.states[-1].position[0] > START[0] + 0.2, 'the arm falls')
    before = seconds(rig.states[-1].header.stamp)
    assert rig.trigger('reset').success
    state = rig.state()
    assert list(state.position) == START and list(state.velocity) == [0.0, 0.0]
    assert seconds(state.header.stamp) >= before
    stamps = [seconds(s.header.stamp) for s in rig.states]
    assert stamps == sorted(stamps)


def test_an_external_wrench_moves_the_arm(rig):
    message = WrenchStamped()
    message.header.frame_id = 'tool'
    message.wrench.force.z = 30.0
    with Feed(rig.by_order, efforts(*HOLDING), stamped=False):
        rig.ros.until(lambda: rig.states[-1].effort[0] == pytest.approx(HOLDING[0]), 'commands')
        rig.wrench.publish(message)
        rig.ros.until(lambda: abs(rig.states[-1].velocity[1]) > 0.1, 'the push')


@pytest.mark.parametrize(
    'frame, force, text',
    [
        ('hand', 1.0, "frame_id 'hand' is not a link"),
        ('', 1.0, 'is not a link'),
        ('tool', math.nan, 'not finite'),
    ],
)
def test_a_bad_wrench_is_reported(rig, frame, force, text):
    message = WrenchStamped()
    message.header.frame_id = frame
    message.wrench.force.x = force
    since = rig.ros.mark()
    rig.wrench.publish(message)
    rig.ros.until_status(text, 'external_wrench', since=since)


def test_parameters_are_checked_when_set(rig):
    for name, value, text in (
        ('real_time_factor', -1.0, 'real_time_factor must not be negative'),
        ('step_count', 0, 'step_count must be at least 1'),
        ('timeout_command', 'explode', 'must be one of'),
        ('timestep', 0.5, 'at start only'),
        ('command_timeout', math.nan, 'command_timeout'),
        ('command_timeout', 'soon', 'must be a number'),
    ):
        result = rig.ros.set_parameters('/simulator', **{name: value})[0]
        assert not result.successful and text in result.reason, (name, result.reason)


def test_the_real_time_factor_can_be_changed_while_running(rig):
    rig.ros.set_parameter('/simulator', 'real_time_factor', 0)  # an integer, as people type it
    begin = seconds(rig.state().header.stamp)
    rig.ros.until(
        lambda: seconds(rig.states[-1].header.stamp) > begin + 5.0, '5 s as fast as possible'
    )
    rig.ros.set_parameter('/simulator', 'real_time_factor', 1.0)


def test_states_reach_best_effort_and_reliable_subscribers(rig):
    for qos in (qos_profile_sensor_data, reliable(1)):
        messages = rig.ros.listen(JointState, 'joint_states', qos)
        rig.ros.until(lambda m=messages: m, 'a state')


def test_diagnostics_report_overruns_and_steps(rig):
    status = rig.ros.until(
        lambda: next(
            (
                s
                for s in reversed(rig.ros.diagnostics)
                if s.name == 'simulator: simulation' and s.values
            ),
            None,
        ),
        'diagnostics',
    )
    assert {'overruns', 'steps', 'lost_time_s', 'real_time_factor'} <= {
        v.key for v in status.values
    }


def test_it_ends_with_code_zero_on_sigint(rig):
    """Last of the module: the process is gone afterwards."""
    assert rig.process.alive()
    assert rig.process.stop() == 0
    assert 'Traceback' not in rig.process.output()
