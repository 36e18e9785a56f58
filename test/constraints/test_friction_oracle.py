# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Contact with friction against Pinocchio's solver of the same law (ADMM, unrelaxed)."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import outside
from support.boxes_in_contact import box_on_plane, random_contacts, stack

from rbd_ros.constraints import friction_problem, residuals, solve_friction

TOLERANCES = ('complementarity_tol', 'feasibility_tol')


def pinocchios(problem):
    """Return the forces that Pinocchio finds, whose contacts have the normal last.

    None if it does not.
    """
    pin = outside.load('pinocchio')
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), 'free')
    model.appendBodyToJoint(joint, pin.Inertia(1.0, np.zeros(3), np.eye(3)), pin.SE3.Identity())
    data = model.createData()
    pin.crba(model, data, pin.neutral(model))
    models, records = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
    here = pin.SE3.Identity()
    for mu in problem.friction[:, 0]:
        contact = pin.PointContactConstraintModel(model, 0, here, joint, here)
        contact.setFriction(float(mu))
        models.append(pin.ConstraintModel(contact))
        records.append(models[-1].createData())
    for each, record in zip(models, records):
        each.calc(model, data, record)
    order = np.arange(len(problem.g)).reshape(-1, 3)[:, [1, 2, 0]].ravel()
    G = pin.DelassusOperatorDense(np.asfortranarray(problem.G[np.ix_(order, order)]))
    settings, result = pin.ADMMSolverSettings(), pin.ADMMSolverResult()
    settings.max_iterations, settings.mu_prox = 20000, 1e-8
    for name in TOLERANCES:
        setattr(settings, f'absolute_{name}', 1e-11)
        setattr(settings, f'relative_{name}', 1e-11)
    solver = pin.ADMMConstraintSolver(len(order))
    if not solver.solve(G, problem.g[order], models, records, settings, result):
        return None
    force = np.zeros(len(order))
    force[order] = result.retrieveConstraintImpulses()
    return force


@pytest.mark.parametrize(('contacts', 'dofs'), [(1, 3), (2, 6), (4, 12), (8, 30), (20, 70)])
def test_random_contacts_are_as_pinocchio_has_them(contacts, dofs):
    """Weakly coupled, so that there is one solution: normals of their own, tangents of others."""
    rng = np.random.default_rng(20)
    compared = 0
    for _ in range(15):
        rough = random_contacts(rng, contacts, dofs, 10.0, elliptic=False)
        problem = friction_problem(
            rough.G + 2.0 * np.diag(np.diag(rough.G)), rough.g, rough.friction
        )
        expected = pinocchios(problem)
        if expected is None:
            continue
        found = solve_friction(problem)
        assert found.converged
        if residuals(problem, expected).contact < 1e-8:
            compared += 1
            assert_allclose(found.force, expected, atol=1e-7 * (1.0 + np.abs(expected).max()))
    assert compared >= 10


def test_boxes_move_as_pinocchio_says():
    cases = [
        box_on_plane(4)[0],
        box_on_plane(8, (0, 0, 0, 1, 0.2, 0))[0],
        box_on_plane(4, force=(0, 0, 0, 6, 0, 0))[0],
        box_on_plane(8, mu=2.0, force=(0, 0, 0, 10.5, 0, 0))[0],
        box_on_plane(4, (0.5, -0.3, 0, 0, 0, -0.5))[0],
        stack(1.0, 1.0)[0],
        stack(1e-3, 1e3)[0],
        stack(1.0, 10.0, velocity=(0, 0, 0, 0, 0, 0, 0, 0, 0, 0.5, 0, 0))[0],
    ]
    for problem in cases:
        expected = pinocchios(problem)
        assert expected is not None
        found = solve_friction(problem)
        assert found.converged
        assert_allclose(found.velocity, problem.velocity(expected), atol=1e-8)


def test_the_stack_is_solved_better_than_by_pinocchio():
    problem, _ = stack(1e-3, 1e3)
    here = solve_friction(problem).residuals
    there = residuals(problem, pinocchios(problem))
    assert here.contact < 1e-10 and here.dual < 1e-10
    assert here.contact < 10.0 * there.contact
