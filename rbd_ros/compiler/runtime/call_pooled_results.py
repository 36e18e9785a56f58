# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Reuse of results of calls, in machine code: search, renewal and storage.

Functions of the routine in call_routine.py; see result_pool.py.
"""

from __future__ import annotations

from typing import Sequence

import numpy as np

from rbd_ros.compiler.runtime.call_writer import CallWriter
from rbd_ros.compiler.runtime.memory_layouts import (
    COLUMN_MAJOR,
    DESCR,
    DIMENSIONS,
    FLAGS,
    ND,
    POINTER,
    REFERENCES,
    SHAPES,
    TUPLE_HASH,
    TUPLE_ITEMS,
    WEAK_REFERENCES,
)
from rbd_ros.compiler.runtime.result_pool import BATCHES, COUNT
from rbd_ros.compiler.targets.llvm.routine import Routine

# Flags of a new array: owned, contiguous, aligned and writeable.
_NEW_FLAGS = np.empty((2, 2)).flags.num & ~COLUMN_MAJOR


def text() -> str:
    """Return the text of the functions that search, create and store results."""
    return _is_unused() + _own_result() + _new_tuple() + _remember()


def _is_unused() -> str:
    """Return text of `is_unused`: whether the kernel alone has an array, unchanged.

    `rows` is -1 without a batch.
    """
    r = CallWriter('internal i1 @is_unused(ptr %d, i64 %j, ptr %array, i64 %rows)')
    # The reference count first: no other thread can raise it, as this one holds the GIL, and no
    # other object has the array.
    branch_if_used(r, '%array', 'in_use')
    # A caller may have changed its shape or flags in place: then it is not reused.
    shape = r.shape('%j')
    axes, lead = r.element(SHAPES, shape), r.axes_of_rows('%rows')
    total = r.value(f'trunc i64 {r.value(f"add i64 {axes}, {lead}")} to i32')
    branch_if_changed(r, '%array', r.api('float64'), total, 'in_use')
    lengths = r.field('%array', DIMENSIONS, 'ptr')
    with r.only_if(r.same(lead, '1', 'i64')):
        r.unless(r.same(r.get(lengths, 'i64'), '%rows', 'i64'), 'in_use')
    with r.loop(axes) as axis:
        length = r.element(SHAPES + 2, r.value(f'add i64 {shape}, {axis}'))
        found = r.get(lengths, 'i64', r.value(f'add i64 {axis}, {lead}'))
        r.unless(r.same(found, length, 'i64'), 'in_use')
    r.do('ret i1 true')
    r.label('in_use')
    r.do('ret i1 false')
    return r.text()


def _own_result() -> str:
    """Return the text of `own_result`: an unused result of the kernel, or null."""
    r = CallWriter('internal ptr @own_result(ptr %d, i64 %rows)')
    several, batch = r.returns_several(), r.value('icmp sge i64 %rows, 0')
    own, batches = r.word('own', 'ptr'), r.word('batches', 'ptr')
    # Results of one state and of batches are kept apart: their shapes differ.
    places = r.value(f'select i1 {batch}, ptr {batches}, ptr {own}')
    count = r.value(f'select i1 {batch}, i64 {BATCHES}, i64 {COUNT}')
    with r.loop(count) as k:
        in_use, alone = r.new_label(), r.new_label()
        found = r.get(places, 'ptr', k)
        branch_if_used(r, found, in_use)
        with r.loop(r.word('outputs')) as j:
            array = r.variable('ptr', 'null')
            r.put(array, 'ptr', found)
            with r.only_if(several):
                r.put(array, 'ptr', r.item(found, j))
            with r.only_if(r.is_array(j, '%rows')):
                unused = r.value(
                    f'call i1 @is_unused(ptr %d, i64 {j}, ptr {r.get(array, "ptr")}, i64 %rows)'
                )
                # One array in use makes the tuple unusable here; `new_tuple_of_state` saves the
                # others.
                r.unless(unused, in_use)
        r.unless(several, alone)
        # Two references now, the kernel's and the caller's: it is not found again.
        hand_out(r, found, True)
        r.do(f'ret ptr {found}')
        r.label(alone)
        hand_out(r, found, False)
        r.do(f'ret ptr {found}')
        r.label(in_use)
    r.do('ret ptr null')
    return r.text()


def _remember() -> str:
    """Return text of `remember`: keep the result of a batch in place of the one before the last.

    Results of many rows are not kept, as their memory would never be freed.
    """
    r = CallWriter('internal void @remember(ptr %d, ptr %result, i64 %rows)')
    r.when(r.value(f'icmp sgt i64 %rows, {r.word("max_rows")}'), 'done')
    places, moving = r.word('batches', 'ptr'), r.variable('ptr', '%result')
    r.do(f'call void {r.api("retain")}(ptr %result)')
    with r.loop(str(BATCHES)) as k:
        last = r.get(places, 'ptr', k)
        r.put(places, 'ptr', r.get(moving, 'ptr'), k)
        r.put(moving, 'ptr', last)
    r.do(f'call void {r.api("release")}(ptr {r.get(moving, "ptr")})')
    r.label('done')
    r.do('ret void')
    return r.text()


def _new_tuple() -> str:
    """Return text of `new_tuple_of_state`: a named tuple with new arrays for those in use.

    It returns null, with the error set, if memory is short.
    """
    r = CallWriter('internal ptr @new_tuple_of_state(ptr %d)')
    m, own, made = r.word('outputs'), r.word('own', 'ptr'), r.variable('ptr', 'null')
    # An array in use does not imply that the others are.
    with r.loop(str(COUNT)) as k:
        found = r.get(own, 'ptr', k)
        with r.only_if(r.same(r.field(found, REFERENCES, 'i32'), '1', 'i32')):
            # From now on the caller owns it, even if releasing an array runs code.
            hand_out(r, found, True)
            r.put(made, 'ptr', found)
            r.go('fill')
    kind = r.word('result_type', 'ptr')
    r.put(made, 'ptr', r.value(f'call ptr {r.api("new_tuple")}(ptr {kind}, i64 {m})'))
    r.when(r.same(r.get(made, 'ptr'), 'null'), 'nothing')
    r.label('fill')
    result = r.get(made, 'ptr')
    with r.loop(m) as j:
        done, new = r.new_label(), r.new_label()
        r.unless(r.is_array(j, '-1'), done)
        last = r.item(result, j)
        r.when(r.same(last, 'null'), new)
        unused = r.value(f'call i1 @is_unused(ptr %d, i64 {j}, ptr {last}, i64 -1)')
        r.when(unused, done)
        r.label(new)
        shape = r.shape(j)
        axes = r.value(f'trunc i64 {r.element(SHAPES, shape)} to i32')
        dims = r.at('%d', 'i64', r.value(f'add i64 {shape}, {SHAPES + 2}'))
        array = r.new_array(axes, dims)
        r.when(r.same(array, 'null'), 'give_up')
        r.put_item(result, j, array)
        r.label(done)
    r.do(f'ret ptr {result}')
    r.label('give_up')
    r.do(f'call void {r.api("release")}(ptr {result})')
    r.label('nothing')
    r.do('ret ptr null')
    return r.text()


def search_function(name: str, shapes: Sequence[Sequence[int]]) -> str:
    """Return text of a function that returns a new reference to an unused result, or null.

    Its arguments are the address of the kernel's own results, and NumPy's float64.

    :param shapes: shapes of the outputs; without axes it is a number
    """
    r = Routine(f'internal ptr @{name}(ptr %own, ptr %float64)')
    several = len(shapes) > 1
    with r.loop(str(COUNT)) as k:
        in_use = r.new_label()
        found = r.get('%own', 'ptr', k)
        branch_if_used(r, found, in_use)
        for j, shape in enumerate(shapes):
            if not shape:
                continue
            array = r.field(found, TUPLE_ITEMS + POINTER * j, 'ptr') if several else found
            if several:
                branch_if_used(r, array, in_use)
            branch_if_changed(r, array, '%float64', str(len(shape)), in_use)
            lengths = r.field(array, DIMENSIONS, 'ptr')
            for axis, length in enumerate(shape):
                r.unless(r.same(r.get(lengths, 'i64', str(axis)), str(length), 'i64'), in_use)
        hand_out(r, found, several)
        r.do(f'ret ptr {found}')
        r.label(in_use)
    r.do('ret ptr null')
    return r.text()


def branch_if_used(r: Routine, item: str, in_use: str) -> None:
    """Branch to a label if anything but its owner refers to a result or an array of one."""
    r.unless(r.same(r.field(item, REFERENCES, 'i32'), '1', 'i32'), in_use)


def hand_out(r: Routine, result: str, several: bool) -> None:
    """Take a reference for the caller to a result that only the kernel has.

    :param several: whether it is a named tuple
    """
    r.put(result, 'i32', '2')  # REFERENCES is at the beginning
    if several and TUPLE_ITEMS > TUPLE_HASH:  # Python 3.14 keeps the hash: of other numbers
        r.put(r.at(result, 'i8', str(TUPLE_HASH)), 'i64', '-1')


def branch_if_changed(r: Routine, array: str, float64: str, axes: str, in_use: str) -> None:
    """Branch to a label if an array has changed, except for the lengths of its axes.

    :param float64: NumPy's float64
    :param axes: number of its axes
    """
    # A caller may have changed more than its numbers. The number of axes first: an array without
    # axes may have no lengths.
    r.unless(r.same(r.field(array, ND, 'i32'), axes, 'i32'), in_use)
    flags = r.value(f'and i32 {r.field(array, FLAGS, "i32")}, {~COLUMN_MAJOR}')
    r.unless(r.same(flags, str(_NEW_FLAGS), 'i32'), in_use)
    r.unless(r.same(r.field(array, DESCR, 'ptr'), float64), in_use)
    r.unless(r.same(r.field(array, WEAK_REFERENCES, 'ptr'), 'null'), in_use)
