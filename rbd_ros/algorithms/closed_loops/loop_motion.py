"""Positions and velocities of the loop joints themselves, as their springs and dampers need them.

The tree's coordinates do not hold them: they follow from where the joint's two frames are.
"""

import math
from typing import Any, List, NamedTuple, Sequence

from rbd_ros.algorithms.closed_loops.loop_equations import active_force_subspace
from rbd_ros.algorithms.declaration import algorithm
from rbd_ros.algorithms.kinds import CONFIGURATION, LOOP_POSITION, LOOP_RATE, VELOCITY
from rbd_ros.algorithms.kinematics.kinematics import body_velocities
from rbd_ros.model import Model
from rbd_ros.model.joints import JointType
from rbd_ros.model.joints.exponential import rotation_vector
from rbd_ros.model.joints.joint_type import across
from rbd_ros.spatial import linear3, PluckerTransform
from rbd_ros.spatial.linear3 import Matrix3, Vector3
from rbd_ros.spatial.scalar import absolute, arctan2, Scalar, where_positive


class LoopMotion(NamedTuple):
    """Positions and velocities of the loop joints, one freedom after another.

    :param position: angles and displacements from where the frames coincide, [rad, m]
    :param rate: velocities, [rad/s, m/s]
    """

    position: Any
    rate: Any


@algorithm(
    'loop_motion',
    inputs={'q': CONFIGURATION, 'qd': VELOCITY},
    outputs={'position': LOOP_POSITION, 'rate': LOOP_RATE},
    result=LoopMotion,
    source='RBDA 8.2 and 8.6',
)
def loop_motion(model: Model, q: Sequence[Scalar], qd: Sequence[Scalar]) -> LoopMotion:
    """Positions and velocities of the loop joints, as far as they are closed.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :param qd: velocity of the tree, (tree_nv,) [rad/s, m/s]
    """
    X0, v = body_velocities(model, q, qd)
    position: List[Scalar] = []
    rate: List[Scalar] = []
    for loop in model.loops:
        Xp, Xs = (frame.placement * X0[frame.body] for frame in (loop.predecessor, loop.successor))
        vp, vs = (frame.placement * v[frame.body] for frame in (loop.predecessor, loop.successor))
        X = Xs * Xp.inverse()
        position += displacement(X, loop.joint)
        rate += [(vs - X * vp).dot(Ta) for Ta in active_force_subspace(loop.joint)]
    return LoopMotion(position, rate)


def displacement(X: PluckerTransform, joint: JointType) -> List[Scalar]:
    """Displacement of a lower pair along its freedoms.

    A freedom that turns has the angle about its axis, between -pi and pi; three of them have the
    rotation vector. A freedom that only translates has the successor's position along it, in
    predecessor coordinates.

    :param X: transform from predecessor to successor coordinates
    :param joint: type of the pair
    """
    S = joint.motion_subspace(joint.neutral()).columns
    axes = [column.angular for column in S if any(column.angular)]
    turned = _rotation(X, axes)
    return [
        linear3.dot(turned, s.angular) if any(s.angular) else linear3.dot(X.r, s.linear) for s in S
    ]


def _rotation(X: PluckerTransform, axes: Sequence[Vector3]) -> Vector3:
    """Rotation vector of a transform, about one axis if there is only one."""
    E = X.E
    if not axes:
        return linear3.ZERO3
    if len(axes) == 1:
        return linear3.scale(angle_about(E, axes[0]), axes[0])
    twice_sine = (E[1][2] - E[2][1], E[2][0] - E[0][2], E[0][1] - E[1][0])
    # The quaternion of R = E^T, but for its length
    x, y, z = rotation_vector((1.0 + E[0][0] + E[1][1] + E[2][2], *twice_sine))
    return x, y, z


def angle_about(E: Matrix3, axis: Vector3) -> Scalar:
    """Angle of a rotation about an axis that it keeps, between -pi and pi [rad].

    :param E: coordinate rotation, (3, 3)
    :param axis: unit vector, (3,)
    """
    u, w = across(axis)
    twice_sine = (E[1][2] - E[2][1], E[2][0] - E[0][2], E[0][1] - E[1][0])
    y = linear3.dot(twice_sine, axis)
    x = linear3.dot(u, linear3.apply(E, u)) + linear3.dot(w, linear3.apply(E, w))
    angle = arctan2(absolute(y), absolute(x))  # of the first quadrant, which is all it knows
    angle = where_positive(-x, math.pi - angle, angle)
    return where_positive(-y, -angle, angle)
