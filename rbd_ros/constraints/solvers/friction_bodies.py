"""Frictional contact among many bodies, without a matrix of all contacts.

A contact knows its two bodies; sweeps solve one contact after another, exactly, and pass the
change of its force on to the velocities of these bodies at once. So a sweep takes a time that is
linear in the number of contacts. From sweep to sweep forces go on along the direction of a
nonlinear conjugate gradient (Silcowitz, Niebe and Erleben 2010), and now and then a linear one
stops what sticks: loads travel through piles much faster than from contact to contact.

With D = diag(1, mu_1, mu_2) d of each contact, d such that the largest element of its own block is
one, x = D^-1 lambda and u = D v: each cone is the Lorentz cone, as in friction_space.py.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from rbd_ros.compiler.loops import compiled, entry_point, floats, integers, vector
from rbd_ros.constraints.friction_space import (
    ALONE,
    clamp,
    contact_residual,
    FIRST,
    FloatArray,
    IMMOVABLE,
    IntArray,
    moment_residual,
    OPEN,
    SLIDE,
    STICK,
)
from rbd_ros.constraints.solvers.body_matrix import (
    add_contact,
    begin_matrix,
    BodyMatrix,
    factorise_bodies,
    order_bodies,
    solve_bodies_matrix,
)
from rbd_ros.constraints.solvers.friction_moments import solve_disc
from rbd_ros.constraints.solvers.friction_sweeps import solve_block

#: Where in `sizes` which number is; the third is 1 if contacts have couples, and 0 otherwise, the
#: last is the number of bodies that have contacts.
BODIES, CONTACTS, COUPLES, MEMBERS = 0, 1, 2, 3

#: Where in `report` which number is: the residual as part of the largest velocity without forces,
#: that velocity, and the number of sweeps.
RESIDUAL, UNIT, SWEEPS = 0, 1, 2

#: Sweeps before conjugate gradients are tried, twice as many each time; where anything stuck
#: before, the first time; most steps of those.
FEW_SWEEPS, WARM_SWEEPS, MOST_GRADIENTS = 20, 1, 500

#: Give of contacts in Newton's method, of blocks whose largest element is one.
PROXIMAL = 1e-6

#: Most steps of it; steps in a row that do not improve the forces, and end the attempt.
NEWTON_LIMIT, PATIENCE = 20, 3

#: Largest turn of a sliding direction in one step [rad].
LARGEST_TURN = 0.7

#: Body that is the world.
WORLD = -1


class BodySpace(NamedTuple):
    """Room for up to B bodies that touch each other and the world at up to C contacts.

    Couples of torsional and rolling friction have room if K is C; if there are none, K is zero.

    :param sizes: see above
    :param velocity: velocity of each body: without contact forces before, with them afterwards
    :param body: numbers of both bodies of each contact; WORLD is none
    :param jacobian: velocity of the contact, normal first, by the velocity of each of both bodies;
        scaled in a solution
    :param effect: change of the velocity of each of both bodies by a force; scaled in a solution
    :param bias: velocity of each contact that no body has: of a moving ground, of restitution
    :param compliance: velocity by force that each contact gives way with
    :param friction: coefficients along both tangents
    :param force: forces of each contact: the start, then the result
    :param state: OPEN, STICK or SLIDE of each contact
    :param direction: unit vector along the sliding velocity of each contact
    :param slip: sliding velocity by friction force of each contact, for the next sweep
    :param report: residual and so on, see above
    :param scale: unit D of each force
    :param x: scaled forces
    :param block: scaled velocity of each contact by its own scaled force
    :param member: the bodies that have contacts
    :param place: number of each body among them; -1 if it has none
    :param free: velocity of each body without contact forces
    :param before: scaled forces before a sweep
    :param way: direction in which the forces go on
    :param kept: forces to go back to
    :param image: change of the scaled velocities by `way`, or by Newton's step
    :param stiffness: change of the scaled forces of each contact by that of its velocity, negated
    :param matrix: what that makes of the velocities of the bodies
    :param turning: angular velocity of each contact, about the normal first, by the velocity of
        each of both bodies; scaled in a solution
    :param turning_effect: change of the velocity of each of both bodies by a couple; likewise
    :param coefficient: largest couple by normal force: about the normal, about either tangent
    :param couple: couples of each contact: the start, then the result
    :param turning_block: scaled angular velocity of each contact by its own scaled couple
    :param turning_scale: unit of each couple
    :param y: scaled couples
    """

    sizes: IntArray = integers(4)
    velocity: FloatArray = floats('B', 6)
    body: IntArray = integers('C', 2)
    jacobian: FloatArray = floats('C', 2, 3, 6)
    effect: FloatArray = floats('C', 2, 3, 6)
    bias: FloatArray = floats('C', 3)
    compliance: FloatArray = floats('C', 3)
    friction: FloatArray = floats('C', 2)
    force: FloatArray = floats('C', 3)
    state: IntArray = integers('C')
    direction: FloatArray = floats('C', 2)
    slip: FloatArray = floats('C')
    report: FloatArray = floats(4)
    scale: FloatArray = floats('C', 3)
    x: FloatArray = floats('C', 3)
    block: FloatArray = floats('C', 3, 3)
    member: IntArray = integers('B')
    place: IntArray = integers('B')
    free: FloatArray = floats('B', 6)
    before: FloatArray = floats('C', 3)
    way: FloatArray = floats('C', 3)
    kept: FloatArray = floats('C', 3)
    image: FloatArray = floats('C', 3)
    stiffness: FloatArray = floats('C', 3, 3)
    matrix: BodyMatrix = BodyMatrix  # type: ignore[assignment]
    turning: FloatArray = floats('K', 2, 3, 6)
    turning_effect: FloatArray = floats('K', 2, 3, 6)
    coefficient: FloatArray = floats('K', 3)
    couple: FloatArray = floats('K', 3)
    turning_block: FloatArray = floats('K', 3, 3)
    turning_scale: FloatArray = floats('K', 3)
    y: FloatArray = floats('K', 3)


@compiled
def solve_body_space(space: BodySpace, limit: int, tolerance: float) -> bool:
    """Solve from the forces that are there; returns whether they are a solution in the end.

    :param limit: most sweeps
    :param tolerance: velocity error of a solution, as part of the largest velocity without forces
    """
    report, x, way = space.report, space.x, space.way
    contacts = space.sizes[CONTACTS]
    q, new = vector(3), vector(3)
    prepare(space)
    renew(space)
    enough = tolerance * report[UNIT]
    report[SWEEPS] = 0.0
    worst = largest_residual(space, q)
    solved: bool = worst <= enough
    last, attempt = math.inf, FEW_SWEEPS
    sparse = not solved and order_bodies(
        space.matrix, space.sizes[MEMBERS], space.body, space.place, contacts
    )
    if any_sticks(space):
        # What stuck before mostly sticks again, under loads that have hardly changed.
        attempt = WARM_SWEEPS
    for k in range(limit):
        if solved:
            break
        change = 0.0
        for c in range(contacts):
            for r in range(3):
                space.before[c, r] = x[c, r]
        worst = 0.0
        for c in range(contacts):
            worst = max(worst, sweep_one(space, c, q, new))
            if has_couple(space, c):
                worst = max(worst, sweep_couple(space, c, q, new))
        report[SWEEPS] += 1.0
        if worst <= enough:
            renew(space)
            worst = largest_residual(space, q)
            solved = worst <= enough
            continue
        if k + 1 == attempt:
            attempt = 2 * attempt if attempt >= FEW_SWEEPS else FEW_SWEEPS
            last = math.inf
            if sparse:
                worst = newton_bodies(space, enough, q, new)
            else:
                worst = finish(space, enough, q, new)
            solved = worst <= enough
            continue
        for c in range(contacts):
            for r in range(3):
                part = x[c, r] - space.before[c, r]
                change += part * part
        go_on = change / last if change < last else 0.0
        last = change
        for c in range(contacts):
            for r in range(3):
                part = x[c, r] - space.before[c, r]
                further = go_on * way[c, r]
                way[c, r] = further + part
                new[r] = further
            if go_on > 0.0:
                push(space, c, new)
                for r in range(3):
                    x[c, r] += new[r]
    if not solved:
        renew(space)
        worst = largest_residual(space, q)
        solved = worst <= enough
    report[RESIDUAL] = worst / report[UNIT]
    for c in range(contacts):
        for r in range(3):
            space.force[c, r] = space.scale[c, r] * x[c, r]
            if space.sizes[COUPLES] > 0:
                space.couple[c, r] = space.turning_scale[c, r] * space.y[c, r]
    return solved


@compiled
def any_sticks(space: BodySpace) -> bool:
    """Whether anything sticks."""
    for c in range(space.sizes[CONTACTS]):
        if space.state[c] == STICK:
            return True
    return False


@compiled
def newton_bodies(space: BodySpace, enough: float, q: FloatArray, new: FloatArray) -> float:
    """Attempt Newton's method from forces and states as they are; returns the residual.

    Couples stay as they are. Forces are left as they were if they were better.

    :param enough: residual of a solution
    :param q: room, (3,)
    :param new: room, (3,)
    """
    x, kept, contacts = space.x, space.kept, space.sizes[CONTACTS]
    renew(space)
    best = find_velocities(space)
    keep_forces(space)
    now, before, tried, changed = best, best, 0, True
    for _ in range(NEWTON_LIMIT):
        if changed:
            begin_matrix(space.matrix)
            for c in range(contacts):
                if find_stiffness(space, c):
                    add_contact(
                        space.matrix,
                        place_of(space, c, 0),
                        place_of(space, c, 1),
                        space.effect[c],
                        space.stiffness[c],
                        space.jacobian[c],
                    )
            factorise_bodies(space.matrix)
        take_step(space, q, new)
        renew(space)
        now = find_velocities(space)
        if now < best:
            best = now
            keep_forces(space)
        if best <= enough:
            break
        changed = correct_states(space, 0.01 * enough)
        tried = 0 if now < 0.1 * before else tried + 1
        # Directions have turned since.
        changed = changed or tried > 0
        before = min(before, now)
        if tried > PATIENCE or not now < math.inf:
            break
    if not best == now:
        for c in range(contacts):
            for r in range(3):
                x[c, r] = kept[c, r]
        renew(space)
    for c in range(contacts):
        for r in range(3):
            space.way[c, r] = 0.0
    return best


@compiled
def place_of(space: BodySpace, c: int, side: int) -> int:
    """Return the number of a body of a contact among those that have contacts; -1: the world."""
    b = space.body[c, side]
    return space.place[b] if b >= 0 else -1


@compiled
def keep_forces(space: BodySpace) -> None:
    """Keep the forces as they are, to go back to."""
    for c in range(space.sizes[CONTACTS]):
        for r in range(3):
            space.kept[c, r] = space.x[c, r]


@compiled
def find_velocities(space: BodySpace) -> float:
    """Find the scaled velocities `image` of all contacts; returns the largest residual."""
    worst = 0.0
    for c in range(space.sizes[CONTACTS]):
        u = space.image[c]
        for r in range(3):
            u[r] = contact_velocity(space, c, r)
        each = contact_residual(space.x[c], u, 0)
        if not each <= worst:
            worst = each
    return worst


@compiled
def find_stiffness(space: BodySpace, c: int) -> bool:
    """Find by how much velocities change the force of a contact; returns whether they do.

    What sticks has no velocity, what slides none along the normal, and its direction turns. Both
    are to be so by the end of a step; a little give leaves forces among which contacts cannot
    choose where they are, and is taken back from step to step.
    """
    K, scale = space.stiffness[c], space.scale[c]
    for r in range(3):
        for s in range(3):
            K[r, s] = 0.0
    if space.state[c] == OPEN or space.block[c, 0, 0] <= IMMOVABLE:
        return False
    K[0, 0] = 1.0 / (PROXIMAL + scale[0] * scale[0] * space.compliance[c, 0])
    if space.state[c] == SLIDE:
        w_1, w_2 = space.direction[c, 0], space.direction[c, 1]
        # A larger normal force brings its friction with it.
        K[1, 0], K[2, 0] = -w_1 * K[0, 0], -w_2 * K[0, 0]
        speed = w_1 * space.image[c, 1] + w_2 * space.image[c, 2]
        give = PROXIMAL + max(speed, 0.0) / max(space.x[c, 0], 1e-300)
        K[1, 1], K[1, 2] = w_2 * w_2 / give, -w_1 * w_2 / give
        K[2, 1], K[2, 2] = -w_1 * w_2 / give, w_1 * w_1 / give
        return True
    for r in range(1, 3):
        if space.block[c, r, r] > IMMOVABLE:
            K[r, r] = 1.0 / (PROXIMAL + scale[r] * scale[r] * space.compliance[c, r])
    return True


@compiled
def take_step(space: BodySpace, q: FloatArray, new: FloatArray) -> None:
    """Change the forces by a step of Newton's method.

    :param q: room, (3,)
    :param new: room, (3,)
    """
    matrix, contacts = space.matrix, space.sizes[CONTACTS]
    for i in range(space.sizes[MEMBERS]):
        for k in range(6):
            matrix.x[i, k] = 0.0
    for c in range(contacts):
        if space.state[c] != OPEN:
            stiff_force(space, c, space.image[c], new)
            for side in range(2):
                b = space.body[c, side]
                if b >= 0:
                    effect, v = space.effect[c, side], matrix.x[space.place[b]]
                    for k in range(6):
                        v[k] += new[0] * effect[0, k] + new[1] * effect[1, k] + new[2] * effect[2, k]
    solve_bodies_matrix(matrix)
    for c in range(contacts):
        x = space.x[c]
        if space.state[c] == OPEN:
            x[0] = x[1] = x[2] = 0.0
            continue
        for r in range(3):
            q[r] = space.image[c, r]
            for side in range(2):
                b = space.body[c, side]
                if b >= 0:
                    row, v = space.jacobian[c, side, r], matrix.x[space.place[b]]
                    q[r] += (row[0] * v[0] + row[1] * v[1] + row[2] * v[2]) + (
                        row[3] * v[3] + row[4] * v[4] + row[5] * v[5]
                    )
        stiff_force(space, c, q, new)
        before = x[0]
        for r in range(3):
            x[r] += new[r]
        if space.state[c] == SLIDE:
            w_1, w_2 = space.direction[c, 0], space.direction[c, 1]
            across = w_2 * new[1] - w_1 * new[2]
            turn = across / before if before > 0.0 else 0.0
            turn = min(max(turn, -LARGEST_TURN), LARGEST_TURN)
            w_1, w_2 = (
                w_1 * math.cos(turn) - w_2 * math.sin(turn),
                w_2 * math.cos(turn) + w_1 * math.sin(turn),
            )
            size = math.sqrt(w_1 * w_1 + w_2 * w_2)
            space.direction[c, 0], space.direction[c, 1] = w_1 / size, w_2 / size
            x[1], x[2] = -x[0] * w_1 / size, -x[0] * w_2 / size


@compiled
def stiff_force(space: BodySpace, c: int, u: FloatArray, force: FloatArray) -> None:
    """Force of a contact that belongs to a velocity, by its stiffness.

    :param u: scaled velocity, (3,)
    :param force: scaled force, a result, (3,)
    """
    K = space.stiffness[c]
    for r in range(3):
        force[r] = -(K[r, 0] * u[0] + K[r, 1] * u[1] + K[r, 2] * u[2])


@compiled
def correct_states(space: BodySpace, floor: float) -> bool:
    """Change states that forces or velocities contradict; returns whether there are any.

    :param floor: velocity that counts as none
    """
    state, changed, moved = space.state, False, False
    for c in range(space.sizes[CONTACTS]):
        x, u = space.x[c], space.image[c]
        if state[c] == OPEN:
            if u[0] < -floor and space.block[c, 0, 0] > IMMOVABLE:
                state[c] = STICK
                changed = True
        elif x[0] < 0.0:
            state[c] = OPEN
            x[0] = x[1] = x[2] = 0.0
            moved = True
        elif state[c] == STICK:
            length = math.sqrt(x[1] * x[1] + x[2] * x[2])
            if length > x[0]:
                state[c] = SLIDE
                moved = True
                for r in range(2):
                    space.direction[c, r] = -x[1 + r] / length
                    x[1 + r] *= x[0] / length
        elif space.direction[c, 0] * u[1] + space.direction[c, 1] * u[2] < -floor:
            state[c] = STICK
            changed = True
    if moved:
        renew(space)
        find_velocities(space)
    return changed or moved


@compiled
def finish(space: BodySpace, enough: float, q: FloatArray, new: FloatArray) -> float:
    """Stop what sticks at once, by conjugate gradients; returns the residual.

    All other forces stay. Forces are left as they were if they were better.

    :param enough: residual of a solution
    :param q: room, (3,)
    :param new: room, (3,)
    """
    x, rest, way, kept = space.x, space.before, space.way, space.kept
    contacts = space.sizes[CONTACTS]
    renew(space)
    worst = largest_residual(space, q)
    square = 0.0
    for c in range(contacts):
        for r in range(3):
            kept[c, r] = x[c, r]
            rest[c, r] = 0.0
            if space.state[c] == STICK and space.block[c, r, r] > IMMOVABLE:
                rest[c, r] = -contact_velocity(space, c, r)
            way[c, r] = rest[c, r]
            square += rest[c, r] * rest[c, r]
    for _ in range(min(6 * contacts, MOST_GRADIENTS)):
        if square <= 0.01 * enough * enough:
            break
        for i in range(space.sizes[MEMBERS]):
            for k in range(6):
                space.velocity[space.member[i], k] = 0.0
        for c in range(contacts):
            push(space, c, way[c])
        curvature = 0.0
        for c in range(contacts):
            if space.state[c] == STICK:
                for r in range(3):
                    if space.block[c, r, r] > IMMOVABLE:
                        space.image[c, r] = response(space, c, r)
                        curvature += way[c, r] * space.image[c, r]
        if not curvature > 0.0:
            break
        length, before, square = square / curvature, square, 0.0
        for c in range(contacts):
            if space.state[c] == STICK:
                for r in range(3):
                    if space.block[c, r, r] > IMMOVABLE:
                        x[c, r] += length * way[c, r]
                        rest[c, r] -= length * space.image[c, r]
                        square += rest[c, r] * rest[c, r]
        for c in range(contacts):
            for r in range(3):
                way[c, r] = rest[c, r] + square / before * way[c, r]
    renew(space)
    found: float = largest_residual(space, q)
    if not found < worst:
        for c in range(contacts):
            for r in range(3):
                x[c, r] = kept[c, r]
        renew(space)
        found = worst
    for c in range(contacts):
        for r in range(3):
            way[c, r] = 0.0
    return found


@compiled
def response(space: BodySpace, c: int, r: int) -> float:
    """Scaled velocity of a contact by velocities of bodies that forces `way` cause."""
    scale = space.scale[c, r]
    total: float = space.compliance[c, r] * scale * scale * space.way[c, r]
    for side in range(2):
        b = space.body[c, side]
        if b >= 0:
            row, v = space.jacobian[c, side, r], space.velocity[b]
            total += (row[0] * v[0] + row[1] * v[1] + row[2] * v[2]) + (
                row[3] * v[3] + row[4] * v[4] + row[5] * v[5]
            )
    return total


@compiled
def prepare(space: BodySpace) -> None:
    """Scale all contacts, and find what their forces do."""
    J, effect, block = space.jacobian, space.effect, space.block
    list_members(space)
    for i in range(space.sizes[MEMBERS]):
        b = space.member[i]
        for k in range(6):
            space.free[b, k] = space.velocity[b, k]
    unit = 0.0
    for c in range(space.sizes[CONTACTS]):
        for r in range(3):
            for s in range(3):
                block[c, r, s] = 0.0
            block[c, r, r] = space.compliance[c, r]
        for side in range(2):
            if space.body[c, side] >= 0:
                add_gram(J[c, side], effect[c, side], block[c])
        mu_1, mu_2 = space.friction[c, 0], space.friction[c, 1]
        size = max(block[c, 0, 0], mu_1 * mu_1 * block[c, 1, 1], mu_2 * mu_2 * block[c, 2, 2])
        if space.sizes[COUPLES] > 0:
            size = max(size, prepare_couple(space, c))
        d = 1.0 / math.sqrt(size) if size > 0.0 else 1.0
        if space.sizes[COUPLES] > 0:
            unit = max(unit, scale_couple(space, c, d))
        scale = space.scale[c]
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
            space.way[c, r] = 0.0
    space.report[UNIT] = unit if unit > 0.0 else 1.0


@compiled
def list_members(space: BodySpace) -> None:
    """List the bodies that have contacts."""
    members = 0
    for b in range(space.sizes[BODIES]):
        space.place[b] = -1
    for c in range(space.sizes[CONTACTS]):
        for side in range(2):
            b = space.body[c, side]
            if b >= 0:
                if space.place[b] < 0:
                    space.place[b], space.member[members] = members, b
                    members += 1
    space.sizes[MEMBERS] = members


@compiled
def add_gram(J: FloatArray, E: FloatArray, block: FloatArray) -> None:
    """Add J E^T to a block of three rows.

    :param J: (3, 6)
    :param E: (3, 6)
    :param block: (3, 3)
    """
    for r in range(3):
        row, into = J[r], block[r]
        for s in range(3):
            column = E[s]
            into[s] += (row[0] * column[0] + row[1] * column[1] + row[2] * column[2]) + (
                row[3] * column[3] + row[4] * column[4] + row[5] * column[5]
            )


@compiled
def renew(space: BodySpace) -> None:
    """Find the velocities that belong to the forces, without what rounding has added up."""
    for i in range(space.sizes[MEMBERS]):
        b = space.member[i]
        for k in range(6):
            space.velocity[b, k] = space.free[b, k]
    for c in range(space.sizes[CONTACTS]):
        push(space, c, space.x[c])
        if has_couple(space, c):
            push_couple(space, c, space.y[c])


@compiled
def push(space: BodySpace, c: int, change: FloatArray) -> None:
    """Add the effect of a change of a contact's force to the velocities of its bodies.

    :param change: scaled, (3,)
    """
    f, f_1, f_2 = change[0], change[1], change[2]
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
    """Scaled velocity of a contact along one axis, with what it gives way by."""
    total: float = space.bias[c, r] + space.compliance[c, r] * space.scale[c, r] * space.x[c, r]
    total *= space.scale[c, r]
    for side in range(2):
        b = space.body[c, side]
        if b >= 0:
            row, v = space.jacobian[c, side, r], space.velocity[b]
            total += (row[0] * v[0] + row[1] * v[1] + row[2] * v[2]) + (
                row[3] * v[3] + row[4] * v[4] + row[5] * v[5]
            )
    return total


@compiled
def sweep_one(space: BodySpace, c: int, q: FloatArray, new: FloatArray) -> float:
    """Solve one contact while all others stay as they are; returns its residual before.

    :param q: room, (3,)
    :param new: room, (3,)
    """
    x, block = space.x[c], space.block[c]
    if space.friction[c, 0] == 0.0 and space.friction[c, 1] == 0.0:
        u = contact_velocity(space, c, 0)
        before: float = abs(u) if u <= x[0] else abs(x[0])
        if block[0, 0] <= IMMOVABLE:
            return before
        force = max(x[0] - u / block[0, 0], 0.0)
        space.state[c] = STICK if force > 0.0 else OPEN
        new[0], new[1], new[2] = force - x[0], -x[1], -x[2]
        push(space, c, new)
        x[0] = force
        x[1] = x[2] = 0.0
        return before
    for r in range(3):
        q[r] = contact_velocity(space, c, r)
    residual: float = contact_residual(x, q, 0)
    for r in range(3):
        q[r] -= block[r, 0] * x[0] + block[r, 1] * x[1] + block[r, 2] * x[2]
    space.state[c] = solve_block(
        block[0], block[1], block[2], 0, q, new, space.direction[c], space.slip, c
    )
    for r in range(3):
        force = new[r]
        new[r] -= x[r]
        x[r] = force
    push(space, c, new)
    return residual


@compiled
def largest_residual(space: BodySpace, u: FloatArray) -> float:
    """Largest residual of all contacts, of the velocities as they are.

    :param u: room, (3,)
    """
    worst = 0.0
    for c in range(space.sizes[CONTACTS]):
        for r in range(3):
            u[r] = contact_velocity(space, c, r)
        each = contact_residual(space.x[c], u, 0)
        if has_couple(space, c):
            each = max(each, couple_residual(space, c, u))
        # A residual that is no number is worse than any.
        if not each <= worst:
            worst = each
    return worst


@compiled
def has_couple(space: BodySpace, c: int) -> bool:
    """Whether a contact resists turning."""
    if space.sizes[COUPLES] == 0:
        return False
    resists: bool = space.coefficient[c, 0] > 0.0 or space.coefficient[c, 1] > 0.0
    return resists


@compiled
def prepare_couple(space: BodySpace, c: int) -> float:
    """Find what the couples of a contact do; returns the largest effect by a normal force."""
    J, effect, block = space.turning[c], space.turning_effect[c], space.turning_block[c]
    size = 0.0
    for r in range(3):
        for s in range(3):
            block[r, s] = 0.0
    if not has_couple(space, c):
        return size
    for side in range(2):
        if space.body[c, side] >= 0:
            add_gram(J[side], effect[side], block)
    for r in range(3):
        by = space.coefficient[c, r]
        size = max(size, by * by * block[r, r])
    return size


@compiled
def scale_couple(space: BodySpace, c: int, d: float) -> float:
    """Scale the couples of a contact; returns their largest scaled velocity without forces.

    :param d: unit of the contact's normal force
    """
    scale, block, unit = space.turning_scale[c], space.turning_block[c], 0.0
    for r in range(3):
        scale[r] = d * space.coefficient[c, r]
    for r in range(3):
        free = 0.0
        for s in range(3):
            block[r, s] *= scale[r] * scale[s]
        if has_couple(space, c):
            for side in range(2):
                b = space.body[c, side]
                if b >= 0:
                    J, effect = space.turning[c, side, r], space.turning_effect[c, side, r]
                    for k in range(6):
                        J[k] *= scale[r]
                        effect[k] *= scale[r]
                        free += J[k] * space.velocity[b, k]
        unit = max(unit, abs(free))
        space.y[c, r] = space.couple[c, r] / scale[r] if scale[r] > 0.0 else 0.0
    return unit


@compiled
def push_couple(space: BodySpace, c: int, change: FloatArray) -> None:
    """Add the effect of a change of a contact's couples to the velocities of its bodies.

    :param change: scaled, (3,)
    """
    for side in range(2):
        b = space.body[c, side]
        if b >= 0:
            effect, v = space.turning_effect[c, side], space.velocity[b]
            for k in range(6):
                for r in range(3):
                    v[k] += change[r] * effect[r, k]


@compiled
def turning_velocity(space: BodySpace, c: int, u: FloatArray) -> None:
    """Find the scaled angular velocity of a contact.

    :param u: the result, (3,)
    """
    for r in range(3):
        u[r] = 0.0
        for side in range(2):
            b = space.body[c, side]
            if b >= 0:
                for k in range(6):
                    u[r] += space.turning[c, side, r, k] * space.velocity[b, k]


@compiled
def couple_residual(space: BodySpace, c: int, u: FloatArray) -> float:
    """Residual of the couples of a contact, of the velocities as they are.

    :param u: room, (3,)
    """
    turning_velocity(space, c, u)
    bound = max(space.x[c, 0], 0.0)
    alone = moment_residual(space.y[c], u, 0, ALONE, bound)
    worst: float = max(alone, moment_residual(space.y[c], u, 1, FIRST, bound))
    return worst


@compiled
def sweep_couple(space: BodySpace, c: int, u: FloatArray, new: FloatArray) -> float:
    """Solve the couples of one contact while all else stays as it is; returns their residual.

    :param u: room, (3,)
    :param new: room, (3,)
    """
    y, block, bound = space.y[c], space.turning_block[c], max(space.x[c, 0], 0.0)
    before: float = couple_residual(space, c, u)
    for r in range(3):
        new[r] = 0.0
    if block[0, 0] > IMMOVABLE:
        new[0] = clamp(y[0] - u[0] / block[0, 0], -bound, bound) - y[0]
        y[0] += new[0]
        push_couple(space, c, new)
        turning_velocity(space, c, u)
        new[0] = 0.0
    if block[1, 1] > IMMOVABLE and block[2, 2] > IMMOVABLE:
        p = u[1] - block[1, 1] * y[1] - block[1, 2] * y[2]
        p_1 = u[2] - block[2, 1] * y[1] - block[2, 2] * y[2]
        y_1, y_2 = y[1], y[2]
        if not bound > 0.0:
            y[1] = y[2] = 0.0
        elif solve_disc(block[1, 1], block[1, 2], block[2, 2], p, p_1, bound, y, 1) == SLIDE:
            longer = bound / math.sqrt(y[1] * y[1] + y[2] * y[2])
            y[1] *= longer
            y[2] *= longer
        new[1], new[2] = y[1] - y_1, y[2] - y_2
        push_couple(space, c, new)
    return before


@entry_point
def solve_bodies(space: BodySpace, limit: int, tolerance: float) -> int:
    """`solve_body_space`, as Python calls it."""
    return 1 if solve_body_space(space, limit, tolerance) else 0
