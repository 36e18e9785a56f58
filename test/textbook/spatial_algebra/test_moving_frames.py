# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Derivatives in moving coordinates by finite differences; both accelerations of a body."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from scipy.linalg import expm
from support import dense
from support.all_joints import every_joint, slope

from rbd_ros.spatial import ForceVector, MotionVector, PluckerTransform
from rbd_ros.textbook.spatial_algebra.moving_frames import (
    apparent_derivative,
    classical_acceleration,
    derivative,
    spatial_acceleration,
    transform_rate,
)

CLOSE = 1e-11  # differences of sixth order: 1e-13 of rounding, times velocities of size 10


def moving(E, r, v):
    """Transform at time t from fixed coordinates to a frame that moves with the velocity v.

    :param v: in the frame's own coordinates
    """
    X0 = dense.motion_transform(E, r)
    return lambda t: expm(-t * dense.crm(v)) @ X0


@pytest.fixture
def frame(rng):
    """Return the moving frame: velocity in its coordinates.

    And the transform to it as a function of time.
    """
    v = rng.normal(size=6)
    return v, moving(dense.rotation(rng), rng.normal(size=3), v)


@pytest.mark.seed('SV14', kind='full')
@pytest.mark.parametrize('space', [MotionVector, ForceVector])
def test_derivative_is_that_of_coordinates_plus_a_cross_product(space, frame, rng):
    """A vector changes in fixed coordinates; its moving coordinates change otherwise."""
    v, X = frame
    start, rate, bend = rng.normal(size=(3, 6))

    def fixed(t):
        return start + rate * t + bend * t * t

    def coordinates(t):
        transform = X(t) if space is MotionVector else np.linalg.inv(X(t)).T
        return transform @ fixed(t)

    to_frame = X(0) if space is MotionVector else np.linalg.inv(X(0)).T
    vector, apparent, whole = (
        space.from_array(x.tolist()) for x in (coordinates(0), slope(coordinates), to_frame @ rate)
    )
    velocity = MotionVector.from_array(v.tolist())
    assert_allclose(list(derivative(vector, apparent, velocity)), list(whole), atol=CLOSE)
    assert_allclose(list(apparent_derivative(vector, whole, velocity)), list(apparent), atol=CLOSE)


@pytest.mark.seed('SV14', 'CT10')
@every_joint
def test_joints_have_the_apparent_derivative_of_their_subspace(joint, rng):
    """Between moving bodies, the derivative of S is its ring plus the body's v x S."""
    q = np.array(joint.sample(rng.uniform(size=joint.uniforms).tolist(), -1.0, 1.0))
    qd = rng.normal(size=joint.nv)
    rates = np.array(joint.position_rate(q.tolist(), qd.tolist()))
    v = rng.normal(size=6)
    X = moving(dense.rotation(rng), rng.normal(size=3), v)  # to the body's coordinates

    for column in range(joint.nv):

        def in_base(t, column=column):
            S = joint.motion_subspace((q + t * rates).tolist()).columns[column]
            return np.linalg.solve(X(t), list(S))

        S = joint.motion_subspace(q.tolist()).columns[column]
        ring = joint.motion_subspace_rate(q.tolist(), qd.tolist()).columns[column]
        ours = derivative(S, ring, MotionVector.from_array(v.tolist()))
        assert_allclose(list(ours), X(0) @ slope(in_base), atol=CLOSE)


@pytest.mark.seed('SV15', kind='full')
def test_transform_between_moving_frames_changes_at_its_rate(rng):
    """d/dt(BXA) = B(v_A - v_B) x BXA."""
    v_A, v_B = rng.normal(size=(2, 6))
    A, B = (moving(dense.rotation(rng), rng.normal(size=3), v) for v in (v_A, v_B))

    def between(t):
        return B(t) @ np.linalg.inv(A(t))

    X = PluckerTransform.from_matrix(between(0))
    relative = MotionVector.from_array((X.matrix() @ v_A - v_B).tolist())
    assert_allclose(transform_rate(X, relative), slope(between), atol=CLOSE)


@pytest.mark.seed('SV16', kind='full')
def test_uniformly_turning_body_has_no_spatial_acceleration(rng):
    """A disc that turns at constant speed about an axis that is not at the origin.

    Its points accelerate towards the axis, as a classical acceleration says.
    """
    omega, center = rng.normal(size=(2, 3))
    v = MotionVector(tuple(omega), tuple(np.cross(center, omega)))
    for point in rng.normal(size=(5, 3)):
        towards = np.cross(omega, np.cross(omega, point - center))
        angular, linear = classical_acceleration(MotionVector.zero(), v, tuple(point))
        assert_allclose(angular, 0)
        assert_allclose(linear, towards, rtol=1e-13, atol=1e-13)
        spatial = spatial_acceleration((0.0, 0.0, 0.0), tuple(towards), v, tuple(point))
        assert_allclose(list(spatial), 0, atol=1e-13)
    # where a point has no velocity, it has an acceleration all the same
    rolling = MotionVector((0.0, 0.0, 1.0), (1.0, 0.0, 0.0))
    at_contact = classical_acceleration(MotionVector.zero(), rolling)[1]
    assert_allclose(at_contact, (0.0, 1.0, 0.0))


@pytest.mark.seed('SV16', kind='full')
def test_both_accelerations_of_a_body_in_general_motion(rng):
    """Points by second differences of their positions, the spatial one by that of the velocity."""
    R0, p0 = dense.rotation(rng), rng.normal(size=3)
    w, w2, u, u2 = rng.normal(size=(4, 3))

    def pose(t):
        turn = expm(dense.skew(w * t + w2 * t * t))
        return turn @ R0, p0 + u * t + u2 * t * t

    def velocity(t, h=1e-4):
        (Ra, pa), (Rb, pb) = pose(t - h), pose(t + h)
        R, p = pose(t)
        W = (Rb - Ra) / (2 * h) @ R.T
        omega = np.array([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]]) / 2
        return np.concatenate([omega, (pb - pa) / (2 * h) - np.cross(omega, p)])

    # The body's spatial velocity in fixed coordinates; its derivative is the spatial acceleration.
    h = 1e-3
    a = MotionVector.from_array(((velocity(h) - velocity(-h)) / (2 * h)).tolist())
    v = MotionVector.from_array(velocity(0.0).tolist())
    for local in rng.normal(size=(3, 3)):

        def position(t, local=local):
            R, p = pose(t)
            return R @ local + p

        expected = (position(h) - 2 * position(0.0) + position(-h)) / (h * h)
        point = tuple(position(0.0).tolist())
        angular, linear = classical_acceleration(a, v, point)
        # truncation of h^2 times fifth powers of the speeds
        assert_allclose(linear, expected, atol=2e-4)
        assert_allclose(angular, a.angular, rtol=0)
        back = spatial_acceleration(angular, linear, v, point)
        assert_allclose(list(back), list(a), rtol=1e-12, atol=1e-12)


@pytest.mark.seed('SV16', kind='full')
def test_classical_acceleration_is_that_of_equation_2_50(rng):
    """The spatial one is the classical one plus [0; v_O] x v."""
    a, v = rng.normal(size=(2, 6))
    motion, velocity = (MotionVector.from_array(x.tolist()) for x in (a, v))
    angular, linear = classical_acceleration(motion, velocity)
    correction = dense.crm(np.concatenate([np.zeros(3), v[3:]])) @ v
    assert_allclose(np.concatenate([angular, linear]) + correction, a, rtol=1e-13, atol=1e-13)
