# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Equation of motion of a floating base: Newton-Euler and composite bodies (book table 9.5)."""

from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from rbd_ros.algorithms.declaration import algorithm, EQUIVALENT, INDEPENDENT
from rbd_ros.algorithms.inverse_dynamics.forces import to_body_coordinates
from rbd_ros.algorithms.kinds import CONFIGURATION, EXTERNAL_FORCES, SPATIAL_INERTIA, VELOCITY
from rbd_ros.algorithms.momentum.centroidal import rows_of
from rbd_ros.array_types import ResultArray
from rbd_ros.model import Model
from rbd_ros.spatial import ForceVector, RigidBodyInertia
from rbd_ros.spatial.scalar import Scalar
from rbd_ros.textbook.floating_base.floating_base_kinds import (
    BASE_FORCE,
    JOINT_FORCE,
    JOINT_INERTIA,
    JOINT_MOMENTUM,
)
from rbd_ros.textbook.floating_base.floating_state import (
    composite,
    floating_base,
    FloatingBase,
    require_floating_base,
)

Matrix = List[List[Scalar]]


class FloatingEquations(NamedTuple):
    """Coefficients of [[I0c, F], [F^T, H]] [a0; qdd] + [p0c; C] = [0; tau] (book eq 9.13).

    :param I0c: inertia of the whole robot with its joints locked, in base coordinates, (6, 6)
    :param F: forces on the base that support unit accelerations of the joints, (6, nv - 6)
    :param H: joint-space inertia matrix while the base is at rest, (nv - 6, nv - 6)
    :param p0c: bias force of the whole robot, (6,) [N m, N]
    :param C: bias force of the joints, (nv - 6,) [N m, N]
    """

    I0c: Any
    F: ResultArray
    H: ResultArray
    p0c: ResultArray
    C: ResultArray


@algorithm(
    'floating_equations_of_motion',
    inputs={'q': CONFIGURATION, 'qd': VELOCITY, 'external_forces': EXTERNAL_FORCES},
    outputs={
        'I0c': SPATIAL_INERTIA,
        'F': JOINT_MOMENTUM,
        'H': JOINT_INERTIA,
        'p0c': BASE_FORCE,
        'C': JOINT_FORCE,
    },
    result=FloatingEquations,
    coordinates=INDEPENDENT,
    model=EQUIVALENT,
    source='RBDA eq 9.13, table 9.5; 9.6 with gears',
    check=require_floating_base,
)
def floating_equations_of_motion(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    external_forces: Optional[Mapping[int, ForceVector]] = None,
) -> FloatingEquations:
    """Return the coefficients of the equation of motion of base and joints (book eq 9.13).

    :param q: independent configuration, (nq,) [rad, m]
    :param qd: independent velocity, (nv,) [rad/s, m/s]
    :param external_forces: force on each body in world coordinates, by body number [N m, N]
    :return: I0c, F, H, p0c and C in floating-base coordinates
    """
    base = floating_base(model, q, qd, external_forces)
    found = independent(base.tree, *floating_crba(base), *floating_rnea(base))
    return found._replace(I0c=rows_of(found.I0c))


def floating_rnea(base: FloatingBase) -> Tuple[ForceVector, List[Scalar]]:
    """Return the bias forces of the base and of the joints (book table 9.5, upper half).

    :param base: tree on a floating base, and its state
    :return: p0c [N m, N], and C, (tree.tree_nv,) [N m, N]
    """
    tree = base.tree
    X, S, v, a_vp, f = {}, {}, {0: base.v0}, {0: -base.a_g}, {}
    for i, body in tree.outward():
        joint = body.joint.calc(base.q[body.q], base.qd[body.v])
        S[i] = joint.S
        X[i] = joint.X * body.tree_transform
        v[i] = X[i] * v[body.parent] + joint.v
        a_vp[i] = X[i] * a_vp[body.parent] + joint.c + v[i].cross(joint.v)
        f[i] = body.inertia * a_vp[i] + v[i].cross(body.inertia * v[i])
    for i, force in to_body_coordinates(tree, X, base.forces).items():
        f[i] = f[i] - force
    f[0] = base.inertia * a_vp[0] + v[0].cross(base.inertia * v[0]) - base.force_on_base

    C: List[Scalar] = [0.0] * tree.tree_nv
    for i, body in tree.inward():
        C[body.v] = S[i].T @ f[i]
        f[body.parent] = f[body.parent] + X[i].inverse_apply(f[i])
    return f[0], C


def floating_crba(base: FloatingBase) -> Tuple[RigidBodyInertia, List[ForceVector], Matrix]:
    """Return the inertias of base and joints, rotors included (book table 9.5, lower half).

    :param base: tree on a floating base; its velocity does not matter
    :return: I0c, the columns of F, (tree.tree_nv,), and H, (tree.tree_nv, tree.tree_nv)
    """
    tree = base.tree
    X, S = {}, {}
    for i, body in tree.outward():
        X[i] = body.joint.transform(base.q[body.q]) * body.tree_transform
        S[i] = body.joint.motion_subspace(base.q[body.q])
    Ic = composite(tree, X, base.inertia)

    n = range(tree.tree_nv)
    H: Matrix = [[0.0 for _ in n] for _ in n]
    F: Dict[int, ForceVector] = {}
    for i, body in tree.inward():
        for k, s in zip(n[body.v], S[i].columns):
            F[k] = Ic[i] * s
            for row, value in zip(n[body.v], S[i].T @ F[k]):
                if row <= k:  # one triangle, mirrored: bitwise symmetric
                    H[row][k] = H[k][row] = value
            H[k][k] = H[k][k] + body.armature
            j = i
            while tree.body(j).parent != 0:
                F[k] = X[j].inverse_apply(F[k])
                j = tree.body(j).parent
                for row, value in zip(n[tree.body(j).v], S[j].T @ F[k]):
                    H[row][k] = H[k][row] = value
            F[k] = X[j].inverse_apply(F[k])
    return Ic[0], [F[k] for k in n], H


def independent(
    tree: Model,
    I0c: RigidBodyInertia,
    F: Sequence[ForceVector],
    H: Matrix,
    p0c: ForceVector,
    C: Sequence[Scalar],
) -> FloatingEquations:
    """Return the coefficients for the independent joints, F G, G^T H G and G^T C (book eq 9.26).

    :param tree: the tree on the base
    :param I0c: inertia of the whole robot
    :param F: columns for all joints of the tree
    :param H: inertia matrix of all joints, (tree.tree_nv, tree.tree_nv)
    :param p0c: bias force of the whole robot
    :param C: bias force of all joints, (tree.tree_nv,)
    """
    columns: Matrix = [list(row) for row in zip(*F)] if F else [[] for _ in range(6)]
    return FloatingEquations(
        I0c,
        tree.independent_columns(columns),
        tree.independent_matrix(H),
        p0c,
        tree.independent_force(C),
    )
