# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The example worlds of config/: their descriptions hold, and nothing overlaps."""

import itertools
import re
import shlex

import numpy as np
import pytest

from rbd_ros import Robot, Simulator
from rbd_ros.cli.main import main
from rbd_ros.collision import Box, contacts, distance, Plane, Sphere
from rbd_ros.lookup.resources import resource_path
from rbd_ros.world import read_world

WORLDS = ('push_world', 'peg_world', 'gripper_world', 'steps_world')


def path(name):
    return resource_path('config', f'{name}.yaml')


def command(name):
    """Return the words of the command that the file's comment gives."""
    found = re.search(
        r'#   rbd_ros (simulate .*?[^\\])\n(?!#  )', path(name).read_text(), re.DOTALL
    )
    return shlex.split(re.sub(r'\\\n#', ' ', found[1]))


def start(name):
    """Return the robot and configuration of that command."""
    words = command(name)
    robot = Robot.from_urdf(
        resource_path('urdf', f'{words[1]}.urdf'), floating_base='--floating-base' in words
    )
    (numbers,) = (word for word in words if word.startswith('--start='))
    q = np.array([float(x) for x in numbers[8:].split(',')])
    if '--floating-base' in words:  # its height is what it stands on
        q = Simulator(robot, world=path(name)).standing_configuration([*robot.neutral()[:7], *q])
    return robot, q


@pytest.mark.parametrize('name', WORLDS)
def test_the_command_of_a_world_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(resource_path('config').parent)
    target = tmp_path / 'out.html'
    assert main([*command(name), '--duration', '0.05', '--record', str(target)]) == 0
    assert target.is_file()


@pytest.mark.parametrize('name', WORLDS)
def test_objects_touch_at_most(name):
    world = read_world(path(name), start(name)[0].model)
    kinds = {'Box': lambda shape: Box(shape.size), 'Plane': lambda shape: Plane()}
    for a, b in itertools.combinations(world.objects, 2):
        if a.movable or b.movable:
            one, other = (kinds[type(each.shape).__name__](each.shape) for each in (a, b))
            assert distance(one, a.pose, other, b.pose).gap > -1e-9, (a.name, b.name)
    # What moves rests on something, or is held by a hole.
    for each in world.movable:
        box = Box(each.shape.size)
        gaps = [
            distance(kinds[type(o.shape).__name__](o.shape), o.pose, box, each.pose).gap
            for o in world.objects
            if o is not each
        ]
        assert min(gaps) < 1e-4


@pytest.mark.parametrize('name', WORLDS)
def test_the_robot_starts_clear_of_collision_objects(name):
    robot, q = start(name)
    world = read_world(path(name), robot.model)
    poses = robot.forward_kinematics(q)
    for geometry in robot.model.geometries:
        if geometry.role != 'collision' or not world.can_collide(
            f'robot/{geometry.link}', 'floor' if 'floor' in world.names else 'ground'
        ):
            continue
        placement = robot.model.links[geometry.link].placement
        pose = poses[geometry.link] @ np.array(
            (geometry.placement * placement.inverse()).pose(), dtype=float
        )
        # The bounding sphere of a shape is sufficient, except for boxes.
        shape = geometry.shape
        if type(shape).__name__ == 'Box':
            own = Box(shape.size)
        elif type(shape).__name__ == 'Sphere':
            own = Sphere(shape.radius)
        else:
            own = Sphere(float(np.hypot(shape.radius, 0.5 * shape.length)))
        for other in world.objects:
            if not world.can_collide(f'robot/{geometry.link}', other.name):
                continue
            thing = Box(other.shape.size) if type(other.shape).__name__ == 'Box' else Plane()
            gap = distance(thing, other.pose, own, pose).gap
            allowed = geometry.link.startswith(('base', 'shoulder'))  # whose ball is too large
            assert gap > 0.0 or allowed, (geometry.link, other.name, gap)


def test_the_peg_has_a_play_of_a_tenth_of_a_millimetre():
    world = read_world(path('peg_world'))
    peg = Box(world['peg'].shape.size)
    for side in ('left', 'right', 'front', 'rear'):
        wall = world[f'wall_{side}']
        gap = distance(Box(wall.shape.size), wall.pose, peg, world['peg'].pose).gap
        assert np.isclose(gap, 0.05e-3)
    # It is 10 mm deep in the hole.
    assert np.isclose(world['peg'].pose[2, 3] - 0.5 * world['peg'].shape.size[2], 0.05)


def test_the_fingers_are_around_the_cube():
    robot, q = start('gripper_world')
    cube = read_world(path('gripper_world'))['cube']
    for side in ('left', 'right'):
        q[1:] = 0.0199  # closed until they hold it
        (geometry,) = (
            each
            for each in robot.model.geometries
            if each.role == 'collision' and each.link == f'{side}_finger'
        )
        pose = robot.forward_kinematics(q)[geometry.link]
        pose = pose @ np.array(geometry.placement.pose(), dtype=float)
        found = contacts(Box(geometry.shape.size), pose, Box(cube.shape.size), cube.pose)
        assert len(found.gap) == 4
        assert np.allclose(found.gap, -1e-4) and np.allclose(np.abs(found.normal[:, 1]), 1.0)


def test_the_quadruped_stands_on_the_ground_with_four_feet():
    robot, q = start('steps_world')
    poses = robot.forward_kinematics(q)
    feet = np.array(
        [
            poses[f'{leg}_foot'][:3, 3]
            for leg in ('front_left', 'front_right', 'rear_left', 'rear_right')
        ]
    )
    assert np.allclose(feet[:, 2] - 0.022, 0.0, atol=1e-6)
    # The center of mass is above their middle.
    middle = feet.mean(axis=0)
    assert np.allclose(robot.center_of_mass(q)[:2], middle[:2], atol=0.03)
