# SPDX-License-Identifier: Apache-2.0
"""Words that loops have besides Python's own: in machine code each is an instruction or two.

Here they are as the interpreter takes them, where loops run without a compiler; what the compiler
makes of them is in loop_calls.py.
"""

from __future__ import annotations

import ctypes
import struct
from typing import Any, Callable, List

import numpy as np

from rbd_ros.compiler.loops.loop_records import Record
from rbd_ros.compiler.runtime import handles
from rbd_ros.compiler.targets.llvm import native


def compiled(function: Callable) -> Callable:
    """Make a function part of the entry points that call it; Python itself may call it too.

    It is compiled once for each kind of records and arrays that it is called with, and LLVM merges
    it into its callers if it is small. Parameters that are numbers, and the result, are annotated.
    """
    function.is_compiled = True
    return function


def call_kernel(address: int, inputs: np.ndarray, outputs: np.ndarray) -> None:
    """Run a robot's kernel: all inputs one after another, and buffers for the outputs."""
    # Views, since the arrays are contiguous: the kernel writes into the caller's.
    inputs, outputs = inputs.reshape(-1), outputs.reshape(-1)
    if native.unavailable_reason() is not None:
        handles.call(address, inputs, outputs)
    else:
        # It keeps Python's lock: a kernel takes less time than letting go of it and getting it
        # back.
        function = ctypes.PYFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(address)
        function(inputs.ctypes.data, outputs.ctypes.data)


def call_loop(address: int, *arguments: Any) -> int:
    """Run an entry point by its address.

    :param arguments: its records and numbers; the kinds of numbers are not compared with its own
    """
    if native.unavailable_reason() is not None:
        return handles.loop(address)(*arguments)
    passed: List[Any] = [Record(each) if isinstance(each, tuple) else each for each in arguments]
    kinds = [ctypes.c_double if isinstance(each, float) else ctypes.c_int64 for each in passed]
    function = ctypes.PYFUNCTYPE(ctypes.c_int64, *kinds)(address)
    return function(*(each.address if isinstance(each, Record) else each for each in passed))


def stack_array(size: int) -> np.ndarray:
    """Return a buffer for intermediate results, on the stack in machine code.

    The size is a literal.
    """
    # Not cleared, as it is not on the stack.
    return np.empty(size)


def stack_matrix(rows: int, columns: int) -> np.ndarray:
    """Return a buffer like that of `stack_array`, with two dimensions."""
    return np.empty((rows, columns))


def simd_range(*bounds: int) -> range:
    """Return the range of a loop whose rounds may run in vector registers, all that fit in.

    No round may read what another one writes; results are bitwise identical. Worth it where
    rows of twenty elements and more are added; of fewer, to ask how many there are takes longer.
    """
    return range(*bounds)


def load_i64(data: bytes, at: int) -> int:
    """Return eight bytes as an integer, aligned or not.

    Nothing guards the bounds in machine code.
    """
    return struct.unpack_from('=q', data, at)[0]


def load_f64(data: bytes, at: int) -> float:
    """Return eight bytes as a floating-point number, likewise."""
    return struct.unpack_from('=d', data, at)[0]
