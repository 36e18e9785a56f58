# SPDX-License-Identifier: Apache-2.0
"""SIMD groups of operations: which operations, in which order, and the bits."""

import numpy as np
import pytest
from support import example_robots
from support.definitions import definition_of
from support.programs import program as program_of
from support.small_kernels import kernel

from rbd_ros import Robot
from rbd_ros.compiler import Graph
from rbd_ros.compiler.symbol_graph import ADD, CONSTANT, DIV, INPUT, MUL, operands, SQRT, SUB
from rbd_ros.compiler.targets.llvm import simd_groups
from rbd_ros.compiler.targets.llvm.fusion import fused, MUL_ADD, MUL_SUB, SUB_MUL
from rbd_ros.compiler.targets.llvm.simd_group_emission import find_runs, signs_of_lanes
from rbd_ros.compiler.targets.llvm.simd_groups import find_simd_groups
from rbd_ros.compiler.targets.llvm.slp_vectorization import in_order
from rbd_ros.spatial.scalar import simd_hint, sqrt

NAMES = ['inverse_dynamics_derivatives', 'forward_dynamics_derivatives']
SIZE, ROWS = 24, 7


def column(x, k, signs, constants):
    """Return the results of every operation that can be in a group, with a column's own signs."""
    s, c = iter(signs), iter(constants)
    a, b, shared, other = x[2 * k], x[2 * k + 1], x[-1], x[-2]
    d = next(s) * (a * shared) + next(s) * (b * other)
    e = next(s) * d + next(s) * (next(c) * b)
    f = next(s) * (shared * e) - next(s) * (d * a)
    g = sqrt(f * f + 1.5) / (2.0 + e * e)
    h = next(s) * (g * next(c)) + next(s) * (e * shared)
    i = next(s) * h - next(s) * (other * g)
    return [d, -e, f, g, h * next(s), next(s) * i, (h - i) * a]


def stated(count, seed, states=True):
    """Return the function of some columns, and what it states of them."""
    rng = np.random.default_rng(seed)
    signs, constants = rng.choice([-1.0, 1.0], (count, 20)), rng.uniform(0.1, 2.0, (count, 9))

    def evaluate(x):
        found = [column(x, k, signs[k], constants[k]) for k in range(count)]
        if states:
            simd_hint(*found)
        return [value for row in zip(*found) for value in row]

    return evaluate


def groups_of(program, widest=8):
    program = fused(program).program
    return program, find_simd_groups(program, widest, [])


def groups_of_columns(count, seed, widest=8):
    graph = Graph()
    return groups_of(program_of(graph, stated(count, seed)(graph.inputs('x', SIZE))), widest)


def bits(x):
    return np.asarray(x).view(np.uint64)


@pytest.mark.parametrize('seed', range(4))
@pytest.mark.parametrize('count', [2, 3, 4, 7, 8, 9])
def test_each_lane_has_the_bits_of_one_alone(count, seed):
    assert groups_of_columns(count, seed)[1]
    compiled = kernel(stated(count, seed), [('x', SIZE)], (ROWS, count))
    rng = np.random.default_rng(4)
    rows = rng.normal(size=(40, SIZE))
    rows[:10] = rng.choice([0.0, -0.0, 1.0, -1.0], (10, SIZE))
    many = compiled(rows)  # where nothing is grouped
    one = np.array([compiled(row) for row in rows])
    assert np.isfinite(one).all() and not np.signbit(one[one == 0.0]).any()
    np.testing.assert_array_equal(bits(one), bits(many))


def test_products_with_a_constant_addend_are_grouped_with_products():
    def evaluate(x):
        products = [x[k] * x[3] for k in range(3)]
        products[1] = products[1] + 1.5
        last = [product * x[4] for product in products]
        simd_hint(*([each] for each in last))
        return last

    graph = Graph()
    program, groups = groups_of(program_of(graph, evaluate(graph.inputs('x', 5))))
    assert {len(group.nodes) for group in groups.values()} == {3} and len(groups) == 2
    compiled = kernel(evaluate, [('x', 5)], (3,))
    rows = np.random.default_rng(5).normal(size=(20, 5))
    one = np.array([compiled(row) for row in rows])
    np.testing.assert_array_equal(bits(one), bits(compiled(rows)))
    np.testing.assert_allclose(one[:, 1], (rows[:, 1] * rows[:, 3] + 1.5) * rows[:, 4])


def test_every_operation_is_grouped_whatever_the_signs():
    found, negative, kinds = set(), set(), set()
    for seed in range(10):
        program, groups = groups_of_columns(8, seed)
        nodes = program.graph.nodes
        for group in groups.values():
            operations = {nodes[k][0] for k in group.nodes}
            found |= operations
            kinds.add(frozenset(operations))
        for signs in signs_of_lanes(program.graph, groups).values():
            assert not signs[0]
            negative.update(signs)
    assert found >= {ADD, SUB, MUL, DIV, SQRT, MUL_ADD, MUL_SUB, SUB_MUL}
    assert any(len(some) > 1 for some in kinds) and negative == {False, True}


@pytest.mark.parametrize('widest', [2, 4, 8])
def test_a_group_has_as_many_lanes_as_there_are_and_an_operation_for_all(widest):
    program, groups = groups_of_columns(8, 1, widest)
    assert {len(group.nodes) for group in groups.values()} == {widest}
    of_columns = sum(program.graph.nodes[k][0] not in (INPUT, CONSTANT) for k in program.live)
    assert sum(len(group.nodes) for group in groups.values()) > 0.9 * of_columns


def check_order(program, groups, together=()):
    units = [*together, *(group.nodes for group in groups.values())]
    order = in_order(program.graph, program.live, {}, units)
    at = {number: place for place, number in enumerate(order)}
    assert sorted(order) == program.live
    for unit in units:
        assert [at[k] for k in unit] == list(range(at[unit[0]], at[unit[0]] + len(unit)))
        for k in unit:
            assert all(at[m] < at[unit[0]] for m in operands(program.graph.nodes[k]))


@pytest.mark.parametrize('count', [3, 8])
def test_groups_are_together_and_what_they_need_comes_before(count):
    check_order(*groups_of_columns(count, 2))


@pytest.fixture
def every_group_pays(monkeypatch):
    """Make groups whatever they cost."""
    monkeypatch.setattr(simd_groups, '_MOVE', 0.0)


def test_operations_that_wait_for_each_other_are_no_group(every_group_pays):
    graph = Graph()
    x, y, z = graph.inputs('x', 3)
    early, late = x * x, z * y
    after_early, after_late = early * y, late * x
    simd_hint([early], [after_early])  # one needs the other
    program = program_of(graph, [early, after_early])
    assert not find_simd_groups(program, 8, [])
    graph.simd_hints.clear()
    simd_hint([early, after_early], [after_late, late])  # two groups need each other
    program = program_of(graph, [after_early + z, after_late + y])
    groups = find_simd_groups(program, 8, [])
    assert len(groups) == 1
    check_order(program, groups)


def test_groups_do_not_wait_for_angles_that_wait_for_them(every_group_pays):
    graph = Graph()
    x, y = graph.inputs('x', 2)
    early = x * 2.0
    sines = [early.sin(), (x + y).sin()]
    late = sines[1] * 3.0
    simd_hint([early], [late])
    program = program_of(graph, [early * late, sines[0] + late])
    together = [[sine.number for sine in sines]]
    groups = find_simd_groups(program, 8, together)
    assert not groups
    check_order(program, groups, together)


def test_inputs_and_repeated_operations_form_no_group(every_group_pays):
    graph = Graph()
    x, y, z = graph.inputs('x', 3)
    product = x * y
    simd_hint([x, product, product, 2.0, product], [y, product, x.sin(), product, 1.0])
    assert graph.simd_hints == [(x.number, y.number), (product.number, x.sin().number)]
    program = program_of(graph, [product, x.sin(), x + 0.0, y + 0.0])
    assert not find_simd_groups(program, 8, [])


def test_a_statement_changes_no_number():
    simd_hint([1.0, 2.0], [3.0, 4.0], [5.0])
    rows = np.random.default_rng(3).normal(size=(20, SIZE))
    with_it = kernel(stated(5, 0), [('x', SIZE)], (ROWS, 5))
    without = kernel(stated(5, 0, states=False), [('x', SIZE)], (ROWS, 5))
    np.testing.assert_allclose(with_it(rows), without(rows), rtol=1e-13, atol=1e-13)


def test_groups_that_bring_more_together_than_they_save_are_none():
    graph = Graph()
    x = graph.inputs('x', 16)
    sums = [x[2 * k] + x[2 * k + 1] for k in range(8)]
    simd_hint(*([each] for each in sums))
    assert not find_simd_groups(program_of(graph, sums), 8, [])
    shared = [(x[k] * x[-1] + 1.5) * x[-2] for k in range(8)]
    simd_hint(*([each] for each in shared))
    assert len(find_simd_groups(program_of(graph, shared), 8, [])) == 3


def test_neighbors_are_stored_by_one_instruction():
    graph = Graph()
    x = graph.inputs('x', 9)
    a = [(x[k] * x[8] + 1.5) * x[8] for k in range(7)]
    simd_hint(*([each] for each in a))
    program = program_of(graph, [*a, 1.0, a[3], a[2], a[1], -a[4], -a[5]])
    groups = find_simd_groups(program, 8, [])
    places = {}
    for place, value in enumerate(program.flat):
        if not isinstance(value, float):
            places.setdefault(value.number, []).append(place)
    group = groups[a[0].number]
    runs = {
        (run.lane, run.lanes, run.index, run.negative) for run in find_runs(program, group, places)
    }
    assert runs == {(0, 4, 0, False), (4, 2, 4, False), (4, 2, 11, True)}


@pytest.mark.parametrize('robot', ['ur5_robot', 'panda'])
@pytest.mark.parametrize('name', NAMES)
def test_one_state_and_many_have_the_same_bits_for_arms(name, robot, rng):
    robot = Robot.from_urdf(example_robots.path(robot))
    compiled = robot.kernel(name).function
    q = np.array([robot.random_configuration(rng) for _ in range(30)])
    v, u = rng.normal(size=(2, 30, robot.nv))
    many = compiled(q, v, u)
    one = [compiled(*row) for row in zip(q, v, u)]
    for k, array in enumerate(many):
        np.testing.assert_array_equal(bits(np.array([each[k] for each in one])), bits(array))


def test_a_sixth_of_the_derivatives_of_forward_dynamics_of_an_arm_is_saved():
    program = definition_of(
        Robot.from_urdf(example_robots.path('panda')).model, NAMES[1]
    ).program()
    program, groups = groups_of(program)
    operations = sum(program.graph.nodes[k][0] not in (INPUT, CONSTANT) for k in program.live)
    saved = sum(len(group.nodes) - 1 for group in groups.values())
    assert saved > 0.16 * operations
