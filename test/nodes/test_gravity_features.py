# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The gravity-compensation node, over DDS: payloads, mounting, IMU, hand guiding, servos."""

import math
import time

import numpy as np
import pytest
from support import outside

outside.load('rclpy')

from geometry_msgs.msg import InertiaStamped
from node_harness import Feed, gravity_torque, joint_state, reliable, TWO_LINK_ARM
from rclpy.serialization import serialize_message
from safety_harness import NAMES, TorqueRig
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool

from rbd_ros import Robot, Simulator
from rbd_ros.control import GuidingSettings, HandGuiding

POSE, REST = (0.3, -1.1), (0.0, 0.0)
LIMITS = np.array([40.0, 15.0])


class Rig(TorqueRig):
    """A node without watchdog, to which states are sent at times of the test's choice."""

    def __init__(self, ros, namespace, **parameters):
        given = {'state_timeout': 0.0, **parameters}
        super().__init__(ros, 'gravity_compensation', namespace, given)

    def step(self, q=POSE, v=REST, dt=0.01):
        """Return the torque that answers a state `dt` [s] after the one before, (2,)."""
        self._stamp = (self._stamp or time.time_ns()) + round(dt * 1e9)
        message = joint_state(NAMES, q, v)
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(self._stamp, 10**9)
        return self.answer_to(serialize_message(message), self._stamp)

    def until(self, expected, what, q=POSE):
        """Answer states until the torque is `expected`; return all torques on the way."""
        torques = []

        def there():
            torques.append(self.step(q))
            return np.allclose(torques[-1], expected, rtol=1e-9, atol=1e-9)

        self.ros.until(there, what)
        return np.array(torques)

    def status(self, text, subject, since=0):
        return self.ros.until_status(text, f'{self.name.lstrip("/")}: {subject}', since=since)


def holding(q=POSE, payload=0.0):
    return np.array(list(gravity_torque(q, payload).values()))


def gravity_in(base, q=POSE):
    """Return the torques that hold the arm with another gravity, (2,)."""
    return Robot.from_urdf(TWO_LINK_ARM, gravity=tuple(base)).gravity_torque(np.array(q))


@pytest.fixture(scope='module')
def rig(ros):
    return Rig(ros, '/plain')


@pytest.fixture(autouse=True)
def nothing_unsafe(request):
    yield
    for name in ('rig', 'imu_rig', 'relieved', 'elbow_only'):
        if name in request.fixturenames:
            rig = request.getfixturevalue(name)
            assert rig.process.alive()
            assert rig.all_safe()
            assert 'Traceback' not in rig.process.output()


# -- payload --------------------------------------------------------------------------------------


def payload(mass, link='tool', com=(0.0, 0.0, 0.0)):
    message = InertiaStamped()
    message.header.frame_id = link
    message.inertia.m = mass
    message.inertia.com.x, message.inertia.com.y, message.inertia.com.z = com
    return message


def test_a_payload_comes_as_one_message_and_the_torque_goes_there_without_a_step(rig):
    rig.must_set(payload_transition_time=1.0)
    publisher = rig.publisher(InertiaStamped, 'gravity_compensation/payload')
    rig.until(holding(), 'no payload')
    publisher.publish(payload(0.5))
    torques = rig.until(holding(POSE, 0.5), 'the payload')
    whole = np.abs(holding(POSE, 0.5) - holding())
    assert (np.abs(np.diff(torques, axis=0)) <= 0.016 * whole + 1e-9).all()
    assert len(torques) > 90
    names = ['payload_link', 'payload_mass', 'payload_center_of_mass']
    assert list(rig.parameters(names).values()) == ['tool', 0.5, [0.0, 0.0, 0.0]]
    publisher.publish(payload(0.5, com=(-0.4, 0.0, 0.0)))
    elbow = [holding(POSE, 0.5)[0] - holding(POSE, 0.5)[1] + holding()[1], holding()[1]]
    rig.until(np.array(elbow), 'the center of mass')
    publisher.publish(payload(0.0, ''))
    rig.until(holding(), 'no payload again')
    rig.must_set(payload_transition_time=0.0)


def test_a_payload_on_another_link_makes_no_step_either(rig):
    rig.must_set(payload_transition_time=1.0, payload_link='tool')
    rig.must_set(payload_mass=1.0)
    before = rig.until(holding(POSE, 1.0), 'the payload')[-1]
    rig.must_set(payload_link='upper')
    torques = [rig.step() for _ in range(120)]
    expected = holding()  # in the axis of the shoulder it weighs nothing
    assert np.abs(torques[0] - before).max() < 0.02 * np.abs(before - expected).max()
    assert np.abs(torques[-1] - expected).max() < 1e-9
    rig.must_set(payload_mass=0.0)
    rig.until(holding(), 'no payload')
    rig.must_set(payload_transition_time=0.0, payload_link='')


@pytest.mark.parametrize(
    'message, text',
    [
        (payload(1.0, ''), 'frame_id is empty'),
        (payload(1.0, 'wing'), "unknown link 'wing'"),
        (payload(-1.0), 'payload_mass must not be negative'),
        (payload(math.nan), 'payload_mass must be finite'),
        (payload(1.0, com=(0.0, 1e9, 0.0)), 'payload_center_of_mass'),
    ],
)
def test_payloads_that_make_no_sense_change_nothing(rig, message, text):
    publisher = rig.publisher(InertiaStamped, 'gravity_compensation/payload')
    since = rig.ros.mark()
    publisher.publish(message)
    rig.status(text, 'payload', since)
    assert np.allclose(rig.step(), holding())
    rig.ros.node.destroy_publisher(publisher)


def test_payloads_can_be_set_atomically(rig):
    result = rig.set(
        True, payload_mass=0.4, payload_center_of_mass=[0.0, 0.0, 0.1], payload_link='tool'
    )
    assert result.successful, result.reason
    assert not np.allclose(rig.step(), holding())
    rig.must_set(payload_mass=0.0)


# -- mounting -------------------------------------------------------------------------------------


def test_a_mounting_turns_gravity_without_a_step(rig):
    rig.must_set(payload_transition_time=1.0)
    before = rig.until(holding(), 'the table')[-1]
    rig.must_set(mounting_rpy=[0.0, math.pi / 2, 0.0])
    torques = rig.until(gravity_in((9.81, 0.0, 0.0)), 'the wall')
    assert np.abs(torques[0] - before).max() < 0.02 * np.abs(before - torques[-1]).max()
    rig.must_set(payload_transition_time=0.0)
    rig.must_set(mounting_rpy=[math.pi, 0.0, 0.0])
    assert np.allclose(rig.step(), -holding())
    rig.must_set(mounting_rpy=[0.0, 0.0, 0.0])
    assert np.allclose(rig.step(), holding())


# -- hand guiding ---------------------------------------------------------------------------------


def switch(rig, on):
    return rig.ros.call(SetBool, f'{rig.name}/hand_guiding', SetBool.Request(data=on))


def test_hand_guiding_is_the_law_of_the_page_and_fades_away(rig):
    robot = Robot.from_urdf(TWO_LINK_ARM)
    law = HandGuiding(robot, GuidingSettings.for_robot(robot, stiffness=10.0, max_velocity=0.5))
    guiding = {'hand_guiding.stiffness': [10.0], 'hand_guiding.max_velocity': [0.5]}
    rig.must_set(payload_transition_time=0.0, **guiding)
    since = rig.ros.mark()
    rig.step()
    assert switch(rig, True).success
    assert rig.parameters(['mode']) == {'mode': 'hand_guiding'}
    for q, v in (
        (POSE, REST),
        ((0.32, -1.11), REST),
        ((0.32, -1.11), (0.1, 0.2)),
        ((0.5, -1.2), (0.1, 0.2)),
        ((0.5, -1.2), (0.54, 0.2)),
        ((0.5, -1.2), (-2.0, 0.2)),
    ):
        owed = holding(q) + law(np.array(q), np.array(v), 0.01)
        assert rig.step(q, v) == pytest.approx(np.clip(owed, -LIMITS, LIMITS), rel=1e-9)
    rig.status('braking: shoulder moves at 2, above 0.5', 'hand_guiding', since)
    q = (0.5, -1.2)
    hold = rig.step(q) - holding(q)
    assert np.abs(hold).min() > 0.05
    assert switch(rig, False).success
    fading = np.array([rig.step(q) - holding(q) for _ in range(60)])
    assert np.abs(fading[0] / hold - 0.98).max() < 1e-6  # 10 ms of half a second
    assert (np.diff(np.abs(fading), axis=0) <= 1e-12).all()
    assert np.abs(fading[50:]).max() < 1e-12
    assert rig.parameters(['mode']) == {'mode': 'compensation'}


def test_switched_on_where_it_stands_there_is_no_step(rig):
    before = rig.until(holding(), 'compensation')[-1]
    rig.must_set(mode='hand_guiding')
    assert np.allclose(rig.step(), before, atol=1e-9)
    rig.must_set(mode='compensation')
    assert np.allclose(rig.step(), before, atol=1e-9)


def test_limits_hold_in_hand_guiding(rig):
    stiff = {'hand_guiding.stiffness': [1e6], 'hand_guiding.damping': 100.0}
    rig.must_set(mode='hand_guiding', **stiff)
    rig.step()
    for v in (30.0, -30.0):
        assert (np.abs(rig.step((0.3, -1.0), (v, v))) <= LIMITS + 1e-12).all()
    defaults = {'hand_guiding.stiffness': [], 'hand_guiding.damping': 6.0}
    rig.must_set(mode='compensation', **defaults)


# -- joints ---------------------------------------------------------------------------------------


@pytest.fixture(scope='module')
def elbow_only(ros):
    return Rig(ros, '/elbow', joints=['elbow'])


def test_joints_that_are_not_commanded_are_measured_and_bend_the_torque_of_others(elbow_only):
    torque = elbow_only.step((1.2, -0.4))
    assert torque == pytest.approx([gravity_torque((1.2, -0.4))['elbow']])
    assert elbow_only.torques[-1].names == ('elbow',)


def test_unmeasured_joints_are_named_with_the_cure(elbow_only):
    since = elbow_only.ros.mark()
    # The watchdog is off, so an old state would do: another node, which has seen none.
    rig = Rig(elbow_only.ros, '/half', state_timeout=0.3)
    message = joint_state(('elbow',), (0.1,), (0.0,))
    text = 'no state of shoulder; publish it on joint_states, or name joints without a sensor'

    def reported():
        rig.states.publish(message)
        return rig.ros.status(text, 'joint_states', since=since)

    status = rig.ros.until(reported, 'the joint that is missing')
    assert 'optional_joints' in status.message
    assert rig.process.stop() == 0


# -- robots that compensate gravity ---------------------------------------------------------------


@pytest.fixture(scope='module')
def relieved(ros):
    return Rig(
        ros,
        '/relieved',
        robot_compensates_gravity=True,
        payload_transition_time=0.0,
        damping=[0.5],
    )


def test_the_weight_of_a_self_compensating_robot_is_omitted(relieved):
    assert np.allclose(relieved.step(), 0.0, atol=1e-12)
    assert np.allclose(relieved.step(POSE, (1.0, 2.0)), (-0.5, -1.0))
    assert relieved.set(True, payload_link='tool', payload_mass=0.7).successful
    assert np.allclose(relieved.step(), holding(POSE, 0.7) - holding())
    assert 'the torque does not include the weight of the links' in relieved.process.output()


def test_a_robot_that_does_not_compensate_gravity_gets_a_warning(rig):
    assert 'if the robot compensates gravity itself' in rig.process.output()
    result = rig.set(robot_compensates_gravity=True)[0]
    assert not result.successful and 'at start only' in result.reason


# -- IMU ------------------------------------------------------------------------------------------

RATE = 0.5


@pytest.fixture(scope='module')
def imu_rig(ros):
    rig = Rig(
        ros,
        '/tilted',
        gravity_source='imu',
        gravity_slew_rate=RATE,
        imu_timeout=0.5,
        payload_transition_time=0.0,
    )
    rig.imu = rig.publisher(Imu, 'imu')
    return rig


def orientation(angle, frame='base'):
    """Return the IMU of a base turned about y."""
    message = Imu()
    message.header.frame_id = frame
    message.orientation.y, message.orientation.w = math.sin(angle / 2), math.cos(angle / 2)
    return message


def acceleration(angle, frame='base', magnitude=9.81):
    message = Imu()
    message.header.frame_id = frame
    message.orientation_covariance[0] = -1.0
    # upwards in the axes of what is turned about y
    message.linear_acceleration.x = -magnitude * math.sin(angle)
    message.linear_acceleration.z = magnitude * math.cos(angle)
    return message


def tilted(angle):
    return gravity_in((9.81 * math.sin(angle), 0.0, -9.81 * math.cos(angle)))


def publish_and_expect(rig, message, expected):
    """Send a message again and again until the torque is `expected`; return all torques."""
    torques = []

    def there():
        rig.imu.publish(message)
        torques.append(rig.step(dt=0.05))
        return np.allclose(torques[-1], expected, rtol=1e-6, atol=1e-6)

    rig.ros.until(there, 'gravity of the IMU')
    return np.array(torques)


def test_before_the_imu_sends_gravity_is_that_of_the_parameters(imu_rig):
    assert np.allclose(imu_rig.step(), holding())
    imu_rig.status('waiting for messages on imu', 'imu')


def test_gravity_follows_the_orientation_at_a_limited_rate(imu_rig):
    imu_rig.until(holding(), 'no tilt')
    torques = publish_and_expect(imu_rig, orientation(0.4), tilted(0.4))
    steps = [tilted(RATE * 0.05 * k) for k in range(0, 16)] + [tilted(0.4)]
    for torque in torques:  # on the way it is where the rate lets it be
        assert min(np.abs(torque - step).max() for step in steps) < 1e-6
    moved = np.abs(np.diff(torques, axis=0)).max()
    assert moved <= 1.01 * max(np.abs(np.diff(steps, axis=0)).max(), 1e-9)
    imu_rig.status('gravity follows the orientation', 'imu')
    publish_and_expect(imu_rig, orientation(-0.2), tilted(-0.2))


def test_an_imu_on_a_link_that_moves_is_turned_back_to_the_base(imu_rig):
    angle = sum(POSE)  # of the tool, about y
    publish_and_expect(imu_rig, orientation(0.3 + angle, 'tool'), tilted(0.3))
    publish_and_expect(imu_rig, acceleration(0.1 + angle, '/tool'), tilted(0.1))


def test_the_acceleration_counts_where_there_is_no_orientation(imu_rig):
    publish_and_expect(imu_rig, acceleration(0.35), tilted(0.35))
    imu_rig.status('gravity follows the acceleration', 'imu')


def nonsense():
    zero, none, broken, weak = (
        orientation(0.0),
        acceleration(0.0),
        orientation(0.0),
        acceleration(1),
    )
    zero.orientation.w = 0.0
    none.linear_acceleration_covariance[0] = -1.0
    broken.orientation.x = math.nan
    weak.linear_acceleration.z = 0.1
    spinning = acceleration(0.0)
    spinning.angular_velocity.x = math.nan
    return [
        (zero, 'not a unit quaternion'),
        (broken, 'not a unit quaternion'),
        (none, 'neither orientation nor linear acceleration'),
        (weak, 'differs too much from gravity'),
        (
            acceleration(0.0, magnitude=20.0),
            'magnitude 20 m/s^2, which differs too much from gravity, 9.81',
        ),
        (spinning, 'angular velocity is not a number'),
        (orientation(0.0, ''), 'frame_id is empty'),
        (orientation(0.0, 'wing'), 'the robot has no link wing; set imu_frame'),
    ]


@pytest.mark.parametrize('number', range(8))
def test_an_impossible_imu_message_changes_nothing(imu_rig, number):
    message, text = nonsense()[number]
    publish_and_expect(imu_rig, orientation(0.25), tilted(0.25))
    since = imu_rig.ros.mark()
    imu_rig.imu.publish(message)
    imu_rig.status(text, 'imu', since)
    for _ in range(20):
        assert np.allclose(imu_rig.step(dt=0.05), tilted(0.25), rtol=1e-9)


def test_a_rotating_imu_does_not_change_gravity(imu_rig):
    publish_and_expect(imu_rig, orientation(0.25), tilted(0.25))
    message = acceleration(0.0)
    message.angular_velocity.z = 1.0
    for _ in range(20):
        imu_rig.imu.publish(message)
        assert np.allclose(imu_rig.step(dt=0.05), tilted(0.25), rtol=1e-9)


def test_a_silent_imu_is_reported_and_gravity_stays(imu_rig):
    publish_and_expect(imu_rig, orientation(0.25), tilted(0.25))
    since = imu_rig.ros.mark()
    imu_rig.status('no usable message for 0.5 s: the last direction of gravity', 'imu', since)
    assert np.allclose(imu_rig.step(), tilted(0.25), rtol=1e-9)


def test_other_parameters_do_not_disturb_gravity_of_the_imu(imu_rig):
    publish_and_expect(imu_rig, orientation(0.25), tilted(0.25))
    for mass in (0.3, 0.0):
        imu_rig.must_set(payload_link='tool')
        imu_rig.must_set(payload_mass=mass)
        if mass:
            assert not np.allclose(imu_rig.step(), tilted(0.25))
    assert np.allclose(imu_rig.step(), tilted(0.25), rtol=1e-9)


# -- servos ---------------------------------------------------------------------------------------


class SoftServos:
    """The two-link arm on servos of finite stiffness, which take positions by joint_commands."""

    STIFFNESS = np.array([60.0, 25.0])

    def __init__(self, ros, namespace):
        self.robot = Robot.from_urdf(TWO_LINK_ARM)
        self.simulator = Simulator(self.robot, 1e-3)
        self.simulator.reset([0.2, 0.5])
        self.simulator.set_joint_pd(kp=self.STIFFNESS, kd=0.3 * self.STIFFNESS)
        self.commands = []
        self.target = np.array([0.3, -0.8])
        ros.node.create_subscription(
            JointState, f'{namespace}/joint_commands', self.commands.append, reliable(1000)
        )
        self.arrays = ros.listen(Float64MultiArray, f'{namespace}/position_commands')
        self._publisher = ros.node.create_publisher(
            JointState, f'{namespace}/joint_states', reliable(1)
        )
        self._time, self._ros = time.time_ns(), ros

    def run(self, command=None, cycles=600):
        """Run the arm with commands as they come, or one of its own."""
        for _ in range(cycles):
            count = len(self.commands)
            if command is not None:
                self.simulator.set_joint_pd(command)
            elif self.commands:
                assert list(self.commands[-1].name) == ['shoulder', 'elbow']
                assert not self.commands[-1].effort
                self.simulator.set_joint_pd(np.array(self.commands[-1].position))
            self.simulator.step(n=10)
            if command is None:
                self.send(count)

    def send(self, count):
        """Publish the state until it is answered."""
        self._time += 10_000_000
        message = joint_state(NAMES, self.simulator.q, self.simulator.v)
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(self._time, 10**9)
        sent = [0.0]

        def found():
            if time.monotonic() - sent[0] > 0.5:
                self._publisher.publish(message)
                sent[0] = time.monotonic()
            return len(self.commands) > count

        self._ros.until(found, 'a position')

    @property
    def droop(self):
        return np.abs(self.simulator.q - self.target).max()

    def is_at_rest(self):
        """Run for half a second; return whether it is at rest after that."""
        self.run(cycles=50)
        return np.abs(self.simulator.v).max() < 1e-4


def test_servos_get_targets_so_that_they_do_not_droop(ros):
    namespace = '/servos'
    arm = SoftServos(ros, namespace)
    node = ros.start(
        'gravity_compensation',
        {
            'robot_description': TWO_LINK_ARM,
            'servo_stiffness': [60.0, 25.0],
            'max_position_offset': 0.3,
            'state_timeout': 0.0,
            'shutdown_command': 'zero',
        },
        ('-r', f'__ns:={namespace}'),
    )
    targets = ros.publisher(JointState, f'{namespace}/joint_targets')
    ros.until(arm._publisher.get_subscription_count, 'the node')
    arm.run(arm.target)
    droop = arm.droop
    assert droop > 0.1 and np.abs(arm.simulator.v).max() < 1e-3
    # nothing is commanded before there is a target for every joint
    since = ros.mark()
    with Feed(targets, joint_state(['elbow'], [arm.target[1]]), rate=10.0):
        ros.until(
            lambda: any(
                status.message.endswith('targets on joint_targets for shoulder')
                for status in ros.diagnostics[since:]
            ),
            'a target of the elbow',
        )
    for _ in range(20):
        arm._publisher.publish(joint_state(NAMES, arm.simulator.q, arm.simulator.v))
    ros.spin(0.3)
    assert not arm.commands
    targets.publish(joint_state(['shoulder'], [arm.target[0]]))
    ros.until_status('all targets were received', 'servos', since=since)
    ros.until(lambda: arm.is_at_rest() and arm.droop < 0.1 * droop, 'the target')
    first, last = (np.array(arm.commands[k].position) for k in (0, -1))
    assert np.abs(first - arm.target).max() < 0.3 * 0.1 / 0.5 + 1e-9  # from zero at a limited rate
    owed = arm.robot.gravity_torque(arm.simulator.q) / arm.STIFFNESS
    assert np.allclose(last - arm.target, owed, atol=1e-3)
    assert np.allclose(arm.arrays[-1].data, last, atol=1e-3)
    # what is no target changes nothing
    for message, text in (
        (joint_state(['elbow'], [math.nan]), 'position of elbow is not a number'),
        (joint_state(['elbow'], []), '0 positions for 1 names'),
        (joint_state(['wing'], [1.0]), 'names no commanded joint'),
        (joint_state(['elbow', 'elbow'], [1.0, 1.0]), 'given twice: elbow'),
    ):
        since = ros.mark()
        targets.publish(message)
        ros.until_status(text, 'servos', since=since)
    ros.until(lambda: arm.is_at_rest() and arm.droop < 0.1 * droop, 'the target again')
    # offsets end at their limit, commands at those of the joints
    ros.set_parameter(f'{namespace}/gravity_compensation', 'max_position_offset', 0.01)
    arm.run(cycles=3)
    assert np.allclose(np.abs(np.array(arm.commands[-1].position) - arm.target), 0.01)
    targets.publish(joint_state(NAMES, [5.0, -5.0]))
    ros.until(
        lambda: arm.run(cycles=1) or list(arm.commands[-1].position) == [3.0, -2.5], 'limits'
    )
    # the last command is the target itself
    targets.publish(joint_state(NAMES, arm.target))
    near = lambda: np.allclose(arm.commands[-1].position, arm.target, atol=0.02)  # noqa: E731
    ros.until(lambda: arm.run(cycles=1) or near(), 'the target')
    node.stop()
    ros.until(lambda: list(arm.commands[-1].position) == list(arm.target), 'the last command')


def test_servos_cannot_be_guided_by_hand(ros):
    process = ros.start(
        'gravity_compensation',
        {'robot_description': TWO_LINK_ARM, 'servo_stiffness': [60.0], 'mode': 'hand_guiding'},
        ('-r', '__ns:=/stiff'),
    )
    assert process.wait() == 1
    ros.processes.remove(process)
    assert 'mode hand_guiding does not support servos' in process.output()
