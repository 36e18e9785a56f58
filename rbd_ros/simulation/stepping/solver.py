# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The velocity at the end of a step, with joint friction, joint limits and contacts, all implicit.

It solves for v' and the forces, h being the time step and H containing the implicit damping,

    H v' = b + h J^T f + p,     f = law of soft contact at J v' (contact/law.py),
                                p = law of the joints at v' (joint_law.py)

by Newton's method on the active parts of the laws: held joints drop out, and slopes replace
contacts, which makes the rest linear. All laws but friction at sliding contacts are piecewise
linear, so the result is exact once the parts no longer change. If they keep changing, Gauss-Seidel
sweeps (sweeps.py) find the parts first.
"""

from __future__ import annotations

from rbd_ros.array_types import FloatArray, IntArray
from rbd_ros.compiler.loops import compiled
from rbd_ros.simulation.loops.loop_directions import find_basis
from rbd_ros.simulation.loops.loop_solver import find_held_impulse, solve_closed
from rbd_ros.simulation.records.simulation_model import SimulationModel
from rbd_ros.simulation.records.workspace import Problem, Substep
from rbd_ros.simulation.stepping.ground_contact import add_contacts, linearize_contacts
from rbd_ros.simulation.stepping.joint_law import (
    BACKWARD,
    FORWARD,
    friction_impulse,
    held_velocity,
    is_held,
    JointLaw,
    next_segment,
)
from rbd_ros.simulation.stepping.linear import (
    copy,
    copy_rows,
    dot,
    factorize,
    solve_dense,
    solve_factorized,
)
from rbd_ros.simulation.stepping.sweeps import sweep_to_rest

#: Maximum number of Newton steps, before the sweeps and again after them. Newton's method
#: converges in a few or cycles, where the active parts change with every step.
MAX_NEWTON = 12

#: Relative change of forces and impulses that counts as rounding: some thousands of units in the
#: last place, for sums over many joints and contacts.
ROUNDING = 1e-12


@compiled
def solve_velocity(step: Substep) -> bool:
    """Solve for `next_v`, the contact forces, `impulse` and `segment`, with warm start.

    :return: whether it is exact; else it is the result of the sweeps
    """
    problem, v, segment = step.work.problem, step.work.motion.next_v, step.state.segment
    if step.model.has_loops:
        find_basis(step.model, problem.loops)
    for attempt in range(3):
        # The first attempt almost always succeeds. Sweeps are slower but robust, and Newton makes
        # their result exact. If it cannot, the sweeps' result stands: the third attempt takes no
        # steps and only computes the forces.
        if newton(step, MAX_NEWTON if attempt < 2 else 0):
            return True
        if attempt == 0:
            sweep_to_rest(step.model, step.state, step.contacts, problem, v, step.near, step.h)
            copy(v, problem.swept_velocity)
            copy(segment, problem.swept_segment)
        else:
            copy(problem.swept_velocity, v)
            copy(problem.swept_segment, segment)
    return False


@compiled
def newton(step: Substep, rounds: int) -> bool:
    """Take Newton steps from `next_v` and `segment`; without any, compute the forces there.

    :param rounds: maximum number of Newton steps
    :return: whether the solution was found
    """
    model, state, count, h = step.model, step.state, step.near, step.h
    problem, v = step.work.problem, step.work.motion.next_v
    segment = state.segment
    slack = 0.0
    # The magnitude of the sums whose remainder is a held joint's impulse.
    for i in range(len(v)):
        slack = max(slack, ROUNDING * abs(problem.momentum[i]))
    # One more round than steps: the first only computes the forces at the present velocity.
    for done in range(rounds + 1):
        if done > 0:
            if model.has_loops:
                solve_closed(model, segment, problem, v, count, h)
            else:
                solve_linear(model, segment, problem, v, count, h)
        settled = True
        if model.has_ground:
            change = linearize_contacts(model.ground, state, step.contacts, problem, v, count, h)
            settled = change <= ROUNDING
        if model.has_loops:
            find_held_impulse(model, segment, problem, v, h)
        else:
            find_impulse(problem, v)
        if done == 0:
            continue
        for i in range(len(v)):
            law = JointLaw(h * model.friction[i], problem.low[i], problem.high[i])
            # The impulse of contacts is not the joint's.
            own = problem.impulse[i] - problem.contact_impulse[i]
            # An estimate is enough: it only decides the next attempt.
            mobility = 1.0 / problem.inertia[i, i]
            found = next_segment(law, segment[i], v[i], own, mobility, slack)
            if model.has_loops:
                if is_on_corner(model, segment, v, i):
                    found = segment[i]
            if found != segment[i]:
                segment[i] = found
                settled = False
        if settled:
            return True
    return False


@compiled
def is_on_corner(model: SimulationModel, segment: IntArray, v: FloatArray, i: int) -> bool:
    """Return whether loops keep a joint at rest while its friction is at the bound.

    It is on the law's corner then, where velocities are rounding.
    """
    slides = segment[i] == FORWARD or segment[i] == BACKWARD
    if not slides or model.friction[i] == 0.0:
        return False
    fastest = 0.0
    for j in range(len(v)):
        fastest = max(fastest, abs(v[j]))
    resting: bool = abs(v[i]) <= ROUNDING * fastest
    return resting


@compiled
def solve_linear(
    model: SimulationModel,
    segment: IntArray,
    problem: Problem,
    v: FloatArray,
    count: int,
    h: float,
) -> None:
    """Solve for v with the laws replaced by their segments and slopes."""
    n = len(v)
    A, x = problem.system, problem.solution
    # Copies: solving destroys them, and the next step needs the same H and b.
    copy_rows(problem.inertia, A)
    copy(problem.momentum, x)
    has_contacts = False
    if model.has_ground:
        has_contacts = add_contacts(problem, count, h)
    for i in range(n):
        if is_held(segment[i]):
            # The row says v_i = held; the column goes to the right-hand side.
            held = held_velocity(segment[i], problem.low[i], problem.high[i])
            for j in range(n):
                if held != 0.0 and not is_held(segment[j]):
                    # Most are held at 0, without a contribution.
                    x[j] -= A[j, i] * held
                A[i, j] = 0.0
                A[j, i] = 0.0
            A[i, i] = 1.0
            x[i] = held
        else:
            x[i] += friction_impulse(segment[i], h * model.friction[i])
    if has_contacts:
        # Contacts couple branches of the tree, and sliding friction is not symmetric.
        solve_dense(A, x)
    else:
        factorize(A, model.tree)
        solve_factorized(A, model.tree, x)
    copy(x, v)
    for i in range(n):
        if is_held(segment[i]):  # exactly: a sticking joint must not creep
            v[i] = held_velocity(segment[i], problem.low[i], problem.high[i])


@compiled
def find_impulse(problem: Problem, v: FloatArray) -> None:
    """Compute the generalized impulse of a velocity change: `impulse` = H v - b."""
    for i in range(len(v)):
        problem.impulse[i] = dot(problem.inertia[i], v) - problem.momentum[i]
