"""Loops closed by joints outside the spanning tree: how far from closed, and their Jacobian.

Book 8.2 and 8.3: a loop joint lets its successor move relative to its predecessor along S only;
along the constraint forces T the velocity T^T (v_s - v_p) is zero, and so is the position error.
"""

from typing import Any, List, NamedTuple, Sequence

from rbd_ros.algorithms.declaration import algorithm
from rbd_ros.algorithms.kinds import CONFIGURATION, LOOP_JACOBIAN, LOOP_RESIDUAL
from rbd_ros.algorithms.kinematics import body_transforms, motion_columns
from rbd_ros.model import Model
from rbd_ros.spatial import ForceVector, MotionVector, PluckerTransform
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
    """Position errors and constraint Jacobian of the loops.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    """
    X0 = body_transforms(model, q)
    S = motion_columns(model, q, X0)
    residual: List[Scalar] = []
    K: List[List[Scalar]] = []
    for loop in model.loops:
        Xp, Xs = (frame.placement * X0[frame.body] for frame in (loop.predecessor, loop.successor))
        error = position_error(Xs * Xp.inverse())
        for T in loop.joint.constraint_forces(loop.joint.neutral()):
            residual.append(error.dot(T))
            K.append(_row(model, Xs.inverse_apply(T), S, loop))
    return LoopClosure(residual, K)


def position_error(X: PluckerTransform) -> MotionVector:
    """Small displacement from one frame to another, exact where the frames agree (table 8.1).

    Of a lower pair, the components along T are zero where the pair is closed, whatever its
    position.

    :param X: transform from the first to the second frame's coordinates
    """
    E = X.E
    turned = (E[1][2] - E[2][1], E[2][0] - E[0][2], E[0][1] - E[1][0])
    return MotionVector(tuple(0.5 * x for x in turned), X.r)


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
