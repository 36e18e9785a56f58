# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Pose targets: joint motions for accepted ones, and reasons for rejected ones."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from support import outside

outside.load('rclpy')

from geometry_msgs.msg import PoseStamped

from rbd_ros import Robot
from rbd_ros.lookup.resources import resource_path
from rbd_ros.nodes.inverse_dynamics import INTERFACE
from rbd_ros.nodes.messages.conversions import set_stamp
from rbd_ros.nodes.torque import pose_target
from rbd_ros.nodes.torque.pose_target import PoseTargets
from rbd_ros.spatial.rotation import rotation_to_quaternion

NOW = 5_000_000_000
HOME = np.array([0.1, -1.2, 1.3, -0.9, -1.1, 0.2])


class Reference:
    """Stand-in for the reference that records motions and rejections."""

    def __init__(self, arm):
        self.joint_names, self.desired_position = tuple(arm.joint_names), HOME
        self.time, self.followed, self.reported = NOW, [], []
        self.received, self.is_at_rest = 0, True

    def present_time(self):
        return self.time

    def count_received(self):
        self.received += 1

    def tolerances(self):
        return 'tolerances'

    def follow(self, *given):
        self.followed.append(given)

    def report_rejection(self, error, what):
        assert what == 'pose'
        self.reported.append((error.code, str(error)))


@pytest.fixture(scope='module')
def arm():
    return Robot.from_urdf(resource_path('urdf', 'six_axis_arm.urdf'))


@pytest.fixture
def targets(arm, monkeypatch):
    topics = []
    monkeypatch.setattr(pose_target, 'subscription', lambda node, topic, use: topics.append(topic))
    values = {p.name: p.default for p in INTERFACE.parameters} | {
        'task_frame': 'tool0',
        'frame_prefix': 'left/',
    }
    node = SimpleNamespace(parameters=values, interface=INTERFACE, answering=True)
    made = PoseTargets(node, arm, Reference(arm))
    made.values, made.node = values, node
    assert [each.name for each in topics] == ['~/desired_pose']
    return made


def message(arm, q=HOME + 0.2, **changes):
    made = PoseStamped()
    pose = arm.frame('tool0').pose(q)
    p, o = made.pose.position, made.pose.orientation
    p.x, p.y, p.z = pose[:3, 3].tolist()
    o.w, o.x, o.y, o.z = rotation_to_quaternion(tuple(map(tuple, pose[:3, :3].tolist())))
    for name, value in changes.items():
        if name == 'frame':
            made.header.frame_id = value
        elif name == 'stamp':
            set_stamp(made.header.stamp, value)
        else:
            part, axis = name.split('_')
            setattr(getattr(made.pose, part), axis, value)
    return made


@pytest.mark.parametrize('frame', ['', 'left/base_link', '/left/base_link'])
@pytest.mark.parametrize('stamp', [0, NOW, NOW - 400_000_000, NOW + 400_000_000])
def test_a_reachable_pose_is_reached_at_the_requested_speed(arm, targets, frame, stamp):
    base = next(link.name for link in arm.model.links.values() if link.body == 0)
    targets.on_pose(message(arm, frame=frame.replace('base_link', base), stamp=stamp))
    ((names, times, points, v, a, begin, tolerances),) = targets._reference.followed
    assert names == tuple(arm.joint_names) and (v, a, begin) == (None, None, 0)
    assert tolerances == 'tolerances' and targets._reference.received == 1
    np.testing.assert_allclose(points[0], HOME + 0.2, atol=2e-3)
    fastest = (1.5 * np.abs(points[0] - HOME) / times[0] / arm.velocity_limits).max()
    assert fastest == pytest.approx(targets.values['pose_velocity_scaling'])


def test_a_pose_that_is_there_already_takes_a_moment(arm, targets):
    targets.on_pose(message(arm, HOME))
    assert targets._reference.followed[0][1] == [pose_target.SHORTEST]


@pytest.mark.parametrize(
    'changes, code',
    [
        ({'frame': 'tool0'}, 'frame'),
        ({'frame': 'base_link'}, 'frame'),  # without the prefix
        ({'stamp': NOW - 600_000_000}, 'stale'),
        ({'stamp': NOW + 600_000_000}, 'stale'),
        ({'position_x': math.nan}, 'not finite'),
        ({'position_z': -math.inf}, 'not finite'),
        ({'orientation_w': math.nan}, 'not finite'),
        ({'position_y': 2e3}, 'too far'),
        ({'position_y': -2e3}, 'too far'),
        ({'orientation_x': 3.0}, 'not a unit quaternion'),
        ({'orientation_x': 1e200}, 'not a unit quaternion'),
        ({'position_x': 5.0}, 'out of reach'),
    ],
)
def test_a_pose_that_cannot_be_is_rejected_by_its_kind(arm, targets, changes, code):
    targets.on_pose(message(arm, **changes))
    assert not targets._reference.followed
    assert [code for code, _ in targets._reference.reported] == [f'pose {code}']


def test_all_zeros_are_no_orientation(arm, targets):
    targets.on_pose(PoseStamped())
    # rclpy's default has w = 1; one that is zero has none
    empty = PoseStamped()
    empty.pose.orientation.w = 0.0
    targets.on_pose(empty)
    assert targets._reference.reported[-1][0] == 'pose not a unit quaternion'


def test_without_a_frame_or_a_state_poses_are_rejected(arm, targets):
    targets.values['task_frame'] = ''
    targets.on_pose(message(arm))
    targets.values['task_frame'] = 'tool0'
    targets._reference.time = None
    targets.on_pose(message(arm))
    targets._reference.time, targets.node.answering = NOW, False
    targets.on_pose(message(arm))
    codes = [code for code, _ in targets._reference.reported]
    assert codes == ['pose no task_frame', 'pose no state', 'pose no state']
    assert not targets._reference.followed


def test_poses_of_any_age_are_accepted_on_request(arm, targets):
    targets.values['pose_stamp_tolerance'] = 0.0
    targets.on_pose(message(arm, stamp=1))
    assert targets._reference.followed and not targets._reference.reported


def test_a_joint_without_a_limit_of_speed_has_one_here(arm, targets):
    targets._speeds[:] = pose_target.WITHOUT_LIMIT
    targets.on_pose(message(arm))
    ((_, times, points, *_),) = targets._reference.followed
    longest = np.abs(points[0] - HOME).max()
    assert times[0] == pytest.approx(1.5 * longest / targets.values['pose_velocity_scaling'])


def poses_within_reach(arm, count=40):
    """Yield the poses of the tool at random positions of the joints, and these."""
    rng = np.random.default_rng(7)
    for _ in range(count):
        q = rng.uniform(np.maximum(arm.lower_limits, -3.0), np.minimum(arm.upper_limits, 3.0))
        yield q, arm.frame('tool0').pose(q)


def is_reached(arm, pose, starts):
    return arm.frame('tool0').inverse_kinematics(pose, HOME, starts=starts).reached


def test_an_arm_goes_over_to_another_configuration_at_rest_alone(arm, targets):
    q, _ = next(
        (q, pose)
        for q, pose in poses_within_reach(arm)
        if not is_reached(arm, pose, 1) and is_reached(arm, pose, 5)
    )
    reference = targets._reference
    reference.is_at_rest = False
    targets.on_pose(message(arm, q))
    assert not reference.followed
    ((code, text),) = reference.reported
    assert code == 'pose out of reach' and 'at rest, the node tries other configurations' in text
    reference.is_at_rest, targets.values['ik_attempts'] = True, 1
    targets.on_pose(message(arm, q))
    assert not reference.followed and 'other configurations' not in reference.reported[-1][1]
    targets.values['ik_attempts'] = 5
    targets.on_pose(message(arm, q))
    assert len(reference.followed) == 1
