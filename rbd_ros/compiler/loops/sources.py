# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Source of compiled loops: its syntax trees, and the digests for machine code."""

from __future__ import annotations

import ast
import hashlib
from pathlib import Path
from types import CodeType, FunctionType
from typing import Dict, List, Optional, Set


def definitions(path: str) -> Dict[int, ast.FunctionDef]:
    """Return the top-level functions of a file, by the first line of them or their decorators."""
    tree = ast.parse(Path(path).read_text(encoding='utf-8'))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    # A code object begins at the first decorator, its node in the tree at `def`.
    return {min([f.lineno, *(d.lineno for d in f.decorator_list)]): f for f in functions}


def digest(function: FunctionType) -> str:
    """Return the digest of a function, the functions that it calls, and constants.

    Docstrings, comments and other parts of the modules do not count.
    """
    parts: List[str] = []
    _gather(function, set(), parts)
    return hashlib.sha256('\n'.join(parts).encode()).hexdigest()


def runs_seldom(function: FunctionType) -> bool:
    """Return whether the file of a function sets `SELDOM = True`.

    Its loops are then not unrolled: faster compilation, slightly slower machine code.
    """
    return bool(function.__globals__.get('SELDOM', False))


def _gather(function: FunctionType, seen: Set[FunctionType], parts: List[str]) -> None:
    if function in seen:
        return
    seen.add(function)
    own = function.__module__.split('.')[0]
    code = function.__code__
    doc = function.__doc__
    parts.append(
        f'{function.__qualname__} {function.__annotations__} {_text_of(code, doc)} '
        f'{runs_seldom(function)}'
    )
    # Names that a function uses but does not define: called functions, and module constants.
    for name in code.co_names:
        value = function.__globals__.get(name)
        # The compiler rejects `module.function`, except for math and NumPy.
        if isinstance(value, FunctionType) and (
            hasattr(value, 'is_compiled') or value.__module__.split('.')[0] == own
        ):
            _gather(value, seen, parts)
        elif isinstance(value, (bool, int, float)):
            parts.append(f'{name} = {value!r}')
        elif isinstance(value, type) and hasattr(value, '_fields'):
            parts.append(f'{name} = {value.__annotations__}')


def _text_of(code: CodeType, doc: Optional[str] = None) -> str:
    """Return the text of a function's body.

    :param doc: its docstring
    """
    # Byte code has no comments, line numbers and names of files. Nested code, as of a
    # comprehension, is replaced by its text, as its address varies.
    constants = [
        _text_of(each) if isinstance(each, CodeType) else repr(each)
        for each in code.co_consts
        if each != doc
    ]
    return f'{code.co_code.hex()} {constants} {code.co_names} {code.co_varnames}'
