# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Tables in memory for the routine of calls (call_routine.py), and the routine itself.

`CallTable` describes a kernel; the other table has the routine's entries of the interpreter.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache
import os
import sys
import threading
from typing import Any, Dict, List, Sequence, Tuple

import numpy as np

from rbd_ros.compiler.program import Definition
from rbd_ros.compiler.runtime import native, result_pool
from rbd_ros.compiler.runtime.batches import BatchFunction, thread_pool
from rbd_ros.compiler.runtime.builtin import Fallback, vectorcall
from rbd_ros.compiler.runtime.memory_layouts import (
    address,
    AT,
    CALL_TABLE_SIZE,
    DEFAULTS,
    DRAWN,
    FORCED,
    FORCED_SELF,
    KEYS,
    LINKS,
    LIST_ITEMS,
    MAX_AXES,
    MAX_FORCED,
    MAX_INPUTS,
    MAX_LINKS,
    MAX_OUTPUTS,
    NAMES,
    NUMBERS,
    numpy_function,
    OF_FORCED,
    PYARRAY_FROM_ANY,
    PYARRAY_NEW,
    SHAPE,
    SHAPES,
    SIZES,
    TUPLE_ITEMS,
)
from rbd_ros.compiler.source import source_digest


@lru_cache(maxsize=1)
def generator() -> np.random.Generator:
    """Return the source of randomness of this process."""
    return np.random.default_rng()


@lru_cache(maxsize=1)
def _of_machine_code() -> np.random.Generator:
    # A separate one: machine code holds the GIL, but not the lock of a generator.
    return np.random.default_rng()


def next_double() -> Tuple[int, int]:
    """Return the addresses of a C function that draws from [0, 1), and of its argument."""
    interface = _of_machine_code().bit_generator.ctypes
    return ctypes.cast(interface.next_double, ctypes.c_void_p).value or 0, interface.state_address


def _reseed() -> None:
    """Reseed a forked process, so that it does not repeat its parent's numbers."""
    generator.cache_clear()  # another thread, absent in the child, may hold its lock
    if _of_machine_code.cache_info().currsize:  # in place: machine code has its address
        _of_machine_code().bit_generator.state = np.random.default_rng().bit_generator.state


if hasattr(os, 'register_at_fork'):
    os.register_at_fork(after_in_child=_reseed)


class CallTable:
    """Description of one kernel for the routine, and objects to keep alive for its builtins.

    :param definition: the kernel's
    :param one: address of `table`, the kernel for one state
    :param routine: machine code of the routine
    :param own_results: reusable results (`result_pool.pooled_results`)
    """

    def __init__(
        self,
        definition: Definition,
        one: int,
        routine: object,
        own_results: Sequence[Any],
    ):
        # Machine code has its address: it must not move.
        self._words = (ctypes.c_int64 * CALL_TABLE_SIZE)()
        self._kept: List[Any] = [routine]
        # By links, the kept objects of each kernel with forces; then those in the table, in turn.
        self._forced: Dict[Tuple[str, ...], Any] = {}
        self._present: List[Tuple[str, ...]] = [()] * MAX_FORCED
        self._next, self._changing = 0, threading.Lock()
        inputs, outputs = definition.inputs, definition.outputs
        self._set('inputs', len(inputs))
        self._set('outputs', len(outputs))
        self._set('one', one)
        self._set('lanes', native.simd_lanes())
        # Memory for all inputs as numbers; not empty, which would have no address.
        self._set('total', max(1, sum(size for _, size in inputs)))
        if definition.result is not None:
            self._set('result_type', self._object(definition.result))
        self._set('out_name', self._object((sys.intern('out'),)))
        for k, (name, size) in enumerate(inputs):
            self._words[SIZES + k] = size
            self._words[NUMBERS + k] = name in definition.numbers
            self._words[DRAWN + k] = name in definition.drawn
            default = definition.numbers.get(name)
            if default is not None:
                self._words[DEFAULTS + k] = self._object(float(default))
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
        # Machine code puts results into a list, which releases them in the end; nothing else
        # changes it, so its items stay in place.
        self._batches = [None] * result_pool.BATCHES
        self._set('batches', ctypes.c_void_p.from_address(id(self._batches) + LIST_ITEMS).value)
        self._set('max_rows', result_pool.max_rows(outputs, definition.result))

    @staticmethod
    def fits(definition: Definition) -> bool:
        """Return whether the routine supports a kernel."""
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
        """Enable batches without Python, except the first long one, which starts helper threads.

        :param rows: machine code for batches
        """
        self._set('run', thread_pool().run_address)
        self._set('scratch', rows.kept_scratch)
        self._set('scratch_size', rows.scratch_size)
        for name in ('kept_rows', 'alone_rows', 'chunk'):
            self._set(name, getattr(rows, name))
        self._set('ready', thread_pool().ready_address)
        # Last, as it enables the others: between two assignments another thread may run.
        self._set('batch', rows.address)

    def allow_forces(self, links: Sequence[str], function: int, bound: Any) -> None:
        """Enable calls with forces on these links without Python.

        :param links: names of the links in the order of the kernel's inputs
        :param function: address of the builtin's machine code of the kernel with forces
        :param bound: object that the builtin is bound to
        """
        with self._changing:
            if tuple(links) in self._present or len(links) > MAX_LINKS:
                return
            keys = [sys.intern(link) for link in links]
            # Forever: a thread may still use the replaced objects.
            self._forced.setdefault(tuple(links), (keys, bound))
            # Replaces the oldest entry.
            self._present[self._next] = tuple(links)
            place = OF_FORCED * self._next
            self._next = (self._next + 1) % MAX_FORCED
            # While the table changes, no number of links matches, so no call uses it.
            self._words[LINKS + place] = 0
            for k, key in enumerate(keys):
                # Interned, like names in source: lookup is by identity.
                self._words[KEYS + place + k] = id(key)
            self._words[FORCED + place] = function
            self._words[FORCED_SELF + place] = id(bound)
            self._words[LINKS + place] = len(links)

    def _set(self, name: str, value: int) -> None:
        self._words[AT[name]] = value

    def _object(self, value: Any) -> int:
        self._kept.append(value)
        return id(value)


@lru_cache(maxsize=1)
def routine() -> Tuple[native.MachineCode, int]:
    """Return the machine code of the routine and its address, from disk or newly made."""
    key = {
        'source': source_digest('rbd_ros.compiler.runtime.call_routine'),
        'python': sys.version_info[:2],
        # The other offsets are literals in the source.
        'layout': [TUPLE_ITEMS],
    }
    code = native.load_routine('call', _text, key)
    # Addresses of this process are set here, so the machine code can be cached on disk.
    for k, value in enumerate(_api_values()):
        ctypes.c_void_p.from_address(code.global_address('api') + 8 * k).value = value
    return code, code.address('call')


def _text() -> str:
    # Imported only for compilation.
    from rbd_ros.compiler.runtime.call_routine import text

    return text()


def _api_values() -> Sequence[int]:
    api = ctypes.pythonapi
    functions = (
        api.PyFloat_FromDouble, api.PyType_GenericAlloc, api.Py_IncRef, api.Py_DecRef,
        api.PyLong_AsDouble, api.PyErr_Occurred, api.PyErr_Clear, api.PyDict_GetItem,
        api.PyDict_Size,
    )  # fmt: skip
    of_threads = (api.PyEval_SaveThread, api.PyEval_RestoreThread, api.PyErr_NoMemory)
    objects = (np.ndarray, np.dtype(np.float64), list, tuple, dict, float, int, np.float64, None)
    return [
        *map(id, objects),
        numpy_function(PYARRAY_NEW),
        numpy_function(PYARRAY_FROM_ANY),
        *map(address, functions),
        # Any fallback: one function calls all of them.
        vectorcall(Fallback(len)),
        *map(address, of_threads),
        *next_double(),
    ]
