# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The six-link zigzag arm of the book's section 10.2.

Its torques, accelerations and condition number are published.
"""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.random_trees import chain

from rbd_ros import Robot

# Recomputed to 12 decimals; the book prints the torques to 4, truncated, and 0.6952 for the first
# acceleration, a
# transposition of 0.6592 (inventory 2.1).
TORQUES = [
    126.493675942598,
    97.466323617010,
    69.976228435536,
    43.799847533486,
    21.937180910858,
    6.164685702961,
]
APPLIED = [126.0, 97.5, 70.0, 43.8, 21.9, 6.16]
ACCELERATIONS = [0.659159, 1.365380, 1.380780, 0.589351, 0.905662, 1.070458]
CONDITION = 725.3876281
H = [
    [
        46.058666578588,
        33.784190406986,
        23.992076145179,
        13.976419018679,
        6.960761892179,
        1.721561900987,
    ],
    [0, 26.843047568717, 18.215619009871, 11.699961883371, 5.331352369628, 1.592152378436],
    [0, 0, 13.921523784359, 8.311733315718, 4.443123801974, 1.092152378436],
    [0, 0, 0, 6.035276180410, 2.813714279423, 0.962742855885],
    [0, 0, 0, 0, 1.925485711769, 0.462742855885],
    [0, 0, 0, 0, 0, 0.333333333333],
]
BEND = np.deg2rad(75) * np.array([1, -1, 1, -1, 1, -1])


@pytest.fixture(scope='module')
def arm():
    """Return the unit length, unit mass, center of mass half-way, I_C = 1/12, no gravity."""
    link = {
        'type': 'revolute',
        'axis': [0, 0, 1],
        'mass': 1.0,
        'center': [0.5, 0, 0],
        'inertia': [0, 0, 0, 1 / 12, 0, 1 / 12],
    }
    return Robot.from_urdf(chain([link] + [dict(link, xyz=[1, 0, 0])] * 5), gravity=(0, 0, 0))


@pytest.mark.seed('AE04', 'FM03', 'FM05')
@pytest.mark.parametrize('first', [BEND[0], 0.0, 2.0], ids=['75 deg', '0', '2 rad'])
@pytest.mark.parametrize('mirror', [1, -1])
def test_mass_matrix(arm, first, mirror):
    """Neither the first angle nor the mirror image matters."""
    q = mirror * np.r_[first, BEND[1:]]
    assert_allclose(np.triu(arm.mass_matrix(q)), H, atol=6e-13)  # printed to 12 decimals


@pytest.mark.seed('AE04', kind='full')
def test_condition_number(arm):
    condition = np.linalg.cond(arm.mass_matrix(BEND))
    assert arm.diagnose(BEND).condition_number == pytest.approx(condition, rel=1e-12)
    assert condition == pytest.approx(CONDITION, abs=1e-7)
    assert round(condition) == 725


@pytest.mark.seed('AE04', kind='full')
@pytest.mark.seed('ID04')
def test_torques_of_unit_accelerations(arm):
    tau = arm.inverse_dynamics(BEND, np.zeros(6), np.ones(6))
    assert_allclose(tau, TORQUES, atol=6e-13)
    printed = [126.4936, 97.4663, 69.9762, 43.7998, 21.9371, 6.1646]
    assert_allclose(np.floor(tau * 1e4) / 1e4, printed, atol=1e-9)


@pytest.mark.seed('AE04', kind='full')
@pytest.mark.seed('AB08')
def test_accelerations_under_rounded_torques(arm):
    """Half a percent of error in the torque becomes 40 % in the acceleration."""
    a = arm.forward_dynamics(BEND, np.zeros(6), np.array(APPLIED))
    assert_allclose(a, ACCELERATIONS, atol=6e-7)
    error = np.abs(a - 1)  # of accelerations that should be 1
    assert 0.35 < np.max(error) < 0.42
    worst_force = np.max(np.abs(np.array(APPLIED) / TORQUES - 1))
    assert worst_force < 0.005 and np.max(error) > 80 * worst_force


@pytest.mark.seed('AE04')
@pytest.mark.parametrize('links, rule', [(6, 5184), (10, 40000)])
def test_worst_condition_grows_with_the_fourth_power(links, rule):
    """Rule of thumb 4 N^4 for the worst configuration.

    The straight arm comes within its order of magnitude.
    """
    assert rule == 4 * links**4
    link = {
        'type': 'revolute',
        'axis': [0, 0, 1],
        'mass': 1.0,
        'center': [0.5, 0, 0],
        'inertia': [0, 0, 0, 1 / 12, 0, 1 / 12],
    }
    arm = Robot.from_urdf(chain([link] + [dict(link, xyz=[1, 0, 0])] * (links - 1)))
    condition = np.linalg.cond(arm.mass_matrix(np.zeros(links)))
    assert rule / 3 < condition < 3 * rule
