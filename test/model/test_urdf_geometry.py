# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Shapes of links and the files of their meshes."""

import os

import numpy as np
import pytest
from support.urdf_text import joint, LIMIT, link, robot

from rbd_ros.model import load_urdf
from rbd_ros.model.geometry import Box, Cylinder, Mesh, Sphere


def shape(inside, role='collision', origin='', name=''):
    name = f' name="{name}"' if name else ''
    return f'<{role}{name}>{origin}<geometry>{inside}</geometry></{role}>'


def only_shape(inside):
    (geometry,) = load_urdf(robot(link('a', shape(inside)))).geometries
    return geometry.shape


def mesh(uri, source=None, **options):
    """Return the path that a mesh `uri` gets, and the warnings.

    `source` is where to write the text.
    """
    text = robot(link('a', shape(f'<mesh filename="{uri}"/>', 'visual')))
    if source is not None:
        source.write_text(text)
    model = load_urdf(text if source is None else source, **options)
    return model.geometries[0].shape.path, model.warnings


def test_primitives_are_read_with_their_sizes():
    assert only_shape('<sphere radius="0.5"/>') == Sphere(0.5)
    assert only_shape('<box size="1 2 3"/>') == Box((1.0, 2.0, 3.0))
    assert only_shape('<cylinder radius="0.5" length="2"/>') == Cylinder(0.5, 2.0)
    assert only_shape('<mesh filename="m.stl" scale="1 2 -3"/>') == Mesh('m.stl', None, (1, 2, -3))
    assert only_shape('<mesh filename="m.stl"/>').scale == (1.0, 1.0, 1.0)


def test_collision_and_visual_shapes_are_distinguished():
    text = robot(
        link(
            'a',
            shape('<sphere radius="1"/>', 'visual', name='v')
            + shape('<sphere radius="2"/>', 'collision', name='c'),
        )
    )
    found = [(g.role, g.name, g.link, g.shape.radius) for g in load_urdf(text).geometries]
    assert found == [('collision', 'c', 'a', 2.0), ('visual', 'v', 'a', 1.0)]


def test_a_shape_is_placed_in_the_body_that_its_link_is_fixed_to():
    turn = '<origin xyz="1 0 0" rpy="0 0 1.5707963267948966"/>'
    text = robot(
        link('a'),
        link('b'),
        link('c', shape('<sphere radius="1"/>', origin=turn)),
        joint('j', 'a', 'b'),
        joint('k', 'b', 'c', 'fixed', inside=turn),
    )
    (geometry,) = load_urdf(text).geometries
    assert geometry.body == 1
    expected = np.array([[-1, 0, 0, 1], [0, -1, 0, 1], [0, 0, 1, 0], [0, 0, 0, 1]])
    assert np.allclose(geometry.placement.pose(), expected, atol=1e-15)


def test_a_capsule_is_a_cylinder_with_two_balls():
    origin = '<origin xyz="0 0 1" rpy="1.5707963267948966 0 0"/>'
    text = robot(link('a', shape('<capsule radius="0.1" length="2"/>', origin=origin, name='c')))
    cylinder, *balls = load_urdf(text).geometries
    assert cylinder.shape == Cylinder(0.1, 2.0)
    assert [ball.shape for ball in balls] == [Sphere(0.1)] * 2
    assert {tuple(np.round(ball.placement.r, 12)) for ball in balls} == {(0, -1, 1), (0, 1, 1)}
    assert {g.role for g in (cylinder, *balls)} == {'collision'}


def test_an_unknown_shape_is_omitted_with_a_notice():
    model = load_urdf(robot(link('a', shape('<torus r="1"/>') + shape('<sphere radius="1"/>'))))
    assert [g.shape for g in model.geometries] == [Sphere(1.0)]
    (warning,) = model.warnings
    assert "'a'" in warning and 'torus' in warning


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Return a package with a mesh and a place for a URDF; ROS' variables are empty."""
    monkeypatch.delenv('ROS_PACKAGE_PATH', raising=False)
    monkeypatch.delenv('AMENT_PREFIX_PATH', raising=False)
    root = tmp_path / 'ws' / 'my_robot'
    (root / 'urdf').mkdir(parents=True)
    (root / 'meshes').mkdir()
    (root / 'meshes' / 'm.stl').write_bytes(b'')
    return root


URI = 'package://my_robot/meshes/m.stl'


def test_a_package_is_found_above_the_description(package):
    assert mesh(URI, package / 'urdf' / 'r.urdf')[0] == str(package / 'meshes' / 'm.stl')


def test_a_package_beside_that_of_the_description_is_found(package):
    other = package.parent / 'other' / 'urdf'
    other.mkdir(parents=True)
    assert mesh(URI, other / 'r.urdf')[0] == str(package / 'meshes' / 'm.stl')


@pytest.mark.parametrize('root', ['..', '.'])
def test_a_package_is_found_below_the_paths_given(package, root):
    paths = [os.path.normpath(package / root)]
    assert mesh(URI, package_paths=paths)[0] == str(package / 'meshes' / 'm.stl')
    assert mesh(URI, package_paths=paths[0])[0] == str(package / 'meshes' / 'm.stl')


def test_a_package_is_found_by_the_variables_of_ros(package, monkeypatch):
    monkeypatch.setenv('ROS_PACKAGE_PATH', f'/nowhere{os.pathsep}{package.parent}')
    assert mesh(URI)[0] == str(package / 'meshes' / 'm.stl')
    monkeypatch.delenv('ROS_PACKAGE_PATH')
    share = package.parent / 'install' / 'share'
    share.mkdir(parents=True)
    package.rename(share / 'my_robot')
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(package.parent / 'install'))
    assert mesh(URI)[0] == str(share / 'my_robot' / 'meshes' / 'm.stl')


def test_relative_absolute_and_file_names_are_found(package):
    source, path = package / 'urdf' / 'r.urdf', package / 'meshes' / 'm.stl'
    for uri in ('../meshes/m.stl', str(path), f'file://{path}'):
        assert mesh(uri, source)[0] == str(path)


def test_a_mesh_that_is_not_found_has_no_path_and_makes_one_warning(package):
    for uri in (
        URI,
        'package://../my_robot/meshes/m.stl',
        'http://x/m.stl',
        'm.stl',
        'package://',
    ):
        path, warnings = mesh(uri)
        assert path is None
        assert len(warnings) == 1 and uri in warnings[0]


def test_shapes_do_not_change_the_dynamics():
    plain = robot(link('a'), link('b'), joint('j', 'a', 'b', inside=LIMIT))
    shaped = plain.replace('</link>', shape('<mesh filename="m.stl"/>', 'visual') + '</link>')
    assert load_urdf(plain).bodies == load_urdf(shaped).bodies


def colors(*materials, known=''):
    """Return the colors of visuals with these materials, and warnings."""
    shapes = ''.join(
        f'<visual><geometry><sphere radius="1"/></geometry>{material}</visual>'
        for material in materials
    )
    model = load_urdf(robot(known, link('a', shapes)))
    return [geometry.color for geometry in model.geometries], model.warnings


RED = '<material name="red"><color rgba="1 0 0 0.5"/></material>'


def test_colors_are_those_of_the_materials():
    named = '<material name="red"/>'
    assert colors(RED, '', named)[0] == [(1.0, 0.0, 0.0, 0.5), None, (1.0, 0.0, 0.0, 0.5)]
    assert colors(named, known=RED) == ([(1.0, 0.0, 0.0, 0.5)], ())
    # An explicit material of the shape precedes one of the same name.
    blue = '<material name="red"><color rgba="0 0 1 1"/></material>'
    assert colors(blue, named, known=RED)[0] == [(0.0, 0.0, 1.0, 1.0), (1.0, 0.0, 0.0, 0.5)]
    assert colors(named) == ([None], ())


@pytest.mark.parametrize('rgba', ['', '1 0 0', '1 0 0 1 1', '1 0 x 1', '255 0 0 1', 'nan 0 0 1'])
def test_invalid_colors_are_omitted_with_a_warning(rgba):
    found, (warning,) = colors(f'<material name="m"><color rgba="{rgba}"/></material>')
    assert found == [None]
    assert 'rgba' in warning and 'line' in warning


def test_a_capsule_has_one_color():
    text = (
        f'<visual><geometry><capsule radius="1" length="2"/></geometry>{RED}</visual>'
        '<visual><geometry><sphere radius="1"/></geometry></visual>'
    )
    found = load_urdf(robot(link('a', text))).geometries
    assert [(type(g.shape), g.color is not None) for g in found] == [
        (Cylinder, True),
        (Sphere, False),
        (Sphere, True),
        (Sphere, True),
    ]
