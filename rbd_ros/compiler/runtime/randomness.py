# SPDX-License-Identifier: Apache-2.0
"""Random numbers for inputs that are not given: NumPy's, for Python and for machine code."""

from __future__ import annotations

import ctypes
from functools import lru_cache
import os
from typing import Tuple

import numpy as np


@lru_cache(maxsize=1)
def generator() -> np.random.Generator:
    """Return the source of randomness of this process."""
    return np.random.default_rng()


@lru_cache(maxsize=1)
def _of_machine_code() -> np.random.Generator:
    # One of its own: machine code holds Python's lock, but not that of a generator.
    return np.random.default_rng()


def next_double() -> Tuple[int, int]:
    """Return the addresses of a C function that draws from [0, 1), and of its argument."""
    interface = _of_machine_code().bit_generator.ctypes
    return ctypes.cast(interface.next_double, ctypes.c_void_p).value or 0, interface.state_address


def _draw_anew() -> None:
    """Reseed a forked process, so that it does not repeat its parent's numbers."""
    generator.cache_clear()  # its lock may have been another thread's, which the child has not
    if _of_machine_code.cache_info().currsize:  # in place: machine code knows where it is
        _of_machine_code().bit_generator.state = np.random.default_rng().bit_generator.state


if hasattr(os, 'register_at_fork'):
    os.register_at_fork(after_in_child=_draw_anew)
