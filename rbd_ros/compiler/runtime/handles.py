# SPDX-License-Identifier: Apache-2.0
"""Handles of interpreted kernels and loops, in place of addresses where there is no compiler."""

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
    return len(_functions) - 1


def loop(handle: int) -> Callable[..., int]:
    """Return the loop that was registered with a handle."""
    return _functions[handle]


def call(handle: int, inputs: NDArray[np.float64], outputs: NDArray[np.float64]) -> None:
    """Run the function that was registered with a handle.

    :param handle: what `register` returned
    :param inputs: all inputs, one after another
    :param outputs: buffer for all outputs
    """
    _functions[handle](inputs, outputs)
