"""Results of a call in machine code: new arrays and numbers, or the arrays that a caller gives.

Parts of the routine in calls.py. `new_outputs` and `given_outputs` find where the kernel writes
each output; `keep` makes what is returned of it. A named tuple is found or made first and owns
what comes into it, so that it is all that must be released if memory is short.
"""

from __future__ import annotations

from rbd_ros.compiler.runtime import reuse
from rbd_ros.compiler.runtime.call_table import MOST_AXES, SHAPES, SIZES
from rbd_ros.compiler.runtime.call_writer import CallWriter
from rbd_ros.compiler.runtime.layouts import (
    CONTIGUOUS_ALIGNED,
    DATA,
    DIMENSIONS,
    DOUBLE,
    LIST_ITEMS,
    ND,
    REFERENCES,
    SIZE,
    TUPLE_ITEMS,
    TYPE,
    WRITEABLE,
)


def result_functions() -> str:
    """Text of the functions that find, make and keep results."""
    return _is_unused() + _own_result() + _new_tuple() + _remember()


def _is_unused() -> str:
    """Text of `is_unused`: whether nothing has an array but the kernel, and it is as made.

    With rows for a batch, else -1.
    """
    r = CallWriter('internal i1 @is_unused(ptr %d, i64 %j, ptr %array, i64 %rows)')
    reuse.unless_unused(r, '%array', 'in_use')
    shape = r.shape('%j')
    axes, lead = r.element(SHAPES, shape), _axes_of_rows(r, '%rows')
    total = r.value(f'trunc i64 {r.value(f"add i64 {axes}, {lead}")} to i32')
    reuse.unless_as_made(r, '%array', r.api('float64'), total, 'in_use')
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
    """Text of `own_result`: a result of the kernel's own that is in no use, or null."""
    r = CallWriter('internal ptr @own_result(ptr %d, i64 %rows)')
    several, batch = _gives_several(r), r.value('icmp sge i64 %rows, 0')
    own, batches = r.word('own', 'ptr'), r.word('batches', 'ptr')
    places = r.value(f'select i1 {batch}, ptr {batches}, ptr {own}')
    count = r.value(f'select i1 {batch}, i64 {reuse.BATCHES}, i64 {reuse.COUNT}')
    with r.loop(count) as k:
        in_use, alone = r.new_label(), r.new_label()
        found = r.get(places, 'ptr', k)
        reuse.unless_unused(r, found, in_use)
        with r.loop(r.word('outputs')) as j:
            array = r.variable('ptr', 'null')
            r.put(array, 'ptr', found)
            with r.only_if(several):
                r.put(array, 'ptr', _item(r, found, j))
            with r.only_if(_is_array(r, j, '%rows')):
                unused = r.value(
                    f'call i1 @is_unused(ptr %d, i64 {j}, ptr {r.get(array, "ptr")}, i64 %rows)'
                )
                r.unless(unused, in_use)
        r.unless(several, alone)
        reuse.hand_out(r, found, True)
        r.do(f'ret ptr {found}')
        r.label(alone)
        reuse.hand_out(r, found, False)
        r.do(f'ret ptr {found}')
        r.label(in_use)
    r.do('ret ptr null')
    return r.text()


def _remember() -> str:
    """Text of `remember`: keep the result of a batch in place of the one before the last.

    Not if it has many rows: memory is kept for good.
    """
    r = CallWriter('internal void @remember(ptr %d, ptr %result, i64 %rows)')
    r.when(r.value(f'icmp sgt i64 %rows, {r.word("most_rows")}'), 'done')
    places, moving = r.word('batches', 'ptr'), r.variable('ptr', '%result')
    r.do(f'call void {r.api("retain")}(ptr %result)')
    with r.loop(str(reuse.BATCHES)) as k:
        last = r.get(places, 'ptr', k)
        r.put(places, 'ptr', r.get(moving, 'ptr'), k)
        r.put(moving, 'ptr', last)
    r.do(f'call void {r.api("release")}(ptr {r.get(moving, "ptr")})')
    r.label('done')
    r.do('ret void')
    return r.text()


def _new_tuple() -> str:
    """Text of `new_tuple_of_state`: a named tuple with new arrays where those are in use.

    It returns null, with the error set, if memory is short.
    """
    r = CallWriter('internal ptr @new_tuple_of_state(ptr %d)')
    m, own, made = r.word('outputs'), r.word('own', 'ptr'), r.variable('ptr', 'null')
    # Who has an array of a result need not have the others.
    with r.loop(str(reuse.COUNT)) as k:
        found = r.get(own, 'ptr', k)
        with r.only_if(r.same(r.field(found, REFERENCES, 'i32'), '1', 'i32')):
            # From now on it is the caller's, whatever happens while an array is let go.
            reuse.hand_out(r, found, True)
            r.put(made, 'ptr', found)
            r.go('fill')
    kind = r.word('result_type', 'ptr')
    r.put(made, 'ptr', r.value(f'call ptr {r.api("new_tuple")}(ptr {kind}, i64 {m})'))
    r.when(r.same(r.get(made, 'ptr'), 'null'), 'nothing')
    r.label('fill')
    result = r.get(made, 'ptr')
    with r.loop(m) as j:
        done, new = r.new_label(), r.new_label()
        r.unless(_is_array(r, j, '-1'), done)
        last = _item(r, result, j)
        r.when(r.same(last, 'null'), new)
        unused = r.value(f'call i1 @is_unused(ptr %d, i64 {j}, ptr {last}, i64 -1)')
        r.when(unused, done)
        r.label(new)
        shape = r.shape(j)
        axes = r.value(f'trunc i64 {r.element(SHAPES, shape)} to i32')
        dims = r.at('%d', 'i64', r.value(f'add i64 {shape}, {SHAPES + 2}'))
        array = _new_array(r, axes, dims)
        r.when(r.same(array, 'null'), 'give_up')
        _put_item(r, result, j, array)
        r.label(done)
    r.do(f'ret ptr {result}')
    r.label('give_up')
    r.do(f'call void {r.api("release")}(ptr {result})')
    r.label('nothing')
    r.do('ret ptr null')
    return r.text()


def _gives_several(r: CallWriter) -> str:
    return r.value(f'icmp ne i64 {r.word("result_type")}, 0')


def _axes_of_rows(r: CallWriter, rows: str) -> str:
    """Axes that come before those of a state: 1 for a batch, 0 for a single state of -1 rows."""
    return r.value(f'zext i1 {r.value(f"icmp sge i64 {rows}, 0")} to i64')


def _is_array(r: CallWriter, j: str, rows: str) -> str:
    """Whether an output is an array, not a number: of a batch all are."""
    axes = r.value(f'add i64 {r.element(SHAPES, r.shape(j))}, {_axes_of_rows(r, rows)}')
    return r.value(f'icmp ne i64 {axes}, 0')


def _item(r: CallWriter, result: str, j: str) -> str:
    # A named tuple has the layout of a tuple.
    return r.get(r.at(result, 'i8', str(TUPLE_ITEMS)), 'ptr', j)


def _put_item(r: CallWriter, result: str, j: str, item: str) -> None:
    """Give a tuple an item, which it owns then, in place of the last one or of null."""
    last = _item(r, result, j)
    r.put(r.at(result, 'i8', str(TUPLE_ITEMS)), 'ptr', item, j)
    r.do(f'call void {r.api("release")}(ptr {last})')


def _new_array(r: CallWriter, axes: str, dims: str) -> str:
    """Array of float64, or null with the error set."""
    return r.value(
        f'call ptr {r.api("new_array")}(ptr {r.api("ndarray")}, i32 {axes}, ptr {dims}, '
        f'i32 {DOUBLE}, ptr null, ptr null, i32 0, i32 0, ptr null)'
    )


def new_outputs(
    r: CallWriter, m: str, several: str, result: str, outs: str, numbers: str, rows: str
) -> None:
    """Find or make arrays for the outputs; a number of a single state is made in the end."""
    count = r.get(rows, 'i64')
    single = r.value(f'icmp slt i64 {count}, 0')
    ready = r.new_label()
    r.put(result, 'ptr', r.value(f'call ptr @own_result(ptr %d, i64 {count})'))
    r.unless(r.same(r.get(result, 'ptr'), 'null'), ready)
    with r.only_if(r.both(single, several)):
        r.put(result, 'ptr', r.value('call ptr @new_tuple_of_state(ptr %d)'))
        r.when(r.same(r.get(result, 'ptr'), 'null'), 'nothing')
        r.go(ready)
    with r.only_if(several):
        kind = r.word('result_type', 'ptr')
        made = r.value(f'call ptr {r.api("new_tuple")}(ptr {kind}, i64 {m})')
        r.when(r.same(made, 'null'), 'nothing')
        r.put(result, 'ptr', made)
    dims, lead = r.array('i64', MOST_AXES + 1), _axes_of_rows(r, count)
    with r.loop(m) as j:
        with r.only_if(_is_array(r, j, count)):
            shape = r.shape(j)
            axes = r.element(SHAPES, shape)
            # Rows of a batch come before the axes of one state.
            r.put(dims, 'i64', count)
            with r.loop(axes) as a:
                size = r.element(SHAPES + 2, r.value(f'add i64 {shape}, {a}'))
                r.put(dims, 'i64', size, r.value(f'add i64 {a}, {lead}'))
            total = r.value(f'trunc i64 {r.value(f"add i64 {axes}, {lead}")} to i32')
            keep(r, several, result, j, _new_array(r, total, dims))
    with r.only_if(r.same(lead, '1', 'i64')):
        r.do(f'call void @remember(ptr %d, ptr {r.get(result, "ptr")}, i64 {count})')
    r.label(ready)
    with r.loop(m) as j:
        # The kernel writes such a number to the stack; afterwards it becomes a float.
        r.put(outs, 'ptr', r.at(numbers, 'double', j), j)
        with r.only_if(_is_array(r, j, count)):
            array = r.variable('ptr', 'null')
            r.put(array, 'ptr', r.get(result, 'ptr'))
            with r.only_if(several):
                r.put(array, 'ptr', _item(r, r.get(result, 'ptr'), j))
            r.put(outs, 'ptr', r.field(r.get(array, 'ptr'), DATA, 'ptr'), j)


def keep(r: CallWriter, several: str, result: str, j: str, made: str) -> None:
    """Make an object part of the result, which owns it."""
    alone, kept = r.new_label(), r.new_label()
    # Memory is short, and the error is set: all that is left is to let go of what there is.
    r.when(r.same(made, 'null'), 'give_up')
    r.unless(several, alone)
    _put_item(r, r.get(result, 'ptr'), j, made)
    r.go(kept)
    r.label(alone)
    r.put(result, 'ptr', made)
    r.label(kept)


def given_outputs(
    r: CallWriter, out: str, n: str, m: str, several: str, result: str,
    ins: str, strides: str, outs: str, rows: str,
) -> None:  # fmt: skip
    """Check the arrays that the caller gives: none may lie where an input does."""
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
            r.put(one, 'ptr', r.get(r.get(items, 'ptr'), 'ptr', j))
        # The result is a new reference to the caller's array; the tuple takes over one for each.
        r.do(f'call void {r.api("retain")}(ptr {r.get(one, "ptr")})')
        keep(r, several, result, j, r.get(one, 'ptr'))
