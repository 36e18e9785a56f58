# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Distances of robots from worlds and themselves: against coal, and with gradients."""

from dataclasses import replace
from functools import lru_cache
import os
from threading import Thread

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest
from support import example_robots, fresh_python, outside
from support.all_joints import example_id, JOINTS, slope, tree
from support.collision_scenes import random_pose
from support.simulated_robots import collision, joint, link, robot as small

from rbd_ros import Robot, Simulator
from rbd_ros.collision import Cylinder, distance, RobotInWorld, Sphere
from rbd_ros.lookup.resources import resource_path
from rbd_ros.model import geometry, Model
from rbd_ros.model.joints import Fixed, Harmonic, Revolute, Rheonomic
from rbd_ros.spatial import PluckerTransform
from rbd_ros.world import read_world

ROBOTS = {  # real ones with shapes that are no meshes, and whether their bases float
    'panda_collision': False,
    'go1': True,
    'allegro_left_hand': False,
}
WORLD = {
    'objects': {
        'floor': {'type': 'plane', 'xyz': [0, 0, -0.6], 'rpy': [0.1, 0.2, 0.3]},
        'shelf': {'type': 'box', 'size': [0.3, 0.8, 0.1], 'xyz': [0.5, 0.1, 0.4]},
        'ball': {
            'type': 'sphere',
            'radius': 0.1,
            'xyz': [-0.4, 0.3, 0.5],
            'static': False,
            'mass': 1.0,
        },
    }
}
ROUND = {'objects': {name: WORLD['objects'][name] for name in ('floor', 'ball')}}
every_robot = pytest.mark.parametrize('name', ROBOTS)


@lru_cache(maxsize=None)
def real(name):
    path = example_robots.path(name)
    robot = Robot.from_urdf(path, floating_base=ROBOTS[name])
    return RobotInWorld(robot, WORLD)


@lru_cache(maxsize=None)
def gripper():
    """Return floating base, an arm with a slide, and two fingers of which one mimics the other."""
    box = collision('box size="0.2 0.1 0.05"')
    finger = collision('box size="0.02 0.02 0.1"', (0, 0, 0.05))
    inertia = (0.01, 0.02, 0.015)
    text = ''.join(
        (
            link('base', 2.0, inertia, shape=box),
            link('arm', 1.0, inertia, shape=collision('sphere radius="0.04"', (0.1, 0, 0.3))),
            link('palm', 1.0, inertia, shape=collision('sphere radius="0.05"')),
            link('left', 0.1, inertia, shape=finger),
            link('right', 0.1, inertia, shape=finger + collision('sphere radius="0.03"')),
            joint('lift', 'base', 'arm', 'prismatic', (0, 0, 1), (0, 0, 0.1), LIMIT),
            joint('wrist', 'arm', 'palm', axis=(0.6, 0.0, 0.8), xyz=(0.3, 0, 0.3)),
            joint('open', 'palm', 'left', 'revolute', (1, 0, 0), (0, 0.05, 0.06), LIMIT),
            joint('follow', 'palm', 'right', 'revolute', (1, 0, 0), (0, -0.05, 0.06), MIMIC),
        )
    )
    return small(text, floating_base=True)


LIMIT = '<limit lower="-0.5" upper="0.6" effort="10" velocity="10"/>'
MIMIC = LIMIT + '<mimic joint="open" multiplier="-0.7" offset="0.1"/>'


# -- definition


@every_robot
def test_distances_are_those_of_coal(name):
    outside.load('coal')
    from support.geometry_peer import GeometryPeer, in_coal

    arm = real(name)
    peer = GeometryPeer(example_robots.path(name), arm.robot, ROBOTS[name])
    for each in arm.world.objects:
        (shape,) = {s.shape for pair in arm.shapes for s in pair if s.name == each.name}
        peer.add(each.name, in_coal(shape), each.pose)
    rng, together = np.random.default_rng(1), 0
    for _ in range(6):
        q = arm.robot.random_configuration(rng)
        mine, theirs = arm.distances(q).distance, peer.distances(q, arm.shapes)
        ball_in_cylinder = np.array(
            [{type(a.shape), type(b.shape)} == {Sphere, Cylinder} for a, b in arm.shapes]
        ) & (theirs < 0.0)
        # There, coal may give the depth at the side where a cap is nearer.
        assert (mine[ball_in_cylinder] >= theirs[ball_in_cylinder] - 1e-7).all()
        usual = ~ball_in_cylinder
        assert_allclose(mine[usual], theirs[usual], rtol=0.0, atol=1e-7)
        together += (theirs < 0.0).sum()
    assert len(arm.pairs) > 100 and together > 5


@every_robot
def test_points_are_a_distance_apart_along_the_normal(name):
    arm = real(name)
    found = arm.distances(arm.robot.random_configurations(10, np.random.default_rng(2)))
    assert_allclose(np.linalg.norm(found.normal, axis=-1), 1.0, atol=1e-12)
    apart = found.distance[..., None] * found.normal
    assert_allclose(found.points_b - found.points_a, apart, atol=1e-12)


def test_a_robot_alone_has_distances_from_itself():
    alone = RobotInWorld(real('go1').robot)
    q = alone.robot.random_configuration(np.random.default_rng(3))
    both = dict(zip(real('go1').pairs, real('go1').distances(q).distance))
    assert alone.pairs and all('/' in each for pair in alone.pairs for each in pair)
    assert alone.pairs == tuple(p for p in real('go1').pairs if all('/' in each for each in p))
    for pair, own in zip(alone.pairs, alone.distances(q).distance):
        assert pair in both
        if alone.pairs.count(pair) == 1:
            assert own == both[pair]
    # As a whole it moves relative to the world, not to itself.
    assert not alone.distances(q).gradient[:, :6].any()
    assert alone.distances(q).gradient[:, 6:].any()


def test_only_pairs_that_move_with_the_robot_are_computed():
    arm = real('panda_collision')
    carried = {each for pair in arm.pairs for each in pair}
    assert {'floor', 'shelf', 'ball', 'robot/panda_link0'} <= carried
    for a, b in arm.shapes:
        assert 0 < max(s.body_id for s in (a, b) if s.name != 'ball')
    assert not {('floor', 'ball'), ('shelf', 'ball'), ('robot/panda_link0', 'ball')} & set(
        arm.pairs
    )


# -- gradients


ONE_OF_EACH = list({type(each): each for each in JOINTS}.values())


@lru_cache(maxsize=None)
def with_spheres(joint):
    """Return robot with this joint and spheres off its axes, above a floor and beside a ball."""
    model = tree(joint, 3)
    rng = np.random.default_rng(4)
    spheres = tuple(
        geometry.Geometry(
            '', f'link{i}', i, PluckerTransform.translation(tuple(rng.normal(size=3).tolist())),
            geometry.Sphere(0.05), 'collision',
        )
        for i in range(1, 5)
    )  # fmt: skip
    return RobotInWorld(Robot(replace(model, geometries=spheres)), ROUND)


@pytest.mark.parametrize('kind', ONE_OF_EACH, ids=example_id)
def test_gradients_are_slopes_along_the_motion_of_every_joint(kind):
    arm = with_spheres(kind)
    robot, rng = arm.robot, np.random.default_rng(5)
    assert {len(set(pair)) for pair in arm.pairs} == {2} and len(arm.pairs) >= 10
    q = robot.random_configuration(rng)
    gradient = arm.distances(q).gradient
    for v in np.eye(robot.nv):
        rate = slope(lambda t, v=v: arm.distances(robot.integrate(q, v, t)).distance)
        assert_allclose(gradient @ v, rate, atol=1e-9)
    assert np.abs(gradient).max(axis=0).min() > 1e-3


def smooth_rates(arm, q, v, h=1e-6):
    """Return the slopes of the distances along v, and where they have no kink."""
    here = arm.distances(q)
    ahead, back = (arm.distances(arm.robot.integrate(q, v, s * h)) for s in (1.0, -1.0))
    smooth = np.minimum(
        (ahead.normal * here.normal).sum(axis=-1), (back.normal * here.normal).sum(axis=-1)
    )
    kink = np.abs(ahead.distance - 2 * here.distance + back.distance) / h
    return (ahead.distance - back.distance) / (2 * h), (smooth > 0.999) & (kink < 1e-3)


@pytest.mark.parametrize('name', [*ROBOTS, 'gripper'])
def test_gradients_are_slopes_along_motions(name):
    arm = RobotInWorld(gripper(), WORLD) if name == 'gripper' else real(name)
    rng, seen, asked = np.random.default_rng(6), 0, 0
    for _ in range(12):
        q, v = arm.robot.random_configuration(rng), rng.normal(size=arm.robot.nv)
        rates, smooth = smooth_rates(arm, q, v)
        assert_allclose((arm.distances(q).gradient @ v)[smooth], rates[smooth], atol=2e-3)
        seen, asked = seen + smooth.sum(), asked + len(smooth)
    assert seen > 0.9 * asked


def test_mimic_joints_count_with_their_ratios():
    robot = gripper()
    arm = RobotInWorld(robot, pairs=[('robot/arm', 'robot/right'), ('robot/left', 'robot/right')])
    q = robot.neutral()
    q[-1] = 0.25
    gradient = arm.distances(q).gradient
    assert robot.nv == 9
    assert arm.pairs == (('robot/arm', 'robot/right'),) * 2 + (('robot/left', 'robot/right'),) * 2
    assert not gradient[:, :7].any() and not gradient[2:, 7].any()  # moves both alike
    rate = slope(lambda t: arm.distances(robot.integrate(q, np.eye(9)[8], t)).distance)
    assert np.abs(rate).max() > 1e-3
    assert_allclose(gradient[:, 8], rate, atol=1e-8)


def test_a_rheonomic_joint_moves_bodies_with_time():
    free = Revolute((0.48, -0.6, 0.64))
    timed = with_spheres(Rheonomic(free, Harmonic(0.7, 2.3, 0.4, -0.2)))
    other = with_spheres(free)
    assert timed.pairs == other.pairs and timed.robot.nv == 2
    q = np.array([0.3, 0.6, -0.2, 0.8])
    at = Harmonic(0.7, 2.3, 0.4, -0.2).at
    free_q = [q[0], at(0.6)[0], q[2], at(0.8)[0]]
    mine, theirs = timed.distances(q), other.distances(free_q)
    assert_allclose(mine.distance, theirs.distance, atol=1e-14)
    assert_allclose(mine.gradient, theirs.gradient[:, [0, 2]], atol=1e-14)


def test_bodies_that_no_variable_moves_stand_where_they_are():
    """Welded to the base by a joint, which is not at the origin."""
    model = with_spheres(Fixed()).robot.model
    bodies = [replace(body, joint=Fixed()) if i == 1 else body for i, body in model.outward()]
    welded = Robot(Model.create('welded', bodies, model.links.values()))
    welded = Robot(replace(welded.model, geometries=model.geometries))
    arm = RobotInWorld(welded, ROUND)
    free = RobotInWorld(Robot(model), ROUND)
    moving = [p for p, pair in enumerate(free.pairs) if 'robot/link3' in pair]
    assert arm.pairs == tuple(free.pairs[p] for p in moving) and len(moving) > 3
    mine, theirs = arm.distances([0.2]), free.distances([0.0, 0.2])
    assert_allclose(mine.distance, theirs.distance[moving], atol=1e-14)
    assert_allclose(mine.gradient, theirs.gradient[moving][:, 1:], atol=1e-14)


# -- batches, arrays to write into, threads


@every_robot
def test_a_batch_and_single_calls_are_bitwise_identical(name):
    arm = real(name)
    q = arm.robot.random_configurations(300, np.random.default_rng(7))
    batch, least = arm.distances(q), arm.minimum(q)
    assert batch.gradient.shape == (300, len(arm.pairs), arm.robot.nv)
    for row in (0, 1, 128, 255, 256, 299):
        for mine, alone in zip(batch, arm.distances(q[row])):
            assert np.array_equal(mine[row], alone)
        for mine, alone in zip(least, arm.minimum(q[row])):
            assert np.array_equal(mine[row], alone)


@every_robot
def test_the_minimum_is_the_least_of_all_bitwise(name):
    arm = real(name)
    q = arm.robot.random_configurations(200, np.random.default_rng(8))
    every, least = arm.distances(q), arm.minimum(q)
    rows = np.arange(200)
    assert np.array_equal(least.pair, every.distance.argmin(axis=1))
    assert least.names == tuple(arm.pairs[p] for p in least.pair)
    for mine, all_of_it in zip(least[2:], every):
        assert np.array_equal(mine, all_of_it[rows, least.pair])
    alone = arm.minimum(q[3])
    assert alone.names == arm.pairs[alone.pair] and isinstance(alone.distance, float)


def test_an_empty_batch_has_empty_results():
    arm = real('go1')
    none = np.empty((0, arm.robot.nq))
    assert arm.distances(none).points_a.shape == (0, len(arm.pairs), 3)
    assert arm.minimum(none).names == () and arm.minimum(none).normal.shape == (0, 3)


@pytest.mark.parametrize('count', [None, 5])
def test_results_are_written_into_arrays_that_are_given(count):
    arm = real('go1')
    q = arm.robot.random_configurations(count or 1, np.random.default_rng(9))
    q = q if count else q[0]
    expected = arm.distances(q)
    out = [np.full_like(each, 7.0) for each in expected]
    found = arm.distances(q, out=out)
    for mine, given, right in zip(found, out, expected):
        assert mine is given and np.array_equal(mine, right)
    # Results of one call are not those of the next.
    arm.distances(arm.robot.neutral())
    assert all(np.array_equal(a, b) for a, b in zip(expected, out))


def test_configurations_may_lie_where_results_go():
    arm = real('panda_collision')
    q = arm.robot.random_configurations(4, np.random.default_rng(10))
    expected = arm.distances(q)
    out = [np.empty_like(each) for each in expected]
    shared = out[0].reshape(-1)[: q.size].reshape(q.shape)
    shared[:] = q
    arm.distances(shared, out=out)
    assert all(np.array_equal(a, b) for a, b in zip(out, expected))


def test_threads_do_not_disturb_each_other():
    arm = real('go1')
    q = arm.robot.random_configurations(16, np.random.default_rng(11))
    expected, poses = arm.distances(q), {'ball': np.eye(4)}
    elsewhere = arm.distances(q, poses=poses)
    wrong = []

    def ask(moved):
        for _ in range(10):
            rows = arm.distances(q, poses=poses if moved else None)
            one = arm.distances(q[4], poses=poses if moved else None)
            right = elsewhere if moved else expected
            if not np.array_equal(rows.distance, right.distance):
                wrong.append('batch')
            if not np.array_equal(one.distance, right.distance[4]):
                wrong.append('single')

    threads = [Thread(target=ask, args=(k % 2,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and not np.array_equal(expected.distance, elsewhere.distance)


def test_lists_and_integers_are_configurations():
    arm = RobotInWorld(Robot.from_urdf(resource_path('urdf', 'six_axis_arm.urdf')), WORLD)
    zeros = arm.distances(np.zeros(6)).distance
    assert np.array_equal(arm.distances([0] * 6).distance, zeros)
    assert np.array_equal(arm.distances([[0] * 6]).distance, [zeros])
    transposed = np.random.default_rng(12).normal(size=(6, 3)).T
    rows = np.array([arm.distances(each.copy()).distance for each in transposed])
    assert np.array_equal(arm.distances(transposed).distance, rows)


# -- the bound


@every_robot
def test_pairs_beyond_the_bound_are_left_there(name):
    arm = real(name)
    q = arm.robot.random_configurations(20, np.random.default_rng(13))
    every, some = arm.distances(q), arm.distances(q, max_distance=0.15)
    near = every.distance <= 0.15
    assert 10 < near.sum() < near.size - 10
    assert (some.distance[~near] == 0.15).all() and not some.gradient[~near].any()
    for bounded, exact in zip(some[:4], every[:4]):
        assert np.array_equal(bounded[near], exact[near])
        if bounded.ndim > 2:
            assert np.isnan(bounded[~near]).all()
    assert np.array_equal(some.gradient[near], every.gradient[near])


@pytest.mark.parametrize('shape', ['plane', 'box'])
def test_the_bound_holds_on_both_sides_of_large_shapes(shape):
    objects = {'a': {'type': shape, 'rpy': [1, 2, 3], 'xyz': [0.3, 0.2, 0.1]}}
    if shape == 'box':
        objects['a']['size'] = [3.0, 0.02, 0.3]
    arm = RobotInWorld(real('allegro_left_hand').robot, {'objects': objects})
    q = arm.robot.random_configurations(50, np.random.default_rng(14))
    every = arm.distances(q).distance
    for most in (0.0, 0.02, 0.2):
        bounded = arm.distances(q, max_distance=most).distance
        assert np.array_equal(bounded, np.minimum(every, most))


# -- objects


def test_objects_are_at_their_start_or_given_pose():
    arm = real('go1')
    rng = np.random.default_rng(15)
    q = arm.robot.random_configuration(rng)
    start = arm.distances(q)
    assert arm.objects == ('ball',)
    for _ in range(5):
        T = random_pose(rng, 0.5)
        found = arm.distances(q, poses={'ball': T})
        moved = {**WORLD['objects'], 'ball': dict(WORLD['objects']['ball'])}
        moved['ball']['xyz'] = T[:3, 3].tolist()
        there = RobotInWorld(arm.robot, {'objects': moved}).distances(q)
        assert_allclose(found.distance, there.distance, atol=1e-14)
        assert_allclose(found.gradient, there.gradient, atol=1e-12)
        least = arm.minimum(q, poses={'ball': T})
        assert least.distance == found.distance.min()
    again = arm.distances(q)
    assert all(np.array_equal(a, b) for a, b in zip(start, again))


def test_a_turned_object_is_turned():
    world = {'objects': {'bar': {'type': 'box', 'size': [1, 0.1, 0.1], 'static': False}}}
    world['objects']['bar']['mass'] = 1.0
    arm = RobotInWorld(real('allegro_left_hand').robot, world, [('robot', 'bar')])
    rng = np.random.default_rng(16)
    q, T = arm.robot.random_configuration(rng), random_pose(rng, 0.3)
    found = arm.distances(q, poses={'bar': T})
    frames = arm.robot.kernel('contact_kinematics').function(q).frames
    for (a, b), gap in zip(arm.shapes, found.distance):
        body = np.eye(4)
        body[:3, :3], body[:3, 3] = frames[a.body_id, :9].reshape(3, 3), frames[a.body_id, 9:]
        assert b.name == 'bar'
        assert_allclose(gap, distance(a.shape, body @ a.pose, b.shape, T).gap, atol=1e-13)


# -- pairs


def test_pairs_are_chosen_by_names_in_their_order():
    robot = real('panda_collision').robot
    every = RobotInWorld(robot, WORLD)
    some = RobotInWorld(
        robot, WORLD, [('ball', 'robot/panda_link7'), ('robot', 'ball'), ('shelf', 'robot')]
    )
    count = every.pairs.count(('robot/panda_link7', 'ball'))
    assert count and set(some.pairs[:count]) == {('ball', 'robot/panda_link7')}
    balls = sum('ball' in pair for pair in every.pairs)
    shelves = sum('shelf' in pair for pair in every.pairs)
    assert len(some.pairs) == balls + shelves
    assert all(a.startswith('robot/') and b == 'ball' for a, b in some.pairs[count:balls])
    assert all(a == 'shelf' and b.startswith('robot/') for a, b in some.pairs[balls:])
    q = robot.random_configuration(np.random.default_rng(17))
    mine, all_of_it = some.distances(q), every.distances(q)
    at = [every.pairs.index(tuple(reversed(pair))) for pair in some.pairs[:1]]
    assert_allclose(mine.distance[:1], all_of_it.distance[at], atol=1e-14)
    assert_allclose(mine.normal[:1], -all_of_it.normal[at], atol=1e-12)
    assert_allclose(mine.points_b[:1], all_of_it.points_a[at], atol=1e-12)
    assert_allclose(mine.gradient[:1], all_of_it.gradient[at], atol=1e-12)


def test_a_link_is_not_matched_by_the_beginning_of_its_name():
    parts = [
        link('base'),
        *(link(name, 1.0, (1, 1, 1), shape=BALL) for name in ('arm', 'arm2')),
        joint('a', 'base', 'arm', xyz=(1, 0, 0)),
        joint('b', 'base', 'arm2', xyz=(-1, 0, 0)),
    ]
    robot = small(*parts)
    assert RobotInWorld(robot, WORLD, [('robot/arm', 'ball')]).pairs == (('robot/arm', 'ball'),)


BALL = collision('sphere radius="0.1"', (0, 0, 0.3))


def test_a_scene_without_pairs_has_no_distances():
    robot = small(link('base'), link('l', 1.0, (1, 1, 1)), joint('j', 'base', 'l'))
    arm = RobotInWorld(robot, WORLD)
    assert arm.pairs == () and arm.distances([0.3]).gradient.shape == (0, 1)
    assert arm.distances([[0.3], [0.1]]).points_a.shape == (2, 0, 3)
    with pytest.raises(ValueError, match='no pair of shapes'):
        arm.minimum([0.3])


def test_a_link_without_a_readable_shape_is_reported():
    cover = collision('mesh filename="nowhere.stl"')
    robot = small(link('base'), link('l', 1.0, (1, 1, 1), shape=cover), joint('j', 'base', 'l'))
    (notice,) = RobotInWorld(robot, WORLD).notices
    assert "'robot/l'" in notice and 'nowhere.stl was not found' in notice


def test_a_height_field_has_distances():
    robot, nearest = real('panda_collision').robot, []
    flat = {'type': 'height_field', 'size': [9, 9], 'heights': [[0.1, 0.1]] * 2}
    for ground in (flat, {'type': 'plane'}):
        world = {'objects': {'ground': ground}}
        arm = RobotInWorld(robot, world, [('robot/panda_hand', 'ground')])
        nearest.append(min(arm.distances(robot.neutral()).distance))
    assert nearest[0] == pytest.approx(nearest[1] - 0.1, abs=1e-12)


@pytest.mark.slow
def test_below_a_height_field_all_is_solid():
    """However deep, also for the bounding spheres of what is asked first."""
    small_field = {'type': 'height_field', 'size': [1, 1], 'heights': [[0.0, 0.0]] * 2}
    world = {
        'objects': {
            'field': small_field,
            'far': {'type': 'sphere', 'radius': 0.1, 'xyz': [2, 0, 0]},
        }
    }
    shape = collision('sphere radius="0.1"')
    ways = joint('j', 'base', 'l', 'prismatic', (0, 0, 1), inside='<limit lower="-9" upper="9"/>')
    arm = RobotInWorld(small(link('base'), link('l', 1.0, (1, 1, 1), shape=shape), ways), world)
    for z in (0.3, -0.3, -1.5, -7.0):
        asked = arm.distances([z]).distance
        assert asked[arm.pairs.index(('robot/l', 'field'))] == pytest.approx(z - 0.1, abs=1e-9)
        assert arm.minimum([z]).distance == asked.min()


def test_a_world_and_a_file_are_worlds(tmp_path):
    robot = real('allegro_left_hand').robot
    path = resource_path('config', 'table_world.yaml')
    one, other = RobotInWorld(robot, path), RobotInWorld(robot, read_world(path))
    assert one.pairs == other.pairs and one.objects == ('box', 'peg', 'ball', 'roller')
    assert RobotInWorld(robot, os.fspath(path)).pairs == one.pairs


# -- bad input


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        ({'q': np.zeros(3)}, r'q must have shape \(16,\) or \(B, 16\), got \(3,\)'),
        ({'q': np.zeros((1, 1, 16))}, r'q must have shape .* got \(1, 1, 16\)'),
        ({'q': ['a'] * 16}, 'q must hold real numbers'),
        ({'q': [[0.0], [0.0, 1.0]]}, 'q is not an array of numbers'),
        ({'max_distance': -0.1}, 'max_distance must be a number from 0 on, got -0.1'),
        ({'max_distance': np.nan}, 'max_distance must be a number from 0 on, got nan'),
        ({'poses': {'bal': np.eye(4)}}, "unknown movable object 'bal'; did you mean 'ball'"),
        ({'poses': {'shelf': np.eye(4)}}, "unknown movable object 'shelf'"),
        ({'poses': {'ball': np.eye(3)}}, r"pose of 'ball' must have shape \(4, 4\), got \(3, 3\)"),
        ({'poses': {'ball': np.full((4, 4), np.inf)}}, "pose of 'ball' must be finite"),
        ({'poses': {'ball': 2 * np.eye(4)}}, "pose of 'ball' must be a homogeneous matrix"),
        ({'poses': {'ball': np.diag([1.0, 1, -1, 1])}}, "pose of 'ball' must be a homogeneous"),
        ({'out': []}, 'out must hold arrays for distance, points_a, .* got list of 0'),
        ({'out': 3}, 'out must hold arrays .* got int'),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    arm = real('allegro_left_hand')
    with pytest.raises(ValueError, match=message):
        arm.distances(**{'q': np.zeros(16), **arguments})


@pytest.mark.parametrize(
    ('spoil', 'message'),
    [
        (lambda out: {0: out[0].astype(np.float32)}, 'distance must be an array of float64'),
        (lambda out: {1: out[1].tolist()}, 'points_a must be an array of float64, got list'),
        (lambda out: {3: out[3][1:]}, 'normal must have shape'),
        (lambda out: {2: np.empty((*out[2].shape[:-1], 6))[..., ::2]}, 'points_b must be contig'),
        (lambda out: {2: out[1]}, 'points_b shares memory'),
    ],
)
def test_arrays_that_cannot_be_written_into_are_rejected(spoil, message):
    arm = real('allegro_left_hand')
    out = list(arm.distances(np.zeros(16)))
    for k, array in spoil(out).items():
        out[k] = array
    with pytest.raises(ValueError, match=f'out: {message}'):
        arm.distances(np.zeros(16), out=out)


@pytest.mark.parametrize(
    ('pairs', 'message'),
    [
        (['ball'], "pairs must hold pairs of names, as .* got 'ball'"),
        (['ab'], "pairs must hold pairs of names, as .* got 'ab'"),
        ([('ball',)], 'pairs must hold pairs of names'),
        ([3], 'pairs must hold pairs of names, as .* got 3'),
        ([(1, 'ball')], 'pairs must hold pairs of names'),
        ([('robot', 'bal')], "unknown object or robot 'bal'; did you mean 'ball'"),
        ([('robot/palm', 'ball')], "unknown link 'palm'; did you mean 'palm_link'"),
        ([('floor', 'ball')], "no distance of 'floor' and 'ball'"),
        ([('robot/link_0.0', 'robot/link_1.0')], "no distance of 'robot/link_0.0' and"),
    ],
)
def test_bad_pairs_are_named(pairs, message):
    with pytest.raises(ValueError, match=message):
        RobotInWorld(real('allegro_left_hand').robot, WORLD, pairs)


def test_a_non_finite_configuration_affects_its_own_row_alone():
    arm = real('go1')
    q = arm.robot.random_configurations(4, np.random.default_rng(18))
    expected, least = arm.distances(q), arm.minimum(q)
    for bad in (np.nan, np.inf, 1e300):
        q[2, 9] = bad
        found, nearest = arm.distances(q), arm.minimum(q)
        for mine, right in zip(found, expected):
            assert np.isnan(mine[2]).all()
            assert np.array_equal(mine[[0, 1, 3]], right[[0, 1, 3]])
        assert nearest.pair[2] == -1 and nearest.names[2] == ('', '')
        assert all(np.isnan(each[2]).all() for each in nearest[2:])
        assert np.array_equal(nearest.distance[[0, 1, 3]], least.distance[[0, 1, 3]])
        assert np.isnan(arm.distances(q[2]).gradient).all()
        assert arm.minimum(q[2]).names == ('', '')


def test_machine_code_agrees_with_the_interpreter():
    code = """if True:
        import numpy as np
        from support.simulated_robots import collision, joint, link
        from rbd_ros import Robot
        from rbd_ros.collision import RobotInWorld
        balls = [collision('sphere radius="0.1"', (0, 0.1, z)) for z in (0.2, 0.7)]
        text = (link('base') + link('l', 1.0, (1, 1, 1), shape=balls[0])
                + link('m', 1.0, (1, 1, 1), shape=balls[1])
                + joint('j', 'base', 'l') + joint('k', 'base', 'm', axis=(0.6, 0.8, 0)))
        world = {'objects': {'floor': {'type': 'plane', 'xyz': [0, 0, -0.5]},
                             'box': {'type': 'box', 'size': [0.2, 0.3, 0.4], 'xyz': [0.5, 0, 0]}}}
        arm = RobotInWorld(Robot.from_urdf(f'<robot name="r">{text}</robot>'), world)
        q = [[0.3, -0.4], [1.2, 0.9], [np.nan, 0.0]]
        found = [*arm.distances(q, max_distance=0.6), *arm.minimum(q)[1:]]
        rows = [np.asarray(each).ravel().tolist() for each in found]
    """
    here = {}
    exec(code, here)
    text = fresh_python.run(f'{code}\nprint(rows)', RBD_ROS_COMPILER='off').stdout
    interpreted = eval(text, {'nan': np.nan, 'inf': np.inf})
    for mine, other in zip(here['rows'], interpreted):
        assert_allclose(mine, other, atol=1e-13)
    assert len(here['arm'].pairs) == 5


def test_a_simulation_measures_distances_at_its_present_state():
    robot = Robot.from_urdf(resource_path('urdf', 'six_axis_arm.urdf'))
    simulator = Simulator(robot, world=WORLD)
    apart = RobotInWorld(robot, WORLD)
    assert simulator.distance_pairs == apart.pairs
    at_start = simulator.distances()
    assert_array_equal(at_start.distance, apart.distances(simulator.q).distance)
    simulator.step(n=50)
    poses = {name: simulator.object_pose(name) for name in simulator.objects}
    correct = apart.distances(simulator.q, poses=poses)
    for found, one in zip(simulator.distances(), correct):
        assert_array_equal(found, one)
    assert np.abs(simulator.distances().distance - at_start.distance).max() > 1e-3
    many = simulator.distances([simulator.q, robot.neutral()], max_distance=0.1)
    assert many.distance.shape == (2, len(apart.pairs)) and many.distance.max() == 0.1
    # Of another world, once there is one.
    simulator.remove_object(simulator.objects[0])
    assert len(simulator.distance_pairs) < len(apart.pairs)
    assert len(simulator.distances().distance) == len(simulator.distance_pairs)
