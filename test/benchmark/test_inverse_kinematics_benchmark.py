# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""`benchmark/inverse_kinematics.py`: arms for the peers, verdict, and output."""

import numpy as np
import pytest
from support import example_robots
from support.contact_benchmark import inverse_kinematics as benchmark, robots

from rbd_ros import Robot


@pytest.mark.parametrize('name', ['Panda', 'KUKA iiwa 14'])
def test_the_peers_get_the_chain_of_the_robot(name, tmp_path):
    example_robots.path('panda')  # or there are no robots
    arm, path = benchmark.ARMS[name], tmp_path / 'iiwa.urdf'
    path.write_text(benchmark.iiwa())
    path = path if arm.robot is None else robots.find(arm.robot)
    robot = Robot.from_urdf(path)
    q = robot.random_configuration(np.random.default_rng(1))
    _, joints = benchmark.chain(path, arm.tip)
    pose, angles = np.eye(4), iter(q)
    for joint in joints:
        pose = pose @ joint.place
        if joint.axis is not None:
            turn = np.eye(4)
            turn[:3, :3] = benchmark.Rotation.from_rotvec(next(angles) * joint.axis).as_matrix()
            pose = pose @ turn
    np.testing.assert_allclose(robot.frame(arm.tip).pose(q), pose, atol=1e-12)
    limits = [joint.limits for joint in joints if joint.axis is not None]
    np.testing.assert_allclose(np.array(limits)[:, 0], robot.lower_limits[: len(limits)])


def test_a_solution_counts_within_limits_and_near_the_pose():
    robot = Robot.from_urdf(example_robots.path('ur5_robot'))
    q = np.full(6, 0.3)
    pose = robot.frame('tool0').pose(q)
    assert benchmark.is_reached(robot, 'tool0', q, pose)
    assert not benchmark.is_reached(robot, 'tool0', q + 1e-3, pose)
    assert not benchmark.is_reached(robot, 'tool0', q + 4.0 * np.pi * np.eye(6)[0], pose)


def test_the_command_prints_a_row_for_each_solver(capsys):
    example_robots.path('ur5_robot')
    benchmark.main(['--poses', '20', '--seconds', '0.1', '--robots', 'UR5'])
    printed = capsys.readouterr().out.splitlines()
    assert len([line for line in printed if line.startswith('UR5')]) == len(benchmark.SOLVERS) + 2
    assert '100.00 %' in printed[2]
