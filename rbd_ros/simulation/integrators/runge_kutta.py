# SPDX-License-Identifier: Apache-2.0
"""One classical Runge-Kutta step of fourth order on the robot's configuration space.

Forces that jump are found by the implicit solve of the semi-implicit step (solver.py) and held
over the step: sliding friction, contact forces, and damping and springs too stiff for an explicit
method.
Joints that stick, or rest at a limit, take no part. A step in which a joint comes to rest,
reverses, or reaches a limit is semi-implicit as a whole.

Configurations of floating and planar joints are found by the exponential map (Runge-Kutta-Munthe-
Kaas): with q(t) = q(0) exp(u), the displacement obeys du/dt = v + u x v / 2 + u x (u x v) / 12 +
O(u^4 v).
"""

from __future__ import annotations

import math

from rbd_ros.compiler.loops import call_kernel, compiled
from rbd_ros.contact.contact_arrays import FloatArray
from rbd_ros.simulation.integrators.displacement import move
from rbd_ros.simulation.integrators.integrator import (
    AT_END,
    EVERYTHING,
    Integrator,
    NONE,
    NOTHING,
    VELOCITY,
)
from rbd_ros.simulation.integrators.semi_implicit import spring_torque, step_constrained
from rbd_ros.simulation.loops.loop_closing import close_positions, settle_loops
from rbd_ros.simulation.loops.loop_directions import (
    correct,
    find_directions,
    find_loops,
    fix_held,
    respond,
)
from rbd_ros.simulation.loops.loop_solver import keep_stage_force
from rbd_ros.simulation.records.simulation_model import SimulationModel
from rbd_ros.simulation.records.simulation_state import ExternalForces, GroundContactPoints, State
from rbd_ros.simulation.records.workspace import Dynamics, Motion, Problem, Stages, Workspace
from rbd_ros.simulation.stepping.external_forces import find_applied_force
from rbd_ros.simulation.stepping.joint_law import (
    BACKWARD,
    FORWARD,
    friction_impulse,
    held_velocity,
    is_held,
)
from rbd_ros.simulation.stepping.linear import (
    add_scaled,
    clear,
    copy,
    factorize,
    solve_factorized,
)

RK4 = Integrator(
    name='rk4',
    order=4,
    # In a stage, damping is explicit: each has its own velocity to damp.
    kernels={
        'forward_dynamics': ('forward_dynamics', AT_END),
        'smooth_dynamics': ('forward_dynamics', NONE),
    },
    with_loops=True,
)


@compiled
def step_by_runge_kutta(
    model: SimulationModel,
    state: State,
    external_forces: ExternalForces,
    contacts: GroundContactPoints,
    work: Workspace,
    count: int,
    h: float,
) -> int:
    """Find `next_v`, and `next_q` as well where no force interrupts the step; return which.

    :param count: number of contact points near the ground
    :param h: time step [s]
    """
    constrained = model.frictional == 1 or count > 0
    constrained = constrained or model.stiff == 1 or is_at_limit(model, state)
    for _ in range(2):
        if constrained and not step_constrained(model, state, contacts, work, count, h):
            return NOTHING
        if runge_kutta_step(model, state, external_forces, work, constrained, h):
            return EVERYTHING
        # A step that no force interrupts is tried first. If it ends beyond a limit, the
        # implicit solve shows what the limit does, and the second round begins with that.
        if constrained:
            break
        constrained = True
    return VELOCITY


@compiled
def runge_kutta_step(
    model: SimulationModel,
    state: State,
    external_forces: ExternalForces,
    work: Workspace,
    solved: bool,
    h: float,
) -> bool:
    """Find `next_q` and `next_v` at the end of a step from the present state.

    :param solved: whether the implicit solve has been done; if not, no force jumps
    :return: whether the step is valid; if not, it is to be done in another way
    """
    stages, motion, held = work.stages, work.motion, 0
    copy(state.q, stages.q)
    copy(state.v, stages.v)
    clear(stages.held_force)
    if solved:
        # Kept, since the stages use `next_v` themselves.
        copy(motion.next_v, stages.implicit_v)
        # Forces that jump are those of the implicit solve, the same in all stages: within a step
        # nothing jumps then, which the order of the method rests on.
        held = hold_forces(model, state, work.problem, stages, h)
        if held < 0:
            return False
    else:
        clear(work.problem.impulse)  # what `settle` reports as force of constraints
    travel(model, state, external_forces, work, held, solved, h)
    # The stages were taken in `state` itself, which is where the kernels look.
    copy(stages.q, state.q)
    copy(stages.v, state.v)
    if is_allowed(model, state, motion, held):
        if not model.has_loops:
            return True
        # Closed to fourth order; now to rounding.
        if close_positions(model, motion, work.dynamics, work.problem.loops):
            settle_loops(model, state, motion, work.dynamics, work.problem, h)
            return True
    # The caller takes the step in another way, from the velocity of the implicit solve or with the
    # forces at its beginning, which the stages have replaced by their own.
    copy(stages.implicit_v, motion.next_v)
    find_applied_force(model, state, external_forces, work.dynamics)
    # From the mass matrix comes the momentum of free bases, and stages with held joints have left
    # its factors in its place.
    if model.has_free_bases and held > 0:
        call_kernel(model.mass_matrix, state.packed, work.dynamics.mass)
    if model.has_loops:
        if solved:
            # Likewise the constraints.
            call_kernel(model.mass_matrix, state.packed, work.dynamics.mass)
            find_loops(model, state, work.problem.inertia, work.problem.loops)
            fix_held(state.segment, work.problem.loops)
    return False


@compiled
def is_at_limit(model: SimulationModel, state: State) -> bool:
    """Return whether any joint is at a limit of position or speed, or beyond."""
    for i in range(len(model.position)):
        if abs(state.v[i]) >= model.speed[i]:
            return True
        if model.position[i] >= 0:
            q = state.q[model.position[i]]
            # Also at a limit: there the joint may be held, which only the implicit solve decides.
            if q <= model.lower[i] or q >= model.upper[i]:
                return True
    return False


@compiled
def hold_forces(
    model: SimulationModel, state: State, problem: Problem, stages: Stages, h: float
) -> int:
    """Find `held_force` from the solution of the implicit solve.

    :return: number of joints that are held; -1 if a joint stops or reverses in this step
    """
    held, v = 0, state.v
    for i in range(len(v)):
        segment, box = state.segment[i], h * model.friction[i]
        force = problem.contact_impulse[i] / h
        if is_held(segment):
            held += 1
            # Only a joint that has this velocity already keeps it smoothly.
            if v[i] != held_velocity(segment, problem.low[i], problem.high[i]):
                return -1
        elif box > 0.0:
            # Friction that would turn round within the step is no constant force.
            if (segment == FORWARD and v[i] < 0.0) or (segment == BACKWARD and v[i] > 0.0):
                return -1
            force += friction_impulse(segment, box) / h
        # Of damping, only what is too stiff: the rest acts at each stage.
        force -= (model.damping[i] - model.explicit_damping[i]) * stages.implicit_v[i]
        if model.has_springs:
            if model.explicit_stiffness[i] == 0.0:
                force -= spring_torque(model, state, i, h * stages.implicit_v[i])
        stages.held_force[i] = force
    return held


@compiled
def travel(
    model: SimulationModel,
    state: State,
    external_forces: ExternalForces,
    work: Workspace,
    held: int,
    solved: bool,
    h: float,
) -> None:
    """Take the four stages from where `stages` begins; leaves `next_q` and `next_v`.

    :param held: number of joints that are held
    :param solved: whether the implicit solve has been done
    :param h: time step [s]
    """
    motion, stages = work.motion, work.stages
    u, a, rate = stages.displacement, stages.acceleration, stages.rate
    clear(u)
    clear(stages.total_rate)
    clear(stages.total_acceleration)
    for stage in range(5):  # the fifth is the end of the step
        if stage > 0:
            # Two stages in the middle of the step, one at its end.
            part = 0.5 * h if stage < 3 else h
            for i in range(len(u)):
                u[i] = part * rate[i] if stage < 4 else stages.total_rate[i]
                motion.displacement[i] = u[i]
                change = part * a[i] if stage < 4 else stages.total_acceleration[i]
                motion.next_v[i] = stages.v[i] + change
            move(model, motion, stages.q)
        if stage == 4:
            break
        # The forces at the beginning of the step have been found by its caller.
        if stage > 0:
            copy(motion.next_q, state.q)
            copy(motion.next_v, state.v)
            find_applied_force(model, state, external_forces, work.dynamics)
        displacement_rate(model, state.v, u, stages, rate)
        if model.has_loops:
            accelerate_closed(model, state, work, held, a)
            if stage == 0 and not solved:
                keep_stage_force(model, state, work.dynamics, work.problem.loops, a)
        else:
            accelerate(model, state, work.dynamics, stages.held_force, held, a)
        # 1/6, 1/3, 1/3, 1/6: the two stages in the middle count twice.
        weight = h / 6.0 if stage == 0 or stage == 3 else h / 3.0
        add_scaled(weight, rate, stages.total_rate)
        add_scaled(weight, a, stages.total_acceleration)


@compiled
def accelerate(
    model: SimulationModel,
    state: State,
    dynamics: Dynamics,
    held_force: FloatArray,
    held: int,
    a: FloatArray,
) -> None:
    """Compute the acceleration at the state of a stage; joints that are held have none.

    :param held_force: generalized force that is constant over the step, (nv,) [N m, N]
    :param held: number of joints that are held
    :param a: the result, (nv,) [rad/s^2, m/s^2]
    """
    n = len(state.v)
    for i in range(n):
        damping = model.explicit_damping[i] * state.v[i]
        state.torque[i] = dynamics.applied_force[i] + held_force[i] - damping
        if model.has_springs:
            if model.explicit_stiffness[i] > 0.0:
                state.torque[i] -= spring_torque(model, state, i, 0.0)
    if held == 0:
        # The articulated-body algorithm, which needs no H.
        call_kernel(model.smooth_dynamics, state.packed, a)
        return
    call_kernel(model.mass_matrix, state.packed, dynamics.mass)
    call_kernel(model.bias_force, state.packed, dynamics.bias)
    # Rows of joints that are held become those of the identity: their acceleration is zero, and
    # the others move as if they were welded.
    A = dynamics.mass
    for i in range(n):
        a[i] = state.torque[i] - dynamics.bias[i]
    for i in range(n):
        if is_held(state.segment[i]):
            for j in range(n):
                A[i, j] = 0.0
                A[j, i] = 0.0
            A[i, i] = 1.0
            a[i] = 0.0
    factorize(A, model.tree.row_first, model.tree.row_index)
    solve_factorized(A, model.tree.row_first, model.tree.row_index, a)


@compiled
def accelerate_closed(
    model: SimulationModel, state: State, work: Workspace, held: int, a: FloatArray
) -> None:
    """Compute the acceleration of a stage that keeps the loops closed, as `accelerate`.

    :param held: number of joints that are held
    :param a: the result, (nv,) [rad/s^2, m/s^2]
    """
    dynamics, loops = work.dynamics, work.problem.loops
    call_kernel(model.mass_matrix, state.packed, dynamics.mass)
    call_kernel(model.bias_force, state.packed, dynamics.bias)
    find_loops(model, state, dynamics.mass, loops)
    if held > 0:
        fix_held(state.segment, loops)
        find_directions(model, dynamics.mass, loops.jacobian, loops)
    for i in range(len(a)):
        damping = model.explicit_damping[i] * state.v[i]
        force = dynamics.applied_force[i] + work.stages.held_force[i] - damping
        if model.has_springs:
            if model.explicit_stiffness[i] > 0.0:
                force -= spring_torque(model, state, i, 0.0)
        state.torque[i] = force
        a[i] = force - dynamics.bias[i]
        if held > 0 and loops.fixed[i] == 1:
            a[i] = 0.0
    respond(model, loops, a)
    correct(model, loops, loops.bias, loops.correction)
    add_scaled(1.0, loops.correction, a)


@compiled
def is_allowed(model: SimulationModel, state: State, motion: Motion, held: int) -> bool:
    """Return whether the end of the step is finite, within the limits and not too fast."""
    for i in range(len(model.position)):
        v = motion.next_v[i]
        # Negated, so that what is no number is not allowed.
        if not (abs(v) <= model.speed[i] and abs(v) < math.inf):
            return False
        # A joint that rests at its limit may be beyond it by rounding.
        resting = held > 0 and is_held(state.segment[i])
        if model.position[i] >= 0 and not resting:
            q = motion.next_q[model.position[i]]
            if not model.lower[i] <= q <= model.upper[i]:
                return False
    return True


@compiled
def displacement_rate(
    model: SimulationModel, v: FloatArray, u: FloatArray, stages: Stages, rate: FloatArray
) -> None:
    """Compute the rate of the displacement u from the start of a step, at the velocity v, (nv,).

    The derivative of the exponential, inverted to third order, for velocities in the moving body:
    v + [u, v] / 2 + [u, [u, v]] / 12 (Munthe-Kaas 1998).
    """
    first, second = stages.first_bracket, stages.second_bracket
    copy(v, rate)
    if len(model.bracket_value) == 0:  # revolute and prismatic joints commute with themselves
        return
    bracket(model, u, v, first)
    bracket(model, u, first, second)
    for i in range(len(v)):
        # Coefficients B_k / k! of the series, with Bernoulli's numbers. The third is zero, so that
        # this is enough for a method of fourth order.
        rate[i] += 0.5 * first[i] + second[i] / 12.0


@compiled
def bracket(model: SimulationModel, u: FloatArray, v: FloatArray, result: FloatArray) -> None:
    """Lie bracket of two velocities, (nv,): the sparse sum of its terms c u_j v_k."""
    clear(result)
    for t in range(len(model.bracket_value)):
        i, j, k = model.bracket_index[t, 0], model.bracket_index[t, 1], model.bracket_index[t, 2]
        result[i] += model.bracket_value[t] * u[j] * v[k]
