# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Targets: what a program becomes, one file or folder each.

llvm/ is machine code for this processor, c99.py a function in C, interpreter.py a run on numbers
without a compiler. Whatever takes a `Program` is one more.
"""
