# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Jacobians of bodies and points and their time derivatives (book examples 4.1 and 4.2, 2.5)."""

from typing import Callable, List, Sequence, Tuple

from rbd_ros.algorithms.declaration import algorithm
from rbd_ros.algorithms.kinds import (
    CONFIGURATION,
    FRAME,
    JACOBIAN,
    POINT,
    POINT_JACOBIAN,
    REFERENCE,
    VELOCITY,
)
from rbd_ros.algorithms.kinematics.kinematics import (
    apparent_column_rates,
    body_transforms,
    body_velocities,
    motion_columns,
)
from rbd_ros.model import Frame, Model
from rbd_ros.spatial import linear3, MotionVector, PluckerTransform
from rbd_ros.spatial.linear3 import Vector3
from rbd_ros.spatial.scalar import Scalar

Matrix = List[List[Scalar]]


@algorithm(
    'jacobian',
    inputs={'q': CONFIGURATION, 'frame': FRAME, 'reference': REFERENCE},
    outputs={'J': JACOBIAN},
    source='RBDA example 4.2',
    pinocchio_equivalent='computeFrameJacobian',
)
def jacobian(model: Model, q: Sequence[Scalar], frame: Frame, reference: str) -> Matrix:
    """Return the Jacobian J of the spatial velocity v = J qd of a frame.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :param frame: the frame, with its place on its body
    :param reference: coordinates of v: 'body' (the frame's own coordinates), 'base' (base
        coordinates), or 'aligned' (at the frame's origin, along the axes of the base)
    :return: J, angular rows first, (6, tree_nv)
    """
    X0 = body_transforms(model, q)
    columns = motion_columns(model, q, X0)
    XF = frame.placement * X0[frame.body]
    return _assemble(model, frame, lambda j, k: _express(columns[j][k], XF, reference))


@algorithm(
    'jacobian_derivative',
    inputs={'q': CONFIGURATION, 'qd': VELOCITY, 'frame': FRAME, 'reference': REFERENCE},
    outputs={'Jdot': JACOBIAN},
    source='RBDA 2.5',
)
def jacobian_derivative(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    frame: Frame,
    reference: str,
) -> Matrix:
    """Return the time derivative of `jacobian`: dv/dt = J qdd + Jdot qd, by component.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :param qd: velocity of the tree, (tree_nv,) [rad/s, m/s]
    :param frame: the frame, with its place on its body
    :param reference: coordinates of v; see `jacobian`
    :return: Jdot, angular rows first, (6, tree_nv)
    """
    X0, v = body_velocities(model, q, qd)
    v0 = {j: X0[j].inverse_apply(v[j]) for j in v}
    columns, rings = motion_columns(model, q, X0), apparent_column_rates(model, q, qd, X0)
    XF = frame.placement * X0[frame.body]
    vF = v0[frame.body]

    def derivative(j: int, k: int) -> MotionVector:
        s, ring = columns[j][k], rings[j][k]
        if reference == 'body':
            return XF.apply((v0[j] - vF).cross(s) + ring)
        ds = v0[j].cross(s) + ring
        if reference == 'base':
            return ds
        return MotionVector(
            ds.angular,
            linear3.add(ds.velocity_at(XF.r), linear3.cross(s.angular, vF.velocity_at(XF.r))),
        )

    return _assemble(model, frame, derivative)


@algorithm(
    'point_jacobian',
    inputs={'q': CONFIGURATION, 'frame': FRAME, 'point': POINT},
    outputs={'J': POINT_JACOBIAN},
    source='RBDA example 4.2',
)
def point_jacobian(model: Model, q: Sequence[Scalar], frame: Frame, point: Vector3) -> Matrix:
    """Return the Jacobian of the velocity of a point of a frame, along the axes of the base.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :param frame: the frame, with its place on its body
    :param point: coordinates of the point in the frame, (3,) [m]
    :return: J, (3, tree_nv)
    """
    at_point = Frame(frame.body, _moved(frame, point))
    return jacobian(model, q, at_point, 'aligned')[3:]


@algorithm(
    'point_jacobian_derivative',
    inputs={'q': CONFIGURATION, 'qd': VELOCITY, 'frame': FRAME, 'point': POINT},
    outputs={'Jdot': POINT_JACOBIAN},
    source='RBDA 2.5',
)
def point_jacobian_derivative(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    frame: Frame,
    point: Vector3,
) -> Matrix:
    """Return the time derivative of `point_jacobian`, element by element, (3, tree_nv).

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :param qd: velocity of the tree, (tree_nv,) [rad/s, m/s]
    :param frame: the frame, with its place on its body
    :param point: coordinates of the point in the frame, (3,) [m]
    """
    at_point = Frame(frame.body, _moved(frame, point))
    return jacobian_derivative(model, q, qd, at_point, 'aligned')[3:]


def _moved(frame: Frame, point: Vector3) -> PluckerTransform:
    return PluckerTransform.translation(point) * frame.placement


def _express(s: MotionVector, XF: PluckerTransform, reference: str) -> MotionVector:
    if reference == 'body':
        return XF.apply(s)
    if reference == 'base':
        return s
    return MotionVector(s.angular, s.velocity_at(XF.r))


def _assemble(model: Model, frame: Frame, column: Callable[[int, int], MotionVector]) -> Matrix:
    """Return the rows of a matrix of six rows: `column(j, k)` for DoF k of the joint of body j.

    Joints that do not move the frame have columns of zeros.
    """
    columns: List[Tuple[Scalar, ...]] = [(0.0,) * 6] * model.tree_nv
    for j in model.support(frame.body):
        for k, index in enumerate(range(model.tree_nv)[model.body(j).v]):
            columns[index] = tuple(column(j, k))
    return [list(row) for row in zip(*columns)] if columns else [[] for _ in range(6)]
