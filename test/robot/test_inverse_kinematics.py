# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Inverse kinematics: solutions within limits, and errors of unreachable poses."""

import math
import pickle
import threading

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest
from scipy.spatial.transform import Rotation
from support import example_robots, outside, random_trees
from support.all_joints import example_id, JOINTS, slope, tree
from support.urdf_text import joint, link, robot as urdf

from rbd_ros import Robot
from rbd_ros.compiler.loops import allocate, Mat, Vec
from rbd_ros.compiler.runtime.batches import set_threads, threads
from rbd_ros.lookup.resources import resource_path
from rbd_ros.model import ModelError
from rbd_ros.robot.inverse_kinematics import (
    descend,
    find_columns,
    find_residual,
    find_step,
    Goals,
    InverseKinematicsSolver,
    reach_poses,
    rotation_vector,
    Search,
    take_step,
)

TOOLS = {  # arms that people use, and their last links
    'ur5_robot': 'tool0',
    'ur5_joint_limited_robot': 'tool0',
    'panda': 'panda_link8',
    'kinova': 'j2s6s200_end_effector',
    'xarm7': 'link7',
}
POSITION, ORIENTATION = (0, 0, 0, 1, 1, 1), (1, 1, 1, 0, 0, 0)


@pytest.fixture(scope='module')
def arm():
    return Robot.from_urdf(resource_path('urdf', 'six_axis_arm.urdf'))


@pytest.fixture(scope='module')
def tool(arm):
    return arm.frame('tool0')


def errors(robot, frame, q, pose):
    """Return distance [m] and angle [rad] between the pose of a frame and another one."""
    T = robot.frame(frame).pose(q)
    turn = Rotation.from_matrix(pose[:3, :3].T @ T[:3, :3]).magnitude()
    return np.linalg.norm(T[:3, 3] - pose[:3, 3]), turn


def planar_arm(*lengths, limits=(-3.0, 3.0)):
    """Return hinges about z, a link's length along x apart, and the link 'tip' at the end."""
    limit = f'<limit lower="{limits[0]}" upper="{limits[1]}" velocity="1" effort="1"/>'
    shifts = (0.0, *lengths)
    parts = [link('l0')]
    for k in range(1, len(lengths) + 1):
        origin = f'<origin xyz="{shifts[k - 1]} 0 0"/>'
        parts += [link(f'l{k}'), joint(f'j{k}', f'l{k - 1}', f'l{k}', inside=limit + origin)]
    end = f'<origin xyz="{lengths[-1]} 0 0"/>'
    parts += [link('tip'), joint('end', f'l{len(lengths)}', 'tip', 'fixed', end, axis=None)]
    return Robot.from_urdf(urdf(*parts))


def at(x, y=0.0, z=0.0, angle=0.0):
    """Return the pose at a position, turned about z."""
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = Rotation.from_euler('z', angle).as_matrix(), (x, y, z)
    return pose


# -- poses within reach


@pytest.mark.parametrize('name', TOOLS)
def test_nearly_all_poses_of_real_arms_are_reached_within_limits(name):
    """The promise is 99.5 % of 10 000; measured in benchmark/inverse_kinematics.py."""
    robot = Robot.from_urdf(example_robots.path(name))
    frame = robot.frame(TOOLS[name])
    poses = frame.pose(robot.random_configurations(1000, np.random.default_rng(1)))
    found = frame.inverse_kinematics(poses)
    assert found.reached.mean() >= 0.995
    assert ((robot.lower_limits <= found.q) & (found.q <= robot.upper_limits)).all()
    T, reached = frame.pose(found.q), found.reached
    assert_allclose(T[reached], poses[reached], atol=3e-9)
    assert (found.position_error[reached] <= 1e-9).all()
    assert (found.rotation_error[reached] <= 1e-9).all()


def test_pinocchio_agrees_that_poses_are_reached(arm, tool):
    pin = outside.load('pinocchio')
    model = pin.buildModelFromUrdf(str(resource_path('urdf', 'six_axis_arm.urdf')))
    data, frame = model.createData(), model.getFrameId('tool0')
    poses = tool.pose(arm.random_configurations(100, np.random.default_rng(2)))
    found = tool.inverse_kinematics(poses)
    assert found.reached.all()
    for q, pose in zip(found.q, poses):
        pin.framesForwardKinematics(model, data, q)
        left = pin.log6(data.oMf[frame].actInv(pin.SE3(pose)))
        assert np.abs(left.vector).max() < 3e-9


def test_an_elbow_is_found_on_either_side():
    """Law of cosines: both configurations of two links for a point, each from its side."""
    robot = planar_arm(1.0, 0.7)
    tip, x, y = robot.frame('tip'), 0.9, 0.6
    elbow = math.acos((x * x + y * y - 1.0 - 0.49) / (2.0 * 0.7))
    for side in (1.0, -1.0):
        q2 = side * elbow
        q1 = math.atan2(y, x) - math.atan2(0.7 * math.sin(q2), 1.0 + 0.7 * math.cos(q2))
        start = np.array([q1, q2]) + 0.3 * side
        found = tip.inverse_kinematics(at(x, y), start, weights=POSITION)
        assert found.reached and found.starts == 1
        assert_allclose(found.q, [q1, q2], atol=1e-8)


def test_three_links_reach_a_planar_pose():
    robot = planar_arm(0.8, 0.6, 0.3)
    tip, x, y, angle = robot.frame('tip'), 0.5, 0.7, 1.9
    wrist = np.array([x - 0.3 * math.cos(angle), y - 0.3 * math.sin(angle)])
    q2 = math.acos((wrist @ wrist - 0.64 - 0.36) / (2.0 * 0.8 * 0.6))
    q1 = math.atan2(*wrist[::-1]) - math.atan2(0.6 * math.sin(q2), 0.8 + 0.6 * math.cos(q2))
    found = tip.inverse_kinematics(at(x, y, 0.0, angle), [q1, q2, 0.0])
    assert found.reached
    assert_allclose(found.q, [q1, q2, angle - q1 - q2], atol=1e-8)


def test_near_a_start_the_error_is_squared_in_each_step(arm, tool):
    rng = np.random.default_rng(3)
    for _ in range(20):
        q = rng.uniform(0.3, 1.2, 6)
        found = tool.inverse_kinematics(tool.pose(q), q + rng.uniform(-0.1, 0.1, 6))
        assert found.starts == 1 and found.iterations <= 6
        assert_allclose(found.q, q, atol=1e-7)


@pytest.mark.parametrize('joint', JOINTS, ids=example_id)
def test_joints_of_all_types_reach(joint):
    """A hinge, the joint, a slider and the joint again: poses of random configurations."""
    robot = Robot(tree(joint, 1))
    name = robot.link_names[-1]
    rng = np.random.default_rng(4)
    for q in robot.random_configurations(3, rng):
        pose = robot.frame(name).pose(q)
        found = robot.frame(name).inverse_kinematics(pose, q)
        assert found.reached and found.iterations == 0
        start = robot.integrate(q, rng.uniform(-0.05, 0.05, robot.nv))
        found = robot.frame(name).inverse_kinematics(pose, start)
        assert found.reached
        distance, angle = errors(robot, name, found.q, pose)
        assert distance < 1e-8 and angle < 1e-7


def test_a_mimic_joint_follows_within_its_limits():
    limit = '<limit lower="-0.5" upper="1" velocity="1" effort="1"/><origin xyz="0.3 0 0"/>'
    mimic = limit + '<mimic joint="a" multiplier="-2" offset="0.1"/>'
    robot = Robot.from_urdf(
        urdf(
            *(link(name) for name in 'bcd'),
            joint('a', 'b', 'c', inside=limit),
            joint('f', 'c', 'd', inside=mimic),
        )
    )
    assert robot.nq == 1
    finger, q = robot.frame('d'), np.array([0.2])
    found = finger.inverse_kinematics(finger.pose(q))
    assert found.reached
    assert_allclose(found.q, q, atol=1e-8)
    # -2 q + 0.1 >= -0.5 ends at 0.3
    beyond = finger.inverse_kinematics(finger.pose(np.array([0.8])))
    assert not beyond.reached
    assert_allclose(beyond.q, robot.upper_limits, atol=1e-12)
    assert_allclose(robot.upper_limits, 0.3)


# -- tasks


def test_position_alone_leaves_the_orientation_free(arm, tool):
    q = arm.random_configuration(np.random.default_rng(5))
    pose, start = tool.pose(q), np.full(6, 0.4)
    found = tool.inverse_kinematics(pose, start, weights=POSITION)
    distance, angle = errors(arm, 'tool0', found.q, pose)
    assert found.reached and distance < 2e-9 and angle > 0.1
    assert found.rotation_error == 0.0


def test_orientation_alone_leaves_the_position_free(arm, tool):
    q = arm.random_configuration(np.random.default_rng(6))
    pose, start = tool.pose(q), np.full(6, 0.4)
    found = tool.inverse_kinematics(pose, start, weights=ORIENTATION)
    distance, angle = errors(arm, 'tool0', found.q, pose)
    assert found.reached and angle < 2e-9 and distance > 0.01
    assert found.position_error == 0.0


@pytest.mark.parametrize('axis', range(3))
def test_an_axis_without_weight_is_one_of_the_pose(arm, tool, axis):
    """A symmetric tool may turn about its own axis, and a probe slide along it."""
    rng, free = np.random.default_rng(7), np.eye(3)[axis]
    for q in arm.random_configurations(10, rng):
        pose = tool.pose(q)
        weights = np.ones(6)
        weights[axis] = 0.0
        found = tool.inverse_kinematics(pose, np.full(6, 0.4), weights=weights)
        T = tool.pose(found.q)
        turn = Rotation.from_matrix(pose[:3, :3].T @ T[:3, :3]).as_rotvec()
        assert found.reached
        assert_allclose(np.cross(turn, free), 0.0, atol=3e-9)
        assert_allclose(T[:3, 3], pose[:3, 3], atol=3e-9)
        weights = np.ones(6)
        weights[3 + axis] = 0.0
        found = tool.inverse_kinematics(pose, np.full(6, 0.4), weights=weights)
        T = tool.pose(found.q)
        shift = pose[:3, :3].T @ (T[:3, 3] - pose[:3, 3])
        assert found.reached
        assert_allclose(shift * (1.0 - free), 0.0, atol=3e-9)


def test_weights_balance_position_and_orientation_out_of_reach():
    """A hinge between a point at 0 and an orientation at 90 degrees."""
    tip = planar_arm(1.0).frame('tip')
    pose = at(1.0, 0.0, 0.0, 0.5 * math.pi)
    turned = tip.inverse_kinematics(pose, weights=(100, 100, 100, 1, 1, 1))
    placed = tip.inverse_kinematics(pose, weights=(1, 1, 1, 100, 100, 100))
    assert turned.q[0] == pytest.approx(0.5 * math.pi, abs=1e-3)
    assert placed.q[0] == pytest.approx(0.0, abs=1e-3)
    # Where d/dq of (q - pi/2)^2 + |p - (1, 0)|^2 = (q - pi/2)^2 + 2 - 2 cos q is zero.
    equal = tip.inverse_kinematics(pose).q[0]
    assert equal - 0.5 * math.pi + math.sin(equal) == pytest.approx(0.0, abs=1e-6)


def test_a_tolerance_that_is_met_earlier_takes_fewer_steps(tool):
    pose = tool.pose([0.5, -0.9, 1.1, 0.3, 0.8, 0.2])
    start = np.array([0.2, -0.6, 0.9, 0.5, 0.6, 0.0])
    loose = tool.inverse_kinematics(pose, start, tolerance=1e-2)
    tight = tool.inverse_kinematics(pose, start, tolerance=1e-12)
    assert loose.reached and tight.reached and loose.iterations < tight.iterations
    assert 1e-12 < loose.position_error < 1e-2
    assert max(tight.position_error, tight.rotation_error) <= 1e-12


# -- unreachable poses


def test_a_point_out_of_reach_is_missed_by_the_distance_beyond():
    robot = planar_arm(1.0, 0.7)
    found = robot.frame('tip').inverse_kinematics(at(1.8, 2.4), weights=POSITION)
    assert not found.reached
    assert found.position_error == pytest.approx(3.0 - 1.7, abs=1e-9)
    assert_allclose(found.q, [math.atan2(2.4, 1.8), 0.0], atol=1e-4)


def test_a_point_beyond_a_limit_is_approached_up_to_it():
    robot = planar_arm(2.0, limits=(-0.4, 0.5))
    found = robot.frame('tip').inverse_kinematics(
        at(2.0 * math.cos(1.1), 2.0 * math.sin(1.1)), weights=POSITION
    )
    assert not found.reached
    assert_array_equal(found.q, robot.upper_limits)
    assert found.position_error == pytest.approx(4.0 * math.sin(0.3), abs=1e-12)


def test_errors_are_those_of_the_configuration(arm, tool):
    rng = np.random.default_rng(8)
    for q in arm.random_configurations(10, rng):
        pose = tool.pose(q)
        pose[:3, 3] *= 2.5
        found = tool.inverse_kinematics(pose, starts=3)
        assert_allclose(
            (found.position_error, found.rotation_error),
            errors(arm, 'tool0', found.q, pose),
            rtol=1e-9,
            atol=1e-12,
        )
        assert found.starts == 3 or found.reached


def test_other_joints_minimize_the_error_while_one_is_at_its_limit():
    """The first of two joints is at its limit: the other one alone brings the point nearest."""
    robot = planar_arm(1.0, 1.0, limits=(-1.0, 1.0))
    target = 2.0 * np.array([math.cos(1.4), math.sin(1.4)])
    found = robot.frame('tip').inverse_kinematics(at(*target), weights=POSITION)
    assert found.q[0] == 1.0
    elbow = np.array([math.cos(1.0), math.sin(1.0)])
    assert found.q[1] == pytest.approx(math.atan2(*(target - elbow)[::-1]) - 1.0, abs=1e-4)


# -- starts


def test_more_starts_reach_more_poses(arm, tool):
    poses = tool.pose(arm.random_configurations(200, np.random.default_rng(9)))
    one, many = (tool.inverse_kinematics(poses, starts=k) for k in (1, 20))
    assert one.reached.mean() < 0.95 and many.reached.mean() > 0.99
    assert (one.starts == 1).all() and many.starts.max() > 3


def test_equal_calls_are_bitwise_identical_and_another_seed_differs(tool):
    pose = tool.pose([0.5, -0.9, 1.1, 0.3, 0.8, 0.2])
    first, again = tool.inverse_kinematics(pose), tool.inverse_kinematics(pose)
    assert_array_equal(first.q, again.q)
    assert first[1:] == again[1:]
    others = [tool.inverse_kinematics(pose, seed=seed) for seed in range(1, 5)]
    assert all(each.reached for each in others)
    assert max(np.abs(each.q - first.q).max() for each in others) > 0.1


def test_a_start_that_is_the_answer_is_returned(arm, tool):
    q = np.array([0.1, -0.5, 1.5, 0.5, 1.0, 0.1])
    found = tool.inverse_kinematics(tool.pose(q), q)
    assert_array_equal(found.q, q)
    assert (found.iterations, found.starts) == (0, 1)


def test_a_start_beyond_the_limits_is_brought_within():
    robot = planar_arm(1.0, limits=(-0.4, 0.5))
    tip = robot.frame('tip')
    for start in (-9.0, 9.0):
        found = tip.inverse_kinematics(at(math.cos(0.2), math.sin(0.2)), [start], weights=POSITION)
        assert found.reached and found.q[0] == pytest.approx(0.2)


@pytest.mark.parametrize('kind', ['continuous', 'revolute'])
def test_whole_turns_are_those_nearest_to_the_start(kind):
    inside = (
        '' if kind == 'continuous' else '<limit lower="-7" upper="7" velocity="1" effort="1"/>'
    )
    kind = 'continuous' if kind == 'continuous' else 'revolute'
    robot = Robot.from_urdf(urdf(link('a'), link('b'), joint('j', 'a', 'b', kind, inside)))
    frame = robot.frame('b')
    for start in (5.9, -5.9, 0.3):
        found = frame.inverse_kinematics(at(0.0, angle=2.0), [start])
        expected = 2.0 + 2.0 * math.pi * round((start - 2.0) / (2.0 * math.pi))
        assert found.reached
        if kind == 'revolute' and abs(expected) > 7.0:
            expected -= math.copysign(2.0 * math.pi, expected)
        assert found.q[0] == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize('side', [1.0, -1.0])
def test_a_joint_with_a_whole_turn_between_its_limits_continues_at_the_other_end(side):
    """Also if the description has rounded the turn."""
    limit = '<limit lower="-3.14159265" upper="3.14159265" velocity="1" effort="1"/>'
    robot = Robot.from_urdf(urdf(link('a'), link('b'), joint('j', 'a', 'b', inside=limit)))
    found = robot.frame('b').inverse_kinematics(at(0.0, angle=-3.0 * side), [3.0 * side], starts=1)
    assert found.reached and found.q[0] == pytest.approx(-3.0 * side)


# -- postures


@pytest.mark.parametrize('name', ['panda', 'xarm7'])
def test_a_posture_is_approached_as_far_as_the_pose_allows(name):
    """Where no limit acts, the way that is left to the posture is no motion of the nullspace."""
    robot = Robot.from_urdf(example_robots.path(name))
    frame = robot.frame(TOOLS[name])
    moved = np.abs(frame.jacobian(np.full(robot.nq, 0.4))).max(axis=0) > 0.0
    posture, interior = robot.random_configuration(np.random.default_rng(10)), 0
    posture = 0.5 * (posture + np.clip(0.0, robot.lower_limits, robot.upper_limits))
    for q in robot.random_configurations(20, np.random.default_rng(11)):
        pose = frame.pose(q)
        free = frame.inverse_kinematics(pose, q)
        near = frame.inverse_kinematics(pose, q, posture=posture)
        assert near.reached and max(errors(robot, TOOLS[name], near.q, pose)) < 1e-8
        assert np.linalg.norm(near.q - posture) <= np.linalg.norm(free.q - posture) + 1e-12
        assert ((robot.lower_limits <= near.q) & (near.q <= robot.upper_limits)).all()
        if ((robot.lower_limits < near.q) & (near.q < robot.upper_limits))[moved].all():
            J = frame.jacobian(near.q)
            left = (posture - near.q)[moved]
            nullspace = left - np.linalg.pinv(J[:, moved]) @ (J[:, moved] @ left)
            interior += np.abs(nullspace).max() < 1e-3 * np.abs(left).max()
    assert interior >= 8


def test_a_posture_that_has_the_pose_is_reached():
    """Position alone of three links: two degrees of freedom of one posture are enough."""
    robot = planar_arm(0.8, 0.6, 0.3)
    tip, posture = robot.frame('tip'), np.array([0.4, 0.7, -0.5])
    found = tip.inverse_kinematics(
        tip.pose(posture), posture + [0.2, -0.3, 0.4], weights=POSITION, posture=posture
    )
    assert found.reached
    assert_allclose(found.q, posture, atol=1e-5)


# -- joints that do not move


def test_a_floating_base_and_other_branches_stay_at_the_start():
    robot = Robot.from_urdf(example_robots.path('go1'), floating_base=True)
    foot = robot.frame('FL_foot')
    rng = np.random.default_rng(12)
    start = robot.random_configuration(rng)
    q = robot.integrate(start, np.r_[np.zeros(6), rng.uniform(-0.2, 0.2, robot.nv - 6)])
    q = np.clip(q, robot.lower_limits, robot.upper_limits)
    pose = foot.pose(q)
    found = foot.inverse_kinematics(pose, start, weights=POSITION)
    assert found.reached
    moved = np.abs(robot.difference(start, found.q)) > 1e-12
    legs = [name.startswith('FL_') for name in robot.joint_names[1:]]
    assert not moved[:6].any() and moved[6:].tolist() == legs


def test_a_random_start_leaves_other_branches_alone():
    robot = Robot.from_urdf(example_robots.path('go1'))
    foot, start = robot.frame('FL_foot'), np.full(robot.nq, 0.1)
    start = np.clip(start, robot.lower_limits, robot.upper_limits)
    far = foot.inverse_kinematics(at(5.0), start, weights=POSITION, starts=5)
    assert far.starts == 5
    legs = np.array([name.startswith('FL_') for name in robot.joint_names])
    assert_array_equal(far.q[~legs], start[~legs])
    assert (far.q[legs] != start[legs]).any()


def test_kinematic_loops_are_rejected_by_name():
    robot = Robot.from_urdf(
        resource_path('urdf', 'four_bar.urdf'), extension=resource_path('config', 'four_bar.yaml')
    )
    name = robot.model.loops[0].name
    with pytest.raises(ModelError, match=f"kinematic loops \\('{name}'\\)"):
        robot.frame(robot.link_names[-1]).inverse_kinematics(np.eye(4))


def test_a_frame_that_nothing_moves_is_rejected(arm):
    with pytest.raises(ModelError, match="'base_link': no joint of 'six_axis_arm' moves it"):
        arm.frame('base_link').inverse_kinematics(np.eye(4))


# -- batches


def test_a_batch_is_bitwise_identical_to_its_poses(arm, tool):
    rng = np.random.default_rng(13)
    poses = tool.pose(arm.random_configurations(150, rng))
    poses[7, :3, 3] *= 3.0
    starts = arm.random_configurations(150, rng)
    posture = np.full(6, 0.1)
    before = threads()
    try:
        for count in (1, 3):
            set_threads(count)
            batch = tool.inverse_kinematics(poses, starts, posture=posture, starts=20)
            assert batch.q.shape == (150, 6) and batch.reached.dtype == bool
            assert not batch.reached[7]
            for k in range(150):
                one = tool.inverse_kinematics(poses[k], starts[k], posture=posture, starts=20)
                assert_array_equal(one.q, batch.q[k])
                assert one[1:] == tuple(field[k] for field in batch[1:])
    finally:
        set_threads(before)


def test_a_batch_may_have_one_start_and_be_empty(arm, tool):
    poses = tool.pose(arm.random_configurations(3, np.random.default_rng(14)))
    start = np.full(6, 0.3)
    batch = tool.inverse_kinematics(poses, start)
    assert_array_equal(batch.q[2], tool.inverse_kinematics(poses[2], start).q)
    assert tool.inverse_kinematics(np.empty((0, 4, 4))).q.shape == (0, 6)


def test_threads_do_not_disturb_each_other(arm, tool):
    poses = tool.pose(arm.random_configurations(40, np.random.default_rng(15)))
    expected = tool.inverse_kinematics(poses).q
    found = {}

    def work(number):
        found[number] = [tool.inverse_kinematics(pose).q for pose in poses]

    workers = [threading.Thread(target=work, args=(k,)) for k in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for number in range(3):
        assert_array_equal(found[number], expected)


def test_a_result_is_not_changed_by_the_next_call(tool):
    first = tool.inverse_kinematics(tool.pose(np.full(6, 0.3)))
    kept = first.q.copy()
    tool.inverse_kinematics(tool.pose(np.full(6, 0.9)))
    assert_array_equal(first.q, kept)


def test_a_frame_that_was_used_can_be_pickled(tool):
    pose = tool.pose(np.full(6, 0.3))
    expected = tool.inverse_kinematics(pose)
    again = pickle.loads(pickle.dumps(tool)).inverse_kinematics(pose)
    assert_array_equal(again.q, expected.q)


# -- arguments


@pytest.mark.parametrize(
    'given, message',
    [
        ({'pose': np.eye(3)}, r'pose must have shape \(4, 4\) or \(N, 4, 4\), got \(3, 3\)'),
        ({'pose': 'here'}, 'pose must hold real numbers'),
        ({'pose': [[1.0], [1.0, 2.0]]}, 'pose is not an array of numbers'),
        ({'pose': 2.0 * np.eye(4)}, 'pose must be a homogeneous matrix'),
        ({'pose': np.diag([1.0, 1.0, -1.0, 1.0])}, 'pose must be a homogeneous matrix'),
        ({'pose': np.full((4, 4), np.nan)}, 'pose must be a homogeneous matrix'),
        ({'pose': at(np.inf)}, 'a finite position'),
        ({'pose': at(0.5).T}, 'pose must be a homogeneous matrix'),
        ({'pose': [np.eye(4), np.zeros((4, 4))]}, 'pose 1 must be a homogeneous matrix'),
        ({'start': np.zeros(5)}, r'start must have shape \(6,\), got \(5,\)'),
        (
            {'pose': np.stack([np.eye(4)] * 2), 'start': np.zeros((3, 6))},
            r'start must have shape \(6,\) or \(2, 6\), got \(3, 6\)',
        ),
        ({'start': np.full(6, np.nan)}, 'start must be finite'),
        ({'posture': np.zeros(7)}, r'posture must have shape \(6,\), got \(7,\)'),
        ({'posture': np.full(6, np.inf)}, 'posture must be finite'),
        ({'weights': (1, 1, 1)}, 'weights must be six finite numbers from 0 on'),
        ({'weights': (1, 1, 1, 1, 1, -1)}, 'weights must be six finite numbers from 0 on'),
        ({'weights': (1, 1, 1, 1, 1, np.nan)}, 'weights must be six finite numbers from 0 on'),
        ({'weights': 'position'}, 'weights must be six finite numbers from 0 on'),
        ({'weights': (0,) * 6}, 'nothing to reach'),
        ({'tolerance': 0.0}, 'tolerance must be at least 1e-12, got 0.0'),
        ({'tolerance': np.nan}, 'tolerance must be at least 1e-12'),
        ({'starts': 0}, 'starts must be from 1 to 10000, got 0'),
        ({'starts': 10_001}, 'starts must be from 1 to 10000'),
        ({'seed': -1}, 'seed must be from 0 to 10000, got -1'),
    ],
)
def test_wrong_arguments_are_rejected(tool, given, message):
    with pytest.raises(ValueError, match=message):
        tool.inverse_kinematics(**{'pose': np.eye(4), **given})


# -- parts of the text


def test_the_rotation_vector_is_that_of_scipy():
    rng = np.random.default_rng(16)
    axes = rng.normal(size=(200, 3))
    axes /= np.linalg.norm(axes, axis=1)[:, None]
    angles = np.r_[rng.uniform(0.0, math.pi, 100), math.pi - 10.0 ** rng.uniform(-9, 0, 50)]
    angles = np.r_[angles, 10.0 ** rng.uniform(-12, -3, 50)]
    for axis, angle in zip(axes, angles):
        matrix = Rotation.from_rotvec(angle * axis).as_matrix()
        found = rotation_vector(as_matrix(matrix))
        assert_allclose(found, angle * axis, rtol=1e-12, atol=2e-15 + 1e-7 * (angle > 3.1415))
    assert rotation_vector(as_matrix(np.eye(3))) == (0.0, 0.0, 0.0)


def as_matrix(rows):
    return Mat(*(Vec(*row) for row in rows))


@pytest.fixture(scope='module')
def parts(arm):
    """Return constants and buffers of the six-axis arm, and a goal with weights of all sizes."""
    frame = InverseKinematicsSolver(arm._kernels, 'tool0')._frame.fields
    search = allocate(Search, nq=6, nv=6, uniforms=6)
    search.duration[0] = 1.0
    goals = allocate(Goals, poses=1, nq=6)
    goals.weights[:] = 0.7, 1.3, 0.2, 1.1, 0.4, 2.0
    return frame, search, goals


def test_columns_are_the_derivatives_of_the_residual(arm, tool, parts):
    """Also with large errors, where the logarithm is curved."""
    frame, search, goals = parts
    rng = np.random.default_rng(17)
    for q in arm.random_configurations(10, rng):
        goals.poses[0] = tool.pose(arm.random_configuration(rng))
        residual = np.zeros(6)
        total = find_residual(frame, goals, search, 0, q, residual)
        assert total == pytest.approx(residual @ residual)
        find_columns(frame, goals, search, 0)
        columns = search.columns.copy()

        def moved(step, q=q, k=0):
            result = np.zeros(6)
            find_residual(frame, goals, search, 0, q + step * np.eye(6)[k], result)
            return result

        for k in range(6):
            assert_allclose(columns[k], slope(lambda step, k=k: moved(step, k=k)), atol=1e-7)


def test_a_step_is_the_damped_least_squares_solution(arm, parts):
    frame, search, _ = parts
    rng = np.random.default_rng(18)
    for damping in (1e-6, 0.1, 10.0):
        J, r, pull = rng.normal(size=(6, 6)), rng.normal(size=6), rng.normal(size=6)
        search.q[:], search.columns[...], search.residual[:] = 0.0, J.T, 1e-3 * r
        search.pull[:] = 1e-3 * pull
        find_step(frame, search, damping)
        stacked = np.vstack([J, math.sqrt(damping) * np.eye(6)])
        right = np.r_[-r, math.sqrt(damping) * pull]
        expected = np.linalg.lstsq(stacked, right, rcond=None)[0]
        assert_allclose(search.step, 1e-3 * expected, rtol=1e-6, atol=1e-12)
    search.pull[:] = 0.0


def test_a_step_holds_joints_at_their_limits_and_solves_for_the_others(arm, parts):
    frame, search, _ = parts
    rng = np.random.default_rng(19)
    frame = frame._replace(periods=np.zeros(6))
    J, r, damping = rng.normal(size=(6, 6)), rng.normal(size=6), 0.1
    search.q[:], search.columns[...], search.residual[:] = 0.0, J.T, r
    free = np.linalg.lstsq(
        np.vstack([J, math.sqrt(damping) * np.eye(6)]), np.r_[-r, np.zeros(6)], rcond=None
    )[0]
    # Halfway to where it would go, the third joint has its limit.
    search.q[2] = (arm.upper_limits if free[2] > 0.0 else arm.lower_limits)[2] - 0.5 * free[2]
    find_step(frame, search, damping)
    assert search.step[2] == pytest.approx(0.5 * free[2])
    others = [0, 1, 3, 4, 5]
    stacked = np.vstack([J[:, others], math.sqrt(damping) * np.eye(5)])
    right = np.r_[-(r + J[:, 2] * search.step[2]), np.zeros(5)]
    expected = np.linalg.lstsq(stacked, right, rcond=None)[0]
    assert_allclose(search.step[others], expected, rtol=1e-9)


def test_a_long_step_is_shortened_and_keeps_its_direction(parts):
    frame, search, _ = parts
    search.q[:], search.step[:] = 0.0, [0.5, -4.0, 1.0, 0.0, 2.0, 0.0]
    take_step(frame, search, 1.0)
    assert_allclose(search.trial, [0.125, -1.0, 0.25, 0.0, 0.5, 0.0])
    search.step[:] = [1.5, -0.4, 0.1, 0.0, 0.2, 0.0]
    take_step(frame, search, 0.5)
    assert_allclose(search.trial, [0.75, -0.2, 0.05, 0.0, 0.1, 0.0])


def test_the_error_of_a_search_never_grows(arm, tool, parts):
    frame, search, goals = parts
    rng = np.random.default_rng(20)
    for q in arm.random_configurations(5, rng):
        goals.poses[0] = tool.pose(arm.random_configuration(rng))
        search.q[:], last = q, math.inf
        for _ in range(8):
            descend(frame, goals, search, 0, 1, 9, 1e-9)
            error = search.residual @ search.residual
            assert error <= last
            last = error


def test_the_interpreter_finds_the_same(arm, tool):
    """The very text of the loop on the same kernels; rounding may differ by fused operations."""
    solver = InverseKinematicsSolver(arm._kernels, 'tool0')
    search = allocate(Search, **solver._sizes)
    search.duration[0] = 1.0
    goals = allocate(Goals, poses=3, nq=6)
    goals.weights[:] = 1.0
    goals.poses[...] = tool.pose(arm.random_configurations(3, np.random.default_rng(21)))
    frame = solver._frame.fields
    assert reach_poses.function(frame, search, goals, 0, 3, 0, -10, 0, 1e-9) == -1
    found = tool.inverse_kinematics(goals.poses, starts=10)
    assert_allclose(found.q, goals.q, atol=1e-9)
    assert_array_equal(found.reached, goals.counts[:, 0])
    assert_array_equal(found.iterations, goals.counts[:, 1])


def test_random_trees_reach(seed=3):
    robot = Robot.from_urdf(random_trees.mixed_tree(seed))
    rng = np.random.default_rng(22)
    reached = 0
    for name in robot.link_names:
        try:
            frame = robot.frame(name)
            pose = frame.pose(robot.random_configuration(rng))
            reached += frame.inverse_kinematics(pose).reached
        except ModelError as error:
            assert 'no joint' in str(error)
            reached += 1
    assert reached >= len(robot.link_names) - 1
