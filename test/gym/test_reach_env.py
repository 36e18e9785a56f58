# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Reaching environment: reachable targets, and correct distances."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import outside

from rbd_ros import Robot

outside.load('gymnasium')

from rbd_ros.gym import ReachEnv  # noqa: E402


def test_goals_from_inverse_kinematics_reach_the_target():
    environment = ReachEnv()
    tool = environment.simulator.robot.frame('tool0')
    for seed in range(5):
        observation, info = environment.reset(seed=seed)
        pose = np.array(tool.pose(observation[:6]))
        assert_allclose(info['distance'], np.linalg.norm(observation[15:]))
        pose[:3, 3] += observation[15:]
        found = tool.inverse_kinematics(pose, observation[:6], weights=[0, 0, 0, 1, 1, 1])
        assert found.reached
        for _ in range(60):
            observation, reward, *_, info = environment.step(found.q)
        assert info['distance'] == -reward < 0.02
        assert_allclose(observation[15:] + tool.pose(observation[:6])[:3, 3], pose[:3, 3])


def test_targets_are_drawn_by_the_seed():
    environment = ReachEnv(size=0.1)
    targets = [environment.reset(seed=seed)[0][12:15] for seed in (1, 2, 1)]
    assert (targets[0] == targets[2]).all() and not np.allclose(targets[0], targets[1])
    assert np.abs(targets).max() <= 0.05


def test_another_robot_in_a_world_reaches_too():
    robot = Robot.from_urdf('urdf/planar_3r.urdf')
    environment = ReachEnv(robot, 'tip_link', None, 0.1, world={'objects': {}})
    observation, info = environment.reset(seed=1)
    assert observation.shape == (12,) and info['distance'] < 0.1
    with pytest.raises(ValueError, match="unknown link or joint 'tool'"):
        ReachEnv(robot, 'tool')


def test_a_robot_next_to_a_moving_one_reaches_the_target():
    other = {'urdf': 'urdf/planar_3r.urdf', 'xyz': [3.0, 0, 0], 'static': False}
    environment = ReachEnv(start=None, world={'robots': {'other': other}})
    environment.reset(seed=1)
    assert environment.action_space.shape == (9,)
    observation, *_ = environment.step(environment.simulator.q)
    assert np.isfinite(observation).all()
