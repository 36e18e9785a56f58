# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Loops over data as C99: the same typed functions that `llvm_loops` makes LLVM text of.

All sizes are known here, since the text is written for the records of one robot: arrays become
members of structs, lengths become numbers, and what does not change while the loops run becomes
constants. c99_values.py says what a value can be, c99_records.py what records become,
c99_operations.py, c99_expressions.py and c99_statements.py write the text of a function, module.py
that of an entry point.
"""

from rbd_ros.compiler.targets.c99_loops.module import loop_module, LoopModule

__all__ = ['LoopModule', 'loop_module']
