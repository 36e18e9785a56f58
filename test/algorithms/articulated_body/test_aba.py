# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Articulated-body algorithm against the solution of the equation of motion.

It runs on all joints of a tree, with or without gears; forward dynamics of a tree with gears uses
another method (forward_dynamics.py).
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import random_trees
from support.reference import rodrigues
from support.textbook import Textbook
from support.textbook_trees import check, every_free_tree, every_tree, named_tree

from rbd_ros.algorithms.articulated_body.aba import aba, plus_diagonal, times_inverse
from rbd_ros.algorithms.inertia_matrix.factorization import ltdl
from rbd_ros.model import load_urdf
from rbd_ros.model.joints import Prismatic, Spherical
from rbd_ros.model.joints.joint_type import JointState
from rbd_ros.spatial import ForceVector, MotionVector, PluckerTransform
from rbd_ros.spatial.rotation import rotation_to_quaternion


def accelerations(tree, state, forces=True, diagonal=None):
    """Of the text, and of the textbook."""
    q, v, tau = state
    ours = aba(
        tree.model,
        *(x.tolist() for x in state),
        tree.forces_on_bodies if forces else None,
        None if diagonal is None else diagonal.tolist(),
    )
    given = tree.forces if forces else {}
    extra = 0.0 if diagonal is None else diagonal
    return ours, tree.ungeared.forward_dynamics(q, v, tau, given, extra)


def tolerance(tree, q):
    """Return the rounding of H moves the solution of H a = b by cond(H) eps."""
    return max(1e-13, 4 * np.finfo(float).eps * np.linalg.cond(tree.ungeared.mass_matrix(q)))


@pytest.mark.seed('AB08', 'FO05', kind='full')
@pytest.mark.seed('GR03')
@every_tree
def test_acceleration_solves_the_equation_of_motion(name):
    """H a = tau - C - g + J^T f, with rotors and forces on links."""
    tree = named_tree(name)
    for state in tree.ungeared_states:
        check('aba', name, *accelerations(tree, state), tolerance(tree, state.q))


@every_free_tree
def test_without_external_forces(name):
    tree = named_tree(name)
    state = tree.states[0]
    check('aba', name, *accelerations(tree, state, forces=False), tolerance(tree, state.q))


@pytest.mark.seed('GR03')
@every_free_tree
def test_a_diagonal_counts_as_inertia(name, rng):
    tree = named_tree(name)
    diagonal = rng.uniform(0.5, 2.0, tree.model.tree_nv)
    for state in tree.states:
        found = accelerations(tree, state, diagonal=diagonal)
        check('aba with a diagonal', name, *found, tolerance(tree, state.q))


def test_columns_times_an_inverse(rng):
    """U D^-1 of dense matrices."""
    U, A = rng.normal(size=(6, 3)), rng.normal(size=(3, 3))
    D = plus_diagonal((A @ A.T).tolist(), [0.5, 1.0, 1.5])
    assert_allclose(D, A @ A.T + np.diag([0.5, 1.0, 1.5]), rtol=1e-15)
    columns = [ForceVector.from_array(column) for column in U.T]
    found = [list(column) for column in times_inverse(columns, ltdl(D))]
    assert_allclose(np.transpose(found), U @ np.linalg.inv(D), rtol=1e-12)


@pytest.mark.seed('AB08', kind='full')
@every_tree
def test_energy_changes_by_the_power_of_the_joint_forces(name):
    """d/dt (T + V) = tau . qd, with energies and their rates a textbook's."""
    tree = named_tree(name)
    book = tree.ungeared
    for q, v, tau in tree.ungeared_states:
        a = np.array(aba(tree.model, q.tolist(), v.tolist(), tau.tolist()))
        kinetic = v @ book.mass_matrix(q) @ a
        kinetic += v @ book.rate(book.mass_matrix, q, v) @ v / 2
        potential = book.rate(book.potential_energy, q, v)
        power = tau @ v
        scale = abs(kinetic) + abs(potential) + abs(power)
        assert abs(kinetic + potential - power) < 1e-11 * scale


def ball_and_free_body():
    """Return a hinge, a ball joint and a free body.

    As a URDF with three hinges, and as a model.
    """
    rng = np.random.default_rng(9)

    def solid():
        i, j = np.triu_indices(3)
        return random_trees.physical_inertia(rng, 1.0)[i, j] + [0.1, 0, 0, 0.1, 0, 0.1]

    def link(type_, axis=(0, 0, 1), **others):
        return {
            'type': type_, 'axis': list(axis), 'xyz': list(rng.normal(size=3)),
            'rpy': list(rng.normal(size=3)), **others,
        }  # fmt: skip

    def massive(*arguments):
        mass, center = rng.uniform(0.5, 2.0), list(rng.normal(size=3))
        return link(*arguments, mass=mass, center=center, inertia=solid())

    same_place = {'xyz': [0, 0, 0], 'rpy': [0, 0, 0]}
    text = random_trees.chain(
        [
            massive('continuous', (0.48, -0.6, 0.64)),
            link('continuous', (1, 0, 0)),
            {**link('continuous', (0, 1, 0)), **same_place},
            {**massive('continuous', (0, 0, 1)), **same_place},
            massive('floating'),
        ]
    )
    bodies = load_urdf(text).bodies
    ball = replace(bodies[1], joint=Spherical())  # its links are those of the third hinge
    model = load_urdf(text)
    kept = [bodies[0], replace(ball, name=bodies[3].name), replace(bodies[4], parent=2)]
    numbers = {1: 1, 4: 2, 5: 3}
    links = [
        replace(link, body=numbers[link.body])
        for link in model.links.values()
        if link.body in numbers
    ]
    return text, type(model).create('ball', kept, links)


X_AXIS, Y_AXIS, Z_AXIS = np.eye(3)


def turned(angles):
    """Return the rotation of hinges about x, y and z in turn."""
    return (
        rodrigues(X_AXIS, angles[0]) @ rodrigues(Y_AXIS, angles[1]) @ rodrigues(Z_AXIS, angles[2])
    )


def axes(angles):
    """Return the columns of S of these hinges in coordinates of the last."""
    last = rodrigues(Z_AXIS, -angles[2])
    first = last @ rodrigues(Y_AXIS, -angles[1])
    return np.transpose([first @ X_AXIS, last @ Y_AXIS, Z_AXIS])


@pytest.mark.seed('AB09', kind='full')
def test_a_ball_joint_moves_like_three_hinges():
    """Then a free body by a quaternion: alpha is not the rate of q in either.

    w = S rates and w' = S accelerations + S' rates for hinges about x, y and z in turn; joint
    forces are of equal power.
    """
    text, model = ball_and_free_body()
    book = Textbook(text)
    rng = np.random.default_rng(4)
    for _ in range(3):
        q, v, _ = book.layout.random_states(rng)
        q[1:4] = rng.uniform(-0.9, 0.9, 3)
        couple, others = rng.normal(size=3), rng.normal(size=7)
        S, step = axes(q[1:4]), 1e-6
        rate = (axes(q[1:4] + step * v[1:4]) - axes(q[1:4] - step * v[1:4])) / (2 * step)
        tau = np.concatenate([others[:1], S.T @ couple, others[1:]])
        a = book.forward_dynamics(q, v, tau, {})
        expected = [a[:1], S @ a[1:4] + rate @ v[1:4], a[4:]]
        R = tuple(map(tuple, turned(q[1:4]).tolist()))
        quaternion = np.array(rotation_to_quaternion(R))
        found = aba(
            model,
            [q[0], *(1.7 * quaternion), *q[4:]],
            [v[0], *(S @ v[1:4]), *v[4:]],
            [others[0], *couple, *others[1:]],
        )
        assert_allclose(found, np.concatenate(expected), atol=1e-8 * np.abs(a).max())


@dataclass(frozen=True)
class DrivenTurntable(Prismatic):
    """A slider along x on a turntable about z whose angle is a given function of time.

    :param angle: angle of the turntable now [rad]
    :param speed: its rate [rad/s]
    :param acceleration: its second derivative [rad/s^2]
    """

    angle: float = 0.0
    speed: float = 0.0
    acceleration: float = 0.0

    def transform(self, q):
        """Return the translation after the rotation."""
        shift = PluckerTransform.translation((q[0], 0.0, 0.0))
        return shift * PluckerTransform.rotation_z(self.angle)

    def calc(self, q, qd):
        """Return v_J = S qd + sigma, and the apparent rate of sigma in c_J.

        Book eq 3.32, 3.42.
        """
        S = self.motion_subspace(q)
        sigma = MotionVector((0.0, 0.0, self.speed), (0.0, self.speed * q[0], 0.0))
        rate = self.acceleration * q[0] + self.speed * qd[0]
        c = MotionVector((0.0, 0.0, self.acceleration), (0.0, rate, 0.0))
        return JointState(self.transform(q), S, S @ qd + sigma, c)


@pytest.mark.seed('AB09')
def test_a_joint_may_depend_on_time():
    """M (q'' - w^2 x - w' y) = tau + m g_x for a center of mass at (x, y) on the turntable."""
    m, cx, cy, w, alpha, angle, force = 1.3, 0.4, 0.7, 2.0, -3.0, 0.6, 0.9
    text = random_trees.chain(
        [{'type': 'prismatic', 'axis': [1, 0, 0], 'mass': m, 'center': [cx, cy, 0.3],
          'inertia': [0.1, 0, 0, 0.2, 0, 0.3]}]
    )  # fmt: skip
    model = load_urdf(text, gravity=(1.0, -2.0, -9.0))
    joint = DrivenTurntable((1.0, 0.0, 0.0), angle, w, alpha)
    model = replace(model, bodies=(replace(model.bodies[0], joint=joint),))
    q, qd = 0.5, -1.1
    gravity = 1.0 * np.cos(angle) - 2.0 * np.sin(angle)
    expected = w**2 * (q + cx) + alpha * cy + force / m + gravity
    assert_allclose(aba(model, [q], [qd], [force]), [expected], rtol=1e-13)
