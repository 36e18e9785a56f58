# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The fast path from a state to its torque has the results of the slow path."""

import math
import threading
from types import SimpleNamespace

import numpy as np
import pytest
from support import outside
from support.arms import without_limits

outside.load('rclpy')

from test_state_input import Notes, Stream
from torque_monitor import excess_of_rate

from rbd_ros import Robot
from rbd_ros.compiler.loops import interpreted_reason
from rbd_ros.control import (
    GuidingSettings,
    LawSettings,
    TorqueLaw,
    TorqueLimiter,
    TorqueLimits,
    TrajectoryError,
)
from rbd_ros.control.motion.tolerances import Tolerances
from rbd_ros.lookup.resources import resource_path
from rbd_ros.nodes.gravity.gravity_node import Adjustments
from rbd_ros.nodes.gravity.guiding import GuidingMode
from rbd_ros.nodes.inverse_dynamics import INTERFACE
from rbd_ros.nodes.torque import (
    commander as commander_module,
    control_loop as loop_module,
    torque_output as output_module,
    trajectory_reference as reference_module,
)
from rbd_ros.nodes.torque.commander import Commander
from rbd_ros.nodes.torque.compiled_answer import CompiledAnswer
from rbd_ros.nodes.torque.control_loop import ControlLoop
from rbd_ros.nodes.torque.motion_reference import MeasuredPosition
from rbd_ros.nodes.torque.overspeed import Overspeed
from rbd_ros.nodes.torque.state_input import StateInput
from rbd_ros.nodes.torque.torque_output import TorqueOutput
from rbd_ros.nodes.torque.trajectory_reference import TrajectoryReference
from rbd_ros.nodes.torque.watchdog import Watchdog
from rbd_ros.wire import JointStateReader

pytestmark = pytest.mark.skipif(
    interpreted_reason() is not None, reason='there is no machine code'
)

STEPS = 3000
TIMEOUT = 0.1
PARAMETERS = {p.name: p.default for p in INTERFACE.parameters} | {
    'allow_partial_trajectory': True,
    'check_limits': False,
    'start_tolerance': 0.0,
}
LOOSE = Tolerances.of(('none',), 0.0, 0.0, 0.0, 0.0)


class Subscription:
    """One publisher, as the input knows it."""

    topic_name = 'joint_states'

    def get_publisher_count(self):
        return 1


class Listened:
    """A publisher with possible subscribers."""

    def __init__(self, side, name):
        self._side, self._name = side, name
        self.listeners = 0

    def get_subscription_count(self):
        return self.listeners

    def publish(self, data):
        self._side.sent.append((self._name, data))


class Side:
    """A control loop without its thread, with the fast path or without it."""

    def __init__(self, arm, reference, short, end=None):
        self.sent, self.interface = [], INTERFACE
        self.diagnostics, self.parameters, self.answering = Notes(), PARAMETERS, True
        self.states = StateInput(arm, self.diagnostics, TIMEOUT, margin=1.0)
        self.law = TorqueLaw(arm, LawSettings.for_robot(arm))
        self.limiter = TorqueLimiter(arm.effort_limits)
        self.commander = Commander(TorqueOutput(self, arm.joint_names, (), 'both'), self.limiter)
        self.reference = reference(self, arm)
        self.reference.configure(PARAMETERS)
        self.watchdog = Watchdog(TIMEOUT, lambda: None)
        self.loop = ControlLoop(
            self,
            self.states,
            self.reference,
            self.law,
            self.commander,
            self.watchdog,
            self.diagnostics,
            overspeed=None if end is None else Overspeed(arm, 2.0, end, self.diagnostics),
        )
        if not short:
            self.loop._fast_cycle = None
            self.reference.on_change(lambda: None)
        self.loop.activate()

    def memory(self):
        """Return all that is shown, and that the next answer depends on.

        The reference gets it first.
        """
        state, commander, watchdog = self.states.last, self.commander, self.watchdog
        counts = (commander.sent, commander.saturated, commander.has_sent, commander.commanding)
        return {
            'sent': list(self.sent),
            'counts': (*counts, self.states.messages, self.states.rejected),
            'last torque': None if self.limiter.last is None else self.limiter.last.tobytes(),
            'integral': self.law.integral.tobytes(),
            'state': None if state is None else (state.q.tobytes(), state.v.tobytes()),
            'fed': (watchdog.fed.item(), watchdog.fired, watchdog.armed),
            'timer': [s.count for s in (self.loop.timer.take())],
        }

    def motion(self):
        """Return the motion of the reference after it got all states."""
        self.loop.changed()
        motion = self.reference._motion
        return motion.clock, motion.position, motion.time_left


@pytest.fixture
def clock(monkeypatch):
    """Time as the test says, and messages that go to the side whose they are."""
    clock = SimpleNamespace(now=100.0)
    monkeypatch.setattr(commander_module.time, 'monotonic', lambda: clock.now)
    monkeypatch.setattr(loop_module, 'monotonic', lambda: clock.now)
    subscriber = SimpleNamespace(subscription=Subscription(), overruns=0)
    monkeypatch.setattr(loop_module, 'BlockingSubscriber', lambda node, topic: subscriber)
    monkeypatch.setattr(output_module, 'publisher', lambda node, topic: (node, topic.name))
    monkeypatch.setattr(
        output_module, 'raw', lambda made: lambda data: made[0].sent.append((made[1], data))
    )
    monkeypatch.setattr(
        reference_module, 'publisher', lambda node, topic: Listened(node, topic.name)
    )
    monkeypatch.setattr(reference_module, 'subscription', lambda *given, **options: None)
    monkeypatch.setattr(reference_module, 'offer_goals', lambda node, reference: None)
    return clock


@pytest.fixture(scope='module')
def arm():
    return Robot.from_urdf(resource_path('urdf', 'six_axis_arm.urdf'))


def settings_of(arm, rng):
    kp = rng.uniform(1.0, 400.0, arm.nv)
    feedback = rng.choice(['computed_torque', 'pd', 'damping'])
    return LawSettings.for_robot(
        arm, kp=kp, kd=2.0 * np.sqrt(kp), ki=kp, feedback=feedback, effort_limits=arm.effort_limits
    )


def change(event, sides, arm, rng, stream):
    """Change something on both sides, as other threads do it."""
    law, limits = settings_of(arm, rng), arm.effort_limits * rng.uniform(0.001, 1.0)
    rate = rng.choice([None, 20.0, 1e6])
    times = np.cumsum(rng.uniform(0.001, 0.01, 2))
    points = 0.05 * rng.normal(size=(2, arm.nv))
    begin = int(rng.choice([0, stream._stamp + 3_500_000]))
    extra = rng.normal(size=arm.nv)
    for side in sides:
        follows = isinstance(side.reference, TrajectoryReference)
        if event == 'law':
            side.law.replace_settings(law, side.commander.lock)
            side.loop.changed()
        elif event == 'limits':
            side.limiter.limits = TorqueLimits(limits, rate)
            side.loop.changed()
        elif event == 'adjust':
            turns = iter(range(3))

            def adjust(law, state, side=side, turns=turns):
                law.set_torque_offset(extra)
                if next(turns) == 2:
                    law.set_torque_offset(np.zeros(arm.nv))
                    side.commander.adjust = None

            adjust.needed, adjust.report = True, lambda: None
            side.commander.adjust = adjust
            side.loop.changed()
        elif event == 'rest':
            side.loop.deactivate()
            side.commander.close()
            side.watchdog.disarm()
        elif event == 'activate':
            side.commander.open()
            side.loop.activate()
        elif event == 'last command':
            side.commander.finish(np.zeros(arm.nv), lambda: 7, SimpleNamespace(is_set=lambda: 1))
        elif event == 'fired':
            side.watchdog.fired = True
        elif event == 'trajectory' and follows:
            names = arm.joint_names
            try:
                side.reference.follow(names, times, points, None, None, begin, LOOSE)
            except TrajectoryError as error:
                side.sent.append(str(error))
        elif event == 'listener' and follows:
            shown = side.reference._desired_publisher
            shown.listeners = 1 - shown.listeners
            side.reference.every_second()


EVENTS = (
    'law', 'limits', 'adjust', 'rest', *['activate'] * 4, 'last command', 'fired', 'listener',
    'trajectory', 'trajectory', 'trajectory',
)  # fmt: skip


@pytest.mark.parametrize('wraps', [False, True])
@pytest.mark.parametrize('reference', [MeasuredPosition, TrajectoryReference])
@pytest.mark.parametrize('seed', range(3))
def test_the_fast_path_gives_the_results_of_the_slow_path(clock, arm, reference, seed, wraps):
    arm = without_limits('six_axis_arm') if wraps else arm
    rng = np.random.default_rng(seed)
    stream = Stream(arm, np.random.default_rng(seed + 100), wraps)
    sides = short, long = [Side(arm, reference, way) for way in (True, False)]
    taken = 0
    for step in range(STEPS):
        data, now = stream.next()
        # Pauses that stamps do not show, too.
        clock.now = 100.0 + now + 0.2 * (step // 700)
        if rng.random() < 0.02:
            change(rng.choice(EVENTS), sides, arm, rng, stream)
        for side in sides:
            side.sent.clear()
            side.loop._on_state(data)
        # A publisher's hiccup, longer than any state advances a motion by.
        stream._stamp += int(rng.choice([0] * 60 + [12_000_000, 40_000_000]))
        assert short.memory() == long.memory(), step
        taken += short.commander.fast_path_open[0]
        if reference is TrajectoryReference and rng.random() < 0.05:
            np.testing.assert_allclose(short.motion()[0], long.motion()[0], rtol=1e-12)
            for ours, theirs in zip(short.motion()[1:], long.motion()[1:]):
                np.testing.assert_array_equal(ours, theirs)
    reports = [[s[1:] for s in side.diagnostics.reports] for side in sides]
    assert reports[0] == reports[1]
    assert STEPS / 20 < taken < 0.98 * STEPS
    assert long.commander.saturated > 3 and long.states.rejected > 3


@pytest.fixture
def side(clock, arm):
    """Return a loop whose fast path is open."""
    side = Side(arm, MeasuredPosition, True)
    side.stream = Stream(arm, np.random.default_rng(0))
    side.stream._oddities = [side.stream._nothing]
    side.clock = clock
    for _ in range(10):
        step(side)
    assert side.commander.fast_path_open[0] == 1
    return side


def step(side):
    """Return the torques that one more state gives."""
    data, now = side.stream.next()
    side.clock.now = 100.0 + now
    side.sent.clear()
    side.loop._on_state(data)
    return list(side.sent)


def test_the_fast_path_is_taken(side, monkeypatch):
    def slow_path(*arguments):
        raise AssertionError('the slow path')

    monkeypatch.setattr(StateInput, 'update', slow_path)
    monkeypatch.setattr(Commander, 'answer', slow_path)
    assert [topic for topic, _ in step(side)] == ['joint_commands', 'effort_commands']


@pytest.mark.parametrize(
    'close',
    [
        lambda side: side.commander.close(),
        lambda side: side.commander.mark_idle(),
        lambda side: side.commander.open(),
        lambda side: side.loop.deactivate(),
        lambda side: side.loop.activate(),
        lambda side: side.loop.changed(),
        lambda side: side.commander.finish(
            np.zeros(6), lambda: 7, SimpleNamespace(is_set=lambda: True)
        ),
    ],
    ids='close rest open rest_of_the_loop activate changed finish'.split(),
)
def test_any_change_closes_the_fast_path(side, close):
    close(side)
    assert side.commander.fast_path_open[0] == 0


@pytest.mark.parametrize('way', ['fast cycle', 'slow path', 'last command'])
def test_the_rate_counts_from_publication_to_publication(clock, arm, way):
    """Messages that the machine delays, now and then by 138 ms, the next one 0.5 ms later."""
    side = Side(arm, MeasuredPosition, way == 'fast cycle')
    stream = Stream(arm, np.random.default_rng(0))
    stream._oddities = [stream._nothing]
    delays, rate = np.random.default_rng(1), 200.0
    published, reader = [], JointStateReader()

    class Sent(list):
        def append(self, item):
            topic, data = item
            clock.now += delays.choice([0.0, 0.0, 1e-4, 0.138])  # it leaves as late as can be
            if topic == 'joint_commands':
                published.append((clock.now, reader.read(data).effort.copy()))

    side.sent = Sent()
    for k in range(200):
        clock.now += 0.0005
        side.loop._on_state(stream.next()[0])
        if k == 20:
            # From now on the torque comes down at the rate.
            side.limiter.limits = TorqueLimits(0.01 * arm.effort_limits, rate)
            side.loop.changed()
            published.clear()
            if way == 'last command':
                forced = threading.Event()
                forced.wait = lambda period: setattr(clock, 'now', clock.now + 0.0005)
                side.commander.finish(np.zeros(arm.nv), lambda: 7, forced)
                break
    times, efforts = (np.array(each) for each in zip(*published))
    assert len(times) > 50 and np.abs(efforts[0] - efforts[-1]).max() > 0.5
    assert excess_of_rate(times, efforts, rate) < 1e-9
    if way in ('fast cycle', 'last command'):
        assert side.commander.fast_path_open[0] == (way == 'fast cycle')


def test_hand_guiding_takes_the_fast_path_and_reports_each_brake(side, arm):
    mode = GuidingMode(arm, side.diagnostics)
    side.commander.answers = CompiledAnswer(
        side.limiter, side.commander._output, None, mode.memory
    )
    loop = side.loop = ControlLoop(
        side, side.states, side.reference, side.law, side.commander, side.watchdog,
        side.diagnostics,
    )  # fmt: skip
    loop.activate()
    adjustments = Adjustments(side.commander, side.law, None, 0.0)
    adjustments.guiding, opened = mode, side.commander.fast_path_open

    def run(steps):
        taken = 0
        for _ in range(steps):
            assert len(step(side)) == 2
            taken += opened[0]
        return taken

    def switch(settings):
        adjustments.begin_change()
        assert opened[0] == 0
        mode.switch(settings)
        adjustments.end_change(side.law)

    assert run(20) > 10
    switch(GuidingSettings.for_robot(arm, max_velocity=2.0))
    assert run(20) > 10 and mode.values()['kinetic_energy'] > 0.0
    side.stream._v[1] = 3.0
    reports = side.diagnostics.reports
    before = len(reports)
    assert run(10) > 5 and len(reports) == before + 10 and 'braking' in str(reports[-1])
    side.stream._v[1] = 0.0
    assert run(20) > 10 and len(reports) == before + 10
    switch(None)
    assert run(400) == 0  # it fades away
    assert run(200) > 50 and mode.values()['kinetic_energy'] == 0.0


def test_a_joint_that_is_too_fast_ends_the_torque(clock, arm):
    ended = []
    side = Side(arm, MeasuredPosition, True, lambda: ended.append(len(side.sent)))
    side.stream, side.clock = Stream(arm, np.random.default_rng(0)), clock
    side.stream._oddities = [side.stream._nothing]
    for _ in range(10):
        assert step(side)
    assert side.commander.fast_path_open[0] == 1
    side.stream._v[2] = -2.1 * arm.velocity_limits[2]
    assert not step(side) and ended == [0]
    assert 'too fast' in side.diagnostics.reports[-1][3] and arm.joint_names[2] in str(
        side.diagnostics.reports[-1]
    )
    side.stream._v[2] = 0.0
    assert not step(side) and not step(side)  # until it is activated
    side.loop.activate()
    assert step(side) and ended == [0]


def test_nothing_is_sent_once_the_commander_is_closed(side):
    side.commander.close()
    assert not step(side) and not step(side)
    side.commander.open()
    assert step(side)


def test_after_silence_states_take_the_slow_path(side):
    side.stream.now += 1.5 * TIMEOUT
    side.watchdog.fired = True  # as its thread does
    resets = []
    side.law.reset, reset = lambda: resets.append(reset()), side.law.reset
    assert step(side) and resets
    assert not side.watchdog.fired and step(side)
    side.stream.now += 1.5 * TIMEOUT  # unnoticed by the thread, without simulated time
    count = len(resets)
    assert step(side) and len(resets) == count + 1


def test_a_watchdog_that_has_fired_meanwhile_remains_fired(side):
    """Fed by a state that was under way, it would never fire again."""
    side.watchdog.fired = True
    assert step(side)
    assert not side.watchdog.fired


def test_a_torque_that_is_not_finite_is_reported_as_before(side):
    side.law._inputs[side.law._inputs.size // 2 :] = math.nan
    before = side.commander.sent
    assert not step(side)
    assert side.commander.sent == before
    assert any('not finite' in str(reports[2]) for reports in side.diagnostics.reports)


def test_a_message_that_cannot_be_published_is_reported(side, monkeypatch):
    expired = []
    side.watchdog.timeout, side.watchdog.expired = 0.0, lambda: expired.append(1)

    def fails():
        raise RuntimeError('no publisher')

    monkeypatch.setattr(side.loop, '_send', fails)
    step(side)
    assert any('no publisher' in str(reports[2]) for reports in side.diagnostics.reports)
    assert expired and not side.commander.lock.locked()


@pytest.mark.parametrize('behind', [0, 2**31 - 3])
def test_stamps_beyond_those_of_messages_take_the_slow_path(side, behind):
    side.stream._stamp = behind * 10**9 + 999_000_000 if behind else 10**18
    for _ in range(50):
        assert step(side) or behind
