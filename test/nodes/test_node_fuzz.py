"""All nodes under a flood of messages and requests that follow from a seed, over DDS.

Each topic that a node listens to gets 100 000 messages (--fuzz-messages), nine of ten of them
hostile, all nodes and topics at the same time: see fuzz_messages.py. The nodes' own quality of
service would let most of them drop, so it is overridden: reliable, with long queues that are never
filled. What was taken is counted by the nodes themselves; of /clock, whose quality of service is
rclpy's, nobody counts. Of requests there are fewer, `REQUESTS` for each service: each is a round
trip, and 100 000 of them alone would take minutes. So it is with descriptions of the robot.

Whatever failed is sent again by the same --fuzz-seed and --fuzz-messages.
"""

import collections
import itertools
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
    Typed,
)
import fuzz_messages
from fuzz_messages import NAMES, position_of
from fuzz_requests import ParameterRequests, verbs
from geometry_msgs.msg import WrenchStamped
from node_harness import (
    gravity_torque,
    joint_state,
    LIMITS,
    reliable,
    START_LIMIT,
    TWO_LINK_ARM,
)
from rcl_interfaces.srv import SetParameters
import rclpy
from rclpy.serialization import serialize_message
from rosgraph_msgs.msg import Clock
from safety_harness import gravity_of
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from std_srvs.srv import SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory

from rbd_ros import Robot
from rbd_ros.nodes import gravity_compensation, inverse_dynamics, simulator

pytestmark = pytest.mark.slow

REQUESTS = 0.03  # requests for each service, and descriptions, as a part of the messages
SHARE_TAKEN = 0.99  # of the messages that were sent
MOST_LINES = 300  # of a log; nothing is said more than once in some seconds
MOST_GROWTH = 60e6  # of resident memory between a quarter of the flood and its end [bytes]
LIMIT = np.array([*LIMITS.values()]) + 1e-9
START = (0.4, -0.9)
POSE = (0.3, -1.1)


class Target:
    """A node under attack in a namespace of its own.

    :param flood: what all targets share
    :param module: which node
    :param parameters: of the node
    :param topics: topics whose queues are made long
    """

    def __init__(self, flood, module, interface, parameters, topics):
        self.flood, self.ros, self.module = flood, flood.ros, module
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
        self.status = {}  # the newest of each subject
        self.told = collections.defaultdict(set)  # codes of events, by subject
        self.memory = []
        self.parameters = ParameterRequests(interface, flood.seed)

    def alive(self):
        return self.process.alive()

    # -- what is sent and heard -------------------------------------------------------------------

    def sender(self, kind, topic, stream, taken, make=Sender):
        publisher = self._publisher(kind, topic)
        self.senders.append(make(publisher, stream, self.flood.count, taken))
        return self.senders[-1]

    def companion(self, kind, topic, stream, count, qos=None):
        publisher = self._publisher(kind, topic, qos)
        self.senders.append(Companion(publisher, stream, count, self.senders[0]))

    def _publisher(self, kind, topic, qos=None):
        qos = qos or reliable(DEPTH)
        return self.ros.publisher(kind, f'{self.namespace}/{topic}', qos)

    def requester(self, kind, verb, request, check, leader=None):
        client = self.ros.node.create_client(kind, f'{self.name}/{verb}')
        self.ros.until(client.service_is_ready, f'service {verb}')
        count = round(REQUESTS * self.flood.count)
        self.requesters.append(Requester(client, request, check, count, leader or self.senders[0]))

    def output(self, kind, topic, fields, names=NAMES, also=lambda message: None):
        out = Outputs(f'{self.module} {topic}', fields, len(NAMES), names)
        out.suspects = lambda: '; '.join(sender.told() for sender in self.senders)
        self.outputs.append(out)

        def use(message):
            out.check(message)
            also(message)

        self.flood.listen(kind, f'{self.namespace}/{topic}', use)
        return out

    def value(self, subject, key):
        """A number from the diagnostics; 0 while there is none."""
        status = self.status.get(subject)
        values = status.values if status is not None else ()
        return next((float(v.value) for v in values if v.key == key), 0.0)

    # -- while it goes on -------------------------------------------------------------------------

    @property
    def sent_all(self):
        return all(sender.done for sender in self.senders)

    @property
    def taken_all(self):
        taken = all(sender.taken >= sender.sent for sender in self.senders)
        return self.sent_all and taken and all(each.done for each in self.requesters)

    def note(self, status):
        subject = status.name.partition(': ')[2]
        self.status[subject] = status
        for pair in status.values:
            if pair.key.startswith('count: '):
                self.told[subject].add(pair.key.removeprefix('count: '))

    def look(self):
        if self.senders[0].sent * 4 >= self.senders[0].count * (len(self.memory) + 1):
            self.memory.append(resident(self.process.process))

    # -- when it is over --------------------------------------------------------------------------

    def settle(self):
        self.memory.append(resident(self.process.process))

    def call(self, kind, verb, request):
        return self.ros.call(kind, f'{self.name}/{verb}', request)


class Attack(Flood):
    """Three nodes, what is sent to them, and what they say."""

    def __init__(self, ros, count, seed):
        self.ros, self.count, self.seed = ros, count, seed
        self._ear = rclpy.create_node('ear', context=ros.context)
        self._spoken = []
        self.answered = set()  # numbers of legal states
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

    def _on_diagnostics(self, message):
        for status in message.status:
            target = self.targets.get(status.name.partition('/')[0])
            if target is not None:
                target.note(status)

    def close(self):
        self._ear.destroy_node()

    # -- the nodes --------------------------------------------------------------------------------

    def _gravity_compensation(self):
        """It gets its robot from the topic, where others follow."""
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
                'after_gap': 'hold',
            },
            ('joint_states', 'joint_trajectory'),
        )
        self._torque_topics(target)
        target.sender(
            JointTrajectory,
            'joint_trajectory',
            fuzz_messages.joint_trajectories(self.seed),
            lambda: target.value('torque', 'trajectories_received'),
        )
        motion = {'position': None, 'velocity': None}
        node = target.module
        target.output(JointState, f'{node}/desired_state', {**motion, 'effort': LIMIT})
        target.output(JointState, f'{node}/tracking_error', motion)
        return target

    def _torque_topics(self, target, also=lambda message: None):
        target.sender(
            JointState,
            'joint_states',
            fuzz_messages.joint_states(self.seed, f'joint_states of {target.module}'),
            lambda: target.value('torque', 'states_received'),
        )
        target.companion(Clock, 'clock', fuzz_messages.clocks(self.seed), self.count)
        target.output(JointState, 'joint_commands', {'effort': LIMIT}, also=also)
        target.output(Float64MultiArray, 'effort_commands', {'data': LIMIT}, names=None)
        self._parameter_requests(target)

    def _parameter_requests(self, target):
        target.requester(
            SetParameters, 'set_parameters', target.parameters, target.parameters.check
        )

    def _check_gravity(self, message):
        """What answers a legal state is its gravity torque."""
        number = fuzz_messages.number_of(
            message.header.stamp.sec * 10**9 + message.header.stamp.nanosec
        )
        if number is None or number < 0 or not fuzz_messages.is_legal(number):
            return
        self.answered.add(number)
        owed = gravity_of(position_of(number))
        if not np.abs(np.array(message.effort) - owed).max() < 1e-9:
            self.targets['gravity_compensation'].outputs[0]._violated(
                message, f'{list(message.effort)} answers a state to which {owed} are owed'
            )

    def _simulator(self):
        target = Target(
            self,
            'simulator',
            simulator.INTERFACE,
            {'robot_description': TWO_LINK_ARM, 'initial_positions': list(START)},
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
            lambda: sum(
                target.value('simulation', f'wrenches_{what}') for what in ('accepted', 'refused')
            ),
            Typed,
        )

        def commands():
            return sum(
                target.value('simulation', f'commands_{what}') for what in ('accepted', 'refused')
            )

        # Both are counted together, and taken in turns: half of what is missing of each.
        by_name._taken = lambda: by_name.sent - (by_name.sent + by_order.sent - commands()) / 2
        by_order._taken = lambda: by_order.sent - (by_name.sent + by_order.sent - commands()) / 2
        target.output(
            JointState, 'joint_states', {'position': None, 'velocity': None, 'effort': LIMIT}
        )
        self._parameter_requests(target)
        # A reset forgets commands that wait to be taken: no resets while they are counted.
        afterwards = Afterwards(list(target.senders), SHARE_TAKEN)
        for kind, verb, leader in (
            (SetBool, 'pause', None),
            (Trigger, 'step', None),
            (Trigger, 'reset', afterwards),
        ):
            target.requester(
                kind, verb, lambda n, v=verb: verbs(n)[v], lambda n, response: None, leader
            )
        return target


@pytest.fixture(scope='module')
def attack(ros, request):
    """The whole flood; the tests look at what it left behind."""
    attack = Attack(
        ros, request.config.getoption('--fuzz-messages'), request.config.getoption('--fuzz-seed')
    )
    attack.run()
    yield attack
    attack.close()


@pytest.fixture(params=['gravity_compensation', 'inverse_dynamics', 'simulator'])
def target(attack, request):
    return attack.targets[request.param]


def test_x(attack):
    print(attack.duration)
    for target in attack.targets.values():
        print(target.module, target.alive(), [s.told() for s in target.senders])
        print([(r.sent, r.answered) for r in target.requesters], target.parameters.problems)
        print([(o.name, o.violations) for o in target.outputs], target.memory)
        print(dict(target.told), len(target.process.output().splitlines()))
        for st in target.status.values(): print(st.name,st.level, st.message, [(v.key,v.value) for v in st.values])
    print(len(attack.answered), [l.heard for l in attack._listeners])
    assert 0
