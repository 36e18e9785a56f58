# SPDX-License-Identifier: Apache-2.0
"""Values in compiled loops: a number, a record, a borrowed array, bytes, a tuple.

The type of every value is known when a function is compiled: that of a parameter by the call, that
of a variable by what is assigned to it.
"""

from __future__ import annotations

from dataclasses import dataclass
import struct
from typing import Any, Dict, NamedTuple, Optional, Tuple, Union

from rbd_ros.compiler.targets.llvm.routine import Routine


class CompileError(ValueError):
    """Error for what cannot be compiled; names the line as soon as that is known.

    :param what: what is wrong, and what is possible instead
    """

    def __init__(self, what: str):
        super().__init__(what)
        self.line: Optional[int] = None


@dataclass(frozen=True)
class NumberType:
    """Type of a number.

    :param name: as in Python
    :param llvm: as in LLVM
    :param rank: numbers become those of a higher rank where both meet, as in Python
    """

    name: str
    llvm: str
    rank: int

    def __str__(self) -> str:
        return self.name


BOOL, INT, FLOAT = (
    NumberType('bool', 'i1', 0),
    NumberType('int', 'i64', 1),
    NumberType('float', 'double', 2),
)


@dataclass(frozen=True)
class ArrayType:
    """Type of a contiguous array that somebody else owns: an address and a shape.

    :param number: type of its elements, FLOAT or INT
    :param ndim: number of its dimensions
    """

    number: NumberType
    ndim: int

    def __str__(self) -> str:
        return f'array of {self.number} with {self.ndim} dimensions'


class RecordType:
    """Type of a record: the address of a table (loop_records.py). Equal ones are the same object.

    :param kind: as in `records.Record`
    :param known: records that there are already, by their kind
    """

    def __init__(self, kind: tuple, known: Dict[tuple, RecordType]):
        self.name = kind[0]
        #: First word in the table and type of each field; instead of those, the value of a bool
        self.fields: Dict[str, Union[bool, Tuple[int, Type]]] = {}
        word = 0
        for name, what, detail in kind[1]:
            if what == 'constant':
                self.fields[name] = detail
            elif what == 'record':
                self.fields[name] = word, record_type(detail, known)
                word += 1
            else:
                number = FLOAT if what == 'float64' else INT
                self.fields[name] = word, ArrayType(number, detail) if detail else number
                word += 1 + detail

    def __str__(self) -> str:
        return f'record {self.name}'


def record_type(kind: tuple, known: Dict[tuple, RecordType]) -> RecordType:
    """Return the type of records of a kind, made once."""
    if kind not in known:
        known[kind] = RecordType(kind, known)
    return known[kind]


@dataclass(frozen=True)
class BytesType:
    """Type of the content of a bytes object, its address."""

    def __str__(self) -> str:
        return 'bytes'


@dataclass(frozen=True)
class TupleType:
    """Type of a tuple.

    :param items: types of what is in it; no items are no value at all
    """

    items: Tuple[Type, ...]

    def __str__(self) -> str:
        return f'({", ".join(map(str, self.items))})' if self.items else 'None'


Type = Union[NumberType, ArrayType, RecordType, BytesType, TupleType]

NOTHING = TupleType(())


def llvm_types(kind: Type) -> Tuple[str, ...]:
    """Return what a value of a type consists of in LLVM."""
    if isinstance(kind, NumberType):
        return (kind.llvm,)
    # No strides: arrays are contiguous, row by row.
    if isinstance(kind, ArrayType):
        return ('ptr', *['i64'] * kind.ndim)
    if isinstance(kind, TupleType):
        return tuple(each for item in kind.items for each in llvm_types(item))
    # Bytes as a number: what is read from them lies at an address that is worked out.
    return ('ptr',) if isinstance(kind, RecordType) else ('i64',)


class Value(NamedTuple):
    """Value of an expression.

    :param kind: its type
    :param parts: names or constants of what it consists of, as many as `llvm_types` says
    :param known: what it is, if that is known when it is compiled
    """

    kind: Type
    parts: Tuple[str, ...]
    known: Any = None

    @property
    def text(self) -> str:
        """Name or constant of a number, or of the address of something else."""
        return self.parts[0]

    @property
    def typed(self) -> str:
        """Operand of a number with its type."""
        return f'{llvm_types(self.kind)[0]} {self.parts[0]}'

    @property
    def arguments(self) -> Tuple[str, ...]:
        """All that it consists of, each with its type."""
        return tuple(f'{kind} {part}' for kind, part in zip(llvm_types(self.kind), self.parts))

    def items(self) -> Tuple[Value, ...]:
        """Return the values in a tuple."""
        found, at = [], 0
        for kind in self.kind.items:
            size = len(llvm_types(kind))
            found.append(Value(kind, self.parts[at : at + size]))
            at += size
        return tuple(found)


def constant(number: Union[bool, int, float]) -> Value:
    """Return the value of a number that is known.

    :raises CompileError: if it is an integer of more than 64 bits
    """
    if isinstance(number, bool):
        return Value(BOOL, ('true' if number else 'false',), number)
    if isinstance(number, int):
        if not -(2**63) <= number < 2**63:
            raise CompileError(f'{number} has more than 64 bits')
        return Value(INT, (str(int(number)),), int(number))
    # By its bits: the only way that is exact for all.
    bits = struct.unpack('>Q', struct.pack('>d', number))[0]
    return Value(FLOAT, (f'0x{bits:016X}',), number)


def number_type(value: Value, what: str) -> NumberType:
    """Return the type of a value that has to be a number.

    :raises CompileError: if it is none
    """
    if not isinstance(value.kind, NumberType):
        raise CompileError(f'{what} must be a number, not {value.kind}')
    return value.kind


def convert(code: Routine, value: Value, kind: NumberType, what: str) -> Value:
    """Return the value as a number of a type of the same or a higher rank.

    :param what: what the value is, for the message
    :raises CompileError: if the type is of a lower rank
    """
    own = number_type(value, what)
    if own == kind:
        return value
    if own.rank > kind.rank:
        raise CompileError(f'{what} must be of type {kind}, not {own}; write {kind}(...)')
    # What is known stays known, for anyone who asks for a literal.
    if value.known is not None:
        return constant(float(value.known) if kind == FLOAT else int(value.known))
    if kind == INT:
        # As a signed number of one bit, true would be -1: hence zero-extended, and unsigned below.
        return Value(INT, (code.value(f'zext i1 {value.text} to i64'),))
    operation = 'uitofp' if own == BOOL else 'sitofp'
    return Value(FLOAT, (code.value(f'{operation} {value.typed} to double'),))


def joined(*values: Value) -> NumberType:
    """Return the type of a number that may be any of several."""
    return max((number_type(each, 'an operand') for each in values), key=lambda kind: kind.rank)
