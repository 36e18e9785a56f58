"""Targets: what runs a graph. Here is the interpreter, which needs no compiler."""

from rbd_ros.compiler.targets.interpreter import interpret

__all__ = ['interpret']
