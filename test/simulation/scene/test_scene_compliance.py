# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Compliant contacts in simulated worlds: springs and dampers by hand, with rigid contacts."""

import numpy as np
import pytest
from support.rigid_worlds import ball, cube, G, kinetic_energy, simulated, worst_residual
from support.simulated_robots import at, body, collision

R = 0.1  # of all balls, and half of all cubes [m]


def spring(stiffness, damping=0.0):
    return {'stiffness': stiffness, 'damping': damping}


def height(simulator, name='body'):
    return simulator.object_pose(name)[2, 3]


@pytest.mark.parametrize('h', [1e-3, 1e-2])
@pytest.mark.parametrize('K, D', [(1e4, 100.0), (1e7, 0.0), (1e7, 1e3)])
def test_a_body_at_rest_sinks_by_its_weight_over_the_stiffness(K, D, h):
    mass = 2.0
    simulator = simulated(h=h, body=ball(mass=mass, compliance=spring(K, D)))
    simulator.step(n=3000)
    assert abs(R - height(simulator) - mass * G / K) < 1e-10
    assert np.abs(simulator.object_velocity('body')).max() < 1e-9
    assert worst_residual(simulator) < 1e-12 and simulator.status.unconverged_steps == 0


def test_a_soft_body_stays_sunk_for_as_long_as_it_lies():
    """No correction separates compliant overlaps."""
    K, mass = 1e3, 2.0
    start = cube(z=R - mass * G / (4 * K), mass=mass, compliance=spring(K, 10.0))
    simulator = simulated(body=start)
    simulator.step(n=2000)
    assert abs(R - height(simulator) - mass * G / (4 * K)) < 1e-12
    assert np.abs(simulator.object_velocity('body')).max() < 1e-9


def implicit_euler(z, v, mass, K, D, h, count):
    """Return the heights of a ball over a compliant floor, by the written law."""
    found = []
    for _ in range(count):
        gap, free = z - R, v - h * G
        if gap >= 0.0:
            # The surface moves from where it is not deformed to where the ball ends.
            v = (mass * free - (h * K + D) * gap) / (mass + h * (h * K + D))
            contact_state = gap + h * v < 0.0
        else:
            v = (mass * free - h * K * gap) / (mass + h * (h * K + D))
            contact_state = K * (-gap - h * v) - D * v > 0.0
        if contact_state:
            z += h * v
        else:
            z += h * (free + h * G / 2)
            v = free
        found.append(z)
    return np.array(found)


@pytest.mark.parametrize('K, D', [(2e4, 20.0), (2e3, 0.0), (1e4, 400.0), (1e7, 10.0)])
def test_a_ball_that_falls_obeys_implicit_euler(K, D):
    """Through first touch, compression, lift-off and the next fall."""
    mass, h, z = 1.5, 1e-3, 0.131
    simulator = simulated(h=h, body=ball(z=z, mass=mass, compliance=spring(K, D)))
    heights = []
    for _ in range(400):
        simulator.step()
        heights.append(height(simulator))
    expected = implicit_euler(z, 0.0, mass, K, D, h, 400)
    assert np.abs(heights - expected).max() < 1e-9
    assert (np.array(heights) < R).any()


def test_the_motion_tends_to_that_of_a_damped_spring():
    """About the equilibrium, m z'' = -K z - D z'; the error is of first order."""
    mass, K, D, v, time = 2.0, 5e3, 30.0, -0.03, 0.1
    decay, sunk = D / (2 * mass), mass * G / K
    turning = np.sqrt(K / mass - decay**2)
    expected = v / turning * np.exp(-decay * time) * np.sin(turning * time)
    errors = []
    for h in (2e-4, 1e-4):
        start = ball(z=R - sunk, velocity=(0, 0, v), mass=mass, compliance=spring(K, D))
        simulator = simulated(h=h, body=start)
        simulator.step(n=round(time / h))
        errors.append(height(simulator) - (R - sunk) - expected)
    assert abs(errors[1]) < 0.03 * abs(v) / turning
    assert 1.8 < errors[0] / errors[1] < 2.2


def test_a_stack_sinks_as_springs_in_series():
    soft = spring(1e4, 50.0)
    simulator = simulated(
        a=cube(compliance=soft), b=cube(z=0.3, mass=2.0, compliance=soft), c=cube(z=0.5, mass=3.0)
    )
    simulator.step(n=4000)
    first, second, third = 6 * G / 4e4, 5 * G / (4 * 5e3), 3 * G / 4e4
    for name, z, sunk in (
        ('a', 0.1, first), ('b', 0.3, first + second), ('c', 0.5, first + second + third)
    ):  # fmt: skip
        assert abs(z - height(simulator, name) - sunk) < 1e-7
    assert worst_residual(simulator) < 1e-12


def test_compliant_and_rigid_contacts_are_one_problem():
    """A cube on a rigid floor carries one on springs, and a rigid one on top of that."""
    pairs = [{'links': ['a', 'b'], 'compliance': spring(1e4, 200.0)}]
    simulator = simulated(pairs=pairs, a=cube(), b=cube(z=0.3), c=cube(z=0.5))
    simulator.step(n=3000)
    sunk = 2 * G / 4e4
    for name, z in (('a', 0.1), ('b', 0.3 - sunk), ('c', 0.5 - sunk)):
        assert abs(height(simulator, name) - z) < 1e-8
    assert worst_residual(simulator) < 1e-12
    support = sum(each.force for each in simulator.contacts if each.first == 'floor')
    assert abs(support[2] - 3 * G) < 1e-6


@pytest.mark.parametrize('count', [1, 7])
def test_only_overlaps_of_rigid_contacts_are_corrected(count):
    """Light cubes in a heavy plate, which lies deep in a soft floor and stays there."""
    mass, sunk, deep = 1e3, 0.02, 0.01
    K = (mass + count) * G / (4 * sunk)
    plate = cube(z=0.1 - sunk, mass=mass)
    plate['size'] = [6.0, 6.0, 0.2]
    cubes = {f'c{k}': cube(x=0.6 * k - 2.0, z=0.3 - sunk - deep) for k in range(count)}
    pairs = [{'links': ['floor', 'plate'], 'compliance': spring(K, 1e5)}]
    simulator = simulated(pairs=pairs, plate=plate, **cubes)
    simulator.step(n=40)
    assert abs(height(simulator, 'plate') - (0.1 - sunk)) < 5e-4
    for name in cubes:
        assert abs(height(simulator, name) - height(simulator, 'plate') - 0.2) < 1e-4


def test_each_contact_point_has_its_own_spring():
    """Also where a face lies on two bodies in one plane, the corners of which would be enough."""
    K, slab = 1e4, {'type': 'box', 'size': [1, 1, 0.1]}
    simulator = simulated(
        floor=False,
        left=dict(slab, xyz=[-0.52, 0, -0.05]),
        right=dict(slab, xyz=[0.48, 0, -0.05]),
        body=cube(compliance=spring(K, 400.0)),
    )
    simulator.step(n=3000)
    contacts = simulator.contacts
    assert len(contacts) == 8
    for each in contacts:
        assert abs(abs(each.force[2]) - K * each.depth) < 1e-3
    assert abs(sum(abs(each.force[2]) for each in contacts) - G) < 1e-4


def test_a_tall_stack_on_springs_sinks_likewise():
    """More contacts than a matrix is made of."""
    K, count = 1e5, 10
    blocks = {f'b{k}': cube(z=0.1 + 0.2 * k, compliance=spring(K, 400.0)) for k in range(count)}
    simulator = simulated(**blocks)
    assert simulator.physics.model.scene.has_friction_moments is False
    simulator.step(n=3000)
    assert simulator.status.contacts == 4 * count
    sunk = 0.0
    for k in range(count):
        sunk += (count - k) * G / (4 * K * (1.0 if k == 0 else 0.5))
        assert abs(0.1 + 0.2 * k - height(simulator, f'b{k}') - sunk) < 1e-6


def test_friction_is_coulombs_on_top_of_the_spring():
    mu, K, mass, n = 0.3, 1e4, 2.0, 200
    pairs = [{'links': ['body', 'floor'], 'friction': mu}]
    start = ball(z=R - mass * G / K, mass=mass, velocity=(3.0, 0, 0), compliance=spring(K, 50.0))
    simulator = simulated(pairs=pairs, body=start)
    for _ in range(n):
        simulator.step()
        assert worst_residual(simulator) < 1e-12
    # It slides for 2 v / (7 mu g) = 0.29 s, and the moment of friction makes it turn.
    velocity, lever = simulator.object_velocity('body'), R - 0.5 * mass * G / K
    assert abs(velocity[3] - (3.0 - mu * G * n * 1e-3)) < 1e-6
    assert abs(velocity[1] - 2.5 * mu * G * lever / R**2 * n * 1e-3) < 1e-4


def test_a_compliant_pair_has_no_restitution_besides():
    """An overdamped spring returns nothing, for any coefficient of restitution."""
    K, mass = 1e4, 1.0
    soft = spring(K, 20 * np.sqrt(K * mass))
    start = ball(z=R + 1e-3, velocity=(0, 0, -1.0), mass=mass, restitution=1.0, compliance=soft)
    simulator = simulated(body=start)
    for _ in range(300):
        simulator.step()
        assert simulator.object_velocity('body')[5] < 1e-3


def test_stiff_contacts_are_stable_and_take_energy_only():
    """Light bodies that are thrown at each other, h sqrt(K / m) = 100."""
    rng = np.random.default_rng(1)
    objects = {}
    for k in range(6):
        place = rng.uniform(-0.3, 0.3, 3)
        make = cube if k % 2 else ball
        further = {'velocity': (-5 * place).tolist(), 'spin': rng.uniform(-5, 5, 3).tolist()}
        further['compliance'] = spring(1e7, 5.0 * (k % 3))
        objects[f'body{k}'] = make(*place.tolist(), mass=1e-3, friction=0.4, **further)
    simulator = simulated(floor=False, gravity=(0, 0, 0), **objects)
    for name in objects:  # apart from each other at the start, so that no spring is pressed
        pose = simulator.object_pose(name)
        pose[:3, 3] *= 3.0
        simulator.place_object(name, pose, simulator.object_velocity(name))
    energy, in_contact = kinetic_energy(simulator), 0
    for _ in range(800):
        simulator.step()
        in_contact += len(simulator.contacts)
        assert kinetic_energy(simulator) < energy * (1.0 + 1e-9)
    assert in_contact > 5


def test_a_robot_stands_on_springs_too():
    robot, K = body(2.0, [0.4 * 2.0 * R**2] * 3, collision(f'sphere radius="{R}"')), 1e4
    pairs = [{'links': ['robot', 'floor'], 'compliance': spring(K, 100.0)}]
    simulator = simulated(robot=robot, pairs=pairs)
    simulator.reset(at((0, 0, R)))
    simulator.step(n=2000)
    assert abs(R - simulator.q[6] - 2.0 * G / K) < 1e-10
    assert abs(simulator.contacts[0].depth - 2.0 * G / K) < 1e-10
