# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Types in the loop language: numbers, arrays, records, bytes, tuples.

The type of every value is known at compile time: that of a parameter by the call, that of a
variable by its assignments.
"""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import Callable, Dict, Optional, Tuple, Union


class CompileError(ValueError):
    """Error in source that is not in the loop language; names the line once that is known.

    :param what: the error, and the alternatives
    """

    def __init__(self, what: str):
        super().__init__(what)
        self.line: Optional[int] = None


@dataclass(frozen=True)
class NumberType:
    """Type of a number.

    :param name: as in Python
    :param rank: mixed operations convert to the higher rank, as in Python
    """

    name: str
    rank: int

    def __str__(self) -> str:
        return self.name


BOOL, INT, FLOAT = NumberType('bool', 0), NumberType('int', 1), NumberType('float', 2)


@dataclass(frozen=True)
class ArrayType:
    """Type of a contiguous, borrowed array.

    :param number: type of its elements, FLOAT or INT
    :param shape: its lengths, None for one known at run time only
    :param is_constant: whether it is read-only
    """

    number: NumberType
    shape: Tuple[Optional[int], ...]
    is_constant: bool = False

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements, if all lengths are known."""
        return math.prod(length or 0 for length in self.shape)

    def __str__(self) -> str:
        return f'array of {self.number} with {self.ndim} dimensions'


class RecordType:
    """Type of a record, equal to itself only; a target defines where its fields are.

    :param name: name of its class
    :param is_constant: whether it never changes, so that a target needs no address of it
    """

    def __init__(self, name: str, is_constant: bool = False):
        self.name, self.is_constant = name, is_constant
        #: Type of each field, or its compile-time value: a number or a compiled function
        self.fields: Dict[str, Union[bool, int, float, Callable, Type]] = {}

    def __str__(self) -> str:
        return f'record {self.name}'


@dataclass(frozen=True)
class BytesType:
    """Type of the content of a bytes object."""

    def __str__(self) -> str:
        return 'bytes'


@dataclass(frozen=True)
class TupleType:
    """Type of a tuple.

    :param items: types of its items; without items it has no value
    """

    items: Tuple[Type, ...]

    def __str__(self) -> str:
        return f'({", ".join(map(str, self.items))})' if self.items else 'None'


@dataclass(frozen=True)
class VecType(TupleType):
    """Type of a vector, a tuple of floats with arithmetic (vocabulary.py)."""

    def __str__(self) -> str:
        return f'Vec[{len(self.items)}]'


@dataclass(frozen=True)
class MatType(TupleType):
    """Type of a matrix, a tuple of its rows, which are vectors of one size."""

    def __str__(self) -> str:
        return f'Mat[{len(self.items)}, {len(self.items[0].items)}]'


@dataclass(frozen=True)
class NamedType(TupleType):
    """Type of a named tuple as a value: its fields are passed one by one.

    :param kind: its class
    """

    kind: type

    def __str__(self) -> str:
        return self.kind.__name__


Type = Union[NumberType, ArrayType, RecordType, BytesType, TupleType]

NOTHING = TupleType(())
