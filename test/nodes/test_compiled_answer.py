# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The compiled response equals law, soft stops, limiter and messages in sequence."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from support import outside
from support.arms import load, without_limits

outside.load('rclpy')

from rbd_ros.compiler.loops import interpreted_reason
from rbd_ros.control import LawSettings, payload_parameters, TorqueLaw, TorqueLimiter, TorqueLimits
from rbd_ros.control.law.hand_guiding import GuidingSettings, HandGuiding, SHARE
from rbd_ros.control.law.soft_stops import SoftLimits, SoftStops
from rbd_ros.nodes.messages.conversions import representable
from rbd_ros.nodes.torque import commander as commander_module, torque_output as output_module
from rbd_ros.nodes.torque.commander import Commander
from rbd_ros.nodes.torque.torque_output import TorqueOutput
from rbd_ros.wire import Float64MultiArrayWriter, JointStateWriter

pytestmark = pytest.mark.skipif(
    interpreted_reason() is not None, reason='there is no machine code'
)

STEPS = 400
TURN = 2.0 * np.pi
LINK = 'tool0'
WORDS = [
    {'feedforward': a, 'feedback': b, 'friction': c}
    for a, b, c in (
        ('inverse_dynamics', 'computed_torque', 'desired'),
        ('inverse_dynamics', 'pd', 'measured'),
        ('gravity', 'damping', 'none'),
        ('none', 'none', 'measured'),
        ('gravity', 'computed_torque', 'measured'),
    )
]


class Side:
    """A law, soft stops, a limiter and messages."""

    def __init__(self, robot, settings, joints, form, payload_link, stops):
        self.sent, self.joints, self.form = [], joints, form
        self.law = TorqueLaw(robot, settings, payload_link)
        self.limiter = TorqueLimiter(settings.effort_limits)
        self.stops = SoftStops(robot, SoftLimits.for_robot(robot)) if stops else None
        self.sent_count = self.saturated = self.stopped = 0

    def memory(self):
        """Return all that the next answer depends on, and all that is shown."""
        terms = {name: values.tobytes() for name, values in self.law.terms.items()}
        limiter = self.limiter
        return [
            terms,
            self.law.integral.tobytes(),
            limiter.is_saturated,
            limiter.saturated.tolist(),
            None if limiter.last is None else limiter.last.tobytes(),
            self.counts(),
        ]


class Compiled(Side):
    """Operations of a node."""

    def __init__(self, robot, *given):
        super().__init__(robot, *given[:5])
        output = TorqueOutput(self, robot.joint_names, self.joints, self.form)
        self.commander = Commander(output, self.limiter, True, self.stops, *given[5:])
        self.commander.prepare(self.law)

    def answer(self, state, motion):
        self.sent.clear()
        try:
            applied = self.commander.answer(self.law, state, motion).tobytes()
        except FloatingPointError as error:
            applied = str(error)
        return [applied, *self.sent, *self.memory()]

    def counts(self):
        commander = self.commander
        return commander.sent, commander.saturated, commander.answers.stopped


class Parts(Side):
    """Its parts, called one by one."""

    def __init__(self, robot, *given):
        super().__init__(robot, *given)
        self.index = [robot.joint_names.index(name) for name in self.joints]
        self.by_name = JointStateWriter(self.joints, ('effort',))
        self.by_order = Float64MultiArrayWriter(len(self.joints))

    def answer(self, state, motion):
        now = commander_module.time.monotonic()
        self.sent.clear()
        try:
            torque = self.law(state.q, state.v, *motion, state.dt)
        except FloatingPointError as error:
            return [str(error), *self.memory()]
        try:
            applied = self.limited(torque, state, now)
        except FloatingPointError as error:
            return [str(error), *self.memory()]
        self.law.set_applied_torque(applied)
        self.sent_count += 1
        self.saturated += self.limiter.is_saturated
        self.by_name.effort[:] = self.by_order.values[:] = applied[self.index]
        self.by_name.set_stamp_ns(representable(state.stamp))
        messages = []
        if self.form != 'array':
            messages.append(('joint_commands', self.by_name.data()))
        if self.form != 'joint_state':
            messages.append(('effort_commands', self.by_order.data()))
        return [applied.tobytes(), *messages, *self.memory()]

    def limited(self, torque, state, now):
        if self.stops is not None:
            limits = self.limiter.limits.effort_limits
            torque = self.stops(torque, self.law.gravity_torque(state.q), state.q, state.v, limits)
            self.stopped += self.stops.acting
        return self.limiter(torque, now)

    def counts(self):
        return self.sent_count, self.saturated, self.stopped


@pytest.fixture
def clock(monkeypatch):
    clock = SimpleNamespace(now=100.0)
    monkeypatch.setattr(commander_module.time, 'monotonic', lambda: clock.now)
    monkeypatch.setattr(output_module, 'publisher', lambda node, topic: (node, topic.name))
    monkeypatch.setattr(
        output_module, 'raw', lambda made: lambda data: made[0].sent.append((made[1], data))
    )
    return clock


def vectors(rng, n, scale):
    return rng.normal(scale=scale, size=(3, n))


@pytest.mark.parametrize(
    'name, joints, form, payload_link',
    [
        ('six_axis_arm', (), 'both', LINK),
        ('six_axis_arm', ('elbow_joint', 'shoulder_pan_joint'), 'both', None),
        ('planar_3r', (), 'joint_state', None),
        ('planar_3r', (), 'array', None),
        ('six_axis_arm without limits', (), 'both', LINK),
        ('planar_3r without limits', (), 'both', None),
    ],
)
@pytest.mark.parametrize('stops', [False, True])
@pytest.mark.parametrize('seed', range(2))
def test_an_answer_is_that_of_its_parts(clock, name, joints, form, payload_link, seed, stops):
    rng = np.random.default_rng(seed)
    robot = without_limits(name.split()[0]) if 'without' in name else load(name)
    n = robot.nv
    joints = tuple(j for j in joints if j in robot.joint_names) or tuple(robot.joint_names[::-1])
    limits = np.minimum(robot.effort_limits, 1e3)

    def settings():
        kp, kd = rng.uniform(1.0, 400.0, n), rng.uniform(1.0, 40.0, n)
        return LawSettings.for_robot(
            robot,
            kp=kp,
            kd=kd,
            ki=0.1 * kp * kd * rng.integers(0, 2),
            gravity=rng.normal(scale=10.0, size=3),
            effort_limits=limits,
            payload=payload_parameters(rng.uniform(0.0, 2.0), rng.normal(scale=0.1, size=3), ())
            if payload_link
            else None,
            **WORDS[rng.integers(len(WORDS))],
        )

    first = settings()
    given = (robot, first, joints, form, payload_link, stops)
    short, long = Compiled(*given), Parts(*given)
    rejected = saturated = 0
    stamp = 10**18

    for _ in range(STEPS):
        event = rng.integers(25)
        q, (v, v_desired, a_desired) = rng.normal(size=n), vectors(rng, n, 0.5)
        turns = TURN * rng.integers(-2, 3, size=n)  # further on the other side of pi, or not
        motion = (q + turns + rng.normal(scale=0.02, size=n), v_desired, a_desired)
        dt = rng.choice([0.001, 0.001, 0.001, 0.5, 0.0, -1.0, math.nan])
        stamp += round(1e6)
        state_stamp = stamp
        clock.now += rng.choice([0.001, 0.001, 0.1, 0.0])
        if event == 0:
            new = settings()
            short.law.settings = long.law.settings = new
        elif event == 1:
            rate = rng.choice([None, 50.0, 1e9])
            new = TorqueLimits(limits * rng.uniform(0.01, 1.0), rate)
            short.limiter.limits = long.limiter.limits = new
        elif event == 2:
            q[rng.integers(n)] = rng.choice([math.nan, math.inf, 1e200])
        elif event == 3:
            motion[rng.integers(3)][rng.integers(n)] = rng.choice([math.nan, 1e250])
        elif event == 4:
            state_stamp = int(rng.choice([-1, 0, 2**31 - 1, -(2**31), 2**33])) * 10**9 + 7
        elif event == 5:
            short.law.reset(), long.law.reset()
        elif event == 6:
            short.limiter.reset(), long.limiter.reset()
        elif event == 7:
            # A last command stands between, as after a pause of the publisher.
            target = rng.normal(scale=10.0, size=n)
            for side in (short, long):
                side.limiter.step_towards(target, clock.now)
        state = SimpleNamespace(q=q, v=v, stamp=state_stamp, time=0, dt=dt, restarted=False)
        ours, theirs = short.answer(state, motion), long.answer(state, motion)
        assert ours == theirs
        raised = isinstance(ours[0], str)
        rejected += raised
        saturated += short.limiter.is_saturated
        assert len(short.sent) == (0 if raised else 2 if form == 'both' else 1)
    assert min(rejected, saturated) > 4, 'the stream has all kinds of states'
    assert short.commander.sent > STEPS / 2 and bool(short.commander.answers.stopped) == stops


@pytest.mark.parametrize('seed', range(3))
def test_hand_guiding_is_added_to_the_law_within_soft_stops_and_limits(clock, seed):
    rng, robot = np.random.default_rng(seed), load('six_axis_arm')
    settings = LawSettings.for_robot(robot, feedforward='gravity', feedback='none')
    guides = [
        HandGuiding(robot, GuidingSettings.for_robot(robot, max_velocity=0.4)) for _ in range(2)
    ]
    parts = Parts(robot, settings, (), 'both', None, True)
    side = Compiled(robot, settings, (), 'both', None, True, guides[0].memory)
    q, rest, acted = rng.normal(size=6), np.zeros(6), 0
    for step in range(200):
        v = rng.normal(scale=0.3 + (step > 100), size=6)
        q, share = q + 0.002 * v, rng.choice([0.0, 0.5, 1.0])
        guides[0].memory.state[SHARE] = share
        state = SimpleNamespace(q=q, v=v, stamp=0, dt=0.002)
        clock.now += 0.002
        applied = side.commander.answer(side.law, state, (q, rest, rest))
        torque = parts.law(q, v, q, rest, rest, 0.002)
        if share > 0.0:
            torque = torque + guides[1](q, v, 0.002, share)
            assert guides[0].braking == guides[1].braking and guides[0].reason == guides[1].reason
            acted += guides[0].braking > 0.0
        np.testing.assert_array_equal(applied, parts.limited(torque, state, clock.now))
    assert 20 < acted < 150


@pytest.mark.parametrize('bad', [np.array([1.0, np.nan, 0.0]), np.zeros(2), np.zeros(6)[::2]])
@pytest.mark.parametrize('stops', [False, True])
def test_a_torque_of_another_law_is_limited_or_rejected(clock, stops, bad):
    robot = load('planar_3r')
    side = Compiled(robot, LawSettings.for_robot(robot), (), 'array', None, stops)
    rest = np.zeros(robot.nv)
    state = SimpleNamespace(q=rest, v=rest, stamp=10**18)
    weight = robot.gravity_torque(rest) if stops else None
    answers = side.commander.answers
    answers.by_torque(np.full(robot.nv, 1e9), weight, state, 100.0)
    assert (np.abs(answers.torque) <= robot.effort_limits).all()
    before = answers.torque.copy()
    if bad.size == robot.nv and np.isfinite(bad).all():
        answers.by_torque(bad, weight, state, 100.1)
        np.testing.assert_array_equal(answers.torque, bad)  # not contiguous, and taken
        return
    with pytest.raises((FloatingPointError, ValueError)):
        answers.by_torque(bad, weight, state, 100.1)
    np.testing.assert_array_equal(answers.torque, before)
