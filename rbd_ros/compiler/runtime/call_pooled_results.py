# SPDX-License-Identifier: Apache-2.0
"""Results of calls that are used again, in machine code: found, renewed and kept.

Functions of the routine in call_routine.py; result_pool.py describes what they keep.
"""

from __future__ import annotations

from rbd_ros.compiler.runtime import result_pool
from rbd_ros.compiler.runtime.call_table import SHAPES
from rbd_ros.compiler.runtime.call_writer import CallWriter
from rbd_ros.compiler.runtime.memory_layouts import DIMENSIONS, REFERENCES


def text() -> str:
    """Return the text of the functions that find, make and keep results."""
    return _is_unused() + _own_result() + _new_tuple() + _remember()


def _is_unused() -> str:
    """Return text of `is_unused`: whether nothing has an array but the kernel, and it is as made.

    With rows for a batch, else -1.
    """
    r = CallWriter('internal i1 @is_unused(ptr %d, i64 %j, ptr %array, i64 %rows)')
    # The count of references is read first: another thread cannot raise it meanwhile, as this one
    # holds the GIL, and nobody else has the array.
    result_pool.unless_unused(r, '%array', 'in_use')
    # A caller that had the array may have changed its shape or flags in place: then it is not used
    # again.
    shape = r.shape('%j')
    axes, lead = r.element(SHAPES, shape), r.axes_of_rows('%rows')
    total = r.value(f'trunc i64 {r.value(f"add i64 {axes}, {lead}")} to i32')
    result_pool.unless_as_made(r, '%array', r.api('float64'), total, 'in_use')
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
    """Return the text of `own_result`: a result of the kernel's own that is in no use, or null."""
    r = CallWriter('internal ptr @own_result(ptr %d, i64 %rows)')
    several, batch = r.gives_several(), r.value('icmp sge i64 %rows, 0')
    own, batches = r.word('own', 'ptr'), r.word('batches', 'ptr')
    # Results of one state and of batches are kept apart: their shapes differ.
    places = r.value(f'select i1 {batch}, ptr {batches}, ptr {own}')
    count = r.value(f'select i1 {batch}, i64 {result_pool.BATCHES}, i64 {result_pool.COUNT}')
    with r.loop(count) as k:
        in_use, alone = r.new_label(), r.new_label()
        found = r.get(places, 'ptr', k)
        result_pool.unless_unused(r, found, in_use)
        with r.loop(r.word('outputs')) as j:
            array = r.variable('ptr', 'null')
            r.put(array, 'ptr', found)
            with r.only_if(several):
                r.put(array, 'ptr', r.item(found, j))
            with r.only_if(r.is_array(j, '%rows')):
                unused = r.value(
                    f'call i1 @is_unused(ptr %d, i64 {j}, ptr {r.get(array, "ptr")}, i64 %rows)'
                )
                # One array in use makes the whole tuple unusable here; `new_tuple_of_state` saves
                # the others.
                r.unless(unused, in_use)
        r.unless(several, alone)
        # Two references from now on, the kernel's and the caller's: it is not found again
        # meanwhile.
        result_pool.hand_out(r, found, True)
        r.do(f'ret ptr {found}')
        r.label(alone)
        result_pool.hand_out(r, found, False)
        r.do(f'ret ptr {found}')
        r.label(in_use)
    r.do('ret ptr null')
    return r.text()


def _remember() -> str:
    """Return text of `remember`: keep the result of a batch in place of the one before the last.

    Not if it has many rows: memory is kept for good.
    """
    r = CallWriter('internal void @remember(ptr %d, ptr %result, i64 %rows)')
    r.when(r.value(f'icmp sgt i64 %rows, {r.word("most_rows")}'), 'done')
    places, moving = r.word('batches', 'ptr'), r.variable('ptr', '%result')
    r.do(f'call void {r.api("retain")}(ptr %result)')
    with r.loop(str(result_pool.BATCHES)) as k:
        last = r.get(places, 'ptr', k)
        r.put(places, 'ptr', r.get(moving, 'ptr'), k)
        r.put(moving, 'ptr', last)
    r.do(f'call void {r.api("release")}(ptr {r.get(moving, "ptr")})')
    r.label('done')
    r.do('ret void')
    return r.text()


def _new_tuple() -> str:
    """Return text of `new_tuple_of_state`: a named tuple with new arrays where those are in use.

    It returns null, with the error set, if memory is short.
    """
    r = CallWriter('internal ptr @new_tuple_of_state(ptr %d)')
    m, own, made = r.word('outputs'), r.word('own', 'ptr'), r.variable('ptr', 'null')
    # Who has an array of a result need not have the others.
    with r.loop(str(result_pool.COUNT)) as k:
        found = r.get(own, 'ptr', k)
        with r.only_if(r.same(r.field(found, REFERENCES, 'i32'), '1', 'i32')):
            # From now on it is the caller's, whatever happens while an array is let go.
            result_pool.hand_out(r, found, True)
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
