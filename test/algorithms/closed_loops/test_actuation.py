# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Actuator forces on loops: example 8.2, every kind of actuation, and the inverse mapping."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import linkages
from support.linkages import triangle, triangle_derivatives

from rbd_ros.algorithms.closed_loops.actuation import actuator_forces
from rbd_ros.algorithms.closed_loops.elimination import eliminate
from rbd_ros.textbook.closed_loops.explicit_loops import (
    explicit_forward_dynamics,
    explicit_inverse_dynamics,
    explicit_motion,
)
from rbd_ros.textbook.tree_dynamics.rnea_spatial import rnea_spatial

Y, YD, YDD = [0.8, 0.3], [1.1, -0.4], [0.5, 2.0]


def arm():
    """Return the model of figure 8.3, G, and tau_ID of the motion above."""
    model = linkages.triangle_arm()
    _, _, G, _ = explicit_motion(triangle, Y, YD)
    return model, np.array(G), explicit_inverse_dynamics(model, triangle, Y, YD, YDD)


@pytest.mark.seed('CL19', kind='part')
def test_the_books_example():
    """Joints 3 and 4 actuated: u = [1/u2 u1/u2 1 0; 0 0 0 1] tau_ID (example 8.2)."""
    _, G, tau_ID = arm()
    _, _, (u1, u2) = triangle_derivatives(Y, YD)
    found = actuator_forces(G, tau_ID, [2, 3])
    formula = np.array([[1 / u2, u1 / u2, 1, 0], [0, 0, 0, 1]])
    assert_allclose(found.u, formula @ tau_ID, rtol=1e-11)
    assert found.is_properly_actuated
    assert_allclose(found.missing, 0.0, atol=1e-12)


@pytest.mark.seed('CL19', kind='full')
@pytest.mark.parametrize(
    'actuated, rank, kind',
    [
        ([2, 3], 2, 'proper'),
        ([0, 3], 2, 'proper'),
        ([3, 1], 2, 'proper'),
        ([0, 1, 2, 3], 2, 'redundant'),
        ([3, 2, 0], 2, 'redundant'),
        ([0, 2], 1, 'both'),
        ([3], 1, 'under'),
        ([2], 1, 'under'),
        ([], 0, 'under'),
    ],
)
def test_every_kind_of_actuation_goes_there_and_back(actuated, rank, kind):
    """These forces attain the requested acceleration, as far as actuators can."""
    model, G, tau_ID = arm()
    found = actuator_forces(G, tau_ID, actuated)
    assert found.rank == rank and found.mobility == 2
    assert found.is_underactuated == (kind in ('under', 'both'))
    assert found.is_redundantly_actuated == (kind in ('redundant', 'both'))
    assert found.is_properly_actuated == (kind == 'proper')
    unactuated = [i for i in range(4) if i not in actuated]
    assert not np.any(found.tau[unactuated])
    assert np.array_equal(found.tau[actuated], found.u)
    ydd = explicit_forward_dynamics(model, triangle, Y, YD, found.tau.tolist())
    if found.is_underactuated:
        assert np.abs(found.missing).max() > 1e-3
        assert np.abs(np.array(ydd) - YDD).max() > 1e-3
        return
    assert_allclose(ydd, YDD, rtol=1e-9)
    # no other forces that do the same are smaller
    null = np.linalg.svd(G[actuated].T)[2][rank:]
    assert_allclose(null @ found.u, 0.0, atol=1e-11)
    for direction in null:
        other = found.u + 0.3 * direction
        assert_allclose(G[actuated].T @ other, G.T @ tau_ID, atol=1e-11)
        assert np.sum(other**2) > np.sum(found.u**2)


@pytest.mark.seed('CL19', kind='part')
def test_many_forces_of_the_tree_agree(rng):
    """All tau with the same G^T tau: infinity^r of them."""
    model, G, tau_ID = arm()
    null = np.linalg.svd(G.T)[2][2:]
    assert len(null) == 2  # r
    for direction in null:
        tau = (np.array(tau_ID) + 5.0 * direction).tolist()
        found = explicit_forward_dynamics(model, triangle, Y, YD, tau)
        assert_allclose(found, YDD, rtol=1e-10)


@pytest.mark.seed('CL19', kind='part')
def test_a_loop_without_a_closed_form(rng):
    """G by elimination: a four-bar driven at its coupler moves as asked (book eq 8.63)."""
    model = linkages.four_bar()
    q = linkages.closed(model, linkages.FOUR_BAR)
    qd = linkages.admissible(model, q, rng)
    K, k = linkages.acceleration_constraint(model, q, qd)
    G, g, *_ = eliminate(K, k, independent=[0])
    qdd = G @ [0.7] + g
    tau_ID = rnea_spatial(model, q.tolist(), qd.tolist(), qdd.tolist())
    for joint in range(3):
        found = actuator_forces(G, tau_ID, [joint])
        assert found.is_properly_actuated
        assert_allclose(linkages.kkt(model, q, qd, found.tau)[0], qdd, rtol=1e-8, atol=1e-9)


def test_wrong_arguments_are_rejected():
    G = np.eye(2)
    for wrong in ([2], [-1], [0, 0]):
        with pytest.raises(ValueError, match='below 2'):
            actuator_forces(G, [1.0, 2.0], wrong)
    with pytest.raises(ValueError, match='got'):
        actuator_forces(G, [1.0], [0])
