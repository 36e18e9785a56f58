# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The algebra works on any scalar: exact fractions, a counting scalar, arrays of values."""

from fractions import Fraction

import numpy as np
from numpy.testing import assert_allclose
import pytest

from rbd_ros.spatial import (
    ArticulatedBodyInertia,
    ForceVector,
    MotionVector,
    PluckerTransform,
    RigidBodyInertia,
)

F = Fraction
# A rotation whose entries are rational: about z by the 3-4-5 triangle, then about x by the 5-12-13
# triangle.
E = (
    (F(3, 5), F(4, 5), F(0)),
    (F(-4, 5) * F(5, 13), F(3, 5) * F(5, 13), F(12, 13)),
    (F(4, 5) * F(12, 13), F(-3, 5) * F(12, 13), F(5, 13)),
)
R = (F(1, 2), F(-2, 3), F(3, 7))


@pytest.fixture
def exact():
    """Return the transform, motion, force and inertias with rational entries."""
    X = PluckerTransform(E, R)
    v = MotionVector.from_array([F(1, 3), F(-2), F(5, 7), F(1), F(0), F(-4, 9)])
    f = ForceVector.from_array([F(2), F(1, 9), F(-5), F(3, 4), F(1, 8), F(6)])
    inertia = RigidBodyInertia.from_parameters([F(k, k + 2) for k in range(1, 11)])
    return X, v, f, inertia


@pytest.mark.seed('SV11', 'SV08')
def test_transforms_are_exact_over_fractions(exact):
    X, v, f, _ = exact
    assert X.inverse_apply(X.apply(v)) == v
    assert X.inverse_apply(X.apply(f)) == f
    assert X.apply(v).dot(X.apply(f)) == v.dot(f)
    assert X.inverse() * X == PluckerTransform.identity()


@pytest.mark.seed('SV19', 'AB01')
def test_inertias_are_exact_over_fractions(exact):
    X, v, _, inertia = exact
    assert X.inverse_apply(X.apply(inertia)) == inertia
    assert X.apply(inertia) * X.apply(v) == X.apply(inertia * v)
    articulated = ArticulatedBodyInertia.from_rigid(inertia)
    assert X.apply(articulated) == ArticulatedBodyInertia.from_rigid(X.apply(inertia))
    assert articulated * v == inertia * v


@pytest.mark.seed('SV13')
def test_jacobi_identity_is_exact_over_fractions(exact):
    _, u, f, _ = exact
    v = MotionVector.from_array([F(k * k, 7) for k in range(6)])
    m = MotionVector.from_array([F(k, 5) for k in range(6)])
    assert u.cross(v).cross(m) == u.cross(v.cross(m)) - v.cross(u.cross(m))
    assert u.cross(v).cross(f) == u.cross(v.cross(f)) - v.cross(u.cross(f))


@pytest.mark.seed('SV19')
def test_mass_and_center_are_exact_over_fractions():
    I_C = ((F(2), F(1, 3), F(0)), (F(1, 3), F(3), F(1, 7)), (F(0), F(1, 7), F(4)))
    center = (F(1, 2), F(-1, 3), F(2))
    assert RigidBodyInertia.from_mass_center(F(5, 3), center, I_C).mass_center() == (
        F(5, 3),
        center,
        I_C,
    )


@pytest.mark.seed('SV11', 'AR02')
def test_arrays_of_values_are_scalars_too(rng):
    """A whole batch rides through one call: each element equals the call with that element."""
    angles, values = rng.normal(size=(2, 5))
    batch = PluckerTransform.rotation_z(angles).apply(
        MotionVector((values, 1.0, 2.0), (values, -values, 3.0))
    )
    for k, (angle, value) in enumerate(zip(angles.tolist(), values.tolist())):
        single = PluckerTransform.rotation_z(angle).apply(
            MotionVector((value, 1.0, 2.0), (value, -value, 3.0))
        )
        assert_allclose(
            [np.broadcast_to(x, 5)[k] for x in batch], list(single), rtol=1e-15, atol=1e-15
        )
