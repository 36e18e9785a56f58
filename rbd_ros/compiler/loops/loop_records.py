# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Named tuples of arrays and numbers, passed to compiled loops by one address.

A record is a small table in memory: numbers, and addresses and shapes of arrays. A compiled loop
reads `fields.name` from that table; its arrays are borrowed, so the record must outlive the call.
Passing a hundred arrays one by one would take microseconds per call, and minutes to compile. In
plain Python, loops take the named tuple itself.

The class of a record may declare the shape of an array beside its field (`floats`, `integers`,
`view`), a record within it (`nested`), or a bool; `allocate` makes such a record.
"""

from __future__ import annotations

import math
from typing import Any, Dict, List, NamedTuple, NoReturn, Tuple, Type, TypeVar, Union

import numpy as np

AnyRecord = TypeVar('AnyRecord', bound=tuple)


class _Array(NamedTuple):
    """Declaration of an array.

    :param dtype: type of its numbers
    :param shape: lengths, as numbers or names of sizes
    :param within: field whose memory includes it, '' if it has its own
    """

    dtype: type
    shape: Tuple[Union[int, str], ...]
    within: str


def floats(*shape: Union[int, str], within: str = '') -> Any:
    """Declare an array of float64.

    :param shape: lengths, as numbers or names of sizes
    :param within: name of a `view` declared before; its parts follow each other in memory
    """
    return _Array(np.float64, shape, within)


def integers(*shape: Union[int, str]) -> Any:
    """Declare an array of int64."""
    return _Array(np.int64, shape, '')


def view() -> Any:
    """Declare a one-dimensional array that consists of the parts that name it."""
    return _Array(np.float64, (), 'itself')


def nested(kind: type) -> Any:
    """Declare a record within the record, as `floats` declares an array.

    :param kind: its class
    """
    return kind


def allocate(kind: Type[AnyRecord], **sizes: int) -> AnyRecord:
    """Return a record with all its arrays zero.

    :param kind: its class, a named tuple of declared arrays, bools, and such records
    :param sizes: the lengths named in the declarations
    """
    declared: Dict[str, Any] = kind._field_defaults
    shapes = {
        name: tuple(sizes[n] if isinstance(n, str) else n for n in array.shape)
        for name, array in declared.items()
        if isinstance(array, _Array)
    }
    made: Dict[str, Any] = {}
    used: Dict[str, int] = {}
    for name, array in declared.items():
        if isinstance(array, bool):
            made[name] = array
        elif not isinstance(array, _Array):
            made[name] = allocate(array, **sizes)
        elif array.within == 'itself':
            # Parts in the order of a kernel's inputs or outputs: no copies for a call.
            parts = [shapes[each] for each, a in declared.items() if _is_within(a, name)]
            made[name], used[name] = np.zeros(sum(map(math.prod, parts))), 0
        elif array.within:
            first = used[array.within]
            used[array.within] = last = first + math.prod(shapes[name])
            made[name] = made[array.within][first:last].reshape(shapes[name])
        else:
            made[name] = np.zeros(shapes[name], dtype=array.dtype)
    return kind(**made)


def _is_within(array: Any, name: str) -> bool:
    return isinstance(array, _Array) and array.within == name


class NonCopyable:
    """Base of objects whose calls are bound to their own memory, and which cannot be copied."""

    def __reduce_ex__(self, _: Any) -> NoReturn:
        raise TypeError(
            f'a {type(self).__name__} is bound to its own memory and cannot be copied or pickled; '
            'make another one from the same arguments'
        )


class Record(NonCopyable):
    """Table of a named tuple, kept together with its arrays.

    :param fields: the named tuple; its arrays must not be replaced, its numbers are copied; its
        bools and compiled functions are compile-time constants, see sources.py
    :raises TypeError: for a field that is no array, number, compiled function or such a tuple
    """

    def __init__(self, fields: NamedTuple):
        self.fields = fields
        # So a record without fields has a table too.
        words: List[np.ndarray] = [np.empty(0, dtype=np.int64)]
        kinds: List[tuple] = []
        self._nested = []
        for name, value in zip(fields._fields, fields):
            if isinstance(value, tuple):
                inner = Record(value)
                self._nested.append(inner)  # its table must live as long as this one
                kinds.append((name, 'record', inner.kind))
                words.append(np.array([inner.address]))
            elif isinstance(value, np.ndarray):
                if not value.flags.c_contiguous or value.dtype not in (np.float64, np.int64):
                    raise TypeError(f'{name} must be a contiguous array of float64 or int64')
                kinds.append((name, value.dtype.name, value.ndim))
                # No strides: a contiguous array has those of its shape.
                words.append(np.array([value.ctypes.data, *value.shape]))
            # Before numbers: to Python, a bool is one.
            elif isinstance(value, bool) or getattr(value, 'is_compiled', False):
                kinds.append((name, 'constant', value))
            elif isinstance(value, (int, float)):
                number = np.array([value])
                kinds.append((name, number.dtype.name, 0))
                # A float by its bits: the table has words of one type.
                words.append(number.view(np.int64))
            else:
                raise TypeError(f'{name} must be an array or a number, got {type(value).__name__}')
        self._table = np.concatenate(words).astype(np.int64)
        # Key of machine code: names and kinds, but neither sizes nor addresses.
        self.kind = (type(fields).__name__, tuple(kinds))
        self.address = int(self._table.ctypes.data)
