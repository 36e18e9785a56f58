# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Recordings of a simulation in a world: poses of objects, forces on movable ones."""

import numpy as np
import pytest

from rbd_ros import Robot, Simulator
from rbd_ros.contact import HalfSpace
from rbd_ros.lookup.resources import resource_path
from rbd_ros.viewer import make_scene
from rbd_ros.viewer.session import contact_forces, object_poses, record

WORLD = {
    'objects': {
        'floor': {'type': 'plane'},
        'ball': {'type': 'sphere', 'radius': 0.1, 'xyz': [1, 0, 0.5], 'static': False, 'mass': 2},
    }
}


def test_an_object_falls_in_the_recording():
    simulator = Simulator(None, world=WORLD)
    scene = make_scene(None, world=simulator.world)
    recording = record(simulator, scene, 0.2)
    for time, pose in zip(recording.times, recording.objects):
        assert np.isclose(pose[0, 2, 3], 0.5 - 0.5 * 9.81 * time**2, atol=1e-9)
    assert np.array_equal(recording.poses()[:, 0, :3], recording.objects[:, 0, :3, 3])
    assert all(len(contacts) == 0 for contacts in recording.contacts)


@pytest.mark.parametrize('floor_first', [True, False])
def test_forces_are_those_on_the_moving_body(floor_first):
    objects = {'floor': WORLD['objects']['floor'], 'ball': dict(WORLD['objects']['ball'])}
    objects['ball']['xyz'] = [1, 0, 0.1]
    if not floor_first:
        objects = dict(reversed(objects.items()))
    simulator = Simulator(None, world={'objects': objects})
    simulator.step(n=10)
    (force,) = contact_forces(simulator)
    assert np.allclose(force, [1, 0, 0, 0, 0, 2 * 9.81], atol=1e-6)


def test_a_soft_ground_pushes_the_robot():
    robot = Robot.from_urdf(resource_path('urdf', 'quadruped.urdf'), floating_base=True)
    simulator = Simulator(robot, ground=HalfSpace())
    q = robot.neutral()
    q[6] = 0.45
    simulator.reset(q)
    simulator.step(n=2000)
    assert simulator.contacts
    forces = contact_forces(simulator)
    expected = [np.concatenate([each.position, each.force]) for each in simulator.contacts]
    assert np.array_equal(forces, expected) and forces[:, 5].sum() > 50.0


def test_the_gripper_lifts_the_cube_of_the_example():
    robot = Robot.from_urdf(resource_path('urdf', 'two_finger_gripper.urdf'))
    simulator = Simulator(robot, world='config/gripper_world.yaml')
    simulator.reset([-0.215, 0.03, 0.03])
    scene = make_scene(robot.model, world=simulator.world)
    weight = 9.81 * (1.32 + 0.2)

    def torque(now):
        height = -0.215 + 0.1 * min(max(now.time - 0.3, 0.0), 1.0)
        lift = weight + 3000.0 * (height - now.q[0]) - 100.0 * now.v[0]
        return np.array([lift, -10.0, -10.0])

    recording = record(simulator, scene, 1.5, torque)
    risen = recording.objects[-1, 0, 2, 3] - recording.objects[0, 0, 2, 3]
    assert np.isclose(risen, recording.configurations[-1, 0] + 0.215, atol=2e-3) and risen > 0.08
    # In the end the fingers' forces on the cube carry it.
    simulator_forces = [each for each in simulator.contacts if 'cube' in (each.first, each.second)]
    total = sum(each.force if each.second == 'cube' else -each.force for each in simulator_forces)
    assert np.isclose(total[2], 0.2 * 9.81, rtol=0.02)
    assert len(recording.contacts[-1]) == len(simulator.contacts) >= 2


def test_objects_that_are_not_simulated_stay_at_their_start():
    robot = Robot.from_urdf(resource_path('urdf', 'six_axis_arm.urdf'))
    scene = make_scene(robot.model, world=WORLD)
    assert np.array_equal(object_poses(Simulator(robot), scene), scene.start)


def two_arms():
    entry = {'urdf': str(resource_path('urdf', 'six_axis_arm.urdf')), 'static': False}
    return {'left': {**entry, 'xyz': [0, 2, 0]}, 'right': {**entry, 'xyz': [0, -2, 0]}}


def test_robots_of_the_world_that_move_are_seen_to():
    simulator = Simulator(None, world={'robots': two_arms()})
    simulator.reset(np.full(12, 0.3))
    scene = make_scene(simulator.robot.model, world=simulator.world)
    assert 'left/upper_arm_link' in scene.links and 'right/wrist_1_link' in scene.links
    assert {shape.owner for shape in scene.shapes} == {'robot'}
    recording = record(simulator, scene, 0.5)
    k = scene.frames.index('right/wrist_1_link')
    first, last = recording.poses()[[0, -1], k, :3]
    assert last[2] < first[2] - 0.01
    pose = simulator.robot.forward_kinematics(simulator.q)['right/wrist_1_link']
    assert np.allclose(last, pose[:3, 3], atol=1e-9)


def test_forces_on_robots_of_the_world_are_those_on_the_upper_body():
    world = {'robots': two_arms(), 'objects': {'floor': {'type': 'plane', 'xyz': [0, 0, 0.1]}}}
    world['disable_collisions'] = [
        [f'{a}/{link}', 'floor']
        for a in ('left', 'right')
        for link in ('base_link_inertia', 'shoulder_link')
    ] + [['left', 'left'], ['right', 'right']]
    simulator = Simulator(None, world=world)
    q = simulator.q
    q[[1, 7]] = 1.2
    simulator.reset(q)
    for _ in range(1000):
        simulator.step()
        if simulator.contacts:
            break
    assert (contact_forces(simulator)[:, 5] > 0.0).all() and len(simulator.contacts)


def test_forces_between_two_robots_are_those_on_the_second():
    world = {'robots': two_arms(), 'disable_collisions': [['left', 'left'], ['right', 'right']]}
    world['robots']['left']['xyz'] = [0, 0, 0]
    world['robots']['right'].update(xyz=[1.1, 0.15, 0], rpy=[0, 0, np.pi])
    simulator = Simulator(None, world=world)
    q = simulator.q
    q[[1, 7]] = 0.8, 1.4
    simulator.reset(q)
    while not simulator.contacts and simulator.time < 1.0:
        tau = simulator.robot.gravity_torque(simulator.q)
        tau[:6] = 0.0  # it falls on the other one
        simulator.step(tau)
    (contact,) = simulator.contacts
    assert contact.second.startswith('right/')
    assert np.array_equal(contact_forces(simulator)[0, 3:], contact.force)
