# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Batches of states: distribution of rows to threads.

A batch of less than about two tenths of a millisecond stays on the caller's thread: waking another
one costs some microseconds, and its caches are cold. For a longer one, the caller starts at once
and takes chunks of rows; helpers join as they wake up (thread_pool.py), so a batch never waits for
a late thread. The duration of a batch is estimated from the operations of the kernel and the
numbers read and written.
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

_HELP = ctypes.CFUNCTYPE(None)  # releases the GIL
_RUN = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)

# Estimates [s], on the slow side of measurements on a processor of 2.5 GHz: an operation in
# all lanes, and a number read or written. An angle counts as the operations of its polynomials.
_OPERATION, _NUMBER = 0.3e-9, 0.3e-9
_ANGLE, _DIVISION = 45, 10  # operations
# Batches below the first keep the GIL, those below the second run without helpers; chunks of
# longer ones take the third.
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
        """Create new locks, and forget helpers: a forked process has none of its parent's."""
        library = ctypes.CDLL(None)
        self._locks = {name: ctypes.create_string_buffer(LOCK_SIZE) for name in LOCKS}
        values = dict.fromkeys(POOL, 0)
        values.update({name: ctypes.addressof(lock) for name, lock in self._locks.items()})
        for name, function in LIBRARY.items():
            values[name] = address(getattr(library, function))
        # New ones: a lock held by another thread of the parent would stay locked forever.
        library.pthread_mutex_init(self._locks['mutex'], None)
        library.pthread_cond_init(self._locks['arrived'], None)
        library.pthread_cond_init(self._locks['finished'], None)
        pool = self._code.global_address('pool')
        for k, name in enumerate(POOL):
            ctypes.c_void_p.from_address(pool + 8 * k).value = values[name]
        self._threads.value, self._ready.value = 1, 0

    @property
    def ready(self) -> bool:
        """Whether the number of threads was set."""
        return bool(self._ready.value)

    @property
    def threads(self) -> int:
        """Number of threads that may share a batch, the caller's included."""
        return self._threads.value

    @threads.setter
    def threads(self, count: int) -> None:
        self._threads.value, self._ready.value = count, 1


def _text() -> str:
    # Imported only for compilation.
    from rbd_ros.compiler.runtime.thread_pool import text

    return text()


@lru_cache(maxsize=1)
def thread_pool() -> ThreadPool:
    """Return the thread pool that batches share in this process."""
    return ThreadPool()


def job(**words: int) -> ctypes.Array[ctypes.c_int64]:
    """Return a job with these words; the others are 0."""
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
_helpers = 0  # number of started threads
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
    # Threads are never ended: surplus ones sleep (`@threads`).
    while _helpers < _threads - 1:
        thread = threading.Thread(
            # Daemons: they sleep in machine code forever, and the interpreter would wait for them.
            target=_help,
            args=(shared,),
            name=f'rbd_ros {_helpers + 1}',
            daemon=True,
        )
        try:
            thread.start()
        except RuntimeError:  # no more threads, or the interpreter is ending
            break
        _helpers += 1
    shared.threads = min(_threads, 1 + _helpers)


def _help(shared: ThreadPool) -> None:
    """Run as a helper in machine code, without the interpreter and signals."""
    # Python handles signals in its main thread. One delivered to a sleeping helper would not
    # interrupt a blocking call of the main thread.
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    if hasattr(os, 'SCHED_BATCH'):
        # Without an idle processor, helping must not preempt others, least of all the caller.
        with suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    shared.help()


def _after_fork() -> None:
    """Reset the pool in a forked child, which has no threads of its parent and needs new locks."""
    global _helpers, _starting
    # A thread that is not in the child may hold the old one.
    _starting = threading.Lock()
    if thread_pool.cache_info().currsize:
        thread_pool().reset()
    _helpers = 0


os.register_at_fork(after_in_child=_after_fork)


class BatchFunction:
    """Machine code for the rows of a batch, and their distribution.

    :param address: of the function `batch` (targets/llvm/kernel_functions.py)
    :param numbers: number of inputs and outputs of a row
    :param seconds: estimated duration of a row, positive, see `estimated_seconds`
    """

    def __init__(self, address: int, numbers: int, seconds: float):
        lanes = native.simd_lanes()
        #: Bytes of a scratch array: a group of rows, and its results.
        self.address, self.scratch_size = address, 8 * lanes * numbers
        #: Maximum rows of a batch that keeps the GIL, and of one without helpers; rows of a chunk
        #: otherwise.
        self.kept_rows = max(lanes, int(_KEPT / seconds))
        self.alone_rows = max(2 * lanes, int(_ALONE / seconds))
        self.chunk = lanes * max(1, round(_CHUNK / seconds / lanes))
        self._kept = np.empty(self.scratch_size + ALIGNMENT, dtype=np.uint8)

    @property
    def kept_scratch(self) -> int:
        """Address of a scratch array for callers that hold the GIL."""
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

        :param arguments: arrays (rows, n), or (n,) for a single state, broadcast to all rows
        :param outputs: arrays for the results, (rows, ...)
        :raises MemoryError: if the scratch array cannot be allocated
        """
        alone = rows <= self.alone_rows
        if not alone and not thread_pool().ready:
            provide_helpers()
        n, m = len(arguments), len(outputs)
        # These tables and the job live until `run` returns, after the last helper.
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
    :param numbers: number of inputs and outputs
    """
    operations = (
        1  # positive, even for a row without numbers
        + count.multiplications
        + count.additions
        + count.selections
        + _ANGLE * count.angles
        + _DIVISION * (count.divisions + count.square_roots)
    )
    return operations * _OPERATION / native.simd_lanes() + numbers * _NUMBER
