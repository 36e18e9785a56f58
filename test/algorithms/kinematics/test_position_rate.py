# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Rates of configurations against textbook formulas and finite differences."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.states import every_robot, named_robot, random_state
from support.textbook_trees import check, every_tree, named_tree, run

from rbd_ros.algorithms.kinematics.position_rate import position_rate


@pytest.mark.seed('SV22', 'JM00', 'JM06', 'JM08')
@every_tree
def test_rate_is_that_of_textbooks(name):
    """Quaternions (book eq 4.13) and planar joints included."""
    tree = named_tree(name)
    for q, v, _ in tree.states:
        rate = run(position_rate, tree.model, q=q, v=v)
        check('position_rate', name, rate, tree.book.layout.position_rates(q, v))


@pytest.mark.seed('SV22')
@every_robot
def test_compiled_rate_is_the_slope_of_the_configuration(name):
    robot = named_robot(name)
    q, v, _ = random_state(robot)
    h = 1e-6
    slope = (robot.integrate(q, v, h) - robot.integrate(q, v, -h)) / (2 * h)
    rate = robot.kernel('position_rate').function(q, v)
    assert rate.shape == (robot.nq,)
    assert_allclose(rate, slope, atol=1e-8)
    two = robot.kernel('position_rate').function(np.stack([q, q]), np.stack([v, -v]))
    assert_allclose(two, [rate, -rate], atol=1e-15)
