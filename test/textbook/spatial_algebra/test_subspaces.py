# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Complements in the dual sense, and decompositions (book 3.3, table 3.1)."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.all_joints import every_joint

from rbd_ros.spatial import ForceVector, MotionSubspace, MotionVector, PluckerTransform
from rbd_ros.textbook.spatial_algebra.subspaces import (
    complement,
    complement_of_forces,
    decompose,
    rank,
    reciprocal_basis,
    same_space,
)

TOLERANCE = {'rtol': 1e-12, 'atol': 1e-12}


def motions(S):
    return MotionSubspace([MotionVector.from_array(column) for column in S.T.tolist()])


def matrix(vectors):
    vectors = getattr(vectors, 'columns', vectors)
    return np.array([list(x) for x in vectors], dtype=float).reshape(-1, 6).T


@pytest.mark.seed('SV01', kind='full')
def test_reciprocal_basis_gives_the_coordinates_of_a_vector(rng):
    """D_i . e_j = delta_ij: D^-T for a random basis D of motions, a basis of forces."""
    D, coordinates, others = rng.normal(size=(6, 6)), *rng.normal(size=(2, 6))
    basis = [MotionVector.from_array(column) for column in D.T.tolist()]
    dual = reciprocal_basis(basis)
    assert all(type(e) is ForceVector for e in dual)
    assert_allclose(matrix(dual), np.linalg.inv(D).T, **TOLERANCE)
    assert_allclose([[d.dot(e) for e in dual] for d in basis], np.eye(6), atol=1e-12)
    v = MotionVector.from_array((D @ coordinates).tolist())
    assert_allclose([e.dot(v) for e in dual], coordinates, **TOLERANCE)
    f = ForceVector.from_array((matrix(dual) @ others).tolist())
    assert_allclose([d.dot(f) for d in basis], others, **TOLERANCE)
    # in dual coordinates the scalar product is that of the coordinates
    assert v.dot(f) == pytest.approx(coordinates @ others, rel=1e-12)
    for wrong in (basis[:5], [*basis[:5], basis[0]], [*basis, basis[0]]):
        with pytest.raises(ValueError, match='basis'):
            reciprocal_basis(wrong)


@pytest.mark.seed('CT06', kind='full')
@pytest.mark.parametrize('dof', range(7))
def test_complement_does_no_work_and_completes_the_six(dof, rng):
    S = rng.normal(size=(6, dof))
    T = complement(motions(S))
    assert all(type(t) is ForceVector for t in T)
    assert_allclose(matrix(T).T @ S, 0, atol=1e-13)
    assert rank(T) == len(T) == 6 - dof
    assert rank(motions(S)) == dof
    # the complement of the complement is the space itself
    back = complement_of_forces(T)
    assert isinstance(back, MotionSubspace)
    assert same_space(back, motions(S))


@pytest.mark.seed('CT06', kind='full')
def test_basis_makes_no_difference(rng):
    """S A spans the same space, and has the same complement; dependent columns add nothing."""
    S, A = rng.normal(size=(6, 3)), rng.normal(size=(3, 3))
    assert same_space(motions(S), motions(S @ A))
    assert same_space(complement(motions(S)), complement(motions(S @ A)))
    wide = np.hstack([S, S @ A])
    assert rank(motions(wide)) == 3 and len(complement(motions(wide))) == 3
    assert same_space(motions(wide), motions(S))
    other = np.array(S)
    other[0, 0] += 0.1
    assert not same_space(motions(S), motions(other))
    assert not same_space(motions(S), motions(S[:, :2]))
    assert not same_space(motions(S[:, :2]), motions(S))
    assert complement(motions(np.zeros((6, 2)))) and rank(motions(np.zeros((6, 2)))) == 0


@pytest.mark.seed('CT06')
@every_joint
def test_complement_of_a_joint_s_motion_is_its_constraint_forces(joint, rng):
    q = joint.sample(rng.uniform(size=joint.uniforms).tolist(), -1.0, 1.0)
    S, T = joint.motion_subspace(list(q)), joint.constraint_forces(list(q))
    assert len(T) + len(S.columns) == 6
    assert same_space(complement(S), T)
    assert same_space(complement_of_forces(T), S)


@pytest.mark.seed('CT06', kind='full')
def test_vector_has_one_part_in_each_subspace(rng):
    """V = S1 a1 + S2 a2, of motions and of forces, of two and of three subspaces."""
    basis, coordinates = rng.normal(size=(6, 6)), rng.normal(size=6)
    v = basis @ coordinates
    for cuts in ((2,), (1, 4), (0, 6)):
        bounds = list(zip((0, *cuts), (*cuts, 6)))
        expected = [basis[:, a:b] @ coordinates[a:b] for a, b in bounds]
        parts = decompose(
            MotionVector.from_array(v.tolist()), *(motions(basis[:, a:b]) for a, b in bounds)
        )
        for part, theirs in zip(parts, expected):
            assert type(part) is MotionVector
            assert_allclose(list(part), theirs, **TOLERANCE)
        forces = [[ForceVector.from_array(x) for x in basis[:, a:b].T.tolist()] for a, b in bounds]
        for part, theirs in zip(decompose(ForceVector.from_array(v.tolist()), *forces), expected):
            assert type(part) is ForceVector
            assert_allclose(list(part), theirs, **TOLERANCE)


@pytest.mark.seed('CT06')
def test_subspaces_without_direct_sum_are_rejected(rng):
    S = rng.normal(size=(6, 3))
    v = MotionVector.from_array(rng.normal(size=6).tolist())
    with pytest.raises(ValueError, match='not in the sum'):
        decompose(v, motions(S[:, :1]), motions(S[:, 1:]))
    with pytest.raises(ValueError, match='dependent'):
        decompose(v, motions(S), motions(S[:, :1]))
    with pytest.raises(TypeError):
        decompose(v, complement(motions(S)))
    with pytest.raises(TypeError):
        complement(complement(motions(S)))
    with pytest.raises(TypeError):
        complement_of_forces(motions(S))
    with pytest.raises(TypeError):
        same_space(motions(S), complement(motions(S)))


@pytest.mark.seed('CT06')
def test_complement_goes_with_the_coordinates_and_the_euclidean_one_does_not(rng):
    """A slide along z beside a hinge about z: one transforms as a force, the other is nonsense."""
    X = PluckerTransform.translation((0.7, 0.0, 0.0))
    S = motions(np.eye(6)[:, [2]])
    moved = MotionSubspace([X.apply(column) for column in S.columns])
    forces = [X.apply(force) for force in complement(S)]
    assert same_space(complement(moved), forces)
    euclidean = [X.apply(MotionVector.from_array(list(t))) for t in complement(S)]
    products = matrix(euclidean).T @ matrix(moved)
    assert np.abs(products).max() > 0.1
