# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Missing libraries are skipped with the reason and the cure, or required."""

import ast
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest
from support import outside, shared_cache
from support.fresh_python import python_path
from support.source_imports import ROOT

TEST = ROOT / 'test'
LINE = 'pinocchio: no libgomp.so.1: apt install libgomp1'
ASKS_FOR_PINOCCHIO = 'test/urdf/test_embedded_robots.py'


@pytest.fixture
def broken_pinocchio(tmp_path):
    """Run pytest where Pinocchio is installed and one of its shared libraries is not."""
    package = tmp_path / 'pinocchio'
    package.mkdir()
    (package / '__init__.py').write_text(
        "raise ImportError('libgomp.so.1: cannot open shared object file: No such file or "
        "directory')\n"
    )
    path = python_path(tmp_path)

    def run(*arguments):
        return subprocess.run(
            [
                sys.executable,
                '-m',
                'pytest',
                '-p',
                'no:cacheprovider',
                ASKS_FOR_PINOCCHIO,
                '-k',
                'test_pinocchio_reads or just_these',
                *arguments,
            ],
            cwd=ROOT,
            env={**os.environ, 'PYTHONPATH': path},
            capture_output=True,
            text=True,
            timeout=300,
        )

    return run


@pytest.mark.parametrize('workers', [0, 1])
def test_an_oracle_that_cannot_be_loaded_is_skipped_and_named_last(broken_pinocchio, workers):
    if workers:
        pytest.importorskip('xdist')
    run = broken_pinocchio(*['-n', str(workers)][: 2 * workers])
    assert run.returncode == 0, run.stdout + run.stderr
    *_, title, line, counts = run.stdout.splitlines()
    assert 'skipped for want of' in title
    assert line == LINE
    assert '1 passed' in counts and '7 skipped' in counts


def test_an_oracle_that_is_demanded_fails_the_run_with_the_same_line(broken_pinocchio):
    run = broken_pinocchio('--nothing-missing')
    assert run.returncode != 0
    assert LINE in (run.stdout + run.stderr).splitlines()


@pytest.mark.parametrize(
    'text, cure',
    [
        ('', 'not installed: pip install of-these'),
        (
            "raise OSError('liba.so.2: cannot open shared object file: No such file')",
            'no liba.so.2: apt install liba2',
        ),
        (
            "raise ImportError('numpy.core.multiarray failed to import\\nand more')",
            'numpy.core.multiarray failed to import: pip install of-these',
        ),
        ('import one_of_these_that_is_not_there', 'No module named '),
        ('raise SystemError', 'SystemError: pip install of-these'),
    ],
)
def test_every_error_is_reported_in_one_line(tmp_path, monkeypatch, text, cure):
    if text:
        (tmp_path / 'one_of_these.py').write_text(f'print("noise")\n{text}\n')
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(outside, '_missing', {})
    monkeypatch.setitem(outside.LIBRARIES, 'one_of_these', outside.Source('of-these', ('liba2',)))
    outside._error.cache_clear()
    with pytest.raises(pytest.skip.Exception) as caught:
        outside.load('one_of_these')
    assert str(caught.value).startswith(f'one_of_these: {cure}')
    assert '\n' not in str(caught.value)
    assert outside.missing() == {'one_of_these': str(caught.value)}
    assert ('liba2' in outside.debian_packages()) == ('liba.so' in text)


@pytest.mark.parametrize(
    ('name', 'line'),
    [
        ('C compiler', 'C compiler: none of cc, gcc, clang is on the PATH: apt install gcc'),
        ('ros2', 'ros2: none of ros2 is on the PATH: source a ROS 2'),
    ],
)
def test_a_program_that_is_not_there_skips_and_is_named_last(tmp_path, monkeypatch, name, line):
    monkeypatch.setenv('PATH', str(tmp_path))
    monkeypatch.setattr(outside, '_missing', {})
    mark = outside.needs(name).mark
    assert mark.args == (True,) and mark.kwargs['reason'] == line
    assert outside.missing() == {name: line}
    program = tmp_path / outside.PROGRAMS[name].names[-1]
    program.touch(0o700)
    monkeypatch.setattr(outside, '_missing', {})
    assert outside.needs(name).mark.args == (False,)
    assert not outside.missing()


def test_a_package_of_ros_that_is_on_no_index_names_its_cure(monkeypatch):
    monkeypatch.setattr(outside, '_missing', {})
    monkeypatch.setitem(outside.OPTIONAL, 'of_ros_alone', outside.SOURCE)
    with pytest.raises(pytest.skip.Exception):
        outside.load('of_ros_alone')
    line = 'of_ros_alone: not installed: source a ROS 2 that has it'
    assert outside.missing() == {'of_ros_alone': line}


@pytest.mark.parametrize('unusable', ['of another user', 'of another user, for root', 'read-only'])
def test_where_machine_code_cannot_be_shared_it_is_the_user_s(monkeypatch, unusable):
    """Another user ran the tests in this checkout before, or it is read-only."""

    class Folder:
        def mkdir(self, name):
            if unusable == 'read-only':
                raise PermissionError(name)
            return self

        def stat(self):
            return SimpleNamespace(st_uid=os.getuid() + 1)

        def chmod(self, mode):
            if unusable != 'of another user, for root':
                raise PermissionError(mode)

    monkeypatch.delenv('RBD_ROS_CACHE_DIR', raising=False)
    shared_cache.share(SimpleNamespace(cache=Folder()))
    assert 'RBD_ROS_CACHE_DIR' not in os.environ


def unchecked_imports(path):
    """Yield imports of optional libraries without a preceding `outside.load`."""
    checked = set()
    nodes = [
        node
        for node in ast.walk(ast.parse(path.read_text(encoding='utf-8')))
        if isinstance(node, (ast.Call, ast.Import, ast.ImportFrom))
    ]
    for node in sorted(nodes, key=lambda node: node.lineno):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module]
            if node.module == 'support.pinocchio_bridge':  # which checks
                checked.add('pinocchio')
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            function, name = ast.unparse(node.func), str(node.args[0].value)
            if function == 'outside.load':
                checked.add(name.partition('.')[0])
            elif function == 'pytest.importorskip':
                names = [name]
        for name in names:
            if name.partition('.')[0] in set(outside.LIBRARIES) - checked:
                yield f'{path.relative_to(ROOT)}:{node.lineno}: {name}'


def test_optional_packages_are_loaded_in_one_place_only():
    # Other modules are imported by these, after the check.
    sources = [*TEST.rglob('test_*.py'), *TEST.rglob('conftest.py')]
    assert sources
    unchecked = [text for path in sorted(sources) for text in unchecked_imports(path)]
    assert not unchecked, 'call support.outside.load before: ' + ', '.join(unchecked)
