"""Long graphs are cut into several functions, which changes nothing but rounding."""

import numpy as np
import pytest
from support import random_trees
from support.definitions import definition_of
from support.errors import relative_error
from support.small_kernels import kernel

from rbd_ros import Robot
from rbd_ros.compiler import Graph
from rbd_ros.compiler.targets.llvm import native, straight_line

NAMES = ['inverse_dynamics', 'forward_dynamics', 'mass_matrix', 'forward_kinematics', 'integrate']


@pytest.fixture(params=[1, 2, 7, 100])
def tiny_parts(request, monkeypatch):
    """Parts of so many nodes for every function."""
    monkeypatch.setattr(straight_line, '_MANY_NODES', 0)
    monkeypatch.setattr(straight_line, '_NODES_PER_PART', request.param)
    versions = {**native.versions(), 'parts': request.param}
    monkeypatch.setattr(native, 'versions', lambda: versions)
    return request.param


@pytest.fixture(scope='module')
def whole():
    """Robot, state, and the results of its functions as they usually are compiled."""
    robot, rng = Robot.from_urdf(TEXT), np.random.default_rng(1)
    state = {'q': robot.random_configuration(rng), 'v': rng.normal(size=robot.nv)}
    return state, {name: evaluate(robot, name, state)[0] for name in NAMES}


TEXT = random_trees.tree(8, bodies=3, types=('revolute', 'prismatic', 'floating'))


def evaluate(robot, name, state):
    """Results for one state and for eleven, by the kernel itself."""
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


def test_parts_poison_like_the_whole(tiny_parts):
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


def parts_of(name):
    what = definition_of(Robot.from_urdf(TEXT).model, name)
    graph, (outputs,) = what.trace()
    return graph, outputs, straight_line._parts(graph, outputs, graph.live(outputs))


@pytest.mark.parametrize('name', NAMES)
def test_every_node_and_every_output_is_in_exactly_one_part(tiny_parts, name):
    graph, outputs, parts = parts_of(name)
    nodes = [number for part in parts for number in part.nodes]
    live = [number for number in graph.live(outputs) if graph.nodes[number][0] > 1]
    assert nodes == live
    places = [place for part in parts for at in part.places.values() for place in at]
    assert sorted(places) == list(range(len(outputs)))
    assert all(len(part.nodes) <= tiny_parts for part in parts)


@pytest.mark.parametrize('name', NAMES)
def test_what_is_kept_is_not_overwritten_while_it_is_needed(tiny_parts, name):
    graph, _, parts = parts_of(name)
    slots, length = straight_line._slots(graph, parts, ())
    held = {}
    for part in parts:
        here = set(part.nodes)
        for number in part.nodes:
            operands = graph.nodes[number][1:] if graph.nodes[number][0] > 1 else ()
            for operand in operands:
                if operand not in here and graph.nodes[operand][0] > 1:
                    assert held[slots[operand]] == operand
        held.update({slots[number]: number for number in part.nodes if number in slots})
    assert held and all(slot < length for slot in slots.values())


def test_a_short_function_is_one_part():
    _, _, parts = parts_of('inverse_dynamics')
    assert len(parts) == 1


def test_a_function_with_many_outputs_is_cut():
    graph = Graph()
    x = graph.inputs('x', 3)
    outputs = [x[0] * float(k) + x[1] for k in range(2, 4000)]
    assert len(straight_line._parts(graph, outputs, graph.live(outputs))) > 2
