# SPDX-License-Identifier: Apache-2.0
"""Friction among many bodies by ADMM with Anderson acceleration: one matrix for all iterations.

Forces x and their copies y in the cones take turns (Boyd, Parikh, Chu, Peleato and Eckstein 2011,
3.1.1): x minimizes the energy with a penalty on x - y, y is a projection, and De Saxce's shift of
the normal velocity by the sliding speed follows (Carpentier, Le Lidec and Montaut 2024). With the
penalty t, the copies and multipliers are one unknown w of each contact:

    y = P(w),  s = t |w - y|_tangential,  (A + t) x = t (2 y - w) - b - s n,  w := x + w - y

The matrix changes with the penalty alone, and is that of the bodies (`solve_contacts`). What
sticks, slides or opens is found on the way: no state is guessed. The iteration converges from any
start, but linearly; Anderson's method (type II; Walker and Ni 2011; for splittings Fu, Zhang and
Boyd 2020) takes the best combination of the last iterations instead of the last one.
"""

from __future__ import annotations

import math

from rbd_ros.compiler.loops import compiled, load_vec, Vec, Vec3
from rbd_ros.constraints.friction_space import IMMOVABLE, OPEN, SLIDE, STICK
from rbd_ros.constraints.solvers.friction_body_newton import (
    factorize_contacts,
    find_velocities,
    solve_contacts,
)
from rbd_ros.constraints.solvers.friction_body_space import (
    BodySpace,
    CONTACTS,
    find_free_velocities,
    keep_best,
    MEMORY,
    renew,
    return_to_best,
)

#: Penalty at first, of blocks whose largest element is one; the factor to the next one where it
#: makes no progress, down to which, and the one after that.
PENALTY, FACTOR, LOWEST, HIGHEST = 0.3, 0.2, 0.02, 1.5

#: Maximum number of iterations, the number between two residuals, and without half the residual
#: until another penalty is tried.
ADMM_LIMIT, CHECK, STALLED = 400, 10, 60

#: Growth of the change of an iteration at which the acceleration begins again; regularization of
#: its normal equations, as part of their trace.
TOO_FAR, REGULARIZATION = 10.0, 1e-10


@compiled
def admm_bodies(space: BodySpace, enough: float) -> float:
    """Iterate from the forces as they are; return the residual, with forces and states in place.

    Moments stay as they are. Forces are left as they were if they were better.

    :param enough: residual of a solution
    """
    contacts, x, w = space.sizes[CONTACTS], space.x, space.w
    renew(space)
    best, penalty = find_velocities(space), PENALTY
    keep_best(space)
    for c in range(contacts):
        # The start as a fixed point: y = x, and the multipliers are the shifted velocities.
        u, force = load_vec(space.image[c], 3), load_vec(x[c], 3)
        w[c] = force - Vec(u[0] + slip(u), u[1], u[2]) / penalty
    find_free_velocities(space)
    penalize(space, penalty)
    kept, closest, goal, since = 0, math.inf, 0.5 * best, 0
    for k in range(ADMM_LIMIT):
        change = iterate(space, penalty)
        if (k + 1) % CHECK == 0:
            # Of y, which is within the cones.
            renew(space)
            now = find_velocities(space)
            if now < best:
                best = now
                keep_best(space)
            if best <= enough or not now < math.inf:
                break
            since += CHECK
            if best < goal:
                goal, since = 0.5 * best, 0
            elif since >= STALLED:
                # The same point for another penalty: multipliers are velocities, divided by it.
                before, goal, since = penalty, 0.5 * best, 0
                penalty = FACTOR * penalty if penalty > LOWEST else HIGHEST
                for c in range(contacts):
                    y = load_vec(x[c], 3)
                    w[c] = y + before / penalty * (load_vec(space.next_w[c], 3) - y)
                penalize(space, penalty)
                kept, closest = 0, math.inf
                continue
        if change > TOO_FAR * closest:
            # The combination led away: on from the best iteration, without memory.
            kept, closest = 0, math.inf
            for c in range(contacts):
                w[c] = load_vec(space.best_w[c], 3)
            continue
        if change < closest:
            closest = change
            for c in range(contacts):
                space.best_w[c] = load_vec(space.next_w[c], 3)
        accelerate(space, kept)
        kept += 1
    return_to_best(space)
    for c in range(contacts):
        find_state(space, c)
    found: float = best
    return found


@compiled
def slip(u: Vec3) -> float:
    """Return the length of the tangential part of a vector."""
    return math.sqrt(u[1] * u[1] + u[2] * u[2])


@compiled
def penalize(space: BodySpace, penalty: float) -> None:
    """Factorize the matrix of the bodies of whose contacts each has the penalty as compliance."""
    for c in range(space.sizes[CONTACTS]):
        K, scale = space.stiffness[c], space.scale[c]
        for r in range(3):
            K[r] = Vec(0.0, 0.0, 0.0)
            # Where no force moves anything, none is found.
            if space.block[c, 0, 0] > IMMOVABLE:
                K[r, r] = 1.0 / (penalty + scale[r] * scale[r] * space.compliance[c, r])
    factorize_contacts(space)


@compiled
def iterate(space: BodySpace, penalty: float) -> float:
    """Find `next_w` of w, and forces x = P(w); return the square of the change."""
    contacts, change = space.sizes[CONTACTS], 0.0
    for c in range(contacts):
        w = load_vec(space.w[c], 3)
        y = projected(w)
        right = penalty * (2.0 * y - w) - load_vec(space.free_image[c], 3)
        space.x[c] = y
        space.right[c] = right - Vec(penalty * slip(w - y), 0.0, 0.0)
    solve_contacts(space, space.next_w)
    for c in range(contacts):
        part = load_vec(space.next_w[c], 3) - load_vec(space.x[c], 3)
        space.next_w[c] = load_vec(space.w[c], 3) + part
        change += part @ part
    return change


@compiled
def projected(w: Vec3) -> Vec3:
    """Return the point of the Lorentz cone that is closest to w."""
    length = slip(w)
    if length <= w[0]:
        return w
    if length <= -w[0]:
        return Vec(0.0, 0.0, 0.0)
    normal = 0.5 * (w[0] + length)
    return Vec(normal, normal / length * w[1], normal / length * w[2])


@compiled
def accelerate(space: BodySpace, kept: int) -> None:
    """Find the next w from the last iterations.

    :param kept: number of iterations before, since the last restart
    """
    contacts, w, slot = space.sizes[CONTACTS], space.w, (kept - 1) % MEMORY
    size = min(kept, MEMORY)
    for c in range(contacts):
        following = load_vec(space.next_w[c], 3)
        change = following - load_vec(w[c], 3)
        if kept > 0:
            # Differences to the iteration before, of its result and of its change.
            space.past_w[slot, c] = following - load_vec(space.last_w[c], 3)
            space.past_change[slot, c] = change - load_vec(space.last_change[c], 3)
        space.last_w[c], space.last_change[c], w[c] = following, change, following
    for i in range(size):
        product, with_change = 0.0, 0.0
        for c in range(contacts):
            past = load_vec(space.past_change[i, c], 3)
            product += past @ load_vec(space.past_change[slot, c], 3)
            with_change += past @ load_vec(space.last_change[c], 3)
        space.gram[i, slot] = space.gram[slot, i] = product
        space.weight[i] = with_change
    find_weights(space, size)
    for i in range(size):
        for c in range(contacts):
            w[c] = load_vec(w[c], 3) - space.weight[i] * load_vec(space.past_w[i, c], 3)


@compiled
def find_weights(space: BodySpace, size: int) -> None:
    """Solve the normal equations of the least change, in place of their right-hand side.

    :param size: number of unknowns
    """
    factor, x, trace = space.gram_factor, space.weight, 0.0
    for i in range(size):
        trace += space.gram[i, i]
    for i in range(size):
        for j in range(i + 1):
            total = space.gram[i, j]
            for k in range(j):
                total -= factor[i, k] * factor[j, k]
            # Cholesky; what rounding has made negative gets hardly any weight.
            if i == j:
                factor[i, i] = math.sqrt(max(total, 0.0) + REGULARIZATION * trace + 1e-300)
            else:
                factor[i, j] = total / factor[j, j]
    for i in range(size):
        for k in range(i):
            x[i] -= factor[i, k] * x[k]
        x[i] /= factor[i, i]
    for back in range(size):
        i = size - 1 - back
        for k in range(i + 1, size):
            x[i] -= factor[k, i] * x[k]
        x[i] /= factor[i, i]


@compiled
def find_state(space: BodySpace, c: int) -> None:
    """Find the state of a contact that its force shows: forces on the cone slide."""
    x = load_vec(space.x[c], 3)
    length = slip(x)
    if not x[0] > 0.0:
        space.state[c] = OPEN
    elif length < (1.0 - 1e-12) * x[0]:
        space.state[c] = STICK
    else:
        space.state[c] = SLIDE
        space.slip_direction[c, 0], space.slip_direction[c, 1] = -x[1] / length, -x[2] / length
