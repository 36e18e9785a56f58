# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Input of states: acceptance, rejection and reports, in Python and in compiled code."""

from functools import partial

import numpy as np
import pytest
from support import outside
from support.arms import without_limits

outside.load('rclpy')

from rbd_ros import Robot
from rbd_ros.lookup.resources import resource_path
from rbd_ros.nodes.torque.compiled_state import check_message
from rbd_ros.nodes.torque.state_input import StateInput
from rbd_ros.wire import JointStateWriter

STEPS = 1500
PERIOD = 1_000_000  # [ns]


class Notes:
    """Diagnostics that only remember."""

    def __init__(self):
        self.reports = []

    def event(self, subject, level, message, code=None):
        self.reports.append((subject, level, message, code))

    condition = event


@pytest.fixture(scope='module')
def arm():
    return Robot.from_urdf(resource_path('urdf', 'six_axis_arm.urdf'))


@pytest.fixture(scope='module')
def turning_arm():
    return without_limits('six_axis_arm')


class Stream:
    """Messages of one robot: mostly the next state, sometimes invalid ones."""

    def __init__(self, arm, rng, wraps=False):
        self._rng, self._names, self._wraps = rng, arm.joint_names, wraps
        self._q, self._v = np.zeros(arm.nv), np.zeros(arm.nv)
        self._stamp, self.now = 5 * 10**9, 0.0
        self._oddities = [
            self._nothing, self._nothing, self._nothing, self._number, self._jump, self._stamps,
            self._part, self._without_velocity, self._order, self._pause, self._unstamped,
        ]  # fmt: skip

    def next(self):
        """Return the serialized message, and the time at which it comes."""
        rng, n = self._rng, len(self._names)
        self._v = 0.99 * self._v + 0.05 * rng.normal(size=n)
        self._q = 0.999 * self._q + 1e-3 * self._v
        self._stamp += PERIOD
        self.now += 1e-3
        message = {
            'names': list(self._names), 'position': self._shown(), 'velocity': self._v.copy(),
            'stamp': self._stamp,
        }  # fmt: skip
        if rng.random() < 0.1:
            rng.choice(self._oddities)(message)
        fields = [f for f in ('position', 'velocity') if message[f] is not None]
        writer = JointStateWriter(message['names'], fields)
        for field in fields:
            getattr(writer, field)[:] = message[field]
        writer.set_stamp_ns(message['stamp'])
        return writer.data(), self.now

    def _nothing(self, message):
        pass

    def _number(self, message):
        field = self._rng.choice(['position', 'velocity'])
        j = self._rng.integers(len(self._names))
        message[field][j] = self._rng.choice([np.nan, np.inf, -np.inf, 1e300, 50.0, -4.0, 1e5])

    def _shown(self):
        """Return the positions as the publisher gives them.

        Within +-pi, all near there, if it wraps.
        """
        return np.mod(self._q, 2.0 * np.pi) - np.pi if self._wraps else self._q.copy()

    def _jump(self, message):
        self._q = self._q + 0.1 * self._rng.normal(size=len(self._q))
        message['position'] = self._shown()

    def _stamps(self, message):
        message['stamp'] += int(self._rng.choice([-PERIOD, -5 * 10**9, 10**9, -1, 1, 10**12]))
        if self._rng.random() < 0.3:
            self._stamp = message['stamp']

    def _part(self, message):
        keep = sorted(self._rng.permutation(len(self._names))[: self._rng.integers(1, 6)])
        message['names'] = [message['names'][k] for k in keep]
        for field in ('position', 'velocity'):
            message[field] = message[field][keep]

    def _without_velocity(self, message):
        message['velocity'] = None

    def _order(self, message):
        for field in ('names', 'position', 'velocity'):
            message[field] = message[field][::-1]

    def _pause(self, message):
        self.now += 0.5

    def _unstamped(self, message):
        message['stamp'] = 0


def interpreted(states, new_source, names):
    """Return a source whose messages are checked in the interpreter."""
    source = new_source(names)
    source.check = partial(check_message.function, source.memory, states._memory)
    return source


@pytest.mark.parametrize('wraps', [False, True])
@pytest.mark.parametrize('publishers', [1, 2])
@pytest.mark.parametrize('seed', range(3))
def test_compiled_code_and_the_interpreter_accept_the_same_states(
    arm, turning_arm, seed, publishers, wraps
):
    arm = turning_arm if wraps else arm

    class Subscription:
        topic_name = 'joint_states'

        def get_publisher_count(self):
            return publishers

    stream = Stream(arm, np.random.default_rng(seed), wraps)
    inputs = [StateInput(arm, Notes(), 0.1, margin=1.0) for _ in range(2)]
    compiled, python = inputs
    python._compile_decoder = lambda *message: None
    python._new_source = partial(interpreted, python, python._new_source)
    for each in inputs:
        each.attach(Subscription())
    used = 0
    for _ in range(STEPS):
        data, now = stream.next()
        first, second = (each.update(data, now) for each in inputs)
        assert (first is None) == (second is None)
        for one, other in ((first, second), (compiled.last, python.last)):
            if one is not None:
                np.testing.assert_array_equal(one.q, other.q)
                np.testing.assert_array_equal(one.v, other.v)
                for name in ('stamp', 'time', 'dt', 'restarted'):
                    assert getattr(one, name) == getattr(other, name)
        used += first is not None
        assert compiled.rejected == python.rejected
    assert compiled._diagnostics.reports == python._diagnostics.reports
    taken = compiled.messages - compiled._read
    assert STEPS / 3 < taken < STEPS and STEPS / 20 < used < STEPS, (
        'there are all kinds of messages'
    )
    assert python._read == STEPS


# -- joints without limits, whose positions wrap ------------------------------------------------

TURN = 2.0 * np.pi


def wrapped(q):
    return (q + np.pi) % TURN - np.pi


class Turntable:
    """Input of a robot with a continuous hinge and a limited one.

    :param velocity: velocity limits of both [rad/s]; None: there are none
    :param publishers: how many publishers there are
    """

    def __init__(self, velocity=3.0, publishers=1):
        limit = '' if velocity is None else f'velocity="{velocity}"'
        links = ''.join(
            f'<link name="{name}"><inertial><origin xyz="0.2 0 0"/><mass value="1"/><inertia '
            'ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>'
            for name in ('arm', 'hand')
        )
        self.robot = Robot.from_urdf(
            f'<robot name="turntable"><link name="base"/>{links}'
            '<joint name="turn" type="continuous"><parent link="base"/><child link="arm"/>'
            f'<axis xyz="0 0 1"/><limit effort="50" {limit}/></joint>'
            '<joint name="bend" type="revolute"><parent link="arm"/><child link="hand"/>'
            f'<axis xyz="0 1 0"/><limit lower="-9" upper="9" effort="50" {limit}/></joint></robot>'
        )
        self.notes = Notes()
        self.input = StateInput(self.robot, self.notes, 0.1, margin=1.0)
        self.input.attach(self)
        self._publishers, self.time = publishers, 5.0

    topic_name = 'joint_states'

    def get_publisher_count(self):
        return self._publishers

    def send(self, turn, bend=0.0, velocity=None, dt=0.005, names=('turn', 'bend'), stamped=True):
        """Return the state of the input after one more message, or None."""
        self.time += dt
        fields = ['position'] + ['velocity'] * (velocity is not None)
        writer = JointStateWriter(names, fields)
        writer.position[:] = [{'turn': turn, 'bend': bend}[name] for name in names]
        if velocity is not None:
            writer.velocity[:] = velocity
        writer.set_stamp_ns(round(self.time * 1e9) if stamped else 0)
        return self.input.update(writer.data(), self.time)


@pytest.mark.parametrize('rate', [0.5, -0.5, 2.9])
def test_an_estimated_velocity_does_not_see_the_wrap(rate):
    """With it, the speed is that of the joint to the rounding of pi, as without."""
    table, plain = Turntable(), Turntable()
    for k in range(400):
        q = np.sign(rate) * 2.9 + rate * 0.005 * k
        v, expected = table.send(wrapped(q)).v[0], plain.send(q).v[0]
        assert v == pytest.approx(expected, abs=1e-11)
    assert v == pytest.approx(rate, rel=1e-6)


def test_an_estimated_velocity_does_not_see_the_wrap_after_many_turns():
    table = Turntable()
    for k in range(400):
        # One publisher counts turns, the same one wraps from then on (its encoder restarted).
        q = 9e5 + 2.0 * 0.005 * k
        state = table.send(q if k < 200 else wrapped(q))
        assert k < 30 or state.v[0] == pytest.approx(2.0, rel=1e-6)


def test_joints_with_limits_do_not_wrap():
    """Two positions a turn apart are different places for them."""
    table = Turntable()
    assert table.send(0.0, bend=3.1) is not None
    assert table.send(0.0, bend=3.1 - TURN) is None
    assert (
        table.notes.reports[-1][-1] == 'position jumped' and "'bend'" in table.notes.reports[-1][2]
    )


@pytest.mark.parametrize('stamped', [True, False])
@pytest.mark.parametrize('velocity', [None, (0.5, 0.0)])
@pytest.mark.parametrize('joint', [0, 1])
def test_a_jump_that_no_velocity_explains_is_rejected(joint, velocity, stamped):
    table = Turntable()
    q = np.array([3.0, 0.3])
    for _ in range(50):
        q[0] += 0.0025
        before = table.send(wrapped(q[0]), q[1], velocity, stamped=stamped)
    v = before.v.copy()
    wrong = q.copy()
    wrong[joint] += 0.7  # at 3 rad/s, 0.5 + 4 * 3 * 0.005 rad are allowed
    assert table.send(wrapped(wrong[0]), wrong[1], velocity, stamped=stamped) is None
    assert table.input.rejected == 1
    subject, _, text, code = table.notes.reports[-1]
    assert code == 'position jumped' and subject == 'joint_states'
    assert repr(('turn', 'bend')[joint]) in text and 'check its encoder' in text
    # The next good one is taken as if nothing had been.
    q[0] += 0.005
    state = table.send(wrapped(q[0]), q[1], velocity, stamped=stamped)
    assert state is not None and state.v == pytest.approx(v, abs=1e-3)


def test_smaller_jumps_and_fast_joints_are_taken():
    table = Turntable()
    assert table.send(0.0, 0.0) is not None
    assert table.send(0.45, -0.45) is not None  # within what any sensor may do
    assert table.send(0.45 + 4.0 * 3.0 * 0.2 + 0.4, -0.45, dt=0.2) is not None  # time explains it
    unlimited = Turntable(velocity=None)
    assert unlimited.send(0.0, 0.0) is not None
    assert unlimited.send(2.0, 0.0) is not None  # without a velocity limit
    assert unlimited.send(2.0, 0.0, velocity=(0.1, 0.0)) is not None
    assert unlimited.send(4.0, 0.0, velocity=(0.1, 0.0)) is None  # unless it is measured
    assert unlimited.send(2.0, 0.0, velocity=(0.1, 0.0)) is not None


def test_states_that_agree_with_each_other_are_where_the_robot_is():
    """A simulation that was reset, or a robot whose states had been wrong before."""
    table = Turntable()
    for _ in range(5):
        table.send(0.0, 0.0)
    assert table.send(0.0, 2.0) is None
    assert table.send(0.0, 2.001) is None
    state = table.send(0.0, 2.002)
    assert state.q == pytest.approx([0.0, 2.002]) and state.dt == 0.0
    assert state.v == pytest.approx([0.0, 0.0])  # it did not move there
    assert table.notes.reports[-1][-1] == 'put elsewhere'
    assert table.send(0.0, 2.003).v[1] == pytest.approx(0.1, abs=0.11)


def test_garbage_that_does_not_agree_with_itself_is_never_taken():
    table, rng = Turntable(), np.random.default_rng(0)
    table.send(0.0, 0.0)
    for k in range(60):
        side = (-1) ** k
        assert table.send(0.0, side * rng.uniform(2.0, 8.0), dt=0.001) is None


def test_any_position_is_accepted_after_time_restarts():
    table = Turntable()
    for _ in range(3):
        table.send(0.0, 0.0)
    table.time = 1.0
    assert [table.send(0.0, 5.0) for _ in range(2)] == [None, None]
    assert table.send(0.0, 5.0).restarted
    state = table.send(0.0, 5.0)
    assert not state.restarted and state.q[1] == 5.0


def test_publishers_one_turn_apart_do_not_conflict():
    """One of them counts turns of the joint that has no limits."""
    table = Turntable(publishers=2)
    for k in range(20):
        q = 3.1 + 0.01 * k
        assert table.send(q, velocity=(2.0, 0.0)) is not None
        assert table.send(wrapped(q), names=('bend', 'turn'), velocity=(0.0, 2.0)) is not None
    assert table.input.rejected == 0
