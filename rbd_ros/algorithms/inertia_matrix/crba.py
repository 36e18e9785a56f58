# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Composite-rigid-body algorithm: joint-space inertia of a tree (book 6.2, table 6.2)."""

from typing import Dict, List, Sequence

from rbd_ros.algorithms.declaration import algorithm, EQUIVALENT, INDEPENDENT
from rbd_ros.algorithms.hinge_trees.hinge_frames import has_few_free_hinges
from rbd_ros.algorithms.hinge_trees.hinge_mass_matrix import hinge_mass_matrix
from rbd_ros.algorithms.kinds import CONFIGURATION, INERTIA_MATRIX
from rbd_ros.model import Body, Model
from rbd_ros.spatial import ForceVector, MotionSubspace, RigidBodyInertia
from rbd_ros.spatial.scalar import Scalar

Matrix = List[List[Scalar]]


@algorithm(
    'mass_matrix',
    inputs={'q': CONFIGURATION},
    outputs={'H': INERTIA_MATRIX},
    coordinates=INDEPENDENT,
    model=EQUIVALENT,
    source='RBDA table 6.2; 9.6 with gears',
    pinocchio_equivalent='crba',
    specialization=hinge_mass_matrix,
    applicable_when=has_few_free_hinges,
)
def mass_matrix(model: Model, q: Sequence[Scalar]) -> Matrix:
    """Return the joint-space inertia matrix of the independent coordinates, rotors included.

    It is that of `crba`, with gears of `crba_with_gears`. The kernel of a tree of few free hinges
    is made of `hinge_mass_matrix`, the same recursion by axial screws, if that takes fewer
    operations.

    :param q: independent configuration, (nq,) [rad, m]
    :return: symmetric, (nv, nv) [kg m^2, kg m, kg]
    """
    return crba_with_gears(model, q) if model.couplings else crba(model, q)


def crba(model: Model, q: Sequence[Scalar]) -> Matrix:
    """Return the joint-space inertia matrix H of a tree, rotor inertia included.

    Book table 6.2, eq 9.28.

    Elements that couple joints of different branches are zero.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :return: H, (tree_nv, tree_nv) [kg m^2, kg m, kg]
    """
    X, S, Ic = {}, {}, {0: RigidBodyInertia.zero()}
    for i, body in model.outward():
        X[i] = body.joint.transform(q[body.q]) * body.tree_transform
        S[i] = body.joint.motion_subspace(q[body.q])
        Ic[i] = body.inertia

    H: Matrix = [[0.0] * model.tree_nv for _ in range(model.tree_nv)]
    for i, body in model.inward():
        if body.parent != 0:
            Ic[body.parent] = Ic[body.parent] + X[i].inverse_apply(Ic[i])
        for column, s in zip(range(model.tree_nv)[body.v], S[i].columns):
            F = Ic[i] * s
            _store(H, body, S[i], column, F)
            H[column][column] = H[column][column] + body.armature
            j = i
            while model.body(j).parent != 0:
                F = X[j].inverse_apply(F)
                j = model.body(j).parent
                _store(H, model.body(j), S[j], column, F)
    return H


def crba_with_gears(model: Model, q: Sequence[Scalar]) -> Matrix:
    """Return the inertia matrix G^T H G of the independent coordinates of a tree with gears.

    Book eq 9.26.

    Table 6.2 with a column for all joints that move together: their forces F are added where they
    meet on the way to the base, and continue as one.

    :param q: independent configuration, (nq,) [rad, m]
    :return: symmetric, (nv, nv) [kg m^2, kg m, kg]
    """
    tree_q = model.tree_position(q)
    X, S, Ic = {}, {}, {0: RigidBodyInertia.zero()}
    # By body: the forces that arrive from its children, by the coordinate that causes them
    F: Dict[int, Dict[int, ForceVector]] = {0: {}}
    for i, body in model.outward():
        X[i] = body.joint.transform(tree_q[body.q]) * body.tree_transform
        columns = body.joint.motion_subspace(tree_q[body.q]).columns
        S[i] = [ratio * s for ratio, s in zip(model.tree_dof_ratio[body.v], columns)]
        Ic[i], F[i] = body.inertia, {}

    H: Matrix = [[0.0] * model.nv for _ in range(model.nv)]
    for i, body in model.inward():
        if body.parent != 0:
            Ic[body.parent] = Ic[body.parent] + X[i].inverse_apply(Ic[i])
        index, ratios = model.tree_dof_index[body.v], model.tree_dof_ratio[body.v]
        for row, s in zip(index, S[i]):
            for column, f in F[i].items():
                # For this joint and the one below, and vice versa: with a common coordinate, both
                # go to the same element.
                value = s.dot(f)
                _add(H, row, column, value + value if row == column else value)
        for k, (column, ratio, s) in enumerate(zip(index, ratios, S[i])):
            f = Ic[i] * s
            for row, other in zip(index[: k + 1], S[i]):
                _add(H, row, column, other.dot(f))
            _add(H, column, column, ratio * ratio * body.armature)
            F[i][column] = F[i][column] + f if column in F[i] else f
        if body.parent != 0:
            arrived = F[body.parent]
            for column, f in F[i].items():
                f = X[i].inverse_apply(f)
                arrived[column] = arrived[column] + f if column in arrived else f
    return H


def _add(H: Matrix, row: int, column: int, value: Scalar) -> None:
    """Add to an element and to its mirror image, which stay bitwise identical."""
    H[row][column] = H[column][row] = H[row][column] + value


def composite_inertias(model: Model, q: Sequence[Scalar]) -> Dict[int, RigidBodyInertia]:
    """Return the composite inertia I^c of each body, in its coordinates, by body number.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    """
    Ic = {i: body.inertia for i, body in model.outward()}
    for i, body in model.inward():
        if body.parent != 0:
            X = body.joint.transform(q[body.q]) * body.tree_transform
            Ic[body.parent] = Ic[body.parent] + X.inverse_apply(Ic[i])
    return Ic


def _store(H: Matrix, body: Body, S: MotionSubspace, column: int, F: ForceVector) -> None:
    """Store H_ji = S_j^T F and its transpose H_ij, for one column of joint i.

    A diagonal block is bitwise symmetric: one triangle of it is mirrored.
    """
    for row, value in zip(range(len(H))[body.v], S.T @ F):
        if row <= column:
            H[row][column] = H[column][row] = value
