# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The default law on MuJoCo as plant, without and with dry friction."""

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from support import outside
from support.closed_loop import random_motions, run, TIMESTEP

from rbd_ros import Robot
from rbd_ros.control import LawSettings

mujoco = outside.load('mujoco')


class MujocoPlant:
    """A URDF in MuJoCo, without contacts and limits.

    :param friction: Coulomb friction of the joints, (nv,) [N m]
    """

    def __init__(self, path, robot, friction):
        tree = ElementTree.parse(path).getroot()
        for link in tree.iter('link'):
            for shape in [*link.findall('visual'), *link.findall('collision')]:
                link.remove(shape)
        options = ElementTree.SubElement(ElementTree.SubElement(tree, 'mujoco'), 'compiler')
        options.set('fusestatic', 'false')
        text = ElementTree.tostring(tree, encoding='unicode')
        self.model = model = mujoco.MjModel.from_xml_string(text)
        model.opt.timestep = TIMESTEP
        model.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        model.jnt_limited[:] = 0
        model.dof_damping[:] = robot.damping
        model.dof_frictionloss[:] = friction
        # Dry friction, not MuJoCo's soft one, which creeps: it stops a joint within one step.
        model.dof_solref[:] = -1e-6, -0.95 / TIMESTEP
        model.dof_solimp[:] = 0.9999, 0.9999, 0.001, 0.5, 2
        names = [mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, i) for i in range(model.njnt)]
        assert names == list(robot.joint_names)
        self.data = mujoco.MjData(model)

    def reset(self, q):
        mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[:] = q
        mujoco.mj_forward(self.model, self.data)

    def state(self):
        return self.data.qpos.copy(), self.data.qvel.copy()

    def step(self, torque):
        self.data.qfrc_applied[:] = torque
        mujoco.mj_step(self.model, self.data)


@pytest.mark.parametrize('name', ['ur5_robot', 'z1'])
@pytest.mark.parametrize('friction', [0.0, 0.01])
def test_motions_end_where_they_should_in_mujoco(robot_paths, name, friction):
    """Friction is a hundredth of the effort limits."""
    path = next(p for p in map(str, robot_paths.values()) if p.endswith(f'/{name}.urdf'))
    robot = Robot.from_urdf(path)
    coulomb = friction * robot.effort_limits
    plant = MujocoPlant(path, robot, coulomb)
    settings = LawSettings.for_robot(robot, coulomb=coulomb)
    for motion in random_motions(robot, 2, seed=7):
        result = run(robot, settings, motion, plant=plant)
        assert result.peak() < 2e-3
        assert result.resting(0.5) < 1e-3


@pytest.mark.parametrize('known', [0.8, 1.2])
def test_friction_wrong_by_a_fifth_does_not_affect_the_rest_in_mujoco(robot_paths, known):
    path = next(p for p in map(str, robot_paths.values()) if p.endswith('/z1.urdf'))
    robot = Robot.from_urdf(path)
    plant = MujocoPlant(path, robot, robot.friction)
    settings = LawSettings.for_robot(
        robot, viscous=known * robot.damping, coulomb=known * robot.friction
    )
    (motion,) = random_motions(robot, 1, seed=8)
    assert run(robot, settings, motion, plant=plant).resting(0.5) < 5e-3


def test_friction_unknown_to_the_law_is_compensated(robot_paths):
    path = next(p for p in map(str, robot_paths.values()) if p.endswith('/ur5_robot.urdf'))
    robot = Robot.from_urdf(path)
    plant = MujocoPlant(path, robot, 0.01 * robot.effort_limits)
    (motion,) = random_motions(robot, 1, seed=9)
    result = run(robot, LawSettings.for_robot(robot), motion, plant=plant, after=3.0)
    assert np.abs(result.error[-1]).max() < 2e-3
