# SPDX-License-Identifier: Apache-2.0
"""Newton's method for friction among many bodies, with the states of contacts as active set.

Equations are those of friction_newton.py. Here contacts are eliminated, not bodies: with a little
compliance, the force of each contact is a stiffness times a velocity. What remains is a matrix of
the bodies, as sparse as the graph of contacts (body_matrix.py). The effect of the compliance is
taken back from step to step, as by a proximal method.
"""

from __future__ import annotations

import math

from rbd_ros.compiler.loops import compiled, load_vec, Mat, Vec, Vec3
from rbd_ros.constraints.friction_space import (
    FloatArray,
    IMMOVABLE,
    OPEN,
    SLIDE,
    STICK,
)
from rbd_ros.constraints.solvers.body_matrix import (
    add_contact,
    begin_matrix,
    factorize_bodies,
    solve_bodies_matrix,
)
from rbd_ros.constraints.solvers.friction_body_space import (
    BodySpace,
    CONTACTS,
    MEMBERS,
    product_of,
    renew,
    residual_of,
    velocity_of,
)

#: Compliance of contacts in Newton's method, of blocks whose largest element is one.
PROXIMAL = 1e-6

#: Maximum number of its steps; steps in a row that do not improve the forces and end the attempt.
NEWTON_LIMIT, PATIENCE = 20, 3

#: Maximum rotation of a sliding direction in one step [rad].
MAX_ROTATION = 0.7


@compiled
def newton_bodies(space: BodySpace, enough: float) -> float:
    """Attempt Newton's method from forces and states as they are; return the residual.

    Moments stay as they are. Forces are left as they were if they were better.

    :param enough: residual of a solution
    """
    x, saved, contacts = space.x, space.saved, space.sizes[CONTACTS]
    renew(space)
    best = find_velocities(space)
    # The first forces may be the best: an attempt must never make things worse.
    keep_forces(space)
    now, before, tried, changed = best, best, 0, True
    for _ in range(NEWTON_LIMIT):
        # While states and directions are the same, so is the matrix: later steps only solve with
        # it, which takes back more of the compliance.
        if changed:
            for c in range(contacts):
                find_stiffness(space, c)
            factorize_contacts(space)
        take_step(space)
        renew(space)
        now = find_velocities(space)
        if now < best:
            best = now
            keep_forces(space)
        # A solution ends the attempt before states are judged by velocities that are rounding
        # errors.
        if best <= enough:
            break
        changed = correct_states(space, 0.01 * enough)
        # Newton's method with right states gains more than this each step; slower means a wrong
        # state or direction.
        tried = 0 if now < 0.1 * before else tried + 1
        # Directions have turned since.
        changed = changed or tried > 0
        before = min(before, now)
        if tried > PATIENCE or not now < math.inf:
            break
    # Not a solution, or not the last forces: back to the best. Velocities follow by `renew`.
    if now != best or best > enough:
        for c in range(contacts):
            x[c] = load_vec(saved[c], 3)
        renew(space)
    for c in range(contacts):
        # The conjugate gradient of the sweeps begins again: its direction is of forces before.
        space.search_direction[c] = Vec(0.0, 0.0, 0.0)
    found: float = best
    return found


@compiled
def place_of(space: BodySpace, c: int, side: int) -> int:
    """Return the number of a body of a contact among those that have contacts; -1: the world."""
    b = space.body[c, side]
    return space.place[b] if b >= 0 else -1


@compiled
def keep_forces(space: BodySpace) -> None:
    """Keep the forces as they are, to go back to."""
    for c in range(space.sizes[CONTACTS]):
        space.saved[c] = load_vec(space.x[c], 3)


@compiled
def find_velocities(space: BodySpace) -> float:
    """Find the scaled velocities `image` of all contacts; return the largest residual."""
    worst = 0.0
    for c in range(space.sizes[CONTACTS]):
        u = velocity_of(space, c)
        space.image[c], each = u, residual_of(space, c, u)
        # A residual that is no number is worse than any.
        if not each <= worst:
            worst = each
    return worst


@compiled
def factorize_contacts(space: BodySpace) -> None:
    """Factorize 1 + E^T K J of the bodies; contacts without a stiffness K take no part."""
    begin_matrix(space.matrix)
    for c in range(space.sizes[CONTACTS]):
        if space.stiffness[c, 0, 0] != 0.0:
            add_contact(
                space.matrix,
                place_of(space, c, 0),
                place_of(space, c, 1),
                space.effect[c],
                space.stiffness[c],
                space.jacobian[c],
            )
    factorize_bodies(space.matrix)


@compiled
def solve_contacts(space: BodySpace, result: FloatArray) -> None:
    """Find x of (K^-1 + J E^T) x = r, with the stiffness K of each contact and r in `right`.

    The factors are those of 1 + E^T K J: with dv = E^T x, x = K (r - J dv).

    :param result: x, (C, 3); zero where there is no stiffness
    """
    matrix, contacts = space.matrix, space.sizes[CONTACTS]
    for i in range(space.sizes[MEMBERS]):
        matrix.x[i] = Vec(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for c in range(contacts):
        if space.stiffness[c, 0, 0] != 0.0:
            f, f_1, f_2 = stiff_force(space, c, load_vec(space.right[c], 3))
            for side in range(2):
                b = space.body[c, side]
                if b >= 0:
                    effect, v = space.effect[c, side], matrix.x[space.place[b]]
                    for k in range(6):
                        v[k] += f * effect[0, k] + f_1 * effect[1, k] + f_2 * effect[2, k]
    solve_bodies_matrix(matrix)
    for c in range(contacts):
        rest = load_vec(space.right[c], 3)
        for side in range(2):
            b = space.body[c, side]
            if b >= 0:
                J, v = space.jacobian[c, side], matrix.x[space.place[b]]
                rest -= Vec(product_of(J[0], v), product_of(J[1], v), product_of(J[2], v))
        result[c] = stiff_force(space, c, rest)


@compiled
def find_stiffness(space: BodySpace, c: int) -> None:
    """Find by how much velocities change the force of a contact.

    What sticks has no velocity, what slides none along the normal, and its direction turns. Both
    are to be so by the end of a step; a little compliance leaves forces among which
    contacts cannot choose where they are, and is taken back from step to step.
    """
    K, scale = space.stiffness[c], space.scale[c]
    for r in range(3):
        K[r] = Vec(0.0, 0.0, 0.0)
    if space.state[c] == OPEN or space.block[c, 0, 0] <= IMMOVABLE:
        return
    K[0, 0] = 1.0 / (PROXIMAL + scale[0] * scale[0] * space.compliance[c, 0])
    if space.state[c] == SLIDE:
        w_1, w_2 = space.slip_direction[c, 0], space.slip_direction[c, 1]
        # A larger normal force brings its friction with it.
        K[1, 0], K[2, 0] = -w_1 * K[0, 0], -w_2 * K[0, 0]
        # As in friction_newton.py: across the direction a sliding contact resists with x_n per
        # speed. Its stiffness there, x_n / speed, is that of viscous friction, and acts along
        # (w_2, -w_1) alone.
        speed = w_1 * space.image[c, 1] + w_2 * space.image[c, 2]
        compliance = PROXIMAL + max(speed, 0.0) / max(space.x[c, 0], 1e-300)
        K[1, 1], K[1, 2] = w_2 * w_2 / compliance, -w_1 * w_2 / compliance
        K[2, 1], K[2, 2] = -w_1 * w_2 / compliance, w_1 * w_1 / compliance
        return
    for r in range(1, 3):
        # Else a force along it moves nothing, and a stiffness of 1 / PROXIMAL would only add
        # rounding.
        if space.block[c, r, r] > IMMOVABLE:
            K[r, r] = 1.0 / (PROXIMAL + scale[r] * scale[r] * space.compliance[c, r])


@compiled
def take_step(space: BodySpace) -> None:
    """Change the forces by a step of Newton's method: those of K (-u - J dv), dv = E^T dx."""
    contacts = space.sizes[CONTACTS]
    for c in range(contacts):
        space.right[c] = -load_vec(space.image[c], 3)
    solve_contacts(space, space.change)
    for c in range(contacts):
        x = space.x[c]
        if space.state[c] == OPEN:
            x[0] = x[1] = x[2] = 0.0
            continue
        new, before = load_vec(space.change[c], 3), x[0]
        x[0:3] = load_vec(x, 3) + new
        if space.state[c] == SLIDE:
            w_1, w_2 = space.slip_direction[c, 0], space.slip_direction[c, 1]
            across = w_2 * new[1] - w_1 * new[2]
            angle = across / before if before > 0.0 else 0.0
            angle = min(max(angle, -MAX_ROTATION), MAX_ROTATION)
            w_1, w_2 = (
                w_1 * math.cos(angle) - w_2 * math.sin(angle),
                w_2 * math.cos(angle) + w_1 * math.sin(angle),
            )
            size = math.sqrt(w_1 * w_1 + w_2 * w_2)
            space.slip_direction[c, 0], space.slip_direction[c, 1] = w_1 / size, w_2 / size
            # Onto the boundary of the cone, which the linear step has left by second-order terms.
            x[1], x[2] = -x[0] * w_1 / size, -x[0] * w_2 / size


@compiled
def stiff_force(space: BodySpace, c: int, u: Vec3) -> Vec3:
    """Return K u, the scaled force of a contact that resists a scaled velocity."""
    K = space.stiffness[c]
    return Mat(load_vec(K[0], 3), load_vec(K[1], 3), load_vec(K[2], 3)) @ u


@compiled
def correct_states(space: BodySpace, floor: float) -> bool:
    """Change states that forces or velocities contradict; return whether there are any.

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
                    space.slip_direction[c, r] = -x[1 + r] / length
                    x[1 + r] *= x[0] / length
        elif space.slip_direction[c, 0] * u[1] + space.slip_direction[c, 1] * u[2] < -floor:
            state[c] = STICK
            changed = True
    if moved:
        renew(space)
        find_velocities(space)
    return changed or moved
