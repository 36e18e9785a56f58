# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Pairs of a scene that may collide, and contacts found by machine code."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.mesh_files import round_triangles, write_stl

from rbd_ros import Robot
from rbd_ros.collision import contacts
from rbd_ros.collision.arrays import MAX_POINTS
from rbd_ros.collision.scene.scene import make_scene, neutral_configuration
from rbd_ros.collision.scene.scene_arrays import buffer_sizes, SceneBuffers, SceneContacts
from rbd_ros.collision.scene.scene_contacts import find_scene_contacts, tangents_of
from rbd_ros.compiler.loops import allocate, Vec
from rbd_ros.lookup.resources import resource_path
from rbd_ros.model.geometry import Sphere
from rbd_ros.world import read_world

#: Machine code as users have it: see conftest.py.
OPTIMIZED = True


@pytest.fixture(scope='module')
def model():
    return Robot.from_urdf(resource_path('urdf', 'six_axis_arm.urdf')).model


def boxes(**positions):
    return {
        name: {'type': 'box', 'size': [0.2] * 3, 'xyz': xyz, 'static': False, 'mass': 1.0}
        for name, xyz in positions.items()
    }


def pair_names(scene):
    return {frozenset(scene.names_of(p)) for p in range(len(scene.table.pair))}


def test_pairs_are_those_that_the_world_lets_touch(model):
    world = read_world(
        {
            'objects': {
                'floor': {'type': 'plane'},
                'wall': {'type': 'box', 'size': [1, 1, 1]},
                **boxes(a=[1, 0, 0], b=[2, 0, 0]),
            },
            'disable_collisions': [['a', 'wall'], ['robot/tool0', 'floor']],
        }
    )
    pairs = pair_names(make_scene(model, world))
    assert frozenset(('a', 'b')) in pairs and frozenset(('a', 'floor')) in pairs
    assert frozenset(('a', 'wall')) not in pairs and frozenset(('b', 'wall')) in pairs
    assert frozenset(('floor', 'wall')) not in pairs  # neither moves
    joined = {('robot/upper_arm_link', 'robot/forearm_link')}
    assert not any(frozenset(each) in pairs for each in joined)


def test_links_that_overlap_at_the_neutral_configuration_do_not_touch():
    urdf = """<robot name="r"><link name="base"/>{}</robot>"""
    part = """<link name="l{0}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"
      ixy="0" ixz="0" iyz="0"/></inertial><collision><geometry><sphere radius="0.3"/></geometry>
      </collision></link><joint name="j{0}" type="prismatic"><parent link="{1}"/>
      <child link="l{0}"/><origin xyz="0.25 0 0"/><axis xyz="1 0 0"/><limit lower="-1" upper="1"
      effort="9" velocity="9"/></joint>"""
    text = urdf.format(''.join(part.format(k, f'l{k - 1}' if k else 'base') for k in range(4)))
    model = Robot.from_urdf(text).model
    world = read_world({'objects': {}})
    every = pair_names(make_scene(model, world))
    assert every == {
        frozenset(('robot/l0', 'robot/l2')),
        frozenset(('robot/l0', 'robot/l3')),
        frozenset(('robot/l1', 'robot/l3')),
    }
    # 0.25 m apart with radii of 0.3 m: neighbors but one overlap by 0.1 m.
    apart = pair_names(make_scene(model, world, neutral_configuration(model)))
    assert apart == {frozenset(('robot/l0', 'robot/l3'))}


def test_one_line_reports_the_links_that_overlap():
    names = 'abcdefg'
    part = """<link name="{0}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"
      ixy="0" ixz="0" iyz="0"/></inertial><collision><geometry><sphere radius="0.3"/></geometry>
      </collision></link><joint name="j{0}" type="prismatic"><parent link="base"/>
      <child link="{0}"/><axis xyz="1 0 0"/><limit lower="-1" upper="1"
      effort="9" velocity="9"/></joint>"""
    text = '<robot name="r"><link name="base"/>' + ''.join(part.format(each) for each in names)
    model = Robot.from_urdf(text + '</robot>').model
    scene = make_scene(model, read_world({}), neutral_configuration(model))
    assert scene.notices == (
        '21 pairs of links that are in contact at the neutral configuration have no collision '
        'with each other (a and b, a and c, a and d, and 18 more); an entry of `pairs` in a '
        'world, or enable_collisions in an SRDF, enables their collision',
    )


def test_all_shapes_of_links_that_overlap_are_omitted():
    """Of two links, one pair of shapes overlaps, another one is 0.1 m apart."""
    ball = (
        '<collision><origin xyz="0 {} 0"/><geometry><sphere radius="0.1"/></geometry></collision>'
    )
    part = """<link name="{0}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0"
      ixz="0" iyz="0"/></inertial>{1}</link><joint name="j{0}" type="prismatic">
      <parent link="base"/><child link="{0}"/><axis xyz="1 0 0"/><limit lower="-1" upper="1"
      effort="9" velocity="9"/></joint>"""
    shapes = ball.format(0) + ball.format(0.3)
    text = part.format('a', shapes) + part.format('b', ball.format(-0.1))
    model = Robot.from_urdf(f'<robot name="r"><link name="base"/>{text}</robot>').model
    assert len(make_scene(model, read_world({})).table.pair) == 2
    scene = make_scene(model, read_world({}), neutral_configuration(model))
    assert len(scene.table.pair) == 0


def test_a_neutral_configuration_is_within_the_limits():
    text = """<robot name="r"><link name="base"/><link name="l"/><joint name="j" type="revolute">
      <parent link="base"/><child link="l"/><axis xyz="0 0 1"/>
      <limit lower="0.5" upper="1" effort="9" velocity="9"/></joint></robot>"""
    assert neutral_configuration(Robot.from_urdf(text).model) == [0.5]


def test_further_robots_stand_where_they_are_configured(model):
    world = read_world(resource_path('config', 'table_world.yaml'))
    scene = make_scene(model, world)
    assert any('is static' in each for each in scene.notices)
    other = Robot.from_urdf(resource_path('urdf', 'six_axis_arm.urdf'))
    q = np.zeros(6)
    q[1], q[2] = -1.2, 1.5
    placement = np.array(world['second_arm'].placement.pose(), dtype=float)
    for shape in scene.shapes:
        if shape.name == 'second_arm/forearm_link':
            geometry = next(
                g
                for g in other.model.geometries
                if g.link == 'forearm_link' and g.role == 'collision'
            )
            link = other.frame('forearm_link').pose(q)
            body = other.model.link('forearm_link').placement
            within = np.linalg.inv(np.array(body.pose(), dtype=float)) @ np.array(
                geometry.placement.pose(), dtype=float
            )
            assert np.allclose(shape.pose, placement @ link @ within, atol=1e-12)
            assert shape.body_id == 0
            break
    else:
        raise AssertionError('it has no forearm')


def found_in(scene, poses, timestep=1e-3, velocities=None):
    contacts = MAX_POINTS * len(scene.table.pair)
    sizes = {'scene_bodies': scene.body_count, **buffer_sizes(scene.table)}
    buffers = allocate(SceneBuffers, contacts=contacts, **sizes)
    found = allocate(SceneContacts, contacts=contacts)
    for body, pose in enumerate(poses):
        buffers.pose[body] = [*pose[:3, :3].ravel(), *pose[:3, 3]]
    if velocities is not None:
        buffers.velocity[:] = velocities
    count, dropped = find_scene_contacts(scene.table, buffers, timestep, found)
    assert dropped == 0
    return found, count


def random_pose(rng, near):
    q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    pose = np.eye(4)
    pose[:3, :3] = q * np.sign(np.linalg.det(q))
    pose[:3, 3] = near + rng.uniform(-0.2, 0.2, 3)
    return pose


def level(found, count):
    """Return the heights of contact points above the first of them, along its normal."""
    return (found.position[:count] - found.position[0]) @ found.frame[0, 0]


@pytest.mark.parametrize('lower', ['floor', 'table', 'block'])
def test_points_of_a_tilted_face_are_in_the_plane_that_it_lies_on(lower):
    """A body there can stop at all of them at once, with any rotation."""
    empty = Robot.from_urdf('<robot name="n"><link name="w"/></robot>').model
    objects = boxes(a=[0, 0, 0])
    if lower == 'floor':
        objects[lower] = {'type': 'plane'}
    else:
        objects[lower] = {'type': 'box', 'size': [1, 1, 0.2], 'xyz': [0, 0, -0.1]}
    if lower == 'block':
        objects[lower] |= {'static': False, 'mass': 1.0}
    scene = make_scene(empty, read_world({'objects': objects}))
    assert not scene.table.of_robot.any()
    scene.table.of_robot[:] = 1  # as if they were links
    pose = np.eye(4)
    pose[:3, :3] = Rotation.from_rotvec([4e-5, 3e-5, 0.0]).as_matrix()
    pose[2, 3] = 0.1 + 8e-6
    poses = [np.eye(4), pose]
    if lower == 'block':
        poses.append(np.eye(4))
        poses[-1][2, 3] = -0.1
    found, count = found_in(scene, poses)
    assert count == 4 and np.ptp(found.gap[:count]) > 1e-6
    assert np.abs(level(found, count)).max() < 1e-16
    if lower == 'floor':
        assert np.abs(found.position[:count, 2]).max() < 1e-16


@pytest.mark.parametrize(
    'gap, share', [(1.9e-5, 0.0), (2.1e-5, 0.5), (-1.9e-5, 0.0), (-3e-4, 0.5)]
)
def test_contacts_with_a_gap_have_the_lever_arm_of_the_middle(gap, share):
    empty = Robot.from_urdf('<robot name="n"><link name="w"/></robot>').model
    objects = boxes(a=[0, 0, 0]) | {'floor': {'type': 'plane'}}
    scene, pose = make_scene(empty, read_world({'objects': objects})), np.eye(4)
    scene.table.of_robot[:] = 1
    pose[2, 3] = 0.1 + gap
    found, count = found_in(
        scene, [np.eye(4), pose], 1e-3, np.array([[0.0] * 6, [0, 0, 0, 0, 0, -1]])
    )
    assert count == 4
    assert np.allclose(found.position[:count, 2], share * gap, rtol=0.0, atol=1e-16)


def test_a_single_contact_point_is_on_the_static_body():
    """Feet that stand on one table touch it in one plane, each a pair of its own."""
    empty = Robot.from_urdf('<robot name="n"><link name="w"/></robot>').model
    balls = {
        name: {'type': 'sphere', 'radius': 0.05, 'static': False, 'mass': 1.0} for name in 'ab'
    }
    table = {'type': 'box', 'size': [1, 1, 0.2], 'xyz': [0, 0, -0.1]}
    scene = make_scene(empty, read_world({'objects': {'table': table, **balls}}))
    scene.table.of_robot[:] = 1
    poses = [np.eye(4) for _ in range(3)]
    poses[1][:3, 3], poses[2][:3, 3] = [-0.05, 0, 0.05 + 1e-5], [0.05 + 1e-5, 0, 0.05 + 1e-6]
    found, count = found_in(scene, poses)
    assert count == 3
    on_table = np.any(found.body_id[:count] == 0, axis=1)
    assert np.abs(found.position[:count][on_table, 2]).max() < 1e-16
    # Of two that move, neither comes before the other.
    assert np.allclose(found.position[:count][~on_table], [[5e-6, 0, 0.05 + 5.5e-6]], atol=1e-12)


def test_contacts_of_a_scene_are_those_of_its_pairs(model):
    rng = np.random.default_rng(5)
    empty = Robot.from_urdf('<robot name="n"><link name="w"/></robot>').model
    world = read_world(
        {'objects': {'floor': {'type': 'plane'}, **boxes(a=[0, 0, 0], b=[0, 0, 0], c=[0, 0, 0])}}
    )
    scene, some = make_scene(empty, world), 0
    for _ in range(50):
        poses = [np.eye(4), *(random_pose(rng, (0, 0, 0.1)) for _ in range(3))]
        found, count = found_in(scene, poses)
        at = 0
        for p, (i, j) in enumerate(scene.table.pair):
            a, b = scene.shapes[i], scene.shapes[j]
            alone = contacts(a.shape, poses[a.body_id], b.shape, poses[b.body_id], 2e-4)
            for k in range(len(alone.gap)):
                assert found.pair[at] == p and found.feature[at] == alone.feature[k]
                middle = (alone.points_a[k] + alone.points_b[k]) / 2
                assert np.array_equal(found.position[at], middle)
                assert np.array_equal(found.frame[at, 0], alone.normal[k])
                assert found.gap[at] == alone.gap[k]
                assert tuple(found.body_id[at]) == (a.body_id, b.body_id)
                frame = found.frame[at]
                assert np.allclose(frame @ frame.T, np.eye(3), atol=1e-14)
                assert np.linalg.det(frame) > 0.0
                at += 1
        assert at == count
        some += count
    assert some > 100


@pytest.mark.parametrize(
    'height, fall, there',
    [
        (0.0001, 0.0, True),
        (0.001, 0.0, False),
        (0.0100, 8.0, True),
        (0.0100, 6.0, False),
        (0.0100, -8.0, False),
    ],
)
def test_a_contact_is_there_if_it_may_close_within_the_step(height, fall, there):
    empty = Robot.from_urdf('<robot name="n"><link name="w"/></robot>').model
    world = read_world({'objects': {'floor': {'type': 'plane'}, **boxes(a=[0, 0, 0])}})
    scene = make_scene(empty, world)
    pose = np.eye(4)
    pose[2, 3] = 0.1 + height
    velocities = np.zeros((2, 6))
    velocities[1, 5] = -fall
    _, count = found_in(scene, [np.eye(4), pose], velocities=velocities)
    assert (count > 0) == there


@pytest.mark.parametrize('height', [-0.2, -3.0, -50.0])
def test_far_below_a_height_field_all_is_solid(height):
    empty = Robot.from_urdf('<robot name="n"><link name="w"/></robot>').model
    field = {'type': 'height_field', 'size': [1, 1], 'heights': [[0, 0], [0, 0]]}
    scene = make_scene(empty, read_world({'objects': {'field': field, **boxes(a=[0, 0, 0])}}))
    pose = np.eye(4)
    pose[2, 3] = height
    found, count = found_in(scene, [np.eye(4), pose])
    assert count > 0 and found.gap[:count].min() == pytest.approx(height - 0.1)


def test_a_body_that_turns_fast_is_not_missed():
    empty = Robot.from_urdf('<robot name="n"><link name="w"/></robot>').model
    world = read_world({'objects': {'floor': {'type': 'plane'}, **boxes(a=[0, 0, 0])}})
    scene = make_scene(empty, world)
    pose = np.eye(4)
    pose[2, 3] = 0.1 + 2e-3
    velocities = np.zeros((2, 6))
    velocities[1, 0] = 30.0  # about x, through the origin of the box [rad/s]
    velocities[1, 3:] = np.cross(pose[:3, 3], velocities[1, :3])
    found, count = found_in(scene, [np.eye(4), pose], velocities=velocities)
    assert count == 2  # the edge that goes down
    assert (found.position[:2, 1] < 0.0).all()


@pytest.mark.parametrize('along', [(0, 0, 0), (0, 0, 1), (1, 2, 3), (1e-9, 0, 1)])
def test_tangents_follow_the_direction_of_friction(along):
    normal = Vec(0.0, 0.0, 1.0)
    frame = np.array([normal, *tangents_of(normal, Vec(*along))])
    assert np.allclose(frame @ frame.T, np.eye(3), atol=1e-15)
    assert np.linalg.det(frame) > 0.99
    if along == (1, 2, 3):
        assert np.allclose(frame[1], np.array([1, 2, 0]) / np.sqrt(5))


def test_lists_of_near_pairs_do_not_change_contacts():
    rng = np.random.default_rng(8)
    names = 'abcdefgh'
    places = {name: rng.uniform(-0.6, 0.6, 3).tolist() for name in names}
    empty = Robot.from_urdf('<robot name="n"><link name="w"/></robot>').model
    world = read_world({'objects': {'floor': {'type': 'plane'}, **boxes(**places)}})
    scene = make_scene(empty, world)
    contacts = MAX_POINTS * len(scene.table.pair)
    sizes = {'scene_bodies': scene.body_count, **buffer_sizes(scene.table)}
    kept, fresh = (allocate(SceneBuffers, contacts=contacts, **sizes) for _ in range(2))
    found, expected = (allocate(SceneContacts, contacts=contacts) for _ in range(2))
    h, velocity, position = 1e-2, rng.uniform(-1, 1, (8, 3)), np.array([*places.values()])
    for buffers in (kept, fresh):
        buffers.pose[:, :9] = np.eye(3).ravel()
    lists, contacts_seen = 0, 0
    for _ in range(300):
        velocity += rng.uniform(-0.2, 0.2, velocity.shape) - 0.1 * position
        position += h * velocity
        for buffers in (kept, fresh):
            buffers.pose[1:, 9:] = position
            buffers.velocity[1:, 3:] = velocity
        before = float(kept.slack[0])
        count, _ = find_scene_contacts(scene.table, kept, h, found)
        lists += kept.slack[0] > before
        fresh.listed[0] = 0
        again, _ = find_scene_contacts(scene.table, fresh, h, expected)
        assert count == again
        contacts_seen += count
        for mine, other in zip(found, expected):
            assert np.array_equal(mine[:count], other[:count])
    assert 3 < lists < 150 and contacts_seen > 100


@pytest.mark.parametrize('together', [0.0, 20.0])
def test_lists_do_not_change_contacts_of_bodies_that_turn_together(together, tmp_path):
    """Shapes of all kinds that tumble about a place, which is fast."""
    rng, h = np.random.default_rng(9), 2e-3
    write_stl(tmp_path / 'round.stl', round_triangles(Sphere(0.12), 12))
    kinds = [
        {'type': 'box', 'size': [0.1, 0.2, 0.3]},
        {'type': 'sphere', 'radius': 0.1},
        {'type': 'capsule', 'radius': 0.05, 'length': 0.2},
        {'type': 'cylinder', 'radius': 0.08, 'length': 0.2},
        {'type': 'mesh', 'file': str(tmp_path / 'round.stl'), 'convex': True},
    ]
    objects = {
        f'{name}{k}': {**kind, 'static': False, 'mass': 1.0}
        for k in range(2)
        for name, kind in zip('abcde', kinds)
    }
    empty = Robot.from_urdf('<robot name="n"><link name="w"/></robot>').model
    scene = make_scene(empty, read_world({'objects': {'floor': {'type': 'plane'}, **objects}}))
    contacts = MAX_POINTS * len(scene.table.pair)
    sizes = {'scene_bodies': scene.body_count, **buffer_sizes(scene.table)}
    kept, fresh = (allocate(SceneBuffers, contacts=contacts, **sizes) for _ in range(2))
    found, expected = (allocate(SceneContacts, contacts=contacts) for _ in range(2))
    count = len(objects)
    place, turn = rng.uniform(-0.4, 0.4, (count, 3)), Rotation.random(count, random_state=1)
    velocity, spin = rng.normal(size=(count, 3)), 8.0 * rng.normal(size=(count, 3))
    middle, drift = np.array([0.0, 0.0, 0.3]), together * np.array([0.8, 0.6, 0.0])
    for buffers in (kept, fresh):
        buffers.pose[0, :9] = np.eye(3).ravel()
    seen, looked = 0, 0
    for _ in range(400):
        velocity -= 4.0 * h * place
        place, middle = place + h * velocity, middle + h * drift
        turn = Rotation.from_rotvec(h * spin) * turn
        at, rate = place + middle, velocity + drift
        for buffers in (kept, fresh):
            buffers.pose[1:, :9] = turn.as_matrix().reshape(count, 9)
            buffers.pose[1:, 9:] = at
            buffers.velocity[1:, :3], buffers.velocity[1:, 3:] = spin, rate - np.cross(spin, at)
        before = kept.clearance.copy()
        number, _ = find_scene_contacts(scene.table, kept, h, found)
        looked += int((kept.clearance > before).sum())
        fresh.listed[0] = 0
        again, _ = find_scene_contacts(scene.table, fresh, h, expected)
        assert number == again
        seen += number
        for mine, other in zip(found, expected):
            assert np.array_equal(mine[:number], other[:number])
    # Of 55 pairs, hardly any but those with the floor are looked at again, however fast all are.
    assert seen > 2000 and looked < 400 * 8
