"""Loops closed by joints outside the spanning tree: how far from closed, and their Jacobian.

Book 8.2 and 8.3: a loop joint lets its successor move relative to its predecessor along S only;
along the constraint forces T the velocity T^T (v_s - v_p) is zero, and so is the position error.
"""

from typing import Any, List, NamedTuple, Sequence

from rbd_ros.algorithms.declaration import algorithm
from rbd_ros.algorithms.kinds import CONFIGURATION, LOOP_JACOBIAN, LOOP_RESIDUAL
from rbd_ros.algorithms.kinematics.kinematics import body_transforms, motion_columns
from rbd_ros.model import Model
from rbd_ros.model.joints import JointType
from rbd_ros.spatial import ForceVector, linear3, MotionVector, PluckerTransform
from rbd_ros.spatial.scalar import Scalar


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
    r = linear3.apply(E, X.r)
    return MotionVector(turned, linear3.add(r, linear3.cross(turned, r)))


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
