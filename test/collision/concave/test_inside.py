# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Distances inside closed meshes, below height fields, beside them, and on surfaces."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from scipy.spatial.transform import Rotation

from rbd_ros import Robot, Simulator
from rbd_ros.collision import (
    Box,
    Capsule,
    Cylinder,
    distance,
    HeightField,
    RobotInWorld,
    Sphere,
    TriangleMesh,
)

HERE = np.eye(4)
CORNERS = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
FACES = [
    [0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1],
    [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3],
]  # fmt: skip
CUBE, SOLID = TriangleMesh(CORNERS[FACES]), Box((1.0, 1.0, 1.0))
HEIGHTS = np.array([[0.0, 0.1, 0.2], [0.2, 0.3, 0.0], [0.1, 0.0, 0.2]])
FIELD = HeightField((2.0, 2.0), HEIGHTS)
BALL = (
    '<robot name="b"><link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" '
    'ixy="0" ixz="0" iyz="0"/></inertial><collision><geometry><sphere radius="0.05"/></geometry>'
    '</collision></link></robot>'
)


def pose(rng, most):
    T = np.eye(4)
    T[:3, :3] = Rotation.random(random_state=rng).as_matrix()
    T[:3, 3] = rng.uniform(-most, most, 3)
    return T


SHAPES = [
    Sphere(0.05),
    Capsule(0.05, 0.2),
    Cylinder(0.06, 0.2),
    Box((0.1, 0.2, 0.15)),
    Box((0.1, 0.1, 3.0)),
]


@pytest.mark.parametrize('shape', SHAPES, ids=lambda each: type(each).__name__)
def test_a_closed_mesh_has_the_signs_of_the_solid(shape, rng):
    """Apart, across its surface, and inside."""
    signs = set()
    for _ in range(150):
        T = pose(rng, 0.8)
        mesh, solid = distance(CUBE, HERE, shape, T), distance(SOLID, HERE, shape, T)
        assert (mesh.gap < 0.0) == (solid.gap < 0.0)
        signs.add(mesh.gap < 0.0)
        if solid.gap > 0.0:
            assert mesh.gap == pytest.approx(solid.gap, abs=1e-9)
        assert_allclose(mesh.point_b - mesh.point_a, mesh.gap * mesh.normal, atol=1e-9)
    assert signs == {True, False}


def test_a_ball_inside_is_as_deep_as_in_the_solid(rng):
    for _ in range(100):
        T = pose(rng, 0.44)
        found, solid = (
            distance(CUBE, HERE, Sphere(0.05), T),
            distance(SOLID, HERE, Sphere(0.05), T),
        )
        assert found.gap == pytest.approx(solid.gap, abs=1e-12)
        assert_allclose(found.normal, solid.normal, atol=1e-9)
        assert_allclose(found.point_b, solid.point_b, atol=1e-9)


def test_any_convex_shape_inside_is_beyond_the_face_when_it_has_gone_its_way(rng):
    for shape in (Box((0.1, 0.2, 0.15)), Capsule(0.04, 0.2), Cylinder(0.05, 0.2)):
        for _ in range(30):
            T = pose(rng, 0.3)
            found = distance(CUBE, HERE, shape, T)
            assert found.gap < 0.0
            T[:3, 3] -= found.gap * found.normal
            assert distance(SOLID, HERE, shape, T).gap == pytest.approx(0.0, abs=1e-9)


def test_hollows_are_outside_and_so_is_all_of_a_sheet(rng):
    """A box with another one turned inside out in it is a wall; without a lid it is a sheet."""
    wall = TriangleMesh(np.concatenate([CORNERS[FACES], 0.6 * CORNERS[FACES][:, ::-1]]))
    assert distance(wall, HERE, Sphere(0.05), HERE).gap == pytest.approx(0.25)
    T = np.eye(4)
    T[0, 3] = 0.41
    assert distance(wall, HERE, Sphere(0.01), T).gap == pytest.approx(-0.10)
    sheet = TriangleMesh(CORNERS[FACES[2:]])
    assert distance(sheet, HERE, Sphere(0.05), HERE).gap == pytest.approx(0.45)


def height(x, y):
    """Return the height of FIELD, cell by cell."""
    u, w = x + 1.0, 1.0 - y
    i, j = min(int(w), 1), min(int(u), 1)
    u, w, H = u - j, w - i, HEIGHTS[i : i + 2, j : j + 2]
    if u <= w:
        return H[0, 0] + w * (H[1, 0] - H[0, 0]) + u * (H[1, 1] - H[1, 0])
    return H[0, 0] + u * (H[0, 1] - H[0, 0]) + w * (H[1, 1] - H[0, 1])


def test_every_place_has_a_distance_to_a_height_field(rng):
    robot = Robot.from_urdf(BALL, floating_base=True)
    fields = {'h': {'type': 'height_field', 'size': [2.0, 2.0], 'heights': HEIGHTS.tolist()}}
    world = RobotInWorld(robot, {'objects': fields})
    under = 0
    for p in rng.uniform(-1.3, 1.3, (400, 3)):
        q = [1.0, 0.0, 0.0, 0.0, *p]
        found = world.minimum(q)
        assert np.isfinite(found.distance) and found.names == ('robot/b', 'h')
        assert world.distances(q).distance[0] == pytest.approx(found.distance, abs=1e-12)
        away = max(abs(p[0]), abs(p[1])) - 1.0
        if away < 0.0:
            assert (found.distance < -0.05) == (p[2] < height(p[0], p[1]))
            under += p[2] < height(p[0], p[1])
        elif away > 0.05:
            assert found.distance >= away - 0.05 - 1e-12
    assert under > 50


def test_penetration_beyond_the_search_distance_is_found(rng, tmp_path):
    """A distance below zero is no distance beyond the largest."""
    lines = [f'v {x} {y} {z}' for x, y, z in CORNERS]
    lines += ['f ' + ' '.join(str(k + 1) for k in face) for face in FACES]
    (tmp_path / 'cube.obj').write_text('\n'.join(lines) + '\n')
    solid = {'type': 'mesh', 'file': str(tmp_path / 'cube.obj')}
    world = RobotInWorld(Robot.from_urdf(BALL, floating_base=True), {'objects': {'cube': solid}})
    q = np.array([[1.0, 0.0, 0.0, 0.0, 0.1, 0.2, 0.05], [1.0, 0.0, 0.0, 0.0, 0.1, 0.2, 1.0]])
    found = world.distances(q, max_distance=0.1)
    assert_allclose(found.distance[:, 0], [-0.35, 0.1])


def test_a_shape_outside_a_height_field_is_not_lifted():
    field = {'type': 'height_field', 'size': [2.0, 2.0], 'heights': HEIGHTS.tolist()}
    ball = {
        'type': 'sphere',
        'radius': 0.05,
        'xyz': [0.87, 1.2, -0.8],
        'static': False,
        'mass': 1.0,
    }
    simulator = Simulator(None, world={'objects': {'h': field, 'ball': ball}})
    simulator.step([], n=50)
    assert simulator.status.contacts == 0
    assert simulator.object_pose('ball')[2, 3] == pytest.approx(
        -0.8 - 0.5 * 9.81 * 0.05**2, abs=1e-3
    )
