# SPDX-License-Identifier: Apache-2.0
"""Result pool: results without other references, which a kernel's builtin uses again.

To make an array and to free it costs NumPy more than the dynamics of an arm, and a named tuple of
several is yet another object. So each kernel has a few results of its own, which nothing but it
refers to until they are returned. Whatever else refers to one, or to an array in it, be it a
variable, a view or a memoryview, shows in its reference count; such a result is not touched. If
all are in use, results are new, as if these did not exist.

Of batches the last two results are kept. Memory of large arrays comes from the system, each page
of which costs more when it is first written to than what is computed for it.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache
import sys
from typing import Any, List, Optional, Sequence, Tuple, TYPE_CHECKING
import weakref

import numpy as np

from rbd_ros.compiler.runtime.memory_layouts import (
    COLUMN_MAJOR,
    DESCR,
    DIMENSIONS,
    FLAGS,
    ND,
    POINTER,
    REFERENCES,
    TUPLE_HASH,
    TUPLE_ITEMS,
    WEAK_REFERENCES,
)
from rbd_ros.compiler.targets.llvm.routine import Routine

if TYPE_CHECKING:
    from rbd_ros.compiler.program import Output

#: Results of each kernel. A loop that keeps its last one takes two in turn; somebody else may keep
#: the first ones.
COUNT = 4
_MAX_ELEMENTS = 8192  # elements; for larger results the time to make them is nothing

#: Results of batches that are kept, and the most numbers in one
BATCHES, MAX_BATCH = 2, 1 << 19

# Flags of a new array: it owns its numbers, and they are in order, aligned and writeable.
_AS_MADE = np.empty((2, 2)).flags.num & ~COLUMN_MAJOR

# What a result looks like that there is none of, or whose count cannot be read: it is in use.
_IN_USE = ctypes.create_string_buffer(64)


def pooled_results(outputs: Sequence[Output], result: Optional[type] = None) -> List[Any]:
    """Return the results of a kernel that are used again.

    Arrays, or named tuples of arrays and numbers.

    :param result: type of a named tuple of several outputs
    :return: COUNT results, or none of a kernel that has a new one for each call
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
        # Arrays of numbers are in no circle, so that the search for garbage may leave it out.
        _untrack(each)
    return own


def most_rows(outputs: Sequence[Output], result: Optional[type] = None) -> int:
    """Return most rows of a batch whose result is used again, -1 if none is.

    :param result: type of a named tuple of several outputs
    """
    if not counts_references() or not (result is None or _is_plain(result)):
        return -1
    return MAX_BATCH // max(sum(output.size for output in outputs), 1)


def _is_plain(result: type) -> bool:
    """Return whether nobody can keep anything in such a result, nor a weak reference to it."""
    return not (result.__dictoffset__ or result.__weakrefoffset__)


def _untrack(item: object) -> None:
    untrack = ctypes.PYFUNCTYPE(None, ctypes.py_object)(('PyObject_GC_UnTrack', ctypes.pythonapi))
    untrack(item)


def addresses(results: Sequence[Any]) -> Tuple[int, ...]:
    """Return the addresses of a kernel's own results for its machine code, COUNT in any case."""
    if not results or not counts_references():
        return (ctypes.addressof(_IN_USE),) * COUNT
    return tuple(map(id, results))


def search_function(name: str, shapes: Sequence[Sequence[int]]) -> str:
    """Return text of a function that finds a result that is in no use: a new reference, or null.

    Its arguments are the place where the addresses of a kernel's own results are, and NumPy's
    float64.

    :param shapes: shapes of the outputs; without axes it is a number
    """
    r = Routine(f'internal ptr @{name}(ptr %own, ptr %float64)')
    several = len(shapes) > 1
    with r.loop(str(COUNT)) as k:
        in_use = r.new_label()
        found = r.get('%own', 'ptr', k)
        unless_unused(r, found, in_use)
        for j, shape in enumerate(shapes):
            if not shape:
                continue
            array = r.field(found, TUPLE_ITEMS + POINTER * j, 'ptr') if several else found
            if several:
                unless_unused(r, array, in_use)
            unless_as_made(r, array, '%float64', str(len(shape)), in_use)
            lengths = r.field(array, DIMENSIONS, 'ptr')
            for axis, length in enumerate(shape):
                r.unless(r.same(r.get(lengths, 'i64', str(axis)), str(length), 'i64'), in_use)
        hand_out(r, found, several)
        r.do(f'ret ptr {found}')
        r.label(in_use)
    r.do('ret ptr null')
    return r.text()


def unless_unused(r: Routine, item: str, in_use: str) -> None:
    """Go to a label if something has a result, or an array of one, but what it belongs to."""
    r.unless(r.same(r.field(item, REFERENCES, 'i32'), '1', 'i32'), in_use)


def hand_out(r: Routine, result: str, several: bool) -> None:
    """Take a reference for the caller to a result that nobody else has.

    :param several: whether it is a named tuple
    """
    r.put(result, 'i32', '2')  # REFERENCES is at the beginning
    if several and TUPLE_ITEMS > TUPLE_HASH:  # Python 3.14 keeps the hash: of other numbers
        r.put(r.at(result, 'i8', str(TUPLE_HASH)), 'i64', '-1')


def unless_as_made(r: Routine, array: str, float64: str, axes: str, in_use: str) -> None:
    """Go to a label if an array is not as it was made, but for the lengths of its axes.

    :param float64: NumPy's float64
    :param axes: number of its axes
    """
    # Who had it may have changed more than its numbers. Axes come before their lengths: an array
    # without axes may have no place for these.
    r.unless(r.same(r.field(array, ND, 'i32'), axes, 'i32'), in_use)
    flags = r.value(f'and i32 {r.field(array, FLAGS, "i32")}, {~COLUMN_MAJOR}')
    r.unless(r.same(flags, str(_AS_MADE), 'i32'), in_use)
    r.unless(r.same(r.field(array, DESCR, 'ptr'), float64), in_use)
    r.unless(r.same(r.field(array, WEAK_REFERENCES, 'ptr'), 'null'), in_use)


@lru_cache(maxsize=None)
def counts_references() -> bool:
    """Return whether the interpreter and NumPy have the layout that `search_function` assumes."""
    if sys.byteorder != 'little':
        return False  # the lower half of the count would be elsewhere
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
