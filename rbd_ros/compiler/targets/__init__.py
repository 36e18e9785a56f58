"""Targets: what a graph becomes. llvm is machine code, the interpreter needs no compiler."""

from rbd_ros.compiler.targets.interpreter import interpret

__all__ = ['interpret']
