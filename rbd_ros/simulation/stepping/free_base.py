# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Momentum of robots with a free base, conserved up to rounding.

Euler steps of a floating base's velocity, in coordinates of a rotating body, let the momentum of a
tumbling robot grow. So after each step the base gets the velocity at which the robot's total
momentum is the previous one plus the impulse of all external forces. The base is also moved
slightly, so that the center of mass is where this momentum takes it: on an exact parabola in free
fall. Both corrections are of second order in h. After an impact with something rigid they would
not be, as the velocity has jumped: the robot keeps the velocity of the contact solver, at which
nothing penetrates.

Six rows of the mass matrix, those of the base's joint, suffice: times v they are the momentum of
the robot [n; p] in body coordinates about the origin of that body, and their own six columns are
its inertia [[I, m c x], [-m c x, m]]. Predictions are in coordinates at rest, those of the base's
predecessor, where only impulses change momentum.

In midpoint steps, forces are those at mid-step: momentum and center of mass are predicted to
second order, and exactly under gravity. The orientation at the end of the step follows from the
velocity with this momentum, and the velocity from the orientation; solved together, they keep the
step symmetric in time, so energy does not drift.
"""

from __future__ import annotations

import math
from typing import Tuple

from rbd_ros.array_types import FloatArray
from rbd_ros.compiler.loops import (
    call_kernel,
    compiled,
    cross,
    load_vec,
    Mat3,
    norm,
    stack_array,
    stack_matrix,
    Vec,
    Vec3,
    Vec4,
)
from rbd_ros.simulation.records.simulation_model import SimulationModel
from rbd_ros.simulation.records.simulation_state import State
from rbd_ros.simulation.records.workspace import Dynamics, FreeBases, Motion, Workspace
from rbd_ros.simulation.stepping.linear import dot, solve_dense
from rbd_ros.simulation.stepping.rotations import product, rotation_of

#: Number of iterations of the orientation: the remaining error is of fifth order in h.
ROUNDS = 2


@compiled
def predict_free_bases(model: SimulationModel, state: State, work: Workspace, h: float) -> None:
    """Predict momentum and center of mass at the end of the step, from `mass` and the forces.

    :param h: time step [s]
    """
    next_v, mass, free_bases = work.motion.next_v, work.dynamics.mass, work.free_bases
    # Gravity comes below. It has no moment about the center of mass, and its direction is constant
    # only in coordinates at rest.
    tau = work.problem.solution
    for i in range(len(tau)):
        tau[i] = work.dynamics.applied_force[i] + work.problem.impulse[i] / h
        tau[i] -= model.damping[i] * next_v[i]
    for base in range(len(model.free_bases)):
        if free_bases.held[base] == 1:
            continue
        R, position = pose_of(model, base, state.q)
        first = model.free_bases[base, 2]
        m, c = center_of_mass(mass, first)
        # About the center of mass: n_C = n_O - c x p, and likewise for the moment of the forces.
        linear, force = momentum(mass, state.v, first + 3), load_vec(tau, 3, first + 3)
        angular = momentum(mass, state.v, first) - cross(c, linear)
        # Sums in this order: falling robots amplify any rounding.
        x, y, z = c
        f, g, k = force
        moment = load_vec(tau, 3, first) - Vec(y * k, z * f, x * g) + Vec(z * g, x * k, y * f)
        free_bases.angular_momentum[base] = R @ (angular + h * moment)
        total = R @ (linear + h * force) + h * m * load_vec(model.free_gravity[base], 3)
        free_bases.linear_momentum[base] = total
        # With the final momentum, like all positions (semi-implicit Euler).
        displacement = h * total / m if m > 0.0 else Vec(0.0, 0.0, 0.0)
        free_bases.center_of_mass[base] = position + R @ c + displacement


@compiled
def correct_free_bases(
    model: SimulationModel, dynamics: Dynamics, motion: Motion, free_bases: FreeBases, place: bool
) -> None:
    """Correct `next_v` and `next_q` of the free bases to the results of `predict_free_bases`.

    :param place: whether to correct `next_q`; otherwise it was displaced on purpose
    """
    held = 0
    for base in range(len(free_bases.held)):
        held += free_bases.held[base]
    if held == len(free_bases.held):
        return
    # The kernel reads q alone: that of the end of the step.
    call_kernel(model.mass_matrix, motion.next_q, dynamics.mass)
    A, x = stack_matrix(6, 6), stack_array(6)
    mass, next_q, next_v = dynamics.mass, motion.next_q, motion.next_v
    for base in range(len(model.free_bases)):
        first = model.free_bases[base, 2]
        m, c = center_of_mass(mass, first)
        # Without mass there is nothing to conserve, and A would be singular.
        if free_bases.held[base] == 1 or not m > 0.0:
            continue
        R, _ = pose_of(model, base, next_q)
        # From coordinates at rest into those of the body at the end, and from the center of mass
        # to the body's origin: n_O = n_C + c x p.
        linear = R.T @ load_vec(free_bases.linear_momentum[base], 3)
        angular = R.T @ load_vec(free_bases.angular_momentum[base], 3)
        x[0:3], x[3:6] = angular + cross(c, linear), linear
        if place:
            place_base(model, free_bases, base, R @ c, next_q)
        # The other joints keep their velocities: their contributions go to the right-hand side.
        for r in range(6):
            for k in range(len(next_v)):
                if first <= k < first + 6:
                    A[r, k - first] = mass[first + r, k]
                else:
                    x[r] -= mass[first + r, k] * next_v[k]
        # A is the inertia of the whole robot, as one rigid body, about the body's origin.
        solve_dense(A, x)
        for r in range(6):
            next_v[first + r] = x[r]


@compiled
def predict_from_middle(
    model: SimulationModel, state: State, work: Workspace, middle: FloatArray, h: float
) -> None:
    """Predict momentum and center of mass as `predict_free_bases`, by forces at mid-step.

    `mass` is that at the beginning of the step, `applied_force` that at its middle, so the
    prediction is of second order, and exact for gravity.

    :param middle: configuration in the middle of the step, (nq,)
    :param h: time step [s]
    """
    next_v, mass, free_bases = work.motion.next_v, work.dynamics.mass, work.free_bases
    tau = work.problem.solution
    for i in range(len(tau)):
        # Parts of damping at the beginning and at the end (midpoint_step.py).
        ending, starting = model.implicit_damping[i], model.damping[i] - model.implicit_damping[i]
        tau[i] = work.dynamics.applied_force[i] + work.problem.impulse[i] / h
        tau[i] -= starting * state.v[i] + ending * next_v[i]
    for base in range(len(model.free_bases)):
        first = model.free_bases[base, 2]
        R, position = pose_of(model, base, state.q)
        m, c = center_of_mass(mass, first)
        linear = momentum(mass, state.v, first + 3)
        angular = R @ (momentum(mass, state.v, first) - cross(c, linear))
        linear, center = R @ linear, position + R @ c
        # From here on in coordinates at rest.
        R, position = pose_of(model, base, middle)
        moment, force = R @ load_vec(tau, 3, first), R @ load_vec(tau, 3, first + 3)
        total = force + m * load_vec(model.free_gravity[base], 3)
        displacement = Vec(0.0, 0.0, 0.0)
        if m > 0.0:
            displacement = h * (linear + 0.5 * h * total) / m
        # Moment arm of the force about the mean of the center of mass at both ends.
        arm = position - center - 0.5 * displacement
        free_bases.linear_momentum[base] = linear + h * total
        free_bases.center_of_mass[base] = center + displacement
        free_bases.angular_momentum[base] = angular + h * (moment + cross(arm, force))


@compiled
def correct_from_middle(
    model: SimulationModel, work: Workspace, middle: FloatArray, h: float
) -> None:
    """Correct `next_v` and `next_q` of the free bases to the results of `predict_from_middle`.

    :param middle: configuration in the middle of the step, (nq,)
    :param h: time step [s]
    """
    next_q, next_v, mass = work.motion.next_q, work.motion.next_v, work.dynamics.mass
    free_bases, inertia, omega = work.free_bases, stack_matrix(3, 3), stack_array(3)
    # In the coordinates of the base, it does not depend on the base's pose.
    call_kernel(model.mass_matrix, next_q, mass)
    for base in range(len(model.free_bases)):
        orientation, first = model.free_bases[base, 0], model.free_bases[base, 2]
        m, c = center_of_mass(mass, first)
        # Without mass there is nothing to conserve.
        if not m > 0.0:
            continue
        # Momentum of the other joints, which keep their velocities.
        own_linear = momentum_of_others(mass, next_v, first, first + 3)
        own_angular = momentum_of_others(mass, next_v, first, first) - cross(c, own_linear)
        for attempt in range(ROUNDS):
            if attempt > 0:
                half = 0.5 * h * load_vec(omega, 3)
                start = load_vec(middle, 4, orientation)
                turned = product(start, rotation_by(half))
                for r in range(4):
                    next_q[orientation + r] = turned[r]
            R, _ = pose_of(model, base, next_q)
            linear = R.T @ load_vec(free_bases.linear_momentum[base], 3) - own_linear
            angular = R.T @ load_vec(free_bases.angular_momentum[base], 3) - own_angular
            # The inertia about the center of mass.
            for r in range(3):
                inertia[r] = load_vec(mass[first + r], 3, first) + m * c[r] * c
                inertia[r, r] -= m * (c @ c)
            omega[0:3] = angular
            solve_dense(inertia, omega)
            velocity = linear / m + cross(c, load_vec(omega, 3))
            for r in range(3):
                next_v[first + r], next_v[first + 3 + r] = omega[r], velocity[r]
            place_base(model, free_bases, base, R @ c, next_q)


@compiled
def pose_of(model: SimulationModel, base: int, q: FloatArray) -> Tuple[Mat3, Vec3]:
    """Return rotation and position of a free base at a configuration."""
    orientation, position = model.free_bases[base, 0], model.free_bases[base, 1]
    return rotation_of(load_vec(q, 4, orientation)), load_vec(q, 3, position)


@compiled
def place_base(
    model: SimulationModel, free_bases: FreeBases, base: int, arm: Vec3, q: FloatArray
) -> None:
    """Put the center of mass at its predicted position.

    :param arm: from the base to the center of mass, in coordinates at rest [m]
    :param q: configuration, of which the position of the base is a result, (nq,)
    """
    for r in range(3):
        q[model.free_bases[base, 1] + r] = free_bases.center_of_mass[base, r] - arm[r]


@compiled
def center_of_mass(mass: FloatArray, first: int) -> Tuple[float, Vec3]:
    """Return the mass of a robot [kg] and its center of mass in body coordinates [m].

    :param mass: mass matrix, (nv, nv)
    :param first: first degree of freedom of the base
    """
    # From the block m c x at the upper right of the inertia (book eq 2.63).
    m = mass[first + 5, first + 5]
    scale = 1.0 / m if m > 0.0 else 0.0
    return m, scale * Vec(
        mass[first + 2, first + 4], mass[first, first + 5], mass[first + 1, first + 3]
    )


@compiled
def momentum(mass: FloatArray, v: FloatArray, row: int) -> Vec3:
    """Return three rows of the mass matrix times a velocity, (nv,)."""
    return Vec(dot(mass[row], v), dot(mass[row + 1], v), dot(mass[row + 2], v))


@compiled
def momentum_of_others(mass: FloatArray, v: FloatArray, first: int, row: int) -> Vec3:
    """Return three rows of the mass matrix times the velocity of all joints but a base.

    :param first: first degree of freedom of the base
    """
    own = stack_array(3)
    own[0:3] = momentum(mass, v, row)
    for r in range(3):
        for k in range(first, first + 6):
            own[r] -= mass[row + r, k] * v[k]
    return load_vec(own, 3)


@compiled
def rotation_by(u: Vec3) -> Vec4:
    """Return the unit quaternion of a rotation vector, angle times axis [rad]."""
    angle = norm(u)
    s = math.sin(0.5 * angle) / angle if angle > 0.0 else 0.5
    return Vec(math.cos(0.5 * angle), s * u[0], s * u[1], s * u[2])
