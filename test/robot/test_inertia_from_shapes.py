# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Inertias from shapes equal those of MuJoCo, trimesh and books; warnings name the links."""

import math

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import outside
from support.errors import relative_error
from support.mesh_files import box_triangles, write_stl
from support.urdf_text import inertial, joint, link, robot as urdf

from rbd_ros import ModelError, Robot

BOX = '<box size="0.3 0.2 0.1"/>'
BALL = '<sphere radius="0.1"/>'
ROD = '<cylinder radius="0.05" length="0.4"/>'
MASS = inertial('2')


def shape(form, role='collision', xyz='0 0 0', rpy='0 0 0'):
    """Return the element of a shape with its pose."""
    origin = f'<origin xyz="{xyz}" rpy="{rpy}"/>'
    return f'<{role}>{origin}<geometry>{form}</geometry></{role}>'


def arm(*insides):
    """Return the robot whose links, one after another on hinges, have these elements."""
    names = [f'l{k}' for k in range(len(insides) + 1)]
    hinges = [joint(f'j{b}', a, b, axis='1 2 3') for a, b in zip(names, names[1:])]
    parts = [link(name, inside) for name, inside in zip(names, ('', *insides))]
    return urdf(*parts, *hinges)


def one(inside, density=1000.0, **options):
    """Return the inertia of a moving link with these elements, from its shapes."""
    return (
        Robot.from_urdf(arm(inside))
        .with_inertia_from_shapes(density, **options)
        .model.link('l1')
        .inertia
    )


def mesh(path, scale='1 1 1'):
    """Return the element of a mesh."""
    return f'<mesh filename="{path}" scale="{scale}"/>'


def test_mujoco_has_the_same_mass_matrix(tmp_path):
    """Of links with several shapes, some of which overlap, and one with a mirrored mesh."""
    mujoco = outside.load('mujoco')
    path = tmp_path / 'box.stl'
    write_stl(path, box_triangles((0.3, 0.2, 0.1)) + [0.1, 0.2, 0.3])
    turned = {'xyz': '0.1 -0.2 0.05', 'rpy': '0.4 -0.3 1.1'}
    text = arm(
        shape(BOX, **turned) + shape(BALL),
        shape(ROD, **turned) + shape(mesh(path, '0.5 -2 1'), rpy='0 1 0'),
        shape(BALL, xyz='0.2 0 0'),
    )
    compiler = f'<mujoco><compiler inertiafromgeom="true" meshdir="{tmp_path}"/></mujoco>'
    model = mujoco.MjModel.from_xml_string(text.replace('</robot>', f'{compiler}</robot>'))
    data = mujoco.MjData(model)
    filled = Robot.from_urdf(text).with_inertia_from_shapes(1000.0)  # MuJoCo's density
    for q in np.random.default_rng(1).uniform(-1.0, 1.0, (5, 3)):
        data.qpos = q
        mujoco.mj_forward(model, data)
        expected = np.zeros((3, 3))
        mujoco.mj_fullM(model, data, expected)
        assert relative_error(filled.mass_matrix(q), expected) < 1e-6  # STL has single precision


@pytest.mark.parametrize('scale', ['1 1 1', '2 0.5 3', '-1 2 1'])
def test_a_closed_mesh_has_the_inertia_that_trimesh_computes(tmp_path, scale):
    trimesh = outside.load('trimesh')
    path = tmp_path / 'ring.stl'
    write_stl(path, trimesh.creation.torus(0.2, 0.05).triangles)
    found = one(shape(mesh(path, scale), xyz='0.1 0.2 0.3'), 700.0)
    ring = trimesh.load(path)
    ring.apply_scale([float(x) for x in scale.split()])
    ring.apply_translation([0.1, 0.2, 0.3])
    ring.density = 700.0
    mass, center, about = found.mass_center()
    assert_allclose(mass, ring.mass, rtol=1e-9)
    assert_allclose(center, ring.center_mass, rtol=1e-9)
    assert_allclose(about, ring.moment_inertia, rtol=1e-9, atol=1e-12)


def test_a_shape_away_from_the_origin_of_its_link():
    ball = one(shape(BALL, xyz='0.3 0 0'), 500.0)
    mass = 500.0 * 4.0 / 3.0 * math.pi * 0.1**3
    along = 0.4 * mass * 0.1**2
    across = along + mass * 0.3**2
    expected = [mass, 0.3 * mass, 0, 0, along, 0, 0, across, 0, across]
    assert_allclose(ball.parameters(), expected, rtol=1e-12, atol=1e-15)


def test_only_moving_links_without_mass_change():
    """The base, links with a mass and what is fixed to those stay as they are."""
    text = urdf(
        link('base', shape(BOX)),
        link('heavy', MASS + shape(BOX)),
        link('cover', shape(BALL)),
        link('light', shape(BALL)),
        link('frame', ''),
        joint('a', 'base', 'heavy'),
        joint('b', 'heavy', 'cover', 'fixed', ''),
        joint('c', 'heavy', 'light'),
        joint('d', 'light', 'frame', 'fixed', ''),
    )
    robot = Robot.from_urdf(text)
    assert "joint 'c' can move without moving mass" in robot.warnings[-1]
    assert 'rbd_ros doctor --density takes that of shapes' in robot.warnings[-1]
    filled = robot.with_inertia_from_shapes(1000.0)
    before, after = robot.model.links, filled.model.links
    assert [name for name in before if before[name] != after[name]] == ['light']
    assert filled.warnings == (
        "links have the inertia of their shapes at 1000 kg/m^3, 4.189 kg in all: 'light'",
    )
    assert robot.model.link('light').inertia.mass == 0.0
    again = filled.with_inertia_from_shapes(500.0)  # nothing lacks a mass any more
    assert again.model == filled.model
    floating = Robot.from_urdf(text, floating_base=True).with_inertia_from_shapes(1000.0)
    assert floating.model.link('base').inertia.mass == pytest.approx(6.0)


def test_named_links_get_the_inertia_of_their_shapes():
    robot = Robot.from_urdf(arm(MASS + shape(BOX), MASS + shape(BOX)))
    filled = robot.with_inertia_from_shapes(1000.0, ['l2'])
    assert [filled.model.link(name).inertia.mass for name in ('l1', 'l2')] == [
        2.0,
        pytest.approx(6.0),
    ]


def test_a_mass_is_shared_by_volume():
    filled = Robot.from_urdf(arm(shape(BOX), shape(BOX) * 3)).with_inertia_from_shapes(mass=4.0)
    assert_allclose([filled.model.link(name).inertia.mass for name in ('l1', 'l2')], [1.0, 3.0])
    assert 'at 166.7 kg/m^3, 4 kg in all' in filled.warnings[-1]


def test_visual_shapes_count_where_there_are_no_others():
    drawn = shape(BALL, 'visual')
    assert one(shape(BOX) + drawn).mass == pytest.approx(6.0)
    assert one(drawn) == one(shape(BALL))


def test_an_open_mesh_counts_as_its_hull_and_the_warning_names_its_link(tmp_path):
    path = tmp_path / 'cup.stl'
    write_stl(path, box_triangles((0.5, 0.25, 1.0))[:-1])
    filled = Robot.from_urdf(arm(shape(mesh(path)), shape(BALL))).with_inertia_from_shapes(8.0)
    assert_allclose(filled.model.link('l1').inertia.mass, 1.0)
    assert filled.warnings[-1].endswith("not closed, so their convex hulls count: 'l1'")


@pytest.mark.parametrize('density', [0.0, -1.0, math.nan, math.inf, 1e9])
@pytest.mark.parametrize('inside', [shape(BOX), MASS])
def test_densities_that_no_solid_has_are_rejected(density, inside):
    with pytest.raises(ValueError, match='density must be from 1e-06 to 1e.06 kg/m.3, got'):
        one(inside, density)


@pytest.mark.parametrize(
    'inside, options, words',
    [
        (shape(BOX), {'density': None}, 'either a density or a mass'),
        (shape(BOX), {'mass': 1.0}, 'either a density or a mass'),
        (shape(BOX), {'density': None, 'mass': -1.0}, 'density must be .*, got -166.667'),
        (MASS, {'density': None, 'mass': 1.0}, 'have a mass; name links'),
        (MASS, {'links': ['l1']}, "link 'l1' has no shapes that enclose a volume"),
        (shape('<box size="1 0 1"/>'), {}, "link 'l1' has no shapes that enclose a volume"),
        (shape(BOX), {'links': ['l2']}, "unknown link 'l2'"),
        (shape(mesh('package://no/a.stl')), {}, "link 'l1': there is no file package://no/a.stl"),
    ],
)
def test_links_without_such_an_inertia_are_named(inside, options, words):
    with pytest.raises(ValueError, match=words):
        one(inside, **options)


def test_unreadable_shapes_are_errors_of_the_model():
    with pytest.raises(ModelError):
        one(shape(mesh('package://no/a.stl')))
