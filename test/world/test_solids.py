# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Inertia of solids of uniform density, against closed forms, sampled points and MuJoCo."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import outside
from support.mesh_files import box_triangles, round_triangles, write_obj, write_stl

from rbd_ros.collision import MeshError
from rbd_ros.meshes import hull_triangles, is_closed, mesh_triangles
from rbd_ros.model.geometry import Box, Capsule, Cylinder, Mesh, Plane, Sphere
from rbd_ros.spatial import PluckerTransform
from rbd_ros.world import solid_inertia, triangles_inertia

ROUND = [Sphere(0.3), Cylinder(0.2, 0.7), Capsule(0.2, 0.5), Capsule(0.3, 1e-6)]
SOLIDS = [Box((0.3, 0.5, 0.8)), *ROUND]


def inside(shape, x):
    """Return which points, (N, 3), lie in a shape: by its definition alone."""
    if isinstance(shape, Box):
        return (np.abs(x) <= 0.5 * np.array(shape.size)).all(axis=1)
    radial, along = np.hypot(x[:, 0], x[:, 1]), np.abs(x[:, 2])
    if isinstance(shape, Sphere):
        return np.hypot(radial, along) <= shape.radius
    half = 0.5 * shape.length
    if isinstance(shape, Cylinder):
        return (radial <= shape.radius) & (along <= half)
    return np.hypot(radial, np.maximum(along - half, 0.0)) <= shape.radius


@pytest.mark.parametrize('shape', SOLIDS, ids=repr)
def test_inertia_is_the_sum_over_points_within(shape):
    n, reach = 120, 0.6
    ticks = (np.arange(n) + 0.5) / n * 2.0 * reach - reach
    points = np.array(np.meshgrid(ticks, ticks, ticks)).reshape(3, -1).T
    points = points[inside(shape, points)]
    element = 500.0 * (2.0 * reach / n) ** 3
    mass = element * len(points)
    second = element * points.T @ points
    expected = np.trace(second) * np.eye(3) - second
    found = solid_inertia(shape, 500.0)
    assert_allclose(found.mass, mass, rtol=1e-2)
    assert_allclose(found.matrix()[:3, :3], expected, rtol=1.5e-2, atol=1e-6)
    assert found.h == (0.0, 0.0, 0.0)


def test_closed_forms():
    assert_allclose(
        solid_inertia(Box((2.0, 3.0, 4.0)), 0.5).parameters(),
        [12.0, 0, 0, 0, 25.0, 0, 0, 20.0, 0, 13.0],
    )
    sphere = solid_inertia(Sphere(2.0)).parameters()
    assert_allclose(sphere[0], 32.0 / 3.0 * np.pi)
    assert_allclose(sphere[4:], [sphere[0] * 1.6 * k for k in (1, 0, 0, 1, 0, 1)])
    cylinder = solid_inertia(Cylinder(2.0, 3.0)).parameters()
    assert_allclose(cylinder[0], 12.0 * np.pi)
    assert_allclose(cylinder[4:], [cylinder[0] * k for k in (1.75, 0, 0, 1.75, 0, 2.0)])


def test_a_short_capsule_is_a_sphere_and_a_long_one_the_sum_of_its_parts():
    short, ball = solid_inertia(Capsule(0.3, 1e-12)), solid_inertia(Sphere(0.3))
    assert_allclose(short.parameters(), ball.parameters(), rtol=1e-10)
    # A half sphere of radius r has its center of mass at 3/8 r, and about it 83/320 m r^2 across.
    r, half, m = 0.2, 0.35, 2.0 / 3.0 * np.pi * 0.2**3
    across = 2.0 * (83.0 / 320.0 * m * r**2 + m * (half + 0.375 * r) ** 2)
    whole = solid_inertia(Capsule(r, 2.0 * half)).parameters()
    middle = solid_inertia(Cylinder(r, 2.0 * half)).parameters()
    assert_allclose(whole[4] - middle[4], across, rtol=1e-12)
    assert_allclose(whole[9] - middle[9], 2.0 * 0.4 * m * r**2, rtol=1e-12)
    assert_allclose(whole[0] - middle[0], 2.0 * m, rtol=1e-12)


def test_mujoco_has_the_same_inertia():
    mujoco = outside.load('mujoco')
    sizes = {
        Box: lambda s: ('box', [0.5 * x for x in s.size]),
        Sphere: lambda s: ('sphere', [s.radius]),
        Cylinder: lambda s: ('cylinder', [s.radius, 0.5 * s.length]),
        Capsule: lambda s: ('capsule', [s.radius, 0.5 * s.length]),
    }
    for shape in SOLIDS[:-1]:
        kind, size = sizes[type(shape)](shape)
        model = mujoco.MjModel.from_xml_string(
            '<mujoco><worldbody><body><freejoint/>'
            f'<geom type="{kind}" size="{" ".join(map(repr, size))}" density="321"/>'
            '</body></worldbody></mujoco>'
        )
        ours = solid_inertia(shape, 321.0)
        assert_allclose(ours.mass, model.body_mass[1], rtol=1e-12)
        moments = np.sort(np.linalg.eigvalsh(ours.matrix()[:3, :3]))
        assert_allclose(moments, np.sort(model.body_inertia[1]), rtol=1e-10)


def test_the_triangles_of_a_box_anywhere_have_its_inertia(rng):
    for _ in range(20):
        size, r = rng.uniform(0.1, 2.0, 3), rng.normal(size=3) * 5.0
        quaternion = rng.normal(size=4)
        X = PluckerTransform.from_quaternion(quaternion / np.linalg.norm(quaternion), tuple(r))
        corners = box_triangles(size).reshape(-1, 3)
        moved = np.array([X.inverse_point(tuple(corner)) for corner in corners]).reshape(-1, 3, 3)
        expected = X.inverse_apply(solid_inertia(Box(tuple(size)), 7.0)).parameters()
        assert_allclose(triangles_inertia(moved, 7.0).parameters(), expected, atol=1e-9)
        assert_allclose(triangles_inertia(moved[:, ::-1], 7.0).parameters(), expected, atol=1e-9)
        order = rng.permutation(len(moved))
        assert_allclose(triangles_inertia(moved[order], 7.0).parameters(), expected, atol=1e-9)


def test_triangles_of_two_solids_have_the_sum_of_their_inertias(rng):
    """The center of mass is not the mean of the corners here."""
    for _ in range(10):
        found, expected = [], np.zeros(10)
        for _ in range(2):
            size, r = rng.uniform(0.1, 2.0, 3), rng.normal(size=3) * 4.0
            found.append(box_triangles(size) + r)
            X = PluckerTransform.translation(tuple(r))
            expected += X.inverse_apply(solid_inertia(Box(tuple(size)))).parameters()
        assert_allclose(triangles_inertia(np.concatenate(found)).parameters(), expected, atol=1e-9)


def test_a_solid_with_a_hole_has_less():
    outer, inner = box_triangles((1.0, 1.0, 1.0)), box_triangles((0.5, 0.5, 0.5))
    found = triangles_inertia(np.concatenate([outer, inner[:, ::-1]]))
    whole, hole = solid_inertia(Box((1.0, 1.0, 1.0))), solid_inertia(Box((0.5, 0.5, 0.5)))
    expected = np.array(whole.parameters()) - np.array(hole.parameters())
    assert_allclose(found.parameters(), expected, atol=1e-12)


@pytest.mark.parametrize('suffix', ['stl', 'ascii.stl', 'obj'])
def test_meshes_of_files(tmp_path, suffix):
    path = tmp_path / f'mesh.{suffix}'
    triangles = box_triangles((0.5, 0.25, 1.0))
    {'stl': write_stl, 'ascii.stl': write_stl, 'obj': write_obj}[suffix](
        path, triangles, **({'text': True} if suffix == 'ascii.stl' else {})
    )
    mesh = Mesh('mesh', str(path), (2.0, 1.0, -1.0))  # mirrored
    expected = solid_inertia(Box((1.0, 0.25, 1.0)), 3.0)
    assert_allclose(solid_inertia(mesh, 3.0).parameters(), expected.parameters(), atol=1e-12)
    hull = solid_inertia(mesh, 3.0, convex=True)
    assert_allclose(hull.parameters(), expected.parameters(), atol=1e-12)
    read = mesh_triangles(str(path), (2.0, 1.0, -1.0))
    normals = np.cross(read[:, 1] - read[:, 0], read[:, 2] - read[:, 0])
    assert (np.einsum('ij,ij->i', normals, read.mean(axis=1)) > 0.0).all()  # outward


def test_open_meshes_are_rejected_and_their_hull_is_offered(tmp_path):
    path = tmp_path / 'cup.stl'
    write_stl(path, box_triangles((1.0, 1.0, 1.0))[:-1])
    mesh = Mesh('package://it/cup.stl', str(path))
    with pytest.raises(MeshError, match='package://it/cup.stl is not closed.*convex: true'):
        solid_inertia(mesh)
    assert_allclose(solid_inertia(mesh, convex=True).mass, 1.0)


def test_one_triangle_that_is_turned_makes_a_mesh_open():
    triangles = box_triangles((1.0, 1.0, 1.0))
    assert is_closed(triangles)
    flat = np.concatenate([triangles, [[[0, 0, 0], [0, 0, 0], [1, 0, 0]]]])
    assert is_closed(flat)  # no area, no edge
    triangles[3] = triangles[3, ::-1]
    assert not is_closed(triangles)
    assert not is_closed(np.zeros((1, 3, 3)))


def test_hulls_of_round_and_flat_points(rng):
    points = rng.normal(size=(400, 3))
    points *= 2.0 / np.linalg.norm(points, axis=1)[:, None]
    hull = hull_triangles(np.concatenate([points, 0.5 * points]))
    assert is_closed(hull)
    normals = np.cross(hull[:, 1] - hull[:, 0], hull[:, 2] - hull[:, 0])
    assert (np.einsum('ij,ij->i', normals, hull.mean(axis=1)) > 0.0).all()
    volume = triangles_inertia(hull).mass
    assert 0.9 < volume / (32.0 / 3.0 * np.pi) < 1.0
    with pytest.raises(MeshError, match='enclose no volume'):
        hull_triangles(np.concatenate([points[:, :2], np.zeros((400, 1))], axis=1))
    with pytest.raises(MeshError, match='enclose no volume'):
        hull_triangles(points[:3])


def test_fine_triangles_come_close_to_the_round_solid():
    for shape in ROUND[:3]:
        exact = solid_inertia(shape)
        found = triangles_inertia(round_triangles(shape, 128))
        assert_allclose(found.parameters(), exact.parameters(), rtol=2e-3, atol=1e-9)


def test_a_mesh_without_file_or_volume_is_rejected():
    with pytest.raises(MeshError, match='no file package://a/b.stl'):
        solid_inertia(Mesh('package://a/b.stl', None))
    with pytest.raises(TypeError, match='a Plane has no volume'):
        solid_inertia(Plane())
    triangles = box_triangles((1.0, 1.0, 1.0))
    with pytest.raises(MeshError, match='enclose no volume'):
        triangles_inertia(np.concatenate([triangles, triangles[:, ::-1]]))
