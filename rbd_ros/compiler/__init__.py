# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Compiler: symbol graph, LLVM back end, kernels and their cache. Independent of robots.

The names below are loaded on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rbd_ros.lazy_names import lazy_names

if TYPE_CHECKING:
    from rbd_ros.compiler.program import Definition, Output, Program, Tangent
    from rbd_ros.compiler.runtime.batches import set_threads, threads
    from rbd_ros.compiler.runtime.kernel import BaseKernel, make_kernel
    from rbd_ros.compiler.runtime.native import compile_lock, unavailable_reason
    from rbd_ros.compiler.symbol_graph import Graph, OperationCount, Symbol

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

__getattr__, __dir__ = lazy_names(__name__)
