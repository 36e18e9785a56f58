# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Loop-closure functions: the book's triangle, gears, and multipliers on the same loops."""

from dataclasses import replace
import math

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import linkages
from support.counting import count, Counting
from support.linkages import triangle, triangle_derivatives
from support.programs import values_of
from support.textbook_trees import every_chain, named_tree

from rbd_ros import ModelError
from rbd_ros.algorithms.closed_loops.elimination import eliminate
from rbd_ros.algorithms.inertia_matrix.crba import crba
from rbd_ros.algorithms.inertia_matrix.forward_dynamics import forward_dynamics
from rbd_ros.compiler.symbol_graph import Graph
from rbd_ros.model import Coupling
from rbd_ros.model.joints import Spherical
from rbd_ros.spatial.scalar import sin
from rbd_ros.textbook.closed_loops.explicit_loops import (
    explicit_forward_dynamics,
    explicit_inverse_dynamics,
    explicit_motion,
    four_quadrant_angle,
    reduced_inertia,
    transposed_product,
)
from rbd_ros.textbook.closed_loops.explicit_loops_family import ExplicitLoops
from rbd_ros.textbook.tree_dynamics.rnea_spatial import rnea_spatial

STATES = [(0.8, 0.3), (-2.1, 1.2), (3.0, -0.4), (0.05, 2.0)]


@pytest.mark.seed('CL18', kind='part')
@pytest.mark.parametrize('y', STATES)
def test_the_triangle_has_the_printed_derivatives(y):
    yd = (1.3, -0.7)
    q, qd, G, g = explicit_motion(triangle, y, yd)
    expected_G, expected_g, _ = triangle_derivatives(y, yd)
    assert_allclose(G, expected_G, atol=1e-13)
    assert_allclose(g, expected_g, atol=1e-12)
    assert_allclose(qd, expected_G @ yd, atol=1e-13)
    model = linkages.triangle_arm()
    residual, K = linkages.closure(model, q)
    assert np.abs(residual).max() < 1e-14, 'gamma must close the loop'
    assert q[2] > 0
    K, k = linkages.acceleration_constraint(model, np.array(q), np.array(qd))
    assert_allclose(K @ G, 0.0, atol=1e-13)  # book 3.2: K G = 0 and K g = k
    assert_allclose(K @ g, k, atol=1e-12)


@pytest.mark.seed('CL17', 'CL18', kind='full')
@pytest.mark.parametrize('y', STATES)
def test_accelerations_are_those_of_multipliers(y, rng):
    model = linkages.triangle_arm()
    yd, tau = rng.normal(size=2), rng.normal(size=4)
    ydd = explicit_forward_dynamics(model, triangle, y, yd.tolist(), tau.tolist())
    q, qd, G, g = (np.array(x) for x in explicit_motion(triangle, y, yd.tolist()))
    expected, _ = linkages.kkt(model, q, qd, tau)
    assert_allclose(G @ ydd + g, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.seed('CL17', kind='part')
def test_loops_stay_closed_forever():
    """Runge-Kutta steps of y alone: the error of closure is that of rounding all the time.

    A tree that is integrated by the same accelerations drifts apart.
    """
    model, tau = linkages.triangle_arm(), np.array([0.4, 0.0, 0.0, -0.2])
    loops = ExplicitLoops(model, triangle, 2)

    def rate(state):
        return np.concatenate([state[2:], loops.forward_dynamics(state[:2], state[2:], tau)])

    def tree_rate(state):
        return np.concatenate([state[4:], linkages.kkt(model, state[:4], state[4:], tau)[0]])

    def step(f, x, h):
        k1 = f(x)
        k2 = f(x + h / 2 * k1)
        k3 = f(x + h / 2 * k2)
        return x + h / 6 * (k1 + 2 * k2 + 2 * k3 + f(x + h * k3))

    y = np.array([0.8, 0.3, 1.5, -0.5])
    drifting = np.concatenate(explicit_motion(triangle, y[:2].tolist(), y[2:].tolist())[:2])
    worst = 0.0
    for n in range(1500):
        y = step(rate, y, 0.02)
        if n % 20:
            continue
        q, v, *_ = loops.motion(y[:2], y[2:])
        residual, K = linkages.closure(model, q)
        worst = max(worst, np.abs(residual).max(), np.abs(K @ v).max() / (1.0 + np.abs(v).max()))
    assert np.abs(y[0]) > 0.1 and worst < 1e-13
    for _ in range(30):
        drifting = step(tree_rate, drifting, 0.02)
    assert np.abs(linkages.closure(model, drifting[:4])[0]).max() > 1e-9


@pytest.mark.parametrize('y', STATES)
def test_machine_code_agrees_with_the_algorithm(y, rng):
    loops = ExplicitLoops(linkages.triangle_arm(), triangle, 2)
    yd, ydd = rng.normal(size=(2, 2))
    tau = rng.normal(size=4)
    arguments = [x.tolist() for x in (yd, tau, ydd)]
    motion = loops.motion(y, yd)
    for found, expected in zip(motion, explicit_motion(triangle, y, arguments[0])):
        assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    found = loops.forward_dynamics(np.array(y), yd, tau)
    expected = explicit_forward_dynamics(loops.model, triangle, y, *arguments[:2])
    assert_allclose(found, expected, rtol=1e-11)
    forces = loops.inverse_dynamics(np.array(y), yd, ydd)
    expected = explicit_inverse_dynamics(loops.model, triangle, y, arguments[0], arguments[2])
    assert_allclose(forces, expected, rtol=1e-11)
    batch = loops.forward_dynamics(np.array([y, y]), np.array([yd, yd]), np.array([tau, tau]))
    assert_allclose(batch, [found, found], rtol=1e-13)
    out = np.empty(2)
    assert loops.forward_dynamics(np.array(y), yd, tau, out=out) is out
    assert_allclose(out, found, rtol=1e-15)
    with pytest.raises(ValueError):
        loops.forward_dynamics(np.zeros(3), yd, tau)


def test_constants_of_a_function_are_part_of_its_key():
    """Two functions of one text that refer to different lengths are not the same machine code."""

    def make(length):
        return lambda y: [y[0], length * y[0]]

    tree = linkages.linkage([linkages.Rod(0), linkages.Rod(1, 0.3)])
    found = [
        ExplicitLoops(tree, make(length), 1).motion([0.5], [1.0]).q[1] for length in (2.0, 3.0)
    ]
    assert found == [1.0, 1.5]


def test_functions_that_return_the_same_terms_elsewhere_have_different_keys():
    tree = linkages.linkage([linkages.Rod(0), linkages.Rod(1, 0.3)])
    found = [
        ExplicitLoops(tree, gamma, 2).motion([0.5, 2.0], [1.0, 1.0]).q.tolist()
        for gamma in (lambda y: [y[0], y[1]], lambda y: [y[1], -y[0]])
    ]
    assert found == [[0.5, 2.0], [2.0, -0.5]]


def test_different_models_have_different_keys():
    trees = [linkages.linkage([linkages.Rod(0), linkages.Rod(1, 0.3)], seed=n) for n in (1, 2)]
    gamma, state = (lambda y: [y[0], 3.0 * y[0]]), ([0.5], [1.0], [0.1, 0.2])
    for tree in trees:
        found = ExplicitLoops(tree, gamma, 1).forward_dynamics(*state)
        assert_allclose(found, explicit_forward_dynamics(tree, gamma, *state), rtol=1e-12)


@pytest.mark.seed('CL17', kind='part')
def test_inverse_dynamics_is_undone_by_forward_dynamics(rng):
    model = linkages.triangle_arm()
    y, yd, ydd = (x.tolist() for x in rng.normal(size=(3, 2)))
    tau = explicit_inverse_dynamics(model, triangle, y, yd, ydd)
    assert_allclose(explicit_forward_dynamics(model, triangle, y, yd, tau), ydd, rtol=1e-11)


@pytest.mark.parametrize('angle', np.linspace(-3.1, 3.1, 13).tolist() + [0.0, math.pi / 2])
def test_angles_are_of_four_quadrants(angle):
    y, x = 1.7 * math.sin(angle), 1.7 * math.cos(angle)
    assert four_quadrant_angle(y, x) == pytest.approx(angle, abs=1e-15)
    graph = Graph()
    symbols = graph.inputs('p', 2)
    (found,) = values_of(graph, [four_quadrant_angle(*symbols)], {'p': [y, x]})
    assert found == pytest.approx(angle, abs=1e-14)


def test_an_immovable_joint_of_gamma_is_rejected():
    balls = linkages.linkage([linkages.Rod(0, 0.0, Spherical())])
    with pytest.raises(ModelError, match='joint1'):
        explicit_forward_dynamics(balls, lambda y: [1.0, 0.0, 0.0, y[0]], [0.1], [0.0], [0.0] * 3)
    with pytest.raises(ModelError, match='returns 2 positions'):
        explicit_forward_dynamics(
            linkages.triangle_arm(), lambda y: [y[0], y[0]], [0.1], [0.0], [0.0] * 4
        )


# -- gears (book 9.6)


@pytest.mark.seed('GR01', 'CL17', kind='part')
@every_chain
def test_the_gears_of_any_chain_are_a_loop_closure_function(name):
    """Mimic joints, rotors, forces on links, a pinion that rolls: equal to the textbook's."""
    tree = named_tree(name)
    model, gamma = tree.model, tree.model.tree_position
    for q, v, tau in tree.states:
        on_tree = np.zeros(model.tree_nv)
        for i, (_, at_v) in model.independent_slices.items():
            on_tree[model.body(i).v] = tau[at_v]
        q, v, forces = q.tolist(), v.tolist(), tree.forces_on_bodies
        ydd = explicit_forward_dynamics(model, gamma, q, v, on_tree.tolist(), forces)
        expected = tree.book.forward_dynamics(np.array(q), np.array(v), tau, tree.forces)
        assert_allclose(ydd, expected, rtol=1e-9, atol=1e-9)
        forces_on_all = explicit_inverse_dynamics(model, gamma, q, v, ydd, forces)
        G = explicit_motion(gamma, q, v).G
        assert_allclose(transposed_product(G, forces_on_all), tau, rtol=1e-9, atol=1e-9)


def test_machine_code_includes_the_gears_of_a_chain(rng):
    tree = named_tree('rolling chain, gears')
    model = tree.model
    loops = ExplicitLoops(model, model.tree_position, model.nv)
    q, v, a = tree.states[0]
    forces = loops.inverse_dynamics(q, v, a)
    reduced = model.independent_force(forces.tolist())
    assert_allclose(reduced, tree.book.inverse_dynamics(q, v, a, {}), rtol=1e-10, atol=1e-10)
    assert_allclose(loops.forward_dynamics(q, v, forces), a, rtol=1e-9, atol=1e-9)


def geared_arm():
    """Return the figure 9.2: arm, rotor of the base's motor, forearm, rotor of the arm's.

    (0, 0, 1, 1).
    """
    rods = [
        linkages.Rod(0), linkages.Rod(0, (0.1, 0.2, 0.0)), linkages.Rod(1, 0.8),
        linkages.Rod(1, (0.1, 0.05, 0.0)),
    ]  # fmt: skip
    return linkages.linkage(rods, seed=11)


RATIOS = (5.0, -7.0)


def printed_gears(y):
    return [y[0], RATIOS[0] * y[0], y[1], RATIOS[1] * y[1]]


def by_multipliers(model, K, k, q, qd, tau):
    """Return the accelerations of a tree under K qdd = k."""
    H, C = (
        np.array(crba(model, list(q))),
        np.array(rnea_spatial(model, list(q), list(qd), [0.0] * len(q))),
    )
    zero = np.zeros((len(K), len(K)))
    right = np.concatenate([tau - C, k])
    return np.linalg.solve(np.block([[H, K.T], [K, zero]]), right)[: len(q)]


@pytest.mark.seed('GR01', kind='full')
def test_gears_are_constraints_by_multipliers(rng):
    """K = [rho -1] for each pair; the constraint does no work; and the model's own couplings."""
    model = geared_arm()
    y, yd, tau = rng.normal(size=2), rng.normal(size=2), rng.normal(size=4)
    ydd = explicit_forward_dynamics(model, printed_gears, *(x.tolist() for x in (y, yd, tau)))
    q, qd, G, g = (np.array(x) for x in explicit_motion(printed_gears, y.tolist(), yd.tolist()))
    assert not np.any(g)
    K = np.array([[RATIOS[0], -1.0, 0.0, 0.0], [0.0, 0.0, RATIOS[1], -1.0]])
    qdd = by_multipliers(model, K, np.zeros(2), q, qd, tau)
    assert_allclose(G @ ydd, qdd, rtol=1e-11)
    # power of all forces, those of the gears left out, is the rate of energy
    H = np.array(crba(model, q.tolist()))
    bias = np.array(rnea_spatial(model, q.tolist(), qd.tolist(), qdd.tolist()))
    assert qd @ bias == pytest.approx(qd @ tau, rel=1e-10)
    assert H.shape == (4, 4)
    coupled = replace(
        model, couplings=(Coupling(2, 1, RATIOS[0], 0.0), Coupling(4, 3, RATIOS[1], 0.0))
    )
    reduced = transposed_product(G.tolist(), tau.tolist())
    found = forward_dynamics(coupled, y.tolist(), yd.tolist(), reduced)
    assert_allclose(found, ydd, rtol=1e-11)


@pytest.mark.seed('GR01', 'JM15', kind='full')
def test_gears_may_be_nonlinear_or_couple_more_than_two(rng):
    """A noncircular pair q2 = 2 q1 + sin(q1) / 2, and a differential q4 = (q1 + 3 q3) / 2.

    K = [dq2/dq1 -1 ...], k = - d2q2/dq1^2 qd1^2.
    """
    model = geared_arm()

    def gamma(y):
        return [y[0], 2.0 * y[0] + 0.5 * sin(y[0]), y[1], 0.5 * (y[0] + 3.0 * y[1])]

    y, yd, tau = rng.normal(size=2), rng.normal(size=2), rng.normal(size=4)
    ydd = explicit_forward_dynamics(model, gamma, *(x.tolist() for x in (y, yd, tau)))
    q, qd, G, g = (np.array(x) for x in explicit_motion(gamma, y.tolist(), yd.tolist()))
    K = np.array([[2.0 + 0.5 * math.cos(y[0]), -1.0, 0.0, 0.0], [0.5, 0.0, 1.5, -1.0]])
    k = np.array([0.5 * math.sin(y[0]) * yd[0] ** 2, 0.0])
    assert_allclose(K @ G, 0.0, atol=1e-14)
    assert_allclose(K @ g, k, atol=1e-14)
    assert_allclose(G @ ydd + g, by_multipliers(model, K, k, q, qd, tau), rtol=1e-11)
    found = eliminate(K, k, independent=[0, 2])
    assert_allclose(found.G, G, atol=1e-14)
    assert_allclose(found.g, g, atol=1e-14)


@pytest.mark.seed('GR02', kind='full')
def test_the_reduced_matrix_is_the_printed_one():
    """Equation 9.27, element by element, and its 5 multiplications and 3 additions."""
    model = geared_arm()
    q = printed_gears([0.2, 0.7])
    H = crba(model, q)
    zeros = [(0, 1), (1, 2), (1, 3), (2, 3)]
    assert all(H[i][j] == 0.0 and H[j][i] == 0.0 for i, j in zeros)
    r1, r2 = RATIOS
    _, _, G, _ = explicit_motion(printed_gears, [0.2, 0.7], [0.0, 0.0])
    assert G == [[1.0, 0.0], [r1, 0.0], [0.0, 1.0], [0.0, r2]]
    across = H[0][2] + r2 * H[0][3]
    expected = [[H[0][0] + r1**2 * H[1][1], across], [across, H[2][2] + r2**2 * H[3][3]]]
    assert_allclose(reduced_inertia(H, G), expected, rtol=1e-14)

    symbols = [[Counting(x) if x else 0.0 for x in row] for row in H]
    for i, row in enumerate(symbols):
        for j in range(i):
            row[j] = symbols[j][i]
    ratios = [Counting(r) for r in RATIOS]
    counted = [[1.0, 0.0], [ratios[0], 0.0], [0.0, 1.0], [0.0, ratios[1]]]
    result = reduced_inertia(symbols, counted)
    assert count([x for row in result for x in row]) == (5, 3, 0)
