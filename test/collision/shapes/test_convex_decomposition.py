# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Convex parts of meshes: cache, scenes, and contact where hulls of wholes would overlap."""

import re
import subprocess

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import outside
from support.mesh_files import angle_triangles, bowl_triangles, box_triangles, write_obj
from support.simulated_robots import collision, link, robot

from rbd_ros import Simulator
from rbd_ros.collision import Box, distance, RobotInWorld
from rbd_ros.collision.scene.scene import make_scene
from rbd_ros.collision.shapes import convex_decomposition
from rbd_ros.collision.shapes.convex_decomposition import convex_parts
from rbd_ros.meshes import hull_triangles, MeshError
from rbd_ros.model import geometry
from rbd_ros.world import read_world, World, WorldObject

LENGTH, T = 0.4, 0.1  # of the L, whose hollow is x, y > T

#: How far coacd cuts beside a corner of the L: 0.025 % of its length.
CUT = 1e-4


@pytest.fixture(scope='module')
def files(tmp_path_factory):
    """Return the folder of mesh files."""
    folder = tmp_path_factory.mktemp('meshes')
    write_obj(folder / 'angle.obj', angle_triangles(LENGTH, T))
    write_obj(folder / 'bowl.obj', bowl_triangles(0.3, 0.05, sides=8, rings=4))
    write_obj(folder / 'cube.obj', box_triangles((0.2, 0.2, 0.2)))
    write_obj(folder / 'open.obj', box_triangles((0.2, 0.2, 0.2))[1:])
    return folder


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return the folder of a cache that is empty."""
    monkeypatch.setenv('RBD_ROS_CACHE_DIR', str(tmp_path))
    return tmp_path


@pytest.fixture
def any_library(monkeypatch):
    """Let the library be there, which another program stands in for."""
    monkeypatch.setattr(convex_decomposition, 'find_spec', lambda name: name)


def mesh(path, scale=(1.0, 1.0, 1.0)):
    return geometry.Mesh(str(path), str(path), scale)


def decomposed(path, concavity=0.05, **further):
    return {'type': 'mesh', 'file': str(path), 'convex_decomposition': concavity, **further}


def movable(shape, *xyz):
    return {**shape, 'xyz': list(xyz), 'static': False, 'mass': 1.0}


def volume(points):
    a, b, c = np.moveaxis(hull_triangles(points), 1, 0)
    return np.einsum('ij,ij->', a, np.cross(b, c)) / 6.0


# -- parts ----------------------------------------------------------------------------------------


def test_parts_fill_the_mesh_and_not_its_hollow(files):
    outside.load('coacd')
    parts = convex_parts(mesh(files / 'angle.obj'), 0.05)
    assert len(parts) == 2
    exact = LENGTH * (2 * LENGTH * T - T**2)
    assert_allclose(sum(map(volume, parts)), exact, rtol=2e-4)
    assert volume(np.concatenate(parts)) > 1.6 * exact
    # Scaled, it is another mesh.
    larger = convex_parts(mesh(files / 'angle.obj', (1.0, 1.0, 2.0)), 0.05)
    assert_allclose(sum(map(volume, larger)), 2.0 * exact, rtol=2e-4)


def test_nothing_is_printed(files, folder, capfd):
    outside.load('coacd')
    convex_parts(mesh(files / 'cube.obj'), 0.05)
    assert capfd.readouterr() == ('', '')


# -- the cache ------------------------------------------------------------------------------------


def stand_in(monkeypatch, program):
    """Run another program instead of that which calls the library."""
    head = 'import sys\nfolder, threshold, *sys.path = sys.argv[1:]\nimport numpy as np\n'
    monkeypatch.setattr(convex_decomposition, '_RUN', head + program)


HALVES = """
v = np.load(folder + '/mesh.npz')['vertices']
np.savez(folder + '/parts.npz', v - float(threshold), v, v * [1, 1, 0], v + float(threshold))
"""


def test_a_second_start_decomposes_nothing(files, folder, monkeypatch, any_library):
    stand_in(monkeypatch, HALVES)
    cube = mesh(files / 'cube.obj')
    first = convex_parts(cube, 0.25)
    # Flat meshes have no contact.
    assert len(first) == 3 and first[2].max() == pytest.approx(0.35)
    (entry,) = folder.glob('convex_parts-any-*.o')
    whole = entry.read_bytes()
    # Neither the library nor another process is needed any more.
    monkeypatch.setattr(convex_decomposition, 'find_spec', lambda name: None)
    monkeypatch.setattr(subprocess, 'run', None)
    second = convex_parts(cube, 0.25)
    assert [each.tolist() for each in second] == [each.tolist() for each in first]
    # Another threshold, another scale, and a damaged entry need both.
    for other, threshold in ((cube, 0.26), (mesh(files / 'cube.obj', (1.0, 1.0, 2.0)), 0.25)):
        with pytest.raises(MeshError, match='it needs coacd'):
            convex_parts(other, threshold)
    entry.write_bytes(whole[:-8])
    with pytest.raises(MeshError, match='it needs coacd'):
        convex_parts(cube, 0.25)
    monkeypatch.undo()


def test_only_a_decomposition_that_is_not_cached_is_logged(
    files, folder, monkeypatch, any_library, caplog
):
    stand_in(monkeypatch, HALVES)
    cube = mesh(files / 'cube.obj')
    convex_parts(cube, 0.25)
    began, ended = caplog.messages
    assert began == f'decomposing mesh {cube.uri!r} into convex parts (once; cached)'
    assert re.fullmatch(r"mesh '.*cube.obj' has 3 convex parts \(\d+\.\d s\)", ended)
    convex_parts(cube, 0.25)
    assert len(caplog.messages) == 2


def test_without_the_library_the_error_names_the_cure(files, folder, monkeypatch):
    monkeypatch.setattr(convex_decomposition, 'find_spec', lambda name: None)
    world = {'objects': {'hook': decomposed(files / 'angle.obj')}}
    cure = r"angle.obj has no convex decomposition: it needs coacd \(pip install 'rbd_ros\[decomp"
    with pytest.raises(MeshError, match=cure):
        Simulator(None, world=world)


@pytest.mark.parametrize(
    ('program', 'message'),
    [
        ('import os; os.abort()', r'coacd ended with -6, .*; repair or simplify it'),
        ('raise ValueError("no solid")', 'coacd ended with 1, ValueError: no solid; repair'),
        ('import time; time.sleep(60.0)', 'timed out .*; repair or simplify it, or raise'),
        ('', 'No such file .*; repair or simplify it'),
        ('np.savez(folder + "/parts.npz")', 'no part has a volume; repair it'),
    ],
)
def test_a_library_that_fails_is_an_error_about_the_mesh(
    files, folder, monkeypatch, any_library, program, message
):
    stand_in(monkeypatch, program)
    monkeypatch.setattr(convex_decomposition, 'MAX_WAIT', 3.0 if 'sleep' in program else 60.0)
    with pytest.raises(MeshError, match=f'cube.obj has no convex decomposition: .*{message}'):
        convex_parts(mesh(files / 'cube.obj'), 0.05)
    assert not list(folder.glob('convex_parts*'))


def test_large_and_open_meshes_never_reach_the_library(files, folder, monkeypatch, any_library):
    monkeypatch.setattr(subprocess, 'run', None)
    monkeypatch.setattr(convex_decomposition, 'MAX_TRIANGLES', 11)
    with pytest.raises(MeshError, match='cube.obj .* 12 triangles, more than 11; simplify it'):
        convex_parts(mesh(files / 'cube.obj'), 0.05)
    with pytest.raises(MeshError, match='open.obj .* is not closed; close it'):
        convex_parts(mesh(files / 'open.obj'), 0.05)
    with pytest.raises(MeshError, match='far.obj was not found'):
        convex_parts(geometry.Mesh('far.obj', None, (1.0, 1.0, 1.0)), 0.05)


# -- contact --------------------------------------------------------------------------------------


def angle_boxes(pose):
    """Return the bars of an L as boxes with their poses."""
    for size, center in (
        ((LENGTH, T, LENGTH), (0.5 * LENGTH, 0.5 * T, 0.0)),
        ((T, LENGTH, LENGTH), (0.5 * T, 0.5 * LENGTH, 0.0)),
    ):
        placed = np.array(pose)
        placed[:3, 3] += placed[:3, :3] @ center
        yield Box(size), placed


def angle_robot(files):
    shape = collision(f'mesh filename="file://{files / "angle.obj"}"')
    return robot(link('hook', 1.0, (0.1, 0.1, 0.1), shape=shape), floating_base=True)


def test_the_distance_of_two_that_are_not_convex_is_that_of_their_bars(files):
    outside.load('coacd')
    floating = angle_robot(files)
    world = {
        'robot': {'links': {'hook': {'convex_decomposition': 0.05}}},
        'objects': {'hook': decomposed(files / 'angle.obj')},
    }
    both = RobotInWorld(floating, world)
    rng = np.random.default_rng(3)
    quaternion = rng.normal(size=(60, 4)) * [1.0, 0.3, 0.3, 0.3]
    quaternion /= np.linalg.norm(quaternion, axis=1)[:, None]
    q = np.hstack([quaternion, rng.uniform(-0.2, 0.6, size=(60, 3))])
    # One is in the hollow of the other, where their hulls overlap by far.
    q[0] = [1.0, 0.0, 0.0, 0.0, T + 0.02, T + 0.03, 0.0]
    found = both.distances(q).distance.min(axis=1)
    exact = []
    for each in q:
        pose = floating.forward_kinematics(each)['hook']
        exact.append(
            min(
                distance(a, at, b, to).gap
                for a, at in angle_boxes(np.eye(4))
                for b, to in angle_boxes(pose)
            )
        )
    exact = np.array(exact)
    assert exact[0] == pytest.approx(0.02)
    apart = exact > 0.0
    assert 10 < apart.sum() < 50
    assert_allclose(found[apart], exact[apart], atol=CUT)
    assert (found[~apart] < CUT).all()


def test_an_angle_falls_into_an_angle_and_a_ball_into_that(files):
    outside.load('coacd')
    hook, r, down = decomposed(files / 'angle.obj'), 0.05, -9.81 / np.sqrt(2.0)
    world = {
        'gravity': [down, down, 0.0],
        'objects': {
            'lower': hook,
            'upper': movable(hook, T + 0.01, T + 0.015, 0.0),
            'ball': movable({'type': 'sphere', 'radius': r}, 0.3, 0.29, 0.0),
        },
    }
    simulator = Simulator(None, world=world, timestep=2e-3)
    assert not simulator.warnings
    simulator.step(n=500)
    upper, ball = simulator.object_pose('upper'), simulator.object_pose('ball')
    assert_allclose(upper[:3, :3], np.eye(3), atol=1e-3)
    assert_allclose(upper[:3, 3], [T, T, 0.0], atol=1e-3)
    assert_allclose(ball[:3, 3], [2 * T + r, 2 * T + r, 0.0], atol=2e-3)
    # Its weight is that of both, and bears on both sides.
    force = sum(
        (1.0 if each.first == 'lower' else -1.0) * np.array(each.force)
        for each in simulator.contacts
        if 'lower' in (each.first, each.second)
    )
    assert_allclose(np.abs(force), [-2.0 * down, -2.0 * down, 0.0], atol=0.5)


def test_a_ball_rests_in_a_bowl(files):
    outside.load('coacd')
    bowl = decomposed(files / 'bowl.obj', 0.2)
    world = {
        'objects': {'bowl': bowl, 'ball': movable({'type': 'sphere', 'radius': 0.1}, 0.03, 0, 0)}
    }
    simulator = Simulator(None, world=world, timestep=2e-3)
    simulator.step(n=500)
    x, y, z = simulator.object_pose('ball')[:3, 3]
    # The hollow is 0.3 m deep; parts fill it by no more than the concavity of half their size.
    assert np.hypot(x, y) < 0.1
    assert -0.2 - 1e-3 < z < -0.2 + 0.2 * 0.35


def test_a_decomposed_cube_touches_as_its_hull(files):
    outside.load('coacd')
    found = []
    for kind in ({'convex': True}, {'convex_decomposition': 0.05}):
        cube = movable({'type': 'mesh', 'file': str(files / 'cube.obj'), **kind}, 0.0, 0.0, 0.12)
        cube.update(rpy=[0.3, 0.2, 0.1], velocity={'linear': [0.3, 0.0, 0.0]})
        simulator = Simulator(None, world={'objects': {'floor': {'type': 'plane'}, 'cube': cube}})
        simulator.step(n=400)
        rows = sorted((*each.position, *each.force) for each in simulator.contacts)
        found.append((simulator.object_pose('cube'), np.array(rows)))
    (hull_pose, hull_rows), (pose, rows) = found
    assert len(rows) == 4
    assert_allclose(pose, hull_pose, atol=1e-6)
    assert_allclose(rows, hull_rows, atol=1e-4)


# -- scenes ---------------------------------------------------------------------------------------


@pytest.fixture
def two_halves(monkeypatch):
    """Let each mesh be two boxes that overlap."""
    half = box_triangles((0.12, 0.2, 0.2)).reshape(-1, 3)
    parts = [half - [0.04, 0.0, 0.0], half + [0.04, 0.0, 0.0]]
    monkeypatch.setattr(convex_decomposition, 'convex_parts', lambda mesh, threshold: parts)


def test_parts_of_one_body_do_not_touch_but_all_touch_others(files, two_halves):
    """Also among so many objects that their pairs are in no list."""
    path = str(files / 'cube.obj')
    part = {'type': 'mesh', 'file': path, 'convex_decomposition': 0.05}
    cubes = {f'c{k}': movable(part, 1.0 * k, 0.0, 0.0) for k in range(66)}
    for above, below in (('c0', 'c1'), ('c64', 'c65')):
        x, y, z = cubes[below]['xyz']
        cubes[above].update(xyz=[x, y, z + 0.2], velocity={'linear': [0.0, 0.0, -0.1]})
    for count in (2, 66):
        objects = dict(list(cubes.items())[:count])
        world = {'gravity': [0.0, 0.0, 0.0], 'objects': objects}
        if count > 2:
            # Listed for themselves: all parts, too.
            world['pairs'] = [{'links': ['c0', 'c1'], 'friction': 0.1}]
        simulator = Simulator(None, world=world)
        simulator.step()
        touching = {frozenset((each.first, each.second)) for each in simulator.contacts}
        expected = {frozenset(('c0', 'c1')), frozenset(('c64', 'c65'))}
        assert touching == {pair for pair in expected if pair <= set(objects)}
        # Both halves are there: four corners of a cube of 0.2 m.
        points = np.array([each.position for each in simulator.contacts if each.first == 'c0'])
        assert np.ptp(points[:, 0]) == pytest.approx(0.2, abs=1e-3)
    scene = make_scene(simulator.robot.model, simulator.world)
    shapes = len(scene.shapes)
    own = {2 * k * shapes + 2 * k + 1 for k in range(66)}
    assert shapes == 132 and own < set(scene.table.excluded.tolist())
    assert scene.table.material.min() >= 0


def test_links_are_decomposed_one_by_one(files, two_halves):
    model = angle_robot(files).model
    world = read_world({'robot': {'links': {'hook': {'convex_decomposition': 0.1}}}}, model)
    assert world.link_decompositions == {'robot/hook': 0.1}
    assert [each.name for each in make_scene(model, world).shapes] == ['robot/hook'] * 2
    assert [each.name for each in make_scene(model, World()).shapes] == ['robot/hook']
    cube = mesh(files / 'cube.obj')
    objects = WorldObject('a', cube), WorldObject('b', cube, convex_decomposition=0.1)
    names = [each.name for each in make_scene(model, World(objects)).shapes]
    assert names == ['robot/hook', 'a', 'b', 'b']
