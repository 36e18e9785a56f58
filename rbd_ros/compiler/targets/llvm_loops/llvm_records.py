# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Types of loops in LLVM: the components of a value, and records as tables of 64-bit words."""

from __future__ import annotations

from typing import Dict, Tuple

from rbd_ros.compiler.loops.loop_types import (
    ArrayType,
    BOOL,
    FLOAT,
    INT,
    NumberType,
    RecordType,
    TupleType,
    Type,
)

LLVM_NUMBERS = {BOOL: 'i1', INT: 'i64', FLOAT: 'double'}


class TableType(RecordType):
    """Type of a record: the address of a table (loop_records.py). Equal ones are the same object.

    :param kind: as in `loop_records.Record`
    :param known: types of records made so far, by kind
    """

    def __init__(self, kind: tuple, known: Dict[tuple, TableType]):
        super().__init__(kind[0])
        #: Index of the first word of each field in the table
        self.words: Dict[str, int] = {}
        word = 0
        for name, what, detail in kind[1]:
            self.words[name] = word
            if what == 'constant':
                self.fields[name] = detail
            elif what == 'record':
                self.fields[name] = table_type(detail, known)
                word += 1
            else:
                number = FLOAT if what == 'float64' else INT
                self.fields[name] = ArrayType(number, (None,) * detail) if detail else number
                word += 1 + detail


def table_type(kind: tuple, known: Dict[tuple, TableType]) -> TableType:
    """Return the type of records of a kind; equal kinds have the same object."""
    if kind not in known:
        known[kind] = TableType(kind, known)
    return known[kind]


def llvm_types(kind: Type) -> Tuple[str, ...]:
    """Return the LLVM types of the components of a value."""
    if isinstance(kind, NumberType):
        return (LLVM_NUMBERS[kind],)
    # No strides: arrays are contiguous, in row-major order.
    if isinstance(kind, ArrayType):
        return ('ptr', *['i64'] * kind.ndim)
    if isinstance(kind, TupleType):
        return tuple(each for item in kind.items for each in llvm_types(item))
    # Bytes are an integer address, to which offsets are added.
    return ('ptr',) if isinstance(kind, RecordType) else ('i64',)


def result_type(kind: Type) -> str:
    """Return the type of the result of a function: a number, a structure of them, or nothing."""
    types = llvm_types(kind)
    if isinstance(kind, NumberType):
        return types[0]
    return f'{{{", ".join(types)}}}' if types else 'void'
