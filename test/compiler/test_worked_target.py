# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The target shown in CONTRIBUTING.md works, as a file among the targets."""

import numpy as np
import pytest
from support import random_trees
from support.contributing import as_a_file
from support.errors import relative_error
from support.programs import program

from rbd_ros import Robot
from rbd_ros.compiler import Graph, targets


@pytest.fixture
def target(tmp_path, monkeypatch):
    """Yield the example, imported from the folder of targets."""
    with as_a_file('A new target', targets, 'numpy_text', tmp_path, monkeypatch) as module:
        yield module


def run(target, what, *arrays):
    """Return output arrays of a program as the target writes it, states along the last axis."""
    names = {'np': np}
    with np.errstate(all='ignore'):
        exec(target.source(what), names)
        return [np.array(values) for values in names[what.name](*arrays)]


@pytest.mark.parametrize('name', ['inverse_dynamics', 'equations_of_motion'])
def test_the_example_agrees_with_kernels(target, name):
    robot, rng = Robot.from_urdf(random_trees.mixed_tree(4)), np.random.default_rng(3)
    kernel = robot.kernel(name)
    q = np.array([robot.random_configuration(rng) for _ in range(5)])
    rates = [rng.normal(size=(5, size)) for _, size in kernel.definition.inputs[1:]]
    found = run(target, kernel.definition.program(), q.T, *(x.T for x in rates))
    expected = kernel(q, *rates)
    expected = expected if isinstance(expected, tuple) else (expected,)
    for ours, theirs in zip(found, expected):
        assert relative_error(ours.T.reshape(theirs.shape), theirs) < 1e-12


def test_inputs_that_no_name_can_be_have_one(target):
    robot = Robot.from_urdf(random_trees.mixed_tree(4))
    kernel = robot.kernel('inverse_dynamics', forces=(robot.link_names[-1],))
    arrays = [np.full(size, 0.5) for _, size in kernel.definition.inputs]
    (found,) = run(target, kernel.definition.program(), *arrays)
    assert relative_error(found, kernel(*arrays)) < 1e-12


def test_the_example_writes_every_operation(target):
    graph = Graph()
    a, b = graph.inputs('x', 2)
    values = [a + b, a - b, -(a * b), a / b, a.sqrt(), a.sin(), b.cos(), -2.5]
    values += [b.where_positive(a / b, 7.0), a.where_positive(b, a)]
    (found,) = run(target, program(graph, values), np.array([2.0, 0.0]))
    expected = [2.0, 2.0, 0.0, np.inf, 2**0.5, np.sin(2.0), 1.0, -2.5, 7.0, 0.0]
    np.testing.assert_allclose(found, expected, rtol=1e-15)


@pytest.mark.parametrize('bad', [np.nan, np.inf])
def test_a_nan_input_affects_every_output(target, bad):
    graph = Graph()
    x, _ = graph.inputs('x', 2)
    (found,) = run(target, program(graph, [x, 2.0]), np.array([1.0, bad]))
    assert np.isnan(found).all()
