# SPDX-License-Identifier: Apache-2.0
"""Second-order cones as an interior-point method needs them: scaling, steps, boundaries.

A force x and a velocity y are in the cone |x_t| <= x_n, (3,) each. Products are those of its
Jordan algebra, x o y = (x . y, x_n y_t + y_n x_t), the scaling is that of Nesterov and Todorov.
A cone of two dimensions is one whose last elements are zero: they stay so.

Each contact of a problem has a cone, and so has each moment: the normal force and what it bounds.
They are numbered like `state`, as blocks: contacts, then rows, which have none, then moments.
"""

from __future__ import annotations

import math
from typing import Tuple

from rbd_ros.compiler.loops import compiled, Vec, Vec3
from rbd_ros.constraints.friction_space import (
    CONTACTS,
    FIRST,
    FloatArray,
    FrictionSpace,
    MOMENTS,
    ROWS,
    SECOND,
)


@compiled
def blocks_of(space: FrictionSpace) -> int:
    """Return the number of contacts, rows and rows of moments."""
    blocks: int = space.sizes[CONTACTS] + space.sizes[ROWS] + space.sizes[MOMENTS]
    return blocks


@compiled
def is_cone(space: FrictionSpace, b: int) -> bool:
    """Return whether a block is a contact or begins a moment: each of these has a cone."""
    first = space.sizes[CONTACTS] + space.sizes[ROWS]
    if b < first:
        contact: bool = b < space.sizes[CONTACTS]
        return contact
    begins: bool = space.part[b - first] != SECOND
    return begins


@compiled
def normal_row(space: FrictionSpace, b: int) -> int:
    """Return the row of the normal force of a cone."""
    contacts = space.sizes[CONTACTS]
    row: int = (
        3 * b if b < contacts else 3 * space.moment_contact[b - contacts - space.sizes[ROWS]]
    )
    return row


@compiled
def tangent_row(space: FrictionSpace, b: int) -> int:
    """Return the first row of what the normal force of a cone bounds."""
    contacts = space.sizes[CONTACTS]
    # Rows of moments follow 3n + m forces, their blocks n + m: 2n more rows than blocks.
    row: int = 3 * b + 1 if b < contacts else b + 2 * contacts
    return row


@compiled
def tangents_of(space: FrictionSpace, b: int) -> int:
    """Return how many elements of a cone its normal force bounds, one or two."""
    contacts = space.sizes[CONTACTS]
    if b < contacts or space.part[b - contacts - space.sizes[ROWS]] == FIRST:
        return 2
    return 1


@compiled
def of_cones(space: FrictionSpace, x: FloatArray, cones: FloatArray) -> None:
    """Take the elements of all cones from forces, normal forces as often as they are shared.

    :param x: forces or changes of them, (N,)
    :param cones: the result, (blocks, 3); what a cone does not have is zero
    """
    for b in range(blocks_of(space)):
        if is_cone(space, b):
            row, into = tangent_row(space, b), cones[b]
            # A cone that shares its normal force has a copy of it; `assemble_rhs` sums what they
            # do to it.
            into[0] = x[normal_row(space, b)]
            into[1] = x[row]
            into[2] = x[row + 1] if tangents_of(space, b) == 2 else 0.0


@compiled
def square(x: Vec3) -> float:
    """Return x_n^2 - |x_t|^2, which is positive inside the cone."""
    # x . J x as a product: near the boundary, x_n^2 - |x_t|^2 would lose all digits. No less than
    # rounding of x_n^2, as what divides by it has to stay finite.
    length = math.sqrt(x[1] * x[1] + x[2] * x[2])
    return max((x[0] - length) * (x[0] + length), 1e-28 * x[0] * x[0], 1e-300)


@compiled
def scaling(x: Vec3, y: Vec3) -> Tuple[float, Vec3]:
    """Return the scaling W = beta (2 v v^T - J) with W x = W^-1 y, J = diag(1, -1, -1).

    :return: beta, and the unit vector v of the scaling, v . J v = 1
    """
    # Vandenberghe (2010), section 4: with x and y normalized to x . J x = 1, `half` is 1 / (2
    # gamma), gamma^2 = (1 + x . y) / 2, w = half (y + J x).
    of_x, of_y = square(x), square(y)
    a, b = 1.0 / math.sqrt(of_x), 1.0 / math.sqrt(of_y)
    half = 0.5 / math.sqrt(max(0.5 * (1.0 + x @ y * a * b), 0.5))
    # No less than one, whatever is rounded.
    w = max(half * (b * y[0] + a * x[0]), 1.0)
    scale = 1.0 / math.sqrt(2.0 * (w + 1.0))
    _, v_1, v_2 = scale * half * (b * y - a * x)
    return math.sqrt(math.sqrt(of_y / of_x)), Vec(scale * (w + 1.0), v_1, v_2)


@compiled
def scaled(beta: float, v: Vec3, x: Vec3) -> Vec3:
    """Return W x."""
    # beta (2 v v^T - J) x, without the matrix.
    return beta * (2.0 * (v @ x) * v + Vec(-x[0], x[1], x[2]))


@compiled
def find_cone_rhs(beta: float, v: Vec3, x: Vec3, predicted: Vec3, product: float) -> Vec3:
    """Return the part h of a change of y that is no effect of one of x: dy = h - W^2 dx.

    :param beta: size of the scaling of x and y
    :param v: unit vector of the scaling
    :param predicted: change of x that the predictor found; zero for the predictor itself
    :param product: desired product of x and y
    """
    # lambda o lambda and the product of both predicted changes: lambda o lambda - d o (lambda + d)
    lam, d = scaled(beta, v, x), scaled(beta, v, predicted)
    e = lam + d
    r_0 = product - lam @ lam + d @ e
    r_1 = -2.0 * lam[0] * lam[1] + d[0] * e[1] + d[1] * e[0]
    r_2 = -2.0 * lam[0] * lam[2] + d[0] * e[2] + d[2] * e[0]
    # Solves lambda o h = r: the arrow matrix of lambda inverted by its Schur complement.
    h = (lam[0] * r_0 - lam[1] * r_1 - lam[2] * r_2) / square(lam)
    # h is in scaled coordinates, W^-1 dy + W dx = h; in those of y, dy = W h - W^2 dx.
    return scaled(beta, v, Vec(h, (r_1 - h * lam[1]) / lam[0], (r_2 - h * lam[2]) / lam[0]))


@compiled
def step_to_boundary(x: Vec3, d: Vec3) -> float:
    """Return the number of steps d from x to the boundary of the cone."""
    # (x + t d) . J (x + t d) = c + 2 b t + a t^2; the boundary is at its first positive root,
    # written as c / (sqrt - b): no difference of equal numbers, and a = 0 is no exception.
    a = d[0] * d[0] - d[1] * d[1] - d[2] * d[2]
    b = x[0] * d[0] - x[1] * d[1] - x[2] * d[2]
    c = square(x)
    root = b * b - a * c
    if root < 0.0:
        return math.inf
    divisor = math.sqrt(root) - b
    return c / divisor if divisor > 0.0 else math.inf
