# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Contact normals in joint space, against Jacobians of points of textbooks."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.contacts import random_geometry, separation, separation_bias
from support.states import every_robot, named_robot, random_state
from support.textbook_trees import check, every_tree, named_tree, run

from rbd_ros import Robot
from rbd_ros.textbook.contact_dynamics.contact_constraints import contact_constraints
from rbd_ros.textbook.contact_dynamics.contact_kinds import CONTACTS

with_and_without_tangents = pytest.mark.parametrize('tangents', [False, True])


def pairs_of(model):
    """Return the base and a link both ways, a link and one that it carries, two branches."""
    names = [body.name for body in model.bodies]
    return ((None, names[-1]), (names[0], None), (names[1], names[4]), (names[3], names[5]))


@pytest.mark.seed('CN04', kind='full')
@with_and_without_tangents
@every_tree
def test_normals_in_joint_space_are_those_of_point_jacobians(name, tangents):
    """T = (J_s - J_p)^T n; the bias by complex steps: bodies, points, normals move at once."""
    tree = named_tree(name)
    pairs = pairs_of(tree.model)
    given = {'contacts': CONTACTS.resolve(tree.model, pairs), 'tangents': tangents}
    rng = np.random.default_rng(5)
    for q, v, _ in tree.states:
        geometry = random_geometry(rng, len(pairs), tangents)
        T, velocity, bias = run(
            contact_constraints, tree.model, q=q, v=v, **geometry.flat, **given
        )
        expected = separation(tree.book, q, geometry.points, geometry.directions, pairs)
        check('T', name, T, expected.T)
        check('zeta', name, velocity, expected @ v)
        rate = separation_bias(tree.book, q, v, geometry, pairs)
        check('Tdot v', name, bias, rate, 1e-12)


@pytest.mark.seed('CN04')
@pytest.mark.parametrize(
    'name, tangents', [('rolling floating base, gears', True), ('chain', False)]
)
def test_compiled_constraints_are_those_on_floats(name, tangents):
    tree = named_tree(name)
    pairs = pairs_of(tree.model)
    given = {'contacts': CONTACTS.resolve(tree.model, pairs), 'tangents': tangents}
    contacts = Robot(tree.model).contacts.between(pairs, tangents)
    rng = np.random.default_rng(6)
    geometries = [random_geometry(rng, len(pairs), tangents) for _ in tree.states]
    for (q, v, _), geometry in zip(tree.states, geometries):
        ours = contacts.constraints(q, v, *geometry)
        theirs = run(contact_constraints, tree.model, q=q, v=v, **geometry.flat, **given)
        for x, y in zip(ours, theirs):
            assert_allclose(x, y, atol=1e-12 * (1.0 + np.abs(y).max()))
    qs, vs = (np.array([state[k] for state in tree.states]) for k in (0, 1))
    many = contacts.constraints(qs, vs, *map(np.array, zip(*geometries)))
    for x, y in zip(many, ours):
        assert_allclose(x[-1], y, atol=1e-12 * (1.0 + np.abs(y).max()))
    again = contacts.constraints(q, v, *geometry)
    assert all(np.array_equal(x, y) for x, y in zip(again, ours))


@pytest.mark.seed('CN04')
@every_robot
def test_a_gap_between_points_of_two_bodies_opens_as_the_constraints_say(name):
    """A point of the successor above a face of the predecessor: phi = e . (x - o).

    The contact point is the successor's, the normal turns with the predecessor.
    """
    robot = named_robot(name)
    p, s = robot.body_names[0], robot.body_names[-1]
    contacts = robot.contacts.between([(p, s)])
    q, v, _ = random_state(robot, 3)
    rng = np.random.default_rng(9)
    face, point = rng.normal(size=3), rng.normal(size=3)
    face /= np.linalg.norm(face)

    def moving(t):
        poses = robot.forward_kinematics(robot.integrate(q, t * v))
        return poses[s][:3, :3] @ point + poses[s][:3, 3], poses[p][:3, :3] @ face, poses[p][:3, 3]

    def gap(t):
        x, e, o = moving(t)
        return e @ (x - o)

    h = 1e-4
    (x, e, _), ahead, behind = moving(0.0), moving(h), moving(-h)
    rates = [(a - b) / (2 * h) for a, b in zip(ahead, behind)]
    found = contacts.constraints(q, v, [x], [e], [rates[0]], [rates[1]])
    # gap' = e . (x' - o') + e' . (x - o) = e . (v_s(x) - v_p(x)), for any gap
    assert_allclose(found.velocity[0], (gap(h) - gap(-h)) / (2 * h), rtol=1e-6, atol=1e-6)
    second = (gap(h) - 2.0 * gap(0.0) + gap(-h)) / h**2
    assert_allclose(found.bias[0], second, rtol=1e-4, atol=1e-4 * (1.0 + abs(second)))


def test_points_and_normals_may_be_constants():
    """As those of feet on a floor: the kernel then takes q and v alone."""
    robot = named_robot('floating base')
    pairs = ((None, robot.body_names[-1]), (robot.body_names[0], None))
    geometry = random_geometry(np.random.default_rng(2), 2, False)
    kernel = robot.kernel('contact_constraints', contacts=pairs, **geometry.flat)
    q, v, _ = random_state(robot)
    expected = robot.contacts.between(pairs).constraints(q, v, *geometry)
    for ours, theirs in zip(kernel(q, v), expected):
        assert_allclose(ours, theirs, atol=1e-13 * (1.0 + np.abs(theirs).max()))
    with pytest.raises(ValueError, match='points must have 6 elements, got 3'):
        robot.kernel('contact_constraints', contacts=pairs, points=[0.0, 0.0, 0.0])


def test_bad_pairs_and_shapes_are_rejected_by_name():
    robot = named_robot('gears')
    last = robot.body_names[-1]
    with pytest.raises(ValueError, match='at least one pair'):
        robot.contacts.between([])
    with pytest.raises(ValueError, match='at least one pair'):
        robot.contacts.between('link1')
    with pytest.raises(ValueError, match=r"a pair \(predecessor, successor\), got 'ab'"):
        robot.contacts.between(['ab'])
    with pytest.raises(ValueError, match='nowhere'):
        robot.contacts.between([(None, 'nowhere')])
    with pytest.raises(ValueError, match='belong to one body'):
        robot.contacts.between([(last, last)])
    contacts = robot.contacts.between([(None, last)])
    assert robot.contacts.between(((None, last),)) is contacts
    assert robot.contacts.between(((None, last),), True) is not contacts
    q, v, row = robot.neutral(), np.zeros(robot.nv), np.zeros((1, 3))
    with pytest.raises(ValueError, match=r'points must have shape \(1, 3\) or \(N, 1, 3\)'):
        contacts.constraints(q, v, np.zeros(3), row, row, row)
    with pytest.raises(ValueError, match='normal_rates must have shape'):
        contacts.constraints(q, v, row, row, row, np.zeros((2, 3)))
    with pytest.raises(ValueError, match='q must have shape'):
        contacts.constraints(q[1:], v, row, row, row, row)
