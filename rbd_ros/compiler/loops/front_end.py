# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""From entry points to typed functions for targets; errors name file and line."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Callable, Iterator, List, Tuple, TypeVar

from rbd_ros.compiler.loops.instances import Instance, Instances
from rbd_ros.compiler.loops.loop_ir import Function
from rbd_ros.compiler.loops.loop_statements import read_function
from rbd_ros.compiler.loops.loop_types import CompileError, INT, Type

_Text = TypeVar('_Text')


def entry(instances: Instances, function: Callable, arguments: Tuple[Type, ...]) -> Instance:
    """Return an entry point for arguments of certain types, to be compiled.

    :raises ValueError: if it cannot be compiled, naming file, line and function
    """
    with _located(function):
        found = instances.of(function, arguments)
        if found.result != INT:
            raise CompileError('an entry point must be annotated to return int')
        return found


def translate(instances: Instances, write: Callable[[Function], _Text]) -> List[_Text]:
    """Return the target's text of each reachable function.

    :raises ValueError: if one cannot be compiled, naming file, line and function
    """
    texts = []
    # Reading a function finds the functions that it calls.
    while instances.waiting:
        instance = instances.waiting.pop()
        with _located(instance.function):
            texts.append(write(read_function(instances, instance)))
    return texts


@contextmanager
def _located(function: Callable) -> Iterator[None]:
    """Add file and line to a compile error in a function."""
    try:
        yield
    # The others are Python's own: a changed file, a quoted annotation, too deeply nested
    # expressions.
    except (CompileError, OSError, SyntaxError, RecursionError) as error:
        code, what = function.__code__, str(error)
        line = getattr(error, 'line', None) or code.co_firstlineno
        if not isinstance(error, CompileError):
            what = f'{type(error).__name__}: {error}'
        where = f'{code.co_filename}:{line}: in {function.__name__}'
        raise ValueError(f'{where}: {what}') from None
