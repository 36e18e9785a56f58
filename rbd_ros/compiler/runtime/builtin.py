# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Builtin functions of CPython in machine code: the common part of kernels and loops.

`supported` checks the interpreter, `new_builtin` creates the function object, and `Fallback` is
the object that a kernel's builtin is bound to and calls for other arguments. The assumptions of
machine code (layout of objects and arrays) are verified once; if they fail, Python callables are
used alone. `make_builtin` and `make_loop_builtin` are for kernels and loops, whose text is in
kernel_builtin.py and loop_builtin.py. The table `context` gives machine code the addresses in the
interpreter.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache, partial
import struct
import sys
from typing import Any, Callable, List, Sequence, Tuple

import numpy as np

from rbd_ros.compiler.runtime.memory_layouts import (
    address,
    CONTIGUOUS_ALIGNED,
    DATA,
    DESCR,
    DIMENSIONS,
    FLAGS,
    ND,
    numpy_function,
    PYARRAY_NEW,
    TYPE,
)

# Flag of a C function called with an array of arguments, their number, and names.
_METH_FASTCALL = 0x0080
_METH_FASTCALL_KEYWORDS = _METH_FASTCALL | 0x0002
_TYPE_VECTORCALL_OFFSET = 56  # tp_vectorcall_offset of a type object

#: Entries of the table `context` of a kernel, from the interpreter.
KERNEL_CONTEXT = (
    'ndarray',
    'float64',
    'new_array',
    'new_float',
    'new_tuple',
    'release',
    'vectorcall',
    'call',
    'call_table',
    # Not an address: the offset of the holder in the fallback.
    'holder_at',
)

#: Entries of the table `context` of a loop, in order.
LOOP_CONTEXT = (
    'PyLong_AsLongLong',
    'PyFloat_AsDouble',
    'PyLong_FromLongLong',
    'bytes type',
    'PyErr_Occurred',
    'array type',
    'float64',
)


class Fallback(partial):
    """Callable that a builtin is bound to, and calls for arguments that it does not take.

    :param holder: type of objects with one slot; each array that the builtin returns is put into
        a new one, which is returned instead. The fallback must return such objects already
    """

    __slots__ = ('holder',)
    holder: type


#: Offset of the holder in a fallback: the only slot comes last in the object.
HOLDER_AT = Fallback.__basicsize__ - 8


@lru_cache(maxsize=None)
def supported() -> bool:
    """Return whether this interpreter has the object layout that the builtin assumes."""
    # 16 bytes: a reference count and a type. Free-threaded and tracing builds have more.
    if sys.implementation.name != 'cpython' or object.__basicsize__ != 16 or sys.maxsize < 2**32:
        return False
    # Two axes of different lengths distinguish all fields.
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
    """Return the address of the function that calls Python callables.

    That of PyObject_Vectorcall, or what it would call: CPython 3.10 does not export it.
    """
    # Cached: all fallbacks are of one kind, and called by one function.
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


# A builtin refers to its definition until its end, also during garbage collection of a cycle, in
# any order. So definitions, a hundred bytes each, are never freed.
_definitions: List[_MethodDef] = []


# Cached forever, like the definitions that refer to it.
@lru_cache(maxsize=None)
def _text(text: str) -> bytes:
    return text.encode()


def new_builtin(
    name: str, doc: str, address: int, flags: int, bound: object
) -> Callable[..., Any]:
    """Return the builtin function object of the machine code at `address`.

    :param flags: calling convention, METH_FASTCALL and others
    :param bound: the object that it is bound to, its first argument, which it keeps alive
    """
    definition = _MethodDef(_text(name), address, flags, _text(doc))
    _definitions.append(definition)
    new = ctypes.pythonapi.PyCFunction_NewEx
    new.restype, new.argtypes = (
        ctypes.py_object,
        [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p],
    )
    # By `py_object`, so that ctypes takes the new reference, and raises errors.
    return new(ctypes.addressof(definition), bound, None)


@lru_cache(maxsize=None)
def _interpreter() -> Tuple[int, ...]:
    """Return the table `context` up to what depends on the kernel."""
    api = ctypes.pythonapi
    # Objects and functions that live as long as the interpreter: addresses are enough.
    functions = (api.PyFloat_FromDouble, api.PyType_GenericAlloc, api.Py_DecRef)
    return (
        id(np.ndarray),
        id(np.dtype(np.float64)),
        numpy_function(PYARRAY_NEW),
        *map(address, functions),
    )


def make_builtin(
    name: str,
    doc: str,
    address: int,
    context: int,
    fallback: Fallback,
    own_results: Sequence[int],
    routine: Tuple[int, int] = (0, 0),
) -> Callable[..., Any]:
    """Return the builtin function object of the machine code at `address`.

    :param context: address of the table `context` of the same code, filled here
    :param fallback: callable for all other arguments; the builtin keeps it alive, and it must keep
        the code alive
    :param own_results: addresses of reusable results (`result_pool.addresses`); `fallback` must
        keep them alive, too
    :param routine: addresses of the routine for other calls (call_routine.py), and of its table
        for this kernel
    """
    # Addresses of this process are no part of the machine code, which is cached on disk.
    values = (
        *_interpreter(),
        vectorcall(fallback),
        *routine,
        HOLDER_AT,
        *own_results,
    )
    for k, value in enumerate(values):
        # In the order of `KERNEL_CONTEXT`.
        ctypes.c_void_p.from_address(context + 8 * k).value = value
    return new_builtin(name, doc, address, _METH_FASTCALL_KEYWORDS, fallback)


# A subclass, since a bytes object has no attributes.
class _Addresses(bytes):
    """Addresses of the records of a loop, and objects to keep alive."""


def make_loop_builtin(
    name: str, doc: str, address: int, context: int, addresses: Sequence[int], kept: object
) -> Callable[..., int]:
    """Return the function object of a loop whose `builtin` is at `address`; it keeps the GIL.

    Called with the wrong number of arguments, or anything but bytes for bytes, it raises a
    SystemError.

    :param context: address of the table `context` of the same code, filled here
    :param addresses: addresses of the records
    :param kept: objects that must live as long as the function
    """
    api = ctypes.pythonapi
    functions = (api.PyLong_AsLongLong, api.PyFloat_AsDouble, api.PyLong_FromLongLong)
    *values, occurred = (
        ctypes.cast(each, ctypes.c_void_p).value for each in (*functions, api.PyErr_Occurred)
    )
    objects = (id(np.ndarray), id(np.dtype(np.float64)))
    # In the order of `LOOP_CONTEXT`; types and functions of the interpreter are permanent.
    for k, value in enumerate((*values, id(bytes), occurred, *objects)):
        ctypes.c_void_p.from_address(context + 8 * k).value = value
    bound = _Addresses(struct.pack(f'={len(addresses)}q', *addresses))
    # The builtin owns `bound`, which keeps records and machine code alive.
    bound.kept = kept
    return new_builtin(name, doc, address, _METH_FASTCALL, bound)
