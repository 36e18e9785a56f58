# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Rigid and articulated inertia against dense 6x6 matrices (book 2.12 to 2.14, 7.1, A.3)."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import dense
from support.random_trees import physical_inertia

from rbd_ros.spatial import (
    ArticulatedBodyInertia,
    ForceVector,
    MotionVector,
    PluckerTransform,
    RigidBodyInertia,
)

TOLERANCE = {'rtol': 1e-12, 'atol': 1e-12}  # congruences multiply rounding by |r|^2 of about 5


def motion(values):
    return MotionVector.from_array(np.asarray(values).tolist())


def force(values):
    return ForceVector.from_array(np.asarray(values).tolist())


@pytest.fixture
def bodies(rng):
    """Return five random bodies (mass, center, inertia about the center)."""
    return [(m, rng.normal(size=3), physical_inertia(rng, m)) for m in rng.uniform(0.1, 10.0, 5)]


@pytest.fixture
def articulated(rng):
    """Return five random symmetric positive definite 6x6 matrices."""
    return [dense.positive_definite(rng, 6) for _ in range(5)]


@pytest.mark.seed('SV19', kind='full')
def test_inertia_of_mass_and_center_and_back(bodies):
    for m, c, I_C in bodies:
        inertia = RigidBodyInertia.from_mass_center(m, c, I_C)
        assert_allclose(inertia.matrix(), dense.inertia(m, c, I_C), **TOLERANCE)
        assert np.all(np.linalg.eigvalsh(inertia.matrix()) > 0)
        mass, center, about_center = inertia.mass_center()
        assert mass == m
        assert_allclose(center, c, **TOLERANCE)
        assert_allclose(about_center, I_C, **TOLERANCE)
        assert_allclose(
            RigidBodyInertia.from_matrix(inertia.matrix()).matrix(), inertia.matrix(), rtol=0
        )


@pytest.mark.seed('SV19', 'BL08')
def test_ten_parameters_in_their_order(bodies):
    """[m, m cx, m cy, m cz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz], I about the origin."""
    for m, c, I_C in bodies:
        I_O = I_C + m * dense.skew(c) @ dense.skew(c).T
        expected = [m, *(m * c), I_O[0, 0], I_O[0, 1], I_O[0, 2], I_O[1, 1], I_O[1, 2], I_O[2, 2]]
        parameters = RigidBodyInertia.from_mass_center(m, c, I_C).parameters()
        assert_allclose(parameters, expected, **TOLERANCE)
        assert RigidBodyInertia.from_parameters(parameters).parameters() == parameters


def test_inertias_are_equal_if_all_their_numbers_are(bodies, articulated):
    rigid = RigidBodyInertia.from_mass_center(*bodies[0])
    compound = ArticulatedBodyInertia.from_matrix(articulated[0])
    for inertia in (rigid, compound):
        same = type(inertia).from_matrix(inertia.matrix())
        assert same == inertia and hash(same) == hash(inertia)
        assert inertia != 'inertia'
    assert rigid != compound
    for k in range(10):
        parameters = list(rigid.parameters())
        parameters[k] += 1.0
        assert RigidBodyInertia.from_parameters(parameters) != rigid
    for r in range(6):
        for c in range(r + 1):
            M = articulated[0].copy()
            M[r, c] = M[c, r] = M[r, c] + 1.0
            assert ArticulatedBodyInertia.from_matrix(M) != compound


@pytest.mark.seed('SV18', kind='full')
@pytest.mark.seed('AR04')
def test_momentum_and_kinetic_energy(bodies, rng):
    for m, c, I_C in bodies:
        v = rng.normal(size=6)
        inertia = RigidBodyInertia.from_mass_center(m, c, I_C)
        h = inertia * motion(v)
        assert type(h) is ForceVector
        assert_allclose(list(h), dense.inertia(m, c, I_C) @ v, **TOLERANCE)
        v_C = v[3:] + np.cross(v[:3], c)
        energy = 0.5 * m * v_C @ v_C + 0.5 * v[:3] @ I_C @ v[:3]
        assert 0.5 * h.dot(motion(v)) == pytest.approx(energy, rel=1e-12)
        # a momentum transforms like a force: that of the transformed body is the same
        E, r = dense.rotation(rng), rng.normal(size=3)
        X = PluckerTransform(E, r)
        seen = X.apply(inertia) * X.apply(motion(v))
        assert_allclose(list(seen), dense.force_transform(E, r) @ list(h), **TOLERANCE)


@pytest.mark.seed('SV19', kind='full')
@pytest.mark.seed('AR04', 'JM10')
def test_sum_of_inertias_is_the_inertia_of_the_rigid_pair(bodies):
    (m1, c1, I1), (m2, c2, I2) = bodies[:2]
    both = RigidBodyInertia.from_mass_center(m1, c1, I1) + RigidBodyInertia.from_mass_center(
        m2, c2, I2
    )
    mass, center, about_center = both.mass_center()
    c = (m1 * c1 + m2 * c2) / (m1 + m2)
    shifted = sum(I_C + m * dense.skew(x - c) @ dense.skew(x - c).T for m, x, I_C in bodies[:2])
    assert mass == pytest.approx(m1 + m2, rel=1e-15)
    assert_allclose(center, c, **TOLERANCE)
    assert_allclose(about_center, shifted, **TOLERANCE)


@pytest.mark.seed('SV19', kind='full')
@pytest.mark.seed('AR04')
def test_rigid_inertia_transforms_by_congruence(bodies, rng):
    for m, c, I_C in bodies:
        E, r = dense.rotation(rng), rng.normal(size=3)
        X, inertia = PluckerTransform(E, r), RigidBodyInertia.from_mass_center(m, c, I_C)
        M, XM = dense.inertia(m, c, I_C), dense.motion_transform(E, r)
        assert type(X.apply(inertia)) is RigidBodyInertia
        assert_allclose(
            X.apply(inertia).matrix(),
            dense.force_transform(E, r) @ M @ np.linalg.inv(XM),
            **TOLERANCE,
        )
        assert_allclose(X.inverse_apply(inertia).matrix(), XM.T @ M @ XM, **TOLERANCE)
        assert np.all(np.linalg.eigvalsh(X.apply(inertia).matrix()) > 0)


@pytest.mark.seed('AB01', 'AR04')
def test_articulated_inertia_transforms_by_congruence(articulated, rng):
    for M in articulated:
        E, r = dense.rotation(rng), rng.normal(size=3)
        X, inertia = PluckerTransform(E, r), ArticulatedBodyInertia.from_matrix(M)
        XM = dense.motion_transform(E, r)
        assert_allclose(inertia.matrix(), M, rtol=0)
        assert_allclose(
            X.apply(inertia).matrix(),
            dense.force_transform(E, r) @ M @ np.linalg.inv(XM),
            **TOLERANCE,
        )
        assert_allclose(X.inverse_apply(inertia).matrix(), XM.T @ M @ XM, **TOLERANCE)


@pytest.mark.seed('AB01', 'AB02', 'AR04')
def test_articulated_inertia_algebra(articulated, bodies, rng):
    A, B = (ArticulatedBodyInertia.from_matrix(M) for M in articulated[:2])
    rigid = RigidBodyInertia.from_mass_center(*bodies[0])
    v = rng.normal(size=6)
    assert_allclose((A + B).matrix(), articulated[0] + articulated[1], **TOLERANCE)
    assert_allclose((A + rigid).matrix(), articulated[0] + rigid.matrix(), **TOLERANCE)
    assert_allclose((rigid + A).matrix(), articulated[0] + rigid.matrix(), **TOLERANCE)
    assert_allclose(ArticulatedBodyInertia.from_rigid(rigid).matrix(), rigid.matrix(), rtol=0)
    assert_allclose(list(A * motion(v)), articulated[0] @ v, **TOLERANCE)
    assert type(A * motion(v)) is ForceVector
    assert_allclose((2.5 * A).matrix(), 2.5 * articulated[0], **TOLERANCE)
    assert_allclose((2.5 * rigid).matrix(), 2.5 * rigid.matrix(), **TOLERANCE)


@pytest.mark.seed('AB08')
def test_articulated_inertia_minus_a_symmetric_dyad(articulated, rng):
    M, U = articulated[0], rng.normal(size=6)
    result = ArticulatedBodyInertia.from_matrix(M).minus_dyad(force(0.3 * U), force(U))
    assert_allclose(result.matrix(), M - 0.3 * np.outer(U, U), **TOLERANCE)


@pytest.mark.seed('SV20', kind='full')
def test_equation_of_motion_at_the_center_of_mass_is_newton_euler(bodies, rng):
    m, _, I_C = bodies[0]
    v, a = rng.normal(size=(2, 6))
    inertia = RigidBodyInertia.from_mass_center(m, (0.0, 0.0, 0.0), I_C)
    f = np.array(list(inertia * motion(a) + motion(v).cross(inertia * motion(v))))
    classical = a[3:] + np.cross(v[:3], v[3:])  # book eq 2.48: rddot = linear part + omega x v
    assert_allclose(f[3:], m * classical, **TOLERANCE)
    assert_allclose(f[:3], I_C @ a[:3] + np.cross(v[:3], I_C @ v[:3]), **TOLERANCE)


@pytest.mark.seed('SV02', kind='full')
def test_inertia_is_a_sum_of_six_symmetric_dyads(bodies):
    inertia = RigidBodyInertia.from_mass_center(*bodies[0])
    columns = np.linalg.cholesky(inertia.matrix()).T
    rest = ArticulatedBodyInertia.from_rigid(inertia)
    for g in columns:
        rest = rest.minus_dyad(force(g), force(g))
    assert_allclose(rest.matrix(), 0, atol=1e-12)


@pytest.mark.seed('SV19', kind='full')
def test_inertia_of_a_moving_body_changes_by_its_commutator(bodies, rng):
    """dI/dt = v x* I - I v x (book eq 2.66), by central differences of X^T I X."""
    m, c, I_C = bodies[0]
    inertia, v, h = RigidBodyInertia.from_mass_center(m, c, I_C), rng.normal(size=6), 1e-5

    def moved(t):
        w = t * v[:3]
        angle = np.linalg.norm(w)
        K = dense.skew(w / angle)
        R = np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K
        return PluckerTransform(R.T, t * v[3:]).inverse_apply(inertia).matrix()

    derivative = (moved(h) - moved(-h)) / (2 * h)
    M = inertia.matrix()
    # truncation h^2 and rounding eps/h times entries of size 30
    assert_allclose(derivative, dense.crf(v) @ M - M @ dense.crm(v), atol=1e-7)


def test_massless_body_has_inertia_but_no_center():
    nothing = RigidBodyInertia.zero()
    assert_allclose(nothing.matrix(), np.zeros((6, 6)))
    with pytest.raises(ZeroDivisionError):
        nothing.mass_center()


@pytest.mark.seed('AB03')
def test_articulated_inertia_of_the_box_on_a_cylinder():
    """Book example 7.1.

    I^A = diag(I1, I1+I2, I1+I2, m1+m2, m1, m1+m2), by the assembly formula I - U D^-1 U^T.
    """
    m1, m2, I1, I2 = 2.0, 3.0, 0.5, 0.7
    box = ArticulatedBodyInertia.from_rigid(
        RigidBodyInertia.from_mass_center(m1, (0, 0, 0), np.eye(3) * I1)
    )
    cylinder = RigidBodyInertia.from_mass_center(m2, (0, 0, 0), np.eye(3) * I2)
    carried = ArticulatedBodyInertia.from_rigid(cylinder)
    for S in np.eye(6)[[0, 4]]:  # dofs: rotation about x and translation along y
        U = carried * motion(S)
        D = motion(S).dot(U)
        carried = carried.minus_dyad(U * (1 / D), U)
    expected = np.diag([I1, I1 + I2, I1 + I2, m1 + m2, m1, m1 + m2])
    assert_allclose((box + carried).matrix(), expected, **TOLERANCE)
