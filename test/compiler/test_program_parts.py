# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Long graphs are divided into several functions, with equal results up to rounding."""

import re

import numpy as np
import pytest
from support import random_trees
from support.definitions import definition_of
from support.errors import relative_error
from support.programs import program
from support.small_kernels import kernel

from rbd_ros import Robot
from rbd_ros.compiler import Graph
from rbd_ros.compiler.program_parts import cut, keep
from rbd_ros.compiler.runtime import native
from rbd_ros.compiler.symbol_graph import operands
from rbd_ros.compiler.targets.llvm import straight_line

NAMES = ['inverse_dynamics', 'forward_dynamics', 'mass_matrix', 'forward_kinematics', 'integrate']


@pytest.fixture(params=[1, 2, 7, 100, 'not optimized'])
def tiny_parts(request, monkeypatch):
    """Return the parts of so many nodes for every function."""
    size = request.param
    if size == 'not optimized':
        size = 30
        monkeypatch.setattr(straight_line, '_HURRIED_NODES', 0)
    monkeypatch.setattr(straight_line, '_MANY_NODES', 0)
    monkeypatch.setattr(straight_line, '_NODES_PER_PART', size)
    versions = {**native.versions(), 'parts': request.param}
    monkeypatch.setattr(native, 'versions', lambda: versions)
    return size


@pytest.fixture(scope='module')
def whole():
    """Return the robot, state, and the results of its functions as they usually are compiled."""
    robot, rng = Robot.from_urdf(TEXT), np.random.default_rng(1)
    state = {'q': robot.random_configuration(rng), 'v': rng.normal(size=robot.nv)}
    return state, {name: evaluate(robot, name, state)[0] for name in NAMES}


TEXT = random_trees.tree(8, bodies=3, types=('revolute', 'prismatic', 'floating'))


def evaluate(robot, name, state):
    """Return the results for one state and for eleven, by the kernel itself."""
    call = robot.kernel(name, dt=(1.0,) if name == 'integrate' else None)
    one = [state['q' if key == 'q' else 'v'] for key, _ in call.definition.inputs]
    return call(*one), call(*(np.tile(x, (11, 1)) for x in one))


@pytest.mark.parametrize('name', NAMES)
def test_parts_give_the_results_of_the_whole(tiny_parts, whole, name):
    if tiny_parts == 1 and name == 'forward_dynamics':
        pytest.skip('thousands of functions')
    state, expected = whole
    one, many = evaluate(Robot.from_urdf(TEXT), name, state)
    assert relative_error(one, expected[name]) < 1e-12
    assert (many == one).all()


def test_parts_affect_results_like_the_whole(tiny_parts):
    compiled = kernel(
        lambda x: [x[0].sin() * x[1] + x[2] / (x[0] + k) for k in range(20)] + [0.0, 2.0, x[1]],
        [('x', 4)],
        (23,),
    )
    for place in range(4):
        x = np.ones(4)
        x[place] = np.nan
        assert np.isnan(compiled(x)).all()
        rows = np.ones((20, 4))
        rows[13] = x
        results = compiled(rows)
        assert np.isnan(results[13]).all() and np.isfinite(np.delete(results, 13, 0)).all()


def parts_of(name, size):
    program = definition_of(Robot.from_urdf(TEXT).model, name).program()
    return program, cut(program, program.live, size)


@pytest.mark.parametrize('size', [1, 7, 100])
@pytest.mark.parametrize('name', NAMES)
def test_every_node_and_every_output_is_in_exactly_one_part(size, name):
    program, parts = parts_of(name, size)
    nodes = [number for part in parts for number in part.nodes]
    assert nodes == [number for number in program.live if program.graph.nodes[number][0] > 1]
    places = [place for part in parts for at in part.places.values() for place in at]
    assert sorted(places) == list(range(len(program.flat)))
    assert all(len(part.nodes) <= size for part in parts)


@pytest.mark.parametrize('size', [1, 7, 100])
@pytest.mark.parametrize('name', NAMES)
def test_a_kept_value_is_not_overwritten_while_it_is_needed(size, name):
    program, parts = parts_of(name, size)
    slots, length = keep(program.graph, parts, {})
    held = {}
    for part in parts:
        here = set(part.nodes)
        for number in part.nodes:
            for operand in operands(program.graph.nodes[number]):
                if operand not in here and program.graph.nodes[operand][0] > 1:
                    assert held[slots[operand]] == operand
        held.update({slots[number]: number for number in part.nodes if number in slots})
    assert held and all(slot < length for slot in slots.values())


def test_places_that_are_taken_stay_so():
    program, parts = parts_of('mass_matrix', 7)
    first = next(number for part in parts for number in part.nodes)
    slots, length = keep(program.graph, parts, {first: 2}, 5)
    assert slots.pop(first) == 2 and length > 5
    assert min(slots.values()) == 5


def test_loads_declared_invariant_are_never_stored_to(monkeypatch):
    """A load that no store of its function may concern is one of what no store writes."""
    monkeypatch.setattr(straight_line, '_MANY_NODES', 0)
    monkeypatch.setattr(straight_line, '_NODES_PER_PART', 20)
    text, _ = straight_line.straight_line('f', 1, '', parts_of('forward_dynamics', 1)[0])
    lasting = 0
    for function in re.findall(r'^define void @f_\d.*?^}', text, re.DOTALL | re.MULTILINE):
        pointers = re.findall(r'(%\w+) = getelementptr double, ptr (%\w+), i64 (\d+)', function)
        places = {name: (array, int(index)) for name, array, index in pointers}
        written = {places[p] for p in re.findall(r'store double \S+, ptr (%v\d+)', function)}
        vectors = re.findall(r'store <(\d+) x double> \S+, ptr (%v\d+)', function)
        for lanes, pointer in vectors:
            array, first = places[pointer]
            written |= {(array, first + lane) for lane in range(int(lanes))}
        loads = re.findall(r'load double, ptr (%\w+), .*invariant', function)
        assert not written & {places[p] for p in loads}
        lasting += len(loads)
    assert lasting > 100


def functions_of(program):
    text, _ = straight_line.straight_line('f', 1, '', program)
    return len(re.findall(r'^define void @f(?:_\d+)?\(', text, re.MULTILINE))


def test_a_short_function_is_one_part():
    assert (
        functions_of(definition_of(Robot.from_urdf(TEXT).model, 'integrate', dt=(1.0,)).program())
        == 1
    )


def test_a_function_with_many_outputs_is_cut():
    graph = Graph()
    x = graph.inputs('x', 3)
    assert functions_of(program(graph, [x[0] * float(k) + x[1] for k in range(2, 4000)])) > 2
