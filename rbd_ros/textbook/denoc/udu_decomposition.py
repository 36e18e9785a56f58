# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Decomposition I = U D U^T by reverse Gaussian elimination (Saha 1999, appendix B, eq 40 to 55).

It starts with the last column, so it follows the bodies inwards: the elements of U and D come from
the mass matrices Mhat of articulated bodies, without I itself. In terms of spatial operators this
is the innovations factorization of I, with U = 1 + H phi K, D the articulated inertias of the
joints and K the Kalman gain psi (Featherstone and Orin 2000, 2, 3.5).
"""

from __future__ import annotations

from typing import Dict, List, Mapping, NamedTuple, Sequence, Tuple

from rbd_ros.algorithms.array import Array
from rbd_ros.algorithms.declaration import algorithm, INDEPENDENT
from rbd_ros.algorithms.kinds import CONFIGURATION, MATRIX
from rbd_ros.array_types import ResultArray
from rbd_ros.model import Model
from rbd_ros.spatial import linear3
from rbd_ros.spatial.linear3 import Matrix3, Symmetric3, Vector3
from rbd_ros.spatial.scalar import Scalar
from rbd_ros.textbook.denoc.links import (
    Link,
    links_of,
    Matrix,
    require_free_joints,
    Twist,
    Wrench,
)


class UDU(NamedTuple):
    """Factors of I = U D U^T.

    :param U: unit upper triangular, (nv, nv)
    :param D: diagonal, (nv,)
    """

    U: ResultArray
    D: ResultArray


PIVOTS = Array('D', 'articulated inertias of the joints', '[kg m^2, kg]', ('nv',))


class ArticulatedMass(NamedTuple):
    """Mass matrix Mhat of an articulated body about a link's center, [[A, H], [H^T, m]].

    :param A: lower triangle of the symmetric upper left block, (6,) [kg m^2]
    :param H: upper right block, (3, 3) [kg m]
    :param m: lower triangle of the symmetric lower right block, (6,) [kg]
    """

    A: Symmetric3
    H: Matrix3
    m: Symmetric3

    @classmethod
    def of(cls, link: Link) -> ArticulatedMass:
        """Return the mass matrix M_i of a link alone."""
        m = link.mass
        return cls(link.I, ((0, 0, 0), (0, 0, 0), (0, 0, 0)), (m, 0, m, 0, 0, m))

    def plus(self, other: ArticulatedMass) -> ArticulatedMass:
        """Return the sum of two matrices about the same point."""
        return ArticulatedMass(
            _add(self.A, other.A), linear3.add_matrices(self.H, other.H), _add(self.m, other.m)
        )

    def times(self, t: Twist) -> Wrench:
        """Return the product with a twist."""
        A, m = linear3.full(self.A), linear3.full(self.m)
        return Wrench(
            linear3.add(linear3.apply(A, t.w), linear3.apply(self.H, t.v)),
            linear3.add(linear3.apply_transpose(self.H, t.w), linear3.apply(m, t.v)),
        )

    def minus_dyad(self, a: Wrench, b: Wrench) -> ArticulatedMass:
        """Return the difference Mhat - a b^T of symmetric matrices."""
        return ArticulatedMass(
            _minus_dyad(self.A, a.n, b.n),
            linear3.subtract_matrices(self.H, _dyad(a.n, b.f)),
            _minus_dyad(self.m, a.f, b.f),
        )

    def propagated_back(self, link: Link) -> ArticulatedMass:
        """Return the congruence B^T Mhat B, about the center of mass of the parent's link.

        :param link: the link of the present center and axes
        """
        # B = [[1, 0], [K, 1]] diag(E, E) with K = c x
        m, c = linear3.full(self.m), link.c
        H = linear3.subtract_matrices(self.H, linear3.cross_matrix(c, m))
        there = linear3.matrix_cross(H, c)
        back = linear3.cross_matrix(c, linear3.transpose(self.H))
        A = _add(self.A, linear3.symmetric(linear3.subtract_matrices(there, back)))
        turn = linear3.transpose(link.E)
        return ArticulatedMass(
            linear3.rotate_symmetric(turn, A),
            linear3.rotate_general(turn, H),
            linear3.rotate_symmetric(turn, self.m),
        )

    def matrix(self) -> Matrix:
        """Return all elements, (6, 6)."""
        A, m = linear3.full(self.A), linear3.full(self.m)
        upper = [[*A[k], *self.H[k]] for k in range(3)]
        lower = [[*(row[k] for row in self.H), *m[k]] for k in range(3)]
        return [*upper, *lower]


class Elimination(NamedTuple):
    """Results of the elimination for a joint (eq 47 to 50).

    :param mass: mass matrix Mhat of the articulated body
    :param pivot: mhat = p^T Mhat p, and the rotor
    :param psi: psi = Mhat p / mhat
    """

    mass: ArticulatedMass
    pivot: Scalar
    psi: Wrench


def reverse_elimination(model: Model, links: Mapping[int, Link]) -> Dict[int, Elimination]:
    """Eliminate from the leaves to the base: Mhat, mhat and psi of each joint, by body number.

    :param links: links, by body number
    :raises ZeroDivisionError: if the inertia at a joint is the constant 0
    """
    mass = {i: ArticulatedMass.of(links[i]) for i, _ in model.outward()}
    found: Dict[int, Elimination] = {}
    for i, body in model.inward():
        link = links[i]
        psi_hat = mass[i].times(link.p)
        pivot = psi_hat.power(link.p) + link.rotor
        psi = psi_hat.times(1.0 / pivot)
        found[i] = Elimination(mass[i], pivot, psi)
        if body.parent != 0:
            rest = mass[i].minus_dyad(psi_hat, psi).propagated_back(link)
            mass[body.parent] = mass[body.parent].plus(rest)
    return found


@algorithm(
    'denoc_udu',
    inputs={'q': CONFIGURATION},
    outputs={'U': MATRIX.named('U'), 'D': PIVOTS},
    coordinates=INDEPENDENT,
    result=UDU,
    source='Saha 1999, eq 46 to 55',
    check=require_free_joints,
)
def udu_decomposition(model: Model, q: Sequence[Scalar]) -> UDU:
    """Return the factors u_ij = p_i^T B_ji^T psi_j and d_i = mhat_i of the inertia matrix.

    :param q: configuration, (nq,) [rad, m]
    :raises ZeroDivisionError: if the inertia at a joint is the constant 0
    """
    links = links_of(model, q)
    found = reverse_elimination(model, links)
    n = len(model.bodies)
    U: Matrix = [[1.0 if i == j else 0.0 for j in range(n)] for i in range(n)]
    for j, _ in model.outward():
        w = found[j].psi
        for k, i in zip(model.support(j), model.support(j)[1:]):
            w = links[k].propagated_back(w)
            U[i - 1][j - 1] = w.power(links[i].p)
    return UDU(U, [found[i].pivot for i, _ in model.outward()])


def reverse_gaussian_elimination(I: Sequence[Sequence[Scalar]]) -> Tuple[Matrix, List[Scalar]]:
    """Return the factors U and D of a positive-definite matrix, by eq 40 to 45 and 51 to 55.

    Matrices E_k = 1 - alpha_k lambda_k^T are applied one after another, and U is made of the
    alpha_k of their inverses.

    :param I: symmetric matrix, (n, n)
    :return: U, (n, n), and the diagonal of D, (n,)
    """
    L, n = [list(row) for row in I], len(I)
    U: Matrix = [[1.0 if i == j else 0.0 for j in range(n)] for i in range(n)]
    for k in reversed(range(n)):
        for i in range(k):
            alpha = L[i][k] / L[k][k]
            L[i] = [x - alpha * y for x, y in zip(L[i], L[k])]
            U[i][k] = alpha
    return U, [L[k][k] for k in range(n)]


def _add(a: Symmetric3, b: Symmetric3) -> Symmetric3:
    return a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5]


def _minus_dyad(A: Symmetric3, a: Vector3, b: Vector3) -> Symmetric3:
    xx, yx, yy, zx, zy, zz = A
    return (
        xx - a[0] * b[0],
        yx - a[1] * b[0],
        yy - a[1] * b[1],
        zx - a[2] * b[0],
        zy - a[2] * b[1],
        zz - a[2] * b[2],
    )


def _dyad(a: Vector3, b: Vector3) -> Matrix3:
    return linear3.scale(a[0], b), linear3.scale(a[1], b), linear3.scale(a[2], b)
