# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Inertia matrix by inverse dynamics of unit accelerations, column by column (book 6.1).

The first two of the methods of Walker and Orin, "Efficient dynamic computer simulation of robotic
mechanisms" (J. Dyn. Syst. Meas. Control 1982); the third is the composite-rigid-body algorithm
(crba.py), which all others are a check of.
"""

from typing import Dict, List, Sequence

from rbd_ros.algorithms.declaration import algorithm, EQUIVALENT
from rbd_ros.algorithms.kinds import CONFIGURATION, INERTIA_MATRIX
from rbd_ros.model import Model
from rbd_ros.spatial import ForceVector, MotionVector
from rbd_ros.spatial.scalar import Scalar
from rbd_ros.textbook.tree_dynamics.id_delta import id_delta
from rbd_ros.textbook.tree_dynamics.rnea_spatial import rnea_spatial

Matrix = List[List[Scalar]]


def columns_by_inverse_dynamics(model: Model, q: Sequence[Scalar]) -> Matrix:
    """Return the inertia matrix by method 1: H e_k = ID(q, 0, e_k) - ID(q, 0, 0) (book eq 6.3).

    Gravity cancels up to rounding.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :return: H, (tree_nv, tree_nv) [kg m^2, kg m, kg]; symmetric up to rounding
    """
    zero = [0.0] * model.tree_nv
    at_rest = rnea_spatial(model, q, zero, zero)
    columns = [
        [t - g for t, g in zip(rnea_spatial(model, q, zero, unit), at_rest)]
        for unit in _units(model)
    ]
    return [list(row) for row in zip(*columns)]


@algorithm(
    'mass_matrix_by_columns',
    inputs={'q': CONFIGURATION},
    outputs={'H': INERTIA_MATRIX},
    model=EQUIVALENT,
    source='RBDA eq 6.4; Walker and Orin 1982, method 1',
    pinocchio_equivalent='crba',
)
def mass_matrix_by_columns(model: Model, q: Sequence[Scalar]) -> Matrix:
    """Return the inertia matrix by method 1, without canceling terms: H e_k = ID_delta(q, e_k).

    Book eq 6.4.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :return: H, (tree_nv, tree_nv) [kg m^2, kg m, kg]; symmetric up to rounding

    >>> H = robot.kernel('mass_matrix_by_columns').function(q)
    >>> np.allclose(H, robot.mass_matrix(q))
    True
    """
    return [list(row) for row in zip(*(id_delta(model, q, unit) for unit in _units(model)))]


def columns_by_subtrees(model: Model, q: Sequence[Scalar]) -> Matrix:
    """Return the inertia matrix by method 2: one half of each column, the other by symmetry.

    What a joint carries accelerates with it, and nothing else does: column j takes the bodies of
    subtree nu(j) only, for the rows of their joints.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :return: H, (tree_nv, tree_nv) [kg m^2, kg m, kg]
    """
    X, S = {}, {}
    for i, body in model.outward():
        X[i] = body.joint.transform(q[body.q]) * body.tree_transform
        S[i] = body.joint.motion_subspace(q[body.q])
    H: Matrix = [[0.0] * model.tree_nv for _ in range(model.tree_nv)]
    for j, joint in model.outward():
        subtree = model.subtree(j)
        for column, s in zip(range(model.tree_nv)[joint.v], S[j].columns):
            a: Dict[int, MotionVector] = {j: s}
            f: Dict[int, ForceVector] = {j: joint.inertia * s}
            for i in subtree[1:]:
                a[i] = X[i] * a[model.body(i).parent]
                f[i] = model.body(i).inertia * a[i]
            for i in reversed(subtree):
                for row, value in zip(range(model.tree_nv)[model.body(i).v], S[i].T @ f[i]):
                    if row >= column:
                        H[row][column] = H[column][row] = value
                if i != j:
                    parent = model.body(i).parent
                    f[parent] = f[parent] + X[i].inverse_apply(f[i])
            H[column][column] = H[column][column] + joint.armature
    return H


def _units(model: Model) -> List[List[Scalar]]:
    """Return the unit accelerations of each degree of freedom of the tree, (tree_nv, tree_nv)."""
    n = model.tree_nv
    return [[1.0 if i == k else 0.0 for i in range(n)] for k in range(n)]
