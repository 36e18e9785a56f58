# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The gravity-compensation node, over DDS: correct torques for any joint states."""

import math
import signal
import time

import pytest
from support import outside

outside.load('rclpy')

from node_harness import (
    effort_by_name,
    Feed,
    gravity_torque,
    joint_state,
    LIMITS,
    TWO_LINK_ARM,
)
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

NODE = '/gravity_compensation'
POSE = (0.3, -1.1)


class Rig:
    """The node, a publisher of states, and everything the node has published.

    Where a busy machine keeps the publisher waiting for state_timeout, the node sends zero, and
    goes on with the next state: tests wait for the torque that must come.
    """

    def __init__(self, ros, namespace='', **parameters):
        self.ros = ros
        self.ended = False
        self.process = ros.start(
            'gravity_compensation',
            {'robot_description': TWO_LINK_ARM, **parameters},
            ['-r', f'__ns:={namespace}'] if namespace else [],
        )
        self.by_name = ros.listen(JointState, f'{namespace}/joint_commands')
        self.by_order = ros.listen(Float64MultiArray, f'{namespace}/effort_commands')
        self.states = ros.publisher(JointState, f'{namespace}/joint_states')

    def feed(self, *arguments, **options):
        return Feed(self.states, joint_state(*arguments, **options))

    def torque(self):
        """Return a torque sent from now on."""
        count = len(self.by_name)
        self.ros.until(lambda: len(self.by_name) > count + 1, 'a torque')
        return effort_by_name(self.by_name[-1])

    def until_torque(self, expected, what='that torque'):
        """Wait until the node sends a torque, by name."""
        self.ros.until(lambda: self.torque() == expected, what)

    def until_silent(self):
        """Wait until the node has given up sending torques."""
        counts = []

        def unchanged():
            counts.append((time.monotonic(), len(self.by_name)))
            return [n for t, n in counts if t < counts[-1][0] - 0.4][-1:] == [counts[-1][1]]

        self.ros.until(unchanged, 'silence')

    def all_safe(self, since=0):
        """Return whether every torque ever sent was finite and within the limits."""
        return all(
            math.isfinite(torque) and abs(torque) <= LIMITS[name] + 1e-12
            for message in self.by_name[since:]
            for name, torque in effort_by_name(message).items()
        )


@pytest.fixture(scope='module')
def rig(ros):
    return Rig(ros)


@pytest.fixture(autouse=True)
def nothing_unsafe(rig):
    since = len(rig.by_name)
    yield
    assert rig.process.alive() or rig.ended
    assert rig.all_safe(since)


def approx(q, payload=0.0):
    return pytest.approx(gravity_torque(q, payload), rel=1e-12)


def test_torques_hold_the_arm_and_come_in_both_forms(rig):
    with rig.feed(position=POSE, velocity=(0.1, 0.2), effort=(0, 0)):
        rig.until_torque(approx(POSE))
        held = pytest.approx(list(gravity_torque(POSE).values()))
        rig.ros.until(
            lambda: rig.by_order and list(rig.by_order[-1].data) == held, 'a Float64MultiArray'
        )
        assert not rig.by_name[-1].position and not rig.by_name[-1].velocity


def test_a_torque_carries_the_stamp_of_the_state_it_answers(rig):
    message = joint_state(position=POSE)
    message.header.stamp.sec, message.header.stamp.nanosec = 2_000_000_000, 123
    with Feed(rig.states, message, stamped=False):
        rig.ros.until(lambda: rig.by_name[-1].header.stamp == message.header.stamp, 'that stamp')
    with rig.feed(position=POSE):
        rig.ros.until(lambda: rig.by_name[-1].header.stamp.sec < 2_000_000_000, 'present stamps')


def test_states_in_another_order_are_understood(rig):
    with rig.feed(['elbow', 'shoulder'], position=(POSE[1], POSE[0])):
        rig.until_torque(approx(POSE))


def test_parts_of_the_state_from_two_publishers_make_one(rig):
    other = rig.ros.publisher(JointState, 'joint_states')
    rig.ros.until_status('last torque sent', 'torque')
    with rig.feed(['elbow'], position=(-0.4,)), Feed(other, joint_state(['shoulder'], [0.9])):
        rig.until_torque(approx((0.9, -0.4)), 'the torque of both parts')
    rig.ros.node.destroy_publisher(other)


def test_an_unreported_joint_stops_the_torque_and_is_named(rig):
    rig.until_silent()
    since = rig.ros.mark()
    with rig.feed(['elbow'], position=(-0.4,)):
        rig.ros.until_status('no state of shoulder', 'joint_states', since=since)
        count = len(rig.by_name)
        rig.ros.spin(0.2)
        assert len(rig.by_name) == count


def test_unknown_joints_are_reported_and_the_others_used(rig):
    names = ['wheel', 'shoulder', 'elbow', 'tool_mount']
    since = rig.ros.mark()
    with rig.feed(names, position=(7.0, *POSE, 0.0)):
        rig.until_torque(approx(POSE))
        rig.ros.until_status('unknown joints ignored: wheel', 'joint_states', since=since)
        assert 'tool_mount' not in rig.ros.diagnostics[-1].message


@pytest.mark.parametrize(
    'state, text',
    [
        (joint_state(position=(0.1, math.nan)), "position of joint 'elbow'"),
        (joint_state(position=(math.inf, 0.0)), "position of joint 'shoulder'"),
        (
            joint_state(position=(0.1, 0.1), velocity=(math.nan, 0.0)),
            "velocity of joint 'shoulder'",
        ),
        (joint_state(position=(0.1,)), 'position has 1 elements for 2 names'),
        (joint_state(position=(0.1, 0.2, 0.3)), 'position has 3 elements for 2 names'),
        (joint_state(position=(0.1, 0.2), velocity=(0.0,)), 'velocity has 1 elements'),
        (joint_state(velocity=(0.0, 0.0)), 'position is empty'),
        (joint_state(), 'position is empty'),
        (joint_state([], position=()), 'names no joint of the robot'),
        (joint_state(['a', 'b'], position=(0.0, 0.0)), 'names no joint of the robot'),
        (joint_state(['elbow', 'elbow'], position=(0.0, 0.0)), 'given twice: elbow'),
        (joint_state(position=(1e300, 1e300)), 'implausible'),
    ],
)
def test_bad_states_stop_the_torque_and_good_ones_bring_it_back(rig, state, text):
    with rig.feed(position=POSE) as feed:
        rig.torque()
        since = rig.ros.mark()
        feed.message = state
        rig.ros.until_status(text, 'joint_states', since=since)
        rig.ros.until_status('last torque sent: zero', 'torque', since=since)
        rig.ros.until(lambda: effort_by_name(rig.by_name[-1])['shoulder'] == 0.0, 'zero torque')
        feed.message = joint_state(position=POSE)
        rig.until_torque(approx(POSE), 'torque after recovery')


def test_single_bad_states_among_good_ones_do_no_harm(ros):
    rig = Rig(ros, '/mixed', state_timeout=30.0)
    good, bad = joint_state(position=POSE), joint_state(position=(math.nan, 0.0))
    turns = [0]

    def take_turns():
        turns[0] += 1
        return bad if turns[0] % 5 == 0 else good

    with Feed(rig.states, take_turns):
        since = ros.mark()
        ros.until_status(
            'position of joint', 'mixed/gravity_compensation: joint_states', since=since
        )
        begin = len(rig.by_name)
        ros.until(lambda: len(rig.by_name) > begin + 50, 'torques')
        assert all(effort_by_name(m) == approx(POSE) for m in rig.by_name[begin:])
    assert rig.process.stop() == 0
    ros.processes.remove(rig.process)


@pytest.mark.parametrize('missing', ['velocity', 'effort', 'both'])
def test_states_without_velocity_or_effort_suffice(rig, missing):
    fields = {'velocity': {'effort': (0, 0)}, 'effort': {'velocity': (0, 0)}, 'both': {}}[missing]
    with rig.feed(position=POSE, **fields):
        rig.until_torque(approx(POSE))


def test_a_silent_publisher_stops_the_torque_once(rig):
    with rig.feed(position=POSE) as feed:
        rig.torque()
        since = rig.ros.mark()
        feed.message = None
        rig.ros.until_status('no usable state for 0.1 s', 'joint_states', since=since)
        zero = {'shoulder': 0.0, 'elbow': 0.0}
        rig.ros.until(lambda: effort_by_name(rig.by_name[-1]) == zero, 'zero torque')
        rig.until_silent()
        assert effort_by_name(rig.by_name[-1]) == zero
        feed.message = joint_state(position=POSE)
        rig.until_torque(approx(POSE), 'torque after the silence')
        rig.ros.until_status('receiving', 'joint_states', since=rig.ros.mark())


def test_late_states_are_dropped_and_a_new_time_line_is_accepted(rig):
    with rig.feed(position=POSE) as feed:
        rig.torque()
        since = rig.ros.mark()
        feed.offset = -1000.0
        rig.ros.until_status('time went back in several states', 'joint_states', since=since)
        rig.until_torque(approx(POSE), 'torque on the new time line')
        assert any(
            'time of the states goes back' in s.message for s in rig.ros.diagnostics[since:]
        )


def test_states_without_time_stamps_suffice(rig):
    with Feed(rig.states, joint_state(position=POSE), stamped=False):
        rig.until_torque(approx(POSE))


def test_two_publishers_that_contradict_each_other_stop_the_torque(rig):
    other = rig.ros.publisher(JointState, 'joint_states')
    with rig.feed(position=POSE):
        rig.torque()
        since = rig.ros.mark()
        with Feed(other, joint_state(position=(1.5, 0.5))):
            rig.ros.until_status('two publishers publish contradictory states', since=since)
            rig.ros.until_status('last torque sent: zero', 'torque', since=since)
        rig.ros.node.destroy_publisher(other)
        rig.until_torque(approx(POSE), 'torque with one publisher')


def test_two_publishers_that_agree_are_only_reported(rig):
    other = rig.ros.publisher(JointState, 'joint_states')
    since = rig.ros.mark()
    with rig.feed(position=POSE), Feed(other, joint_state(position=POSE)):
        rig.ros.until_status('2 publishers on /joint_states', 'joint_states', since=since)
        rig.until_torque(approx(POSE))
    rig.ros.node.destroy_publisher(other)


def test_a_sudden_jump_of_the_only_publisher_is_followed(rig):
    with rig.feed(position=POSE) as feed:
        rig.torque()
        feed.message = joint_state(position=(-1.0, 1.0))
        rig.until_torque(approx((-1.0, 1.0)), 'the torque there')


def test_best_effort_states_are_received(rig):
    publisher = rig.ros.publisher(JointState, 'joint_states', qos_profile_sensor_data)
    with Feed(publisher, joint_state(position=POSE)):
        rig.until_torque(approx(POSE))
    rig.ros.node.destroy_publisher(publisher)


def test_torques_saturate_at_the_effort_limits_of_the_description(rig):
    rig.ros.set_parameter(NODE, 'payload_link', 'tool')
    rig.ros.set_parameter(NODE, 'payload_mass', 50.0)
    with rig.feed(position=(0.0, 0.0)):
        rig.until_torque({'shoulder': -40.0, 'elbow': -15.0}, 'the limits')
    rig.ros.set_parameter(NODE, 'payload_mass', 0.0)


def test_payload_gravity_and_limits_can_be_changed_while_running(rig):
    with rig.feed(position=POSE):
        rig.ros.set_parameter(NODE, 'payload_link', 'tool')
        rig.ros.set_parameter(NODE, 'payload_mass', 0.5)
        rig.until_torque(approx(POSE, 0.5), 'the payload')
        rig.ros.set_parameter(NODE, 'payload_center_of_mass', [-0.4, 0.0, 0.0])
        elbow = gravity_torque(POSE)['elbow']  # with the payload on its axis
        rig.ros.until(lambda: abs(rig.torque()['elbow'] - elbow) < 1e-9, 'the center of mass')
        rig.ros.set_parameter(NODE, 'payload_mass', 0.0)
        rig.ros.set_parameter(NODE, 'gravity', [0.0, 0.0, 9.81])
        upside_down = {name: -torque for name, torque in gravity_torque(POSE).items()}
        rig.until_torque(pytest.approx(upside_down), 'gravity upwards')
        rig.ros.set_parameter(NODE, 'gravity', [0.0, 0.0, -9.81])
        rig.ros.set_parameter(NODE, 'effort_limits', [2.0])
        rig.ros.until(lambda: rig.torque()['shoulder'] == -2.0, 'lower limits')
        rig.ros.set_parameter(NODE, 'effort_limits', [])
        rig.until_torque(approx(POSE), 'the limits of the description')


@pytest.mark.parametrize(
    'name, value, text',
    [
        ('payload_link', 'hand', "unknown link 'hand'"),
        ('payload_mass', -1.0, 'payload_mass'),
        ('payload_center_of_mass', [0.0, 1.0], 'payload_center_of_mass must have 3 elements'),
        ('payload_inertia', [1.0, 0.0, 0.0, 1.0, 0.0, 5.0], 'inertia'),
        ('gravity', [0.0, 0.0, math.nan], 'finite'),
        ('effort_limits', [1.0, 2.0, 3.0], 'give 1 or 2'),
        ('timeout_command', 'jump', 'must be one of zero, gravity, none'),
        ('state_timeout', 5.0, 'at start only'),
    ],
)
def test_bad_parameters_are_rejected_with_a_reason(rig, name, value, text):
    result = rig.ros.set_parameters(NODE, **{name: value})[0]
    assert not result.successful
    assert text in result.reason


def test_on_sigterm_it_sends_the_shutdown_command_and_ends_with_code_zero(rig):
    """Last of the module: the process is gone afterwards."""
    rig.ros.set_parameter(NODE, 'shutdown_command', 'gravity')
    with rig.feed(position=POSE):
        rig.torque()
        rig.process.process.send_signal(signal.SIGTERM)
        assert rig.process.wait() == 0
    rig.ros.until(lambda: effort_by_name(rig.by_name[-1]) == approx(POSE), 'the last torque')
    assert 'Traceback' not in rig.process.output()
    rig.ended = True
