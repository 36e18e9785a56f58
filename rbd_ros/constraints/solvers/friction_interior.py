# SPDX-License-Identifier: Apache-2.0
"""Interior-point method for frictional contact, with De Saxce's term in its equations.

A contact's force and each of its moments are in a cone of their own, (x_n, x_t) and (x_n, m), of
which the normal force is shared. Velocities y of the cones belong to u = A x + b by

    y_n + the sum of sigma = u_n + |u_t| + the sum of |u_m|,    y_t = u_t,    y_m = u_m

with sigma the first element of a moment's y: what a contact opens with, less what its friction
and its moments slide with, which is De Saxce's term s. Forces and velocities stay inside
their cones while the products of both are led to zero by Mehrotra's predictor and corrector, in
the scaling of Nesterov and Todorov (Vandenberghe, The CVXOPT linear and quadratic cone program
solvers, 2010), W x = W^-1 y. A change of y is dy = h - W^2 dx, and what of it is one of u is C dy,
as the term grows with the velocity along t = y_t / y_n, the sliding direction of what slides:

    (A + C W^2) dx = C h - (u + s - y),    C = [1 -t_1 -t_2; 0 1 0; 0 0 1]

Of what sticks or opens, y_t may cross zero in a step, where |y_t| has no direction: there t is
short, as y_t is within the cone. (With s held in each step, C = 1, the matrix would be symmetric,
but what slides would be followed at the pace of a fixed point.) So about 25 systems are solved
whatever the condition of the matrix, through the middle of the forces where these are not unique:
that finds forces that hold everything at rest where others creep along boundaries of cones.
Newton's method finishes. Without the term a convex program is left, which no start is too far
from: it solves what stays at rest, of masses in ratios that stop the other.
"""

from __future__ import annotations

import math

from rbd_ros.compiler.loops import compiled, load_vec, Vec, Vec3
from rbd_ros.constraints.friction_space import (
    clamp,
    CONTACTS,
    FloatArray,
    FrictionSpace,
    is_solved,
    MOMENTS,
    OPEN,
    refresh,
    return_to_best,
    ROWS,
    SECOND,
    size_of,
    SLIDE,
    STICK,
)
from rbd_ros.constraints.solvers.dense import factorize_pivoted, solve_pivoted
from rbd_ros.constraints.solvers.friction_cones import (
    blocks_of,
    find_cone_rhs,
    is_cone,
    normal_row,
    of_cones,
    scaled,
    scaling,
    step_to_boundary,
    tangent_row,
    tangents_of,
)
from rbd_ros.constraints.solvers.friction_moment_solver import follow_normals
from rbd_ros.constraints.solvers.friction_newton import newton

#: Easier ways are taken first: see `runs_seldom`.
SELDOM = True

#: Added to the diagonal.
PROXIMAL = 1e-13

#: How far forces and velocities that are there are moved into their cones to begin with, and which
#: part of an interval between bounds is left on both sides.
INSIDE, ASIDE = 0.1, 0.1

#: Forces to begin with on the axes of the cones: as large as those of most problems that get here,
#: nearer, or far inside, as those of ill-conditioned problems are; and velocities.
MIDDLE_FORCE, NEARER_FORCE, FARTHER_FORCE, MIDDLE_VELOCITY = 30.0, 1.0, 1e3, 1.0

#: Part of the way to the boundaries that is gone at most.
CAUTION = 0.95

#: Mean product of forces and velocities below which Newton's method attempts to finish, and
#: maximum number of steps of an attempt: with the right states, it takes two or three.
NEAR, NEWTON_LIMIT = 1e-4, 4

#: Part of it that is left when the next attempt is made.
FURTHER = 0.01


@compiled
def interior(space: FrictionSpace, limit: int, follow: bool, middle: float) -> bool:
    """Solve from within the cones; return whether the problem is solved.

    :param limit: maximum number of steps
    :param follow: whether De Saxce's term follows the velocities; else it is zero
    :param middle: forces to begin with, on the axes of the cones; 0 for those that are there
    """
    x, z, y, step, upper = space.x, space.z, space.y, space.step, space.upper
    contacts, n = space.sizes[CONTACTS], size_of(space)
    if middle > 0.0:
        begin(space, middle)
    else:
        begin_near(space)
    # Newton's method converges quadratically once states are right: the last digits are not worth
    # steps of this method, whose matrix becomes ill-conditioned as products vanish.
    attempt = NEAR
    for _ in range(limit):
        for i in range(n):
            x[i] = z[i]
        if is_solved(space):
            return True
        mean = mean_product(space)
        if mean < attempt:
            attempt = FURTHER * mean
            identify(space)
            if newton(space, NEWTON_LIMIT, True):
                return True
            for i in range(n):
                x[i] = z[i]
            refresh(space)
        find_term(space, follow)
        assemble_scaled(space)
        # Mehrotra (1992): an affine step to products of zero says how far the path can be
        # followed; the corrector aims at sigma times the mean product, sigma = (mean after / mean
        # before)^3, and takes the product of both predicted changes into account.
        # The predictor aims at products of zero, by itself.
        for i in range(n):
            step[i] = 0.0
        remember_prediction(space)
        find_step(space, 0.0)
        left = product_after(space, longest_step(space))
        part = clamp(left / mean, 0.0, 1.0) if mean > 0.0 else 0.0
        remember_prediction(space)
        find_step(space, part * part * part * mean)
        # Short of the boundary: on it the scaling is singular.
        length = min(1.0, CAUTION * longest_step(space))
        # A step that is no number, or no way left: the best forces so far are kept.
        if not length > 0.0:
            break
        for b in range(blocks_of(space)):
            if is_cone(space, b):
                change = length * load_vec(space.velocity_change[b], 3)
                space.velocity[b] = load_vec(space.velocity[b], 3) + change
        for k in range(space.sizes[ROWS]):
            y[3 * contacts + k] += length * space.bound_velocity_change[k, 0]
            upper[k] += length * space.bound_velocity_change[k, 1]
        for i in range(n):
            z[i] += length * step[i]
        of_cones(space, z, space.force)
    return_to_best(space)
    return False


@compiled
def begin(space: FrictionSpace, middle: float) -> None:
    """Start from the middle of cones and intervals.

    :param middle: forces of cones, and within bounds on one side
    """
    z, y = space.z, space.y
    contacts = space.sizes[CONTACTS]
    for i in range(size_of(space)):
        z[i] = 0.0
    for c in range(contacts):
        z[3 * c] = middle
    for b in range(blocks_of(space)):
        space.velocity[b] = Vec(MIDDLE_VELOCITY, 0.0, 0.0)
    for k in range(space.sizes[ROWS]):
        i, low, high = 3 * contacts + k, space.low[k], space.high[k]
        below, above = low > -math.inf, high < math.inf
        # A velocity of zero marks a bound that is not there: it takes no part in products and
        # steps.
        y[i] = MIDDLE_VELOCITY if below and low < high else 0.0
        space.upper[k] = MIDDLE_VELOCITY if above and low < high else 0.0
        if below and above:
            z[i] = 0.5 * (low + high)
        elif below:
            z[i] = low + middle
        elif above:
            z[i] = high - middle
    of_cones(space, z, space.force)


@compiled
def begin_near(space: FrictionSpace) -> None:
    """Start from forces and velocities that are there, moved into their cones and intervals.

    Moments begin at none.
    """
    x, u, z, y = space.x, space.u, space.z, space.y
    contacts = space.sizes[CONTACTS]
    begin(space, INSIDE)
    refresh(space)
    for c in range(contacts):
        i = 3 * c
        force = math.sqrt(x[i + 1] * x[i + 1] + x[i + 2] * x[i + 2])
        speed = math.sqrt(u[i + 1] * u[i + 1] + u[i + 2] * u[i + 2])
        # Strictly inside the cone, whatever the start: |x_t| < x_n.
        z[i] = max(x[i], force) + INSIDE
        # The dual part u_n + |u_t| of De Saxce, moved inside likewise.
        space.velocity[c, 0] = max(u[i], 0.0) + speed + INSIDE
        for r in range(1, 3):
            z[i + r] = x[i + r]
            space.velocity[c, r] = u[i + r]
    for k in range(space.sizes[ROWS]):
        i, low, high = 3 * contacts + k, space.low[k], space.high[k]
        below, above = low > -math.inf, high < math.inf
        if below and above:
            aside = ASIDE * (high - low)
            z[i] = clamp(x[i], low + aside, high - aside)
        elif below:
            z[i] = max(x[i], low) + INSIDE
        elif above:
            z[i] = min(x[i], high) - INSIDE
        if y[i] > 0.0:
            y[i] = max(u[i], 0.0) + INSIDE
        if space.upper[k] > 0.0:
            space.upper[k] = max(-u[i], 0.0) + INSIDE
    of_cones(space, z, space.force)


@compiled
def find_term(space: FrictionSpace, follow: bool) -> None:
    """Compute De Saxce's term |y_t| of all cones, summed per contact, and its assumed growth.

    :param follow: see `interior`
    """
    contacts = space.sizes[CONTACTS]
    for c in range(contacts):
        space.shift[c] = 0.0
    for b in range(blocks_of(space)):
        if is_cone(space, b):
            y, along = space.velocity[b], space.along[b]
            speed = math.sqrt(y[1] * y[1] + y[2] * y[2]) if follow else 0.0
            space.shift[normal_row(space, b) // 3] += speed
            for r in range(2):
                # t = y_t / y_n instead of y_t / |y_t|: for what slides they agree in the limit, as
                # y_n -> |y_t|; for what sticks, |y_t| has a kink that would make steps jump from
                # side to side.
                along[r] = y[1 + r] / y[0] if speed > 0.0 else 0.0


@compiled
def mean_product(space: FrictionSpace) -> float:
    """Return the mean product of forces and velocities of cones, and of distances to bounds."""
    z, y, contacts, total, count = space.z, space.y, space.sizes[CONTACTS], 0.0, 0
    for b in range(blocks_of(space)):
        if is_cone(space, b):
            total += load_vec(space.force[b], 3) @ load_vec(space.velocity[b], 3)
            count += 1
    for k in range(space.sizes[ROWS]):
        i = 3 * contacts + k
        if y[i] > 0.0:
            # An interval is two linear cones: the distance to each bound times the velocity that
            # belongs to it.
            total += (z[i] - space.low[k]) * y[i]
            count += 1
        if space.upper[k] > 0.0:
            total += (space.high[k] - z[i]) * space.upper[k]
            count += 1
    return total / max(count, 1)


@compiled
def gap(distance: float) -> float:
    """Return the distance from a bound, no less than what rounding may take away."""
    return max(distance, 1e-14)


@compiled
def assemble_scaled(space: FrictionSpace) -> None:
    """Factorize A and C W^2 of cones, and velocities by distances to bounds of rows."""
    A, M, z, y = space.A, space.factor, space.z, space.y
    contacts, n = space.sizes[CONTACTS], size_of(space)
    for i in range(n):
        row, into = A[i], M[i]
        for j in range(n):
            into[j] = row[j]
        # Redundant contacts leave A singular, and W^2 vanishes with the velocities of what sticks.
        into[i] += PROXIMAL
    for b in range(blocks_of(space)):
        if not is_cone(space, b):
            continue
        beta, v = scaling(load_vec(space.force[b], 3), load_vec(space.velocity[b], 3))
        space.beta[b], space.axis[b] = beta, v
        normal, tangent = normal_row(space, b), tangent_row(space, b)
        size = 1 + tangents_of(space, b)
        for r in range(size):
            # Columns of W^2, one at a time: W twice.
            unit = Vec(r == 0, r == 1, r == 2)
            column = kept_normal(space.along[b], scaled(beta, v, scaled(beta, v, unit)))
            j = normal if r == 0 else tangent + r - 1
            M[normal, j] += column[0]
            for s in range(1, size):
                M[tangent + s - 1, j] += column[s]
    for k in range(space.sizes[ROWS]):
        i = 3 * contacts + k
        if not space.low[k] < space.high[k]:
            # It cannot move.
            M[i, i] += 1e30
        else:
            M[i, i] += y[i] / gap(z[i] - space.low[k]) + space.upper[k] / gap(space.high[k] - z[i])
    factorize_pivoted(M, space.order, n)


@compiled
def kept_normal(along: FloatArray, h: Vec3) -> Vec3:
    """Return the change C h of u for one of a cone's y: what the term adds is not u's."""
    return Vec(h[0] - (along[0] * h[1] + along[1] * h[2]), h[1], h[2])


@compiled
def remember_prediction(space: FrictionSpace) -> None:
    """Take the present step as what the predictor has found, of cones and of rows."""
    first = 3 * space.sizes[CONTACTS]
    of_cones(space, space.step, space.predicted)
    for k in range(space.sizes[ROWS]):
        space.row[first + k] = space.step[first + k]


@compiled
def find_step(space: FrictionSpace, product: float) -> None:
    """Find the changes of forces and velocities; the matrix is factorized.

    :param product: desired product of forces and velocities
    """
    assemble_rhs(space, product)
    solve_pivoted(space.factor, space.order, space.step, size_of(space))
    of_cones(space, space.step, space.force_change)
    for b in range(blocks_of(space)):
        if is_cone(space, b):
            velocity_step(space, b)
    for k in range(space.sizes[ROWS]):
        bound_step(space, k)


@compiled
def velocity_step(space: FrictionSpace, b: int) -> None:
    """Find the change of a cone's velocity, dy = h - W^2 dx."""
    beta, v, dx = space.beta[b], load_vec(space.axis[b], 3), load_vec(space.force_change[b], 3)
    effect = scaled(beta, v, scaled(beta, v, dx))
    space.velocity_change[b] = load_vec(space.cone_rhs[b], 3) - effect


@compiled
def find_bound_rhs(space: FrictionSpace, k: int, product: float) -> None:
    """Find what of both velocities' changes is no effect of dx, at a row's bounds."""
    i = 3 * space.sizes[CONTACTS] + k
    below, above = gap(space.z[i] - space.low[k]), gap(space.high[k] - space.z[i])
    before, y, y_high, h = space.row[i], space.y[i], space.upper[k], space.bound_rhs[k]
    h[0] = h[1] = 0.0
    if y > 0.0:
        # dy = (sigma mu - dz_a dy_a) / below - y - (y / below) dz with the predictor's dz_a =
        # `before` and dy_a = -y - (y / below) dz_a: Mehrotra's corrector of a scalar product.
        h[0] = (product + before * (y + y / below * before)) / below - y
    if y_high > 0.0:
        h[1] = (product - before * (y_high - y_high / above * before)) / above - y_high


@compiled
def bound_step(space: FrictionSpace, k: int) -> None:
    """Find the changes of both velocities at a row's bounds."""
    i, dy = 3 * space.sizes[CONTACTS] + k, space.bound_velocity_change[k]
    dy[0], dy[1] = space.bound_rhs[k, 0], space.bound_rhs[k, 1]
    if space.y[i] > 0.0:
        dy[0] -= space.y[i] / gap(space.z[i] - space.low[k]) * space.step[i]
    if space.upper[k] > 0.0:
        dy[1] += space.upper[k] / gap(space.high[k] - space.z[i]) * space.step[i]


@compiled
def assemble_rhs(space: FrictionSpace, product: float) -> None:
    """Find the right-hand side, C h - (u + s - y), and those of cones and bounds."""
    u, step = space.u, space.step
    contacts = space.sizes[CONTACTS]
    for i in range(size_of(space)):
        step[i] = -u[i]
    for c in range(contacts):
        # -(u + s - y) of the module's equation; y is added with the cones below, since several
        # share a row.
        step[3 * c] -= space.shift[c]
    for b in range(blocks_of(space)):
        if is_cone(space, b):
            v, force = load_vec(space.axis[b], 3), load_vec(space.force[b], 3)
            predicted, tangent = load_vec(space.predicted[b], 3), tangent_row(space, b)
            rhs = find_cone_rhs(space.beta[b], v, force, predicted, product)
            space.cone_rhs[b] = rhs
            part = kept_normal(space.along[b], rhs) + load_vec(space.velocity[b], 3)
            step[normal_row(space, b)] += part[0]
            for r in range(tangents_of(space, b)):
                step[tangent + r] += part[1 + r]
    for k in range(space.sizes[ROWS]):
        i = 3 * contacts + k
        find_bound_rhs(space, k, product)
        step[i] += space.bound_rhs[k, 0] - space.bound_rhs[k, 1] + space.y[i] - space.upper[k]


@compiled
def longest_step(space: FrictionSpace) -> float:
    """Return the number of steps to the first boundary; zero if some step is no number."""
    z, y, step, upper = space.z, space.y, space.step, space.upper
    contacts, longest, total = space.sizes[CONTACTS], math.inf, 0.0
    for b in range(blocks_of(space)):
        if is_cone(space, b):
            change = load_vec(space.velocity_change[b], 3)
            # Forces and velocities end at the same length: unequal ones would violate the linear
            # equation that couples them.
            longest = min(
                longest,
                step_to_boundary(load_vec(space.force[b], 3), load_vec(space.force_change[b], 3)),
                step_to_boundary(load_vec(space.velocity[b], 3), change),
            )
            total += abs(change[0]) + abs(change[1]) + abs(change[2])
    for k in range(space.sizes[ROWS]):
        i, dy = 3 * contacts + k, space.bound_velocity_change[k]
        if y[i] > 0.0:
            if step[i] < 0.0:
                longest = min(longest, (space.low[k] - z[i]) / step[i])
            if dy[0] < 0.0:
                longest = min(longest, -y[i] / dy[0])
        if upper[k] > 0.0:
            if step[i] > 0.0:
                longest = min(longest, (space.high[k] - z[i]) / step[i])
            if dy[1] < 0.0:
                longest = min(longest, -upper[k] / dy[1])
        total += abs(step[i])
    # Also false for NaN, as every comparison with it.
    return longest if total < math.inf else 0.0


@compiled
def product_after(space: FrictionSpace, length: float) -> float:
    """Return the mean product that a step of the predictor would leave."""
    z, y, step = space.z, space.y, space.step
    contacts, total, count = space.sizes[CONTACTS], 0.0, 0
    # The predictor does not go beyond its full step, which makes all products zero to first order.
    t = min(length, 1.0)
    for b in range(blocks_of(space)):
        if is_cone(space, b):
            for r in range(3):
                force = space.force[b, r] + t * space.force_change[b, r]
                total += force * (space.velocity[b, r] + t * space.velocity_change[b, r])
            count += 1
    for k in range(space.sizes[ROWS]):
        i, dy = 3 * contacts + k, space.bound_velocity_change[k]
        if y[i] > 0.0:
            total += (z[i] + t * step[i] - space.low[k]) * (y[i] + t * dy[0])
            count += 1
        if space.upper[k] > 0.0:
            total += (space.high[k] - z[i] - t * step[i]) * (space.upper[k] + t * dy[1])
            count += 1
    return total / max(count, 1)


@compiled
def identify(space: FrictionSpace) -> None:
    """Compute the states of contacts, rows, moments.

    Whichever of force and velocity is smaller vanishes.
    """
    x, y, state = space.x, space.y, space.state
    contacts = space.sizes[CONTACTS]
    of_cones(space, x, space.force)
    for c in range(contacts):
        state[c] = state_of(space.force[c], space.velocity[c])
        if state[c] == SLIDE:
            find_slip_direction(space.force[c], space.slip_direction[c])
    for k in range(space.sizes[ROWS]):
        i, b = 3 * contacts + k, contacts + k
        state[b] = STICK
        if x[i] - space.low[k] < y[i]:
            state[b] = OPEN
            x[i] = space.low[k]
        elif space.high[k] - x[i] < space.upper[k]:
            state[b] = OPEN
            x[i] = space.high[k]
    for k in range(space.sizes[MOMENTS]):
        b = contacts + space.sizes[ROWS] + k
        if space.part[k] != SECOND:
            # Of a contact that opens a moment has no state of its own.
            found = state_of(space.force[b], space.velocity[b])
            for r in range(tangents_of(space, b)):
                state[b + r] = SLIDE if found == SLIDE else STICK
            if found == SLIDE:
                find_slip_direction(space.force[b], space.along[b])
                for r in range(tangents_of(space, b)):
                    space.moment_direction[k + r] = space.along[b, r]
    if space.sizes[MOMENTS] > 0:
        follow_normals(space)
    refresh(space)


@compiled
def state_of(x: FloatArray, y: FloatArray) -> int:
    """Return the state of a cone, by its force and its velocity, (3,)."""
    force = math.sqrt(x[1] * x[1] + x[2] * x[2])
    speed = math.sqrt(y[1] * y[1] + y[2] * y[2])
    # By the eigenvalues x_n +- |x_t| of both in the Jordan algebra: open if the larger one of the
    # force is below the smaller one of the velocity, sticking in the reverse case; else both are
    # near their boundaries, which is sliding.
    if x[0] + force < y[0] - speed:
        return OPEN
    if y[0] + speed < x[0] - force or not force > 0.0:
        return STICK
    return SLIDE


@compiled
def find_slip_direction(x: FloatArray, direction: FloatArray) -> None:
    """Find the unit vector along which friction x slides, (2,)."""
    force = math.sqrt(x[1] * x[1] + x[2] * x[2])
    for r in range(2):
        direction[r] = -x[1 + r] / force
