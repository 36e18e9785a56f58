# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Loops over data (contacts, solver sweeps, steps) as machine code: decorators, records, entries.

vocabulary.py has the functions and types of the loop language beside Python's, loop_records.py its
data, and entry_points.py the interface to Python. front_end.py reads the functions of instances.py
one by one: loop_statements.py, loop_expressions.py, loop_calls.py, loop_arithmetic.py and
vector_arithmetic.py make typed functions of them (loop_ir.py, loop_types.py), which
targets/llvm_loops and targets/c99_loops print. numba_call.py is for users' own loops compiled by
numba.
"""

from rbd_ros.compiler.loops.entry_points import (
    entry_point,
    entry_point_of,
    EntryPoint,
    excludes_threads,
    interpreted_reason,
)
from rbd_ros.compiler.loops.loop_records import (
    allocate,
    floats,
    integers,
    nested,
    NonCopyable,
    Record,
    view,
)
from rbd_ros.compiler.loops.vocabulary import (
    call_kernel,
    call_loop,
    compiled,
    cross,
    dot,
    load_f64,
    load_i64,
    load_transform,
    load_vec,
    Mat,
    Mat3,
    NamedFunction,
    norm,
    simd_range,
    stack_array,
    stack_matrix,
    Transform,
    Vec,
    Vec3,
    Vec4,
)

__all__ = [
    'EntryPoint',
    'Mat',
    'Mat3',
    'NamedFunction',
    'NonCopyable',
    'Record',
    'Transform',
    'Vec',
    'Vec3',
    'Vec4',
    'allocate',
    'cross',
    'dot',
    'load_transform',
    'load_vec',
    'nested',
    'norm',
    'view',
    'call_kernel',
    'call_loop',
    'compiled',
    'load_f64',
    'entry_point',
    'entry_point_of',
    'excludes_threads',
    'floats',
    'integers',
    'interpreted_reason',
    'stack_matrix',
    'simd_range',
    'stack_array',
    'load_i64',
]
