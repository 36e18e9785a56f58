# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A robot that pushes into a heap with more contacts than a matrix has room for."""

import numpy as np
import pytest
from support.rigid_worlds import worst_residual

from rbd_ros import Robot, Simulator

PADDLE = """<robot name="paddle"><link name="base"/>
<link name="paddle"><inertial><mass value="4"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><box size="0.04 0.18 0.18"/></geometry></collision></link>
<joint name="x" type="prismatic"><parent link="base"/><child link="paddle"/>
<origin xyz="-0.2 0 0.12"/><axis xyz="1 0 0"/>
<limit lower="-2" upper="{upper}" effort="1000" velocity="2"/></joint></robot>"""
SIDE, SPEED, GAIN = 0.1, 0.5, 400.0


def pushed(monkeypatch, room, steps, upper=2.0, layers=2, mass=0.5, **surface):
    """Return a simulator after a paddle has moved into a block of cubes, two in a row.

    :param room: contacts that fit into a matrix
    :param upper: limit of the paddle's joint [m]
    """
    monkeypatch.setattr('rbd_ros.simulation.scene.scene_assembly.MAX_ISLAND', room)
    objects = {'floor': {'type': 'plane'}}
    for k, (x, y, z) in enumerate(np.ndindex(3, 2, layers)):
        place = [1.02 * SIDE * (x - 0.5), 1.02 * SIDE * (y - 0.5), SIDE * (0.5 + 1.0 * z)]
        cube = {'type': 'box', 'size': [SIDE] * 3, 'mass': mass, 'static': False}
        objects[f'cube{k}'] = {**cube, 'xyz': [float(value) for value in place]}
    world = {'objects': objects, 'defaults': {'surface': surface}}
    robot = Robot.from_urdf(PADDLE.format(upper=upper))
    simulator = Simulator(robot, 1e-3, world=world)
    for _ in range(steps):
        simulator.step(GAIN * (SPEED - simulator.v))
    return simulator


def places(simulator):
    """Return the positions of the paddle and of all cubes."""
    poses = [simulator.object_pose(name)[:3, 3] for name in simulator.objects]
    return np.concatenate([simulator.q, *poses])


@pytest.mark.parametrize('upper', [2.0, 0.12])
def test_a_split_island_moves_as_one_with_a_matrix(upper, monkeypatch):
    """Without friction, velocities are unique; a limit of the joint is a row of the matrix."""
    whole = pushed(monkeypatch, 128, 300, upper, friction=0.0)
    split = pushed(monkeypatch, 17, 300, upper, friction=0.0)
    for simulator in (whole, split):
        assert simulator.status.contacts > 34
        assert simulator.status.contacts_truncated == 0
        assert simulator.status.unconverged_steps == 0
    assert places(split) == pytest.approx(places(whole), abs=1e-6)
    assert split.v == pytest.approx(whole.v, abs=1e-6)
    assert 0.1 < split.q[0] <= upper + 1e-9


@pytest.mark.parametrize('surface', [{}, {'torsional': 0.005, 'rolling': 0.002}])
def test_friction_of_a_heap_holds_the_robot(surface, monkeypatch):
    """That of 36 kg exceeds the force of the paddle."""
    simulator = pushed(monkeypatch, 40, 500, layers=3, mass=2.0, **surface)
    status, force = simulator.status, GAIN * SPEED
    assert status.contacts_truncated == 0 and status.contacts > 80
    at_paddle = [each for each in simulator.contacts if 'paddle' in each.first + each.second]
    pressed = sum(abs(each.force[0]) for each in at_paddle)
    assert pressed == pytest.approx(force, rel=1e-3)
    assert abs(simulator.v[0]) < 1e-6 and simulator.q[0] < 0.1
    assert max(each.depth for each in simulator.contacts) < 1e-5
    assert worst_residual(simulator) < 1e-6


def test_contacts_at_the_robot_beyond_the_room_are_counted(monkeypatch):
    simulator = pushed(monkeypatch, 12, 300, layers=3)  # twelve: of objects alone
    assert simulator.status.contacts_truncated > 0
