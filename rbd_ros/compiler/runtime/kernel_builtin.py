"""Kernels as builtin functions of CPython: NumPy arrays in, a new array out.

The function emitted here is what a C extension would be: called with exactly the expected arrays
(type ndarray, dtype float64, contiguous, aligned, the right length) it allocates the result, runs
the kernel and returns, in about a tenth of a microsecond. With anything else it hands the call on:
to the routine that does the calls which are not plain (calls.py), or to a Python callable, which
converts, broadcasts, or says what is wrong.

`builtin_function` is the text, `make_builtin` the function object; between them stands the table
`context`, which is how the machine code learns where the interpreter keeps what it needs. What all
builtins have in common is in builtin.py.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import Any, Callable, List, Optional, Sequence, Tuple, TYPE_CHECKING

import numpy as np

from rbd_ros.compiler.runtime import reuse
from rbd_ros.compiler.runtime.builtin import (
    Fallback,
    HOLDER_AT,
    METH_FASTCALL,
    new_builtin,
    vectorcall,
)
from rbd_ros.compiler.runtime.layouts import (
    address,
    CONTIGUOUS_ALIGNED,
    DATA,
    DESCR,
    DIMENSIONS,
    DOUBLE,
    FLAGS,
    ND,
    numpy_function,
    PYARRAY_NEW,
    TUPLE_ITEMS,
    TYPE,
)

if TYPE_CHECKING:
    from rbd_ros.compiler.program import Output

_METH_FASTCALL_KEYWORDS = METH_FASTCALL | 0x0002

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
    # Not an address: how far into the fallback the holder is.
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
        # The type before anything else is read: every object has one.
        kind = field(f'%a{k}', f'type{k}', TYPE, 'ptr')
        lines += [
            f'  %is_array{k} = icmp eq ptr {kind}, %ndarray',
            f'  br i1 %is_array{k}, label %array{k}, label %slow',
            f'array{k}:',
        ]
        # These may be read of any array, so they are tested together: one branch instead of three.
        descr = field(f'%a{k}', f'descr{k}', DESCR, 'ptr')
        nd = field(f'%a{k}', f'nd{k}', ND, 'i32')
        flags = field(f'%a{k}', f'flags{k}', FLAGS, 'i32')
        lines += [
            f'  %is_double{k} = icmp eq ptr {descr}, %float64',
            f'  %is_vector{k} = icmp eq i32 {nd}, {axes}',
            f'  %good{k} = and i32 {flags}, {CONTIGUOUS_ALIGNED}',
            f'  %is_plain{k} = icmp eq i32 %good{k}, {CONTIGUOUS_ALIGNED}',
            f'  %both{k} = and i1 %is_double{k}, %is_vector{k}',
            f'  %all{k} = and i1 %both{k}, %is_plain{k}',
            f'  br i1 %all{k}, label %vector{k}, label %slow',
            f'vector{k}:',
        ]
        # An array without axes has no lengths to point at.
        if axes:
            dimensions = field(f'%a{k}', f'dims{k}', DIMENSIONS, 'ptr')
            lines += [
                f'  %length{k} = load i64, ptr {dimensions}',
                f'  %fits{k} = icmp eq i64 %length{k}, {size}',
                f'  br i1 %fits{k}, label %next{k}, label %slow',
                f'next{k}:',
            ]
        # Only now: what is not an array has no such field.
        arrays.append(f'ptr {field(f"%a{k}", f"data{k}", DATA, "ptr")}')

    # The calls below are tail calls where they can be: this function then leaves no frame behind.
    # What has yet to be put into a holder must come back.
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
        # PyArray_New with neither strides nor data: contiguous, in memory of its own, not cleared.
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
        # Before the kernel runs: it has to have somewhere to write.
        self._keep(k, self._before)
        self._before += [
            f'  %out{k}_p = getelementptr i8, ptr %result{k}, i64 {DATA}',
            f'  %out{k} = load ptr, ptr %out{k}_p',
        ]
        self.destinations.append(f'ptr %out{k}')

    def _number(self, k: int) -> None:
        # A float cannot be written to after it was made: the kernel writes beside it.
        self._before.append(f'  %number{k} = alloca double')
        self.destinations.append(f'ptr %number{k}')
        self._after += [
            f'  %value{k} = load double, ptr %number{k}',
            f'  %result{k} = call ptr %new_float(double %value{k})',
        ]
        self._keep(k, self._after)

    def _keep(self, k: int, lines: List[str]) -> None:
        """Check that an object was made, and give it to the tuple."""
        # The tuple owns it at once. Null is fine, too: then the whole tuple is released.
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


@lru_cache(maxsize=None)
def _interpreter() -> Tuple[int, ...]:
    """The table `context` up to what depends on the kernel."""
    api = ctypes.pythonapi
    # Objects and functions that live as long as the interpreter, so that addresses are enough.
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
    # Addresses are those of this process, so they are no part of the machine code, which is kept
    # on disk.
    values = (
        *_interpreter(),
        vectorcall(fallback),
        0 if result is None else id(result),
        *routine,
        HOLDER_AT,
        *own_arrays,
    )
    for k, value in enumerate(values):
        # In the order of `_CONTEXT`.
        ctypes.c_void_p.from_address(context + 8 * k).value = value
    return new_builtin(name, doc, address, _METH_FASTCALL_KEYWORDS, fallback)
