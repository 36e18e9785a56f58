# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Sparse block matrix of bodies coupled by contacts, and its factorization.

Contacts of stiffness K between velocities and forces make 1 + E K J of the bodies' velocities. J
maps velocities of bodies to those of contacts, E forces of contacts to velocity changes of bodies.
There is a block for each body, and for each two bodies in contact. Bodies with the fewest
neighbors left are eliminated first (minimum degree, Tinney and Walker 1967): towers, chains and
many bodies on one then have as many blocks as contacts, in any initial order.
"""

from __future__ import annotations

from typing import NamedTuple

from rbd_ros.compiler.loops import compiled, floats, integers, stack_array
from rbd_ros.constraints.friction_space import FloatArray, IntArray

#: Maximum number of bodies, and of coupled pairs per body: beyond, elimination takes longer than
#: the sweeps that it replaces.
MAX_BODIES, MAX_PAIRS = 512, 16

#: Indices into `sizes`.
MEMBERS, PAIRS = 0, 1


class BodyMatrix(NamedTuple):
    """Buffers for a matrix of up to S bodies, of which up to P pairs are coupled.

    :param sizes: number of bodies and of pairs in it
    :param pair: number of the pair of two bodies; -1 if nothing couples them
    :param order: the bodies in the order of elimination
    :param degree: number of neighbors of each body that are not eliminated yet; -1 once it is
        eliminated
    :param first: index into `later` of the first neighbor of each body
    :param later: neighbors that are eliminated after it
    :param diagonal: block of each body; after elimination, the inverse of the pivot block
    :param coupling: two blocks of each pair, see `block_of`; elimination leaves factors in
        the rows of the later body
    :param x: right-hand side, then solution
    :param exchanged: pivot rows within a block
    :param stiff: E^T K of one side of a contact
    """

    sizes: IntArray = integers(2)
    pair: IntArray = integers('S', 'S')
    order: IntArray = integers('S')
    degree: IntArray = integers('S')
    first: IntArray = integers('S1')
    later: IntArray = integers('P')
    diagonal: FloatArray = floats('S', 6, 6)
    coupling: FloatArray = floats('P2', 6, 6)
    x: FloatArray = floats('S', 6)
    exchanged: IntArray = integers(6)
    stiff: FloatArray = floats(6, 3)


def matrix_sizes(bodies: int) -> dict[str, int]:
    """Return the sizes of a `BodyMatrix` for a maximum number of bodies in contact.

    :param bodies: number of all bodies
    """
    members = min(bodies, MAX_BODIES)
    pairs = min(members * (members - 1) // 2, MAX_PAIRS * members)
    return {'S': members, 'S1': members + 1, 'P': pairs, 'P2': 2 * pairs}


@compiled
def order_bodies(
    space: BodyMatrix, members: int, body: IntArray, place: IntArray, contacts: int
) -> bool:
    """Find the pairs of bodies in contact, and the order of elimination.

    :param members: number of bodies in contact
    :param body: both bodies of each contact; below zero: none
    :param place: number of each body in the matrix
    :param contacts: number of contacts
    :return: whether the matrix fits
    """
    # Without a matrix, the caller falls back to a matrix-free method.
    if members > len(space.order):
        return False
    pairs = 0
    for i in range(members):
        space.degree[i] = 0
        for j in range(members):
            space.pair[i, j] = -1
    # Symbolic factorization: the pattern of blocks, without numbers. Contacts of the same two
    # bodies share a block.
    for c in range(contacts):
        if body[c, 0] >= 0 and body[c, 1] >= 0:
            i, j = place[body[c, 0]], place[body[c, 1]]
            if space.pair[i, j] < 0:
                if pairs == len(space.later):
                    return False
                pairs = add_pair(space, i, j, pairs)
    listed = 0
    for k in range(members):
        # The body with the fewest neighbors left, the first of several: the order, and so every
        # rounding error, is reproducible.
        pivot = -1
        for i in range(members):
            if space.degree[i] >= 0:
                if pivot < 0 or space.degree[i] < space.degree[pivot]:
                    pivot = i
        space.order[k], space.first[k] = pivot, listed
        alone = space.degree[pivot] == 0
        # Mark it as eliminated for later searches.
        space.degree[pivot] = -1
        if alone:
            continue
        for i in range(members):
            if space.pair[pivot, i] >= 0 and space.degree[i] >= 0:
                # Each pair is in one such list only, so that it fits.
                space.later[listed] = i
                space.degree[i] -= 1
                listed += 1
        # Fill-in: all neighbors of the eliminated body become neighbors of each other.
        for a in range(space.first[k], listed):
            for b in range(a):
                if b >= space.first[k]:
                    i, j = space.later[a], space.later[b]
                    if space.pair[i, j] < 0:
                        if pairs == len(space.later):
                            return False
                        pairs = add_pair(space, i, j, pairs)
    space.first[members] = listed
    space.sizes[MEMBERS], space.sizes[PAIRS] = members, pairs
    return True


@compiled
def add_pair(space: BodyMatrix, i: int, j: int, pairs: int) -> int:
    """Couple two bodies; return the number of pairs.

    :param i: place of one
    :param j: place of the other
    :param pairs: previous number of pairs
    """
    space.pair[i, j] = space.pair[j, i] = pairs
    space.degree[i] += 1
    space.degree[j] += 1
    return pairs + 1


@compiled
def begin_matrix(space: BodyMatrix) -> None:
    """Set the identity matrix."""
    for i in range(space.sizes[MEMBERS]):
        block = space.diagonal[i]
        for r in range(6):
            for s in range(6):
                block[r, s] = 0.0
            block[r, r] = 1.0
    for p in range(2 * space.sizes[PAIRS]):
        block = space.coupling[p]
        for r in range(6):
            for s in range(6):
                block[r, s] = 0.0


@compiled
def block_of(space: BodyMatrix, i: int, j: int) -> int:
    """Return the number of the block in the rows of body i and the columns of body j."""
    number: int = 2 * space.pair[i, j]
    return number + 1 if i < j else number


@compiled
def add_contact(
    space: BodyMatrix, i: int, j: int, E: FloatArray, K: FloatArray, J: FloatArray
) -> None:
    """Add E^T K J of a contact.

    :param i: number of its first body here; below zero: none
    :param j: that of the second one
    :param E: change of the velocity of each body per force, (2, 3, 6)
    :param K: force per velocity, (3, 3)
    :param J: velocity of the contact per velocity of each body, (2, 3, 6)
    """
    # Four blocks of E^T K J, without those of the world, which has no unknown.
    if i >= 0:
        stiffen(E[0], K, space.stiff)
        add_product(space.stiff, J[0], space.diagonal[i])
        if j >= 0:
            add_product(space.stiff, J[1], space.coupling[block_of(space, i, j)])
    if j >= 0:
        stiffen(E[1], K, space.stiff)
        add_product(space.stiff, J[1], space.diagonal[j])
        if i >= 0:
            add_product(space.stiff, J[0], space.coupling[block_of(space, j, i)])


@compiled
def stiffen(E: FloatArray, K: FloatArray, result: FloatArray) -> None:
    """Compute E^T K.

    :param E: (3, 6)
    :param K: (3, 3)
    :param result: (6, 3)
    """
    for r in range(6):
        e, e_1, e_2 = E[0, r], E[1, r], E[2, r]
        for s in range(3):
            result[r, s] = e * K[0, s] + e_1 * K[1, s] + e_2 * K[2, s]


@compiled
def add_product(F: FloatArray, J: FloatArray, block: FloatArray) -> None:
    """Add F J to a block.

    :param F: (6, 3)
    :param J: (3, 6)
    """
    for r in range(6):
        f, f_1, f_2, into = F[r, 0], F[r, 1], F[r, 2], block[r]
        for s in range(6):
            into[s] += f * J[0, s] + f_1 * J[1, s] + f_2 * J[2, s]


@compiled
def factorize_bodies(space: BodyMatrix) -> None:
    """Eliminate all bodies."""
    for k in range(space.sizes[MEMBERS]):
        pivot = space.order[k]
        # Pivoting stays within the block: the inertia H of a body times it is H + J^T K J, which
        # is positive definite where nothing slides.
        invert(space.diagonal[pivot], space.exchanged)
        for a in range(space.first[k], space.first[k + 1]):
            i = space.later[a]
            # L_ip = M_ip M_pp^-1 replaces M_ip, and M_ij -= L_ip M_pj (block Gauss; sliding makes
            # the matrix unsymmetric, so both triangles are stored).
            below = space.coupling[block_of(space, i, pivot)]
            multiply_by(below, space.diagonal[pivot])
            for b in range(space.first[k], space.first[k + 1]):
                j = space.later[b]
                above = space.coupling[block_of(space, pivot, j)]
                if i == j:
                    subtract_product(below, above, space.diagonal[i])
                else:
                    subtract_product(below, above, space.coupling[block_of(space, i, j)])


@compiled
def solve_bodies_matrix(space: BodyMatrix) -> None:
    """Replace the right-hand side `x` by the solution."""
    x, members = space.x, space.sizes[MEMBERS]
    for k in range(members):
        pivot = space.order[k]
        for a in range(space.first[k], space.first[k + 1]):
            i = space.later[a]
            # Forward substitution with L; below, back substitution with the upper blocks and the
            # inverted pivots.
            subtract_image(space.coupling[block_of(space, i, pivot)], x[pivot], x[i])
    rest = stack_array(6)
    for back in range(members):
        k = members - 1 - back
        pivot = space.order[k]
        for a in range(space.first[k], space.first[k + 1]):
            i = space.later[a]
            subtract_image(space.coupling[block_of(space, pivot, i)], x[i], x[pivot])
        for r in range(6):
            rest[r] = x[pivot, r]
            x[pivot, r] = 0.0
        for r in range(6):
            row, total = space.diagonal[pivot, r], 0.0
            for s in range(6):
                total += row[s] * rest[s]
            x[pivot, r] = total


@compiled
def subtract_image(A: FloatArray, x: FloatArray, y: FloatArray) -> None:
    """Subtract A x from y, of six dimensions."""
    for r in range(6):
        row = A[r]
        y[r] -= (row[0] * x[0] + row[1] * x[1] + row[2] * x[2]) + (
            row[3] * x[3] + row[4] * x[4] + row[5] * x[5]
        )


@compiled
def subtract_product(A: FloatArray, B: FloatArray, C: FloatArray) -> None:
    """Subtract A B from C, of six dimensions."""
    for r in range(6):
        a, b, c, d, e, f = A[r, 0], A[r, 1], A[r, 2], A[r, 3], A[r, 4], A[r, 5]
        into = C[r]
        for s in range(6):
            into[s] -= (a * B[0, s] + b * B[1, s] + c * B[2, s]) + (
                d * B[3, s] + e * B[4, s] + f * B[5, s]
            )


@compiled
def multiply_by(A: FloatArray, B: FloatArray) -> None:
    """Replace A by A B, of six dimensions."""
    for r in range(6):
        into = A[r]
        a, b, c, d, e, f = into[0], into[1], into[2], into[3], into[4], into[5]
        for s in range(6):
            into[s] = (a * B[0, s] + b * B[1, s] + c * B[2, s]) + (
                d * B[3, s] + e * B[4, s] + f * B[5, s]
            )


@compiled
def invert(A: FloatArray, exchanged: IntArray) -> None:
    """Replace a matrix of six dimensions by its inverse (Gauss and Jordan, partial pivoting).

    :param exchanged: buffer, (6,)
    """
    for k in range(6):
        pivot = k
        for i in range(k + 1, 6):
            if abs(A[i, k]) > abs(A[pivot, k]):
                pivot = i
        exchanged[k] = pivot
        row = A[k]
        if pivot != k:
            for j in range(6):
                row[j], A[pivot, j] = A[pivot, j], row[j]
        scale = 1.0 / row[k] if row[k] != 0.0 else 0.0
        row[k] = 1.0
        for j in range(6):
            row[j] *= scale
        for i in range(6):
            if i != k:
                other = A[i]
                part = other[k]
                other[k] = 0.0
                for j in range(6):
                    other[j] -= part * row[j]
    # Row exchanges of the matrix are column exchanges of the inverse.
    for back in range(6):
        k = 5 - back
        pivot = exchanged[k]
        if pivot != k:
            for i in range(6):
                A[i, k], A[i, pivot] = A[i, pivot], A[i, k]
