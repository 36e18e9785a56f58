# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Handles of interpreted kernels and loops, which replace addresses without machine code.

They are negative, unlike addresses.
"""

from __future__ import annotations

from typing import Any, Callable, List

import numpy as np
from numpy.typing import NDArray

# Never emptied: loops keep handles like addresses, and never report their end.
_functions: List[Callable[..., Any]] = []


def register(function: Callable[..., Any]) -> int:
    """Return the handle of a function.

    :param function: for `call`, a function of packed inputs and outputs; for `loop`, a loop
    """
    _functions.append(function)
    return -len(_functions)


def is_handle(address: int) -> bool:
    """Return whether an address is a handle."""
    return address < 0


def loop(handle: int) -> Callable[..., int]:
    """Return the loop that was registered with a handle."""
    return _functions[-1 - handle]


def call(handle: int, inputs: NDArray[np.float64], outputs: NDArray[np.float64]) -> None:
    """Run the function that was registered with a handle.

    :param handle: result of `register`
    :param inputs: all inputs, concatenated
    :param outputs: buffer for all outputs
    """
    _functions[-1 - handle](inputs, outputs)
