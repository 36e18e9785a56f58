# SPDX-License-Identifier: Apache-2.0
"""A graph as LLVM text, for one state or for several at once, and from that machine code.

kernel_functions.py writes a module; straight_line.py (or table_interpreter.py, if it is very long)
the arithmetic in it, with emit.py, angles.py, trigonometry.py and nan_check.py; native.py makes
machine code of the text, which typed_pointers.py writes again for an old LLVM. routine.py is for
code that is not arithmetic.
"""
