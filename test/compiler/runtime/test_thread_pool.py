# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The thread pool shares the rows of a batch: every row is computed once."""

import ctypes
from itertools import pairwise
import os
from pathlib import Path
import re
import signal
import threading

import pytest
from support.waiting import CEILING

from rbd_ros.compiler import set_threads
from rbd_ros.compiler.runtime import batches
from rbd_ros.compiler.runtime.batches import job, thread_pool

BATCH = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4, ctypes.c_int64, ctypes.c_int64)


class Recorder:
    """A batch function that records which thread does which rows.

    :param meet: number of threads that wait for each other
    """

    def __init__(self, meet=1):
        self.chunks, self.threads = [], {}
        self._meeting = threading.Barrier(meet)
        self._lock = threading.Lock()
        self._function = BATCH(self._run)

    def _run(self, ins, strides, outs, scratch, first, last):
        me = threading.get_ident()
        with self._lock:
            self.chunks.append((first, last))
            new = me not in self.threads
            self.threads[me] = scratch
        if new:
            self._meeting.wait(CEILING)

    def run(self, rows, chunk):
        """Do a job; return what the routine returned."""
        batch = ctypes.cast(self._function, ctypes.c_void_p).value
        words = job(batch=batch, scratch=1000, rows=rows, chunk=chunk)
        return thread_pool().run(ctypes.addressof(words))


@pytest.fixture(autouse=True)
def threads_restored():
    before = batches.threads()
    yield
    set_threads(before)


def use_threads(count):
    set_threads(count)
    batches.provide_helpers()


@pytest.mark.parametrize('threads', [1, 2, 5])
@pytest.mark.parametrize('rows, chunk', [(1, 1), (7, 8), (8, 8), (15, 8), (16, 8), (1003, 8)])
def test_every_row_is_done_once_and_no_chunk_is_short(threads, rows, chunk):
    use_threads(threads)
    recorder = Recorder()
    assert recorder.run(rows, chunk) == 1
    ends = sorted(recorder.chunks)
    assert ends[0][0] == 0 and ends[-1][1] == rows
    assert all(a[1] == b[0] for a, b in pairwise(ends))
    assert all(last - first >= min(chunk, rows) for first, last in ends)


@pytest.mark.parametrize('threads', [2, 4])
def test_the_caller_begins_with_the_first_rows_and_helpers_with_the_last(threads):
    """So that each does mostly the same rows in the next batch."""
    use_threads(threads)
    whose = []

    class Named(Recorder):
        def _run(self, ins, strides, outs, scratch, first, last):
            whose.append((first, threading.get_ident()))
            super()._run(ins, strides, outs, scratch, first, last)

    Named(meet=threads).run(1000, 10)
    me = threading.get_ident()
    mine = [first for first, who in whose if who == me]
    theirs = [first for first, who in whose if who != me]
    assert mine[0] == 0 and max(theirs) == 990
    assert max(mine) < min(theirs)


@pytest.mark.parametrize('threads', [2, 4])
def test_as_many_threads_take_part_as_are_chosen_and_no_more(threads):
    use_threads(5)
    use_threads(threads)
    recorder = Recorder(meet=threads)
    recorder.run(1000, 1)
    assert len(recorder.threads) == threads
    scratch = set(recorder.threads.values())
    assert len(scratch) == threads and all(address % 64 == 0 for address in scratch)


def test_a_batch_of_one_chunk_and_any_with_one_thread_stay_with_the_caller():
    use_threads(4)
    whole = Recorder()
    whole.run(100, 100)
    use_threads(1)
    alone = Recorder()
    alone.run(100, 10)
    for recorder in (whole, alone):
        assert recorder.chunks == [(0, 100)]
        assert list(recorder.threads) == [threading.get_ident()]


def test_a_batch_that_finds_another_one_shared_is_done_alone():
    use_threads(2)
    caller, inner, done = threading.current_thread(), [], threading.Event()

    class Outer(Recorder):
        def _run(self, *arguments):
            super()._run(*arguments)
            if threading.current_thread() is not caller:
                done.wait(CEILING)  # the helper still has rows to do
            elif not inner:
                inner.append(Recorder())
                inner[0].run(100, 10)
                done.set()

    Outer(meet=2).run(50, 1)
    assert inner[0].chunks == [(0, 100)]


def test_many_callers_at_once_lose_no_rows():
    use_threads(3)
    recorders = [Recorder() for _ in range(6)]

    def call(recorder):
        for _ in range(20):
            recorder.run(64, 4)

    callers = [threading.Thread(target=call, args=(recorder,)) for recorder in recorders]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(CEILING)
        assert not caller.is_alive()
    for recorder in recorders:
        assert sum(last - first for first, last in recorder.chunks) == 20 * 64


def test_the_caller_waits_for_rows_that_a_helper_has_begun():
    use_threads(2)
    done, finished = threading.Event(), []

    class Slow(Recorder):
        def _run(self, *arguments):
            super()._run(*arguments)
            if threading.current_thread() is not caller:
                done.wait(0.2)  # longer than the caller takes for all that is left
                finished.append(arguments[-1])

    caller = threading.current_thread()
    slow = Slow(meet=2)
    slow.run(2, 1)
    assert len(finished) == 1 and len(slow.chunks) == 2


@pytest.mark.skipif(not hasattr(os, 'SCHED_BATCH'), reason='only Linux has such a policy')
def test_helper_threads_neither_interrupt_nor_receive_signals():
    use_threads(3)
    Recorder(meet=3).run(100, 1)  # all are in machine code by now
    helpers = [x for x in threading.enumerate() if x.name in ('rbd_ros 1', 'rbd_ros 2')]
    assert len(helpers) == 2
    for helper in helpers:
        assert helper.daemon and os.sched_getscheduler(helper.native_id) == os.SCHED_BATCH
        status = Path(f'/proc/self/task/{helper.native_id}/status').read_text(encoding='ascii')
        blocked = int(re.search(r'SigBlk:\s*(\w+)', status)[1], 16)
        assert all(blocked >> (number - 1) & 1 for number in (signal.SIGINT, signal.SIGTERM))
