# SPDX-License-Identifier: Apache-2.0
"""Momentum of robots whose base is free, conserved to rounding.

Euler steps of the velocity of a floating base, which is in the coordinates of a body that turns,
let the momentum of a tumbling robot grow. So after each step the velocity of the base is set to
the one at which the robot's total momentum is what it was plus the impulse of all external
forces, and the base is moved by the tiny way that puts the center of mass where this momentum
takes it: on an exact parabola in free fall. Both corrections are of second order in h. Where
something that does not give has struck the robot they would not be, for its velocity has jumped:
it keeps the velocity that the contacts were solved for, at which nothing penetrates.

The six rows of the mass matrix that belong to the base's joint are all that is needed: times v
they are the momentum of the robot [n; p] in body coordinates about the origin of that body, and
their own six columns are its inertia [[I, m c x], [-m c x, m]].
"""

from __future__ import annotations

from rbd_ros.compiler.loops import call_kernel, compiled, stack_array, stack_matrix
from rbd_ros.contact.contact_arrays import FloatArray
from rbd_ros.simulation.records.simulation_model import SimulationModel
from rbd_ros.simulation.records.simulation_state import State
from rbd_ros.simulation.records.workspace import Dynamics, FreeBases, Motion
from rbd_ros.simulation.stepping.linear import clear, dot, solve_dense


@compiled
def predict_free_bases(
    model: SimulationModel,
    state: State,
    dynamics: Dynamics,
    impulse: FloatArray,
    next_v: FloatArray,
    free_bases: FreeBases,
    h: float,
) -> None:
    """Predict momentum and center of mass at the end of the step, from `mass` and the forces.

    The prediction is in coordinates that rest, where momentum changes by impulses alone.

    :param impulse: generalized impulse of friction, limits and contacts, (nv,)
    :param next_v: velocity at the end of the step, which damping acts on, (nv,)
    :param free_bases: the result
    :param h: time step [s]
    """
    R, c = stack_matrix(3, 3), stack_array(3)
    angular, linear, moment, force = stack_array(3), stack_array(3), stack_array(3), stack_array(3)
    mass, drive, damping = dynamics.mass, dynamics.applied_force, model.damping
    for base in range(len(model.free_bases)):
        if free_bases.held[base] == 1:
            continue
        orientation, position = model.free_bases[base, 0], model.free_bases[base, 1]
        first = model.free_bases[base, 2]
        # From body coordinates to those of the predecessor, which rests: a free base hangs on the
        # base.
        rotation(state.q, orientation, R)
        m = center_of_mass(mass, first, c)
        for r in range(3):
            i, j = first + r, first + 3 + r
            angular[r] = dot(mass[i], state.v)
            linear[r] = dot(mass[j], state.v)
            # Gravity comes below. It has no moment about the center of mass, and its direction is
            # constant only in coordinates that rest.
            moment[r] = drive[i] + impulse[i] / h - damping[i] * next_v[i]
            force[r] = drive[j] + impulse[j] / h - damping[j] * next_v[j]
        for r in range(3):  # the moments are about the center of mass from here on
            s, t = (r + 1) % 3, (r + 2) % 3
            # n_C = n_O - c x p, and likewise for the moment of the forces.
            angular[r] -= c[s] * linear[t] - c[t] * linear[s]
            angular[r] += h * (moment[r] - c[s] * force[t] + c[t] * force[s])
        for r in range(3):
            linear[r] += h * force[r]
        for r in range(3):
            free_bases.angular_momentum[base, r] = dot(R[r], angular)
            total = dot(R[r], linear) + h * m * model.free_gravity[base, r]
            free_bases.linear_momentum[base, r] = total
            # With the momentum of the end, as all positions (semi-implicit Euler).
            displacement = h * total / m if m > 0.0 else 0.0
            free_bases.center_of_mass[base, r] = (
                state.q[position + r] + dot(R[r], c) + displacement
            )


@compiled
def correct_free_bases(
    model: SimulationModel, dynamics: Dynamics, motion: Motion, free_bases: FreeBases, place: bool
) -> None:
    """Correct `next_v` and `next_q` of the free bases to what `predict_free_bases` found.

    :param place: whether to correct `next_q`; without, it was displaced on purpose
    """
    held = 0
    for base in range(len(free_bases.held)):
        held += free_bases.held[base]
    if held == len(free_bases.held):
        return
    # The kernel reads q alone, so that it may be that of the end of the step.
    call_kernel(model.mass_matrix, motion.next_q, dynamics.mass)
    R, c, A, x = stack_matrix(3, 3), stack_array(3), stack_matrix(6, 6), stack_array(6)
    mass, next_q, next_v = dynamics.mass, motion.next_q, motion.next_v
    for base in range(len(model.free_bases)):
        orientation, position = model.free_bases[base, 0], model.free_bases[base, 1]
        first = model.free_bases[base, 2]
        m = center_of_mass(mass, first, c)
        # Without mass there is nothing to conserve, and A would be singular.
        if free_bases.held[base] == 1 or not m > 0.0:
            continue
        rotation(next_q, orientation, R)
        clear(x)
        for r in range(3):
            for k in range(3):
                # By the transpose of R: from coordinates that rest into those of the body at the
                # end.
                x[r] += R[k, r] * free_bases.angular_momentum[base, k]
                x[3 + r] += R[k, r] * free_bases.linear_momentum[base, k]
        for r in range(3):
            s, t = (r + 1) % 3, (r + 2) % 3
            # From the center of mass to the body's origin: n_O = n_C + c x p.
            x[r] += c[s] * x[3 + t] - c[t] * x[3 + s]
            if place:
                next_q[position + r] = free_bases.center_of_mass[base, r] - dot(R[r], c)
        # The other joints keep their velocities: what they contribute goes to the right.
        for r in range(6):
            for k in range(len(next_v)):
                if first <= k < first + 6:
                    A[r, k - first] = mass[first + r, k]
                else:
                    x[r] -= mass[first + r, k] * next_v[k]
        # A is the inertia of the whole robot about the body's origin, as of one rigid body.
        solve_dense(A, x)
        for r in range(6):
            next_v[first + r] = x[r]


@compiled
def center_of_mass(mass: FloatArray, first: int, c: FloatArray) -> float:
    """Return the mass of a robot and its center of mass, from the rows of its base's joint.

    :param mass: mass matrix, (nv, nv)
    :param first: degree of freedom at which the velocity of the base begins
    :param c: the center of mass in body coordinates; a result, (3,) [m]
    :return: m [kg]
    """
    # From the block m c x at the upper right of the inertia (book eq 2.63).
    m: float = mass[first + 5, first + 5]
    scale = 1.0 / m if m > 0.0 else 0.0
    c[0] = scale * mass[first + 2, first + 4]
    c[1] = scale * mass[first, first + 5]
    c[2] = scale * mass[first + 1, first + 3]
    return m


@compiled
def rotation(q: FloatArray, at: int, R: FloatArray) -> None:
    """Compute the rotation matrix, (3, 3), of the quaternion (w, x, y, z) that begins at q[at]."""
    w, x, y, z = q[at], q[at + 1], q[at + 2], q[at + 3]
    R[0, 0], R[0, 1], R[0, 2] = 1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)
    R[1, 0], R[1, 1], R[1, 2] = 2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)
    R[2, 0], R[2, 1], R[2, 2] = 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)
