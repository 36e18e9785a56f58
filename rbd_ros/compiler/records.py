"""Named tuples of arrays and numbers, passed to compiled loops by one address.

A record is a small table in memory: numbers, and addresses and shapes of arrays. A compiled loop
reads `fields.name` from that table; the arrays it gets are borrowed, so the record must outlive
the call. Passing a hundred arrays one by one would cost a call microseconds, and a compilation
minutes. In plain Python, loops take the named tuple itself.
"""

from __future__ import annotations

from typing import List, NamedTuple

import numpy as np


class Record:
    """Table of a named tuple, kept together with the arrays that it points at.

    :param fields: the named tuple; its arrays must not be replaced, its numbers are copied
    :raises TypeError: for a field that is no array, number or such a tuple
    """

    def __init__(self, fields: NamedTuple):
        self.fields = fields
        words: List[np.ndarray] = []
        kinds: List[tuple] = []
        self._nested = []
        for name, value in zip(fields._fields, fields):
            if isinstance(value, tuple):
                nested = Record(value)
                self._nested.append(nested)
                kinds.append((name, 'record', nested.kind))
                words.append(np.array([nested.address]))
            elif isinstance(value, np.ndarray):
                if not value.flags.c_contiguous or value.dtype not in (np.float64, np.int64):
                    raise TypeError(f'{name} must be a contiguous array of float64 or int64')
                kinds.append((name, value.dtype.name, value.ndim))
                words.append(np.array([value.ctypes.data, *value.shape]))
            elif isinstance(value, (int, float)):
                number = np.array([value])
                kinds.append((name, number.dtype.name, 0))
                words.append(number.view(np.int64))
            else:
                raise TypeError(f'{name} must be an array or a number, got {type(value).__name__}')
        self._table = np.concatenate(words).astype(np.int64)
        self.kind = (type(fields).__name__, tuple(kinds))
        self.address = int(self._table.ctypes.data)
