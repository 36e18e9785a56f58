# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Arguments of a call in machine code: their order, and the addresses of their numbers.

Parts of the routine in call_routine.py: `arrange` puts arguments by position and by name into
slots, `with_forces` forwards calls with external forces, `take_inputs` locates the numbers of each
input by the function `take` (`take_function`). Other cases go to the label `slow`, and Python does
the call from its beginning: nothing has been written yet.
"""

from __future__ import annotations

from rbd_ros.compiler.runtime.call_writer import CallWriter
from rbd_ros.compiler.runtime.memory_layouts import (
    CONTIGUOUS_ALIGNED,
    DATA,
    DEFAULTS,
    DESCR,
    DESCR_KIND,
    DIMENSIONS,
    DRAWN,
    FLOAT_VALUE,
    FORCED,
    FORCED_SELF,
    KEYS,
    LINKS,
    LIST_ITEMS,
    MAX_FORCED,
    MAX_INPUTS,
    MAX_LINKS,
    NAMES,
    ND,
    NUMBERS,
    OF_FORCED,
    SIZE,
    SIZES,
    TUPLE_ITEMS,
)


def arrange(r: CallWriter, n: str, slots: str) -> None:
    """Put each argument into its slot, by position or by name."""
    known = r.value(f'add i64 {n}, 2')
    # Absent arguments are null pointers; stack variables are not initialized.
    with r.loop(known) as k:
        r.put(slots, 'ptr', 'null', k)
    # `out` is by name only, so the last slot is not filled by position.
    r.when(r.value(f'icmp sgt i64 %nargs, {r.word("by_place")}'), 'slow')
    with r.loop('%nargs') as k:
        r.put(slots, 'ptr', r.get('%args', 'ptr', k), k)
    named = r.value('icmp ne ptr %kwnames, null')
    with r.only_if(named):
        with r.loop(r.field('%kwnames', SIZE, 'i64')) as j:
            name = r.get(r.at('%kwnames', 'i8', str(TUPLE_ITEMS)), 'ptr', j)
            place = r.variable('i64', '-1')
            # Set for every name: `variable` sets it once, at the entry.
            r.put(place, 'i64', '-1')
            with r.loop(known) as k:
                # By identity: names in calls are interned, as are those of the table. Python
                # handles other names by comparing characters.
                with r.only_if(r.same(r.element(NAMES, k, 'ptr'), name)):
                    r.put(place, 'i64', k)
            at = r.get(place, 'i64')
            r.when(r.value(f'icmp slt i64 {at}, 0'), 'slow')
            # Given twice: Python reports it.
            r.unless(r.same(r.get(slots, 'ptr', at), 'null'), 'slow')
            r.put(slots, 'ptr', r.get('%args', 'ptr', r.value(f'add i64 %nargs, {j}')), at)
    with r.loop(n) as k:
        with r.only_if(r.same(r.get(slots, 'ptr', k), 'null')):
            r.put(slots, 'ptr', r.element(DEFAULTS, k, 'ptr'), k)  # null if there is none


def with_forces(r: CallWriter, n: str, slots: str) -> None:
    """Forward a call with forces to the builtin for these links, if there is one."""
    forces = r.get(slots, 'ptr', n)
    end = r.new_label()
    r.when(r.same(forces, 'null'), end)
    r.when(r.same(forces, r.api('none')), end)
    r.unless(r.is_type(forces, 'dict'), 'slow')
    count = r.value(f'call i64 {r.api("dict_size")}(ptr {forces})')
    r.when(r.same(count, '0', 'i64'), end)
    passed = r.array('ptr', MAX_INPUTS + MAX_LINKS + 1)
    with r.loop(n) as k:
        argument = r.get(slots, 'ptr', k)
        r.when(r.same(argument, 'null'), 'slow')
        r.put(passed, 'ptr', argument, k)
    with r.loop(str(MAX_FORCED)) as f:
        forward_call(r, n, slots, passed, forces, count, r.value(f'mul i64 {f}, {OF_FORCED}'))
    r.go('slow')
    r.label(end)


def forward_call(
    r: CallWriter, n: str, slots: str, passed: str, forces: str, count: str, place: str
) -> None:
    """Forward a call to a builtin if that is for forces on these links; else fall through."""
    other = r.new_label()
    r.unless(r.same(count, r.element(LINKS, place), 'i64'), other)
    with r.loop(count) as j:
        # As many forces as links, and one for each of them: no other links.
        key = r.element(KEYS, r.value(f'add i64 {place}, {j}'), 'ptr')
        force = r.value(f'call ptr {r.api("dict_get")}(ptr {forces}, ptr {key})')
        r.when(r.same(force, 'null'), other)
        r.put(passed, 'ptr', force, r.value(f'add i64 {n}, {j}'))
    # Other threads may run during a long batch: borrowed objects must stay alive.
    bound, called = (r.element(each, place, 'ptr') for each in (FORCED_SELF, FORCED))
    r.do(f'call void {r.api("retain")}(ptr {bound})')
    with r.loop(count) as j:
        force = r.get(passed, 'ptr', r.value(f'add i64 {n}, {j}'))
        r.do(f'call void {r.api("retain")}(ptr {force})')
    total = r.value(f'add i64 {n}, {count}')
    out = r.get(slots, 'ptr', r.value(f'add i64 {n}, 1'))
    r.put(passed, 'ptr', out, total)
    # The vectorcall protocol: values of named arguments follow the others.
    names = r.value(f'select i1 {r.same(out, "null")}, ptr null, ptr {r.word("out_name", "ptr")}')
    answer = r.value(f'call ptr {called}(ptr {bound}, ptr {passed}, i64 {total}, ptr {names})')
    with r.loop(count) as j:
        force = r.get(passed, 'ptr', r.value(f'add i64 {n}, {j}'))
        r.do(f'call void {r.api("release")}(ptr {force})')
    r.do(f'call void {r.api("release")}(ptr {bound})')
    r.do(f'ret ptr {answer}')
    r.label(other)


def take_inputs(r: CallWriter, n: str, slots: str, ins: str, strides: str, rows: str) -> None:
    """Locate the numbers of each input; a single state among batches is broadcast."""
    # Not at the entry, since its size is read from the table; and outside of all loops, where each
    # round would allocate again.
    buffer = r.value(f'alloca double, i64 {r.word("total")}, align 8')
    used, own_rows = r.variable('i64', '0'), r.variable('i64', '0')
    with r.loop(n) as k:
        argument = r.get(slots, 'ptr', k)
        size = r.element(SIZES, k)
        numbers = r.at(buffer, 'double', r.get(used, 'i64'))
        r.put(used, 'i64', r.value(f'add i64 {r.get(used, "i64")}, {size}'))
        # A stride of 0 broadcasts a state to every row of a batch.
        r.put(strides, 'i64', '0', k)
        given, taken = r.new_label(), r.new_label()
        r.unless(r.same(argument, 'null'), given)
        # Missing, without a default and not drawn: Python reports it.
        r.unless(r.same(r.element(DRAWN, k), '1', 'i64'), 'slow')
        with r.loop(size) as i:
            draw, state = r.api('next_double'), r.api('randomness')
            r.put(numbers, 'double', r.value(f'call double {draw}(ptr {state})'), i)
        r.put(ins, 'ptr', numbers, k)
        r.go(taken)
        r.label(given)
        number = r.element(NUMBERS, k)
        found = r.value(
            f'call i64 @take(ptr {argument}, i64 {size}, i64 {number}, ptr {numbers}, '
            f'ptr {r.at(ins, "ptr", k)}, ptr {own_rows})'
        )
        r.when(r.same(found, '0', 'i64'), 'slow')
        with r.only_if(r.same(found, '2', 'i64')):
            r.put(strides, 'i64', size, k)
            first = r.value(f'icmp slt i64 {r.get(rows, "i64")}, 0')
            with r.only_if(first):
                r.put(rows, 'i64', r.get(own_rows, 'i64'))
            r.unless(r.same(r.get(own_rows, 'i64'), r.get(rows, 'i64'), 'i64'), 'slow')
        r.label(taken)


def take_function() -> str:
    """Return text of `take`: address of an argument's numbers; 0 no, 1 a state, 2 a batch."""
    # `%number` is 1 for an input that is a single number: a float or an int for a state, an array
    # with one axis for a batch.
    parameters = 'ptr %obj, i64 %size, i64 %number, ptr %buffer, ptr %data, ptr %rows'
    r = CallWriter(f'internal i64 @take({parameters})')
    # Types are compared by identity: a subclass may define its items otherwise.
    r.when(r.is_type('%obj', 'ndarray'), 'array')
    r.when(r.same('%number', '1', 'i64'), 'alone')
    items = r.variable('ptr', 'null')
    r.when(r.is_type('%obj', 'list'), 'list')
    r.unless(r.is_type('%obj', 'tuple'), 'no')
    r.put(items, 'ptr', r.at('%obj', 'i8', str(TUPLE_ITEMS)))
    r.go('sequence')
    r.label('list')
    r.put(items, 'ptr', r.field('%obj', LIST_ITEMS, 'ptr'))
    r.label('sequence')
    r.unless(r.same(r.field('%obj', SIZE, 'i64'), '%size', 'i64'), 'no')
    with r.loop('%size') as k:
        item = r.get(r.get(items, 'ptr'), 'ptr', k)
        r.put('%buffer', 'double', _number(r, item), k)
    r.put('%data', 'ptr', '%buffer')
    r.do('ret i64 1')
    r.label('alone')
    r.put('%buffer', 'double', _number(r, '%obj'))
    r.put('%data', 'ptr', '%buffer')
    r.do('ret i64 1')

    r.label('array')
    axes, shape = r.field('%obj', ND, 'i32'), r.field('%obj', DIMENSIONS, 'ptr')
    r.unless(r.is_plain('%obj', CONTIGUOUS_ALIGNED), 'converted')
    r.put('%data', 'ptr', r.field('%obj', DATA, 'ptr'))
    r.when(r.same('%number', '1', 'i64'), 'numbers')
    r.when(r.same(axes, '2', 'i32'), 'matrix')
    r.unless(r.same(axes, '1', 'i32'), 'no')
    r.unless(r.same(r.get(shape, 'i64'), '%size', 'i64'), 'no')
    r.do('ret i64 1')
    r.label('matrix')
    r.unless(r.same(r.get(shape, 'i64', '1'), '%size', 'i64'), 'no')
    r.put('%rows', 'i64', r.get(shape, 'i64'))
    r.do('ret i64 2')

    r.label('numbers')
    r.unless(r.same(axes, '1', 'i32'), 'no')
    r.put('%rows', 'i64', r.get(shape, 'i64'))
    r.do('ret i64 2')

    r.label('converted')
    r.when(r.same('%number', '1', 'i64'), 'no')
    r.unless(r.same(axes, '1', 'i32'), 'no')
    r.unless(r.same(r.get(shape, 'i64'), '%size', 'i64'), 'no')
    kind = r.field(r.field('%obj', DESCR, 'ptr'), DESCR_KIND, 'i8')
    # Real numbers; Python reports complex ones, strings and objects.
    for letter in 'fiu':
        r.when(r.same(kind, str(ord(letter)), 'i8'), 'numeric')
    r.go('no')
    r.label('numeric')
    float64 = r.api('float64')
    # PyArray_FromAny steals the reference to the descriptor.
    r.do(f'call void {r.api("retain")}(ptr {float64})')  # which the next call takes
    array = r.value(
        f'call ptr {r.api("array_from_any")}(ptr %obj, ptr {float64}, i32 1, i32 1, '
        f'i32 {CONTIGUOUS_ALIGNED}, ptr null)'
    )
    r.when(r.same(array, 'null'), 'error')
    # Copied: the new array is released before the kernel runs.
    source = r.field(array, DATA, 'ptr')
    with r.loop('%size') as k:
        r.put('%buffer', 'double', r.get(source, 'double', k), k)
    r.do(f'call void {r.api("release")}(ptr {array})')
    r.put('%data', 'ptr', '%buffer')
    r.do('ret i64 1')

    r.label('error')
    # Python must not be called with an error set. It raises the same error again.
    r.do(f'call void {r.api("clear_error")}()')
    r.label('no')
    r.do('ret i64 0')
    return r.text()


def _number(r: CallWriter, obj: str) -> str:
    """Return the value of an object that is exactly a float or an integer."""
    number = r.variable('double', '0.0')
    # New labels, as it occurs twice in a function; `no` and `error` are the function's.
    whole, done = r.new_label(), r.new_label()
    is_float = r.value(f'or i1 {r.is_type(obj, "float")}, {r.is_type(obj, "float64_type")}')
    r.unless(is_float, whole)
    r.put(number, 'double', r.field(obj, FLOAT_VALUE, 'double'))
    r.go(done)
    r.label(whole)
    r.unless(r.is_type(obj, 'int'), 'no')
    r.put(number, 'double', r.value(f'call double {r.api("int_as_double")}(ptr {obj})'))
    # An integer beyond all doubles gives -1.0 and an error.
    r.unless(r.same(r.value(f'call ptr {r.api("error_occurred")}()'), 'null'), 'error')
    r.label(done)
    return r.get(number, 'double')
