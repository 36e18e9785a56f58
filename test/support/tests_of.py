# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Tests of source files, by imports: `python -m support.tests_of rbd_ros/collision/convex/epa.py`.

A test file belongs to a module if it has its name, imports it, or contains its name (a node that
is started as a process). If these are few, those of the modules that import it are added, and so
on.
"""

import ast
from functools import cache
from pathlib import Path
import sys

from support.source_imports import imports, module_name, PACKAGE, package_sources, ROOT

TEST = ROOT / 'test'
ENOUGH = 3  # test files


def of_module(module: str) -> list[Path]:
    """Return the test files of a module, sorted; none if no tested module needs it."""
    level = seen = {module}
    found = set()
    while level and len(found) < ENOUGH:
        names = {f'test_{name.rpartition(".")[2]}' for name in level}
        found |= {p for p, used in users(TEST).items() if used & level or p.stem in names}
        known = users(ROOT / PACKAGE)
        level = {module_name(path) for path, used in known.items() if used & level} - seen
        seen = seen | level
    return sorted(found)


@cache
def users(folder: Path) -> dict[Path, set[str]]:
    """Return the modules of the package that each source below a folder uses, by its path."""
    paths = package_sources() if folder == ROOT / PACKAGE else sorted(folder.rglob('test_*.py'))
    return {path: set(_modules(path)) for path in paths}


def _modules(path: Path):
    text = path.read_text(encoding='utf-8')
    names = {name for _, name in imports(text, module_name(path), path.stem == '__init__')}
    if f"'{PACKAGE}." in text or f'"{PACKAGE}.' in text:  # reading it again takes a while
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Constant) and str(node.value).startswith(f'{PACKAGE}.'):
                names.add(node.value)
    for name in names:
        if name.partition('.')[0] == PACKAGE:
            yield _home(name)


def _home(name: str) -> str:
    """Return the module of a name: itself, or the origin of a package's public name."""
    package, _, last = name.rpartition('.')
    if name in _all_modules() or package not in _all_modules():
        return name
    return _public_names(package).get(last, package)


@cache
def _public_names(package: str) -> dict[str, str]:
    """Return the modules that the `__init__.py` of a package imports its names from, by name."""
    path = _all_modules()[package]
    if path.stem != '__init__':
        return {}
    found = imports(path.read_text(encoding='utf-8'), package, is_package=True)
    return {name.rpartition('.')[2]: name.rpartition('.')[0] for _, name in found}


@cache
def _all_modules() -> dict[str, Path]:
    return {module_name(path): path for path in package_sources()}


def main(arguments: list[str]) -> int:
    """Print the test files of source files, or the sources of test files, one per line."""
    found = set()
    for argument in arguments:
        path = Path(argument).resolve()
        if not path.is_file() or ROOT not in path.parents:
            print(f'{argument}: no file of this repository', file=sys.stderr)
            return 2
        found |= {path} if TEST in path.parents else set(of_module(module_name(path)))
    print('\n'.join(sorted(str(path.relative_to(ROOT)) for path in found)))
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
