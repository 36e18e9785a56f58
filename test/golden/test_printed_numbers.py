"""Printed examples of the book that concern trees.

Far-frame rounding, symbolic simplification, the spinning disc.
"""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.dense import inertia
from support.random_trees import chain
from support.tally import counted

from rbd_ros import Robot
from rbd_ros.compiler import Graph
from rbd_ros.spatial import MotionVector, RigidBodyInertia


@pytest.mark.seed('AE02', kind='full')
@pytest.mark.seed('PV03')
def test_far_frame_inertia_of_section_10_1():
    """Planar body seen from a frame far away.

    Rows (n, fx, fy) of a spatial inertia; a = [1, 9, -99], cond 1.02e8.
    """
    m, c, I_C = 1.0, np.array([100.0, 10.0, 0.0]), np.eye(3)
    planar = [2, 3, 4]
    M = RigidBodyInertia.from_mass_centre(m, c, I_C).matrix()
    printed = np.array([[10101.0, -10.0, 100.0], [-10.0, 1.0, 0.0], [100.0, 0.0, 1.0]])
    assert_allclose(M[np.ix_(planar, planar)], printed, rtol=0)
    assert_allclose(M, inertia(m, c, I_C), rtol=0)
    assert np.linalg.cond(printed) == pytest.approx(102050401, abs=2)
    f = RigidBodyInertia.from_mass_centre(m, c, I_C) * MotionVector((0, 0, 1.0), (9.0, -99.0, 0))
    assert [f.couple[2], f.linear[0], f.linear[1]] == [111.0, -1.0, 1.0]
    # four digits of sixteen are lost: 1e-16 times cond is 1e-8, the book sees 1e-12
    assert_allclose(np.linalg.solve(printed, [111, -1, 1]), [1, 9, -99], atol=1e-8)


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
    assert p.couple[2] == pytest.approx(0.1 * 0.3 * -1.2, rel=1e-14)

    def dense(I, v):
        x, y, z = (a * v[0] + b * v[1] + c * v[2] for a, b, c in I)
        p = (v[1] * z - v[2] * y, v[2] * x - v[0] * z, v[0] * y - v[1] * x)
        return 0.0 * p[0] + 0.0 * p[1] + 1.0 * p[2]

    tau, operations = counted(dense, np.diag([1.5, 1.6, 1.7]), values)
    assert float(tau) == p.couple[2] and sum(operations.values()) == 29
    graph = Graph()
    symbols = graph.inputs('v', 3)
    v = MotionVector(tuple(symbols), (0.0, 0.0, 0.0))
    cost = graph.count([v.cross(I * v).couple[2]])
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
