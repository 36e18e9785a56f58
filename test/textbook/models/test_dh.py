# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Denavit-Hartenberg tables of both conventions: poses, dynamics, and rejections."""

from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.dense import motion_transform

from rbd_ros import ModelError, Robot
from rbd_ros.textbook.models.dh import DHFrame, DHLink, distal_chain, proximal_chain

TYPES = ('revolute', 'prismatic', 'revolute', 'revolute', 'prismatic')


def random_table(rng, types=TYPES):
    """Return all numbers general; offsets of the variables, too."""
    table = []
    for kind in types:
        A = rng.normal(size=(3, 3))
        I = A @ A.T
        table.append(
            DHLink(
                *(float(x) for x in rng.uniform(0.1, 1.0, 4)),
                type=kind,
                mass=float(rng.uniform(0.5, 2.0)),
                center=tuple(rng.normal(size=3).tolist()),
                inertia=tuple(map(tuple, ((I + I.T) / 2.0).tolist())),
            )
        )
    return table


def about_z(theta, d):
    """Return 4x4 matrix Rz(theta) Tz(d)."""
    c, s = np.cos(theta), np.sin(theta)
    return np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, d], [0, 0, 0, 1]])


def about_x(alpha, a):
    """Return 4x4 matrix Tx(a) Rx(alpha)."""
    c, s = np.cos(alpha), np.sin(alpha)
    return np.array([[1, 0, 0, a], [0, c, -s, 0], [0, s, c, 0], [0, 0, 0, 1]])


def variables(row, x):
    """Return the angle and distance of a row at a position of its joint."""
    revolute = row.type == 'revolute'
    return row.theta + x * revolute, row.d + x * (not revolute)


def distal_matrix(row, x):
    return about_z(*variables(row, x)) @ about_x(row.alpha, row.a)


def proximal_matrix(row, x):
    return about_x(row.alpha, row.a) @ about_z(*variables(row, x))


@pytest.mark.seed('DN01', kind='full')
def test_poses_of_distal_frames_are_products_of_matrices(rng):
    table = random_table(rng)
    robot = Robot(distal_chain('arm', table))
    for q in rng.uniform(-2, 2, (10, len(table))):
        poses, T = robot.forward_kinematics(q), np.eye(4)
        assert_allclose(poses['frame1'], T, atol=0)
        for i, (row, x) in enumerate(zip(table, q), start=1):
            T = T @ distal_matrix(row, x)
            assert_allclose(poses[f'frame{i + 1}'], T, atol=1e-14)


@pytest.mark.seed('MD09')
def test_poses_of_proximal_frames_are_products_of_matrices(rng):
    """From the base, by d_0 and theta_0, to the frame of an end-effector."""
    table, end = random_table(rng), DHFrame(0.3, 0.4, 0.5, 0.6)
    robot = Robot(proximal_chain('arm', table, (0.2, -0.7), end))
    assert robot.link_names[-1] == 'end'
    for q in rng.uniform(-2, 2, (10, len(table))):
        poses, T = robot.forward_kinematics(q), about_z(-0.7, 0.2)
        for i, (row, x) in enumerate(zip(table, q), start=1):
            T = T @ proximal_matrix(row, x)
            assert_allclose(poses[f'link{i}'], T, atol=1e-14)
        T = T @ about_x(end.alpha, end.a) @ about_z(end.theta, end.d)
        assert_allclose(poses['end'], T, atol=1e-14)


def screw(axis, angle, distance):
    """Return the axial screw transform of motions along x or z, (6, 6) (book A.4)."""
    matrix = (about_x if axis == 'x' else about_z)(angle, distance)
    return motion_transform(matrix[:3, :3].T, matrix[:3, 3])


@pytest.mark.seed('MD09', kind='full')
def test_proximal_transforms_are_two_axial_screws(rng):
    """X_J X_T = scrz(theta, d) scrx(alpha, a), and X_T(1) begins with scrz(theta_0, d_0)."""
    table = random_table(rng)
    model = proximal_chain('arm', table, (0.2, -0.7))
    for (i, body), row, x in zip(model.outward(), table, rng.uniform(-2, 2, len(table))):
        expected = screw('z', *variables(row, x)) @ screw('x', row.alpha, row.a)
        if i == 1:
            expected = expected @ screw('z', -0.7, 0.2)
        found = (body.joint.transform([x]) * body.tree_transform).matrix()
        assert_allclose(found.astype(float), expected, atol=1e-14)


@pytest.mark.seed('DN01')
def test_both_conventions_describe_the_same_arm(rng):
    """A and alpha move one row on, and mass follows into the frame at the joint (warning v)."""
    table = random_table(rng)
    distal = Robot(distal_chain('arm', table, gravity=(1.0, -2.0, -9.0)))
    rows = []
    for k, row in enumerate(table):
        R, shift = about_x(row.alpha, row.a)[:3, :3], np.array([row.a, 0.0, 0.0])
        before = table[k - 1] if k else DHLink()
        I = R @ np.array(row.inertia) @ R.T
        moved = {
            'a': before.a,
            'alpha': before.alpha,
            'center': tuple((shift + R @ row.center).tolist()),
            'inertia': tuple(map(tuple, ((I + I.T) / 2.0).tolist())),
        }
        rows.append(replace(row, **moved))
    proximal = Robot(proximal_chain('arm', rows, gravity=(1.0, -2.0, -9.0)))
    q, v, a = rng.normal(size=(3, len(table)))
    tau = distal.inverse_dynamics(q, v, a)
    assert_allclose(proximal.inverse_dynamics(q, v, a), tau, atol=1e-11 * np.abs(tau).max())


def test_mass_and_inertia_are_where_the_table_says(rng):
    """Kinetic energy of a link about its center of mass, in frame i + 1."""
    table = random_table(rng, ('revolute',))
    robot, row = Robot(distal_chain('arm', table)), table[0]
    R = about_x(row.alpha, row.a)[:3, :3]
    C = np.array([row.a, 0.0, 0.0]) + R @ row.center
    expected = (R @ np.array(row.inertia) @ R.T)[2, 2] + row.mass * (C[0] ** 2 + C[1] ** 2)
    assert robot.mass_matrix([0.4])[0, 0] == pytest.approx(expected)
    row = replace(row, a=0.0, alpha=0.0)
    robot = Robot(proximal_chain('arm', [row]))
    x, y, _ = row.center
    expected = row.inertia[2][2] + row.mass * (x * x + y * y)
    assert robot.mass_matrix([0.4])[0, 0] == pytest.approx(expected)


@pytest.mark.seed('DN01')
def test_stanford_arm_of_the_table_is_that_of_the_urdf(rng, monkeypatch):
    root = Path(__file__).resolve().parents[3]
    monkeypatch.syspath_prepend(str(root / 'examples'))
    import saha

    urdf = Robot.from_urdf(root / 'urdf' / 'stanford_arm.urdf')
    q, v, a = rng.normal(size=(3, 6))
    expected = urdf.inverse_dynamics(q, v, a)
    assert_allclose(saha.stanford_arm().inverse_dynamics(q, v, a), expected, atol=1e-12)


GOOD = DHLink(a=0.1, mass=1.0)


@pytest.mark.parametrize(
    ('wrong', 'pattern'),
    [
        ({'type': 'screw'}, "link2: joint type 'screw'; there are revolute, prismatic"),
        ({'a': -0.1}, 'link2: a is the distance .* must not be negative, got -0.1; rotate'),
        ({'a': float('nan')}, 'link2: a is the distance'),
        ({'alpha': float('nan')}, 'link2: alpha must be finite'),
        ({'d': float('inf')}, 'link2: d must be finite'),
        ({'theta': float('nan')}, 'link2: theta must be finite'),
        ({'mass': float('inf')}, 'link2: mass must be finite'),
        ({'mass': -1.0}, 'link2: mass must not be negative, got -1.0'),
        ({'center': (0.0, 0.0)}, 'link2: center must have 3 elements'),
        ({'center': (0.0, 0.0, float('nan'))}, 'link2: center must be finite'),
        ({'inertia': ((1.0, 0.0, 0.0),) * 2}, 'link2: inertia must have 3 rows'),
        ({'inertia': ((1.0, 0.1, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))}, 'must be symmetric'),
        ({'inertia': ((float('nan'), 0, 0), (0, 1, 0), (0, 0, 1))}, 'inertia must be finite'),
    ],
)
@pytest.mark.parametrize('read', [distal_chain, proximal_chain])
def test_rows_that_make_no_sense_are_rejected_by_name(read, wrong, pattern):
    with pytest.raises(ModelError, match=pattern):
        read('arm', [GOOD, replace(GOOD, **wrong)])


def test_an_empty_table_and_a_wrong_end_are_rejected():
    with pytest.raises(ModelError, match='needs at least one link'):
        distal_chain('arm', [])
    with pytest.raises(ModelError, match='end: a is the distance'):
        proximal_chain('arm', [GOOD], end=DHFrame(-1.0, 0.0, 0.0, 0.0))


@pytest.mark.parametrize('read', [distal_chain, proximal_chain])
def test_numbers_that_are_not_given_are_zero_and_gravity_is_that_of_the_earth(read):
    model = read('arm', [DHLink(), DHLink()])
    assert model.gravity == (0.0, 0.0, -9.81)
    poses = Robot(model).forward_kinematics([0.0, 0.0])
    assert all(np.array_equal(pose, np.eye(4)) for pose in poses.values())
    assert all(body.inertia.mass == 0.0 and not any(body.inertia.h) for body in model.bodies)
    assert all(not any(body.inertia.I) for body in model.bodies)
