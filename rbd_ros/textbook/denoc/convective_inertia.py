# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Matrix C of convective inertia terms, C = N^T (M Ndot + Mdot N) (Saha 1999, eq 25 to 29).

The printed element-wise formula agrees, as far as it is legible, with the function below.
Idot - 2 C is skew-symmetric, because Mdot + Mdot^T is the rate of M.
"""

from __future__ import annotations

from typing import Dict, List, Sequence

from rbd_ros.algorithms.declaration import algorithm
from rbd_ros.algorithms.kinds import CONFIGURATION, MATRIX, VELOCITY
from rbd_ros.model import Model
from rbd_ros.spatial import linear3
from rbd_ros.spatial.linear3 import Matrix3, ZERO3
from rbd_ros.spatial.scalar import Scalar
from rbd_ros.textbook.denoc.generalized_inertia import composite_masses
from rbd_ros.textbook.denoc.links import (
    along_base,
    links_of,
    Matrix,
    require_simple_joints,
    Twist,
    Wrench,
)
from rbd_ros.textbook.denoc.natural_orthogonal_complement import twists

_NONE3: Matrix3 = (ZERO3, ZERO3, ZERO3)


@algorithm(
    'denoc_convective_inertia',
    inputs={'q': CONFIGURATION, 'qd': VELOCITY},
    outputs={'C': MATRIX},
    source='Saha 1999, eq 25 to 29',
    check=require_simple_joints,
)
def convective_inertia(model: Model, q: Sequence[Scalar], qd: Sequence[Scalar]) -> Matrix:
    """Return the matrix of convective inertia terms.

    C qd is the force of Coriolis and centrifugal effects.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :param qd: velocity of the tree, (tree_nv,) [rad/s, m/s]
    :return: C, (tree_nv, tree_nv) [kg m^2/s, kg m/s, kg/s]
    """
    links = along_base(model, links_of(model, q))
    t, M = twists(model, links, qd), composite_masses(model, links)
    # Of the block Mtilde'_i = sum of B^T Mdot_k B, only the upper left is nonzero, and B leaves it
    # unchanged (eq 28).
    Mdot: Dict[int, Matrix3] = {}
    # The columns p_j of H_ij = sum of B_ki^T M_k Bdot_kj for all k that i carries, where Bdot_kj
    # takes a twist to the velocity cdot_kj x w alone. The sums of m_k cdot_kj and of the first
    # moment about C_i with it are linear in the twist of j.
    first: Dict[int, Matrix3] = {}
    for i, _ in model.outward():
        I = linear3.full(links[i].I)
        Mdot[i] = linear3.cross_matrix(t[i].w, I)
        first[i] = _NONE3
    momentum = {i: linear3.scale(links[i].mass, t[i].v) for i in links}
    for i, body in model.inward():
        if body.parent != 0:
            j = body.parent
            Mdot[j] = linear3.add_matrices(Mdot[j], Mdot[i])
            # sum over k of (C_k - C_j) x m_k v_k x, with C_k - C_j = (C_k - C_i) - c
            lever = linear3.multiply(linear3.skew(links[i].c), linear3.skew(momentum[i]))
            moved = linear3.subtract_matrices(first[i], lever)
            first[j] = linear3.add_matrices(first[j], moved)
            momentum[j] = linear3.add(momentum[j], momentum[i])

    def H(i: int, j: int, w: linear3.Vector3) -> Wrench:
        """Return the product H_ij [w; v]: of forces m_k cdot_kj x w, with cdot_kj = v_j - v_k."""
        cdot = linear3.subtract(linear3.scale(M[i].m, t[j].v), momentum[i])
        turned = linear3.cross(t[j].v, w)
        n = linear3.subtract(linear3.cross(M[i].h, turned), linear3.apply(first[i], w))
        return Wrench(n, linear3.cross(cdot, w))

    n = model.tree_nv
    C: List[List[Scalar]] = [[0.0] * n for _ in range(n)]
    for j, body in model.outward():
        p, column = links[j].p, body.v.start
        # Rows of j and its ancestors: B_ji^T (Mtilde_j Omega_j + H_jj) p_j + Mtilde'_j p_j.
        # Mtilde'_j is a moment, which is the same about every point.
        w = M[j].times(p.turned(t[j].w)).plus(H(j, j, p.w))
        w = w.plus(Wrench(linear3.apply(Mdot[j], p.w), ZERO3))
        C[column][column] = w.power(p)
        support = model.support(j)
        for child, i in zip(support, support[1:]):
            w = links[child].propagated_back(w)
            C[model.body(i).v.start][column] = w.power(links[i].p)
        # Rows of its descendants: (Mtilde_i B_ij Omega_j + H_ij + Mtilde'_i B_ij) p_j
        carried: Dict[int, Twist] = {j: p.turned(t[j].w)}
        for i, below in model.outward():
            if below.parent in carried:
                carried[i] = links[i].propagated(carried[below.parent])
                w = M[i].times(carried[i]).plus(H(i, j, p.w))
                w = w.plus(Wrench(linear3.apply(Mdot[i], p.w), ZERO3))
                C[below.v.start][column] = w.power(links[i].p)
    return C
