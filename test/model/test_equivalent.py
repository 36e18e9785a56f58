# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Equivalent models (book 9.7): the same equations of motion, fewer parameters."""

from dataclasses import replace

import numpy as np
import pytest
from support import random_trees
from support.all_joints import every_joint, JOINTS, tree
from support.counting import count, Counting
from support.textbook_trees import check, every_tree, named_tree

from rbd_ros.algorithms.articulated_body.aba import aba
from rbd_ros.algorithms.inertia_matrix.crba import crba
from rbd_ros.algorithms.inverse_dynamics.coriolis import coriolis_matrix
from rbd_ros.algorithms.inverse_dynamics.rnea import rnea
from rbd_ros.model import load_urdf
from rbd_ros.model.equivalent import (
    equivalent_model,
    with_inertia_moved,
    with_inertias_moved_inward,
)
from rbd_ros.model.joints import Planar, Prismatic, RackAndPinion, Revolute, Spherical
from rbd_ros.spatial import ForceVector, MotionVector, PluckerTransform, RigidBodyInertia
from rbd_ros.textbook.tree_dynamics.rnea_spatial import rnea_spatial

# Two texts of the same sums: rounding, times the condition of the sums.
TOLERANCE = 1e-11


def models(seed):
    model = load_urdf(random_trees.tree(seed, mimics=1))
    return model, equivalent_model(model)


def state(model, seed):
    rng = np.random.default_rng(seed)
    q = []
    for body in model.bodies:
        if body.joint.nq == 7:
            quaternion = rng.normal(size=4)
            q.extend([*quaternion / np.linalg.norm(quaternion), *rng.normal(size=3)])
        else:
            q.extend(rng.normal(size=body.joint.nq))
    return q, *(list(map(float, rng.normal(size=model.tree_nv))) for _ in range(2))


def close(actual, expected):
    actual, expected = np.array(actual, float), np.array(expected, float)
    return np.abs(actual - expected).max(initial=0.0) <= TOLERANCE * max(
        1.0, np.abs(expected).max(initial=0.0)
    )


@pytest.mark.seed('DE01', 'DE03')
@pytest.mark.parametrize('seed', range(12))
def test_inverse_dynamics_is_the_same(seed):
    model, equivalent = models(seed)
    q, v, a = state(model, seed)
    force = {len(model.bodies): ForceVector((1.0, -2.0, 3.0), (0.5, 0.7, -1.1))}
    assert close(rnea_spatial(equivalent, q, v, a, force), rnea_spatial(model, q, v, a, force))


@pytest.mark.parametrize('seed', range(12))
def test_mass_and_coriolis_matrices_are_the_same(seed):
    model, equivalent = models(seed)
    q, v, _ = state(model, seed)
    assert close(crba(equivalent, q), crba(model, q))
    assert close(coriolis_matrix(equivalent, q, v), coriolis_matrix(model, q, v))


@pytest.mark.parametrize('seed', range(12))
def test_forward_dynamics_is_the_same(seed):
    model, equivalent = models(seed)
    bodies = tuple(replace(body, armature=body.armature + 0.1) for body in model.bodies)
    model = replace(model, bodies=bodies)  # no joint without inertia
    q, v, tau = state(model, seed)
    assert close(aba(equivalent_model(model), q, v, tau), aba(model, q, v, tau))


@pytest.mark.parametrize('seed', range(12))
def test_parameters_that_no_joint_excites_are_zero(seed):
    _, equivalent = models(seed)
    for body in equivalent.bodies:
        if isinstance(body.joint, Prismatic):
            assert body.inertia.I == (0.0,) * 6
        if isinstance(body.joint, Revolute):
            assert body.inertia.mass == 0.0
            assert abs(np.dot(body.inertia.h, body.joint.axis)) <= 1e-15


@pytest.mark.parametrize('seed', range(12))
def test_frames_stay_on_their_axes(seed):
    model, equivalent = models(seed)
    for before, after in zip(model.bodies, equivalent.bodies):
        assert after.joint == before.joint
        assert after.tree_transform.E == before.tree_transform.E
        if isinstance(after.joint, Revolute):
            along = np.array(after.tree_transform.E) @ after.tree_transform.r @ after.joint.axis
            assert abs(along) <= 1e-12


# -- what a joint does not excite, I_delta


def random_inertia(rng):
    """Return ten random parameters, of which no body need be made."""
    return RigidBodyInertia.from_parameters(rng.normal(size=10).tolist())


def random_position(joint, rng):
    return joint.integrate(joint.neutral(), rng.normal(size=joint.nv).tolist())


def two_bodies(joint, q, qd, v1, I1, I2):
    """Return the coefficients of the equation of motion of two bodies and the joint between them.

    Eq 9.29.

    The printed Sdot is the rate of S as it moves with body 2: its apparent rate, and v2 x S.
    """
    state = joint.calc(q, qd)
    X, S = state.X.matrix(), np.array([list(s) for s in state.S.columns], dtype=float).T
    v2 = X @ v1 + S @ qd

    def cross(v):
        return MotionVector.from_array(v.tolist()).cross_matrix().astype(float)

    I1, I2 = (np.array(I.matrix(), dtype=float) for I in (I1, I2))
    H = np.block([[I1 + X.T @ I2 @ X, X.T @ I2 @ S], [S.T @ I2 @ X, S.T @ I2 @ S]])
    f = I2 @ (np.array(list(state.c), dtype=float) + cross(v2) @ S @ qd) - cross(v2).T @ I2 @ v2
    return H, np.concatenate([-cross(v1).T @ I1 @ v1 + X.T @ f, S.T @ f])


@every_joint
def test_a_frame_is_moved_without_changing_the_motion_to_where_it_is_nearest(joint):
    rng = np.random.default_rng(4)
    r, E = rng.normal(size=3), np.eye(3)
    shift = np.array(joint.frame_shift(tuple(r.tolist())), dtype=float)
    there = PluckerTransform(E.tolist(), shift.tolist()).matrix()
    for _ in range(3):
        # It moves the parent's frame as well as the body's: before the joint and behind it.
        X = joint.transform(random_position(joint, rng)).matrix()
        assert close(there @ X, X @ there)
    for part in (0.9, 1.1):
        assert np.linalg.norm(r + shift) <= np.linalg.norm(r + part * shift)
    kinds = (Prismatic, Revolute)
    assert shift.any() == isinstance(joint, kinds)


@pytest.mark.seed('DE01')
@every_joint
def test_inertia_moved_between_two_bodies_does_not_change_the_dynamics(joint):
    """Equation 9.29 with I_delta added to one and taken from the other, at random states."""
    rng = np.random.default_rng(1)
    I1, I2, delta = (
        random_inertia(rng),
        random_inertia(rng),
        joint.not_excited(random_inertia(rng)),
    )
    if delta is None:
        pytest.skip('it excites all parameters')
    for _ in range(5):
        q, (qd, v1) = random_position(joint, rng), (rng.normal(size=joint.nv), rng.normal(size=6))
        before = two_bodies(joint, q, qd, v1, I1, I2)
        after = two_bodies(joint, q, qd, v1, I1 + delta, I2 + delta * -1.0)
        assert all(close(x, y) for x, y in zip(after, before))


@pytest.mark.seed('DE01')
@every_joint
def test_it_meets_the_three_conditions(joint):
    """I_delta S = 0, X_J^T I_delta X_J = I_delta and S^T v x* I_delta v = 0 (eq 9.30)."""
    rng = np.random.default_rng(2)
    delta = joint.not_excited(random_inertia(rng))
    if delta is None:
        pytest.skip('it excites all parameters')
    for _ in range(5):
        q, v = random_position(joint, rng), MotionVector.from_array(rng.normal(size=6).tolist())
        S = joint.motion_subspace(q)
        for s in S.columns:
            assert close(list(delta * s), np.zeros(6))
        assert close(joint.transform(q).inverse_apply(delta).matrix(), delta.matrix())
        assert close(S.T @ v.cross(delta * v), np.zeros(joint.nv))


def deltas(joint):
    """Return all I_delta that a joint type has, as columns of parameters, (10, 10).

    It is linear.
    """
    units = (RigidBodyInertia.from_parameters(row) for row in np.eye(10).tolist())
    found = [joint.not_excited(unit) for unit in units]
    return np.array([np.zeros(10) if x is None else x.parameters() for x in found], dtype=float).T


def admissible(joint):
    """Return the rank of all inertias that do not show in equation 9.29.

    Which is linear in the ten.
    """
    rng, rows = np.random.default_rng(3), []
    zero = RigidBodyInertia.zero()
    for _ in range(6):
        q, (qd, v1) = random_position(joint, rng), (rng.normal(size=joint.nv), rng.normal(size=6))
        columns = []
        for unit in np.eye(10).tolist():
            I = RigidBodyInertia.from_parameters(unit)
            H, C = two_bodies(joint, q, qd, v1, I, I * -1.0)
            columns.append(np.concatenate([H.ravel(), C]))
        rows.append(np.array(columns).T)
    assert not any(np.any(x) for x in two_bodies(joint, q, qd, v1, zero, zero))
    return 10 - np.linalg.matrix_rank(np.vstack(rows), tol=1e-9)


NUMBERS = {Prismatic: 6, Revolute: 3, Spherical: 1, Planar: 1, RackAndPinion: 1}


@pytest.mark.seed('DE02')
@pytest.mark.parametrize('joint', [x for x in JOINTS if type(x) in NUMBERS], ids=repr)
def test_each_type_has_all_that_there_are(joint):
    """Three for a hinge, six for a slider, one for a ball (table 9.7); there are no others."""
    rank = np.linalg.matrix_rank(deltas(joint), tol=1e-9)
    assert rank == NUMBERS[type(joint)]
    rolls = not isinstance(joint, RackAndPinion) or joint.radius  # or else it is a hinge
    assert admissible(joint) == (rank if rolls else NUMBERS[Revolute])


@pytest.mark.seed('DE02')
def test_they_are_those_of_the_table():
    """Table 9.7, and the choice that zeroes the most."""
    body = RigidBodyInertia.from_parameters([2.0, 0.3, 0.4, 0.5, 7.0, 0.1, 0.2, 8.0, 0.3, 9.0])
    hinge = Revolute((0.0, 0.0, 1.0)).not_excited(body).matrix().astype(float)
    expected = np.diag([7.0, 7.0, 0.0, 2.0, 2.0, 2.0])
    expected[0, 4] = expected[4, 0] = -0.5
    expected[1, 3] = expected[3, 1] = 0.5
    np.testing.assert_allclose(hinge, expected, atol=1e-15)
    slider = Prismatic((0.0, 0.0, 1.0)).not_excited(body)
    assert slider.parameters() == (0, 0, 0, 0, 7.0, 0.1, 0.2, 8.0, 0.3, 9.0)
    assert Spherical().not_excited(body).parameters() == (2.0, *[0.0] * 9)
    plane = Planar.about((0.0, 0.0, 1.0)).not_excited(body)
    assert plane.parameters() == (0, 0, 0, 0, 7.0, 0.0, 0.0, 7.0, 0.0, 0.0)


# -- in trees


class Angle(Counting):
    """Number that counts, and has a sine and a cosine."""

    __slots__ = ()

    def sin(self):
        return Counting(np.sin(self.value), 'sin', (self,))

    def cos(self):
        return Counting(np.cos(self.value), 'cos', (self,))


@pytest.mark.seed('DE03')
def test_the_sweep_saves_operations_of_inverse_dynamics_of_a_chain_of_hinges():
    """A tenth, of those that remain when operations with zeros are left out.

    The book has about 15 % (9.7) of a text that is optimized by hand; the text that kernels are
    made of has less to save.
    """
    rng = np.random.default_rng(1)
    links = [
        {
            'type': 'revolute',
            'xyz': rng.normal(size=3),
            'rpy': rng.normal(size=3),
            'mass': 1.0,
            'center': rng.normal(size=3),
            'inertia': [0.3, 0.01, 0.02, 0.4, -0.03, 0.5],
        }
        for _ in range(7)
    ]
    model = load_urdf(random_trees.chain(links))
    shares = []
    for text in (rnea_spatial, rnea):
        operations = []
        for each in (model, with_inertias_moved_inward(model)):
            q, v, a = ([Angle(x) for x in rng.normal(size=7)] for _ in range(3))
            operations.append(sum(count(text(each, q, v, a))))
        shares.append(1.0 - operations[1] / operations[0])
    assert shares[0] > 0.09 and shares[1] > 0.05


@pytest.mark.seed('DE01', 'DE02', kind='full')
@pytest.mark.parametrize('seed', range(3))
@every_joint
def test_any_of_it_may_be_moved_to_the_parent(joint, seed):
    """Of any amount, from any body, into the parent's coordinates: inverse dynamics is the same.

    Only what the conditions allow: another inertia, moved likewise, changes it.
    """
    model, rng = tree(joint, seed), np.random.default_rng(seed)
    q = [x for body in model.bodies for x in random_position(body.joint, rng)]
    v, a = rng.normal(size=(2, model.tree_nv)).tolist()
    expected = rnea_spatial(model, q, v, a)
    for i, body in model.outward():
        delta = body.joint.not_excited(random_inertia(rng))
        if delta is not None:
            moved = with_inertia_moved(model, i, delta)
            assert moved.body(i).inertia != model.body(i).inertia
            assert close(rnea_spatial(moved, q, v, a), expected)
        if body.joint.nv:  # a joint that does not move excites none of it
            wrong = with_inertia_moved(model, i, random_inertia(rng))
            assert not close(rnea_spatial(wrong, q, v, a), expected)


@pytest.mark.seed('DE03')
@pytest.mark.parametrize('seed', range(3))
@every_joint
def test_the_sweep_leaves_inverse_and_forward_dynamics(joint, seed):
    model, rng = tree(joint, seed), np.random.default_rng(seed)
    q = [x for body in model.bodies for x in random_position(body.joint, rng)]
    v, a = rng.normal(size=(2, model.tree_nv)).tolist()
    for simple in (with_inertias_moved_inward(model), equivalent_model(model)):
        assert close(rnea_spatial(simple, q, v, a), rnea_spatial(model, q, v, a))
        assert close(aba(simple, q, v, a), aba(model, q, v, a))
    if joint.not_excited(model.body(4).inertia) is not None:

        def zeros(model):
            return sum(abs(x) < 1e-15 for x in model.body(4).inertia.parameters())

        assert zeros(model) == 0
        assert zeros(with_inertias_moved_inward(model)) >= 1


@pytest.mark.seed('DE03', kind='full')
@every_tree
def test_the_equivalent_model_agrees_with_textbook_dynamics(name):
    """Inverse and forward dynamics, with gears, rotors and forces on links."""
    named = named_tree(name)
    for simple in (with_inertias_moved_inward(named.model), equivalent_model(named.model)):
        for q, v, a in named.ungeared_states:
            forces = named.forces_on_bodies
            ours = rnea_spatial(simple, q.tolist(), v.tolist(), a.tolist(), forces)
            tau = named.ungeared.inverse_dynamics(q, v, a, named.forces)
            check('swept inverse dynamics', name, ours, tau, 1e-12)
            found = aba(simple, q.tolist(), v.tolist(), tau.tolist(), forces)
            bound = 1e-14 * np.linalg.cond(named.ungeared.mass_matrix(q)) + 1e-12
            check('swept forward dynamics', name, found, a, bound)
