# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Memory layouts of what machine code reads: objects of Python and NumPy, and tables of our own.

Objects are those of 64-bit CPython with a GIL.
"""

from __future__ import annotations

import ctypes

import numpy as np

# Offsets in PyObject, in objects of variable size, and in NumPy's PyArrayObject_fields.
# These are the same in CPython 3.10 to 3.14, and in NumPy 1 and 2; where a field may move, its
# place is asked for. `supported` in builtin.py looks whether arrays are as it says here.
REFERENCES, TYPE, SIZE = 0, 8, 16
DATA, ND, DIMENSIONS, DESCR, FLAGS, WEAK_REFERENCES = 16, 24, 32, 56, 64, 72
DESCR_KIND = 24  # of an array's descriptor: a letter, such as 'f' for floating-point numbers
#: Bits of an array's flags
CONTIGUOUS_ALIGNED, WRITEABLE = 0x0001 | 0x0100, 0x0400
COLUMN_MAJOR = 0x0002  # which arrays with no more than one axis of more than one element are, too
DOUBLE = 12  # NumPy's number of float64
#: Numbers of PyArray_New and PyArray_FromAny in NumPy's table of C functions
PYARRAY_NEW, PYARRAY_FROM_ANY = 93, 69
POINTER = ctypes.sizeof(ctypes.c_void_p)
TUPLE_ITEMS = tuple.__basicsize__  # where the items of a tuple begin
TUPLE_HASH = 24  # of a tuple, if it has one: what it keeps between its size and its items
LIST_ITEMS = 24  # of a list: pointer to its items
FLOAT_VALUE = 16  # of a float, and of NumPy's

# -- table of a kernel for the routine of calls (call_routine.py)

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
_CALL_WORDS = (
    'inputs', 'outputs', 'one', 'lanes', 'result_type', 'out_name', 'total', 'by_place', 'batch',
    'run', 'scratch', 'scratch_size', 'kept_rows', 'alone_rows', 'chunk', 'ready', 'own',
    'batches', 'max_rows',
)  # fmt: skip
AT = {name: k for k, name in enumerate(_CALL_WORDS)}
SIZES = len(_CALL_WORDS)
NUMBERS = SIZES + MAX_INPUTS
USUAL = NUMBERS + MAX_INPUTS
DRAWN = USUAL + MAX_INPUTS
NAMES = DRAWN + MAX_INPUTS
SHAPES = NAMES + MAX_INPUTS + 2
SHAPE = MAX_AXES + 2  # axes, elements, then the shape
LINKS, FORCED, FORCED_SELF, KEYS = (SHAPES + MAX_OUTPUTS * SHAPE + k for k in range(4))
OF_FORCED = 3 + MAX_LINKS  # words for each kernel with forces
CALL_TABLE_SIZE = LINKS + MAX_FORCED * OF_FORCED

#: What the routine needs of the interpreter, in its table `api`.
API = (
    'ndarray', 'float64', 'list', 'tuple', 'dict', 'float', 'int', 'float64_type', 'none',
    'new_array', 'array_from_any', 'new_float', 'new_tuple', 'retain', 'release', 'int_as_double',
    'error_occurred', 'clear_error', 'dict_get', 'dict_size', 'vectorcall', 'give_up_lock',
    'take_lock', 'no_memory', 'next_double', 'randomness',
)  # fmt: skip

# -- batches (batches.py, thread_pool.py)

# A vector that crosses a cache line takes two accesses; AVX-512's fill one line.
ALIGNMENT = 64  # of the widest vectors
#: Words of a job: the batch function and its arguments; bytes of its scratch array; rows in all,
#: and in a chunk; then what the routine itself keeps: how many chunks there are, have been taken,
#: and have been taken from the last on; and helpers at work.
_JOB_WORDS = (
    *('batch', 'ins', 'strides', 'outs', 'scratch', 'rows', 'chunk'),
    *('chunks', 'taken', 'from_last', 'helpers'),
)
JOB = {name: k for k, name in enumerate(_JOB_WORDS)}
JOB_SIZE = len(_JOB_WORDS)

LOCK_SIZE = 128  # bytes, more than a mutex or a condition variable takes on any system
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
#: What the machine code of the pool finds in its table `pool`.
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
