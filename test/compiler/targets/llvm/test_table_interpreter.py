# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Very long graphs as loops over tables: the same results, also for NaN and edge cases."""

from dataclasses import replace

import numpy as np
import pytest
from support import random_trees
from support.definitions import definition_of
from support.errors import relative_error
from support.small_kernels import kernel

from rbd_ros import Robot
from rbd_ros.compiler.runtime import native
from rbd_ros.compiler.targets.llvm import operation_table, straight_line
from rbd_ros.compiler.targets.llvm.kernel_functions import core_function

NAMES = ['inverse_dynamics', 'forward_dynamics', 'mass_matrix', 'forward_kinematics', 'integrate']
DERIVATIVES = 'inverse_dynamics_analytical_derivatives'
SEVERAL = ['equations_of_motion', 'energy', 'contact_kinematics', DERIVATIVES]
TEXT = random_trees.tree(8, bodies=3, types=('revolute', 'prismatic', 'floating'))


def evaluate(name):
    """Return the results of a function for one state and for eleven."""
    robot, rng = Robot.from_urdf(TEXT), np.random.default_rng(1)
    q, v = robot.random_configuration(rng), rng.normal(size=robot.nv)
    call = robot.kernel(name, dt=(1.0,) if name == 'integrate' else None)
    one = [q if key == 'q' else v for key, _ in call.definition.inputs]
    return call(*one), call(*(np.tile(x, (11, 1)) for x in one))


@pytest.fixture
def always_table(monkeypatch):
    """Compile everything as loops over tables."""
    monkeypatch.setattr(straight_line, '_MANY_MORE_NODES', -1)
    versions = {**native.versions(), 'table': True}
    monkeypatch.setattr(native, 'versions', lambda: versions)


@pytest.mark.parametrize('name', NAMES)
def test_loops_give_the_results_of_the_straight_line(name, request):
    straight, _ = evaluate(name)
    request.getfixturevalue('always_table')
    one, many = evaluate(name)
    assert relative_error(one, straight) < 1e-12
    np.testing.assert_array_equal(many, np.broadcast_to(one, many.shape))


@pytest.mark.parametrize('name', SEVERAL)
def test_several_outputs_are_separate(name, request):
    straight, _ = evaluate(name)
    request.getfixturevalue('always_table')
    one, many = evaluate(name)
    for ours, rows, theirs in zip(one, many, straight):
        assert relative_error(np.asarray(ours), np.asarray(theirs)) < 1e-12
        np.testing.assert_array_equal(rows, np.broadcast_to(ours, rows.shape))


def everything(x):
    """Return every operation; products used by one sum, by two, and by an output."""
    a, b, c = x
    product = a * b
    return [
        a * b + c,
        a * c - b,
        b - a * c * 2.0,
        product + product * a,
        product,
        -(b * b + c * c),
        (a * a + 1.0).sqrt() / (b - 7.0),
        a.sin() * b.cos() - (a * b).sin() + c.sin(),
        a.where_positive(b, c) + c.where_positive(1.0, a * b),
        a + a,
        b,
        -c,
        2.5,
        -3.0,
        0.0,
        -0.0,
    ]


@pytest.mark.parametrize('x', [(0.3, -0.7, 1.9), (-2.0, 5.0, -0.1), (0.0, -0.0, 1e-300)])
def test_every_operation_is_right(always_table, x):
    compiled = kernel(lambda x, y: everything([*x, *y]), [('x', 2), ('y', 1)], (16,))
    a, b, c = x
    expected = [
        a * b + c,
        a * c - b,
        b - a * c * 2.0,
        a * b + a * b * a,
        a * b,
        -(b * b + c * c),
        np.sqrt(a * a + 1.0) / (b - 7.0),
        np.sin(a) * np.cos(b) - np.sin(a * b) + np.sin(c),
        (b if a > 0 else c) + (1.0 if c > 0 else a * b),
        a + a,
        b,
        -c,
        2.5,
        -3.0,
        0.0,
        0.0,
    ]
    one = compiled(np.array(x[:2]), np.array(x[2:]))
    np.testing.assert_allclose(one, expected, rtol=1e-14, atol=1e-15)
    many = compiled(np.tile(x[:2], (19, 1)), np.tile(x[2:], (19, 1)))
    assert (many.view(np.uint64) == one.view(np.uint64)).all()
    assert not np.signbit(one[one == 0.0]).any()


def test_a_bad_input_affects_its_row_and_no_other(always_table):
    compiled = kernel(lambda x: [x[0].sin(), x[1] * 2.0, 4.0], [('x', 3)], (3,))
    for bad in (np.nan, np.inf, -np.inf):
        rows = np.ones((20, 3))
        rows[13, 2] = bad
        result = compiled(rows)
        assert np.isnan(result[13]).all() and np.isnan(compiled(rows[13])).all()
        np.testing.assert_array_equal(np.delete(result, 13, 0), [compiled(rows[0])] * 19)


def test_there_may_be_nothing_to_do(always_table):
    nothing = kernel(lambda x: [], [('x', 0)], (0,))
    assert nothing(np.zeros(0)).shape == (0,) and nothing(np.zeros((12, 0))).shape == (12, 0)
    copy = kernel(lambda x: [x[1], 3.0], [('x', 2)], (2,))
    assert copy(np.array([1.0, 2.0])).tolist() == [2.0, 3.0]


def test_places_beyond_sixteen_bits_are_found(always_table):
    count = 2**16 + 100
    compiled = kernel(lambda x: [x[0] + float(k) for k in range(count)], [('x', 1)], (count,))
    np.testing.assert_array_equal(compiled(np.array([0.5])), np.arange(count) + 0.5)


def program_of(name):
    return definition_of(Robot.from_urdf(TEXT).model, name).program(inner_products=True)


@pytest.mark.parametrize('name', [*NAMES, DERIVATIVES])
def test_no_operation_of_a_run_needs_another_of_it_or_a_later_one(name):
    program = program_of(name)
    constants, runs, size = operation_table.operation_table(program)
    filled = set(range(sum(length for _, length in program.inputs) + len(constants)))
    stored = []
    for run in runs:
        first = 2 if run.kind in (operation_table.PUT, operation_table.PUT_NEGATED) else 1
        read = set(run.rows[:, first:].ravel().tolist())
        written = run.rows[:, 0].tolist()
        assert read <= filled
        if run.kind in (operation_table.PUT, operation_table.PUT_NEGATED):
            stored += zip(run.rows[:, 1].tolist(), written)
        else:
            assert len(set(written)) == len(written) and not read & set(written)
            filled.update(written)
    assert sorted(stored) == program.destinations
    assert max(filled) < size


def test_short_programs_have_no_table(monkeypatch):
    program = program_of('inverse_dynamics')
    assert '_table' not in core_function(program)[0]
    monkeypatch.setattr(straight_line, '_MANY_MORE_NODES', len(program.live) - 1)
    assert '_table' in core_function(program)[0]
    # nor is what is worth its time to compile, up to another limit; it is optimized as well
    monkeypatch.setattr(straight_line, '_HURRIED_NODES', 1)
    patient = replace(program, slow_compile=True)
    text = core_function(patient)[0]
    assert '_table' not in text and 'optnone' not in text
    monkeypatch.setattr(straight_line, '_SLOW_COMPILE_NODES', len(program.live) - 1)
    assert '_table' in core_function(patient)[0]
