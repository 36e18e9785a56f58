# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Composite-rigid-body algorithm that propagates the forces of whole subtrees (book 6.2).

The equations are those of crba.py with the loops interchanged: instead of propagating one force at
a time to the base, each body passes all forces of its subtree to its parent (R. Featherstone and
D. Orin 2000, section 3.2). The forces that arrive at the base act on it.
"""

from typing import Any, Dict, List, NamedTuple, Sequence

from rbd_ros.algorithms.declaration import algorithm
from rbd_ros.algorithms.kinds import BASE_FORCES, CONFIGURATION, INERTIA_MATRIX
from rbd_ros.model import Model
from rbd_ros.spatial import ForceVector
from rbd_ros.spatial.scalar import Scalar


class InertiaAndBaseForces(NamedTuple):
    """Inertia matrix, and the force on the base for each of its columns.

    :param H: joint-space inertia matrix, (nv, nv) [kg m^2, kg m, kg]
    :param F: spatial force [n; f] that the base transmits per unit of acceleration of each
        degree of freedom, in base coordinates, (6, nv); H without rotors, and the momentum is F v
    """

    H: Any
    F: Any


@algorithm(
    'crba_by_subtrees',
    inputs={'q': CONFIGURATION},
    outputs={'H': INERTIA_MATRIX, 'F': BASE_FORCES},
    result=InertiaAndBaseForces,
    source='Featherstone and Orin, ICRA 2000, eq 9 and 10; RBDA eq 6.17 to 6.20',
)
def crba_by_subtrees(model: Model, q: Sequence[Scalar]) -> InertiaAndBaseForces:
    """Return the joint-space inertia matrix, rotor inertia included, and forces on the base.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :return: H, (tree_nv, tree_nv) [kg m^2, kg m, kg], and F by rows, (6, tree_nv)

    >>> H, F = robot.kernel('crba_by_subtrees').function(q)
    >>> np.allclose(F @ v, robot.momentum(q, v))  # F: what the base must transmit
    True
    """
    n = model.tree_nv
    Ic = {i: body.inertia for i, body in model.outward()}
    # Forces of the subtree of each body, in its coordinates, by the DoF that causes them.
    F: Dict[int, Dict[int, ForceVector]] = {i: {} for i in range(len(model.bodies) + 1)}
    H: List[List[Scalar]] = [[0.0] * n for _ in range(n)]
    for i, body in model.inward():
        X = body.joint.transform(q[body.q]) * body.tree_transform
        S = body.joint.motion_subspace(q[body.q])
        rows = range(n)[body.v]
        F[i].update((column, Ic[i] * s) for column, s in zip(rows, S.columns))
        for column, f in F[i].items():
            for row, value in zip(rows, S.T @ f):
                if row <= column:
                    H[row][column] = H[column][row] = value
        for row in rows:
            H[row][row] = H[row][row] + body.armature
        for column, f in F[i].items():
            F[body.parent][column] = X.inverse_apply(f)
        if body.parent != 0:
            Ic[body.parent] = Ic[body.parent] + X.inverse_apply(Ic[i])
    columns = [tuple(F[0][column]) for column in range(n)]
    return InertiaAndBaseForces(H, [[column[k] for column in columns] for k in range(6)])
