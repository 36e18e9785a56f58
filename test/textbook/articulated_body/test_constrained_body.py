# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""One body on a joint: three methods agree, with the properties of the book (3.6)."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.all_joints import every_joint
from support.dense import crf

from rbd_ros.algorithms.articulated_body.aba import aba
from rbd_ros.algorithms.inertia_matrix.crba import mass_matrix
from rbd_ros.model import Body, Link, Model
from rbd_ros.spatial import ForceVector, MotionVector, PluckerTransform, RigidBodyInertia
from rbd_ros.textbook.articulated_body.constrained_body import (
    apparent_inertia,
    constrained_motion,
    generalized_equation,
)
from rbd_ros.textbook.tree_dynamics.rnea_spatial import rnea_spatial


class Constrained:
    """A body on a joint of some type, moving, with gravity and a force on it."""

    def __init__(self, joint, seed=0):
        rng = np.random.default_rng(seed)
        A = rng.normal(size=(3, 3))
        self.joint, self.I = (
            joint,
            RigidBodyInertia.from_mass_center(
                1.7, tuple(rng.normal(size=3).tolist()), (A @ A.T).tolist()
            ),
        )
        self.q, self.qd = rng.uniform(0.2, 0.9, joint.nq).tolist(), rng.normal(size=joint.nv)
        self.f = ForceVector.from_array(rng.normal(size=6))
        X, nothing = PluckerTransform.identity(), RigidBodyInertia.zero()
        self.model = Model.create(
            'one body',
            [Body('body', 0, 'joint', joint, X, nothing)],
            [Link('body', 1, X, self.I)],
            gravity=(1.0, -2.0, -9.0),
        )
        self.S = joint.motion_subspace(self.q)
        self.T = joint.constraint_forces(self.q)
        state = joint.calc(self.q, self.qd.tolist())
        self.X, self.v, self.c = state.X, state.v, state.c  # v x v_J = 0: the base is at rest
        I, v = self.I.matrix(), self.v.to_array()
        weight = self.I * self.X.apply(MotionVector((0.0, 0.0, 0.0), self.model.gravity))
        self.p = ForceVector.from_array(crf(v) @ I @ v) - weight

    @property
    def columns(self):
        return np.array([list(s) for s in self.S.columns]).T.reshape(6, self.joint.nv)

    @property
    def constraints(self):
        return np.array([list(t) for t in self.T]).T.reshape(6, 6 - self.joint.nv)

    def acceleration(self):
        """Return S qdd + c with qdd of the articulated-body algorithm on a tree of one body."""
        force = {1: self.X.inverse_apply(self.f)}
        qdd = aba(self.model, self.q, self.qd.tolist(), [0.0] * self.joint.nv, force)
        return self.columns @ qdd + self.c.to_array()


@pytest.mark.seed('CT12', kind='full')
@every_joint
def test_apparent_inverse_inertia_has_the_range_of_the_motion_subspace(joint):
    """Symmetric and positive-semidefinite; rank nf, range S, null space that of T."""
    body = Constrained(joint)
    Phi, b = (np.array(x) for x in apparent_inertia(body.I, body.p, body.S, body.c))
    assert np.array_equal(Phi, Phi.T)
    values, vectors = np.linalg.eigh(Phi)
    assert np.all(values[: 6 - joint.nv] <= 1e-13 * values[-1])
    assert np.all(values[6 - joint.nv :] > 1e-6 * values[-1])
    assert np.linalg.matrix_rank(np.hstack([Phi, body.columns]), 1e-9 * values[-1]) == joint.nv
    assert_allclose(Phi @ body.constraints, 0.0, atol=1e-13 * values[-1])
    assert_allclose(Phi @ body.I.matrix() @ body.columns, body.columns, atol=1e-12)
    expected = body.acceleration()
    assert_allclose(Phi @ body.f.to_array() + b, expected, atol=1e-11 * np.abs(expected).max())


@pytest.mark.seed('CT12')
@every_joint
def test_apparent_inertia_does_not_depend_on_the_basis(joint):
    body = Constrained(joint)
    rng = np.random.default_rng(1)
    mixed = body.columns @ (rng.normal(size=(joint.nv, joint.nv)) + 3.0 * np.eye(joint.nv))
    S = type(body.S)([MotionVector.from_array(column) for column in mixed.T])
    for found, expected in zip(
        apparent_inertia(body.I, body.p, S, body.c),
        apparent_inertia(body.I, body.p, body.S, body.c),
    ):
        assert_allclose(found, expected, atol=1e-11 * np.abs(expected).max())


@pytest.mark.seed('CT13', kind='full')
@every_joint
def test_both_equations_at_once_give_the_same_acceleration_and_the_constraint_force(joint):
    """Also against a dense solution, whose matrix is regular, and indefinite if constrained."""
    body = Constrained(joint)
    a, constraint = constrained_motion(body.I, body.p, body.T, body.c, body.f)
    Phi, b = apparent_inertia(body.I, body.p, body.S, body.c)
    other = Phi @ body.f.to_array() + b
    scale = max(1.0, np.abs(other).max())
    assert_allclose(a.to_array(), other, atol=1e-11 * scale)
    I, T = body.I.matrix(), body.constraints
    K = np.block([[I, T], [T.T, np.zeros((T.shape[1], T.shape[1]))]])
    right = np.concatenate([(body.f - body.p).to_array(), T.T @ body.c.to_array()])
    assert np.linalg.matrix_rank(K) == len(K)
    assert np.sum(np.linalg.eigvalsh(K) < 0.0) == T.shape[1]
    solution = np.linalg.solve(K, right)
    assert_allclose(a.to_array(), solution[:6], atol=1e-11 * scale)
    assert_allclose(constraint, -solution[6:], atol=1e-11 * max(1.0, np.abs(solution).max()))
    rest = I @ a.to_array() + body.p.to_array() - body.f.to_array()
    assert_allclose(T @ constraint, rest, atol=1e-11 * max(1.0, np.abs(rest).max()))


@pytest.mark.seed('CT14', kind='full')
@every_joint
def test_generalized_equation_is_that_of_a_tree_of_one_body(joint):
    """With tau = S^T f, that of H and C of the tree, and with the acceleration of both others."""
    body = Constrained(joint)
    H, C = generalized_equation(body.I, body.p, body.S, body.c)
    qd, zero = body.qd.tolist(), [0.0] * joint.nv
    assert_allclose(H, mass_matrix(body.model, body.q), atol=1e-13)
    assert_allclose(C, rnea_spatial(body.model, body.q, qd, zero), atol=1e-12)
    tau = body.S.T @ body.f
    qdd = np.linalg.solve(np.reshape(H, (joint.nv, joint.nv)), np.array(tau) - C)
    expected = body.acceleration()
    a = body.columns @ qdd + body.c.to_array()
    assert_allclose(a, expected, atol=1e-11 * np.abs(expected).max())


@pytest.mark.seed('CT14')
@every_joint
def test_generalized_forces_do_not_determine_the_constraint_force(joint):
    """Forces with the same S^T f accelerate alike, and are carried by different constraints."""
    body = Constrained(joint)
    if joint.nv == 6:
        return
    more = body.f + ForceVector.from_array(body.constraints[:, 0])
    assert_allclose(body.S.T @ more, body.S.T @ body.f, atol=1e-13)
    first, second = (constrained_motion(body.I, body.p, body.T, body.c, x) for x in (body.f, more))
    assert_allclose(first.a.to_array(), second.a.to_array(), atol=1e-10)
    assert_allclose(np.subtract(first.constraint, second.constraint)[0], 1.0, atol=1e-10)
