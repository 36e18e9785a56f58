# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The main use case at its defaults, over DDS: every motion ends at its goal, on many robots.

The arm waits for its controller (lockstep.py); the controller has a user's parameters: the robot
and use_sim_time.
"""

import re
import xml.etree.ElementTree as ElementTree

import pytest
from support import outside

outside.load('rclpy')

from builtin_interfaces.msg import Duration
from lockstep import LockstepArm, MujocoArm
import numpy as np
from support.arms import EMBEDDED, path_of, REAL
from support.closed_loop import random_motions, SimulatedPlant, wrong_model_text
from support.waiting import until
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from rbd_ros import Robot

RESTING = 1e-3  # [rad or m]
RESTING_WITH_WRONG_MODEL = 0.02
SETTLING = 1.0  # after the end of the motion, until it is looked where the arm rests [s]

FREE_OF_MESHES = re.compile(r'<(visual|collision)\b.*?</\1>', re.DOTALL)

pytestmark = pytest.mark.slow


class Rig:
    """A controller with its defaults, and an arm in lockstep with it."""

    def __init__(self, ros, description, robot, arm):
        self._ros, self._robot = ros, robot
        # By default, but for one: a machine that keeps this process waiting ends no motion.
        self._process = ros.start(
            'inverse_dynamics',
            {'robot_description': description, 'use_sim_time': True, 'state_timeout': 1.0},
        )
        arm.reset(np.clip(robot.neutral(), robot.lower_limits, robot.upper_limits))
        self._lockstep = LockstepArm(ros, arm, robot.joint_names)
        self._publisher = ros.publisher(JointTrajectory, '/joint_trajectory')
        self._lockstep.run(0.1)

    def resting_error(self, motion):
        """Return the greatest error from `SETTLING` after the end of a motion on [rad or m]."""
        goal, duration = motion.positions[-1], motion.end_time
        since = self._ros.mark()
        point = JointTrajectoryPoint(
            positions=goal.tolist(),
            velocities=[0.0] * self._robot.nv,
            accelerations=[0.0] * self._robot.nv,
            time_from_start=Duration(sec=int(duration)),
        )
        names = list(self._robot.joint_names)
        self._publisher.publish(JointTrajectory(joint_names=names, points=[point]))
        status = until(
            lambda: self._ros.status('trajectory', 'trajectory', since=since),
            'a report of the trajectory',
            self._go_on,
        )
        assert 'rejected' not in status.message, status
        self._lockstep.run(duration + SETTLING)
        return np.abs(self._lockstep.run(0.3) - goal).max()

    def _go_on(self):
        """Continue the motion of the arm in short pieces, and read the reports."""
        self._lockstep.run(0.02)
        self._ros.executor.spin_once(timeout_sec=0.0)

    def close(self):
        self._lockstep.close()
        assert self._process.stop() == 0
        self._ros.processes.remove(self._process)
        self._ros.node.destroy_publisher(self._publisher)


@pytest.fixture
def rig(ros):
    rigs = []

    def make(*arguments):
        rigs.append(Rig(ros, *arguments))
        return rigs[-1]

    yield make
    for each in rigs:
        each.close()


@pytest.mark.parametrize('name', [*EMBEDDED, *REAL])
def test_every_motion_ends_where_it_should_with_the_defaults(rig, name):
    path = path_of(name)
    robot = Robot.from_urdf(path)
    controller = rig(path.read_text(), robot, SimulatedPlant(robot))
    for motion in random_motions(robot, 2, seed=11):
        assert controller.resting_error(motion) < RESTING


@pytest.mark.parametrize('name', [*EMBEDDED, *REAL])
def test_a_model_wrong_by_a_fifth_ends_close_to_it(rig, name):
    path, rng = path_of(name), np.random.default_rng(12)
    robot = Robot.from_urdf(path)
    wrong = wrong_model_text(path, lambda: rng.choice([0.8, 1.2]))
    controller = rig(wrong, robot, SimulatedPlant(robot))
    (motion,) = random_motions(robot, 1, seed=13)
    assert controller.resting_error(motion) < RESTING_WITH_WRONG_MODEL


@pytest.mark.parametrize('name', ['six_axis_arm', 'ur5_robot', 'z1'])
def test_mujoco_as_the_arm_is_led_to_its_goals_as_well(rig, name):
    mujoco, path = outside.load('mujoco'), path_of(name)
    text = FREE_OF_MESHES.sub('', path.read_text())
    robot = Robot.from_urdf(text)
    root = ElementTree.fromstring(text)
    for inertia in root.iter('inertia'):  # MuJoCo rejects what violates the triangle inequality
        assert float(inertia.get('ixx')) >= 0.0
    extension = ElementTree.SubElement(root, 'mujoco')
    ElementTree.SubElement(
        extension, 'compiler', {'fusestatic': 'true', 'balanceinertia': 'false'}
    )
    arm = MujocoArm(mujoco, robot, ElementTree.tostring(root, encoding='unicode'))
    controller = rig(path.read_text(), robot, arm)
    for motion in random_motions(robot, 2, seed=14):
        assert controller.resting_error(motion) < RESTING
