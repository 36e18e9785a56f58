# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Markers of masses and gravity torques: shapes of known solids, and the topic over DDS."""

import math

import numpy as np
import pytest
from support import outside

from rbd_ros import Robot
from rbd_ros.lookup.resources import resource_path
from rbd_ros.nodes.messages.inertia_shapes import equivalent_ellipsoid, ModelView, THINNEST
from rbd_ros.spatial import RigidBodyInertia

ARM = str(resource_path('urdf', 'two_link_arm.urdf'))
SIX = str(resource_path('urdf', 'six_axis_arm.urdf'))


def body(mass, center, about_center):
    return RigidBodyInertia.from_mass_center(mass, center, np.asarray(about_center).tolist())


def rotation(axis, angle):
    x, y, z = axis
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + math.sin(angle) * K + (1 - math.cos(angle)) * K @ K


# -- shapes ---------------------------------------------------------------------------------------


def test_a_solid_ellipsoid_is_found_again_however_it_is_turned():
    mass, axes, center = 3.0, np.array([0.1, 0.2, 0.4]), (0.3, -0.2, 0.5)
    E = rotation((0.6, 0.0, 0.8), 0.7)
    squares = axes**2
    moments = mass / 5 * (squares.sum() - squares)
    found = equivalent_ellipsoid(body(mass, center, E @ np.diag(moments) @ E.T))
    assert sorted(found.semi_axes) == pytest.approx(sorted(axes))
    assert found.pose[:3, 3] == pytest.approx(center)
    R = found.pose[:3, :3]
    assert np.linalg.det(R) == pytest.approx(1.0)
    for length, direction in zip(found.semi_axes, R.T):
        [k] = np.flatnonzero(np.isclose(axes, length))
        assert abs(direction @ E[:, k]) == pytest.approx(1.0)


def test_a_box_has_the_inertia_of_its_ellipsoid():
    mass, (a, b, c) = 2.0, (0.1, 0.3, 0.5)
    moments = mass / 12 * np.array([b**2 + c**2, a**2 + c**2, a**2 + b**2])
    found = equivalent_ellipsoid(body(mass, (0, 0, 0), np.diag(moments)))
    assert sorted(found.semi_axes) == pytest.approx(sorted(np.sqrt(5 / 12) * np.array([a, b, c])))


def test_a_flat_or_impossible_body_is_drawn_thin():
    rod = equivalent_ellipsoid(body(1.0, (0, 0, 0), np.diag([0.1, 0.1, 0.0])))
    assert sorted(rod.semi_axes)[:2] == pytest.approx([THINNEST] * 2)
    impossible = equivalent_ellipsoid(body(1.0, (0, 0, 0), np.diag([0.1, 0.1, 1.0])))
    assert np.isfinite(impossible.semi_axes).all() and (impossible.semi_axes > 0).all()


def test_without_mass_there_is_no_ellipsoid():
    assert equivalent_ellipsoid(RigidBodyInertia.zero()) is None


def test_center_of_mass_is_that_of_the_robot():
    robot = Robot.from_urdf(SIX)
    view = ModelView(robot.model)
    q = np.array([0.3, -0.5, 1.5, 0.5, 1.0, 0.2])
    assert view.mass == pytest.approx(sum(b.inertia.mass for b in robot.model.bodies))
    assert view.center_of_mass(view.poses(q)) == pytest.approx(robot.center_of_mass(q))


def test_ellipsoids_are_where_the_bodies_are():
    robot = Robot.from_urdf(SIX)
    view = ModelView(robot.model)
    poses = view.poses(np.array([0.3, -0.5, 1.5, 0.5, 1.0, 0.2]))
    found = dict(view.ellipsoids(poses))
    i = robot.body_names.index('forearm_link') + 1
    _, center, _ = robot.model.body(i).inertia.mass_center()
    assert found['forearm_link'].pose[:3, 3] == pytest.approx((poses[i] @ [*center, 1.0])[:3])


def test_bars_turn_with_their_joints_and_show_the_share_of_the_limit():
    robot = Robot.from_urdf(SIX)
    view, q = ModelView(robot.model), np.array([math.pi / 2, 0.2, 0.4, 0.0, 0.0, 0.0])
    torques = np.array([15.0, -75.0, 300.0, -56.0, 2.0, 1.0])
    limits = np.array([150.0, 150.0, 150.0, 28.0, math.inf, 0.0])
    bars = view.bars(q, view.poses(q), torques, limits)
    assert [bar.name for bar in bars] == list(robot.joint_names)
    assert [bar.share for bar in bars] == [pytest.approx(0.1), -0.5, 1.0, -1.0, None, None]
    assert bars[0].axis == pytest.approx([0, 0, 1])
    assert bars[1].axis == pytest.approx([-1, 0, 0])  # y, turned by a quarter about z
    assert bars[2].origin == pytest.approx(robot.frame('elbow_joint').pose(q)[:3, 3])
    assert bars[2].torque == 300.0


def test_a_bar_of_a_slide_points_where_it_moves():
    text = (
        '<robot name="r"><link name="base"/><link name="slide"><inertial><mass value="2"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="lift" type="prismatic"><parent link="base"/><child link="slide"/>'
        '<axis xyz="0 0 1"/><limit lower="0" upper="1" effort="40" velocity="1"/></joint></robot>'
    )
    view, q = ModelView(Robot.from_urdf(text).model), np.array([0.5])
    [bar] = view.bars(q, view.poses(q), np.array([20.0]), np.array([40.0]))
    assert bar.axis == pytest.approx([0, 0, 1]) and bar.share == 0.5
    assert bar.origin == pytest.approx([0, 0, 0.5])


def test_colors_go_from_green_to_red():
    outside.load('rclpy')
    from rbd_ros.nodes.messages.model_markers import GRAY, saturation_color

    reds, greens = zip(*(saturation_color(share)[:2] for share in (0.0, 0.25, 0.5, 0.75, 1.0)))
    assert list(reds) == sorted(reds) and list(greens) == sorted(greens, reverse=True)
    assert reds[0] == 0.0 and greens[-1] == 0.0
    assert saturation_color(-0.5) == saturation_color(0.5)
    assert saturation_color(2.0) == saturation_color(1.0)
    assert saturation_color(None) == GRAY


def test_markers_are_complete_and_replace_the_last_ones():
    outside.load('rclpy')
    from visualization_msgs.msg import Marker

    from rbd_ros.nodes.messages import model_markers as markers

    robot = Robot.from_urdf(SIX)
    view, q = ModelView(robot.model), np.full(6, 0.3)
    torques = np.array([0.0, 75.0, -150.0, 1.0, 1.0, 1.0])
    limits = np.array([150.0, 150.0, 150.0, 28.0, 28.0, math.inf])
    found = markers.model_markers(view, q, torques, limits, 'left/base', 3_000_000_007)
    assert found[0].action == Marker.DELETEALL
    assert {m.header.frame_id for m in found} == {'left/base'}
    assert {(m.header.stamp.sec, m.header.stamp.nanosec) for m in found} == {(3, 7)}
    assert len({(m.ns, m.id) for m in found[1:]}) == len(found) - 1
    kinds = {
        ns: [m for m in found if m.ns == ns]
        for ns in (markers.CENTER, markers.INERTIA, markers.TORQUE)
    }
    [center] = kinds[markers.CENTER]
    at = center.pose.position
    assert (at.x, at.y, at.z) == pytest.approx(tuple(robot.center_of_mass(q)))
    assert center.scale.x == center.scale.z == pytest.approx(markers.CENTER_SIZE)
    ellipsoids = view.ellipsoids(view.poses(q))
    assert len(kinds[markers.INERTIA]) == len(ellipsoids) == 6
    for marker, (_, shape) in zip(kinds[markers.INERTIA], ellipsoids):
        assert marker.type == Marker.SPHERE
        scale = (marker.scale.x, marker.scale.y, marker.scale.z)
        assert scale == pytest.approx(tuple(2 * shape.semi_axes))
        o = marker.pose.orientation
        assert o.x**2 + o.y**2 + o.z**2 + o.w**2 == pytest.approx(1.0)
        turned = 1 - 2 * (o.y**2 + o.z**2), 2 * (o.x * o.y + o.z * o.w)
        assert turned == pytest.approx((shape.pose[0, 0], shape.pose[1, 0]))
    lengths = {}
    for marker in kinds[markers.TORQUE]:
        a, b = marker.points
        lengths[marker.id] = math.dist((a.x, a.y, a.z), (b.x, b.y, b.z))
        assert 0.0 < marker.color.a <= 1.0
    assert 0 not in lengths  # no torque, no arrow
    assert lengths[1] == pytest.approx(0.5 * markers.FULL_LENGTH)
    assert lengths[2] == pytest.approx(markers.FULL_LENGTH)
    assert lengths[5] == pytest.approx(0.5 * markers.FULL_LENGTH)  # a limit is not known
    bars = view.bars(q, view.poses(q), torques, limits)
    down = next(m for m in kinds[markers.TORQUE] if m.id == 2).points
    way = np.array([getattr(down[1], c) - getattr(down[0], c) for c in 'xyz'])
    assert way @ bars[2].axis < 0.0


# -- the topic ------------------------------------------------------------------------------------


@pytest.fixture(scope='module')
def listening(ros):
    from node_harness import Feed, joint_state, TWO_LINK_ARM
    from sensor_msgs.msg import JointState

    process = ros.start(
        'gravity_compensation', {'robot_description': TWO_LINK_ARM, 'frame_prefix': 'left/'}
    )
    states = ros.publisher(JointState, 'joint_states')
    torques = ros.listen(JointState, 'joint_commands')
    with Feed(states, joint_state(position=(0.3, -1.1))):
        ros.until(lambda: torques, 'a torque')
        yield ros, process


def test_markers_for_subscribers_show_the_gravity_torque(listening):
    from node_harness import TWO_LINK_ARM
    from visualization_msgs.msg import MarkerArray

    ros, process = listening
    received = ros.listen(MarkerArray, 'gravity_compensation/model_markers')
    ros.until(lambda: len(received) > 3, 'markers')
    found = received[-1].markers
    robot = Robot.from_urdf(TWO_LINK_ARM)
    q = np.array([0.3, -1.1])
    assert {m.header.frame_id for m in found} == {f'left/{next(iter(robot.model.links))}'}
    [center] = [m for m in found if m.ns == 'center_of_mass']
    at = center.pose.position
    assert (at.x, at.y, at.z) == pytest.approx(tuple(robot.center_of_mass(q)))
    arrows = {m.id: m for m in found if m.ns == 'gravity_torque'}
    shares = robot.gravity_torque(q) / robot.effort_limits
    for k, share in enumerate(shares):
        a, b = arrows[k].points
        length = math.dist((a.x, a.y, a.z), (b.x, b.y, b.z))
        assert length == pytest.approx(0.3 * min(abs(share), 1.0))
