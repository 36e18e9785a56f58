# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Batches of states: which thread computes which rows.

A batch that takes less than about two tenths of a millisecond stays on the caller's thread: waking
another one costs some microseconds, and it finds its caches cold. A longer one is shared. The
caller begins at once and takes chunks of rows; helpers do the same from when they have woken up
(thread_pool.py), so a batch never waits for a thread that is late. How long a batch takes is
estimated from the operations of the kernel and the numbers that are read and written.
"""

from __future__ import annotations

from contextlib import suppress
import ctypes
from functools import lru_cache
import logging
import os
import signal
import threading
from typing import Sequence

import numpy as np
from numpy.typing import NDArray

from rbd_ros.compiler.runtime import native
from rbd_ros.compiler.runtime.memory_layouts import (
    address,
    ALIGNMENT,
    JOB,
    JOB_SIZE,
    LIBRARY,
    LOCK_SIZE,
    LOCKS,
    POOL,
)
from rbd_ros.compiler.source import source_digest
from rbd_ros.compiler.symbol_graph import OperationCount

_log = logging.getLogger('rbd_ros')

_HELP = ctypes.CFUNCTYPE(None)  # which releases the interpreter's lock
_RUN = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)

# Estimates [s], on the slow side of what was measured on a processor of 2.5 GHz: an operation in
# all lanes, and a number read or written. An angle is as many operations as its polynomials.
_OPERATION, _NUMBER = 0.3e-9, 0.3e-9
_ANGLE, _DIVISION = 45, 10  # operations
# Batches below the first are done without letting other threads of the interpreter run, those
# below the second without help; chunks of the third are taken of longer ones.
_KEPT, _ALONE, _CHUNK = 20e-6, 200e-6, 10e-6


class ThreadPool:
    """Machine code of thread_pool.py in memory, with the locks and sleepers of this process."""

    def __init__(self) -> None:
        key = {'source': source_digest('rbd_ros.compiler.runtime.thread_pool')}
        self._code = native.load_routine('thread_pool', _text, key)
        self._threads = ctypes.c_int64.from_address(self._code.global_address('threads'))
        self.ready_address = self._code.global_address('ready')
        self._ready = ctypes.c_int64.from_address(self.ready_address)
        self.run_address = self._code.address('run')
        self.run = _RUN(self.run_address)
        self.help = _HELP(self._code.address('help'))
        self.reset()

    def reset(self) -> None:
        """Make new locks, and forget helpers: a forked process has none of its parent's."""
        library = ctypes.CDLL(None)
        self._locks = {name: ctypes.create_string_buffer(LOCK_SIZE) for name in LOCKS}
        values = dict.fromkeys(POOL, 0)
        values.update({name: ctypes.addressof(lock) for name, lock in self._locks.items()})
        for name, function in LIBRARY.items():
            values[name] = address(getattr(library, function))
        # Again, not the old ones: one that another thread of the parent held would stay locked for
        # ever.
        library.pthread_mutex_init(self._locks['mutex'], None)
        library.pthread_cond_init(self._locks['arrived'], None)
        library.pthread_cond_init(self._locks['finished'], None)
        pool = self._code.global_address('pool')
        for k, name in enumerate(POOL):
            ctypes.c_void_p.from_address(pool + 8 * k).value = values[name]
        self._threads.value, self._ready.value = 1, 0

    @property
    def ready(self) -> bool:
        """True if the number of threads was set."""
        return bool(self._ready.value)

    @property
    def threads(self) -> int:
        """Number of threads that may share a batch, the caller's included."""
        return self._threads.value

    @threads.setter
    def threads(self, count: int) -> None:
        self._threads.value, self._ready.value = count, 1


def _text() -> str:
    # Imported where there is something to compile.
    from rbd_ros.compiler.runtime.thread_pool import text

    return text()


@lru_cache(maxsize=1)
def thread_pool() -> ThreadPool:
    """Return the thread pool that batches share in this process."""
    return ThreadPool()


def job(**words: int) -> ctypes.Array[ctypes.c_int64]:
    """Return the job with these words; the others are 0."""
    made = (ctypes.c_int64 * JOB_SIZE)()
    for name, value in words.items():
        made[JOB[name]] = value
    return made


def processors() -> int:
    """Return the processors that this process may use."""
    return (
        len(os.sched_getaffinity(0)) if hasattr(os, 'sched_getaffinity') else os.cpu_count() or 1
    )


def _initial_threads() -> int:
    text = os.environ.get('RBD_ROS_NUM_THREADS', '')
    if text.isdecimal() and int(text) > 0:
        return int(text)
    if text not in ('', '0'):
        _log.warning('RBD_ROS_NUM_THREADS is %r, not a whole number, and is ignored', text)
    return processors()


_threads = _initial_threads()
_helpers = 0  # threads that were started
_starting = threading.Lock()


def threads() -> int:
    """Return the number of threads that share a large batch, the caller's included."""
    return _threads


def set_threads(count: int) -> None:
    """Choose how many threads share a large batch; 1 keeps everything on the caller's.

    :raises ValueError: if not positive
    """
    global _threads
    if count < 1:
        raise ValueError(f'the number of threads must be positive, got {count}')
    with _starting:
        _threads = int(count)
        # Otherwise the first long batch starts them.
        if thread_pool.cache_info().currsize and thread_pool().ready:
            _provide_helpers()


def provide_helpers() -> None:
    """Set the number of helper threads; surplus ones sleep."""
    with _starting:
        _provide_helpers()


def _provide_helpers() -> None:
    global _helpers
    shared = thread_pool()
    # Threads are never ended: with fewer of them requested, those in excess sleep (`@threads`).
    while _helpers < _threads - 1:
        thread = threading.Thread(
            # Daemons: they sleep in machine code for ever, and the interpreter would wait for them
            # to end.
            target=_help,
            args=(shared,),
            name=f'rbd_ros {_helpers + 1}',
            daemon=True,
        )
        try:
            thread.start()
        except RuntimeError:  # the system gives no more threads, or the interpreter is ending
            break
        _helpers += 1
    shared.threads = min(_threads, 1 + _helpers)


def _help(shared: ThreadPool) -> None:
    """Run as a helper in machine code, which needs no interpreter and sees no signals."""
    # Python handles signals in its main thread: one that the system gave to a sleeping helper
    # would not interrupt what that thread waits in.
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    if hasattr(os, 'SCHED_BATCH'):
        # Where no processor is idle, helping must not interrupt anybody, least of all the caller.
        with suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    shared.help()


def _after_fork() -> None:
    """Reset the pool in a forked child, which has no threads of its parent and needs new locks."""
    global _helpers, _starting
    # A thread that is not in the child may have held the old one.
    _starting = threading.Lock()
    if thread_pool.cache_info().currsize:
        thread_pool().reset()
    _helpers = 0


os.register_at_fork(after_in_child=_after_fork)


class BatchFunction:
    """Machine code for the rows of a batch, and how they are shared.

    :param address: of the function `batch` (targets/llvm/functions.py)
    :param numbers: how many numbers of a row go in and come out
    :param seconds: estimate of the time that a row takes, positive, see `estimated_seconds`
    """

    def __init__(self, address: int, numbers: int, seconds: float):
        lanes = native.simd_lanes()
        #: Bytes of a scratch array: a group of rows, and its results.
        self.address, self.scratch_size = address, 8 * lanes * numbers
        #: Rows of a batch up to which it is done without letting other threads run, up to which
        #: it is done alone, and of a chunk otherwise.
        self.kept_rows = max(lanes, int(_KEPT / seconds))
        self.alone_rows = max(2 * lanes, int(_ALONE / seconds))
        self.chunk = lanes * max(1, round(_CHUNK / seconds / lanes))
        self._kept = np.empty(self.scratch_size + ALIGNMENT, dtype=np.uint8)

    @property
    def kept_scratch(self) -> int:
        """Address of a scratch array for anyone who keeps the interpreter's lock."""
        start: int = self._kept.ctypes.data
        return start + -start % ALIGNMENT

    def __call__(
        self,
        arguments: Sequence[NDArray[np.float64]],
        outputs: Sequence[NDArray[np.float64]],
        rows: int,
    ) -> None:
        """Compute a batch of at least as many rows as there are lanes.

        Other threads of the interpreter run meanwhile.

        :param arguments: arrays (rows, n), or (n,) for a single state that counts for every row
        :param outputs: arrays for the results, (rows, ...)
        :raises MemoryError: if there is none for the scratch array
        """
        alone = rows <= self.alone_rows
        if not alone and not thread_pool().ready:
            provide_helpers()
        n, m = len(arguments), len(outputs)
        # These tables and the job live until `run` returns, which is when the last helper is done.
        ins = (ctypes.c_void_p * n)(*(x.ctypes.data for x in arguments))
        strides = (ctypes.c_int64 * n)(*(x.shape[1] if x.ndim == 2 else 0 for x in arguments))
        outs = (ctypes.c_void_p * m)(*(x.ctypes.data for x in outputs))
        words = job(
            batch=self.address,
            ins=ctypes.addressof(ins),
            strides=ctypes.addressof(strides),
            outs=ctypes.addressof(outs),
            scratch=self.scratch_size,
            rows=rows,
            chunk=rows if alone else self.chunk,
        )
        if not thread_pool().run(ctypes.addressof(words)):
            raise MemoryError


def estimated_seconds(count: OperationCount, numbers: int) -> float:
    """Return the estimated duration of a row of a batch [s].

    :param count: operations of the kernel
    :param numbers: how many numbers go in and come out
    """
    operations = (
        1  # whatever a row without numbers takes
        + count.multiplications
        + count.additions
        + count.selections
        + _ANGLE * count.angles
        + _DIVISION * (count.divisions + count.square_roots)
    )
    return operations * _OPERATION / native.simd_lanes() + numbers * _NUMBER
