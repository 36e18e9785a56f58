# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Composite-rigid-body algorithm in its basic version, in one coordinate frame (book 6.2).

All quantities are in base coordinates, where the inertia of a composite body is a plain sum. It is
independent of crba.py, which works in body coordinates and takes fewer operations.
"""

from typing import Dict, List, Sequence, Tuple

from rbd_ros.algorithms.declaration import algorithm, EQUIVALENT
from rbd_ros.algorithms.kinds import CONFIGURATION, INERTIA_MATRIX
from rbd_ros.algorithms.kinematics.kinematics import body_transforms, motion_columns
from rbd_ros.model import Model, ModelError
from rbd_ros.spatial import MotionVector, RigidBodyInertia
from rbd_ros.spatial.scalar import Scalar

Matrix = List[List[Scalar]]


@algorithm(
    'crba_absolute',
    inputs={'q': CONFIGURATION},
    outputs={'H': INERTIA_MATRIX},
    model=EQUIVALENT,
    source='RBDA eq 6.13 and 6.14',
    pinocchio_equivalent='crba',
)
def crba_absolute(model: Model, q: Sequence[Scalar]) -> Matrix:
    """Return the joint-space inertia matrix.

    H_ij = S_i^T I^c_j S_j if i supports j, and its mirror image.

    Rotor inertia is included (book eq 9.28). Elements that couple different branches are zero.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :return: H, (tree_nv, tree_nv) [kg m^2, kg m, kg]

    >>> np.allclose(robot.kernel('crba_absolute').function(q), robot.mass_matrix(q))
    True
    """
    S, Ic = composite_bodies(model, q)
    H: Matrix = [[0.0] * model.tree_nv for _ in range(model.tree_nv)]
    for j, body in model.outward():
        for column, s in zip(range(model.tree_nv)[body.v], S[j]):
            F = Ic[j] * s
            for i in model.support(j):
                for row, t in zip(range(model.tree_nv)[model.body(i).v], S[i]):
                    if row <= column:
                        H[row][column] = H[column][row] = t.dot(F)
            H[column][column] = H[column][column] + body.armature
    return H


def crba_unbranched(model: Model, q: Sequence[Scalar]) -> Matrix:
    """Return the inertia matrix of a chain: H_ij = S_i^T I^c_max(i, j) S_j (book eq 6.16).

    :param q: configuration of the chain, (tree_nq,) [rad, m]
    :return: H, (tree_nv, tree_nv) [kg m^2, kg m, kg]
    :raises ModelError: if the tree has branches
    """
    for i, body in model.outward():
        if body.parent != i - 1:
            raise ModelError(
                f'body {body.name!r} branches off: this function supports unbranched chains only'
            )
    S, Ic = composite_bodies(model, q)
    H: Matrix = [[0.0] * model.tree_nv for _ in range(model.tree_nv)]
    for i, one in model.outward():
        for j, other in model.outward():
            I = Ic[max(i, j)]
            for row, s in zip(range(model.tree_nv)[one.v], S[i]):
                for column, t in zip(range(model.tree_nv)[other.v], S[j]):
                    H[row][column] = s.dot(I * t) + (one.armature if row == column else 0.0)
    return H


def composite_bodies(
    model: Model, q: Sequence[Scalar]
) -> Tuple[Dict[int, Tuple[MotionVector, ...]], Dict[int, RigidBodyInertia]]:
    """Return the columns of the motion subspaces S_i, and the I^c_i, in base coordinates.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :return: both by body number
    """
    X0 = body_transforms(model, q)
    Ic = {i: X0[i].inverse_apply(body.inertia) for i, body in model.outward()}
    for i, body in model.inward():
        if body.parent != 0:
            Ic[body.parent] = Ic[body.parent] + Ic[i]
    return motion_columns(model, q, X0), Ic
