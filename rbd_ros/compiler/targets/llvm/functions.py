"""LLVM functions around a graph's code: one state, packed arrays, and a batch of states.

* ``core(in0, in1, ..., out0, out1, ...)``: one state, a pointer for each array;
* ``packed(in, out)``: one state, all inputs one after another in a single array, and so all
  outputs, for calls from compiled loops;
* ``table(ins, outs)``: one state, its pointers in two tables;
* ``batch(ins, strides, outs, scratch, first, last)``: rows `first` to `last` of a batch, W at a
  time; an input with stride 0 is the same for all rows.

The first three live in one module with the builtin for Python (builtin.py), the last in another.
"""

from __future__ import annotations

from typing import List, Tuple

from rbd_ros.compiler.program import Program
from rbd_ros.compiler.targets.llvm.emit import Emitter
from rbd_ros.compiler.targets.llvm.poison import Inputs
from rbd_ros.compiler.targets.llvm.straight_line import straight_line


def core_function(program: Program) -> Tuple[str, List[str]]:
    """Text and declarations of `core`, `packed` and `table`."""
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
    call = f'  tail call void @core({", ".join(passed)})'
    text += (
        'define void @packed(ptr %in, ptr %out) nounwind {\n'
        + '\n'.join([*lines, call])
        + '\n  ret void\n}\n'
    )
    loads = []
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


def scratch_size(inputs: Inputs, outputs: int, lanes: int) -> int:
    """Doubles in the scratch array of `batch`, which must be aligned to vectors of `lanes`.

    :param outputs: how many numbers come out
    """
    return lanes * (sum(size for _, size in inputs) + outputs)


def batch_function(program: Program, lanes: int) -> Tuple[str, List[str]]:
    """Text and declarations of `batch` for `lanes` states at once.

    The rows of a group are turned into vectors of lanes in a scratch array, by small loops, and
    the results back into rows. The batch must have at least `lanes` rows: a last group that is not
    full starts earlier and computes some rows again, so a row's result never depends on its place
    in the batch.
    """
    attributes = 'nounwind "min-legal-vector-width"="512" "prefer-vector-width"="512"'
    inputs, outputs = program.inputs, program.values
    group, declarations = straight_line('group', lanes, attributes, program)
    sizes = {f'in{k}': size for k, (_, size) in enumerate(inputs)}
    sizes.update({f'out{k}': len(values) for k, values in enumerate(outputs)})
    entry: List[str] = []
    gathers: List[str] = []
    scatters: List[str] = []
    offset = 0
    for k, (name, size) in enumerate(sizes.items()):
        is_input = k < len(inputs)
        table, place = ('%ins', k) if is_input else ('%outs', k - len(inputs))
        entry += [
            f'  %slot_{name} = getelementptr ptr, ptr {table}, i64 {place}',
            f'  %array_{name} = load ptr, ptr %slot_{name}',
            f'  %scratch_{name} = getelementptr double, ptr %scratch, i64 {offset}',
        ]
        stride = str(size)
        if is_input:
            entry += [
                f'  %stride_p_{name} = getelementptr i64, ptr %strides, i64 {place}',
                f'  %stride_{name} = load i64, ptr %stride_p_{name}',
            ]
            stride = f'%stride_{name}'
        (gathers if is_input else scatters).append(
            f'  call void @{"gather" if is_input else "scatter"}'
            f'(ptr %array_{name}, ptr %scratch_{name}, i64 %row, i64 {size}, i64 {stride})'
        )
        offset += lanes * size
    passed = ', '.join(f'ptr %scratch_{name}' for name in sizes)
    lines = '\n'
    parameters = 'ptr %ins, ptr %strides, ptr %outs, ptr %scratch, i64 %first, i64 %last'
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
    gather, scatter = (_transposition(name, lanes, attributes) for name in ('gather', 'scatter'))
    return group + text + gather + scatter, declarations


def _transposition(name: str, lanes: int, attributes: str) -> str:
    """Text of `gather` (rows to lanes) or `scatter` (lanes to rows).

    Pairs of columns in a loop, then an odd one.
    """
    code = Emitter(lanes, 'p')
    rows = [
        code.value(f'getelementptr double, ptr %first, i64 %offset{lane}') for lane in range(lanes)
    ]
    single = Emitter(lanes, 's')
    (_load_pair if name == 'gather' else _store_pair)(code, rows)
    (_load_single if name == 'gather' else _store_single)(single, rows)
    offsets = '\n'.join(f'  %offset{lane} = mul i64 %stride, {lane}' for lane in range(lanes))
    pointers = '\n'.join(code.lines[:lanes])
    arguments = 'ptr %array, ptr %vectors, i64 %row, i64 %size, i64 %stride'
    return f"""define internal void @{name}({arguments}) noinline {attributes} {{
entry:
  %start = mul i64 %row, %stride
  %first = getelementptr double, ptr %array, i64 %start
{offsets}
{pointers}
  %even = and i64 %size, -2
  %some = icmp sgt i64 %even, 0
  br i1 %some, label %pair, label %rest
pair:
  %j = phi i64 [ 0, %entry ], [ %j2, %pair ]
  %j1 = add i64 %j, 1
{chr(10).join(code.lines[lanes:])}
  %j2 = add i64 %j, 2
  %more = icmp slt i64 %j2, %even
  br i1 %more, label %pair, label %rest
rest:
  %odd = icmp ne i64 %even, %size
  br i1 %odd, label %single, label %done
single:
{chr(10).join(single.lines)}
  br label %done
done:
  ret void
}}
"""


def _vector_pointer(code: Emitter, index: str) -> str:
    return code.value(f'getelementptr {code.type}, ptr %vectors, i64 {index}')


def _load_pair(code: Emitter, rows: List[str]) -> None:
    """Columns j and j + 1 of the rows: pairs of elements are loaded together and unzipped."""
    lanes, halves = code.lanes, []
    for some in (rows[::2], rows[1::2]):
        pairs = []
        for row in some:
            pointer = code.value(f'getelementptr double, ptr {row}, i64 %j')
            pairs.append(code.value(f'load <2 x double>, ptr {pointer}, align 8'))
        halves.append(_concatenate(code, pairs, 2))
    for k, index in enumerate(('%j', '%j1')):
        column = _shuffle(code, lanes, halves[0], halves[1], _interleaved(lanes, k))
        code.line(
            f'store {code.type} {column}, ptr {_vector_pointer(code, index)}, align {8 * lanes}'
        )


def _store_pair(code: Emitter, rows: List[str]) -> None:
    lanes = code.lanes
    columns = [
        code.value(f'load {code.type}, ptr {_vector_pointer(code, index)}, align {8 * lanes}')
        for index in ('%j', '%j1')
    ]
    for k in (0, 1):
        zipped = _shuffle(code, lanes, *columns, _interleaved(lanes, k))
        for pair, row in enumerate(rows[k::2]):
            element = _shuffle(code, lanes, zipped, 'poison', [2 * pair, 2 * pair + 1])
            pointer = code.value(f'getelementptr double, ptr {row}, i64 %j')
            code.line(f'store <2 x double> {element}, ptr {pointer}, align 8')


def _load_single(code: Emitter, rows: List[str]) -> None:
    vector = 'poison'
    for lane, row in enumerate(rows):
        pointer = code.value(f'getelementptr double, ptr {row}, i64 %even')
        element = code.value(f'load double, ptr {pointer}, align 8')
        vector = code.value(f'insertelement {code.type} {vector}, double {element}, i64 {lane}')
    code.line(
        f'store {code.type} {vector}, ptr {_vector_pointer(code, "%even")}, align {8 * code.lanes}'
    )


def _store_single(code: Emitter, rows: List[str]) -> None:
    vector = code.value(
        f'load {code.type}, ptr {_vector_pointer(code, "%even")}, align {8 * code.lanes}'
    )
    for lane, row in enumerate(rows):
        element = code.value(f'extractelement {code.type} {vector}, i64 {lane}')
        pointer = code.value(f'getelementptr double, ptr {row}, i64 %even')
        code.line(f'store double {element}, ptr {pointer}, align 8')


def _interleaved(lanes: int, k: int) -> List[int]:
    """Shuffle that takes element `k` of each pair of two vectors in turn."""
    return [index for pair in range(0, lanes, 2) for index in (pair + k, lanes + pair + k)]


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
