# SPDX-License-Identifier: Apache-2.0
"""Memory layouts, of 64-bit CPython with a GIL and NumPy, of objects that machine code reads."""

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
