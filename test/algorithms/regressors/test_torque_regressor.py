# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Regressors of joint forces: linear in the parameters, and equal to the textbook's forces."""

from dataclasses import replace

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import example_robots, outside
from support.pinocchio_bridge import Bridge
from support.states import every_robot, named_robot, random_state
from support.textbook_trees import check, every_tree, named_tree, run

from rbd_ros import Robot
from rbd_ros.algorithms.regressors.torque_regressor import (
    slotine_li_regressor,
    torque_regressor,
    unit_inertias,
)
from rbd_ros.textbook.tree_dynamics.rnea_spatial import rnea_spatial

# Of our ten parameters, in the order of Pinocchio's: it has Iyy before Ixz
PINOCCHIO = [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]


def parameters(model):
    return np.array([x for body in model.bodies for x in body.inertia.parameters()], dtype=float)


def rotor_force(model, a):
    """Return the forces that turn the rotors, of the independent coordinates."""
    rates = model.tree_velocity(a.tolist())
    force = [0.0] * model.tree_nv
    for _, body in model.outward():
        force[body.v] = [body.armature * x for x in rates[body.v]]
    return np.array(model.independent_force(force))


def test_unit_inertias_span_all():
    found = np.array([inertia.parameters() for inertia in unit_inertias()])
    assert np.array_equal(found, np.eye(10))


@pytest.mark.seed('BL08', kind='part')
@every_tree
def test_forces_are_linear_in_the_parameters(name):
    """Y pi and the rotors' share are the textbook's inverse dynamics; and so with any inertias."""
    tree = named_tree(name)
    for q, v, a in tree.states:
        Y = run(torque_regressor, tree.model, q=q, v=v, a=a)
        found = Y @ parameters(tree.model) + rotor_force(tree.model, a)
        check('torque regressor', name, found, tree.book.inverse_dynamics(q, v, a, {}))


@every_tree
def test_reference_velocities_meet_the_coriolis_matrix(name):
    """H a_r + C v_r + tau_g, with the textbook's H, Christoffel symbols and gravity."""
    tree = named_tree(name)
    rng = np.random.default_rng(5)
    for q, v, _ in tree.states:
        v_r, a_r = rng.normal(size=(2, len(v)))
        Y = run(slotine_li_regressor, tree.model, q=q, v=v, v_r=v_r, a_r=a_r)
        found = Y @ parameters(tree.model) + rotor_force(tree.model, a_r)
        still = np.zeros_like(v)
        expected = (
            tree.book.mass_matrix(q) @ a_r
            + tree.book.coriolis_matrix(q, v) @ v_r
            + tree.book.inverse_dynamics(q, still, still, {})
        )
        check('Slotine-Li regressor', name, found, expected)


@every_robot
def test_kernels_agree_with_inverse_dynamics_of_changed_bodies(name):
    """Inertias are run-time inputs: a payload changes the parameters, not the regressor."""
    robot = named_robot(name)
    q, v, a = random_state(robot)
    Y = robot.regressors.torque(q, v, a)
    names = robot.regressors.parameter_names
    assert Y.shape == (robot.nv, len(names))
    heavy = robot.model.bodies[-1].name
    changed = Robot(robot.model.with_link_inertia(heavy, 2.0 * robot.model.bodies[-1].inertia))
    for each in (robot, changed):
        expected = each.inverse_dynamics(q, v, a)
        found = Y @ each.regressors.parameters + rotor_force(each.model, a)
        assert_allclose(found, expected, atol=1e-11 * np.abs(expected).max())
    rows = robot.regressors.torque(np.tile(q, (9, 1)), v, a)
    assert_allclose(rows, np.tile(Y, (9, 1, 1)), atol=1e-12 * np.abs(Y).max())
    same = robot.regressors.slotine_li(q, v, v, a)
    assert_allclose(same, Y, atol=1e-12 * np.abs(Y).max())


@pytest.mark.seed('ID09', kind='full')
@every_robot
def test_columns_are_slopes_of_inverse_dynamics_by_the_parameters(name):
    """Central differences of the forces by each of the ten parameters of each body."""
    robot = named_robot(name)
    model = robot.model
    q, v, a = random_state(robot, 4)
    columns = robot.regressors.torque(q, v, a)
    arguments = (
        model.tree_position(q.tolist()),
        *map(model.tree_velocity, (v.tolist(), a.tolist())),
    )
    step, at = 1e-3, 0
    for i, body in model.outward():
        for unit in unit_inertias():
            forces = []
            for size in (step, -step):
                bodies = list(model.bodies)
                bodies[i - 1] = replace(body, inertia=body.inertia + unit * size)
                changed = replace(model, bodies=tuple(bodies))
                forces.append(model.independent_force(rnea_spatial(changed, *arguments)))
            slope = (np.array(forces[0]) - np.array(forces[1])) / (2.0 * step)
            scale = 1.0 + np.abs(slope).max()
            assert_allclose(columns[:, at], slope, atol=1e-9 * scale)
            at += 1
    assert at == columns.shape[1]


@pytest.mark.parametrize('robot_name', ['ur5_robot', 'kinova', 'solo12'])
def test_it_is_pinocchios(robot_name):
    pin = outside.load('pinocchio')
    text = example_robots.dynamics_xml(example_robots.loadable()[robot_name].read_text(), True)
    bridge, robot = Bridge(text), Robot.from_urdf(text)
    q, v, a = bridge.layout.random_states(np.random.default_rng(2))
    theirs = pin.computeJointTorqueRegressor(
        bridge.model, bridge.data, bridge.q(q), bridge.v(v), bridge.v(a)
    )
    theirs = theirs.reshape(robot.nv, -1, 10)[:, :, PINOCCHIO].reshape(robot.nv, -1)
    order = np.argsort(bridge.v(np.arange(robot.nv, dtype=float)))  # of their rows
    bodies = list(bridge.model.names[1:])
    ours = robot.regressors.torque(q, v, a).reshape(robot.nv, -1, 10)
    names = [body.joint_name for body in robot.model.bodies]
    ours = ours[:, [names.index(name) for name in bodies]].reshape(robot.nv, -1)
    assert_allclose(ours, theirs[order], atol=1e-10 * np.abs(theirs).max())
