# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Robots without joints, such as a table, support all functions."""

import numpy as np
import pytest

from rbd_ros import Robot, Simulator
from rbd_ros.collision import RobotInWorld
from rbd_ros.textbook.complementarity import positively_dependent

BLOCK = """
<robot name="block"><link name="block">
  <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><geometry><box size="0.1 0.1 0.1"/></geometry></collision>
</link></robot>
"""
BOX = {'type': 'box', 'size': [0.1] * 3, 'xyz': [0, 0, 0.2], 'static': False, 'mass': 1.0}
WORLD = {'objects': {'floor': {'type': 'plane'}, 'box': BOX}}
NONE = np.zeros(0)


def shapes(found):
    return [x.shape for x in found]


@pytest.mark.parametrize('rows', [0, 1, 3])
def test_distances_have_a_row_for_each_configuration(rows):
    arm = RobotInWorld(Robot.from_urdf(BLOCK), WORLD)
    assert shapes(arm.distances(NONE)) == [(0,), (0, 3), (0, 3), (0, 3), (0, 0)]
    many = arm.distances(np.zeros((rows, 0)))
    assert shapes(many) == [(rows, 0), *[(rows, 0, 3)] * 3, (rows, 0, 0)]
    with pytest.raises(ValueError, match='no pair'):
        arm.minimum(NONE)


@pytest.mark.parametrize('with_robot', [True, False])
def test_a_simulation_without_moving_bodies_has_no_distances(with_robot):
    simulator = Simulator(Robot.from_urdf(BLOCK) if with_robot else None, world=WORLD)
    simulator.step(n=10)
    found = simulator.distances()
    assert len(found.distance) == len(simulator.distance_pairs) == 0
    assert simulator.distances(np.zeros((2, 0))).distance.shape == (2, 0)


def test_it_has_no_parameters_and_no_constraints():
    robot = Robot.from_urdf(BLOCK)
    base = robot.regressors.base_parameters()
    assert base.columns == () and base.grouping.shape == (0, 0)
    assert base.fit(np.zeros((4, 0, 0)), np.zeros((4, 0))).shape == (0,)
    assert robot.loops.mobility(NONE).dofs == 0
    assert robot.loops.project(NONE).shape == (0,)
    assert positively_dependent(NONE, np.zeros((3, 0)))
