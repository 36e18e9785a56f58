# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Derivatives of whole algorithms on real robots: complex steps, Pinocchio, operations."""

from functools import lru_cache

import numpy as np
import pytest
from support import derivatives, example_robots, lanes
from support.definitions import definition_of
from support.derivatives import at

from rbd_ros import Robot
from rbd_ros.compiler import Graph
from rbd_ros.compiler.passes import (
    along,
    directional_derivatives,
    forward_mode,
    jacobian,
    reverse_mode,
    vertex_elimination,
)

ARMS = ('ur5_robot', 'panda')
ROBOTS = [*((name, False) for name in ARMS), ('talos_reduced', False), ('solo12', True)]
FUNCTIONS = ('inverse_dynamics', 'forward_dynamics', 'mass_matrix', 'energy')

every_robot = pytest.mark.parametrize('name, floating', ROBOTS)


@lru_cache(maxsize=None)
def load(name, floating=False):
    return Robot.from_urdf(example_robots.path(name), floating_base=floating)


class Traced:
    """A function of a robot as a graph, and the directions that its inputs can move in."""

    def __init__(self, robot, name):
        self.robot, self.definition = robot, definition_of(robot.model, name)
        self.graph = Graph()
        self.inputs = {x: self.graph.inputs(x, n) for x, n in self.definition.inputs}
        arrays = self.definition.evaluate(*self.inputs.values())
        self.outputs = [value for values in arrays for value in values]
        self.directions = []
        for x, symbols in self.inputs.items():
            size = robot.nv if x == 'q' else len(symbols)
            for unit in np.eye(size).tolist():
                rates = position_rate(robot, symbols, unit) if x == 'q' else unit
                self.directions.append(along(symbols, rates))

    def state(self, seed):
        """Return random values of the inputs by name."""
        rng = np.random.default_rng(seed)
        values = {x: rng.uniform(-2.0, 2.0, len(s)) for x, s in self.inputs.items()}
        return {**values, 'q': self.robot.random_configuration(rng)}

    def complex_steps(self, state):
        """Return the derivatives of the outputs along all directions.

        By the text on complex numbers.
        """
        columns = []
        for x in self.inputs:
            size = self.robot.nv if x == 'q' else len(state[x])
            rates = np.eye(size)
            if x == 'q':
                rates = np.array([position_rate(self.robot, state[x], unit) for unit in rates])
            arrays = [
                state[y] + (1j * derivatives.H * rates if x == y else np.zeros((size, 1)))
                for y in self.inputs
            ]
            result = lanes.evaluate(self.definition, *arrays).reshape(size, -1)
            columns.append(result.imag.T / derivatives.H)
        return np.hstack(columns)

    def operations(self, rows=()):
        """Return the operations of the outputs together with derivatives of them."""
        count = self.graph.count([*self.outputs, *(value for row in rows for value in row)])
        return count.multiplications + count.additions + count.divisions


def position_rate(robot, q, v):
    """Return the rates of all positions at a velocity."""
    rates = []
    for i, (at_q, at_v) in robot.model.independent_slices.items():
        rates += robot.model.body(i).joint.position_rate(q[at_q], v[at_v])
    return rates


def assert_close(found, expected, tolerance):
    assert np.abs(found - expected).max() <= tolerance * np.abs(expected).max()


@every_robot
@pytest.mark.parametrize('function', FUNCTIONS)
def test_derivatives_of_an_algorithm_are_those_of_complex_steps(name, floating, function):
    traced = Traced(load(name, floating), function)
    rows = directional_derivatives(traced.graph, traced.outputs, traced.directions)
    for seed in range(3):
        state = traced.state(seed)
        expected = traced.complex_steps(state)
        assert_close(at(traced.graph, rows, **state), expected, 1e-11)


@pytest.mark.parametrize('name, floating', [('ur5_robot', False), ('solo12', True)])
@pytest.mark.parametrize('function', FUNCTIONS)
def test_every_way_agrees(name, floating, function):
    traced = Traced(load(name, floating), function)
    state = traced.state(5)
    expected = traced.complex_steps(state)
    for way in (forward_mode, vertex_elimination):
        rows = way(traced.graph, traced.outputs, traced.directions)
        assert_close(at(traced.graph, rows, **state), expected, 1e-11)
    symbols = [x for array in traced.inputs.values() for x in array]
    by_input = at(traced.graph, reverse_mode(traced.graph, traced.outputs, symbols), **state)
    moving = [[d.get(x.number, 0.0) for d in traced.directions] for x in symbols]
    rates = at(traced.graph, moving, **state)
    assert_close(by_input @ rates, expected, 1e-11)


@pytest.mark.parametrize('name', ARMS)
def test_derivatives_of_inverse_dynamics_are_pinocchios(name):
    from support.pinocchio_bridge import Bridge, pin

    robot = load(name)
    bridge = Bridge(example_robots.dynamics_xml(example_robots.path(name).read_text()))
    traced = Traced(robot, 'inverse_dynamics')
    symbols = [x for array in traced.inputs.values() for x in array]
    rows = jacobian(traced.graph, traced.outputs, symbols)
    for seed in range(5):
        state = traced.state(seed)
        q, v, a = (state[x] for x in 'qva')
        theirs = pin.computeRNEADerivatives(
            bridge.model, bridge.data, bridge.q(q), bridge.v(v), bridge.v(a)
        )
        by_a = np.triu(theirs[2]) + np.triu(theirs[2], 1).T
        expected = [bridge.P.T @ block @ bridge.P for block in (*theirs[:2], by_a)]
        assert_close(at(traced.graph, rows, **state), np.hstack(expected), 1e-11)


@every_robot
def test_inverse_dynamics_by_acceleration_is_the_mass_matrix(name, floating):
    robot = load(name, floating)
    traced = Traced(robot, 'inverse_dynamics')
    rows = jacobian(traced.graph, traced.outputs, traced.inputs['a'])
    state = traced.state(8)
    assert_close(at(traced.graph, rows, **state), robot.mass_matrix(state['q']), 1e-12)


@every_robot
def test_the_hessian_of_kinetic_energy_is_the_mass_matrix(name, floating):
    """Second derivatives by differentiating twice."""
    robot = load(name, floating)
    traced = Traced(robot, 'energy')
    v = traced.inputs['v']
    momentum = reverse_mode(traced.graph, traced.outputs[:1], v)[0]
    for way in (jacobian, reverse_mode):
        hessian = way(traced.graph, momentum, v)
        state = traced.state(9)
        assert_close(at(traced.graph, hessian, **state), robot.mass_matrix(state['q']), 1e-12)


def test_second_derivatives_of_inverse_dynamics_by_forward_mode_twice():
    """By every position, then along one direction."""
    traced = Traced(load('ur5_robot'), 'inverse_dynamics')
    graph, q = traced.graph, traced.inputs['q']
    direction = [0.3, -1.0, 0.7, 0.2, -0.5, 0.9]
    first = forward_mode(graph, traced.outputs, traced.directions[:6])
    flat = [value for row in first for value in row]
    second = forward_mode(graph, flat, [along(q, direction)])
    state = traced.state(11)
    step = np.array(direction)
    ahead = at(graph, first, **{**state, 'q': state['q'] + 1j * derivatives.H * step})
    expected = ahead.imag / derivatives.H
    assert_close(at(graph, second, **state).reshape(6, 6), expected, 1e-12)
    # the interpreter on complex numbers took no part in this one
    finite = at(graph, first, **{**state, 'q': state['q'] + 1e-5 * step})
    finite = (finite - at(graph, first, **{**state, 'q': state['q'] - 1e-5 * step})) / 2e-5
    assert_close(expected, finite, 1e-7)


@pytest.mark.parametrize(
    'name, function, bound',
    [
        ('ur5_robot', 'inverse_dynamics', 3.8),
        ('ur5_robot', 'forward_dynamics', 5.2),
        ('panda', 'inverse_dynamics', 7.7),
        ('talos_reduced', 'inverse_dynamics', 7.6),
        ('talos_reduced', 'forward_dynamics', 7.1),
    ],
)
def test_derivatives_by_position_and_velocity_cost_a_small_multiple(name, function, bound):
    """All columns by q and v, together with the function, over the function alone."""
    traced = Traced(load(name), function)
    alone = traced.operations()
    directions = traced.directions[: 2 * load(name).nv]
    rows = directional_derivatives(traced.graph, traced.outputs, directions)
    assert traced.operations(rows) <= bound * alone


def test_a_gradient_of_the_energy_costs_a_small_multiple():
    """Of 64 inputs each: reverse mode does not mind."""
    traced = Traced(load('talos_reduced'), 'energy')
    symbols = [x for array in traced.inputs.values() for x in array]
    rows = reverse_mode(traced.graph, traced.outputs[:1], symbols)
    assert len(symbols) == 64
    assert traced.operations(rows) <= 3.0 * traced.operations()
