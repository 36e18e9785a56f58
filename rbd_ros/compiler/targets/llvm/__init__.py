# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A graph as LLVM text, for one state or for several at once.

kernel_functions.py writes a module; straight_line.py (or table_interpreter.py, if it is very long)
the arithmetic in it, with emit.py, angles.py, trigonometry.py and nan_check.py;
typed_pointers.py writes the text again for an old LLVM. routine.py is for code that is not
arithmetic. Machine code is made of the text in runtime/native.py.
"""
