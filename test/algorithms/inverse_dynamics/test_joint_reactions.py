# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Forces across joints: supported weight, and joint torque as a component."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import urdf_text
from support.states import every_robot, named_robot, random_forces, random_state

from rbd_ros import Robot


@pytest.mark.seed('ID07')
@every_robot
def test_the_part_along_the_dofs_is_the_joint_force_less_the_rotor(name):
    robot = named_robot(name)
    model = robot.model
    q, v, a = random_state(robot)
    forces = random_forces(robot)
    wrenches = robot.reactions(q, v, a, forces)
    tree_q, tree_a = model.tree_position(q.tolist()), model.tree_velocity(a.tolist())
    tau = [0.0] * model.tree_nv
    for i, body in model.outward():
        S = body.joint.motion_subspace(tree_q[body.q])
        along = [np.array(s.to_array(), dtype=float) @ wrenches[i - 1] for s in S.columns]
        tau[body.v] = [x + body.armature * y for x, y in zip(along, tree_a[body.v])]
    expected = robot.inverse_dynamics(q, v, a, forces)
    found = model.independent_force(tau)
    assert_allclose(found, expected, atol=1e-10 * np.abs(expected).max())
    assert wrenches.shape == (len(robot.body_names), 6)


@pytest.mark.seed('ID07', kind='full')
def test_a_joint_of_a_tower_at_rest_carries_the_weight_above_it():
    """Joints along the vertical: the upper one carries one block, the lower one both."""
    box = urdf_text.inertial(mass=2.0)
    text = urdf_text.robot(
        urdf_text.link('ground'),
        urdf_text.link('low', box),
        urdf_text.link('high', box),
        urdf_text.joint('j', 'ground', 'low', axis='0 0 1'),
        urdf_text.joint('k', 'low', 'high', axis='0 0 1'),
    )
    robot = Robot.from_urdf(text)
    wrenches = robot.reactions(np.zeros(2), np.zeros(2), np.zeros(2))
    assert_allclose(wrenches[:, 5], [2 * 2.0 * 9.81, 2.0 * 9.81], rtol=1e-12)
    assert_allclose(wrenches[:, 3:5], 0.0, atol=1e-12)


def test_forces_on_a_free_body_cross_no_joint():
    robot = named_robot('floating base')
    q, v, _ = random_state(robot)
    a = robot.forward_dynamics(q, v, np.zeros(robot.nv))
    assert_allclose(robot.reactions(q, v, a)[0], 0.0, atol=1e-8)
