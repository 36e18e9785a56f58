# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Operational-space inertia, and its inverse, against their definition by dense matrices."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import example_robots, random_trees
from support.all_joints import every_joint, tree
from support.definitions import definition_of
from support.states import every_robot, named_robot, random_state
from support.textbook_trees import every_free_tree, named_tree

from rbd_ros import ModelError, Robot
from rbd_ros.algorithms.articulated_body.operational_inertia import (
    mobility_by_articulated_bodies,
    mobility_by_inertia_matrix,
)
from rbd_ros.model import load_urdf

every_reference = pytest.mark.parametrize('reference', ['body', 'base', 'aligned'])


def both_ways(model, q, link, reference):
    """Return the mobility by articulated-body inertias, and by the inertia matrix."""
    return [
        np.array(way(model, q.tolist(), model.frame(link), reference), dtype=float)
        for way in (mobility_by_articulated_bodies, mobility_by_inertia_matrix)
    ]


@every_reference
@every_robot
def test_the_inverse_is_that_of_the_definition(name, reference):
    robot = named_robot(name)
    q = random_state(robot).q
    frame = robot.frame(robot.link_names[-1], reference)
    J = frame.jacobian(q)
    expected = J @ np.linalg.solve(robot.mass_matrix(q), J.T)
    found = frame.inverse_operational_inertia(q)
    assert_allclose(found, expected, atol=1e-9 * max(1.0, np.abs(expected).max()))
    assert np.array_equal(found, found.T)


@every_reference
@pytest.mark.parametrize('subject', ['panda', 'floating base'])
def test_a_force_at_the_frame_accelerates_it_by_its_inertia(subject, reference):
    robot = (
        Robot.from_urdf(example_robots.path(subject))
        if subject == 'panda'
        else named_robot(subject)
    )
    q = random_state(robot).q
    frame = robot.frame(robot.link_names[-1], reference)
    inertia = frame.operational_inertia(q)
    force = np.array([0.3, -0.2, 0.5, 2.0, -1.0, 0.7])
    v = np.zeros(robot.nv)
    rest = robot.gravity_torque(q)
    a = robot.forward_dynamics(q, v, rest + frame.jacobian(q).T @ force)
    assert_allclose(inertia @ frame.acceleration(q, v, a), force, atol=1e-6)


@every_reference
@every_free_tree
def test_articulated_bodies_yield_like_the_inertia_matrix(name, reference):
    """Frames of all links, fixed ones and the base's among them; rotors, branches."""
    tree = named_tree(name)
    for q, _, _ in tree.states:
        for link in tree.model.links:
            found, expected = both_ways(tree.model, q, link, reference)
            assert_allclose(found, expected, atol=1e-11 * max(1.0, np.abs(expected).max()))
            assert np.array_equal(found, found.T)


@every_joint
def test_joints_of_every_type_yield(joint):
    model = tree(joint, 1)
    q = Robot(model).random_configuration(np.random.default_rng(2))
    for link in ('link3', 'link4'):
        found, expected = both_ways(model, q, link, 'body')
        assert_allclose(found, expected, atol=1e-11 * np.abs(expected).max())


def test_a_long_way_to_the_frame_costs_in_proportion():
    """Of a chain of hinges: each joint adds as many nodes as the one before."""

    def nodes(joints):
        text = random_trees.chain_of_hinges(5, joints)
        name = 'inverse_operational_inertia'
        return len(definition_of(load_urdf(text), name, frame=f'link{joints}').program().live)

    few, some, many = (nodes(joints) for joints in (30, 40, 50))
    assert many - some == some - few <= 10 * 1000


def test_a_frame_with_too_few_dofs_is_named():
    robot = named_robot('gears')
    name = robot.link_names[-1]
    with pytest.raises(ModelError, match=f'{name}.* of the 6 degrees of freedom'):
        robot.frame(name).operational_inertia(robot.neutral())


def test_a_frame_that_moves_in_a_plane_has_no_inertia_and_is_named():
    """Seven DoFs about parallel axes: enough in number, but not in direction."""
    inertial = (
        '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    )
    links = ''.join(f'<link name="l{k}">{inertial}</inertial></link>' for k in range(8))
    joints = ''.join(
        f'<joint name="j{k}" type="continuous"><parent link="l{k}"/><child link="l{k + 1}"/>'
        '<origin xyz="0.3 0 0"/><axis xyz="0 0 1"/></joint>'
        for k in range(7)
    )
    robot = Robot.from_urdf(f'<robot name="planar">{links}{joints}</robot>')
    with pytest.raises(ModelError, match="operational_inertia of 'planar' does not exist.*'l7'"):
        robot.frame('l7').operational_inertia(robot.neutral())
