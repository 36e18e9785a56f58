# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Rolling: three rows of velocity per contact, which are nonholonomic."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.contacts import random_geometry, separation, separation_bias
from support.textbook_trees import check, every_tree, named_tree, run

from rbd_ros import Robot
from rbd_ros.algorithms.closed_loops.constraint_rank import constraint_rank
from rbd_ros.algorithms.closed_loops.direct_solution import direct_solution
from rbd_ros.textbook.contact_dynamics.contact_kinds import CONTACTS
from rbd_ros.textbook.contact_dynamics.rolling_constraints import rolling_constraints

RADIUS, MASS, GRAVITY = 0.1, 2.0, 9.81
INERTIA = 0.4 * MASS * RADIUS**2
BALL = (
    f'<robot name="r"><link name="ball"><inertial><mass value="{MASS}"/><inertia ixx="{INERTIA}" '
    f'ixy="0" ixz="0" iyy="{INERTIA}" iyz="0" izz="{INERTIA}"/></inertial></link></robot>'
)


def axes_of(n):
    rest = np.linalg.svd(np.asarray(n)[None])[2][1:]
    return np.vstack([n, rest])


class Rolling:
    """A ball on a plane through the origin."""

    def __init__(self, n):
        self.robot = Robot.from_urdf(BALL, floating_base=True)
        self.contacts = self.robot.contacts.between([(None, 'ball')], tangents=True)
        self.axes = axes_of(n)

    def geometry(self, q, v):
        C = q[4:] - RADIUS * self.axes[0]
        zero = np.zeros((1, 3, 3))
        rates = self.contacts.surface_rates(q, v, [C], [self.axes], zero, [RADIUS * np.eye(3)])
        return [C], [self.axes], *rates

    def constraints(self, q, v):
        return self.contacts.rolling(q, v, *self.geometry(q, v))

    def acceleration(self, q, v):
        K, velocity, k = self.constraints(q, v)
        H, C = self.robot.mass_matrix(q), self.robot.bias_force(q, v)
        return direct_solution(H, -C, K, k, constraint_rank(K))

    def velocity(self, q, spin):
        """Return velocity in body coordinates for an angular velocity in space, without slip."""
        rotation = self.robot.forward_kinematics(q)['ball'][:3, :3]
        linear = np.cross(spin, RADIUS * self.axes[0])
        return np.concatenate([rotation.T @ spin, rotation.T @ linear])


@pytest.mark.seed('CT08', kind='full')
def test_a_rolling_ball_has_three_dofs_of_velocity():
    """K has rank 3 of 6: it rolls two ways and spins; no other motion, and no power of lambda."""
    rng = np.random.default_rng(1)
    ball = Rolling(np.array([0.0, 0.6, 0.8]))
    for _ in range(5):
        q = np.concatenate([rng.normal(size=4), 0.3 * rng.normal(size=3)])
        q[:4] /= np.linalg.norm(q[:4])
        K, velocity, _ = ball.constraints(q, rng.normal(size=6))
        assert K.shape == (3, 6) and np.linalg.matrix_rank(K) == 3
        found = constraint_rank(K)
        assert found.G.shape == (6, 3)
        spins = np.array([ball.velocity(q, spin) for spin in np.eye(3)])
        assert_allclose(K @ spins.T, 0.0, atol=1e-14)
        assert np.linalg.matrix_rank(np.vstack([spins, found.G.T]), 1e-9) == 3
        v = spins.T @ rng.normal(size=3)
        assert_allclose(ball.constraints(q, v).velocity, 0.0, atol=1e-14)
        _, force = ball.acceleration(q, v)
        assert abs((K.T @ force) @ v) < 1e-12


@pytest.mark.seed('CT08', kind='full')
def test_it_gets_to_other_orientations_in_the_same_place():
    """Rolled round a square it is back where it was, turned: the constraint is not integrable.

    So are five DoFs of position reached by three of velocity: the brackets of the rolling
    motions span all motions but that along the normal.
    """
    ball = Rolling(np.array([0.0, 0.0, 1.0]))
    robot = ball.robot
    q = start = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, RADIUS])
    for spin in ([0, 1.0, 0], [-1.0, 0, 0], [0, -1.0, 0], [1.0, 0, 0]):
        # Rolled straight on, by a quarter turn: a constant angular velocity of space and body.
        v = ball.velocity(q, np.array(spin) * np.pi / 2)
        assert_allclose(ball.constraints(q, v).velocity, 0.0, atol=1e-14)
        for _ in range(100):
            v = ball.velocity(q, np.array(spin) * np.pi / 2)
            half = robot.integrate(q, v, 0.005)
            q = robot.integrate(q, ball.velocity(half, np.array(spin) * np.pi / 2), 0.01)
    assert_allclose(q[4:], start[4:], atol=1e-10)
    turned = robot.difference(start, q)
    assert np.linalg.norm(turned[:3]) > 1.0
    # Brackets of left-invariant motions: rolling along x and y and spinning, taken once more.
    R = RADIUS

    def twist(w, p):
        return np.concatenate([w, np.cross(w, R * np.array([0, 0, 1.0])) - np.cross(w, p)])

    def field(w):
        return lambda p: twist(w, p)

    def bracket(f, g, p, h=1e-6):
        def along(a, b):  # of the spatial velocity fields on the group, at the center p
            move = a(p)
            velocity = move[3:] + np.cross(move[:3], p)
            return (b(p + h * velocity) - b(p - h * velocity)) / (2 * h)

        x, y = f(p), g(p)
        crossed = np.concatenate(
            [np.cross(x[:3], y[:3]), np.cross(x[:3], y[3:]) + np.cross(x[3:], y[:3])]
        )
        return along(f, g) - along(g, f) - crossed

    p = np.array([0.3, -0.2, R])
    basis = [field(w) for w in np.eye(3)]
    first = [f(p) for f in basis]
    brackets = [bracket(basis[i], basis[j], p) for i, j in ((0, 1), (0, 2), (1, 2))]
    everything = [*first, *brackets]
    x, y = basis[0], basis[1]
    everything.append(bracket(x, lambda at: bracket(x, y, at), p, 1e-4))
    everything.append(bracket(y, lambda at: bracket(x, y, at), p, 1e-4))
    assert np.linalg.matrix_rank(first) == 3
    assert np.linalg.matrix_rank(everything, 1e-4) == 5


@pytest.mark.seed('CT08', 'CN11', kind='full')
def test_it_rolls_down_a_slope_at_five_sevenths():
    """By K a = k alone: a = 5/7 g sin(angle), at any spin and any velocity of rolling."""
    angle = 0.3
    n = np.array([-np.sin(angle), 0.0, np.cos(angle)])
    down = np.array([-np.cos(angle), 0.0, -np.sin(angle)])
    ball = Rolling(n)
    rng = np.random.default_rng(3)
    for spin in (np.zeros(3), rng.normal(size=3), 20.0 * n):
        q = np.concatenate([rng.normal(size=4), RADIUS * n])
        q[:4] /= np.linalg.norm(q[:4])
        v = ball.velocity(q, spin)
        a, force = ball.acceleration(q, v)
        found = ball.robot.frame('ball', 'aligned').acceleration(q, v, a)[3:]
        assert_allclose(found, 5.0 / 7.0 * GRAVITY * np.sin(angle) * down, atol=1e-11)
        assert force[0] == pytest.approx(MASS * GRAVITY * np.cos(angle))
        friction = ball.axes[1:].T @ force[1:]
        assert_allclose(friction, -2.0 / 7.0 * MASS * GRAVITY * np.sin(angle) * down, atol=1e-11)


@pytest.mark.seed('CT08')
@every_tree
def test_rows_are_relative_velocities_of_textbooks(name):
    tree = named_tree(name)
    names = [body.name for body in tree.model.bodies]
    pairs = ((None, names[-1]), (names[1], names[4]))
    given = {'contacts': CONTACTS.resolve(tree.model, pairs), 'tangents': True}
    q, v, _ = tree.states[0]
    geometry = random_geometry(np.random.default_rng(5), 2, True)
    K, velocity, k = run(rolling_constraints, tree.model, q=q, v=v, **geometry.flat, **given)
    expected = separation(tree.book, q, geometry.points, geometry.directions, pairs)
    check('K', name, K, expected)
    check('K v', name, velocity, expected @ v)
    check('k', name, k, -separation_bias(tree.book, q, v, geometry, pairs), 1e-12)
