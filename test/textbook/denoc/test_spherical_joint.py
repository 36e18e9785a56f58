# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A spherical joint equals three hinges with massless links (Saha 1999, after eq 15).

The recursions of the chapter have the hinges, those of the book the spherical joint.
"""

from dataclasses import replace

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.random_trees import chain

from rbd_ros import Robot
from rbd_ros.model import load_urdf, Model
from rbd_ros.model.joints import Spherical
from rbd_ros.spatial.rotation import rotation_to_quaternion

GRAVITY = (1.0, -2.0, -9.0)
UPPER = {
    'type': 'continuous',
    'axis': [0.6, 0.0, 0.8],
    'mass': 2.0,
    'center': [0.1, -0.2, 0.3],
    'inertia': [0.3, 0.01, 0.02, 0.4, -0.03, 0.5],
}
PLACE = {'xyz': [0.3, 0.1, -0.2], 'rpy': [0.4, -0.5, 0.6]}
MIDDLE = {
    'mass': 1.3,
    'center': [0.05, 0.2, -0.1],
    'inertia': [0.02, 0.003, 0.001, 0.03, -0.002, 0.04],
}
LOWER = {
    'type': 'prismatic',
    'axis': [0.0, 0.6, 0.8],
    'xyz': [0.1, 0.2, 0.3],
    'rpy': [0.3, 0.2, -0.7],
    'mass': 0.7,
    'center': [-0.1, 0.1, 0.2],
    'inertia': [0.02, 0.001, 0.002, 0.03, -0.003, 0.04],
}
# z, y, x in turn: the angles are those of R = Rz Ry Rx
HINGES = [
    dict(type='continuous', axis=[0, 0, 1], **PLACE),
    {'type': 'continuous', 'axis': [0, 1, 0]},
    dict(type='continuous', axis=[1, 0, 0], **MIDDLE),
]


def of_hinges():
    return Robot.from_urdf(chain([UPPER, *HINGES, LOWER]), gravity=GRAVITY)


def of_spherical_joint():
    text = chain([UPPER, dict(type='continuous', **PLACE, **MIDDLE), LOWER])
    model = load_urdf(text, False, GRAVITY)
    bodies = list(model.bodies)
    bodies[1] = replace(bodies[1], joint=Spherical())
    return Robot(Model.create('ball', bodies, model.links.values(), gravity=GRAVITY))


def turns(angles):
    """Return the rotations Rz, Ry, Rx; complex angles, too."""
    (cz, cy, cx), (sz, sy, sx) = np.cos(angles), np.sin(angles)
    return (
        np.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]]),
        np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]]),
        np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]]),
    )


def rates_matrix(angles):
    """Return matrix J of w = J rates, the angular velocity in coordinates of the turned body."""
    Rz, Ry, Rx = turns(angles)
    z, y, x = np.array([0, 0, 1]), np.array([0, 1, 0]), np.array([1, 0, 0])
    return np.column_stack([(Ry @ Rx).T @ z, Rx.T @ y, x])


def expanded(J):
    """Return J for all joints: one before and one after the spherical one."""
    G = np.eye(5, dtype=J.dtype)
    G[1:4, 1:4] = J
    return G


@pytest.mark.seed('DN17', kind='full')
def test_three_hinges_move_like_a_spherical_joint(rng):
    """Inertia, forces and accelerations agree, once rates of angles become angular velocities."""
    hinges, ball = of_hinges(), of_spherical_joint()
    for _ in range(10):
        q, v, a = rng.uniform(-1.2, 1.2, (3, 5))
        Rz, Ry, Rx = turns(q[1:4])
        quaternion = rotation_to_quaternion((Rz @ Ry @ Rx).tolist())
        q_ball = np.r_[q[0], quaternion, q[4]]
        G = expanded(rates_matrix(q[1:4]))
        G_rate = expanded(rates_matrix(q[1:4] + 1e-30j * v[1:4])).imag / 1e-30
        v_ball, a_ball = G @ v, G @ a + G_rate @ v
        H, M = ball.mass_matrix(q_ball), hinges.denoc.mass_matrix(q)
        assert_allclose(M, G.T @ H @ G, atol=1e-13)
        tau_ball = ball.inverse_dynamics(q_ball, v_ball, a_ball)
        tau = hinges.denoc.inverse_dynamics(q, v, a)
        assert_allclose(tau, G.T @ tau_ball, atol=1e-12)
        found = hinges.denoc.forward_dynamics(q, v, G.T @ tau_ball)
        # a joint turned by 70 degrees leaves the hinges a little reluctant
        assert_allclose(found, a, atol=1e-10)
        given = rng.uniform(-1.0, 1.0, 5)
        a_ball = ball.forward_dynamics(q_ball, v_ball, given)
        found = hinges.denoc.forward_dynamics(q, v, G.T @ given)
        assert_allclose(G @ found + G_rate @ v, a_ball, atol=1e-9 * np.abs(a_ball).max())
