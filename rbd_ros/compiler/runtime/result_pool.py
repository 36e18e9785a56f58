# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Result pool: results without other references, which a kernel's builtin reuses.

Creating and freeing an array takes NumPy longer than the dynamics of an arm, and a named tuple of
several is one more object. So each kernel has a few results, with no other references until they
are returned. Any other reference to one, or to an array in it, such as a variable, a view or a
memoryview, shows in its reference count; such a result is not reused. If all are in use, results
are new.

The last two results of batches are kept. Large arrays get new pages from the system, and the first
write to a page costs more than its computation.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache
import sys
from typing import Any, List, Optional, Sequence, Tuple, TYPE_CHECKING
import weakref

import numpy as np

from rbd_ros.compiler.runtime.memory_layouts import (
    REFERENCES,
    WEAK_REFERENCES,
)

if TYPE_CHECKING:
    from rbd_ros.compiler.program import Output

#: Number of results of each kernel. A loop that keeps its last one alternates between two; another
#: user may keep the first ones.
COUNT = 4
_MAX_ELEMENTS = 8192  # elements; the time to create larger results does not matter

#: Number of results of batches that are kept, and maximum number of elements
BATCHES, MAX_BATCH = 2, 1 << 19

# Placeholder of a missing result, or one whose count cannot be read: in use.
_IN_USE = ctypes.create_string_buffer(64)


def pooled_results(outputs: Sequence[Output], result: Optional[type] = None) -> List[Any]:
    """Return the reusable results of a kernel.

    Arrays, or named tuples of arrays and numbers.

    :param result: type of a named tuple of several outputs
    :return: COUNT results, or none for a kernel with a new one for each call
    """
    if sum(output.size for output in outputs) > _MAX_ELEMENTS:
        return []
    if result is None:
        if not outputs[0].shape:
            return []
        return [np.empty(outputs[0].shape) for _ in range(COUNT)]
    if not _is_plain(result):
        return []
    own: List[Any] = [
        tuple.__new__(result, [np.empty(x.shape) if x.shape else 0.0 for x in outputs])
        for _ in range(COUNT)
    ]
    for each in own:
        # Arrays of numbers are in no cycle: the garbage collector need not track them.
        _untrack(each)
    return own


def max_rows(outputs: Sequence[Output], result: Optional[type] = None) -> int:
    """Return the maximum rows of a batch whose result is reused, -1 if none is.

    :param result: type of a named tuple of several outputs
    """
    if not counts_references() or not (result is None or _is_plain(result)):
        return -1
    return MAX_BATCH // max(sum(output.size for output in outputs), 1)


def _is_plain(result: type) -> bool:
    """Return whether such a result allows no further attributes and no weak references."""
    return not (result.__dictoffset__ or result.__weakrefoffset__)


def _untrack(item: object) -> None:
    untrack = ctypes.PYFUNCTYPE(None, ctypes.py_object)(('PyObject_GC_UnTrack', ctypes.pythonapi))
    untrack(item)


def addresses(results: Sequence[Any]) -> Tuple[int, ...]:
    """Return the addresses of a kernel's results for its machine code, always COUNT of them."""
    if not results or not counts_references():
        return (ctypes.addressof(_IN_USE),) * COUNT
    return tuple(map(id, results))


@lru_cache(maxsize=None)
def counts_references() -> bool:
    """Return whether the interpreter and NumPy have the layout that machine code assumes."""
    if sys.byteorder != 'little':
        return False  # the low half of the count would be elsewhere
    array = np.empty(3)

    def count() -> int:
        return ctypes.c_int32.from_address(id(array) + REFERENCES).value

    def weak() -> bool:
        return ctypes.c_void_p.from_address(id(array) + WEAK_REFERENCES).value is not None

    before, had_weak = count(), weak()
    kept = [array, weakref.ref(array)]
    grown, has_weak = count() - before, weak()
    kept.clear()
    return before == 1 and grown == 1 and not had_weak and has_weak
