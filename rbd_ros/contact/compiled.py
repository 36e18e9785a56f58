"""How the loops of contact and simulation are compiled: by numba, or not at all without it.

An entry point is what Python calls. It is compiled together with all it calls, and its machine
code is kept on disk. Numba only notices when the file of the entry point itself changes; a digest
of all sources in the entry point's closure makes it notice the other files as well.
"""

from __future__ import annotations

from functools import lru_cache
import hashlib
from pathlib import Path
from typing import Callable

from rbd_ros.compiler.numba_call import call_kernel

try:
    import numba
except ImportError:
    numba = None

#: Whether loops run as machine code: only if they can call kernels that do.
COMPILED = numba is not None and hasattr(call_kernel, 'py_func')

_SOURCES = ('contact', 'simulation', 'compiler/numba_call.py')


def compiled(function: Callable) -> Callable:
    """Compile a function that only compiled loops call (decorator)."""
    if not COMPILED:
        return function
    return numba.njit(
        nogil=True, error_model='numpy', no_cfunc_wrapper=True, no_cpython_wrapper=True
    )(function)


def callable_compiled(function: Callable) -> Callable:
    """Compile a function that compiled loops call, and Python as well (decorator)."""
    return numba.njit(nogil=True, error_model='numpy')(function) if COMPILED else function


def merged(function: Callable) -> Callable:
    """Make a function part of its only caller, which saves compiling it twice (decorator)."""
    if not COMPILED:
        return function
    return numba.njit(nogil=True, error_model='numpy', inline='always')(function)


def entry_point(make: Callable[[str], Callable]) -> Callable:
    """Compile the function that `make(digest)` returns, and keep it on disk (decorator).

    :param make: takes the digest of the sources, and returns a function that names it
    """
    function = make(source_digest())
    if not COMPILED:
        return function
    try:
        return numba.njit(nogil=True, error_model='numpy', cache=True)(function)
    except RuntimeError:  # there is no place to keep it
        return numba.njit(nogil=True, error_model='numpy')(function)


@lru_cache(maxsize=1)
def source_digest() -> str:
    """Digest of all sources that entry points are made of."""
    root = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256()
    for name in _SOURCES:
        path = root / name
        for file in sorted(path.glob('*.py')) if path.is_dir() else (path,):
            if file.is_file():
                digest.update(file.read_bytes())
    return digest.hexdigest()
