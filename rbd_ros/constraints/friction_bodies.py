# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Contacts with friction among many free bodies, by sweeps without a contact matrix."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Optional

import numpy as np
from numpy.typing import ArrayLike

from rbd_ros.compiler.loops import allocate, Record
from rbd_ros.constraints.friction import Array, contact_residuals, Residuals
from rbd_ros.constraints.solvers.body_matrix import matrix_sizes
from rbd_ros.constraints.solvers.friction_body_space import (
    BodySpace,
    CONTACTS,
    ITERATIONS,
    WORLD,
)
from rbd_ros.constraints.solvers.friction_body_sweeps import solve_bodies


class BodySolution(NamedTuple):
    """Velocities of bodies in contact, and the forces of their contacts.

    :param velocity: velocities of the bodies with contact forces, (B, 6)
    :param force: forces of the contacts, (n, 3), normal first
    :param residuals: distance from a solution
    :param converged: whether the residuals are within the tolerance
    :param iterations: number of sweeps and of Newton steps
    """

    velocity: Any
    force: Any
    residuals: Residuals
    converged: bool
    iterations: int


def solve_friction_bodies(
    inverse_inertia: ArrayLike,
    velocity: ArrayLike,
    bodies: ArrayLike,
    jacobian: ArrayLike,
    friction: ArrayLike,
    bias: ArrayLike = 0.0,
    compliance: ArrayLike = 0.0,
    start: Optional[ArrayLike] = None,
    tolerance: float = 1e-8,
    iterations: int = 2000,
) -> BodySolution:
    """Solve the contacts of many bodies, as `solve_friction` does those of few.

    Hundreds of contacts take milliseconds. The friction law is the same, unrelaxed. The solver
    always ends and raises no error: without a solution, `converged` is false.

    :param inverse_inertia: inverse inertia of each body, (B, 6, 6), in the frame of the velocities
    :param velocity: velocities of the bodies without contact forces, (B, 6)
    :param bodies: numbers of both bodies of each contact, (n, 2); -1 is the world
    :param jacobian: velocity of each contact, normal, tangent, tangent, per velocity of its two
        bodies, (n, 2, 3, 6), signs included; the part of the world is ignored
    :param friction: coefficients, (n,) or along both tangents (n, 2)
    :param bias: velocity of each contact besides that of its bodies, (n, 3) or broadcast to it
    :param compliance: velocity per force of compliant contacts, likewise
    :param start: initial forces (warm start), (n, 3); default zero
    :param tolerance: velocity error of a solution relative to the largest velocity without forces
    :param iterations: maximum number of sweeps and Newton steps
    :raises ValueError: for wrong shapes, numbers that are not finite, unknown bodies, negative
        friction or compliance, a tolerance that is not positive, less than one iteration

    >>> from rbd_ros.constraints import solve_friction_bodies
    >>> falling = [[0.0, 0.0, 0.0, 0.5, 0.0, -1.0]]  # a mass on the ground, angular velocity first
    >>> J = np.zeros((1, 2, 3, 6))
    >>> J[0, 0, 0, 5] = J[0, 0, 1, 3] = J[0, 0, 2, 4] = 1.0  # normal z, tangents x and y
    >>> solve_friction_bodies([np.eye(6)], falling, [[0, -1]], J, [0.3]).force
    array([[ 1. , -0.3,  0. ]])
    """
    inverse, free = np.array(inverse_inertia, dtype=float), np.array(velocity, dtype=float)
    pairs, J = np.array(bodies), np.array(jacobian, dtype=float)
    mu = np.array(friction, dtype=float)
    if mu.ndim == 1:
        mu = np.stack([mu, mu], axis=1)
    count, n = len(free), len(mu)
    shapes = (
        ('inverse_inertia', inverse, (count, 6, 6)),
        ('velocity', free, (count, 6)),
        ('bodies', pairs, (n, 2)),
        ('jacobian', J, (n, 2, 3, 6)),
        ('friction', mu, (n, 2)),
    )
    for name, array, shape in shapes:
        if array.shape != shape:
            raise ValueError(f'{name} must have shape {shape}, got {array.shape}')
    contacts = []
    for name, given in (('bias', bias), ('compliance', compliance), ('start', start)):
        try:
            contacts.append(np.broadcast_to(0.0 if given is None else given, (n, 3)).astype(float))
        except ValueError:
            raise ValueError(f'{name} must have shape ({n}, 3)') from None
    away, soft, first = contacts
    names = ('inverse_inertia', 'velocity', 'jacobian', 'friction', 'bias', 'compliance', 'start')
    for name, array in zip(names, (inverse, free, J, mu, away, soft, first)):
        if not np.isfinite(array).all():
            raise ValueError(f'{name} must be finite')
    # Checked here: compiled loops do not check indices.
    if n and (
        not np.issubdtype(pairs.dtype, np.integer) or pairs.min() < WORLD or pairs.max() >= count
    ):
        raise ValueError(f'bodies must be numbers from 0 to {count - 1}, or -1 for the world')
    # A contact of a body with itself would count twice in its block.
    if (pairs[:, 0] == pairs[:, 1]).any():
        raise ValueError(
            f'contact {int(np.argmax(pairs[:, 0] == pairs[:, 1]))} names one body twice'
        )
    if (mu < 0.0).any() or (soft < 0.0).any():
        raise ValueError('friction and compliance must not be negative')
    if not 0.0 < tolerance < math.inf or iterations < 1 or iterations != int(iterations):
        raise ValueError('tolerance must be positive, and iterations a whole number of at least 1')
    # K = 0: without moments, the solver allocates and reads no buffers for them.
    space = allocate(BodySpace, B=count, C=n, K=0, **matrix_sizes(count))
    # The solver scales J and the effects in place, so it gets copies.
    space.sizes[CONTACTS] = n
    filled = (
        (space.velocity, free),
        (space.body, pairs.reshape(n, 2)),
        (space.jacobian, J),
        (space.effect, _effects(inverse, pairs.reshape(n, 2), J)),
        (space.friction, mu),
        (space.bias, away),
        (space.compliance, soft),
        (space.force, first),
    )
    for part, array in filled:
        part[...] = array
    converged = solve_bodies(Record(space), int(iterations), tolerance) == 1
    return BodySolution(
        space.velocity,
        space.force,
        # From the unscaled Jacobian and the returned velocities: this includes scaling errors.
        Residuals(*contact_residuals(space.force, _contact_velocities(space, J), mu), 0.0),
        converged,
        int(space.report[ITERATIONS]),
    )


def _effects(inverse: Array, pairs: Array, J: Array) -> Array:
    """Return the change of velocity of both bodies per force of each contact, (n, 2, 3, 6)."""
    found: Array = np.zeros(J.shape)
    for side in range(2):
        # H^-1 J^T of one body, as a row for each axis; the world has no velocity and stays zero.
        moved = pairs[:, side] >= 0
        found[moved, side] = np.einsum('nrj,njk->nrk', J[moved, side], inverse[pairs[moved, side]])
    return found


def _contact_velocities(space: BodySpace, J: Array) -> Array:
    """Return the velocity of each contact, compliance included, (n, 3)."""
    v: Array = space.bias + space.compliance * space.force
    for side in range(2):
        # For the world, b = -1 reads the last body, and `where` drops it.
        b = space.body[:, side]
        v = v + np.where(
            (b >= 0)[:, None],
            np.einsum('nrk,nk->nr', J[:, side], space.velocity[b]),
            0.0,
        )
    return v
