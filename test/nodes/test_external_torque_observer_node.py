# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The external torque observer over DDS: with the simulator, and with unusual states."""

import re
import time

import pytest
from support import outside

outside.load('rclpy')

from builtin_interfaces.msg import Duration
from geometry_msgs.msg import WrenchStamped
from lifecycle_harness import Managed
from node_harness import Feed, gravity_torque, joint_state, ROOT, TWO_LINK_ARM
import numpy as np
from numpy.testing import assert_allclose
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from rbd_ros import Robot

NODE = '/external_torque_observer'
NAMES = ('shoulder', 'elbow')
Q = (0.3, -0.6)


class Rig:
    """The node with hand-made states of a two-link arm at rest."""

    def __init__(self, ros):
        self.ros = ros
        self.process = ros.start('external_torque_observer', {'robot_description': TWO_LINK_ARM})
        self.torques = ros.listen(JointState, f'{NODE}/external_torque')
        self.wrenches = ros.listen(WrenchStamped, f'{NODE}/external_wrench')
        self.collisions = ros.listen(Bool, f'{NODE}/collision')
        self.states = ros.publisher(JointState, 'joint_states')
        self._time = time.time()
        ros.until_status('waiting for joint states', 'observer')

    def feed(self, message):
        """Return the states a millisecond apart by their stamps.

        However late a busy machine sends them.
        """
        return Feed(self.states, message, clock=self._tick)

    def _tick(self):
        self._time += 1e-3
        return self._time

    def at_rest(self, external=(0.0, 0.0)):
        """Return the state of an arm that rests under an external torque."""
        holds = gravity_torque(Q)
        effort = [holds[name] - push for name, push in zip(NAMES, external)]
        return joint_state(NAMES, Q, (0.0, 0.0), effort)

    def settled(self, external):
        """Wait until the estimate is the external torque."""

        def near():
            return self.torques and np.allclose(self.torques[-1].effort, external, atol=1e-3)

        self.ros.until(near, f'an estimate of {external}')
        return self.torques[-1]


@pytest.fixture(scope='module')
def rig(ros):
    rig = Rig(ros)
    yield rig
    assert rig.process.stop() == 0


def test_a_constant_push_is_estimated_exactly(rig):
    with rig.feed(rig.at_rest((1.5, -0.5))):
        got = rig.settled((1.5, -0.5))
        rig.ros.until(lambda: rig.wrenches, 'a wrench')
    assert got.name == list(NAMES) and not got.position
    assert got.header.stamp.sec > 0
    arm = Robot.from_urdf(TWO_LINK_ARM)
    wrench = rig.wrenches[-1]
    assert wrench.header.frame_id == 'tool'
    f, n = wrench.wrench.force, wrench.wrench.torque
    J = arm.frame('tool').jacobian(np.array(Q))
    assert_allclose(J.T @ [n.x, n.y, n.z, f.x, f.y, f.z], (1.5, -0.5), atol=2e-3)


def test_collisions_begin_at_the_threshold_and_end_below_the_release(rig):
    rig.ros.set_parameter(NODE, 'collision_threshold', [2.0, 1.0])
    with rig.feed(rig.at_rest()) as feed:
        for push, expected in (
            ((1.9, 0.0), False),
            ((0.0, 1.1), True),
            ((0.0, 0.8), True),  # between release and threshold
            ((0.0, 0.2), False),
        ):
            feed.message = rig.at_rest(push)
            rig.settled(push)
            count = len(rig.collisions)
            rig.ros.until(lambda n=count: len(rig.collisions) > n + 2, 'the flag')
            assert rig.collisions[-1].data is expected, push
    assert rig.ros.status('collision: external torque', 'observer')
    rig.ros.set_parameter(NODE, 'collision_threshold', [100.0])


def test_a_collision_stops_the_robot_once_if_that_is_its_reaction(rig):
    stops = rig.ros.listen(JointTrajectory, 'joint_trajectory')
    collision, free = rig.at_rest((0.0, 1.5)), rig.at_rest()

    def collide():
        with rig.feed(collision) as feed:
            rig.settled((0.0, 1.5))
            count = len(rig.torques)
            rig.ros.until(lambda: len(rig.torques) > count + 10, 'more states of the collision')
            feed.message = free
            rig.settled((0.0, 0.0))

    def beginnings(since):
        # On a busy machine a gap between states may end a collision, which begins again.
        flags = [False, *(each.data for each in rig.collisions[since:])]
        return sum(after > before for before, after in zip(flags, flags[1:]))

    rig.ros.set_parameters(NODE, collision_threshold=[2.0, 1.0])
    collide()  # by default it only reports
    assert not stops
    rig.ros.set_parameters(NODE, collision_response='stop')
    rig.ros.until(lambda: rig.ros.node.count_publishers('joint_trajectory'), 'the topic')
    since = len(rig.collisions)
    for at_least in (1, 2):
        collide()
        rig.ros.until(lambda: len(stops) == beginnings(since), 'one stop for each collision')
        assert len(stops) >= at_least
    assert all(not each.points and each.joint_names == list(NAMES) for each in stops)
    assert rig.ros.status('stopped at a collision', 'observer')
    result = rig.ros.set_parameters(NODE, collision_response='run away')[0]
    assert not result.successful and 'none' in result.reason and 'stop' in result.reason
    rig.ros.set_parameters(NODE, collision_response='none', collision_threshold=[100.0])


@pytest.mark.parametrize(
    ('message', 'text'),
    [
        (joint_state(NAMES, Q, (0, 0)), 'it has 0 efforts for 2 joints'),
        (joint_state(NAMES, Q, (), (0, 0)), 'it has 0 velocities for 2 joints'),
        (joint_state(('wing', 'tail'), Q, (0, 0), (0, 0)), 'it names no joint'),
        (joint_state(NAMES, Q, (0, float('nan')), (0, 0)), "'elbow' has values that are not"),
        (joint_state(NAMES, Q, (0, 1e200), (0, 0)), 'not finite'),
    ],
    ids=['effort', 'velocity', 'names', 'nan', 'huge'],
)
def test_odd_states_are_rejected_and_the_node_continues(rig, message, text):
    since, count = rig.ros.mark(), len(rig.torques)
    with rig.feed(message):
        rig.ros.until_status(text, 'joint_states', since=since)
    assert np.isfinite([t.effort for t in rig.torques[count:]]).all()
    with rig.feed(rig.at_rest((0.7, 0.2))):
        rig.settled((0.7, 0.2))


def test_states_in_parts_are_put_together(rig):
    holds = gravity_torque(Q)
    parts = [
        joint_state((name,), (q,), (0.0,), (holds[name] - push,))
        for name, q, push in zip(NAMES, Q, (0.4, -0.3))
    ]
    turn = iter(range(10**9))
    with rig.feed(lambda: parts[next(turn) % 2]):
        rig.settled((0.4, -0.3))


def test_silence_is_reported(rig):
    with rig.feed(rig.at_rest()):
        rig.settled((0.0, 0.0))
    since = rig.ros.mark()
    rig.ros.until_status('no usable joint state', 'observer', since=since)
    with rig.feed(rig.at_rest()):
        rig.ros.until_status('no collision', 'observer', since=since)


def test_parameters_that_cannot_be_are_rejected(rig):
    for name, value in (('wrench_frame', 'nowhere'), ('collision_threshold', [1.0, 2.0, 3.0])):
        result = rig.ros.set_parameters(NODE, **{name: value})[0]
        assert not result.successful, name
    result = rig.ros.set_parameters(NODE, payload_mass=1.0)[0]
    assert not result.successful and 'payload_link' in result.reason


def test_a_known_payload_is_not_reported_as_a_push(rig):
    rig.ros.set_parameters(NODE, payload_link='tool', payload_mass=1.0)
    holds = gravity_torque(Q, payload=1.0)
    state = joint_state(NAMES, Q, (0.0, 0.0), [holds[name] for name in NAMES])
    with rig.feed(state):
        rig.settled((0.0, 0.0))
    rig.ros.set_parameters(NODE, payload_mass=0.0, payload_link='')


def test_a_push_at_the_simulated_tool_is_detected(ros, rig):
    """Within 1 % of force and moment, held by servos at rest, without joint friction."""
    text = (ROOT / 'urdf' / 'six_axis_arm.urdf').read_text()
    text = re.sub(r'<dynamics[^>]*/>', '', text)
    topics = ('joint_states', 'joint_commands', 'external_wrench')
    apart = [x for topic in topics for x in ('-r', f'{topic}:=/six/{topic}')]
    apart += ['-r', '__ns:=/six']
    simulator = ros.start(
        'simulator', {'robot_description': text, 'external_wrench_duration': 0.0}, apart
    )
    observer = ros.start(
        'external_torque_observer',
        {'robot_description': text, 'wrench_frame': 'tool0', 'gain': 50.0},
        apart,
    )
    wrenches = ros.listen(WrenchStamped, f'/six{NODE}/external_wrench')
    commands = ros.publisher(JointState, '/six/joint_commands')
    names = Robot.from_urdf(text).joint_names
    held = JointState(name=list(names), position=[0.0, -0.5, 1.5, 0.5, 1.0, 0.0])
    pushes = ros.publisher(WrenchStamped, '/six/external_wrench')
    push = WrenchStamped()
    push.header.frame_id = 'tool0'
    push.wrench.force.x, push.wrench.force.z, push.wrench.torque.y = 8.0, -12.0, 0.5
    # Again and again: the first may come before anybody listens.
    with Feed(commands, held, rate=50.0), Feed(pushes, push, rate=2.0):

        def found():
            if not wrenches:
                return False
            f, n = wrenches[-1].wrench.force, wrenches[-1].wrench.torque
            got = [n.x, n.y, n.z, f.x, f.y, f.z]
            return np.allclose(got, [0.0, 0.5, 0.0, 8.0, 0.0, -12.0], atol=0.12)

        ros.until(found, 'the wrench at the tool')
    assert simulator.stop() == 0 and observer.stop() == 0


def test_a_push_in_mid_motion_stops_the_trajectory_of_inverse_dynamics(ros):
    topics = ('joint_states', 'joint_commands', 'joint_trajectory', 'external_wrench')
    apart = [x for topic in topics for x in ('-r', f'{topic}:=/stop/{topic}')]
    apart += ['-r', '__ns:=/stop']
    # Slowly, as states that a busy machine loses in mid motion look like a push.
    slow = {'robot_description': TWO_LINK_ARM, 'real_time_factor': 0.2}
    simulator = ros.start('simulator', slow, apart)
    # A busy machine must not end the torques that hold the arm.
    waits = {'robot_description': TWO_LINK_ARM, 'state_timeout': 30.0}
    controller = ros.start('inverse_dynamics', waits, apart)
    parameters = {'robot_description': TWO_LINK_ARM, 'collision_response': 'stop'}
    observer = ros.start(
        'external_torque_observer', {**parameters, 'collision_threshold': [4.0]}, apart
    )
    states = ros.listen(JointState, '/stop/joint_states')
    collisions = ros.listen(Bool, f'/stop{NODE}/collision')
    stops = ros.listen(JointTrajectory, '/stop/joint_trajectory')
    motions = ros.publisher(JointTrajectory, '/stop/joint_trajectory')
    pushes = ros.publisher(WrenchStamped, '/stop/external_wrench')
    ros.until(lambda: states and collisions, 'states and estimates')
    begin = dict(zip(states[-1].name, states[-1].position))
    target = [begin[name] + 1.2 for name in NAMES]
    point = JointTrajectoryPoint(positions=target, time_from_start=Duration(sec=6))
    motion = JointTrajectory(joint_names=list(NAMES), points=[point])
    # A motion is rejected where the newest state is too old, as on a busy machine: sent again.
    with Feed(motions, motion, rate=0.5, stamped=False):
        ros.until_status('trajectory of 1 point', 'stop/inverse_dynamics: trajectory')

    def way():
        return dict(zip(states[-1].name, states[-1].position))['shoulder'] - begin['shoulder']

    ros.until(lambda: way() > 0.2, 'motion')
    push = WrenchStamped()
    push.header.frame_id = 'tool'
    push.wrench.force.x = push.wrench.force.y = push.wrench.force.z = 40.0
    with Feed(pushes, push, rate=50.0):
        ros.until(lambda: any(not each.points for each in stops), 'the stop')

    def at_rest():
        return np.abs(states[-1].velocity).max() < 0.01

    ros.until(at_rest, 'rest')
    stopped, count = way(), len(states)
    ros.until(lambda: len(states) > count + 300, 'more states')
    assert abs(way() - stopped) < 0.02 and way() < 1.0
    assert [each.stop() for each in (observer, controller, simulator)] == [0, 0, 0]


@pytest.fixture
def managed(ros):
    parameters = {'robot_description': TWO_LINK_ARM, 'autostart': False}
    process = ros.start('external_torque_observer', parameters, ['-r', '__ns:=/managed'])
    life = Managed(ros, f'/managed{NODE}')
    life.until('unconfigured')
    yield life
    assert process.stop() == 0


def test_it_estimates_in_the_state_active_alone(ros, rig, managed):
    torques = ros.listen(JointState, f'/managed{NODE}/external_torque')
    collisions = ros.listen(Bool, f'/managed{NODE}/collision')
    states = ros.publisher(JointState, '/managed/joint_states')

    def quiet(feed):
        """Return whether nothing comes while the other observer has states by the dozen."""
        since = len(rig.torques), len(torques)
        with rig.feed(rig.at_rest()):
            ros.until(lambda: len(rig.torques) > since[0] + 20, 'states')
        return len(torques) == since[1]

    pushed = rig.at_rest((40.0, 0.0))
    with Feed(states, pushed) as feed:
        assert quiet(feed)
        managed.must('configure')
        assert quiet(feed)
        managed.must('activate')
        ros.until(lambda: collisions and collisions[-1].data, 'a collision')
        managed.must('deactivate')
        ros.until_status('not active', 'managed/external_torque_observer: observer')
        ros.until(lambda: quiet(feed), 'silence, after what was under way')
        count = len(collisions)
        feed.message = rig.at_rest((4.0, 0.0))  # between release and threshold
        managed.must('activate')
        ros.until(lambda: len(collisions) > count + 5, 'estimates')
        assert not any(each.data for each in collisions[count:]), 'it begins without a collision'
        managed.must('deactivate', 'cleanup')
        ros.until(lambda: quiet(feed), 'silence, after what was under way')
        managed.must('configure', 'activate')
        count = len(torques)
        ros.until(lambda: len(torques) > count, 'an estimate')
    assert managed.rejected('configure', reason='possible: deactivate, shutdown')
