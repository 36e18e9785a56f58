"""What becomes of a builtin's call that is not plain: one routine of machine code for all kernels.

A plain call (the arrays of one state, by position) is done by the kernel's own code (builtin.py).
This routine takes arguments by keyword, lists, tuples and arrays of other numbers, batches,
external forces by link and places for the results. What it does not take it hands on to Python,
which converts as well, or says what is wrong; so it may be as picky as it likes.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache
import sys
from typing import Sequence, Tuple

import numpy as np

from rbd_ros.compiler.runtime.builtin import Fallback, vectorcall
from rbd_ros.compiler.runtime.call_table import (
    AT,
    DRAWN,
    KEYS,
    MOST_AXES,
    MOST_INPUTS,
    MOST_LINKS,
    MOST_OUTPUTS,
    NAMES,
    NUMBERS,
    SHAPE,
    SHAPES,
    SIZES,
    USUAL,
)
from rbd_ros.compiler.runtime.layouts import (
    address,
    DATA,
    DESCR,
    DIMENSIONS,
    DOUBLE,
    FLAGS,
    ND,
    numpy_function,
    SIZE,
    TUPLE_ITEMS,
    TYPE,
)
from rbd_ros.compiler.runtime.randomness import next_double
from rbd_ros.compiler.runtime.routines import load_routine
from rbd_ros.compiler.runtime.sharing import JOB, JOB_SIZE
from rbd_ros.compiler.source import source_digest
from rbd_ros.compiler.targets.llvm import native
from rbd_ros.compiler.targets.llvm.routine import Routine

_CONTIGUOUS_ALIGNED, _WRITEABLE = 0x0001 | 0x0100, 0x0400
_LIST_ITEMS = 24  # of a list: pointer to its items
_FLOAT_VALUE = 16  # of a float, and of NumPy's
_DESCR_KIND = 24  # of an array's descriptor: a letter
_NEW, _FROM_ANY = 93, 69  # NumPy's PyArray_New and PyArray_FromAny

# What the routine needs of the interpreter, in its table `api`.
_API = (
    'ndarray', 'float64', 'list', 'tuple', 'dict', 'float', 'int', 'float64_type', 'none',
    'new_array', 'array_from_any', 'new_float', 'new_tuple', 'retain', 'release', 'int_as_double',
    'error_occurred', 'clear_error', 'dict_get', 'dict_size', 'vectorcall', 'give_up_lock',
    'take_lock', 'no_memory', 'next_double', 'randomness', 'float32', 'int64', 'int32',
)  # fmt: skip
# Other numbers that arrays often hold, and what makes float64 of them: NumPy takes a microsecond.
_OTHERS = (('float32', 'float', 'fpext'), ('int64', 'i64', 'sitofp'), ('int32', 'i32', 'sitofp'))


class _Texts(Routine):
    """The routine's two functions have these in common."""

    def api(self, name: str, kind: str = 'ptr') -> str:
        """Entry of the table `api`."""
        return self.get('@api', kind, str(_API.index(name)))

    def word(self, name: str, kind: str = 'i64') -> str:
        """Number of the kernel's table."""
        return self.get('%d', kind, str(AT[name]))

    def element(self, first: int, index: str, kind: str = 'i64') -> str:
        """Element of a part of the kernel's table."""
        return self.get('%d', kind, self.value(f'add i64 {index}, {first}'))

    def is_type(self, obj: str, name: str) -> str:
        """Whether an object is of exactly this type."""
        return self.same(self.field(obj, TYPE, 'ptr'), self.api(name))

    def is_plain(self, array: str, flags: int) -> str:
        """Whether an array holds float64 as the processor wants them."""
        found = self.value(f'and i32 {self.field(array, FLAGS, "i32")}, {flags}')
        right = self.same(found, str(flags), 'i32')
        return self.both(self.same(self.field(array, DESCR, 'ptr'), self.api('float64')), right)


def _take_function() -> str:
    """Text of `take`: where the numbers of an argument are; 0 no, 1 a state, 2 a batch."""
    parameters = 'ptr %obj, i64 %size, i64 %number, ptr %buffer, ptr %data, ptr %rows'
    r = _Texts(f'internal i64 @take({parameters})')
    r.when(r.is_type('%obj', 'ndarray'), 'array')
    r.when(r.same('%number', '1', 'i64'), 'alone')
    items = r.variable('ptr', 'null')
    r.when(r.is_type('%obj', 'list'), 'list')
    r.unless(r.is_type('%obj', 'tuple'), 'no')
    r.put(items, 'ptr', r.at('%obj', 'i8', str(TUPLE_ITEMS)))
    r.go('sequence')
    r.label('list')
    r.put(items, 'ptr', r.field('%obj', _LIST_ITEMS, 'ptr'))
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
    r.unless(r.is_plain('%obj', _CONTIGUOUS_ALIGNED), 'converted')
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
    found = r.value(f'and i32 {r.field("%obj", FLAGS, "i32")}, {_CONTIGUOUS_ALIGNED}')
    r.unless(r.same(found, str(_CONTIGUOUS_ALIGNED), 'i32'), 'unusual')
    for name, kind, operation in _OTHERS:
        with r.only_if(r.same(r.field('%obj', DESCR, 'ptr'), r.api(name))):
            source = r.field('%obj', DATA, 'ptr')
            with r.loop('%size') as k:
                number = r.value(f'{operation} {kind} {r.get(source, kind, k)} to double')
                r.put('%buffer', 'double', number, k)
            r.put('%data', 'ptr', '%buffer')
            r.do('ret i64 1')
    r.label('unusual')
    kind = r.field(r.field('%obj', DESCR, 'ptr'), _DESCR_KIND, 'i8')
    for letter in 'fiu':
        r.when(r.same(kind, str(ord(letter)), 'i8'), 'numeric')
    r.go('no')
    r.label('numeric')
    float64 = r.api('float64')
    r.do(f'call void {r.api("retain")}(ptr {float64})')  # which the next call takes
    array = r.value(
        f'call ptr {r.api("array_from_any")}(ptr %obj, ptr {float64}, i32 1, i32 1, '
        f'i32 {_CONTIGUOUS_ALIGNED}, ptr null)'
    )
    r.when(r.same(array, 'null'), 'error')
    source = r.field(array, DATA, 'ptr')
    with r.loop('%size') as k:
        r.put('%buffer', 'double', r.get(source, 'double', k), k)
    r.do(f'call void {r.api("release")}(ptr {array})')
    r.put('%data', 'ptr', '%buffer')
    r.do('ret i64 1')

    r.label('error')
    r.do(f'call void {r.api("clear_error")}()')
    r.label('no')
    r.do('ret i64 0')
    return r.text()


def _number(r: _Texts, obj: str) -> str:
    """Value of an object that is exactly a float or an integer."""
    number = r.variable('double', '0.0')
    whole, done = r.new_label(), r.new_label()
    is_float = r.value(f'or i1 {r.is_type(obj, "float")}, {r.is_type(obj, "float64_type")}')
    r.unless(is_float, whole)
    r.put(number, 'double', r.field(obj, _FLOAT_VALUE, 'double'))
    r.go(done)
    r.label(whole)
    r.unless(r.is_type(obj, 'int'), 'no')
    r.put(number, 'double', r.value(f'call double {r.api("int_as_double")}(ptr {obj})'))
    r.unless(r.same(r.value(f'call ptr {r.api("error_occurred")}()'), 'null'), 'error')
    r.label(done)
    return r.get(number, 'double')


def _call_function() -> str:
    """Text of `call`: the whole way from arguments to the result."""
    r = _Texts('ptr @call(ptr %d, ptr %self, ptr %args, i64 %nargs, ptr %kwnames)')
    n, m = r.word('inputs'), r.word('outputs')
    slots = r.array('ptr', MOST_INPUTS + 2)
    ins, strides = r.array('ptr', MOST_INPUTS), r.array('i64', MOST_INPUTS)
    outs, numbers = r.array('ptr', MOST_OUTPUTS), r.array('double', MOST_OUTPUTS)
    rows = r.variable('i64', '-1')
    _arrange(r, n, slots)
    _with_forces(r, n, slots)
    _take_inputs(r, n, slots, ins, strides, rows)
    batch = r.value(f'icmp sge i64 {r.get(rows, "i64")}, 0')
    with r.only_if(batch):
        few = r.value(f'icmp slt i64 {r.get(rows, "i64")}, {r.word("lanes")}')
        known = r.new_label()
        r.when(few, known)
        r.when(r.same(r.word('batch'), '0', 'i64'), 'slow')
        r.unless(r.value(f'icmp sgt i64 {r.get(rows, "i64")}, {r.word("alone_rows")}'), known)
        r.when(r.same(r.get(r.word('ready', 'ptr'), 'i64'), '0', 'i64'), 'slow')
        r.label(known)
    out = r.get(slots, 'ptr', r.value(f'add i64 {n}, 1'))
    absent = r.value(f'or i1 {r.same(out, "null")}, {r.same(out, r.api("none"))}')
    result = r.variable('ptr', 'null')  # named tuple, or the only output
    several = r.value(f'icmp ne i64 {r.word("result_type")}, 0')
    r.unless(absent, 'given')
    _new_outputs(r, m, several, result, outs, numbers, rows)
    r.go('run')
    r.label('given')
    _given_outputs(r, out, n, m, several, result, ins, strides, outs, rows)
    r.label('run')
    _run(r, n, m, ins, strides, outs, rows)
    with r.loop(m) as j:  # numbers of a single state become objects
        is_number = r.same(r.get(outs, 'ptr', j), r.at(numbers, 'double', j))
        with r.only_if(is_number):
            value = r.get(numbers, 'double', j)
            made = r.value(f'call ptr {r.api("new_float")}(double {value})')
            _keep(r, several, result, j, made)
    r.do(f'ret ptr {r.get(result, "ptr")}')
    r.label('give_up')
    r.unless(several, 'nothing')
    r.do(f'call void {r.api("release")}(ptr {r.get(result, "ptr")})')
    r.label('nothing')
    r.do('ret ptr null')
    r.label('no_memory')
    r.value(f'call ptr {r.api("no_memory")}()')
    r.do(f'call void {r.api("release")}(ptr {r.get(result, "ptr")})')
    r.go('nothing')
    r.label('slow')
    r.do(
        f'%answer = call ptr {r.api("vectorcall")}(ptr %self, ptr %args, i64 %nargs, ptr %kwnames)'
    )
    r.do('ret ptr %answer')
    return r.text()


def _arrange(r: _Texts, n: str, slots: str) -> None:
    """Put each argument into its slot, by place or by name."""
    known = r.value(f'add i64 {n}, 2')
    with r.loop(known) as k:
        r.put(slots, 'ptr', 'null', k)
    r.when(r.value(f'icmp sgt i64 %nargs, {r.word("by_place")}'), 'slow')
    with r.loop('%nargs') as k:
        r.put(slots, 'ptr', r.get('%args', 'ptr', k), k)
    named = r.value('icmp ne ptr %kwnames, null')
    with r.only_if(named):
        with r.loop(r.field('%kwnames', SIZE, 'i64')) as j:
            name = r.get(r.at('%kwnames', 'i8', str(TUPLE_ITEMS)), 'ptr', j)
            place = r.variable('i64', '-1')
            r.put(place, 'i64', '-1')
            with r.loop(known) as k:
                with r.only_if(r.same(r.element(NAMES, k, 'ptr'), name)):
                    r.put(place, 'i64', k)
            at = r.get(place, 'i64')
            r.when(r.value(f'icmp slt i64 {at}, 0'), 'slow')
            r.unless(r.same(r.get(slots, 'ptr', at), 'null'), 'slow')
            r.put(slots, 'ptr', r.get('%args', 'ptr', r.value(f'add i64 %nargs, {j}')), at)
    with r.loop(n) as k:
        with r.only_if(r.same(r.get(slots, 'ptr', k), 'null')):
            r.put(slots, 'ptr', r.element(USUAL, k, 'ptr'), k)  # null if there is none


def _with_forces(r: _Texts, n: str, slots: str) -> None:
    """Hand a call with forces on to the builtin for these links, if it is known."""
    forces = r.get(slots, 'ptr', n)
    end = r.new_label()
    r.when(r.same(forces, 'null'), end)
    r.when(r.same(forces, r.api('none')), end)
    r.unless(r.is_type(forces, 'dict'), 'slow')
    count = r.value(f'call i64 {r.api("dict_size")}(ptr {forces})')
    r.when(r.same(count, '0', 'i64'), end)
    r.unless(r.same(count, r.word('links'), 'i64'), 'slow')
    passed = r.array('ptr', MOST_INPUTS + MOST_LINKS + 1)
    with r.loop(n) as k:
        argument = r.get(slots, 'ptr', k)
        r.when(r.same(argument, 'null'), 'slow')
        r.put(passed, 'ptr', argument, k)
    with r.loop(count) as j:
        key = r.element(KEYS, j, 'ptr')
        force = r.value(f'call ptr {r.api("dict_get")}(ptr {forces}, ptr {key})')
        r.when(r.same(force, 'null'), 'slow')
        r.put(passed, 'ptr', force, r.value(f'add i64 {n}, {j}'))
    # Others may run during a long batch: what only a dictionary or a table holds must stay.
    bound = r.word('forced_self', 'ptr')
    r.do(f'call void {r.api("retain")}(ptr {bound})')
    with r.loop(count) as j:
        force = r.get(passed, 'ptr', r.value(f'add i64 {n}, {j}'))
        r.do(f'call void {r.api("retain")}(ptr {force})')
    total = r.value(f'add i64 {n}, {count}')
    out = r.get(slots, 'ptr', r.value(f'add i64 {n}, 1'))
    r.put(passed, 'ptr', out, total)
    names = r.value(f'select i1 {r.same(out, "null")}, ptr null, ptr {r.word("out_name", "ptr")}')
    called = r.word('forced', 'ptr')
    answer = r.value(f'call ptr {called}(ptr {bound}, ptr {passed}, i64 {total}, ptr {names})')
    with r.loop(count) as j:
        force = r.get(passed, 'ptr', r.value(f'add i64 {n}, {j}'))
        r.do(f'call void {r.api("release")}(ptr {force})')
    r.do(f'call void {r.api("release")}(ptr {bound})')
    r.do(f'ret ptr {answer}')
    r.label(end)


def _take_inputs(r: _Texts, n: str, slots: str, ins: str, strides: str, rows: str) -> None:
    """Find the numbers of each input; a single state among batches counts for every row."""
    buffer = r.value(f'alloca double, i64 {r.word("total")}, align 8')
    used, own_rows = r.variable('i64', '0'), r.variable('i64', '0')
    with r.loop(n) as k:
        argument = r.get(slots, 'ptr', k)
        size = r.element(SIZES, k)
        room = r.at(buffer, 'double', r.get(used, 'i64'))
        r.put(used, 'i64', r.value(f'add i64 {r.get(used, "i64")}, {size}'))
        r.put(strides, 'i64', '0', k)
        given, taken = r.new_label(), r.new_label()
        r.unless(r.same(argument, 'null'), given)
        r.unless(r.same(r.element(DRAWN, k), '1', 'i64'), 'slow')
        with r.loop(size) as i:
            draw, state = r.api('next_double'), r.api('randomness')
            r.put(room, 'double', r.value(f'call double {draw}(ptr {state})'), i)
        r.put(ins, 'ptr', room, k)
        r.go(taken)
        r.label(given)
        number = r.element(NUMBERS, k)
        found = r.value(
            f'call i64 @take(ptr {argument}, i64 {size}, i64 {number}, ptr {room}, '
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


def _shape(r: _Texts, j: str) -> str:
    """Index of an output's part of the table: axes, elements, shape."""
    return r.value(f'mul i64 {j}, {SHAPE}')


def _new_outputs(
    r: _Texts, m: str, several: str, result: str, outs: str, numbers: str, rows: str
) -> None:
    """Make arrays for the outputs; a number of a single state is made in the end."""
    with r.only_if(several):
        kind = r.word('result_type', 'ptr')
        made = r.value(f'call ptr {r.api("new_tuple")}(ptr {kind}, i64 {m})')
        r.when(r.same(made, 'null'), 'nothing')
        r.put(result, 'ptr', made)
    dims = r.array('i64', MOST_AXES + 1)
    with r.loop(m) as j:
        shape, done = _shape(r, j), r.new_label()
        axes = r.element(SHAPES, shape)
        count = r.get(rows, 'i64')
        single = r.value(f'icmp slt i64 {count}, 0')
        r.put(outs, 'ptr', r.at(numbers, 'double', j), j)
        r.when(r.both(single, r.same(axes, '0', 'i64')), done)
        lead = r.value(f'select i1 {single}, i64 0, i64 1')
        r.put(dims, 'i64', count)
        with r.loop(axes) as a:
            size = r.element(SHAPES + 2, r.value(f'add i64 {shape}, {a}'))
            r.put(dims, 'i64', size, r.value(f'add i64 {a}, {lead}'))
        total = r.value(f'trunc i64 {r.value(f"add i64 {axes}, {lead}")} to i32')
        made = r.value(
            f'call ptr {r.api("new_array")}(ptr {r.api("ndarray")}, i32 {total}, ptr {dims}, '
            f'i32 {DOUBLE}, ptr null, ptr null, i32 0, i32 0, ptr null)'
        )
        _keep(r, several, result, j, made)
        r.put(outs, 'ptr', r.field(made, DATA, 'ptr'), j)
        r.label(done)


def _keep(r: _Texts, several: str, result: str, j: str, made: str) -> None:
    """Make an object part of the result, which owns it."""
    alone, kept = r.new_label(), r.new_label()
    r.when(r.same(made, 'null'), 'give_up')
    r.unless(several, alone)
    items = r.at(r.get(result, 'ptr'), 'i8', str(TUPLE_ITEMS))
    r.put(items, 'ptr', made, j)
    r.go(kept)
    r.label(alone)
    r.put(result, 'ptr', made)
    r.label(kept)


def _given_outputs(
    r: _Texts, out: str, n: str, m: str, several: str, result: str,
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
        r.unless(r.is_plain(given, _CONTIGUOUS_ALIGNED | _WRITEABLE), 'slow')
        shape = _shape(r, j)
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
        with r.loop(j) as i:
            other = r.get(outs, 'ptr', i)
            size = r.element(SHAPES + 1, _shape(r, i))
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
        r.do(f'call void {r.api("retain")}(ptr {r.get(one, "ptr")})')
        _keep(r, several, result, j, r.get(one, 'ptr'))


def _run(r: _Texts, n: str, m: str, ins: str, strides: str, outs: str, rows: str) -> None:
    """Run the kernel: for one state, for some one after another, or for many at once."""
    one, done, many = r.word('one', 'ptr'), r.new_label(), r.new_label()
    count = r.get(rows, 'i64')
    batch = r.new_label()
    r.when(r.value(f'icmp sge i64 {count}, 0'), batch)
    r.do(f'call void {one}(ptr {ins}, ptr {outs})')
    r.go(done)
    r.label(batch)
    r.unless(r.value(f'icmp slt i64 {count}, {r.word("lanes")}'), many)
    row_ins, row_outs = r.array('ptr', MOST_INPUTS), r.array('ptr', MOST_OUTPUTS)
    with r.loop(count) as i:
        with r.loop(n) as k:
            offset = r.value(f'mul i64 {r.get(strides, "i64", k)}, {i}')
            r.put(row_ins, 'ptr', r.at(r.get(ins, 'ptr', k), 'double', offset), k)
        with r.loop(m) as j:
            elements = r.element(SHAPES + 1, _shape(r, j))
            offset = r.value(f'mul i64 {elements}, {i}')
            r.put(row_outs, 'ptr', r.at(r.get(outs, 'ptr', j), 'double', offset), j)
        r.do(f'call void {one}(ptr {row_ins}, ptr {row_outs})')
    r.go(done)
    r.label(many)
    long = r.new_label()
    r.unless(r.value(f'icmp sle i64 {count}, {r.word("kept_rows")}'), long)
    r.do(
        f'call void {r.word("batch", "ptr")}(ptr {ins}, ptr {strides}, ptr {outs}, '
        f'ptr {r.word("scratch", "ptr")}, i64 0, i64 {count})'
    )
    r.go(done)
    r.label(long)
    _run_long(r, ins, strides, outs, count)
    r.label(done)


def _run_long(r: _Texts, ins: str, strides: str, outs: str, count: str) -> None:
    """Do a batch, with help or without, while other threads of the interpreter may run."""
    job = r.array('i64', JOB_SIZE)
    for name, array in (('ins', ins), ('strides', strides), ('outs', outs)):
        r.put(job, 'ptr', array, str(JOB[name]))
    r.put(job, 'i64', r.word('batch'), str(JOB['batch']))
    r.put(job, 'i64', r.word('scratch_size'), str(JOB['scratch']))
    r.put(job, 'i64', count, str(JOB['rows']))
    alone = r.value(f'icmp sle i64 {count}, {r.word("alone_rows")}')
    chunk = r.value(f'select i1 {alone}, i64 {count}, i64 {r.word("chunk")}')
    r.put(job, 'i64', chunk, str(JOB['chunk']))
    state = r.value(f'call ptr {r.api("give_up_lock")}()')
    complete = r.value(f'call i64 {r.word("run", "ptr")}(ptr {job})')
    r.do(f'call void {r.api("take_lock")}(ptr {state})')
    r.when(r.same(complete, '0', 'i64'), 'no_memory')


def text() -> str:
    """Text of the routine and what belongs to it."""
    table = f'@api = global [{len(_API)} x ptr] zeroinitializer\n'
    return table + _take_function() + _call_function()


@lru_cache(maxsize=1)
def routine() -> Tuple[native.MachineCode, int]:
    """Machine code of the routine and its address, from disk or made anew."""
    key = {
        'source': source_digest(__name__),
        'python': sys.version_info[:2],
        'layout': [TUPLE_ITEMS],
    }
    code = load_routine('call', text(), key)
    for k, value in enumerate(_api_values()):
        ctypes.c_void_p.from_address(code.global_address('api') + 8 * k).value = value
    return code, code.address('call')


def _api_values() -> Sequence[int]:
    api = ctypes.pythonapi
    functions = (
        api.PyFloat_FromDouble, api.PyType_GenericAlloc, api.Py_IncRef, api.Py_DecRef,
        api.PyLong_AsDouble, api.PyErr_Occurred, api.PyErr_Clear, api.PyDict_GetItem,
        api.PyDict_Size,
    )  # fmt: skip
    of_threads = (api.PyEval_SaveThread, api.PyEval_RestoreThread, api.PyErr_NoMemory)
    objects = (np.ndarray, np.dtype(np.float64), list, tuple, dict, float, int, np.float64, None)
    return [
        *map(id, objects),
        numpy_function(_NEW),
        numpy_function(_FROM_ANY),
        *map(address, functions),
        vectorcall(Fallback(len)),
        *map(address, of_threads),
        *next_double(),
        *(id(np.dtype(name)) for name, _, _ in _OTHERS),
    ]
