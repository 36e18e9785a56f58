# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Results of a call in machine code: new arrays and numbers, or the caller's arrays.

Parts of the routine in call_routine.py. `new_outputs` and `given_outputs` locate the destination
of each output; `keep` makes the returned object. A named tuple is found or created first and owns
its items, so it alone must be released if memory is short.
"""

from __future__ import annotations

from rbd_ros.compiler.runtime.call_writer import CallWriter
from rbd_ros.compiler.runtime.memory_layouts import (
    CONTIGUOUS_ALIGNED,
    DATA,
    DIMENSIONS,
    LIST_ITEMS,
    MAX_AXES,
    ND,
    SHAPES,
    SIZE,
    SIZES,
    TUPLE_ITEMS,
    TYPE,
    WRITEABLE,
)


def new_outputs(
    r: CallWriter, m: str, several: str, result: str, outs: str, numbers: str, rows: str
) -> None:
    """Find or create arrays for the outputs; numbers of a single state are created at the end."""
    count = r.get(rows, 'i64')
    single = r.value(f'icmp slt i64 {count}, 0')
    ready = r.new_label()
    # An unused result: no memory is allocated or released.
    r.put(result, 'ptr', r.value(f'call ptr @own_result(ptr %d, i64 {count})'))
    r.unless(r.same(r.get(result, 'ptr'), 'null'), ready)
    with r.only_if(r.both(single, several)):
        r.put(result, 'ptr', r.value('call ptr @new_tuple_of_state(ptr %d)'))
        r.when(r.same(r.get(result, 'ptr'), 'null'), 'nothing')
        r.go(ready)
    with r.only_if(several):
        kind = r.word('result_type', 'ptr')
        # Its items are null until they are filled, so that it can be released at any time.
        made = r.value(f'call ptr {r.api("new_tuple")}(ptr {kind}, i64 {m})')
        r.when(r.same(made, 'null'), 'nothing')
        r.put(result, 'ptr', made)
    dims, lead = r.array('i64', MAX_AXES + 1), r.axes_of_rows(count)
    with r.loop(m) as j:
        with r.only_if(r.is_array(j, count)):
            shape = r.shape(j)
            axes = r.element(SHAPES, shape)
            # Rows of a batch come before the axes of one state.
            r.put(dims, 'i64', count)
            with r.loop(axes) as a:
                size = r.element(SHAPES + 2, r.value(f'add i64 {shape}, {a}'))
                r.put(dims, 'i64', size, r.value(f'add i64 {a}, {lead}'))
            total = r.value(f'trunc i64 {r.value(f"add i64 {axes}, {lead}")} to i32')
            keep(r, several, result, j, r.new_array(total, dims))
    with r.only_if(r.same(lead, '1', 'i64')):
        r.do(f'call void @remember(ptr %d, ptr {r.get(result, "ptr")}, i64 {count})')
    r.label(ready)
    with r.loop(m) as j:
        # The kernel writes such a number to the stack; then it becomes a float.
        r.put(outs, 'ptr', r.at(numbers, 'double', j), j)
        with r.only_if(r.is_array(j, count)):
            array = r.variable('ptr', 'null')
            r.put(array, 'ptr', r.get(result, 'ptr'))
            with r.only_if(several):
                r.put(array, 'ptr', r.item(r.get(result, 'ptr'), j))
            r.put(outs, 'ptr', r.field(r.get(array, 'ptr'), DATA, 'ptr'), j)


def keep(r: CallWriter, several: str, result: str, j: str, made: str) -> None:
    """Make an object part of the result, which owns it."""
    alone, kept = r.new_label(), r.new_label()
    # Memory is short, and the error is set: release everything.
    r.when(r.same(made, 'null'), 'give_up')
    r.unless(several, alone)
    r.put_item(r.get(result, 'ptr'), j, made)
    r.go(kept)
    r.label(alone)
    r.put(result, 'ptr', made)
    r.label(kept)


def given_outputs(
    r: CallWriter, out: str, n: str, m: str, several: str, result: str,
    ins: str, strides: str, outs: str, rows: str,
) -> None:  # fmt: skip
    """Check the caller's arrays: none may overlap with an input."""
    items = r.variable('ptr', 'null')  # where the arrays are, if there are several
    with r.only_if(several):
        known, is_list = r.new_label(), r.is_type(out, 'list')
        is_result = r.same(r.field(out, TYPE, 'ptr'), r.word('result_type', 'ptr'))
        is_tuple = r.value(f'or i1 {is_result}, {r.is_type(out, "tuple")}')
        r.unless(r.value(f'or i1 {is_tuple}, {is_list}'), 'slow')
        r.unless(r.same(r.field(out, SIZE, 'i64'), m, 'i64'), 'slow')
        r.put(items, 'ptr', r.at(out, 'i8', str(TUPLE_ITEMS)))
        r.unless(is_list, known)
        r.put(items, 'ptr', r.field(out, LIST_ITEMS, 'ptr'))
        r.label(known)
    count = r.get(rows, 'i64')
    single = r.value(f'icmp slt i64 {count}, 0')
    lead = r.value(f'select i1 {single}, i64 0, i64 1')
    lines = r.value(f'select i1 {single}, i64 1, i64 {count}')
    with r.loop(m) as j:
        array = r.variable('ptr', 'null')
        r.put(array, 'ptr', out)
        with r.only_if(several):
            r.put(array, 'ptr', r.get(r.get(items, 'ptr'), 'ptr', j))
        given = r.get(array, 'ptr')
        r.unless(r.is_type(given, 'ndarray'), 'slow')
        # No conversion: a copy would not be the caller's array.
        r.unless(r.is_plain(given, CONTIGUOUS_ALIGNED | WRITEABLE), 'slow')
        shape = r.shape(j)
        axes = r.element(SHAPES, shape)
        found = r.value(f'zext i32 {r.field(given, ND, "i32")} to i64')
        r.unless(r.same(found, r.value(f'add i64 {axes}, {lead}'), 'i64'), 'slow')
        dims = r.field(given, DIMENSIONS, 'ptr')
        with r.only_if(r.same(lead, '1', 'i64')):
            r.unless(r.same(r.get(dims, 'i64'), count, 'i64'), 'slow')
        with r.loop(axes) as a:
            expected = r.element(SHAPES + 2, r.value(f'add i64 {shape}, {a}'))
            has = r.get(dims, 'i64', r.value(f'add i64 {a}, {lead}'))
            r.unless(r.same(has, expected, 'i64'), 'slow')
        data = r.field(given, DATA, 'ptr')
        elements = r.element(SHAPES + 1, shape)
        # Two ranges of memory overlap if each begins before the other ends. Python then copies
        # inputs.
        end = r.at(data, 'double', r.value(f'mul i64 {elements}, {lines}'))
        with r.loop(n) as k:
            source = r.get(ins, 'ptr', k)
            size = r.element(SIZES, k)
            height = r.value(
                f'select i1 {r.same(r.get(strides, "i64", k), "0", "i64")}, i64 1, i64 {lines}'
            )
            source_end = r.at(source, 'double', r.value(f'mul i64 {size}, {height}'))
            before = r.value(f'icmp ult ptr {source}, {end}')
            after = r.value(f'icmp ult ptr {data}, {source_end}')
            r.when(r.both(before, after), 'slow')
        # Results must not share memory; Python reports it.
        with r.loop(j) as i:
            other = r.get(outs, 'ptr', i)
            size = r.element(SHAPES + 1, r.shape(i))
            other_end = r.at(other, 'double', r.value(f'mul i64 {size}, {lines}'))
            before = r.value(f'icmp ult ptr {other}, {end}')
            after = r.value(f'icmp ult ptr {data}, {other_end}')
            r.when(r.both(before, after), 'slow')
        r.put(outs, 'ptr', data, j)
    with r.only_if(several):
        kind = r.word('result_type', 'ptr')
        made = r.value(f'call ptr {r.api("new_tuple")}(ptr {kind}, i64 {m})')
        r.when(r.same(made, 'null'), 'nothing')
        r.put(result, 'ptr', made)
    with r.loop(m) as j:
        one = r.variable('ptr', 'null')
        r.put(one, 'ptr', out)
        with r.only_if(several):
            r.put(one, 'ptr', r.get(r.get(items, 'ptr'), 'ptr', j))
        # The result is a new reference to the caller's array; the tuple takes over one for each.
        r.do(f'call void {r.api("retain")}(ptr {r.get(one, "ptr")})')
        keep(r, several, result, j, r.get(one, 'ptr'))
