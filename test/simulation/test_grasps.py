# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Pinched objects: friction holds them without rotation and slip, up to its limits."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from scipy.spatial.transform import Rotation

from rbd_ros import Robot, Simulator

G = 9.81


def inertial(mass, moment):
    diagonal = f'ixx="{moment}" iyy="{moment}" izz="{moment}" ixy="0" ixz="0" iyz="0"'
    return f'<inertial><mass value="{mass}"/><inertia {diagonal}/></inertial>'


def finger(name, shape):
    """Return the finger of 60 g below the palm."""
    geometry = f'<collision><origin xyz="0 0 -0.08"/><geometry>{shape}</geometry></collision>'
    return f'<link name="{name}">{inertial(0.06, 2e-5)}{geometry}</link>'


def slide(name, parent, child, xyz, axis, upper, effort, more=''):
    limit = f'<limit lower="0" upper="{upper}" effort="{effort}" velocity="2"/>'
    return (
        f'<joint name="{name}" type="prismatic"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{xyz}"/><axis xyz="{axis}"/>{limit}{more}</joint>'
    )


def gripper(shape):
    """Return two fingers that close together by one joint, on a palm that lifts."""
    return Robot.from_urdf(
        '<robot name="gripper"><link name="base"/>'
        f'<link name="palm">{inertial(0.88, 0.02)}</link>'
        + finger('left', shape)
        + finger('right', shape)
        + slide('lift', 'base', 'palm', '0 0 0.13', '0 0 1', 0.6, 200)
        + slide('close', 'palm', 'left', '0 0.06 0', '0 -1 0', 0.06, 40)
        + slide(
            'follow', 'palm', 'right', '0 -0.06 0', '0 1 0', 0.06, 40, '<mimic joint="close"/>'
        )
        + '</robot>'
    )


def lift(shape, held, offset, force, friction, acceleration=2.0, duration=0.25):
    """Close on an object that stands beside the middle, then lift it evenly accelerated.

    :param offset: place of the object along the motion of the fingers [m]
    :return: slip in the hand [m], and its turn [rad]
    """
    height = held['size'][2] if 'size' in held else held['length']
    at = {'xyz': [0.0, offset, 0.5 * height], 'static': False}
    objects = {'floor': {'type': 'plane'}, 'held': {**held, **at}}
    world = {'defaults': {'surface': {'friction': friction}}, 'objects': objects}
    simulator = Simulator(gripper(shape), world=world)
    weight = G  # of palm and fingers, 1 kg
    simulator.reset(np.zeros(2))
    simulator.step([0.0, 0.0])
    simulator.reset(np.zeros(2))
    for _ in range(500):  # the palm is held where it is
        simulator.step([weight - 4000.0 * simulator.q[0] - 130.0 * simulator.v[0], force])
    begin = simulator.object_pose('held')
    unsolved = simulator.status.unconverged_steps
    rise, carried = simulator.q[0], held['mass']
    for _ in range(int(1000 * duration)):
        simulator.step([weight + carried * G + (1.0 + carried) * acceleration, force])
    end = simulator.object_pose('held')
    slip = end[:3, 3] - begin[:3, 3] - [0.0, 0.0, simulator.q[0] - rise]
    turn = Rotation.from_matrix(end[:3, :3] @ begin[:3, :3].T).magnitude()
    assert simulator.q[0] - rise > 0.4 * acceleration * duration**2  # it was lifted
    assert simulator.status.unconverged_steps == unsolved
    assert simulator.residuals.conic < 1e-10
    return np.linalg.norm(slip), turn


FLAT = '<box size="0.03 0.01 0.05"/>'
CUBE = {'type': 'box', 'size': [0.04, 0.04, 0.05], 'mass': 0.4}
BRICK = {'type': 'box', 'size': [0.08, 0.05, 0.06], 'mass': 0.25}


@pytest.mark.parametrize('offset', [0.0, 1e-3, 2e-3, 3e-3, -2.5e-3, 4e-3, 7e-3])
@pytest.mark.parametrize('held', [CUBE, BRICK], ids=['cube', 'brick'])
def test_a_load_within_friction_does_not_slip_in_the_hand(held, offset):
    """Friction carries 1.3 times what weight and acceleration ask for, wherever it stood.

    The fingers push it to the middle first, and press it at one edge then; forces that stay there
    hold the load, but not against turning about the line between both fingers.
    """
    carried = held['mass'] * (G + 2.0)
    friction = 0.3
    force = 1.3 * carried / friction
    slip, turn = lift(FLAT, held, offset, force, friction)
    assert slip < 1e-5 and turn < 1e-4


@pytest.mark.parametrize('offset', [0.0, 3e-3])
def test_a_load_beyond_friction_slips(offset):
    """With 0.8 of the friction that it takes, it falls behind."""
    friction, carried = 0.3, CUBE['mass'] * (G + 2.0)
    slip, _ = lift(FLAT, CUBE, offset, 0.8 * carried / friction, friction)
    assert slip > 0.02


def test_a_body_that_slides_freely_slides_on():
    """A box on four corners decelerates by friction, for any internal forces of its corners."""
    world = {
        'defaults': {'surface': {'friction': 0.4}},
        'objects': {'floor': {'type': 'plane'}, 'box': {
            'type': 'box', 'size': [0.1, 0.1, 0.02], 'xyz': [0, 0, 0.01], 'static': False,
            'mass': 1.0}},
    }  # fmt: skip
    simulator = Simulator(
        Robot.from_urdf('<robot name="r"><link name="base"/></robot>'), world=world
    )
    simulator.step(n=10)
    simulator.place_object('box', velocity=[0.0, 0.0, 0.0, 1.0, 0.0, 0.0])
    simulator.step(n=100)
    expected = [0.0, 0.0, 0.0, 1.0 - 0.1 * 0.4 * G, 0.0, 0.0]
    assert_allclose(simulator.object_velocity('box'), expected, atol=1e-9)
