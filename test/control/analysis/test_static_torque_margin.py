# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Static torque margins under gravity, against two-link statics by hand."""

import numpy as np
import pytest
from support import outside
from support.random_trees import mixed_tree
from support.urdf_text import chain, joint, link, one_joint, robot

from rbd_ros import Robot
from rbd_ros.control import payload_parameters, static_torque_margin, worst_case_poses
from rbd_ros.control.analysis.static_torque_margin import UnjudgedError
from rbd_ros.lookup.resources import resource_path

G = 9.81
ROD = (
    '<inertial><origin xyz="{center} 0 0"/><mass value="{mass}"/>'
    '<inertia ixx="0.01" iyy="0.05" izz="0.05" ixy="0" ixz="0" iyz="0"/></inertial>'
)
# Two links that turn about y: 2 kg at 0.25 m of 0.5 m, and 1 kg at 0.2 m of 0.4 m.
PLANAR = robot(
    link('base', ''),
    link('upper', ROD.format(center=0.25, mass=2)),
    link('lower', ROD.format(center=0.2, mass=1)),
    link('tool', ''),
    joint(
        *('shoulder', 'base', 'upper', 'revolute'),
        '<limit lower="-1" upper="2" effort="12" velocity="5"/>',
        axis='0 1 0',
    ),
    joint(
        *('elbow', 'upper', 'lower', 'revolute'),
        '<origin xyz="0.5 0 0"/><limit lower="-2" upper="2.5" effort="3" velocity="5"/>',
        axis='0 1 0',
    ),
    joint('mount', 'lower', 'tool', 'fixed', '<origin xyz="0.4 0 0"/>'),
    name='planar',
)


@pytest.fixture(scope='module')
def planar():
    return Robot.from_urdf(PLANAR)


def torques_by_hand(q, payload=0.0, g=G):
    """Return torques about y, which points to the left: a weight in front takes a negative one."""
    a, b = q
    elbow = -g * (0.2 + 0.4 * payload) * np.cos(a + b)
    return [elbow - g * (2 * 0.25 + (1 + payload) * 0.5) * np.cos(a), elbow]


def test_torques_are_those_of_statics(planar):
    poses = np.array([[0.0, 0.0], [0.3, -1.2], [-1.0, 2.5]])
    found = static_torque_margin(planar, poses)
    assert found.joints == ('shoulder', 'elbow')
    np.testing.assert_allclose(found.torques, [torques_by_hand(q) for q in poses], atol=1e-12)
    load = payload_parameters(1.5)
    found = static_torque_margin(planar, poses, (0.0, 0.0, -1.62), load, 'tool')
    np.testing.assert_allclose(
        found.torques, [torques_by_hand(q, 1.5, 1.62) for q in poses], atol=1e-12
    )


def test_margins_are_those_of_the_worst_pose_of_each_joint(planar):
    poses = np.array([[0.0, 1.5], [0.9, -0.9], [1.5, 0.0]])
    found = static_torque_margin(planar, poses)
    by_hand = np.array([torques_by_hand(q) for q in poses])
    assert found.worst_poses.tolist() == [0, 1]
    np.testing.assert_allclose(found.maxima, [by_hand[0, 0], by_hand[1, 1]])
    np.testing.assert_allclose(
        found.margins, [1 + by_hand[0, 0] / 12.0, 1 + by_hand[1, 1] / 3.0], atol=1e-12
    )
    assert found.held.all()


def test_only_poses_within_all_limits_are_held(planar):
    load = payload_parameters(0.5)
    poses = np.array([[0.0, 0.0], [0.0, np.pi / 2], [np.pi / 2, 0.0], [0.9, -0.9]])
    found = static_torque_margin(planar, poses, None, load, 'tool')
    # 16.2 and 3.9; 12.3 and 0; 0 and 0; 7.6 + 3.9 and 3.9 N m, of 12 and 3
    assert found.held.tolist() == [False, False, True, False]
    assert (found.margins < 0.0).all()


def test_the_search_finds_the_arm_stretched_out(planar):
    random = planar.random_configurations(20, np.random.default_rng(3))
    found = static_torque_margin(planar, worst_case_poses(planar, random))
    stretched = torques_by_hand((0.0, 0.0))
    assert np.abs(found.maxima) == pytest.approx(np.abs(stretched), rel=1e-4)
    assert (np.abs(found.maxima) >= np.abs(static_torque_margin(planar, random).maxima)).all()


def test_the_search_stays_within_the_limits():
    text = PLANAR.replace('lower="-1" upper="2"', 'lower="0.5" upper="2"')
    narrow = Robot.from_urdf(text)
    poses = worst_case_poses(narrow, narrow.random_configurations(10, np.random.default_rng(0)))
    assert (poses >= narrow.lower_limits).all() and (poses <= narrow.upper_limits).all()
    # the shoulder at its limit, the forearm level
    assert poses[0] == pytest.approx([0.5, -0.5], abs=0.02)


def test_the_search_continues_from_the_worst_pose_of_any_robot():
    tree = Robot.from_urdf(mixed_tree(4))
    poses = tree.random_configurations(200, np.random.default_rng(1))
    before = np.abs(static_torque_margin(tree, poses).maxima)
    after = np.abs(static_torque_margin(tree, worst_case_poses(tree, poses)).maxima)
    assert (after >= before - 1e-12).all() and (after > 1.0001 * before).any()


def test_torques_are_those_of_pinocchio():
    pin = outside.load('pinocchio')
    path = str(resource_path('urdf', 'six_axis_arm.urdf'))
    arm, model = Robot.from_urdf(path), pin.buildModelFromUrdf(path)
    poses = arm.random_configurations(20, np.random.default_rng(2))
    data = model.createData()
    expected = [pin.computeGeneralizedGravity(model, data, q).copy() for q in poses]
    np.testing.assert_allclose(static_torque_margin(arm, poses).torques, expected, atol=1e-10)


def test_springs_are_held_too(planar):
    sprung = Robot(planar.model.with_springs({'elbow': 4.0}, rest={'elbow': 0.25}))
    q = (0.3, 0.75)
    shoulder, elbow = torques_by_hand(q)
    assert static_torque_margin(sprung, q).torques[0] == pytest.approx(
        [shoulder, elbow + 4.0 * 0.5]
    )


def test_a_joint_without_limit_is_held_and_one_with_limit_zero_is_not():
    free = Robot.from_urdf(PLANAR.replace('effort="3"', 'effort="0"'))
    found = static_torque_margin(free, [[0.0, 0.0], [0.0, -np.pi / 2]])
    assert found.held.tolist() == [False, True]
    assert found.margins[1] == -np.inf
    continuous = one_joint('continuous', '', axis='0 1 0')
    found = static_torque_margin(Robot.from_urdf(continuous), [0.0])
    assert (found.margins[0], found.held[0]) == (1.0, True)


def test_robots_that_no_joints_hold_are_rejected(planar):
    with pytest.raises(
        ValueError, match='floating base, which no joint holds; load it with a fix'
    ):
        static_torque_margin(Robot.from_urdf(PLANAR, floating_base=True), np.zeros(9))
    with pytest.raises(ValueError, match='no movable joint, so there is nothing to hold'):
        static_torque_margin(Robot.from_urdf(chain('fixed')), [])


def test_a_joint_that_floats_is_known_by_its_kind(planar):
    text = PLANAR.replace('"shoulder" type="revolute"', '"shoulder" type="floating"')
    assert text != PLANAR
    with pytest.raises(
        UnjudgedError, match="floats by its joint 'shoulder', which cannot hold it"
    ):
        static_torque_margin(Robot.from_urdf(text), np.zeros(8))
    inner = PLANAR.replace('"elbow" type="revolute"', '"elbow" type="floating"')
    found = static_torque_margin(Robot.from_urdf(inner), np.eye(8)[1])
    assert found.unjudged == {'elbow': 'it floats, so it cannot hold its links'}
    assert not found.held[0]
    named = PLANAR.replace('"shoulder"', '"floating_base"')  # the name alone is nothing
    found, same = (static_torque_margin(Robot.from_urdf(x), [0.1, 0.2]) for x in (PLANAR, named))
    np.testing.assert_array_equal(found.torques, same.torques)


def test_no_pose_is_known_to_be_held_while_a_mass_is_missing():
    shape = '<visual><geometry><sphere radius="0.1"/></geometry></visual>'
    text = PLANAR.replace(ROD.format(center=0.25, mass=2), shape)
    found = static_torque_margin(Robot.from_urdf(text), [0.0, 0.0])
    assert found.unjudged == {'shoulder': "link 'upper' has shapes but no mass"}
    assert (found.held[0], found.within_limits[0]) == (False, True)
    payload = payload_parameters(1.0)
    found = static_torque_margin(
        Robot.from_urdf(text), [0.0, 0.0], payload=payload, payload_link='upper'
    )
    assert 'shoulder' in found.unjudged  # what it carries does not say what it weighs
    with pytest.raises(UnjudgedError, match="no link of 'planar' that moves has a mass"):
        static_torque_margin(
            Robot.from_urdf(text.replace(ROD.format(center=0.2, mass=1), '')), [0.0, 0.0]
        )


def test_a_frame_without_shapes_has_no_unknown_mass(planar):
    assert static_torque_margin(planar, [0.0, 0.0]).unjudged == {}  # `tool` is one
    bare = Robot.from_urdf(PLANAR.replace(ROD.format(center=0.2, mass=1), ''))
    assert static_torque_margin(bare, [0.0, 0.0]).unjudged == {
        'elbow': 'the links that it moves have no mass'
    }
    load = payload_parameters(1.0)
    carrying = static_torque_margin(bare, [0.0, 0.0], payload=load, payload_link='tool')
    assert carrying.unjudged == {}


def test_bad_arguments_are_named(planar):
    with pytest.raises(ValueError, match=r'poses must have shape \(N, 2\)'):
        static_torque_margin(planar, [0.0, 0.0, 0.0])
    with pytest.raises(ValueError, match='poses must be finite'):
        static_torque_margin(planar, [0.0, np.nan])
    with pytest.raises(ValueError, match='gravity must be 3 finite numbers'):
        static_torque_margin(planar, [0.0, 0.0], gravity=[0.0, np.inf, 0.0])
    with pytest.raises(ValueError, match='give the link that carries the payload'):
        static_torque_margin(planar, [0.0, 0.0], payload=payload_parameters(1.0))
    with pytest.raises(ValueError, match='nowhere'):
        static_torque_margin(
            planar, [0.0, 0.0], payload=payload_parameters(1.0), payload_link='nowhere'
        )
