# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Motion of contacts of smooth surfaces, against differences of contacts in closed form."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.states import every_robot, named_robot, random_state
from support.textbook_trees import named_tree, run

from rbd_ros import Robot
from rbd_ros.textbook.contact_dynamics.contact_kinds import CONTACTS
from rbd_ros.textbook.contact_dynamics.surface_rates import surface_rates

ONE = np.eye(3)
BALL = (
    '<robot name="r"><link name="{0}"><inertial><mass value="{1}"/><inertia ixx="{2}" ixy="0" '
    'ixz="0" iyy="{3}" iyz="0" izz="{4}"/></inertial></link></robot>'
)


def free_body(mass=2.0, inertia=(0.02, 0.03, 0.05)):
    return Robot.from_urdf(BALL.format('body', mass, *inertia), floating_base=True)


def differences(function, h=1e-5):
    return [(a - b) / (2.0 * h) for a, b in zip(function(h), function(-h))]


@pytest.mark.seed('CN11', kind='full')
@pytest.mark.parametrize('hollow', [False, True])
@every_robot
def test_two_spheres_and_a_sphere_in_a_bowl(name, hollow):
    """Centers fixed to two links: the normal is along their line, the point on it.

    Surfaces are chosen so that they touch; their velocities are any with n . (v_s - v_p) = 0.
    """
    robot = named_robot(name)
    p, s = robot.body_names[0], robot.body_names[-1]
    contacts = robot.contacts.between([(p, s)])
    rng = np.random.default_rng(12)
    q, v, _ = random_state(robot, 6)
    offsets = rng.normal(size=(2, 3))

    def centers(t):
        poses = robot.forward_kinematics(robot.integrate(q, t * v))
        return [poses[x][:3, :3] @ o + poses[x][:3, 3] for x, o in zip((p, s), offsets)]

    a, b = centers(0.0)
    distance = np.linalg.norm(b - a)
    # Radii of predecessor, negative for a bowl, and successor; the sum is the distance.
    r_s = 0.3 * distance if not hollow else 1.5 * distance
    r_p = distance - r_s if not hollow else -(r_s + distance)

    def geometry(t):
        a, b = centers(t)
        n = (b - a) / np.linalg.norm(b - a) * (-1.0 if hollow else 1.0)
        return a + r_p * n, n

    C, n = geometry(0.0)
    T = contacts.constraints(q, v, [C], [n], [0 * C], [0 * n]).T[:, 0]
    v = v - T * (T @ v) / (T @ T)
    Cdot, ndot = differences(geometry)
    size = 1.0 + np.abs(v).max()
    found = contacts.surface_rates(q, v, [C], [n], [ONE / r_p], [ONE * r_s])
    assert_allclose(found.normal_rates[0], ndot, atol=1e-8 * size)
    assert_allclose(found.point_rates[0], Cdot, atol=1e-8 * size)


def test_curvatures_that_do_not_commute_obey_the_equations_of_the_book():
    """The point moves over the successor with R times the rate of its normal, R W c in order."""
    robot = named_robot('floating base')
    p, s = robot.body_names[0], robot.body_names[-1]
    contacts = robot.contacts.between([(p, s)])
    rng = np.random.default_rng(4)
    q, v, _ = random_state(robot, 6)
    n = np.array([0.6, 0.0, 0.8])
    across = np.eye(3) - np.outer(n, n)
    W, R = (across @ (x + x.T) @ across for x in rng.normal(size=(2, 3, 3)))
    assert np.abs(W @ R - R @ W).max() > 0.1
    C = rng.normal(size=3)
    found = contacts.surface_rates(q, v, [C], [n], [W], [R])

    def motion(name):
        """Return the angular velocity and velocity of the point at C, in base coordinates."""
        spatial = robot.frame(name, 'base').velocity(q, v)
        return spatial[:3], spatial[3:] + np.cross(spatial[:3], C)

    (w_p, v_p), (w_s, v_s) = motion(p), motion(s)
    c = found.point_rates[0] - v_p
    u = across @ (v_s - v_p)
    assert_allclose(c, u + R @ (np.cross(w_s - w_p, n) - W @ c), atol=1e-11)
    assert_allclose(found.normal_rates[0], np.cross(w_p, n) + W @ c, atol=1e-11)


@pytest.mark.seed('CN11', kind='full')
@pytest.mark.parametrize('tangents', [False, True])
def test_an_ellipsoid_on_a_plane(tangents):
    """Its lowest point, in closed form, while it turns and slides; R is what curves it there."""
    semi = np.array([0.3, 0.5, 0.2])
    body = free_body()
    contacts = body.contacts.between([(None, 'body')], tangents)
    rng = np.random.default_rng(3)
    up = np.array([0.6, 0.0, 0.8])
    q, v = body.random_configuration(rng), rng.normal(size=6)

    def lowest(t):
        pose = body.forward_kinematics(body.integrate(q, t * v))['body']
        m = pose[:3, :3].T @ -up
        x = semi**2 * m / np.sqrt(m @ (semi**2 * m))
        return (pose[:3, :3] @ x + pose[:3, 3],)

    (C,) = lowest(0.0)
    rotation = body.forward_kinematics(q)['body'][:3, :3]
    m = rotation.T @ -up
    s = np.sqrt(m @ (semi**2 * m))
    # x = A m / s with A = diag(semi^2): dx/dm = A / s - A m m^T A / s^3
    A = np.diag(semi**2)
    R = rotation @ (A / s - A @ np.outer(m, m) @ A / s**3) @ rotation.T
    axes = np.linalg.qr(np.column_stack([up, rng.normal(size=(3, 2))]))[0].T
    axes *= np.sign(axes[0] @ up)
    directions = axes if tangents else axes[0]
    row = np.zeros_like(directions)
    T = contacts.constraints(q, v, [C], [directions], [0 * C], [row]).T[:, 0]
    v = v - T * (T @ v) / (T @ T)
    found = contacts.surface_rates(q, v, [C], [directions], [0 * R], [R])
    (Cdot,) = differences(lowest)
    assert_allclose(found.point_rates[0], Cdot, atol=1e-9)
    assert found.normal_rates.shape == ((1, 3, 3) if tangents else (1, 3))
    assert_allclose(found.normal_rates, 0.0, atol=1e-14)


def test_a_vertex_moves_with_its_body_and_tangents_turn_with_the_normal():
    tree = named_tree('floating base')
    robot = Robot(tree.model)
    p, s = robot.body_names[1], robot.body_names[-1]
    contacts = robot.contacts.between([(p, s)], tangents=True)
    rng = np.random.default_rng(5)
    axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    C = rng.normal(size=3)
    for q, v, _ in tree.states:
        zero = np.zeros((1, 3, 3))
        found = contacts.surface_rates(q, v, [C], [axes], zero, zero)
        w = tree.book.jacobian(q, p, 'base')[:3] @ v
        v_p, v_s = (
            J[3:] @ v + np.cross(J[:3] @ v, C)
            for J in (tree.book.jacobian(q, x, 'base') for x in (p, s))
        )
        n = axes[0]
        ndot = np.cross(w, n)
        slip = v_s - v_p
        assert_allclose(found.point_rates[0], v_p + slip - n * (n @ slip), atol=1e-10)
        assert_allclose(found.normal_rates[0, 0], ndot, atol=1e-11)
        rates = found.normal_rates[0]
        # Axes stay orthonormal, and do not turn about the normal.
        assert_allclose(axes @ rates.T + rates @ axes.T, 0.0, atol=1e-11)
        assert rates[1] @ axes[2] == pytest.approx(0.0, abs=1e-11)
        given = {'contacts': CONTACTS.resolve(tree.model, [(p, s)]), 'tangents': True}
        floats = run(
            surface_rates, tree.model, q=q, v=v, points=C, normals=axes.ravel(),
            curvatures=np.zeros(9), radii=np.zeros(9), **given,
        )  # fmt: skip
        assert_allclose(floats[1].reshape(3, 3), rates, atol=1e-12)


@pytest.mark.seed('CN11', kind='full')
def test_a_ball_slides_in_a_bowl_as_a_pendulum_does():
    """Force at an angle, sliding at a speed: n . m g + m v^2 / (R - r), by the rate of n alone."""
    mass, radius, bowl, gravity = 2.0, 0.1, 0.7, 9.81
    body = free_body(mass, (0.008, 0.008, 0.008))
    contacts = body.contacts.between([(None, 'body')])
    for angle in (0.0, 0.4, -1.0):
        for speed, spin in ((0.0, 0.0), (1.5, 0.0), (-2.0, 30.0)):
            n = np.array([-np.sin(angle), 0.0, np.cos(angle)])
            along = np.array([np.cos(angle), 0.0, np.sin(angle)])
            center = -(bowl - radius) * n
            q = np.concatenate([[1.0, 0.0, 0.0, 0.0], center])
            v = np.concatenate([[0.0, spin, 0.0], speed * along])
            C = center - radius * n
            rates = contacts.surface_rates(q, v, [C], [n], [-ONE / bowl], [radius * ONE])
            found = contacts.equations(q, v, np.zeros(6), [C], [n], *rates)
            force = -found.d[0] / found.M[0, 0]
            expected = mass * (gravity * np.cos(angle) + speed**2 / (bowl - radius))
            assert force == pytest.approx(expected, rel=1e-12)
            assert found.velocity[0] == pytest.approx(0.0, abs=1e-14)


@pytest.mark.seed('CN11')
def test_matrices_of_a_wrong_shape_are_rejected():
    body = free_body()
    contacts = body.contacts.between([(None, 'body')])
    row, matrix = np.zeros((1, 3)), np.zeros((1, 3, 3))
    q, v = body.neutral(), np.zeros(6)
    with pytest.raises(ValueError, match='curvatures must have shape'):
        contacts.surface_rates(q, v, row, row, row, matrix)
    with pytest.raises(ValueError, match='radii must have shape'):
        contacts.surface_rates(q, v, row, row, matrix, row)
    many = contacts.surface_rates(
        np.tile(q, (4, 1)), v, row, np.tile(row, (4, 1, 1)), matrix, matrix
    )
    assert many.point_rates.shape == (4, 1, 3) and many.normal_rates.shape == (4, 1, 3)


@pytest.mark.parametrize('tangents', [False, True])
@pytest.mark.parametrize('batch', [(), (3,)])
def test_results_are_written_to_out(batch, tangents):
    body = free_body()
    contacts = body.contacts.between([(None, 'body')] * 2, tangents)
    rng = np.random.default_rng(1)
    q = np.broadcast_to(body.random_configuration(rng), (*batch, 7))
    v = np.broadcast_to(rng.normal(size=6), (*batch, 6))
    shape = (2, 3, 3) if tangents else (2, 3)
    points, normals = rng.normal(size=(2, 3)), rng.normal(size=shape)
    matrices = rng.normal(size=(2, 2, 3, 3))
    expected = contacts.surface_rates(q, v, points, normals, *matrices)
    out = (np.empty((*batch, 2, 3)), np.empty((*batch, *shape)))
    found = contacts.surface_rates(q, v, points, normals, *matrices, out=out)
    for given, ours, theirs in zip(out, found, expected):
        assert ours is given and ours.shape == theirs.shape
        assert np.array_equal(ours, theirs)


@pytest.mark.parametrize('tangents', [False, True])
def test_several_contacts_are_each_by_itself(tangents):
    tree = named_tree('rolling chain')
    names = [body.name for body in tree.model.bodies]
    pairs = [(None, names[-1]), (names[1], names[3]), (names[2], None)]
    rng = np.random.default_rng(7)
    points, curvatures, radii = (
        rng.normal(size=shape) for shape in ((3, 3), (3, 3, 3), (3, 3, 3))
    )
    axes = np.linalg.qr(rng.normal(size=(3, 3, 3)))[0]
    normals = axes if tangents else axes[:, 0]
    for q, v, _ in tree.states:

        def rates(at, q=q, v=v):
            given = {'contacts': CONTACTS.resolve(tree.model, [pairs[k] for k in at])}
            flat = {'points': points, 'normals': normals, 'curvatures': curvatures, 'radii': radii}
            flat = {name: x[at].ravel() for name, x in flat.items()}
            return run(surface_rates, tree.model, q=q, v=v, **flat, **given, tangents=tangents)

        together = rates([0, 1, 2])
        single = [np.concatenate(each) for each in zip(*(rates([k]) for k in range(3)))]
        for ours, theirs in zip(together, single):
            assert_allclose(ours, theirs, atol=1e-13)
            assert np.linalg.matrix_rank(ours.reshape(3, -1), 1e-6) == 3
