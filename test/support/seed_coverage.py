"""Which rows of the theory inventory have tests: `seed` marks found in the text of the tests.

Standard library only, and no test is imported, so that scripts/update_coverage runs anywhere.
"""

import ast
import csv
from pathlib import Path
from typing import Iterator, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
ROWS = ROOT / 'docs' / 'seed_rows.csv'
PAGE = ROOT / 'docs' / 'coverage.md'

HEAD = """\
# Theory rows and their tests

Made by `scripts/update_coverage` from the tests' `@pytest.mark.seed('CL07')` marks; do not edit.

The rows are those of [seed_rows.csv](seed_rows.csv). Sources:

* **B**: R. Featherstone, *Rigid Body Dynamics Algorithms*, 2008
* **P**: R. Featherstone and D. Orin, *Robot Dynamics: Equations and Algorithms*, 2000
* **S**: S. K. Saha, *Dynamics of Serial Multibody Systems Using the Decoupled Natural Orthogonal
  Complement Matrices*, 1999
* **L**: a web article on robot dynamics

"""
TABLE_HEAD = ['| row | where | subject | tests |', '|---|---|---|---|']


class Row(NamedTuple):
    """One row of the inventory."""

    row: str
    chapter: str
    where: str
    subject: str


class Mark(NamedTuple):
    """One `seed` mark: `test` is the function or class that carries it, '' for a whole file."""

    row: str
    file: str
    line: int
    test: str


def rows() -> list[Row]:
    """All rows of the inventory, in its order."""
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
            for argument in child.args:
                constant = isinstance(argument, ast.Constant)
                row = str(argument.value) if constant else ast.unparse(argument)
                yield Mark(row, file, child.lineno, test)
        yield from _marks_below(child, inside, file)


def _is_seed_mark(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) == 'pytest.mark.seed'


def all_marks() -> list[Mark]:
    """All marks of the test suite, by file and line."""
    marks = []
    for path in sorted((ROOT / 'test').rglob('test_*.py')):
        file = path.relative_to(ROOT).as_posix()
        marks.extend(marks_of(path.read_text(encoding='utf-8'), file))
    return marks


def page() -> str:
    """Text of docs/coverage.md."""
    tests: dict[str, dict[str, list[str]]] = {}
    for mark in all_marks():
        names = tests.setdefault(mark.row, {}).setdefault(mark.file, [])
        if mark.test and mark.test not in names:
            names.append(mark.test)
    inventory = rows()
    covered = sum(row.row in tests for row in inventory)
    lines = [f'{HEAD}{covered} of {len(inventory)} rows have tests.']
    chapter = None
    for row in inventory:
        if row.chapter != chapter:
            chapter = row.chapter
            lines += ['', f'## {chapter}', '', *TABLE_HEAD]
        cells = (row.row, row.where, row.subject, _tests_cell(tests.get(row.row, {})))
        lines.append('| ' + ' | '.join(text.replace('|', '\\|') for text in cells) + ' |')
    return '\n'.join(lines) + '\n'


def _tests_cell(names_of_file: dict[str, list[str]]) -> str:
    parts = []
    for file, names in names_of_file.items():
        part = f'[{Path(file).name}](../{file})'
        if names:
            part += ': ' + ', '.join(f'`{name}`' for name in names)
        parts.append(part)
    return '<br>'.join(parts) or '-'
