"""Results that nobody has any more are used again; those that somebody has are left alone."""

import sys
from threading import Thread
import weakref

import numpy as np
import pytest
from support.small_kernels import kernel

from rbd_ros import Robot
from rbd_ros.compiler.program import Output
from rbd_ros.compiler.runtime import builtin, reuse

pytestmark = pytest.mark.skipif(
    not builtin.supported() or not reuse.counts_references(), reason='other kind of interpreter'
)


@pytest.fixture
def torque(two_links):
    """Gravity torque of two joints, a builtin; all its arrays are unused."""
    robot = Robot.from_urdf(two_links)
    robot.gravity_torque(np.zeros(2))
    return robot.gravity_torque


def configurations(count):
    """As many configurations of two joints, all different."""
    return np.random.default_rng(0).uniform(-3.0, 3.0, (count, 2))


def own(function, count=reuse.COUNT):
    """Addresses of the arrays that a function returns if nobody keeps them, all at once."""
    return {id(array) for array in [function(np.zeros(2)) for _ in range(count)]}


def test_a_dropped_result_is_used_again(torque):
    arrays = own(torque)
    assert len(arrays) == reuse.COUNT
    assert own(torque) == arrays
    assert {id(torque(q)) for q in configurations(20)} <= arrays


def test_with_all_in_use_results_are_new(torque):
    arrays = own(torque)
    kept = [torque(q) for q in configurations(reuse.COUNT + 3)]
    assert len({id(array) for array in kept} - arrays) == 3
    assert arrays < {id(array) for array in kept}


# A plain call is done by the kernel's own code, the others by a routine for all kernels.
CALLS = {
    'plain': lambda function, q: function(q),
    'by keyword': lambda function, q: function(q=q),
    'a list': lambda function, q: function(q.tolist()),
}


@pytest.mark.parametrize('call', CALLS.values(), ids=CALLS)
def test_every_way_uses_the_same_arrays(torque, call):
    arrays = own(torque)
    assert {id(call(torque, q)) for q in configurations(20)} <= arrays
    kept = [call(torque, q) for q in configurations(reuse.COUNT + 3)]
    assert len({id(array) for array in kept} - arrays) == 3


def test_batches_and_given_arrays_are_not_those(torque):
    arrays = own(torque)
    rows = configurations(3)
    assert id(torque(rows)) not in arrays
    assert id(torque(rows[:1])) not in arrays
    out = np.empty(2)
    assert torque(rows[0], out=out) is out


def test_what_somebody_has_never_changes(torque):
    rng = np.random.default_rng(1)
    ways = list(CALLS.values())
    kept = []
    for q in configurations(2000):
        expected = ways[rng.integers(3)](torque, q).tolist()
        kept.append((ways[rng.integers(3)](torque, q), expected))
        if len(kept) > rng.integers(8):
            kept.pop(rng.integers(len(kept)))
        for array, expected in kept:
            assert array.tolist() == expected


@pytest.mark.parametrize(
    'hold',
    [
        lambda x: x[1:],
        lambda x: x[:, None].T,
        memoryview,
        lambda x: np.frombuffer(x),
        lambda x: x.flat,
        lambda x: {'torque': [x]},
    ],
)
def test_what_is_held_another_way_is_left_alone(torque, hold):
    held = [hold(torque(q)) for q in configurations(reuse.COUNT)]

    def numbers():
        flat = [x['torque'][0] if isinstance(x, dict) else x for x in held]
        return [np.array(x).ravel().tolist() for x in flat]

    before = numbers()
    for _ in range(3 * reuse.COUNT):
        torque(np.ones(2))
    assert numbers() == before


def read_only(x):
    x.flags.writeable = False


def other_shape(x):
    x.shape = (1, 2)


def longer_axis(x):
    x.dtype = np.float32


def other_numbers(x):
    x.dtype = np.int64


@pytest.mark.parametrize('change', [read_only, other_shape, longer_axis, other_numbers])
@pytest.mark.parametrize('call', CALLS.values(), ids=CALLS)
def test_what_somebody_has_changed_is_not_used_again(torque, change, call):
    arrays = own(torque)
    for array in [torque(np.zeros(2)) for _ in range(reuse.COUNT)]:
        change(array)
    del array
    result = call(torque, np.ones(2))
    assert id(result) not in arrays
    assert result.tolist() == torque(np.ones((1, 2)))[0].tolist()
    assert result.shape == (2,) and result.dtype == np.float64 and result.flags.writeable


def test_what_has_lost_its_axes_is_not_looked_into():
    ours = kernel(lambda x: [2.0 * x[0]]).function
    x = np.ones(1)
    for array in [ours(x) for _ in range(reuse.COUNT)]:
        array.shape = ()
    del array
    assert ours(x).shape == ours(x=x).shape == (1,)


def test_a_matrix_of_another_shape_is_not_used_again(two_links):
    robot = Robot.from_urdf(two_links)
    q = np.zeros(2)
    jacobian = robot.frame('link2').jacobian
    jacobian(q)
    jacobian = robot.frame('link2').jacobian
    for array in [jacobian(q) for _ in range(reuse.COUNT)]:
        array.shape = (3, 4)  # as many axes, in the same order
    del array
    assert jacobian(q).shape == jacobian(q=q).shape == (6, 2)


def test_a_weak_reference_never_sees_the_numbers_of_another_call(torque):
    seen = [weakref.ref(torque(np.zeros(2))) for _ in range(reuse.COUNT)]
    before = [None if ref() is None else ref().tolist() for ref in seen]
    for q in configurations(20):
        torque(q)
    assert [None if ref() is None else ref().tolist() for ref in seen] == before


def test_arrays_of_several_outputs_are_apart(two_links):
    robot = Robot.from_urdf(two_links)
    q = np.ones(2)
    robot.equations_of_motion(q, q)
    first = robot.equations_of_motion(q, q)
    copies = [x.copy() for x in first]
    second = robot.equations_of_motion(-q, q)
    ids = [id(x) for x in (*first, *second)]
    assert len(set(ids)) == 4
    for array, copied in zip(first, copies):
        np.testing.assert_array_equal(array, copied)
    del first, second
    robot.equations_of_motion(q, q)
    assert {id(x) for x in robot.equations_of_motion(q, q)} <= set(ids)
    assert {id(x) for x in robot.equations_of_motion(q, v=q)} <= set(ids)


def test_neither_references_nor_memory_are_lost(torque):
    results = [torque(q) for q in configurations(reuse.COUNT)]
    counts = [sys.getrefcount(x) for x in results]
    for q in configurations(1000):
        torque(q)
    assert [sys.getrefcount(x) for x in results] == counts


def test_arrays_outlive_their_kernel(two_links):
    robot = Robot.from_urdf(two_links)
    q = np.array([0.3, 0.4])
    robot.gravity_torque(q)
    result = robot.gravity_torque(q)
    expected = result.tolist()
    del robot
    np.zeros(1000)
    assert result.tolist() == expected


def test_large_outputs_are_new_every_time():
    """Those that are used again are kept for good."""
    assert reuse.has_own_arrays(Output('x', (reuse._LARGEST,)))
    assert not reuse.has_own_arrays(Output('x', (reuse._LARGEST + 1,)))
    large = kernel(lambda x: [x[0]] * (reuse._LARGEST + 1), shape=(reuse._LARGEST + 1,)).function
    results = [large(np.full(1, float(k))) for k in range(3)]
    assert [x[-1] for x in results] == [0.0, 1.0, 2.0]
    assert large(x=np.ones(1))[-1] == 1.0


def test_threads_do_not_get_the_same_array(torque):
    wrong = []

    def work(seed):
        rng = np.random.default_rng(seed)
        for _ in range(300):
            q = rng.uniform(-3.0, 3.0, 2)
            mine = [torque(q) for _ in range(3)]
            expected = torque(q[None])[0]
            if any((x != expected).any() for x in mine):
                wrong.append(q)

    threads = [Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
