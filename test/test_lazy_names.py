# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Packages whose names are loaded on first use: each name is there."""

import ast
from importlib import import_module
import subprocess
import sys

import pytest
from support.source_imports import module_name, package_sources

PACKAGES = [
    path
    for path in package_sources()
    if path.name == '__init__.py' and 'lazy_names(' in path.read_text(encoding='utf-8')
]


@pytest.mark.parametrize('path', PACKAGES, ids=module_name)
def test_the_names_that_type_checkers_see_are_loaded(path):
    tree = ast.parse(path.read_text(encoding='utf-8'))
    homes = {
        alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module.startswith('rbd_ros.')
        for alias in node.names
        if alias.name != 'lazy_names'
    }
    package = import_module(module_name(path))
    assert set(package.__all__) - {'__version__'} == set(homes)
    for name, home in homes.items():
        assert getattr(package, name) is getattr(import_module(home), name)
    assert set(homes) <= set(dir(package))
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        package.nothing


@pytest.mark.parametrize('path', PACKAGES, ids=module_name)
def test_a_package_by_itself_loads_none_of_its_files(path):
    name = module_name(path)
    code = f"import sys, {name}; print([m for m in sys.modules if m.startswith('{name}.')])"
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True)
    loaded = set(ast.literal_eval(done.stdout)) - {'rbd_ros.lazy_names'}
    assert not loaded
