# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Contact with the ground in a step: detection, forces for the solver, deformation of the surface.

contact/law.py has the law of one contact point. Only simulations with ground compile this file.
"""

from __future__ import annotations

from rbd_ros.array_types import FloatArray
from rbd_ros.compiler.loops import call_kernel, compiled, load_vec, simd_range, stack_matrix, Vec
from rbd_ros.contact.detection import (
    body_velocities,
    contact_jacobian,
    contact_point,
    near_ground,
)
from rbd_ros.contact.law import contact_force, relaxed_deformation
from rbd_ros.simulation.records.simulation_model import Ground, SimulationModel
from rbd_ros.simulation.records.simulation_state import (
    CONTACTS,
    DEFORMED,
    DROPPED,
    GroundContactPoints,
    NEAR,
    State,
)
from rbd_ros.simulation.records.workspace import Dynamics, Problem
from rbd_ros.simulation.stepping.linear import add_scaled, clear, dot

#: Deformation of a surface without contact that counts as zero: negligible, and reached some
#: twenty time constants after contact [m].
AT_REST = 1e-12

#: Mark in `touching` of processed points, until all are done.
DONE = 2


@compiled
def detect_contacts(
    model: SimulationModel,
    state: State,
    dynamics: Dynamics,
    contacts: GroundContactPoints,
    problem: Problem,
    h: float,
) -> int:
    """Compute the contact points near the ground, and their Jacobians, from `kinematics`.

    :param h: time step [s]
    :return: number of contact points
    """
    tree, ground = model.tree, model.ground
    # Velocities decide which points may reach the ground within the step.
    body_velocities(tree, dynamics.columns, state.v, dynamics.velocities)
    count: int
    count, dropped = near_ground(
        ground.shapes,
        dynamics.poses,
        dynamics.velocities,
        ground.plane,
        ground.offset,
        h,
        contacts,
    )
    state.counters[DROPPED] += dropped
    state.counters[NEAR] = count
    for c in range(count):
        point, body = contacts.point[c], ground.shapes.body[contacts.shape[c]]
        position = load_vec(contacts.position[c], 3)
        contact_jacobian(dynamics.columns, tree, body, position, ground.plane, problem.jacobian[c])
        if state.touching[point] == 1:
            # In contact z = p. The gap follows from q, which integration errors have moved
            # slightly away from z; the force is to depend on the body's position.
            state.normal_deformation[point] = contacts.gap[c]
    return count


@compiled
def linearize_contacts(
    ground: Ground,
    state: State,
    contacts: GroundContactPoints,
    problem: Problem,
    v: FloatArray,
    count: int,
    h: float,
) -> float:
    """Compute contact forces at the velocity v, their generalized impulse and linearization.

    :param v: velocity at the end of the step, (nv,)
    :param count: number of contact points near the ground
    :param h: time step [s]
    :return: maximum error of the linearization made before, relative to the maximum force
    """
    largest, error = 0.0, 0.0
    slope = stack_matrix(3, 3)
    clear(problem.contact_impulse)
    for c in range(count):
        J, point = problem.jacobian[c], contacts.point[c]
        rate = Vec(dot(J[0], v), dot(J[1], v), dot(J[2], v))
        _, force = contact_force(
            rate,
            contacts.gap[c],
            state.normal_deformation[point],
            state.tangent_deformation[point],
            ground.contact,
            h,
            slope,
        )
        # Before it is replaced: once the last linearization holds at the resulting velocity,
        # Newton's method has converged.
        for r in range(3):
            linear = problem.intercept[c, r] + load_vec(problem.slope[c, r], 3) @ rate
            largest = max(largest, abs(force[r]))
            error = max(error, abs(force[r] - linear))
        contacts.force[c] = force
        for r in range(3):
            row = load_vec(slope[r], 3)
            problem.slope[c, r], problem.intercept[c, r] = row, force[r] - row @ rate
            # Many points near the ground are open.
            if force[r] != 0.0:
                add_scaled(h * force[r], J[r], problem.contact_impulse)
    # Without any force, the absolute error.
    return error / largest if error > 0.0 and largest > 0.0 else error


@compiled
def add_contacts(problem: Problem, count: int, h: float) -> bool:
    """Add the linearized contact forces to the linear system; return whether any presses."""
    has_contacts = False
    for c in range(count):
        # An open contact has no slope, and keeps the tree's sparsity of the system.
        if problem.slope[c, 0, 0] != 0.0:
            has_contacts = True
            add_contact(
                problem.jacobian[c],
                problem.intercept[c],
                problem.slope[c],
                h,
                problem.system,
                problem.solution,
                problem.product,
            )
    return has_contacts


@compiled
def add_contact(
    J: FloatArray,
    intercept: FloatArray,
    slope: FloatArray,
    h: float,
    A: FloatArray,
    x: FloatArray,
    product: FloatArray,
) -> None:
    """Add one linearized contact to the system: A -= h J^T slope J, x += h J^T intercept.

    :param J: Jacobian of the contact point, (3, nv)
    :param intercept: force at zero velocity, (3,) [N]
    :param slope: force per velocity of the point, (3, 3) [N s/m]
    :param h: time step [s]
    :param A: matrix of the system, (nv, nv)
    :param x: right-hand side of the system, (nv,)
    :param product: buffer for h slope J, (3, nv)
    """
    n = len(x)
    J_0, J_1, J_2 = J[0], J[1], J[2]
    for r in range(3):
        row = product[r]
        a, b, c = h * slope[r, 0], h * slope[r, 1], h * slope[r, 2]
        for i in simd_range(n):
            row[i] = a * J_0[i] + b * J_1[i] + c * J_2[i]
    first, second, third = product[0], product[1], product[2]
    for i in range(n):
        a, b, c = J_0[i], J_1[i], J_2[i]
        # Most joints of a legged robot do not move a given foot: their rows are unchanged.
        if a != 0.0 or b != 0.0 or c != 0.0:
            x[i] += h * (a * intercept[0] + b * intercept[1] + c * intercept[2])
            row = A[i]
            for j in simd_range(n):
                # The slope is negative: contact adds to the inertia.
                row[j] -= a * first[j] + b * second[j] + c * third[j]


@compiled
def update_deformations(
    ground: Ground, state: State, contacts: GroundContactPoints, count: int, h: float
) -> None:
    """Move the surface at all contact points to the end of the step (11.76, 11.77)."""
    counters, z, x = state.counters, state.normal_deformation, state.tangent_deformation
    touching = state.touching
    counters[CONTACTS] = 0
    # In free flight over ground at rest, no point is processed.
    if counters[DEFORMED] == 0 and count == 0:
        return
    K, D, K_t, D_t = ground.contact[0], ground.contact[1], ground.contact[2], ground.contact[3]
    counters[DEFORMED] = 0
    for c in range(count):
        point, force = contacts.point[c], contacts.force[c]
        z[point] = relaxed_deformation(z[point], force[0], K, D, h)
        x[point, 0] = relaxed_deformation(x[point, 0], force[1], K_t, D_t, h)
        x[point, 1] = relaxed_deformation(x[point, 1], force[2], K_t, D_t, h)
        touching[point] = DONE + (1 if force[0] > 0.0 else 0)
    # The surface recovers where nothing is near any more.
    for point in range(len(z)):
        if touching[point] >= DONE:
            touching[point] -= DONE
            counters[CONTACTS] += touching[point]
        elif touching[point] == 1 or z[point] != 0.0 or x[point, 0] != 0.0 or x[point, 1] != 0.0:
            touching[point] = 0
            z[point] = relaxed_deformation(z[point], 0.0, K, D, h)
            x[point, 0] = relaxed_deformation(x[point, 0], 0.0, K_t, D_t, h)
            x[point, 1] = relaxed_deformation(x[point, 1], 0.0, K_t, D_t, h)
        # An exponential never ends: without a threshold, every point once in contact would be
        # processed in every step.
        if (
            touching[point] == 0
            and max(abs(z[point]), abs(x[point, 0]), abs(x[point, 1])) < AT_REST
        ):
            z[point] = x[point, 0] = x[point, 1] = 0.0
        else:
            counters[DEFORMED] += 1


@compiled
def start_contacts(model: SimulationModel, state: State, dynamics: Dynamics) -> int:
    """Start with the surface deformed to contact points inside the ground, elsewhere at rest.

    Otherwise a robot that starts a millimetre deep would be thrown out: D would oppose the
    velocity that takes the surface to the body within one step.

    :return: the deepest contact point, -1 if none is inside
    """
    call_kernel(model.contact_kinematics, state.packed, dynamics.kinematics)
    ground, shapes = model.ground, model.ground.shapes
    state.counters[DEFORMED] = 0
    deepest, at = 0.0, -1
    normal = load_vec(ground.plane[0], 3)
    for s in range(len(shapes.kind)):
        for number in range(shapes.first[s], shapes.first[s + 1]):
            point = contact_point(shapes, s, number, dynamics.poses, normal)
            gap = normal @ point - ground.offset
            # Above the ground the surface is undeformed; inside, it is at the body.
            state.normal_deformation[number] = min(gap, 0.0)
            state.tangent_deformation[number, 0] = state.tangent_deformation[number, 1] = 0.0
            state.touching[number] = 0
            if gap < 0.0:
                state.touching[number] = 1
                state.counters[DEFORMED] += 1
            if gap < deepest:
                deepest, at = gap, number
    return at
