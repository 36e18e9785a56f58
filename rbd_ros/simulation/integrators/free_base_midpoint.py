# SPDX-License-Identifier: Apache-2.0
"""Momentum of robots whose base is free, in steps of midpoint; see free_base.py.

With forces at mid-step, momentum and center of mass are predicted to second order, and exactly
under gravity. The orientation at the end of the step follows from the velocity that has this
momentum, and the velocity from the orientation; solved together, they leave the step as symmetric
in time as it was, so that energy does not drift.
"""

from __future__ import annotations

import math

from rbd_ros.compiler.loops import call_kernel, compiled, stack_array, stack_matrix
from rbd_ros.contact.contact_arrays import FloatArray
from rbd_ros.simulation.integrators.free_base import center_of_mass, rotation
from rbd_ros.simulation.records.simulation_model import SimulationModel
from rbd_ros.simulation.records.simulation_state import State
from rbd_ros.simulation.records.workspace import Workspace
from rbd_ros.simulation.stepping.linear import dot, solve_dense

#: Times that the orientation is found from the velocity: what is left is of fifth order in h.
ROUNDS = 2


@compiled
def predict_from_middle(model: SimulationModel, state: State, work: Workspace, h: float) -> None:
    """Predict momentum and center of mass as `predict_free_bases`, by forces at mid-step.

    `mass` is that of the beginning of the step, `applied_force` and the pose of the base are those
    of its middle; so the prediction is of second order, and exact for gravity.

    :param h: time step [s]
    """
    R, c = stack_matrix(3, 3), stack_array(3)
    angular, linear, moment, force = stack_array(3), stack_array(3), stack_array(3), stack_array(3)
    mass, drive, damping = work.dynamics.mass, work.dynamics.applied_force, model.damping
    free_bases, middle, next_v = work.free_bases, work.middle, work.motion.next_v
    for base in range(len(model.free_bases)):
        orientation, position = model.free_bases[base, 0], model.free_bases[base, 1]
        first = model.free_bases[base, 2]
        rotation(state.q, orientation, R)
        m = center_of_mass(mass, first, c)
        for r in range(3):
            i, j = first + r, first + 3 + r
            angular[r] = dot(mass[i], state.v)
            linear[r] = dot(mass[j], state.v)
            # What damping leaves to the beginning and to the end (midpoint.py).
            ending, starting = model.implicit_damping[i], damping[i] - model.implicit_damping[i]
            moment[r] = drive[i] + work.problem.impulse[i] / h
            moment[r] -= starting * state.v[i] + ending * next_v[i]
            ending, starting = model.implicit_damping[j], damping[j] - model.implicit_damping[j]
            force[r] = drive[j] + work.problem.impulse[j] / h
            force[r] -= starting * state.v[j] + ending * next_v[j]
        for r in range(3):
            s, t = (r + 1) % 3, (r + 2) % 3
            angular[r] -= c[s] * linear[t] - c[t] * linear[s]  # about the center of mass
        for r in range(3):
            free_bases.angular_momentum[base, r] = dot(R[r], angular)
            free_bases.linear_momentum[base, r] = dot(R[r], linear)
            free_bases.center_of_mass[base, r] = state.q[position + r] + dot(R[r], c)
        # From here on in coordinates that rest; c is the moment arm of the force about the mean of
        # where the center of mass is at both ends.
        rotation(middle.q, orientation, R)
        for r in range(3):
            total_force = dot(R[r], force) + m * model.free_gravity[base, r]
            before = free_bases.linear_momentum[base, r]
            free_bases.linear_momentum[base, r] += h * total_force
            displacement = h * (before + 0.5 * h * total_force) / m if m > 0.0 else 0.0
            c[r] = middle.q[position + r] - free_bases.center_of_mass[base, r] - 0.5 * displacement
            free_bases.center_of_mass[base, r] += displacement
            linear[r] = dot(R[r], force)
        for r in range(3):
            s, t = (r + 1) % 3, (r + 2) % 3
            total_moment = dot(R[r], moment) + c[s] * linear[t] - c[t] * linear[s]
            free_bases.angular_momentum[base, r] += h * total_moment


@compiled
def correct_from_middle(model: SimulationModel, work: Workspace, h: float) -> None:
    """Correct `next_v` and `next_q` of the free bases to what `predict_from_middle` found.

    :param h: time step [s]
    """
    motion, free_bases, mass = work.motion, work.free_bases, work.dynamics.mass
    # In the coordinates of the base, it is the same wherever the base is.
    call_kernel(model.mass_matrix, motion.next_q, mass)
    R, c, inertia, omega, own = (
        stack_matrix(3, 3),
        stack_array(3),
        stack_matrix(3, 3),
        stack_array(3),
        stack_array(6),
    )
    linear, angular = stack_array(3), stack_array(3)
    next_q, next_v = motion.next_q, motion.next_v
    for base in range(len(model.free_bases)):
        orientation, position = model.free_bases[base, 0], model.free_bases[base, 1]
        first = model.free_bases[base, 2]
        m = center_of_mass(mass, first, c)
        # Without mass there is nothing to conserve.
        if not m > 0.0:
            continue
        # Momentum that the other joints contribute, which keep their velocities.
        for r in range(6):
            own[r] = dot(mass[first + r], next_v)
            for k in range(6):
                own[r] -= mass[first + r, first + k] * next_v[first + k]
        for attempt in range(ROUNDS):
            if attempt > 0:
                for r in range(3):
                    omega[r] = 0.5 * h * next_v[first + r]
                turn_on(work.middle.q, orientation, omega, next_q)
            rotation(next_q, orientation, R)
            for r in range(3):
                linear[r] = angular[r] = 0.0
                for i in range(3):
                    # By the transpose of R: into coordinates of the base.
                    linear[r] += R[i, r] * free_bases.linear_momentum[base, i]
                    angular[r] += R[i, r] * free_bases.angular_momentum[base, i]
                linear[r] -= own[3 + r]
            distance = c[0] * c[0] + c[1] * c[1] + c[2] * c[2]
            for r in range(3):
                s, t = (r + 1) % 3, (r + 2) % 3
                # About the center of mass.
                omega[r] = angular[r] - (own[r] - c[s] * own[3 + t] + c[t] * own[3 + s])
                for i in range(3):
                    inertia[r, i] = mass[first + r, first + i] + m * c[r] * c[i]
                inertia[r, r] -= m * distance
            solve_dense(inertia, omega)
            for r in range(3):
                s, t = (r + 1) % 3, (r + 2) % 3
                next_v[first + r] = omega[r]
                next_v[first + 3 + r] = linear[r] / m + c[s] * omega[t] - c[t] * omega[s]
                next_q[position + r] = free_bases.center_of_mass[base, r] - dot(R[r], c)


@compiled
def turn_on(start: FloatArray, at: int, u: FloatArray, end: FloatArray) -> None:
    """Turn the unit quaternion at start[at] by the rotation vector u of the body, into end[at].

    :param u: angle times axis, in coordinates of the body, (3,) [rad]
    """
    angle = math.sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2])
    c = math.cos(0.5 * angle)
    s = math.sin(0.5 * angle) / angle if angle > 0.0 else 0.5
    x, y, z = s * u[0], s * u[1], s * u[2]
    w0, x0, y0, z0 = start[at], start[at + 1], start[at + 2], start[at + 3]
    end[at] = w0 * c - x0 * x - y0 * y - z0 * z
    end[at + 1] = w0 * x + x0 * c + y0 * z - z0 * y
    end[at + 2] = w0 * y - x0 * z + y0 * c + z0 * x
    end[at + 3] = w0 * z + x0 * y - y0 * x + z0 * c
