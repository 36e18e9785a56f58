"""Handles of interpreted kernels and loops, where there is no compiler to give them addresses."""

from __future__ import annotations

from typing import Callable, List

import numpy as np

_functions: List[Callable] = []


def register(function: Callable) -> int:
    """Handle by which `call` finds a function of packed inputs and outputs, or `loop` a loop."""
    _functions.append(function)
    return len(_functions) - 1


def loop(handle: int) -> Callable[..., int]:
    """Loop of a handle."""
    return _functions[handle]


def call(handle: int, inputs: np.ndarray, outputs: np.ndarray) -> None:
    """Run the function of a handle."""
    _functions[handle](inputs, outputs)
