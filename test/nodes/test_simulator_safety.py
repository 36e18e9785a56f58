# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The simulator under hostile input, over DDS: time continues, and errors name a cure.

Each test with other parameters starts a separate simulator.
"""

import itertools
import math
import re
import signal

import numpy as np
import pytest
from support import outside

outside.load('rclpy')

from geometry_msgs.msg import WrenchStamped
from node_harness import efforts, gravity_torque, joint_state, reliable, TWO_LINK_ARM
from rclpy.serialization import serialize_message
from rosgraph_msgs.msg import Clock
from safety_harness import FREE_ARM, lines_of, NAMES, parameter_value, Repeat, TorqueRig
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool, Trigger

START = [0.5, -0.8]
HOLDING = list(gravity_torque(START).values())
LONG = 'x' * 10_000

# A tool with more links than wrenches that can act at once.
LINKS = 70
MANY_LINKS = TWO_LINK_ARM.replace(
    '</robot>',
    ''.join(
        f'<link name="link_{k}"/><joint name="mount_{k}" type="fixed"><parent link="tool"/>'
        f'<child link="link_{k}"/></joint>'
        for k in range(LINKS)
    )
    + '</robot>',
)


def seconds(time_stamp):
    return time_stamp.sec + time_stamp.nanosec * 1e-9


class SimulatorRig:
    """A simulator in a separate namespace."""

    _numbers = itertools.count()

    def __init__(self, ros, parameters=None, namespace=None):
        self.ros = ros
        self.namespace = namespace or f'/s{next(self._numbers)}'
        self.name = f'{self.namespace}/simulator'
        self.process = ros.start(
            'simulator',
            {
                'robot_description': TWO_LINK_ARM,
                'initial_positions': START,
                'clock_policy': 'fixed_rate',
                'state_publish_rate': 100.0,  # the test has other things to do than to listen
                **(parameters or {}),
            },
            ('-r', f'__ns:={self.namespace}', '-r', f'/clock:={self.namespace}/clock'),
        )
        self._subscriptions = []
        self.states = self._listen(JointState, 'joint_states', reliable(1))
        self.clock = self._listen(Clock, 'clock', reliable(200))
        self.by_name = ros.publisher(JointState, self.topic('joint_commands'))
        self.by_order = ros.publisher(Float64MultiArray, self.topic('effort_commands'))
        self.wrench = ros.publisher(WrenchStamped, self.topic('external_wrench'), reliable(100))
        ros.until(lambda: self.states, 'a joint state')

    def _listen(self, kind, topic, qos):
        messages = []
        self._subscriptions.append(
            self.ros.node.create_subscription(kind, self.topic(topic), messages.append, qos)
        )
        return messages

    def close(self):
        """End it and its subscriptions, which would slow the tests down."""
        self.process.stop()
        self.ros.processes.remove(self.process)
        for subscription in self._subscriptions:
            self.ros.node.destroy_subscription(subscription)

    def topic(self, name):
        return f'{self.namespace}/{name}'

    def state(self):
        """Return a state published from now on."""
        count = len(self.states)
        self.ros.until(lambda: len(self.states) > count + 2, 'new joint states')
        return self.states[-1]

    def time(self):
        return seconds(self.state().header.stamp)

    def trigger(self, name):
        return self.ros.call(Trigger, f'{self.name}/{name}', Trigger.Request())

    def pause(self, paused):
        return self.ros.call(SetBool, f'{self.name}/pause', SetBool.Request(data=paused))

    def later(self, kind, verb, request):
        """Return the future of an answer."""
        return self.ros.client(kind, f'{self.name}/{verb}').call_async(request)

    def status(self, subject):
        """Return the newest diagnostic status of a subject."""
        name = f'{self.name.lstrip("/")}: {subject}'
        return next((s for s in reversed(self.ros.diagnostics) if s.name == name), None)

    def until_reported(self, text, subject, since=0):
        name = f'{self.name.lstrip("/")}: {subject}'
        return self.ros.until(
            lambda: next(
                (s for s in self.ros.diagnostics[since:] if s.name == name and text in s.message),
                None,
            ),
            f'diagnostics of {name} with {text!r}',
        )

    def finite(self):
        return all(np.isfinite([*s.position, *s.velocity, *s.effort]).all() for s in self.states)


@pytest.fixture(scope='module')
def simulator(ros):
    return SimulatorRig(ros, {'robot_description': MANY_LINKS, 'external_wrench_duration': 0.0})


@pytest.fixture
def rig(simulator):
    """Begin each test with time running and the arm held where it starts."""
    assert simulator.trigger('reset').success
    assert simulator.pause(False).success
    del simulator.states[:-1], simulator.clock[:-1]
    yield simulator
    assert simulator.process.alive()
    assert simulator.finite()
    assert 'Traceback' not in simulator.process.output()


@pytest.fixture
def another(ros):
    """Start further simulators; they end with the test."""
    rigs = []

    def begin(*arguments, **options):
        rigs.append(SimulatorRig(ros, *arguments, **options))
        return rigs[-1]

    yield begin
    for rig in rigs:
        rig.close()
        assert 'Traceback' not in rig.process.output()


def until_time_passes(rig, duration=0.05):
    begin = rig.time()
    rig.ros.until(lambda: seconds(rig.states[-1].header.stamp) > begin + duration, 'time')


# -- steps that take long -------------------------------------------------------------------------


@pytest.fixture
def stepping(another):
    """Return a paused simulator in the midst of a million steps.

    And the future of their answer.
    """
    rig = another({'start_paused': True, 'step_count': 1_000_000})
    answer = rig.later(Trigger, 'step', Trigger.Request())
    begin = rig.status('simulation')

    def steps():
        status = rig.status('simulation')
        values = {v.key: v.value for v in status.values} if status is not begin else {}
        return float(values.get('steps', 0.0)) > 0

    rig.ros.until(steps, 'diagnostics of a simulation that steps')
    assert not answer.done()
    return rig, answer


@pytest.mark.parametrize('by', ['pause', 'reset'])
def test_long_steps_end_by_pause_and_reset_and_say_so(stepping, by):
    rig, answer = stepping
    ended = rig.pause(True) if by == 'pause' else rig.trigger('reset')
    assert ended.success
    rig.ros.until(answer.done, 'the answer of ~/step')
    assert not answer.result().success
    assert f'ended by ~/{by}' in answer.result().message
    done = int(re.search(r'cycles done: (\d+)', answer.result().message)[1])
    assert 0 < done < 1_000_000
    stood = rig.time()
    assert rig.time() == stood
    assert rig.pause(False).success
    until_time_passes(rig)


def test_parameters_and_diagnostics_work_during_long_steps(stepping):
    rig, answer = stepping
    rig.ros.set_parameter(rig.name, 'real_time_factor', 2.0)
    since = rig.ros.mark()
    rig.ros.until(lambda: len(rig.ros.diagnostics) > since + 3, 'diagnostics')
    assert not answer.done()


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_long_steps(stepping, number):
    rig, answer = stepping
    assert rig.process.stop(number) == 0
    rig.ros.spin(0.3)
    assert not answer.done() or 'ended by the end of the node' in answer.result().message


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_requests_for_steps_that_wait_for_others(stepping, number):
    rig, _ = stepping
    for _ in range(5):
        rig.later(Trigger, 'step', Trigger.Request())
    rig.ros.spin(0.5)
    assert rig.process.stop(number) == 0


def test_steps_are_rejected_during_others_so_that_none_begins_after_a_pause(stepping):
    rig, first = stepping
    others = [rig.later(Trigger, 'step', Trigger.Request()) for _ in range(3)]
    rig.ros.until(lambda: all(f.done() for f in others), 'answers')
    assert all('other steps are running' in f.result().message for f in others)
    assert not first.done()
    assert rig.pause(True).success
    rig.ros.until(first.done, 'the answer of ~/step')


# -- wrenches -------------------------------------------------------------------------------------


def wrench(link, x=0.0, torque=0.0):
    message = WrenchStamped()
    message.header.frame_id = link
    message.wrench.force.x, message.wrench.torque.y = x, torque
    return message


@pytest.mark.parametrize(
    'message, text',
    [
        (wrench('tool', 1.7e308), 'above the limit'),
        (wrench('tool', -1e300, 1e300), 'above the limit'),
        (wrench('tool', math.nan), 'not finite'),
        (wrench('tool', 0.0, -math.inf), 'not finite'),
        (wrench(LONG), 'not a link'),
        (wrench('a\nb\x1b[2J'), 'not a link'),
        (wrench('🦾'), 'not a link'),
    ],
    ids=lambda x: repr(x)[:12],
)
def test_a_bad_wrench_is_rejected_by_name_and_time_continues(rig, message, text):
    since = rig.ros.mark()
    rig.wrench.publish(message)
    status = rig.until_reported(text, 'external_wrench', since)
    assert 'wrench rejected' in status.message and len(status.message) < 1000
    until_time_passes(rig)


def test_too_many_wrenches_are_rejected_and_time_continues(rig):
    since = rig.ros.mark()
    for k in range(LINKS):
        rig.wrench.publish(wrench(f'link_{k}', 1e-3))
        rig.ros.spin(0.005)
    status = rig.until_reported(
        '64 links or objects have a wrench already', 'external_wrench', since
    )
    assert '~/reset' in status.message
    until_time_passes(rig)
    assert rig.trigger('reset').success

    def rejected():
        return {v.key: v.value for v in rig.status('external_wrench').values}['count: too many']

    rig.ros.until(lambda: rig.status('external_wrench').message == 'OK', 'an end of that')
    before = rejected()
    reports = rig.status('external_wrench')
    rig.wrench.publish(wrench(f'link_{LINKS - 1}', 1e-3))
    rig.ros.spin(0.2)
    rig.ros.until(lambda: rig.status('external_wrench') is not reports, 'the next diagnostics')
    assert rejected() == before


@pytest.mark.parametrize(
    'data',
    [
        b'',
        b'\0\1\0\0',
        b'\0\1\0\0' + b'\xff' * 100,
        b'\xde\xad\xbe\xef' * 20,
        serialize_message(wrench('tool', 1.0))[:-20],
        serialize_message(wrench('tool', 1.0)).replace(b'tool', b'\xff\xfe\xfd\xfc'),
    ],
    ids=range(6),
)
@pytest.mark.parametrize('topic', ['wrench', 'by_name', 'by_order'])
def test_malformed_bytes_change_nothing_and_time_continues(rig, topic, data):
    for _ in range(20):
        getattr(rig, topic).publish(data)
        rig.ros.spin(0.005)
    until_time_passes(rig)
    assert list(rig.state().position) == START
    assert rig.status('simulation').message != 'failed'


# -- commands -------------------------------------------------------------------------------------


def test_a_finite_command_that_overflows_is_rejected_and_time_continues(another):
    """There is no limit of torque that would cut it."""
    rig = another({'robot_description': FREE_ARM})
    for message, what in (
        (joint_state(NAMES, effort=[1e308, 1e308]), 'effort'),
        (joint_state(NAMES, effort=[-1.7e308, 0.0]), 'effort'),
        (joint_state(NAMES, position=[1e308, 0.0]), 'position'),
        (joint_state(NAMES, velocity=[0.0, -1e308]), 'velocity'),
    ):
        since = rig.ros.mark()
        rig.by_name.publish(message)
        # By its own words: the rejection before may be reported again.
        rig.until_reported(f'command rejected: a value of {what} is', 'commands', since)
        until_time_passes(rig)
    since = rig.ros.mark()
    rig.by_order.publish(efforts(1e308, -1e308))
    rig.until_reported('command rejected', 'commands', since)
    until_time_passes(rig)
    assert list(rig.state().position) == START
    assert rig.finite()


def large_command(names, effort=True):
    message = joint_state(names, effort=[0.0] * len(names) if effort else [])
    return serialize_message(message)


FLOODS = {
    'repeated names': lambda: large_command(['shoulder'] * 10_000),
    'unknown names': lambda: large_command([f'joint_{k}' for k in range(10_000)]),
    'one long name': lambda: large_command(['x' * 1_000_000, 'elbow']),
    'a megabyte of numbers': lambda: serialize_message(joint_state(NAMES, effort=[1.0] * 125_000)),
}


@pytest.mark.parametrize('what', FLOODS)
def test_large_commands_do_not_hold_time_up(rig, what):
    """Of some 100 states a second, 3 must be left, however busy the machine is."""
    count = len(rig.states)
    with Repeat(rig.by_name, [FLOODS[what]()], 20.0) as flood:
        rig.ros.until(lambda: len(rig.states) >= count + 60 and flood.sent >= 10, 'states')
    until_time_passes(rig)


def test_names_invented_without_end_do_not_hold_time_up(rig):
    """Each message has another list of names with one joint that there is."""
    numbers = itertools.count()

    def invented():
        k = next(numbers)
        return large_command(['elbow', *(f'n{k}_{i}' for i in range(5))])

    messages = [invented() for _ in range(5000)]
    since, count = rig.ros.mark(), len(rig.states)
    name = f'{rig.name[1:]}: simulation'

    def goes_on():
        reports = [s for s in rig.ros.diagnostics[since:] if s.name == name]
        return len(reports) >= 2 and len(rig.states) >= count + 60

    with Repeat(rig.by_name, messages, 5000.0) as flood:
        rig.ros.until(lambda: goes_on() and flood.sent >= 1000, 'states and diagnostics')
        until_time_passes(rig)


# -- dynamics that fail ---------------------------------------------------------------------------

# A point mass on a slide: while it is on the axis of the arm, the arm has no inertia at all.
NO_INERTIA_AT_ZERO = """
<robot name="singular">
  <link name="base"/>
  <link name="arm"/>
  <link name="ball"><inertial><mass value="1"/>
    <inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="turn" type="continuous"><parent link="base"/><child link="arm"/>
    <axis xyz="0 0 1"/></joint>
  <joint name="slide" type="prismatic"><parent link="arm"/><child link="ball"/>
    <axis xyz="1 0 0"/><limit lower="-1" upper="1" effort="100" velocity="5"/></joint>
</robot>
"""


def test_a_failed_simulation_names_a_service_that_cures_it(another):
    rig = another({'robot_description': NO_INERTIA_AT_ZERO, 'initial_positions': [0.0, 0.0]})
    for _ in range(2):  # it helps as often as it is needed
        until_time_passes(rig)
        since = rig.ros.mark()
        rig.by_name.publish(joint_state(['turn', 'slide'], effort=[1.0, 0.0]))
        reports = rig.until_reported('dynamics', 'simulation', since)
        advice = 'Call ~/reset, then ~/pause with data: false'
        assert 'turn' in reports.message and advice in reports.message
        for rejected in (rig.pause(False), rig.trigger('step')):
            assert not rejected.success and advice in rejected.message
        stood = rig.time()
        assert rig.time() == stood
        assert rig.trigger('reset').success
        assert rig.pause(False).success
        rig.ros.until(lambda: rig.status('simulation').message == 'running', 'a good state')
    until_time_passes(rig)
    assert list(rig.state().position) == [0.0, 0.0]
    assert rig.finite()


# -- publisher conflicts --------------------------------------------------------------------------


def controller(rig, name, joints, form='joint_state'):
    return TorqueRig(
        rig.ros,
        'gravity_compensation',
        rig.namespace,
        {'joints': joints, 'output': form, 'use_sim_time': True},
        ('-r', f'__node:={name}'),
    )


@pytest.fixture
def controllers(rig):
    started = []

    def begin(*arguments):
        started.append(controller(rig, *arguments))
        return started[-1]

    yield begin
    for each in started:
        each.ros.node.destroy_publisher(each.states)
        each.process.stop()
        rig.ros.processes.remove(each.process)


def hear_only_nodes(rig):
    """Destroy the test's own publishers, which would conflict, too."""
    for publisher in (rig.by_name, rig.by_order):
        rig.ros.node.destroy_publisher(publisher)


def test_two_controllers_for_the_same_joints_are_named(another):
    rig = another()
    hear_only_nodes(rig)
    both = [controller(rig, name, []) for name in ('left', 'right')]
    status = rig.until_reported('several controllers', 'publisher_conflict')
    assert f'{rig.namespace}/left' in status.message and f'{rig.namespace}/right' in status.message
    for each in both:
        each.process.stop()
        rig.ros.processes.remove(each.process)


def test_controllers_for_different_joints_do_not_conflict(another):
    rig = another()
    hear_only_nodes(rig)
    both = [controller(rig, 'left', ['shoulder']), controller(rig, 'right', ['elbow'])]
    heard = both[0].torques  # those of both, who have one topic
    rig.ros.until(lambda: len({x.names for x in heard}) == 2, 'torques of both')
    rig.ros.spin(2.5)  # a check each second, with torques of both each time
    since = rig.ros.mark()
    rig.ros.spin(2.5)
    reports = [
        s for s in rig.ros.diagnostics[since:] if s.name == f'{rig.name[1:]}: publisher_conflict'
    ]
    assert not any('several controllers' in s.message for s in reports)
    for each in both:
        each.process.stop()
        rig.ros.processes.remove(each.process)


def test_two_simulators_on_one_clock_are_named(another):
    rig = another()
    other = another(namespace='/other')
    process = rig.ros.start(
        'simulator',
        {'robot_description': TWO_LINK_ARM},
        ('-r', '__ns:=/third', '-r', f'/clock:={rig.namespace}/clock'),
    )
    status = rig.until_reported('two simulators', 'publisher_conflict')
    assert '/third/simulator' in status.message and f'{rig.namespace}/clock' in status.message
    assert other.status('publisher_conflict') is None  # it has a clock of its own
    process.stop()
    rig.ros.processes.remove(process)


# -- time -----------------------------------------------------------------------------------------


def test_the_simulator_rejects_use_sim_time(rig):
    for value in (True, None):
        result = rig.ros.call(*_set_request(rig.name, 'use_sim_time', value)).results[0]
        assert not result.successful and 'cannot' in result.reason
    until_time_passes(rig)


def _set_request(node, name, value):
    from rcl_interfaces.msg import Parameter
    from rcl_interfaces.srv import SetParameters

    parameter = Parameter(name=name, value=parameter_value(value))
    return SetParameters, f'{node}/set_parameters', SetParameters.Request(parameters=[parameter])


def test_a_slow_or_paused_simulation_does_not_stop_the_torque(another):
    rig = another({'real_time_factor': 0.01, 'initial_command': 'hold', 'state_publish_rate': 0.0})
    node = TorqueRig(
        rig.ros,
        'gravity_compensation',
        rig.namespace,
        {'use_sim_time': True, 'state_timeout': 0.1},
    )
    rig.ros.until(lambda: len(node.torques) > 20, 'torques')
    node.ros.spin(1.0)
    assert rig.pause(True).success
    node.ros.spin(2.0)
    assert rig.pause(False).success
    node.ros.spin(1.0)
    assert all(t.effort == pytest.approx(HOLDING) for t in node.torques)
    assert not lines_of(node.process, 'last torque sent')
    node.process.stop()
    rig.ros.processes.remove(node.process)


# -- reports --------------------------------------------------------------------------------------


def test_endless_names_are_shortened_wherever_they_are_reported(another):
    text = re.sub('"two_link"', f'"{LONG}"', TWO_LINK_ARM)
    rig = another({'robot_description': text})
    since = rig.ros.mark()
    for _ in range(3):
        rig.by_name.publish(joint_state([LONG, 'elbow'], effort=[0.0, 0.0]))
        rig.by_name.publish(joint_state([LONG], effort=[0.0]))
        rig.by_name.publish(joint_state([LONG] * 2, effort=[0.0, 0.0]))
        rig.wrench.publish(wrench(LONG))
        rig.ros.spin(0.3)
    rig.ros.spin(1.5)
    reports = rig.ros.diagnostics[since:]
    assert reports
    for status in reports:
        texts = [status.name, status.message, status.hardware_id]
        texts += [t for v in status.values for t in (v.key, v.value)]
        assert all(len(word) <= 120 for t in texts for word in t.split()), status.name
        assert not any('()' in t for t in texts)
    assert all(len(line) < 1500 for line in rig.process.output().splitlines())


def test_repeated_bad_messages_give_few_lines_in_the_log(rig):
    bad = [
        joint_state(['wing'], effort=[0.0]),
        joint_state(NAMES, effort=[0.0]),
        joint_state(NAMES, effort=[math.inf, 0.0]),
        joint_state(),
        *(joint_state([f'wing_{k}', 'elbow'], effort=[math.nan, math.nan]) for k in range(100)),
    ]
    lines = len(rig.process.output().splitlines())
    with Repeat(rig.by_name, bad, 1000.0) as flood, Repeat(rig.wrench, [wrench('wing')], 1000.0):
        rig.ros.until(lambda: flood.sent > 1500, 'the flood')
    # Seven kinds of problems, each at most every 5 s.
    assert len(rig.process.output().splitlines()) - lines <= 20
