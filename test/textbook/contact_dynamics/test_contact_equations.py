# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The contact problem of a tree, against textbooks, and against the KKT system when active."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.contacts import random_geometry, separation, separation_bias
from support.states import every_robot, named_robot, random_forces, random_state
from support.textbook_trees import check, every_tree, named_tree, run

from rbd_ros import Robot
from rbd_ros.algorithms.closed_loops.constraint_rank import constraint_rank
from rbd_ros.algorithms.closed_loops.direct_solution import direct_solution
from rbd_ros.model import ModelError
from rbd_ros.textbook.contact_dynamics.contact_equations import (
    contact_equations,
    ContactEquations,
)
from rbd_ros.textbook.contact_dynamics.contact_kinds import CONTACTS

# Trees of which machine code is made, too; all of them are tried on floats.
COMPILED = (('rolling floating base, gears', True), ('chain', True), ('branches, gears', False))


def pairs_of(model):
    names = [body.name for body in model.bodies]
    return ((None, names[-1]), (names[0], None), (names[1], names[4]), (names[3], names[5]))


def tolerance(book, q):
    return max(1e-12, 40 * np.finfo(float).eps * np.linalg.cond(book.mass_matrix(q)))


@pytest.mark.seed('CN04', kind='full')
@pytest.mark.parametrize('tangents', [False, True])
@every_tree
def test_equations_are_those_of_the_textbook(name, tangents):
    """M = T^T H^-1 T and d = T^T H^-1 (tau - C) + Tdot^T v; floats and machine code."""
    tree = named_tree(name)
    book, pairs = tree.book, pairs_of(tree.model)
    given = {'contacts': CONTACTS.resolve(tree.model, pairs), 'tangents': tangents}
    compiled = (name, tangents) in COMPILED
    contacts = Robot(tree.model).contacts.between(pairs, tangents)
    rng = np.random.default_rng(7)
    for q, v, tau in tree.states:
        geometry = random_geometry(rng, len(pairs), tangents)
        T = separation(book, q, geometry.points, geometry.directions, pairs).T
        bias = separation_bias(book, q, v, geometry, pairs)
        free = book.forward_dynamics(q, v, tau, tree.forces)
        response = np.linalg.solve(book.mass_matrix(q), T)
        expected = (T.T @ response, T.T @ free + bias, T, T.T @ v, response, free)
        floats = run(
            contact_equations, tree.model, q=q, v=v, tau=tau, **geometry.flat, **given,
            external_forces=tree.forces_on_bodies,
        )  # fmt: skip
        results = [floats]
        if compiled:
            results.append(contacts.equations(q, v, tau, *geometry, tree.forces))
        for found in results:
            assert np.array_equal(found[0], found[0].T)
            for what, ours, theirs in zip(ContactEquations._fields, found, expected):
                check(what, name, ours, theirs, tolerance(book, q))


@pytest.mark.seed('CN04', kind='full')
@every_robot
def test_active_contacts_are_rows_of_the_kkt_system(name):
    """With all separation accelerations zero: H a + C = tau + T lambda, T^T a = -bias."""
    robot = named_robot(name)
    names = robot.body_names
    contacts = robot.contacts.between([(None, names[-1]), (names[0], names[-2])])
    q, v, tau = random_state(robot, 4)
    forces = random_forces(robot, 5)
    geometry = random_geometry(np.random.default_rng(8), 2, False)
    found = contacts.equations(q, v, tau, *geometry, forces)
    rest = contacts.constraints(q, v, *geometry)
    assert_allclose(rest.T, found.T, atol=1e-13)
    H, C = robot.mass_matrix(q), robot.bias_force(q, v, forces)
    K = found.T.T
    a, multipliers = direct_solution(H, tau - C, K, -rest.bias, constraint_rank(K))
    force = np.linalg.solve(found.M, -found.d)
    scale = 1.0 + np.abs(a).max()
    assert_allclose(force, multipliers, atol=1e-8 * (1.0 + np.abs(multipliers).max()))
    assert_allclose(found.free + found.response @ force, a, atol=1e-8 * scale)


def test_results_are_written_to_out_and_batches_are_rows():
    robot = named_robot('floating base')
    contacts = robot.contacts.between([(None, robot.body_names[-1])], tangents=True)
    q, v, tau = random_state(robot)
    geometry = random_geometry(np.random.default_rng(2), 1, True)
    one = contacts.equations(q, v, tau, *geometry)
    out = tuple(np.empty_like(x) for x in one)
    assert all(x is y for x, y in zip(contacts.equations(q, v, tau, *geometry, out=out), out))
    assert all(np.array_equal(x, y) for x, y in zip(out, one))
    many = contacts.equations(np.tile(q, (4, 1)), v, tau, *geometry)
    assert many.M.shape == (4, 3, 3)
    for x, y in zip(many, one):
        assert_allclose(x[2], y, atol=1e-11 * (1.0 + np.abs(y).max()))


def test_a_robot_with_massless_joints_is_rejected():
    robot = Robot.from_urdf(
        '<robot name="r"><link name="base"/><link name="tip"/><joint name="j" type="continuous">'
        '<parent link="base"/><child link="tip"/><axis xyz="0 0 1"/></joint></robot>'
    )
    contacts, row = robot.contacts.between([(None, 'tip')]), np.zeros((1, 3))
    with pytest.raises(ModelError, match="'j'"):
        contacts.equations([0.0], [0.0], [0.0], row, row, row, row)
