# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Cylinders on faces, up to rounding: distances along face normals."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from scipy.spatial.transform import Rotation

from rbd_ros.collision import Box, ConvexHull, Cylinder, distance

R, LENGTH = 0.1, 0.5
CORNERS = [(x, y, z) for x in (-0.05, 0.05) for y in (-0.5, 0.5) for z in (-0.1, 0.1)]


def test_a_log_beside_a_wall_is_where_it_is():
    """A pair that came up in a pile of logs: the line of contact is level with the box's edges."""
    a = 9.5158319158433967e-13
    T = np.array(
        [
            [1, -a, 4.5494672032751594e-17, -1.9999999999999479e-01],
            [4.5494671954698541e-17, -8.2156503822261584e-14, -1.0, -1.3897533243569713e-14],
            [a, 1.0, -8.2156503822261584e-14, 9.9999999999969780e-02],
            [0, 0, 0, 1],
        ]
    )
    wall = np.eye(4)
    wall[:3, 3] = [-0.35, 0, 0.1]
    found = distance(Box((0.1, 1.0, 0.2)), wall, Cylinder(R, LENGTH), T)
    assert abs(found.gap) < 5e-13
    assert_allclose(found.normal, [1.0, 0.0, 0.0], atol=1e-10)


@pytest.mark.parametrize('side', ['first', 'second'])
@pytest.mark.parametrize('shape', [Box((0.1, 1.0, 0.2)), ConvexHull(CORNERS)])
@pytest.mark.parametrize('angle', [0.0, 1e-14, 1e-13, 1e-12, 1e-11, 1e-9])
@pytest.mark.parametrize('gap', [0.0, -1e-9, 3e-4])
def test_sides_and_caps_that_lie_on_a_face(side, shape, angle, gap, rng):
    """Level with its edge, or within it."""
    for _ in range(30):
        lies = rng.random() < 0.7
        turned = (
            Rotation.from_euler('x', 0.5 * np.pi)
            if lies
            else Rotation.from_euler('y', 0.5 * np.pi)
        )
        tilt = Rotation.from_rotvec(angle * rng.uniform(-1, 1, 3))
        own = Rotation.random(random_state=rng).as_matrix()  # of both together
        T, place = np.eye(4), np.eye(4)
        T[:3, :3] = (tilt * turned).as_matrix()
        level = 0.1 if rng.random() < 0.5 else rng.uniform(-0.08, 0.08)
        T[:3, 3] = [0.05 + gap + (R if lies else 0.5 * LENGTH), 0.0, level]
        place[:3, :3] = own
        # What is highest on the cylinder, by hand.
        axis = T[:3, 2]
        lowest = T[0, 3] - 0.5 * LENGTH * abs(axis[0]) - R * np.hypot(axis[1], axis[2])
        pairs = [(shape, place), (Cylinder(R, LENGTH), place @ T)]
        if side == 'second':
            pairs.reverse()
        found = distance(*pairs[0], *pairs[1])
        assert found.gap >= lowest - 0.05 - 5e-13
        if not angle or (lies and level != 0.1):
            assert found.gap == pytest.approx(lowest - 0.05, abs=5e-13)
        else:
            # Some of it is beyond the edge.
            assert found.gap == pytest.approx(lowest - 0.05, abs=2.0 * angle + 5e-13)
        assert_allclose(found.point_b - found.point_a, found.gap * found.normal, atol=1e-12)
