# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Contacts of real robots, with kinematics and dynamics by Pinocchio."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import example_robots, outside

from rbd_ros import Robot
from rbd_ros.textbook.complementarity import minimal_contact_set, solve_gauss, solve_lcp

FEET = ('FR_foot', 'FL_foot', 'RR_foot', 'RL_foot')
ROBOTS = {
    'ur5_robot': (False, [(None, 'tool0')]),
    'go1': (True, [(None, foot) for foot in FEET]),
    'anymal_b_simple_description/anymal': (
        True,
        [(None, 'LF_FOOT'), ('LF_FOOT', 'RF_FOOT'), ('base', 'RH_SHANK')],
    ),
}


def loaded(name):
    bridges = (
        pytest.importorskip('support.pinocchio_bridge') if outside.load('pinocchio') else None
    )
    floating, pairs = ROBOTS[name]
    path = example_robots.path(name)
    bridge = bridges.Bridge(path.read_text(encoding='utf-8'), floating)
    return Robot.from_urdf(str(path), floating_base=floating), bridge, pairs


@pytest.mark.seed('CN04', kind='full')
@pytest.mark.parametrize('name', ROBOTS)
def test_vertices_on_faces_are_pinocchios(name):
    """Vertices of the successors on faces of the predecessors, all of them moving."""
    robot, bridge, pairs = loaded(name)
    rng = np.random.default_rng(5)
    contacts = robot.contacts.between(pairs)
    zero = np.zeros((len(pairs), 3, 3))
    for _ in range(3):
        q = robot.random_configuration(rng)
        v, tau = rng.normal(size=(2, robot.nv))
        vertices, faces = rng.normal(size=(2, len(pairs), 3))
        faces /= np.linalg.norm(faces, axis=1)[:, None]
        poses = bridge.forward_kinematics(q)
        rows, bias, points, normals = [], [], [], []
        for (p, s), vertex, face in zip(pairs, vertices, faces):
            C = (poses[s] @ [*vertex, 1.0])[:3]
            n, w, inside = face, np.zeros(3), None
            if p is not None:
                n = poses[p][:3, :3] @ face
                inside = np.linalg.solve(poses[p], [*C, 1.0])[:3]
                w = bridge.jacobian(q, p, 'aligned')[:3] @ v
            J, dJ = (
                bridge.point_jacobian(q, s, vertex),
                bridge.point_jacobian_derivative(q, v, s, vertex),
            )
            crossing = np.zeros(3)
            if p is not None:
                J = J - bridge.point_jacobian(q, p, inside)
                dJ = dJ - bridge.point_jacobian_derivative(q, v, p, inside)
                # The face's own point under the vertex changes as the vertex slides over it.
                crossing = np.cross(w, J @ v)
            slip = J @ v
            rows.append(n @ J)
            # (n . u)' with u = v_s - v_p at the vertex: n' . u + n . u'
            bias.append(np.cross(w, n) @ slip + n @ (dJ @ v - crossing))
            points.append(C)
            normals.append(n)
        T = np.array(rows).T
        rates = contacts.surface_rates(q, v, points, normals, zero, zero)
        # What opens moves the vertex along its normal, which a face does not feel.
        found = contacts.equations(q, v, tau, points, normals, *rates)
        response = np.linalg.solve(bridge.mass_matrix(q), T)
        free = bridge.forward_dynamics(q, v, tau)
        expected = (T.T @ response, T.T @ free + bias, T, T.T @ v, response, free)
        for ours, theirs in zip(found, expected):
            assert_allclose(ours, theirs, atol=1e-9 * (1.0 + np.abs(theirs).max()))


@pytest.mark.seed('CN04', 'CN06', 'CN07', 'CN08', kind='full')
def test_a_quadruped_on_four_feet_with_many_points_each():
    """Of five points along each foot the two ends are needed; the solvers agree.

    The motors carry the weight, all but for what they do not know of the feet's size.
    """
    robot, _, _ = loaded('go1')
    q = robot.neutral()
    q[4:7] = 0.0, 0.0, 0.3
    q[7:] = np.tile([0.0, 0.8, -1.6], 4)
    poses = robot.forward_kinematics(q)
    edge = np.array([[x, 0.3 * x, 0.0] for x in np.linspace(-0.01, 0.01, 5)])
    ends = minimal_contact_set(edge, [0.0, 0.0, 1.0])
    assert ends.tolist() == [0, 4]
    pairs, points = [], []
    for foot in FEET:
        pairs += [(None, foot)] * 2
        points += list(poses[foot][:3, 3] + edge[ends])
    normals, still = np.tile([0.0, 0.0, 1.0], (8, 1)), np.zeros((8, 3))
    contacts = robot.contacts.between(pairs)
    v = np.zeros(robot.nv)
    mass = 2.0 * robot.energy(q, np.eye(robot.nv)[5]).kinetic
    # Motors that carry a load of mg/4 on each foot
    tau = robot.gravity_torque(q)
    for foot in FEET:
        J = robot.frame(foot, 'aligned').jacobian(q)
        tau = tau - J[5] * mass * 9.81 / 4.0
    tau[:6] = 0.0
    terms = contacts.equations(q, v, tau, points, normals, still, still)
    solutions = [solve_lcp(terms.M, terms.d, method) for method in ('lemke', 'qp')]
    rest = contacts.constraints(q, v, points, normals, still, still).bias
    by_acceleration = solve_gauss(robot.mass_matrix(q), terms.free, terms.T, rest)
    a = terms.free + terms.response @ solutions[0].force
    assert_allclose(by_acceleration.a, a, atol=1e-7 * (1.0 + np.abs(a).max()))
    for solution in (*solutions, by_acceleration):
        assert_allclose(terms.T @ solution.force, terms.T @ solutions[0].force, atol=1e-7 * mass)
        assert np.count_nonzero(solution.active) <= np.linalg.matrix_rank(terms.T)
    lifted = terms.T[5] @ solutions[0].force
    assert 0.5 < lifted / (mass * 9.81) < 1.5
