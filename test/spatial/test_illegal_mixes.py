# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Operations that violate the rules of use raise TypeError (book 2.7, A.3)."""

import operator

import numpy as np
import pytest

from rbd_ros.spatial import (
    ArticulatedBodyInertia,
    ForceVector,
    MotionVector,
    PluckerTransform,
    RigidBodyInertia,
)

m = MotionVector((1.0, 2.0, 3.0), (4.0, 5.0, 6.0))
f = ForceVector((1.0, 2.0, 3.0), (4.0, 5.0, 6.0))
I = RigidBodyInertia(1.0, (0.1, 0.2, 0.3), (1.0, 0.0, 1.0, 0.0, 0.0, 1.0))
IA = ArticulatedBodyInertia.from_rigid(I)
X = PluckerTransform.translation((1.0, 2.0, 3.0))
array = np.arange(6.0)

add, sub, mul = operator.add, operator.sub, operator.mul

ILLEGAL = {
    'motion + force': lambda: m + f,
    'force + motion': lambda: f + m,
    'motion - force': lambda: m - f,
    'force - motion': lambda: f - m,
    'motion + scalar': lambda: m + 1.0,
    'motion + array': lambda: m + array,
    'array + motion': lambda: array + m,
    'motion . motion': lambda: m.dot(m),
    'force . force': lambda: f.dot(f),
    'motion . array': lambda: m.dot(array),
    'motion * motion': lambda: m * m,
    'motion * force': lambda: m * f,
    'force * force': lambda: f * f,
    'motion * array': lambda: m * array,
    'array * motion': lambda: array * m,
    'force x motion': lambda: f.cross(m),
    'force x force': lambda: f.cross(f),
    'motion x inertia': lambda: m.cross(I),
    'motion x scalar': lambda: m.cross(2.0),
    'inertia * force': lambda: I * f,
    'inertia * inertia': lambda: I * I,
    'inertia * articulated': lambda: I * IA,
    'articulated * articulated': lambda: IA * IA,
    'articulated * force': lambda: IA * f,
    'motion * inertia': lambda: m * I,
    'inertia + motion': lambda: I + m,
    'inertia + scalar': lambda: I + 1.0,
    'articulated + force': lambda: IA + f,
    'transform * force': lambda: X * f,
    'transform * inertia': lambda: X * I,
    'transform * scalar': lambda: X * 2.0,
    'transform + transform': lambda: X + X,
    'motion * transform': lambda: m * X,
    'inertia * transform': lambda: I * X,
    'apply to a scalar': lambda: X.apply(1.0),
    'apply to an array': lambda: X.apply(array),
    'inverse apply to a transform': lambda: X.inverse_apply(X),
    'inertia * array': lambda: I * array,
}


@pytest.mark.seed('AR03', kind='full')
@pytest.mark.seed('SV01', 'SV07', 'SV08')
@pytest.mark.parametrize('mix', ILLEGAL)
def test_illegal_mix_raises_type_error(mix):
    with pytest.raises(TypeError):
        ILLEGAL[mix]()


@pytest.mark.seed('AR03')
@pytest.mark.parametrize('operation', [add, sub])
def test_each_space_is_closed_under_addition(operation):
    assert type(operation(m, m)) is MotionVector
    assert type(operation(f, f)) is ForceVector


@pytest.mark.seed('SV07', kind='full')
def test_no_norm_of_a_spatial_vector():
    """The magnitude of a mixed vector is meaningless, so there is no method for it."""
    for vector in (m, f):
        assert not hasattr(vector, 'norm') and not hasattr(vector, 'magnitude')
        with pytest.raises(TypeError):
            abs(vector)
