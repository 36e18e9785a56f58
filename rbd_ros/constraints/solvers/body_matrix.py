"""A sparse matrix of bodies that contacts couple, in blocks of six rows, and its factors.

Contacts with a stiffness K between velocities and forces make 1 + E K J of the bodies' velocities,
J being what velocities of bodies do to those of contacts, and E what forces of contacts do to
those of bodies. A block is there for each body, and for each two that touch each other. Those are
eliminated first that have the fewest neighbours left (minimum degree, Tinney and Walker 1967):
towers, chains and many bodies on one then have as many blocks as contacts, whatever the order in
which they are given.
"""

from __future__ import annotations

from typing import NamedTuple

from rbd_ros.compiler.loops import compiled, floats, integers, matrix, vector
from rbd_ros.constraints.friction_space import FloatArray, IntArray

#: Most bodies of a matrix, and most pairs of coupled ones for each of them: beyond, elimination
#: takes longer than what it is to replace.
MAX_BODIES, MOST_PAIRS = 128, 4

#: Where in `sizes` which number is.
MEMBERS, PAIRS = 0, 1


class BodyMatrix(NamedTuple):
    """Room for a matrix of up to S bodies, of which up to P pairs are coupled.

    :param sizes: how many there are in it
    :param pair: number of the pair of two of them; -1 if nothing couples them
    :param order: the bodies as they are eliminated
    :param rank: when each is eliminated
    :param degree: how many neighbours each has that are not eliminated yet
    :param first: where in `later` the neighbours of each are that are eliminated after it
    :param later: these neighbours
    :param diagonal: blocks of each body, and the inverse of what elimination leaves of them
    :param upper: blocks of each pair in the rows of the one that is eliminated first
    :param lower: those in the rows of the other one, and what elimination leaves of them
    :param x: right-hand side, then solution
    """

    sizes: IntArray = integers(2)
    pair: IntArray = integers('S', 'S')
    order: IntArray = integers('S')
    rank: IntArray = integers('S')
    degree: IntArray = integers('S')
    first: IntArray = integers('S1')
    later: IntArray = integers('P')
    diagonal: FloatArray = floats('S', 6, 6)
    upper: FloatArray = floats('P', 6, 6)
    lower: FloatArray = floats('P', 6, 6)
    x: FloatArray = floats('S', 6)


def matrix_sizes(bodies: int) -> dict[str, int]:
    """Sizes S, S1 and P of a matrix for at most so many bodies in contact.

    :param bodies: number of all bodies
    """
    members = min(bodies, MAX_BODIES)
    pairs = min(members * (members - 1) // 2, MOST_PAIRS * members)
    return {'S': members, 'S1': members + 1, 'P': pairs}


@compiled
def order_bodies(
    space: BodyMatrix, members: int, body: IntArray, place: IntArray, contacts: int
) -> bool:
    """Find which pairs of bodies there are, and in which order bodies are eliminated.

    :param members: how many bodies there are
    :param body: both bodies of each contact; below zero: none
    :param place: number of each of them here
    :param contacts: number of contacts
    :return: whether there is room
    """
    if members > len(space.order):
        return False
    pairs = 0
    for i in range(members):
        space.degree[i], space.rank[i] = 0, members
        for j in range(members):
            space.pair[i, j] = -1
    for c in range(contacts):
        if body[c, 0] >= 0 and body[c, 1] >= 0:
            i, j = place[body[c, 0]], place[body[c, 1]]
            if space.pair[i, j] < 0:
                if pairs == len(space.later):
                    return False
                pairs = add_pair(space, i, j, pairs)
    listed = 0
    for k in range(members):
        pivot = -1
        for i in range(members):
            if space.rank[i] == members:
                if pivot < 0 or space.degree[i] < space.degree[pivot]:
                    pivot = i
        space.order[k], space.rank[pivot], space.first[k] = pivot, k, listed
        if space.degree[pivot] == 0:
            continue
        for i in range(members):
            if space.pair[pivot, i] >= 0 and space.rank[i] == members:
                # Each pair is in one such list, so that there is room.
                space.later[listed] = i
                space.degree[i] -= 1
                listed += 1
        for a in range(space.first[k], listed):
            for b in range(a):
                if b >= space.first[k]:
                    i, j = space.later[a], space.later[b]
                    if space.pair[i, j] < 0:
                        # Elimination couples them.
                        if pairs == len(space.later):
                            return False
                        pairs = add_pair(space, i, j, pairs)
    space.first[members] = listed
    space.sizes[MEMBERS], space.sizes[PAIRS] = members, pairs
    return True


@compiled
def add_pair(space: BodyMatrix, i: int, j: int, pairs: int) -> int:
    """Couple two bodies; returns how many pairs there are now.

    :param i: place of one
    :param j: place of the other
    :param pairs: how many there were
    """
    space.pair[i, j] = space.pair[j, i] = pairs
    space.degree[i] += 1
    space.degree[j] += 1
    return pairs + 1


@compiled
def begin_matrix(space: BodyMatrix) -> None:
    """Enter the identity."""
    for i in range(space.sizes[MEMBERS]):
        block = space.diagonal[i]
        for r in range(6):
            for s in range(6):
                block[r, s] = 0.0
            block[r, r] = 1.0
    for p in range(space.sizes[PAIRS]):
        above, below = space.upper[p], space.lower[p]
        for r in range(6):
            for s in range(6):
                above[r, s] = below[r, s] = 0.0


@compiled
def add_contact(
    space: BodyMatrix, i: int, j: int, E: FloatArray, K: FloatArray, J: FloatArray
) -> None:
    """Add E^T K J of a contact.

    :param i: number of its first body here; below zero: none
    :param j: that of the second one
    :param E: change of the velocity of each body by a force, (2, 3, 6)
    :param K: force by velocity, (3, 3)
    :param J: velocity of the contact by the velocity of each body, (2, 3, 6)
    """
    if i >= 0:
        add_block(space.diagonal[i], E[0], K, J[0])
    if j >= 0:
        add_block(space.diagonal[j], E[1], K, J[1])
    if i >= 0 and j >= 0:
        p = space.pair[i, j]
        if space.rank[i] < space.rank[j]:
            add_block(space.upper[p], E[0], K, J[1])
            add_block(space.lower[p], E[1], K, J[0])
        else:
            add_block(space.upper[p], E[1], K, J[0])
            add_block(space.lower[p], E[0], K, J[1])


@compiled
def add_block(block: FloatArray, E: FloatArray, K: FloatArray, J: FloatArray) -> None:
    """Add E^T K J to a block.

    :param E: (3, 6)
    :param K: (3, 3)
    :param J: (3, 6)
    """
    for r in range(6):
        e, e_1, e_2 = E[0, r], E[1, r], E[2, r]
        f = e * K[0, 0] + e_1 * K[1, 0] + e_2 * K[2, 0]
        f_1 = e * K[0, 1] + e_1 * K[1, 1] + e_2 * K[2, 1]
        f_2 = e * K[0, 2] + e_1 * K[1, 2] + e_2 * K[2, 2]
        into = block[r]
        for s in range(6):
            into[s] += f * J[0, s] + f_1 * J[1, s] + f_2 * J[2, s]


@compiled
def factorise_bodies(space: BodyMatrix) -> None:
    """Eliminate all bodies."""
    for k in range(space.sizes[MEMBERS]):
        pivot = space.order[k]
        invert(space.diagonal[pivot])
        for a in range(space.first[k], space.first[k + 1]):
            i = space.later[a]
            below = space.lower[space.pair[pivot, i]]
            multiply_by(below, space.diagonal[pivot])
            subtract_product(below, space.upper[space.pair[pivot, i]], space.diagonal[i])
            for b in range(space.first[k], space.first[k + 1]):
                j = space.later[b]
                if i != j:
                    above, p = space.upper[space.pair[pivot, j]], space.pair[i, j]
                    if space.rank[i] < space.rank[j]:
                        subtract_product(below, above, space.upper[p])
                    else:
                        subtract_product(below, above, space.lower[p])


@compiled
def solve_bodies_matrix(space: BodyMatrix) -> None:
    """Replace the right-hand side `x` by the solution."""
    x, members = space.x, space.sizes[MEMBERS]
    for k in range(members):
        pivot = space.order[k]
        for a in range(space.first[k], space.first[k + 1]):
            i = space.later[a]
            subtract_image(space.lower[space.pair[pivot, i]], x[pivot], x[i])
    rest = vector(6)
    for back in range(members):
        k = members - 1 - back
        pivot = space.order[k]
        for a in range(space.first[k], space.first[k + 1]):
            i = space.later[a]
            subtract_image(space.upper[space.pair[pivot, i]], x[i], x[pivot])
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
def invert(A: FloatArray) -> None:
    """Replace a matrix of six dimensions by its inverse (Gauss and Jordan, partial pivoting)."""
    whole = matrix(6, 6)
    for r in range(6):
        for s in range(6):
            whole[r, s] = 1.0 if r == s else 0.0
    for k in range(6):
        pivot = k
        for i in range(k + 1, 6):
            if abs(A[i, k]) > abs(A[pivot, k]):
                pivot = i
        if pivot != k:
            for j in range(6):
                A[k, j], A[pivot, j] = A[pivot, j], A[k, j]
                whole[k, j], whole[pivot, j] = whole[pivot, j], whole[k, j]
        scale = 1.0 / A[k, k] if A[k, k] != 0.0 else 0.0
        for j in range(6):
            A[k, j] *= scale
            whole[k, j] *= scale
        for i in range(6):
            part = A[i, k]
            if i != k and part != 0.0:
                for j in range(6):
                    A[i, j] -= part * A[k, j]
                    whole[i, j] -= part * whole[k, j]
    for r in range(6):
        for s in range(6):
            A[r, s] = whole[r, s]
