# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Planar vectors against rows and columns 3, 4 and 5 of the spatial matrices (book 2.16, A.1)."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from scipy.linalg import expm
from support import dense
from support.counting import count, Counting

from rbd_ros.spatial import ForceVector, MotionVector, PluckerTransform, RigidBodyInertia
from rbd_ros.textbook.planar.planar_algebra import (
    COORDINATES,
    PlanarArticulatedInertia,
    PlanarForceVector,
    PlanarInertia,
    PlanarMotionSubspace,
    PlanarMotionVector,
    PlanarTransform,
)

TOLERANCE = {'rtol': 1e-13, 'atol': 1e-13}  # a few roundings of numbers of size 1 to 10
PLANE = np.ix_(COORDINATES, COORDINATES)


def motion(values):
    return PlanarMotionVector.from_array(np.asarray(values).tolist())


def force(values):
    return PlanarForceVector.from_array(np.asarray(values).tolist())


def in_space(values):
    """Return the six coordinates of a planar vector."""
    six = np.zeros(6)
    six[list(COORDINATES)] = values
    return six


def rz(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])


@pytest.fixture
def three(rng):
    """Return four random arrays of three coordinates."""
    return rng.normal(size=(4, 3))


@pytest.fixture
def places(rng):
    """Return ten random (angle, r)."""
    return [
        (float(angle), r) for angle, r in zip(rng.uniform(-3, 3, 10), rng.normal(size=(10, 2)))
    ]


@pytest.mark.seed('PV01', 'AR01', kind='full')
def test_cross_operators_are_rows_and_columns_of_the_spatial_ones(three):
    for v in three:
        assert_allclose(motion(v).cross_matrix(), dense.crm(in_space(v))[PLANE], rtol=0)
        assert_allclose(motion(v).cross_force_matrix(), dense.crf(in_space(v))[PLANE], rtol=0)
        assert_allclose(motion(v).cross_force_matrix(), -motion(v).cross_matrix().T, rtol=0)


@pytest.mark.seed('PV01', kind='full')
def test_cross_products_are_those_of_space(three):
    v, m, f = three[:3]
    of_motion = dense.crm(in_space(v)) @ in_space(m)
    of_force = dense.crf(in_space(v)) @ in_space(f)
    assert_allclose(list(motion(v).cross(motion(m))), of_motion[list(COORDINATES)], **TOLERANCE)
    assert_allclose(list(motion(v).cross(force(f))), of_force[list(COORDINATES)], **TOLERANCE)
    # planar vectors stay in the plane
    assert_allclose(np.delete(of_motion, COORDINATES), 0)
    assert_allclose(np.delete(of_force, COORDINATES), 0)


@pytest.mark.seed('PV01')
def test_planar_vectors_form_two_dual_spaces(three):
    a, b, f = three[:3]
    for wrap in (motion, force):
        assert_allclose(list(wrap(a) + wrap(b)), a + b, rtol=0)
        assert_allclose(list(wrap(a) - wrap(b)), a - b, rtol=0)
        assert_allclose(list(-wrap(a)), -a, rtol=0)
        assert_allclose(list(2.5 * wrap(a)), 2.5 * a, rtol=0)
        assert_allclose(wrap(a).to_array(), a, rtol=0)
        assert list(type(wrap(a)).zero()) == [0, 0, 0] and len(wrap(a)) == 3
        assert wrap(a) == wrap(a) and wrap(a) != wrap(b) and motion(a) != force(a)
        with pytest.raises(ValueError, match='3'):
            wrap([1.0, 2.0])
        assert type(wrap(a)).of(wrap(a).spatial()) == wrap(a)
    assert motion(a).dot(force(f)) == pytest.approx(a @ f, rel=1e-13)
    assert force(f).dot(motion(a)) == pytest.approx(a @ f, rel=1e-13)


@pytest.mark.seed('PV01')
def test_a_meaningless_operation_raises_type_error(three):
    m, f = motion(three[0]), force(three[1])
    I, X = PlanarInertia(1.0, (0.1, 0.2), 2.0), PlanarTransform.xpln(0.3, (1.0, 2.0))
    A = PlanarArticulatedInertia.from_rigid(I)
    spatial = MotionVector.from_array(range(6))
    for mix in (
        lambda: m + f,
        lambda: m - f,
        lambda: m + spatial,
        lambda: spatial + m,
        lambda: m.dot(m),
        lambda: m.dot(ForceVector.zero()),
        lambda: f.dot(f),
        lambda: m * m,
        lambda: m.cross(spatial),
        lambda: m.cross(I),
        lambda: I * f,
        lambda: A * f,
        lambda: I * spatial,
        lambda: I + RigidBodyInertia.zero(),
        lambda: A + f,
        lambda: X * f,
        lambda: X.apply(spatial),
        lambda: X.inverse_apply(spatial),
        lambda: PlanarMotionVector((0.0, 0.0, 1.0), (1.0, 2.0)),
    ):
        with pytest.raises(TypeError):
            mix()


@pytest.mark.seed('PV01')
def test_velocity_of_a_point_and_force_along_a_line(three):
    v, point = three[0], three[1][:2]
    expected = in_space(v)[3:] + np.cross(in_space(v)[:3], [*point, 0])
    assert_allclose([*motion(v).velocity_at(tuple(point)), 0], expected, **TOLERANCE)
    f = PlanarForceVector.at_point(tuple(v[1:]), tuple(point), 0.5)
    assert_allclose(f.moment, 0.5 + point[0] * v[2] - point[1] * v[1], **TOLERANCE)
    assert tuple(f.linear) == tuple(v[1:])


@pytest.mark.seed('PV02', 'AR01', kind='full')
def test_xpln_is_rows_and_columns_of_rotation_and_translation(places):
    """X = rotz(angle) xlt(r), and X* = X^-T."""
    for angle, r in places:
        X = PlanarTransform.xpln(angle, r)
        space = dense.motion_transform(rz(angle), [*r, 0.0])
        product = PluckerTransform.rotation_z(angle) * PluckerTransform.translation((*r, 0.0))
        assert_allclose(X.matrix(), space[PLANE], **TOLERANCE)
        assert_allclose(X.matrix(), product.matrix()[PLANE], **TOLERANCE)
        assert_allclose(X.force_matrix(), np.linalg.inv(X.matrix()).T, **TOLERANCE)
        assert_allclose(X.spatial().matrix(), space, **TOLERANCE)
        assert PlanarTransform.of(X.spatial()) == X
        assert_allclose(PlanarTransform.from_matrix(X.matrix()).matrix(), X.matrix(), **TOLERANCE)
    with pytest.raises(ValueError, match='3x3'):
        PlanarTransform.from_matrix(np.eye(6))


@pytest.mark.seed('PV02')
def test_planar_transforms_act_like_their_matrices(places, three):
    v, f = three[:2]
    for (angle, r), (other, s) in zip(places, places[1:]):
        X, Y = PlanarTransform.xpln(angle, r), PlanarTransform.xpln(other, s)
        M = X.matrix()
        assert_allclose(list(X.apply(motion(v))), M @ v, **TOLERANCE)
        assert_allclose(list(X * motion(v)), M @ v, **TOLERANCE)
        assert_allclose(list(X.inverse_apply(motion(v))), np.linalg.solve(M, v), **TOLERANCE)
        assert_allclose(list(X.apply(force(f))), np.linalg.inv(M).T @ f, **TOLERANCE)
        assert_allclose(list(X.inverse_apply(force(f))), M.T @ f, **TOLERANCE)
        assert_allclose((X * Y).matrix(), M @ Y.matrix(), **TOLERANCE)
        assert_allclose(X.inverse().matrix(), np.linalg.inv(M), **TOLERANCE)
    assert_allclose(PlanarTransform.identity().matrix(), np.eye(3))


@pytest.mark.seed('PV03', 'AR01', kind='full')
def test_inertia_is_rows_and_columns_of_the_spatial_one(rng):
    """The extent of the body normal to the plane does not matter."""
    for m in rng.uniform(0.1, 9.0, 5):
        c, I_C = rng.normal(size=3), dense.positive_definite(rng, 3)
        expected = dense.inertia(m, c, I_C)[PLANE]
        planar = PlanarInertia.from_mass_center(m, c[:2], I_C[2, 2])
        assert_allclose(planar.matrix(), expected, **TOLERANCE)
        spatial = RigidBodyInertia.from_mass_center(m, c, I_C)
        assert_allclose(PlanarInertia.of(spatial).matrix(), expected, **TOLERANCE)
        v = rng.normal(size=3)
        assert type(planar * motion(v)) is PlanarForceVector
        assert_allclose(list(planar * motion(v)), expected @ v, **TOLERANCE)
        assert_allclose((2.5 * planar).matrix(), 2.5 * expected, **TOLERANCE)
        assert_allclose((planar * 2.5).matrix(), 2.5 * expected, **TOLERANCE)


@pytest.mark.seed('PV03')
def test_planar_inertias_transform_by_congruence_and_add(places, rng):
    for angle, r in places:
        X = PlanarTransform.xpln(angle, r)
        M = X.matrix()
        A = PlanarArticulatedInertia.from_matrix(dense.positive_definite(rng, 3))
        rigid = PlanarInertia.from_mass_center(1.7, rng.normal(size=2), 0.4)
        assert_allclose(
            PlanarArticulatedInertia.from_rigid(rigid).matrix(), rigid.matrix(), rtol=0
        )
        for inertia in (A, rigid):
            I = inertia.matrix()
            inverse = np.linalg.inv(M)
            assert type(X.apply(inertia)) is type(inertia)
            assert_allclose(X.apply(inertia).matrix(), inverse.T @ I @ inverse, **TOLERANCE)
            assert_allclose(X.inverse_apply(inertia).matrix(), M.T @ I @ M, **TOLERANCE)
            assert_allclose((inertia + A).matrix(), I + A.matrix(), **TOLERANCE)
            assert_allclose((inertia + rigid).matrix(), I + rigid.matrix(), **TOLERANCE)
            assert_allclose((3.0 * inertia).matrix(), 3.0 * I, **TOLERANCE)
        v, U = rng.normal(size=(2, 3))
        assert_allclose(list(A * motion(v)), A.matrix() @ v, **TOLERANCE)
        rest = A.minus_dyad(force(0.3 * U), force(U))
        assert_allclose(rest.matrix(), A.matrix() - 0.3 * np.outer(U, U), **TOLERANCE)
    assert_allclose(PlanarArticulatedInertia.zero().matrix(), np.zeros((3, 3)))
    with pytest.raises(ValueError, match='3x3'):
        PlanarArticulatedInertia.from_matrix(np.eye(6))


def displaced(u):
    """Transform to a frame that has moved at the velocity u for unit time: exp(-u x)."""
    crm = np.array([[0, 0, 0], [u[2], 0, -u[0]], [-u[1], u[0], 0]])
    return PlanarTransform.from_matrix(expm(-crm))


@pytest.mark.seed('PV04', 'AR01', kind='full')
def test_second_xtov_is_invariant_and_a_multiple_of_the_displacement(rng):
    """V = X v, and u = v asin(X23) / X23, up to a quarter turn."""
    for angle in (-1.5, -0.3, 1e-9, 0.8, 1.5):
        u = np.array([angle, *rng.normal(size=2)])
        X = displaced(u)
        v = X.invariant_displacement()
        assert_allclose(list(X * v), list(v), **TOLERANCE)
        X23 = X.matrix()[1, 2]
        assert_allclose(np.array(list(v)) * np.arcsin(X23) / X23, u, rtol=1e-12, atol=1e-12)
        assert_allclose(list(X.exact_displacement()), u, rtol=1e-12, atol=1e-12)


@pytest.mark.seed('PV04', kind='full')
def test_both_xtov_are_elements_of_the_matrix_and_exact_for_translations(places):
    for angle, r in places:
        X = PlanarTransform.xpln(angle, r)
        M = X.matrix()
        x21, x31, x22, x23 = M[1, 0], M[2, 0], M[1, 1], M[1, 2]
        assert_allclose(list(X.displacement()), [x23, x31, -x21], **TOLERANCE)
        second = [x23, (x31 + x22 * x31 + x23 * x21) / 2, (-x21 - x22 * x21 + x23 * x31) / 2]
        assert_allclose(list(X.invariant_displacement()), second, **TOLERANCE)
        moved = PlanarTransform(r=tuple(r))
        for v in (
            moved.displacement(),
            moved.invariant_displacement(),
            moved.exact_displacement(),
        ):
            assert_allclose(list(v), [0.0, *r], rtol=0)


@pytest.mark.seed('PV04')
def test_both_xtov_converge_as_the_angle_vanishes(rng):
    """First order in the angle for version 1, third (second for translations) for version 2."""
    direction = rng.normal(size=3)
    errors = []
    for angle in (1e-2, 1e-3):
        u = np.array([angle, *direction[1:]])
        X = displaced(u)
        errors.append(
            [
                np.abs(np.array(list(v)) - u).max()
                for v in (X.displacement(), X.invariant_displacement())
            ]
        )
    first, second = np.log10(np.divide(*errors))
    assert first == pytest.approx(1.0, abs=0.05) and second == pytest.approx(2.0, abs=0.05)


@pytest.mark.seed('PV03', 'PV05')
def test_planar_operations_cost_at_most_the_documented_count(rng):
    """Among them a congruence of articulated inertia, the dearest in space with 137m + 137a."""

    def scalars(n):
        return [Counting(x) for x in rng.normal(size=n)]

    c, s, *r = scalars(4)
    X, Y = PlanarTransform(c, s, r), PlanarTransform(*scalars(2), scalars(2))
    v, w = (PlanarMotionVector.from_array(scalars(3)) for _ in range(2))
    f = PlanarForceVector.from_array(scalars(3))
    rigid = PlanarInertia(*scalars(1), scalars(2), *scalars(1))
    A = PlanarArticulatedInertia(scalars(3), scalars(2), *scalars(1))

    def numbers(result):
        if isinstance(result, Counting):
            return [result]
        if isinstance(result, PlanarTransform):
            return [result.c, result.s, *result.r]
        if isinstance(result, PlanarInertia):
            return [result.mass, *result.h, result.I]
        if isinstance(result, PlanarArticulatedInertia):
            return [*result.M, *result.H, result.I]
        return list(result)

    for result, multiplications, additions in (
        (v + w, 0, 3),
        (v.dot(f), 3, 2),
        (v.cross(w), 4, 2),
        (v.cross(f), 4, 1),
        (X * Y, 8, 6),
        (X.inverse(), 4, 2),
        (X.apply(v), 6, 4),
        (X.inverse_apply(v), 6, 4),
        (X.apply(f), 6, 4),
        (X.inverse_apply(f), 6, 4),
        (rigid * v, 7, 4),
        (rigid + rigid, 0, 4),
        (A * v, 9, 6),
        (A + A, 0, 6),
        (A + rigid, 0, 5),
        (X.apply(rigid), 8, 8),
        (X.inverse_apply(rigid), 8, 8),
        (X.apply(A), 18, 16),
        (X.inverse_apply(A), 18, 16),
    ):
        counted = count(numbers(result))
        assert counted[2] == 0
        assert counted[0] <= multiplications and counted[1] <= additions, counted


def test_subspace_is_a_matrix_of_columns(three):
    S = PlanarMotionSubspace([motion(three[0]), motion(three[1])])
    assert_allclose(list(S @ [0.5, -2.0]), three[:2].T @ [0.5, -2.0], **TOLERANCE)
    assert_allclose(S.T @ force(three[2]), three[:2] @ three[2], **TOLERANCE)
    with pytest.raises(ValueError):
        S @ [1.0]


def test_inertias_are_equal_by_their_numbers():
    plate = PlanarInertia.from_mass_center(2.0, (0.1, 0.0), 0.01)
    assert plate == PlanarInertia.from_mass_center(2.0, (0.1, 0.0), 0.01)
    assert plate != PlanarInertia.from_mass_center(2.0, (0.2, 0.0), 0.01)
    IA = PlanarArticulatedInertia.from_rigid(plate)
    assert IA == PlanarArticulatedInertia.from_rigid(plate) and IA != plate
    assert IA != PlanarArticulatedInertia.zero()
