# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""All nodes under a flood of seeded random messages and requests, over DDS.

Each topic that a node listens to gets 100 000 messages (--fuzz-messages), nine of ten of them
hostile, all nodes and topics at the same time: see fuzz_messages.py. With the nodes' quality of
service most would be dropped, so it is overridden: reliable, with long queues that never fill. The
nodes count received messages, except those of /clock, whose quality of service is rclpy's.
Requests are fewer, `REQUESTS` for each service, as each is a round trip, and 100 000 would take
minutes; so are descriptions of the robot.

Failures are reproduced by the same --fuzz-seed and --fuzz-messages.
"""

import collections
import re
import signal

import numpy as np
import pytest
from support import outside

outside.load('rclpy')

from diagnostic_msgs.msg import DiagnosticArray
from fuzz_harness import (
    Afterwards,
    Companion,
    DEPTH,
    Flood,
    Listener,
    Outputs,
    queue_overrides,
    Requester,
    resident,
    Sender,
)
import fuzz_messages
from fuzz_messages import (
    NAMES,
    packed_bodies,
    packed_joint_state,
    packed_multi_array,
    position_of,
)
from fuzz_requests import ParameterRequests, PAUSES, verbs
from geometry_msgs.msg import WrenchStamped
from node_harness import (
    gravity_torque,
    joint_state,
    LIMITS,
    reliable,
    TWO_LINK_ARM,
)
from rcl_interfaces.srv import SetParameters
import rclpy
from rclpy.duration import Duration
from rclpy.parameter import parameter_value_to_python
from rclpy.serialization import deserialize_message, serialize_message
from rosgraph_msgs.msg import Clock
from safety_harness import gravity_of
from sensor_msgs.msg import JointState, MultiDOFJointState
from std_msgs.msg import Float64MultiArray, String
from std_srvs.srv import SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory

from rbd_ros import Robot
from rbd_ros.nodes import gravity_compensation, inverse_dynamics, simulator

pytestmark = pytest.mark.slow

REQUESTS = 0.01  # requests for each service, and descriptions, as a part of the messages
SHARE_TAKEN = 0.99  # of the messages that were sent
MAX_LINES = 300  # of a log, besides those allowed by its duration
MAX_LINES_A_SECOND = 1.0  # each matter is logged once in some seconds at most
MAX_GROWTH = 60e6  # of resident memory between a quarter of the flood and its end [bytes]
OWN_LINE = re.compile(r'\[(?:DEBUG|INFO|WARN|ERROR|FATAL)\] \[([0-9.]+)\]')
LIMIT = np.array([*LIMITS.values()]) + 1e-9
START = (0.4, -0.9)
POSE = (0.3, -1.1)


class Target:
    """A node under attack in a separate namespace.

    :param flood: what all targets share
    :param module: which node
    :param parameters: of the node
    :param topics: topics whose queues are made long
    """

    def __init__(self, flood, module, interface, parameters, topics):
        self.flood, self.ros, self.module = flood, flood.ros, module
        self.interface, self.started_with = interface, parameters
        self.namespace = f'/{module}'
        self.name = f'{self.namespace}/{module}'
        self.process = self.ros.start(
            module,
            {
                **parameters,
                **queue_overrides(*(f'{self.namespace}/{topic}' for topic in topics)),
            },
            ('-r', f'__ns:={self.namespace}', '-r', f'/clock:={self.namespace}/clock'),
        )
        self.senders, self.requesters, self.outputs = [], [], []
        self.values = {}  # numbers of the diagnostics by subject and key, the newest
        self.reported = collections.defaultdict(set)  # codes of events, by subject
        self.memory = []
        self.parameters = ParameterRequests(interface, flood.seed, parameters)

    def alive(self):
        return self.process.alive()

    # -- sent and received messages
    # -------------------------------------------------------------------

    def sender(self, kind, topic, stream, taken):
        publisher = self._publisher(kind, topic)
        self.senders.append(Sender(publisher, stream, self.flood.count, taken))
        return self.senders[-1]

    def companion(self, kind, topic, stream, count, qos=None):
        publisher = self._publisher(kind, topic, qos)
        self.senders.append(Companion(publisher, stream, count, self.senders[0]))

    def _publisher(self, kind, topic, qos=None):
        qos = qos or reliable(DEPTH)
        return self.ros.publisher(kind, f'{self.namespace}/{topic}', qos)

    def requester(self, kind, verb, request, check, leader=None, together=1):
        client = self.ros.client(kind, f'{self.name}/{verb}')
        count = round(REQUESTS * self.flood.count)
        leader = leader or self.senders[0]
        self.requesters.append(Requester(client, request, check, count, leader, together))

    def output(self, kind, topic, example, largest, also=lambda stamp, values: None):
        stamped = kind in (JointState, MultiDOFJointState)
        out = Outputs(f'{self.module} {topic}', example, largest, stamped)
        out.answers = self.senders[0].stream
        out.suspects = lambda: '; '.join(sender.described() for sender in self.senders)
        self.outputs.append(out)

        self.flood.listen(kind, f'{self.namespace}/{topic}', lambda data: also(*out.check(data)))

    def value(self, key):
        """Return a number from the diagnostics of torque or simulation; 0 while there is none."""
        return self.values.get(key, 0.0)

    # -- during the flood
    # ------------------------------------------------------------------------------

    @property
    def sent_all(self):
        return all(sender.done for sender in self.senders)

    @property
    def taken_all(self):
        taken = all(sender.taken >= sender.sent for sender in self.senders)
        return self.sent_all and taken and all(each.done for each in self.requesters)

    def note(self, status):
        subject = status.name.partition(': ')[2]
        for pair in status.values:
            if pair.key.startswith('count: '):
                self.reported[subject].add(pair.key.removeprefix('count: '))
            else:
                self.values[pair.key] = float(pair.value)

    def look(self):
        if self.senders[0].sent * 4 >= self.senders[0].count * (len(self.memory) + 1):
            self.memory.append(resident(self.process.process))

    # -- when it is over --------------------------------------------------------------------------

    def settle(self):
        self.memory.append(resident(self.process.process))

    def call(self, kind, verb, request):
        return self.ros.call(kind, f'{self.name}/{verb}', request)


class Attack(Flood):
    """Three nodes, messages to them, and their reports."""

    def __init__(self, ros, count, seed):
        self.ros, self.count, self.seed = ros, count, seed
        self._ear = rclpy.create_node('ear', context=ros.context)
        self._spoken = []
        self.answered = set()  # numbers of legal states
        self._joint_states = fuzz_messages.joint_states(seed)
        super().__init__([], [])
        self.targets = {
            'gravity_compensation': self._gravity_compensation(),
            'inverse_dynamics': self._inverse_dynamics(),
            'simulator': self._simulator(),
        }
        self._rigs.extend(self.targets.values())
        self.listen(DiagnosticArray, '/diagnostics', self._on_diagnostics)

    def listen(self, kind, topic, use):
        subscription = self._ear.create_subscription(
            kind, topic, lambda message: None, reliable(DEPTH), raw=True
        )
        self._listeners.append(Listener(subscription, use))

    def _on_diagnostics(self, data):
        message = deserialize_message(data, DiagnosticArray)
        for status in message.status:
            target = self.targets.get(status.name.partition('/')[0])
            if target is not None:
                target.note(status)

    def close(self):
        self._ear.destroy_node()

    # -- the nodes --------------------------------------------------------------------------------

    def _gravity_compensation(self):
        """Return the node that gets its robot from the topic, where others follow."""
        target = Target(
            self,
            'gravity_compensation',
            gravity_compensation.INTERFACE,
            {'use_sim_time': True},
            ('joint_states', 'robot_description'),
        )
        description = target._publisher(
            String, 'robot_description', reliable(1, transient_local=True)
        )
        description.publish(String(data=TWO_LINK_ARM))
        self._torque_topics(target, self._check_gravity)
        stream = fuzz_messages.descriptions(self.seed, TWO_LINK_ARM)
        count = round(REQUESTS * self.count)
        target.senders.append(Companion(description, stream, count, target.senders[0]))
        return target

    def _inverse_dynamics(self):
        target = Target(
            self,
            'inverse_dynamics',
            inverse_dynamics.INTERFACE,
            {
                'robot_description': TWO_LINK_ARM,
                'use_sim_time': True,
                # Where the robot should be depends on what was taken when: all must be near it.
                'start_tolerance': 0.0,
                'state_loss_policy': 'hold',
            },
            ('joint_states', 'joint_trajectory'),
        )
        self._torque_topics(target)
        target.sender(
            JointTrajectory,
            'joint_trajectory',
            fuzz_messages.joint_trajectories(self.seed),
            lambda: target.value('trajectories_received'),
        )
        for topic, largest in (
            ('desired_state', (None, None, LIMIT)),
            ('tracking_error', (None, None)),
        ):
            example = packed_joint_state(NAMES, [2] * len(largest))
            target.output(JointState, f'{target.module}/{topic}', example, largest)
        return target

    def _torque_topics(self, target, also=lambda stamp, values: None):
        target.sender(
            JointState,
            'joint_states',
            self._joint_states,
            lambda: target.value('states_received'),
        )
        target.companion(Clock, 'clock', fuzz_messages.clocks(self.seed), self.count)
        example = packed_joint_state(NAMES, (0, 0, 2))
        target.output(JointState, 'joint_commands', example, [LIMIT], also)
        example = packed_multi_array((0.0, 0.0))
        target.output(Float64MultiArray, 'effort_commands', example, [LIMIT])
        self._parameter_requests(target)

    def _parameter_requests(self, target):
        target.requester(
            SetParameters, 'set_parameters', target.parameters, target.parameters.check
        )

    def _check_gravity(self, stamp, effort):
        """Check what answers a legal state is its gravity torque."""
        number = fuzz_messages.number_of(stamp)
        if number is None or number < 0 or not fuzz_messages.is_legal(number):
            return
        self.answered.add(number)
        owed = gravity_of(position_of(number))
        if not np.abs(np.array(effort) - owed).max() < 1e-9:
            self.targets['gravity_compensation'].outputs[0].violated(
                divmod(stamp, 10**9), f'{effort} answers a state to which {owed} are owed'
            )

    def _simulator(self):
        world = self.ros.folder / 'fuzz_world.yaml'
        world.write_text(fuzz_messages.WORLD)
        target = Target(
            self,
            'simulator',
            simulator.INTERFACE,
            {
                'world': str(world),
                'robot_description': TWO_LINK_ARM,
                'initial_positions': list(START),
                'real_time_factor': 0.2,  # each cycle takes what has come, however rare cycles are
            },
            ('joint_commands', 'effort_commands', 'external_wrench'),
        )
        by_name = target.sender(
            JointState, 'joint_commands', fuzz_messages.joint_commands(self.seed), None
        )
        by_order = target.sender(
            Float64MultiArray, 'effort_commands', fuzz_messages.effort_commands(self.seed), None
        )
        target.sender(
            WrenchStamped,
            'external_wrench',
            fuzz_messages.external_wrenches(self.seed),
            lambda: target.value('wrenches_accepted') + target.value('wrenches_rejected'),
        )

        def commands():
            return target.value('commands_accepted') + target.value('commands_rejected')

        # Both are counted together, and taken in turns: half of what is missing of each.
        by_name._taken = lambda: by_name.sent - (by_name.sent + by_order.sent - commands()) / 2
        by_order._taken = lambda: by_order.sent - (by_name.sent + by_order.sent - commands()) / 2
        example = packed_joint_state(NAMES, (2, 2, 2))
        target.output(JointState, 'joint_states', example, (None, None, LIMIT))
        objects = packed_bodies('base', fuzz_messages.OBJECTS)
        target.output(MultiDOFJointState, 'simulator/object_states', objects, (None,) * 3)
        self._parameter_requests(target)
        # A reset forgets commands that wait to be taken: no resets while they are counted.
        afterwards = Afterwards(list(target.senders), SHARE_TAKEN)
        # Time does not stand still for long: nothing is taken meanwhile.
        for kind, verb, leader, together in (
            (SetBool, 'pause', None, PAUSES),
            (Trigger, 'step', None, 1),
            (Trigger, 'reset', afterwards, 1),
        ):
            target.requester(
                kind, verb, lambda n, v=verb: verbs(n)[v], lambda *answer: None, leader, together
            )
        return target


@pytest.fixture(scope='module')
def attack(ros, request):
    """Yield the whole flood; the tests check the state after it."""
    attack = Attack(
        ros, request.config.getoption('--fuzz-messages'), request.config.getoption('--fuzz-seed')
    )
    attack.run()
    yield attack
    attack.close()


@pytest.fixture(params=['gravity_compensation', 'inverse_dynamics', 'simulator'])
def target(attack, request):
    return attack.targets[request.param]


def of_simulator(attack):
    return attack.targets['simulator']


# -- what came out --------------------------------------------------------------------------------


def test_all_that_came_out_was_finite_within_limits_and_whole(target):
    for out in target.outputs:
        assert not out.violations, '\n'.join(out.violations)


def test_nearly_all_that_was_sent_was_taken(target):
    assert target.alive(), [sender.described() for sender in target.senders]
    for sender in target.senders:
        assert sender.sent == sender.count
        assert sender.taken >= SHARE_TAKEN * sender.sent, sender.described()


def test_every_request_was_answered_and_illegal_ones_were_rejected(target):
    for requester in target.requesters:
        assert requester.answered == requester.sent == requester.count
    assert not target.parameters.problems


def test_torque_went_on_for_the_legal_states_in_between(attack):
    """Two of five that follow each other are lost if a time far ahead came before them."""
    legal = sum(map(fuzz_messages.is_legal, range(attack.count)))
    assert len(attack.answered) >= 0.6 * legal


def test_trajectories_and_commands_went_on_in_between(attack):
    legal = sum(map(fuzz_messages.is_legal, range(attack.count)))
    motion = attack.targets['inverse_dynamics']
    rejected = motion.value('trajectories_rejected')
    assert motion.value('trajectories_received') - rejected > 0.3 * legal
    simulated = of_simulator(attack)
    assert simulated.value('commands_accepted') > 2 * legal
    assert simulated.value('wrenches_accepted') > legal


# -- after the flood
# ---------------------------------------------------------------------------------


def test_diagnostics_report_rejected_messages(target):
    reported = {
        'gravity_compensation': {
            'joint_states': {'not finite', 'truncated', 'name given twice', 'time backwards'},
            'robot_description': {'different description ignored'},
        },
        'inverse_dynamics': {
            'joint_states': {'not finite', 'truncated', 'name given twice', 'time backwards'},
            'trajectory': {'truncated', 'not plain CDR', 'trajectory has wrong lengths'},
        },
        'simulator': {
            'commands': {'not finite', 'too large', 'truncated', 'wrong length'},
            'external_wrench': {'not finite', 'too large', 'unknown link'},
        },
    }[target.module]
    for subject, codes in reported.items():
        assert codes <= target.reported[subject]
    if target.module != 'simulator':
        assert target.value('states_rejected') > 0.2 * target.senders[0].sent


def test_memory_does_not_grow_without_bound(target):
    assert max(target.memory) - target.memory[0] < MAX_GROWTH, target.memory


def test_the_log_stays_short(target):
    """Lines of the node; the middleware reports illegible messages on standard error itself."""
    lines = [line for line in target.process.output().splitlines() if OWN_LINE.match(line)]
    stamps = [float(OWN_LINE.match(line)[1]) for line in lines]
    seconds = stamps[-1] - stamps[0]
    assert len(lines) < MAX_LINES + MAX_LINES_A_SECOND * seconds, '\n'.join(lines[-50:])
    assert max(map(len, lines)) < 2500
    assert 'Traceback' not in target.process.output()


# -- and then? ------------------------------------------------------------------------------------


def usual_time(target):
    """Let simulated time be the present one again, as far as the node listens to it."""
    publisher = target.ros.publisher(Clock, f'{target.namespace}/clock')
    message = Clock()
    message.clock.sec = fuzz_messages.BASE + 10_000
    for _ in range(3):
        publisher.publish(message)
        target.ros.spin(0.05)


class Answers:
    """Asks a torque node for torques, by states that are newer than all before."""

    def __init__(self, target):
        self._ros, self._states = target.ros, target.senders[0].publisher
        self._heard = target.ros.listen(JointState, f'{target.namespace}/joint_commands')
        self._number = 10 * target.senders[0].count

    def __call__(self, position, velocity=(0.0, 0.0)):
        """Return the torque of a state, (2,)."""
        efforts = []

        def found():
            self._number += 1
            message = joint_state(NAMES, position, velocity)
            stamp = divmod(fuzz_messages.stamp_of(self._number), 10**9)
            message.header.stamp.sec, message.header.stamp.nanosec = stamp
            self._states.publish(serialize_message(message))
            seen = len(self._heard)
            self._ros.spin(0.05)
            efforts.extend(m.effort for m in self._heard[seen:] if _stamp(m) == stamp)
            return efforts

        self._ros.until(found, 'the torque of a state')
        return np.array(efforts[0])


def _stamp(message):
    return message.header.stamp.sec, message.header.stamp.nanosec


@pytest.mark.parametrize('module', ['gravity_compensation', 'inverse_dynamics'])
def test_afterwards_a_legal_state_has_the_torque_that_is_owed(attack, module):
    """States have been absent, so inverse dynamics holds what it measures first."""
    target = attack.targets[module]
    usual_time(target)
    answer = Answers(target)
    robot = Robot.from_urdf(TWO_LINK_ARM)
    for _ in range(5):  # an older time line is believed in when there are three in order
        first = answer(POSE)
    assert first == pytest.approx(robot.gravity_torque(np.array(POSE)), rel=1e-9)
    assert first == pytest.approx(list(gravity_torque(POSE).values()))
    if module == 'gravity_compensation':
        rng = np.random.default_rng(3)
        for q in rng.uniform(-2.4, 2.4, (5, 2)):
            owed = robot.gravity_torque(q)
            assert answer(q) == pytest.approx(owed, rel=1e-9, abs=1e-9)


def test_afterwards_parameters_are_those_of_the_start(target):
    interface = target.interface
    names = [p.name for p in interface.parameters if p.live]
    values = target.ros.get_parameters(target.name, names)
    for name, value in zip(names, values):
        default = target.started_with.get(name, interface.defaults[name])
        given = parameter_value_to_python(value)
        assert (list(given or ()) if isinstance(default, tuple) else given) == (
            list(default) if isinstance(default, tuple) else default
        )


def test_afterwards_the_simulated_robot_obeys(attack):
    target = of_simulator(attack)
    ros, robot = attack.ros, Robot.from_urdf(TWO_LINK_ARM)
    assert target.call(SetBool, 'pause', SetBool.Request(data=True)).success
    assert target.call(Trigger, 'reset', Trigger.Request()).success
    states = ros.listen(JointState, f'{target.namespace}/joint_states', reliable(1))
    ros.until(lambda: states, 'a state')
    assert list(states[-1].position) == list(START)
    effort = [12.0, -5.0]
    by_order = target.senders[1].publisher
    by_order.publish(serialize_message(Float64MultiArray(data=effort)))
    assert by_order.wait_for_all_acked(Duration(seconds=60.0))
    assert target.call(Trigger, 'step', Trigger.Request()).success
    ros.until(lambda: any(states[-1].velocity), 'a state that moves')
    expected = 1e-3 * robot.forward_dynamics(np.array(START), np.zeros(2), np.array(effort))
    assert list(states[-1].velocity) == pytest.approx(expected, rel=1e-6)
    assert list(states[-1].effort) == effort


def test_afterwards_a_signal_ends_it(target):
    """Last of all."""
    assert target.process.stop(signal.SIGINT) == 0
    target.ros.processes.remove(target.process)
    assert 'Traceback' not in target.process.output()
