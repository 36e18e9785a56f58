"""How 64-bit CPython with a GIL, and NumPy, lay out the objects that machine code reads."""

from __future__ import annotations

import ctypes

import numpy as np

# Offsets in PyObject, in objects of variable size, and in NumPy's PyArrayObject_fields
REFERENCES, TYPE, SIZE = 0, 8, 16
DATA, ND, DIMENSIONS, DESCR, FLAGS, WEAK_REFERENCES = 16, 24, 32, 56, 64, 72
DOUBLE = 12  # NumPy's number of float64
TUPLE_ITEMS = tuple.__basicsize__  # where the items of a tuple begin


def address(function: object) -> int:
    """Address of a C function of ctypes."""
    found = ctypes.cast(function, ctypes.c_void_p).value  # type: ignore[arg-type]
    assert found is not None
    return found


def numpy_function(number: int) -> int:
    """Address of a C function of NumPy by its number in the table of its stable ABI."""
    core = np._core if hasattr(np, '_core') else np.core
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = get(core._multiarray_umath._ARRAY_API, None)
    found = ctypes.c_void_p.from_address(table + number * ctypes.sizeof(ctypes.c_void_p)).value
    assert found is not None
    return found
