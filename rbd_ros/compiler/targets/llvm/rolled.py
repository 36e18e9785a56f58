"""Very long graphs as rolled loops: operations of one kind, one after another, over a table.

LLVM's time grows with the length of a function's text, and machine code that is read once from
memory and thrown away is no faster than a table. So a graph of hundreds of thousands of nodes (the
mass matrix of a chain of two hundred joints) is sorted by depth, and within a depth by operation:
each such run is a loop over rows of the table, which say where in an array of values the operands
are and where the result goes. What is compiled is a loop for each kind of operation, and the calls
of these loops in turn.
"""

from __future__ import annotations

from typing import List, NamedTuple, Sequence, Tuple

import numpy as np

from rbd_ros.compiler.graph import (
    ADD,
    CONSTANT,
    COS,
    DIV,
    Graph,
    INNER,
    INPUT,
    MUL,
    SIN,
    SQRT,
    SUB,
    Symbol,
    WHERE,
)
from rbd_ros.compiler.program import Program
from rbd_ros.compiler.targets.llvm.emit import emit_node, Emitter
from rbd_ros.compiler.targets.llvm.poison import emit_poisoning, Inputs, spoil_function

# Kinds of loops beside the graph's operations: x y + z, x y - z, z - x y; storing x, -x
_MUL_ADD, _MUL_SUB, _SUB_MUL, _PUT, _PUT_NEGATED = range(100, 105)
_INNER = 200  # plus the number of operands: scalar products, of each length a kind
_NAMES = {
    ADD: 'add',
    SUB: 'sub',
    MUL: 'mul',
    DIV: 'div',
    SQRT: 'sqrt',
    SIN: 'sin',
    COS: 'cos',
    WHERE: 'where',
    _MUL_ADD: 'mul_add',
    _MUL_SUB: 'mul_sub',
    _SUB_MUL: 'sub_mul',
    _PUT: 'put',
    _PUT_NEGATED: 'put_negated',
}
# Operands of each; a row of the table is the place of the result and those of the operands.
_OPERANDS = {
    **dict.fromkeys((ADD, SUB, MUL, DIV), 2),
    **dict.fromkeys((SQRT, SIN, COS), 1),
    **dict.fromkeys((_PUT, _PUT_NEGATED), 2),  # the output array, and what is stored in it
    **dict.fromkeys((WHERE, _MUL_ADD, _MUL_SUB, _SUB_MUL), 3),
}


def _operand_count(kind: int) -> int:
    return kind - _INNER if kind > _INNER else _OPERANDS[kind]


def _name(kind: int) -> str:
    return f'inner_{kind - _INNER}' if kind > _INNER else _NAMES[kind]


class _Run(NamedTuple):
    """Operations of one kind that do not need each other.

    :param rows: rows of the table, (operations, 1 + operands)
    """

    kind: int
    rows: np.ndarray


def rolled(
    name: str, lanes: int, attributes: str, program: Program, widest: int
) -> Tuple[str, List[str]]:
    """Text and declarations of a function as `straight_line` makes it, for very long programs.

    :param widest: see `rbd_ros.compiler.targets.llvm.poison.emit_poisoning`
    """
    inputs, sizes = program.inputs, [output.size for output in program.outputs]
    constants, runs, size = _table(program)
    code, entry = Emitter(lanes), 0
    # On the stack: several threads may run this function at once.
    code.line(f'%values = alloca {code.type}, i64 {size}, align {8 * lanes}')
    for k, (_, length) in enumerate(inputs):
        to = code.value(f'getelementptr {code.type}, ptr %values, i64 {entry}')
        code.line(f'call void @{name}_copy(ptr %in{k}, ptr {to}, i64 {length})')
        entry += length
    to = code.value(f'getelementptr {code.type}, ptr %values, i64 {entry}')
    # Constants are doubles in the object file, once, and vectors only in memory.
    code.line(f'call void @{name}_spread(ptr @{name}_constants, ptr {to}, i64 {len(constants)})')
    code.line(f'%outs = alloca ptr, i64 {max(1, len(sizes))}, align 8')
    for k in range(len(sizes)):
        slot = code.value(f'getelementptr ptr, ptr %outs, i64 {k}')
        code.line(f'store ptr %out{k}, ptr {slot}, align 8')
    code.line(f'call void @{name}_run(ptr %values, ptr %outs)')
    emit_poisoning(code, inputs, sizes, f'{name}_spoil', widest)
    pointers = [f'ptr %in{k}' for k in range(len(inputs))]
    arguments = ', '.join([*pointers, *(f'ptr %out{k}' for k in range(len(sizes)))])
    kinds = sorted({run.kind for run in runs})
    # As narrow as can be: all of the table is read at each call.
    bits = 16 if max(size, *sizes) < 2**16 else 32
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
        spoil_function(f'{name}_spoil', lanes, attributes),
    ]
    return '\n'.join(texts), Emitter(lanes).declarations()


# -- from the graph to the table ------------------------------------------------------------------


def _table(program: Program) -> Tuple[List[float], List[_Run], int]:
    """Constants, runs in order, and the size of the array of values.

    The array of values begins with the inputs and the constants. Each result takes a place after
    them, which is free again at the depth after its last use.
    """
    graph = program.graph
    signed = [x if isinstance(x, Symbol) else graph.constant(float(x) + 0.0) for x in program.flat]
    owners, indices = np.array(program.destinations, dtype=np.int64).reshape(-1, 2).T
    results = np.array([x.number for x in signed], dtype=np.int64)
    needed = np.zeros(len(graph.nodes), dtype=bool)
    needed[np.asarray(program.live, dtype=np.int64)] = True
    needed[results] = True
    kinds, operands = _operations(graph, needed, results)
    # INPUT and CONSTANT are the first two kinds; all others are operations.
    inner = np.flatnonzero(needed & (kinds > CONSTANT))
    depths = _depths(inner, operands, results)

    places = np.full(len(kinds) + 1, -1)  # the last is that of no operand, -1
    constants, size = _place_leaves(
        graph, np.flatnonzero(needed & (kinds <= CONSTANT)), program.inputs, places
    )
    last = np.zeros(len(places), dtype=np.int64)
    for column in operands[inner].T:
        having = column >= 0
        np.maximum.at(last, column[having], depths[inner[having]])
    # Outputs are stored one depth later, together.
    np.maximum.at(last, results, depths[results] + 1)
    size = _place_results(inner, depths, last, places, size)

    # storing the outputs is one more kind of operation
    negated = np.array([x.negative for x in signed], dtype=bool)
    kinds = np.concatenate([kinds[inner], np.where(negated, _PUT_NEGATED, _PUT)])
    depths = np.concatenate([depths[inner], depths[results] + 1])
    to = np.concatenate([places[inner], indices])
    operands = np.concatenate([operands[inner], np.full((len(results), operands.shape[1]), -1)])
    operands[len(inner) :, 1] = results
    # By depth, and within a depth by kind: lexsort begins with its last key. It is stable, so that
    # neighbours in the text stay neighbours.
    order = np.lexsort((kinds, depths))
    # A run ends where either of them changes.
    ends = np.flatnonzero(np.diff(kinds[order]) | np.diff(depths[order])) + 1
    runs = []
    for some in np.split(order, ends) if len(order) else ():
        kind = int(kinds[some[0]])
        values = places[operands[some, : _operand_count(kind)]]
        if kind in (_PUT, _PUT_NEGATED):
            # Not a place among the values: which output array it is.
            values[:, 0] = owners[some - len(inner)]
        runs.append(_Run(kind, np.column_stack([to[some], values])))
    return constants, runs, size


def _operations(
    graph: Graph, needed: np.ndarray, results: np.ndarray
) -> Tuple[np.ndarray, np.ndarray]:
    """Kind of each node, (nodes,), and the nodes that it needs, -1 for none, (nodes, 3 or more).

    A product that only one sum needs is taken into the sum, and is no longer needed itself.

    :param needed: whether a node is to be evaluated, (nodes,)
    :param results: numbers of the nodes that are outputs
    """
    nodes = graph.nodes
    kinds = np.fromiter((node[0] for node in nodes), np.int64, len(nodes))
    lengths = {k: len(nodes[k]) - 1 for k in np.flatnonzero(kinds == INNER).tolist()}
    operands = np.full((len(nodes), max(3, *lengths.values(), 0)), -1)
    for length in set(lengths.values()):
        some = [number for number in lengths if lengths[number] == length]
        operands[some, :length] = [nodes[number][1:] for number in some]
        kinds[some] = _INNER + length
    for k in range(3):
        having = np.flatnonzero(
            np.isin(kinds, [kind for kind in _OPERANDS if _OPERANDS[kind] > k])
        )
        operands[having, k] = [nodes[number][k + 1] for number in having.tolist()]
    used = operands[needed]
    # An output is a use, too: it needs the product by itself.
    uses = np.bincount(np.concatenate([used[used >= 0], results]), minlength=len(nodes))
    product = (kinds == MUL) & (uses == 1)
    sums = needed & ((kinds == ADD) | (kinds == SUB))
    by_first = sums & product[operands[:, 0]]
    # One instruction takes one product.
    by_second = sums & ~by_first & product[operands[:, 1]]
    fused = kinds.copy()
    fused[(by_first | by_second) & (kinds == ADD)] = _MUL_ADD
    fused[by_first & (kinds == SUB)] = _MUL_SUB
    fused[by_second & (kinds == SUB)] = _SUB_MUL
    for chosen, column in ((by_first, 0), (by_second, 1)):
        products, others = operands[chosen, column], operands[chosen, 1 - column]
        operands[chosen, :3] = np.column_stack([operands[products, :2], others])
        needed[products] = False
    return fused, operands


def _depths(inner: np.ndarray, operands: np.ndarray, results: np.ndarray) -> np.ndarray:
    """Depth at which each node is evaluated, above those of its operands; inputs' are 0.

    Results are evaluated as early as can be, everything else as late as can be for that: what is
    evaluated early must be held long, and an array of values that does not fit into the cache
    takes several times as long.

    :param inner: numbers of the nodes to be evaluated
    """
    needed = np.zeros(len(operands) + 1, dtype=bool)
    needed[operands[inner]] = True
    ends = inner[~needed[inner]]  # results that nothing else needs: often most of the graph
    between = inner[needed[inner]]
    # lists of numbers only: Python's garbage collector goes through lists of lists again and again
    columns = [between.tolist(), *operands[between, :3].T.tolist()]
    long = between[(operands[between, 3:] >= 0).any(axis=1)]
    more = dict(zip(long.tolist(), operands[long, 3:].tolist()))
    early = [0] * (len(operands) + 1)  # the last is that of no operand, -1
    for number, x, y, z in zip(*columns):
        early[number] = 1 + max(early[x], early[y], early[z])
        if number in more:
            early[number] = max(early[number], 1 + max(map(early.__getitem__, more[number])))
    depths = np.array(early)
    depths[ends] = 1 + depths[operands[ends]].max(axis=1, initial=0)
    latest = np.full(len(early), len(inner) + 1)
    latest[results] = depths[results]
    for column in operands[ends].T:
        np.minimum.at(latest, column, latest[ends] - 1)
    late = latest.tolist()
    for number, x, y, z in zip(*(reversed(column) for column in columns)):
        before = late[number] - 1
        if before < late[x]:
            late[x] = before
        if before < late[y]:
            late[y] = before
        if before < late[z]:
            late[z] = before
        for m in more.get(number, ()):
            if before < late[m]:
                late[m] = before
    result = np.zeros(len(operands), dtype=np.int64)
    result[inner] = np.array(late)[inner]
    return result


def _place_leaves(
    graph: Graph, leaves: np.ndarray, inputs: Inputs, places: np.ndarray
) -> Tuple[List[float], int]:
    """Give inputs and constants their places; returns the constants, and the places taken."""
    first, size = {}, 0
    for name, length in inputs:
        first[name] = size
        size += length
    constants = []
    for number in leaves.tolist():
        node = graph.nodes[number]
        if node[0] == INPUT:
            places[number] = first[node[1]] + node[2]
        else:
            places[number] = size + len(constants)
            constants.append(node[1])
    return constants, size + len(constants)


def _place_results(
    inner: np.ndarray, depths: np.ndarray, last: np.ndarray, places: np.ndarray, size: int
) -> int:
    """Give results their places, depth by depth; returns the size of the array of values.

    :param last: depth of each node's last use
    """
    deepest = int(depths.max(initial=0))
    by_depth = inner[np.argsort(depths[inner], kind='stable')]
    by_last = inner[np.argsort(last[inner], kind='stable')]
    steps = np.arange(1, deepest + 3)
    born = np.split(by_depth, np.searchsorted(depths[by_depth], steps))
    released = np.split(by_last, np.searchsorted(last[by_last], steps))
    free = np.zeros(0, dtype=np.int64)  # in order: neighbours are used by neighbours
    for depth in range(1, deepest + 1):
        count = len(born[depth])
        # Places that are free first: a small array of values stays in the cache.
        fresh = np.arange(size, size + max(0, count - len(free)))
        places[born[depth]] = np.concatenate([free[:count], fresh])
        size += len(fresh)
        free = np.sort(np.concatenate([free[count:], places[released[depth]]]), kind='stable')
    return size


# -- text -----------------------------------------------------------------------------------------


def _data(name: str, array: np.ndarray, align: int) -> str:
    """Text of a constant with the bytes of an array."""
    content = array.tobytes().hex('\\')
    content = f'\\{content}' if content else content
    size = array.nbytes
    return f'@{name} = internal constant [{size} x i8] c"{content}", align {align}'


def _copying(name: str, lanes: int, attributes: str, element: str) -> str:
    """Text of a function that copies an array; doubles to all lanes of vectors."""
    code = Emitter(lanes)
    if element == code.type:
        value = code.load('%from', '%k')
    else:
        value = code.spread(code.with_lanes(1).load('%from', '%k'))
    code.store(value, '%to', '%k')
    return _counting(name, 'ptr noalias %from, ptr noalias %to', code, attributes)


def _run_all(name: str, kinds: Sequence[int], runs: int, bits: int, attributes: str) -> str:
    """Text of the function that goes through the runs: kind and length of each, then its loop."""
    cases, blocks, rows = [], [], []
    for k, kind in enumerate(kinds):
        cases.append(f'    i32 {k}, label %k{k}')
        blocks += [
            f'k{k}:',
            f'  call void @{name}_{_name(kind)}(ptr %rows, ptr %values, ptr %outs, i64 %length)',
            f'  %size{k} = mul i64 %length, {1 + _operand_count(kind)}',
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
            # One jump for a run, not for an operation.
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
    """Text of the loop over rows of one kind."""
    code, width = Emitter(lanes), 1 + _operand_count(kind)
    code.lines.append(f'  %first = mul i64 %k, {width}')
    places = []
    for column in range(width):
        index = code.value(f'add i64 %first, {column}')
        pointer = code.value(f'getelementptr i{bits}, ptr %rows, i64 {index}')
        short = code.value(f'load i{bits}, ptr {pointer}, align {bits // 8}')
        places.append(code.value(f'zext i{bits} {short} to i64'))
    array = '%values'
    if kind in (_PUT, _PUT_NEGATED):
        owner = places.pop(1)
        pointer = code.value(f'getelementptr ptr, ptr %outs, i64 {owner}')
        array = code.value(f'load ptr, ptr {pointer}, align 8')
    x = [code.load('%values', place) for place in places[1:]]
    code.store(_emit(code, kind, x), array, places[0])
    arguments = 'ptr noalias readonly %rows, ptr noalias %values, ptr noalias %outs'
    return _counting(f'{name}_{_name(kind)}', arguments, code, attributes)


def _emit(code: Emitter, kind: int, x: Sequence[str]) -> str:
    if kind in (_PUT, _PUT_NEGATED):
        operation = code.fadd if kind == _PUT else code.fsub
        return operation(code.constant(0.0), x[0])  # never -0.0
    if kind > _INNER:
        total = code.fmul(x[0], x[1])
        for a, b in zip(x[2::2], x[3::2]):
            product = code.value(f'fmul contract {code.type} {a}, {b}')
            total = code.value(f'fadd contract {code.type} {product}, {total}')
        return total
    if kind in (_MUL_ADD, _MUL_SUB, _SUB_MUL):
        # With `contract`, LLVM may make one instruction of both.
        product = code.value(f'fmul contract {code.type} {x[0]}, {x[1]}')
        total = {
            _MUL_ADD: f'fadd contract {code.type} {product}, {x[2]}',
            _MUL_SUB: f'fsub contract {code.type} {product}, {x[2]}',
            _SUB_MUL: f'fsub contract {code.type} {x[2]}, {product}',
        }
        return code.value(total[kind])
    return emit_node(code, (kind, *range(len(x))), dict(enumerate(x)), {})


def _counting(name: str, arguments: str, code: Emitter, attributes: str) -> str:
    """Text of a function that runs some code for all `%k` below `%count`."""
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
