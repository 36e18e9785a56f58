# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Motion with contacts as constraints: held contacts, and projection on the constraints."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.states import named_robot, random_state

from rbd_ros.textbook.simulation import FaceContact, SphereContact
from rbd_ros.textbook.simulation.constrained_motion import ConstrainedMotion


def subject(active=(0, 1)):
    robot = named_robot('floating base')
    first, last = robot.link_names[1], robot.link_names[-1]
    contacts = [
        FaceContact(last, (0.1, 0.2, -0.1), normal=(0.0, 1.0, 2.0)),
        SphereContact(last, None, radius=0.3, center=(0.1, 0.0, 0.0)),
        FaceContact(first, (0.3, 0.2, 0.1)),
    ]
    motion = ConstrainedMotion(robot, contacts, lambda t, q, v: np.full(robot.nv, t))
    motion.active = active
    return robot, motion


@pytest.mark.seed('CN09')
def test_active_contacts_do_not_accelerate_apart():
    """Their zeta' is zero, by forces on them alone: H a + C = tau + T lambda."""
    robot, motion = subject()
    q, v, _ = random_state(robot)
    a = motion.acceleration(0.7, q, v)
    equations = motion.equations(0.7, q, v)
    forces = motion.forces(equations)
    zeta_dot = equations.M @ forces + equations.d
    assert_allclose(zeta_dot[:2], 0.0, atol=1e-9)
    assert forces[2] == 0.0 and np.abs(forces[:2]).min() > 1e-3
    left = robot.inverse_dynamics(q, v, a) - 0.7 - equations.T @ forces
    assert_allclose(left, 0.0, atol=1e-8)
    values = motion.values(0.7, q, v)
    assert_allclose(values.force, forces, rtol=1e-12)
    assert_allclose(values.rate, equations.velocity, rtol=1e-12)
    motion.active = ()
    free = motion.acceleration(0.7, q, v)
    assert_allclose(free, robot.forward_dynamics(q, v, np.full(robot.nv, 0.7)), rtol=1e-9)


@pytest.mark.seed('CN09')
def test_a_state_off_the_constraints_is_taken_back_the_shortest_way():
    """Gaps and their rates to zero; changes are H^-1 T x, the least of kinetic energy."""
    robot, motion = subject()
    for seed in range(20):  # from anywhere to the constraints, if it gets there, and a little off
        q, v, _ = random_state(robot, seed)
        for _ in range(30):
            q, _ = motion.projected(0.0, q, v)
        if np.abs(motion.gaps(q, v).gap[:2]).max() < 1e-12:
            break
    off = robot.integrate(q, 1e-4 * np.ones(robot.nv))
    assert np.abs(motion.gaps(off, v).gap[:2]).max() > 1e-6
    back, moving = motion.projected(0.0, off, v)
    assert_allclose(motion.gaps(back, moving).gap[:2], 0.0, atol=1e-11)
    equations = motion.equations(0.0, back, moving)
    assert_allclose(equations.velocity[:2], 0.0, atol=1e-11)
    assert np.abs(motion.equations(0.0, back, v).velocity[:2]).min() > 1e-3
    pulled = robot.mass_matrix(back) @ (moving - v)
    T = equations.T[:, :2]
    assert_allclose(T @ np.linalg.lstsq(T, pulled, rcond=None)[0], pulled, atol=1e-9)
    # The position goes the same way: its change by first order is H^-1 T x as well.
    moved = robot.difference(off, back)
    pushed = robot.mass_matrix(off) @ moved
    T = motion.equations(0.0, off, v).T[:, :2]
    left = T @ np.linalg.lstsq(T, pushed, rcond=None)[0] - pushed
    assert np.linalg.norm(left) < 1e-2 * np.linalg.norm(pushed)
    motion.active = ()
    same_q, same_v = motion.projected(0.0, off, v)
    assert same_q is off and same_v is v
