# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""LLVM functions around a graph's code: one state, packed arrays, and a batch of states.

* ``core(in0, in1, ..., out0, out1, ...)``: one state, a pointer for each array;
* ``packed(in, out)``: one state, all inputs in one array and all outputs in another, for calls
  from compiled loops;
* ``table(ins, outs)``: one state, its pointers in two tables;
* ``batch(ins, strides, outs, scratch, first, last)``: rows `first` to `last` of a batch, W at a
  time; an input with stride 0 is the same for all rows. `scratch` holds W numbers for each input
  and output element, aligned to vectors of them.

The first three live in one module with the builtin for Python (runtime/kernel_builtin.py), the
last in another.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Dict, Hashable, List, Tuple

from rbd_ros.compiler.program import identity, Output, Program
from rbd_ros.compiler.symbol_graph import Value
from rbd_ros.compiler.targets.llvm.straight_line import straight_line
from rbd_ros.compiler.targets.llvm.transposition import (
    gather_function,
    PREFETCH,
    scatter_function,
)


def core_function(program: Program) -> Tuple[str, List[str]]:
    """Return the text and declarations of `core`, `packed` and `table`."""
    inputs, outputs = program.inputs, program.values
    text, declarations = straight_line('core', 1, 'nounwind', program)
    lines, passed = [], []
    for array, sizes in (
        ('in', [size for _, size in inputs]),
        ('out', [len(values) for values in outputs]),
    ):
        for k in range(len(sizes)):
            offset = sum(sizes[:k])
            lines.append(f'  %{array}{k} = getelementptr double, ptr %{array}, i64 {offset}')
            passed.append(f'ptr %{array}{k}')
    # The arrays are at fixed offsets of one array, so a loop needs only its address.
    call = f'  tail call void @core({", ".join(passed)})'
    text += (
        'define void @packed(ptr %in, ptr %out) nounwind {\n'
        + '\n'.join([*lines, call])
        + '\n  ret void\n}\n'
    )
    loads = []
    # Pointers in tables: the routine for all kernels calls each in the same way (call_routine.py).
    for array, count in (('in', len(inputs)), ('out', len(outputs))):
        for k in range(count):
            loads.append(f'  %p_{array}{k} = getelementptr ptr, ptr %{array}s, i64 {k}')
            loads.append(f'  %{array}{k} = load ptr, ptr %p_{array}{k}')
    text += (
        'define void @table(ptr %ins, ptr %outs) nounwind {\n'
        + '\n'.join([*loads, call])
        + '\n  ret void\n}\n'
    )
    return text, declarations


def batch_function(program: Program, lanes: int) -> Tuple[str, List[str]]:
    """Return the text and declarations of `batch` for `lanes` states at once.

    The rows of a group are transposed to vectors of lanes in a scratch array, and the results back
    to rows (transposition.py). Equal results, such as the two halves of a symmetric matrix and its
    zeros, share a vector. The batch must have at least `lanes` rows: an incomplete last group
    starts earlier and computes some rows again, so a row's result never depends on its place.
    """
    # LLVM would halve these vectors on processors that lower their clock for wide ones.
    attributes = 'nounwind "min-legal-vector-width"="512" "prefer-vector-width"="512"'
    inputs = program.inputs
    slots, values = _shared(program)
    # `group` has one array of results, in which equal values are stored once.
    results = replace(
        program, outputs=(Output('results', (len(values),)),), values=(tuple(values),)
    )
    group, declarations = straight_line('group', lanes, attributes, results)
    entry, gathers, scatters, offset = [], [], [], 0
    for k, (_, size) in enumerate(inputs):
        entry += [
            f'  %slot_in{k} = getelementptr ptr, ptr %ins, i64 {k}',
            f'  %array_in{k} = load ptr, ptr %slot_in{k}',
            f'  %slot_stride{k} = getelementptr i64, ptr %strides, i64 {k}',
            f'  %stride{k} = load i64, ptr %slot_stride{k}',
            f'  %scratch_in{k} = getelementptr double, ptr %scratch, i64 {offset}',
        ]
        if size:
            gathers.append(
                f'  call void @gather_{size}(ptr %array_in{k}, ptr %scratch_in{k}, i64 %row, '
                f'i64 %stride{k})'
            )
        offset += lanes * size
    # Each is a whole number of vectors: all are aligned if the first is.
    entry.append(f'  %scratch_out = getelementptr double, ptr %scratch, i64 {offset}')
    for k, some in enumerate(slots):
        entry += [
            f'  %slot_out{k} = getelementptr ptr, ptr %outs, i64 {k}',
            f'  %array_out{k} = load ptr, ptr %slot_out{k}',
        ]
        if some:
            scatters.append(
                f'  call void @scatter_{k}(ptr %array_out{k}, ptr %scratch_out, i64 %row)'
            )
    passed = ', '.join([*(f'ptr %scratch_in{k}' for k in range(len(inputs))), 'ptr %scratch_out'])
    lines = '\n'
    parameters = 'ptr %ins, ptr %strides, ptr %outs, ptr %scratch, i64 %first, i64 %last'
    # Rows `first` to `last` are at least one group (thread_pool.py), so the last group, moved back
    # to be full, stays among them: no thread writes rows of another.
    text = f"""define void @batch({parameters}) {attributes} {{
entry:
{lines.join(entry)}
  %final = sub i64 %last, {lanes}
  %any = icmp slt i64 %first, %last
  br i1 %any, label %loop, label %done
loop:
  %next = phi i64 [ %first, %entry ], [ %after, %loop ]
  %past = icmp sgt i64 %next, %final
  %row = select i1 %past, i64 %final, i64 %next
{lines.join(gathers)}
  call void @group({passed})
{lines.join(scatters)}
  %after = add i64 %next, {lanes}
  %more = icmp slt i64 %after, %last
  br i1 %more, label %loop, label %done
done:
  ret void
}}
"""
    moving = [
        gather_function(f'gather_{size}', size, lanes, attributes)
        for size in sorted({size for _, size in inputs if size})
    ]
    moving += [
        scatter_function(f'scatter_{k}', some, lanes, attributes)
        for k, some in enumerate(slots)
        if some
    ]
    return group + text + ''.join(moving), [*declarations, PREFETCH]


def _shared(program: Program) -> Tuple[List[List[int]], List[Value]]:
    """Return the index of each output element in an array without duplicates, and that array."""
    places: Dict[Hashable, int] = {}
    values: List[Value] = []
    slots: List[List[int]] = []
    for array in program.values:
        slots.append([])
        for value in array:
            place = places.setdefault(identity(value), len(values))
            if place == len(values):
                values.append(value)
            slots[-1].append(place)
    return slots, values
