# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Momentum of free bases, against the robot's functions for momentum and center of mass."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from scipy.spatial.transform import Rotation
from support.simulated_robots import collision, joint, link, robot

from rbd_ros.compiler.loops import Vec
from rbd_ros.simulation import Physics, Simulator
from rbd_ros.simulation.stepping.free_base import (
    correct_free_bases,
    predict_free_bases,
)
from rbd_ros.simulation.stepping.rotations import rotation_of

h = 0.01


def tree(name):
    """Return a body with two arms."""
    links = (
        link(name, 2.0, (0.02, 0.03, 0.04), (0.1, -0.2, 0.3)),
        link(f'{name}l', 0.5, (0.002, 0.003, 0.004), (0.2, 0.1, 0)),
        link(f'{name}r', 0.7, (0.002, 0.003, 0.004), (0.2, 0, 0.1)),
    )
    return (
        *links,
        joint(f'{name}1', name, f'{name}l', 'continuous', (0, 0, 1), (0.1, 0, 0)),
        joint(f'{name}2', name, f'{name}r', 'continuous', (0, 1, 0), (-0.1, 0, 0)),
    )


GRAVITY = (1.0, -2.0, -9.0)
MASS = 2.0 + 0.5 + 0.7


@pytest.fixture(scope='module')
def physics():
    """Return two of them in one world, in tilted gravity."""
    subject = robot(
        link('world'),
        *(*tree('a'), *tree('b')),
        joint('to_a', 'world', 'a', 'floating'),
        joint('to_b', 'world', 'b', 'floating', xyz=(0.0, 0.0, 0.0)),
        gravity=GRAVITY,
    )
    found = Physics(subject)
    assert found.model.free_bases.tolist() == [[0, 4, 0], [9, 13, 8]]
    return found


@pytest.fixture(scope='module')
def one():
    """Return one of them alone, with its momentum."""
    return robot(*tree('a'), floating_base=True, gravity=GRAVITY)


def about_the_center(subject, q, v):
    """Return the mass, center of mass, and momentum about it, in base coordinates."""
    total, c = subject.momentum(q, v), subject.center_of_mass(q)
    return c, total[:3] - np.cross(c, total[3:]), total[3:]


@pytest.mark.parametrize('seed', range(4))
def test_momentum_changes_by_the_impulses_of_all_forces(physics, one, seed):
    rng = np.random.default_rng(seed)
    subject, state, work = physics.robot, physics.state, physics.fields.work
    physics.reset(subject.random_configuration(rng), rng.normal(size=16))
    model = physics.model._replace(damping=rng.uniform(0.1, 2.0, 16))
    work.dynamics.mass[:] = subject.mass_matrix(state.q)
    work.dynamics.applied_force[:] = rng.normal(size=16)
    impulse, next_v = work.problem.impulse, work.motion.next_v
    impulse[:], next_v[:] = h * rng.normal(size=16), rng.normal(size=16)
    predict_free_bases(model, state, work, h)
    forces = work.dynamics.applied_force + impulse / h - model.damping * next_v
    expected = []
    for base in range(2):
        at_q, at_v = slice(9 * base, 9 * base + 9), slice(8 * base, 8 * base + 8)
        # The forces on the base's joint are a couple about the body's origin and a force, along
        # its axes.
        q, v, force = state.q[at_q], state.v[at_v], forces[at_v]
        R = Rotation.from_quat(q[[1, 2, 3, 0]]).as_matrix()
        couple, pull = R @ force[:3], R @ force[3:6]
        c, angular, linear = about_the_center(one, q, v)
        angular = angular + h * (couple + np.cross(q[4:7] - c, pull))
        linear = linear + h * (pull + MASS * np.array(GRAVITY))
        expected.append((c + h * linear / MASS, angular, linear))
        found = work.free_bases
        assert_allclose(found.center_of_mass[base], expected[base][0], atol=1e-12)
        assert_allclose(found.angular_momentum[base], angular, atol=1e-12)
        assert_allclose(found.linear_momentum[base], linear, atol=1e-12)

    # The momentum is corrected after the step by the base alone.
    motion = work.motion
    motion.next_q[:] = subject.random_configuration(rng)
    motion.next_v[:] = next_v
    correct_free_bases(model, work.dynamics, motion, work.free_bases, True)
    for base in range(2):
        q, v = motion.next_q[9 * base : 9 * base + 9], motion.next_v[8 * base : 8 * base + 8]
        for value, reference in zip(about_the_center(one, q, v), expected[base], strict=True):
            assert_allclose(value, reference, atol=1e-11)
        assert list(v[6:]) == list(next_v[8 * base + 6 : 8 * base + 8])


def test_without_mass_nothing_is_corrected(physics):
    """As a base that is nothing but a frame, before anything hangs on it."""
    work, state = physics.fields.work, physics.state
    model = physics.model
    physics.reset(physics.robot.neutral(), np.ones(16))
    work.dynamics.mass[:] = 0.0
    work.problem.impulse[:], work.motion.next_v[:] = 0.0, 1.0
    predict_free_bases(model, state, work, h)
    assert list(work.free_bases.center_of_mass[0]) == [0.0, 0.0, 0.0]


def test_a_unit_quaternion_is_scipys_rotation(rng):
    for _ in range(5):
        quaternion = rng.normal(size=4)
        quaternion /= np.linalg.norm(quaternion)
        R = rotation_of(Vec(*quaternion))
        assert_allclose(R, Rotation.from_quat(quaternion[[1, 2, 3, 0]]).as_matrix(), atol=1e-14)


def test_a_base_stopped_by_the_world_has_the_velocity_of_its_contacts():
    """Another one flies past, and keeps its momentum as if it were alone."""
    ball = collision('sphere radius="0.05"')
    texts = ''.join((*tree('a'), *tree('b'))).replace('</inertial>', f'</inertial>{ball}')
    floating = (joint(f'to_{name}', 'world', name, 'floating') for name in 'ab')
    both, alone = robot(link('world'), texts, *floating), robot(*tree('b'), floating_base=True)
    simulator = Simulator(both, world={'objects': {'floor': {'type': 'plane'}}})
    q, v = both.neutral(), np.random.default_rng(3).uniform(-3.0, 3.0, both.nv)
    q[6], q[15] = 0.4, 20.0
    simulator.reset(q, v)
    start, bounds = about_the_center(alone, q[9:], v[8:]), []
    loads = [0.0]
    for _ in range(1000):
        q = simulator.q
        simulator.step()
        # Its own links touch each other as well.
        found = [x for x in simulator.contacts if 'floor' in (x.first, x.second)]
        loads.append(sum(abs(x.force @ x.normal) for x in found))
        for contact in found if loads[-1] > 1.5 * loads[-2] else ():
            touching = max(contact.first, contact.second)
            frame = both.frame(touching.removeprefix('robot/'), 'aligned')
            spatial, origin = frame.jacobian(q) @ simulator.v, frame.pose(q)[:3, 3]
            velocity = spatial[3:] + np.cross(spatial[:3], contact.position - origin)
            away = contact.normal if touching == contact.second else -contact.normal
            # A gap closes within the step.
            bounds.append(abs(away @ velocity - min(0.0, contact.depth) / 1e-3))
    assert len(bounds) > 3
    assert max(bounds) < 1e-10
    end = about_the_center(alone, simulator.q[9:], simulator.v[8:])
    assert_allclose(end[1], start[1], rtol=1e-11)
    assert_allclose(end[2], start[2] + 9.81 * MASS * np.array([0.0, 0.0, -1.0]), rtol=1e-11)
