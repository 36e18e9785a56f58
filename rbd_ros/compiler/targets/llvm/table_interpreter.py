# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Interpreter of a table of operations, for very long graphs: a loop for each kind of operation.

LLVM's time grows with the length of a function, and machine code that is read from memory and used
once is no faster than a table. So a graph of hundreds of thousands of nodes (the mass matrix of a
chain of two hundred joints) is sorted by depth, and within a depth by operation. Each run is a
loop over rows of the table, with the slots of operands and result in an array of values. Only a
loop for each kind of operation, and the sequence of their calls, is compiled.
"""

from __future__ import annotations

from typing import List, Sequence, Tuple

import numpy as np

from rbd_ros.compiler.program import Program
from rbd_ros.compiler.targets.llvm.emit import emit_node, Emitter
from rbd_ros.compiler.targets.llvm.nan_check import emit_nan_check, nan_function
from rbd_ros.compiler.targets.llvm.operation_table import (
    INNER_OF,
    kind_name,
    MUL_ADD,
    MUL_SUB,
    operand_count,
    operation_table,
    PUT,
    PUT_NEGATED,
    SUB_MUL,
)


def table_interpreter(
    name: str, lanes: int, attributes: str, program: Program, widest: int
) -> Tuple[str, List[str]]:
    """Return the text and declarations of a function, as `straight_line`, for very long programs.

    :param widest: see `rbd_ros.compiler.targets.llvm.nan_check.emit_nan_check`
    """
    inputs, sizes = program.inputs, [output.size for output in program.outputs]
    # Values in one array: inputs, constants, then results by depth.
    constants, runs, size = operation_table(program)
    code, entry = Emitter(lanes), 0
    # On the stack: thread-safe.
    code.line(f'%values = alloca {code.type}, i64 {size}, align {8 * lanes}')
    for k, (_, length) in enumerate(inputs):
        to = code.value(f'getelementptr {code.type}, ptr %values, i64 {entry}')
        code.line(f'call void @{name}_copy(ptr %in{k}, ptr {to}, i64 {length})')
        entry += length
    to = code.value(f'getelementptr {code.type}, ptr %values, i64 {entry}')
    # Constants are doubles, once, in the object file, and vectors only in memory.
    code.line(f'call void @{name}_spread(ptr @{name}_constants, ptr {to}, i64 {len(constants)})')
    code.line(f'%outs = alloca ptr, i64 {max(1, len(sizes))}, align 8')
    for k in range(len(sizes)):
        slot = code.value(f'getelementptr ptr, ptr %outs, i64 {k}')
        code.line(f'store ptr %out{k}, ptr {slot}, align 8')
    code.line(f'call void @{name}_run(ptr %values, ptr %outs)')
    emit_nan_check(code, inputs, sizes, f'{name}_nan', widest)
    pointers = [f'ptr %in{k}' for k in range(len(inputs))]
    arguments = ', '.join([*pointers, *(f'ptr %out{k}' for k in range(len(sizes)))])
    kinds = sorted({run.kind for run in runs})
    # As narrow as possible: each call reads all of the table.
    bits = 16 if max(size, *sizes) < 2**16 else 32
    # Kind and length of each run, in order.
    order = np.array([(kinds.index(run.kind), len(run.rows)) for run in runs], dtype=np.int32)
    table = np.concatenate([np.zeros(0, np.int32), *(run.rows.ravel() for run in runs)])
    texts = [
        _data(f'{name}_constants', np.array(constants, dtype=np.float64), 8),
        _data(f'{name}_order', order, 4),
        _data(f'{name}_table', table.astype(f'uint{bits}'), 4),
        f'define void @{name}({arguments}) {attributes} {{',
        *code.lines,
        '  ret void',
        '}',
        _copying(f'{name}_copy', lanes, attributes, code.type),
        _copying(f'{name}_spread', lanes, attributes, 'double'),
        _run_all(name, kinds, len(runs), bits, attributes),
        *(_loop(name, kind, lanes, bits, attributes) for kind in kinds),
        nan_function(f'{name}_nan', lanes, attributes),
    ]
    return '\n'.join(texts), Emitter(lanes).declarations()


def _data(name: str, array: np.ndarray, align: int) -> str:
    """Return the text of a constant with the bytes of an array."""
    content = array.tobytes().hex('\\')
    content = f'\\{content}' if content else content
    size = array.nbytes
    return f'@{name} = internal constant [{size} x i8] c"{content}", align {align}'


def _copying(name: str, lanes: int, attributes: str, element: str) -> str:
    """Return the text of a function that copies an array, with doubles broadcast to vectors."""
    code = Emitter(lanes)
    if element == code.type:
        value = code.load('%from', '%k')
    else:
        # Each state of a batch has the same constants.
        value = code.spread(code.with_lanes(1).load('%from', '%k'))
    code.store(value, '%to', '%k')
    return _counting(name, 'ptr noalias %from, ptr noalias %to', code, attributes)


def _run_all(name: str, kinds: Sequence[int], runs: int, bits: int, attributes: str) -> str:
    """Return the text of the function that executes the runs, in order, each by its loop."""
    cases, blocks, rows = [], [], []
    for k, kind in enumerate(kinds):
        cases.append(f'    i32 {k}, label %k{k}')
        blocks += [
            f'k{k}:',
            f'  call void @{name}_{kind_name(kind)}(ptr %rows, ptr %values, ptr %outs, '
            'i64 %length)',
            f'  %size{k} = mul i64 %length, {1 + operand_count(kind)}',
            '  br label %after',
        ]
        rows.append(f'[ %size{k}, %k{k} ]')
    if not kinds:
        return f'define internal void @{name}_run(ptr %values, ptr %outs) {{\n  ret void\n}}\n'
    return '\n'.join(
        [
            f'define internal void @{name}_run(ptr %values, ptr %outs) {attributes} {{',
            'entry:',
            '  br label %before',
            'before:',
            '  %run = phi i64 [ 0, %entry ], [ %next, %after ]',
            f'  %rows = phi ptr [ @{name}_table, %entry ], [ %more_rows, %after ]',
            f'  %pair = getelementptr <2 x i32>, ptr @{name}_order, i64 %run',
            '  %kind = load i32, ptr %pair, align 4',
            '  %second = getelementptr i32, ptr %pair, i64 1',
            '  %short = load i32, ptr %second, align 4',
            '  %length = zext i32 %short to i64',
            # One jump per run, not per operation.
            '  switch i32 %kind, label %done [',
            *cases,
            '  ]',
            *blocks,
            'after:',
            f'  %size = phi i64 {", ".join(rows)}',
            f'  %more_rows = getelementptr i{bits}, ptr %rows, i64 %size',
            '  %next = add i64 %run, 1',
            f'  %more = icmp slt i64 %next, {runs}',
            '  br i1 %more, label %before, label %done',
            'done:',
            '  ret void',
            '}\n',
        ]
    )


def _loop(name: str, kind: int, lanes: int, bits: int, attributes: str) -> str:
    """Return the text of the loop over rows of one kind."""
    code, width = Emitter(lanes), 1 + operand_count(kind)
    code.lines.append(f'  %first = mul i64 %k, {width}')
    places = []
    for column in range(width):
        index = code.value(f'add i64 %first, {column}')
        pointer = code.value(f'getelementptr i{bits}, ptr %rows, i64 {index}')
        short = code.value(f'load i{bits}, ptr {pointer}, align {bits // 8}')
        places.append(code.value(f'zext i{bits} {short} to i64'))
    array = '%values'
    if kind in (PUT, PUT_NEGATED):
        # Only rows of outputs have one more column, the number of their array.
        owner = places.pop(1)
        pointer = code.value(f'getelementptr ptr, ptr %outs, i64 {owner}')
        array = code.value(f'load ptr, ptr {pointer}, align 8')
    x = [code.load('%values', place) for place in places[1:]]
    code.store(_emit(code, kind, x), array, places[0])
    arguments = 'ptr noalias readonly %rows, ptr noalias %values, ptr noalias %outs'
    return _counting(f'{name}_{kind_name(kind)}', arguments, code, attributes)


def _emit(code: Emitter, kind: int, x: Sequence[str]) -> str:
    if kind in (PUT, PUT_NEGATED):
        operation = code.fadd if kind == PUT else code.fsub
        return operation(code.constant(0.0), x[0])  # never -0.0
    if kind > INNER_OF:
        # In the order of its terms, fused as in straight-line code: the same bits.
        total = code.fmul(x[0], x[1])
        for a, b in zip(x[2::2], x[3::2]):
            product = code.value(f'fmul contract {code.type} {a}, {b}')
            total = code.value(f'fadd contract {code.type} {product}, {total}')
        return total
    if kind in (MUL_ADD, MUL_SUB, SUB_MUL):
        # With `contract`, LLVM may fuse both into one instruction.
        product = code.value(f'fmul contract {code.type} {x[0]}, {x[1]}')
        total = {
            MUL_ADD: f'fadd contract {code.type} {product}, {x[2]}',
            MUL_SUB: f'fsub contract {code.type} {product}, {x[2]}',
            SUB_MUL: f'fsub contract {code.type} {x[2]}, {product}',
        }
        return code.value(total[kind])
    return emit_node(code, (kind, *range(len(x))), dict(enumerate(x)), {})


def _counting(name: str, arguments: str, code: Emitter, attributes: str) -> str:
    """Return the text of a function that runs some code for all `%k` below `%count`."""
    body = '\n'.join(code.lines)
    return f"""define internal void @{name}({arguments}, i64 %count) {attributes} {{
entry:
  %some = icmp sgt i64 %count, 0
  br i1 %some, label %loop, label %done
loop:
  %k = phi i64 [ 0, %entry ], [ %next, %loop ]
{body}
  %next = add i64 %k, 1
  %more = icmp slt i64 %next, %count
  br i1 %more, label %loop, label %done
done:
  ret void
}}
"""
