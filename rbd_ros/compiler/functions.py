"""LLVM functions around a graph's code: one state, packed arrays, a batch of states, and the builtin for Python.

All of a kernel's functions live in one module:

* ``core(in0, in1, ..., out)``: one state, a pointer for each array;
* ``packed(in, out)``: one state, all inputs one after another in a single array, for calls from compiled loops;
* ``batch(ins, out, first, last)``: rows `first` to `last` of a batch, W at a time.
"""

from __future__ import annotations

from typing import Dict, List, Sequence, Tuple

from rbd_ros.compiler.emit import emit_graph, Emitter
from rbd_ros.compiler.graph import Graph, Value

Inputs = Sequence[Tuple[str, int]]


def core_function(graph: Graph, inputs: Inputs, outputs: Sequence[Value]) -> Tuple[str, List[str]]:
    """Text and declarations of `core` and `packed`.

    :param inputs: names and sizes of the input arrays
    :param outputs: values of the flat output array
    """
    code = Emitter(1)
    names: Dict[tuple, str] = {}
    for k, (name, size) in enumerate(inputs):
        for j in range(size):
            pointer = code.value(f'getelementptr double, ptr %in{k}, i64 {j}')
            names[name, j] = code.value(f'load double, ptr {pointer}, align 8')
    for j, value in enumerate(emit_graph(code, graph, names, outputs)):
        pointer = code.value(f'getelementptr double, ptr %out, i64 {j}')
        code.line(f'store double {value}, ptr {pointer}, align 8')
    arguments = ', '.join([f'ptr noalias readonly %in{k}' for k in range(len(inputs))] + ['ptr noalias %out'])
    body = '\n'.join(code.lines)
    text = f'define void @core({arguments}) nounwind {{\n{body}\n  ret void\n}}\n'

    offset, lines, passed = 0, [], []
    for k, (_, size) in enumerate(inputs):
        lines.append(f'  %p{k} = getelementptr double, ptr %in, i64 {offset}')
        passed.append(f'ptr %p{k}')
        offset += size
    call = f'  tail call void @core({", ".join(passed + ["ptr %out"])})'
    text += 'define void @packed(ptr %in, ptr %out) nounwind {\n' + '\n'.join(lines + [call]) + '\n  ret void\n}\n'
    return text, code.declarations()


def batch_function(graph: Graph, inputs: Inputs, outputs: Sequence[Value], lanes: int) -> Tuple[str, List[str]]:
    """Text and declarations of `batch` for `lanes` states at once.

    The batch must have at least `lanes` rows. A last group that is not full starts earlier and computes some rows
    again, so a row's result never depends on its place in the batch.
    """
    code = Emitter(lanes)
    names: Dict[tuple, str] = {}
    for k, (name, size) in enumerate(inputs):
        base = code.value(f'load ptr, ptr %slot{k}')
        rows = _row_pointers(code, base, size)
        for j, value in enumerate(_load_rows(code, rows, size)):
            names[name, j] = value
    results = emit_graph(code, graph, names, outputs)
    _store_rows(code, _row_pointers(code, '%out', len(outputs)), results)

    slots = '\n'.join(f'  %slot{k} = getelementptr ptr, ptr %ins, i64 {k}' for k in range(len(inputs)))
    body = '\n'.join(code.lines)
    attributes = 'nounwind "min-legal-vector-width"="512" "prefer-vector-width"="512"'
    text = f"""define void @batch(ptr noalias readonly %ins, ptr noalias %out, i64 %first, i64 %last) {attributes} {{
entry:
{slots}
  %final = sub i64 %last, {lanes}
  %any = icmp slt i64 %first, %last
  br i1 %any, label %loop, label %done
loop:
  %next = phi i64 [ %first, %entry ], [ %after, %loop ]
  %past = icmp sgt i64 %next, %final
  %row = select i1 %past, i64 %final, i64 %next
{body}
  %after = add i64 %next, {lanes}
  %more = icmp slt i64 %after, %last
  br i1 %more, label %loop, label %done
done:
  ret void
}}
"""
    return text, code.declarations()


def _row_pointers(code: Emitter, base: str, size: int) -> List[str]:
    """Pointers to the rows of the current group in an array of rows of `size` doubles."""
    start = code.value(f'mul i64 %row, {size}')
    first = code.value(f'getelementptr double, ptr {base}, i64 {start}')
    return [code.value(f'getelementptr double, ptr {first}, i64 {lane * size}') for lane in range(code.lanes)]


def _load_rows(code: Emitter, rows: List[str], size: int) -> List[str]:
    """Columns of the group as vectors: pairs of columns are loaded together and unzipped."""
    lanes, columns = code.lanes, []
    even, odd = rows[::2], rows[1::2]
    for j in range(0, size - 1, 2):
        halves = []
        for some in (even, odd):
            pairs = []
            for row in some:
                pointer = code.value(f'getelementptr double, ptr {row}, i64 {j}')
                pairs.append(code.value(f'load <2 x double>, ptr {pointer}, align 8'))
            halves.append(_concatenate(code, pairs, 2))
        for k in (0, 1):
            mask = [index for pair in range(0, lanes, 2) for index in (pair + k, lanes + pair + k)]
            columns.append(_shuffle(code, lanes, halves[0], halves[1], mask))
    if size % 2:
        vector = 'poison'
        for lane, row in enumerate(rows):
            pointer = code.value(f'getelementptr double, ptr {row}, i64 {size - 1}')
            element = code.value(f'load double, ptr {pointer}, align 8')
            vector = code.value(f'insertelement {code.type} {vector}, double {element}, i64 {lane}')
        columns.append(vector)
    return columns


def _store_rows(code: Emitter, rows: List[str], columns: List[str]) -> None:
    """Write vectors as columns of the group: the inverse of `_load_rows`."""
    lanes = code.lanes
    for j in range(0, len(columns) - 1, 2):
        for k in (0, 1):
            mask = [index for pair in range(0, lanes, 2) for index in (pair + k, lanes + pair + k)]
            zipped = _shuffle(code, lanes, columns[j], columns[j + 1], mask)
            for pair, row in enumerate(rows[k::2]):
                element = code.value(
                    f'shufflevector {code.type} {zipped}, {code.type} poison, '
                    f'<2 x i32> <i32 {2 * pair}, i32 {2 * pair + 1}>')
                pointer = code.value(f'getelementptr double, ptr {row}, i64 {j}')
                code.line(f'store <2 x double> {element}, ptr {pointer}, align 8')
    if len(columns) % 2:
        for lane, row in enumerate(rows):
            element = code.value(f'extractelement {code.type} {columns[-1]}, i64 {lane}')
            pointer = code.value(f'getelementptr double, ptr {row}, i64 {len(columns) - 1}')
            code.line(f'store double {element}, ptr {pointer}, align 8')


def _concatenate(code: Emitter, vectors: List[str], width: int) -> str:
    while len(vectors) > 1:
        mask = list(range(2 * width))
        vectors = [_shuffle(code, width, a, b, mask) for a, b in zip(vectors[::2], vectors[1::2])]
        width *= 2
    return vectors[0]


def _shuffle(code: Emitter, width: int, a: str, b: str, mask: List[int]) -> str:
    kind = f'<{width} x double>'
    indices = ', '.join(f'i32 {index}' for index in mask)
    return code.value(f'shufflevector {kind} {a}, {kind} {b}, <{len(mask)} x i32> <{indices}>')
