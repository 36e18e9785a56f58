"""Input of states: whether messages go the short way or the long one makes no difference."""

import numpy as np
import pytest
from support import outside

outside.load('rclpy')

from rbd_ros import Robot
from rbd_ros.nodes.common.wire import JointStateWriter
from rbd_ros.nodes.torque.state_input import StateInput
from rbd_ros.resources import resource_path

STEPS = 1500
PERIOD = 1_000_000  # [ns]


class Notes:
    """Diagnostics that only remember."""

    def __init__(self):
        self.said = []

    def event(self, subject, level, message, code=None):
        self.said.append((subject, level, message, code))

    condition = event


@pytest.fixture(scope='module')
def arm():
    return Robot.from_urdf(resource_path('urdf', 'six_axis_arm.urdf'))


class Stream:
    """Messages of one robot: mostly the next state, sometimes what a bad publisher would send."""

    def __init__(self, arm, rng):
        self._rng, self._names = rng, arm.joint_names
        self._q, self._v = np.zeros(arm.nv), np.zeros(arm.nv)
        self._stamp, self.now = 5 * 10**9, 0.0
        self._oddities = [
            self._nothing, self._nothing, self._nothing, self._number, self._jump, self._stamps,
            self._part, self._without_velocity, self._order, self._pause, self._unstamped,
        ]  # fmt: skip

    def next(self):
        """Serialised message, and the time at which it comes."""
        rng, n = self._rng, len(self._names)
        self._v = 0.99 * self._v + 0.05 * rng.normal(size=n)
        self._q = 0.999 * self._q + 1e-3 * self._v
        self._stamp += PERIOD
        self.now += 1e-3
        message = {
            'names': list(self._names), 'position': self._q.copy(), 'velocity': self._v.copy(),
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

    def _jump(self, message):
        self._q = message['position'] = self._q + 0.1 * self._rng.normal(size=len(self._q))

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


@pytest.mark.parametrize('publishers', [1, 2])
@pytest.mark.parametrize('seed', range(3))
def test_the_short_way_gives_what_the_long_one_gives(arm, seed, publishers):
    class Subscription:
        topic_name = 'joint_states'

        def get_publisher_count(self):
            return publishers

    stream = Stream(arm, np.random.default_rng(seed))
    inputs = [StateInput(arm, Notes(), 0.1, margin=1.0) for _ in range(2)]
    short, long = inputs
    long._learn = lambda *message: None
    for each in inputs:
        each.attach(Subscription())
    used = taken = 0
    for _ in range(STEPS):
        data, now = stream.next()
        first, second = (each.update(data, now) for each in inputs)
        assert (first is None) == (second is None)
        for one, other in ((first, second), (short.last, long.last)):
            if one is not None:
                np.testing.assert_array_equal(one.q, other.q)
                np.testing.assert_array_equal(one.v, other.v)
                for name in ('stamp', 'time', 'dt', 'restarted'):
                    assert getattr(one, name) == getattr(other, name)
        used += first is not None
        taken += first is not None and first.q is short._usual.q
        assert short.refused == long.refused
    assert [s[1:] for s in short._diagnostics.said] == [s[1:] for s in long._diagnostics.said]
    assert STEPS / 12 < taken < used < STEPS, 'the stream has all kinds of messages'
