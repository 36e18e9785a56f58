# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Newton's method for friction among many bodies, by the sparse matrix of the bodies.

The force x of a contact and the velocity z complementary to it share one unknown w
(Alart and Curnier 1991): with a unit t of compliance,

    x_n = max(w_n, 0),  x_t = w_t or, beyond the limit x_n of friction, x_n w_t / |w_t|,
    z = t (x - w)

Then all contact conditions hold, and the equation of motion remains: f(w) = A x + b - z = 0.
Moments of torsional and rolling friction are bounded by x_n like x_t. Contact states are never
guessed: f is differentiable except where they change, and any generalized derivative there will do
(Qi and Sun 1993). Redundant contacts make it singular; a compliance of the step alone that shrinks
with f (Levenberg and Marquardt; Yamashita and Fukushima 2001) bounds the step. The line search
halves the step until |f| falls or hardly grows.

Contacts are eliminated, not bodies: a contact's force changes by K (-f - J dv), which leaves the
matrix 1 + E^T K J of the bodies, as sparse as the graph of contacts (body_matrix.py).
"""

from __future__ import annotations

import math
from typing import Tuple

from rbd_ros.compiler.loops import compiled, load_vec, Mat, Vec, Vec3
from rbd_ros.constraints.friction_space import FloatArray, IMMOVABLE, nearest_in_disc
from rbd_ros.constraints.solvers.body_matrix import (
    add_contact,
    begin_matrix,
    factorize_bodies,
    solve_bodies_matrix,
)
from rbd_ros.constraints.solvers.friction_body_space import (
    BodySpace,
    CONTACTS,
    has_moments,
    ITERATIONS,
    keep_best,
    largest_residual,
    MEMBERS,
    moment_compliance,
    product_of,
    renew,
    residual_of,
    return_to_best,
    scaled_angular_velocity,
    SOFT,
    UNIT,
    velocity_of,
)

#: Unit t of compliance, of blocks whose largest element is one; number of steps without half the
#: residual after which it is reduced, and by which factor.
UNIT_COMPLIANCE, PATIENCE, SMALLER = 0.4, 40, 0.4

#: Compliance of a step per |f| in units of velocity, at first, of rigid contacts and of softened
#: ones; its factors after a full step and after a failed one; its range.
DAMPING, SOFT_DAMPING, RELAXED, TIGHTENED, LEAST, MOST = 3.0, 0.1, 0.1, 8.0, 1e-9, 10.0

#: Maximum number of halvings; required relative decrease of |f| by a step; accepted growth,
#: relative to the previous |f|.
HALVES, DECREASE, GROWTH = 4, 0.1, 0.6


@compiled
def newton_bodies(space: BodySpace, enough: float, limit: int) -> float:
    """Attempt Newton's method from the present forces; return the residual.

    The forces stay if they were better.

    :param enough: residual of a solution
    :param limit: maximum number of steps
    """
    renew(space)
    best = largest_residual(space)
    keep_best(space)
    t, per_size = UNIT_COMPLIANCE, SOFT_DAMPING if space.report[SOFT] > 0.0 else DAMPING
    per_size /= space.report[UNIT]
    enter_unknowns(space, t)
    size = before = evaluate(space, t)
    damping, since, goal = min(per_size * size, 1.0), 0, math.inf
    for _ in range(limit):
        now = find_residual(space)
        if now < best:
            best = now
            keep_best(space)
        # NaN: the step failed.
        if best <= enough or not now < math.inf:
            break
        since += 1
        if best < goal:
            goal, since = 0.5 * best, 0
        if since > PATIENCE:
            # At a local minimum of |f| that is no solution: with another unit, |f| has others.
            t = SMALLER * t
            enter_unknowns(space, t)
            size = before = evaluate(space, t)
            damping, since, goal = min(per_size * size, 1.0), 0, math.inf
        space.report[ITERATIONS] += 1.0
        find_direction(space, t, damping)
        last = size
        length, size = search(space, t, last, before)
        before = last
        if length == 1.0:
            damping = max(RELAXED * damping, LEAST)
        elif length == 0.0:
            damping = min(TIGHTENED * damping, MOST)
    return_to_best(space)
    for c in range(space.sizes[CONTACTS]):
        # The conjugate gradient of the sweeps restarts: its direction is outdated.
        space.search_direction[c] = Vec(0.0, 0.0, 0.0)
    found: float = best
    return found


@compiled
def search(space: BodySpace, t: float, size: float, before: float) -> Tuple[float, float]:
    """Move until |f| falls or hardly grows; return the step length, 1, 1/2, ..., or 0, and |f|.

    :param t: unit of compliance
    :param size: |f| now
    :param before: |f| before the last step
    """
    length = 1.0
    move(space, length)
    for _ in range(HALVES + 1):
        now = evaluate(space, t)
        if now < (1.0 - DECREASE * length) * size + GROWTH * before:
            return length, now
        # Go back by half of the last step.
        length *= 0.5
        move(space, -length)
    move(space, -length)
    return 0.0, evaluate(space, t)


@compiled
def enter_unknowns(space: BodySpace, t: float) -> None:
    """Compute the unknowns w from the present forces and velocities.

    :param t: unit of compliance
    """
    for c in range(space.sizes[CONTACTS]):
        part = 1.0 / t * velocity_of(space, c)
        space.w[c] = load_vec(space.x[c], 3) - part
        if has_moments(space, c):
            part = 1.0 / t * scaled_angular_velocity(space, c)
            space.moment_w[c] = load_vec(space.y[c], 3) - part


@compiled
def evaluate(space: BodySpace, t: float) -> float:
    """Compute forces, velocities `image`, and -f; return |f|.

    :param t: unit of compliance
    """
    contacts, total = space.sizes[CONTACTS], 0.0
    for c in range(contacts):
        w, x = space.w[c], space.x[c]
        x[0] = max(w[0], 0.0) if space.block[c, 0, 0] > IMMOVABLE else 0.0
        x[1], x[2] = nearest_in_disc(w[1], w[2], x[0])
        if has_moments(space, c):
            y = space.moment_w[c]
            space.y[c, 0] = min(max(y[0], -x[0]), x[0])
            space.y[c, 1], space.y[c, 2] = nearest_in_disc(y[1], y[2], x[0])
    renew(space)
    for c in range(contacts):
        force, u = load_vec(space.x[c], 3), velocity_of(space, c)
        space.image[c] = u
        rest = t * (force - load_vec(space.w[c], 3)) - u
        if space.block[c, 0, 0] <= IMMOVABLE:
            rest = Vec(0.0, 0.0, 0.0)
        space.right[c] = rest
        total += rest @ rest
        if has_moments(space, c):
            moment, u = load_vec(space.y[c], 3), scaled_angular_velocity(space, c)
            rest = t * (moment - load_vec(space.moment_w[c], 3)) - u
            space.moment_right[c] = rest
            total += rest @ rest
    return math.sqrt(total)


@compiled
def find_residual(space: BodySpace) -> float:
    """Return the largest residual of the evaluated forces and velocities."""
    worst = 0.0
    for c in range(space.sizes[CONTACTS]):
        each = residual_of(space, c, load_vec(space.image[c], 3))
        # NaN is larger than any residual.
        if not each <= worst:
            worst = each
    return worst


@compiled
def move(space: BodySpace, length: float) -> None:
    """Change the unknowns by a multiple of the step."""
    for c in range(space.sizes[CONTACTS]):
        space.w[c] = load_vec(space.w[c], 3) + length * load_vec(space.change[c], 3)
        if has_moments(space, c):
            change = length * load_vec(space.moment_change[c], 3)
            space.moment_w[c] = load_vec(space.moment_w[c], 3) + change


@compiled
def own_compliance(space: BodySpace, c: int, added: float) -> Vec3:
    """Return the scaled compliance of a contact along its axes.

    :param added: compliance of all contacts
    """
    R, D = load_vec(space.compliance[c], 3), load_vec(space.scale[c], 3)
    return Vec(added + D[0] * D[0] * R[0], added + D[1] * D[1] * R[1], added + D[2] * D[2] * R[2])


@compiled
def find_direction(space: BodySpace, t: float, damping: float) -> None:
    """Compute the full Newton step of the unknowns.

    :param t: unit of compliance
    :param damping: compliance of the step alone
    """
    matrix, contacts = space.matrix, space.sizes[CONTACTS]
    begin_matrix(matrix)
    for i in range(space.sizes[MEMBERS]):
        matrix.x[i] = Vec(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for c in range(contacts):
        find_stiffness(space, t, c, damping)
        # An open contact changes nothing.
        if space.stiffness[c, 0, 0] == 0.0:
            continue
        i, j, J, E = (
            place_of(space, c, 0),
            place_of(space, c, 1),
            space.jacobian[c],
            space.effect[c],
        )
        add_contact(matrix, i, j, E, space.stiffness[c], J)
        add_effect(space, c, E, image_of(space.stiffness[c], load_vec(space.right[c], 3)))
        if has_moments(space, c):
            moment_J, E = space.angular_jacobian[c], space.angular_effect[c]
            add_contact(matrix, i, j, E, space.moment_stiffness[c], moment_J)
            add_contact(matrix, i, j, E, space.moment_by_force[c], J)
            add_effect(space, c, E, moment_change(space, c))
    factorize_bodies(matrix)
    solve_bodies_matrix(matrix)
    for c in range(contacts):
        # f + J dv + (damping + R) dx = dz, and dw = dx - dz / t.
        rest = load_vec(space.right[c], 3) - velocity_change(space, c, space.jacobian[c])
        space.right[c] = rest
        dx, soft = image_of(space.stiffness[c], rest), own_compliance(space, c, damping)
        part = rest - Vec(soft[0] * dx[0], soft[1] * dx[1], soft[2] * dx[2])
        space.change[c] = dx + 1.0 / t * part
        if has_moments(space, c):
            by = velocity_change(space, c, space.angular_jacobian[c])
            rest = load_vec(space.moment_right[c], 3) - by
            space.moment_right[c] = rest
            dx = moment_change(space, c)
            yields = damping + moment_compliance(space, c)
            space.moment_change[c] = dx + 1.0 / t * (rest - yields * dx)


@compiled
def place_of(space: BodySpace, c: int, side: int) -> int:
    """Return the number of a contact's body among the bodies in contact; -1: the world."""
    b = space.body[c, side]
    return space.place[b] if b >= 0 else -1


@compiled
def image_of(K: FloatArray, v: Vec3) -> Vec3:
    """Return K v of an array, (3, 3)."""
    return Mat(load_vec(K[0], 3), load_vec(K[1], 3), load_vec(K[2], 3)) @ v


@compiled
def moment_change(space: BodySpace, c: int) -> Vec3:
    """Return the change of the moments of a contact by the residuals of its equations."""
    by_force = image_of(space.moment_by_force[c], load_vec(space.right[c], 3))
    own = image_of(space.moment_stiffness[c], load_vec(space.moment_right[c], 3))
    return Vec(by_force[0] + own[0], by_force[1] + own[1], by_force[2] + own[2])


@compiled
def add_effect(space: BodySpace, c: int, E: FloatArray, change: Vec3) -> None:
    """Add the effect of a change of a contact's force or moments to the right-hand side."""
    for side in range(2):
        i = place_of(space, c, side)
        if i >= 0:
            v, effect = space.matrix.x[i], E[side]
            for k in range(6):
                v[k] += (
                    change[0] * effect[0, k] + change[1] * effect[1, k] + change[2] * effect[2, k]
                )


@compiled
def velocity_change(space: BodySpace, c: int, J: FloatArray) -> Vec3:
    """Return J dv of a contact, with dv from the solution."""
    total = Vec(0.0, 0.0, 0.0)
    for side in range(2):
        i = place_of(space, c, side)
        if i >= 0:
            rows, v = J[side], space.matrix.x[i]
            total += Vec(product_of(rows[0], v), product_of(rows[1], v), product_of(rows[2], v))
    return total


@compiled
def find_stiffness(space: BodySpace, t: float, c: int, added: float) -> None:
    """Compute K, the change of a contact's force per residual of its equations.

    With P the derivative of x by w and Q the compliances, (Q P + t (1 - P)) dw = -f - J dv and
    dx = P dw.

    :param t: unit of compliance
    :param added: compliance of all contacts
    """
    K, w, soft = space.stiffness[c], space.w[c], own_compliance(space, c, added)
    closed = w[0] > 0.0 and space.block[c, 0, 0] > IMMOVABLE
    gain = 1.0 / soft[0] if closed else 0.0
    bound = max(w[0], 0.0)
    K[0] = Vec(gain, 0.0, 0.0)
    K[1], K[2] = disc_stiffness(Vec(bound, w[1], w[2]), Vec(gain, soft[1], soft[2]), t)
    if has_moments(space, c):
        M, by_force, v = space.moment_stiffness[c], space.moment_by_force[c], space.moment_w[c]
        yields = added + moment_compliance(space, c)
        torsion, _ = disc_stiffness(Vec(bound, v[0], 0.0), Vec(gain, yields, yields), t)
        rolling, across = disc_stiffness(Vec(bound, v[1], v[2]), Vec(gain, yields, yields), t)
        M[0] = Vec(torsion[1], 0.0, 0.0)
        M[1], M[2] = Vec(0.0, rolling[1], rolling[2]), Vec(0.0, across[1], across[2])
        by_force[0] = Vec(torsion[0], 0.0, 0.0)
        by_force[1], by_force[2] = Vec(rolling[0], 0.0, 0.0), Vec(across[0], 0.0, 0.0)


@compiled
def disc_stiffness(w: Vec3, Q: Vec3, t: float) -> Tuple[Vec3, Vec3]:
    """Return two rows of K, of forces within a disc whose radius is the normal force.

    :param w: the radius, and both unknowns
    :param Q: stiffness K of the normal force, and both compliances
    :param t: unit of compliance
    """
    bound, w_1, w_2 = w
    length = math.sqrt(w_1 * w_1 + w_2 * w_2)
    # Inside the disc the forces are free. On its rim they grow with the radius, along d, and turn
    # by bound / length.
    turn, d_1, d_2 = 1.0, 0.0, 0.0
    if length > bound:
        turn, d_1, d_2 = bound / length, w_1 / length, w_2 / length
    elif not bound > 0.0:
        turn = 0.0
    P_11, P_12, P_22 = turn * (1.0 - d_1 * d_1), -turn * d_1 * d_2, turn * (1.0 - d_2 * d_2)
    q_1, q_2 = Q[1] - t, Q[2] - t
    # G = Q P + t (1 - P), K = P G^-1.
    G_11, G_12 = q_1 * P_11 + t, q_1 * P_12
    G_21, G_22 = q_2 * P_12, q_2 * P_22 + t
    part = 1.0 / (G_11 * G_22 - G_12 * G_21)
    K_11, K_12 = part * (P_11 * G_22 - P_12 * G_21), part * (P_12 * G_11 - P_11 * G_12)
    K_21, K_22 = part * (P_12 * G_22 - P_22 * G_21), part * (P_22 * G_11 - P_12 * G_12)
    # The normal force moves the rim: dx = K (rest - (Q - t) d dx_n) + d dx_n.
    s_1, s_2 = q_1 * d_1, q_2 * d_2
    return (
        Vec(Q[0] * (d_1 - K_11 * s_1 - K_12 * s_2), K_11, K_12),
        Vec(Q[0] * (d_2 - K_21 * s_1 - K_22 * s_2), K_21, K_22),
    )
