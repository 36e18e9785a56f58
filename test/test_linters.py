# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The repository passes ruff: style, import order, pep257, typed public functions."""

import ast
import os
from pathlib import Path
import re
import subprocess
import sys

import pytest
from support import outside
from support.source_imports import module_name, package_sources, ROOT

from rbd_ros import license_header

pytestmark = pytest.mark.linter


@pytest.mark.parametrize(
    'command', [('check', '--output-format=concise'), ('format', '--check')], ids=' '.join
)
def test_ruff_finds_nothing(command):
    pytest.importorskip('ruff')
    run = subprocess.run(
        [sys.executable, '-m', 'ruff', *command, '--no-cache', ROOT],
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout + run.stderr


HEADER = ['Copyright 2026 rbd_ros maintainers', 'SPDX-License-Identifier: Apache-2.0']
VENDORED = {
    f'rbd_ros/viewer/page/{name}': ['SPDX-License-Identifier: MIT']
    for name in ('three.js', 'uplot.css', 'uplot.js')
}
SOURCES = {'.c', '.cpp', '.css', '.h', '.js', '.py', '.sh'}
MADE = {'build', 'install', 'log', 'node_modules', 'output', 'demo', '__pycache__'}


def source_files():
    """Yield files of programs: by their suffix, by their name, or with a line #! at the top."""
    for folder, folders, names in os.walk(ROOT):
        top = Path(folder) == ROOT
        folders[:] = [
            each
            for each in folders
            if each not in MADE and (each == '.ci' or not each.startswith('.'))
        ]
        for path in (Path(folder, name) for name in names):
            if path.suffix in SOURCES or path.name in ('CMakeLists.txt', 'Dockerfile'):
                yield path
            elif not path.suffix and not top:
                with path.open('rb') as file:
                    if file.read(2) == b'#!':
                        yield path


def test_every_source_file_begins_with_its_license():
    paths = list(source_files())
    assert {'setup.py', 'demo', 'run', 'entrypoint', 'Dockerfile'} <= {each.name for each in paths}
    without = []
    for path in paths:
        lines = path.read_text(encoding='utf-8').split('\n', 3)
        # Of comments in C, ament_copyright reads lines of // alone.
        ends = '#/ ' if path.suffix in ('.c', '.cpp', '.h') else '#/* '
        lines = [line.strip(ends) for line in lines if not line.startswith('#!')]
        name = path.relative_to(ROOT).as_posix()
        header = VENDORED.get(name, HEADER)
        if lines[: len(header)] != header:
            without.append(name)
    assert not without, f'begin them with "# {HEADER[0]}" and "# {HEADER[1]}": {without}'


def test_ament_copyright_knows_the_header_where_the_package_is_installed(tmp_path, monkeypatch):
    """By its rules (ament_copyright/parser.py): a template is found in the first comment."""
    copyright, identifier = license_header.APACHE.file_headers[0].split('\n')
    assert copyright == '{copyright}' and identifier == HEADER[1]
    (sentence,) = license_header.APACHE.contributing_files
    contributing = (ROOT / 'CONTRIBUTING.md').read_text(encoding='utf-8')
    assert sentence in ' '.join(contributing.split())
    fields = ('name', 'spdx', 'file_headers', 'license_files', 'contributing_files')
    assert set(vars(license_header.APACHE)) == set(fields)
    assert (
        "'ament_copyright.license': [f'apache2_spdx = {PACKAGE_NAME}.license_header:APACHE']"
        in (ROOT / 'setup.py').read_text(encoding='utf-8')
    )
    outside.load('ament_copyright')
    from ament_copyright import main, parser

    known = {'apache2_spdx': license_header.APACHE}
    monkeypatch.setattr(parser, 'get_licenses', lambda: known)
    monkeypatch.setattr(main, 'get_licenses', lambda: known)
    ours = ('benchmark', 'examples', 'launch', 'rbd_ros', 'test', 'setup.py', 'CONTRIBUTING.md')
    assert main.main([str(ROOT / each) for each in ours]) == 0
    (tmp_path / 'bare.py').write_text('# SPDX-License-Identifier: Apache-2.0\n')
    assert main.main([str(tmp_path)]) == 1


def untyped_arguments(source):
    """Arguments without a type of public functions and of public methods of public classes."""
    for node, names in public_functions(ast.parse(source), ()):
        every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        every += [argument for argument in (node.args.vararg, node.args.kwarg) if argument]
        is_static = 'staticmethod' in map(ast.unparse, node.decorator_list)
        if len(names) > 1 and not is_static:
            every = every[1:]  # self, cls
        for argument in every:
            if argument.annotation is None:
                yield f'{node.lineno}: {".".join(names)}({argument.arg})'


def public_functions(node, names):
    for child in ast.iter_child_nodes(node):
        public = not getattr(child, 'name', '_').startswith('_')
        if public and isinstance(child, ast.ClassDef):
            yield from public_functions(child, (*names, child.name))
        elif public and isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield child, (*names, child.name)


@pytest.mark.parametrize('path', package_sources(), ids=module_name)
def test_public_functions_are_typed(path):
    untyped = list(untyped_arguments(path.read_text(encoding='utf-8')))
    assert not untyped, '\n'.join(untyped)


def examples():
    """Return the files that CONTRIBUTING.md shows."""
    page = (ROOT / 'CONTRIBUTING.md').read_text(encoding='utf-8')
    return re.findall(r'^```python\n(.*?)^```', page, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize('text', examples(), ids=lambda text: text[3:].partition(':')[0])
def test_examples_of_contributions_pass_like_the_package(text):
    pytest.importorskip('ruff')
    assert not list(untyped_arguments(text))
    for command in ('check', '--quiet'), ('format', '--check', '--quiet'):
        run = subprocess.run(
            [sys.executable, '-m', 'ruff', *command, '--stdin-filename', 'rbd_ros/it.py', '-'],
            input=text,
            capture_output=True,
            text=True,
            cwd=ROOT,
        )
        assert run.returncode == 0, run.stdout + run.stderr


def test_untyped_argument_is_detected():
    source = 'class A:\n def f(self, x): pass\n def _g(self, x): pass\ndef h(x: int, *y): pass'
    assert list(untyped_arguments(source)) == ['2: A.f(x)', '4: h(y)']
