# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Inverse inertia and bias acceleration of free and constrained bodies (book 2.15, 3.3, 3.6)."""

from fractions import Fraction

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import dense
from support.all_joints import every_joint
from support.random_trees import physical_inertia

from rbd_ros.compiler import Graph
from rbd_ros.spatial import (
    ForceVector,
    MotionSubspace,
    MotionVector,
    PluckerTransform,
    RigidBodyInertia,
)
from rbd_ros.textbook.spatial_algebra.inverse_inertia import (
    bias_acceleration,
    InverseInertia,
    split_force,
)

TOLERANCE = {'rtol': 1e-11, 'atol': 1e-11}  # inverses of matrices with condition below 1e3


def motion(values):
    return MotionVector.from_array(np.asarray(values).tolist())


def force(values):
    return ForceVector.from_array(np.asarray(values).tolist())


def subspace(S):
    """Return the motion subspace of the columns of a matrix."""
    return MotionSubspace([motion(column) for column in np.asarray(S).T])


def columns(S):
    """Return the matrix of the columns of a motion subspace."""
    return np.array([list(column) for column in S.columns], dtype=float).reshape(-1, 6).T


@pytest.fixture
def body(rng):
    """Return a random rigid body, its dense inertia and its center of mass."""
    m, c, I_C = 1.7, rng.normal(size=3), physical_inertia(rng, 170.0)
    return RigidBodyInertia.from_mass_center(m, c, I_C), dense.inertia(m, c, I_C), (m, c, I_C)


@pytest.mark.seed('SV21', kind='full')
def test_closed_form_is_the_inverse_of_the_inertia(body, rng):
    """Book eq 2.74, and eq 2.73 at the center of mass."""
    inertia, I, (m, c, I_C) = body
    Phi = InverseInertia.of_body(inertia)
    assert_allclose(Phi.matrix() @ I, np.eye(6), **TOLERANCE)
    assert_allclose(Phi.matrix(), Phi.matrix().T, rtol=0)
    f = rng.normal(size=6)
    assert type(Phi * force(f)) is MotionVector
    assert_allclose(list(Phi * force(f)), np.linalg.solve(I, f), **TOLERANCE)
    at_center = InverseInertia.of_body(RigidBodyInertia.from_mass_center(m, (0, 0, 0), I_C))
    block = np.zeros((6, 6))
    block[:3, :3], block[3:, 3:] = np.linalg.inv(I_C), np.eye(3) / m
    assert_allclose(at_center.matrix(), block, **TOLERANCE)
    with pytest.raises(TypeError):
        Phi * motion(f)


@pytest.mark.seed('SV21')
def test_closed_form_is_exact_over_fractions_and_compiles():
    F = Fraction
    inertia = RigidBodyInertia.from_mass_center(
        F(3), (F(1), F(2), F(-1)), ((F(2), F(1), F(0)), (F(1), F(3), F(1)), (F(0), F(1), F(4)))
    )
    f = ForceVector.from_array([F(1), F(2), F(3), F(4), F(5), F(6)])
    assert inertia * (InverseInertia.of_body(inertia) * f) == f
    symbolic = InverseInertia.of_body(
        RigidBodyInertia.from_parameters(Graph().inputs('parameters', 10))
    )
    assert len((*symbolic.A, *symbolic.C)) == 12
    with pytest.raises(ZeroDivisionError):
        InverseInertia.of_body(RigidBodyInertia.zero())


@pytest.mark.seed('SV21')
def test_inverse_inertia_transforms_from_forces_to_motions(body, rng):
    inertia, I, _ = body
    for E, r in [(dense.rotation(rng), rng.normal(size=3)) for _ in range(5)]:
        X = PluckerTransform(E, r)
        XM = dense.motion_transform(E, r)
        moved = InverseInertia.of_body(inertia).transformed(X)
        assert_allclose(moved.matrix(), XM @ np.linalg.inv(I) @ XM.T, **TOLERANCE)
        direct = InverseInertia.of_body(X.apply(inertia))
        assert_allclose(moved.matrix(), direct.matrix(), **TOLERANCE)


@pytest.mark.seed('SV21', kind='full')
@pytest.mark.parametrize('dof', range(7))
def test_range_of_a_constrained_body_s_inverse_inertia_is_its_motion(body, rng, dof):
    """Its rank is the freedom of the body, its null space what the constraints oppose."""
    inertia, I, _ = body
    S = rng.normal(size=(6, dof))
    Phi = InverseInertia.of_constrained_body(inertia, subspace(S)).matrix().astype(float)
    rank = np.linalg.matrix_rank(Phi, rtol=1e-10) if dof else 0
    assert rank == dof
    assert_allclose(Phi, Phi.T, **TOLERANCE)
    # the same span: S is all in the range, by its projection
    assert_allclose(Phi @ I @ S, S, **TOLERANCE)
    _, _, rows = np.linalg.svd(S.T) if dof else (None, None, np.eye(6))
    assert_allclose(Phi @ rows[dof:].T, 0, atol=1e-11)
    if dof == 6:
        assert_allclose(Phi, np.linalg.inv(I), **TOLERANCE)


@pytest.mark.seed('SV21', 'CT12', kind='part')
@every_joint
def test_body_at_a_joint_accelerates_as_its_constraints_let_it(joint, body, rng):
    """A = Phi f + b against the equations with constraint forces, for every joint.

    [I -T; T^T 0] [a; lambda] = [f - p; T^T c]: what a joint does not allow, forces prevent.
    """
    inertia, I, _ = body
    q = joint.sample(rng.uniform(size=joint.uniforms).tolist(), -1.0, 1.0)
    qd = rng.normal(size=joint.nv).tolist()
    state = joint.calc(list(q), qd)
    S, T = state.S, np.array([list(t) for t in joint.constraint_forces(list(q))]).reshape(-1, 6).T
    v = motion(rng.normal(size=6))
    bias = state.c + v.cross(state.v)  # the body's v is not that of the joint alone
    p, f = v.cross(inertia * v), force(rng.normal(size=6))
    Phi = InverseInertia.of_constrained_body(inertia, S)
    ours = Phi * f + bias_acceleration(Phi, inertia, p, bias)
    n = T.shape[1]
    system = np.block([[I, -T], [T.T, np.zeros((n, n))]])
    right = np.concatenate([np.array(list(f - p)), T.T @ list(bias)])
    assert_allclose(list(ours), np.linalg.solve(system, right)[:6], rtol=1e-9, atol=1e-9)


@pytest.mark.seed('SV21', 'SV20', kind='part')
def test_free_body_accelerates_by_its_bias(body, rng):
    """The equation of motion f = I a + p turned round: a = Phi f + b with b = -Phi p."""
    inertia, I, _ = body
    v, f = rng.normal(size=(2, 6))
    p = motion(v).cross(inertia * motion(v))
    Phi = InverseInertia.of_body(inertia)
    a = Phi * force(f) + bias_acceleration(Phi, inertia, p)
    assert_allclose(I @ list(a) + dense.crf(v) @ I @ v, f, **TOLERANCE)


@pytest.mark.seed('CT07', kind='full')
@pytest.mark.parametrize('dof', range(1, 6))
def test_force_splits_into_an_accelerating_and_an_opposed_part(body, rng, dof):
    """This holds for any basis of the motion subspace; and a = Phi f = Phi f_a."""
    inertia, I, _ = body
    S, f = rng.normal(size=(6, dof)), rng.normal(size=6)
    f_a, f_c = split_force(inertia, subspace(S), force(f))
    assert_allclose(list(f_a + f_c), f, **TOLERANCE)
    assert_allclose(S.T @ list(f_c), 0, atol=1e-11)
    # f_a is an inertia times an acceleration along S
    a = np.linalg.solve(I, list(f_a))
    along = S @ np.linalg.lstsq(S, a, rcond=None)[0]
    assert_allclose(a, along, **TOLERANCE)
    Phi = InverseInertia.of_constrained_body(inertia, subspace(S))
    assert_allclose(list(Phi * f_a), a, **TOLERANCE)
    assert_allclose(list(Phi * force(f)), a, **TOLERANCE)
    assert_allclose(list(Phi * f_c), 0, atol=1e-11)
    # S -> S A changes nothing
    A = rng.normal(size=(dof, dof)) + 9 * np.eye(dof)
    again = split_force(inertia, subspace(S @ A), force(f))
    # the condition of S^T I S and of S itself: up to 1e5
    assert_allclose(list(again[0]), list(f_a), rtol=1e-9, atol=1e-9)
    assert_allclose(list(again[1]), list(f_c), rtol=1e-9, atol=1e-9)


@pytest.mark.seed('CT07')
def test_body_that_cannot_move_opposes_everything(body, rng):
    f = force(rng.normal(size=6))
    f_a, f_c = split_force(body[0], MotionSubspace([]), f)
    assert (tuple(f_a), f_c) == ((0,) * 6, f)
    f_a, f_c = split_force(body[0], subspace(np.eye(6)), f)
    assert_allclose(list(f_a), list(f), **TOLERANCE)
