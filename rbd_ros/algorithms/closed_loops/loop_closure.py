"""Loops closed by joints outside the spanning tree: how far from closed, and their Jacobian.

Book 8.2 and 8.3: a loop joint lets its successor move relative to its predecessor along S only;
along the constraint forces T the velocity T^T (v_s - v_p) is zero, and so is the position error.
"""

import math
from typing import Any, List, NamedTuple, Sequence

from rbd_ros.algorithms.declaration import algorithm
from rbd_ros.algorithms.kinds import CONFIGURATION, LOOP_JACOBIAN, LOOP_RESIDUAL
from rbd_ros.algorithms.kinematics.kinematics import body_transforms, motion_columns
from rbd_ros.model import Model
from rbd_ros.model.joints import JointType
from rbd_ros.model.joints.joint_type import across
from rbd_ros.spatial import (
    ForceVector,
    linear3,
    MotionSubspace,
    MotionVector,
    PluckerTransform,
)
from rbd_ros.spatial.linear3 import Matrix3, Vector3
from rbd_ros.spatial.scalar import absolute, arctan2, cos, Scalar, sin, where_positive


class LoopClosure(NamedTuple):
    """Constraints of all loop joints, one after another, n of them.

    :param residual: position errors, (n,) [rad, m]
    :param K: Jacobian of the constraints, (n, nv): K v is the velocity that must be zero
    """

    residual: Any
    K: Any


@algorithm(
    'loop_closure',
    inputs={'q': CONFIGURATION},
    outputs={'residual': LOOP_RESIDUAL, 'K': LOOP_JACOBIAN},
    result=LoopClosure,
    source='RBDA eq 8.9 and table 8.1',
)
def loop_closure(model: Model, q: Sequence[Scalar]) -> LoopClosure:
    """Position errors and constraint Jacobian of the loops (book eq 8.9, table 8.1).

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :return: (n,) [rad, m] and (n, tree_nv), a row for each constraint force of each loop joint
    """
    X0 = body_transforms(model, q)
    S = motion_columns(model, q, X0)
    residual: List[Scalar] = []
    K: List[List[Scalar]] = []
    for loop in model.loops:
        Xp, Xs = (frame.placement * X0[frame.body] for frame in (loop.predecessor, loop.successor))
        error = position_error(Xs * Xp.inverse(), loop.joint)
        for T in loop.joint.constraint_forces(loop.joint.neutral()):
            residual.append(error.dot(T))
            K.append(_row(model, Xs.inverse_apply(T), S, loop))
    return LoopClosure(residual, K)


def position_error(X: PluckerTransform, joint: JointType) -> MotionVector:
    """Displacement from where a lower pair would be closed, to first order (table 8.1).

    Only its components along the constraint forces T mean anything: they are zero where the pair
    is closed, in whatever position, and change there at the rate T^T times the relative velocity.

    :param X: transform from predecessor to successor coordinates
    :param joint: type of the pair
    :return: the displacement in successor coordinates [rad, m]
    """
    S = joint.motion_subspace(joint.neutral())
    axes = [column.angular for column in S.columns if any(column.angular)]
    E = X.E
    turned = linear3.ZERO3  # a pair that turns in all ways has no wrong orientation
    if not axes:
        turned = linear3.scale(0.5, (E[1][2] - E[2][1], E[2][0] - E[0][2], E[0][1] - E[1][0]))
    elif len(axes) == 1:  # by how much the predecessor's axis is off
        turned = linear3.cross(linear3.apply(E, axes[0]), axes[0])
    # Translation along the predecessor's directions: a pair may have gone a long way along them.
    r = linear3.apply(E, linear3.subtract(X.r, _screwed(X, S)))
    return MotionVector(turned, linear3.add(r, linear3.cross(turned, r)))


def angle_about(E: Matrix3, axis: Vector3) -> Scalar:
    """Angle of a rotation about an axis that it keeps, between -pi and pi [rad].

    :param E: coordinate rotation, (3, 3)
    :param axis: unit vector, (3,)
    """
    u, w = across(axis)
    twice_sine = (E[1][2] - E[2][1], E[2][0] - E[0][2], E[0][1] - E[1][0])
    twice_cosine = linear3.dot(u, linear3.apply(E, u)) + linear3.dot(w, linear3.apply(E, w))
    return _angle(linear3.dot(twice_sine, axis), twice_cosine)


def _angle(y: Scalar, x: Scalar) -> Scalar:
    """Angle of the point (x, y), between -pi and pi [rad]: `arctan2` knows the first quadrant."""
    angle = arctan2(absolute(y), absolute(x))
    angle = where_positive(-x, math.pi - angle, angle)
    return where_positive(-y, -angle, angle)


def _screwed(X: PluckerTransform, S: MotionSubspace) -> Vector3:
    """Translation along its axis that a pair gets by turning, zero unless it is a screw.

    Full turns that E does not show are those that bring it closest to where it is.
    """
    for column in S.columns:
        if any(column.angular) and any(column.linear):
            axis, pitch = column.angular, linear3.dot(column.angular, column.linear)
            along = linear3.dot(axis, X.r)
            behind = along / pitch - angle_about(X.E, axis)
            return linear3.scale(along - pitch * _angle(sin(behind), cos(behind)), axis)
    return linear3.ZERO3


def _row(model: Model, T: ForceVector, S: Any, loop: Any) -> List[Scalar]:
    """Row of K: T^T times the columns that move the successor less those of the predecessor.

    :param T: constraint force in base coordinates
    """
    row: List[Scalar] = [0.0] * model.tree_nv
    for frame, sign in ((loop.successor, 1.0), (loop.predecessor, -1.0)):
        for j in model.support(frame.body):
            for k, s in zip(range(model.tree_nv)[model.body(j).v], S[j]):
                row[k] = row[k] + sign * s.dot(T)
    return row
