# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Movable robots of a world: world files, scene, distances."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rbd_ros import Robot
from rbd_ros.collision import RobotInWorld
from rbd_ros.collision.scene.scene import make_scene, start_configuration
from rbd_ros.lookup.resources import resource_path
from rbd_ros.spatial import PluckerTransform
from rbd_ros.world import allowed_pairs, read_world, World, WorldRobot

ARM = resource_path('urdf', 'six_axis_arm.urdf')
ELBOW = {'elbow_joint': 1.5, 'shoulder_lift_joint': 1.0}


@pytest.fixture(scope='module')
def arm():
    return Robot.from_urdf(ARM)


def world(**entry):
    entry = {'urdf': str(ARM), 'xyz': [1.2, 0.1, 0], 'static': False, **entry}
    return read_world({'objects': {'floor': {'type': 'plane'}}, 'robots': {'other': entry}})


def test_robots_move_only_if_the_file_says_so():
    assert world()['other'].movable
    assert not world(static=True)['other'].movable
    assert not read_world('config/table_world.yaml')['second_arm'].movable


def test_a_robot_made_in_python_allows_collisions_of_adjacent_links(arm):
    other = WorldRobot('other', 'arm.urdf', arm.model)
    assert other.allowed_collisions == allowed_pairs(arm.model)
    around = World(robots=(other,))
    assert not around.can_collide('other/upper_arm_link', 'other/forearm_link')
    assert around.can_collide('other/shoulder_link', 'other/forearm_link')
    everything = WorldRobot('other', 'arm.urdf', arm.model, allowed_collisions=frozenset())
    around = World(robots=(everything,))
    assert around.can_collide('other/upper_arm_link', 'other/forearm_link')
    # The robot itself has links of these names as well.
    around = World(robots=(replace(everything, movable=True),))
    scene = make_scene(Robot.combine({'': arm, 'other': arm}).model, around)
    pairs = {frozenset(scene.names_of(k)) for k in range(len(scene.table.pair))}
    assert frozenset(('other/upper_arm_link', 'other/forearm_link')) in pairs
    assert frozenset(('robot/upper_arm_link', 'robot/forearm_link')) not in pairs


def test_it_moves_with_a_model_that_has_all_of_its_links(arm):
    around = world()
    whole = Robot.combine({'': arm, 'other': arm})
    (found,) = around.moving_in(whole.model)
    assert found is around['other']
    assert around.moving_in(arm.model) == ()
    assert around.moving_in(Robot.combine({'': arm, 'others': arm}).model) == ()
    assert world(static=True).moving_in(whole.model) == ()


def test_carriers_of_its_shapes_are_its_bodies(arm):
    around = world(initial_joint_positions=ELBOW)
    whole = Robot.combine({'': arm, 'other': arm}, {'other': around['other'].placement.pose()})
    moving = make_scene(whole.model, around)
    standing = make_scene(arm.model, around)
    own = [shape for shape in standing.shapes if shape.name.startswith('robot/')]
    for shape in moving.shapes:
        if shape.name.startswith('other/'):
            link = shape.name.partition('/')[2]
            alone = next(x for x in own if x.name == f'robot/{link}' and x.shape == shape.shape)
            assert shape.body_id == (alone.body_id + 6 if alone.body_id else 0)
    assert {x.body_id for x in standing.shapes if x.name.startswith('other/')} == {0}
    assert moving.notices != standing.notices


@pytest.mark.parametrize('floating', [False, True])
def test_standing_or_moving_it_starts_at_the_same_place(arm, floating):
    around = world(initial_joint_positions=ELBOW, floating=floating, rpy=[0.1, 0.2, 0.3])
    other = around['other']
    whole = Robot.combine(
        {'': arm, 'other': Robot(other.model)}, {'other': other.base_placement.pose()}
    )
    q = np.concatenate([np.zeros(6), start_configuration(other)])
    both = RobotInWorld(whole, around)
    alone = RobotInWorld(arm, around)
    # A link with several shapes has several distances from the same thing.
    found = sorted(zip(both.pairs, both.distances(q).distance))
    there = sorted(zip(alone.pairs, alone.distances(np.zeros(6)).distance))
    between = [
        # The base of the first one collides with movable ones only.
        [each for each in every if each[0] in alone.pairs and each[0][1].startswith('other/')]
        for every in (found, there)
    ]
    assert len(between[0]) > 50
    for (pair, distance), (other_pair, expected) in zip(*between, strict=True):
        assert pair == other_pair and abs(distance - expected) < 1e-9


def test_distances_have_gradients_by_the_joints_of_all_robots_that_move(arm):
    around = world(initial_joint_positions=ELBOW)
    whole = Robot.combine({'': arm, 'other': arm}, {'other': around['other'].placement.pose()})
    pair = ('robot/wrist_3_link', 'other/wrist_3_link')
    both = RobotInWorld(whole, around, [pair, ('other/wrist_3_link', 'floor')])
    rng = np.random.default_rng(2)
    q, v = 0.5 * rng.normal(size=12), rng.normal(size=12)
    found = both.distances(q)
    ahead, behind = (both.distances(whole.integrate(q, v, h)).distance for h in (1e-6, -1e-6))
    assert np.allclose(found.gradient @ v, (ahead - behind) / 2e-6, atol=1e-6)
    assert found.gradient[0, :6].any() and found.gradient[0, 6:].any()
    assert not found.gradient[1, :6].any() and found.gradient[1, 6:].any()
    # A robot that stands has no joints.
    alone = RobotInWorld(arm, around, [pair])
    assert alone.distances(q[:6]).gradient.shape == (1, 6)


def test_an_srdf_applies_to_its_robot_alone(tmp_path, arm):
    srdf = tmp_path / 'arm.srdf'
    srdf.write_text(
        '<robot name="arm"><disable_collisions link1="wrist_3_link" link2="shoulder_link"/>'
        '</robot>'
    )
    around = world(srdf=str(srdf))
    whole = Robot.combine({'': arm, 'other': arm})
    scene = make_scene(whole.model, around)
    pairs = {frozenset(scene.names_of(k)) for k in range(len(scene.table.pair))}

    def touch(first, second):
        return frozenset((f'{first}/wrist_3_link', f'{second}/shoulder_link')) in pairs

    assert touch('robot', 'robot') and touch('robot', 'other') and touch('other', 'robot')
    assert not touch('other', 'other')


def test_links_that_overlap_touch_if_they_are_of_two_robots(arm):
    around = world(xyz=[0, 0, 0])
    whole = Robot.combine({'': arm, 'other': arm})
    scene = make_scene(whole.model, around, [0.0] * 12)
    pairs = {frozenset(scene.names_of(k)) for k in range(len(scene.table.pair))}
    assert frozenset(('robot/forearm_link', 'other/forearm_link')) in pairs


def test_the_pose_of_a_base_that_floats_is_in_the_world():
    around = world(
        floating=True, rpy=[0.1, 0.2, 0.3], initial_joint_positions={'elbow_joint': 1.5}
    )
    other = around['other']
    q = start_configuration(other)
    assert np.array_equal(other.base_placement.r, [0, 0, 0])
    X = PluckerTransform.from_quaternion(q[:4], tuple(q[4:7]))
    assert np.allclose(X.pose(), other.placement.pose(), atol=1e-15)
    assert q[7:] == [0, 0, 1.5, 0, 0, 0]


def test_the_page_documents_the_key_static():
    text = (Path(__file__).parents[2] / 'docs' / 'world.md').read_text()
    assert '| `static` | `false`: it moves' in text
