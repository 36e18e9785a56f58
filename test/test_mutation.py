"""The errors that scripts/mutants makes: which ones, where, and that they are real."""

import ast

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


def test_changes_in_the_same_words_are_told_apart():
    text = 'def f(a, b):\n    return (a - b) / (a - b)\n'
    assert changes(text) == [
        'f: a - b -> (a + (b))',
        'f: a - b -> (a)',
        'f: a - b -> (a + (b)) (2)',
        'f: a - b -> (a) (2)',
    ]


def test_every_text_has_tests_and_names_are_unique():
    for file in mutation.texts():
        sets = mutation.tests_of(file)
        assert any((mutation.ROOT / test).exists() for tests in sets for test in tests), file
    names = [mutant.name for file in mutation.texts() for mutant in mutation.mutants(file)]
    assert len(set(names)) == len(names) > 1000


def test_what_nothing_can_notice_is_still_there_and_has_a_reason():
    names = {mutant.name for file in mutation.texts() for mutant in mutation.mutants(file)}
    for name, reason in mutation.equivalent().items():
        assert name in names, f'stale: {name}'
        assert len(reason) > 10
