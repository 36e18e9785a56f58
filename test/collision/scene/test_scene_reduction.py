# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Redundant contacts: those within the common face of adjacent shapes of one body."""

from itertools import product

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from rbd_ros.collision.scene.scene import make_scene
from rbd_ros.collision.scene.scene_arrays import buffer_sizes, SceneBuffers, SceneContacts
from rbd_ros.collision.scene.scene_reduction import drop_implied
from rbd_ros.compiler.loops import allocate
from rbd_ros.robot import Robot
from rbd_ros.simulation import Simulator
from rbd_ros.world import read_world

#: A block of two boxes beside each other, and a third one above them that touches nothing.
BLOCK = """<robot name="block"><link name="block"><inertial><mass value="2"/>
  <inertia ixx="0.02" iyy="0.03" izz="0.04" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision name="left"><origin xyz="0 0.1 0"/><geometry><box size="0.2 0.2 0.1"/></geometry>
  </collision>
  <collision name="right"><origin xyz="0 -0.1 0"/><geometry><box size="0.2 0.2 0.1"/></geometry>
  </collision>
  <collision name="top"><origin xyz="0 0 0.1"/><geometry><sphere radius="0.05"/></geometry>
  </collision></link></robot>"""
FLOOR = {'defaults': {'surface': {'friction': 0.5}}, 'objects': {'floor': {'type': 'plane'}}}


@pytest.fixture(scope='module')
def table():
    robot = Robot.from_urdf(BLOCK, floating_base=True)
    return make_scene(robot.model, read_world(FLOOR)).table


def reduced(table, points, gaps, normals=None, pairs=None):
    """Return the numbers of the contacts that are left of points in a plane, by their features."""
    count = len(points)
    sizes = {'scene_bodies': 2, 'contacts': count, **buffer_sizes(table)}
    buffers = allocate(SceneBuffers, **sizes)
    contacts = allocate(SceneContacts, contacts=count)
    rng = np.random.default_rng(4)
    # A plane anywhere.
    frame = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    for c in range(count):
        contacts.frame[c] = frame if normals is None else normals[c]
        contacts.position[c] = frame[1:].T @ points[c] + 0.7 * frame[0]
        contacts.pair[c], contacts.feature[c] = 0 if pairs is None else pairs[c], c
        contacts.gap[c], contacts.body_id[c] = gaps[c], (c, 1)
    before = [array.copy() for array in contacts]
    left = drop_implied(table, buffers, contacts, count)
    kept = contacts.feature[:left].tolist()
    # The remaining points are unchanged, in their order.
    assert kept == sorted(kept)
    for array, old in zip(contacts, before):
        assert np.array_equal(array[:left], old[kept])
    return kept


def test_pairs_of_one_body_and_one_surface_are_a_group(table):
    sphere = [2 in pair for pair in table.pair.tolist()]
    assert (table.group == 0).all() and any(sphere)


@pytest.mark.seed('CN13', kind='part')
@pytest.mark.parametrize('seed', range(12))
def test_reduction_leaves_the_convex_hull(table, seed):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(rng.integers(4, 30), 2)) * 10.0 ** rng.uniform(-2, 1)
    slope = 1e-4 * rng.normal(size=2)
    gaps = points @ slope - 1e-5
    expected = sorted(ConvexHull(points).vertices.tolist())
    assert reduced(table, points, gaps) == expected


@pytest.mark.parametrize('seed', range(6))
def test_points_on_edges_and_doubles_go(table, seed):
    rng = np.random.default_rng(seed)
    grid = np.array(list(product(range(5), range(4))), dtype=float) / 10.0
    corners = [0, 3, 16, 19]
    noise = 1e-13 * rng.normal(size=grid.shape)
    twice = np.vstack([grid + noise, grid[corners] + 1e-12])
    turn = rng.uniform(0, 6)
    R = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    kept = reduced(table, twice @ R.T, 1e-13 * rng.normal(size=len(twice)))
    assert len(kept) == 4
    nearest = [min(corners, key=lambda c: np.linalg.norm(twice[k] - twice[c])) for k in kept]
    assert sorted(nearest) == corners


def test_a_tangent_grid_is_reduced_to_its_corners_in_any_order(table):
    """A point on an edge is as far in the direction across it as corners are."""
    grid = np.array(list(product(range(4), range(3))), dtype=float) / 10.0
    for first in range(len(grid)):
        order = np.roll(np.arange(len(grid)), -first)
        kept = reduced(table, grid[order], np.zeros(len(grid)))
        assert sorted(order[kept].tolist()) == [0, 2, 9, 11]


def test_the_first_of_coincident_points_is_left_despite_rounding(table):
    """So that contacts that stay where they are stay the same ones from step to step."""
    corners = np.array([[0.0, 0.0], [2.0, 2.0], [0.2, 1.5], [1.4, 0.9]])
    outward = corners - corners.mean(axis=0)
    for of in ([0], [3], [0, 3]):
        points = np.vstack([corners, corners[of] + 1e-12 * outward[of]])
        assert reduced(table, points, np.zeros(len(points))) == [0, 1, 2, 3]


def test_a_line_is_reduced_to_both_ends(table):
    along = np.array([0.3, 0.1, 0.5, -0.2, 0.4])
    points = along[:, None] * [0.6, 0.8]
    assert reduced(table, points, 0.01 * along) == [2, 3]
    # Not where one in between is nearer than both ends say.
    gaps = 0.01 * along
    gaps[1] -= 1e-6
    assert reduced(table, points, gaps) == [0, 1, 2, 3, 4]


def test_contacts_of_different_planes_are_not_reduced(table):
    rng = np.random.default_rng(2)
    points = rng.normal(size=(9, 2))
    gaps = points @ [0.01, -0.02]
    assert len(reduced(table, points, gaps)) < 9
    gaps[4] -= 1e-7
    assert len(reduced(table, points, gaps)) == 9


def test_other_normals_and_other_bodies_are_separate_faces(table):
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0.5, 0.5]], dtype=float)
    points, gaps = np.vstack([square, square]), np.zeros(10)
    frame = np.linalg.qr(np.random.default_rng(4).normal(size=(3, 3)))[0]
    other = frame.copy()
    other[0] += 1e-6 * frame[1]
    normals = [frame] * 5 + [other] * 5
    assert reduced(table, points, gaps, normals) == [0, 1, 2, 3, 5, 6, 7, 8]
    alone = table._replace(group=np.array([0, -1, 0], dtype=np.int64))
    pairs = [0] * 5 + [1] * 5
    assert reduced(alone, points, gaps, pairs=pairs) == [0, 1, 2, 3, 5, 6, 7, 8, 9]


def test_points_at_one_place_are_left_alone(table):
    assert len(reduced(table, np.zeros((4, 2)), np.zeros(4))) == 4


def test_a_block_of_several_boxes_rests_on_its_corners_and_slides_as_it_must():
    robot = Robot.from_urdf(BLOCK, floating_base=True)
    simulator = Simulator(robot, world=FLOOR)
    q = robot.neutral()
    q[6] = 0.05
    simulator.reset(q, [0, 0, 0, 1.0, 0, 0])
    simulator.step(n=100)
    contacts = simulator.contacts
    # As they were before the step.
    places = np.array([c.position - simulator.q[4:7] for c in contacts])
    assert len(places) == 4
    assert np.abs(places) == pytest.approx(np.tile([0.1, 0.2, 0.05], (4, 1)), abs=1e-3)
    assert sum(c.force for c in contacts)[2] == pytest.approx(-2 * 9.81, rel=1e-9)  # on the floor
    simulator.step(n=400)
    # Decelerated by mu g in each step, of which the last one is a part.
    steps = np.arange(1, 300)
    speed = np.maximum(1.0 - 0.5 * 9.81 * 1e-3 * steps, 0.0)
    assert simulator.q[4] == pytest.approx(1e-3 * speed.sum(), abs=1e-9)
    assert np.abs(simulator.v).max() < 1e-12
