# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A graph as LLVM text, for one state or for several at once.

kernel_functions.py writes a module; straight_line.py (or table_interpreter.py for very long ones)
its arithmetic, with emit.py, angles.py, trigonometry.py and nan_check.py; typed_pointers.py
translates the text for an old LLVM. routine.py is for other code than arithmetic.
runtime/native.py makes machine code of the text.
"""
