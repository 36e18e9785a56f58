# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Kernels as builtin functions of CPython: NumPy arrays in, a new array out.

The function emitted here is like a C extension: called with exactly the expected arrays (type
ndarray, dtype float64, contiguous, aligned, the right length) it allocates the result, runs the
kernel and returns, in about a tenth of a microsecond. It forwards all other calls to the routine
of general calls (call_routine.py), or to a Python callable, which converts, broadcasts, or reports
errors.

`builtin_function` is the text; builtin.py makes function objects of it.
"""

from __future__ import annotations

from typing import List, Sequence, Tuple, TYPE_CHECKING

from rbd_ros.compiler.runtime.builtin import KERNEL_CONTEXT
from rbd_ros.compiler.runtime.call_pooled_results import search_function
from rbd_ros.compiler.runtime.memory_layouts import (
    CONTIGUOUS_ALIGNED,
    DATA,
    DESCR,
    DIMENSIONS,
    DOUBLE,
    FLAGS,
    ND,
    POINTER,
    TUPLE_ITEMS,
    TYPE,
)
from rbd_ros.compiler.runtime.result_pool import COUNT

if TYPE_CHECKING:
    from rbd_ros.compiler.program import Output


def builtin_function(
    inputs: Sequence[Tuple[str, int]], outputs: Sequence[Output], numbers: Sequence[str] = ()
) -> str:
    """Return the text of the function `builtin` that calls `core`, and of its table `context`.

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
        # The type first: every object has one. By identity: a subclass may have other semantics.
        kind = field(f'%a{k}', f'type{k}', TYPE, 'ptr')
        lines += [
            f'  %is_array{k} = icmp eq ptr {kind}, %ndarray',
            f'  br i1 %is_array{k}, label %array{k}, label %slow',
            f'array{k}:',
        ]
        # Any array has these, so they are tested together: one branch instead of three.
        descr = field(f'%a{k}', f'descr{k}', DESCR, 'ptr')
        nd = field(f'%a{k}', f'nd{k}', ND, 'i32')
        flags = field(f'%a{k}', f'flags{k}', FLAGS, 'i32')
        # Two branches for each array: predicted well, as calls with plain arrays are the rule.
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
        # An array without axes may have no lengths.
        if axes:
            dimensions = field(f'%a{k}', f'dims{k}', DIMENSIONS, 'ptr')
            lines += [
                # Strides follow from the length of a contiguous and aligned array.
                f'  %length{k} = load i64, ptr {dimensions}',
                f'  %fits{k} = icmp eq i64 %length{k}, {size}',
                f'  br i1 %fits{k}, label %next{k}, label %slow',
                f'next{k}:',
            ]
        # Only now: other objects have no such field.
        arrays.append(f'ptr {field(f"%a{k}", f"data{k}", DATA, "ptr")}')

    # Tail calls where possible: this function then leaves no frame. Results for a holder must
    # return here. The caller owns its arguments until the call returns: no reference counting.
    checks = '\n'.join(lines)
    made = _Results(outputs)
    return f"""
@context = global [{len(KERNEL_CONTEXT) + COUNT} x ptr] zeroinitializer
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
    """Return the loads from the table `context`."""
    return '\n'.join(_load_from_context(name, name) for name in names)


def _load_from_context(value: str, name: str) -> str:
    """Load from the table `context`, as the value %`value`."""
    return (
        f'  %{value}_p = getelementptr ptr, ptr @context, i64 {KERNEL_CONTEXT.index(name)}\n'
        f'  %{value} = load ptr, ptr %{value}_p'
    )


# An array goes into a new object of the fallback's holder; results of Python are in one already.
_HOLD = f"""
hold:
  %array = phi ptr [ %result, %kept ], [ %result_of_call, %routine ]
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

    An array is a reused one (result_pool.py) or new, and so is a named tuple, except that the
    routine of general calls creates new ones.

    :param outputs: names and shapes of the output arrays

    Its attributes are texts: `constants`; `before` and `after` the kernel runs; `destinations` of
    the kernel. `holds` is whether the result is an array, which may go into a holder.
    """

    def __init__(self, outputs: Sequence[Output]):
        self.holds = len(outputs) == 1 and bool(outputs[0].shape)
        self.constants, self.destinations = '', []
        self._before, self._after = [], []
        if len(outputs) > 1:
            self._tuple(outputs)
        elif self.holds:
            self._array(outputs[0].shape)
        else:
            self._after += [*self._number(0), '  ret ptr %float0']
        self._after += ['nothing:', '  ret ptr null']
        self.before, self.after = '\n'.join(self._before), '\n'.join(self._after)

    def _search(self, shapes: Sequence[Sequence[int]], otherwise: str) -> None:
        """Find an unused result, or branch to a label."""
        self.constants += search_function('search', shapes)
        self._before += [
            f'  %own = getelementptr ptr, ptr @context, i64 {len(KERNEL_CONTEXT)}',
            '  br label %search',
            'search:',
            '  %found = call ptr @search(ptr %own, ptr %float64)',
            '  %none = icmp eq ptr %found, null',
            f'  br i1 %none, label %{otherwise}, label %have',
        ]

    def _tuple(self, outputs: Sequence[Output]) -> None:
        self._search([output.shape for output in outputs], 'slow')
        self._before.append('have:')
        for k, output in enumerate(outputs):
            place = f'  %item{k} = getelementptr i8, ptr %found, i64 {TUPLE_ITEMS + POINTER * k}'
            if output.shape:
                self._before += [place, f'  %mine{k} = load ptr, ptr %item{k}']
                self._write_to(f'%mine{k}', k)
            else:
                # Replaces the last number; if memory is short, that one stays.
                self._after += [
                    *self._number(k, 'drop_result'),
                    place,
                    f'  %last{k} = load ptr, ptr %item{k}',
                    f'  store ptr %float{k}, ptr %item{k}',
                    _load_from_context(f'release{k}', 'release'),
                    f'  call void %release{k}(ptr %last{k})',
                ]
        self._after.append('  ret ptr %found')
        if any(not output.shape for output in outputs):
            self._after += [
                'drop_result:',
                _load_from_context('release_result', 'release'),
                '  call void %release_result(ptr %found)',
                '  br label %nothing',
            ]

    def _array(self, shape: Sequence[int]) -> None:
        self._search([shape], 'make')
        dims = ', '.join(f'i64 {d}' for d in shape)
        self.constants += f'@shape = internal constant [{len(shape)} x i64] [{dims}]\n'
        self._before += [
            'make:',
            _known('new_array'),
            # PyArray_New with neither strides nor data: contiguous, owned, uninitialized.
            f'  %new = call ptr %new_array(ptr %ndarray, i32 {len(shape)}, ptr @shape, '
            f'i32 {DOUBLE}, ptr null, ptr null, i32 0, i32 0, ptr null)',
            '  %not_made = icmp eq ptr %new, null',
            '  br i1 %not_made, label %nothing, label %have',
            'have:',
            '  %result = phi ptr [ %found, %search ], [ %new, %make ]',
        ]
        self._write_to('%result', 0)
        self._after += ['  br label %kept', 'kept:', '  br label %hold']

    def _write_to(self, array: str, k: int) -> None:
        self._before += [
            f'  %out{k}_p = getelementptr i8, ptr {array}, i64 {DATA}',
            f'  %out{k} = load ptr, ptr %out{k}_p',
        ]
        self.destinations.append(f'ptr %out{k}')

    def _number(self, k: int, failed: str = 'nothing') -> List[str]:
        # Floats are immutable: the kernel writes to the stack.
        self._before.append(f'  %number{k} = alloca double')
        self.destinations.append(f'ptr %number{k}')
        return [
            _load_from_context(f'new_float{k}', 'new_float'),
            f'  %value{k} = load double, ptr %number{k}',
            f'  %float{k} = call ptr %new_float{k}(double %value{k})',
            f'  %no_float{k} = icmp eq ptr %float{k}, null',
            f'  br i1 %no_float{k}, label %{failed}, label %float_made{k}',
            f'float_made{k}:',
        ]
