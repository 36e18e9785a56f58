# SPDX-License-Identifier: Apache-2.0
"""Newton's method for frictional contact, with the states of contacts as active set.

Of open contacts there are no unknowns. A sticking one has its force, with u = 0; a sliding one has
its normal force and the angle of its direction, with u_n = 0 and no velocity across the direction.
It converges quadratically, to the precision of the numbers, once states are right; each step also
corrects them, but nothing is promised from afar.

Where contacts are redundant, the matrix is singular but the equations are consistent: a little on
its diagonal leaves forces among which it cannot choose near where they are.
"""

from __future__ import annotations

import math

from rbd_ros.compiler.loops import compiled
from rbd_ros.constraints.friction_space import (
    clamp,
    CONTACTS,
    FIRST,
    FloatArray,
    FLOOR,
    FrictionSpace,
    IMMOVABLE,
    is_small,
    MOMENTS,
    NEWTON_STEPS,
    OPEN,
    refresh,
    residual,
    return_to_best,
    ROWS,
    size_of,
    SLIDE,
    STICK,
)
from rbd_ros.constraints.solvers.dense import (
    factorize,
    factorize_pivoted,
    solve_factorized,
    solve_pivoted,
)
from rbd_ros.constraints.solvers.friction_moment_solver import (
    any_moment_slides,
    correct_moments,
    first_moment,
    follow_normals,
    holds,
    start_moments,
)

#: Added to the diagonal, whose largest element is one in each block.
PROXIMAL = 1e-11

#: The same of the symmetric Jacobian, where its effect is taken back: forces among which the
#: matrix cannot choose are found the better, the more there is.
SYMMETRIC = 3e-10

#: Steps in a row that do not improve the best forces, and end the attempt.
PATIENCE = 3

#: Maximum rotation of a sliding direction in one step [rad].
MAX_ROTATION = 0.7


@compiled
def newton(space: FrictionSpace, limit: int, careful: bool) -> bool:
    """Attempt to solve from forces and states as they are; return whether it is solved.

    :param limit: maximum number of steps
    :param careful: whether a step ends where the first contact opens. Of more contacts than a body
        has DoFs, a rounding error of their gaps decides which one bears nothing: whole steps
        are as long as the matrix is near to singular, and would open several
    """
    report = space.report
    before, tried = math.inf, 0
    for _ in range(limit):
        count = list_unknowns(space)
        # The friction of a sliding contact follows its normal force, but not the reverse: the
        # Jacobian is not symmetric then, and L D L^T would be wrong.
        if any_slides(space):
            assemble(space, count)
            factorize_pivoted(space.factor, space.order, count)
            solve_pivoted(space.factor, space.order, space.step, count)
        else:
            assemble_symmetric(space, count)
            solve_symmetric(space, count)
        opening = limit_step(space, count) if careful else -1
        apply(space, count)
        if opening >= 0:
            open_contact(space, opening)
        report[NEWTON_STEPS] += 1.0
        refresh(space)
        # Also keeps the best forces: a step that makes things worse is not lost, but not kept
        # either.
        now = residual(space)
        if is_small(space, now):
            return True
        if opening < 0:
            # Velocities say which ones are to close after a whole step only.
            correct_states(space)
        # States may cycle among degenerate contacts: an attempt ends, the caller has other
        # methods.
        tried = 0 if now < 0.5 * before else tried + 1
        before = min(before, now)
        if tried > PATIENCE or not now < math.inf:
            break
    return_to_best(space)
    return False


@compiled
def is_warm(space: FrictionSpace) -> bool:
    """Return whether there are states of a problem before: not all are open."""
    for b in range(space.sizes[CONTACTS] + space.sizes[ROWS] + space.sizes[MOMENTS]):
        if space.state[b] != OPEN:
            return True
    return False


@compiled
def guess_states(space: FrictionSpace) -> None:
    """Compute the states by forces and velocities alone.

    What bears a load or is about to penetrate sticks.
    """
    x, u, state = space.x, space.u, space.state
    contacts = space.sizes[CONTACTS]
    for c in range(contacts):
        i = 3 * c
        # With no history, to stick is the better guess: its equations are linear, and forces
        # beyond the cone turn it into sliding in the right direction, while a guessed direction
        # may be wrong by 180 deg.
        touches = x[i] > 0.0 or u[i] < 0.0
        state[c] = STICK if touches and space.A[i, i] > IMMOVABLE else OPEN
    for k in range(space.sizes[ROWS]):
        i = 3 * contacts + k
        # Not at a bound that its velocity belongs to.
        free = (x[i] > space.low[k] and u[i] > 0.0) or (x[i] < space.high[k] and u[i] < 0.0)
        state[contacts + k] = STICK if free else OPEN
    if space.sizes[MOMENTS] > 0:
        start_moments(space)
        refresh(space)


@compiled
def correct_start(space: FrictionSpace) -> None:
    """Correct states of another problem, as far as velocities contradict them.

    A row that is at a bound is put to one of this problem's.
    """
    x, u, state = space.x, space.u, space.state
    contacts, moved = space.sizes[CONTACTS], False
    for c in range(contacts):
        w_1, w_2 = space.slip_direction[c, 0], space.slip_direction[c, 1]
        # A sliding contact needs a unit direction; zeros are what a new buffer holds.
        if state[c] == SLIDE and not w_1 * w_1 + w_2 * w_2 > 0.5:
            state[c] = STICK
        elif state[c] == OPEN and u[3 * c] < 0.0 and space.A[3 * c, 3 * c] > IMMOVABLE:
            state[c] = STICK
    for k in range(space.sizes[ROWS]):
        i, b = 3 * contacts + k, contacts + k
        if state[b] == OPEN:
            bound = space.high[k] if u[i] < 0.0 else space.low[k]
            # There is no bound on that side to be at: the row has to be free.
            if not abs(bound) < math.inf:
                state[b] = STICK
            elif x[i] != bound:
                x[i] = bound
                moved = True
    if space.sizes[MOMENTS] > 0:
        start_moments(space)
        moved = True
    if moved:
        refresh(space)


@compiled
def any_slides(space: FrictionSpace) -> bool:
    """Return whether anything slides, without which the Jacobian is symmetric."""
    for c in range(space.sizes[CONTACTS]):
        if space.state[c] == SLIDE:
            return True
    slides: bool = any_moment_slides(space)
    return slides


@compiled
def assemble_symmetric(space: FrictionSpace, count: int) -> None:
    """Find the upper half of the Jacobian, a part of A, and the right-hand side.

    :param count: number of unknowns, all of them single forces
    """
    A, J, at = space.A, space.factor, space.at
    for a in range(count):
        i = at[a, 0]
        row, into = A[i], J[a]
        for b in range(a, count):
            into[b] = row[at[b, 0]]
        # The proximal term of Rockafellar (1976): A is singular where contacts are redundant.
        into[a] += SYMMETRIC
        space.step[a] = -space.u[i]


@compiled
def solve_symmetric(space: FrictionSpace, count: int) -> None:
    """Solve for the step, and take back what the little on the diagonal has changed.

    :param count: number of unknowns
    """
    step, first = space.step, space.row
    factorize(space.factor, count)
    solve_factorized(space.factor, step, count)
    for a in range(count):
        # One step of iterative refinement: with M = A + delta 1, M d = r + delta d_0 leaves an
        # error of delta^2 instead of delta, and d stays zero where A cannot choose.
        first[a] = step[a]
        step[a] *= SYMMETRIC
    solve_factorized(space.factor, step, count)
    for a in range(count):
        step[a] += first[a]


@compiled
def add_unknown(space: FrictionSpace, k: int, block: int, part: int, row: int) -> int:
    """Enter an unknown that is one element of x, with its element of u; return the next number.

    :param k: number of the unknown
    :param block: contact, or row after all contacts
    :param part: 0, or 1 for the rotation of a sliding direction
    :param row: the element
    """
    unknown, at = space.unknown[k], space.at[k]
    unknown[0], unknown[1] = block, part
    at[0], at[1], at[2], at[3] = row, 1, row, 1
    space.basis[k, 0] = space.test[k, 0] = 1.0
    return k + 1


@compiled
def add_rotation(
    space: FrictionSpace, k: int, block: int, row: int, w_1: float, w_2: float
) -> int:
    """Enter the rotation of a sliding direction: a force across it and the velocity there.

    :param k: number of the unknown
    :param block: contact, or row after all contacts
    :param row: the first element of the direction
    :param w_1: the direction
    :param w_2: the direction
    """
    following: int = add_unknown(space, k, block, 1, row)
    space.at[k, 1] = space.at[k, 3] = 2
    # Across w, by a rotation of -90 deg: (w_2, -w_1). A force along it rotates the friction force.
    space.basis[k, 0] = space.test[k, 0] = w_2
    space.basis[k, 1] = space.test[k, 1] = -w_1
    return following


@compiled
def contact_of(space: FrictionSpace, block: int) -> int:
    """Return the contact whose normal force bounds a moment.

    :param block: the contact itself, or a row of moments
    """
    contacts = space.sizes[CONTACTS]
    found: int = block
    if block >= contacts:
        found = space.moment_contact[block - contacts - space.sizes[ROWS]]
    return found


@compiled
def list_unknowns(space: FrictionSpace) -> int:
    """List unknowns and equations of the present states; return their number."""
    state, A = space.state, space.A
    contacts, k = space.sizes[CONTACTS], 0
    for c in range(contacts):
        i = 3 * c
        # Rows of moments look the unknown up here, since their bound moves with it.
        space.normal[c] = k if state[c] != OPEN and A[i, i] > IMMOVABLE else -1
        if state[c] == STICK:
            for r in range(3):
                if A[i + r, i + r] > IMMOVABLE:
                    k = add_unknown(space, k, c, 0, i + r)
        elif state[c] == SLIDE:
            w_1, w_2 = space.slip_direction[c, 0], space.slip_direction[c, 1]
            # A larger normal force brings its friction with it.
            space.basis[k, 1], space.basis[k, 2] = -w_1, -w_2
            k = add_unknown(space, k, c, 0, i)
            space.at[k - 1, 1] = 3
            k = add_rotation(space, k, c, i + 1, w_1, w_2)
    for r in range(space.sizes[ROWS]):
        i = 3 * contacts + r
        if state[contacts + r] == STICK and A[i, i] > IMMOVABLE:
            k = add_unknown(space, k, contacts + r, 0, i)
    first, block = first_moment(space), contacts + space.sizes[ROWS]
    for r in range(space.sizes[MOMENTS]):
        i = first + r
        if not holds(space, r) or not A[i, i] > IMMOVABLE:
            continue
        if state[block + r] == STICK:
            k = add_unknown(space, k, block + r, 0, i)
        elif space.part[r] == FIRST and A[i + 1, i + 1] > IMMOVABLE:
            w_1, w_2 = space.moment_direction[r], space.moment_direction[r + 1]
            k = add_rotation(space, k, block + r, i, w_1, w_2)
    return k


@compiled
def assemble(space: FrictionSpace, count: int) -> None:
    """Find the Jacobian and the right-hand side.

    :param count: number of unknowns
    """
    A, u, x, J, part = space.A, space.u, space.x, space.factor, space.row
    largest, n = 0.0, size_of(space)
    for i in range(n):
        largest = max(largest, abs(x[i]))
    for a in range(count):
        row = space.at[a, 2]
        if space.unknown[a, 1] == 0:
            space.step[a] = -u[row]
            apply_bases(space, A[row], a, count)
        else:
            c = contact_of(space, space.unknown[a, 0])
            t, t_1 = space.test[a, 0], space.test[a, 1]
            first, second = A[row], A[row + 1]
            for j in range(n):
                part[j] = t * first[j] + t_1 * second[j]
            space.step[a] = -(t * u[row] + t_1 * u[row + 1])
            apply_bases(space, part, a, count)
            # The direction turns under the velocity as well.
            # The equation is t . u = 0 with t across w. As w turns by d(theta), t . u changes by
            # -(w . u) d(theta), and the unknown is the force x_n d(theta): hence speed / x_n. A
            # negative speed contradicts the state; without it the diagonal stays positive.
            speed = t * u[row + 1] - t_1 * u[row]
            J[a, a] += max(speed, 0.0) / max(x[3 * c], 1e-12 * largest, 1e-300)
        J[a, a] += PROXIMAL


@compiled
def apply_bases(space: FrictionSpace, row: FloatArray, a: int, count: int) -> None:
    """Find what all unknowns do to an equation.

    :param row: what forces x do to it, (N,)
    :param a: number of the equation
    :param count: number of unknowns
    """
    into, at = space.factor[a], space.at
    for b in range(count):
        i, size = at[b, 0], at[b, 1]
        if size == 1:
            into[b] = row[i]
        else:
            basis = space.basis[b]
            total = row[i] * basis[0] + row[i + 1] * basis[1]
            if size == 3:
                total += row[i + 2] * basis[2]
            into[b] = total
    first, block = first_moment(space), space.sizes[CONTACTS] + space.sizes[ROWS]
    for k in range(space.sizes[MOMENTS]):
        c = space.moment_contact[k]
        if space.state[block + k] == SLIDE and space.normal[c] >= 0:
            # A moment that slides has the size of the normal force, so the normal's unknown brings
            # it along.
            into[space.normal[c]] -= space.moment_direction[k] * row[first + k]


@compiled
def limit_step(space: FrictionSpace, count: int) -> int:
    """Shorten the step to where the first contact opens; return this contact, -1 if none does.

    :param count: number of unknowns
    """
    share, opening = 1.0, -1
    for k in range(count):
        block = space.unknown[k, 0]
        if block < space.sizes[CONTACTS] and space.normal[block] == k:
            force, change = space.x[3 * block], space.step[k]
            if force + share * change < 0.0:
                # The ratio test of an active-set method: the first force to reach zero ends the
                # step.
                share, opening = max(0.0, force / -change), block
    for k in range(count):
        space.step[k] *= share
    return opening


@compiled
def open_contact(space: FrictionSpace, c: int) -> None:
    """Take a contact's force away.

    :param c: number of the contact
    """
    space.state[c] = OPEN
    for r in range(3):
        space.x[3 * c + r] = 0.0


@compiled
def apply(space: FrictionSpace, count: int) -> None:
    """Add the step to the forces, and keep sliding ones on the boundary of their cones.

    :param count: number of unknowns
    """
    x, state = space.x, space.state
    contacts = space.sizes[CONTACTS]
    for c in range(contacts):
        if state[c] == OPEN:
            x[3 * c] = x[3 * c + 1] = x[3 * c + 2] = 0.0
    for k in range(count):
        block = space.unknown[k, 0]
        change = space.step[k]
        if space.unknown[k, 1] == 0:
            x[space.at[k, 0]] += change
        else:
            # Normal forces precede it in the list, and have been changed.
            c = contact_of(space, block)
            before = x[3 * c]
            if space.normal[c] >= 0:
                before -= space.step[space.normal[c]]
            # The unknown is a force across; over the normal force it is the angle of the
            # direction.
            angle = change / before if before > 0.0 else 0.0
            angle = min(max(angle, -MAX_ROTATION), MAX_ROTATION)
            w_1, w_2 = -space.test[k, 1], space.test[k, 0]
            w_1, w_2 = (
                w_1 * math.cos(angle) - w_2 * math.sin(angle),
                w_2 * math.cos(angle) + w_1 * math.sin(angle),
            )
            size = math.sqrt(w_1 * w_1 + w_2 * w_2)
            if block < contacts:
                space.slip_direction[c, 0], space.slip_direction[c, 1] = w_1 / size, w_2 / size
                # Back onto the boundary of the cone: the linear step left it by second-order
                # terms.
                x[3 * c + 1], x[3 * c + 2] = -x[3 * c] * w_1 / size, -x[3 * c] * w_2 / size
            else:
                r = block - contacts - space.sizes[ROWS]
                space.moment_direction[r], space.moment_direction[r + 1] = w_1 / size, w_2 / size
    follow_normals(space)


@compiled
def correct_states(space: FrictionSpace) -> None:
    """Change the states that forces or velocities contradict, by more than rounding errors."""
    x, u, state = space.x, space.u, space.state
    contacts = space.sizes[CONTACTS]
    floor, changed = space.report[FLOOR], False
    for c in range(contacts):
        i = 3 * c
        if state[c] == OPEN:
            # It penetrates without a force: it has to bear one.
            if u[i] < -floor and space.A[i, i] > IMMOVABLE:
                state[c] = STICK
            continue
        if x[i] < 0.0:
            state[c] = OPEN
            x[i] = x[i + 1] = x[i + 2] = 0.0
            changed = True
        elif state[c] == STICK:
            length = math.sqrt(x[i + 1] * x[i + 1] + x[i + 2] * x[i + 2])
            if length > x[i]:
                state[c] = SLIDE
                changed = True
                for r in range(2):
                    space.slip_direction[c, r] = -x[i + 1 + r] / length
                    x[i + 1 + r] *= x[i] / length
        elif (
            space.slip_direction[c, 0] * u[i + 1] + space.slip_direction[c, 1] * u[i + 2] < -floor
        ):
            state[c] = STICK
    for k in range(space.sizes[ROWS]):
        i, b = 3 * contacts + k, contacts + k
        low, high = space.low[k], space.high[k]
        if state[b] == STICK:
            if x[i] < low or x[i] > high:
                state[b] = OPEN
                x[i] = clamp(x[i], low, high)
                changed = True
        elif (x[i] > low and u[i] > floor) or (x[i] < high and u[i] < -floor):
            # Away from the bound that its velocity belongs to, or between both.
            state[b] = STICK
    moments_changed = correct_moments(space, floor)
    if changed or moments_changed:
        refresh(space)
