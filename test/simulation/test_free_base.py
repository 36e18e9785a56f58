"""The momentum of free bases, against momentum and centre of mass as the robot's own say them."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from scipy.spatial.transform import Rotation
from support.simulated_robots import joint, link, robot

from rbd_ros.simulation import World
from rbd_ros.simulation.free_base import correct_free_bases, predict_free_bases, rotation

h = 0.01


@pytest.fixture(scope='module')
def world():
    """A body with two arms, in tilted gravity."""
    return World(
        robot(
            link('trunk', 2.0, (0.02, 0.03, 0.04), (0.1, -0.2, 0.3)),
            link('left', 0.5, (0.002, 0.003, 0.004), (0.2, 0.1, 0)),
            link('right', 0.7, (0.002, 0.003, 0.004), (0.2, 0, 0.1)),
            joint('turn', 'trunk', 'left', 'continuous', (0, 0, 1), (0.1, 0, 0)),
            joint('slide', 'trunk', 'right', 'continuous', (0, 1, 0), (-0.1, 0, 0)),
            floating_base=True,
            gravity=(1.0, -2.0, -9.0),
        )
    )


def about_the_centre(subject, q, v):
    """Mass, centre of mass, and momentum about it, in base coordinates."""
    total, c = subject.momentum(q, v), subject.centre_of_mass(q)
    return c, total[:3] - np.cross(c, total[3:]), total[3:]


@pytest.mark.parametrize('seed', range(4))
def test_momentum_changes_by_the_impulses_of_all_forces(world, seed):
    rng = np.random.default_rng(seed)
    subject, state, work = world.robot, world.state, world.fields.work
    world.reset(subject.random_configuration(rng), rng.normal(size=8))
    plant = world.plant._replace(damping=rng.uniform(0.1, 2.0, 8))
    work.dynamics.mass[:] = subject.mass_matrix(state.q)
    work.dynamics.applied_force[:] = rng.normal(size=8)
    impulse, next_v = h * rng.normal(size=8), rng.normal(size=8)
    predict_free_bases(plant, state, work.dynamics, impulse, next_v, work.free_bases, h)

    # The forces on the base's joint are a couple about the body's origin and a force, along its
    # axes.
    force = work.dynamics.applied_force + impulse / h - plant.damping * next_v
    R = Rotation.from_quat(state.q[[1, 2, 3, 0]]).as_matrix()
    couple, pull = R @ force[:3], R @ force[3:6]
    mass = 2.0 + 0.5 + 0.7
    c, angular, linear = about_the_centre(subject, state.q, state.v)
    angular = angular + h * (couple + np.cross(state.q[4:7] - c, pull))
    linear = linear + h * (pull + mass * subject.gravity)
    centre = c + h * linear / mass
    bases = work.free_bases
    assert_allclose(bases.angular_momentum[0], angular, atol=1e-12)
    assert_allclose(bases.linear_momentum[0], linear, atol=1e-12)
    assert_allclose(bases.centre_of_mass[0], centre, atol=1e-12)

    # And it is corrected to that, whatever the step made of it: by the base alone.
    motion = work.motion
    motion.next_q[:] = subject.random_configuration(rng)
    motion.next_v[:] = next_v
    correct_free_bases(plant, work.dynamics, motion, bases)
    found = about_the_centre(subject, motion.next_q, motion.next_v)
    for value, expected in zip(found, (centre, angular, linear), strict=True):
        assert_allclose(value, expected, atol=1e-11)
    assert list(motion.next_v[6:]) == list(next_v[6:])


def test_without_mass_nothing_is_corrected(world):
    """As a base that is nothing but a frame, before anything hangs on it."""
    work, state = world.fields.work, world.state
    plant = world.plant
    world.reset(world.robot.neutral(), np.ones(8))
    work.dynamics.mass[:] = 0.0
    predict_free_bases(plant, state, work.dynamics, np.zeros(8), np.ones(8), work.free_bases, h)
    assert list(work.free_bases.centre_of_mass[0]) == [0.0, 0.0, 0.0]


def test_a_unit_quaternion_is_scipys_rotation(rng):
    for _ in range(5):
        quaternion, R = rng.normal(size=4), np.empty((3, 3))
        quaternion /= np.linalg.norm(quaternion)
        rotation(np.r_[7.0, quaternion], 1, R)
        assert_allclose(R, Rotation.from_quat(quaternion[[1, 2, 3, 0]]).as_matrix(), atol=1e-14)
