# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Saha's planar arm and Stanford arm, along cycloids and in free fall (inventory 2.2, 2.3).

The arms are built from the Denavit-Hartenberg tables, independent of the files in urdf/, which
must agree.
"""

from pathlib import Path

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.random_trees import chain

import rbd_ros
from rbd_ros import Robot

T = 10.0  # duration of the cycloid [s]
TIMES = np.array([0.0, 2.5, 5.0, 7.5, 10.0])
URDF_FOLDERS = [Path(__file__).parents[2] / 'urdf', Path(rbd_ros.__file__).parents[1] / 'urdf']


def cycloid(start, change, t):
    """Return position, velocity, acceleration of start + change (t/T - sin(2 pi t/T) / 2 pi)."""
    start, change, t = np.asarray(start), np.asarray(change), np.asarray(t)[:, None]
    w = 2 * np.pi / T
    return (
        start + change * (t / T - np.sin(w * t) / (2 * np.pi)),
        change / T * (1 - np.cos(w * t)),
        change / T * w * np.sin(w * t),
    )


def embedded(name):
    for folder in URDF_FOLDERS:
        if (folder / name).is_file():
            return Robot.from_urdf(folder / name)
    pytest.skip(f'urdf/{name} is not there')


def free_fall(robot, q, times):
    """Return the states at some times after a start at rest, by an adaptive Runge-Kutta method."""
    from scipy.integrate import solve_ivp

    n = robot.nv
    solution = solve_ivp(
        lambda t, x: np.r_[x[n:], robot.forward_dynamics(x[:n], x[n:], np.zeros(n))],
        (0, times[-1]),
        np.r_[q, np.zeros(n)],
        method='DOP853',
        t_eval=times,
        rtol=1e-11,
        atol=1e-12,
    )
    return solution.y[:n].T, solution.y[n:].T


# -- planar arm: lengths and masses are not in the paper; inferred from its plots
# -------------------------------------

LENGTHS, MASSES = [0.3, 0.25, 0.22], [0.5, 0.4, 0.3]
PLANAR_TORQUES = [
    [4.34583, 1.54998, 0.32373],
    [3.982914426, 1.274541632, 0.221226314],
    [-1.286948067, -1.227730441, 0.013027878],
    [-1.869508481, 0.818789239, -0.213141935],
    [-1.89333, 0.90252, -0.32373],
]


def planar_arm():
    """Return the arm in the x-y plane with gravity along -y."""
    links, x = [], 0.0
    for a, m in zip(LENGTHS, MASSES):
        I = m * a * a / 12
        links.append(
            {
                'type': 'continuous',
                'axis': [0, 0, 1],
                'xyz': [x, 0, 0],
                'mass': m,
                'center': [a / 2, 0, 0],
                'inertia': [0, 0, 0, I, 0, I],
            }
        )
        x = a
    return Robot.from_urdf(chain(links), gravity=(0, -9.81, 0))


@pytest.fixture(params=['from the table', 'embedded'])
def planar(request):
    return planar_arm() if request.param == 'from the table' else embedded('planar_3r.urdf')


@pytest.mark.seed('DN14')
def test_planar_arm_torques_along_the_cycloid(planar):
    tau = planar.inverse_dynamics(*cycloid(np.zeros(3), np.full(3, np.pi), TIMES))
    assert_allclose(tau, PLANAR_TORQUES, atol=6e-10)  # given to 9 decimals


@pytest.mark.seed('DN14')
def test_planar_arm_torque_stays_within_the_plotted_axis(planar):
    """-2 to 5 N m; the extremes recomputed."""
    tau = planar.inverse_dynamics(
        *cycloid(np.zeros(3), np.full(3, np.pi), np.linspace(0, T, 2001))
    )
    assert tau[:, 0].min() == pytest.approx(-1.897, abs=1e-3) and tau[:, 0].max() == pytest.approx(
        4.385, abs=1e-3
    )


@pytest.mark.seed('DN14', 'AB08')
def test_planar_arm_falls_freely(planar):
    a = planar.forward_dynamics(np.zeros(3), np.zeros(3), np.zeros(3))
    assert_allclose(a, [-42.478708, 57.968182, -21.890083], atol=6e-7)
    q, v = free_fall(planar, np.zeros(3), [0.75])
    # The turning point, "about -3.15" in the inventory; Pinocchio's ABA integrated alike gives
    # -3.203948836.
    assert q[0, 0] == pytest.approx(-3.203948836, abs=1e-8)
    assert abs(v[0, 0]) < 0.1


# -- Stanford arm: table 3 of the paper
# -------------------------------------------------------------------------------

DH = [  # a, b, alpha, joint type
    (0.0, 0.2, -np.pi / 2, 'continuous'),
    (0.0, 0.1, -np.pi / 2, 'continuous'),
    (0.0, 0.0, 0.0, 'prismatic'),
    (0.0, 0.6, np.pi / 2, 'continuous'),
    (0.0, 0.0, -np.pi / 2, 'continuous'),
    (0.0, 0.0, 0.0, 'continuous'),
]
MASS = [9.0, 6.0, 4.0, 1.0, 0.6, 0.5]
# from the center of mass to the origin of frame i+1, in frame i+1
R_TO_ORIGIN = np.array([[0, -0.1, 0], [0, 0, 0], [0, 0, 0], [0, -0.1, 0], [0, 0, 0], [0, 0, 0]])
INERTIA = [
    [0.01, 0.02, 0.01],
    [0.05, 0.06, 0.01],
    [0.4, 0.4, 0.01],
    [0.001, 0.001, 0.0005],
    [0.0005, 0.0005, 0.0002],
    [0.003, 0.001, 0.002],
]
START = np.array([0.0, np.pi / 2, 0.0, 0.0, 0.0, 0.0])


def turn_x(alpha):
    c, s = np.cos(alpha), np.sin(alpha)
    return np.array([[1, 0, 0], [0, c, -s], [0, s, c]])


def stanford_arm(gravity=(0, 0, -9.81)):
    """Return the frame i on link i - 1.

    Joint i moves frame i by its variable, then Tz(b) Tx(a) Rx(alpha) leads to frame i + 1.
    """
    links, place = [], {'xyz': [0, 0, 0], 'rpy': [0, 0, 0]}
    for (a, b, alpha, type_), m, r, I in zip(DH, MASS, R_TO_ORIGIN, INERTIA):
        R = turn_x(alpha)  # frame i + 1 in the link's frame
        center = np.array([a, 0, b]) - R @ r
        turned = R @ np.diag(I) @ R.T
        links.append(
            dict(
                type=type_,
                axis=[0, 0, 1],
                mass=m,
                center=center,
                inertia=turned[np.triu_indices(3)],
                **place,
            )
        )
        place = {'xyz': [a, 0, b], 'rpy': [alpha, 0, 0]}
    return Robot.from_urdf(chain(links), gravity=gravity)


@pytest.fixture(params=['from the table', 'embedded'])
def stanford(request):
    return stanford_arm() if request.param == 'from the table' else embedded('stanford_arm.urdf')


@pytest.mark.seed('DN01')
def test_stanford_arm_poses_are_products_of_dh_matrices(rng):
    robot = stanford_arm()
    for q in rng.uniform(-2, 2, (10, 6)):
        poses, T0 = robot.forward_kinematics(q), np.eye(4)
        for i, ((a, b, alpha, type_), x) in enumerate(zip(DH, q), start=1):
            theta, b = (0.0, b + x) if type_ == 'prismatic' else (x, b)
            turn, shift, tilt = np.eye(4), np.eye(4), np.eye(4)
            turn[:2, :2] = [[np.cos(theta), -np.sin(theta)], [np.sin(theta), np.cos(theta)]]
            shift[:3, 3], tilt[:3, :3] = [a, 0, b], turn_x(alpha)
            T0 = T0 @ turn @ shift @ tilt
            b_constant = DH[i - 1][1]
            end = poses[f'link{i}'] @ np.block(
                [[turn_x(alpha), np.array([[a], [0], [b_constant]])], [np.eye(4)[3:]]]
            )
            assert_allclose(end, T0, atol=1e-14)


READING_A = (
    np.r_[np.pi / 3, np.pi / 3 - np.pi / 2, 0.1, np.full(3, np.pi / 3)],
    [  # joint 2: 90 -> 60 degrees
        [0, 13.3416, 0, 0, 0, 0],
        [0.104302575, 13.822715828, -2.786294032, 0.000327195, 0.000046907, 0.000268388],
        [-0.005708589, 15.753785400, -15.574391897, 0.000040028, -0.000098099, -0.000069797],
        [-0.099836976, 16.732867274, -27.518353676, -0.000210424, 0.000031985, -0.000217470],
        [0, 16.736547146, -29.9205, 0, 0, 0],
    ],
)
READING_B = (
    np.r_[np.pi / 3, np.pi / 3, 0.1, np.full(3, np.pi / 3)],
    [  # joint 2: 90 -> 150 degrees
        [0, 13.3416, 0, 0, 0, 0],
        [0.099906624, 13.916409330, 5.731632985, 0.000353951, 0.000211685, 0.000287942],
        [-0.054208677, 14.187122308, 29.792688623, 0.000127049, 0.000044210, 0.000000259],
        [-0.056302521, 10.807692024, 48.657701609, -0.000385637, -0.000128576, -0.000422749],
        [0, 9.662850, 51.823826188, 0, 0, 0],
    ],
)


@pytest.mark.seed('DN15', 'ID04')
@pytest.mark.parametrize('reading', [READING_A, READING_B], ids=['A', 'B'])
def test_stanford_arm_torques_along_the_cycloid(stanford, reading):
    """The paper leaves open whether joint 2 ends at 60 degrees or moves by 60 degrees.

    Both readings.
    """
    change, expected = reading
    tau = stanford.inverse_dynamics(*cycloid(START, change, TIMES))
    assert_allclose(tau, expected, atol=6e-10)  # given to 9 decimals


@pytest.mark.seed('DN15', 'FM03', 'DN06')
def test_stanford_arm_mass_matrix_at_the_start(stanford):
    expected = np.zeros((6, 6))
    for (i, j), value in {
        (1, 1): 1.4815,
        (1, 3): 0.61,
        (2, 2): 1.348,
        (2, 5): 0.0015,
        (3, 3): 6.1,
        (4, 4): 0.0032,
        (4, 6): 0.002,
        (5, 5): 0.0015,
        (6, 6): 0.002,
    }.items():
        expected[i - 1, j - 1] = expected[j - 1, i - 1] = value
    assert_allclose(stanford.mass_matrix(START), expected, atol=1e-15)


@pytest.mark.seed('DN15')
def test_stanford_arm_torque_at_the_start_is_the_weight_of_the_forearm(stanford):
    assert_allclose(
        stanford.gravity_torque(START), [0, 9.81 * (1 * 0.7 + 1.1 * 0.6), 0, 0, 0, 0], atol=1e-13
    )


@pytest.mark.seed('DN15', 'AB08', 'SV22')
def test_stanford_arm_falls_freely(stanford):
    q, v = free_fall(stanford, START, [0.5, 1.0])
    assert_allclose(np.rad2deg(q[:, 1]), [32.474, 4.639], atol=6e-4)  # given to 3 decimals
    assert_allclose(q[:, 2], [0.348018, 2.999662], atol=6e-7)
    assert_allclose(v[:, 2], [2.545531, 7.894981], atol=6e-7)
    start, end = stanford.energy(START, np.zeros(6)).total, stanford.energy(q[1], v[1]).total
    assert abs(end - start) < 1e-7


@pytest.mark.seed('DN15')
def test_stanford_arm_mirrored_falls_the_other_way():
    """With gravity along +z joint 2 passes more than 90 degrees.

    147.526 degrees after half a second, same slide.
    """
    q, _ = free_fall(stanford_arm(gravity=(0, 0, 9.81)), START, [0.5])
    assert np.rad2deg(q[0, 1]) == pytest.approx(147.526, abs=6e-4)
    assert q[0, 2] == pytest.approx(0.348018, abs=6e-7)
