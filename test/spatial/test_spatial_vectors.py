# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Motion and force vectors against dense matrices and the identities of the book's chapter 2."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import dense

from rbd_ros.spatial import ForceVector, MotionSubspace, MotionVector

# One rounding or a few of numbers of size 1 to 10: 1e-14 leaves two digits and still sees a wrong
# sign.
TOLERANCE = {'rtol': 1e-13, 'atol': 1e-13}


def motion(values):
    return MotionVector.from_array(list(map(float, values)))


def force(values):
    return ForceVector.from_array(list(map(float, values)))


def array(vector):
    return np.array(list(vector))


@pytest.fixture
def six(rng):
    """Return four random arrays of six coordinates."""
    return rng.normal(size=(4, 6))


@pytest.mark.seed('SV05')
def test_coordinates_are_angular_first_and_round_trip(six):
    m, f = motion(six[0]), force(six[1])
    assert tuple(m.angular) == tuple(six[0][:3]) and tuple(m.linear) == tuple(six[0][3:])
    assert tuple(f.moment) == tuple(six[1][:3]) and tuple(f.linear) == tuple(six[1][3:])
    assert_allclose(m.to_array(), six[0], rtol=0)
    assert_allclose(f.to_array(), six[1], rtol=0)


@pytest.mark.parametrize('wrap', [motion, force])
@pytest.mark.seed('SV09', 'AR03')
def test_vectors_of_one_space_add_and_scale_like_arrays(wrap, six):
    a, b = six[:2]
    assert_allclose(array(wrap(a) + wrap(b)), a + b, rtol=0)
    assert_allclose(array(wrap(a) - wrap(b)), a - b, rtol=0)
    assert_allclose(array(-wrap(a)), -a, rtol=0)
    assert_allclose(array(2.5 * wrap(a)), 2.5 * a, rtol=0)
    assert_allclose(array(wrap(a) * 2.5), 2.5 * a, rtol=0)
    assert_allclose(array(np.float64(2.5) * wrap(a)), 2.5 * a, rtol=0)
    assert array(type(wrap(a)).zero()).tolist() == [0.0] * 6


@pytest.mark.seed('SV08', 'SV01')
def test_scalar_product_is_the_power(six):
    m, f = six[:2]
    assert motion(m).dot(force(f)) == pytest.approx(m @ f, rel=1e-13)
    assert force(f).dot(motion(m)) == pytest.approx(m @ f, rel=1e-13)


@pytest.mark.seed('SV13')
def test_cross_products_match_their_matrices(six):
    v, m, f = six[:3]
    assert_allclose(array(motion(v).cross(motion(m))), dense.crm(v) @ m, **TOLERANCE)
    assert_allclose(array(motion(v).cross(force(f))), dense.crf(v) @ f, **TOLERANCE)
    assert_allclose(motion(v).cross_matrix(), dense.crm(v), rtol=0)
    assert_allclose(motion(v).cross_force_matrix(), dense.crf(v), rtol=0)


@pytest.mark.seed('SV13', kind='full')
def test_identities_of_table_2_3(six):
    u, v, m, f = motion(six[0]), motion(six[1]), motion(six[2]), force(six[3])
    assert_allclose(array(u.cross(u)), 0, atol=1e-15)
    assert_allclose(array(u.cross(v)), -array(v.cross(u)), **TOLERANCE)
    # v x* = -(v x)^T, in the form in which it is used: (v x m) . f = -m . (v x* f)
    assert v.cross(m).dot(f) == pytest.approx(-m.dot(v.cross(f)), rel=1e-12)
    # (u x v) x = u x v x - v x u x, on motions (the Jacobi identity) and on forces
    assert_allclose(
        array(u.cross(v).cross(m)), array(u.cross(v.cross(m)) - v.cross(u.cross(m))), **TOLERANCE
    )
    assert_allclose(
        array(u.cross(v).cross(f)), array(u.cross(v.cross(f)) - v.cross(u.cross(f))), **TOLERANCE
    )
    # linear in both arguments
    assert_allclose(
        array((2.0 * u + v).cross(m)), array(2.0 * u.cross(m) + v.cross(m)), **TOLERANCE
    )
    assert_allclose(
        array((2.0 * u + v).cross(f)), array(2.0 * u.cross(f) + v.cross(f)), **TOLERANCE
    )


@pytest.mark.seed('SV03', kind='full')
def test_velocity_field_does_not_depend_on_the_origin(six, rng):
    origin, point = rng.normal(size=(2, 3))
    v = six[0]
    moved = dense.motion_transform(np.eye(3), origin) @ v
    expected = v[3:] + np.cross(v[:3], point)
    assert_allclose(motion(v).velocity_at(tuple(point)), expected, **TOLERANCE)
    assert_allclose(motion(moved).velocity_at(tuple(point - origin)), expected, **TOLERANCE)


@pytest.mark.seed('SV03', kind='full')
def test_velocity_field_of_a_sum_is_the_sum_of_fields(six, rng):
    a, b, point = motion(six[0]), motion(six[1]), tuple(rng.normal(size=3))
    assert_allclose(
        (a + b).velocity_at(point), np.add(a.velocity_at(point), b.velocity_at(point)), **TOLERANCE
    )


@pytest.mark.seed('SV04')
def test_moment_about_a_point_and_force_along_a_line(six, rng):
    f, point = six[0], rng.normal(size=3)
    assert_allclose(
        force(f).moment_about(tuple(point)), f[:3] + np.cross(f[3:], point), **TOLERANCE
    )
    line = ForceVector.at_point(tuple(f[3:]), tuple(point))
    assert_allclose(line.moment_about(tuple(point)), 0, atol=1e-14)
    assert_allclose(array(line), np.concatenate([np.cross(point, f[3:]), f[3:]]), **TOLERANCE)
    with_couple = ForceVector.at_point(tuple(f[3:]), tuple(point), tuple(f[:3]))
    assert_allclose(with_couple.moment_about(tuple(point)), f[:3], **TOLERANCE)


@pytest.mark.seed('SV10', 'CT10')
def test_motion_subspace_is_a_matrix_of_columns(six):
    S = MotionSubspace([motion(six[0]), motion(six[1])])
    dense_S = six[:2].T
    assert_allclose(array(S @ [0.5, -2.0]), dense_S @ [0.5, -2.0], **TOLERANCE)
    assert_allclose(S.T @ force(six[2]), dense_S.T @ six[2], **TOLERANCE)
    with pytest.raises(ValueError):
        S @ [1.0]


@pytest.mark.seed('JM14')
def test_empty_motion_subspace_is_the_zero_motion():
    S = MotionSubspace([])
    assert array(S @ []).tolist() == [0.0] * 6
    assert list(S.T @ force(range(6))) == []


@pytest.mark.parametrize('values', [[], [1.0] * 5, [1.0] * 7])
def test_a_spatial_vector_has_six_coordinates(values):
    for type_ in (MotionVector, ForceVector):
        with pytest.raises(ValueError, match='6'):
            type_.from_array(values)


@pytest.mark.parametrize('size', [0, 2, 4])
@pytest.mark.parametrize('container', [tuple, list])
def test_both_parts_of_a_spatial_vector_have_three(size, container):
    three, other = container([1.0] * 3), container([1.0] * size)
    for type_ in (MotionVector, ForceVector):
        for parts in ((three, other), (other, three)):
            with pytest.raises(ValueError, match=f'3 elements, got {size}'):
                type_(*parts)
