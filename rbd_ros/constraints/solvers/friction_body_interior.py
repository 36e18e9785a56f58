# SPDX-License-Identifier: Apache-2.0
"""Interior-point method for friction among many bodies, with the sparse matrix of the bodies.

Equations and steps are those of friction_interior.py. Here contacts are eliminated, not bodies
(`solve_contacts`): what W^2 and De Saxce's term make of each contact is a compliance C W^2, and
its inverse is the stiffness K.
"""

from __future__ import annotations

import math

from rbd_ros.compiler.loops import compiled, load_vec, Vec
from rbd_ros.constraints.friction_space import clamp, FloatArray, IMMOVABLE, SLIDE
from rbd_ros.constraints.solvers.friction_body_newton import (
    factorize_contacts,
    find_velocities,
    newton_bodies,
    solve_contacts,
)
from rbd_ros.constraints.solvers.friction_body_space import (
    BodySpace,
    CONTACTS,
    keep_best,
    renew,
    return_to_best,
    UNIT,
)
from rbd_ros.constraints.solvers.friction_cones import (
    find_cone_rhs,
    scaled,
    scaling,
    step_to_boundary,
)
from rbd_ros.constraints.solvers.friction_interior import (
    CAUTION,
    find_slip_direction,
    FURTHER,
    kept_normal,
    MIDDLE_VELOCITY,
    NEAR,
    state_of,
)

#: Compliance that is added to that of each contact: without it, the stiffness of what sticks grows
#: beyond what rounding leaves of the forces.
PROXIMAL = 1e-8

#: Maximum number of steps, and of steps in a row that are shorter than a part.
MAX_STEPS, MAX_SHORT_STEPS, SHORT = 60, 2, 1e-2


@compiled
def interior_bodies(space: BodySpace, middle: float, enough: float) -> float:
    """Solve from within the cones; return the residual, with forces and states in place.

    Moments stay as they are. Forces are left as they were if they were better.

    :param middle: forces to begin with, on the axes of the cones
    :param enough: residual of a solution
    """
    contacts, unit = space.sizes[CONTACTS], space.report[UNIT]
    renew(space)
    best = find_velocities(space)
    keep_best(space)
    for c in range(contacts):
        space.inside[c] = Vec(middle * unit, 0.0, 0.0)
        space.velocity_inside[c] = Vec(MIDDLE_VELOCITY * unit, 0.0, 0.0)
    attempt, short = NEAR * unit * unit, 0
    for _ in range(MAX_STEPS):
        take_forces(space)
        now = find_velocities(space)
        if now < best:
            best = now
            keep_best(space)
        if best <= enough:
            break
        for c in range(contacts):
            # The predictor aims at products of zero, by itself.
            space.force_step[c] = space.velocity_step[c] = Vec(0.0, 0.0, 0.0)
        mean = mean_product(space, 0.0)
        if mean < attempt:
            attempt = FURTHER * mean
            identify(space)
            now = newton_bodies(space, enough)
            if now < best:
                best = now
                keep_best(space)
            if best <= enough:
                break
            take_forces(space)
            find_velocities(space)
        assemble(space)
        # Mehrotra's predictor and corrector, see `interior`.
        find_step(space, 0.0)
        left = mean_product(space, min(longest_step(space), 1.0))
        part = clamp(left / mean, 0.0, 1.0) if mean > 0.0 else 0.0
        find_step(space, part * part * part * mean)
        length = min(1.0, CAUTION * longest_step(space))
        short = short + 1 if length < SHORT else 0
        # Where forces and velocities both vanish, it comes to a boundary in between.
        if not length > 0.0 or short > MAX_SHORT_STEPS:
            break
        for c in range(contacts):
            y, dy = load_vec(space.velocity_inside[c], 3), load_vec(space.velocity_step[c], 3)
            step = length * load_vec(space.force_step[c], 3)
            space.inside[c] = load_vec(space.inside[c], 3) + step
            space.velocity_inside[c] = y + length * dy
    return_to_best(space)
    found: float = best
    return found


@compiled
def take_forces(space: BodySpace) -> None:
    """Take the forces within the cones as those of the bodies."""
    for c in range(space.sizes[CONTACTS]):
        moves = space.block[c, 0, 0] > IMMOVABLE
        space.x[c] = load_vec(space.inside[c], 3) if moves else Vec(0.0, 0.0, 0.0)
    renew(space)


@compiled
def mean_product(space: BodySpace, length: float) -> float:
    """Return the mean product of forces and velocities of the cones after part of a step.

    :param length: number of steps
    """
    total = 0.0
    for c in range(space.sizes[CONTACTS]):
        x, y = load_vec(space.inside[c], 3), load_vec(space.velocity_inside[c], 3)
        dx, dy = load_vec(space.force_step[c], 3), load_vec(space.velocity_step[c], 3)
        total += (x + length * dx) @ (y + length * dy)
    mean: float = total / max(space.sizes[CONTACTS], 1)
    return mean


@compiled
def identify(space: BodySpace) -> None:
    """Find the states of contacts: whichever of force and velocity is smaller vanishes."""
    for c in range(space.sizes[CONTACTS]):
        space.state[c] = state_of(space.inside[c], space.velocity_inside[c])
        if space.state[c] == SLIDE:
            find_slip_direction(space.inside[c], space.slip_direction[c])


@compiled
def assemble(space: BodySpace) -> None:
    """Factorize the matrix of the bodies, with the stiffness of each contact."""
    for c in range(space.sizes[CONTACTS]):
        K, along, size = space.stiffness[c], space.along[c], space.scale[c]
        y = load_vec(space.velocity_inside[c], 3)
        # t = y_t / y_n, see `find_term`.
        along[0], along[1] = y[1] / y[0], y[2] / y[0]
        beta, v = scaling(load_vec(space.inside[c], 3), y)
        space.beta[c], space.axis[c] = beta, v
        for r in range(3):
            # Columns of C W^2, one at a time: W twice.
            unit = Vec(r == 0, r == 1, r == 2)
            column = kept_normal(along, scaled(beta, v, scaled(beta, v, unit)))
            K[0, r], K[1, r], K[2, r] = column[0], column[1], column[2]
            K[r, r] += PROXIMAL + size[r] * size[r] * space.compliance[c, r]
        invert(K)
        if space.block[c, 0, 0] <= IMMOVABLE:
            for r in range(3):
                K[r] = Vec(0.0, 0.0, 0.0)
    factorize_contacts(space)


@compiled
def invert(M: FloatArray) -> None:
    """Replace a matrix of three dimensions by its inverse, by its cofactors."""
    a, b, c = M[0, 0], M[0, 1], M[0, 2]
    d, e, f = M[1, 0], M[1, 1], M[1, 2]
    g, h, i = M[2, 0], M[2, 1], M[2, 2]
    A, B, C = e * i - f * h, f * g - d * i, d * h - e * g
    part = 1.0 / (a * A + b * B + c * C)
    M[0] = part * Vec(A, c * h - b * i, b * f - c * e)
    M[1] = part * Vec(B, a * i - c * g, c * d - a * f)
    M[2] = part * Vec(C, b * g - a * h, a * e - b * d)


@compiled
def find_step(space: BodySpace, product: float) -> None:
    """Find the changes of forces and velocities from those of the predictor; all is factorized.

    :param product: desired product of forces and velocities
    """
    contacts = space.sizes[CONTACTS]
    for c in range(contacts):
        y, predicted = load_vec(space.velocity_inside[c], 3), load_vec(space.force_step[c], 3)
        x, v = load_vec(space.inside[c], 3), load_vec(space.axis[c], 3)
        h = find_cone_rhs(space.beta[c], v, x, predicted, product)
        space.velocity_step[c] = h
        # C h - (u + s - y)
        shift = Vec(math.sqrt(y[1] * y[1] + y[2] * y[2]), 0.0, 0.0)
        u = load_vec(space.image[c], 3)
        space.right[c] = kept_normal(space.along[c], h) - (u + shift - y)
    solve_contacts(space, space.force_step)
    for c in range(contacts):
        beta, v = space.beta[c], load_vec(space.axis[c], 3)
        # dy = h - W^2 dx
        change = scaled(beta, v, scaled(beta, v, load_vec(space.force_step[c], 3)))
        space.velocity_step[c] = load_vec(space.velocity_step[c], 3) - change


@compiled
def longest_step(space: BodySpace) -> float:
    """Return the number of steps to the first boundary; zero if some step is no number."""
    longest, total = math.inf, 0.0
    for c in range(space.sizes[CONTACTS]):
        dx, dy = load_vec(space.force_step[c], 3), load_vec(space.velocity_step[c], 3)
        longest = min(
            longest,
            step_to_boundary(load_vec(space.inside[c], 3), dx),
            step_to_boundary(load_vec(space.velocity_inside[c], 3), dy),
        )
        total += dx @ dx + dy @ dy
    # Also false for NaN, as every comparison with it.
    return longest if total < math.inf else 0.0
