# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Packs of operations of isomorphic branches: selection, order, identical bits."""

import numpy as np
import pytest
from support import example_robots
from support.definitions import definition_of
from support.programs import program as program_of
from support.small_kernels import kernel

from rbd_ros import Robot
from rbd_ros.compiler import Graph
from rbd_ros.compiler.symbol_graph import (
    ADD,
    CONSTANT,
    DIV,
    INPUT,
    MUL,
    operands,
    SQRT,
    SUB,
    WHERE,
)
from rbd_ros.compiler.targets.llvm import slp_vectorization, straight_line
from rbd_ros.compiler.targets.llvm.fusion import fused, MUL_ADD, MUL_SUB, SUB_MUL
from rbd_ros.compiler.targets.llvm.isomorphic_subgraphs import counterparts, isomorphic_inputs
from rbd_ros.compiler.targets.llvm.lane_signs import negative_lanes
from rbd_ros.compiler.targets.llvm.slp_vectorization import find_packs, in_order
from rbd_ros.spatial.scalar import cos, sin, sqrt, where_positive

NAMES = ['inverse_dynamics', 'mass_matrix', 'forward_dynamics']
JOINTS = 4  # of a leg


def leg(name, x, y, twist):
    """Return the links and joints of a leg at a corner of the base.

    The other side is a mirror image.
    """
    text, parent = '', 'base'
    for k, axis in enumerate(('0 0 1', '1 0 0', '0 1 0', '0 1 0')):
        place = f'{x} {y} 0.1' if k == 0 else f'{0.02 * k} {twist * 0.03} {-0.2}'
        text += (
            f'<link name="{name}{k}"><inertial><origin xyz="0.01 {twist * 0.02} -0.1"/>'
            f'<mass value="{2.0 + 0.1 * k}"/><inertia ixx="0.03" iyy="0.04" izz="0.02" '
            f'ixy="{twist * 0.001}" ixz="0.002" iyz="{twist * 0.003}"/></inertial></link>'
            f'<joint name="j{name}{k}" type="revolute"><parent link="{parent}"/>'
            f'<child link="{name}{k}"/><origin xyz="{place}"/><axis xyz="{axis}"/>'
            f'<limit lower="-3" upper="3" effort="10" velocity="10"/></joint>'
        )
        parent = f'{name}{k}'
    return text


def walker(legs):
    """Return the robot with a floating base and two or four legs."""
    corners = [(0.3, 0.1, 1), (0.3, -0.1, -1), (-0.3, 0.1, 1), (-0.3, -0.1, -1)][:legs]
    base = (
        '<link name="base"><inertial><mass value="9"/><inertia ixx="0.4" iyy="0.5" izz="0.6" '
        'ixy="0.01" ixz="0.02" iyz="0.03"/></inertial></link>'
    )
    text = ''.join(leg(f'leg{k}_', *corner) for k, corner in enumerate(corners))
    return Robot.from_urdf(f'<robot name="walker">{base}{text}</robot>', floating_base=True)


def branch(x, signs, constants):
    """Return the results of a chain of every operation, with its own signs and constants."""
    c, s = iter(constants), iter(signs)
    a = cos(x[0]) * next(c) + next(s) * x[1]
    b = sin(x[0]) * x[2] + next(s) * next(c)
    d = a * b + next(s) * (x[1] * x[2])
    e = next(s) * (a - next(s) * b) * next(c) + next(s) * d
    f = sqrt(e * e + 1.5) / (2.0 + d * d)
    g = where_positive(d - next(s) * e, f + a, next(s) * f * next(c))
    h = next(s) * (g * d - next(s) * f * e) + next(s) * a * next(c)
    return [a, -b, d, e, f * a, g, h, -(h * next(c)), next(s) * h + next(s) * g]


def isomorphic_branches(seed):
    """Return function of three angles, speeds and so on for each of two branches and a trunk."""
    rng = np.random.default_rng(seed)
    signs = rng.choice([-1.0, 1.0], (2, 40))
    constants = rng.uniform(0.1, 2.0, (2, 40))

    def evaluate(x):
        trunk, results = x[0] * x[1], []
        for k in range(2):
            own = x[2 + 9 * k : 11 + 9 * k]
            first = branch(own[0:3], signs[k], constants[k])
            second = branch([own[3], first[2] + trunk, own[4]], signs[k, 3:], constants[k, 3:])
            results += first + second + branch([own[5], *second[5:7]], signs[k], constants[k])
        return [*results, sum(results, trunk) * x[2], results[5] * results[32]]

    return evaluate


SIZE, RESULTS = 20, 56


def packs_of(program):
    """Return the packs of a program, and the other arguments of its emission.

    Program, packs, negative lanes.
    """
    program = fused(program).program
    packs = find_packs(program, counterparts(program), [])
    return program, packs, negative_lanes(program.graph, packs)


def packs_of_isomorphic_branches(seed):
    graph = Graph()
    return packs_of(program_of(graph, isomorphic_branches(seed)(graph.inputs('x', SIZE))))


def states(rows):
    rng = np.random.default_rng(4)
    x = rng.normal(size=(rows, SIZE))
    x[: rows // 4] = rng.choice([0.0, -0.0, 1.0, -1.0], (rows // 4, SIZE))
    return x


@pytest.mark.parametrize('nodes_per_part', [3, 20, 10_000])
@pytest.mark.parametrize('seed', range(3))
def test_both_lanes_have_the_bits_of_one_alone(seed, nodes_per_part, monkeypatch):
    monkeypatch.setattr(straight_line, '_MANY_NODES', 0)
    monkeypatch.setattr(straight_line, '_NODES_PER_PART', nodes_per_part)
    assert packs_of_isomorphic_branches(seed)[1]
    compiled = kernel(isomorphic_branches(seed), [('x', SIZE)], (RESULTS,))
    rows = states(40)
    many = compiled(rows)  # where nothing is paired
    one = np.array([compiled(row) for row in rows])
    assert np.isfinite(one).all() and not np.signbit(one[one == 0.0]).any()
    np.testing.assert_array_equal(one.view(np.uint64), many.view(np.uint64))


def test_every_operation_is_paired_for_any_signs():
    found, negative = set(), set()
    for seed in range(10):
        program, packs, turned = packs_of_isomorphic_branches(seed)
        nodes = program.graph.nodes
        found |= {(nodes[p.first][0], nodes[p.second][0]) for p in packs.values()}
        negative |= set(turned.values())
    alike = {(kind, kind) for kind in (ADD, SUB, MUL, DIV, SQRT, WHERE, MUL_ADD, MUL_SUB, SUB_MUL)}
    assert found >= alike | {(ADD, SUB), (SUB, ADD), (MUL_ADD, SUB_MUL), (MUL_SUB, MUL_ADD)}
    assert negative == {False, True}


@pytest.mark.parametrize('legs', [2, 4])
@pytest.mark.parametrize('name', NAMES)
def test_one_state_and_many_have_the_same_bits_for_robots_with_legs(name, legs):
    robot, rng = walker(legs), np.random.default_rng(2)
    compiled = robot.kernel(name)
    assert len(packs_of(compiled.definition.program())[1]) > 50
    rows = [
        np.array([robot.random_configuration(rng) for _ in range(30)])
        if size == robot.nq
        else rng.normal(size=(30, size))
        for _, size in compiled.definition.inputs
    ]
    many = compiled(*rows)
    one = np.array([compiled(*row) for row in zip(*rows)])
    np.testing.assert_array_equal(one.view(np.uint64), many.view(np.uint64))


@pytest.mark.parametrize('legs', [2, 4])
@pytest.mark.parametrize('name', NAMES)
def test_joints_of_one_leg_correspond_to_those_of_the_next(name, legs):
    program = fused(definition_of(walker(legs).model, name).program()).program
    found = {}
    for second, first in isomorphic_inputs(program).items():
        (_, array, i), (_, same, j) = (program.graph.nodes[k] for k in (first, second))
        assert array == same
        found.setdefault(array, {})[i] = j
    for array, size in program.inputs:
        begin = size - legs * JOINTS
        pairs = {i: i + JOINTS for i in range(begin, size) if (i - begin) // JOINTS % 2 == 0}
        assert found[array].items() <= pairs.items()
        assert len(found[array]) >= len(pairs) - legs // 2  # a first joint may matter to nothing


def test_a_robot_without_isomorphic_branches_has_no_packs():
    program = definition_of(Robot.from_urdf(example_robots.path('ur5_robot')).model, NAMES[0])
    assert not packs_of(program.program())[1]


@pytest.mark.parametrize(
    ('robot', 'shares'),
    [
        ('go1', (0.38, 0.35, 0.38)),
        ('talos_reduced', (0.35, 0.36, 0.36)),
        ('talos_full_v2', (0.33, 0.34, 0.31)),
    ],
)
def test_most_operations_of_real_robots_are_paired(robot, shares):
    model = Robot.from_urdf(example_robots.path(robot), floating_base=True).model
    for name, share in zip(NAMES, shares):
        program, packs, _ = packs_of(definition_of(model, name).program())
        graph = program.graph
        operations = sum(graph.nodes[k][0] not in (INPUT, CONSTANT) for k in program.live)
        assert len(packs) > share * operations, (name, len(packs) / operations)


@pytest.fixture
def every_pack_pays(monkeypatch):
    """Make all packs, regardless of their cost."""
    monkeypatch.setattr(slp_vectorization, '_MOVE', 0.0)
    monkeypatch.setattr(slp_vectorization, '_WORTHWHILE', 0.0)


def check_order(program, packs, together=()):
    order = in_order(program.graph, program.live, packs, together)
    at = {number: place for place, number in enumerate(order)}
    assert sorted(order) == program.live
    for number in order:
        start = min(at[k] for k in next((u for u in together if number in u), (number,)))
        for k in operands(program.graph.nodes[number]):
            assert at[k] < start
    for pack in packs.values():
        assert at[pack.second] == at[pack.first] + 1
        for k in operands(program.graph.nodes[pack.second]):
            assert at[k] < at[pack.first]
    return order


@pytest.mark.parametrize('seed', range(5))
def test_packs_are_contiguous_and_follow_their_operands(seed):
    program, packs, _ = packs_of_isomorphic_branches(seed)
    check_order(program, packs)


def test_operations_that_wait_for_each_other_are_no_pack(every_pack_pays):
    graph = Graph()
    x, y, z = graph.inputs('x', 3)
    early, late = x * x, z * y
    after_early, after_late = early * y, late * x
    last = (after_early + z) * (after_late + y)
    program = program_of(graph, [last * early, last * late])
    # one lane needs the other; two packs need a lane of each other
    for partners in (
        {after_early.number: early.number},
        {after_early.number: late.number, after_late.number: early.number},
    ):
        packs = find_packs(program, partners, [])
        assert len(packs) < len(partners)
        check_order(program, packs)


def test_packs_do_not_wait_for_angles_that_wait_for_them(every_pack_pays):
    graph = Graph()
    x, y = graph.inputs('x', 2)
    early = x * 2.0
    sines = [early.sin(), (x + y).sin()]
    late = sines[1] * 3.0
    program = program_of(graph, [early * late, sines[0] + late])
    together = [[sine.number for sine in sines]]
    packs = find_packs(program, {late.number: early.number}, together)
    assert not packs
    check_order(program, packs, together)
