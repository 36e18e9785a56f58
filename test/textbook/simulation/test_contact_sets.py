# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Current and active contacts: boxes on their corners, by statics and ranks."""

import numpy as np
import pytest

from rbd_ros.textbook.complementarity import InfeasibleContactError
from rbd_ros.textbook.simulation.contact_sets import contact_sets

CORNERS = np.array([[x, y] for x in (1.0, -1.0) for y in (1.0, -1.0)])
# normals of a box of unit mass and inertias on a floor: (vertical, about x, about y)
T = np.array([np.ones(4), CORNERS[:, 1], -CORNERS[:, 0]])
M, G = T.T @ T, 9.81


def sets(wrench, resting=range(4), pulling=None):
    """Return the sets for a wrench (force, couples about x and y) beside the weight."""
    return contact_sets(M, T.T @ (np.array(wrench) - [G, 0, 0]), resting, pulling)


@pytest.mark.seed('CN09', kind='full')
def test_all_corners_are_current_and_a_basis_of_them_active():
    found = sets([0, 0, 0])
    assert found.current.all() and len(found.active) == 3
    assert np.linalg.matrix_rank(T[:, found.active]) == 3
    assert 0 < found.force <= G


@pytest.mark.seed('CN09', kind='full')
def test_a_basis_has_all_that_bear_forces_and_is_completed_by_others():
    """Weight above the middle of a diagonal: two corners bear it, a third one completes."""
    for _ in range(2):
        found = sets([0, 0, 0], resting=[0, 3, 1])
        assert found.current.tolist() == [True, True, False, True]
        assert sorted(found.active) == [0, 1, 3]


@pytest.mark.seed('CN09', kind='full')
def test_a_lifted_contact_is_not_current():
    lifted = sets([2 * G, 0, 0])
    assert not lifted.current.any() and lifted.active == () and lifted.force == 0.0
    tipped = sets([0, 1.2 * G, 0])  # over the edge at negative y
    assert tipped.current.tolist() == [False, True, False, True]
    assert sorted(tipped.active) == [1, 3]
    assert sets([0, 0, 0], resting=[]).active == ()


@pytest.mark.seed('CN09')
def test_a_pulling_contact_is_not_active_despite_rounding():
    """On the verge: the couple that just unloads one side."""
    verge = sets([0, G, 0])
    assert verge.current.all()
    pulled = sets([0, G, 0], pulling=0)
    assert 0 not in pulled.active and sorted(pulled.active) == [1, 2, 3]
    alone = sets([0, G, 0], resting=[0, 1, 3], pulling=0)
    assert alone.current.tolist() == [False, True, False, True]
    assert sorted(alone.active) == [1, 3]


@pytest.mark.seed('CN09')
def test_one_that_pulled_stays_if_it_rests_because_others_do():
    """Two contacts of one normal: of forces that may be either's, none need break."""
    twice = np.ones((2, 2))
    found = contact_sets(twice, -np.ones(2), [0, 1])
    (bears,) = found.active
    other = 1 - bears
    kept = contact_sets(twice, -np.ones(2), [0, 1], pulling=other)
    assert kept.current.all() and kept.active == (bears,)


def test_an_inevitable_penetration_is_reported():
    with pytest.raises(InfeasibleContactError):
        contact_sets(np.array([[1.0, -1.0], [-1.0, 1.0]]), -np.ones(2), [0, 1])
