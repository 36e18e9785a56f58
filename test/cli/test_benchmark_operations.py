# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""`benchmark/operations.py`: published operation counts, and ours."""

import importlib.util
import sys

import pytest
from support.contact_benchmark import marked
from support.denoc_counts import general_chain
from support.source_imports import ROOT


@pytest.fixture(scope='module')
def operations():
    """Yield the script as a module."""
    spec = importlib.util.spec_from_file_location('operations', ROOT / 'benchmark/operations.py')
    module = importlib.util.module_from_spec(spec)
    before = list(sys.path)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    sys.path[:] = before
    del sys.modules[spec.name]


@pytest.mark.seed('AE06', kind='full')
def test_crossings_of_the_printed_formulas_are_the_books(operations):
    """Book 10.2.1 and figure 10.4, recomputed from the best rows of table 10.1.

    The inertia matrix is the better way up to eight joints and takes 1.64 times as much at 18; the
    factorization is its smallest part up to 18 joints and overtakes CRBA near 45.
    """

    def total(formula):
        return lambda n: sum(operations.printed(formula, n))

    by_matrix = operations.printed_by_inertia_matrix
    by_bodies = operations.printed_by_articulated_bodies
    assert (by_matrix(8), by_bodies(8)) == (pytest.approx(2921), 2925)
    assert (by_matrix(9), by_bodies(9)) == (pytest.approx(3539), 3354)
    assert operations.crossing(by_matrix, by_bodies) == 9
    assert (by_matrix(18), by_bodies(18)) == (pytest.approx(11816), 7215)
    rnea = total(operations.INVERSE_DYNAMICS['B table 10.1'])
    crba = total(operations.INERTIA_MATRIX['B table 10.1'])
    solution = total(operations.SOLUTION)
    assert all(solution(n) < min(rnea(n), crba(n)) for n in range(2, 19))
    assert not solution(19) < rnea(19)
    largest = {n: max((rnea, crba, solution), key=lambda f, n=n: f(n)) for n in range(4, 60)}
    assert all(largest[n] is crba for n in range(8, 31))
    assert 43 <= operations.crossing(solution, crba) <= 47


@pytest.mark.seed('AE06', 'AE07', 'DN10', 'DN13')
def test_operation_counts_are_at_most_those_of_the_book(operations):
    """By screws and in spatial arithmetic of either kind; kernels in all."""
    found = list(operations.lines())
    assert {line.of for line in found} == {'6 hinges', '12 hinges', 'one operation'}
    for line in found:
        if 'factors' in line.what:
            continue
        assert line.verdict in ('fewer', 'equal'), line
        if 'kernel' not in line.what:
            assert line.ours[0] <= line.printed[0] and line.ours[1] <= line.printed[1], line
    saha = next(x for x in found if x.source == 'Saha 1999' and 'inverse' in x.what)
    assert saha.printed == (676, 527) and saha.verdict == 'fewer'
    factors = next(x for x in found if 'factors' in x.what)
    assert factors.printed[0] == 6**3 / 6 + 1.5 * 6**2 - 2 * 6 / 3
    assert factors.ours[1] == factors.printed[1]


def test_counts_of_a_kernel_are_those_of_the_robot(operations):
    from rbd_ros import Robot

    count = Robot(general_chain(3)).operation_count('inverse_dynamics')
    expected = count.multiplications + count.divisions, count.additions
    assert operations.kernel('inverse_dynamics', 3) == expected


def test_the_page_has_the_counted_operations(operations):
    """All rows and notes but the one by the clock, which differs on another machine."""
    text = (ROOT / 'docs' / 'measurements.md').read_text(encoding='utf-8')
    (part,) = (x for x in marked.parts(text) if x['name'] == operations.PART.name)
    rows = [operations.row(line.cells) for line in operations.lines()]
    notes = [f'* {note}' for note in (*operations.crossings(), operations.general_frames())]
    printed = [line for line in part['body'].splitlines() if 'By the clock' not in line]
    assert [line for line in printed[2:] if line] == [*rows, *notes]


@pytest.mark.parametrize('first, at', [(lambda n: 10.0, None), (lambda n: 10.0 * n, 4)])
def test_crossings_are_found(operations, first, at):
    assert operations.crossing(first, lambda n: 30.5 if at else 10.0) == at
