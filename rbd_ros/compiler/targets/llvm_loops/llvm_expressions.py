# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Expressions of compiled loops as LLVM instructions."""

from __future__ import annotations

import math
import struct
from typing import Any, Dict, List, Sequence, Tuple, Union

from rbd_ros.compiler.loops import loop_ir as ir
from rbd_ros.compiler.loops.loop_types import NOTHING, NumberType
from rbd_ros.compiler.targets.llvm.routine import Routine
from rbd_ros.compiler.targets.llvm_loops.llvm_operations import operation
from rbd_ros.compiler.targets.llvm_loops.llvm_records import (
    LLVM_NUMBERS,
    llvm_types,
    result_type,
)

_Parts = Tuple[str, ...]


class Expressions:
    """Writes the expressions of one function.

    :param code: the LLVM function that is written
    """

    def __init__(self, code: Routine):
        self.code = code
        #: Value of each variable with one assignment; address of the others in memory
        self.values: Dict[ir.Variable, _Parts] = {}
        self.places: Dict[ir.Variable, List[str]] = {}
        #: Present value of the element in an update
        self.current = ''
        self._fields: Dict[Tuple[str, str], _Parts] = {}
        self.evaluated: Dict[ir.Expression, _Parts] = {}

    def parts(self, value: ir.Expression) -> _Parts:
        """Return names or constants of the components of a value, those of `llvm_types`."""
        write = getattr(self, f'_{value.name}', None)
        if write is not None:
            return write(value)
        texts = tuple(self.text(each) for each in value.operands)
        return (operation(self.code, value, texts),)

    def text(self, value: ir.Expression) -> str:
        """Return the name or constant of a number, or of the address of something else."""
        return self.parts(value)[0]

    def typed(self, value: ir.Expression) -> str:
        """Return a number with its type."""
        return f'{LLVM_NUMBERS[value.type]} {self.text(value)}'

    # -- names, fields, elements

    def _constant(self, value: ir.Expression) -> _Parts:
        return (number(value.detail),)

    def _variable(self, value: ir.Expression) -> _Parts:
        if value in self.values:
            return self.values[value]
        places = zip(self.places[value], llvm_types(value.type))
        return tuple(self.code.get(place, kind) for place, kind in places)

    def _field(self, value: ir.Expression) -> _Parts:
        """Return the field of a record, read once at the beginning of the function.

        A record does not change while a loop runs.
        """
        (record,) = value.operands
        # At the entry, which dominates all paths: a field first read in a branch would be unknown
        # after it.
        key = self.text(record), value.detail
        if key not in self._fields:
            table: Any = record.type
            words = enumerate(llvm_types(value.type), start=table.words[value.detail])
            self._fields[key] = tuple(self._word(key[0], at, kind) for at, kind in words)
        return self._fields[key]

    def _word(self, table: str, word: int, kind: str) -> str:
        place = self.code.first(f'getelementptr inbounds i64, ptr {table}, i64 {word}')
        # Marked as invariant: LLVM would otherwise assume that arrays and tables overlap, and read
        # a field again after every store.
        return self.code.first(f'load {kind}, ptr {place}, !invariant.load !0')

    def _length(self, value: ir.Expression) -> _Parts:
        # The address comes before the lengths.
        return (self.parts(value.operands[0])[1 + value.detail],)

    def _element(self, value: ir.Expression) -> _Parts:
        place, shape = self.place(value)
        return (place, *shape) if shape else (self.load(value.type, place),)

    def load(self, kind: NumberType, place: str) -> str:
        """Return the element of an array."""
        return self.code.value(f'load {LLVM_NUMBERS[kind]}, ptr {place}')

    def place(self, value: ir.Expression) -> Tuple[str, _Parts]:
        """Return address of an element, or of the first one of a part, and the part's shape."""
        array, *indices = value.operands
        (data, *shape), texts = self.parts(array), [self.text(each) for each in indices]
        # Row-major. Signed overflow is excluded (nsw), so that LLVM may replace a counted index by
        # an incremented address (strength reduction).
        offset = texts[0]
        for k in range(1, len(shape)):
            offset = self.code.value(f'mul nsw i64 {offset}, {shape[k]}')
            if k < len(texts):
                offset = self.code.value(f'add nsw i64 {offset}, {texts[k]}')
        kind = LLVM_NUMBERS[array.type.number]
        place = self.code.value(f'getelementptr inbounds {kind}, ptr {data}, i64 {offset}')
        return place, tuple(shape[len(texts) :])

    def _stack_array(self, value: ir.Expression) -> _Parts:
        # In the entry block: in a loop, each round would take more of the stack.
        place = self.code.array(f'[{math.prod(value.detail)} x double]', 1)
        return (place, *map(str, value.detail))

    def _current(self, value: ir.Expression) -> _Parts:
        return (self.current,)

    def _item(self, value: ir.Expression) -> _Parts:
        (whole,) = value.operands
        sizes = [len(llvm_types(kind)) for kind in whole.type.items]
        first = sum(sizes[: value.detail])
        return self.parts(whole)[first : first + sizes[value.detail]]

    def _values(self, value: ir.Expression) -> _Parts:
        return tuple(part for each in value.operands for part in self.parts(each))

    def _shared(self, value: ir.Expression) -> _Parts:
        if value not in self.evaluated:
            self.evaluated[value] = self.parts(value.operands[0])
        return self.evaluated[value]

    # -- operators

    def _and(self, value: ir.Expression) -> _Parts:
        """Evaluate conditions in turn until one has the decisive value, which is the result.

        Later ones are not evaluated, as their indices may be invalid then.
        """
        code, decisive = self.code, value.name == 'or'
        end, entries = code.new_label(), []
        *operands, last = value.operands
        for operand in operands:
            # It decides, or the next one is evaluated.
            text, onward = self.text(operand), code.new_label()
            # The predecessor block of the jump, which need not be the one where the condition
            # began.
            entries.append((number(decisive), code.here))
            code.choose(text, *((end, onward) if decisive else (onward, end)))
            code.label(onward)
        entries.append((self.text(last), code.here))
        code.label(end)
        return self._merged('i1', entries)

    _or = _and

    def _merged(self, kind: str, entries: Sequence[Tuple[str, str]]) -> _Parts:
        """Return the phi node of two values.

        :param entries: value and label of each place
        """
        pairs = ', '.join(f'[{text}, %{label}]' for text, label in entries)
        return (self.code.value(f'phi {kind} {pairs}'),)

    def _choice(self, value: ir.Expression) -> _Parts:
        code = self.code
        condition, *branches = value.operands
        *begins, end = (code.new_label() for _ in range(3))
        code.choose(self.text(condition), *begins)
        entries = []
        for begin, branch in zip(begins, branches):
            code.label(begin)
            entries.append((self.text(branch), code.here))
            code.go(end)
        code.label(end)
        return self._merged(LLVM_NUMBERS[value.type], entries)

    # -- calls

    def _call(self, value: ir.Expression) -> _Parts:
        passed = []
        for each in value.operands:
            passed += [' '.join(x) for x in zip(llvm_types(each.type), self.parts(each))]
        kind = result_type(value.type)
        call = f'call {kind} @{value.detail.name}({", ".join(passed)})'
        if value.type == NOTHING:
            self.code.do(call)
            return ()
        whole = self.code.value(call)
        if isinstance(value.type, NumberType):
            return (whole,)
        count = len(llvm_types(value.type))
        return tuple(self.code.value(f'extractvalue {kind} {whole}, {k}') for k in range(count))


def number(value: Union[bool, int, float]) -> str:
    """Return the constant for a number."""
    if isinstance(value, bool):
        return 'true' if value else 'false'
    if isinstance(value, int):
        return str(value)
    # By its bit pattern, which is always exact.
    return f'0x{struct.unpack(">Q", struct.pack(">d", value))[0]:016X}'
