# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""General calls of a builtin: one routine of machine code for all kernels.

The kernel's own code does plain calls (the arrays of one state, by position; kernel_builtin.py).
This routine takes arguments by keyword, lists, tuples and arrays of other numbers, batches,
external forces by link and arrays for the results. All other calls go to Python, which converts
arguments or reports errors; so the routine may be strict.

This file has the sequence of a call, and the run of the kernel. Arguments are in
call_arguments.py, results in call_results.py and, if they are reused, in call_pooled_results.py;
call_table.py describes a kernel to the routine.
"""

from __future__ import annotations

from rbd_ros.compiler.runtime import call_pooled_results
from rbd_ros.compiler.runtime.call_arguments import (
    arrange,
    take_function,
    take_inputs,
    with_forces,
)
from rbd_ros.compiler.runtime.call_results import given_outputs, keep, new_outputs
from rbd_ros.compiler.runtime.call_writer import CallWriter
from rbd_ros.compiler.runtime.memory_layouts import (
    API,
    JOB,
    JOB_SIZE,
    MAX_INPUTS,
    MAX_OUTPUTS,
    SHAPES,
)


def _call_function() -> str:
    """Return the text of `call`: everything from arguments to the result."""
    r = CallWriter('ptr @call(ptr %d, ptr %self, ptr %args, i64 %nargs, ptr %kwnames)')
    n, m = r.word('inputs'), r.word('outputs')
    slots = r.array('ptr', MAX_INPUTS + 2)
    ins, strides = r.array('ptr', MAX_INPUTS), r.array('i64', MAX_INPUTS)
    outs, numbers = r.array('ptr', MAX_OUTPUTS), r.array('double', MAX_OUTPUTS)
    # -1 rows: a single state, which is not a batch of one.
    rows = r.variable('i64', '-1')
    arrange(r, n, slots)
    with_forces(r, n, slots)
    take_inputs(r, n, slots, ins, strides, rows)
    batch = r.value(f'icmp sge i64 {r.get(rows, "i64")}, 0')
    with r.only_if(batch):
        # Fewer rows than lanes are computed one by one, with the code for one state. More need the
        # code for many, and long batches need helpers: Python provides both at first use.
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
    several = r.returns_several()
    # None and no argument are equivalent.
    r.unless(absent, 'given')
    new_outputs(r, m, several, result, outs, numbers, rows)
    r.go('run')
    r.label('given')
    given_outputs(r, out, n, m, several, result, ins, strides, outs, rows)
    r.label('run')
    _run(r, n, m, ins, strides, outs, rows)
    with r.loop(m) as j:  # numbers of a single state become objects
        # An output whose address is on the stack is a number of a single state.
        is_number = r.same(r.get(outs, 'ptr', j), r.at(numbers, 'double', j))
        with r.only_if(is_number):
            value = r.get(numbers, 'double', j)
            made = r.value(f'call ptr {r.api("new_float")}(double {value})')
            keep(r, several, result, j, made)
    r.do(f'ret ptr {r.get(result, "ptr")}')
    r.label('give_up')
    r.unless(several, 'nothing')
    r.do(f'call void {r.api("release")}(ptr {r.get(result, "ptr")})')
    r.label('nothing')
    r.do('ret ptr null')
    r.label('no_memory')
    # It sets the error and returns null; releasing null is allowed.
    r.value(f'call ptr {r.api("no_memory")}()')
    r.do(f'call void {r.api("release")}(ptr {r.get(result, "ptr")})')
    r.go('nothing')
    # `%self` is the fallback of the builtin.
    r.label('slow')
    r.do(
        f'%answer = call ptr {r.api("vectorcall")}(ptr %self, ptr %args, i64 %nargs, ptr %kwnames)'
    )
    r.do('ret ptr %answer')
    return r.text()


def _run(r: CallWriter, n: str, m: str, ins: str, strides: str, outs: str, rows: str) -> None:
    """Run the kernel: for one state, for some one by one, or for many at once."""
    one, done, many = r.word('one', 'ptr'), r.new_label(), r.new_label()
    count = r.get(rows, 'i64')
    batch = r.new_label()
    r.when(r.value(f'icmp sge i64 {count}, 0'), batch)
    r.do(f'call void {one}(ptr {ins}, ptr {outs})')
    r.go(done)
    r.label(batch)
    r.unless(r.value(f'icmp slt i64 {count}, {r.word("lanes")}'), many)
    row_ins, row_outs = r.array('ptr', MAX_INPUTS), r.array('ptr', MAX_OUTPUTS)
    with r.loop(count) as i:
        with r.loop(n) as k:
            offset = r.value(f'mul i64 {r.get(strides, "i64", k)}, {i}')
            r.put(row_ins, 'ptr', r.at(r.get(ins, 'ptr', k), 'double', offset), k)
        with r.loop(m) as j:
            elements = r.element(SHAPES + 1, r.shape(j))
            offset = r.value(f'mul i64 {elements}, {i}')
            r.put(row_outs, 'ptr', r.at(r.get(outs, 'ptr', j), 'double', offset), j)
        r.do(f'call void {one}(ptr {row_ins}, ptr {row_outs})')
    r.go(done)
    r.label(many)
    long = r.new_label()
    # With the kept scratch array: the GIL guards it.
    r.unless(r.value(f'icmp sle i64 {count}, {r.word("kept_rows")}'), long)
    r.do(
        f'call void {r.word("batch", "ptr")}(ptr {ins}, ptr {strides}, ptr {outs}, '
        f'ptr {r.word("scratch", "ptr")}, i64 0, i64 {count})'
    )
    r.go(done)
    r.label(long)
    _run_long(r, ins, strides, outs, count)
    r.label(done)


def _run_long(r: CallWriter, ins: str, strides: str, outs: str, count: str) -> None:
    """Compute a batch with the GIL released, with or without helper threads."""
    # On this thread's stack: `run` does not return while a helper uses it.
    job = r.array('i64', JOB_SIZE)
    for name, array in (('ins', ins), ('strides', strides), ('outs', outs)):
        r.put(job, 'ptr', array, str(JOB[name]))
    r.put(job, 'i64', r.word('batch'), str(JOB['batch']))
    r.put(job, 'i64', r.word('scratch_size'), str(JOB['scratch']))
    r.put(job, 'i64', count, str(JOB['rows']))
    alone = r.value(f'icmp sle i64 {count}, {r.word("alone_rows")}')
    # One chunk of everything keeps `run` from using helpers.
    chunk = r.value(f'select i1 {alone}, i64 {count}, i64 {r.word("chunk")}')
    r.put(job, 'i64', chunk, str(JOB['chunk']))
    # Arguments and results stay alive: the caller has the former, this function the latter.
    state = r.value(f'call ptr {r.api("give_up_lock")}()')
    complete = r.value(f'call i64 {r.word("run", "ptr")}(ptr {job})')
    r.do(f'call void {r.api("take_lock")}(ptr {state})')
    r.when(r.same(complete, '0', 'i64'), 'no_memory')


def text() -> str:
    """Return the text of the routine and its tables."""
    table = f'@api = global [{len(API)} x ptr] zeroinitializer\n'
    return table + take_function() + call_pooled_results.text() + _call_function()
