# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Contacts among many bodies in compiled loops, and the solver's buffers.

With D = diag(1, mu_1, mu_2) d of each contact, d such that the largest element of its own block is
one, x = D^-1 lambda and u = D v: each cone is the Lorentz cone, as in friction_space.py.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from rbd_ros.compiler.loops import compiled, floats, integers, load_vec, stack_array, Vec, Vec3
from rbd_ros.constraints.friction_space import (
    ALONE,
    AT_REST,
    contact_residual,
    FIRST,
    FloatArray,
    IntArray,
    moment_residual,
    STICK,
)
from rbd_ros.constraints.solvers.body_matrix import BodyMatrix

#: Indices into `sizes`: number of contacts, 1 if contacts have moments, number of bodies in
#: contact.
CONTACTS, HAS_MOMENTS, MEMBERS = 0, 1, 2

#: Indices into `report`: the residual relative to the largest velocity without forces, that
#: velocity, the number of sweeps and Newton steps, the present compliance of rigid contacts, see
#: `soften`, that of the result, and the least mobility of a body.
RESIDUAL, UNIT, ITERATIONS, SOFT, YIELDED, LEAST = 0, 1, 2, 3, 4, 5

#: Body that is the world.
WORLD = -1


class BodySpace(NamedTuple):
    """Buffers for up to B bodies that touch each other and the world at up to C contacts.

    K is C, or zero without moments of torsional and rolling friction.

    :param sizes: see above
    :param velocity: velocity of each body: without contact forces before, with them afterwards
    :param body: numbers of both bodies of each contact, or WORLD
    :param jacobian: velocity of the contact, normal first, per velocity of each of its bodies;
        scaled in a solution
    :param effect: change of the velocity of each of its bodies per force; scaled in a solution
    :param bias: velocity of each contact besides that of its bodies: moving ground, restitution
    :param compliance: velocity per force of each compliant contact
    :param friction: coefficients along both tangents
    :param force: forces of each contact: the start, then the result
    :param state: OPEN, STICK or SLIDE of each contact
    :param rigid: 1 for contacts without a compliance of their own
    :param slip: sliding velocity per friction force of each contact, for the next sweep
    :param report: residual and other figures, see above
    :param scale: unit D of each force
    :param x: scaled forces
    :param block: scaled velocity of each contact per own scaled force
    :param member: the bodies in contact
    :param place: number of each body among them; -1 for bodies without contact
    :param free: velocity of each body without contact forces
    :param previous: scaled forces before a sweep
    :param search_direction: direction of the conjugate gradient
    :param image: change of the scaled velocities by `search_direction`; in Newton's method, the
        scaled velocities
    :param stiffness: change of the scaled forces of each contact per velocity, negated
    :param angular_jacobian: angular velocity of each contact, about the normal first, per
        velocity of each of its bodies; scaled in a solution
    :param angular_effect: change of the velocity of each of its bodies per moment; likewise
    :param coefficient: maximum moment per normal force: about the normal, about either tangent
    :param moment: moments of each contact: the start, then the result
    :param moment_block: scaled angular velocity of each contact per own scaled moment
    :param moment_scale: unit of each moment
    :param y: scaled moments
    :param start_moment: those of the start
    :param change: change of the unknown of each force by a Newton step
    :param right: residuals of the equations of each force
    :param free_image: scaled velocity of each contact without contact forces
    :param best: the best scaled forces so far
    :param w: unknown of each force, see friction_body_newton.py
    :param moment_w: unknown of each moment
    :param moment_change: change of these by a Newton step
    :param moment_right: residuals of their equations
    :param moment_stiffness: change of the moments of each contact per angular velocity
    :param moment_by_force: change of the moments per residual of the equations of the force
    :param best_moment: the best scaled moments so far
    :param matrix: matrix of the bodies with these stiffnesses
    """

    sizes: IntArray = integers(3)
    velocity: FloatArray = floats('B', 6)
    body: IntArray = integers('C', 2)
    jacobian: FloatArray = floats('C', 2, 3, 6)
    effect: FloatArray = floats('C', 2, 3, 6)
    bias: FloatArray = floats('C', 3)
    compliance: FloatArray = floats('C', 3)
    friction: FloatArray = floats('C', 2)
    force: FloatArray = floats('C', 3)
    state: IntArray = integers('C')
    rigid: IntArray = integers('C')
    slip: FloatArray = floats('C')
    report: FloatArray = floats(6)
    scale: FloatArray = floats('C', 3)
    x: FloatArray = floats('C', 3)
    block: FloatArray = floats('C', 3, 3)
    member: IntArray = integers('B')
    place: IntArray = integers('B')
    free: FloatArray = floats('B', 6)
    previous: FloatArray = floats('C', 3)
    search_direction: FloatArray = floats('C', 3)
    image: FloatArray = floats('C', 3)
    stiffness: FloatArray = floats('C', 3, 3)
    angular_jacobian: FloatArray = floats('K', 2, 3, 6)
    angular_effect: FloatArray = floats('K', 2, 3, 6)
    coefficient: FloatArray = floats('K', 3)
    moment: FloatArray = floats('K', 3)
    moment_block: FloatArray = floats('K', 3, 3)
    moment_scale: FloatArray = floats('K', 3)
    y: FloatArray = floats('K', 3)
    start_moment: FloatArray = floats('K', 3)
    change: FloatArray = floats('C', 3)
    right: FloatArray = floats('C', 3)
    free_image: FloatArray = floats('C', 3)
    best: FloatArray = floats('C', 3)
    w: FloatArray = floats('C', 3)
    moment_w: FloatArray = floats('K', 3)
    moment_change: FloatArray = floats('K', 3)
    moment_right: FloatArray = floats('K', 3)
    moment_stiffness: FloatArray = floats('K', 3, 3)
    moment_by_force: FloatArray = floats('K', 3, 3)
    best_moment: FloatArray = floats('K', 3)
    matrix: BodyMatrix = BodyMatrix  # type: ignore[assignment]


@compiled
def any_sticks(space: BodySpace) -> bool:
    """Return whether any contact sticks."""
    for c in range(space.sizes[CONTACTS]):
        if space.state[c] == STICK:
            return True
    return False


@compiled
def prepare(space: BodySpace) -> None:
    """Scale all contacts, and compute the effects of their forces."""
    J, effect, block = space.jacobian, space.effect, space.block
    list_members(space)
    for i in range(space.sizes[MEMBERS]):
        b = space.member[i]
        # `renew` starts from these: over many sweeps, accumulated changes drift by rounding.
        space.free[b] = load_vec(space.velocity[b], 6)
    unit, least = 0.0, math.inf
    space.report[SOFT] = 0.0
    for c in range(space.sizes[CONTACTS]):
        space.rigid[c] = 1 if space.compliance[c, 0] == 0.0 else 0
        for r in range(3):
            for s in range(3):
                block[c, r, s] = 0.0
            # The contact's own block of the Delassus matrix J H^-1 J^T + R, over both of its
            # bodies. Blocks between contacts are never formed: bodies' velocities couple contacts.
            block[c, r, r] = space.compliance[c, r]
        for side in range(2):
            if space.body[c, side] >= 0:
                add_gram(J[c, side], effect[c, side], block[c])
                mobility = product_of(J[c, side, 0], effect[c, side, 0])
                if mobility > 0.0:
                    least = min(least, mobility)
        mu_1, mu_2 = space.friction[c, 0], space.friction[c, 1]
        # One unit for all three directions, so that the cone stays a cone.
        size = max(block[c, 0, 0], mu_1 * mu_1 * block[c, 1, 1], mu_2 * mu_2 * block[c, 2, 2])
        if space.sizes[HAS_MOMENTS] > 0:
            size = max(size, prepare_moments(space, c))
        d = 1.0 / math.sqrt(size) if size > 0.0 else 1.0
        if space.sizes[HAS_MOMENTS] > 0:
            unit = max(unit, scale_moments(space, c, d))
        scale = space.scale[c]
        # J and E are scaled in place, so sweeps need no units: u = J v and dv = E x.
        scale[0], scale[1], scale[2] = d, d * mu_1, d * mu_2
        for r in range(3):
            free = scale[r] * space.bias[c, r]
            for s in range(3):
                block[c, r, s] *= scale[r] * scale[s]
            for side in range(2):
                b = space.body[c, side]
                if b >= 0:
                    for k in range(6):
                        J[c, side, r, k] *= scale[r]
                        effect[c, side, r, k] *= scale[r]
                        free += J[c, side, r, k] * space.velocity[b, k]
            unit = max(unit, abs(free))
            space.x[c, r] = space.force[c, r] / scale[r] if scale[r] > 0.0 else 0.0
            space.search_direction[c, r] = 0.0
    # Unlike in friction_space.py, velocities are not divided by it: the tolerance is multiplied.
    space.report[UNIT] = unit if unit > AT_REST else 1.0
    space.report[LEAST] = least if least < math.inf else 0.0


@compiled
def soften(space: BodySpace, compliance: float) -> None:
    """Let rigid contacts yield to changes of their forces and moments.

    Redundant contacts share a load in many ways, and rounding errors of gaps decide which of them
    open. With a compliance there is one way only, which the next step finds again, and it depends
    smoothly on the gaps. Forces that stay the same from step to step are those of rigid contacts.

    Each contact yields alike, since any may carry the heaviest body.

    :param compliance: velocity per change of a force from the start, as a fraction of the mobility
        of that body, added to the present one
    """
    added = compliance * space.report[LEAST]
    space.report[SOFT] += added
    for c in range(space.sizes[CONTACTS]):
        own = added * space.scale[c, 0] * space.scale[c, 0]
        if space.rigid[c] == 1:
            for r in range(3):
                scale = space.scale[c, r]
                if scale > 0.0:
                    R = own / (scale * scale)
                    space.compliance[c, r] += R
                    space.bias[c, r] -= R * space.force[c, r]
                    space.block[c, r, r] += own
        if has_moments(space, c):
            for r in range(3):
                space.moment_block[c, r, r] += own


@compiled
def moment_compliance(space: BodySpace, c: int) -> float:
    """Return the present scaled compliance of the moments of a contact."""
    soft: float = space.report[SOFT] * space.scale[c, 0] * space.scale[c, 0]
    return soft


@compiled
def list_members(space: BodySpace) -> None:
    """List the bodies that have contacts."""
    members = 0
    for c in range(space.sizes[CONTACTS]):
        for side in range(2):
            if space.body[c, side] >= 0:
                space.place[space.body[c, side]] = -1
    for c in range(space.sizes[CONTACTS]):
        for side in range(2):
            b = space.body[c, side]
            if b >= 0:
                # In the order of contacts. Bodies without contacts cost nothing in sweeps and
                # matrices.
                if space.place[b] < 0:
                    space.place[b], space.member[members] = members, b
                    members += 1
    space.sizes[MEMBERS] = members


@compiled
def product_of(row: FloatArray, v: FloatArray) -> float:
    """Return the product of a row of a Jacobian with a spatial velocity, (6,) each."""
    # Two sums of three have shorter dependency chains, and the same order wherever six elements
    # are multiplied.
    return load_vec(row, 3) @ load_vec(v, 3) + load_vec(row, 3, 3) @ load_vec(v, 3, 3)


@compiled
def add_gram(J: FloatArray, E: FloatArray, block: FloatArray) -> None:
    """Add J E^T to a block of three rows.

    :param J: (3, 6)
    :param E: (3, 6)
    :param block: (3, 3)
    """
    for r in range(3):
        for s in range(3):
            block[r, s] += product_of(J[r], E[s])


@compiled
def renew(space: BodySpace) -> None:
    """Recompute the velocities from the forces, without accumulated rounding errors."""
    for i in range(space.sizes[MEMBERS]):
        b = space.member[i]
        # v = v_free + sum of E^T x: each change of a force preserves this up to rounding.
        space.velocity[b] = load_vec(space.free[b], 6)
    for c in range(space.sizes[CONTACTS]):
        apply_force(space, c, load_vec(space.x[c], 3))
        if has_moments(space, c):
            apply_moment(space, c, load_vec(space.y[c], 3))


@compiled
def apply_force(space: BodySpace, c: int, change: Vec3) -> None:
    """Add the effect of a scaled change of a contact's force to the velocities of its bodies."""
    f, f_1, f_2 = change
    # Contacts that stay open cost no pass over their bodies.
    if f == 0.0 and f_1 == 0.0 and f_2 == 0.0:
        return
    for side in range(2):
        b = space.body[c, side]
        if b >= 0:
            effect, v = space.effect[c, side], space.velocity[b]
            for k in range(6):
                v[k] += f * effect[0, k] + f_1 * effect[1, k] + f_2 * effect[2, k]


@compiled
def contact_velocity(space: BodySpace, c: int, r: int) -> float:
    """Return the scaled velocity of a contact along one axis, compliance included."""
    # D (bias + R lambda), lambda = D x: compliance couples a contact with itself only, so it is
    # not in J.
    total: float = space.bias[c, r] + space.compliance[c, r] * space.scale[c, r] * space.x[c, r]
    total *= space.scale[c, r]
    for side in range(2):
        b = space.body[c, side]
        if b >= 0:
            total += product_of(space.jacobian[c, side, r], space.velocity[b])
    return total


@compiled
def velocity_of(space: BodySpace, c: int) -> Vec3:
    """Return the scaled velocity of a contact, compliance included."""
    return Vec(
        contact_velocity(space, c, 0), contact_velocity(space, c, 1), contact_velocity(space, c, 2)
    )


@compiled
def residual_of(space: BodySpace, c: int, u: Vec3) -> float:
    """Return the residual of a contact at the present velocities.

    :param u: its scaled velocity
    """
    found: float = contact_residual(load_vec(space.x[c], 3), u)
    if has_moments(space, c):
        found = max(found, body_moment_residual(space, c))
    return found


@compiled
def largest_residual(space: BodySpace) -> float:
    """Return the largest residual of all contacts at the present velocities."""
    worst = 0.0
    for c in range(space.sizes[CONTACTS]):
        each = residual_of(space, c, velocity_of(space, c))
        # NaN is larger than any residual.
        if not each <= worst:
            worst = each
    return worst


@compiled
def find_free_velocities(space: BodySpace) -> None:
    """Compute the scaled velocities `free_image` of all contacts without contact forces.

    Afterwards the velocities of the bodies are those without forces.
    """
    for i in range(space.sizes[MEMBERS]):
        b = space.member[i]
        space.velocity[b] = load_vec(space.free[b], 6)
    for c in range(space.sizes[CONTACTS]):
        u, x = velocity_of(space, c), space.x[c]
        for r in range(3):
            own = space.compliance[c, r] * space.scale[c, r] * space.scale[c, r] * x[r]
            space.free_image[c, r] = u[r] - own


@compiled
def keep_best(space: BodySpace) -> None:
    """Keep the forces as the best ones so far."""
    for c in range(space.sizes[CONTACTS]):
        space.best[c] = load_vec(space.x[c], 3)
        if has_moments(space, c):
            space.best_moment[c] = load_vec(space.y[c], 3)


@compiled
def return_to_best(space: BodySpace) -> None:
    """Restore the best forces so far, with their velocities."""
    for c in range(space.sizes[CONTACTS]):
        space.x[c] = load_vec(space.best[c], 3)
        if has_moments(space, c):
            space.y[c] = load_vec(space.best_moment[c], 3)
    renew(space)


@compiled
def has_moments(space: BodySpace, c: int) -> bool:
    """Return whether a contact has torsional or rolling friction."""
    if space.sizes[HAS_MOMENTS] == 0:
        return False
    resists: bool = space.coefficient[c, 0] > 0.0 or space.coefficient[c, 1] > 0.0
    return resists


@compiled
def prepare_moments(space: BodySpace, c: int) -> float:
    """Compute the effect of the moments of a contact; return the largest by a normal force."""
    J, effect, block = space.angular_jacobian[c], space.angular_effect[c], space.moment_block[c]
    size = 0.0
    for r in range(3):
        for s in range(3):
            block[r, s] = 0.0
    if not has_moments(space, c):
        return size
    for side in range(2):
        if space.body[c, side] >= 0:
            add_gram(J[side], effect[side], block)
    for r in range(3):
        by = space.coefficient[c, r]
        size = max(size, by * by * block[r, r])
    return size


@compiled
def scale_moments(space: BodySpace, c: int, d: float) -> float:
    """Scale the moments of a contact; return their largest scaled velocity without forces.

    :param d: unit of the contact's normal force
    """
    scale, block, unit = space.moment_scale[c], space.moment_block[c], 0.0
    for r in range(3):
        # Unit of a moment: that of its contact's normal force times the coefficient, so that its
        # cone is |y| <= x_n.
        scale[r] = d * space.coefficient[c, r]
    for r in range(3):
        free = 0.0
        for s in range(3):
            block[r, s] *= scale[r] * scale[s]
        if has_moments(space, c):
            for side in range(2):
                b = space.body[c, side]
                if b >= 0:
                    J = space.angular_jacobian[c, side, r]
                    effect = space.angular_effect[c, side, r]
                    for k in range(6):
                        J[k] *= scale[r]
                        effect[k] *= scale[r]
                        free += J[k] * space.velocity[b, k]
        unit = max(unit, abs(free))
        # Without a coefficient there is no moment, for any start.
        space.y[c, r] = space.moment[c, r] / scale[r] if scale[r] > 0.0 else 0.0
        space.start_moment[c, r] = space.y[c, r]
    return unit


@compiled
def apply_moment(space: BodySpace, c: int, change: Vec3) -> None:
    """Add the effect of a scaled change of a contact's moments to the velocities of its bodies."""
    for side in range(2):
        b = space.body[c, side]
        if b >= 0:
            effect, v = space.angular_effect[c, side], space.velocity[b]
            for k in range(6):
                for r in range(3):
                    v[k] += change[r] * effect[r, k]


@compiled
def scaled_angular_velocity(space: BodySpace, c: int) -> Vec3:
    """Return the scaled angular velocity of a contact, compliance included."""
    change = load_vec(space.y[c], 3) - load_vec(space.start_moment[c], 3)
    soft = moment_compliance(space, c)
    u = Vec(soft * change[0], soft * change[1], soft * change[2])
    for side in range(2):
        b = space.body[c, side]
        if b >= 0:
            J, v = space.angular_jacobian[c, side], space.velocity[b]
            u += Vec(product_of(J[0], v), product_of(J[1], v), product_of(J[2], v))
    return u


@compiled
def body_moment_residual(space: BodySpace, c: int) -> float:
    """Return the residual of the moments of a contact at the present velocities."""
    u, bound = stack_array(3), max(space.x[c, 0], 0.0)
    u[0:3] = scaled_angular_velocity(space, c)
    alone = moment_residual(space.y[c], u, 0, ALONE, bound)
    worst: float = max(alone, moment_residual(space.y[c], u, 1, FIRST, bound))
    return worst
