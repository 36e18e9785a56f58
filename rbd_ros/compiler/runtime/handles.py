# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Handles of interpreted kernels and loops, in place of addresses where there is no machine code.

They are negative, which addresses never are.
"""

from __future__ import annotations

from typing import Any, Callable, List

import numpy as np
from numpy.typing import NDArray

# Never emptied: loops keep handles as they keep addresses, and nobody reports when they are done.
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

    :param handle: what `register` returned
    :param inputs: all inputs, one after another
    :param outputs: buffer for all outputs
    """
    _functions[-1 - handle](inputs, outputs)
