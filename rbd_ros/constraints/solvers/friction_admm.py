# SPDX-License-Identifier: Apache-2.0
"""ADMM for frictional contact (Carpentier et al. 2024), which identifies the states of contacts.

The quadratic part and the cones are solved in turn, and agree in the end; De Saxce's term follows
the velocities. It converges whatever the condition of the matrix, slowly in the last digits; those
are Newton's.
"""

from __future__ import annotations

import math
from typing import Tuple

from rbd_ros.compiler.loops import compiled
from rbd_ros.constraints.friction_space import (
    ADMM_STEPS,
    clamp,
    CONTACTS,
    FrictionSpace,
    is_solved,
    MOMENTS,
    OPEN,
    project,
    refresh,
    residual,
    ROWS,
    size_of,
    SLIDE,
    STICK,
)
from rbd_ros.constraints.solvers.dense import factorize, solve_factorized
from rbd_ros.constraints.solvers.friction_moment_solver import (
    moment_states,
    project_with_moments,
    speed_of,
)
from rbd_ros.constraints.solvers.friction_newton import newton

#: Easier ways are taken first: see `runs_seldom`.
SELDOM = True

#: Over-relaxation of the quadratic part.
RELAXED = 1.6

#: Proximal term, as part of the largest element of the diagonal.
PROXIMAL = 1e-9

#: Steps after which De Saxce's term follows the velocities ever more slowly: where both drive each
#: other, they settle only then.
PROMPT = 200

#: The penalty is changed every so many steps, if one residual is so many times the other.
CHECK, RATIO = 10, 10.0


@compiled
def admm(space: FrictionSpace, limit: int, finish: bool) -> bool:
    """Solve from forces as they are; return whether the problem is solved.

    :param limit: maximum number of steps
    :param finish: whether Newton's method attempts to finish, after 10, 20, 40 ... steps
    """
    x, u, y, z = space.x, space.u, space.y, space.z
    contacts, n = space.sizes[CONTACTS], size_of(space)
    refresh(space)
    for i in range(n):
        z[i] = x[i]
        # The velocities of the start, as far as they are ones that a contact may have.
        y[i] = u[i]
    for c in range(contacts):
        i = 3 * c
        speed = math.sqrt(y[i + 1] * y[i + 1] + y[i + 2] * y[i + 2]) + speed_of(space, c)
        y[i] = max(y[i], 0.0) + speed
        # y is in the dual cone with De Saxce's term added: y = u + Phi(u).
        space.shift[c] = speed
    largest = power_iteration(space)
    # sqrt(m L) with L the largest eigenvalue and m = PROXIMAL L the smallest one that counts is
    # the best penalty of a quadratic problem (Nishihara et al. 2015).
    penalty = largest * math.sqrt(PROXIMAL) * 30.0
    factorize_with(space, penalty)
    # Newton's method factorizes in the same buffer, so an attempt costs two factorizations: ever
    # rarer.
    attempt = CHECK
    adapt = CHECK
    for k in range(1, limit + 1):
        follow = 1.0
        if k > PROMPT:
            follow = max(PROMPT * PROMPT / (k * k), 0.01)
        # Primal: both parts disagree about forces. Dual: the projected forces still change.
        primal, dual = admm_step(space, penalty, follow)
        space.report[ADMM_STEPS] += 1.0
        if k % CHECK != 0:
            continue
        for i in range(n):
            x[i] = z[i]
        if is_solved(space):
            return True
        if finish and k >= attempt:
            attempt = k + max(CHECK, k // 2)
            states_of(space)
            if newton(space, 20, True):
                return True
            factorize_with(space, penalty)
        if k < adapt:
            continue
        adapt = k + max(CHECK, k // 4)
        change = 1.0
        # Residual balancing (Boyd et al. 2011, section 3.4.1), by the root of their ratio as in
        # OSQP (Stellato et al. 2020): a larger penalty makes both parts agree sooner, a smaller
        # one lets them move.
        if primal > RATIO * dual:
            change = min(math.sqrt(primal / max(dual, 1e-300)), 10.0)
        elif dual > RATIO * primal:
            change = 1.0 / min(math.sqrt(dual / max(primal, 1e-300)), 10.0)
        if change != 1.0:
            # Beyond these, adding the penalty to A loses either of both to rounding.
            penalty = clamp(penalty * change, 1e-12 * largest, 1e6 * largest)
            factorize_with(space, penalty)
    for i in range(n):
        x[i] = space.best[i]
    refresh(space)
    residual(space)
    return False


@compiled
def power_iteration(space: FrictionSpace) -> float:
    """Return the largest eigenvalue of the matrix, to a few percent, from below."""
    A, x, image = space.A, space.step, space.x
    n, size = size_of(space), 1.0
    for i in range(n):
        # Not all ones: symmetric problems have eigenvectors that are orthogonal to these.
        image[i] = 1.0 + 0.1 * (i % 7)
    for _ in range(8):
        total = 0.0
        for i in range(n):
            total += image[i] * image[i]
        size = math.sqrt(total)
        if not size > 0.0:
            break
        for i in range(n):
            x[i] = image[i] / size
        for i in range(n):
            row = A[i]
            total = 0.0
            for j in range(n):
                total += row[j] * x[j]
            image[i] = total
    for i in range(n):
        # `image` is x, which is needed again.
        image[i] = space.z[i]
    return max(size, 1e-3)


@compiled
def factorize_with(space: FrictionSpace, penalty: float) -> None:
    """Factorize the matrix with a penalty on its diagonal."""
    A, L, n = space.A, space.factor, size_of(space)
    for i in range(n):
        row, into = A[i], L[i]
        for j in range(i, n):
            into[j] = row[j]
        # The proximal term keeps the matrix regular if the penalty is small and contacts are
        # redundant.
        into[i] += penalty + PROXIMAL
    factorize(L, n)


@compiled
def admm_step(space: FrictionSpace, penalty: float, follow: float) -> Tuple[float, float]:
    """Make one step; return the disagreement of both parts, and the change of velocities.

    Both relative to forces and velocities.
    """
    x, y, z, step, b = space.x, space.y, space.z, space.step, space.b
    contacts, n = space.sizes[CONTACTS], size_of(space)
    for i in range(n):
        # Carpentier et al. (2024): (A + (penalty + proximal) 1) x = -(b + s) + y + (penalty +
        # proximal) z; s is subtracted from normals below.
        step[i] = y[i] - b[i] + penalty * z[i] + PROXIMAL * z[i]
    for c in range(contacts):
        i = 3 * c
        speed = math.sqrt(y[i + 1] * y[i + 1] + y[i + 2] * y[i + 2]) + speed_of(space, c)
        space.shift[c] += follow * (speed - space.shift[c])
        step[i] -= space.shift[c]
    solve_factorized(space.factor, step, n)
    primal, dual, force, speed = 0.0, 0.0, 1e-300, 1.0
    for i in range(n):
        # Over-relaxation (Boyd et al. 2011, section 3.4.3), then z = the projection of x - y /
        # penalty.
        step[i] = RELAXED * step[i] + (1.0 - RELAXED) * z[i]
        x[i] = step[i] - y[i] / penalty
    for c in range(contacts):
        if space.sizes[MOMENTS] > 0:
            project_with_moments(space, c)
        else:
            project(x, 3 * c)
    for k in range(space.sizes[ROWS]):
        i = 3 * contacts + k
        x[i] = clamp(x[i], space.low[k], space.high[k])
    for i in range(n):
        gap = step[i] - x[i]
        primal = max(primal, abs(gap))
        dual = max(dual, penalty * abs(x[i] - z[i]))
        # The multiplier of x = z. It is in the dual cone after each projection (Moreau), so y is a
        # velocity that contacts may have, up to De Saxce's term.
        y[i] -= penalty * gap
        z[i] = x[i]
        force, speed = max(force, abs(x[i])), max(speed, abs(y[i]))
    # Relative, as forces and velocities have no common unit.
    return primal / force, dual / speed


@compiled
def states_of(space: FrictionSpace) -> None:
    """Compute the states of contacts and rows, as the projections have left them."""
    y, z = space.y, space.z
    contacts = space.sizes[CONTACTS]
    for c in range(contacts):
        i = 3 * c
        force = math.sqrt(z[i + 1] * z[i + 1] + z[i + 2] * z[i + 2])
        speed = math.sqrt(y[i + 1] * y[i + 1] + y[i + 2] * y[i + 2])
        # z is projected, so an open contact has exactly zero, and a sliding one is on the
        # boundary.
        if z[i] <= 0.0:
            space.state[c] = OPEN
        elif force < z[i] * (1.0 - 1e-9) or speed <= 0.0 or force <= 0.0:
            space.state[c] = STICK
        else:
            space.state[c] = SLIDE
            for r in range(2):
                space.slip_direction[c, r] = -z[i + 1 + r] / force
    for k in range(space.sizes[ROWS]):
        inside = space.low[k] < z[3 * contacts + k] < space.high[k]
        space.state[contacts + k] = STICK if inside else OPEN
    moment_states(space)
