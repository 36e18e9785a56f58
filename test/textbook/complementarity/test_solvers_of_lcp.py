# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Contact problems against external solvers and simulators."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from scipy.optimize import linprog
from support import outside
from support.complementarity import random_problem

from rbd_ros import Robot
from rbd_ros.textbook.complementarity import InfeasibleContactError, solve_gauss, solve_lcp
from rbd_ros.textbook.complementarity.lcp import METHODS

GRAVITY = 9.81


@pytest.mark.seed('CN06', 'CN07', kind='full')
@pytest.mark.parametrize('method', METHODS)
def test_drakes_solver_finds_the_same_solutions(method):
    """Moby's Lemke, of positive-definite problems of up to 30 contacts."""
    solvers = outside.load('pydrake.solvers')
    moby = solvers.MobyLcpSolver()
    rng = np.random.default_rng(2)
    for contacts in (1, 3, 8, 15, 30):
        for _ in range(6):
            M, _, _, d = random_problem(rng, contacts, contacts + 3, 'any')
            program = solvers.MathematicalProgram()
            variables = program.NewContinuousVariables(contacts)
            program.AddLinearComplementarityConstraint(M, d, variables)
            result = moby.Solve(program, None, None)
            assert result.is_success()
            expected = np.atleast_1d(result.GetSolution(variables))
            found = solve_lcp(M, d, method)
            assert_allclose(found.force, expected, atol=1e-7 * (1.0 + np.abs(expected).max()))
            assert_allclose(found.acceleration, M @ found.force + d, atol=1e-8)


@pytest.mark.seed('CN03', 'CN06', 'CN08', kind='full')
@pytest.mark.parametrize('method', [*METHODS, 'gauss'])
def test_large_problems_have_a_solution_if_a_linear_program_has_a_point(method):
    """40 contacts of rank 5 or 20: M lambda + d >= 0 for some lambda >= 0 is all it takes."""
    rng = np.random.default_rng(6)
    seen = set()
    for rank in (5, 20):
        for _ in range(12):
            M, T, H, d = random_problem(rng, 40, rank, 'feasible')
            d = d - rng.choice([0.0, 0.3, 3.0]) * np.abs(rng.normal())
            point = linprog(np.zeros(40), A_ub=-M, b_ub=d, method='highs')
            feasible = point.status == 0
            seen.add(feasible)
            try:
                if method == 'gauss':
                    found = solve_gauss(H, np.zeros(rank), T, d)
                else:
                    found = solve_lcp(M, d, method)
            except InfeasibleContactError as error:
                assert not feasible
                mu = error.certificate
                assert np.abs(M @ mu).max() < 1e-8 and mu @ d < 0.0 and mu.min() >= 0.0
            else:
                assert feasible
                assert found.force.min() >= 0.0 and found.acceleration.min() > -1e-7
                assert abs(found.force @ found.acceleration) < 1e-6 * (1.0 + found.force.sum())
                assert_allclose(M @ found.force + d, found.acceleration, atol=1e-6)
    assert seen == {True, False}


def box(mass, sides):
    x, y, z = (s * s for s in sides)
    entries = (
        f'ixx="{mass * (y + z) / 12}" iyy="{mass * (x + z) / 12}" izz="{mass * (x + y) / 12}"'
    )
    return (
        f'<robot name="r"><link name="box"><inertial><mass value="{mass}"/><inertia {entries} '
        'ixy="0" ixz="0" iyz="0"/></inertial></link></robot>'
    )


@pytest.mark.seed('CN02', 'CN04')
@pytest.mark.parametrize('push', [0.0, 12.0, 45.0])
def test_a_pushed_box_accelerates_as_mujocos_with_hard_contacts(push):
    """Four corners on a plane without friction, pushed above its center until it tips.

    Its contacts give way by what their impedance leaves, which shrinks as that goes to one.
    """
    mujoco = outside.load('mujoco')
    mass, sides, height = 3.0, np.array([0.4, 0.6, 0.5]), 0.15
    half = ' '.join(map(str, sides / 2))
    model = mujoco.MjModel.from_xml_string(f"""
        <mujoco><option gravity="0 0 -{GRAVITY}" timestep="1e-3" cone="elliptic" tolerance="0"
            iterations="500" solver="Newton"/>
          <default><geom condim="1" solimp="0.99999 0.99999 0.001" solref="-1 -1" margin="1e-9"/>
          </default>
          <worldbody><geom type="plane" size="5 5 1"/>
            <body pos="0 0 {sides[2] / 2}"><freejoint/>
              <geom type="box" size="{half}" mass="{mass}"/></body></worldbody></mujoco>""")
    data = mujoco.MjData(model)
    data.xfrc_applied[1] = [push, 0.0, 0.0, 0.0, push * height, 0.0]
    mujoco.mj_forward(model, data)
    assert data.ncon == 4

    robot = Robot.from_urdf(box(mass, sides), floating_base=True)
    corners = np.array([[x, y, 0.0] for x in (-0.2, 0.2) for y in (-0.3, 0.3)])
    contacts = robot.contacts.between([(None, 'box')] * 4)
    q = np.concatenate([[1.0, 0.0, 0.0, 0.0, 0.0, 0.0], [sides[2] / 2]])
    zero = np.zeros((4, 3))
    up = np.tile([0.0, 0.0, 1.0], (4, 1))
    lifted = sides[2] / 2 + height  # where the force acts, in base coordinates
    force = {'box': np.array([0.0, push * lifted, 0.0, push, 0.0, 0.0])}
    found = contacts.equations(q, np.zeros(6), np.zeros(6), corners, up, zero, zero, force)
    solution = solve_lcp(found.M, found.d)
    a = found.free + found.response @ solution.force
    # MuJoCo's free joint: linear first, in the world, angular in the body; at rest all the same.
    theirs = np.concatenate([data.qacc[3:], data.qacc[:3]])
    assert_allclose(a, theirs, atol=2e-3 * (1.0 + np.abs(theirs).max()))
    normal = sum(data.efc_force[: data.nefc])
    assert solution.force.sum() == pytest.approx(normal, rel=1e-3)
    assert np.any(solution.acceleration > 1.0) == (push == 45.0)
