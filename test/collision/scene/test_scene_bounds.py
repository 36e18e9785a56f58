# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Bounds and speeds of shapes, and distant pairs: parts of the contact search.

They are called from Python one by one, with tables of their inputs.
"""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from rbd_ros.collision.arrays import MAX_POINTS, PLANE
from rbd_ros.collision.pairs.narrow_phase import BOX
from rbd_ros.collision.scene.near_pairs import list_near_pairs, SKIN
from rbd_ros.collision.scene.scene import make_scene
from rbd_ros.collision.scene.scene_arrays import buffer_sizes, SceneBuffers, SceneContacts
from rbd_ros.collision.scene.scene_bounds import (
    approach,
    bound_speeds,
    clearance,
    closing_speed,
    compose,
    has_sped_up,
    MARGIN,
    place_shape,
    speed_of,
)
from rbd_ros.collision.scene.scene_contacts import find_scene_contacts
from rbd_ros.compiler.loops import allocate, Vec
from rbd_ros.robot import Robot
from rbd_ros.world.world_file import read_world

H = 1e-3


def pose_of(rng, position=None):
    """Return a random pose as a row, and as a matrix."""
    T = np.eye(4)
    T[:3, :3] = Rotation.random(random_state=rng).as_matrix()
    T[:3, 3] = rng.normal(size=3) if position is None else position
    return np.array([*T[:3, :3].ravel(), *T[:3, 3]]), T


def scene_of(**further):
    return SimpleNamespace(**further)


def test_a_pose_in_a_pose(rng):
    (first, A), (second, B), found = pose_of(rng), pose_of(rng), np.zeros(12)
    compose(first, second, found)
    assert np.allclose(found[:9].reshape(3, 3), (A @ B)[:3, :3], atol=1e-14)
    assert np.allclose(found[9:], (A @ B)[:3, 3], atol=1e-14)


def test_shapes_are_placed_once_in_a_step(rng):
    (body, A), (placement, B) = pose_of(rng), pose_of(rng)
    buffers = scene_of(
        placed=np.zeros(2, int), pose=np.array([body]), shape_pose=np.zeros((2, 12))
    )
    table = scene_of(body_id=[0, 0], placement=np.array([placement, placement]))
    place_shape(table, buffers, 1)
    assert np.allclose(buffers.shape_pose[1, 9:], (A @ B)[:3, 3], atol=1e-14)
    assert not buffers.shape_pose[0].any() and buffers.placed.tolist() == [0, 1]
    buffers.pose[:] = 0.0
    place_shape(table, buffers, 1)
    assert buffers.shape_pose[1].any()


def test_speeds_are_those_of_the_origins_of_carriers(rng):
    poses = [pose_of(rng)[0] for _ in range(3)]
    buffers = scene_of(
        pose=np.array(poses), velocity=rng.normal(size=(3, 6)), speed=np.zeros(3),
        angular_speed=np.zeros(3), placed=np.ones(4, int), search=[0],
    )  # fmt: skip
    table = scene_of(body_arm=np.array([0.3, 1.2, 0.7]), body_id=[2], arm=[0.4])
    most = bound_speeds(table, buffers)
    w, v = buffers.velocity[:, :3], buffers.velocity[:, 3:]
    speed = np.linalg.norm(v + np.cross(w, buffers.pose[:, 9:]), axis=1)
    assert np.allclose(buffers.speed, speed, atol=1e-14)
    assert np.allclose(buffers.angular_speed, np.linalg.norm(w, axis=1), atol=1e-14)
    assert not buffers.placed.any()
    assert abs(most - (speed + buffers.angular_speed * table.body_arm).max()) < 1e-14
    assert abs(speed_of(table, buffers, 0) - speed[2] - 0.4 * buffers.angular_speed[2]) < 1e-14


def test_the_rate_of_a_gap_is_that_of_the_points_at_it(rng):
    one, other = rng.normal(size=(2, 6))
    position, normal = rng.normal(size=3), np.array([0.6, 0.0, -0.8])
    first, second = (v[3:] + np.cross(v[:3], position) for v in (one, other))
    rate = approach(one, other, Vec(*position), Vec(*normal))
    assert abs(rate - normal @ (second - first)) < 1e-14


def test_in_further_looks_the_largest_speed_of_all_counts(rng):
    poses = np.array([pose_of(rng)[0] for _ in range(2)])
    slow, fast, middle = (s * np.ones((2, 6)) for s in (0.1, 3.0, 1.0))
    buffers = scene_of(
        pose=poses, velocity=slow, ahead=fast, speed=np.zeros(2), angular_speed=np.zeros(2),
        placed=np.zeros(1, int), search=[0],
    )  # fmt: skip
    table = scene_of(body_arm=np.array([0.3, 1.2]), body_id=[1], arm=[0.4])
    first = bound_speeds(table, buffers)
    found = []
    for buffers.search, buffers.ahead in (([1], fast), ([2], middle), ([0], fast)):
        found.append(bound_speeds(table, buffers))
    assert found[0] == pytest.approx(30.0 * first) and found[1] == found[0] and found[2] == first


@pytest.mark.parametrize('kinds', [(BOX, BOX), (PLANE, BOX), (BOX, PLANE)])
def test_gaps_close_no_faster_than_the_bound(rng, kinds):
    """The bound is of one shape's motion, seen from the other, no point beyond its arm."""
    for _ in range(20):
        poses, v = [pose_of(rng) for _ in range(2)], rng.normal(size=(2, 6))
        buffers = scene_of(pose=np.array([pose for pose, _ in poses]), velocity=v)
        table = scene_of(body_id=[0, 1], arm=[0.4, 0.7], kind=kinds)
        moving = 0 if kinds[1] == PLANE else 1
        origin, arm = poses[moving][1][:3, 3], table.arm[moving]
        away = rng.normal(size=(500, 3))
        points = origin + arm * away / np.linalg.norm(away, axis=1)[:, None]
        spin, rate = np.split(v[moving] - v[1 - moving], 2)
        speeds = np.linalg.norm(rate + np.cross(spin, points), axis=1)
        at_origin = np.linalg.norm(rate + np.cross(spin, origin))
        bound = closing_speed(table, buffers, 0, 1)
        assert (speeds <= bound + 1e-12).all()
        assert bound == pytest.approx(at_origin + arm * np.linalg.norm(spin), rel=1e-12)
        # Shapes that move together do not approach.
        buffers.velocity = np.array([v[0]] * 2)
        assert closing_speed(table, buffers, 0, 1) == 0.0


def test_a_velocity_jump_beyond_the_bound_is_detected(rng):
    poses = np.array([pose_of(rng)[0] for _ in range(3)])
    velocity = rng.normal(size=(3, 6))
    table = scene_of(body_arm=np.array([0.0, 0.5, 0.2]))
    buffers = scene_of(pose=poses, velocity=velocity, ahead=velocity.copy())
    assert not has_sped_up(table, buffers, H)
    # Bodies 1 and 2 towards each other, each by half of what counts; then by a little more.
    for part, expected in ((0.49, False), (0.51, True)):
        buffers.ahead = velocity.copy()
        buffers.ahead[1:, 3] += np.array([part, -part]) * MARGIN / H
        assert has_sped_up(table, buffers, H) == expected
    # Rotation about its origin moves shapes at a distance.
    for part, expected in ((0.99, False), (1.01, True)):
        buffers.ahead = velocity.copy()
        turn = np.array([0.0, 0.0, part * MARGIN / H / 0.5])
        buffers.ahead[1, :3] += turn
        buffers.ahead[1, 3:] -= np.cross(turn, poses[1, 9:])
        assert has_sped_up(table, buffers, H) == expected
    for odd in (np.inf, np.nan):
        buffers.ahead[1, 3] = odd
        assert not has_sped_up(table, buffers, H)


@pytest.mark.parametrize('kinds', [(BOX, BOX), (PLANE, BOX), (BOX, PLANE)])
@pytest.mark.parametrize('seed', range(6))
def test_bounding_spheres_bound_the_distance_of_shapes(kinds, seed):
    rng = np.random.default_rng(seed)
    reach = np.array([0.2, 0.3])
    buffers, table = scene_of(shape_pose=np.zeros((2, 12))), scene_of(kind=kinds, reach=reach)
    for between in (-0.002, 0.0, 0.012):
        buffers.shape_pose[0], A = pose_of(rng)
        away = rng.normal(size=3)
        away /= np.linalg.norm(away)
        if PLANE in kinds:
            # Anywhere above the plane, at that height.
            plane = kinds.index(PLANE)
            height = reach[1 - plane] + between
            along = A[:3, :3] @ [rng.normal(), rng.normal(), 0.0]
            position = A[:3, 3] + along + height * A[:3, 2]
            buffers.shape_pose[1] = pose_of(rng, position)[0]
            if plane == 1:
                buffers.shape_pose[[0, 1]] = buffers.shape_pose[[1, 0]]
        else:
            position = A[:3, 3] + (reach.sum() + between) * away
            buffers.shape_pose[1] = pose_of(rng, position)[0]
        assert abs(clearance(table, buffers, 0, 1) - between) < 1e-14


def two_boxes(gap):
    """Return a scene of two adjacent boxes, and its buffers."""
    objects = {
        name: {'type': 'box', 'size': [0.2] * 3, 'static': False, 'mass': 1.0} for name in 'ab'
    }
    model = Robot.from_urdf('<robot name="n"><link name="w"/></robot>').model
    scene = make_scene(model, read_world({'objects': objects}))
    sizes = {'scene_bodies': scene.body_count, **buffer_sizes(scene.table)}
    buffers = allocate(SceneBuffers, contacts=MAX_POINTS, **sizes)
    buffers.pose[:, :9] = np.eye(3).ravel()
    buffers.pose[2, 9] = 0.2 + gap
    return scene.table, buffers, allocate(SceneContacts, contacts=MAX_POINTS)


@pytest.mark.parametrize('mover', [1, 2])
@pytest.mark.parametrize('speed, there', [(6.0, True), (3.4, True), (3.3, False), (-6.0, False)])
def test_whichever_moves_fast_is_found(mover, speed, there):
    """Half a step more than the velocity says counts, and a margin."""
    table, buffers, found = two_boxes(5e-3 + MARGIN + 1e-6)
    buffers.velocity[mover, 3] = speed if mover == 1 else -speed
    count, dropped = find_scene_contacts(table, buffers, H, found)
    assert (count > 0) == there and dropped == 0
    if there:
        assert np.abs(found.gap[:count] - 5e-3 - MARGIN - 1e-6).max() < 1e-12
        assert np.allclose(found.frame[:count, 0], [1, 0, 0])
        assert found.body_id[0].tolist() == [1, 2]


def test_contacts_beyond_the_capacity_are_counted():
    table, buffers, _ = two_boxes(0.0)
    count, dropped = find_scene_contacts(table, buffers, H, allocate(SceneContacts, contacts=3))
    assert (count, dropped) == (3, 1)


@pytest.mark.parametrize('both', [False, True])
def test_an_approaching_pair_is_listed_in_time(both):
    """And meanwhile hardly ever looked at."""
    table, buffers, found = two_boxes(0.5)
    buffers.velocity[1, 3] = 1.0 if both else 2.0
    buffers.velocity[2, 3] = -1.0 if both else 0.0
    first, lists, step = None, 0, 0.004
    for k in range(64):
        before = buffers.slack[0]
        count, _ = find_scene_contacts(table, buffers, step, found)
        lists += buffers.slack[0] > before
        gap = buffers.pose[2, 9] - buffers.pose[1, 9] - 0.2
        # What the velocity says for a step and a half.
        assert (count > 0) == (gap - 1.5 * step * 2.0 <= MARGIN)
        buffers.pose[:, 9:] += step * buffers.velocity[:, 3:]
        first = k if count and first is None else first
    assert first is not None and lists < 20


@pytest.mark.parametrize('gap', [0.0516, 0.1616])
def test_a_pair_that_moves_together_is_checked_once(gap):
    """However fast it is; and in time when it comes nearer, by what it does."""
    table, buffers, found = two_boxes(gap)
    buffers.velocity[1:, 3:] = [30.0, -20.0, 10.0]
    first = None
    for _ in range(200):
        assert find_scene_contacts(table, buffers, H, found)[0] == 0
        first = buffers.clearance[0] if first is None else first
        assert buffers.clearance[0] == pytest.approx(first, abs=1e-12) and first > 0.01
        buffers.pose[1:, 9:] += H * buffers.velocity[1:, 3:]
    buffers.velocity[2, 3] -= 1.0
    looked = 0
    while gap > 0.0:
        before = buffers.clearance[0]
        count, _ = find_scene_contacts(table, buffers, H, found)
        looked += buffers.clearance[0] > before
        # What the velocity says for a step and a half; once it is just within the margin.
        assert (count > 0) == (gap - 1.5e-3 <= MARGIN)
        buffers.pose[1:, 9:] += H * buffers.velocity[1:, 3:]
        gap -= 1e-3
    assert looked <= 2


def test_a_new_list_keeps_known_distances():
    table, buffers, found = two_boxes(0.5)
    assert find_scene_contacts(table, buffers, H, found)[0] == 0 and buffers.listed[0] == 1
    buffers.pose[2, 9] = 0.28
    buffers.listed[0] = 0
    assert find_scene_contacts(table, buffers, H, found)[0] == 0
    # The bounding spheres overlap, so the distance was computed.
    assert buffers.listed[0] == 2 and buffers.clearance[0] == pytest.approx(
        0.08 - MARGIN, abs=1e-12
    )
    buffers.slack[0] = 0.0
    list_near_pairs(table, buffers, H, 0.0)
    assert buffers.clearance[0] == pytest.approx(0.08 - MARGIN, abs=1e-12)
    # An object at a new position has no known clearance; separate spheres bound it.
    buffers.listed[0], buffers.pose[2, 9], buffers.placed[:] = 0, 0.28, 0
    list_near_pairs(table, buffers, H, 0.0)
    assert buffers.clearance[0] == 0.0
    buffers.listed[0], buffers.pose[2, 9], buffers.placed[:] = 0, 0.36, 0
    list_near_pairs(table, buffers, H, 0.0)
    assert buffers.clearance[0] == pytest.approx(0.36 - 0.2 * 3**0.5 - MARGIN, abs=1e-12)


def test_a_position_correction_invalidates_distances():
    """Position correction moves bodies, which no velocity shows."""
    table, buffers, found = two_boxes(0.05)
    assert find_scene_contacts(table, buffers, H, found)[0] == 0
    buffers.pose[2, 9] = 0.2
    buffers.shifted[0] = 0.05
    assert find_scene_contacts(table, buffers, H, found)[0] == 4
    assert buffers.shifted[0] == 0.0


def test_a_list_lasts_until_shapes_have_moved_by_its_skin():
    table, buffers, _ = two_boxes(0.0)
    list_near_pairs(table, buffers, H, 1.0)
    way = 2.0 * H
    # Steps of 2 mm: by twenty of them, if that is more than the least skin.
    skin = max(SKIN, 20.0 * way)
    assert buffers.listed[0] == 2 and abs(buffers.slack[0] - (skin - way)) < 1e-15
    list_near_pairs(table, buffers, H, 1.0)
    assert abs(buffers.slack[0] - (skin - 2 * way)) < 1e-15
    buffers.slack[0] = 2.4 * way
    list_near_pairs(table, buffers, H, 1.0)
    assert abs(buffers.slack[0] - (skin - way)) < 1e-15
    buffers.slack[0] = 0.5
    buffers.shifted[0] = 0.3
    list_near_pairs(table, buffers, H, 1.0)
    assert buffers.slack[0] == pytest.approx((20.0 - 1.0) * 2.0 * (H + 0.3), rel=1e-12)
