# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""World files: results, and rejections."""

from collections.abc import Mapping
import math
import os
from pathlib import Path
import re
import shutil
import struct
import tracemalloc
import zlib

from hypothesis import given, HealthCheck, settings, strategies as st
import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.mesh_files import box_triangles, write_stl
from support.source_imports import ROOT
import yaml

from rbd_ros.collision.scene.scene import make_scene
from rbd_ros.lookup.resources import resource_path
from rbd_ros.model import load_urdf
from rbd_ros.model.geometry import Box, Capsule, Cylinder, HeightField, Mesh, Plane, Sphere
from rbd_ros.world import extend_world, read_world, Surface, World, WorldFileError

EXAMPLE = resource_path('config', 'table_world.yaml')
TEXT = EXAMPLE.read_text(encoding='utf-8')
ARM = resource_path('urdf', 'six_axis_arm.urdf')
MODEL = load_urdf(ARM)
BOX = {'type': 'box', 'size': [0.2, 0.3, 0.4]}


def one(**entry):
    """Return the object of an entry."""
    return read_world({'objects': {'it': entry}})['it']


def movable(**entry):
    return one(**{**BOX, 'static': False, **entry})


# -- the example


def test_the_example_has_the_documented_content():
    world = read_world(EXAMPLE, robot=load_urdf(ARM))
    shapes = {each.name: type(each.shape) for each in world.objects}
    assert shapes == {
        'floor': Plane,
        'table': Box,
        'box': Box,
        'peg': Cylinder,
        'ball': Sphere,
        'roller': Capsule,
        'belt': Box,
        'gravel': HeightField,
    }
    assert [each.name for each in world.movable] == ['box', 'peg', 'ball', 'roller']
    assert world.gravity == (0.0, 0.0, -9.81)
    assert world.surface == world['floor'].surface == Surface((0.6, 0.6))
    assert world['table'].color == (0.6, 0.45, 0.3, 1.0) and world['peg'].color is None
    assert_allclose(world['box'].inertia.mass, 0.5)
    assert_allclose(world['peg'].inertia.mass, 7850 * math.pi * 0.0099**2 * 0.08)
    assert_allclose(world['ball'].inertia.mass, 700 * 4 / 3 * math.pi * 0.04**3)
    assert world['ball'].velocity.linear == (-0.2, 0.0, 0.0)
    assert world['ball'].velocity.angular == (0.0, -5.0, 0.0)
    assert (world['roller'].surface.stiffness, world['roller'].surface.damping) == (5e4, 100.0)
    assert world['belt'].surface.friction == (0.9, 0.3)
    assert_allclose(world['belt'].pose[:3, 0], [0.0, 1.0, 0.0], atol=1e-12)
    assert_allclose(world['roller'].pose[:3, 2], [0.0, -1.0, 0.0], atol=1e-12)
    assert world['gravel'].shape.heights.tolist()[1] == [0.02, 0.05, 0.01]
    arm = world['second_arm']
    assert arm.configuration == {'shoulder_lift_joint': -1.2, 'elbow_joint': 1.5}
    assert arm.model.links == load_urdf(ARM).links and not arm.floating
    assert_allclose(arm.placement.pose()[:3, 3], [1.6, 0.0, 0.0])
    assert world.surface_between('table', 'box').surface.friction == (0.3, 0.3)
    pair = world.surface_between('peg', 'second_arm/tool0')
    assert pair.directed_by == 'second_arm/tool0' and pair.surface.friction == (0.9, 0.7)
    assert pair.surface.torsional == 0.001  # which the entry does not say
    assert not world.can_collide('robot/base_link', 'floor') and world.can_collide(
        'robot/tool0', 'table'
    )


def test_the_page_shows_the_example():
    page = (ROOT / 'docs' / 'world.md').read_text(encoding='utf-8')
    assert f'```yaml\n{TEXT}```' in page


def test_a_mapping_is_the_same_as_the_file(monkeypatch):
    content = yaml.safe_load(TEXT)
    monkeypatch.chdir(EXAMPLE.parent)
    from_mapping, from_file = read_world(content), read_world(EXAMPLE)
    assert from_mapping.objects == from_file.objects
    assert (
        from_mapping.pairs == from_file.pairs
        and from_mapping.disabled_collisions == from_file.disabled_collisions
    )
    assert from_mapping.robots[0].model.links == from_file.robots[0].model.links


def test_a_file_read_and_written_again_is_the_same(tmp_path):
    content = yaml.safe_load(TEXT)
    content['robots']['second_arm']['urdf'] = str(ARM)
    path = tmp_path / 'again.yaml'
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    again, first = read_world(path), read_world(EXAMPLE)
    assert again.objects == first.objects and again.pairs == first.pairs
    assert again.names == first.names


@pytest.mark.parametrize(
    'content', ['', 'objects:\n', '# nothing\n', 'pairs: []\ndisable_collisions: []\n']
)
def test_an_empty_world_is_one(tmp_path, content):
    path = tmp_path / 'empty.yaml'
    path.write_text(content)
    world = read_world(path)
    assert world.names == ('robot',) and world.gravity == (0.0, 0.0, -9.81)
    assert world.surface == Surface()


# -- objects


def test_quaternions_and_angles_give_the_same_pose(rng):
    for _ in range(20):
        rpy = rng.uniform(-1.5, 1.5, 3)
        half = 0.5 * rpy
        (cr, cp, cy), (sr, sp, sy) = np.cos(half), np.sin(half)
        quaternion = {
            'w': float(cr * cp * cy + sr * sp * sy),
            'x': float(sr * cp * cy - cr * sp * sy),
            'y': float(cr * sp * cy + sr * cp * sy),
            'z': float(cr * cp * sy - sr * sp * cy),
        }
        xyz = rng.normal(size=3)
        first, second = one(**BOX, xyz=xyz, rpy=rpy), one(**BOX, xyz=xyz, quaternion=quaternion)
        assert_allclose(first.pose, second.pose, atol=1e-12)
        assert_allclose(first.pose[:3, 3], xyz)
    rounded = one(**BOX, quaternion={'w': 0.707, 'x': 0.707, 'y': 0, 'z': 0})
    assert_allclose(rounded.pose[:3, 2], [0.0, -1.0, 0.0], atol=1e-12)
    assert_allclose(rounded.pose[:3, :3] @ rounded.pose[:3, :3].T, np.eye(3), atol=1e-12)


def test_velocities_along_the_world_s_axes_are_kept_along_those_of_the_object():
    ball = movable(mass=1, rpy=[0, 0, 0.5 * math.pi], velocity={'linear': [1, 0, 0]})
    assert_allclose(ball.velocity.linear, [0.0, -1.0, 0.0], atol=1e-15)
    assert_allclose(ball.velocity.angular, [0.0, 0.0, 0.0])


def test_masses_and_densities():
    assert_allclose(movable(mass=3).inertia.mass, 3.0)
    assert_allclose(movable(density=1000).inertia.mass, 24.0)
    world = read_world({'defaults': {'density': 100}, 'objects': {'it': {**BOX, 'static': False}}})
    assert_allclose(world['it'].inertia.mass, 2.4)
    scaled = np.array(movable(density=1000).inertia.parameters()) / 8.0
    assert_allclose(movable(mass=3).inertia.parameters(), scaled)


def test_a_given_inertia_is_about_the_center_of_mass():
    inertia = {'ixx': 0.2, 'iyy': 0.3, 'izz': 0.25, 'ixy': 0.01, 'iyz': -0.02}
    body = movable(mass=2, inertia=inertia, center_of_mass=[0.1, 0, 0.2]).inertia
    mass, center, matrix = body.mass_center()
    assert_allclose(center, [0.1, 0.0, 0.2])
    assert_allclose(matrix, [[0.2, 0.01, 0.0], [0.01, 0.3, -0.02], [0.0, -0.02, 0.25]], atol=1e-15)
    assert movable(mass=2, inertia=inertia).inertia.h == (0.0, 0.0, 0.0)


def test_surfaces_inherit_omitted_values():
    defaults = {'surface': {'friction': [0.4, 0.5], 'rolling': 0.01}, 'color': [1, 0, 0, 0.5]}
    objects = {'a': {**BOX, 'surface': {'restitution': 0.3}}, 'b': {**BOX, 'color': [0, 1, 0]}}
    world = read_world({'defaults': defaults, 'objects': objects})
    assert world['a'].surface == Surface((0.4, 0.5), rolling=0.01, restitution=0.3)
    assert world['a'].color == (1.0, 0.0, 0.0, 0.5) and world['b'].color == (0.0, 1.0, 0.0, 1.0)
    assert world['b'].surface == world.surface


def test_softest_and_lightest_surfaces():
    soft = one(**BOX, surface={'compliance': {'stiffness': 1e-6}}).surface
    assert (soft.stiffness, soft.damping) == (1e-6, 0.0)
    assert soft.exponent is None
    assert one(**BOX, surface={'friction': 0, 'restitution': 1}).surface.friction == (0.0, 0.0)


def test_springs_of_hunt_and_crossley():
    for entry, spring in (
        ({'stiffness': 1e6, 'dissipation': 0.3}, (1e6, 1.5, 0.3)),
        ({'stiffness': 1e6, 'dissipation': 0}, (1e6, 1.5, 0.0)),
        ({'stiffness': 2e5, 'exponent': 1}, (2e5, 1.0, 0.0)),
        ({'stiffness': 1e-6, 'exponent': 10, 'dissipation': 2}, (1e-6, 10.0, 2.0)),
    ):
        read = one(**BOX, surface={'compliance': entry}).surface
        assert (read.stiffness, read.exponent, read.dissipation) == spring
        assert read.damping == 0.0
    # A given compliance replaces all of an inherited one.
    soft = {'stiffness': 1e6, 'dissipation': 0.3}
    objects = {'a': {**BOX, 'surface': {'compliance': {'stiffness': 1e4}}}, 'b': dict(BOX)}
    world = read_world({'defaults': {'surface': {'compliance': soft}}, 'objects': objects})
    assert world['a'].surface == Surface(stiffness=1e4)
    assert world['b'].surface == Surface(stiffness=1e6, exponent=1.5, dissipation=0.3)


def test_a_pair_of_springs_that_cannot_be_combined_needs_a_pair_entry():
    def world(**entry):
        objects = {
            'a': {**BOX, 'surface': {'compliance': {'stiffness': 1e6, 'exponent': 2}}},
            'b': {**BOX, 'surface': {'compliance': {'stiffness': 1e4, 'damping': 5}}},
        }
        return read_world({'objects': objects, 'pairs': [{'links': ['a', 'b'], **entry}]})

    with pytest.raises(
        WorldFileError, match='pairs.*of exponent 2 and linear, cannot be combined in'
    ):
        world(friction=0.3)
    own = world(compliance={'stiffness': 1e5, 'dissipation': 0.1}).surface_between('b', 'a')
    assert own.surface == Surface(stiffness=1e5, exponent=1.5, dissipation=0.1)


def test_meshes_are_found_from_the_folder_of_the_file(tmp_path):
    (tmp_path / 'meshes').mkdir()
    write_stl(tmp_path / 'meshes' / 'part.stl', box_triangles((100.0, 200.0, 300.0)))
    path = tmp_path / 'world.yaml'
    path.write_text(
        'objects:\n  part: {type: mesh, file: meshes/part.stl, scale: [0.001, 0.001, 0.001], '
        'static: false, density: 1000}\n'
        f'  same: {{type: mesh, file: "package://{tmp_path.name}/meshes/part.stl", '
        'convex: true}\n'
    )
    world = read_world(path)
    part, same = world['part'], world['same']
    assert part.shape == Mesh(
        'meshes/part.stl', str(tmp_path / 'meshes' / 'part.stl'), (0.001, 0.001, 0.001)
    )
    assert_allclose(part.inertia.mass, 6.0, rtol=1e-6)
    assert same.shape.scale == (1.0, 1.0, 1.0)
    assert same.convex and not part.convex and same.shape.path == part.shape.path


def test_meshes_of_objects_and_links_can_be_decomposed(tmp_path):
    path = tmp_path / 'part.stl'
    write_stl(path, box_triangles((1.0, 1.0, 1.0)))
    entry = {'type': 'mesh', 'file': str(path)}
    assert one(**entry).convex_decomposition is None
    assert one(**entry, convex_decomposition=0.1).convex_decomposition == 0.1
    for wrong, message in (
        ({'convex_decomposition': 0.001}, 'convex_decomposition: 0.001 is not between 0.01 and 1'),
        ({'convex_decomposition': 0.1, 'convex': True}, 'convex is given as well'),
        ({'convex_decomposition': True}, "convex_decomposition: 'True' is not a finite number"),
    ):
        with pytest.raises(WorldFileError, match=message):
            one(**entry, **wrong)
    with pytest.raises(WorldFileError, match="unknown key 'convex_decomposition'"):
        one(type='sphere', radius=1.0, convex_decomposition=0.1)
    links = {'finger': {'friction': 0.3, 'convex_decomposition': 0.1}, 'palm': {'friction': 0.2}}
    world = read_world({'robot': {'links': links}})
    assert world.link_decompositions == {'robot/finger': 0.1}
    assert world.surface_of('robot/finger').friction == (0.3, 0.3)
    assert extend_world(world, {}).link_decompositions == {'robot/finger': 0.1}
    links = {'tool0': {'convex_decomposition': 0.1}}
    with pytest.raises(WorldFileError, match='tool0: convex_decomp.*no collision mesh; remove it'):
        read_world({'robot': {'links': links}}, robot=MODEL)
    with pytest.raises(ValueError, match="unknown object or robot 'arm'"):
        World(link_decompositions={'arm/tool0': 0.1})


def test_an_open_mesh_moves_by_its_hull_or_a_given_inertia(tmp_path):
    path = tmp_path / 'cup.stl'
    write_stl(path, box_triangles((1.0, 1.0, 1.0))[:-2])
    entry = {'type': 'mesh', 'file': str(path), 'static': False, 'mass': 2}
    with pytest.raises(WorldFileError, match="'it': file|it: file: .*cup.stl is not closed"):
        one(**entry)
    assert_allclose(one(**entry, convex=True).inertia.mass, 2.0)
    assert one(**entry, inertia={'ixx': 1, 'iyy': 1, 'izz': 1}).inertia.mass == 2.0


def test_height_fields_from_arrays_and_images(tmp_path, monkeypatch):
    from matplotlib.image import imsave

    monkeypatch.chdir(tmp_path)
    grid = np.array([[0.0, 0.1, 0.2], [0.3, 0.4, 0.5]])
    np.save('grid.npy', grid)
    field = one(type='height_field', size=[2, 1], file='grid.npy')
    assert_allclose(field.shape.heights, grid)
    assert one(type='height_field', size=[2, 1], heights=grid) == field
    with pytest.raises(ValueError, match='read-only'):
        field.shape.heights[0, 0] = 1.0
    pixels = np.array([[0, 255, 51], [102, 255, 0]], dtype=np.uint8)
    imsave('grid.png', np.repeat(pixels[:, :, None], 3, axis=2))
    shape = one(type='height_field', size=[2, 1], file='grid.png', range=[-0.1, 0.4]).shape
    assert_allclose(shape.heights, [[-0.1, 0.4, 0.0], [0.1, 0.4, -0.1]], atol=1e-6)


def png(rows, columns, data=b'', depth=8, kind=0):
    """Return the PNG image with a header of choice."""

    def chunk(name, content):
        check = zlib.crc32(name + content)
        return struct.pack('>I', len(content)) + name + content + struct.pack('>I', check)

    head = struct.pack('>IIBBBBB', columns, rows, depth, kind, 0, 0, 0)
    return b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', head) + chunk(b'IDAT', data) + chunk(b'IEND', b'')


def test_the_size_of_a_height_field_is_seen_before_it_is_decoded(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def fail(*args, **kwargs):
        raise AssertionError('it was decoded')

    monkeypatch.setattr('matplotlib.image.imread', fail)
    monkeypatch.setattr(np, 'load', fail)
    entry = {'type': 'height_field', 'size': [1, 1]}
    Path('a.png').write_bytes(png(4097, 2))
    with pytest.raises(WorldFileError, match='holds 4097x2 .*at most 4096x4096 .* scale .*npy'):
        one(**entry, file='a.png', range=[0, 1])
    with open('a.npy', 'wb') as file:
        header = {'descr': '<f8', 'fortran_order': False, 'shape': (10**6, 10**6)}
        np.lib.format.write_array_header_1_0(file, header)
    with pytest.raises(WorldFileError, match='holds 1000000x1000000 numbers'):
        one(**entry, file='a.npy')


@pytest.mark.parametrize('name', ['a.npy', 'a.png'])
def test_the_memory_of_a_height_field_is_bounded_by_its_size(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    entry = {'type': 'height_field', 'size': [1, 1], 'file': name}
    side = 512
    if name == 'a.npy':
        np.save(name, np.zeros((side, side)))
    else:
        rows = (b'\0' + bytes(4 * side)) * side
        Path(name).write_bytes(png(side, side, zlib.compress(rows), 8, 6))
        entry['range'] = [0, 1]
    one(**entry)  # what is imported counts for nothing
    tracemalloc.start()
    one(**entry)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # The numbers and whether they are finite; four channels in single precision and their mean.
    assert peak < (10 if name == 'a.npy' else 26) * side**2


def test_brightness_of_images_of_all_kinds(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    entry = {'type': 'height_field', 'size': [1, 1], 'file': 'a.png', 'range': [0, 1]}
    for depth, kind, rows, heights in (
        (8, 0, b'\0\0\xff\0\x33\x66', [[0, 1], [0.2, 0.4]]),
        (16, 0, b'\0\0\0\xff\xff\0\x33\x33\x66\x66', [[0, 1], [0.2, 0.4]]),
        (8, 2, b'\0\0\x33\x66\xff\xff\xff\0' + bytes(6), [[0.2, 1], [0, 0]]),
        (8, 6, b'\0\0\x33\x66\0\xff\xff\xff\x7f\0' + bytes(8), [[0.2, 1], [0, 0]]),
    ):
        Path('a.png').write_bytes(png(2, 2, zlib.compress(rows), depth, kind))
        assert_allclose(one(**entry).shape.heights, heights, atol=1e-6)


# -- robots and pairs


def test_robots(tmp_path):
    srdf = tmp_path / 'arm.srdf'
    srdf.write_text('<robot><disable_collisions link1="tool0" link2="base_link"/></robot>')
    entry = {'urdf': str(ARM), 'floating': True, 'xyz': [0, 0, 1], 'srdf': str(srdf)}
    world = read_world({'robots': {'free': entry, 'arm': {'urdf': str(ARM)}}})
    free, arm = world['free'], world['arm']
    assert (
        free.model.joint_names[0] == 'floating_base'
        and 'floating_base' not in arm.model.joint_names
    )
    assert free.allowed_collisions - arm.allowed_collisions == {('base_link', 'tool0')}
    assert world.can_collide('arm/tool0', 'free/tool0')
    mechanism = {
        'urdf': str(resource_path('urdf', 'four_bar.urdf')),
        'extension': str(resource_path('config', 'four_bar.yaml')),
    }
    assert len(read_world({'robots': {'m': mechanism}})['m'].model.loops) == 1


def test_surfaces_of_the_robot_are_declared_link_by_link():
    other = {
        'urdf': str(ARM),
        'links': {'wrist_3_link': {'rolling': 0.01}},
        'surface': {'friction': 0.2},
    }
    world = read_world(
        {
            'defaults': {'surface': {'friction': 0.5, 'restitution': 0.1}},
            'robot': {
                'surface': {'friction': 0.9},
                'links': {'wrist_3_link': {'friction': [1.6, 0.4]}},
            },
            'objects': {'table': {'type': 'plane', 'surface': {'friction': 0.4}}},
            'robots': {'other': other},
            'pairs': [{'links': ['robot/wrist_3_link', 'other/wrist_3_link'], 'friction': 0.7}],
        },
        robot=MODEL,
    )
    assert world.surface_of('robot/wrist_3_link') == Surface((1.6, 0.4), restitution=0.1)
    assert world.surface_of('robot/forearm_link') == Surface((0.9, 0.9), restitution=0.1)
    assert world.surface_of('other/wrist_3_link') == Surface(
        (0.2, 0.2), restitution=0.1, rolling=0.01
    )
    assert world.surface_of('other/forearm_link').rolling == 0.0
    friction = world.surface_between('robot/wrist_3_link', 'table').surface.friction
    assert friction == (math.sqrt(1.6 * 0.4), math.sqrt(0.4 * 0.4))
    assert world.surface_between('other/wrist_3_link', 'robot/wrist_3_link').surface.friction == (
        0.7,
        0.7,
    )
    # The scene of the robot has it, and so has a world that got more.
    for each in (world, extend_world(world, '{objects: {ball: {type: sphere, radius: 0.1}}}')):
        scene = make_scene(MODEL, each)
        found = {
            scene.names_of(p): tuple(row[:2]) for p, row in enumerate(scene.table.surface.tolist())
        }
        assert found['robot/wrist_3_link', 'table'] == friction
        assert found['robot/forearm_link', 'table'] == pytest.approx((0.6, 0.6))


def test_the_robot_itself_has_an_srdf(tmp_path):
    (tmp_path / 'arm.srdf').write_text(
        '<robot><disable_collisions link1="wrist_3_link" link2="shoulder_link"/>'
        '<enable_collisions link1="upper_arm_link" link2="shoulder_link"/></robot>'
    )
    (tmp_path / 'world.yaml').write_text('robot: {srdf: arm.srdf}\n')
    without, having = {}, read_world(tmp_path / 'world.yaml', robot=MODEL)
    pairs = [
        {frozenset(scene.names_of(p)) for p in range(len(scene.table.pair))}
        for scene in (make_scene(MODEL, read_world(without)), make_scene(MODEL, having))
    ]
    assert pairs[0] - pairs[1] == {frozenset(('robot/wrist_3_link', 'robot/shoulder_link'))}
    assert pairs[1] - pairs[0] == {frozenset(('robot/upper_arm_link', 'robot/shoulder_link'))}


def test_a_mapping_may_have_more_objects_than_a_file_has_entries():
    ball = {'type': 'sphere', 'radius': 0.1, 'xyz': [0.0, 0.0, 1.0], 'static': False, 'mass': 1.0}
    world = read_world({'objects': {f'ball{k}': ball for k in range(2500)}})
    assert len(world.movable) == 2500
    endless = {}
    endless['objects'] = endless
    with pytest.raises(WorldFileError, match='too deep'):
        read_world(endless)


def test_entries_of_pairs_override_single_values():
    objects = {
        'plain': {**BOX, 'surface': {'friction': 0.4, 'restitution': 0.2}},
        'belt': {**BOX, 'surface': {'friction': [0.9, 0.1], 'direction': [0, 1, 0]}},
    }

    def pair(**entry):
        return read_world(
            {'objects': objects, 'pairs': [{'links': ['plain', 'belt'], **entry}]}
        ).surface_between('belt', 'plain')

    bounced = pair(restitution=0.9)
    assert bounced.directed_by == 'belt' and bounced.surface.direction == (0.0, 1.0, 0.0)
    assert_allclose(bounced.surface.friction, [0.6, 0.2])
    assert bounced.surface.restitution == 0.9
    rubbed = pair(friction=[0.3, 0.2])
    assert rubbed.directed_by == 'plain' and rubbed.surface.direction == (1.0, 0.0, 0.0)
    assert rubbed.surface.restitution == 0.2
    assert pair(direction=[0, 0, 1]).surface.direction == (0.0, 0.0, 1.0)


def test_links_of_the_robot_are_checked_if_its_model_is_there():
    content = {'objects': {'it': BOX}, 'disable_collisions': [['robot/tol0', 'it']]}
    assert not read_world(content).can_collide('robot/tol0', 'it')
    with pytest.raises(WorldFileError, match="unknown link 'tol0'; did you mean 'tool0'"):
        read_world(content, robot=load_urdf(ARM))


# -- errors

# What of the example is replaced, by what, and the message: with the line of what is wrong.
ERRORS = [
    ('objects:', 'object:', "line 6: world: unknown key 'object'; did you mean 'objects'"),
    ('gravity: [0, 0, -9.81]', 'gravity: [0, 0]', 'line 2: gravity: expected 3 numbers, got 2'),
    ('[0, 0, -9.81]', '[0, 0, .nan]', r"line 2: gravity\[3\]: '.nan' is not a finite number"),
    ('[0, 0, -9.81]', '-9.81', "line 2: gravity: expected a list, got '-9.81'"),
    ('[0, 0, -9.81]', '[0, 0, 1.0e9]', 'gravity.3.: 1e.09 m/s.2 is not between'),
    (
        'friction: 0.6',
        'friction: -0.6',
        'line 4: defaults: surface: friction: -0.6 is not between',
    ),
    ('density: 700 ', 'density: 0 ', 'line 5: defaults: density: 0 kg/m'),
    ('density: 700 ', 'densty: 700 ', "line 5: defaults: unknown key 'densty'; did you mean"),
    ('table:\n', 'floor:\n', "line 9: 'floor' is given twice, first in line 7"),
    ('second_arm:\n', 'table:\n', "line 61: robots: 'table' is the name of an object in line 9"),
    ('  table:\n', '  robot:\n', "line 9: objects: 'robot' is the name of the simulated robot"),
    ('  table:\n', '  a/b:\n', "line 9: objects: 'a/b' is not a valid name"),
    ('  table:\n', '  12:\n', 'line 9: .12. is not a name; put names that look like numbers'),
    ('type: plane', 'type: plain', "line 8: objects: floor: type: unknown type 'plain'; did you"),
    ('type: plane', 'tpye: plane', 'line 8: objects: floor: type is missing'),
    ('type: plane', 'type: plane\n    radius: 1', "line 9: .*floor: unknown key 'radius'"),
    ('type: plane', 'type: plane\n    static: false', 'line 9: .*a plane has no bounded volume'),
    ('size: [0.8, 1.2, 0.04]', 'colr: [1, 1, 1]', "line 11: .*table: unknown key 'colr'; did"),
    ('size: [0.8, 1.2, 0.04]', 'size: [0.8, 1.2]', 'line 11: .*size: expected 3 lengths, got 2'),
    ('size: [0.8, 1.2, 0.04]', 'size: [0.8, -1.2, 0.04]', r'line 11: .*size\[2\]: -1.2 m is not'),
    ('size: [0.8, 1.2, 0.04]', 'size: [0.8, 0, 0.04]', r'line 11: .*size\[2\]: 0 m is not'),
    ('size: [0.8, 1.2, 0.04]\n', '\n', 'line 10: objects: table: size is missing'),
    ('xyz: [0.8, 0, 0.38]', 'xyz: [0.8, 0, high]', r"line 12: .*xyz\[3\]: 'high' is not a finite"),
    ('[0.6, 0.45, 0.3]', '[0.6, 0.45]', 'line 13: .*color: expected 3 or 4 numbers, got 2'),
    ('[0.6, 0.45, 0.3]', '[160, 0.45, 0.3]', r'line 13: .*color\[1\]: 160 is not between 0 and 1'),
    ('{friction: 0.5}', '{frction: 0.5}', "line 14: .*surface: unknown key 'frction'; did you"),
    ('{friction: 0.5}', '{friction: [1, 1, 1]}', 'line 14: .*one number or two, got 3'),
    ('{friction: 0.5}', '{friction: [1, -1]}', r'line 14: .*friction\[2\]: -1 is not between'),
    ('{friction: 0.5}', 'rough', "line 14: .*surface: expected a mapping, got 'rough'"),
    (
        'static: false\n    mass',
        'static: 1\n    mass',
        "line 19: .*expected true or false, got '1'",
    ),
    ('static: false\n    mass: 0.5', 'mass: 0.5', 'line 19: .*only movable objects can have it'),
    ('mass: 0.5', 'mass: 0', "line 20: .*mass: 'box' is movable and has no mass"),
    ('mass: 0.5', 'mass: 1e-300', 'line 20: .*mass: 1e-300 kg is not between 1e-20 and 1e'),
    ('mass: 0.5', 'mass: -1', 'line 20: .*mass: -1 kg is not between'),
    ('mass: 0.5', 'mass: 0.5\n    density: 5', 'line 21: .*density: mass is given as well'),
    ('mass: 0.5', 'inertia: {ixx: 1, iyy: 1, izz: 1}', 'line 20: .*inertia: mass is missing'),
    (
        'mass: 0.5',
        'mass: 0.5\n    inertia: {ixx: 1, iyy: 1, izz: 3}',
        'line 21: .*inertia: the principal moments .* triangle',
    ),
    (
        'mass: 0.5',
        'mass: 0.5\n    inertia: {ixx: 0, iyy: 0, izz: 0}',
        'line 21: .*moment of inertia is zero',
    ),
    ('mass: 0.5', 'mass: 0.5\n    inertia: {ixx: 1, iyy: 1}', 'line 21: .*izz is missing'),
    ('mass: 0.5', 'mass: 1\n    center_of_mass: [0, 0, 0]', 'line 21: .*without an inertia'),
    (
        ', restitution: 0.0}\n  density',
        ', restitution: 2}\n  density',
        'line 4: .*2 is not between',
    ),
    ('radius: 0.0099', 'radius: 0', 'line 25: objects: peg: radius: 0 m is not between'),
    ('radius: 0.0099', 'radius: yes', 'line 25: objects: peg: radius: .True. is not a finite'),
    ('length: 0.08', 'lenght: 0.08', "line 26: objects: peg: unknown key 'lenght'; did you mean"),
    ('{linear: [-0.2', '{liner: [-0.2', "line 36: .*velocity: unknown key 'liner'; did you mean"),
    ('{stiffness: 5.0e4, ', '{', 'line 45: .*compliance: stiffness is missing'),
    ('{stiffness: 5.0e4, ', '{stiffness: 0, ', 'line 45: .*stiffness: 0 N/m is not between'),
    ('damping: 100.0', 'damping: -1', 'line 45: .*damping: -1 is not between'),
    ('damping: 100.0', 'dampin: 1', "line 45: .*compliance: unknown key 'dampin'; did you mean"),
    ('damping: 100.0', 'exponent: 0.5', 'line 45: .*exponent: 0.5 is not between 1 and 10'),
    ('damping: 100.0', 'exponent: 10.5', 'line 45: .*exponent: 10.5 is not between 1 and 10'),
    ('damping: 100.0', 'exponent: .nan', "line 45: .*exponent: '.nan' is not a finite number"),
    ('damping: 100.0', 'exponent: hertz', "line 45: .*exponent: 'hertz' is not a finite number"),
    ('damping: 100.0', 'dissipation: -1', 'line 45: .*dissipation: -1 is not between'),
    ('damping: 100.0', 'dissipation: .inf', "line 45: .*dissipation: '.inf' is not a finite"),
    (
        'damping: 100.0',
        'damping: 1, exponent: 2',
        'line 45: .*damping: damping applies to a linear',
    ),
    (
        'damping: 100.0',
        'damping: 0, dissipation: 2',
        'line 45: .*damping: damping applies to a linear',
    ),
    ('{stiffness: 5.0e4, damping', '{exponent: 1.5, dissipation', 'line 45: .*stiffness is miss'),
    ('5.0e4, damping', '0, dissipation', r'line 45: .*stiffness: 0 N/m\^n is not between'),
    ('{w: 0.7071068, x', '{w: 0.8, x', 'line 50: .*quaternion: its norm is 1.06771; give a unit'),
    ('{w: 0.7071068, x: 0, ', '{w: 0, ', 'line 50: .*quaternion: x is missing'),
    (
        '{w: 0.7071068, x: 0, y: 0, z: 0.7071068}',
        '[1, 0, 0, 0]',
        'line 50: .*order of the quaternion',
    ),
    ('quaternion', 'rpy: [0, 0, 0]\n    quaternion', 'line 51: .*rpy is given as well'),
    ('[0, 1, 0]}\n  gravel', '[0, 0, 0]}\n  gravel', 'line 51: .*direction: .*has no direction'),
    ('[0.02, 0.05, 0.01]', '[0.02, 0.05]', r'line 58: .*heights\[2\]: expected 3 numbers .*got 2'),
    ('heights:\n', 'range: [0, 1]\n    heights:\n', 'line 56: .*range: range applies to images'),
    ('heights:\n', 'file: a.npy\n    heights:\n', 'line 53: .*either heights or a file'),
    ('heights:\n', 'hights:\n', "line 56: .*unknown key 'hights'; did you mean 'heights'"),
    ('six_axis_arm.urdf', 'seven.urdf', 'line 62: robots: second_arm: urdf: there is no file'),
    ('../urdf/six_axis_arm.urdf', 'table_world.yaml', 'line 62: .*urdf: .*table_world.yaml'),
    ('elbow_joint: 1.5', 'elbw_joint: 1', "line 65: .*unknown moving joint 'elbw_joint'; did you"),
    ('elbow_joint: 1.5', 'tool_joint: 1', "line 65: .*unknown moving joint 'tool_joint'"),
    ('elbow_joint: 1.5', 'elbow_joint: 99', 'line 65: .*elbow_joint: 99 is outside the limits'),
    ('elbow_joint: 1.5', 'elbow_joint: up', "line 65: .*elbow_joint: 'up' is not a finite number"),
    (
        '[box, table]',
        '[box, tabel]',
        r"line 67: pairs\[1\]: links\[2\]: .*'tabel'; did you mean",
    ),
    ('[box, table]', '[box]', r'line 67: pairs\[1\]: links: expected 2 names, got 1'),
    ('[box, table]', '[box, box]', r'line 67: .*both are .box.'),
    ('[box, table]', '[box/lid, table]', r"line 67: .*'box' is an object without link 'lid'"),
    ('second_arm/tool0, ', 'second_arm/tol0, ', "line 68: .*link of 'second_arm' 'tol0'; did you"),
    (
        ', friction: 0.3, restitution: 0.0}',
        '}',
        r'line 67: pairs\[1\]: it has no surface property',
    ),
    ('[second_arm/tool0, peg]', '[table, box]', 'line 68: .*have two entries'),
    ('links: [box, table]', 'lnks: [box, table]', "line 67: .*unknown key 'lnks'; did you"),
    (
        '[robot, floor]',
        '[robot, flor]',
        r"line 71: disable_collisions\[2\]\[2\]: .*'flor'; did you mean",
    ),
    ('[robot, floor]', 'floor', r"line 71: disable_collisions\[2\]: expected a list, got 'floor'"),
    ('gravity: [0', 'gravity: [[0', 'line 3: expected'),
    ('type: plane', 'type: *plane', 'line 8: aliases are not supported'),
    ('type: plane', 'type: !!python/name:os.system x', 'line 8: .*is not supported'),
]


@pytest.mark.parametrize('old, new, message', ERRORS, ids=[f'{k}' for k in range(len(ERRORS))])
def test_errors_name_file_line_and_entry(tmp_path, old, new, message):
    assert TEXT.count(old) >= 1, old
    (tmp_path / 'config').mkdir()
    (tmp_path / 'urdf').mkdir()
    shutil.copy(ARM, tmp_path / 'urdf')
    path = tmp_path / 'config' / 'table_world.yaml'
    path.write_text(TEXT.replace(old, new, 1))
    with pytest.raises(WorldFileError) as caught:
        read_world(path)
    text = str(caught.value)
    assert re.search(message, text), text
    assert text.startswith(f"world file '{path}'") and '\n' not in text


@pytest.mark.parametrize(
    'source, message',
    [
        ('nowhere.yaml', "world file 'nowhere.yaml': there is no such file"),
        (7, 'expected a mapping or the path of a YAML file, got int; see docs/world.md'),
        ([], 'got list'),
        ({1: {}}, "world: '1' is not a name"),
        ({'objects': []}, 'objects: expected a mapping, got a list'),
        ({'objects': {'': BOX}}, "'' is not a valid name"),
        ({'objects': {'it': None}}, 'it: expected a mapping, got nothing'),
        ({'objects': {'it': {**BOX, 'static': False}}}, 'it: .it. is movable and has no mass'),
        ({'robots': {'it': {}}}, 'it: urdf is missing'),
        ({'robots': {'it': {'urdf': 'a\0b'}}}, 'there is no file'),
    ],
)
def test_sources_that_are_no_worlds(source, message):
    with pytest.raises(WorldFileError, match=message):
        read_world(source)


@pytest.mark.parametrize(
    'content, message',
    [
        (b'\n- objects\n', 'line 2: expected a mapping such as "objects.*docs/world.md'),
        (b'42', 'line 1: expected a mapping such as "objects'),
        (b'objects:\n  caf\xe9: {}\n', 'line 2: an unreadable byte; give a YAML file in UTF-8'),
        ('objects: {}'.encode('utf-16'), 'line 1: an unreadable byte'),
        (b'objects:\n\n  a: "\x07"\n', 'line 3: an unreadable character; give a YAML file in UTF'),
        (b'# a\r\n\x00', 'line 2: an unreadable character'),
    ],
)
def test_files_that_are_no_worlds_are_rejected_with_the_line(content, message, tmp_path):
    path = tmp_path / 'no.yaml'
    path.write_bytes(content)
    with pytest.raises(WorldFileError, match=message):
        read_world(path)


@pytest.mark.parametrize(
    'entry, message',
    [
        ({'file': 'a.npy'}, 'there is no file .a.npy.'),
        ({}, 'give either heights or a file'),
        ({'heights': [[0, 0]]}, 'at least 2 rows of 2'),
        ({'heights': [[0], [0]]}, 'at least 2 rows of 2'),
        ({'file': 'wrong.npy'}, 'file: cannot be read'),
        ({'file': 'flat.npy'}, 'file: holds 4 numbers; give at least 2x2'),
        ({'file': 'nan.npy'}, 'heights that are not finite'),
        ({'file': 'object.npy'}, 'file: cannot be read'),
        ({'file': 'text.npy'}, 'not hold an array of numbers'),
        ({'file': 'good.npy', 'range': [0, 1]}, 'range: range applies to images only'),
        ({'file': 'good.txt'}, 'is an image .* or an array'),
        ({'file': 'wrong.png'}, 'range is missing'),
        ({'file': 'wrong.png', 'range': [0, 1]}, 'file: cannot be read'),
        ({'file': 'good.npy', 'size': [1]}, 'size: expected 2 lengths, got 1'),
        ({'file': 'pipe.npy'}, 'file: .*it is a named pipe'),
        ({'file': 'pipe.png', 'range': [0, 1]}, 'file: .*it is a named pipe'),
    ],
)
def test_bad_height_fields(tmp_path, monkeypatch, entry, message):
    monkeypatch.chdir(tmp_path)
    for name in ('wrong.npy', 'wrong.png', 'good.txt'):
        Path(name).write_bytes(b'nothing of the kind')
    np.save('flat.npy', np.zeros(4))
    np.save('nan.npy', np.full((2, 2), np.nan))
    np.save('object.npy', np.array([[None, 1], [2, 3]]), allow_pickle=True)
    np.save('text.npy', np.array([['a', 'b'], ['c', 'd']]))
    np.save('good.npy', np.zeros((2, 2)))
    for name in ('pipe.npy', 'pipe.png'):
        os.mkfifo(name)
    with pytest.raises(WorldFileError, match=message):
        one(**{'type': 'height_field', 'size': [1, 1], **entry})


@pytest.mark.parametrize(
    'entry, message',
    [
        ({'file': 'none.stl'}, "file: there is no file 'none.stl'"),
        ({'file': 'package://none/none.stl'}, 'file: there is no file'),
        ({}, 'file is missing'),
        ({'file': 'bad.stl', 'scale': [1, 1, 0]}, 'scale: .* flattens the mesh'),
        (
            {'file': 'bad.stl', 'static': False, 'mass': 1},
            'file: .*bad.stl is damaged .it is neither',
        ),
        ({'file': 'flat.stl', 'static': False, 'mass': 1, 'convex': True}, 'enclose no volume'),
        ({'file': 'pipe.stl', 'static': False, 'mass': 1}, 'file: .*pipe.stl: it is a named pipe'),
    ],
)
def test_bad_meshes(tmp_path, monkeypatch, entry, message):
    monkeypatch.chdir(tmp_path)
    Path('bad.stl').write_bytes(b'nothing')
    write_stl(Path('flat.stl'), box_triangles((1.0, 1.0, 1.0))[:2])
    os.mkfifo('pipe.stl')
    with pytest.raises(WorldFileError, match=message):
        one(**{'type': 'mesh', **entry})


def test_positions_at_the_start_may_lie_on_a_limit_but_for_rounding():
    limit = load_urdf(ARM).body(3).limits.upper

    def arm(position):
        entry = {'urdf': str(ARM), 'initial_joint_positions': {'elbow_joint': position}}
        return read_world({'robots': {'arm': entry}})['arm']

    for sign in (1.0, -1.0):
        beyond = sign * (limit + 5e-7)
        assert arm(beyond).configuration == {'elbow_joint': beyond}
        with pytest.raises(WorldFileError, match='is outside the limits'):
            arm(sign * (limit + 2e-6))


def test_mimic_joints_have_no_initial_position(tmp_path):
    path = tmp_path / 'gripper.urdf'
    path.write_text(gripper())
    entry = {'urdf': str(path), 'initial_joint_positions': {'right': 0.01}}
    assert read_world({'robots': {'it': entry}})['it'].configuration == {'right': 0.01}
    entry['initial_joint_positions'] = {'left': 0.01}
    with pytest.raises(WorldFileError, match="left: it mimics joint 'right'"):
        read_world({'robots': {'it': entry}})


def gripper():
    """Return the URDF of two fingers, of which one mimics the other."""
    inertial = (
        '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    )
    links = [
        f'<link name="{name}_finger">{inertial}</inertial></link>' for name in ('right', 'left')
    ]
    joints = [
        f'<joint name="{name}" type="prismatic"><parent link="palm"/><child link="{name}_finger"/>'
        f'<axis xyz="{x} 0 0"/><limit lower="0" upper="0.1" effort="1" velocity="1"/>{mimic}'
        '</joint>'
        for name, x, mimic in (('right', 1, ''), ('left', -1, '<mimic joint="right"/>'))
    ]
    return f'<robot name="gripper"><link name="palm"/>{"".join(links + joints)}</robot>'


@pytest.mark.parametrize(
    ('robot', 'message'),
    [
        ({'links': {'tol0': {}}}, "robot: links: tol0: unknown link 'tol0'; did you mean 'tool0'"),
        (
            {'links': {'tool0': {'friction': -1}}},
            'robot: links: tool0: friction: -1 is not between 0',
        ),
        ({'links': ['tool0']}, 'robot: links: expected a mapping'),
        ({'surfaces': {}}, "robot: unknown key 'surfaces'; did you mean 'surface'"),
        ({'srdf': 'none.srdf'}, 'robot: srdf: '),
    ],
)
def test_errors_about_the_robot_itself_name_the_key(robot, message):
    with pytest.raises(WorldFileError, match=message):
        read_world({'robot': robot}, robot=MODEL)


def test_surfaces_are_of_links_that_there_are():
    with pytest.raises(ValueError, match="'robot' does not name a link"):
        World(link_surfaces={'robot': Surface()})
    with pytest.raises(ValueError, match="unknown object or robot 'arm'"):
        World(link_surfaces={'arm/tool0': Surface()})


def test_errors_of_a_robot_s_files_name_them(tmp_path):
    srdf = tmp_path / 'arm.srdf'
    srdf.write_text('<robot>\n<disable_collisions link1="tool0" link2="none"/></robot>')
    with pytest.raises(WorldFileError, match="arm: srdf: SRDF file .*arm.srdf': line 2: .*'none'"):
        read_world({'robots': {'arm': {'urdf': str(ARM), 'srdf': str(srdf)}}})
    own = {'robot': {'srdf': str(srdf)}}
    with pytest.raises(
        WorldFileError, match="robot: srdf: SRDF file .*arm.srdf': line 2: .*'none'"
    ):
        read_world(own, robot=MODEL)
    assert read_world(own).srdf == str(srdf)  # whose links are not known yet
    srdf.write_text('<robot>\n<disable_collisions link1="tool0"/></robot>')
    with pytest.raises(WorldFileError, match='robot: srdf: .*line 2: .*has no link2'):
        read_world(own)
    bar = str(resource_path('urdf', 'four_bar.urdf'))
    free = {'urdf': bar, 'floating': True, 'initial_joint_positions': {'floating_base': 0.0}}
    with pytest.raises(
        WorldFileError, match='floating_base: only joints with one degree of freedom'
    ):
        read_world({'robots': {'bar': free}})


# -- hostile files

WORDS = st.sampled_from(re.findall(r'[\w./-]+|\n *|[\[\]{},:]', TEXT))
EDITS = st.lists(
    st.tuples(
        st.integers(0, len(TEXT)),
        st.integers(0, 12),
        st.one_of(WORDS, st.text(max_size=5), st.sampled_from(['.nan', '-1', '1e300', '""', '0'])),
    ),
    min_size=1,
    max_size=3,
)


@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(EDITS)
def test_no_edit_of_the_example_gives_another_error(tmp_path, edits):
    text = TEXT
    for at, cut, new in edits:
        text = text[:at] + new + text[at + cut :]
    path = tmp_path / 'edited.yaml'
    path.write_bytes(text.replace('../urdf', str(ARM.parent)).encode('utf-8', 'replace'))
    read_or_rejected(path)


VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=4) | WORDS,
    lambda inside: st.lists(inside, max_size=4) | st.dictionaries(WORDS, inside, max_size=3),
    max_leaves=6,
)


@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_no_value_in_the_example_gives_another_error(data):
    content = yaml.safe_load(TEXT.replace('../urdf', str(ARM.parent)))
    place = content
    while True:
        keys = list(place) if isinstance(place, Mapping) else range(len(place))
        key = data.draw(st.sampled_from(list(keys)))
        inside = place[key]
        if not isinstance(inside, (Mapping, list)) or not inside or data.draw(st.booleans()):
            break
        place = inside
    place[key] = data.draw(VALUES)
    read_or_rejected(content)


def read_or_rejected(source):
    try:
        world = read_world(source)
    except WorldFileError as error:
        assert str(error).startswith('world')
        return
    for each in world.movable:
        numbers = each.inertia.parameters()
        assert np.isfinite(numbers).all() and numbers[0] > 0.0
        assert np.linalg.eigvalsh(each.inertia.mass_center()[2]).min() >= 0.0
    for each in (*world.objects, *world.robots):
        assert np.isfinite(each.placement.pose()).all()
    for first in world.names:
        for second in world.names:
            world.can_collide(first, second)
            world.surface_between(first, second)


def test_poses_have_names_and_touch_nothing():
    place = {'xyz': [1, 2, 3], 'rpy': [0, 0, 1], 'tags': ['a', 'b'], 'description': 'there'}
    world = read_world({'poses': {'there': {**place, 'size': [1, 2, 3]}, 'here': {}}})
    there, here = world.poses
    assert (there.name, there.description, there.tags) == ('there', 'there', ('a', 'b'))
    assert there.size == (1.0, 2.0, 3.0) and here.size is None and not here.tags
    assert there.placement.r == (1.0, 2.0, 3.0) and here.placement.r == (0.0, 0.0, 0.0)
    assert world.names == ('robot',)
    assert read_world({'poses': {'it': {}}, 'objects': {'it': BOX}}).poses[0].name == 'it'


@pytest.mark.parametrize(
    'entry, text',
    [
        ({'size': [1, 0, 1]}, 'edges must be positive'),
        ({'size': [1, 1]}, 'size'),
        ({'color': 1}, 'color'),
        ({'tags': 'a'}, 'tags'),
        ({'xyz': [1, 2, 3], 'quaternion': [1, 0, 0, 0]}, 'order of the quaternion'),
    ],
)
def test_a_pose_that_is_wrong_is_rejected_by_key(entry, text):
    with pytest.raises(WorldFileError, match=text):
        read_world({'poses': {'there': entry}})


def test_words_that_yaml_reads_as_booleans_are_names(tmp_path):
    file = tmp_path / 'words.yaml'
    file.write_text(
        'objects:\n'
        '  on: {type: box, size: [1, 1, 1]}\n'
        '  No: {type: sphere, radius: 0.1, xyz: [3, 0, 0], static: false, mass: 1}\n'
        'pairs:\n'
        '  - {links: [on, No], friction: 0.25}\n'
    )
    world = read_world(file)
    assert [each.name for each in world.objects] == ['on', 'No'] and world['No'].movable
    assert world.surface_between('on', 'No').surface.friction[0] == 0.25


@pytest.mark.parametrize(
    ('world', 'key', 'ours'),
    [
        ({'ignore': []}, 'ignore', 'disable_collisions'),
        ({'pairs': [{'between': ['a', 'b']}]}, 'between', 'links'),
        ({'objects': {'a': {'type': 'sphere', 'movable': True}}}, 'movable', 'static'),
        ({'objects': {'a': {'type': 'sphere', 'pos': [0, 0, 1]}}}, 'pos', 'xyz'),
        ({'objects': {'a': {'type': 'sphere', 'rgba': [0, 0, 1]}}}, 'rgba', 'color'),
        ({'defaults': {'surface': {'mu': 1.0}}}, 'mu', 'friction'),
        (
            {'robots': {'a': {'urdf': 'a.urdf', 'configuration': {}}}},
            'configuration',
            'initial_joint_positions',
        ),
    ],
)
def test_keys_of_other_formats_are_answered_with_the_key_of_the_same_meaning(world, key, ours):
    with pytest.raises(WorldFileError, match=f"unknown key '{key}'; did you mean '{ours}'"):
        read_world(world)


def test_a_key_that_another_entry_has_is_answered_with_the_keys_of_this_one():
    """Similar spelling would suggest `gravity`."""
    with pytest.raises(WorldFileError, match="unknown key 'configuration'; there are gravity, .*"):
        read_world({'configuration': {}})
