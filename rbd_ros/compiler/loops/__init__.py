"""Loops over data (contacts, solver sweeps, steps), as machine code: marks, records, entry points.

entry_points.py marks functions and calls what was made of them; compile_entry.py makes it, in a
process of its own, with library.py, array_types.py and sources.py. numba_call.py, which imports
numba, is for users' own compiled loops.
"""

from rbd_ros.compiler.loops.entry_points import (
    call_kernel,
    call_loop,
    compiled,
    double_at,
    entry_point,
    EntryPoint,
    matrix,
    RAISED,
    vector,
    why_interpreted,
    word_at,
)
from rbd_ros.compiler.loops.records import allocate, buffer, floats, integers, Record

__all__ = [
    'EntryPoint',
    'RAISED',
    'Record',
    'allocate',
    'buffer',
    'call_kernel',
    'call_loop',
    'compiled',
    'double_at',
    'entry_point',
    'floats',
    'integers',
    'matrix',
    'vector',
    'why_interpreted',
    'word_at',
]
