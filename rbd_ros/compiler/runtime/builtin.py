# SPDX-License-Identifier: Apache-2.0
"""Builtin functions of CPython in machine code of our own: what those of kernels and loops share.

`supported` is whether this interpreter can have them, `new_builtin` makes the function object, and
`Fallback` is what a kernel's is bound to and calls where it cannot do a call by itself. What
machine code assumes of the interpreter (layout of objects and arrays) is verified once; where that
does not hold, Python callables are used alone. The texts are in kernel_builtin.py and
loop_builtin.py.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache, partial
import sys
from typing import Any, Callable, List

import numpy as np

from rbd_ros.compiler.runtime.memory_layouts import (
    CONTIGUOUS_ALIGNED,
    DATA,
    DESCR,
    DIMENSIONS,
    FLAGS,
    ND,
    TYPE,
)

#: Flag of a C function that is called with an array of arguments and their number.
METH_FASTCALL = 0x0080
_TYPE_VECTORCALL_OFFSET = 56  # tp_vectorcall_offset of a type object


class Fallback(partial):
    """Callable that a builtin is bound to, and calls where it cannot do a call by itself.

    :param holder: type of objects with one slot; each array that the builtin returns is put into
        the slot of a new one, and that returned. What the fallback returns must be such already
    """

    __slots__ = ('holder',)
    holder: type


#: Where the holder is in a fallback: the only slot comes last in the object.
HOLDER_AT = Fallback.__basicsize__ - 8


@lru_cache(maxsize=None)
def supported() -> bool:
    """Return whether this interpreter lays its objects out as the builtin assumes."""
    # 16 bytes: a reference count and a type. Without a GIL there is more, and where references are
    # traced.
    if sys.implementation.name != 'cpython' or object.__basicsize__ != 16 or sys.maxsize < 2**32:
        return False
    # Two axes of different lengths, so that no field passes for another.
    array, fallback = np.zeros((3, 2)), Fallback(len)
    fallback.holder = type(array)
    if ctypes.c_void_p.from_address(id(fallback) + HOLDER_AT).value != id(np.ndarray):
        return False

    def read(offset: int, kind):
        return kind.from_address(id(array) + offset).value

    return (
        read(TYPE, ctypes.c_void_p) == id(np.ndarray)
        and read(DATA, ctypes.c_void_p) == array.ctypes.data
        and read(ND, ctypes.c_int) == 2
        and read(DESCR, ctypes.c_void_p) == id(np.dtype(np.float64))
        and read(FLAGS, ctypes.c_int) & CONTIGUOUS_ALIGNED == CONTIGUOUS_ALIGNED
        # only now is it safe to follow a pointer
        and ctypes.c_int64.from_address(read(DIMENSIONS, ctypes.c_void_p)).value == 3
    )


def vectorcall(fallback: Fallback) -> int:
    """Return the address by which a fallback is called, and every other one.

    That of PyObject_Vectorcall, or what it would call: CPython 3.10 does not export it.
    """
    # Looked up once: all fallbacks are of one kind, and so are called by one function.
    if hasattr(ctypes.pythonapi, 'PyObject_Vectorcall'):
        return ctypes.cast(ctypes.pythonapi.PyObject_Vectorcall, ctypes.c_void_p).value
    offset = ctypes.c_ssize_t.from_address(id(type(fallback)) + _TYPE_VECTORCALL_OFFSET).value
    return ctypes.c_void_p.from_address(id(fallback) + offset).value


class _MethodDef(ctypes.Structure):
    _fields_ = [
        ('name', ctypes.c_char_p),
        ('function', ctypes.c_void_p),
        ('flags', ctypes.c_int),
        ('doc', ctypes.c_char_p),
    ]


# A builtin points to its definition until the very end, also while the garbage collector takes a
# cycle apart in whatever order it likes. So definitions, a hundred bytes each, are never freed.
_definitions: List[_MethodDef] = []


# Kept for ever, like the definitions that point at it.
@lru_cache(maxsize=None)
def _text(text: str) -> bytes:
    return text.encode()


def new_builtin(
    name: str, doc: str, address: int, flags: int, bound: object
) -> Callable[..., Any]:
    """Return the builtin function object of the machine code at `address`.

    :param flags: how the interpreter is to call it, METH_FASTCALL and others
    :param bound: the object that it is bound to, its first argument; it keeps this alive
    """
    definition = _MethodDef(_text(name), address, flags, _text(doc))
    _definitions.append(definition)
    new = ctypes.pythonapi.PyCFunction_NewEx
    new.restype, new.argtypes = (
        ctypes.py_object,
        [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p],
    )
    # By `py_object`, so that ctypes takes over the new reference, and raises what is to be raised.
    return new(ctypes.addressof(definition), bound, None)
