# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Projected Gauss-Seidel sweeps over joints and contacts: slower than Newton, but robust.

Each joint, each normal force and each friction force in turn gets the impulse of its law while all
others are fixed. The error decreases with every sweep, as each law is monotone and the effect of
an impulse on its own velocity is positive.
"""

from __future__ import annotations

from rbd_ros.array_types import FloatArray
from rbd_ros.compiler.loops import compiled
from rbd_ros.contact.law import bilateral_force, force_slope, stick_force, within_cone
from rbd_ros.simulation.loops.loop_directions import respond
from rbd_ros.simulation.records.simulation_model import SimulationModel
from rbd_ros.simulation.records.simulation_state import GroundContactPoints, State
from rbd_ros.simulation.records.workspace import Problem
from rbd_ros.simulation.stepping.joint_law import JointLaw, law_impulse, next_segment, NOWHERE
from rbd_ros.simulation.stepping.linear import (
    clear,
    copy,
    copy_rows,
    dot,
    factorize,
    solve_factorized,
)

#: Maximum number of sweeps: they converge linearly, and slowly where many contacts share a body.
MAX_SWEEPS = 200

#: Mobility of a joint times its inertia below which loops lock it.
IMMOBILE = 1e-12

#: Change of velocity in a sweep, relative to the maximum velocity, that ends the sweeps.
SMALL_CHANGE = 1e-12


@compiled
def sweep_to_rest(
    model: SimulationModel,
    state: State,
    contacts: GroundContactPoints,
    problem: Problem,
    v: FloatArray,
    count: int,
    h: float,
) -> None:
    """Sweep to convergence; computes v and `segment`.

    :param v: velocity at the end of the step, a result, (nv,)
    :param count: number of contact points near the ground
    :param h: time step [s]
    """
    n = len(v)
    find_response(model, problem, v, count)
    response, p = problem.response, problem.swept_impulse
    # From zero impulse: the last iterate of a failed Newton's method is no better guess.
    clear(p)
    if model.has_ground:
        for c in range(count):
            clear(contacts.force[c])
    for _ in range(MAX_SWEEPS):
        change = 0.0
        for i in range(n):
            mobility = response[i, i]
            if model.has_loops:
                # A joint locked by the loops does not respond to its own impulse.
                if mobility * problem.inertia[i, i] <= IMMOBILE:
                    continue
            # The law gets the velocity without the joint's own impulse.
            law = JointLaw(h * model.friction[i], problem.low[i], problem.high[i])
            new = law_impulse(law, v[i] - mobility * p[i], mobility)
            change = max(change, apply_impulse(response[i], new - p[i], v))
            p[i] = new
        if model.has_ground:
            for c in range(count):
                change = max(change, sweep_contact(model, state, contacts, problem, v, c, h))
        fastest = 0.0
        for i in range(n):
            fastest = max(fastest, abs(v[i]))
        # Relative to the fastest motion. At rest both are zero, and it ends.
        if change <= SMALL_CHANGE * fastest:
            break
    # The final segment of each joint, from which Newton's method continues.
    for i in range(n):
        law = JointLaw(h * model.friction[i], problem.low[i], problem.high[i])
        state.segment[i] = next_segment(law, NOWHERE, v[i], p[i], response[i, i], 0.0)


@compiled
def find_response(model: SimulationModel, problem: Problem, v: FloatArray, count: int) -> None:
    """Compute `response`, H^-1 times each unit impulse, and the velocity v without any impulse.

    :param v: the velocity, a result, (nv,)
    :param count: number of contact points near the ground
    """
    # Once for all: in the sweeps, an impulse then costs one multiplication per joint.
    n = len(v)
    factor, response, tree = problem.factor, problem.response, model.tree
    copy_rows(problem.inertia, factor)
    factorize(factor, tree)
    for i in range(n):
        # H is symmetric: H^-1 e_i is a row as well as a column of its inverse.
        clear(response[i])
        response[i, i] = 1.0
    for c in range(count):
        for r in range(3):
            copy(problem.jacobian[c, r], response[n + 3 * c + r])
    copy(problem.momentum, v)
    if model.has_loops:
        # Response with closed loops: so the sweeps keep them closed.
        for row in range(n + 3 * count):
            respond(model, problem.loops, response[row])
        respond(model, problem.loops, v)
    else:
        for row in range(n + 3 * count):
            solve_factorized(factor, tree, response[row])
        solve_factorized(factor, tree, v)


@compiled
def sweep_contact(
    model: SimulationModel,
    state: State,
    contacts: GroundContactPoints,
    problem: Problem,
    v: FloatArray,
    c: int,
    h: float,
) -> float:
    """Apply the force of its law to one contact point; return the maximum velocity change.

    A force f at the point changes its velocity by `mobility` f, and the law's force changes by
    its slope times that: f = f(without) / (1 - slope mobility), where the law is a line.

    :param v: velocity, changed, (nv,)
    :param c: number of the contact point, whose force changes
    :param h: time step [s]
    """
    parameters = model.ground.contact
    K, D, K_t, D_t = parameters[0], parameters[1], parameters[2], parameters[3]
    first = len(v) + 3 * c
    response, J, point = problem.response, problem.jacobian[c], contacts.point[c]
    # Rows of arrays are views.
    force, x = contacts.force[c], state.tangent_deformation[point]

    mobility = h * dot(J[0], response[first])
    rate = dot(J[0], v) - mobility * force[0]  # normal velocity without this force
    pull = bilateral_force(rate, contacts.gap[c], state.normal_deformation[point], K, D, h)
    # The slope is negative: this divides by more than 1, however stiff the ground is.
    new = max(0.0, pull / (1.0 - force_slope(K, D, h) * mobility))
    change: float = apply_impulse(response[first], h * (new - force[0]), v)
    force[0] = new

    # After the normal force, which bounds friction. Both tangents at once, with the sum of their
    # mobilities: a shorter step toward the same fixed point, and the friction cone stays round.
    mobility = h * (dot(J[1], response[first + 1]) + dot(J[2], response[first + 2]))
    part = 1.0 / (1.0 - force_slope(K_t, D_t, h) * mobility)
    f_1 = force[1] + part * (stick_force(dot(J[1], v), x[0], K_t, D_t, h) - force[1])
    f_2 = force[2] + part * (stick_force(dot(J[2], v), x[1], K_t, D_t, h) - force[2])
    new_1, new_2 = within_cone(f_1, f_2, parameters[4] * force[0])
    change = max(change, apply_impulse(response[first + 1], h * (new_1 - force[1]), v))
    change = max(change, apply_impulse(response[first + 2], h * (new_2 - force[2]), v))
    force[1], force[2] = new_1, new_2
    return change


@compiled
def apply_impulse(response: FloatArray, impulse: float, v: FloatArray) -> float:
    """Apply an impulse; return the maximum change of a velocity.

    :param response: change of velocity per impulse, (nv,)
    :param v: velocity, changed, (nv,)
    """
    largest = 0.0
    if impulse != 0.0:
        for i in range(len(v)):
            step = impulse * response[i]
            largest = max(largest, abs(step))
            v[i] += step
    return largest
