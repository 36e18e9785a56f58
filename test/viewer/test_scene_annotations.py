# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Joints and masses of a scene: drawn positions, against the robot's kinematics."""

import math

import numpy as np
from numpy.testing import assert_allclose
import pytest

from rbd_ros import Robot
from rbd_ros.lookup.resources import resource_path
from rbd_ros.viewer import make_scene
from rbd_ros.viewer.scene_annotations import joints_and_masses


@pytest.fixture(scope='module', params=['six_axis_arm', 'two_finger_gripper', 'quadruped'])
def robot(request):
    floating = request.param == 'quadruped'
    path = resource_path('urdf', f'{request.param}.urdf')
    return Robot.from_urdf(path, floating_base=floating)


def some_configuration(robot):
    q = robot.clamp(robot.neutral())
    rng = np.random.default_rng(4)
    return robot.clamp(robot.integrate(q, rng.uniform(-0.5, 0.5, robot.nv), 1.0))


def test_a_joint_turns_its_frame_about_the_axis(robot):
    scene, q = make_scene(robot.model), some_configuration(robot)
    single = [name for name in robot.model.actuated_joints if name != 'floating_base']
    assert [each.name for each in scene.joints] == single
    for joint in scene.joints:
        link = scene.links[joint.frame]
        pose = robot.forward_kinematics(q)[link]
        moved = q.copy()
        moved[joint.position] += 1e-6
        after = robot.forward_kinematics(moved)[link]
        axis = pose[:3, :3] @ joint.axis
        assert_allclose(np.linalg.norm(axis), 1.0, rtol=1e-12)
        point = pose[:3, :3] @ joint.origin + pose[:3, 3]
        rate = (after[:3, :3] @ joint.origin + after[:3, 3] - point) / 1e-6
        turn = (after[:3, :3] - pose[:3, :3]) @ pose[:3, :3].T / 1e-6
        if joint.unit == 'm':
            assert_allclose(rate, axis, atol=1e-8)
            assert_allclose(turn, 0.0, atol=1e-8)
        else:
            assert_allclose(rate, 0.0, atol=1e-8)
            assert_allclose([turn[2, 1], turn[0, 2], turn[1, 0]], axis, atol=1e-5)
        assert joint.lower == robot.lower_limits[joint.position]
        assert joint.upper == robot.upper_limits[joint.position]
        assert joint.effort == robot.effort_limits[joint.velocity]


def test_masses_are_those_of_the_robot(robot):
    scene, q = make_scene(robot.model), some_configuration(robot)
    poses = robot.forward_kinematics(q)
    drawn = {robot.model.links[link].body for link in scene.links} - {0}
    total = sum(robot.model.body(i).inertia.mass for i in drawn)
    assert_allclose(sum(each.mass for each in scene.masses), total, rtol=1e-12)
    if drawn == set(range(1, len(robot.model.bodies) + 1)):
        center = sum(
            each.mass * (poses[scene.links[each.frame]] @ each.pose)[:3, 3]
            for each in scene.masses
        )
        assert_allclose(center / total, robot.center_of_mass(q), atol=1e-12)


def test_a_box_has_the_size_of_its_inertia():
    """Of a box of uniform density: the box itself."""
    size, mass = np.array([0.2, 0.3, 0.5]), 7.0
    ixx, iyy, izz = mass / 12.0 * (np.sum(size**2) - size**2)
    text = (
        '<robot name="r"><link name="base"/><link name="a"><visual><geometry><sphere radius="1"/>'
        '</geometry></visual><inertial><origin xyz="0.1 0 0.2" rpy="0.3 -0.2 0.7"/>'
        f'<mass value="{mass}"/><inertia ixx="{ixx}" iyy="{iyy}" izz="{izz}" '
        'ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="j" type="continuous">'
        '<parent link="base"/><child link="a"/></joint></robot>'
    )
    robot = Robot.from_urdf(text)
    (joint,), (found,) = joints_and_masses(robot.model, ['a'])
    assert joint.lower == -math.inf
    assert_allclose(np.sort(found.size), np.sort(size), rtol=1e-9)
    assert_allclose(found.pose[:3, 3], [0.1, 0.0, 0.2], atol=1e-12)
    assert_allclose(np.linalg.det(found.pose[:3, :3]), 1.0, rtol=1e-12)
    # Its longest edge is z of the inertial frame.
    (w, x, y, z), axes = _quaternion(0.3, -0.2, 0.7), found.pose[:3, :3]
    third = [2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)]
    assert_allclose(abs(axes[:, np.argmax(found.size)] @ third), 1.0, rtol=1e-9)


def _quaternion(roll, pitch, yaw):
    from scipy.spatial.transform import Rotation

    return np.roll(Rotation.from_euler('xyz', [roll, pitch, yaw]).as_quat(), 1)
