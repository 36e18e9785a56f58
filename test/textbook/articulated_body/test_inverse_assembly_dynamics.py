# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Forward dynamics by variant 1 of table 7.2 against textbooks, Newton-Euler and Pinocchio."""

import pytest
from support import assembled
from support.all_joints import every_joint
from support.textbook_trees import every_free_tree, named_tree

from rbd_ros.textbook.articulated_body.inverse_assembly_dynamics import inverse_assembly_dynamics


@pytest.mark.seed('AB11', kind='full')
@every_free_tree
def test_accelerations_and_constraint_forces(name):
    """With rotors, S(q), floating bases, forces on links and without."""
    assembled.check_dynamics('variant 1', name, named_tree(name), inverse_assembly_dynamics)


@pytest.mark.seed('AB11')
@every_joint
def test_joints_of_every_type(joint):
    assembled.check_joint(joint, inverse_assembly_dynamics)


@pytest.mark.seed('AB11')
@assembled.every_real_robot
def test_real_robots_move_as_in_pinocchio(name, floating):
    assembled.check_robot(name, floating, 'assembly_by_inverse_inertia')
