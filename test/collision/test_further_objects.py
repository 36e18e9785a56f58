# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Objects added around a robot, from text and from URDFs of one link."""

import numpy as np
import pytest
from support.mesh_files import box_triangles, write_stl

from rbd_ros.model import load_urdf, ModelError
from rbd_ros.world import extend_world, read_world, World, WorldFileError
from rbd_ros.world.surfaces import Surface
from rbd_ros.world.urdf_objects import urdf_object
from rbd_ros.world.world_file import read_object

BASE = {
    'gravity': [0, 0, -1.62],
    'defaults': {'surface': {'friction': 0.3, 'restitution': 0.1}, 'density': 500},
    'objects': {
        'floor': {'type': 'plane'},
        'box': {'type': 'box', 'size': [1, 1, 1], 'static': False},
    },
    'pairs': [{'links': ['box', 'floor'], 'friction': 0.9}],
    'disable_collisions': [['robot', 'box']],
}
BALL = 'type: sphere, radius: 0.1, static: false, mass: 1'
INERTIA = '<inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/>'
INERTIAL = f'<inertial><mass value="2"/>{INERTIA}</inertial>'
SPHERE = '<collision><geometry><sphere radius="0.05"/></geometry></collision>'


@pytest.fixture
def world():
    return read_world(BASE)


def test_further_objects_follow_the_unchanged_world(world):
    more = extend_world(world, f'objects: {{ball: {{{BALL}}}, wall: {{type: plane}}}}')
    assert more.names == ('robot', 'floor', 'box', 'ball', 'wall')
    assert more.objects[:2] == world.objects and more.gravity == world.gravity
    assert (more.pairs, more.disabled_collisions, more.surface) == (
        world.pairs,
        world.disabled_collisions,
        world.surface,
    )
    assert more.surface_of('ball').friction == (0.3, 0.3)  # the default of the world
    assert world.names == ('robot', 'floor', 'box')


def test_defaults_of_a_text_are_for_its_own_objects(world):
    text = 'defaults: {surface: {friction: 0.7}, density: 100}\nobjects: {b: {type: sphere, '
    more = extend_world(world, text + 'radius: 1, static: false}}')
    assert more['b'].inertia.mass == pytest.approx(400.0 / 3.0 * np.pi)
    assert more.surface_of('b').friction == (0.7, 0.7)
    assert more.surface_of('b').restitution == 0.1
    assert more.surface_of('robot').friction == (0.3, 0.3)


def test_pairs_of_a_text_count_before_those_of_the_world(world):
    more = extend_world(world, 'pairs: [{links: [floor, box], restitution: 0.5}]')
    found = more.surface_between('box', 'floor').surface
    assert (found.restitution, found.friction) == (0.5, (0.3, 0.3))
    assert len(more.pairs) == 1
    more = extend_world(
        world,
        f'objects: {{ball: {{{BALL}}}}}\ndisable_collisions: [[ball, box]]\n'
        'pairs: [{links: [ball, robot], friction: 2}]',
    )
    assert not more.can_collide('ball', 'box') and not more.can_collide('robot', 'box')
    assert more.surface_between('robot/hand', 'ball').surface.friction == (2.0, 2.0)
    assert more.surface_between('box', 'floor').surface.friction == (0.9, 0.9)


def test_removing_an_object_removes_its_pairs_and_disabled_collisions(world):
    less = world.without('box')
    assert less.names == ('robot', 'floor') and not less.pairs and not less.disabled_collisions
    less = world.without('floor')
    assert (
        less.movable == world.movable
        and less.disabled_collisions == world.disabled_collisions
        and not less.pairs
    )
    with pytest.raises(ValueError, match="unknown object 'bx'; did you mean 'box'"):
        world.without('bx')
    with pytest.raises(ValueError, match="unknown object 'robot'"):
        world.without('robot')
    with pytest.raises(ValueError, match="two objects or robots are named 'box'"):
        world.with_objects(world['box'])


@pytest.mark.parametrize(
    'text, problem',
    [
        (
            'objects:\n  floor: {type: plane}',
            "objects: line 2: objects: 'floor' is the name of an",
        ),
        ('gravity: [0, 0, 0]', "unknown key 'gravity'"),
        ('robots: {}', "unknown key 'robots'"),
        ('objects:\n\n  b: {type: bocks}', r"objects: line 3: objects: b: type: .*'bocks'"),
        ('pairs: [{links: [box, flor], friction: 1}]', "'flor'; did you mean 'floor'"),
        (
            'pairs: [{links: [box, floor], friction: 1}, {links: [floor, box], friction: 2}]',
            'have two entries',
        ),
        ('disable_collisions: [[robot/hnd, box]]', "unknown link 'hnd'; did you mean 'hand'"),
        ('', 'expected a mapping such as "objects:'),
        ('- a', 'expected a mapping'),
        ('objects: [', 'line 1'),
        ('a: ' + 'x' * 1024 * 1024, 'larger than'),
        ('!!python/object:os.system {}', 'is not supported'),
    ],
)
def test_errors_name_line_entry_and_cure(world, text, problem):
    robot = load_urdf('<robot name="r"><link name="hand"/></robot>')
    with pytest.raises(WorldFileError, match=problem):
        extend_world(world, text, robot)


def test_a_source_that_is_none_is_rejected(world):
    with pytest.raises(WorldFileError, match='expected a mapping'):
        extend_world(world, 3)


def test_an_entry_alone():
    made = read_object('ball', f'{{{BALL}}}', Surface((0.2, 0.2)))
    assert (made.name, made.inertia.mass, made.surface.friction) == ('ball', 1.0, (0.2, 0.2))
    assert read_object('ball', f'{{{BALL}}}').surface == Surface()
    with pytest.raises(WorldFileError, match='object: line 2: ball: radius is missing'):
        read_object('ball', '\ntype: sphere')


# -- URDF


def urdf(*inside, name='thing'):
    return f'<robot name="{name}"><link name="l">{"".join(inside)}</link></robot>'


def test_a_urdf_of_one_link_is_a_movable_object(tmp_path):
    material = '<material name="m"><color rgba="0.1 0.2 0.3 0.4"/></material>'
    visual = f'<visual><geometry><box size="9 9 9"/></geometry>{material}</visual>'
    file = tmp_path / 'thing.urdf'
    file.write_text(urdf(INERTIAL, visual, SPHERE))
    for made in (urdf_object(str(file)), urdf_object(file.read_text(), 'thing')):
        assert (made.name, made.shape.radius, made.inertia.mass) == ('thing', 0.05, 2.0)
        assert made.color == (0.1, 0.2, 0.3, 0.4) and made.surface == Surface()
        assert np.array_equal(made.pose, np.eye(4))
    named = urdf_object(urdf(INERTIAL, SPHERE), 'other', Surface((0.1, 0.1)))
    assert (named.name, named.color, named.surface.friction) == ('other', None, (0.1, 0.1))
    assert World((named,)).movable == (named,)


def test_a_mesh_of_a_urdf_is_its_convex_hull(tmp_path):
    (tmp_path / 'p').mkdir()
    write_stl(tmp_path / 'p' / 'part.stl', box_triangles((0.1, 0.2, 0.3)))
    mesh = '<collision><geometry><mesh filename="package://p/part.stl"/></geometry></collision>'
    made = urdf_object(urdf(INERTIAL, mesh), package_paths=[str(tmp_path)])
    assert made.convex and made.shape.path == str(tmp_path / 'p' / 'part.stl')
    with pytest.raises(WorldFileError, match='package://p/part.stl was not found'):
        urdf_object(urdf(INERTIAL, mesh))


MOVED = SPHERE.replace('<geometry>', '<origin xyz="0 0 0.001"/><geometry>')


@pytest.mark.parametrize(
    'text, problem',
    [
        (urdf(SPHERE), 'its link has no mass; add an inertial element'),
        (urdf(INERTIAL), 'it has 0 collision shapes'),
        (urdf(INERTIAL, SPHERE, SPHERE), 'it has 2 collision shapes'),
        (
            urdf(INERTIAL, MOVED),
            'its collision shape has an <origin> that is not zero; move the frame of the link',
        ),
        (
            urdf(INERTIAL, SPHERE).replace(
                '</robot>',
                '<link name="k"/><joint name="j" type="fixed"><parent link="l"/><child link="k"/>'
                '</joint></robot>',
            ),
            'it has 2 links, but an object must have one',
        ),
    ],
)
def test_a_urdf_that_is_not_an_object_is_rejected_with_the_cure(text, problem):
    with pytest.raises(WorldFileError, match=f"URDF of 'thing': {problem}"):
        urdf_object(text)


def test_a_file_that_is_not_a_urdf_is_rejected_as_a_robot_would_be():
    with pytest.raises(ModelError):
        urdf_object('<robot/>')
