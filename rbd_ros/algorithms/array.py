# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Types of the kinds in kinds.py: arrays, choices, forces on links, and the layouts of arrays.

A layout converts between flat arrays and the arguments and results of functions, with gears:
q_tree = gamma(q), v_tree = G v, tau = G^T tau_tree (book 3.2, 9.6).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
import math
from types import MappingProxyType
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from rbd_ros.model import Model
from rbd_ros.spatial import ForceVector, MotionVector, PluckerTransform
from rbd_ros.spatial.scalar import Scalar

Scalars = Sequence[Scalar]
#: Dimensions of arrays that depend on the model.
DIMENSIONS: Mapping[str, Callable[[Model], int]] = {
    'nq': lambda model: model.nq,
    'nv': lambda model: model.nv,
    'nv - 6': lambda model: max(model.nv - 6, 0),
    'tree_nv': lambda model: model.tree_nv,
    'uniforms': lambda model: sum(model.body(i).joint.uniforms for i in model.independent),
    'links': lambda model: len(model.links),
    'bodies': lambda model: len(model.bodies),
    'bodies + 1': lambda model: len(model.bodies) + 1,
    'constraints': lambda model: model.loop_constraints,
    'parameters': lambda model: 10 * len(model.bodies),
    'loops': lambda model: len(model.loops),
    'loop dofs': lambda model: sum(loop.joint.nv for loop in model.loops),
}
#: Dimensions of arrays that depend on compile-time choices, by symbol.
CHOSEN_DIMENSIONS: Mapping[str, Callable[[Mapping[str, Any]], int]] = {
    '6 frames': lambda chosen: 6 * len(chosen['frames']),
    'contacts': lambda chosen: len(chosen['contacts']),
    'contact rows': lambda chosen: len(chosen['contacts']) * (3 if chosen['tangents'] else 1),
}


@dataclass(frozen=True)
class Array:
    """An array, as input or as output.

    :param symbol: name for users
    :param meaning: description in words
    :param unit: unit of its elements
    :param dimensions: its shape in independent coordinates: numbers, and names of `DIMENSIONS`
        or `CHOSEN_DIMENSIONS`
    :param to_tree: argument of a function on tree coordinates, from the model and the flat array;
        None if there is none
    :param from_tree: the flat array, from the model and the result of a function on tree
        coordinates; None if there is none
    :param flat: the flat array, from the result of a function on independent coordinates
    :param tangents: rates of the elements along each DoF, (dofs, size), from the model and
        the array; None if each element is a separate degree of freedom
    :param default: value of an input that is a constant by default
    :param call_default: default of a number in calls
    :param symmetric: whether a matrix equals its transpose, so that one triangle is enough
    """

    symbol: str
    meaning: str
    unit: str
    dimensions: Tuple[Union[int, str], ...]
    to_tree: Optional[Callable[[Model, Scalars], Any]] = None
    from_tree: Optional[Callable[[Model, Any], Scalars]] = None
    flat: Callable[[Any], Scalars] = list
    tangents: Optional[Callable[[Model, Scalars], Sequence[Scalars]]] = None
    default: Optional[Callable[[Model], Tuple[float, ...]]] = None
    call_default: Optional[float] = None
    symmetric: bool = False

    def shape(
        self, model: Model, chosen: Mapping[str, Any] = MappingProxyType({})
    ) -> Tuple[int, ...]:
        """Return the shape of the array for a model.

        :param chosen: compile-time choices, by symbol
        """
        return tuple(
            d
            if isinstance(d, int)
            else CHOSEN_DIMENSIONS[d](chosen)
            if d in CHOSEN_DIMENSIONS
            else DIMENSIONS[d](model)
            for d in self.dimensions
        )

    def packed_shape(self, model: Model) -> Tuple[int, ...]:
        """Return the shape of the result of `packed`."""
        shape = self.shape(model)
        return (shape[0] * (shape[0] + 1) // 2,) if self.symmetric else shape

    def packed(self, model: Model, values: Scalars) -> Scalars:
        """Return the lower triangle of a symmetric matrix, row by row; other arrays unchanged.

        :param values: the flat array
        """
        if not self.symmetric:
            return values
        n = self.shape(model)[0]
        return [values[n * i + j] for i in range(n) for j in range(i + 1)]

    def dofs(self, model: Model) -> int:
        """Return the number of independent ways in which the array can change."""
        return math.prod(self.shape(model)) if self.tangents is None else model.nv

    def named(self, symbol: str) -> Array:
        """Return this kind under another name: two configurations are q0 and q1.

        :param symbol: the name
        """
        return replace(self, symbol=symbol)


@dataclass(frozen=True)
class Choice:
    """Compile-time choice, such as the frame of a Jacobian.

    :param symbol: name of the option
    :param meaning: description in words
    :param resolve: argument of the function, from the model and the chosen value
    :param default: default value; None if it is required
    """

    symbol: str
    meaning: str
    resolve: Callable[[Model, Any], Any]
    default: Optional[Any] = None


@dataclass(frozen=True)
class Wrenches:
    """Spatial forces on links chosen at compile time, in base coordinates.

    A user gives an array (6,) for each link; the function gets the total on each body.
    """

    symbol: str = 'external_forces'
    meaning: str = 'spatial force [n; f] on each link named, in base coordinates'
    unit: str = '[N m, N]'

    def on_bodies(
        self, model: Model, links: Sequence[str], arrays: Sequence[Scalars]
    ) -> Dict[int, ForceVector]:
        """Return the total force on each body in base coordinates, by body number.

        :param links: names of links, which may be fixed to one body
        :param arrays: force on each of them, (6,) [N m, N]
        """
        total: Dict[int, ForceVector] = {}
        for name, values in zip(links, arrays):
            force = ForceVector.from_array(values)
            body = model.link(name).body
            total[body] = total[body] + force if body in total else force
        return total


def unchanged(model: Model, value: Any) -> Any:
    """Return a value that does not depend on gears."""
    return value


def as_list(model: Model, value: Any) -> Scalars:
    """Return the elements of a vector that does not depend on gears."""
    return list(value)


def row_by_row(rows: Sequence[Scalars]) -> Scalars:
    """Return the elements of a matrix, row by row."""
    return [x for row in rows for x in row]


def square(model: Model, H: Sequence[Scalars]) -> Scalars:
    """Return the matrix G^T H G of the independent coordinates, row by row."""
    return row_by_row(model.independent_matrix(H))


def symmetric(H: Sequence[Scalars]) -> Scalars:
    """Return a matrix from one triangle: bitwise symmetric, also where gears sum elements."""
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
    """Return the homogeneous matrices of several frames, concatenated."""
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
