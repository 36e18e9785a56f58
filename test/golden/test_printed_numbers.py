# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Published examples of the book on trees.

They are rounding with distant frames, symbolic simplification, and the spinning disc.
"""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.dense import inertia
from support.random_trees import chain
from support.tally import counted

from rbd_ros import Robot
from rbd_ros.compiler import Graph
from rbd_ros.spatial import ForceVector, MotionVector, PluckerTransform, RigidBodyInertia


@pytest.mark.seed('AE02', kind='full')
@pytest.mark.seed('PV03')
def test_far_frame_inertia_of_section_10_1():
    """Planar body seen from a frame far away.

    Rows (n, fx, fy) of a spatial inertia; a = [1, 9, -99], cond 1.02e8.
    """
    m, c, I_C = 1.0, np.array([100.0, 10.0, 0.0]), np.eye(3)
    planar = [2, 3, 4]
    M = RigidBodyInertia.from_mass_center(m, c, I_C).matrix()
    printed = np.array([[10101.0, -10.0, 100.0], [-10.0, 1.0, 0.0], [100.0, 0.0, 1.0]])
    assert_allclose(M[np.ix_(planar, planar)], printed, rtol=0)
    assert_allclose(M, inertia(m, c, I_C), rtol=0)
    assert np.linalg.cond(printed) == pytest.approx(102050401, abs=2)
    f = RigidBodyInertia.from_mass_center(m, c, I_C) * MotionVector((0, 0, 1.0), (9.0, -99.0, 0))
    assert [f.moment[2], f.linear[0], f.linear[1]] == [111.0, -1.0, 1.0]
    # four digits of sixteen are lost: 1e-16 times cond is 1e-8, the book sees 1e-12
    assert_allclose(np.linalg.solve(printed, [111, -1, 1]), [1, 9, -99], atol=1e-8)


@pytest.mark.seed('AE02', kind='full')
def test_rounding_grows_with_the_square_of_a_distance_beyond_the_size_of_the_body():
    """Book eq 10.1 and figure 10.2: the error at the center of mass is constant for |c| < 1.

    A unit body in the plane turns at 1 rad/s under a force; in the frame of its center of mass it
    accelerates by [1, -1, 1] exactly. At |c| = 100, four digits are lost of sixteen.
    """
    rng = np.random.default_rng(1)
    at_center = np.array([1.0, -1.0, 1.0])

    def typical_error(distance):
        errors = []
        for _ in range(300):
            angle = rng.uniform(0.0, 2.0 * np.pi)
            center = (distance * np.cos(angle), distance * np.sin(angle), 0.0)
            to_frame = PluckerTransform.translation(tuple(-x for x in center))
            v = to_frame * MotionVector((0.0, 0.0, 1.0), (0.0, 0.0, 0.0))
            force = to_frame.apply(ForceVector((0.0, 0.0, 1.0), (-1.0, 1.0, 0.0)))
            inertia = RigidBodyInertia.from_mass_center(1.0, center, np.eye(3).tolist())
            net = force - v.cross(inertia * v)
            a = np.linalg.solve(inertia.matrix(), net.to_array())
            back = to_frame.inverse_apply(MotionVector.from_array(a)).to_array()
            errors.append(np.abs(back[2:5] - at_center).max())
        return np.median(errors)

    near = [typical_error(c) for c in (0.01, 0.1, 0.5, 1.0)]
    assert max(near) < 1e-15
    distances = np.array([30.0, 100.0, 300.0, 1000.0, 3000.0])
    far = np.array([typical_error(c) for c in distances])
    slope = np.polyfit(np.log(distances), np.log(far), 1)[0]
    assert slope == pytest.approx(2.0, abs=0.15)
    assert 1e-13 < far[1] < 1e-11  # the book sees 1e-12


@pytest.mark.seed('AE09', kind='full')
@pytest.mark.seed('SV20')
def test_symbolic_example_of_section_10_4():
    """Tau = s . v x I v with I = diag(1.5, 1.6, 1.7), s = e3: 0.1 v1 v2.

    29 operations as it is written, and 5 of those are left, as in the book.
    """
    I = RigidBodyInertia(0.0, (0.0, 0.0, 0.0), (1.5, 0.0, 1.6, 0.0, 0.0, 1.7))
    values = (0.3, -1.2, 0.7)
    v = MotionVector(values, (0, 0, 0))
    p = v.cross(I * v)
    assert p.moment[2] == pytest.approx(0.1 * 0.3 * -1.2, rel=1e-14)

    def dense(I, v):
        x, y, z = (a * v[0] + b * v[1] + c * v[2] for a, b, c in I)
        p = (v[1] * z - v[2] * y, v[2] * x - v[0] * z, v[0] * y - v[1] * x)
        return 0.0 * p[0] + 0.0 * p[1] + 1.0 * p[2]

    tau, operations = counted(dense, np.diag([1.5, 1.6, 1.7]), values)
    assert float(tau) == p.moment[2] and sum(operations.values()) == 29
    graph = Graph()
    symbols = graph.inputs('v', 3)
    v = MotionVector(tuple(symbols), (0.0, 0.0, 0.0))
    cost = graph.count([v.cross(I * v).moment[2]])
    assert (cost.multiplications, cost.additions, cost.divisions) == (4, 1, 0)


@pytest.mark.seed('AE09')
def test_symbolic_example_as_a_robot():
    """A ball joint of three hinges at zero.

    The bias torque of the last is 0.1 times the product of the others' rates.
    """
    robot = Robot.from_urdf(
        chain(
            [
                {'type': 'continuous', 'axis': [1, 0, 0]},
                {'type': 'continuous', 'axis': [0, 1, 0]},
                {'type': 'continuous', 'axis': [0, 0, 1], 'inertia': [1.5, 0, 0, 1.6, 0, 1.7]},
            ]
        ),
        gravity=(0, 0, 0),
    )
    v = np.array([0.3, -1.2, 0.0])
    # At q = 0 the hinges turn about x, y, z. The rate of the first axis adds I_zz * (x cross y)
    # rate: -1.7 v1 v2 more.
    a = np.array(
        [0.0, 0.0, -0.3 * -1.2]
    )  # cancels the rate, so that the body's angular acceleration is zero about z
    assert_allclose(robot.inverse_dynamics(np.zeros(3), v, a)[2], 0.1 * 0.3 * -1.2, rtol=1e-13)
