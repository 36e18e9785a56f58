# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Positions and velocities at the end of a step that keep the loops closed.

A semi-implicit step follows its velocity, and is corrected along the constraint forces at its
beginning until the loops are closed. The correction becomes part of the velocity (SHAKE, Ryckaert
et al. 1977), which is then projected onto the loops at the end (RATTLE, Andersen 1983); projection
alone would slow down rotations. If this fails, as in a singular configuration, or a limit cuts the
step short, Newton's method closes the loops without changing the velocity; the last resort is a
shorter step.
"""

from __future__ import annotations

from rbd_ros.array_types import FloatArray
from rbd_ros.compiler.loops import call_kernel, compiled
from rbd_ros.simulation.loops.loop_directions import correct, find_directions, FIXED, respond
from rbd_ros.simulation.records.simulation_model import (
    NEARLY_CLOSED,
    RETURN_SPEED,
    SimulationModel,
)
from rbd_ros.simulation.records.simulation_state import State, UNCONVERGED
from rbd_ros.simulation.records.workspace import Dynamics, Loops, Motion, Problem, Workspace
from rbd_ros.simulation.stepping.displacement import correction_bounds, move_at, returned
from rbd_ros.simulation.stepping.linear import add_scaled, clear, copy, dot

#: Maximum position error of a closed loop [rad, m].
CLOSED = 1e-12

#: Maximum number of corrections: they converge linearly along one direction, quadratically along
#: the others except at singular configurations.
MAX_CORRECTIONS = 30

#: Maximum displacement of a joint by one correction [rad, m].
MAX_DISPLACEMENT = 0.2

#: Maximum number of times that a step which cannot be closed is halved.
MAX_HALVINGS = 6


@compiled
def follow_loops(model: SimulationModel, state: State, work: Workspace, h: float) -> None:
    """Compute `next_q` from `next_v`, and correct both to close the loops.

    :param h: time step [s]
    """
    problem, motion, dynamics = work.problem, work.motion, work.dynamics
    loops, next_v = problem.loops, work.motion.next_v
    if loops.counts[FIXED] == 1:
        find_directions(model, problem.inertia, loops.jacobian, loops)
    if shake(model, state, motion, loops, h):
        copy(motion.next_q, motion.followed_q)
    else:
        part = h
        for halving in range(MAX_HALVINGS + 1):
            move_at(model, motion, state.q, next_v, part)
            copy(motion.next_q, motion.followed_q)
            if close_positions(model, motion, dynamics, loops):
                if is_near(model, state.q, motion.followed_q, motion.next_q, h):
                    break
            part *= 0.5
            if halving == MAX_HALVINGS:
                # At the beginning of the step the loops were closed.
                copy(state.q, motion.next_q)
                copy(state.q, motion.followed_q)
                state.counters[UNCONVERGED] += 1
    settle_loops(model, state, motion, dynamics, problem, h)


@compiled
def shake(model: SimulationModel, state: State, motion: Motion, loops: Loops, h: float) -> bool:
    """Compute `next_q` and `next_v` by corrections along the constraint forces at the beginning.

    :param h: time step [s]
    :return: whether the loops are closed; if not, `next_v` is unchanged
    """
    next_v, start, x = motion.next_v, loops.spare, loops.correction
    copy(next_v, start)
    # The rotation of the velocity by the loops is known; half of it changes the positions.
    correct(model, loops, loops.bias, x)
    add_scaled(0.5 * h, x, next_v)
    before = 0.0
    for attempt in range(MAX_CORRECTIONS):
        move_at(model, motion, state.q, next_v, h)
        call_kernel(model.loop_closure, motion.next_q, loops.closure)
        size = largest(loops.residual)
        if size <= CLOSED:
            return True
        # It converges fast or not at all: near a singular configuration, the directions at the
        # beginning are useless at the end.
        if attempt > 0 and not size < 0.5 * before:
            break
        before = size
        correct(model, loops, loops.residual, x)
        add_scaled(-1.0 / h, x, next_v)
    copy(start, next_v)
    return False


@compiled
def close_positions(
    model: SimulationModel, motion: Motion, dynamics: Dynamics, loops: Loops
) -> bool:
    """Close the loops at `next_q` by Newton's method; return whether they are closed.

    The correction is the one of minimum kinetic energy that closes the linearized loops.
    """
    x = loops.correction
    for _ in range(MAX_CORRECTIONS):
        call_kernel(model.loop_closure, motion.next_q, loops.closure)
        size = largest(loops.residual)
        if size <= CLOSED:
            return True
        call_kernel(model.mass_matrix, motion.next_q, dynamics.mass)
        find_directions(model, dynamics.mass, loops.closure_jacobian, loops)
        correct(model, loops, loops.residual, x)
        far = largest(x)
        if far == 0.0:
            break
        move_at(model, motion, motion.next_q, x, -min(1.0, MAX_DISPLACEMENT / far))
    call_kernel(model.loop_closure, motion.next_q, loops.closure)
    left: float = largest(loops.residual)
    return left <= NEARLY_CLOSED


@compiled
def settle_loops(
    model: SimulationModel,
    state: State,
    motion: Motion,
    dynamics: Dynamics,
    problem: Problem,
    h: float,
) -> None:
    """Move joints back between their limits, close the loops, and project `next_v` onto them.

    :param h: time step [s]
    """
    loops, part = problem.loops, 1.0
    copy(motion.next_q, motion.kept_q)
    for halving in range(MAX_HALVINGS + 1):
        if not move_back(model, state, motion, loops, part, h):
            break
        closed: bool = close_positions(model, motion, dynamics, loops)
        if not closed:
            # Loops have precedence over limits.
            loops.counts[FIXED] = 0
            closed = close_positions(model, motion, dynamics, loops)
        if closed and is_near(model, state.q, motion.followed_q, motion.next_q, h):
            break
        # Closing moves other joints too fast or fails: move back by less, in the end not at all.
        copy(motion.kept_q, motion.next_q)
        part *= 0.5
        if halving == MAX_HALVINGS:
            loops.counts[FIXED] = 0
            state.counters[UNCONVERGED] += 1
    call_kernel(model.loop_closure, motion.next_q, loops.closure)
    call_kernel(model.mass_matrix, motion.next_q, dynamics.mass)
    project(model, motion.next_v, dynamics, loops)
    if loops.counts[FIXED] == 1:
        # If the held joints leave loops open, all joints close them.
        loops.counts[FIXED] = 0
        if velocity_error(motion.next_v, loops) > CLOSED * largest(motion.next_v):
            project(model, motion.next_v, dynamics, loops)
    keep_speeds(model, motion.next_v, loops)


@compiled
def move_back(
    model: SimulationModel, state: State, motion: Motion, loops: Loops, part: float, h: float
) -> bool:
    """Move joints of `next_q` back between their limits, and hold them there.

    :param part: fraction of the allowed distance
    :param h: time step [s]
    :return: whether any was outside
    """
    back = False
    for i in range(len(model.position)):
        at = model.position[i]
        if at >= 0:
            moved = motion.followed_q[at] - state.q[at]
            lower, upper = correction_bounds(model, i, moved, h)
            q = returned(model, i, motion.next_q[at], part * lower, part * upper)
            if q != motion.next_q[at]:
                motion.next_q[at] = q
                if loops.counts[FIXED] == 0:
                    for j in range(len(model.position)):
                        loops.fixed[j] = 0
                loops.counts[FIXED] = 1
                loops.fixed[i] = 1
                back = True
    return back


@compiled
def is_near(
    model: SimulationModel, start: FloatArray, q: FloatArray, p: FloatArray, h: float
) -> bool:
    """Return whether a correction from one configuration to another one is within its bounds.

    :param start: configuration at the beginning of the step, (nq,)
    :param q: configuration before the correction, (nq,)
    :param p: the corrected one, (nq,)
    :param h: time step [s]
    """
    # Rounding does not make a displacement equal to the bound too large.
    excused = 1e-9 * h
    for k in range(len(q)):
        # For quaternions it is half of the angle.
        if not abs(p[k] - q[k]) <= RETURN_SPEED * (h + excused):
            return False
    for i in range(len(model.position)):
        at = model.position[i]
        if at >= 0:
            lower, upper = correction_bounds(model, i, q[at] - start[at], h)
            more = model.return_speed[i] * excused
            if not lower - more <= p[at] - q[at] <= upper + more:
                return False
    return True


@compiled
def project(model: SimulationModel, v: FloatArray, dynamics: Dynamics, loops: Loops) -> None:
    """Project a velocity onto the loops at `closure_jacobian`, by impulses of the constraints.

    :param v: velocity, changed, (nv,)
    """
    find_directions(model, dynamics.mass, loops.closure_jacobian, loops)
    # Twice: the first projection leaves a rounding error of a large error.
    for _ in range(2):
        for c in range(len(loops.error)):
            loops.error[c] = dot(loops.closure_jacobian[c], v)
        correct(model, loops, loops.error, loops.correction)
        add_scaled(-1.0, loops.correction, v)


@compiled
def keep_speeds(model: SimulationModel, v: FloatArray, loops: Loops) -> None:
    """Reduce joint velocities above their limits after a step, with closed loops.

    Impulses at these joints do so without adding energy. The solver knows the directions at the
    beginning of a step only; they differ at the end where a linkage reverses a joint.

    :param v: velocity with closed loops, changed, (nv,)
    """
    x = loops.correction
    for i in range(len(v)):
        kept = min(max(v[i], -model.speed[i]), model.speed[i])
        if v[i] != kept:
            clear(x)
            x[i] = 1.0
            respond(model, loops, x)
            if x[i] > 0.0:
                add_scaled((kept - v[i]) / x[i], x, v)
                v[i] = kept


@compiled
def velocity_error(v: FloatArray, loops: Loops) -> float:
    """Return the maximum velocity of a loop's opening, K v."""
    most = 0.0
    for c in range(len(loops.closure_jacobian)):
        most = max(most, abs(dot(loops.closure_jacobian[c], v)))
    return most


@compiled
def largest(x: FloatArray) -> float:
    """Return the maximum of the absolute values."""
    most = 0.0
    for i in range(len(x)):
        most = max(most, abs(x[i]))
    return most
