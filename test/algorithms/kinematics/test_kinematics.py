# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Poses and velocities of links and bodies against homogeneous transforms and link Jacobians."""

import numpy as np
import pytest
from support.textbook_trees import check, every_tree, named_tree, run

from rbd_ros.algorithms.kinematics.kinematics import (
    apparent_column_rates,
    body_kinematics,
    body_transforms,
    body_velocities,
    forward_kinematics,
    motion_columns,
)


@pytest.mark.seed('MD07', 'MD08', 'JM01', 'JM02', 'JM05', 'JM08', 'GR01')
@every_tree
def test_poses_of_links(name):
    tree = named_tree(name)
    for q, _, _ in tree.states:
        found = dict(zip(tree.model.links, run(forward_kinematics, tree.model, q=q)))
        for link, (R, p, _) in tree.book.kinematics(q).items():
            if link in found:  # not the rack, which is no link of the model
                check('poses', name, found[link][:3], np.column_stack([R, p]))
                assert found[link][3].tolist() == [0.0, 0.0, 0.0, 1.0]


@pytest.mark.seed('MD08')
@every_tree
def test_transforms_and_velocities_of_bodies(name):
    """In the coordinates of each body, which are those of the link that gives it its frame."""
    tree = named_tree(name)
    q, v, _ = tree.ungeared_states[0]
    X0, velocities = body_velocities(tree.model, q.tolist(), v.tolist())
    poses = tree.ungeared.kinematics(q)
    for i, body in tree.model.outward():
        R, p, _ = poses[body.name]
        pose = np.column_stack([np.transpose(X0[i].E), X0[i].r])
        check('transform', name, pose, np.column_stack([R, p]))
        expected = tree.ungeared.jacobian(q, body.name, 'body') @ v
        check('body velocity', name, list(velocities[i]), expected)
    assert body_transforms(tree.model, q.tolist()) == X0
    assert not np.any(list(velocities[0]))


@pytest.mark.seed('SV10', kind='full')
@every_tree
def test_velocity_in_three_ways_is_the_rate_of_the_pose(name):
    """Body to body, as a sum over joints, and J qd (book example 2.3, eq 2.14 to 2.18)."""
    tree = named_tree(name)
    q, v, _ = tree.ungeared_states[0]
    X0, recursive = body_velocities(tree.model, q.tolist(), v.tolist())
    columns = motion_columns(tree.model, q.tolist(), X0)
    for i, body in tree.model.outward():
        J = np.zeros((6, tree.model.tree_nv))
        total = np.zeros(6)
        for j in tree.model.support(i):
            S = np.transpose([list(s) for s in columns[j]]).reshape(6, -1)
            J[:, tree.model.body(j).v] = S
            total = total + S @ v[tree.model.body(j).v]

        # the rate of the pose, by complex arithmetic
        def pose(q, name=body.name):
            R, p, _ = tree.ungeared.kinematics(q)[name]
            return np.column_stack([R, p])

        now, change = pose(q), tree.ungeared.rate(pose, q, v)
        W = change[:, :3] @ now[:, :3].T
        omega = np.array([W[2, 1], W[0, 2], W[1, 0]])
        rate = np.concatenate([omega, change[:, 3] - np.cross(omega, now[:, 3])])
        check('velocity, body to body', name, list(X0[i].inverse_apply(recursive[i])), rate)
        check('velocity, sum over joints', name, total, rate)
        check('velocity, J qd', name, J @ v, rate)


@pytest.mark.seed('MD06', 'JM09')
@every_tree
def test_motion_columns_are_those_of_the_jacobian_and_change_with_it(name):
    """d/dt S = v x S + its rate in body coordinates."""
    tree = named_tree(name)
    q, v, _ = tree.ungeared_states[0]
    X0, velocities = body_velocities(tree.model, q.tolist(), v.tolist())
    columns = motion_columns(tree.model, q.tolist(), X0)
    rings = apparent_column_rates(tree.model, q.tolist(), v.tolist(), X0)
    for i, body in tree.model.outward():
        expected = tree.ungeared.jacobian(q, body.name, 'base')[:, body.v]
        check('motion columns', name, np.transpose([list(s) for s in columns[i]]), expected)
        v0 = X0[i].inverse_apply(velocities[i])
        rates = [list(v0.cross(s) + ring) for s, ring in zip(columns[i], rings[i])]
        expected = tree.ungeared.rate(
            lambda x, at=body.name: tree.ungeared.jacobian(x, at, 'base'), q, v
        )
        check('their rates', name, np.transpose(rates), expected[:, body.v])


@pytest.mark.seed('MD06', 'MD08')
@every_tree
def test_frames_and_columns_for_contact(name):
    """Gears are applied to the configuration; the columns are those of all joints of the tree."""
    tree = named_tree(name)
    for q, _, _ in tree.states:
        frames, columns = run(body_kinematics, tree.model, q=q)
        q = np.array(tree.model.tree_position(q.tolist()))
        poses = tree.ungeared.kinematics(q)
        expected = [np.r_[np.eye(3).ravel(), np.zeros(3)]]
        expected += [
            np.r_[poses[body.name][0].ravel(), poses[body.name][1]] for body in tree.model.bodies
        ]
        check('frames', name, frames, np.array(expected))
        expected = [
            tree.ungeared.jacobian(q, body.name, 'base')[:, body.v].T for body in tree.model.bodies
        ]
        check('columns', name, columns, np.vstack(expected))
