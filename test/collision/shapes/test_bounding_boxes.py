# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Bounding boxes of shapes contain them, and are tight on each side."""

import numpy as np
import pytest

from rbd_ros.collision.shapes.bounding_boxes import bounding_box, union
from rbd_ros.model import geometry
from rbd_ros.spatial.rotation import quaternion_to_rotation


def pose_of(seed):
    random = np.random.default_rng(seed)
    quaternion = random.normal(size=4)
    pose = np.eye(4)
    pose[:3, :3] = quaternion_to_rotation(tuple(quaternion / np.linalg.norm(quaternion)))
    pose[:3, 3] = random.normal(size=3)
    return pose


def sphere_points(radius, count=4000):
    directions = np.random.default_rng(5).normal(size=(count, 3))
    return radius * directions / np.linalg.norm(directions, axis=1)[:, None]


def surface(shape):
    """Return the points of the surface of a shape, the outermost ones among them."""
    if isinstance(shape, geometry.Box):
        signs = np.array([[a, b, c] for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)])
        return 0.5 * signs * np.array(shape.size)
    if isinstance(shape, geometry.Sphere):
        return sphere_points(shape.radius)
    ends = np.array([[0, 0, -0.5], [0, 0, 0.5]]) * shape.length
    if isinstance(shape, geometry.Capsule):
        return np.vstack([sphere_points(shape.radius) + end for end in ends])
    angle = np.linspace(0, 2 * np.pi, 2000)
    rim = np.column_stack([np.cos(angle), np.sin(angle), np.zeros_like(angle)]) * shape.radius
    return np.vstack([rim + end for end in ends])


@pytest.mark.parametrize('seed', range(4))
@pytest.mark.parametrize(
    'shape',
    [
        geometry.Box((0.4, 0.2, 1.0)),
        geometry.Sphere(0.3),
        geometry.Capsule(0.2, 0.7),
        geometry.Cylinder(0.3, 0.5),
    ],
    ids=lambda shape: type(shape).__name__,
)
def test_the_box_is_as_small_as_can_be(shape, seed):
    pose = pose_of(seed)
    points = surface(shape) @ pose[:3, :3].T + pose[:3, 3]
    box = bounding_box(shape, pose)
    assert (points >= box[0] - 1e-12).all() and (points <= box[1] + 1e-12).all()
    assert points.min(axis=0) == pytest.approx(box[0], abs=2e-3)  # as dense as the points are
    assert points.max(axis=0) == pytest.approx(box[1], abs=2e-3)


def test_a_height_field_ends_where_its_heights_do():
    field = geometry.HeightField((2.0, 4.0), np.array([[0.0, 0.3], [-0.1, 0.2]]))
    assert bounding_box(field, np.eye(4)).tolist() == [[-1, -2, -0.1], [1, 2, 0.3]]


def test_a_half_space_ends_along_an_axis_alone():
    pose = np.eye(4)
    pose[2, 3] = 0.7
    low, high = bounding_box(geometry.Plane(), pose)
    assert low.tolist() == [-np.inf] * 3 and high.tolist() == [np.inf, np.inf, 0.7]
    pose[:3, :3] = np.diag([1.0, -1.0, -1.0])
    low, high = bounding_box(geometry.Plane(), pose)
    assert low.tolist() == [-np.inf, -np.inf, 0.7] and high.tolist() == [np.inf] * 3
    assert not np.isfinite(bounding_box(geometry.Plane(), pose_of(1))).any()


def test_a_mesh_is_within_the_box_of_its_vertices(tmp_path):
    path = tmp_path / 'wedge.obj'
    path.write_text('v 0 0 0\nv 1 0 0\nv 0 2 0\nv 0 0 3\nf 1 2 3\nf 1 2 4\n')
    mesh = geometry.Mesh('wedge.obj', str(path), (1.0, 1.0, 2.0))
    assert bounding_box(mesh, np.eye(4)).tolist() == [[0, 0, 0], [1, 2, 6]]
    lost = geometry.Mesh('lost.obj', None, (1.0, 1.0, 1.0))
    with pytest.raises(ValueError, match='lost.obj was not found'):
        bounding_box(lost, np.eye(4))


def test_a_malformed_shape_is_rejected():
    with pytest.raises(ValueError, match='a str has no bounded volume'):
        bounding_box('box', np.eye(4))


def test_the_union_encloses_all():
    boxes = [np.array([[0, 0, 0], [1, 1, 1]]), np.array([[-1, 0.5, 0], [0, 3, 0.5]])]
    (whole,) = union(boxes)
    assert whole.tolist() == [[-1, 0, 0], [1, 3, 1]] and union([]) == ()
