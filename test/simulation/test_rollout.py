# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""`Simulator.rollout`: each motion equals that of a single simulation, on any thread."""

import threading
import tracemalloc

import numpy as np
import pytest
from support import fresh_python, loop_mechanisms as mechanisms
from support.simulated_robots import at, ball, body, collision, joint, link, robot, turntable
from support.states import named_robot, ROBOTS

from rbd_ros import Robot, Simulator
from rbd_ros.contact import HalfSpace
from rbd_ros.robot import set_threads, threads
from rbd_ros.simulation import Trajectories
from rbd_ros.simulation.loops import closed_start
from rbd_ros.simulation.loops.closed_start import close_start
from rbd_ros.simulation.rollouts import rollout_threads
from rbd_ros.simulation.rollouts.rollout_loop import Batch

EACH = pytest.mark.parametrize('integrator', ['semi_implicit', 'midpoint', 'rk4'])


@pytest.fixture(autouse=True)
def _threads_as_before():
    before = threads()
    yield
    set_threads(before)


@pytest.fixture
def eager(monkeypatch):
    """Use short slices, and helpers for the shortest jobs, to divide everything."""
    for name, value in (('_FIRST', 3), ('_SLICE', 2e-5), ('_CHUNK', 1e-5), ('_ALONE', 0.0)):
        monkeypatch.setattr(rollout_threads, name, value)


def walker(**options):
    """Free body with two legs, joint friction, effort limits, stops and feet."""
    legs = ''.join(
        link(
            f'leg{k}',
            0.4,
            (0.003, 0.003, 0.001),
            (0, 0, -0.1),
            collision('sphere radius="0.03"', (0, 0, -0.2)),
        )
        + joint(
            f'hip{k}',
            'body',
            f'leg{k}',
            'revolute',
            (0, 1, 0),
            (0, y, 0),
            '<dynamics damping="0.02" friction="0.1"/>'
            '<limit lower="-0.5" upper="0.5" effort="0.8" velocity="9"/>',
        )
        for k, y in ((1, -0.1), (2, 0.1))
    )
    box = link('body', 2.0, (0.02, 0.03, 0.04), shape=collision('box size="0.2 0.3 0.1"'))
    return Simulator(robot(box, legs, floating_base=True), ground=HalfSpace(), **options)


def walker_starts(rows, rng):
    """Return starts above the ground and in it, with quaternions that are not of unit length."""
    q = np.array([[*at((0, 0, 0)), 0.2, -0.3]] * rows)
    q[:, 6] = rng.uniform(0.05, 0.2, rows)
    turned = rng.normal(size=(rows, 4))
    q[:, :4] = turned / np.linalg.norm(turned, axis=1, keepdims=True)
    return q, rng.normal(size=(rows, 8))


def singly(simulator, q, v, torque, steps):
    """Return the motion by `reset` and `step`."""
    simulator.reset(q, v)
    found = []
    for step in range(steps):
        simulator.step(torque if torque is None or torque.ndim == 1 else torque[step])
        found.append((simulator.q, simulator.v))
    return (np.array(each) for each in zip(*found))


def check(simulator, found, q, v, torque):
    for row in range(len(q)):
        each = torque[row] if np.ndim(torque) == 3 else torque
        alone = singly(simulator, q[row], v[row], each, found.q.shape[1])
        for name, one in zip('qv', alone):
            assert np.array_equal(getattr(found, name)[row], one), (row, name)
    assert np.array_equal(found.diverged, np.full(len(q), -1))


def arm_or_tree(name):
    return named_robot(name) if name in ROBOTS else Robot.from_urdf(f'urdf/{name}.urdf')


@EACH
@pytest.mark.parametrize('name', ['six_axis_arm', *ROBOTS])
def test_arms_and_trees_move_as_single_simulations_do(name, integrator, rng):
    arm = arm_or_tree(name)
    simulator = Simulator(arm, integrator=integrator)
    q = np.array([arm.random_configuration(rng) for _ in range(5)])
    v, torque = rng.normal(size=(5, arm.nv)), 50.0 * rng.normal(size=(5, 40, arm.nv))
    found = simulator.rollout(q, v, torque)
    assert found.q.shape == (5, 40, arm.nq) and found.v.shape == (5, 40, arm.nv)
    check(simulator, found, q, v, torque)


@EACH
@pytest.mark.parametrize('count', [1, 2, 4])
def test_a_walker_in_contact_moves_as_single_simulations_do(count, integrator, eager, rng):
    """Friction, stops, effort limits, contact and a free base, shared out in small pieces."""
    set_threads(count)
    simulator = walker(integrator=integrator)
    (q, v), torque = walker_starts(9, rng), rng.normal(size=(9, 120, 8))
    found = simulator.rollout(q, v, torque)
    check(simulator, found, q, v, torque)
    touching = limited = 0
    for row in range(9):
        simulator.reset(q[row], v[row])
        for each in torque[row]:
            simulator.step(each)
            touching += bool(simulator.contacts)
        limited += simulator.status.limit_steps
        assert simulator.status.saturated_steps
    assert touching > 20 and limited > 20, (touching, limited)  # or there is little to remember


@pytest.mark.parametrize('integrator', ['semi_implicit', 'rk4'])
def test_loops_are_closed_at_each_start_and_stay_closed(integrator, rng):
    linkage = mechanisms.four_bar()
    simulator = Simulator(linkage, integrator=integrator)
    q = np.array([linkage.loops.project([1.0, -0.5, 1.0])] * 4) + rng.uniform(-0.1, 0.1, (4, 3))
    v = rng.normal(size=(4, 3))
    found = simulator.rollout(q, v, [0.1, 0.0, 0.0], steps=50)
    check(simulator, found, q, v, np.array([0.1, 0.0, 0.0]))
    errors = [linkage.loops.closure(each).residual for each in found.q[:, -1]]
    assert np.abs(errors).max() < 1e-9
    one = simulator.rollout(q[0], v, [0.1, 0.0, 0.0], steps=50)  # one q, projected with each v
    check(simulator, one, np.array([q[0]] * 4), v, np.array([0.1, 0.0, 0.0]))


def test_a_start_whose_loops_cannot_be_closed_is_named(monkeypatch):
    simulator = Simulator(mechanisms.four_bar())
    before = simulator.snapshot()

    def close(robot, q, v):
        if q[0] > 1.0:
            raise ValueError('the loops cannot be closed')
        return close_start(robot, q, v)

    monkeypatch.setattr(closed_start, 'close_start', close)
    with pytest.raises(ValueError, match='rollout 1: the loops cannot be closed'):
        simulator.rollout([simulator.q, [1.1, 0.0, 0.0]], steps=3)
    assert np.array_equal(simulator.q, before.arrays['state.q'])


def test_common_inputs_are_given_once(rng):
    simulator = Simulator(turntable(0.2, friction=0.05))
    q, v = rng.normal(size=(3, 1)), rng.normal(size=(3, 1))
    torque = rng.normal(size=(7, 1))
    whole = simulator.rollout(q, v, np.array([torque] * 3))
    for given in (
        (q, v, torque),
        (q.tolist(), v, torque.tolist()),
        (np.asfortranarray(np.repeat(q, 2, axis=1))[:, :1], v, torque),
    ):
        assert np.array_equal(simulator.rollout(*given).v, whole.v)
    given_twice = simulator.rollout(q, v, np.array([torque] * 3), steps=7)
    assert np.array_equal(given_twice.v, whole.v)
    one = simulator.rollout(q[0], v[0], torque)
    assert one.q.shape == (1, 7, 1) and np.array_equal(one.q[0], whole.q[0])
    same = simulator.rollout(q[0], v, torque)
    assert np.array_equal(same.v[0], whole.v[0]) and not np.array_equal(same.q[1], whole.q[1])
    by_torque = simulator.rollout(q[0], v[0], np.array([torque, 2.0 * torque]))
    assert np.array_equal(by_torque.v[0], whole.v[0]) and len(by_torque.q) == 2
    constant = simulator.rollout(q, v, torque[0], steps=7)
    assert np.array_equal(constant.v, simulator.rollout(q, v, np.repeat(torque[:1], 7, 0)).v)
    nothing = simulator.rollout(steps=2)
    assert np.array_equal(nothing.q, np.zeros((1, 2, 1)))


def test_without_a_start_it_is_that_of_reset():
    limit = '<limit lower="0.3" upper="0.5" effort="8" velocity="9"/>'
    simulator = Simulator(turntable(limit=limit, kind='revolute'))
    assert simulator.rollout(steps=3).q[0, -1] == pytest.approx([0.3])


def test_no_rollouts_and_no_steps_are_no_trouble(rng):
    simulator = Simulator(turntable())
    none = simulator.rollout(np.zeros((0, 1)), steps=5)
    assert none.q.shape == (0, 5, 1) and none.diverged.shape == (0,)
    still = simulator.rollout(np.zeros((4, 1)), steps=0)
    assert still.v.shape == (4, 0, 1) and np.array_equal(still.diverged, [-1] * 4)
    assert simulator.rollout(torque=np.zeros((0, 1))).q.shape == (1, 0, 1)
    closed = Simulator(mechanisms.four_bar()).rollout(np.zeros((0, 3)), steps=5)
    assert closed.q.shape == (0, 5, 3)


def test_a_robot_that_cannot_move_stays():
    simulator = Simulator(robot(link('alone', 1.0, (1.0, 1.0, 1.0))))
    found = simulator.rollout(steps=4)
    assert found.q.shape == (1, 4, 0) and np.array_equal(found.diverged, [-1])


def test_a_rollout_does_not_change_the_simulation(rng):
    simulator = walker()
    simulator.reset(at((0, 0, 0.25)).tolist() + [0.1, 0.2])
    simulator.apply_wrench('leg1', [0, 0, 0, 0, 3.0, 0], duration=1.0)
    simulator.step(n=300)
    before, contacts = simulator.snapshot(), len(simulator.contacts)
    (q, v), torque = walker_starts(4, rng), np.full(8, 0.1)
    found = simulator.rollout(q, v, torque, steps=50)
    after = simulator.snapshot()
    assert contacts and simulator.time == pytest.approx(0.3)
    for name, array in before.arrays.items():
        assert np.array_equal(array, after.arrays[name]), name
    simulator.clear_wrenches()
    check(simulator, found, q, v, torque)  # the wrench did not act there


def test_rollouts_are_independent(rng):
    """Records are used again, of motions that ended in contact or in numbers beyond all bounds."""
    set_threads(1)
    simulator = walker()
    (q, v), torque = walker_starts(6, rng), rng.normal(size=(6, 40, 8))
    first = simulator.rollout(q, v, torque)
    simulator.rollout(q[:, :], 1e200 * v, steps=30)
    backwards = simulator.rollout(q[::-1], v[::-1], torque[::-1])
    assert np.array_equal(backwards.q[::-1], first.q)
    assert np.array_equal(backwards.v[::-1], first.v)


@pytest.mark.parametrize('integrator, steps_taken', [('semi_implicit', 3), ('midpoint', 2)])
def test_a_motion_that_is_not_finite_ends_and_the_others_continue(integrator, steps_taken):
    """A rollout of midpoint ends a step earlier: moments about the center of mass overflow."""
    simulator = Simulator(body(), 1.0, integrator)
    torque = np.zeros((4, 6, 6))
    torque[1, 2:, 3:] = 1.7e308  # [N]: beyond all bounds in the second step with it
    start = [np.zeros(6), np.zeros(6), [1e200] * 6, np.zeros(6)]
    found = simulator.rollout(v=start, torque=torque)
    simulator.reset()
    steps = 0
    with pytest.raises(FloatingPointError):
        for each in torque[1]:
            simulator.step(each)
            steps += 1
    assert steps == steps_taken
    assert np.array_equal(found.diverged, [-1, steps, 0, -1])
    for array in (found.q, found.v):
        assert np.isfinite(array[[0, 3]]).all() and np.isfinite(array[1, :steps]).all()
        assert np.isnan(array[1, steps:]).all() and np.isnan(array[2]).all()
    assert np.array_equal(found.q[1, steps - 1], simulator.q)
    assert np.array_equal(found.q[0], found.q[3])


def test_results_are_written_where_one_likes(rng):
    simulator = Simulator(turntable())
    v, torque = rng.normal(size=(3, 1)), rng.normal(size=(5, 1))
    expected = simulator.rollout(v=v, torque=torque)
    out = Trajectories(np.empty((3, 5, 1)), np.empty((3, 5, 1)), np.empty(3, dtype=np.int64))
    found = simulator.rollout(v=v, torque=torque, out=out)
    assert all(a is b for a, b in zip(found, out))
    found = simulator.rollout(v=v, torque=torque, out=list(expected))
    assert all(a is b for a, b in zip(found, expected))
    assert all(np.array_equal(a, b) for a, b in zip(out, expected))


def test_results_may_take_the_place_of_starts_and_torques(rng):
    simulator = Simulator(turntable())
    room = simulator.rollout(v=rng.normal(size=(4, 1)), steps=1)
    v, q = room.v[2, 0].copy(), room.q[1, 0].copy()
    expected = simulator.rollout(q, np.array([v] * 4), torque=[0.3], steps=1)
    simulator.rollout(room.q[1, 0], np.array([v] * 4), torque=[0.3], steps=1, out=room)
    assert np.array_equal(room.q, expected.q)
    expected = simulator.rollout(np.zeros((4, 1)), room.v[2, 0].copy(), torque=[0.3], steps=1)
    simulator.rollout(np.zeros((4, 1)), room.v[2, 0], torque=[0.3], steps=1, out=room)
    assert np.array_equal(room.v, expected.v)
    torque = rng.normal(size=(4, 1, 1))
    expected = simulator.rollout(torque=torque[0, 0].copy(), q=np.zeros((4, 1)), steps=1)
    out = (np.empty((4, 1, 1)), torque, np.empty(4, dtype=np.int64))
    simulator.rollout(torque=torque[0, 0], q=np.zeros((4, 1)), steps=1, out=out)
    assert np.array_equal(out[1], expected.v)


def read_only(array):
    array.flags.writeable = False
    return array


Q, V, D = np.zeros((2, 5, 1)), np.ones((2, 5, 1)), np.zeros(2, dtype=np.int64)
WRONG = {
    'shape of q': (
        {'q': [1.0, 2.0], 'steps': 5},
        r'q must have shape \(1,\) or \(B, 1\), got \(2,\)',
    ),
    'shape of v': ({'v': np.zeros((2, 2)), 'steps': 5}, r'v must have shape .* got \(2, 2\)'),
    'shape of torque': (
        {'torque': np.zeros((2, 5, 2))},
        r'torque must have shape \(1,\) or \(steps, 1\) or \(B, steps, 1\), got \(2, 5, 2\)',
    ),
    'dtype': ({'q': np.array([1j]), 'steps': 5}, 'q must hold real numbers, got dtype complex128'),
    'ragged': ({'v': [[1.0], [1.0, 2.0]], 'steps': 5}, 'v is not an array of numbers|v must hold'),
    'not finite': ({'q': [[0.0], [np.nan]], 'steps': 5}, r'q must be finite, got nan at \[1, 0\]'),
    'torque not finite': (
        {'torque': [[[0.0], [np.inf]]]},
        r'torque must be finite, got inf at \[0, 1, 0\]',
    ),
    'numbers of rollouts': (
        {'q': np.zeros((2, 1)), 'v': np.zeros((3, 1)), 'steps': 5},
        'numbers of rollouts differ: q has 2, v has 3',
    ),
    'numbers of steps': ({'torque': np.zeros((4, 1)), 'steps': 5}, '4 steps, but steps is 5'),
    'no steps': ({}, 'steps must be given'),
    'no steps with torque': ({'torque': [1.0]}, 'steps must be given'),
    'negative steps': ({'steps': -1}, 'steps must not be negative, got -1'),
    'half a step': ({'steps': 2.5}, 'steps must be a whole number, got 2.5'),
    'out of another kind': ({'steps': 5, 'out': Q}, 'out must hold arrays for q, v and diverged'),
    'out of two': ({'steps': 5, 'out': (Q, V)}, 'got tuple of 2'),
    'out of a list': (
        {'steps': 5, 'out': ([], V, D)},
        'out: q must be an array of float64, got list',
    ),
    'out of float32': (
        {'q': np.zeros((2, 1)), 'steps': 5, 'out': (Q, V.astype(np.float32), D)},
        'out: v must be an array of float64, got float32',
    ),
    'out of another shape': (
        {'q': np.zeros((3, 1)), 'steps': 5, 'out': (Q, V, D)},
        r'out: q must have shape \(3, 5, 1\), got \(2, 5, 1\)',
    ),
    'out of strides': (
        {'q': np.zeros((2, 1)), 'steps': 5, 'out': (np.zeros((2, 10, 1))[:, ::2], V, D)},
        'out: q must be contiguous',
    ),
    'out that is read-only': (
        {'q': np.zeros((2, 1)), 'steps': 5, 'out': (Q, read_only(V.copy()), D)},
        'out: v must be contiguous, and not read-only',
    ),
    'out that is shared': (
        {'q': np.zeros((2, 1)), 'steps': 5, 'out': (Q, Q, D)},
        'not share memory',
    ),
}


@pytest.mark.parametrize('name', WRONG)
def test_invalid_arguments_are_rejected_in_words(name):
    options, message = WRONG[name]
    simulator = Simulator(turntable())
    with pytest.raises(ValueError, match=message):
        simulator.rollout(**options)
    assert not Q.any() and V.all() and not D.any()


def test_a_quaternion_of_no_length_is_rejected_with_its_rollout():
    q = [at((0, 0, 1)), [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]]
    with pytest.raises(ValueError, match='rollout 1: position of joint'):
        Simulator(ball()).rollout(q, steps=2)


def test_memory_does_not_grow(rng, eager):
    set_threads(3)
    simulator = walker()
    (q, v), torque = walker_starts(8, rng), np.zeros((30, 8))
    out = simulator.rollout(q, v, torque)
    for _ in range(3):
        simulator.rollout(q, v, torque, out=out)
    held = list(simulator._rollouts._idle)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(30):
        simulator.rollout(q, v, torque, out=out)
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    kept = simulator._rollouts._idle
    assert 1 <= len(held) <= 3 and len(kept) <= 3 and set(held) & set(kept)
    one = sum(a.nbytes for a in simulator.physics.arrays().values())
    assert grown < 3 * 4 * one + 50_000


def test_python_threads_may_call_rollout_concurrently(rng, eager):
    set_threads(2)
    simulator = walker()
    starts = [walker_starts(6, rng) for _ in range(4)]
    expected = [simulator.rollout(*start, steps=80) for start in starts]
    found = [None] * 4

    def ask(k):
        for _ in range(5):
            found[k] = simulator.rollout(*starts[k], steps=80)

    asking = [threading.Thread(target=ask, args=(k,)) for k in range(4)]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join()
    for one, other in zip(found, expected):
        assert np.array_equal(one.q, other.q) and np.array_equal(one.v, other.v)
    # Memory of many simultaneous simulations is released.
    assert len(simulator._rollouts._idle) <= 2


def test_memory_is_released_when_fewer_threads_are_requested(rng, eager):
    simulator = walker()
    (q, v), kept = walker_starts(12, rng), []
    simulator.rollout(q, v, steps=1)
    idle = simulator._rollouts._idle
    idle += [simulator._rollouts._new() for _ in range(4)]
    set_threads(1)
    for _ in range(6):
        simulator.rollout(q, v, steps=5)
        kept.append(len(idle))
    assert kept[-1] == 1


def test_slices_are_short_for_any_duration(monkeypatch):
    """Between them, a thread looks whether to go on."""
    set_threads(1)
    simulator, now, slices = Simulator(turntable()), [0.0], []

    class Loop:
        @staticmethod
        def bind(*records):
            def loop(first, last):
                slices.append(range(first, last))
                now[0] += 1e-6 * (last - first)

            return loop

    monkeypatch.setattr(rollout_threads, 'roll', Loop)
    monkeypatch.setattr(rollout_threads.time, 'perf_counter', lambda: now[0])
    simulator.rollout(np.zeros((2, 1)), steps=100_000)
    assert [each.start for each in slices[1:]] == [each.stop for each in slices[:-1]]
    assert slices[-1].stop == 200_000
    assert 10_000 < max(map(len, slices)) < 30_000


@pytest.mark.parametrize('seconds', [0.0, 1e-9, 1e-6, 1.0])
def test_all_rollouts_are_taken_once(seconds):
    """In chunks that are long if steps are short, of whole rollouts."""
    set_threads(2)
    room = Trajectories(np.empty((50, 7, 1)), np.empty((50, 7, 1)), np.empty(50, dtype=np.int64))
    starts = np.zeros((1, 1))
    one, goals = np.zeros(1), np.zeros((1, 1, 1))
    job = rollout_threads._Job(Batch(0, 7, starts, starts, goals, one, one, goals, one, *room))
    job.step_seconds, taken = seconds, []
    first, last = job.take()
    while first < last:
        assert first % 7 == last % 7 == 0
        taken.append(range(first, last))
        first, last = job.take()
    assert [k for each in taken for k in each] == list(range(350))
    # A quarter of what is left at most, for both threads to end together.
    assert len(taken[0]) == (7 if seconds in (0.0, 1.0) else 12 * 7)


def test_an_error_in_a_helper_is_raised(rng, eager, monkeypatch):
    set_threads(2)
    simulator = walker()
    q, v = walker_starts(20, rng)
    simulator.rollout(q, v, steps=5)
    work = rollout_threads.RolloutThreads._work

    def fail(self, job, worker, helpers=None):
        if helpers is None:
            raise MemoryError('no more')
        work(self, job, worker, helpers)

    monkeypatch.setattr(rollout_threads.RolloutThreads, '_work', fail)
    with pytest.raises(MemoryError, match='no more'):
        simulator.rollout(q, v, steps=2000)


def test_without_another_thread_the_caller_does_it_all(rng, eager, monkeypatch):
    set_threads(4)
    simulator = walker()
    (q, v) = walker_starts(5, rng)
    expected = simulator.rollout(q, v, steps=20)

    def fail(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, 'start', fail)
    assert np.array_equal(simulator.rollout(q, v, steps=20).q, expected.q)


INTERRUPTED = """
import os, signal, sys, threading, time
import numpy as np
from support.simulated_robots import at, ball
from rbd_ros import Simulator
from rbd_ros.contact import HalfSpace
from rbd_ros.robot import set_threads
set_threads(int(sys.argv[1]))
# Otherwise, what runs in the background of a shell ignores it.
signal.signal(signal.SIGINT, signal.default_int_handler)
simulator = Simulator(ball(), ground=HalfSpace(), integrator='rk4')
q = np.array([at((0, 0, 0.1))] * 4)
simulator.rollout(q, steps=10)
def interrupt():
    global sent
    time.sleep(0.5)
    sent = time.monotonic()
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt, daemon=True).start()
try:
    simulator.rollout(q, steps=2_000_000)
    print('not interrupted')
except KeyboardInterrupt:
    print(time.monotonic() - sent, [t.name for t in threading.enumerate() if t.name == 'rollout'])
again = simulator.rollout(q, torque=[1.0] * 6, steps=5)
simulator.reset(q[0])
simulator.step([1.0] * 6, n=5)
print(np.array_equal(again.q[:, -1], [simulator.q] * 4))
"""


@pytest.mark.parametrize('count', [1, 2])
def test_an_interrupt_ends_it_soon(count):
    first, second = fresh_python.run(INTERRUPTED, count).stdout.splitlines()
    seconds, left = first.split(' ', 1)
    assert float(seconds) < 1.0 and left == '[]'
    assert second == 'True'


INTERPRETED = """
import numpy as np
from support.simulated_robots import at, body, collision
from rbd_ros import Simulator
from rbd_ros.contact import HalfSpace
from rbd_ros.robot import set_threads
set_threads(THREADS)
box = body(2.0, (0.02, 0.03, 0.04), collision('box size="0.4 0.3 0.2"'))
simulator = Simulator(box, 1e-3, ground=HalfSpace())
q = [at((0, 0, 0.15), (0.9, 0.3, 0.2, 0.1)), at((0, 0, 0.12)), at((0, 0, 0.11))]
v = [[1.0, 2.0, 0.0, 0.5, 0.0, -1.0], [0.0] * 6, [1e200] * 6]
found = simulator.rollout(q, v, np.linspace(0, 1, 20)[:, None] * np.ones(6))
"""


def test_the_interpreter_gives_the_same_motions():
    here = {'THREADS': 2}
    exec(INTERPRETED, here)
    found = here['found']
    code = (
        f'THREADS = 2\n{INTERPRETED}'
        'print(found.diverged.tolist(), [x.tolist() for x in found[:2]], sep=";")'
    )
    printed = fresh_python.run(code, RBD_ROS_COMPILER='off').stdout
    diverged, motions = (eval(text, {'nan': np.nan}) for text in printed.split(';'))
    assert diverged == found.diverged.tolist() == [-1, -1, 0]
    for one, other in zip(motions, found[:2]):
        np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-10)
