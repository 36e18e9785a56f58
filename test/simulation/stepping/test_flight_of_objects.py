# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Free flight and rotation of movable objects: invariants of the free rigid body."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation
from support.rigid_worlds import kinetic_energy

from rbd_ros import Simulator
from rbd_ros.simulation.stepping.free_bodies import is_round

ROD, BRICK, DISC = (0.02, 0.03, 0.4), (0.1, 0.2, 0.3), (0.2, 0.2, 0.01)


def flying(size, spin, h=1e-3):
    box = {
        'type': 'box',
        'size': list(size),
        'mass': 1.5,
        'static': False,
        'velocity': {'linear': [0.1, 0.2, 0.3], 'angular': list(spin)},
    }
    return Simulator(None, world={'gravity': [0, 0, 0], 'objects': {'b': box}}, timestep=h)


@pytest.mark.parametrize(
    'size, spin, h, seconds',
    [
        (ROD, (75.0, 7.5, 15.0), 1e-3, 30.0),
        (ROD, (40.0, 4.0, 8.0), 2e-3, 30.0),
        (ROD, (150.0, 15.0, 30.0), 1e-3, 10.0),
        (ROD, (2000.0, 100.0, 300.0), 1e-3, 3.0),
        (BRICK, (60.0, 60.0, 60.0), 1e-3, 30.0),
        (BRICK, (1.0, 25.0, 1.0), 1e-2, 60.0),
        (DISC, (100.0, 0.0, 60.0), 1e-3, 20.0),
    ],
)
def test_the_energy_of_a_rotating_body_does_not_grow(size, spin, h, seconds):
    """Its error is bounded, by the square of the turn in a step."""
    simulator = flying(size, spin, h)
    start, momentum = kinetic_energy(simulator), simulator.physics.objects.angular_momentum.copy()
    found = []
    for _ in range(60):
        simulator.step(n=round(seconds / 60 / h))
        found.append(kinetic_energy(simulator) / start - 1.0)
    assert np.abs(found).max() < 2e-3
    # As large at the beginning as at the end.
    assert np.abs(found[-20:]).max() < 2.0 * np.abs(found[:20]).max() + 1e-9
    assert np.array_equal(simulator.physics.objects.angular_momentum, momentum)


@pytest.mark.parametrize('spin', [(0.0, 0.0, 0.0), (3.0, -1.0, 2.0), (3000.0, 100.0, -7000.0)])
def test_cubes_turn_evenly_about_any_axis(spin):
    simulator = flying((0.3, 0.3, 0.3), spin)
    simulator.step(n=500)
    turned = Rotation.from_rotvec(0.5 * np.array(spin)).as_matrix()
    assert_allclose(simulator.object_pose('b')[:3, :3], turned, atol=1e-9)
    assert_allclose(simulator.object_velocity('b')[:3], spin, rtol=1e-9, atol=1e-9)


def test_a_round_body_has_equal_moments_and_no_products_of_inertia():
    assert is_round(2.0 * np.eye(3))
    for r, s in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)):
        inertia = 2.0 * np.eye(3)
        inertia[r, s] += 0.1
        inertia[s, r] = inertia[r, s]
        assert not is_round(inertia)


def test_the_rule_is_its_own_reverse():
    simulator = flying(ROD, (75.0, 7.5, 15.0))
    start = simulator.object_pose('b')
    simulator.step(n=400)
    assert np.abs(simulator.object_pose('b')[:3, :3] - start[:3, :3]).max() > 0.1
    objects = simulator.physics.objects
    objects.angular_momentum[:], objects.velocity[:] = -objects.angular_momentum, -objects.velocity
    simulator.step(n=400)
    assert_allclose(simulator.object_pose('b'), start, atol=1e-9)


def test_it_is_of_second_order():
    """Against Euler's equations by an integrator with tolerances."""
    m, (a, b, c) = 1.5, BRICK
    inertia = m / 12.0 * np.array([b * b + c * c, a * a + c * c, a * a + b * b])
    spin, seconds = np.array([6.0, 9.0, 3.0]), 0.4

    def rate(_, x):
        w, R = x[:3], x[3:].reshape(3, 3)
        W = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
        return np.concatenate([np.cross(inertia * w, w) / inertia, (R @ W).ravel()])

    x = np.concatenate([spin, np.eye(3).ravel()])
    end = solve_ivp(rate, (0.0, seconds), x, rtol=1e-12, atol=1e-12).y[3:, -1].reshape(3, 3)
    errors = []
    for h in (4e-3, 2e-3, 1e-3):
        simulator = flying(BRICK, spin, h)
        simulator.step(n=round(seconds / h))
        errors.append(np.abs(simulator.object_pose('b')[:3, :3] - end).max())
    assert errors[-1] < 5e-5
    assert_allclose(np.divide(errors[:-1], errors[1:]), 4.0, rtol=0.1)
