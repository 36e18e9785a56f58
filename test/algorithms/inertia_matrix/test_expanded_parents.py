# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Tree of joint variables: the book's example, and zeros of inertia matrices."""

import numpy as np
import pytest
from support.textbook_trees import every_tree, named_tree, unrelated

from rbd_ros.algorithms.inertia_matrix.expanded_parents import (
    above,
    expand_parents,
    expanded_parents,
    pattern,
)
from rbd_ros.textbook.models.random_models import random_tree


@pytest.mark.seed('FM10', kind='full')
def test_printed_example_of_table_6_4():
    """Joint 2 has three DoFs, and every other joint has one."""
    assert expand_parents((0, 1, 1, 2, 2, 3), (1, 3, 1, 1, 1, 1)) == (0, 1, 2, 3, 1, 4, 4, 5)


@pytest.mark.seed('FM10', kind='full')
def test_joints_of_one_dof_change_nothing():
    parents = (0, 1, 1, 2, 2, 3, 0, 7)
    assert expand_parents(parents, (1,) * 8) == parents


@pytest.mark.seed('FM10', kind='part')
def test_a_joint_without_dof_passes_its_children_to_its_parent():
    assert expand_parents((0, 1, 2, 2, 0, 5), (2, 0, 1, 1, 0, 1)) == (0, 1, 2, 2, 0)
    assert expand_parents((), ()) == ()


@pytest.mark.seed('FM10', 'FM07', kind='part')
@every_tree
def test_pattern_is_that_of_joints_that_carry_one_another(name):
    model = named_tree(name).model
    places = np.array(pattern(expanded_parents(model)))
    assert np.array_equal(places, ~unrelated(model))


def test_rows_above_are_those_on_the_way_to_the_base():
    parents = expand_parents((0, 1, 1, 2, 2, 3), (1, 3, 1, 1, 1, 1))
    assert list(above(parents, 7)) == [4, 0]
    assert list(above(parents, 6)) == [3, 2, 1, 0]
    assert list(above(parents, 0)) == []


def test_body_numbers_of_a_model_are_the_array_of_its_tree():
    model = random_tree(7, 2)
    assert expanded_parents(model) == (0, 1, 1, 2, 2, 3, 3)


@pytest.mark.parametrize(
    'parents, dofs', [((0, 2), (1, 1)), ((1,), (1,)), ((0, -1), (1, 1)), ((0, 1), (1,))]
)
def test_a_malformed_tree_is_rejected(parents, dofs):
    with pytest.raises(ValueError, match='parent'):
        expand_parents(parents, dofs)
