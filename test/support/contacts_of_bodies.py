# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Contacts among bodies, as arguments of the matrix-free solvers."""

import numpy as np

from rbd_ros.compiler.loops import allocate
from rbd_ros.constraints import solve_friction
from rbd_ros.constraints.friction_space import STICK
from rbd_ros.constraints.solvers.body_matrix import matrix_sizes, order_bodies
from rbd_ros.constraints.solvers.friction_body_space import (
    BodySpace,
    CONTACTS,
    HAS_MOMENTS,
    MEMBERS,
    prepare,
)
from support.boxes_in_contact import Pile


def space_of(pile, friction, state=STICK, compliance=0.0, coefficient=None):
    """Return the prepared space of a pile.

    :param coefficient: maximum moments by normal force, about the normal and both tangents
    """
    B, n = len(pile.velocity), len(pile.bodies)
    space = allocate(BodySpace, B=B, C=n, K=n if coefficient else 0, **matrix_sizes(B))
    space.sizes[CONTACTS], space.velocity[:] = n, pile.velocity
    space.body[:], space.jacobian[:], space.friction[:] = pile.bodies, pile.jacobian, friction
    space.effect[:] = np.einsum('nsrj,nsjk->nsrk', pile.jacobian, pile.inverse[pile.bodies])
    space.state[:], space.compliance[:] = state, compliance
    if coefficient:
        space.sizes[HAS_MOMENTS], space.coefficient[:] = 1, coefficient
        # The axes of a contact are the rows of its Jacobian for linear velocity.
        space.angular_jacobian[..., :3] = pile.jacobian[..., 3:]
        angular = np.einsum('nsrj,nsjk->nsrk', space.angular_jacobian, pile.inverse[pile.bodies])
        space.angular_effect[:] = angular
    prepare(space)
    assert order_bodies(space.matrix, space.sizes[MEMBERS], space.body, space.place, n)
    return space


def random_stars(rng, mu, sliding):
    """Return bodies in general position on one that slides or not, depending on `mu`."""
    A = rng.normal(size=(4, 6, 6))
    pile = Pile([], [])
    pile.inverse = np.einsum('bij,bkj->bik', A, A) + 0.1 * np.eye(6)
    pile.bodies = np.array([(k, 3) for k in range(3)] + [(3, -1)])
    pile.jacobian = rng.normal(size=(4, 2, 3, 6))
    pile.velocity = rng.normal(size=(4, 6))
    problem, _ = pile.dense(np.full((4, 2), mu))
    found = solve_friction(problem, tolerance=1e-12)
    return pile, found if found.converged and sliding in found.state else None


def closing_walls():
    """Return the space of a body between two approaching walls, which has no solution."""
    wall = np.zeros((2, 2, 3, 6))
    wall[0, 0, :, 3:], wall[1, 0, :, 3:] = np.eye(3), np.diag([-1.0, 1.0, 1.0])
    pile = Pile([], [])
    pile.inverse, pile.velocity = np.eye(6)[None], np.zeros((1, 6))
    pile.bodies, pile.jacobian = np.array([[0, -1], [0, -1]]), wall
    space = space_of(pile, 0.5)
    space.bias[:, 0] = -1.0
    space.x[:] = [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    return space
