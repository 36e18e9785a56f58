# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Mutants of scripts/mutants: their kinds, places, and effects."""

import ast
import json
import os
from pathlib import Path
import subprocess
import sys

from support import mutation

TEXT = '''
"""A text."""

def f(x: float = 1.0 + 2.0, *, y) -> float:
    """Sum a + b."""
    total: float = x + y
    if x == y:
        raise ValueError(f'{x + y} is -x')
    for j in (1.5 * x, -y):
        total = total - X.inverse_apply(j)
    return v.cross(total)
'''


def changes(text):
    return [mutant.name.partition(': ')[2] for mutant in mutation.mutants_of(text, 'f.py')]


def test_signs_terms_and_frames_are_changed_where_something_is_computed():
    assert changes(TEXT) == [
        'f: x + y -> (x - (y))',
        'f: x + y -> (x)',
        'f: x + y -> (y)',
        'f: x == y -> (x != y)',
        'f: 1.5 * x -> (-1.0 * (1.5 * x))',
        'f: 1.5 -> 3.0',
        'f: -y -> (y)',
        'f: total - X.inverse_apply(j) -> (total + (X.inverse_apply(j)))',
        'f: total - X.inverse_apply(j) -> (total)',
        'f: X.inverse_apply(j) -> X.apply(j)',
        'f: v.cross(total) -> (-1.0 * v.cross(total))',
    ]


def test_each_change_is_a_program_and_differs_in_one_place():
    for mutant in mutation.mutants_of(TEXT, 'f.py'):
        ast.parse(mutant.source)
        lines = zip(TEXT.splitlines(), mutant.source.splitlines(), strict=True)
        assert sum(a != b for a, b in lines) == 1


def test_changes_in_the_same_words_are_distinguished():
    text = 'def f(a, b):\n    return (a - b) / (a - b)\n'
    assert changes(text) == [
        'f: a - b -> (a + (b))',
        'f: a - b -> (a)',
        'f: a - b -> (a + (b)) (2)',
        'f: a - b -> (a) (2)',
    ]


def test_expressions_in_brackets_keep_them():
    text = 'def f(A, X, Y, x, y):\n    return A @ (x * y), (X * Y).apply(x), (X * Y).inverse()\n'
    assert changes(text) == [
        'f: A @ (x * y) -> (-1.0 * (A @ (x * y)))',
        'f: x * y -> (-1.0 * (x * y))',
        'f: (X * Y).apply(x) -> (X * Y).inverse_apply(x)',
        'f: X * Y -> (-1.0 * (X * Y))',
        'f: (X * Y).inverse() -> (X * Y)',
        'f: X * Y -> (-1.0 * (X * Y)) (2)',
    ]


def test_every_algorithm_has_tests_and_names_are_unique():
    for file in mutation.texts():
        sets = mutation.tests_of(file)
        assert any((mutation.ROOT / test).exists() for tests in sets for test in tests), file
    names = [mutant.name for file in mutation.texts() for mutant in mutation.mutants(file)]
    assert len(set(names)) == len(names) > 1000


def test_tests_come_nearest_first():
    assert mutation.tests_of('rbd_ros/algorithms/momentum/energy.py') == [
        ('test/algorithms/momentum/test_energy.py',),
        ('test/algorithms/momentum',),
        ('test/algorithms',),
        mutation.TEXTS['rbd_ros/algorithms'],
    ]
    own, *others = mutation.tests_of('rbd_ros/model/joints/planar.py')
    assert own == mutation.OWN['rbd_ros/model/joints']
    assert others == [
        ('test/model/joints',),
        ('test/model',),
        mutation.TEXTS['rbd_ros/model/joints'],
    ]
    assert mutation.tests_of('rbd_ros/constraints/friction.py')[1:] == [('test/constraints',)]
    for place, tests in mutation.OWN.items():
        assert all((mutation.ROOT / path).exists() for path in (place, *tests)), place


def test_equivalent_mutants_exist_and_have_a_reason():
    names = {mutant.name for file in mutation.texts() for mutant in mutation.mutants(file)}
    for name, reason in mutation.equivalent().items():
        assert name in names, f'stale: {name}'
        assert len(reason) > 10


def test_the_numbers_of_examples_are_not_changed():
    assert changes('def examples():\n    return 1.5 + 2.5\n') == []


def test_the_server_names_the_first_test_that_fails(tmp_path):
    (tmp_path / 'text.py').write_text('def double(x):\n    return 2 * x\n', encoding='utf-8')
    (tmp_path / 'test_text.py').write_text(
        'import text\n\n'
        'def test_zero():\n    assert text.double(0) == 0\n\n'
        'def test_one():\n    assert text.double(1) == 2\n',
        encoding='utf-8',
    )
    (tmp_path / 'test_odd.py').write_text('import no_such_module\n', encoding='utf-8')
    (tmp_path / 'test_crash.py').write_text(
        'import os\n\ndef test_it():\n    os._exit(3)\n', encoding='utf-8'
    )

    def ask(server, *tests, limit=60.0):
        request = {'tests': tests, 'keep_bytecode': False, 'limit': limit}
        print(json.dumps(request), file=server.stdin, flush=True)
        answer = json.loads(server.stdout.readline())
        failed = answer['failed'] or ''
        assert answer['is_test'] == ('::' in failed and 'crash' not in failed)
        return answer['failed']

    support = Path(mutation.__file__).parent
    with subprocess.Popen(
        [sys.executable, str(support / 'mutation_server.py')],
        cwd=tmp_path,
        env={**os.environ, 'PYTHONPATH': str(tmp_path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert ask(server, 'test_text.py') is None
        (tmp_path / 'text.py').write_text('def double(x):\n    return -2 * x\n', encoding='utf-8')
        assert ask(server, 'test_text.py') == 'test_text.py::test_one'
        assert ask(server, 'test_text.py::test_zero') is None
        assert ask(server, 'test_odd.py').startswith('test_odd.py')
        # After a crash, the failing test is unknown.
        for test in ('test_crash.py', 'test_crash.py::test_it'):
            assert 'crash, or no end' in ask(server, test)
        assert ask(server, 'test_text.py', limit=0.0) is not None
        server.stdin.close()
