# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Frictional contact among many bodies, without a matrix of all contacts.

A sweep solves one contact after another exactly and applies the change of its force to the
velocities of its two bodies, so its time is linear in the number of contacts. Between sweeps,
forces are extrapolated by a nonlinear conjugate gradient (Silcowitz, Niebe and Erleben 2010).
Sweeps pass loads from contact to contact, far too slowly in piles; so Newton's method solves all
contacts together now and then (friction_body_newton.py), with a compliance of contacts where it
fails without. If the bodies exceed its matrix, a linear conjugate gradient solves the sticking
contacts.
"""

from __future__ import annotations

import math

from rbd_ros.compiler.loops import compiled, entry_point, load_vec, Mat, Vec
from rbd_ros.constraints.friction_space import (
    clamp,
    contact_residual,
    IMMOVABLE,
    nearest_in_disc,
    OPEN,
    ROUGH,
    SLIDE,
    STICK,
)
from rbd_ros.constraints.solvers.body_matrix import order_bodies
from rbd_ros.constraints.solvers.friction_body_newton import newton_bodies
from rbd_ros.constraints.solvers.friction_body_space import (
    any_sticks,
    apply_force,
    apply_moment,
    body_moment_residual,
    BodySpace,
    contact_velocity,
    CONTACTS,
    find_free_velocities,
    HAS_MOMENTS,
    has_moments,
    ITERATIONS,
    keep_best,
    largest_residual,
    MEMBERS,
    prepare,
    product_of,
    renew,
    RESIDUAL,
    return_to_best,
    scaled_angular_velocity,
    soften,
    UNIT,
    velocity_of,
    YIELDED,
)
from rbd_ros.constraints.solvers.friction_moment_solver import solve_disc
from rbd_ros.constraints.solvers.friction_sweeps import solve_block

#: Number of sweeps before Newton's method or conjugate gradients, doubled each time; the first
#: number if any contact stuck before; maximum number of conjugate gradient steps.
FEW_SWEEPS, WARM_SWEEPS, MAX_GRADIENT_STEPS = 20, 1, 500

#: Maximum number of Newton steps of an attempt, and where more compliance is allowed.
MAX_STEPS, FEW_STEPS = 150, 20

#: Compliance of rigid contacts where the solver fails without, its factor where the solver fails
#: with less, and its maximum; see `soften`.
COMPLIANCE, SOFTER, MOST = 5e-3, 10.0, 0.1


@compiled
def solve_body_space(
    space: BodySpace, limit: int, tolerance: float, soft: float, softest: float
) -> bool:
    """Solve from the present forces; return whether the result is accurate enough.

    :param limit: maximum number of sweeps and Newton steps together
    :param tolerance: velocity error of a solution relative to the largest velocity without forces
    :param soft: compliance of rigid contacts at first, see `soften`
    :param softest: maximum compliance, where the solver fails with less
    """
    report, x, direction = space.report, space.x, space.search_direction
    contacts = space.sizes[CONTACTS]
    prepare(space)
    renew(space)
    soften(space, soft)
    # In units of velocity [m/s], since `prepare` scales forces and Jacobians but not velocities.
    enough = good = tolerance * report[UNIT]
    if softest > 0.0:
        good = max(enough, ROUGH * report[UNIT])
    if soft > 0.0:
        enough = good
    report[ITERATIONS] = 0.0
    worst = largest_residual(space)
    solved: bool = worst <= enough
    last, attempt = math.inf, FEW_SWEEPS
    # Once per step: the graph of contacts does not depend on their states.
    sparse = not solved and order_bodies(
        space.matrix, space.sizes[MEMBERS], space.body, space.place, contacts
    )
    if any_sticks(space):
        # Warm start: most sticking contacts stick again.
        attempt = WARM_SWEEPS
    for k in range(limit):
        if solved or report[ITERATIONS] >= limit:
            break
        change = 0.0
        for c in range(contacts):
            # The change by a sweep replaces the gradient of a nonlinear conjugate gradient: NNCG
            # of Silcowitz, Niebe and Erleben (2010), algorithm 2.
            space.previous[c] = load_vec(x[c], 3)
        worst = 0.0
        for c in range(contacts):
            worst = max(worst, sweep_one(space, c))
            if has_moments(space, c):
                worst = max(worst, sweep_body_moments(space, c))
        report[ITERATIONS] += 1.0
        # A sweep measures residuals before each contact is solved, with drifted velocities, so
        # they are recomputed from the forces before the search ends.
        if worst <= enough:
            renew(space)
            worst = largest_residual(space)
            solved = worst <= enough
            continue
        if k + 1 == attempt:
            # Twice as many sweeps each time: failing attempts become rare.
            attempt = 2 * attempt if attempt >= FEW_SWEEPS else FEW_SWEEPS
            # The next sweep restarts the conjugate gradient.
            last = math.inf
            if sparse:
                steps = FEW_STEPS if soft < softest else MAX_STEPS
                worst = newton_bodies(space, enough, iterations_left(space, steps, limit))
                if worst > enough and softest > 0.0:
                    if worst <= good or soft >= softest:
                        break
                    softer = max(SOFTER * soft, COMPLIANCE)
                    soften(space, softer - soft)
                    soft, enough, attempt = softer, good, k + 2
            else:
                worst = finish(space, enough)
            solved = worst <= enough
            continue
        for c in range(contacts):
            part = load_vec(x[c], 3) - load_vec(space.previous[c], 3)
            change += part @ part
        # Fletcher and Reeves: beta = |g_k|^2 / |g_(k-1)|^2. A growing gradient restarts it with
        # beta = 0.
        go_on = change / last if change < last else 0.0
        last = change
        for c in range(contacts):
            force, further = load_vec(x[c], 3), go_on * load_vec(direction[c], 3)
            direction[c] = further + (force - load_vec(space.previous[c], 3))
            # Only beta d is applied: the sweep was the step along the gradient.
            if go_on > 0.0:
                apply_force(space, c, further)
                x[c] = force + further
    # At the limit, the reported residual belongs to the returned forces.
    if not solved:
        renew(space)
        worst = largest_residual(space)
        solved = worst <= good
    report[RESIDUAL], report[YIELDED] = worst / report[UNIT], soft
    # Energy must never grow, neither by forces that are not exact nor by the compliance, which
    # returns what it took before.
    if soft > 0.0 or (softest > 0.0 and worst > enough):
        soften(space, -soft)
        remove_energy(space, 2.0 if solved else 1.0)
    for c in range(contacts):
        for r in range(3):
            space.force[c, r] = space.scale[c, r] * x[c, r]
            if space.sizes[HAS_MOMENTS] > 0:
                space.moment[c, r] = space.moment_scale[c, r] * space.y[c, r]
    return solved


@compiled
def iterations_left(space: BodySpace, requested: int, limit: int) -> int:
    """Return how many of the requested iterations are left; see `solve_body_space`."""
    return min(requested, limit - int(space.report[ITERATIONS]))


@compiled
def remove_energy(space: BodySpace, share: float) -> None:
    """Scale forces whose work on the bodies exceeds a share of its minimum along them.

    See `energy_line_search` of friction_space.py.

    :param share: 1 to leave as little energy as possible, 2 to leave what there was
    """
    x, contacts, before, after = space.x, space.sizes[CONTACTS], 0.0, 0.0
    for c in range(contacts):
        after += load_vec(x[c], 3) @ velocity_of(space, c)
        if has_moments(space, c):
            after += load_vec(space.y[c], 3) @ scaled_angular_velocity(space, c)
    if not after > 0.0:
        return
    find_free_velocities(space)
    for c in range(contacts):
        before += load_vec(x[c], 3) @ load_vec(space.free_image[c], 3)
        if has_moments(space, c):
            before += load_vec(space.y[c], 3) @ scaled_angular_velocity(space, c)
    # Forces s x do the work s before + s^2 (after - before) / 2.
    part = -share * before / (after - before) if before < 0.0 else 0.0
    if part >= 1.0:
        renew(space)
        return
    for c in range(contacts):
        x[c] = part * load_vec(x[c], 3)
        if has_moments(space, c):
            space.y[c] = part * load_vec(space.y[c], 3)
    renew(space)


@compiled
def finish(space: BodySpace, enough: float) -> float:
    """Solve all sticking contacts together by conjugate gradients; return the residual.

    All other forces are fixed. The forces stay if they were better.
    """
    x, rest, direction = space.x, space.previous, space.search_direction
    contacts = space.sizes[CONTACTS]
    renew(space)
    worst = largest_residual(space)
    keep_best(space)
    square = 0.0
    for c in range(contacts):
        for r in range(3):
            # The unknowns are the forces of sticking contacts. Their problem A_ss x_s =
            # -(b_s + A_sr x_r) is linear, symmetric and semidefinite: conjugate gradients
            # (Hestenes and Stiefel 1952).
            rest[c, r] = 0.0
            if space.state[c] == STICK and space.block[c, r, r] > IMMOVABLE:
                rest[c, r] = -contact_velocity(space, c, r)
            direction[c, r] = rest[c, r]
            square += rest[c, r] * rest[c, r]
    for _ in range(min(6 * contacts, MAX_GRADIENT_STEPS)):
        if square <= 0.01 * enough * enough:
            break
        for i in range(space.sizes[MEMBERS]):
            # The velocities serve as buffer: with forces along the direction alone they are E^T d,
            # and J E^T d = A d needs no matrix. `renew` restores them.
            space.velocity[space.member[i]] = Vec(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        for c in range(contacts):
            apply_force(space, c, load_vec(direction[c], 3))
        curvature = 0.0
        for c in range(contacts):
            if space.state[c] == STICK:
                for r in range(3):
                    if space.block[c, r, r] > IMMOVABLE:
                        space.image[c, r] = response(space, c, r)
                        curvature += direction[c, r] * space.image[c, r]
        # No effect, or NaN: redundant contacts may balance each other.
        if not curvature > 0.0:
            break
        # alpha = r . r / d . A d, then r -= alpha A d, and d = r + (r . r / before) d.
        length, before, square = square / curvature, square, 0.0
        for c in range(contacts):
            if space.state[c] == STICK:
                for r in range(3):
                    if space.block[c, r, r] > IMMOVABLE:
                        x[c, r] += length * direction[c, r]
                        rest[c, r] -= length * space.image[c, r]
                        square += rest[c, r] * rest[c, r]
        for c in range(contacts):
            direction[c] = load_vec(rest[c], 3) + square / before * load_vec(direction[c], 3)
    renew(space)
    found: float = largest_residual(space)
    # Forces may be outside their cones: sticking was an assumption.
    if not found < worst:
        return_to_best(space)
        found = worst
    for c in range(contacts):
        direction[c] = Vec(0.0, 0.0, 0.0)
    return found


@compiled
def response(space: BodySpace, c: int, r: int) -> float:
    """Return the scaled velocity of a contact that forces along `search_direction` cause."""
    scale = space.scale[c, r]
    total: float = space.compliance[c, r] * scale * scale * space.search_direction[c, r]
    for side in range(2):
        b = space.body[c, side]
        if b >= 0:
            total += product_of(space.jacobian[c, side, r], space.velocity[b])
    return total


@compiled
def sweep_one(space: BodySpace, c: int) -> float:
    """Solve one contact with all others fixed; return its previous residual."""
    x, b = load_vec(space.x[c], 3), space.block[c]
    if space.friction[c, 0] == 0.0 and space.friction[c, 1] == 0.0:
        u = contact_velocity(space, c, 0)
        before: float = abs(u) if u <= x[0] else abs(x[0])
        # Both bodies are fixed along the normal: no force changes its velocity.
        if b[0, 0] <= IMMOVABLE:
            return before
        # Without friction one row remains, and Signorini's condition is solved by projection.
        new = Vec(max(x[0] - u / b[0, 0], 0.0), 0.0, 0.0)
        space.state[c] = STICK if new[0] > 0.0 else OPEN
    else:
        q = velocity_of(space, c)
        before = contact_residual(x, q)
        block = Mat(load_vec(b[0], 3), load_vec(b[1], 3), load_vec(b[2], 3))
        # The velocity without the contact's own force.
        space.state[c], new = solve_block(block, q - block @ x, space.slip, c)
    space.x[c] = new
    apply_force(space, c, new - x)
    return before


@compiled
def sweep_body_moments(space: BodySpace, c: int) -> float:
    """Solve the moments of one contact with all else fixed; return their residual."""
    y, block, bound = space.y[c], space.moment_block[c], max(space.x[c, 0], 0.0)
    before: float = body_moment_residual(space, c)
    u = scaled_angular_velocity(space, c)
    # Torsion first, then rolling with the updated velocities (Gauss-Seidel).
    if block[0, 0] > IMMOVABLE:
        change = clamp(y[0] - u[0] / block[0, 0], -bound, bound) - y[0]
        y[0] += change
        apply_moment(space, c, Vec(change, 0.0, 0.0))
        u = scaled_angular_velocity(space, c)
    if block[1, 1] > IMMOVABLE and block[2, 2] > IMMOVABLE:
        p = u[1] - block[1, 1] * y[1] - block[1, 2] * y[2]
        p_1 = u[2] - block[2, 1] * y[1] - block[2, 2] * y[2]
        y_1, y_2 = y[1], y[2]
        if not bound > 0.0:
            y[1] = y[2] = 0.0
        elif solve_disc(block[1, 1], block[1, 2], block[2, 2], p, p_1, bound, y, 1) == SLIDE:
            # Exactly onto the bound: `solve_disc` stops at rounding.
            y[1], y[2] = nearest_in_disc(y[1], y[2], bound)
        apply_moment(space, c, Vec(0.0, y[1] - y_1, y[2] - y_2))
    return before


@entry_point
def solve_bodies(space: BodySpace, limit: int, tolerance: float) -> int:
    """Return `solve_body_space`, as Python calls it."""
    return 1 if solve_body_space(space, limit, tolerance, 0.0, 0.0) else 0
