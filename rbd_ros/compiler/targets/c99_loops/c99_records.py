# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Records as C: structs for variables, tables of numbers for constants."""

from __future__ import annotations

from typing import Any, Dict, List, Set, Tuple

import numpy as np

from rbd_ros.compiler.loops.loop_types import ArrayType, FLOAT, INT, RecordType
from rbd_ros.compiler.targets.c99_loops.c99_values import C_NUMBERS, literal, number, Value


class StructType(RecordType):
    """Type of one record.

    :param name: name of its struct; constant records have none
    """

    def __init__(self, name: str, is_constant: bool = False):
        super().__init__(name, is_constant)
        #: C values of variable fields: members, or tables
        self.places: Dict[str, Value] = {}

    def add(self, field: str, kind: Any, text: str, offset: Any = None) -> None:
        """Add a variable field."""
        self.fields[field], self.places[field] = kind, Value(kind, text, offset=offset)


class Records:
    """Types of the records of loops, and their declarations."""

    def __init__(self) -> None:
        self._structs: List[str] = []
        self._tables: Dict[str, str] = {}
        self._names: Set[str] = set()

    def struct(self, record: Tuple[Any, ...], constants: Set[str] = frozenset()) -> StructType:
        """Return the type of a record whose arrays change; its structs are declared.

        :param record: a named tuple of arrays and of such records
        :param constants: names of fields that are records of constants
        """
        name = type(record).__name__
        # Two records of one class may have different shapes, which are part of the struct.
        while name in self._names:
            name += '_'
        self._names.add(name)
        made, members = StructType(name), []
        # A view has no memory of its own: it becomes an offset into the array that owns it.
        memories = _memories(record)
        for field, value in zip(record._fields, record):
            if field in constants:
                made.add(field, self.constants(value, field), '')
            elif isinstance(value, tuple):
                inner = self.struct(value)
                made.add(field, inner, field)
                members.append(f'struct {inner.name} {field};')
            elif isinstance(value, np.ndarray):
                kind = _view(value, False)
                home, offset = memories[field]
                made.add(field, kind, home, number(offset) if home != field else None)
                shape = ' x '.join(map(str, value.shape))
                if home == field:
                    # C has no arrays without elements.
                    size = max(kind.size, 1)
                    line = f'{C_NUMBERS[kind.number]} {field}[{size}];'
                    members.append(line + f'  /* {shape} */' * (value.ndim > 1))
                else:
                    members.append(f'/* {field}: {shape} from {home}[{offset}] */')
            else:
                # Only arrays of records change while a loop runs.
                made.fields[field] = value
        body = '\n'.join(f'    {member}' for member in members or ['char nothing;'])
        self._structs.append(f'struct {name} {{\n{body}\n}};\n')
        return made

    def constants(self, record: Tuple[Any, ...], name: str) -> StructType:
        """Return the type of a constant record: known numbers, and tables for arrays."""
        made = StructType(type(record).__name__, True)
        for field, value in zip(record._fields, record):
            table = f'{name}_{field}'
            if isinstance(value, tuple):
                made.add(field, self.constants(value, table), '')
            elif isinstance(value, np.ndarray):
                kind = _view(value, True)
                made.add(field, kind, table)
                # All digits of a double: the C code has the same bits.
                numbers = [literal(x) for x in value.ravel().tolist()]
                self._tables[table] = (
                    f'static const {C_NUMBERS[kind.number]} {table}[{max(kind.size, 1)}] = '
                    f'{{{", ".join(numbers or ["0"])}}};'
                )
            else:
                made.fields[field] = value
        return made

    @property
    def structs(self) -> str:
        """Declarations of all structs, in order of their dependence."""
        return '\n'.join(self._structs)

    @property
    def tables(self) -> Dict[str, str]:
        """Declarations of the tables of constants, by name."""
        return self._tables


def _view(array: Any, is_constant: bool) -> ArrayType:
    # Indices are computed from shapes alone, row-major; strides are not kept.
    if not array.flags.c_contiguous or array.dtype not in (np.float64, np.int64):
        raise ValueError('arrays must be contiguous and of float64 or int64')
    return ArrayType(FLOAT if array.dtype == np.float64 else INT, array.shape, is_constant)


def _memories(record: Tuple[Any, ...]) -> Dict[str, Tuple[str, int]]:
    """Return for each array the array of the record that owns its memory, and the offset."""
    arrays = {k: x for k, x in zip(record._fields, record) if isinstance(x, np.ndarray)}
    found = {}
    for name, array in arrays.items():
        found[name] = name, 0
        for home, whole in arrays.items():
            offset = array.ctypes.data - whole.ctypes.data
            if (
                home != name
                and array.size
                and whole.size > array.size
                and 0 <= offset
                and offset + array.nbytes <= whole.nbytes
            ):
                found[name] = home, offset // array.itemsize
    # A part of the same size as the whole: the other parts are empty.
    for name, array in arrays.items():
        first = next(
            (
                k
                for k, x in arrays.items()
                if array.size and x.size == array.size and x.ctypes.data == array.ctypes.data
            ),
            name,
        )
        if found[name][0] == name and first != name:
            found[name] = first, 0
    return found
