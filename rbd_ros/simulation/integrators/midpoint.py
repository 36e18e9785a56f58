# SPDX-License-Identifier: Apache-2.0
"""Steps of Stoermer and Verlet: halfway at v, v' by the forces found there, on at v'.

Second order and symmetric in time, so that energy is kept on average for as long as a motion
lasts (Hairer, Lubich and Wanner 2006, VI and XI). Forces that depend on velocity are those of the
mean (v + v') / 2, found by fixed-point iteration. Damping is a part of it, so that it acts on the
mean velocity as well; where it is too stiff for that, on v'. Likewise springs, which act at the
mean of q and q', (q + q') / 2, or where they are stiff at q + h v'. Coulomb friction is found by
the solver (solver.py) from H and C of the middle. Of a free base, the momentum is kept to rounding
(free_base_midpoint.py).

What stops a motion is not smooth: a step in which a joint is at a limit or a contact acts is
semi-implicit (semi_implicit.py). So are the steps of robots with servos (joint_servo.py).
"""

from __future__ import annotations

from rbd_ros.compiler.loops import call_kernel, compiled
from rbd_ros.contact.contact_arrays import FloatArray
from rbd_ros.simulation.integrators.displacement import move
from rbd_ros.simulation.integrators.free_base_midpoint import (
    correct_from_middle,
    predict_from_middle,
)
from rbd_ros.simulation.integrators.integrator import (
    EVERYTHING,
    IN_MIDDLE,
    Integrator,
    NOTHING,
    VELOCITY,
)
from rbd_ros.simulation.integrators.runge_kutta import is_allowed, is_at_limit
from rbd_ros.simulation.integrators.semi_implicit import spring_torque, step_constrained
from rbd_ros.simulation.records.simulation_model import SimulationModel
from rbd_ros.simulation.records.simulation_state import (
    ExternalForces,
    FORCES,
    GroundContactPoints,
    State,
)
from rbd_ros.simulation.records.workspace import Dynamics, Problem, Workspace
from rbd_ros.simulation.stepping.external_forces import find_applied_force
from rbd_ros.simulation.stepping.joint_law import LOWER, UPPER
from rbd_ros.simulation.stepping.linear import clear, copy, dot
from rbd_ros.simulation.stepping.solver import solve_velocity

#: Times that friction is found, each with C at the mean velocity that the time before led to.
ROUNDS = 2


MIDPOINT = Integrator(
    name='midpoint',
    order=2,
    kernels={'midpoint_acceleration': ('midpoint_acceleration', IN_MIDDLE)},
)


@compiled
def step_by_midpoint(
    model: SimulationModel,
    state: State,
    external_forces: ExternalForces,
    contacts: GroundContactPoints,
    work: Workspace,
    count: int,
    h: float,
) -> int:
    """Find `next_v`, and `next_q` as well where nothing stops the motion; return which.

    :param count: number of contact points near the ground
    :param h: time step [s]
    """
    # Where a joint is at a limit or a contact near, the implicit solve decides whether either
    # stops anything.
    stopped = count > 0 or is_at_limit(model, state)
    if stopped:
        if not step_constrained(model, state, contacts, work, count, h):
            return NOTHING
        stopped = is_stopped(state, work.problem.contact_impulse, count > 0)
    if stopped:
        return VELOCITY
    if midpoint_step(model, state, external_forces, contacts, work, h):
        return EVERYTHING
    return VELOCITY if step_constrained(model, state, contacts, work, count, h) else NOTHING


@compiled
def midpoint_step(
    model: SimulationModel,
    state: State,
    external_forces: ExternalForces,
    contacts: GroundContactPoints,
    work: Workspace,
    h: float,
) -> bool:
    """Find `next_q` and `next_v` at the end of a step from the present state.

    :param h: time step [s]
    :return: whether the step is valid; if not, it is to be done in another way
    """
    motion, middle, next_v = work.motion, work.middle, work.motion.next_v
    for i in range(len(next_v)):
        motion.displacement[i] = 0.5 * h * state.v[i]
    move(model, motion, state.q)
    copy(motion.next_q, middle.q)
    acting = False
    if model.has_external_forces:
        acting = state.counters[FORCES] > 0
        if acting:
            find_force_in_the_middle(model, state, external_forces, work)
    solving = model.frictional == 1
    if model.has_springs:
        # What the kernel has on the diagonal is for a whole step.
        if h != model.timestep:
            solving = True
    if solving:
        valid = solve_in_the_middle(model, state, contacts, work, h)
    else:
        accelerate_freely(model, state, work, h)
        valid = True
    if valid:
        for i in range(len(next_v)):
            motion.displacement[i] = 0.5 * h * next_v[i]
        move(model, motion, middle.q)
        valid = is_allowed(model, state, motion, 0)
    if not valid:
        # The caller takes the step in another way, with the forces at its beginning.
        if acting:
            find_applied_force(model, state, external_forces, work.dynamics)
        return False
    if model.has_free_bases:
        call_kernel(model.mass_matrix, state.packed, work.dynamics.mass)
        predict_from_middle(model, state, work, h)
        correct_from_middle(model, work, h)
    return True


@compiled
def find_force_in_the_middle(
    model: SimulationModel, state: State, external_forces: ExternalForces, work: Workspace
) -> None:
    """Find `applied_force` at the configuration in the middle of the step."""
    # Kernels look at `state`.
    copy(state.q, work.middle.start_q)
    copy(work.middle.q, state.q)
    find_applied_force(model, state, external_forces, work.dynamics)
    copy(work.middle.start_q, state.q)


@compiled
def accelerate_freely(model: SimulationModel, state: State, work: Workspace, h: float) -> None:
    """Find `next_v` without friction.

    :param h: time step [s]
    """
    middle, a, next_v = work.middle, work.dynamics.acceleration, work.motion.next_v
    clear(work.problem.impulse)  # what `settle` reports as force of constraints
    for i in range(len(next_v)):
        v = state.v[i]
        middle.v[i] = v
        middle.torque[i] = work.dynamics.applied_force[i] - model.damping[i] * v
        if model.has_springs:
            middle.torque[i] -= spring_torque(model, state, i, h * model.spring_lead[i] * v)
    middle.duration[0] = h
    call_kernel(model.midpoint_acceleration, middle.packed, a)
    for i in range(len(next_v)):
        next_v[i] = state.v[i] + h * a[i]


@compiled
def solve_in_the_middle(
    model: SimulationModel, state: State, contacts: GroundContactPoints, work: Workspace, h: float
) -> bool:
    """Find `next_v` with friction; return whether it is exact, and below the guard on speed.

    :param h: time step [s]
    """
    problem, dynamics, middle = work.problem, work.dynamics, work.middle
    v, next_v = state.v, work.motion.next_v
    call_kernel(model.mass_matrix, middle.packed, dynamics.mass)
    copy(v, middle.v)
    copy(v, next_v)
    for _ in range(ROUNDS):
        call_kernel(model.bias_force, middle.packed, dynamics.bias)
        prepare_middle(model, state, dynamics, problem, h)
        if not solve_velocity(model, state, contacts, problem, next_v, 0, h):
            return False
        for i in range(len(v)):
            middle.v[i] = 0.5 * (v[i] + next_v[i])
    return not is_stopped(state, problem.impulse, False)


@compiled
def prepare_middle(
    model: SimulationModel, state: State, dynamics: Dynamics, problem: Problem, h: float
) -> None:
    """Find `inertia`, `momentum`, `low` and `high` from H and C of the middle.

    :param h: time step [s]
    """
    v, H = state.v, problem.inertia
    for i in range(len(v)):
        copy(dynamics.mass[i], H[i])
        implicit = model.implicit_damping[i]
        # What of the damping acts on v.
        force = dynamics.applied_force[i] - (model.damping[i] - implicit) * v[i]
        problem.momentum[i] = dot(H[i], v) + h * (force - dynamics.bias[i])
        H[i, i] += h * implicit
        if model.has_springs:
            # At q + h lead v + (h lead)^2 a, with a = (v' - v) / h.
            lead = h * model.spring_lead[i]
            ahead = (lead - lead * model.spring_lead[i]) * v[i]
            problem.momentum[i] -= h * spring_torque(model, state, i, ahead)
            H[i, i] += lead * lead * model.stiffness[i]
        problem.low[i], problem.high[i] = -model.speed[i], model.speed[i]


@compiled
def is_stopped(state: State, impulse: FloatArray, touching: bool) -> bool:
    """Return whether the last solution stops a motion: at a limit, or by contact.

    :param impulse: generalized impulse of all contacts, (nv,)
    :param touching: whether there are contacts at all
    """
    for i in range(len(impulse)):
        if state.segment[i] == LOWER or state.segment[i] == UPPER:
            return True
        if touching and impulse[i] != 0.0:
            return True
    return False
