# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Generalized inertia matrix by the mass matrices of composite bodies (Saha 1999, eq 21 to 24)."""

from __future__ import annotations

from typing import Dict, List, Mapping, NamedTuple, Sequence

from rbd_ros.algorithms.declaration import algorithm
from rbd_ros.algorithms.kinds import CONFIGURATION, INERTIA_MATRIX
from rbd_ros.model import Model
from rbd_ros.spatial import linear3
from rbd_ros.spatial.linear3 import Symmetric3, Vector3, ZERO3
from rbd_ros.spatial.scalar import Scalar
from rbd_ros.textbook.denoc.links import (
    Link,
    links_of,
    Matrix,
    require_simple_joints,
    Twist,
    Wrench,
)


class CompositeMass(NamedTuple):
    """Mass matrix of a composite body about a link's center, [[I, h x], [-h x, m 1]] (eq 23).

    :param I: rotational inertia about that center, its lower triangle, (6,) [kg m^2]
    :param h: first moment of mass about it, (3,) [kg m]
    :param m: mass [kg]
    """

    I: Symmetric3
    h: Vector3
    m: Scalar

    @classmethod
    def of(cls, link: Link) -> CompositeMass:
        """Return the mass matrix of a link alone, about its own center of mass."""
        return cls(link.I, ZERO3, link.mass)

    def plus(self, other: CompositeMass) -> CompositeMass:
        """Return the sum of two bodies' matrices about the same point."""
        I = tuple(a + b for a, b in zip(self.I, other.I))
        return CompositeMass(I, linear3.add(self.h, other.h), self.m + other.m)

    def times(self, t: Twist) -> Wrench:
        """Return the product with a twist."""
        n = linear3.add(linear3.apply(linear3.full(self.I), t.w), linear3.cross(self.h, t.v))
        return Wrench(n, linear3.subtract(linear3.scale(self.m, t.v), linear3.cross(self.h, t.w)))

    def propagated_back(self, link: Link) -> CompositeMass:
        """Return the congruence B^T M B: the same body, about the center of mass of the parent.

        :param link: the link of the present center and axes
        """
        h = linear3.subtract(self.h, linear3.scale(self.m, link.c))
        there = linear3.lower_skew_skew(h, link.c)
        back = linear3.lower_skew_skew(link.c, self.h)
        I = tuple(x + y + z for x, y, z in zip(self.I, there, back))
        turn = linear3.transpose(link.E)
        return CompositeMass(
            linear3.rotate_symmetric(turn, I),
            linear3.apply(turn, h),
            self.m,
        )


def composite_masses(model: Model, links: Mapping[int, Link]) -> Dict[int, CompositeMass]:
    """Return the mass matrices of the composite bodies, Mtilde_i = M_i + sum of B^T Mtilde_k B.

    Eq 23b.

    :param links: links, by body number
    """
    M = {i: CompositeMass.of(links[i]) for i, _ in model.outward()}
    for i, body in model.inward():
        if body.parent != 0:
            M[body.parent] = M[body.parent].plus(M[i].propagated_back(links[i]))
    return M


@algorithm(
    'denoc_mass_matrix',
    inputs={'q': CONFIGURATION},
    outputs={'H': INERTIA_MATRIX},
    source='Saha 1999, eq 23 and 24',
    check=require_simple_joints,
)
def generalized_inertia(model: Model, q: Sequence[Scalar]) -> Matrix:
    """Return the generalized inertia matrix, i_ij = p_i^T Mtilde_i B_ij p_j, with rotor inertia.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :return: symmetric, (tree_nv, tree_nv) [kg m^2, kg m, kg]
    """
    links = links_of(model, q)
    M = composite_masses(model, links)
    n = model.tree_nv
    inertia: List[List[Scalar]] = [[0.0] * n for _ in range(n)]
    for i, body in model.outward():
        w, row = M[i].times(links[i].p), body.v.start
        inertia[row][row] = w.power(links[i].p) + links[i].rotor
        for k, j in zip(model.support(i), model.support(i)[1:]):
            w = links[k].propagated_back(w)
            column = model.body(j).v.start
            inertia[row][column] = inertia[column][row] = w.power(links[j].p)
    return inertia
