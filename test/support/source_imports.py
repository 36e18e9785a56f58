# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Imports of a Python source, found in its text, including lazy, relative and importlib ones.

Nothing is imported, so the result does not depend on installed packages.
"""

import ast
from pathlib import Path
from typing import Iterator, NamedTuple

PACKAGE = 'rbd_ros'
ROOT = Path(__file__).resolve().parents[2]


class Import(NamedTuple):
    """`name` is the full dotted name; `from a import b` gives both `a` and `a.b`."""

    line: int
    name: str


def module_name(path: Path, root: Path = ROOT) -> str:
    """Return the dotted name of a source file below `root`; of a package, that of its folder."""
    parts = path.relative_to(root).with_suffix('').parts
    return '.'.join(parts[:-1] if parts[-1] == '__init__' else parts)


def imports(source: str, module: str, is_package: bool = False) -> Iterator[Import]:
    """Yield every import of a source text, anywhere in it.

    :param source: text of the module
    :param module: its dotted name, to resolve relative imports
    :param is_package: whether the text is that of an __init__.py
    """
    package = module.split('.') if is_package else module.split('.')[:-1]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(node.lineno, alias.name)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute('.' * node.level + (node.module or ''), package)
            for alias in node.names:
                yield Import(node.lineno, f'{base}.{alias.name}')
        elif isinstance(node, ast.Call) and node.args:
            yield from _dynamic_import(node, package)


def _absolute(name: str, package: list[str]) -> str:
    """Resolve the leading dots of a name as Python does: one dot is the package itself."""
    below = name.lstrip('.')
    level = len(name) - len(below)
    above = package[: len(package) - level + 1] if level else []
    return '.'.join([*above, *below.split('.')] if below else above)


def _dynamic_import(call: ast.Call, package: list[str]) -> Iterator[Import]:
    """Yield `import_module('a.b')`, `importlib.import_module(f'a.{x}')`, `__import__('a')`."""
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, 'id', '')
    if name not in ('import_module', '__import__', 'entry_point_of', 'NamedFunction'):
        return
    target = call.args[0]
    if isinstance(target, ast.JoinedStr):
        target = target.values[0]
    if not (isinstance(target, ast.Constant) and isinstance(target.value, str)):
        yield Import(call.lineno, '?')  # not known from the text
    else:
        yield Import(call.lineno, _absolute(target.value.rstrip('.'), package))


def package_sources() -> list[Path]:
    """Return all modules of the package."""
    return sorted((ROOT / PACKAGE).rglob('*.py'))
