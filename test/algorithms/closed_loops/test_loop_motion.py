# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Positions and velocities of loop joints against known ones."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.loop_joints import CylindricalPair, ScrewPair
from support.loop_mechanisms import closed_robot, four_bar, four_bar_bars, four_bar_position

from rbd_ros import Robot
from rbd_ros.model import Frame, LoopJoint
from rbd_ros.model.joints import Planar, Prismatic, Revolute, Spherical
from rbd_ros.spatial import PluckerTransform

FLAT = [
    Revolute((0.0, 0.0, 1.0)),
    Revolute((0.48, -0.6, 0.64)),
    Prismatic((0.48, -0.6, 0.64)),
    CylindricalPair((0.48, -0.6, 0.64)),
    ScrewPair(0.3),
]


@pytest.mark.parametrize('joint', [*FLAT, Planar.about((0.48, -0.6, 0.64)), Spherical()], ids=str)
@pytest.mark.parametrize('gears', [False, True], ids=['free', 'gears'])
def test_position_and_velocity_are_those_that_close_the_loop(joint, gears):
    """The joint's own transform at the position found takes one frame to the other."""
    _, robot, q, v, _ = closed_robot(17, (joint,), ((2, 8),), gears, branching=0.0)
    (loop,) = robot.model.loops
    found = robot.loops.motion(q, v)
    frames = (loop.predecessor, loop.successor)
    poses = [robot.frame(robot.model.body(f.body).name).pose(q) for f in frames]
    Xp, Xs = (
        f.placement * PluckerTransform.from_pose(pose.tolist()) for f, pose in zip(frames, poses)
    )
    relative = Xs * Xp.inverse()
    if isinstance(joint, Spherical):
        position = joint.integrate(joint.neutral(), found.position.tolist())
    else:
        position = found.position.tolist()
    assert_allclose(joint.transform(position).matrix(), relative.matrix(), atol=1e-12)
    # S times the velocities is the relative velocity, in successor coordinates
    twists = [robot.frame(robot.model.body(f.body).name).velocity(q, v) for f in frames]
    vp, vs = (f.placement.matrix() @ twist for f, twist in zip(frames, twists))
    S = np.array([s.to_array() for s in joint.motion_subspace(position).columns], dtype=float).T
    assert_allclose(S @ found.rate, vs - relative.matrix() @ vp, atol=1e-10)


@pytest.mark.parametrize('joint', FLAT, ids=str)
def test_velocity_is_the_rate_of_the_position(joint):
    _, robot, q, v, _ = closed_robot(17, (joint,), ((2, 8),), branching=0.0)
    h = 1e-6
    ahead, behind = (robot.loops.motion(robot.integrate(q, s * v), v).position for s in (h, -h))
    rate = robot.loops.motion(q, v).rate
    assert_allclose((ahead - behind) / (2.0 * h), rate, atol=1e-7 * (1.0 + np.abs(rate).max()))


def test_angle_of_a_four_bars_loop_joint_is_that_of_its_rocker():
    """From the ground's x axis to the rocker's, within a turn."""
    robot = four_bar()
    for y in np.linspace(-2.9, 2.9, 7):
        rocker = four_bar_bars().links[2][1](y)[1]
        angle = robot.loops.motion(four_bar_position(y), np.zeros(3)).position
        assert_allclose(angle, np.arctan2(rocker[1], rocker[0]), atol=1e-12)


def test_robots_without_loops_have_no_loop_joints():
    robot = Robot(four_bar().model.with_loops(()))
    found = robot.loops.motion(np.zeros(3), np.zeros(3))
    assert found.position.shape == found.rate.shape == (0,)
    nothing = robot.loops.constraints(np.zeros(3), np.zeros(3))
    assert nothing.K.shape == (0, 3) and nothing.k.shape == (0,)


def test_a_loop_joint_may_turn_by_half_a_turn_either_way():
    frame = Frame(1, PluckerTransform.identity())
    robot = four_bar()
    loop = LoopJoint('same', Frame(0, PluckerTransform.identity()), frame, Revolute((0, 0, 1.0)))
    alone = Robot(robot.model.with_loops([loop]))
    for angle in (-3.1, -1.0, 0.0, 2.0, 3.1):
        found = alone.loops.motion([angle, 0.4, 0.2], [1.5, 0.0, 0.0])
        assert_allclose(found.position, angle, atol=1e-14)
        assert_allclose(found.rate, 1.5, atol=1e-14)


def test_motions_of_loop_joints_and_of_closed_forms_have_different_names():
    robot = four_bar()
    found = type(robot.loops.motion(np.zeros(3), np.zeros(3))).__name__
    explicit = robot.loops.explicit(lambda y: [y[0], 0.0 * y[0], 0.0 * y[0]], 1)
    other = type(explicit.motion(np.zeros(1), np.zeros(1))).__name__
    assert (found, other) == ('LoopMotion', 'ExplicitLoopMotion')
