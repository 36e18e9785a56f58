"""Composite-rigid-body algorithm: joint-space inertia of a tree (book 6.2, table 6.2)."""

from typing import Dict, List, Sequence

from rbd_ros.algorithms.declaration import algorithm, EQUIVALENT
from rbd_ros.algorithms.kinds import CONFIGURATION, INERTIA_MATRIX
from rbd_ros.model import Body, Model
from rbd_ros.spatial import ForceVector, MotionSubspace, RigidBodyInertia
from rbd_ros.spatial.scalar import Scalar


@algorithm(
    'mass_matrix',
    inputs={'q': CONFIGURATION},
    outputs={'H': INERTIA_MATRIX},
    model=EQUIVALENT,
    source='RBDA table 6.2',
    peer='crba',
)
def crba(model: Model, q: Sequence[Scalar]) -> List[List[Scalar]]:
    """Joint-space inertia matrix H, rotor inertia included (book table 6.2, eq 9.28).

    Elements that couple joints of different branches are zero.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :return: H, (tree_nv, tree_nv) [kg m^2, kg m, kg]
    """
    X, S, Ic = {}, {}, {0: RigidBodyInertia.zero()}
    for i, body in model.outward():
        X[i] = body.joint.transform(q[body.q]) * body.tree_transform
        S[i] = body.joint.motion_subspace(q[body.q])
        Ic[i] = body.inertia

    H: List[List[Scalar]] = [[0.0] * model.tree_nv for _ in range(model.tree_nv)]
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


def composite_inertias(model: Model, q: Sequence[Scalar]) -> Dict[int, RigidBodyInertia]:
    """Inertia I^c of each body and all that it carries, in its coordinates, by body number.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    """
    Ic = {i: body.inertia for i, body in model.outward()}
    for i, body in model.inward():
        if body.parent != 0:
            X = body.joint.transform(q[body.q]) * body.tree_transform
            Ic[body.parent] = Ic[body.parent] + X.inverse_apply(Ic[i])
    return Ic


def _store(
    H: List[List[Scalar]], body: Body, S: MotionSubspace, column: int, F: ForceVector
) -> None:
    """Enter H_ji = S_j^T F and its transpose H_ij, for one column of joint i.

    A block on the diagonal is symmetric to the last bit: one triangle of it is mirrored.
    """
    for row, value in zip(range(len(H))[body.v], S.T @ F):
        if row <= column:
            H[row][column] = H[column][row] = value
