# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Loops as LLVM text, and the object files with their machine code.

Sizes are data here: the same machine code serves all records of a kind. llvm_records.py locates
fields; llvm_operations.py, llvm_expressions.py and llvm_statements.py write functions,
translation.py entry points.
"""
