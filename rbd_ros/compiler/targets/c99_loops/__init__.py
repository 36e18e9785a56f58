# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Loops over data as C99, from the same typed functions as `llvm_loops`.

The text is for the records of one robot, so all sizes are known: arrays become members of structs,
lengths become numbers, and constants of the loops become constants of C. c99_values.py has values,
c99_records.py records; c99_operations.py, c99_expressions.py and c99_statements.py write
functions, module.py entry points.
"""

from rbd_ros.compiler.targets.c99_loops.module import loop_module, LoopModule

__all__ = ['LoopModule', 'loop_module']
