# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Results without other references are reused; all others are not."""

import gc
import sys
from threading import Thread
import tracemalloc
from typing import NamedTuple
import uuid
import weakref

import numpy as np
import pytest
from support.small_kernels import kernel

from rbd_ros import Robot
from rbd_ros.compiler import Definition, make_kernel
from rbd_ros.compiler.program import Output
from rbd_ros.compiler.runtime import builtin, result_pool

pytestmark = pytest.mark.skipif(
    not builtin.supported() or not result_pool.counts_references(),
    reason='other kind of interpreter',
)


@pytest.fixture
def torque(two_links):
    """Return the gravity torque of two joints, a builtin; all its arrays are unused."""
    robot = Robot.from_urdf(two_links)
    robot.gravity_torque(np.zeros(2))
    return robot.gravity_torque


def configurations(count):
    """As many configurations of two joints, all different."""
    return np.random.default_rng(0).uniform(-3.0, 3.0, (count, 2))


def read_only(x):
    x.flags.writeable = False


def other_shape(x):
    x.shape = (1, 2)


def longer_axis(x):
    x.dtype = np.float32


def other_numbers(x):
    x.dtype = np.int64


def own(function, count=result_pool.COUNT):
    """Return the addresses of arrays that a function returns, without references to them."""
    return {id(array) for array in [function(np.zeros(2)) for _ in range(count)]}


def test_a_dropped_result_is_used_again(torque):
    arrays = own(torque)
    assert len(arrays) == result_pool.COUNT
    assert own(torque) == arrays
    assert {id(torque(q)) for q in configurations(20)} <= arrays


def test_with_all_in_use_results_are_new(torque):
    arrays = own(torque)
    kept = [torque(q) for q in configurations(result_pool.COUNT + 3)]
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
    kept = [call(torque, q) for q in configurations(result_pool.COUNT + 3)]
    assert len({id(array) for array in kept} - arrays) == 3


def test_batches_and_given_arrays_are_not_those(torque):
    arrays = own(torque)
    rows = configurations(3)
    assert id(torque(rows)) not in arrays
    assert id(torque(rows[:1])) not in arrays
    out = np.empty(2)
    assert torque(rows[0], out=out) is out


def test_results_in_use_never_change(torque):
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
def test_a_result_held_by_another_object_is_not_reused(torque, hold):
    held = [hold(torque(q)) for q in configurations(result_pool.COUNT)]

    def numbers():
        flat = [x['torque'][0] if isinstance(x, dict) else x for x in held]
        return [np.array(x).ravel().tolist() for x in flat]

    before = numbers()
    for _ in range(3 * result_pool.COUNT):
        torque(np.ones(2))
    assert numbers() == before


@pytest.mark.parametrize('change', [read_only, other_shape, longer_axis, other_numbers])
@pytest.mark.parametrize('call', CALLS.values(), ids=CALLS)
def test_a_result_that_the_caller_changed_is_not_reused(torque, change, call):
    arrays = own(torque)
    for array in [torque(np.zeros(2)) for _ in range(result_pool.COUNT)]:
        change(array)
    del array
    result = call(torque, np.ones(2))
    assert id(result) not in arrays
    assert result.tolist() == torque(np.ones((1, 2)))[0].tolist()
    assert result.shape == (2,) and result.dtype == np.float64 and result.flags.writeable


def test_a_result_without_axes_is_not_reused():
    ours = kernel(lambda x: [2.0 * x[0]]).function
    x = np.ones(1)
    for array in [ours(x) for _ in range(result_pool.COUNT)]:
        array.shape = ()
    del array
    assert ours(x).shape == ours(x=x).shape == (1,)


def test_a_matrix_of_another_shape_is_not_used_again(two_links):
    robot = Robot.from_urdf(two_links)
    q = np.zeros(2)
    jacobian = robot.frame('link2').jacobian
    jacobian(q)
    jacobian = robot.frame('link2').jacobian
    for array in [jacobian(q) for _ in range(result_pool.COUNT)]:
        array.shape = (3, 4)  # as many axes, in the same order
    del array
    assert jacobian(q).shape == jacobian(q=q).shape == (6, 2)


def test_a_weak_reference_never_sees_the_numbers_of_another_call(torque):
    seen = [weakref.ref(torque(np.zeros(2))) for _ in range(result_pool.COUNT)]
    before = [None if ref() is None else ref().tolist() for ref in seen]
    for q in configurations(20):
        torque(q)
    assert [None if ref() is None else ref().tolist() for ref in seen] == before


@pytest.fixture
def equations(two_links):
    """Return inertia matrix and bias force of two joints, a builtin that returns named tuples."""
    robot = Robot.from_urdf(two_links)
    robot.equations_of_motion(np.zeros(2), np.zeros(2))
    return robot.equations_of_motion


# As above, of a function of two arguments.
CALLS_OF_TWO = {
    'plain': lambda function, q: function(q, q),
    'by keyword': lambda function, q: function(q, v=q),
    'lists': lambda function, q: function(q.tolist(), q.tolist()),
}


def own_tuples(function):
    """Return the addresses of the named tuples that are used again, and of their arrays."""
    results = [function(np.zeros(2), np.zeros(2)) for _ in range(result_pool.COUNT)]
    return {id(result) for result in results}, {id(array) for x in results for array in x}


@pytest.mark.parametrize('call', CALLS_OF_TWO.values(), ids=CALLS_OF_TWO)
def test_a_named_tuple_is_used_again_with_its_arrays(equations, call):
    tuples, arrays = own_tuples(equations)
    assert own_tuples(equations) == (tuples, arrays)
    for q in configurations(20):
        result = call(equations, q)
        assert id(result) in tuples and {id(x) for x in result} <= arrays
    del result
    kept = [call(equations, q) for q in configurations(result_pool.COUNT + 3)]
    assert len({id(result) for result in kept} - tuples) == 3
    assert len({id(x) for result in kept for x in result}) == 2 * len(kept)


def numbers(held):
    """Return the numbers of a result, an array or a list of arrays."""
    return [x.tolist() for x in (held if isinstance(held, (tuple, list)) else [held])]


def test_arrays_of_a_named_tuple_in_use_never_change(equations):
    rng = np.random.default_rng(2)
    ways = list(CALLS_OF_TWO.values())
    holds = [tuple.__iter__, list, lambda x: x, lambda x: x[0], lambda x: x[1], lambda x: x[0][1]]
    kept = []
    for q in configurations(3000):
        result = ways[rng.integers(3)](equations, q)
        whole, hold = numbers(result), holds[rng.integers(len(holds))]
        held = hold(result)
        kept.append((held, whole if hold is tuple.__iter__ else numbers(held)))
        del result, held
        if len(kept) > rng.integers(8):
            held, expected = kept.pop(rng.integers(len(kept)))
            assert numbers(list(held) if type(held) is type(iter(())) else held) == expected
        for held, expected in kept:
            if type(held) is not type(iter(())):
                assert numbers(held) == expected


@pytest.mark.parametrize('call', CALLS_OF_TWO.values(), ids=CALLS_OF_TWO)
def test_keeping_one_array_of_each_result_leaves_the_others_reusable(equations, call):
    tuples, arrays = own_tuples(equations)
    kept = [call(equations, q)[0] for q in configurations(10 * result_pool.COUNT)]
    assert len({id(x) for x in kept}) == len(kept)
    results = [call(equations, q) for q in configurations(3)]
    assert {id(result) for result in results} <= tuples
    assert {id(result[1]) for result in results} <= arrays
    for q, array in zip(configurations(10 * result_pool.COUNT), kept):
        assert array.tolist() == equations(q, q)[0].tolist()


@pytest.mark.parametrize('change', [read_only, other_shape, longer_axis, other_numbers])
@pytest.mark.parametrize('call', CALLS_OF_TWO.values(), ids=CALLS_OF_TWO)
def test_changed_arrays_of_a_named_tuple_are_not_reused(equations, change, call):
    _, arrays = own_tuples(equations)
    q = np.ones(2)
    for result in [equations(q, q) for _ in range(result_pool.COUNT)]:
        change(result[1])
    del result
    matrix, bias = call(equations, q)
    assert id(matrix) in arrays and id(bias) not in arrays
    assert bias.shape == (2,) and bias.dtype == np.float64 and bias.flags.writeable
    assert bias.tolist() == equations(q[None], q[None])[1][0].tolist()


def test_weak_references_to_arrays_of_a_named_tuple_see_one_call(equations):
    q = np.ones(2)
    seen = [weakref.ref(equations(q, q)[0]) for _ in range(result_pool.COUNT)]
    before = [None if ref() is None else ref().tolist() for ref in seen]
    for q in configurations(20):
        equations(q, q)
    now = [None if ref() is None else ref().tolist() for ref in seen]
    assert all(x is None or x == y for x, y in zip(now, before))


def test_a_tuple_is_in_use_while_its_array_is_released(equations):
    """A callback at its end may call the same kernel."""
    q = np.ones(2)
    heard = []
    for result in [equations(q, q) for _ in range(result_pool.COUNT)]:
        result[1].shape = (1, 2)
        weakref.finalize(result[1], lambda: heard.append(equations(3 * q, 3 * q)))
    del result
    result = equations(q, q)
    assert result[1].tolist() == equations(q[None], q[None])[1][0].tolist()
    assert heard and all(x is not result for x in heard)
    for x in heard:
        assert x[1].tolist() == equations(3 * q[None], 3 * q[None])[1][0].tolist()


class Mixed(NamedTuple):
    """A result with numbers and an array."""

    double: np.ndarray
    total: float
    first: float


class Numbers(NamedTuple):
    """A result with numbers only, which is hashable."""

    total: float
    first: float


class Open(Numbers):
    """A result with further attributes."""


def named(result, *outputs):
    """Return kernel with a named tuple of outputs, as a builtin; its argument has two elements."""
    outputs_of = [Output(name, (2,) if name == 'double' else ()) for name in result._fields]
    definition = Definition(
        'several',
        (('x', 2),),
        tuple(outputs_of),
        lambda x: [output(x) for output in outputs],
        {'several': uuid.uuid4().hex},
        result=result,
    )
    return make_kernel(definition).function


def double(x):
    return [2.0 * x[0], 2.0 * x[1]]


def total(x):
    return [x[0] + x[1]]


def first(x):
    return [1.0 * x[0]]


def test_numbers_beside_arrays_are_those_of_the_call():
    function = named(Mixed, double, total, first)
    x = np.array([1.0, 2.0])
    function(x)
    kept = [function(k * x) for k in range(2 * result_pool.COUNT)]
    assert [(y.double.tolist(), y.total, y.first) for y in kept] == [
        ([2.0 * k, 4.0 * k], 3.0 * k, 1.0 * k) for k in range(2 * result_pool.COUNT)
    ]
    del kept
    number, alone = function(x).total, float('3.5')
    for k in range(3 * result_pool.COUNT):
        assert function(x=k * x).total == function(k * x).total == 3.0 * k
    assert number == 3.0 and sys.getrefcount(number) == sys.getrefcount(alone)


def test_named_tuples_of_numbers_are_keys():
    """Python 3.14 keeps the hash of a tuple, which is that of its numbers."""
    function = named(Numbers, total, first)
    x = np.array([1.0, 2.0])
    function(x)
    for k in range(3 * result_pool.COUNT):
        for result in (function(k * x), function(x=k * x)):
            assert hash(result) == hash((3.0 * k, 1.0 * k))
            assert {(3.0 * k, 1.0 * k): k}[result] == k


def test_a_result_that_takes_attributes_is_new_every_time():
    function = named(Open, total, first)
    x = np.array([1.0, 2.0])
    function(x).note = 'mine'
    for _ in range(result_pool.COUNT + 1):
        result = function(x)
        assert result == (3.0, 1.0) and not vars(result)
        result.note = 'mine'


def test_given_arrays_do_not_come_into_named_tuples_of_the_kernel(equations):
    tuples, arrays = own_tuples(equations)
    q = np.ones(2)
    out = (np.empty((2, 2)), np.empty(2))
    result = equations(q, q, out=out)
    assert id(result) not in tuples and all(x is y for x, y in zip(result, out))
    del result
    assert {id(x) for x in equations(q, q)} <= arrays


def grows(call):
    """Return the bytes that 2000 calls leave behind."""
    tracemalloc.start()
    for k in range(3000):
        call(k)
        if k == 1000:
            before, _ = tracemalloc.get_traced_memory()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return after - before


def test_named_tuples_leak_neither_references_nor_memory(equations):
    q = np.ones(2)
    ways = list(CALLS_OF_TWO.values())
    results = [equations(q, q) for _ in range(result_pool.COUNT - 1)]
    arrays = [result[0] for result in results]
    counts = [sys.getrefcount(x) for x in (*results, *arrays)]
    assert grows(lambda k: ways[k % 3](equations, q)[k % 2]) < 5000
    assert [sys.getrefcount(x) for x in (*results, *arrays)] == counts


@pytest.mark.parametrize('result', [Mixed, Numbers])
def test_numbers_of_the_last_call_are_released(result):
    function = named(result, *([double] if result is Mixed else []), total, first)
    x = np.array([1.0, 2.0])
    assert grows(lambda k: function(x)) < 5000
    assert grows(lambda k: function(x=x)) < 5000


def test_arrays_of_several_outputs_do_not_overlap(equations):
    q = np.ones(2)
    first_result = equations(q, q)
    copies = [x.copy() for x in first_result]
    second = equations(-q, q)
    ids = [id(x) for x in (*first_result, *second)]
    assert len(set(ids)) == 4
    for array, copied in zip(first_result, copies):
        np.testing.assert_array_equal(array, copied)


def test_neither_references_nor_memory_are_lost(torque):
    results = [torque(q) for q in configurations(result_pool.COUNT)]
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


@pytest.mark.slow
def test_large_outputs_are_new_every_time():
    """Those that are used again are kept for good."""
    assert (
        len(result_pool.pooled_results([Output('x', (result_pool._MAX_ELEMENTS,))]))
        == result_pool.COUNT
    )
    assert not result_pool.pooled_results([Output('x', (result_pool._MAX_ELEMENTS + 1,))])
    large = kernel(
        lambda x: [x[0]] * (result_pool._MAX_ELEMENTS + 1), shape=(result_pool._MAX_ELEMENTS + 1,)
    ).function
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


@pytest.fixture
def batches(torque):
    """Return the gravity torques of many configurations, in machine code."""
    torque(np.zeros((50, 2)))
    return torque


def test_the_last_two_results_of_batches_are_used_again(batches):
    q = configurations(50)
    own = {id(x) for x in [batches(q) for _ in range(result_pool.BATCHES)]}
    assert len(own) == result_pool.BATCHES == 2
    for _ in range(10):
        assert id(batches(q)) in own
    result = None
    for _ in range(10):
        result = batches(q)
        assert id(result) in own
    kept = [batches(q) for _ in range(5)]
    assert len({id(x) for x in [*kept, result]}) == 6


def test_batches_of_other_lengths_are_other_arrays(batches):
    rng = np.random.default_rng(3)
    kept = []
    for q in configurations(2000):
        rows = q + np.zeros((rng.choice([1, 2, 9, 50, 51]), 1))
        kept.append((batches(rows), batches(q).tolist()))
        assert kept[-1][0].shape == rows.shape and kept[-1][0].flags.c_contiguous
        if len(kept) > rng.integers(5):
            kept.pop(rng.integers(len(kept)))
        for array, expected in kept:
            assert (array == expected).all()


@pytest.mark.parametrize('change', [read_only, other_shape, longer_axis, other_numbers])
def test_a_batch_that_the_caller_changed_is_not_reused(batches, change):
    q = configurations(50)
    for array in [batches(q) for _ in range(result_pool.BATCHES)]:
        if change is other_shape:
            array.shape = (2, 50)
        else:
            change(array)
    del array
    result = batches(q)
    assert result.tolist() == [batches(x).tolist() for x in q]
    assert result.shape == (50, 2) and result.dtype == np.float64 and result.flags.writeable


def test_named_tuples_of_batches_are_used_again(equations):
    q = configurations(30)
    equations(q, q)
    own = [equations(q, q) for _ in range(result_pool.BATCHES)]
    ids = {id(x) for x in own}
    del own
    matrices = [equations(q, q) for _ in range(3)]
    assert len({id(x) for x in matrices} - ids) == 1
    held = [result.H for result in matrices]
    del matrices
    expected = [x.tolist() for x in held]
    for _ in range(5):
        result = equations(2.0 * q, v=q)
        assert all(result.H is not x for x in held)
    assert [x.tolist() for x in held] == expected
    for row, H, C in zip(q, *result):
        assert H.tolist() == equations(2.0 * row, row).H.tolist()
        assert C.tolist() == equations(2.0 * row, row).C.tolist()


def test_large_batches_keep_no_memory():
    wide = kernel(lambda x: [x[0]] * 1000, shape=(1000,)).function
    most = result_pool.max_rows([Output('x', (1000,))])
    assert most == result_pool.MAX_BATCH // 1000
    for rows, kept in ((most, True), (most + 1, False)):
        x = np.zeros((rows, 1))
        wide(x)
        tracemalloc.start()
        wide(x)
        left, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert (left > 1_000_000) == kept


def test_batches_of_results_that_take_attributes_are_new():
    function = named(Open, total, first)
    x = np.array([[1.0, 2.0]] * 20)
    function(x)
    for _ in range(result_pool.BATCHES + 1):
        result = function(x)
        assert not vars(result)
        result.note = 'mine'
        del result


def test_memory_of_batches_goes_with_their_kernel():
    function = kernel(lambda x: [x[0]] * 1000, shape=(1000,)).function
    x = np.zeros((500, 1))
    function(x)
    tracemalloc.start()
    for _ in range(3):
        function(x)
    kept, _ = tracemalloc.get_traced_memory()
    del function
    gc.collect()
    left, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept > 4_000_000 and left < 100_000


def test_the_result_of_a_batch_is_released_after_two_further_batches(batches, equations):
    q = [configurations(30 + k % 5) for k in range(5)]
    assert grows(lambda k: batches(q[k % 5])) < 5000
    assert grows(lambda k: equations(q[k % 5], q[k % 5])) < 5000
