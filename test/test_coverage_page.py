# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""docs/coverage.md lists the tested theory rows, and is up to date."""

from support import seed_coverage


def test_coverage_page_is_fresh():
    on_disk = seed_coverage.PAGE.read_text(encoding='utf-8')
    assert on_disk == seed_coverage.page(), 'stale: run scripts/update_coverage'


def test_every_mark_names_a_row_of_the_inventory():
    known = {row.row for row in seed_coverage.rows()}
    unknown = [mark for mark in seed_coverage.all_marks() if mark.row not in known]
    assert not unknown, '\n'.join(f'{m.file}:{m.line} marks {m.row}' for m in unknown)


def test_rows_of_the_inventory_are_unique_and_complete():
    rows = seed_coverage.rows()
    assert len({row.row for row in rows}) == len(rows)
    assert all(all(row[:-1]) for row in rows)


def test_every_row_is_proven_in_full_or_is_theory_with_a_note():
    """Tiers 1 to 3 are what the package does; of theory, a note may say why it does not."""
    proven = seed_coverage.proven()
    open_rows = [
        f'{row.row} (tier {row.tier}, {proven.get(row.row, "no test")}): {row.subject}'
        for row in seed_coverage.rows()
        if proven.get(row.row) != seed_coverage.FULL and not (row.tier == '4' and row.note)
    ]
    assert not open_rows, '\n'.join(open_rows)


def test_notes_are_of_theory_that_is_not_proven_and_shown():
    """A note is no excuse for what the package must do, nor left where a proof has come."""
    page, proven = seed_coverage.page(), seed_coverage.proven()
    for row in seed_coverage.rows():
        if row.note:
            assert row.tier == '4', f'{row.row} is not of tier 4 and has a note'
            assert proven.get(row.row) != seed_coverage.FULL, f'{row.row} is proven: no note'
            assert row.note in page


def test_marks_say_how_much_they_prove():
    kinds = (seed_coverage.FULL, seed_coverage.PART)
    wrong = [mark for mark in seed_coverage.all_marks() if mark.kind not in kinds]
    assert not wrong, '\n'.join(f'{m.file}:{m.line}: kind={m.kind!r}' for m in wrong)


def test_marks_are_found_wherever_pytest_accepts_them():
    source = """
pytestmark = [pytest.mark.slow, pytest.mark.seed('A1')]

@pytest.mark.seed('B1', 'B2', kind='full')
@pytest.mark.parametrize('x', [pytest.param(1, marks=pytest.mark.seed('B3'))])
def test_b(x):
    pass

@pytest.mark.seed('C1')
class TestC:
    @pytest.mark.seed('C2')
    def test_c(self):
        pass
"""
    marks = seed_coverage.marks_of(source, 'test_x.py')
    assert {(mark.row, mark.test, mark.kind) for mark in marks} == {
        ('A1', '', 'part'),
        ('B1', 'test_b', 'full'),
        ('B2', 'test_b', 'full'),
        ('B3', 'test_b', 'part'),
        ('C1', 'TestC', 'part'),
        ('C2', 'TestC.test_c', 'part'),
    }
