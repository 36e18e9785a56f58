# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Rows of a batch into vectors of lanes, and back: small blocks are transposed in registers.

A batch holds its states row by row; the code for W states needs one vector per column. Blocks of W
rows and a few columns are squares, side by side in registers; all of them are transposed by
exchanging elements between pairs of registers, at half the size of a square, a quarter, and so on.
"""

from __future__ import annotations

from typing import Callable, List, Sequence, Union

from rbd_ros.compiler.targets.llvm.emit import Emitter

# Columns of a block. Wider blocks save loads and stores and cost more shuffles, of which a
# processor does one at a time; loads extract halves for free, stores do not.
_COLUMNS_LOADED, _COLUMNS_STORED = 4, 8
_UNROLLED = 12  # maximum number of consecutive blocks without a loop
# Results go to memory outside of the caches, and the hardware prefetcher cannot follow so many
# rows: they are prefetched explicitly. The distance in long rows is this number of columns; short
# rows are prefetched during the computation of the previous group.
_AHEAD = 16
_LINE = 8  # numbers in a line of the cache

Index = Union[int, str]

#: Declaration of the called intrinsic.
PREFETCH = 'declare void @llvm.prefetch.p0(ptr, i32, i32, i32)'


def gather_function(name: str, size: int, lanes: int, attributes: str) -> str:
    """Return the text of a function that turns W rows into one vector for each column.

    :param name: name of the function
    :param size: columns
    :param lanes: rows W, a power of two
    :param attributes: LLVM's attributes of it
    """
    head = f'@{name}(ptr noalias readonly %array, ptr noalias %vectors, i64 %row, i64 %stride)'
    code = Emitter(lanes)
    start = code.value('mul i64 %row, %stride')
    # With a stride of 0, all rows are the same one.
    rows = [code.value(f'getelementptr double, ptr %array, i64 {start}')]
    for _ in range(1, lanes):
        rows.append(code.value(f'getelementptr double, ptr {rows[-1]}, i64 %stride'))

    def move(first: Index, width: int) -> None:
        parts = [_load(code, width, row, first) for row in rows]
        columns = _transposed(code, [_joined(code, width, parts[k::width]) for k in range(width)])
        pointer = code.value(f'getelementptr {code.type}, ptr %vectors, i64 {first}')
        for k, column in enumerate(columns):
            code.store(column, pointer, k)

    return _function(head, attributes, code, size, min(lanes, _COLUMNS_LOADED), move)


def scatter_function(name: str, slots: Sequence[int], lanes: int, attributes: str) -> str:
    """Return text of a function that turns vectors into W rows, one element each per column.

    :param name: name of the function
    :param slots: number of the vector with the elements of each column
    :param lanes: rows W, a power of two
    :param attributes: LLVM's attributes of it
    """
    head = f'@{name}(ptr noalias %array, ptr noalias readonly %vectors, i64 %row)'
    code, size, table = Emitter(lanes), len(slots), f'{name}_slots'
    start = code.value(f'mul i64 %row, {size}')
    base = code.value(f'getelementptr double, ptr %array, i64 {start}')
    if not _is_long(size, min(lanes, _COLUMNS_STORED)):
        # The next W rows, which are written after the next group.
        for number in range(size * lanes, 2 * size * lanes, _LINE):
            _prefetch(code, base, number)

    def move(first: Index, width: int) -> None:
        columns = [_slot(code, table, slots, first, k) for k in range(width)]
        vectors = _transposed(code, [code.load('%vectors', column) for column in columns])
        pointer = code.value(f'getelementptr double, ptr {base}, i64 {first}')
        for row in range(lanes):
            # In a loop, the rows are long: each is prefetched separately.
            if isinstance(first, str):
                _prefetch(code, pointer, row * size + _AHEAD)
            part = _part(code, width, vectors[row % width], row // width)
            place = code.value(f'getelementptr double, ptr {pointer}, i64 {row * size}')
            code.line(f'store <{width} x double> {part}, ptr {place}, align 8')

    text = _function(head, attributes, code, size, min(lanes, _COLUMNS_STORED), move)
    # Only a loop looks slots up; otherwise they are literals in the text.
    if f'@{table}' in text:
        numbers = ', '.join(f'i32 {slot}' for slot in slots)
        text += f'@{table} = internal constant [{size} x i32] [{numbers}], align 4\n'
    return text


def _function(
    head: str,
    attributes: str,
    code: Emitter,
    size: int,
    width: int,
    move: Callable[[Index, int], None],
) -> str:
    """Return the text of a function that moves columns block by block.

    The width of the last block is a power of two; it may overlap the one before, and then moves
    some columns twice.

    :param code: emitter with the beginning of the function
    :param width: columns of the other blocks, a power of two
    :param move: writes the code that moves the block with this first column and width
    """
    whole, rest = size - size % width, size % width
    if _is_long(size, width):
        code.line('br label %loop')
        code.lines.append('loop:')
        code.line('%j = phi i64 [ 0, %entry ], [ %next, %loop ]')
        move('%j', width)
        code.line(f'%next = add i64 %j, {width}')
        more = code.value(f'icmp slt i64 %next, {whole}')
        code.line(f'br i1 {more}, label %loop, label %rest')
        code.lines.append('rest:')
    else:
        for first in range(0, whole, width):
            move(first, width)
    if rest:
        # The next power of two, unless it exceeds the number of columns.
        last = min(1 << (rest - 1).bit_length(), 1 << (size.bit_length() - 1))
        if last < rest:  # fewer columns than one block of the next power of two
            move(0, last)
        move(size - last, last)
    body = '\n'.join(code.lines)
    return (
        f'define internal void {head} noinline {attributes} {{\nentry:\n{body}\n  ret void\n}}\n'
    )


def _is_long(size: int, width: int) -> bool:
    return size > _UNROLLED * width


def _prefetch(code: Emitter, array: str, index: int) -> None:
    """Prefetch an element of an array that will be written; it may be beyond the end."""
    pointer = code.value(f'getelementptr double, ptr {array}, i64 {index}')
    # For writing, into all caches, data. Unlike a load, it may have any address.
    code.line(f'call void @llvm.prefetch.p0(ptr {pointer}, i32 1, i32 3, i32 1)')


def _slot(code: Emitter, table: str, slots: Sequence[int], first: Index, k: int) -> Index:
    if isinstance(first, int):
        return slots[first + k]
    pointer = code.value(f'getelementptr i32, ptr @{table}, i64 {first}')
    pointer = code.value(f'getelementptr i32, ptr {pointer}, i64 {k}')
    return code.value(f'zext i32 {code.value(f"load i32, ptr {pointer}, align 4")} to i64')


def _load(code: Emitter, width: int, row: str, first: Index) -> str:
    pointer = code.value(f'getelementptr double, ptr {row}, i64 {first}')
    return code.value(f'load <{width} x double>, ptr {pointer}, align 8')


def _joined(code: Emitter, width: int, parts: Sequence[str]) -> str:
    """Return one vector of all lanes from parts of `width` elements."""
    # Pairs of halves, as LLVM shuffles two vectors of one width at a time.
    while len(parts) > 1:
        mask = range(2 * width)
        parts = [_shuffle(code, width, a, b, mask) for a, b in zip(parts[::2], parts[1::2])]
        width *= 2
    return parts[0]


def _part(code: Emitter, width: int, vector: str, k: int) -> str:
    """Return the elements `k` width to `(k + 1) width` of a vector."""
    if width == code.lanes:
        return vector
    mask = range(k * width, (k + 1) * width)
    return _shuffle(code, code.lanes, vector, 'poison', mask)


def _transposed(code: Emitter, vectors: Sequence[str]) -> List[str]:
    """Transpose squares that lie side by side in vectors, one vector for each row of a square.

    Element i of vector k is exchanged with element k of vector i, in each square, for one binary
    digit of i and k after the other.
    """
    lanes, found = code.lanes, list(vectors)
    distance = len(found) // 2
    while distance:
        for k in range(len(found)):
            if k & distance:
                continue
            a, b = found[k], found[k + distance]
            # Half of each vector stays, the other half changes places with its partner's, a
            # distance away.
            low = [i if not i & distance else lanes + i - distance for i in range(lanes)]
            high = [i + distance if not i & distance else lanes + i for i in range(lanes)]
            found[k] = _shuffle(code, lanes, a, b, low)
            found[k + distance] = _shuffle(code, lanes, a, b, high)
        distance //= 2
    return found


def _shuffle(code: Emitter, width: int, a: str, b: str, mask: Sequence[int]) -> str:
    kind, indices = f'<{width} x double>', ', '.join(f'i32 {index}' for index in mask)
    return code.value(f'shufflevector {kind} {a}, {kind} {b}, <{len(mask)} x i32> <{indices}>')
