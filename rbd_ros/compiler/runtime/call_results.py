"""Results of a call in machine code: new arrays and numbers, or the arrays that a caller gives.

Parts of the routine in calls.py. `new_outputs` and `given_outputs` find where the kernel writes
each output; `keep` makes what is returned of it. A named tuple is made first and owns what comes
into it, so that it is all that must be released if memory is short.
"""

from __future__ import annotations

from rbd_ros.compiler.runtime.call_table import FLAGS_OF, MOST_AXES, OWN, SHAPES, SIZES
from rbd_ros.compiler.runtime.call_writer import CallWriter
from rbd_ros.compiler.runtime.layouts import (
    CONTIGUOUS_ALIGNED,
    DATA,
    DIMENSIONS,
    DOUBLE,
    ND,
    SIZE,
    TUPLE_ITEMS,
    TYPE,
    WRITEABLE,
)


def new_outputs(
    r: CallWriter, m: str, several: str, result: str, outs: str, numbers: str, rows: str
) -> None:
    """Make arrays for the outputs; a number of a single state is made in the end."""
    with r.only_if(several):
        kind = r.word('result_type', 'ptr')
        made = r.value(f'call ptr {r.api("new_tuple")}(ptr {kind}, i64 {m})')
        r.when(r.same(made, 'null'), 'nothing')
        r.put(result, 'ptr', made)
    # Rows of a batch come before the axes of one state.
    dims = r.array('i64', MOST_AXES + 1)
    with r.loop(m) as j:
        shape, done = r.shape(j), r.new_label()
        axes = r.element(SHAPES, shape)
        count = r.get(rows, 'i64')
        single = r.value(f'icmp slt i64 {count}, 0')
        r.put(outs, 'ptr', r.at(numbers, 'double', j), j)
        # The kernel writes such a number to the stack; afterwards it becomes a float.
        r.when(r.both(single, r.same(axes, '0', 'i64')), done)
        lead = r.value(f'select i1 {single}, i64 0, i64 1')
        r.put(dims, 'i64', count)
        with r.loop(axes) as a:
            size = r.element(SHAPES + 2, r.value(f'add i64 {shape}, {a}'))
            r.put(dims, 'i64', size, r.value(f'add i64 {a}, {lead}'))
        total = r.value(f'trunc i64 {r.value(f"add i64 {axes}, {lead}")} to i32')
        array, new, made = r.variable('ptr', 'null'), r.new_label(), r.new_label()
        own = r.element(OWN, j, 'ptr')
        # Those that are used again (reuse.py) are for one state.
        r.unless(single, new)
        r.when(r.same(own, 'null'), new)
        flags = r.value(f'trunc i64 {r.element(FLAGS_OF, j)} to i32')
        found = r.value(
            f'call ptr @search(ptr {own}, ptr {r.api("float64")}, i32 {total}, ptr {dims}, '
            f'i32 {flags})'
        )
        r.put(array, 'ptr', found)
        r.unless(r.same(found, 'null'), made)
        r.label(new)
        fresh = r.value(
            f'call ptr {r.api("new_array")}(ptr {r.api("ndarray")}, i32 {total}, ptr {dims}, '
            f'i32 {DOUBLE}, ptr null, ptr null, i32 0, i32 0, ptr null)'
        )
        r.put(array, 'ptr', fresh)
        r.label(made)
        obtained = r.get(array, 'ptr')
        keep(r, several, result, j, obtained)
        r.put(outs, 'ptr', r.field(obtained, DATA, 'ptr'), j)
        r.label(done)


def keep(r: CallWriter, several: str, result: str, j: str, made: str) -> None:
    """Make an object part of the result, which owns it."""
    alone, kept = r.new_label(), r.new_label()
    # Memory is short, and the error is set: all that is left is to let go of what there is.
    r.when(r.same(made, 'null'), 'give_up')
    r.unless(several, alone)
    # A named tuple has the layout of a tuple.
    items = r.at(r.get(result, 'ptr'), 'i8', str(TUPLE_ITEMS))
    r.put(items, 'ptr', made, j)
    r.go(kept)
    r.label(alone)
    r.put(result, 'ptr', made)
    r.label(kept)


def given_outputs(
    r: CallWriter, out: str, n: str, m: str, several: str, result: str,
    ins: str, strides: str, outs: str, rows: str,
) -> None:  # fmt: skip
    """Check the arrays that the caller gives: none may lie where an input does."""
    with r.only_if(several):
        is_result = r.same(r.field(out, TYPE, 'ptr'), r.word('result_type', 'ptr'))
        r.unless(r.value(f'or i1 {is_result}, {r.is_type(out, "tuple")}'), 'slow')
        r.unless(r.same(r.field(out, SIZE, 'i64'), m, 'i64'), 'slow')
    count = r.get(rows, 'i64')
    single = r.value(f'icmp slt i64 {count}, 0')
    lead = r.value(f'select i1 {single}, i64 0, i64 1')
    lines = r.value(f'select i1 {single}, i64 1, i64 {count}')
    with r.loop(m) as j:
        array = r.variable('ptr', 'null')
        r.put(array, 'ptr', out)
        with r.only_if(several):
            r.put(array, 'ptr', r.get(r.at(out, 'i8', str(TUPLE_ITEMS)), 'ptr', j))
        given = r.get(array, 'ptr')
        r.unless(r.is_type(given, 'ndarray'), 'slow')
        # Nothing is converted: the copy would not be the caller's array.
        r.unless(r.is_plain(given, CONTIGUOUS_ALIGNED | WRITEABLE), 'slow')
        shape = r.shape(j)
        axes = r.element(SHAPES, shape)
        found = r.value(f'zext i32 {r.field(given, ND, "i32")} to i64')
        r.unless(r.same(found, r.value(f'add i64 {axes}, {lead}'), 'i64'), 'slow')
        dims = r.field(given, DIMENSIONS, 'ptr')
        with r.only_if(r.same(lead, '1', 'i64')):
            r.unless(r.same(r.get(dims, 'i64'), count, 'i64'), 'slow')
        with r.loop(axes) as a:
            wanted = r.element(SHAPES + 2, r.value(f'add i64 {shape}, {a}'))
            has = r.get(dims, 'i64', r.value(f'add i64 {a}, {lead}'))
            r.unless(r.same(has, wanted, 'i64'), 'slow')
        data = r.field(given, DATA, 'ptr')
        elements = r.element(SHAPES + 1, shape)
        # Two ranges of memory meet if each begins before the other ends. Python copies inputs
        # then.
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
        # Nor may two results share memory, which Python refuses.
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
            r.put(one, 'ptr', r.get(r.at(out, 'i8', str(TUPLE_ITEMS)), 'ptr', j))
        # The result is a new reference to the caller's array; the tuple takes over one for each.
        r.do(f'call void {r.api("retain")}(ptr {r.get(one, "ptr")})')
        keep(r, several, result, j, r.get(one, 'ptr'))
