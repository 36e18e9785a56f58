# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Inverse of the joint-space inertia matrix: accelerations that unit forces cause.

There are two methods: factors of the inertia matrix, in cubic time of the number of joints, or
articulated-body inertias, in quadratic time (J. Carpentier, "Analytical inverse of the joint space
inertia matrix", 2018). A kernel is made of the one with fewer operations.
"""

from typing import Callable, Dict, FrozenSet, List, Optional, Sequence, Set

from rbd_ros.algorithms.articulated_body.aba import plus_diagonal
from rbd_ros.algorithms.declaration import algorithm, EQUIVALENT, INDEPENDENT
from rbd_ros.algorithms.inertia_matrix.crba import mass_matrix
from rbd_ros.algorithms.inertia_matrix.expanded_parents import expanded_parents
from rbd_ros.algorithms.inertia_matrix.factorization import LTDL, ltdl
from rbd_ros.algorithms.inertia_matrix.singularity import require_regular_mass_matrix
from rbd_ros.algorithms.inertia_matrix.tree_statistics import tree_statistics
from rbd_ros.algorithms.kinds import CONFIGURATION, INVERSE_INERTIA_MATRIX
from rbd_ros.model import Model
from rbd_ros.spatial import ArticulatedBodyInertia, ForceVector, MotionVector
from rbd_ros.spatial.scalar import Scalar

Matrix = List[List[Scalar]]
KnownRows = Callable[[int, FrozenSet[int]], Optional[Dict[int, Scalar]]]

# Maximum DoFs between a body and the base for which factors take fewer operations, for general
# chains; trees of that depth are sparser than chains.
_DEEP = 40


@algorithm(
    'inverse_mass_matrix',
    inputs={'q': CONFIGURATION},
    outputs={'H_inverse': INVERSE_INERTIA_MATRIX},
    coordinates=INDEPENDENT,
    model=EQUIVALENT,
    source='RBDA tables 6.2 and 6.3; Carpentier 2018',
    check=require_regular_mass_matrix,
    pinocchio_equivalent='computeMinverse',
)
def inverse_mass_matrix(model: Model, q: Sequence[Scalar]) -> Matrix:
    """Return the inverse of the joint-space inertia matrix, by the cheaper method.

    Rotor inertia is included.

    :param q: independent configuration, (nq,) [rad, m]
    :return: H^-1, (nv, nv) [1/(kg m^2), 1/(kg m), 1/kg]
    :raises ZeroDivisionError: if the inertia at a joint is the constant 0
    """
    if model.couplings or factors_are_shorter(model):
        return inverse_by_factors(model, q)
    return inverse_by_articulated_bodies(model, q)


def factors_are_shorter(model: Model) -> bool:
    """Return whether factors of the inertia matrix take fewer operations than articulated bodies.

    :param model: a tree without gears
    """
    return tree_statistics(expanded_parents(model)).depth <= _DEEP


def inverse_by_factors(model: Model, q: Sequence[Scalar]) -> Matrix:
    """Return the inverse by the factors H = L^T D L, gears included.

    No factor is inverted: L H^-1 = D^-1 L^-T, which is zero below the diagonal and D^-1 on it,
    yields the elements left of the diagonal row by row (K. Takahashi, J. Fagan and M.-S. Chin,
    1973). Arguments are those of `inverse_mass_matrix`.
    """
    return symmetric_inverse(ltdl(mass_matrix(model, q)))


def symmetric_inverse(factors: LTDL, known: Optional[KnownRows] = None) -> Matrix:
    """Return the inverse of a matrix from its factors, (n, n), bitwise symmetric.

    :param factors: result of `ltdl`
    :param known: returns a shorter row in place of that of L for an unrelated column, if there is
        one: by the elements of the column to which both are attached
    """
    n = len(factors.L)
    M: Matrix = [[0.0] * n for _ in range(n)]
    above: List[Set[int]] = []  # columns of L^-1 that are not zero
    for i, row in enumerate(factors.L):
        above.append(set(row).union(*(above[k] for k in row)))
        for j in range(i):
            ways = [(row, j)]
            if j not in above[i]:
                # Unrelated rows give the same element: the shorter one is used.
                ways.append((factors.L[j], i))
                if known is not None:
                    for k, other in ((i, j), (j, i)):
                        shorter = known(k, frozenset(above[k] & (above[other] | {other})))
                        if shorter is not None:
                            ways.append((shorter, other))
            by, other = min(ways, key=lambda way: len(way[0]))
            M[i][j] = M[j][i] = _less(0.0, by, M[other])
        M[i][i] = _less(factors.D_inverse[i], row, M[i])
    return M


def _less(start: Scalar, row: Dict[int, Scalar], column: Sequence[Scalar]) -> Scalar:
    """Return the start less the product of a sparse row and a column."""
    for k, l in row.items():
        start = start - l * column[k]
    return start


def inverse_by_articulated_bodies(model: Model, q: Sequence[Scalar]) -> Matrix:
    """Return the inverse of a tree without gears by articulated-body inertias.

    The articulated-body algorithm at rest and without gravity, for unit forces of all joints at
    once. F[i] is the force of the articulated body i on its parent per unit force of the joints
    beyond, P[i] its acceleration. Arguments are those of `inverse_mass_matrix`.
    """
    n = model.tree_nv
    X, S, IA, U, D = {}, {}, {}, {}, {}
    F: Dict[int, Dict[int, ForceVector]] = {0: {}}
    for i, body in model.outward():
        X[i] = body.joint.transform(q[body.q]) * body.tree_transform
        S[i] = body.joint.motion_subspace(q[body.q])
        IA[i], F[i] = ArticulatedBodyInertia.from_rigid(body.inertia), {}

    M: Matrix = [[0.0] * n for _ in range(n)]
    for i, body in model.inward():
        rows = range(n)[body.v]
        U[i] = [IA[i] * s for s in S[i].columns]
        rotor = [body.armature] * body.joint.nv
        D[i] = ltdl(plus_diagonal([S[i].T @ column for column in U[i]], rotor))
        # The joint yields to its own force, and to the arriving forces.
        found = {c: D[i].solve([1.0 if r == c else 0.0 for r in rows]) for c in rows}
        for c, force in F[i].items():
            found[c] = D[i].solve([-x for x in S[i].T @ force])
        for c, column in found.items():
            for r, x in zip(rows, column):
                M[r][c] = x
        if body.parent != 0:
            for c, column in found.items():
                terms = [u * x for u, x in zip(U[i], column)]
                total = sum(terms[1:], terms[0])
                force = F[i][c] + total if c in F[i] else total
                F[body.parent][c] = X[i].inverse_apply(force)
            Ia = IA[i]
            for k, u in enumerate(U[i]):
                scaled = D[i].solve([1.0 if r == k else 0.0 for r in range(len(U[i]))])
                weighted = [w * x for w, x in zip(U[i], scaled)]
                Ia = Ia.minus_dyad(sum(weighted[1:], weighted[0]), u)
            IA[body.parent] = IA[body.parent] + X[i].inverse_apply(Ia)

    P: Dict[int, Dict[int, MotionVector]] = {0: {}}
    for i, body in model.outward():
        rows, P[i] = range(n)[body.v], {}
        for c in range(rows.start, n):
            carried = X[i] * P[body.parent][c] if c in P[body.parent] else None
            if carried is not None:
                yielding = D[i].solve([u.dot(carried) for u in U[i]])
                for r, x in zip(rows, yielding):
                    M[r][c] = M[r][c] - x
            if carried is not None or c in F[i] or c in rows:
                moved = S[i] @ [M[r][c] for r in rows]
                P[i][c] = moved if carried is None else carried + moved
    return [[M[min(r, c)][max(r, c)] for c in range(n)] for r in range(n)]
