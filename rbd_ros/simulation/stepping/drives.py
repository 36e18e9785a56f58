# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Drives of the joints: an effort, a servo, its gravity torque, or nothing.

With loops, the joints under GRAVITY carry all of the robot's weight that they can together.

The servo is exact: it prescribes the joint's acceleration and computes the torque for it by hybrid
dynamics (book 9.2), for any motion of the other joints. The joint's own dry friction is part of
that torque. Effort limits apply to it as well.

Prescribed accelerations work in the same way, for the integrator's step: with damping and springs
at its end.
"""

from __future__ import annotations

import math
from typing import NamedTuple, TYPE_CHECKING

import numpy as np

from rbd_ros.array_types import FloatArray, IntArray
from rbd_ros.compiler.loops import allocate, call_kernel, compiled
from rbd_ros.robot.wraparound import whole_periods, Wraparound
from rbd_ros.simulation.loops.loop_drives import balance_by_held, closed_hybrid_dynamics
from rbd_ros.simulation.records.simulation_model import SimulationModel
from rbd_ros.simulation.records.simulation_state import State
from rbd_ros.simulation.records.workspace import Commands, Problem
from rbd_ros.simulation.stepping.linear import clear, dot, solve_dense
from rbd_ros.simulation.stepping.semi_implicit_step import spring_torque

if TYPE_CHECKING:
    from rbd_ros.robot import Robot

#: Modes of drives; plain numbers, as arrays store them.
ZERO, GRAVITY, EFFORT, POSITION, VELOCITY, ACCELERATION = range(6)

#: Speed below which the servo compensates a part of the friction only [rad/s or m/s]. Otherwise
#: the torque of a joint at rest would jump with the sign of its rounding errors.
SLOW = 1e-6


class Drives(NamedTuple):
    """Drives of the joints with one degree of freedom; the others have none.

    :param bandwidth: natural frequency of the servo [rad/s]
    :param gravity_torque: address of that kernel
    :param hybrid_dynamics: address of that kernel, 0 with loops
    :param at_q: position variable of each joint, (n,)
    :param at_v: degree of freedom of each joint, (n,)
    :param mode: mode of the drive, ZERO to ACCELERATION, (n,)
    :param effort: torque, (n,) [N m, N]
    :param position: desired position, (n,) [rad, m]
    :param periods: periods of positions, 0 where there are none, (n,) [rad]: a servo takes the
        shorter way
    :param rates: 1 / period, likewise, (n,) [1/rad]
    :param velocity: desired velocity, (n,) [rad/s, m/s]
    :param acceleration: desired acceleration, (n,) [rad/s^2, m/s^2]
    :param received: time of the last command; infinite: none is expected, (n,) [s]
    :param gravity: buffer for gravity torques, (nv,)
    :param given: inputs of hybrid dynamics, concatenated: q, v, `known` and `forward`,
        (nq + 3 nv,)
    :param known: part of it: accelerations under servo, forces elsewhere, (nv,)
    :param forward: part of it: 0 under servo, 1 elsewhere, (nv,)
    :param found: buffer for its results: accelerations, forces, (2 nv,)
    :param problem: buffer for the same with loops, empty without
    :param inertia: buffer for a mass matrix with implicit damping, empty with loops, (nv, nv)
    :param system: buffer for its part of free joints, likewise
    :param free: buffer for the accelerations of free joints, (nv,)
    """

    bandwidth: float
    gravity_torque: int
    hybrid_dynamics: int
    at_q: IntArray
    at_v: IntArray
    mode: IntArray
    effort: FloatArray
    position: FloatArray
    periods: FloatArray
    rates: FloatArray
    velocity: FloatArray
    acceleration: FloatArray
    received: FloatArray
    gravity: FloatArray
    given: FloatArray
    known: FloatArray
    forward: FloatArray
    found: FloatArray
    problem: Problem
    inertia: FloatArray
    system: FloatArray
    free: FloatArray


def make_drives(robot: Robot, at_q: IntArray, at_v: IntArray, bandwidth: float) -> Drives:
    """Return the drives of a robot, all ZERO.

    :param at_q: position variable of each joint with one degree of freedom, (n,)
    :param at_v: degree of freedom of each of these joints, (n,)
    :param bandwidth: natural frequency of the servo [rad/s]
    """
    n, nv, loops = len(at_q), robot.nv, robot.model.loop_constraints
    given = np.zeros(robot.nq + 3 * nv)
    wraparound = Wraparound(robot.position_periods[at_v])
    return Drives(
        bandwidth=float(bandwidth),
        gravity_torque=int(robot.kernel('gravity_torque').address),
        # With loops, loop_drives.py replaces this kernel.
        hybrid_dynamics=0 if loops else int(robot.kernel('hybrid_dynamics').address),
        at_q=np.array(at_q, dtype=np.int64),
        at_v=np.array(at_v, dtype=np.int64),
        mode=np.full(n, ZERO, dtype=np.int64),
        effort=np.zeros(n),
        position=np.zeros(n),
        periods=wraparound.periods,
        rates=wraparound.rates,
        velocity=np.zeros(n),
        acceleration=np.zeros(n),
        received=np.full(n, np.inf),
        gravity=np.zeros(nv),
        given=given,
        known=given[robot.nq + nv : robot.nq + 2 * nv],
        forward=given[robot.nq + 2 * nv :],
        found=np.zeros(2 * nv),
        problem=allocate(
            Problem,
            nv=nv if loops else 0,
            coupled=nv if loops else 0,
            constraints=loops,
            near=0,
            rows=0,
        ),
        inertia=np.zeros((0 if loops else nv,) * 2),
        system=np.zeros((0 if loops else nv,) * 2),
        free=np.zeros(nv),
    )


@compiled
def find_torque(
    model: SimulationModel, state: State, drives: Drives, commands: Commands, duration: float
) -> bool:
    """Compute the torques of all drives in the present state, and command them.

    :param commands: the result
    :param duration: duration of these torques [s]
    :return: whether they are finite; if not, they are zero
    """
    tau, mode, at_v = commands.torque, drives.mode, drives.at_v
    clear(tau)
    gravity, servos = False, False
    for j in range(len(mode)):
        if mode[j] == EFFORT:
            # Set, not added: each degree of freedom has at most one drive.
            tau[at_v[j]] = drives.effort[j]
        gravity = gravity or mode[j] == GRAVITY
        servos = servos or mode[j] >= POSITION  # or VELOCITY, or ACCELERATION, the last three
    if gravity:
        call_kernel(drives.gravity_torque, state.packed, drives.gravity)
        if model.has_loops:
            for i in range(len(tau)):
                drives.forward[i] = 1.0
            for j in range(len(mode)):
                if mode[j] == GRAVITY:
                    drives.forward[at_v[j]] = 0.0
            balance_by_held(model, state, drives.problem, drives.forward, drives.gravity)
        for j in range(len(mode)):
            if mode[j] == GRAVITY:
                tau[at_v[j]] = drives.gravity[at_v[j]]
    # Last: a servo's torque depends on all other torques.
    if servos:
        add_servos(model, state, drives, tau, duration)
    for i in range(len(tau)):
        if not abs(tau[i]) < math.inf:  # also false for NaN
            # Zero torque rather than a wrong one, for all joints: they belong to one motion.
            clear(tau)
            return False
    return True


@compiled
def add_servos(
    model: SimulationModel, state: State, drives: Drives, tau: FloatArray, duration: float
) -> None:
    """Compute the torques of joints under servo from those of all others (hybrid dynamics).

    :param tau: torques of the others, (nv,); those of the servos are written
    :param duration: duration of these torques [s]
    """
    n, nq, v = len(tau), len(state.q), state.v
    known, forward, found = drives.known, drives.forward, drives.found
    # Inputs of the kernel in its order; `known` and `forward` are views of the rest.
    for k in range(nq):
        drives.given[k] = state.q[k]
    for i in range(n):
        drives.given[nq + i] = v[i]
    # The kernel has rigid bodies only: damping and springs are subtracted from the torques of free
    # joints, and added to those of the servos below.
    for i in range(n):
        forward[i] = 1.0
        known[i] = tau[i] - model.damping[i] * v[i]
        if model.has_springs:
            known[i] -= spring_torque(model, state, i, 0.0)
    w, prescribed = drives.bandwidth, False
    for j in range(len(drives.mode)):
        if drives.mode[j] >= POSITION:
            i = drives.at_v[j]
            error = 0.0
            # VELOCITY has no target position: the velocity error decays.
            if drives.mode[j] == POSITION:
                error = drives.position[j] - state.q[drives.at_q[j]]
                error -= whole_periods(error, drives.periods[j], drives.rates[j])
            forward[i] = 0.0
            if drives.mode[j] == ACCELERATION:
                known[i], prescribed = drives.acceleration[j], True
                continue
            # Critically damped: the fastest approach without overshoot.
            known[i] = w * w * error + 2.0 * w * (drives.velocity[j] - v[i])
    if model.has_loops:
        closed_hybrid_dynamics(model, state, drives.problem, known, forward, found)
    elif prescribed:
        accelerate_as_the_step_does(model, state, drives, tau)
    else:
        call_kernel(drives.hybrid_dynamics, drives.given, found)
    if not is_finite(found):  # free joints move no mass: hold them, not to disturb others
        for i in range(n):
            known[i] = 0.0 if forward[i] == 1.0 else known[i]
        # With loops, the mass matrix is regular.
        if not model.has_loops:
            servo_only(drives)
    for j in range(len(drives.mode)):
        if drives.mode[j] >= POSITION:
            i = drives.at_v[j]
            # Friction at the end of the step: the joint is to move then, not to break away.
            end = v[i] + duration * known[i]
            friction = model.friction[i] * min(max(end / SLOW, -1.0), 1.0)
            # Forces come after accelerations.
            tau[i] = found[n + i] + friction
            # Damping and springs at the time of the step; for a servo, the present state.
            ahead = model.timestep * known[i] if drives.mode[j] == ACCELERATION else 0.0
            tau[i] += model.damping[i] * (v[i] + ahead)
            if model.has_springs:
                lead = model.timestep * (v[i] + ahead) if drives.mode[j] == ACCELERATION else 0.0
                tau[i] += spring_torque(model, state, i, lead)


@compiled
def accelerate_as_the_step_does(
    model: SimulationModel, state: State, drives: Drives, tau: FloatArray
) -> None:
    """Compute accelerations and forces of a tree for a step with damping and springs at its end.

    Dry friction of free, moving joints is included.

    :param tau: torques of the free joints, (nv,)
    """
    n, h, v, H, A = len(tau), model.timestep, state.v, drives.inertia, drives.system
    known, forward, found, x = drives.known, drives.forward, drives.found, drives.free
    call_kernel(model.mass_matrix, state.packed, H)
    call_kernel(model.bias_force, state.packed, drives.gravity)
    for i in range(n):
        x[i] = known[i]
        if forward[i] == 1.0:
            x[i] = tau[i] - drives.gravity[i] - model.damping[i] * v[i]
            x[i] -= model.friction[i] * min(max(v[i] / SLOW, -1.0), 1.0)
            if model.has_springs:
                x[i] -= spring_torque(model, state, i, h * v[i])
    for i in range(n):
        for j in range(n):
            A[i, j] = H[i, j]
            if forward[i] == 0.0 or forward[j] == 0.0:
                # The row of a driven joint prescribes its acceleration.
                A[i, j] = 1.0 if i == j else 0.0
                if forward[i] == 1.0:
                    x[i] -= H[i, j] * known[j]
        if forward[i] == 1.0:
            A[i, i] += h * model.damping[i]
            if model.has_springs:
                A[i, i] += h * h * model.stiffness[i]
    solve_dense(A, x)
    for i in range(n):
        found[i] = x[i]
        found[n + i] = dot(H[i], x) + drives.gravity[i]


@compiled
def servo_only(drives: Drives) -> None:
    """Compute the forces for given accelerations of all joints: inverse dynamics."""
    clear(drives.forward)
    call_kernel(drives.hybrid_dynamics, drives.given, drives.found)


@compiled
def is_finite(values: FloatArray) -> bool:
    """Return whether all elements of an array are finite."""
    for k in range(len(values)):
        if not abs(values[k]) < math.inf:
            return False
    return True
