# SPDX-License-Identifier: Apache-2.0
"""The fast path of the response gives the results of the slow one, whatever the state."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from support import outside
from support.arms import load, without_limits

outside.load('rclpy')

from rbd_ros.compiler.loops import interpreted_reason
from rbd_ros.control import LawSettings, payload_parameters, TorqueLaw, TorqueLimiter, TorqueLimits
from rbd_ros.nodes.torque import commander as commander_module, torque_output as output_module
from rbd_ros.nodes.torque.commander import Commander
from rbd_ros.nodes.torque.torque_output import TorqueOutput

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
    """A law, a limiter and messages, on the fast path or the slow one."""

    def __init__(self, robot, settings, joints, form, short, payload_link):
        self.sent = []
        self.law = TorqueLaw(robot, settings, payload_link)
        self.limiter = TorqueLimiter(settings.effort_limits)
        self.commander = Commander(
            TorqueOutput(self, robot.joint_names, joints, form), self.limiter
        )
        if short:
            self.commander.prepare(self.law)
        else:
            self.commander._responder = None

    def answer(self, state, motion):
        """Return what is sent, or what is raised."""
        self.sent.clear()
        try:
            applied = self.commander.answer(self.law, state, motion).tobytes()
        except (FloatingPointError, ValueError) as error:
            applied = str(error)
        return [applied, *self.sent, *self.memory()]

    def memory(self):
        """Return all that the next answer depends on, and all that is shown."""
        terms = {name: values.tobytes() for name, values in self.law.terms.items()}
        limiter, commander = self.limiter, self.commander
        return [
            terms,
            self.law.integral.tobytes(),
            limiter.saturating,
            limiter.saturated.tolist(),
            None if limiter.last is None else limiter.last.tobytes(),
            (commander.sent, commander.saturated, commander.ever, commander.commanding),
        ]


class Counted:
    """A responder that counts its answers."""

    def __init__(self, responder):
        self._responder, self.torque = responder, responder.torque
        self.answers = 0

    def __call__(self, *arguments):
        done = self._responder(*arguments)
        self.answers += done
        return done


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
@pytest.mark.parametrize('seed', range(2))
def test_both_paths_answer_alike(clock, name, joints, form, payload_link, seed):
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
    short, long = (Side(robot, first, joints, form, way, payload_link) for way in (True, False))
    used = short.commander._responder = Counted(short.commander._responder)
    refused = saturated = 0
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
            state_stamp = int(rng.choice([-1, 0, 2**31 - 1, -(2**31), 2**40])) * 10**9 + 7
        elif event == 5:
            short.law.reset(), long.law.reset()
        elif event == 6:
            short.limiter.reset(), long.limiter.reset()
        elif event == 7:
            # A last command stands between, as after a pause of the publisher.
            target = rng.normal(scale=10.0, size=n)
            for side in (short, long):
                side.limiter.towards(target, clock.now)
        state = SimpleNamespace(q=q, v=v, stamp=state_stamp, time=0, dt=dt, restarted=False)
        ours, theirs = short.answer(state, motion), long.answer(state, motion)
        assert ours == theirs
        raised = isinstance(ours[0], str)
        refused += raised
        saturated += short.limiter.saturating
        assert len(short.sent) == (0 if raised else 2 if form == 'both' else 1)
    assert used.answers > STEPS / 2 and min(refused, saturated) > 4, (
        'the stream has all kinds of states'
    )


def test_the_fast_path_is_taken(clock, monkeypatch):
    robot = load('planar_3r')
    side = Side(robot, LawSettings.for_robot(robot), (), 'both', True, None)

    def slow_path(*arguments):
        raise AssertionError('the slow path')

    monkeypatch.setattr(TorqueLaw, '__call__', slow_path)
    monkeypatch.setattr(TorqueLimiter, '__call__', slow_path)
    rest = np.zeros(robot.nv)
    state = SimpleNamespace(q=rest, v=rest, stamp=10**18, time=0, dt=0.001, restarted=False)
    side.commander.answer(side.law, state, (rest, rest, rest))
    assert [topic for topic, _ in side.sent] == ['joint_commands', 'effort_commands']
