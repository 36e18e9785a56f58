# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Meshes of scenes: their shapes, and the messages of unusable ones."""

import time
import tracemalloc

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.mesh_files import (
    box_triangles,
    grid_triangles,
    ring_triangles,
    round_triangles,
    write_obj,
    write_stl,
)
from support.simulated_robots import collision, joint, link

from rbd_ros import Robot, Simulator
from rbd_ros.collision import ConvexHull, TriangleMesh
from rbd_ros.collision.scene.scene import make_scene
from rbd_ros.model.geometry import Sphere
from rbd_ros.world import read_world, WorldFileError

INERTIA = (0.1, 0.1, 0.1)
PLANE = {'type': 'plane'}
CUBE = box_triangles((0.2, 0.2, 0.2))


def robot_with(*uris):
    """Return the robot whose links slide up and down.

    Each with a mesh and the last one with a ball.
    """
    elements = [link('base')]
    shapes = [collision(f'mesh filename="{uri}"') for uri in uris]
    for k, shape in enumerate([*shapes, collision('sphere radius="0.1"')]):
        elements += [
            link(f'l{k}', 1.0, INERTIA, shape=shape),
            joint(f'j{k}', 'base', f'l{k}', 'prismatic', (0, 0, 1), (k, 0, 0.5),
                  '<limit lower="-9" upper="9" effort="9" velocity="20"/>'),
        ]  # fmt: skip
    return Robot.from_urdf(f'<robot name="r">{"".join(elements)}</robot>')


def scene_of(robot=None, **objects):
    model = (robot or robot_with()).model
    return make_scene(model, read_world({'objects': objects}))


def mesh(path, **further):
    return {'type': 'mesh', 'file': str(path), **further}


def damaged(folder):
    """Return unusable files with their messages."""
    nan = CUBE.copy()
    nan[3, 1, 2] = np.nan
    flat = CUBE * [1.0, 1.0, 0.0]
    far = CUBE * [1.0, 1.0, 1e30]
    files = {'nan': nan, 'far': far, 'flat': flat, 'line': flat * [1, 0, 0]}
    for name, triangles in files.items():
        write_stl(folder / f'{name}.stl', triangles)
    (folder / 'empty.stl').write_bytes(b'')
    (folder / 'nothing.stl').write_bytes(b'solid\nendsolid')
    (folder / 'half.stl').write_bytes((folder / 'nan.stl').read_bytes()[:-20])
    return {
        'nan.stl': 'holds vertices that are not finite; export it again',
        'far.stl': r'holds vertices more than 1e\+09 from its origin; export it again',
        'flat.stl': 'enclose no volume .* in a plane.*; give a solid, or a thin box',
        'line.stl': 'enclose no volume .* in line.*; give a solid, or a thin box',
        'empty.stl': 'neither a text STL file nor a complete binary one.*; export it again',
        'nothing.stl': 'holds no (triangles|vertices); export it again',
        'half.stl': 'neither a text STL file nor a complete binary one.*; export it again',
    }


# -- what becomes of meshes -----------------------------------------------------------------------


def test_meshes_of_links_are_hulls_and_meshes_of_objects_as_declared(tmp_path):
    write_stl(tmp_path / 'cube.stl', CUBE + [0.5, 0.0, 0.0])
    path = tmp_path / 'cube.stl'
    scene = scene_of(
        robot_with(f'file://{path}', f'file://{path}'),
        solid=mesh(path),
        hull=mesh(path, convex=True, static=False, mass=1.0),
    )
    kinds = {each.name: type(each.shape) for each in scene.shapes}
    assert kinds['robot/l0'] is ConvexHull and kinds['hull'] is ConvexHull
    assert kinds['solid'] is TriangleMesh
    # Their frames are in their middles, where bounding spheres are smallest.
    for each in scene.shapes[:2]:
        assert each.pose[0, 3] == pytest.approx(0.5)
    assert scene.table.reach[0] == pytest.approx(0.1 * np.sqrt(3.0), abs=1e-6)
    # One table for each file.
    assert len({id(each.shape) for each in scene.shapes if type(each.shape) is ConvexHull}) == 1
    assert len(scene.table.tables.hull) == 2  # with that of the solid, for planes
    assert scene.notices == ()


def test_a_mesh_that_is_mirrored_has_its_outside_outside(tmp_path):
    write_stl(tmp_path / 'cube.stl', CUBE)
    path = tmp_path / 'cube.stl'
    scene = scene_of(a=mesh(path, scale=[1, 1, -1]), b=mesh(path, scale=[-1, -1, -2]))
    for each in scene.shapes[1:]:
        corners = each.shape.triangles
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        assert (np.einsum('ij,ij->i', normals, corners.mean(axis=1)) > 0.0).all()
    assert scene.notices == ()


def test_vertices_without_faces_are_a_hull(tmp_path):
    path = tmp_path / 'points.obj'
    path.write_text('\n'.join('v %r %r %r' % tuple(x) for x in CUBE.reshape(-1, 3).tolist()))
    scene = scene_of(hull=mesh(path, convex=True), surface=mesh(path))
    assert len(scene.shapes[1].shape.vertices) == 8 and len(scene.shapes) == 2
    (notice,) = scene.notices
    assert notice.startswith("object 'surface' has no collision: ")
    assert 'holds no triangles' in notice


def test_each_object_has_the_tables_of_its_shape(tmp_path):
    """Two hulls, two meshes and two height fields, with a ball or a plane below or above each."""
    write_obj(tmp_path / 'cube.obj', CUBE)
    write_obj(tmp_path / 'fine.obj', grid_triangles(7, 2.0, lambda x, y: 0.25 + 0.0 * x))
    write_obj(tmp_path / 'coarse.obj', grid_triangles(3, 2.0, lambda x, y: 0.5 + 0.0 * x))
    peak = box_triangles((0.4, 0.4, 0.6)) * [1, 1, 0.5] + [0, 0, 0.15]
    write_obj(tmp_path / 'peak.obj', peak)
    ball = {'type': 'sphere', 'radius': 0.1, 'static': False, 'mass': 1.0}
    low, high = ({'type': 'height_field', 'size': [2, 2], 'heights': [[z] * 3] * (2 + k)}
                 for k, z in enumerate((-0.125, 0.75)))  # fmt: skip
    solid = {'convex': True, 'static': False, 'mass': 1.0}
    world = {
        'floor': {'type': 'plane', 'xyz': [0, 0, -1]},
        'cube': mesh(tmp_path / 'cube.obj', xyz=[0, 0, -0.9], **solid),
        'block': mesh(tmp_path / 'peak.obj', xyz=[3, 0, -1], **solid),
        'fine': mesh(tmp_path / 'fine.obj', xyz=[6, 0, 0]),
        'coarse': mesh(tmp_path / 'coarse.obj', xyz=[9, 0, 0]),
        'low': {**low, 'xyz': [12, 0, 0]},
        'high': {**high, 'xyz': [15, 0, 0]},
    }
    tops = {'cube': -0.8, 'block': -0.7, 'fine': 0.25, 'coarse': 0.5, 'low': -0.125, 'high': 0.75}
    for k, (name, top) in enumerate(tops.items()):
        world[f'on_{name}'] = {**ball, 'xyz': [3 * k, 0, top + 0.1]}
    simulator = Simulator(None, world={'objects': world})
    simulator.step(n=300)
    for name, top in tops.items():
        height = simulator.object_pose(f'on_{name}')[2, 3]
        assert height == pytest.approx(top + 0.1, abs=1e-8), name
    touching = {frozenset((c.first, c.second)) for c in simulator.contacts}
    assert touching == {
        *(frozenset((name, f'on_{name}')) for name in tops),
        frozenset(('floor', 'cube')),
        frozenset(('floor', 'block')),
    }


# -- bad input ------------------------------------------------------------------------------------


def test_damaged_meshes_of_links_are_named_once_and_the_rest_continues(tmp_path):
    for name, problem in damaged(tmp_path).items():
        uri = f'file://{tmp_path / name}'
        scene = scene_of(robot_with(uri), floor=PLANE)
        (notice,) = scene.notices
        assert notice.startswith("'robot/l0' has no collision with its mesh: ")
        with pytest.raises(ValueError, match=problem):
            raise ValueError(notice)
        assert [each.name for each in scene.shapes] == ['robot/l1', 'floor']
        assert len(scene.table.pair) == 1


def test_damaged_meshes_of_objects_are_named_once_and_the_rest_continues(tmp_path):
    for name, problem in damaged(tmp_path).items():
        scene = scene_of(a=mesh(tmp_path / name, convex=True), floor=PLANE)
        (notice,) = scene.notices
        assert notice.startswith("object 'a' has no collision: ")
        with pytest.raises(ValueError, match=problem):
            raise ValueError(notice)
        assert [each.name for each in scene.shapes] == ['robot/l0', 'floor']


def test_a_robot_with_missing_meshes_moves_and_its_other_links_touch(tmp_path):
    write_stl(tmp_path / 'flat.stl', CUBE * [1.0, 1.0, 0.0])
    uris = (
        'package://nowhere/arm.stl',
        f'file://{tmp_path}/gone.stl',
        f'file://{tmp_path}/flat.stl',
    )
    robot = robot_with(*uris)
    simulator = Simulator(robot, world={'objects': {'floor': PLANE}})
    problems = [each for each in simulator.warnings if 'has no collision' in each]
    assert len(problems) == 3
    assert (
        'package://nowhere/arm.stl was not found; add the folder of its package to package_paths'
        in problems[0]
    )
    assert 'gone.stl was not found' in problems[1] and 'in a plane' in problems[2]
    simulator.step(np.zeros(4), n=1000)
    z = 0.5 + simulator.q
    assert_allclose(z[:3], 0.5 - 0.5 * 9.81, atol=1e-2)  # they fall through
    assert z[3] == pytest.approx(0.1, abs=1e-9)  # the ball lies
    again = simulator.warnings
    simulator.reset()
    simulator.step(np.zeros(4), n=10)
    assert simulator.warnings == again


def test_a_file_of_a_package_that_is_not_there_is_rejected_with_its_line(tmp_path):
    path = tmp_path / 'world.yaml'
    path.write_text('objects:\n  a:\n    type: mesh\n    file: package://nowhere/a.stl\n')
    with pytest.raises(WorldFileError, match=r'world.yaml.*line 4.*package://nowhere/a.stl'):
        read_world(path)


@pytest.mark.parametrize('movable', [False, True])
def test_an_inverted_mesh_is_turned_and_holds_a_falling_ball(tmp_path, movable):
    write_obj(tmp_path / 'cube.obj', CUBE[:, ::-1])
    cube = mesh(tmp_path / 'cube.obj', xyz=[0, 0, 0.1])
    if movable:
        cube |= {'static': False, 'mass': 1.0}
    ball = {'type': 'sphere', 'radius': 0.1, 'static': False, 'mass': 1.0, 'xyz': [0, 0, 0.3]}
    simulator = Simulator(None, world={'objects': {'cube': cube, 'ball': ball, 'floor': PLANE}})
    (notice,) = simulator.warnings
    assert notice.endswith('cube.obj: its triangles are inside out; their order is reversed')
    simulator.step(n=300)
    assert simulator.object_pose('ball')[2, 3] == pytest.approx(0.3, abs=1e-9)


def test_a_sheet_and_edges_of_three_triangles_are_touched_as_they_are(tmp_path):
    floor = grid_triangles(4, 2.0)
    fin = np.array([[[0.5, 0.5, 0], [0.5, 0, 0], [0.5, 0.5, 0.3]]])
    write_obj(tmp_path / 'fin.obj', np.concatenate([floor, fin]))
    box = {'type': 'box', 'size': [0.2] * 3, 'static': False, 'mass': 1.0, 'xyz': [0, 0, 0.1]}
    simulator = Simulator(None, world={'objects': {'a': mesh(tmp_path / 'fin.obj'), 'box': box}})
    (notice,) = simulator.warnings
    assert notice.endswith('fin.obj: 1 of its edges have more than two triangles')
    simulator.step(n=500)
    assert simulator.object_pose('box')[:3, 3] == pytest.approx([0, 0, 0.1], abs=1e-9)


def test_two_concave_meshes_do_not_touch_and_the_notice_has_the_cure(tmp_path):
    write_obj(tmp_path / 'cube.obj', CUBE)
    cube = mesh(tmp_path / 'cube.obj', static=False, mass=1.0)
    field = {'type': 'height_field', 'size': [2, 2], 'heights': [[0, 0], [0, 0]]}
    objects = {
        'a': {**cube, 'xyz': [0, 0, 0.1]},
        'b': {**cube, 'xyz': [0, 0, 0.3]},
        'c': {**cube, 'xyz': [0.5, 0, 0.1], 'convex': True},
        'ground': field,
    }
    simulator = Simulator(None, world={'objects': objects})
    pairs = [('a', 'b'), ('a', 'ground'), ('b', 'ground')]
    assert simulator.warnings == tuple(
        f'{a!r} and {b!r} have no collision with each other, because neither is convex; '
        'add "convex: true" or "convex_decomposition: 0.05" to a mesh' for a, b in pairs
    )  # fmt: skip
    simulator.step(n=300)
    assert simulator.object_pose('c')[2, 3] == pytest.approx(0.1, abs=1e-9)
    assert simulator.object_pose('a')[2, 3] < -0.2


def test_one_notice_reports_the_lost_size_of_a_hull_of_many_vertices(tmp_path):
    write_stl(tmp_path / 'ball.stl', round_triangles(Sphere(0.1), 64))
    uri = f'file://{tmp_path}/ball.stl'
    write_stl(tmp_path / 'egg.stl', round_triangles(Sphere(0.2), 64))
    scene = scene_of(robot_with(uri, uri), a=mesh(tmp_path / 'egg.stl', convex=True))
    simplified = [each for each in scene.notices if 'vertices' in each]
    assert len(simplified) == 1 and simplified[0].startswith(
        '2 meshes have convex hulls with too many vertices'
    )
    # The larger one is smaller by more.
    assert 'egg.stl: its convex hull has' in simplified[0] and 'smaller by up to' in simplified[0]
    (alone,) = [text for text in scene_of(robot_with(uri, uri)).notices if 'vertices' in text]
    assert 'ball.stl: its convex hull has' in alone and alone.count('ball.stl') == 1


@pytest.mark.slow
@pytest.mark.parametrize('convex', [True, False])
def test_a_million_triangles_take_seconds_and_memory_in_proportion(tmp_path, convex):
    n = 708
    turn, rise = 2.0 * np.pi * np.arange(n) / n, np.linspace(0.001, np.pi - 0.001, n)
    rings = [
        np.column_stack([np.sin(t) * np.cos(turn), np.sin(t) * np.sin(turn), 0 * turn - np.cos(t)])
        for t in rise
    ]
    triangles = 0.1 * ring_triangles(rings)
    assert len(triangles) > 1_000_000
    write_stl(tmp_path / 'ball.stl', triangles)
    world = read_world({'objects': {'ball': mesh(tmp_path / 'ball.stl', convex=convex)}})
    model = robot_with().model
    tracemalloc.start()
    start = time.process_time()
    scene = make_scene(model, world)
    took = time.process_time() - start
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert took < 20.0  # 1.5 s and 5 s where nothing else runs
    assert peak < 12 * triangles.nbytes  # 72 bytes a triangle
    shape = scene.shapes[-1].shape
    if not convex:
        assert len(shape.triangles) > 1_000_000
        return
    assert len(shape.vertices) <= 256
    assert np.linalg.norm(shape.vertices, axis=1).max() == pytest.approx(0.1, abs=1e-6)
    assert (shape.tables.face[:, 3] > 0.095).all()
    (notice,) = scene.notices
    assert 'smaller by up to' in notice
