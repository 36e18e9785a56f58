# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Batches on several threads, the interpreter lock, and compiling from several threads at once."""

import sys
import threading
import time

import numpy as np
import pytest
from support import fresh_python
from support.small_kernels import kernel

from rbd_ros.compiler import set_threads
from rbd_ros.compiler.runtime import batches


@pytest.fixture
def threads_restored():
    """Yield the number of threads as it was, afterwards."""
    before = batches.threads()
    yield
    set_threads(before)


def busy(x):
    """Return the many sines, one after another."""
    value = x[0]
    for _ in range(40):
        value = (value * 1.1).sin()
    return [value]


def test_the_number_of_threads_does_not_change_a_bit(threads_restored, rng):
    compiled = kernel(busy)
    compiled(np.zeros((20, 1)))
    alone_rows = compiled._rows.alone_rows
    for rows in (alone_rows, alone_rows + 1, 3 * alone_rows + 5):
        x = rng.normal(size=(rows, 1))
        set_threads(1)
        alone = compiled(x)
        for count in (2, 3, 7):
            set_threads(count)
            np.testing.assert_array_equal(compiled(x), alone)
            np.testing.assert_array_equal(compiled.function(x), alone)


def test_the_longer_a_row_takes_the_fewer_rows_are_done_alone():
    def rows_alone(times):
        def evaluate(x):
            value = x[0]
            for _ in range(times):
                value = (value * 1.1).sin()
            return [value]

        compiled = kernel(evaluate)
        compiled(np.zeros((20, 1)))
        return compiled._rows.alone_rows

    few, many = rows_alone(40), rows_alone(4)
    assert 5 * few < many < 20 * few


@pytest.mark.parametrize('count', [0, -1])
def test_the_number_of_threads_is_positive(threads_restored, count):
    with pytest.raises(ValueError, match='positive'):
        set_threads(count)


@pytest.mark.parametrize(
    'text, threads', [('3', 3), ('', None), ('0', None), ('many', None), ('-2', None)]
)
def test_the_environment_may_give_the_number_of_threads(text, threads):
    code = (
        'from rbd_ros.compiler.runtime import batches; '
        'print(batches.threads(), batches.processors())'
    )
    given, processors = map(int, fresh_python.run(code, RBD_ROS_NUM_THREADS=text).stdout.split())
    assert given == (threads or processors)


@pytest.mark.parametrize('builtin', [False, True])
def test_other_threads_run_while_a_batch_is_computed(threads_restored, builtin):
    set_threads(1)
    compiled = kernel(busy)
    if builtin:
        compiled = compiled.function
    x = np.linspace(-1.0, 1.0, 300000)[:, None]
    compiled(x)
    ticks, stop = [], threading.Event()

    def tick():
        while not stop.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.0005)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(10.0)  # a thread that keeps the lock is not asked to give it up
    ticker = threading.Thread(target=tick)
    ticker.start()
    try:
        while not ticks:
            time.sleep(0.001)
        start = time.perf_counter()
        for _ in range(3):
            compiled(x)
        end = time.perf_counter()
    finally:
        sys.setswitchinterval(interval)
        stop.set()
        ticker.join()
    inside = [t for t in ticks if start < t < end]
    assert len(inside) >= 5, f'{len(inside)} ticks in {end - start:.3f} s'


def test_threads_may_request_the_same_robot_function_at_once(two_links):
    from rbd_ros import Robot

    robot = Robot.from_urdf(two_links)
    q, batch = np.full(2, 0.3), np.full((20, 2), 0.3)
    barrier, results, kernels = threading.Barrier(6), [], set()

    def work():
        barrier.wait()
        kernels.add(id(robot.kernel('inverse_dynamics')))
        results.append(robot.inverse_dynamics(batch, batch, batch)[-1])
        results.append(robot.inverse_dynamics(q, q, q))

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 12 and len(kernels) == 1
    assert all(np.array_equal(result, results[0]) for result in results)


FORK = """
import os, sys, threading
import numpy as np
from rbd_ros import Robot
from rbd_ros.compiler import set_threads
set_threads(2)
robot = Robot.from_urdf(sys.argv[1])
q = np.full((200000, robot.nv), 0.2)
expected = robot.inverse_dynamics(q, q, q)  # starts the threads, of which a child has none
other = Robot.from_urdf(sys.argv[1], floating_base=True)
state = other.neutral(), np.zeros(other.nv)
compiling = threading.Thread(target=lambda: other.coriolis_matrix(*state))
compiling.start()  # the fork falls into the middle of it
child = os.fork()
if child == 0:
    same = np.array_equal(robot.inverse_dynamics(q, q, q), expected)
    robot.mass_matrix(q)
    os._exit(0 if same else 3)
compiling.join()
assert np.array_equal(robot.inverse_dynamics(q, q, q), expected)
_, status = os.waitpid(child, 0)
sys.exit(os.waitstatus_to_exitcode(status))
"""


@pytest.mark.skipif(not hasattr(__import__('os'), 'fork'), reason='no fork on this system')
def test_a_forked_process_computes_and_compiles(two_links):
    fresh_python.run(FORK, two_links)
