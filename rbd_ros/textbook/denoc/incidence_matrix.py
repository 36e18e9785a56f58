# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Newton-Euler factorization of the inertia matrix, H = S^T P^-T I P^-1 S.

The incidence matrix P of the tree has the rows v_i - iX_j v_j of the bodies and their parents, so
that P v = S qd. Its inverse, the N_l of the natural orthogonal complement, is never formed: P is
block triangular with unit blocks on the diagonal. Featherstone and Orin 2000, eq 29. All types of
joints are supported, in body coordinates.
"""

from __future__ import annotations

from typing import Dict, List, Mapping, NamedTuple, Sequence

from rbd_ros.algorithms.declaration import algorithm
from rbd_ros.algorithms.kinds import CONFIGURATION, INERTIA_MATRIX
from rbd_ros.model import Model
from rbd_ros.spatial import ForceVector, MotionSubspace, MotionVector, PluckerTransform
from rbd_ros.spatial.scalar import Scalar


class IncidenceMatrix(NamedTuple):
    """Incidence matrix P of a tree with its motion subspaces S.

    :param model: the tree
    :param X: transforms iX_j from the coordinates of each body's parent to its own
    :param S: motion subspaces
    """

    model: Model
    X: Mapping[int, PluckerTransform]
    S: Mapping[int, MotionSubspace]

    @classmethod
    def at(cls, model: Model, q: Sequence[Scalar]) -> IncidenceMatrix:
        """Return the incidence matrix at a configuration of the tree, (tree_nq,) [rad, m]."""
        X, S = {}, {}
        for i, body in model.outward():
            X[i] = body.joint.transform(q[body.q]) * body.tree_transform
            S[i] = body.joint.motion_subspace(q[body.q])
        return cls(model, X, S)

    def apply(self, v: Mapping[int, MotionVector]) -> Dict[int, MotionVector]:
        """Return the product P v: velocities of all bodies relative to their parents."""
        return {
            i: v[i] - self.X[i] * v[body.parent] if body.parent else v[i]
            for i, body in self.model.outward()
        }

    def solve(self, relative: Mapping[int, MotionVector]) -> Dict[int, MotionVector]:
        """Return P^-1 v of velocities relative to the parents, by substitution outwards."""
        v: Dict[int, MotionVector] = {}
        for i, body in self.model.outward():
            v[i] = relative[i] + self.X[i] * v[body.parent] if body.parent else relative[i]
        return v

    def solve_transposed(self, f: Mapping[int, ForceVector]) -> Dict[int, ForceVector]:
        """Return the product P^-T f: forces that the joints transmit, by substitution inwards."""
        transmitted = dict(f)
        for i, body in self.model.inward():
            if body.parent:
                moved = self.X[i].inverse_apply(transmitted[i])
                transmitted[body.parent] = transmitted[body.parent] + moved
        return transmitted


@algorithm(
    'newton_euler_factorization',
    inputs={'q': CONFIGURATION},
    outputs={'H': INERTIA_MATRIX},
    source='Featherstone and Orin 2000, eq 29',
)
def newton_euler_factorization(model: Model, q: Sequence[Scalar]) -> List[List[Scalar]]:
    """Return the joint-space inertia matrix S^T P^-T I P^-1 S, column by column.

    Rotor inertia included.

    Each column takes O(N) operations.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :return: H, (tree_nv, tree_nv) [kg m^2, kg m, kg]

    >>> H = robot.kernel('newton_euler_factorization').function(q)
    >>> np.allclose(H, robot.mass_matrix(q))
    True
    """
    P = IncidenceMatrix.at(model, q)
    n = model.tree_nv
    H: List[List[Scalar]] = [[0.0] * n for _ in range(n)]
    for j, body in model.outward():
        for column, s in zip(range(n)[body.v], P.S[j].columns):
            relative = {i: s if i == j else MotionVector.zero() for i, _ in model.outward()}
            v = P.solve(relative)
            f = P.solve_transposed({i: b.inertia * v[i] for i, b in model.outward()})
            for i, other in model.outward():
                for row, value in zip(range(n)[other.v], P.S[i].T @ f[i]):
                    H[row][column] = value
            H[column][column] = H[column][column] + body.armature
    return H
