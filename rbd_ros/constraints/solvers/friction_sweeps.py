# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Gauss-Seidel sweeps over contacts, each solved exactly with all others fixed.

A contact is open, sticks or slides. A sliding force opposes the sliding velocity, u_t = -s x_t
with s > 0, at zero normal velocity: maximum dissipation in the cone. Eliminating x_n leaves
(S + s 1) x_t = -p with S symmetric, and one equation |x_t(s)| = x_n(s) in one unknown, a quartic.
At s = 0 the left side is larger (or it would stick), for large s the right one: a root is
bracketed.
"""

from __future__ import annotations

import math
from typing import Tuple

from rbd_ros.compiler.loops import compiled, load_vec, Mat, Vec, Vec3
from rbd_ros.constraints.friction_space import (
    apply_contact_force,
    apply_row_force,
    clamp,
    CONTACTS,
    FloatArray,
    FLOOR,
    FrictionSpace,
    IMMOVABLE,
    is_solved,
    OPEN,
    residual,
    ROWS,
    SLIDE,
    STICK,
    SWEEPS,
    TOLERANCE,
)
from rbd_ros.constraints.solvers.friction_moment_solver import sweep_moments

#: Maximum number of doublings to bracket a root, and of steps to find it; a few are usual.
ROOT_STEPS = 200


@compiled
def part_of(p: float, e: float) -> float:
    """Return P / e, zero if P is zero, limited so that its square is finite."""
    return p / max(e, 1e-150) if p != 0.0 else 0.0


@compiled
def without_rounding(p: float, e: float, size: float) -> float:
    """Return P, or zero if it is rounding of a velocity that its force cannot change, by e.

    :param size: magnitude of the terms of p
    """
    return 0.0 if e <= IMMOVABLE and abs(p) <= IMMOVABLE * size else p


@compiled
def solve_block(block: Mat, q: Vec3, slip: FloatArray, c: int) -> Tuple[int, Vec3]:
    """Solve the problem of one contact; return its state and its force.

    :param block: velocity per own force
    :param q: velocity without own force
    :param slip: sliding velocities per friction force: guess and result of this contact
    :param c: number of the contact there
    """
    a, c_1, c_2 = block[0]
    if q[0] >= 0.0 or a <= IMMOVABLE:
        return OPEN, Vec(0.0, 0.0, 0.0)
    # Tangential velocities by tangential forces while the normal velocity is zero.
    # The Schur complement of the normal row: x_n = -(q_n + c . x_t) / a inserted into u_t.
    S_11 = block[1][1] - c_1 * c_1 / a
    S_12 = block[1][2] - c_1 * c_2 / a
    S_22 = block[2][2] - c_2 * c_2 / a
    p_1, p_2 = q[1] - c_1 * q[0] / a, q[2] - c_2 * q[0] / a
    # Along the principal axes of S.
    mean, half = 0.5 * (S_11 + S_22), 0.5 * (S_11 - S_22)
    radius = math.sqrt(half * half + S_12 * S_12)
    # Rounding may give a semidefinite matrix a negative eigenvalue, a pole at s > 0.
    e_1, e_2 = max(mean + radius, 0.0), max(mean - radius, 0.0)
    u_1, u_2 = 1.0, 0.0
    if radius > 0.0:
        u_1, u_2 = S_12, radius - half
        if half > 0.0:
            u_1, u_2 = half + radius, S_12
        size = math.sqrt(u_1 * u_1 + u_2 * u_2)
        u_1, u_2 = u_1 / size, u_2 / size
    p_1, p_2 = u_1 * p_1 + u_2 * p_2, u_1 * p_2 - u_2 * p_1
    # A contact with one DoF, as of a hip, stops along tangents as soon as it stops along the
    # normal. Then both are rounding errors, with an arbitrary quotient.
    whole = (1.0 + (abs(c_1) + abs(c_2)) / a) * abs(q[0]) + abs(q[1]) + abs(q[2])
    p_1, p_2 = without_rounding(p_1, e_1, whole), without_rounding(p_2, e_2, whole)
    d_1, d_2 = u_1 * c_1 + u_2 * c_2, u_1 * c_2 - u_2 * c_1

    x_1, x_2 = -part_of(p_1, e_1), -part_of(p_2, e_2)
    x_n = -(q[0] + d_1 * x_1 + d_2 * x_2) / a
    state = STICK
    if x_1 * x_1 + x_2 * x_2 > x_n * x_n or x_n < 0.0:
        state = SLIDE
        # s of the last sweep: contacts keep sliding at nearly the same rate, so one or two steps
        # are enough.
        low, high, s = 0.0, math.inf, slip[c]
        if not 0.0 < s < math.inf:
            s = max(e_1, 1e-3 * a)
        for _ in range(ROOT_STEPS):
            x_1, x_2 = -part_of(p_1, e_1 + s), -part_of(p_2, e_2 + s)
            x_n = -(q[0] + d_1 * x_1 + d_2 * x_2) / a
            length = math.sqrt(x_1 * x_1 + x_2 * x_2)
            if length <= x_n:
                high = s
            else:
                low = s
            if length == x_n or high <= low * (1.0 + 4e-16):
                break
            # Newton's step for x_n / |x_t| = 1, which is nearly a line in s.
            r_1, r_2 = -x_1 / max(e_1 + s, 1e-300), -x_2 / max(e_2 + s, 1e-300)
            slope = -(d_1 * r_1 + d_2 * r_2) / a * length
            slope -= x_n * part_of(x_1 * r_1 + x_2 * r_2, length)
            change = part_of((length - x_n) * length, slope) if slope > 0.0 else math.inf
            # Newton's step is safeguarded by the bracket, so it always converges.
            following = s + change
            if not low < following < high:
                following = 2.0 * s if high == math.inf else 0.5 * (low + high)
            if abs(following - s) <= 1e-16 * s:
                break
            s = following
        slip[c] = s
        length = math.sqrt(x_1 * x_1 + x_2 * x_2)
        x_n = max(x_n, 0.0)
        if length > 0.0:
            # Exactly onto the boundary.
            x_1, x_2 = x_1 * (x_n / length), x_2 * (x_n / length)
    return state, Vec(x_n, u_1 * x_1 - u_2 * x_2, u_2 * x_1 + u_1 * x_2)


@compiled
def sweep(space: FrictionSpace) -> None:
    """Solve each contact and each row once."""
    A, x, u, contacts = space.A, space.x, space.u, space.sizes[CONTACTS]
    for c in range(contacts):
        i = 3 * c
        # The velocity without the contact's own force: Gauss-Seidel, not Jacobi.
        force = load_vec(x, 3, i)
        block = Mat(load_vec(A[i], 3, i), load_vec(A[i + 1], 3, i), load_vec(A[i + 2], 3, i))
        q = load_vec(u, 3, i) - block @ force
        _, new = solve_block(block, q, space.slip, c)
        f, f_1, f_2 = new - force
        apply_contact_force(space, i, f, f_1, f_2)
        x[i], x[i + 1], x[i + 2] = new
    for k in range(space.sizes[ROWS]):
        i = 3 * contacts + k
        effect = A[i]
        if effect[i] <= IMMOVABLE:
            continue
        held = clamp(x[i] - u[i] / effect[i], space.low[k], space.high[k])
        apply_row_force(space, i, held - x[i])
        x[i] = held
    sweep_moments(space)


@compiled
def sweep_until(space: FrictionSpace, limit: int) -> bool:
    """Sweep until the problem is solved; return whether it is.

    :param limit: maximum number of sweeps
    """
    report = space.report
    for _ in range(limit):
        sweep(space)
        report[SWEEPS] += 1.0
        if residual(space) <= max(report[TOLERANCE], report[FLOOR]) and is_solved(space):
            return True
    return False
