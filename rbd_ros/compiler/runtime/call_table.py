# SPDX-License-Identifier: Apache-2.0
"""Table in memory that describes a kernel to the routine of calls (call_routine.py)."""

from __future__ import annotations

import ctypes
import sys
import threading
from typing import Any, Dict, List, Sequence, Tuple

from rbd_ros.compiler.definition import Definition
from rbd_ros.compiler.runtime import result_pool
from rbd_ros.compiler.runtime.batches import BatchFunction
from rbd_ros.compiler.runtime.memory_layouts import LIST_ITEMS
from rbd_ros.compiler.runtime.thread_pool import thread_pool
from rbd_ros.compiler.targets.llvm import native

# Most arrays, results, axes of a result and links with forces; with more the routine is not used.
MAX_INPUTS, MAX_OUTPUTS, MAX_AXES, MAX_LINKS = 16, 16, 4, 8
# How many kernels for forces on other links each are known: those asked for last.
MAX_FORCED = 4

# What the routine knows about a kernel, in a table of 64-bit words: single numbers; of each
# input its size, whether it is a number, its value if it is not given, whether it is drawn then;
# names of the arguments (inputs, external forces, out); number of axes, elements and shape of each
# output; of each kernel with forces the number of its links, its code, what that is bound to, and
# the names of the links. `own` and `batches` are where the addresses of its own results are
# (result_pool.py).
_WORDS = (
    'inputs', 'outputs', 'one', 'lanes', 'result_type', 'out_name', 'total', 'by_place', 'batch',
    'run', 'scratch', 'scratch_size', 'kept_rows', 'alone_rows', 'chunk', 'ready', 'own',
    'batches', 'most_rows',
)  # fmt: skip
AT = {name: k for k, name in enumerate(_WORDS)}
SIZES = len(_WORDS)
NUMBERS = SIZES + MAX_INPUTS
USUAL = NUMBERS + MAX_INPUTS
DRAWN = USUAL + MAX_INPUTS
NAMES = DRAWN + MAX_INPUTS
SHAPES = NAMES + MAX_INPUTS + 2
SHAPE = MAX_AXES + 2  # axes, elements, then the shape
LINKS, FORCED, FORCED_SELF, KEYS = (SHAPES + MAX_OUTPUTS * SHAPE + k for k in range(4))
OF_FORCED = 3 + MAX_LINKS  # words for each kernel with forces
_LENGTH = LINKS + MAX_FORCED * OF_FORCED


class CallTable:
    """Description of one kernel for the routine, and what must live as long as its builtins.

    :param definition: the kernel's
    :param one: address of `table`, the kernel for one state
    :param routine: what the calls are done by
    :param own_results: results that are used again (`result_pool.pooled_results`), which the
        kernel keeps
    """

    def __init__(
        self,
        definition: Definition,
        one: int,
        routine: object,
        own_results: Sequence[Any],
    ):
        # Machine code knows its address: it must stay where it is.
        self._words = (ctypes.c_int64 * _LENGTH)()
        self._kept: List[Any] = [routine]
        # By links, what is kept of each kernel with forces; which of them the table has, in turn.
        self._forced: Dict[Tuple[str, ...], Any] = {}
        self._present: List[Tuple[str, ...]] = [()] * MAX_FORCED
        self._next, self._changing = 0, threading.Lock()
        inputs, outputs = definition.inputs, definition.outputs
        self._set('inputs', len(inputs))
        self._set('outputs', len(outputs))
        self._set('one', one)
        self._set('lanes', native.simd_lanes())
        # Memory for all inputs as numbers; not none, of which there would be no address.
        self._set('total', max(1, sum(size for _, size in inputs)))
        if definition.result is not None:
            self._set('result_type', self._object(definition.result))
        self._set('out_name', self._object((sys.intern('out'),)))
        for k, (name, size) in enumerate(inputs):
            self._words[SIZES + k] = size
            self._words[NUMBERS + k] = name in definition.numbers
            self._words[DRAWN + k] = name in definition.drawn
            usual = definition.numbers.get(name)
            if usual is not None:
                self._words[USUAL + k] = self._object(float(usual))
        self._set('by_place', len(inputs) + bool(definition.mapping))
        # In the order of the slots (`arrange` in call_arguments.py).
        names = [*(name for name, _ in inputs), definition.mapping, 'out']
        for k, name in enumerate(names):
            if name:
                self._words[NAMES + k] = self._object(sys.intern(name))
        for j, output in enumerate(outputs):
            first = SHAPES + j * SHAPE
            for k, value in enumerate((len(output.shape), output.size, *output.shape)):
                self._words[first + k] = value
        own = result_pool.addresses(own_results)
        self._own = (ctypes.c_void_p * len(own))(*own)
        self._set('own', ctypes.addressof(self._own))
        # Machine code puts results in the places of a list, which lets go of them in the end. It
        # stays where it is, as nothing else changes it.
        self._batches = [None] * result_pool.BATCHES
        self._set('batches', ctypes.c_void_p.from_address(id(self._batches) + LIST_ITEMS).value)
        self._set('most_rows', result_pool.most_rows(outputs, definition.result))

    @staticmethod
    def fits(definition: Definition) -> bool:
        """Return whether the routine can do calls of a kernel."""
        return (
            len(definition.inputs) <= MAX_INPUTS
            and len(definition.outputs) <= MAX_OUTPUTS
            and all(len(output.shape) <= MAX_AXES for output in definition.outputs)
        )

    @property
    def address(self) -> int:
        """Address of the table."""
        return ctypes.addressof(self._words)

    def allow_batches(self, rows: BatchFunction) -> None:
        """Allow batches without Python, except the first long one, which starts helper threads.

        :param rows: what does them
        """
        self._set('run', thread_pool().run_address)
        self._set('scratch', rows.kept_scratch)
        self._set('scratch_size', rows.scratch_size)
        for name in ('kept_rows', 'alone_rows', 'chunk'):
            self._set(name, getattr(rows, name))
        self._set('ready', thread_pool().ready_address)
        # Last: it says that the others are set. Between two assignments another thread may run.
        self._set('batch', rows.address)

    def allow_forces(self, links: Sequence[str], function: int, bound: Any) -> None:
        """Allow calls with forces on these links without Python.

        :param links: names of the links in the order of the kernel's inputs
        :param function: address of the builtin's machine code of the kernel with forces
        :param bound: what that builtin is bound to
        """
        with self._changing:
            if tuple(links) in self._present or len(links) > MAX_LINKS:
                return
            keys = [sys.intern(link) for link in links]
            # For ever: a thread may be about to use what is replaced.
            self._forced.setdefault(tuple(links), (keys, bound))
            # In the place of those that were allowed before all others.
            self._present[self._next] = tuple(links)
            place = OF_FORCED * self._next
            self._next = (self._next + 1) % MAX_FORCED
            # While the table changes, no number of links is right, so that no call comes through.
            self._words[LINKS + place] = 0
            for k, key in enumerate(keys):
                # Interned, as names in a program are: a dictionary finds them by identity.
                self._words[KEYS + place + k] = id(key)
            self._words[FORCED + place] = function
            self._words[FORCED_SELF + place] = id(bound)
            self._words[LINKS + place] = len(links)

    def _set(self, name: str, value: int) -> None:
        self._words[AT[name]] = value

    def _object(self, value: Any) -> int:
        self._kept.append(value)
        return id(value)
