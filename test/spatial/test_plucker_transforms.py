# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Pluecker transforms against dense and homogeneous matrices and quaternions (book 2.8)."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from scipy.linalg import expm
from support import dense

from rbd_ros.spatial import ForceVector, MotionVector, PluckerTransform
from rbd_ros.textbook.planar.planar_algebra import PlanarTransform

TOLERANCE = {
    'rtol': 1e-13,
    'atol': 1e-13,
}  # products of orthogonal matrices and vectors of size 1 to 10


@pytest.fixture
def pairs(rng):
    """Return ten random (E, r)."""
    return [(dense.rotation(rng), rng.normal(size=3)) for _ in range(10)]


def homogeneous(E, r):
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = E, -E @ r
    return T


@pytest.mark.seed('SV11', kind='full')
def test_matrices_of_both_spaces(pairs):
    for E, r in pairs:
        X = PluckerTransform(E, r)
        assert_allclose(X.matrix(), dense.motion_transform(E, r), **TOLERANCE)
        assert_allclose(X.force_matrix(), dense.force_transform(E, r), **TOLERANCE)
        assert_allclose(X.force_matrix(), np.linalg.inv(X.matrix()).T, **TOLERANCE)


@pytest.mark.seed('SV11', 'AR04')
def test_vectors_transform_like_their_matrices(pairs, rng):
    for E, r in pairs:
        X, m, f = PluckerTransform(E, r), *rng.normal(size=(2, 6))
        motion, force = MotionVector.from_array(m.tolist()), ForceVector.from_array(f.tolist())
        XM, XF = dense.motion_transform(E, r), dense.force_transform(E, r)
        assert_allclose(list(X.apply(motion)), XM @ m, **TOLERANCE)
        assert_allclose(list(X * motion), XM @ m, **TOLERANCE)
        assert_allclose(list(X.apply(force)), XF @ f, **TOLERANCE)
        assert_allclose(list(X.inverse_apply(motion)), np.linalg.inv(XM) @ m, **TOLERANCE)
        assert_allclose(list(X.inverse_apply(force)), XM.T @ f, **TOLERANCE)


@pytest.mark.seed('SV08', 'SV04', kind='full')
@pytest.mark.seed('SV11')
def test_power_does_not_depend_on_coordinates(pairs, rng):
    for E, r in pairs:
        X = PluckerTransform(E, r)
        motion = MotionVector.from_array(rng.normal(size=6).tolist())
        force = ForceVector.from_array(rng.normal(size=6).tolist())
        assert X.apply(motion).dot(X.apply(force)) == pytest.approx(
            motion.dot(force), rel=1e-12, abs=1e-12
        )


@pytest.mark.seed('SV13', kind='full')
def test_cross_products_are_covariant(pairs, rng):
    for E, r in pairs:
        X = PluckerTransform(E, r)
        v, m = (MotionVector.from_array(rng.normal(size=6).tolist()) for _ in range(2))
        f = ForceVector.from_array(rng.normal(size=6).tolist())
        assert_allclose(list(X.apply(v.cross(m))), list(X.apply(v).cross(X.apply(m))), **TOLERANCE)
        assert_allclose(list(X.apply(v.cross(f))), list(X.apply(v).cross(X.apply(f))), **TOLERANCE)


@pytest.mark.seed('SV11', kind='full')
@pytest.mark.seed('AR04')
def test_composition_and_inverse(pairs):
    for (E1, r1), (E2, r2) in zip(pairs, pairs[1:]):
        X1, X2 = PluckerTransform(E1, r1), PluckerTransform(E2, r2)
        M1, M2 = dense.motion_transform(E1, r1), dense.motion_transform(E2, r2)
        assert_allclose((X1 * X2).matrix(), M1 @ M2, **TOLERANCE)
        assert_allclose(X1.inverse().matrix(), np.linalg.inv(M1), **TOLERANCE)
        assert_allclose((X1 * X1.inverse()).matrix(), np.eye(6), atol=1e-14)
        assert_allclose((X1 * X2).homogeneous(), X1.homogeneous() @ X2.homogeneous(), **TOLERANCE)


@pytest.mark.seed('SV11')
def test_homogeneous_matrix_maps_points_and_round_trips(pairs, rng):
    for E, r in pairs:
        X, point = PluckerTransform(E, r), rng.normal(size=3)
        T = homogeneous(E, r)
        assert_allclose(X.homogeneous(), T, **TOLERANCE)
        assert_allclose(X.pose(), np.linalg.inv(T), **TOLERANCE)
        assert_allclose(X.point(point), (T @ [*point, 1])[:3], **TOLERANCE)
        assert_allclose(X.inverse_point(point), (np.linalg.inv(T) @ [*point, 1])[:3], **TOLERANCE)
        for back in (
            PluckerTransform.from_homogeneous(T),
            PluckerTransform.from_pose(np.linalg.inv(T)),
            PluckerTransform.from_matrix(X.matrix()),
        ):
            assert_allclose(back.matrix(), X.matrix(), **TOLERANCE)


@pytest.mark.seed('SV11', 'JM06')
def test_quaternion_of_the_pose_round_trips(pairs):
    """Scalar first; R(quaternion) = E^T takes body coordinates to base coordinates."""
    for E, r in pairs:
        quaternion = np.array(PluckerTransform(E, r).quaternion())
        assert np.linalg.norm(quaternion) == pytest.approx(1.0, abs=1e-15)
        w, u = quaternion[0], quaternion[1:]
        rodrigues = np.eye(3) + 2 * w * dense.skew(u) + 2 * dense.skew(u) @ dense.skew(u)
        assert_allclose(rodrigues, E.T, **TOLERANCE)
        assert_allclose(
            PluckerTransform.from_quaternion(quaternion, r).matrix(),
            dense.motion_transform(E, r),
            **TOLERANCE,
        )


@pytest.mark.seed('SV11', 'JM06')
@pytest.mark.parametrize('axis', [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (-1, 2, 0.5)])
def test_quaternion_of_a_half_turn(axis):
    """At w = 0 the naive formula divides by zero."""
    u = np.array(axis) / np.linalg.norm(axis)
    R = 2 * np.outer(u, u) - np.eye(3)
    quaternion = np.array(PluckerTransform(R.T, (0, 0, 0)).quaternion())
    assert abs(quaternion[1:] @ u) == pytest.approx(1.0, abs=1e-14)
    assert quaternion[0] == pytest.approx(0.0, abs=1e-14)


@pytest.mark.seed('SV11', 'AR02')
@pytest.mark.parametrize('axis', range(3))
def test_coordinate_rotations_have_the_signs_of_table_2_2(axis):
    angle = 0.7
    X = (PluckerTransform.rotation_x, PluckerTransform.rotation_y, PluckerTransform.rotation_z)[
        axis
    ](angle)
    unit = np.eye(3)[axis]
    active = (
        np.cos(angle) * np.eye(3)
        + np.sin(angle) * dense.skew(unit)
        + (1 - np.cos(angle)) * np.outer(unit, unit)
    )
    assert_allclose(X.E, active.T, **TOLERANCE)
    assert_allclose(X.r, 0)


@pytest.mark.seed('AR02')
def test_translation_moves_the_origin():
    X = PluckerTransform.translation((1.0, 2.0, 3.0))
    assert_allclose(X.matrix(), dense.motion_transform(np.eye(3), [1, 2, 3]))
    assert_allclose(PluckerTransform.identity().matrix(), np.eye(6))


@pytest.mark.seed('SV15', kind='full')
def test_derivative_of_a_transform_between_moving_frames(rng):
    """d/dt(BXA) = B(v_A - v_B) x BXA, by central differences of two moving frames."""
    E, r = dense.rotation(rng), rng.normal(size=3)
    v_A, v_B = rng.normal(
        size=(2, 6)
    )  # spatial velocities of both frames in the coordinates of each frame itself
    h = 1e-5

    def moved(v, t):
        """Transform from the frame at 0 to the frame at t, both moving with body velocity v.

        Exp(-t v x).
        """
        X, term = np.eye(6), np.eye(6)
        for k in range(1, 8):
            term = term @ (-t * dense.crm(v)) / k
            X = X + term
        return X

    X0 = PluckerTransform(E, r).matrix()
    difference = (
        moved(v_B, h) @ X0 @ np.linalg.inv(moved(v_A, h))
        - moved(v_B, -h) @ X0 @ np.linalg.inv(moved(v_A, -h))
    ) / (2 * h)
    relative = MotionVector.from_array((X0 @ v_A - v_B).tolist())
    # h^2 |v|^3 truncation plus eps/h rounding: 1e-9 to 1e-10
    assert_allclose(difference, relative.cross_matrix() @ X0, atol=1e-8)


def displaced(u):
    """Transform to a frame that has moved at the velocity u for unit time: exp(-u x)."""
    return PluckerTransform.from_matrix(expm(-dense.crm(np.asarray(u, dtype=float))))


@pytest.mark.seed('AR02', kind='full')
def test_xtov_is_invariant_and_exact_for_translations(pairs):
    """V = X v = X^-1 v, of the elements of the matrix that table A.2 lists."""
    for E, r in pairs:
        X = PluckerTransform(E, r)
        v = X.displacement()
        assert_allclose(list(X * v), list(v), **TOLERANCE)
        assert_allclose(list(X.inverse_apply(v)), list(v), **TOLERANCE)
        M = X.matrix()
        elements = [(2, 3), (3, 1), (1, 2), (5, 3), (6, 1), (4, 2)]
        others = [(3, 2), (1, 3), (2, 1), (6, 2), (4, 3), (5, 1)]
        table = [
            (M[i - 1, j - 1] - M[k - 1, l - 1]) / 2 for (i, j), (k, l) in zip(elements, others)
        ]
        assert_allclose(list(v), table, **TOLERANCE)
        assert_allclose(list(PluckerTransform.translation(r).displacement()), [0, 0, 0, *r])


@pytest.mark.seed('AR02', kind='full')
def test_xtov_converges_with_the_square_of_the_angle(rng):
    """But is no multiple of the exact displacement in general."""
    direction = rng.normal(size=6)
    errors = []
    for angle in (1e-1, 1e-2, 1e-3):
        u = np.concatenate([angle * direction[:3], direction[3:]])
        v = np.array(list(displaced(u).displacement()))
        errors.append([np.linalg.norm((v - u)[:3]), np.linalg.norm((v - u)[3:])])
    angular, linear = np.log10(np.divide(errors[:-1], errors[1:])).T
    # relative to the angle itself, the angular part converges with the square, too
    assert_allclose(angular, 3.0, atol=0.02)
    assert_allclose(linear, 2.0, atol=0.02)
    u = np.concatenate([0.8 * direction[:3], direction[3:]])
    v = np.array(list(displaced(u).displacement()))
    assert np.linalg.matrix_rank(np.stack([u, v]), tol=1e-3) == 2


@pytest.mark.seed('AR02', 'PV04')
def test_xtov_of_the_plane_is_that_of_space(pairs):
    """The second version of table A.1, exactly, where there is nothing out of the plane."""
    for angle, (_, r) in zip((-3.0, -0.7, 0.0, 1e-3, 2.0), pairs):
        flat = PlanarTransform.xpln(angle, r[:2])
        space = np.array(list(flat.spatial().displacement()))
        assert_allclose(space[[0, 1, 5]], 0, atol=1e-15)
        assert_allclose(space[[2, 3, 4]], list(flat.invariant_displacement()), **TOLERANCE)


@pytest.mark.parametrize('shape', [(6, 5), (3, 3), (36,)])
def test_matrix_of_wrong_shape_is_rejected(shape):
    with pytest.raises(ValueError):
        PluckerTransform.from_matrix(np.zeros(shape))


def test_transforms_are_equal_if_rotation_and_translation_are(pairs):
    (E, r), (other, elsewhere) = pairs[:2]
    X = PluckerTransform(E, r)
    assert X == PluckerTransform(E.copy(), r.copy())
    assert hash(X) == hash(PluckerTransform(E.copy(), r.copy()))
    for different in (PluckerTransform(other, r), PluckerTransform(E, elsewhere), 1.0):
        assert X != different and not X == different
