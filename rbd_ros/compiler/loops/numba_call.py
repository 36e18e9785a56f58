# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Calling a robot's kernel from compiled loops.

One intrinsic for numba, and the same in plain Python without it.

This module is separate because it imports numba, which takes longer than compiling a kernel.
"""

from __future__ import annotations

import ctypes

import numpy as np

from rbd_ros.compiler.runtime import handles, native

try:
    from numba import njit, types
    from numba.extending import intrinsic
except ImportError:
    njit = None


def _call_address(address: int, inputs: np.ndarray, outputs: np.ndarray) -> None:
    function = ctypes.PYFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(address)
    function(inputs.ctypes.data, outputs.ctypes.data)


def _compiled_call():
    from llvmlite import ir

    @intrinsic
    def call(typing_context, address, inputs, outputs):
        def generate(context, builder, signature, arguments):
            data = [
                context.make_array(kind)(context, builder, value).data
                for kind, value in zip(signature.args[1:], arguments[1:])
            ]
            function = ir.FunctionType(ir.VoidType(), [pointer.type for pointer in data])
            builder.call(builder.inttoptr(arguments[0], function.as_pointer()), data)
            return context.get_dummy_value()

        return types.void(types.int64, inputs, outputs), generate

    @njit(nogil=True, cache=False)
    def call_kernel(address, inputs, outputs):
        call(address, inputs, outputs)

    return call_kernel


def _choose():
    if native.unavailable_reason() is not None:
        return handles.call
    return _call_address if njit is None else _compiled_call()


#: ``call_kernel(address, inputs, outputs)``: run the kernel with that `address` on packed arrays:
#: all inputs, concatenated, and buffers for the outputs; both float64, 1-D and contiguous.
#: Callable from numba's nopython mode.
call_kernel = _choose()
