# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Islands of many contacts among objects alone, solved without a matrix.

The solver is constraints/solvers/friction_body_sweeps.py.
"""

from __future__ import annotations

import math

from rbd_ros.array_types import FloatArray
from rbd_ros.collision.scene.scene_arrays import (
    ACROSS,
    ALONG,
    ROLLING,
    SceneContacts,
    surface_of,
    TORSIONAL,
)
from rbd_ros.compiler.loops import compiled, load_vec, stack_array
from rbd_ros.constraints.friction_space import OPEN, SLIDE, STICK
from rbd_ros.constraints.solvers.friction_body_space import (
    BodySpace,
    contact_velocity,
    CONTACTS,
    HAS_MOMENTS,
    has_moments,
    ITERATIONS,
    RESIDUAL,
    scaled_angular_velocity,
    UNIT,
    velocity_of,
    YIELDED,
)
from rbd_ros.constraints.solvers.friction_body_sweeps import COMPLIANCE, MOST, solve_body_space
from rbd_ros.simulation.scene.compliance import contact_compliance, normal_bias
from rbd_ros.simulation.scene.friction_moments import contact_has_moments
from rbd_ros.simulation.scene.scene_state import (
    CONIC,
    CONTACT,
    ContactState,
    Objects,
    SceneModel,
    SceneWork,
    SIGNORINI,
    STEADY,
    YIELDING,
)
from rbd_ros.simulation.scene.springs import (
    begin_spring,
    follow_spring,
    is_nonlinear,
    MAX_ROUNDS,
    ON_CURVE,
)

#: Number of contacts of an island above which sweeps over bodies cost less than a matrix.
MATRIX_FREE_THRESHOLD = 12


@compiled
def any_yields(contact_state: ContactState, work: SceneWork, n: int) -> bool:
    """Return whether a listed contact had a compliance in the last step.

    :param n: number of contacts
    """
    for a in range(n):
        if contact_state.steady[work.listed[a]] == YIELDING:
            return True
    return False


@compiled
def solve_matrix_free(
    model: SceneModel,
    objects: Objects,
    contact_state: ContactState,
    work: SceneWork,
    n: int,
    yields: bool,
    h: float,
) -> bool:
    """Solve for the impulses of the listed contacts, none of which is at the robot.

    :param n: number of contacts
    :param yields: whether no solution with rigid contacts is searched for
    :param h: time step [s]
    :return: whether they solve the problem to the tolerance
    """
    contacts = contact_state.contacts
    # First tangents of the springs, at the compressions of the previous impulses.
    if model.has_nonlinear_springs:
        for a in range(n):
            c = work.listed[a]
            if is_nonlinear(model, contacts, c):
                mobility = normal_mobility(contacts, work, model.first_object, c)
                begin_spring(model, contacts, c, h, mobility, contact_state.impulse[c, 0], work)
    soft = COMPLIANCE if yields and not model.has_nonlinear_springs else 0.0
    solved: bool = solve_island_contacts(model, objects, contact_state, work, n, soft, h)
    if model.has_nonlinear_springs:
        on_curves = follow_springs(model, contact_state, work, n, h)
        for _ in range(MAX_ROUNDS):
            if on_curves or not solved:
                break
            solved = solve_island_contacts(model, objects, contact_state, work, n, soft, h)
            on_curves = follow_springs(model, contact_state, work, n, h)
        solved = solved and on_curves
    find_residuals(work.body_space, contact_state.residuals)
    return solved


@compiled
def solve_island_contacts(
    model: SceneModel,
    objects: Objects,
    contact_state: ContactState,
    work: SceneWork,
    n: int,
    soft: float,
    h: float,
) -> bool:
    """Solve for the impulses of listed contacts, with warm start; return whether it converged.

    :param n: number of contacts
    :param soft: compliance of rigid contacts at first, see `soften`
    :param h: time step [s]
    """
    # One problem of all listed contacts: the solver keeps velocities of bodies instead of G
    # (Gauss-Seidel sweeps and nonlinear conjugate gradients, see friction_body_sweeps.py).
    space, contacts = work.body_space, contact_state.contacts
    enter_bodies(model, objects, contacts, work, n)
    space.sizes[CONTACTS] = n
    for a in range(n):
        c = work.listed[a]
        enter_contact(model, contacts, work, space, a, c, contact_state.impulse[c])
        if model.has_friction_moments:
            enter_moment(model, contacts, work, space, a, c, contact_state.moment[c])
        space.bias[a, 0] = normal_bias(model, contacts, c, h, work)
        space.compliance[a, 0] = contact_compliance(model, contacts, c, h, work)
    softest = 0.0 if model.has_nonlinear_springs else MOST
    solved: bool = solve_body_space(space, model.iterations, model.tolerance, soft, softest)
    # Once their forces stay the same, the next step tries rigid contacts again.
    calm: bool = space.report[ITERATIONS] == 0.0
    if space.report[YIELDED] == 0.0:
        calm = space.report[RESIDUAL] <= model.tolerance
    for a in range(n):
        c = work.listed[a]
        contact_state.steady[c] = STEADY if calm else YIELDING
        for r in range(3):
            contact_state.impulse[c, r] = space.force[a, r]
            if model.has_friction_moments:
                contact_state.moment[c, r] = space.moment[a, r]
    return solved


@compiled
def follow_springs(
    model: SceneModel, contact_state: ContactState, work: SceneWork, n: int, h: float
) -> bool:
    """Compute the next tangents of springs; return whether the last ones had converged.

    :param n: number of contacts
    :param h: time step [s]
    """
    space, contacts, on_curves = work.body_space, contact_state.contacts, True
    for a in range(n):
        c = work.listed[a]
        if is_nonlinear(model, contacts, c):
            mobility = normal_mobility(contacts, work, model.first_object, c)
            u = contact_velocity(space, a, 0) / space.scale[a, 0]
            beside = follow_spring(
                model, contacts, c, h, mobility, contact_state.impulse[c, 0], u, work
            )
            excused = model.tolerance * space.report[UNIT] / space.scale[a, 0]
            on_curves = on_curves and beside <= ON_CURVE * excused
    return on_curves


@compiled
def normal_mobility(contacts: SceneContacts, work: SceneWork, first_object: int, c: int) -> float:
    """Return the velocity per impulse along the normal of a contact of objects [1/kg].

    :param first_object: see `SceneModel`
    :param c: number of the contact
    """
    # Diagonal element of G for the normal: J M^-1 J^T, summed over both sides.
    mobility = 0.0
    for side in range(2):
        if contacts.body_id[c, side] >= first_object:
            jacobian, response = work.object_jacobian[c, side, 0], work.object_response[c, side, 0]
            for s in range(6):
                mobility += jacobian[s] * response[s]
    return mobility


@compiled
def solve_matrix_free_impacts(
    model: SceneModel, objects: Objects, contacts: SceneContacts, work: SceneWork, n: int
) -> bool:
    """Compute `impact_impulse` of listed contacts that rebound; return whether it is exact.

    :param n: number of contacts; `rebound` has their velocities after the impact
    """
    # Restitution enters as the bias of the normal velocity.
    space, nothing = work.body_space, stack_array(3)
    enter_bodies(model, objects, contacts, work, n)
    space.sizes[CONTACTS] = n
    for a in range(n):
        enter_contact(model, contacts, work, space, a, work.listed[a], nothing)
        if model.has_friction_moments:
            enter_moment(model, contacts, work, space, a, work.listed[a], nothing)
        space.bias[a, 0] = work.rebound[a]
    solved: bool = solve_body_space(space, model.iterations, model.tolerance, 0.0, MOST)
    for a in range(n):
        for r in range(3):
            work.impact_impulse[a, r] = space.force[a, r]
    if model.has_friction_moments:
        found = 0
        for a in range(n):
            # In the order of the contacts with moments.
            if contact_has_moments(model, contacts, work.listed[a]):
                for r in range(3):
                    work.friction_moments.impact[found, r] = space.moment[a, r]
                found += 1
    return solved


@compiled
def enter_moment(
    model: SceneModel,
    contacts: SceneContacts,
    work: SceneWork,
    space: BodySpace,
    a: int,
    c: int,
    moment: FloatArray,
) -> None:
    """Enter the moments of a contact and their start.

    :param a: its number in the problem
    :param c: its number among all contacts
    :param moment: that of the last step, (3,) [N m s]
    """
    surface = model.table.surface[surface_of(model.table, contacts.pair[c])]
    moments = work.friction_moments
    space.sizes[HAS_MOMENTS] = 1
    space.coefficient[a, 0] = surface[TORSIONAL]
    space.coefficient[a, 1] = space.coefficient[a, 2] = surface[ROLLING]
    for r in range(3):
        space.moment[a, r] = moment[r]
    if contact_has_moments(model, contacts, c):
        for side in range(2):
            for r in range(3):
                for s in range(6):
                    space.angular_jacobian[a, side, r, s] = moments.object_jacobian[c, side, r, s]
                    space.angular_effect[a, side, r, s] = moments.object_response[c, side, r, s]


@compiled
def enter_bodies(
    model: SceneModel, objects: Objects, contacts: SceneContacts, work: SceneWork, n: int
) -> None:
    """Enter the velocities of the objects at the listed contacts.

    :param n: number of contacts
    """
    space = work.body_space
    for a in range(n):
        for side in range(2):
            o = contacts.body_id[work.listed[a], side] - model.first_object
            if o >= 0:
                for r in range(3):
                    space.velocity[o, r] = work.angular_velocity[o, r]
                    space.velocity[o, 3 + r] = objects.velocity[o, r]


@compiled
def enter_contact(
    model: SceneModel,
    contacts: SceneContacts,
    work: SceneWork,
    space: BodySpace,
    a: int,
    c: int,
    impulse: FloatArray,
) -> None:
    """Enter a contact and its start.

    :param a: its number in the problem
    :param c: its number among all contacts
    :param impulse: that of the last step, (3,) [N s]
    """
    p = surface_of(model.table, contacts.pair[c])
    mu_1, mu_2 = model.table.surface[p, ALONG], model.table.surface[p, ACROSS]
    space.friction[a, 0], space.friction[a, 1] = mu_1, mu_2
    space.slip[a] = 0.0
    for side in range(2):
        o = contacts.body_id[c, side] - model.first_object
        # -1 is the world.
        space.body[a, side] = max(o, -1)
        if o >= 0:
            for r in range(3):
                for s in range(6):
                    space.jacobian[a, side, r, s] = work.object_jacobian[c, side, r, s]
                    space.effect[a, side, r, s] = work.object_response[c, side, r, s]
    # Scaled by the friction of each direction, the cone is circular: previous impulses inside it
    # stick, others are shortened to it.
    part = stack_array(2)
    for r in range(3):
        space.force[a, r] = impulse[r] if impulse[0] > 0.0 else 0.0
        space.bias[a, r] = space.compliance[a, r] = 0.0
    for r in range(2):
        part[r] = impulse[1 + r] / space.friction[a, r] if space.friction[a, r] > 0.0 else 0.0
    length = math.sqrt(part[0] * part[0] + part[1] * part[1])
    if impulse[0] <= 0.0:
        space.state[a] = OPEN
    elif length < impulse[0]:
        space.state[a] = STICK
    else:
        space.state[a] = SLIDE
        for r in range(2):
            space.force[a, 1 + r] = impulse[1 + r] * (impulse[0] / length) if length > 0.0 else 0.0


@compiled
def find_residuals(space: BodySpace, residuals: FloatArray) -> None:
    """Update the largest residuals of the contacts; see `Residuals`.

    :param residuals: those so far, (3,)
    """
    for a in range(space.sizes[CONTACTS]):
        x, u = load_vec(space.x[a], 3), velocity_of(space, a)
        # Power of the forces, and De Saxce's residual; see `find_residuals` of island.py.
        conic = x @ u
        slip = math.sqrt(u[1] * u[1] + u[2] * u[2])
        normal_power = abs(x[0] * u[0])
        if has_moments(space, a):
            turning = scaled_angular_velocity(space, a)
            conic += load_vec(space.y[a], 3) @ turning
            slip += abs(turning[0]) + math.sqrt(turning[1] * turning[1] + turning[2] * turning[2])
        residuals[SIGNORINI] = max(residuals[SIGNORINI], normal_power)
        residuals[CONIC] = max(residuals[CONIC], abs(conic))
        residuals[CONTACT] = max(residuals[CONTACT], abs(conic + x[0] * slip))
