"""Interior-point method for frictional contact, with De Saxce's term in its equations.

Forces x and velocities y = u + s, s = (|y_t|, 0, 0), stay inside their cones while the products of
both are led to zero by Mehrotra's predictor and corrector, in the scaling of Nesterov and Todorov
(Vandenberghe, The CVXOPT linear and quadratic cone program solvers, 2010), W x = W^-1 y. A change
of y is dy = h - W^2 dx, and what of it is one of u = A x + b is C dy, as the term grows with the
velocity along t = y_t / y_n, the sliding direction of what slides:

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

from rbd_ros.compiler.loops import compiled, vector
from rbd_ros.constraints.friction_space import (
    clamp,
    CONTACTS,
    FloatArray,
    FrictionSpace,
    is_solved,
    OPEN,
    refresh,
    return_to_best,
    ROWS,
    size_of,
    SLIDE,
    STICK,
)
from rbd_ros.constraints.solvers.dense import factorise_pivoted, solve_pivoted
from rbd_ros.constraints.solvers.friction_newton import newton

#: Easier ways are taken first: see `runs_seldom`.
SELDOM = True

#: Added to the diagonal.
PROXIMAL = 1e-13

#: Forces and velocities to begin with: far inside, as forces of ill-conditioned problems are.
FIRST_FORCE, FIRST_VELOCITY = 1e3, 1.0

#: Part of the way to the boundaries that is gone at most.
CAUTION = 0.95

#: Mean product of forces and velocities below which Newton's method attempts to finish, and most
#: steps of an attempt.
NEAR, NEWTON_LIMIT = 1e-4, 20

#: Part of it that is left when the next attempt is made.
FURTHER = 0.1


@compiled
def interior(space: FrictionSpace, limit: int, follow: bool) -> bool:
    """Solve from the middle of the cones; returns whether the problem is solved.

    :param limit: most steps
    :param follow: whether De Saxce's term follows the velocities; else it is zero
    """
    x, z, y, u, step, upper = space.x, space.z, space.y, space.u, space.step, space.upper
    contacts, n = space.sizes[CONTACTS], size_of(space)
    v, d, h = vector(3), vector(3), vector(3)
    begin(space)
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
        assemble_scaled(space, v)
        # The predictor: as far as products of zero are aimed at.
        for i in range(n):
            step[i] = -u[i]
        for c in range(contacts):
            i, along = 3 * c, space.direction[c]
            step[i] -= space.shift[c] - (along[0] * y[i + 1] + along[1] * y[i + 2])
        solve_pivoted(space.factor, space.order, step, n)
        for i in range(n):
            space.row[i] = 0.0
        affine = longest_step(space, 0.0, v, d, h)
        left = product_after(space, affine, v, d, h)
        part = clamp(left / mean, 0.0, 1.0) if mean > 0.0 else 0.0
        aim = part * part * part * mean
        for i in range(n):
            space.row[i] = step[i]
        right_side(space, aim, v, d, h)
        solve_pivoted(space.factor, space.order, step, n)
        length = min(1.0, CAUTION * longest_step(space, aim, v, d, h))
        if not length > 0.0:
            break
        for c in range(contacts):
            i = 3 * c
            velocity_step(space, i, aim, v, d, h)
            for r in range(3):
                z[i + r] += length * step[i + r]
                y[i + r] += length * h[r]
        for k in range(space.sizes[ROWS]):
            i = 3 * contacts + k
            bound_step(space, k, aim, h)
            z[i] += length * step[i]
            y[i] += length * h[0]
            upper[k] += length * h[1]
    return_to_best(space)
    return False


@compiled
def begin(space: FrictionSpace) -> None:
    """Start from the middle of cones and intervals."""
    z, y = space.z, space.y
    contacts = space.sizes[CONTACTS]
    for c in range(contacts):
        i = 3 * c
        z[i], y[i] = FIRST_FORCE, FIRST_VELOCITY
        z[i + 1] = z[i + 2] = y[i + 1] = y[i + 2] = 0.0
    for k in range(space.sizes[ROWS]):
        i, low, high = 3 * contacts + k, space.low[k], space.high[k]
        below, above = low > -math.inf, high < math.inf
        y[i] = FIRST_VELOCITY if below and low < high else 0.0
        space.upper[k] = FIRST_VELOCITY if above and low < high else 0.0
        if below and above:
            z[i] = 0.5 * (low + high)
        elif below:
            z[i] = low + FIRST_FORCE
        elif above:
            z[i] = high - FIRST_FORCE
        else:
            z[i] = 0.0


@compiled
def find_term(space: FrictionSpace, follow: bool) -> None:
    """De Saxce's term |y_t| of all contacts, and how it is taken to grow.

    :param follow: see `interior`
    """
    y, direction = space.y, space.direction
    for c in range(space.sizes[CONTACTS]):
        i = 3 * c
        speed = math.sqrt(y[i + 1] * y[i + 1] + y[i + 2] * y[i + 2]) if follow else 0.0
        space.shift[c] = speed
        for r in range(2):
            direction[c, r] = y[i + 1 + r] / y[i] if speed > 0.0 else 0.0


@compiled
def mean_product(space: FrictionSpace) -> float:
    """Mean product of forces and velocities of contacts, and of distances to bounds likewise."""
    z, y = space.z, space.y
    contacts, total, count = space.sizes[CONTACTS], 0.0, 0
    for c in range(contacts):
        i = 3 * c
        total += z[i] * y[i] + z[i + 1] * y[i + 1] + z[i + 2] * y[i + 2]
        count += 1
    for k in range(space.sizes[ROWS]):
        i = 3 * contacts + k
        if y[i] > 0.0:
            total += (z[i] - space.low[k]) * y[i]
            count += 1
        if space.upper[k] > 0.0:
            total += (space.high[k] - z[i]) * space.upper[k]
            count += 1
    return total / max(count, 1)


@compiled
def square(x: FloatArray, i: int) -> float:
    """x_n^2 - |x_t|^2 of a contact, which is positive inside the cone."""
    length = math.sqrt(x[i + 1] * x[i + 1] + x[i + 2] * x[i + 2])
    found: float = max((x[i] - length) * (x[i] + length), 1e-28 * x[i] * x[i], 1e-300)
    return found


@compiled
def scaling(space: FrictionSpace, i: int, v: FloatArray) -> float:
    """Scaling W = beta (2 v v^T - J) with W x = W^-1 y, J = diag(1, -1, -1); returns beta.

    :param i: first row of the contact
    :param v: unit vector of the scaling, v . J v = 1, the result, (3,)
    """
    z, y = space.z, space.y
    of_x, of_y = square(z, i), square(y, i)
    a, b = 1.0 / math.sqrt(of_x), 1.0 / math.sqrt(of_y)
    inner = z[i] * y[i] + z[i + 1] * y[i + 1] + z[i + 2] * y[i + 2]
    half = 0.5 / math.sqrt(max(0.5 * (1.0 + inner * a * b), 0.5))
    # No less than one, whatever is rounded.
    w = max(half * (b * y[i] + a * z[i]), 1.0)
    scale = 1.0 / math.sqrt(2.0 * (w + 1.0))
    v[0] = scale * (w + 1.0)
    for r in range(1, 3):
        v[r] = scale * half * (b * y[i + r] - a * z[i + r])
    return math.sqrt(math.sqrt(of_y / of_x))


@compiled
def scale(beta: float, v: FloatArray, x: FloatArray, i: int, result: FloatArray) -> None:
    """Find W x.

    :param i: first element of x
    :param result: likewise, (3,); may be x if i is zero
    """
    inner = 2.0 * (v[0] * x[i] + v[1] * x[i + 1] + v[2] * x[i + 2])
    result[0] = beta * (inner * v[0] - x[i])
    result[1] = beta * (inner * v[1] + x[i + 1])
    result[2] = beta * (inner * v[2] + x[i + 2])


@compiled
def gap(distance: float) -> float:
    """Distance from a bound, no less than what rounding may take away."""
    return max(distance, 1e-14)


@compiled
def assemble_scaled(space: FrictionSpace, v: FloatArray) -> None:
    """Factorise A and C W^2 of contacts, and velocities by distances to bounds of rows.

    :param v: room, (3,)
    """
    A, M, z, y = space.A, space.factor, space.z, space.y
    contacts, n = space.sizes[CONTACTS], size_of(space)
    for i in range(n):
        row, into = A[i], M[i]
        for j in range(n):
            into[j] = row[j]
        into[i] += PROXIMAL
    column = vector(3)
    for c in range(contacts):
        i = 3 * c
        beta = scaling(space, i, v)
        for r in range(3):
            column[0] = column[1] = column[2] = 0.0
            column[r] = 1.0
            scale(beta, v, column, 0, column)
            scale(beta, v, column, 0, column)
            keep_normal(space, c, column)
            for s in range(3):
                M[i + s, i + r] += column[s]
    for k in range(space.sizes[ROWS]):
        i = 3 * contacts + k
        if not space.low[k] < space.high[k]:
            # It cannot move.
            M[i, i] += 1e30
        else:
            M[i, i] += y[i] / gap(z[i] - space.low[k]) + space.upper[k] / gap(space.high[k] - z[i])
    factorise_pivoted(M, space.order, n)


@compiled
def keep_normal(space: FrictionSpace, c: int, h: FloatArray) -> None:
    """Replace a change of a contact's y by that of u, C h: what the term adds is not u's."""
    h[0] -= space.direction[c, 0] * h[1] + space.direction[c, 1] * h[2]


@compiled
def aim_at(
    space: FrictionSpace, i: int, aim: float, v: FloatArray, d: FloatArray, h: FloatArray
) -> float:
    """What of dy is no effect of dx, h = W times lambda divided into r; returns beta.

    :param i: first row of the contact
    :param aim: product of forces and velocities that is aimed at
    :param v: unit vector of the scaling, a result, (3,)
    :param d: room, (3,)
    :param h: the result, (3,)
    """
    beta: float = scaling(space, i, v)
    # lambda o lambda and the product of both predicted changes: lambda o lambda - d o (lambda + d)
    scale(beta, v, space.z, i, h)
    scale(beta, v, space.row, i, d)
    l_0, l_1, l_2 = h[0], h[1], h[2]
    e_0, e_1, e_2 = l_0 + d[0], l_1 + d[1], l_2 + d[2]
    r_0 = aim - (l_0 * l_0 + l_1 * l_1 + l_2 * l_2) + d[0] * e_0 + d[1] * e_1 + d[2] * e_2
    r_1 = -2.0 * l_0 * l_1 + d[0] * e_1 + d[1] * e_0
    r_2 = -2.0 * l_0 * l_2 + d[0] * e_2 + d[2] * e_0
    h[0] = (l_0 * r_0 - l_1 * r_1 - l_2 * r_2) / square(h, 0)
    h[1], h[2] = (r_1 - h[0] * l_1) / l_0, (r_2 - h[0] * l_2) / l_0
    scale(beta, v, h, 0, h)
    return beta


@compiled
def velocity_step(
    space: FrictionSpace, i: int, aim: float, v: FloatArray, d: FloatArray, h: FloatArray
) -> None:
    """Find the change of a contact's velocity, dy = h - W^2 dx.

    :param h: the result, (3,); the others as `aim_at` has them
    """
    beta = aim_at(space, i, aim, v, d, h)
    scale(beta, v, space.step, i, d)
    scale(beta, v, d, 0, d)
    for r in range(3):
        h[r] -= d[r]


@compiled
def bound_aim(space: FrictionSpace, k: int, aim: float, h: FloatArray) -> None:
    """Find what of both velocities' changes is no effect of dx, at a row's bounds.

    :param h: at the lower one, then at the upper one, (2,) or longer
    """
    i = 3 * space.sizes[CONTACTS] + k
    below, above = gap(space.z[i] - space.low[k]), gap(space.high[k] - space.z[i])
    before, y, y_high = space.row[i], space.y[i], space.upper[k]
    h[0] = h[1] = 0.0
    if y > 0.0:
        h[0] = (aim + before * (y + y / below * before)) / below - y
    if y_high > 0.0:
        h[1] = (aim - before * (y_high - y_high / above * before)) / above - y_high


@compiled
def bound_step(space: FrictionSpace, k: int, aim: float, h: FloatArray) -> None:
    """Find the changes of both velocities at a row's bounds."""
    bound_aim(space, k, aim, h)
    i = 3 * space.sizes[CONTACTS] + k
    if space.y[i] > 0.0:
        h[0] -= space.y[i] / gap(space.z[i] - space.low[k]) * space.step[i]
    if space.upper[k] > 0.0:
        h[1] += space.upper[k] / gap(space.high[k] - space.z[i]) * space.step[i]


@compiled
def right_side(
    space: FrictionSpace, aim: float, v: FloatArray, d: FloatArray, h: FloatArray
) -> None:
    """Find the right-hand side of the corrector, C h - (u + s - y)."""
    y, u, step = space.y, space.u, space.step
    contacts = space.sizes[CONTACTS]
    for c in range(contacts):
        i = 3 * c
        aim_at(space, i, aim, v, d, h)
        keep_normal(space, c, h)
        for r in range(3):
            step[i + r] = h[r] - u[i + r] + y[i + r]
        step[i] -= space.shift[c]
    for k in range(space.sizes[ROWS]):
        i = 3 * contacts + k
        bound_aim(space, k, aim, h)
        step[i] = h[0] - h[1] - u[i] + y[i] - space.upper[k]


@compiled
def room_along(x: FloatArray, i: int, d: FloatArray, j: int) -> float:
    """How many steps d there are from x to the boundary of the cone."""
    a = d[j] * d[j] - d[j + 1] * d[j + 1] - d[j + 2] * d[j + 2]
    b = x[i] * d[j] - x[i + 1] * d[j + 1] - x[i + 2] * d[j + 2]
    c = square(x, i)
    root = b * b - a * c
    if root < 0.0:
        return math.inf
    divisor = math.sqrt(root) - b
    return c / divisor if divisor > 0.0 else math.inf


@compiled
def longest_step(
    space: FrictionSpace, aim: float, v: FloatArray, d: FloatArray, h: FloatArray
) -> float:
    """How many steps there are to the first boundary; zero if some step is no number."""
    z, y, step, upper = space.z, space.y, space.step, space.upper
    contacts, longest, total = space.sizes[CONTACTS], math.inf, 0.0
    for c in range(contacts):
        i = 3 * c
        velocity_step(space, i, aim, v, d, h)
        longest = min(longest, room_along(z, i, step, i), room_along(y, i, h, 0))
        total += abs(h[0]) + abs(h[1]) + abs(h[2])
    for k in range(space.sizes[ROWS]):
        i = 3 * contacts + k
        bound_step(space, k, aim, h)
        if y[i] > 0.0:
            if step[i] < 0.0:
                longest = min(longest, (space.low[k] - z[i]) / step[i])
            if h[0] < 0.0:
                longest = min(longest, -y[i] / h[0])
        if upper[k] > 0.0:
            if step[i] > 0.0:
                longest = min(longest, (space.high[k] - z[i]) / step[i])
            if h[1] < 0.0:
                longest = min(longest, -upper[k] / h[1])
        total += abs(step[i])
    return longest if total < math.inf else 0.0


@compiled
def product_after(
    space: FrictionSpace, length: float, v: FloatArray, d: FloatArray, h: FloatArray
) -> float:
    """Mean product that a step of the predictor would leave."""
    z, y, step = space.z, space.y, space.step
    contacts, total, count = space.sizes[CONTACTS], 0.0, 0
    t = min(length, 1.0)
    for c in range(contacts):
        i = 3 * c
        velocity_step(space, i, 0.0, v, d, h)
        for r in range(3):
            total += (z[i + r] + t * step[i + r]) * (y[i + r] + t * h[r])
        count += 1
    for k in range(space.sizes[ROWS]):
        i = 3 * contacts + k
        bound_step(space, k, 0.0, h)
        if y[i] > 0.0:
            total += (z[i] + t * step[i] - space.low[k]) * (y[i] + t * h[0])
            count += 1
        if space.upper[k] > 0.0:
            total += (space.high[k] - z[i] - t * step[i]) * (space.upper[k] + t * h[1])
            count += 1
    return total / max(count, 1)


@compiled
def identify(space: FrictionSpace) -> None:
    """States of contacts and rows: whichever of force and velocity is the smaller one vanishes."""
    x, y, state = space.x, space.y, space.state
    contacts = space.sizes[CONTACTS]
    for c in range(contacts):
        i = 3 * c
        force = math.sqrt(x[i + 1] * x[i + 1] + x[i + 2] * x[i + 2])
        speed = math.sqrt(y[i + 1] * y[i + 1] + y[i + 2] * y[i + 2])
        state[c] = SLIDE
        if x[i] + force < y[i] - speed:
            state[c] = OPEN
        elif y[i] + speed < x[i] - force or not force > 0.0:
            state[c] = STICK
        else:
            for r in range(2):
                space.direction[c, r] = -x[i + 1 + r] / force
    for k in range(space.sizes[ROWS]):
        i, b = 3 * contacts + k, contacts + k
        state[b] = STICK
        if x[i] - space.low[k] < y[i]:
            state[b] = OPEN
            x[i] = space.low[k]
        elif space.high[k] - x[i] < space.upper[k]:
            state[b] = OPEN
            x[i] = space.high[k]
    refresh(space)
