"""The articulated-body algorithm itself against the solution of the equation of motion.

On all joints of a tree, so that it runs whether there are gears or not; forward dynamics of a
tree with gears goes another way (forward_dynamics.py).
"""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.textbook_trees import check, every_free_tree, every_tree, named_tree

from rbd_ros.algorithms.articulated_body.aba import aba, plus_diagonal, times_inverse
from rbd_ros.algorithms.inertia_matrix.factorisation import ltdl
from rbd_ros.spatial import ForceVector


def accelerations(tree, state, forces=True, diagonal=None):
    """Of the text, and of the textbook."""
    q, v, tau = state
    ours = aba(
        tree.model,
        *(x.tolist() for x in state),
        tree.forces_on_bodies if forces else None,
        None if diagonal is None else diagonal.tolist(),
    )
    given = tree.forces if forces else {}
    extra = 0.0 if diagonal is None else diagonal
    return ours, tree.ungeared.forward_dynamics(q, v, tau, given, extra)


def tolerance(tree, q):
    """Rounding of H moves the solution of H a = b by cond(H) eps."""
    return max(1e-13, 4 * np.finfo(float).eps * np.linalg.cond(tree.ungeared.mass_matrix(q)))


@pytest.mark.seed('AB08', 'FO05', 'GR03')
@every_tree
def test_acceleration_solves_the_equation_of_motion(name):
    """H a = tau - C - g + J^T f, with rotors and forces on links."""
    tree = named_tree(name)
    for state in tree.ungeared_states:
        check('aba', name, *accelerations(tree, state), tolerance(tree, state.q))


@every_free_tree
def test_without_external_forces(name):
    tree = named_tree(name)
    state = tree.states[0]
    check('aba', name, *accelerations(tree, state, forces=False), tolerance(tree, state.q))


@pytest.mark.seed('GR03')
@every_free_tree
def test_a_diagonal_counts_as_inertia(name, rng):
    tree = named_tree(name)
    diagonal = rng.uniform(0.5, 2.0, tree.model.tree_nv)
    for state in tree.states:
        found = accelerations(tree, state, diagonal=diagonal)
        check('aba with a diagonal', name, *found, tolerance(tree, state.q))


def test_columns_times_an_inverse(rng):
    """U D^-1 of dense matrices."""
    U, A = rng.normal(size=(6, 3)), rng.normal(size=(3, 3))
    D = plus_diagonal((A @ A.T).tolist(), [0.5, 1.0, 1.5])
    assert_allclose(D, A @ A.T + np.diag([0.5, 1.0, 1.5]), rtol=1e-15)
    columns = [ForceVector.from_array(column) for column in U.T]
    found = [list(column) for column in times_inverse(columns, ltdl(D))]
    assert_allclose(np.transpose(found), U @ np.linalg.inv(D), rtol=1e-12)
