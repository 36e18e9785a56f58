# SPDX-License-Identifier: Apache-2.0
"""From what texts take and return to flat arrays and back, gears applied on the way.

q_tree = gamma(q), v_tree = G v, tau = G^T tau_tree (book 3.2, 9.6).
"""

from __future__ import annotations

from typing import Any, List, Mapping, Sequence

from rbd_ros.algorithms.array_kinds.array import Scalars
from rbd_ros.model import Model
from rbd_ros.spatial import MotionVector, PluckerTransform
from rbd_ros.spatial.scalar import Scalar


def as_it_is(model: Model, value: Any) -> Any:
    """Return a value that gears do not concern."""
    return value


def listed(model: Model, value: Any) -> Scalars:
    """Return the elements of a vector that gears do not concern."""
    return list(value)


def row_by_row(rows: Sequence[Scalars]) -> Scalars:
    """Return the elements of a matrix, row by row."""
    return [x for row in rows for x in row]


def square(model: Model, H: Sequence[Scalars]) -> Scalars:
    """Return the matrix G^T H G of the independent coordinates, row by row."""
    return row_by_row(model.independent_matrix(H))


def symmetric(H: Sequence[Scalars]) -> Scalars:
    """Return one triangle, and its mirror image.

    bitwise symmetric also where gears sum elements.
    """
    return [H[max(i, j)][min(i, j)] for i in range(len(H)) for j in range(len(H))]


def columns(model: Model, J: Sequence[Scalars]) -> Scalars:
    """Return the matrix J G with columns for the independent coordinates, row by row."""
    return row_by_row(model.independent_columns(J))


def cube(model: Model, C: Sequence[Sequence[Scalars]]) -> Scalars:
    """Return the tensor C_ijk G_ia G_jb G_kc of the independent coordinates, row by row."""
    slices = [model.independent_matrix(matrix) for matrix in C]
    columns = [model.independent_force(column) for column in zip(*map(row_by_row, slices))]
    return row_by_row(list(zip(*columns)))


def pose(X: PluckerTransform) -> List[Scalar]:
    """Return the homogeneous matrix T with p_base = T p_frame, row by row, (16,).

    :param X: transform from base to frame coordinates
    """
    values: List[Scalar] = []
    for k in range(3):
        values.extend((X.E[0][k], X.E[1][k], X.E[2][k], X.r[k]))
    return [*values, 0.0, 0.0, 0.0, 1.0]


def poses(model: Model, X: Mapping[Any, PluckerTransform]) -> Scalars:
    """Return the homogeneous matrices of several frames, one after another."""
    return [x for transform in X.values() for x in pose(transform)]


def body_frames(model: Model, X0: Mapping[int, PluckerTransform]) -> Scalars:
    """Return the rotation, by rows, and position of base and bodies, (bodies + 1, 12)."""
    values: List[Scalar] = []
    for i in range(len(model.bodies) + 1):
        values.extend(row_by_row(list(zip(*X0[i].E))))
        values.extend(X0[i].r)
    return values


def by_body(model: Model, vectors: Mapping[int, Any]) -> Scalars:
    """Return the vectors of all bodies in the order of their numbers."""
    return [x for i, _ in model.outward() for x in vectors[i]]


def motion_columns(model: Model, S: Mapping[int, Sequence[MotionVector]]) -> Scalars:
    """Return the columns of the motion subspaces of all joints, (tree_nv, 6)."""
    return [x for i, _ in model.outward() for column in S[i] for x in column]


def position_rates(model: Model, q: Scalars) -> Sequence[Scalars]:
    """Return the rate of the configuration at unit velocity of each DoF (book 4.4, eq 3.7)."""
    rows: List[List[Scalar]] = []
    for i, (at_q, _) in model.independent_slices.items():
        joint = model.body(i).joint
        for k in range(joint.nv):
            row: List[Scalar] = [0.0] * model.nq
            unit = [1.0 if j == k else 0.0 for j in range(joint.nv)]
            row[at_q] = joint.position_rate(q[at_q], unit)
            rows.append(row)
    return rows
