# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Rules of use of spatial vectors (book 2.7), on moving bodies and on robots."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from scipy.linalg import expm
from support import dense, random_trees
from support.all_joints import slope
from support.random_trees import physical_inertia

from rbd_ros import Robot
from rbd_ros.spatial import MotionVector, RigidBodyInertia

TOLERANCE = {'rtol': 1e-11, 'atol': 1e-11}  # some hundred roundings of numbers of size 10


@pytest.fixture(scope='module')
def robot():
    """Return a floating tree with all types of joints, a gear and a link welded to another."""
    return Robot.from_urdf(random_trees.mixed_tree(4), floating_base=True)


@pytest.fixture
def state(robot, rng):
    """Return the position, velocity and acceleration."""
    return (robot.random_configuration(rng), *rng.normal(size=(2, robot.nv)))


def welded(robot):
    """Return two links of one body."""
    by_body = {}
    for name, link in robot.model.links.items():
        by_body.setdefault(link.body, []).append(name)
    return next(names for body, names in by_body.items() if body and len(names) > 1)[:2]


@pytest.mark.seed('SV09', kind='full')
def test_relative_velocity_and_acceleration_are_differences(robot, state):
    """Those of the joint between two bodies, without a term of Coriolis."""
    q, v, a = state
    model, h = robot.model, 1e-5
    for i, body in model.outward():
        if body.parent == 0 or i not in model.independent:
            continue
        child, parent = (robot.frame(x.name, 'base') for x in (body, model.body(body.parent)))
        S = np.zeros(6)
        columns = body.joint.motion_subspace(q[model.independent_slices[i][0]].tolist()).columns
        X = robot.frame(body.name).pose(q)
        for column, rate in zip(columns, v[model.independent_slices[i][1]]):
            turned = np.concatenate([X[:3, :3] @ column.angular, X[:3, :3] @ column.linear])
            turned[3:] += np.cross(X[:3, 3], turned[:3])
            S = S + rate * turned
        assert_allclose(child.velocity(q, v) - parent.velocity(q, v), S, **TOLERANCE)

        def relative(t, child=child, parent=parent):
            at, rates = robot.integrate(q, v * t + 0.5 * a * t * t), v + a * t
            return child.velocity(at, rates) - parent.velocity(at, rates)

        difference = child.acceleration(q, v, a) - parent.acceleration(q, v, a)
        # central differences: h^2 times third derivatives
        assert_allclose(difference, (relative(h) - relative(-h)) / (2 * h), atol=1e-6)


@pytest.mark.seed('SV09', kind='full')
def test_rigidly_connected_links_move_and_are_pushed_as_one(robot, state, rng):
    """Equal velocities and accelerations; forces on either add up, wherever they act."""
    q, v, a = state
    one, other = welded(robot)
    frames = [robot.frame(link, 'base') for link in (one, other)]
    assert_allclose(frames[0].velocity(q, v), frames[1].velocity(q, v), **TOLERANCE)
    assert_allclose(frames[0].acceleration(q, v, a), frames[1].acceleration(q, v, a), **TOLERANCE)
    f, g = rng.normal(size=(2, 6))
    apart = robot.inverse_dynamics(q, v, a, external_forces={one: f, other: g})
    for link in (one, other):
        together = robot.inverse_dynamics(q, v, a, external_forces={link: f + g})
        assert_allclose(apart, together, **TOLERANCE)


@pytest.mark.seed('SV09', kind='full')
def test_action_and_reaction_cancel_in_the_whole(robot, state, rng):
    """A force between two bodies does nothing to the floating base's six coordinates."""
    q, v, a = state
    f = rng.normal(size=6)
    bodies = [body.name for body in robot.model.bodies]
    pair = {bodies[1]: f, bodies[-1]: -f}
    free = robot.inverse_dynamics(q, v, a)
    pushed = robot.inverse_dynamics(q, v, a, external_forces=pair)
    assert_allclose(pushed[:6], free[:6], **TOLERANCE)
    assert np.abs(pushed - free).max() > 0.1


@pytest.mark.seed('SV09', kind='full')
def test_force_is_the_rate_of_momentum(rng):
    """F = d/dt (I v), in fixed coordinates, and so I a + v x* I v."""
    m, c, I_C = 1.7, rng.normal(size=3), physical_inertia(rng, 170.0)
    inertia, M = RigidBodyInertia.from_mass_center(m, c, I_C), dense.inertia(m, c, I_C)
    v, a = rng.normal(size=(2, 6))
    # velocity v + a t in the body's coordinates, where its derivative is the spatial acceleration

    def motion_of_body(t):
        """Return the exponential of the velocity's integral.

        Right to third order in t, which is enough.
        """
        X, steps = np.eye(6), 40
        for k in range(steps):
            middle = (k + 0.5) * t / steps
            X = expm(-(t / steps) * dense.crm(v + a * middle)) @ X
        return X

    def momentum(t):
        return motion_of_body(t).T @ M @ (v + a * t)

    velocity, acceleration = (MotionVector.from_array(x.tolist()) for x in (v, a))
    f = inertia * acceleration + velocity.cross(inertia * velocity)
    assert_allclose(slope(momentum), list(f), rtol=1e-9, atol=1e-9)


@pytest.mark.seed('SV09', kind='full')
def test_momentum_and_inertia_of_rigid_bodies_add(rng):
    bodies = [
        RigidBodyInertia.from_mass_center(m, rng.normal(size=3), physical_inertia(rng, m))
        for m in (0.7, 2.0)
    ]
    v = MotionVector.from_array(rng.normal(size=6).tolist())
    together = (bodies[0] + bodies[1]) * v
    assert_allclose(list(together), list(bodies[0] * v + bodies[1] * v), **TOLERANCE)
