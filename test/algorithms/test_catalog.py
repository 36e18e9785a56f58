# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Every algorithm has tests under the name of its file."""

import ast
from importlib import import_module
from pathlib import Path
import pkgutil

import pytest

from rbd_ros import algorithms, textbook
from rbd_ros.algorithms.declaration import Declaration, declaration_of

TESTS = Path(__file__).parents[1]


def declares(module):
    """Return the names of the algorithms that a module declares, not of those that it imports."""
    return [
        declaration_of(value).name
        for value in vars(module).values()
        if declaration_of(value)
        and (isinstance(value, Declaration) or value.__module__ == module.__name__)
    ]


MODULES = {
    found.name.partition('.')[2]: declares(import_module(found.name))
    for package in (algorithms, textbook)
    for found in pkgutil.walk_packages(package.__path__, f'{package.__name__}.')
}


@pytest.mark.parametrize('name', [name for name, declared in MODULES.items() if declared])
def test_a_file_that_declares_an_algorithm_has_its_file_of_tests(name):
    *folders, last = name.split('.')
    path = TESTS.joinpath(*folders, f'test_{last}.py')
    assert path.is_file(), f'rbd_ros/{"/".join([*folders, last])}.py needs {path.name}'
    tree = ast.parse(path.read_text(encoding='utf-8'))
    assert any(
        isinstance(node, ast.FunctionDef) and node.name.startswith('test_')
        for node in ast.walk(tree)
    ), f'{path.name} tests nothing'


def test_no_declared_algorithm_is_overlooked():
    found = sorted(name for declared in MODULES.values() for name in declared)
    assert found == sorted(algorithms.catalog())
