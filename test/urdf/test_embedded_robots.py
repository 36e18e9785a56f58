# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The robots of urdf/: valid for every reader, physical, and of the published size."""

from pathlib import Path
import re

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import outside

from rbd_ros import Robot
from rbd_ros.lookup.resources import resource_path

NAMES = (
    'two_link_arm',
    'planar_3r',
    'stanford_arm',
    'six_axis_arm',
    'four_bar',
    'two_finger_gripper',
    'quadruped',
)
# Mass of links that are fixed to the base [kg].
FIXED = {'six_axis_arm': 4.0, 'quadruped': 7.5}


def path(name):
    return resource_path('urdf', f'{name}.urdf')


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


def test_there_are_just_these_robots():
    assert {p.stem for p in Path(resource_path('urdf')).glob('*.urdf')} == set(NAMES)


def test_strict_reading_finds_nothing_to_warn_of(name):
    robot = Robot.from_urdf(path(name), strict=True)
    assert robot.warnings == ()
    assert robot.name == name


def test_every_joint_has_limits_of_effort_and_velocity(name):
    robot = Robot.from_urdf(path(name))
    assert np.isfinite(robot.effort_limits).all()
    assert (robot.effort_limits > 0.0).all()
    assert np.isfinite(robot.velocity_limits).all()
    assert (robot.velocity_limits > 0.0).all()


def test_the_root_link_has_no_inertia_which_robot_state_publisher_would_warn_of(name):
    root = Robot.from_urdf(path(name)).link_names[0]
    text = path(name).read_text()
    link = re.search(rf'<link name="{root}"(/>|>.*?</link>)', text, re.DOTALL).group()
    assert '<inertial>' not in link


def test_pinocchio_reads_the_same_dynamics(name, rng):
    pinocchio = outside.load('pinocchio')
    model = pinocchio.buildModelFromUrdf(str(path(name)))
    data = model.createData()
    robot = Robot.from_urdf(path(name))
    for _ in range(20):
        q, v, a = rng.normal(size=(3, robot.nv))
        full = pinocchio.neutral(model)
        for joint, angle in zip(list(model.names)[1:], q):
            k = model.getJointId(joint)
            i = model.joints[k].idx_q
            if model.joints[k].nq == 2:  # a continuous joint, as cosine and sine
                full[i : i + 2] = np.cos(angle), np.sin(angle)
            else:
                full[i] = angle
        expected = pinocchio.rnea(model, data, full, v, a)
        assert_allclose(robot.inverse_dynamics(q, v, a), expected, rtol=1e-11, atol=1e-11)


def test_mujoco_reads_the_same_masses(name):
    mujoco = outside.load('mujoco')
    model = mujoco.MjModel.from_xml_path(str(path(name)))
    robot = Robot.from_urdf(path(name))
    masses = [float(m) for m in re.findall(r'<mass value="([^"]+)"', path(name).read_text())]
    fixed = FIXED.get(name, 0.0)  # which MuJoCo makes a part of the world
    assert model.body_mass.sum() == pytest.approx(sum(masses) - fixed)
    assert model.nv == robot.nv


def test_moving_links_of_the_arms_can_be_touched_and_seen():
    """Every link with mass has a primitive for collision, and the same to look at."""
    for name in NAMES:
        text = path(name).read_text()
        for link in re.findall(r'<link name="[^"]+">.*?</link>', text, re.DOTALL):
            if '<mass' in link:
                assert link.count('<collision>') == link.count('<visual>') >= 1
                assert '<mesh' not in link


def test_six_axis_arm_has_the_reach_and_mass_of_the_published_one():
    robot = Robot.from_urdf(path('six_axis_arm'))
    poses = robot.forward_kinematics(np.zeros(6))
    height = 0.1625 + 0.425 + 0.3922 + 0.0997
    assert_allclose(poses['tool0'][:3, 3], [0.0, 0.1333 + 0.0996, height], atol=1e-12)
    assert_allclose(poses['tool0'][:3, 2], [0.0, 1.0, 0.0], atol=1e-12)
    moving = 3.761 + 8.058 + 2.846 + 1.37 + 1.3 + 0.365
    energy = robot.energy(np.zeros(6), np.zeros(6)).potential
    assert energy == pytest.approx(9.81 * moving * robot.center_of_mass(np.zeros(6))[2])


def dh(a, alpha, d, theta):
    """Return pose of a frame in the one before by the standard Denavit-Hartenberg parameters."""
    c, s, ca, sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
    return np.array(
        [[c, -s * ca, s * sa, a * c], [s, c * ca, -c * sa, a * s], [0, sa, ca, d], [0, 0, 0, 1]]
    )


def test_six_axis_arm_moves_as_the_published_dh_parameters_say(rng):
    """Up to the base, turned by half a turn, and the zeros of the second and fourth joint."""
    half = np.pi / 2
    table = [(0, half, 0.1625), (-0.425, 0, 0), (-0.3922, 0, 0),
             (0, half, 0.1333), (0, -half, 0.0997), (0, 0, 0.0996)]  # fmt: skip
    centers = [(0, -0.02561, 0.00193), (0.2125, 0, 0.11336), (0.15, 0, 0.0265),
               (0, -0.0018, 0.01634), (0, 0.0018, 0.01634), (0, 0, -0.00116)]  # fmt: skip
    masses = np.array([3.761, 8.058, 2.846, 1.37, 1.3, 0.365])
    robot = Robot.from_urdf(path('six_axis_arm'))
    for _ in range(10):
        q = rng.uniform(-3, 3, 6)
        pose, points = np.diag([-1.0, -1.0, 1.0, 1.0]), []
        for row, angle, center in zip(table, q - [0, half, 0, half, 0, 0], centers):
            pose = pose @ dh(*row, angle)
            points.append((pose @ [*center, 1.0])[:3])
        poses = robot.forward_kinematics(q)
        assert_allclose(poses['tool0'][:3, 3], pose[:3, 3], atol=1e-9)
        assert_allclose(poses['tool0'][:3, 2], pose[:3, 2], atol=1e-9)
        assert_allclose(robot.center_of_mass(q), masses @ points / masses.sum(), atol=1e-9)
