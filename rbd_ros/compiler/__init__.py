# SPDX-License-Identifier: Apache-2.0
"""Compiler: symbol graph, LLVM back end, kernels and their cache. Knows no robot."""

from rbd_ros.compiler.definition import Definition, Tangent
from rbd_ros.compiler.program import Output, Program
from rbd_ros.compiler.runtime.batches import set_threads, threads
from rbd_ros.compiler.runtime.kernel import BaseKernel, make_kernel
from rbd_ros.compiler.symbol_graph import Graph, OperationCount, Symbol
from rbd_ros.compiler.targets.llvm.native import compile_lock, unavailable_reason

__all__ = [
    'BaseKernel',
    'Definition',
    'Graph',
    'OperationCount',
    'Output',
    'Program',
    'Symbol',
    'Tangent',
    'compile_lock',
    'make_kernel',
    'set_threads',
    'threads',
    'unavailable_reason',
]
