"""What drives each joint: an effort, a servo, its gravity torque, or nothing.

The servo is exact: it prescribes the joint's acceleration and works out, by hybrid dynamics (book
9.2), the torque that gives it whatever the other joints do. The joint's own dry friction is part
of that torque. Effort limits apply to it like to everything else.
"""

from __future__ import annotations

import math
from typing import NamedTuple, TYPE_CHECKING

import numpy as np

from rbd_ros.compiler.loops import call_kernel, compiled
from rbd_ros.simulation.linear import clear, solve_dense
from rbd_ros.simulation.plant import Plant
from rbd_ros.simulation.state import State
from rbd_ros.simulation.workspace import Commands, Dynamics, Problem

if TYPE_CHECKING:
    from rbd_ros.robot import Robot

#: What drives a joint; plain numbers, for they are stored in arrays.
ZERO, GRAVITY, EFFORT, POSITION, VELOCITY = range(5)

#: Speed below which the servo makes up for a part of the friction only [rad/s or m/s]. With all of
#: it, the torque of a joint at rest would jump with the sign of its rounding errors.
SLOW = 1e-6


class Drives(NamedTuple):
    """Drives of the joints with one degree of freedom; the others have none.

    :param bandwidth: natural frequency of the servo [rad/s]
    :param gravity_torque: address of the kernel
    :param at_q: position variable of each joint, (n,)
    :param at_v: degree of freedom of each joint, (n,)
    :param mode: what drives it, (n,)
    :param effort: torque, (n,) [N m, N]
    :param position: desired position, (n,) [rad, m]
    :param velocity: desired velocity, (n,) [rad/s, m/s]
    :param received: when the last command came; infinite: none is awaited, (n,) [s]
    :param gravity: room for gravity torques, (nv,)
    :param acceleration: room for accelerations, (nv,)
    :param servo: room: 1 where a servo is at work, (nv,)
    """

    bandwidth: float
    gravity_torque: int
    at_q: np.ndarray
    at_v: np.ndarray
    mode: np.ndarray
    effort: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    received: np.ndarray
    gravity: np.ndarray
    acceleration: np.ndarray
    servo: np.ndarray


def make_drives(robot: Robot, at_q: np.ndarray, at_v: np.ndarray, bandwidth: float) -> Drives:
    """Drives of a robot, all ZERO."""
    n, nv = len(at_q), robot.nv
    return Drives(
        bandwidth=float(bandwidth),
        gravity_torque=int(robot.kernel('gravity_torque').address),
        at_q=np.array(at_q, dtype=np.int64),
        at_v=np.array(at_v, dtype=np.int64),
        mode=np.full(n, ZERO, dtype=np.int64),
        effort=np.zeros(n),
        position=np.zeros(n),
        velocity=np.zeros(n),
        received=np.full(n, np.inf),
        gravity=np.zeros(nv),
        acceleration=np.zeros(nv),
        servo=np.zeros(nv, dtype=np.int64),
    )


@compiled
def find_torque(
    plant: Plant,
    state: State,
    dynamics: Dynamics,
    problem: Problem,
    drives: Drives,
    commands: Commands,
    duration: float,
) -> bool:
    """Find the torques of all drives at the present state; they are then what is commanded.

    :param dynamics: room for the mass matrix and the bias force
    :param problem: room for a linear system
    :param commands: the result
    :param duration: how long they will act [s]
    :return: whether they are finite; if not, they are zero
    """
    tau, mode, at_v = commands.torque, drives.mode, drives.at_v
    clear(tau)
    falling, servos = False, False
    for j in range(len(mode)):
        if mode[j] == EFFORT:
            tau[at_v[j]] = drives.effort[j]
        falling = falling or mode[j] == GRAVITY
        servos = servos or mode[j] >= POSITION
    if falling:
        call_kernel(drives.gravity_torque, state.packed, drives.gravity)
        for j in range(len(mode)):
            if mode[j] == GRAVITY:
                tau[at_v[j]] = drives.gravity[at_v[j]]
    if servos:
        find_servo_accelerations(state, drives)
        add_servos(plant, state, dynamics, problem, drives, tau, duration)
    for i in range(len(tau)):
        if not abs(tau[i]) < math.inf:  # also false for what is no number
            clear(tau)
            return False
    return True


@compiled
def find_servo_accelerations(state: State, drives: Drives) -> None:
    """Find which degrees of freedom are under servo, and the accelerations they are to have."""
    w = drives.bandwidth
    clear(drives.servo)
    for j in range(len(drives.mode)):
        if drives.mode[j] >= POSITION:
            i = drives.at_v[j]
            error = 0.0
            if drives.mode[j] == POSITION:
                error = drives.position[j] - state.q[drives.at_q[j]]
            drives.servo[i] = 1
            # Critically damped: it arrives as fast as can be without overshoot.
            drives.acceleration[i] = w * w * error + 2.0 * w * (drives.velocity[j] - state.v[i])


@compiled
def add_servos(
    plant: Plant,
    state: State,
    dynamics: Dynamics,
    problem: Problem,
    drives: Drives,
    tau: np.ndarray,
    duration: float,
) -> None:
    """Find the torques of joints under servo, given those of all others (hybrid dynamics)."""
    n, v = len(tau), state.v
    servo, acceleration = drives.servo, drives.acceleration
    call_kernel(plant.mass_matrix, state.packed, dynamics.mass)
    call_kernel(plant.bias_force, state.packed, dynamics.bias)
    H, C = dynamics.mass, dynamics.bias
    # Damping is a part of what the servo has to overcome; the kernel knows the rigid body alone.
    for i in range(n):
        C[i] += plant.damping[i] * v[i]
    find_free_accelerations(H, problem.system, C, tau, servo, problem.solution, acceleration)
    for i in range(n):
        if servo[i] == 1:
            tau[i] = C[i]
            for k in range(n):
                tau[i] += H[i, k] * acceleration[k]
            # Friction as it will be at the end: the joint is to move then, not to break away.
            end = v[i] + duration * acceleration[i]
            tau[i] += plant.friction[i] * min(max(end / SLOW, -1.0), 1.0)


@compiled
def find_free_accelerations(
    H: np.ndarray,
    A: np.ndarray,
    C: np.ndarray,
    tau: np.ndarray,
    servo: np.ndarray,
    x: np.ndarray,
    acceleration: np.ndarray,
) -> None:
    """Find the accelerations of the joints without servo; zero if they move no mass.

    :param A: room for the linear system, (n, n)
    :param x: room for its solution, (n,)
    :param acceleration: of joints under servo, given; of all others, the result, (n,)
    """
    n, free = len(tau), 0
    for i in range(n):
        x[i] = acceleration[i]
        if servo[i] == 0:
            free += 1
            x[i] = tau[i] - C[i]
            for k in range(n):
                if servo[k] == 1:
                    x[i] -= H[i, k] * acceleration[k]
    if free == 0:
        return
    # Joints under servo stay in the system, as rows of the identity: smaller ones would need an
    # index for each row.
    for i in range(n):
        for k in range(n):
            A[i, k] = H[i, k] if servo[i] + servo[k] == 0 else 0.0
        if servo[i] == 1:
            A[i, i] = 1.0
    solve_dense(A, x)
    finite = True
    for i in range(n):
        finite = finite and abs(x[i]) < math.inf
    for i in range(n):
        if servo[i] == 0:
            acceleration[i] = x[i] if finite else 0.0
