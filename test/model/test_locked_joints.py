# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A robot with locked joints moves as the whole robot with these at rest."""

from pathlib import Path

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import example_robots, outside, random_trees
from support.errors import relative_error
from support.interpreted import interpreted
from support.urdf_text import joint, LIMIT, link, robot as urdf

from rbd_ros import ModelError, Robot
from rbd_ros.lookup.resources import resource_path
from rbd_ros.model import load_urdf, with_joints_locked

SHAPE = '<collision><geometry><sphere radius="0.1"/></geometry></collision></link>'
MIMIC = '<mimic joint="drive" multiplier="-2" offset="0.25"/>'


def texts():
    """Return random trees with gears and shapes, and real robots."""
    found = {
        f'random {seed}': random_trees.mixed_tree(seed).replace('</link>', SHAPE)
        for seed in range(6)
    }
    for name in sorted(example_robots.varied())[:6]:
        found[name] = example_robots.dynamics_xml(example_robots.loadable()[name].read_text())
    return found


every_text = pytest.mark.parametrize('text', texts().values(), ids=texts().keys())


def locked_pair(text, floating, seed):
    """Return a robot, one with about half of its joints locked, and a state.

    :return: the robots, q, masks of q and of v of the remaining joints
    """
    whole = interpreted(load_urdf(text, floating_base=floating))
    rng = np.random.default_rng(seed)
    q = whole.random_configuration(rng)
    left_q, left_v = np.ones(whole.nq, dtype=bool), np.ones(whole.nv, dtype=bool)
    positions = {}
    for name, (at, rates) in zip(whole.joint_names, whole.model.independent_slices.values()):
        if name != 'floating_base' and rng.random() < 0.5:
            positions[name] = q[at].tolist()
            left_q[at], left_v[rates] = False, False
    part = interpreted(with_joints_locked(whole.model, positions))
    return whole, part, q, left_q, left_v


@pytest.mark.parametrize('floating', [False, True])
@every_text
def test_it_moves_as_the_whole_does_while_the_locked_joints_stand_still(text, floating):
    whole, part, q, left_q, left_v = locked_pair(text, floating, 2)
    assert part.nv == left_v.sum() < whole.nv and part.nq == left_q.sum()
    rng = np.random.default_rng(3)
    v, a = (np.where(left_v, rng.normal(size=whole.nv), 0.0) for _ in range(2))
    tau = whole.inverse_dynamics(q, v, a)[left_v]
    assert relative_error(part.inverse_dynamics(q[left_q], v[left_v], a[left_v]), tau) < 1e-12
    H = whole.mass_matrix(q)[np.ix_(left_v, left_v)]
    assert relative_error(part.mass_matrix(q[left_q]), H) < 1e-12
    for name in (*whole.link_names, *whole.model.joint_frames):
        found, expected = part.frame(name).pose(q[left_q]), whole.frame(name).pose(q)
        assert_allclose(found, expected, rtol=0.0, atol=1e-12)
    names = [name for name in whole.joint_names if name in part.joint_names]
    assert names == list(part.joint_names)
    by_name = {body.joint_name: body for body in whole.model.bodies}
    for body in part.model.bodies:
        same = ('name', 'limits', 'damping', 'friction', 'armature', 'stiffness', 'joint')
        assert all(getattr(body, each) == getattr(by_name[body.joint_name], each) for each in same)
    shapes = [(x.name, x.link, x.shape, x.role, x.color) for x in whole.model.geometries]
    assert shapes == [(x.name, x.link, x.shape, x.role, x.color) for x in part.model.geometries]
    for was, now in zip(whole.model.geometries, part.model.geometries):
        # A shape stays where it is on its link.
        on_link = was.placement * whole.model.link(was.link).placement.inverse()
        here = now.placement * part.model.link(now.link).placement.inverse()
        assert now.body == part.model.link(now.link).body
        assert_allclose(here.pose(), on_link.pose(), rtol=0.0, atol=1e-12)


def test_pinocchio_reduces_a_model_alike():
    pinocchio = outside.load('pinocchio')
    text = (Path(resource_path('urdf', 'six_axis_arm.urdf'))).read_text()
    positions = {'shoulder_lift_joint': -0.7, 'wrist_2_joint': 0.4}
    part = Robot.from_urdf(text).with_joints_locked(positions)
    full = pinocchio.buildModelFromXML(text)
    at = pinocchio.neutral(full)
    for name, position in positions.items():
        at[full.joints[full.getJointId(name)].idx_q] = position
    reduced = pinocchio.buildReducedModel(full, [full.getJointId(name) for name in positions], at)
    rng = np.random.default_rng(1)
    for _ in range(5):
        q, v, a = rng.normal(size=(3, 4))
        expected = pinocchio.rnea(reduced, reduced.createData(), q, v, a)
        assert relative_error(part.inverse_dynamics(q, v, a), expected) < 1e-13


def test_joints_that_mimic_a_locked_one_are_locked_where_they_follow():
    gripper = Robot.from_urdf(
        urdf(
            *map(link, ('base', 'a', 'b', 'c')),
            joint('drive', 'base', 'a'),
            joint('lift', 'a', 'b', 'prismatic'),
            joint('follower', 'b', 'c', inside=LIMIT + MIMIC),
        )
    )
    part = gripper.with_joints_locked({'drive': 0.3})
    assert part.joint_names == ('lift',) and not part.model.couplings
    expected = gripper.frame('c').pose([0.3, 0.1])
    assert_allclose(part.frame('c').pose([0.1]), expected, rtol=0.0, atol=1e-15)
    with pytest.raises(ModelError, match="'follower' mimics 'drive'; lock that joint"):
        gripper.with_joints_locked({'follower': 0.3})
    kept = gripper.with_joints_locked({'lift': 0.1})
    assert_allclose(kept.frame('c').pose([0.3]), expected, rtol=0.0, atol=1e-15)


def test_a_loop_stays_closed_with_fewer_joints_and_is_not_left_without_any():
    robot = Robot.from_urdf('urdf/four_bar.urdf', extension='config/four_bar.yaml')
    crank, *_ = robot.joint_names
    part = robot.with_joints_locked({crank: 0.2})
    assert part.nv == robot.nv - 1 and part.model.loops
    assert part.model.actuated == ()
    with pytest.raises(ModelError, match='connects a body with itself'):
        robot.with_joints_locked(dict.fromkeys(robot.joint_names, 0.0))


def test_all_joints_may_be_locked():
    arm = Robot.from_urdf('urdf/six_axis_arm.urdf')
    rigid = arm.with_joints_locked(dict.fromkeys(arm.joint_names, 0.0))
    assert rigid.nv == 0
    expected = arm.frame('tool0').pose(np.zeros(6))
    assert_allclose(rigid.frame('tool0').pose([]), expected, rtol=0.0, atol=1e-15)


@pytest.mark.parametrize(
    ('positions', 'words'),
    [
        ({'elbow': 0.0}, "moving joint 'elbow'.*elbow_joint"),
        ({'elbow_joint': 4.0}, r"'elbow_joint': the position 4.0 is outside its limits, -3.14"),
        ({'elbow_joint': np.nan}, 'must be one finite number, got nan'),
        ({'elbow_joint': [0.1, 0.2]}, 'must be one finite number'),
        ({'elbow_joint': 'up'}, "must be one finite number, got 'up'"),
    ],
)
def test_impossible_locks_are_rejected_by_name(positions, words):
    with pytest.raises(ModelError, match=words):
        Robot.from_urdf('urdf/six_axis_arm.urdf').with_joints_locked(positions)


def test_a_floating_base_is_locked_by_a_pose():
    arm = Robot.from_urdf('urdf/six_axis_arm.urdf', floating_base=True)
    half = np.sqrt(0.5)
    pose = [half, half, 0.0, 0.0, 0.1, 0.2, 0.3]
    fixed = arm.with_joints_locked({'floating_base': pose})
    q = np.linspace(-0.5, 0.5, 6)
    expected = arm.frame('tool0').pose([*pose, *q])
    assert_allclose(fixed.frame('tool0').pose(q), expected, rtol=0.0, atol=1e-14)
    with pytest.raises(ModelError, match='7 finite numbers'):
        arm.with_joints_locked({'floating_base': 0.0})
    nearly = [*(1.0005 * np.array(pose[:4])), *pose[4:]]
    fixed = arm.with_joints_locked({'floating_base': nearly})
    assert_allclose(fixed.frame('tool0').pose(q), expected, rtol=0.0, atol=1e-14)
    doubled = [*(2.0 * np.array(pose[:4])), *pose[4:]]
    with pytest.raises(ModelError, match='norm 2 instead of 1; the order is quaternion w, x'):
        arm.with_joints_locked({'floating_base': doubled})
    with pytest.raises(ModelError, match='its quaternion is zero'):
        arm.with_joints_locked({'floating_base': [0.0] * 4 + pose[4:]})
