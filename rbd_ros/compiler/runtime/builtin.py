"""Kernels and loops as builtin functions of CPython.

Machine code that takes NumPy arrays and returns a new one.

The function emitted here is what a C extension would be: called with exactly the expected arrays
(type ndarray, dtype float64, contiguous, aligned, the right length) it allocates the result, runs
the kernel and returns, in about a tenth of a microsecond. With anything else it hands the call on
to a Python callable, which converts, broadcasts, or says what is wrong. What it assumes of the
interpreter (layout of objects and arrays) is verified once; where that does not hold the Python
callable is used alone.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache, partial
import struct
import sys
from typing import Any, Callable, List, Optional, Sequence, Tuple, TYPE_CHECKING

import numpy as np

from rbd_ros.compiler.runtime import reuse
from rbd_ros.compiler.runtime.layouts import (
    address,
    DATA,
    DESCR,
    DIMENSIONS,
    DOUBLE,
    FLAGS,
    ND,
    numpy_function,
    TUPLE_ITEMS,
    TYPE,
)

if TYPE_CHECKING:
    from rbd_ros.compiler.program import Output

_CONTIGUOUS_ALIGNED = 0x0001 | 0x0100
_PYARRAY_NEW = 93  # number of PyArray_New in NumPy's table of C functions
_METH_FASTCALL = 0x0080
_METH_FASTCALL_KEYWORDS = _METH_FASTCALL | 0x0002
_BYTES_DATA = bytes.__basicsize__ - 1  # where the content of a bytes object begins

_TYPE_VECTORCALL_OFFSET = 56  # tp_vectorcall_offset of a type object
_LOOP_CONTEXT = (
    'PyLong_AsLongLong',
    'PyFloat_AsDouble',
    'PyLong_FromLongLong',
    'bytes type',
    'PyErr_Occurred',
)
# What machine code of a kernel needs of the interpreter, in a table of its own.
_CONTEXT = (
    'ndarray',
    'float64',
    'new_array',
    'new_float',
    'new_tuple',
    'release',
    'vectorcall',
    'result_type',
    'call',
    'call_table',
    'holder_at',
)


def builtin_function(
    inputs: Sequence[Tuple[str, int]], outputs: Sequence[Output], numbers: Sequence[str] = ()
) -> str:
    """Text of the function `builtin` that calls `core`, and of its table `context`.

    :param inputs: names and sizes of the input arrays
    :param outputs: names and shapes of the output arrays
    :param numbers: names of the inputs that are single numbers, arrays without an axis
    """
    lines, n, arrays = [], len(inputs), []

    def field(pointer: str, name: str, offset: int, kind: str) -> str:
        lines.append(f'  %{name}_p = getelementptr i8, ptr {pointer}, i64 {offset}')
        lines.append(f'  %{name} = load {kind}, ptr %{name}_p')
        return f'%{name}'

    for k, (name, size) in enumerate(inputs):
        axes = 0 if name in numbers else 1
        lines.append(f'  %slot{k} = getelementptr ptr, ptr %args, i64 {k}')
        lines.append(f'  %a{k} = load ptr, ptr %slot{k}')
        kind = field(f'%a{k}', f'type{k}', TYPE, 'ptr')
        lines += [
            f'  %is_array{k} = icmp eq ptr {kind}, %ndarray',
            f'  br i1 %is_array{k}, label %array{k}, label %slow',
            f'array{k}:',
        ]
        descr = field(f'%a{k}', f'descr{k}', DESCR, 'ptr')
        nd = field(f'%a{k}', f'nd{k}', ND, 'i32')
        flags = field(f'%a{k}', f'flags{k}', FLAGS, 'i32')
        lines += [
            f'  %is_double{k} = icmp eq ptr {descr}, %float64',
            f'  %is_vector{k} = icmp eq i32 {nd}, {axes}',
            f'  %good{k} = and i32 {flags}, {_CONTIGUOUS_ALIGNED}',
            f'  %is_plain{k} = icmp eq i32 %good{k}, {_CONTIGUOUS_ALIGNED}',
            f'  %both{k} = and i1 %is_double{k}, %is_vector{k}',
            f'  %all{k} = and i1 %both{k}, %is_plain{k}',
            f'  br i1 %all{k}, label %vector{k}, label %slow',
            f'vector{k}:',
        ]
        if axes:
            dimensions = field(f'%a{k}', f'dims{k}', DIMENSIONS, 'ptr')
            lines += [
                f'  %length{k} = load i64, ptr {dimensions}',
                f'  %fits{k} = icmp eq i64 %length{k}, {size}',
                f'  br i1 %fits{k}, label %next{k}, label %slow',
                f'next{k}:',
            ]
        arrays.append(f'ptr {field(f"%a{k}", f"data{k}", DATA, "ptr")}')

    checks = '\n'.join(lines)
    made = _Results(outputs)
    return f"""
@context = global [{len(_CONTEXT) + made.own_arrays} x ptr] zeroinitializer
{made.constants}
define ptr @builtin(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) nounwind {{
{_known('ndarray', 'float64')}
  %enough = icmp eq i64 %nargs, {n}
  %plain = icmp eq ptr %kwnames, null
  %start = and i1 %enough, %plain
  br i1 %start, label %begin, label %slow
begin:
{checks}
{made.before}
  call void @core({', '.join([*arrays, *made.destinations])})
{made.after}
slow:
{_known('call', 'call_table')}
  %unknown = icmp eq ptr %call, null
  br i1 %unknown, label %python, label %routine
routine:
  %result_of_call = {'' if made.holds else 'tail '}call ptr %call(ptr %call_table, ptr %self,
                                        ptr %args, i64 %nargs, ptr %kwnames)
  {'br label %hold' if made.holds else 'ret ptr %result_of_call'}
{_HOLD if made.holds else ''}
python:
{_known('vectorcall')}
  %answer = tail call ptr %vectorcall(ptr %self, ptr %args, i64 %nargs, ptr %kwnames)
  ret ptr %answer
}}
"""


def _known(*names: str) -> str:
    """Loads from the table `context`."""
    return '\n'.join(
        f'  %{name}_p = getelementptr ptr, ptr @context, i64 {_CONTEXT.index(name)}\n'
        f'  %{name} = load ptr, ptr %{name}_p'
        for name in names
    )


# An array comes into a new object of the fallback's holder; what Python has returned is in one.
_HOLD = f"""
hold:
  %array = phi ptr [ %result0, %got0 ], [ %result_of_call, %routine ]
{_known('holder_at', 'new_tuple', 'release')}
  %offset = ptrtoint ptr %holder_at to i64
  %holder_p = getelementptr i8, ptr %self, i64 %offset
  %holder = load ptr, ptr %holder_p
  %free = icmp eq ptr %holder, null
  %failed = icmp eq ptr %array, null
  %done = or i1 %free, %failed
  br i1 %done, label %as_it_is, label %look
look:
  %type_p = getelementptr i8, ptr %array, i64 {TYPE}
  %type = load ptr, ptr %type_p
  %is_array = icmp eq ptr %type, %ndarray
  br i1 %is_array, label %holding, label %as_it_is
as_it_is:
  ret ptr %array
holding:
  %held = call ptr %new_tuple(ptr %holder, i64 0)
  %none_held = icmp eq ptr %held, null
  br i1 %none_held, label %drop, label %fill
fill:
  %place = getelementptr i8, ptr %held, i64 {object.__basicsize__}
  store ptr %array, ptr %place
  ret ptr %held
drop:
  call void %release(ptr %array)
  ret ptr null
"""


class _Results:
    """Code that makes the result of one state: an array, a number, or a named tuple of these.

    The tuple is made first and owns what comes into it, so that it is all that must be released if
    memory is short.

    :param outputs: names and shapes of the output arrays

    Its attributes are texts: `constants`; `before` and `after` the kernel runs; `destinations`,
    where the kernel is to write. And `holds`: whether it is an array, which something may hold;
    `own_arrays`: how many arrays there are that are used again, at the end of the table `context`.
    """

    def __init__(self, outputs: Sequence[Output]):
        self._in_tuple = len(outputs) > 1
        self.holds = len(outputs) == 1 and bool(outputs[0].shape)
        self.constants, self.destinations, self.own_arrays = '', [], 0
        self._before, self._after = [_known('new_array')], []
        if self._in_tuple:
            self._before += [
                _known('new_tuple', 'result_type', 'release'),
                f'  %tuple = call ptr %new_tuple(ptr %result_type, i64 {len(outputs)})',
                '  %no_tuple = icmp eq ptr %tuple, null',
                '  br i1 %no_tuple, label %nothing, label %made',
                'made:',
            ]
        if any(not output.shape for output in outputs):
            self._after.append(_known('new_float'))
        for k, output in enumerate(outputs):
            if output.shape:
                self._array(k, output)
            else:
                self._number(k)
        self._end(len(outputs))
        self.before, self.after = '\n'.join(self._before), '\n'.join(self._after)

    def _array(self, k: int, output: Output) -> None:
        dims = ', '.join(f'i64 {d}' for d in output.shape)
        self.constants += f'@shape{k} = internal constant [{len(output.shape)} x i64] [{dims}]\n'
        new = (
            f'call ptr %new_array(ptr %ndarray, i32 {len(output.shape)}, '
            f'ptr @shape{k}, i32 {DOUBLE}, ptr null, ptr null, i32 0, i32 0, ptr null)'
        )
        if reuse.has_own_arrays(output):
            self.constants += reuse.search_function(f'search{k}', output.shape)
            place = len(_CONTEXT) + self.own_arrays
            self.own_arrays += reuse.COUNT
            self._before += [
                f'  %own{k} = getelementptr ptr, ptr @context, i64 {place}',
                f'  br label %search{k}',
                f'search{k}:',
                f'  %found{k} = call ptr @search{k}(ptr %own{k}, ptr %float64)',
                f'  %none{k} = icmp eq ptr %found{k}, null',
                f'  br i1 %none{k}, label %make{k}, label %have{k}',
                f'make{k}:',
                f'  %new{k} = {new}',
                f'  br label %have{k}',
                f'have{k}:',
                f'  %result{k} = phi ptr [ %found{k}, %search{k} ], [ %new{k}, %make{k} ]',
            ]
        else:
            self._before.append(f'  %result{k} = {new}')
        self._keep(k, self._before)
        self._before += [
            f'  %out{k}_p = getelementptr i8, ptr %result{k}, i64 {DATA}',
            f'  %out{k} = load ptr, ptr %out{k}_p',
        ]
        self.destinations.append(f'ptr %out{k}')

    def _number(self, k: int) -> None:
        self._before.append(f'  %number{k} = alloca double')
        self.destinations.append(f'ptr %number{k}')
        self._after += [
            f'  %value{k} = load double, ptr %number{k}',
            f'  %result{k} = call ptr %new_float(double %value{k})',
        ]
        self._keep(k, self._after)

    def _keep(self, k: int, lines: List[str]) -> None:
        """Check that an object was made, and give it to the tuple."""
        if self._in_tuple:
            lines += [
                f'  %item{k} = getelementptr i8, ptr %tuple, i64 {TUPLE_ITEMS + 8 * k}',
                f'  store ptr %result{k}, ptr %item{k}',
            ]
        lines += [
            f'  %failed{k} = icmp eq ptr %result{k}, null',
            f'  br i1 %failed{k}, label %{"give_up" if self._in_tuple else "nothing"}, '
            f'label %got{k}',
            f'got{k}:',
        ]

    def _end(self, count: int) -> None:
        if self._in_tuple:
            self._after += [
                '  ret ptr %tuple',
                'give_up:',
                '  call void %release(ptr %tuple)',
                '  br label %nothing',
            ]
        else:
            self._after.append('  br label %hold' if self.holds else '  ret ptr %result0')
        self._after += ['nothing:', '  ret ptr null']


def loop_function(records: int, numbers: Sequence[str]) -> str:
    """Text of the function `builtin` that calls the loop `entry`, and of its table `context`.

    Of a bytes object, the loop gets the address of its content. Addresses of the records are the
    content of the bytes object that the builtin is bound to.

    :param records: how many records the loop works on
    :param numbers: kinds of what is passed at each call: int, float or bytes
    """
    lines, arguments = [], []
    for k in range(records):
        lines.append(f'  %p{k} = getelementptr i8, ptr %self, i64 {_BYTES_DATA + 8 * k}')
        lines.append(f'  %r{k} = load i64, ptr %p{k}')
        arguments.append(f'i64 %r{k}')
    for k, kind in enumerate(numbers):
        lines.append(f'  %slot{k} = getelementptr ptr, ptr %args, i64 {k}')
        lines.append(f'  %a{k} = load ptr, ptr %slot{k}')
        if kind == 'int':
            lines.append(f'  %n{k} = call i64 %as_int(ptr %a{k})')
        elif kind == 'float':
            lines.append(f'  %n{k} = call double %as_float(ptr %a{k})')
        else:
            lines += [
                f'  %type_p{k} = getelementptr i8, ptr %a{k}, i64 {TYPE}',
                f'  %type{k} = load ptr, ptr %type_p{k}',
                f'  %is_bytes{k} = icmp eq ptr %type{k}, %bytes',
                f'  br i1 %is_bytes{k}, label %next{k}, label %wrong',
                f'next{k}:',
                f'  %data{k} = getelementptr i8, ptr %a{k}, i64 {_BYTES_DATA}',
                f'  %n{k} = ptrtoint ptr %data{k} to i64',
            ]
        arguments.append(f'{"double" if kind == "float" else "i64"} %n{k}')
    body = '\n'.join(lines)
    return f"""
@context = global [{len(_LOOP_CONTEXT)} x ptr] zeroinitializer
define ptr @builtin(ptr %self, ptr %args, i64 %nargs) nounwind {{
  %as_int = load ptr, ptr @context
  %as_float_p = getelementptr ptr, ptr @context, i64 1
  %as_float = load ptr, ptr %as_float_p
  %from_int_p = getelementptr ptr, ptr @context, i64 2
  %from_int = load ptr, ptr %from_int_p
  %bytes_p = getelementptr ptr, ptr @context, i64 3
  %bytes = load ptr, ptr %bytes_p
  %occurred_p = getelementptr ptr, ptr @context, i64 4
  %occurred = load ptr, ptr %occurred_p
  %enough = icmp eq i64 %nargs, {len(numbers)}
  br i1 %enough, label %begin, label %wrong
begin:
{body}
  %error = call ptr %occurred()
  %good = icmp eq ptr %error, null
  br i1 %good, label %run, label %wrong
run:
  %result = call i64 @entry({', '.join(arguments)})
  %answer = call ptr %from_int(i64 %result)
  ret ptr %answer
wrong:
  ret ptr null
}}
"""


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


@lru_cache(maxsize=None)
def _text(text: str) -> bytes:
    return text.encode()


@lru_cache(maxsize=None)
def supported() -> bool:
    """Whether this interpreter lays its objects out as the builtin assumes."""
    if sys.implementation.name != 'cpython' or object.__basicsize__ != 16 or sys.maxsize < 2**32:
        return False
    array, fallback = np.zeros((3, 2)), Fallback(len)
    fallback.holder = type(array)
    if ctypes.c_void_p.from_address(id(fallback) + _HOLDER_AT).value != id(np.ndarray):
        return False

    def read(offset: int, kind):
        return kind.from_address(id(array) + offset).value

    return (
        read(TYPE, ctypes.c_void_p) == id(np.ndarray)
        and read(DATA, ctypes.c_void_p) == array.ctypes.data
        and read(ND, ctypes.c_int) == 2
        and read(DESCR, ctypes.c_void_p) == id(np.dtype(np.float64))
        and read(FLAGS, ctypes.c_int) & _CONTIGUOUS_ALIGNED == _CONTIGUOUS_ALIGNED
        # only now is it safe to follow a pointer
        and ctypes.c_int64.from_address(read(DIMENSIONS, ctypes.c_void_p)).value == 3
    )


class _Addresses(bytes):
    """What a loop is bound to: the addresses of its records, and what must live as long."""


def make_loop_builtin(
    name: str, doc: str, address: int, context: int, addresses: Sequence[int], kept: object
) -> Callable[..., int]:
    """Builtin function object of the loop whose `builtin` is at `address`; it keeps the GIL.

    Called with the wrong number of arguments, or anything but bytes for bytes, it raises a
    SystemError.

    :param context: address of the table `context` of the same code, filled here
    :param addresses: addresses of the records
    :param kept: what must live as long as the function
    """
    api = ctypes.pythonapi
    functions = (api.PyLong_AsLongLong, api.PyFloat_AsDouble, api.PyLong_FromLongLong)
    *values, occurred = (
        ctypes.cast(each, ctypes.c_void_p).value for each in (*functions, api.PyErr_Occurred)
    )
    for k, value in enumerate((*values, id(bytes), occurred)):
        ctypes.c_void_p.from_address(context + 8 * k).value = value
    bound = _Addresses(struct.pack(f'={len(addresses)}q', *addresses))
    bound.kept = kept
    return _new_builtin(_MethodDef(_text(name), address, _METH_FASTCALL, _text(doc)), bound)


@lru_cache(maxsize=None)
def _interpreter() -> Tuple[int, ...]:
    """The table `context` up to what depends on the kernel."""
    api = ctypes.pythonapi
    functions = (api.PyFloat_FromDouble, api.PyType_GenericAlloc, api.Py_DecRef)
    return (
        id(np.ndarray),
        id(np.dtype(np.float64)),
        numpy_function(_PYARRAY_NEW),
        *map(address, functions),
    )


def vectorcall(fallback: Fallback) -> int:
    """Address by which a fallback is called, and every other one.

    That of PyObject_Vectorcall, or what it would call: CPython 3.10 does not export it.
    """
    if hasattr(ctypes.pythonapi, 'PyObject_Vectorcall'):
        return ctypes.cast(ctypes.pythonapi.PyObject_Vectorcall, ctypes.c_void_p).value
    offset = ctypes.c_ssize_t.from_address(id(type(fallback)) + _TYPE_VECTORCALL_OFFSET).value
    return ctypes.c_void_p.from_address(id(fallback) + offset).value


class Fallback(partial):
    """What a builtin is bound to, and calls where it cannot do a call by itself.

    :param holder: type of objects with one slot; each array that the builtin returns is put into
        the slot of a new one, and that returned. What the fallback returns must be such already
    """

    __slots__ = ('holder',)
    holder: type


# The only slot comes last in the object.
_HOLDER_AT = Fallback.__basicsize__ - 8


def make_builtin(
    name: str,
    doc: str,
    address: int,
    context: int,
    fallback: Fallback,
    result: Optional[type] = None,
    routine: Tuple[int, int] = (0, 0),
    own_arrays: Sequence[int] = (),
) -> Callable[..., Any]:
    """Builtin function object of the machine code at `address`.

    :param context: address of the table `context` of the same code, filled here
    :param fallback: callable for all other arguments; the builtin keeps it alive, and it must keep
        the code alive, and `result`
    :param result: named tuple for several outputs
    :param routine: addresses of what does the calls that are not plain (calls.py), and of its
        table for this kernel
    :param own_arrays: addresses of arrays that are used again (reuse.py); `fallback` must keep
        them alive, too
    """
    values = (
        *_interpreter(),
        vectorcall(fallback),
        0 if result is None else id(result),
        *routine,
        _HOLDER_AT,
        *own_arrays,
    )
    for k, value in enumerate(values):
        ctypes.c_void_p.from_address(context + 8 * k).value = value
    return _new_builtin(
        _MethodDef(_text(name), address, _METH_FASTCALL_KEYWORDS, _text(doc)), fallback
    )


def _new_builtin(definition: _MethodDef, bound: object) -> Callable[..., Any]:
    _definitions.append(definition)
    new = ctypes.pythonapi.PyCFunction_NewEx
    new.restype, new.argtypes = (
        ctypes.py_object,
        [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p],
    )
    return new(ctypes.addressof(definition), bound, None)
