"""Results that nobody has any more: a kernel's builtin uses them again.

To make an array and to free it costs NumPy more than the dynamics of an arm. So each output has a
few arrays of its own, which nothing but their kernel refers to until they are returned. Whatever
else refers to one, be it a variable, a view or a memoryview, shows in its reference count; such an
array is not touched. If all are in use, results are new arrays, as if these did not exist.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache
import sys
from typing import List, Optional, Sequence, Tuple, TYPE_CHECKING
import weakref

import numpy as np
from numpy.typing import NDArray

from rbd_ros.compiler.runtime.layouts import (
    DESCR,
    DIMENSIONS,
    FLAGS,
    ND,
    REFERENCES,
    WEAK_REFERENCES,
)
from rbd_ros.compiler.targets.llvm.routine import Routine

if TYPE_CHECKING:
    from rbd_ros.compiler.program import Output

#: Arrays of each output. A loop that keeps its last result takes two in turn; somebody else may
#: keep the first ones.
COUNT = 4
_LARGEST = 8192  # elements; for larger arrays the time to make them is nothing

# What an array looks like whose count cannot be read: it is in use.
_IN_USE = ctypes.create_string_buffer(64)


def has_own_arrays(output: Output) -> bool:
    """Whether an output has arrays that are used again."""
    return bool(output.shape) and output.size <= _LARGEST


def own_arrays(outputs: Sequence[Output]) -> List[NDArray[np.float64]]:
    """Arrays for all outputs that have some, one output after another."""
    return [
        np.empty(output.shape)
        for output in outputs
        if has_own_arrays(output)
        for _ in range(COUNT)
    ]


def addresses(arrays: Sequence[NDArray[np.float64]]) -> Tuple[int, ...]:
    """Addresses of arrays, for the machine code of `search_function`."""
    usable = counts_references()
    return tuple(id(array) if usable else ctypes.addressof(_IN_USE) for array in arrays)


def usual_flags(shape: Sequence[int]) -> int:
    """Flags of a new array: it owns its numbers, and they are in order, aligned and writeable."""
    return np.empty(shape).flags.num


def search_function(name: str, shape: Optional[Sequence[int]] = None) -> str:
    """Text of a function that finds an array for a result: a new reference, or null.

    Its arguments are the place where the addresses of the arrays are, and NumPy's float64.

    :param shape: shape of the result; if None, the number of axes, the place of their lengths and
        the usual flags are arguments as well
    """
    parameters, axes, flags = 'ptr %arrays, ptr %float64', '%axes', '%flags'
    if shape is None:
        parameters += ', i32 %axes, ptr %lengths, i32 %flags'
    else:
        axes, flags = str(len(shape)), str(usual_flags(shape))
    r = Routine(f'internal ptr @{name}({parameters})')
    with r.loop(str(COUNT)) as k:
        in_use = r.new_label()
        array = r.get('%arrays', 'ptr', k)
        r.unless(r.same(r.field(array, REFERENCES, 'i32'), '1', 'i32'), in_use)
        # Who had it may have changed more than its numbers. Axes come before their lengths: an
        # array without axes may have no place for these.
        r.unless(r.same(r.field(array, ND, 'i32'), axes, 'i32'), in_use)
        r.unless(r.same(r.field(array, FLAGS, 'i32'), flags, 'i32'), in_use)
        r.unless(r.same(r.field(array, DESCR, 'ptr'), '%float64'), in_use)
        r.unless(r.same(r.field(array, WEAK_REFERENCES, 'ptr'), 'null'), in_use)
        lengths = r.field(array, DIMENSIONS, 'ptr')
        if shape is None:
            with r.loop(r.value('zext i32 %axes to i64')) as axis:
                length = r.get('%lengths', 'i64', axis)
                r.unless(r.same(r.get(lengths, 'i64', axis), length, 'i64'), in_use)
        for axis, length in enumerate(shape or ()):
            r.unless(r.same(r.get(lengths, 'i64', str(axis)), str(length), 'i64'), in_use)
        r.put(array, 'i32', '2')  # a reference for the caller; REFERENCES is at the beginning
        r.do(f'ret ptr {array}')
        r.label(in_use)
    r.do('ret ptr null')
    return r.text()


@lru_cache(maxsize=None)
def counts_references() -> bool:
    """Whether this interpreter and NumPy lay out what `search_function` reads as it assumes."""
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
