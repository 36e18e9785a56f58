# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Targets: forms of a program, one file or folder each.

llvm/ is machine code for this processor, c99.py a function in C, interpreter.py an evaluation
without a compiler. Further targets take a `Program` as well.
"""
