# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Rows of the theory inventory that have tests: `seed` marks found in the text of the tests.

It needs the standard library only and imports no test, so scripts/update_coverage runs anywhere.
"""

import ast
import csv
import functools
from pathlib import Path
from typing import Iterator, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
ROWS = ROOT / 'docs' / 'seed_rows.csv'
PAGE = ROOT / 'docs' / 'coverage.md'

HEAD = """\
# Theory rows and their tests

Made by `scripts/update_coverage` from the tests' `@pytest.mark.seed('CL07', kind='full')` marks;
do not edit.

A row is proven if a test asserts its acceptance criterion, or a stronger one, on code of the
package. Those tests are listed; marks without `kind='full'` are of tests that assert a part of it.
Tier 1 is what the package is wrong without, 2 what is expected of it, 3 efficiency and options, 4
theory, of which a row may have a note instead of a proof.

The rows are those of [seed_rows.csv](seed_rows.csv). Sources:

* **B**: R. Featherstone, *Rigid Body Dynamics Algorithms*, 2008
* **P**: R. Featherstone and D. Orin, *Robot Dynamics: Equations and Algorithms*, 2000
* **S**: S. K. Saha, *Dynamics of Serial Multibody Systems Using the Decoupled Natural Orthogonal
  Complement Matrices*, 1999
* **L**: a web article on robot dynamics

"""
TABLE_HEAD = ['| row | tier | where | subject | proven by |', '|---|---|---|---|---|']
FULL, PART = 'full', 'part'


class Row(NamedTuple):
    """One row of the inventory.

    :param note: why a row of theory is not proven in full; empty if it is, or should be
    """

    row: str
    tier: str
    chapter: str
    where: str
    subject: str
    note: str


class Mark(NamedTuple):
    """One `seed` mark: `test` is the function or class that carries it, '' for a whole file.

    :param kind: `FULL` or `PART`: how much of the row it proves
    """

    row: str
    file: str
    line: int
    test: str
    kind: str


def rows() -> list[Row]:
    """Return all rows of the inventory, in its order."""
    with ROWS.open(encoding='utf-8', newline='') as stream:
        return [Row(**fields) for fields in csv.DictReader(stream)]


def marks_of(source: str, file: str) -> Iterator[Mark]:
    """Find the marks of one test file: decorators, `pytestmark`, `marks=` of parameters."""
    yield from _marks_below(ast.parse(source), '', file)


def _marks_below(node: ast.AST, test: str, file: str) -> Iterator[Mark]:
    for child in ast.iter_child_nodes(node):
        inside = test
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            inside = f'{test}.{child.name}' if test else child.name
        if _is_seed_mark(child):
            kinds = [ast.literal_eval(word.value) for word in child.keywords if word.arg == 'kind']
            for argument in child.args:
                constant = isinstance(argument, ast.Constant)
                row = str(argument.value) if constant else ast.unparse(argument)
                yield Mark(row, file, child.lineno, test, *(kinds or [PART]))
        yield from _marks_below(child, inside, file)


def _is_seed_mark(node: ast.AST) -> bool:
    # The end of the name first: resolving each call of each test takes a hundred times as long.
    return (
        isinstance(node, ast.Call)
        and getattr(node.func, 'attr', None) == 'seed'
        and ast.unparse(node.func) == 'pytest.mark.seed'
    )


def all_marks() -> list[Mark]:
    """Return all marks of the test suite, by file and line."""
    return list(_marks_on_disk())


@functools.lru_cache(maxsize=1)
def _marks_on_disk() -> tuple[Mark, ...]:
    marks: list[Mark] = []
    for path in sorted((ROOT / 'test').rglob('test_*.py')):
        file = path.relative_to(ROOT).as_posix()
        marks.extend(marks_of(path.read_text(encoding='utf-8'), file))
    return tuple(marks)


def proven() -> dict[str, str]:
    """Return how far each row with tests is proven, `FULL` or `PART`."""
    result: dict[str, str] = {}
    for mark in all_marks():
        if result.get(mark.row) != FULL:
            result[mark.row] = mark.kind
    return result


def page() -> str:
    """Return the text of docs/coverage.md."""
    marks: dict[str, list[Mark]] = {}
    for mark in all_marks():
        if mark.kind == FULL:
            marks.setdefault(mark.row, []).append(mark)
    inventory = rows()
    lines = [HEAD + '\n'.join(_totals(inventory))]
    chapter = None
    for row in inventory:
        if row.chapter != chapter:
            chapter = row.chapter
            lines += ['', f'## {chapter}', '', *TABLE_HEAD]
        tests = _tests_cell(marks.get(row.row, []), row.note)
        cells = (row.row, row.tier, row.where, row.subject, tests)
        lines.append('| ' + ' | '.join(text.replace('|', '\\|') for text in cells) + ' |')
    return '\n'.join(lines) + '\n'


def _totals(inventory: list[Row]) -> list[str]:
    """Return the table of how many rows of each tier are proven."""
    groups = {f'tier {tier}': [row for row in inventory if row.tier == tier] for tier in '1234'}
    groups['**all**'], kinds = inventory, proven()
    lines = ['| rows | all | proven | open |', '|---|---|---|---|']
    for name, some in groups.items():
        found = sum(kinds.get(row.row) == FULL for row in some)
        lines.append(f'| {name} | {len(some)} | {found} | {len(some) - found} |')
    return lines


def _tests_cell(marks: list[Mark], note: str = '') -> str:
    names_of_file: dict[str, dict[str, None]] = {}
    for mark in marks:
        names = names_of_file.setdefault(mark.file, {})
        if mark.test:
            names[f'`{mark.test}`'] = None
    parts = []
    for file, names in names_of_file.items():
        part = f'[{Path(file).name}](../{file})'
        if names:
            part += ': ' + ', '.join(names)
        parts.append(part)
    return '<br>'.join([*parts, note] if note else parts) or '-'
