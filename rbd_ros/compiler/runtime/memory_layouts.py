# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Memory layouts for machine code: objects of Python and NumPy, and our own tables.

Objects are those of 64-bit CPython with a GIL.
"""

from __future__ import annotations

import ctypes

import numpy as np

# Offsets in PyObject, in objects of variable size, and in NumPy's PyArrayObject_fields. These are
# the same in CPython 3.10 to 3.14, and in NumPy 1 and 2; variable offsets are read at run time.
# `supported` in builtin.py verifies them.
REFERENCES, TYPE, SIZE = 0, 8, 16
DATA, ND, DIMENSIONS, DESCR, FLAGS, WEAK_REFERENCES = 16, 24, 32, 56, 64, 72
DESCR_KIND = 24  # of an array's descriptor: a letter, such as 'f' for floating-point numbers
#: Bits of an array's flags
CONTIGUOUS_ALIGNED, WRITEABLE = 0x0001 | 0x0100, 0x0400
COLUMN_MAJOR = 0x0002  # set too for arrays with at most one axis of several elements
DOUBLE = 12  # NumPy's number of float64
#: Numbers of PyArray_New and PyArray_FromAny in NumPy's table of C functions
PYARRAY_NEW, PYARRAY_FROM_ANY = 93, 69
POINTER = ctypes.sizeof(ctypes.c_void_p)
TUPLE_ITEMS = tuple.__basicsize__  # offset of the items of a tuple
TUPLE_HASH = 24  # of a tuple, if it has one: cached hash between its size and its items
LIST_ITEMS = 24  # of a list: pointer to its items
FLOAT_VALUE = 16  # of a float, and of a NumPy scalar

# -- table of a kernel for the routine of calls (call_routine.py)

# Maximum arrays, results, axes of a result and links with forces of the routine.
MAX_INPUTS, MAX_OUTPUTS, MAX_AXES, MAX_LINKS = 16, 16, 4, 8
# Maximum number of kernels for forces on other links per kernel: the most recent ones.
MAX_FORCED = 4

# Description of a kernel for the routine, in 64-bit words: single numbers; for each input its
# size, whether it is a number, its default, whether it is drawn by default; names of the arguments
# (inputs, external forces, out); number of axes, elements and shape of each output; for each
# kernel with forces the number of its links, its code, the object it is bound to, and the names of
# the links. `own` and `batches` hold the addresses of reusable results (result_pool.py).
_CALL_WORDS = (
    'inputs', 'outputs', 'one', 'lanes', 'result_type', 'out_name', 'total', 'by_place', 'batch',
    'run', 'scratch', 'scratch_size', 'kept_rows', 'alone_rows', 'chunk', 'ready', 'own',
    'batches', 'max_rows',
)  # fmt: skip
AT = {name: k for k, name in enumerate(_CALL_WORDS)}
SIZES = len(_CALL_WORDS)
NUMBERS = SIZES + MAX_INPUTS
DEFAULTS = NUMBERS + MAX_INPUTS
DRAWN = DEFAULTS + MAX_INPUTS
NAMES = DRAWN + MAX_INPUTS
SHAPES = NAMES + MAX_INPUTS + 2
SHAPE = MAX_AXES + 2  # axes, elements, then the shape
LINKS, FORCED, FORCED_SELF, KEYS = (SHAPES + MAX_OUTPUTS * SHAPE + k for k in range(4))
OF_FORCED = 3 + MAX_LINKS  # words for each kernel with forces
CALL_TABLE_SIZE = LINKS + MAX_FORCED * OF_FORCED

#: Entries of the routine's table `api`, from the interpreter.
API = (
    'ndarray', 'float64', 'list', 'tuple', 'dict', 'float', 'int', 'float64_type', 'none',
    'new_array', 'array_from_any', 'new_float', 'new_tuple', 'retain', 'release', 'int_as_double',
    'error_occurred', 'clear_error', 'dict_get', 'dict_size', 'vectorcall', 'give_up_lock',
    'take_lock', 'no_memory', 'next_double', 'randomness',
)  # fmt: skip

# -- batches (batches.py, thread_pool.py)

# A vector across cache lines takes two accesses; an AVX-512 vector fills one line.
ALIGNMENT = 64  # of the widest vectors
#: Words of a job: the batch function and its arguments; bytes of its scratch array; rows in all,
#: and in a chunk; then internal counters: number of chunks, chunks taken from the first on, and
#: from the last on; helpers at work.
_JOB_WORDS = (
    *('batch', 'ins', 'strides', 'outs', 'scratch', 'rows', 'chunk'),
    *('chunks', 'taken', 'from_last', 'helpers'),
)
JOB = {name: k for k, name in enumerate(_JOB_WORDS)}
JOB_SIZE = len(_JOB_WORDS)

LOCK_SIZE = 128  # bytes, more than a mutex or a condition variable of any system
#: Conditions: `arrived` if a job is published, `finished` if its helpers are done
LOCKS = ('mutex', 'arrived', 'finished')
LIBRARY = {
    'lock': 'pthread_mutex_lock',
    'unlock': 'pthread_mutex_unlock',
    'wait': 'pthread_cond_wait',
    'signal': 'pthread_cond_broadcast',
    'malloc': 'malloc',
    'free': 'free',
}
#: Entries of the pool's table `pool`.
POOL = (*LOCKS, *LIBRARY, 'job')


def address(function: object) -> int:
    """Return the address of a C function of ctypes."""
    found = ctypes.cast(function, ctypes.c_void_p).value  # type: ignore[arg-type]
    assert found is not None
    return found


def numpy_function(number: int) -> int:
    """Return the address of a C function of NumPy by its number in the table of its stable ABI."""
    core = np._core if hasattr(np, '_core') else np.core
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = get(core._multiarray_umath._ARRAY_API, None)
    found = ctypes.c_void_p.from_address(table + number * POINTER).value
    assert found is not None
    return found
