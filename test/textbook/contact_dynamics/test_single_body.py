# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""One rigid body in contact, against closed forms and against a robot with one free body."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.contacts import random_geometry
from support.random_trees import inertial_element

from rbd_ros import Robot
from rbd_ros.compiler.symbol_graph import Graph
from rbd_ros.spatial import ForceVector, MotionVector, PluckerTransform, RigidBodyInertia
from rbd_ros.textbook.complementarity import InfeasibleContactError, solve_gauss, solve_lcp
from rbd_ros.textbook.contact_dynamics.contact_forces import contact_force, contact_forces
from rbd_ros.textbook.contact_dynamics.single_body import body_contacts, single_contact

GRAVITY = 9.81
MASS, SIDES = 3.0, (0.4, 0.6, 0.2)


def box():
    """Return the inertia of a box whose center is the origin."""
    x, y, z = SIDES
    I = np.diag([y * y + z * z, x * x + z * z, x * x + y * y]) * MASS / 12.0
    return RigidBodyInertia.from_mass_center(MASS, (0.0, 0.0, 0.0), I.tolist())


def corners():
    x, y, z = np.array(SIDES) / 2.0
    return np.array([[sx * x, sy * y, -z] for sx in (1, -1) for sy in (1, -1)])


def problem(points, normals, force, velocity=(0.0,) * 6, rates=None):
    count = len(points)
    zero = np.zeros((count, 3))
    geometry = (points, normals, *(rates or (zero, zero)))
    flat = [np.ravel(x).tolist() for x in geometry]
    pairs = [pair for (pair,) in contact_forces(*flat, 1)]
    return body_contacts(
        box(),
        MotionVector.from_array(velocity),
        ForceVector.from_array(force),
        [n for n, _ in pairs],
        [rate for _, rate in pairs],
    )


@pytest.mark.seed('CN01', kind='full')
@pytest.mark.parametrize('push', [-50.0, 0.0, MASS * GRAVITY, 40.0])
@pytest.mark.parametrize('offset', [0.0, 0.15])
def test_a_block_on_a_point_under_or_beside_its_center(push, offset):
    """Under it lambda = m g less the push and no separation; beside it the block tilts.

    With the support an arm away, M = 1/m + arm^2/I; the separation is that of a free block if it
    is pulled harder than gravity.
    """
    point = np.array([[offset, 0.0, -0.1]])
    down = push - MASS * GRAVITY
    found = problem(point, [[0.0, 0.0, 1.0]], (0, 0, 0, 0, 0, down))
    ((M,),), (d,) = found.M, found.d
    I = MASS * (SIDES[0] ** 2 + SIDES[2] ** 2) / 12.0
    assert M == pytest.approx(1.0 / MASS + offset**2 / I)
    assert d == pytest.approx(down / MASS)
    force, rate = single_contact(M, d)
    assert force >= 0.0 and rate >= 0.0 and force * rate == 0.0
    assert rate == pytest.approx(M * force + d, abs=1e-12)
    if offset == 0.0:
        assert force == pytest.approx(max(0.0, -down))
    assert (rate > 0.0) == (down > 0.0)
    a = found.free + sum((A * force for A in found.A), MotionVector.zero())
    assert a.dot(contact_force(point[0], (0.0, 0.0, 1.0))) == pytest.approx(rate, abs=1e-12)
    for method in ('lemke', 'qp'):
        solution = solve_lcp(found.M, found.d, method)
        assert solution.force[0] == pytest.approx(force, abs=1e-12)
        assert solution.acceleration[0] == pytest.approx(rate, abs=1e-12)


@pytest.mark.seed('CN01')
def test_the_closed_form_works_on_scalars():
    graph = Graph()
    M, d = graph.inputs('x', 2)
    assert len(single_contact(M, d)) == 2
    assert single_contact(2.0, -3.0) == (1.5, 0.0)
    assert single_contact(2.0, 3.0) == (0.0, 3.0)
    assert single_contact(2.0, 0.0) == (0.0, 0.0)


@pytest.mark.seed('CN02', kind='full')
@pytest.mark.parametrize('method', ['lemke', 'qp', 'gauss'])
def test_a_box_on_four_points_is_held_by_its_weight(method):
    """M has rank 3 of 4: many forces, of sum m g and without a couple, and one acceleration, 0."""
    down = np.tile([0.0, 0.0, 1.0], (4, 1))
    found = problem(corners(), down, (0, 0, 0, 0, 0, -MASS * GRAVITY))
    M, d = np.array(found.M), np.array(found.d)
    assert np.linalg.matrix_rank(M) == 3
    if method == 'gauss':
        N = np.array([tuple(contact_force(p, e)) for p, e in zip(corners(), down)]).T
        free = found.free.to_array()
        solution = solve_gauss(box().matrix(), free, N, np.zeros(4))
        assert_allclose(solution.a, 0.0, atol=1e-12)
    else:
        solution = solve_lcp(M, d, method)
    assert solution.force.sum() == pytest.approx(MASS * GRAVITY)
    assert_allclose(corners()[:, :2].T @ solution.force, 0.0, atol=1e-12)
    assert_allclose(solution.acceleration, 0.0, atol=1e-12)
    assert np.count_nonzero(solution.active) <= 3
    a = found.free + sum((A * x for A, x in zip(found.A, solution.force)), MotionVector.zero())
    assert_allclose(a.to_array(), 0.0, atol=1e-12)


@pytest.mark.seed('CN02', kind='full')
def test_a_push_beyond_the_corners_tips_the_box_about_its_edge():
    """Two contacts break, and the couple about the edge that stays is that of the force."""
    height, push = 0.1, 3.0 * MASS * GRAVITY
    force = (0.0, height * push, 0.0, push, 0.0, -MASS * GRAVITY)
    found = problem(corners(), np.tile([0.0, 0.0, 1.0], (4, 1)), force)
    solution = solve_lcp(found.M, found.d)
    assert np.array_equal(solution.persists, corners()[:, 0] > 0.0)
    a = found.free + sum((A * x for A, x in zip(found.A, solution.force)), MotionVector.zero())
    I = MASS * (SIDES[0] ** 2 + SIDES[2] ** 2) / 12.0
    # Without friction the center is free along x; the edge does not move along z.
    arm, N = SIDES[0] / 2.0, solution.force.sum()
    alpha = a.angular[1]
    assert alpha > 0.0
    assert I * alpha == pytest.approx(height * push - arm * N)
    assert N == pytest.approx(MASS * (GRAVITY + arm * alpha))
    assert_allclose(solution.acceleration[~solution.persists], SIDES[0] * alpha, rtol=1e-12)


@pytest.mark.seed('CN01', 'CN02', kind='full')
def test_a_free_body_is_a_robot_of_one_joint():
    """N, M and d of the body in base coordinates, while it, the points and the normals move."""
    rng = np.random.default_rng(4)
    text = f'<robot name="r"><link name="body">{inertial_element(rng)}</link></robot>'
    robot = Robot.from_urdf(text, floating_base=True)
    contacts = robot.contacts.between([(None, 'body')] * 5)
    for _ in range(3):
        q, v = robot.random_configuration(rng), rng.normal(size=6)
        geometry = random_geometry(rng, 5, False)
        wrench = rng.normal(size=6)
        expected = contacts.equations(q, v, np.zeros(6), *geometry, {'body': wrench})

        pose = robot.forward_kinematics(q)['body']
        X = PluckerTransform.from_homogeneous(np.linalg.inv(pose).tolist())
        inertia = X.inverse_apply(robot.model.link('body').inertia)
        velocity = X.inverse_apply(MotionVector.from_array(v))
        weight = inertia * MotionVector((0.0, 0.0, 0.0), tuple(robot.model.gravity))
        pairs = [pair for (pair,) in contact_forces(*(x.ravel().tolist() for x in geometry), 1)]
        found = body_contacts(
            inertia, velocity, ForceVector.from_array(wrench) + weight, *zip(*pairs)
        )
        assert_allclose(found.M, expected.M, rtol=1e-10, atol=1e-10)
        assert_allclose(found.d, expected.d, rtol=1e-10, atol=1e-9)
        assert_allclose(np.array(found.M), np.array(found.M).T, atol=0.0)


@pytest.mark.seed('CN03', kind='full')
@pytest.mark.parametrize('pull', [-1.0, 0.0, 1.0])
@pytest.mark.parametrize('speed', [0.0, 0.5])
def test_a_disc_where_its_slot_begins_to_narrow(speed, pull):
    """Walls are arcs of radius rho beyond the line: their normals turn as the disc goes on.

    d_1 + d_2 = -2 v^2 / (rho - r), for any force along the slot: at rest it may start, which the
    position then has to stop; in motion there is no solution (book example 11.1).
    """
    radius, rho = 0.1, 0.8
    points = np.array([[0.0, 0.0, radius], [0.0, 0.0, -radius]])
    normals = np.array([[0.0, 0.0, -1.0], [0.0, 0.0, 1.0]])
    # The middle of the arc, the disc's and the contact point stay in line.
    turn = speed / (rho - radius)
    point_rates = np.array([[rho * turn, 0.0, 0.0]] * 2)
    normal_rates = np.array([[turn, 0.0, 0.0], [turn, 0.0, 0.0]]) * -1.0
    found = problem(
        points,
        normals,
        (0, 0, 0, pull, 0, 0.3),
        (0, 0, 0, speed, 0, 0),
        (point_rates, normal_rates),
    )
    m = 1.0 / MASS
    assert_allclose(found.M, [[m, -m], [-m, m]], atol=1e-14)
    assert sum(found.d) == pytest.approx(-2.0 * speed**2 / (rho - radius))
    if speed:
        with pytest.raises(InfeasibleContactError) as caught:
            solve_lcp(found.M, found.d)
        assert caught.value.rate == pytest.approx(-(speed**2) / (rho - radius))
    else:
        assert solve_lcp(found.M, found.d).force.sum() == pytest.approx(0.3)


def test_the_line_of_a_contact_force_passes_its_point():
    n = contact_force((1.0, 2.0, 3.0), (0.0, 0.0, 1.0))
    assert n == ForceVector((2.0, -1.0, 0.0), (0.0, 0.0, 1.0))
