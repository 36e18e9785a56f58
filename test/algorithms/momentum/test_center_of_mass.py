# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The center of mass and its Jacobian against sums over links."""

import numpy as np
import pytest
from support import urdf_text
from support.textbook_trees import check, every_tree, named_tree, run

from rbd_ros.algorithms.momentum.center_of_mass import (
    center_of_mass,
    center_of_mass_jacobian,
    require_mass,
)
from rbd_ros.model import load_urdf, ModelError


@pytest.mark.seed('BL07')
@every_tree
def test_center_is_the_mean_over_the_links_that_move(name):
    tree = named_tree(name)
    for q, _, _ in tree.states:
        check('center of mass', name, run(center_of_mass, tree.model, q=q), tree.book.center(q))


@pytest.mark.seed('BL07')
@every_tree
def test_jacobian_is_the_mean_of_those_of_the_links_centers(name):
    tree = named_tree(name)
    for q, _, _ in tree.states:
        J = run(center_of_mass_jacobian, tree.model, q=q)
        check('its Jacobian', name, J, tree.book.center_jacobian(q))


@pytest.mark.seed('BL07', kind='full')
@every_tree
def test_jacobian_gives_the_rate_of_the_center(name):
    tree = named_tree(name)
    for q, v, _ in tree.states:
        J = run(center_of_mass_jacobian, tree.model, q=q)
        check('J v', name, J @ v, tree.book.rate(tree.book.center, q, v))


def massless():
    joint = urdf_text.joint('j', 'a', 'b', 'continuous', '')
    return load_urdf(urdf_text.robot(urdf_text.link('a', None), urdf_text.link('b', ''), joint))


def test_without_mass_there_is_no_center():
    model = massless()
    assert np.all(np.isnan(run(center_of_mass, model, q=np.zeros(1))))
    with pytest.raises(ModelError, match='no moving body has mass'):
        require_mass(model, (), {})
    require_mass(model, (1,), {})  # which gets it at run time
    require_mass(named_tree('chain').model, (), {})
