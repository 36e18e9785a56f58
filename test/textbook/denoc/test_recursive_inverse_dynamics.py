# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Recursive inverse dynamics against the textbook, other algorithms, and the published cost."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import outside, random_trees
from support.denoc_counts import count_inverse_dynamics
from support.denoc_trees import every_simple_tree, KINDS, simple_tree
from support.textbook_trees import check, run

from rbd_ros import Robot
from rbd_ros.textbook.denoc.recursive_inverse_dynamics import recursive_inverse_dynamics


@pytest.mark.seed('DN09', kind='full')
@every_simple_tree
def test_forces_are_those_of_the_equations_of_motion(name):
    """With gravity, external forces and rotors; and those of the Newton-Euler recursion."""
    tree = simple_tree(name)
    robot = Robot(tree.model)
    for q, v, a in tree.states:
        given = {'q': q, 'v': v, 'a': a}
        tau = run(recursive_inverse_dynamics, tree.model, **given, external_forces=None)
        check('RIDIM', name, tau, tree.book.inverse_dynamics(q, v, a, {}))
        assert_allclose(tau, robot.inverse_dynamics(q, v, a), atol=1e-11)
        tau = run(
            recursive_inverse_dynamics,
            tree.model,
            **given,
            external_forces=tree.forces_on_bodies,
        )
        check('RIDIM', name, tau, tree.book.inverse_dynamics(q, v, a, tree.forces))


@pytest.mark.parametrize('kind', ['chain', 'branches'])
def test_pinocchio_agrees(kind):
    outside.load('pinocchio')
    from support.pinocchio_bridge import Bridge

    text = random_trees.tree(**KINDS[kind])
    robot, bridge = Robot.from_urdf(text), Bridge(text)
    rng = np.random.default_rng(3)
    q, (v, a) = robot.random_configuration(rng), rng.normal(size=(2, robot.nv))
    found = robot.denoc.inverse_dynamics(q, v, a)
    assert_allclose(found, bridge.inverse_dynamics(q, v, a), atol=1e-11)


@every_simple_tree
def test_compiled_forces_agree_with_the_algorithm(name):
    tree = simple_tree(name)
    robot = Robot(tree.model)
    states = [np.array(x) for x in zip(*tree.states)]
    for state, found in zip(tree.states, robot.denoc.inverse_dynamics(*states, tree.forces)):
        given = dict(zip('qva', state))
        expected = run(
            recursive_inverse_dynamics,
            tree.model,
            **given,
            external_forces=tree.forces_on_bodies,
        )
        scale = max(1.0, np.abs(expected).max())
        assert_allclose(found, expected, atol=1e-13 * scale)
        one = robot.denoc.inverse_dynamics(*state, tree.forces)
        assert_allclose(one, expected, atol=1e-13 * scale)


# Rows of table 1: what a chain of n hinges costs, multiplications and additions. The last number
# is what the table says for n = 6.
TABLE_1 = {
    'Hollerbach 1980': ((412, -277), (320, -201), (2195, 1719)),
    'Luh et al. 1980': ((150, -48), (131, 48), (852, 834)),
    'Walker and Orin 1982': ((137, -22), (101, -11), (800, 595)),
    'proposed': ((120, -44), (97, -55), (676, 527)),
    'Khalil et al. 1986': ((105, -92), (94, -86), (538, 478)),
    'Angeles et al. 1989': ((105, -109), (90, -105), (521, 435)),
    'Balafoutis et al. 1988': ((93, -69), (81, -65), (489, 421)),
}


@pytest.mark.parametrize('row', TABLE_1)
def test_printed_costs_of_six_joints_follow_from_the_formulas(row):
    (m, m0), (a, a0), (six_m, six_a) = TABLE_1[row]
    assert (6 * m + m0, 6 * a + a0) == (six_m, six_a)


@pytest.mark.seed('DN10', kind='full')
@pytest.mark.parametrize('n', [3, 6, 12, 20])
def test_cost_is_at_most_the_printed_one(n):
    """Chains of hinges in general Denavit-Hartenberg form, the text as it stands.

    Sines and cosines, and products of constants of the table, are not counted; what is calculated
    twice counts once.
    """
    multiplications, additions, divisions = count_inverse_dynamics(n)
    (m, m0), (a, a0), _ = TABLE_1['proposed']
    print(n, multiplications, m * n + m0, additions, a * n + a0)
    assert divisions == 0
    assert multiplications <= m * n + m0 and additions <= a * n + a0
