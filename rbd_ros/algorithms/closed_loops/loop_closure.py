# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Loops closed by joints outside the spanning tree: their position errors and Jacobian.

Book 8.2 and 8.3: a loop joint lets its successor move relative to its predecessor along S only;
along the constraint forces T the velocity T^T (v_s - v_p) is zero, and so is the position error.
"""

from typing import Any, List, Mapping, NamedTuple, Sequence, Tuple

from rbd_ros.algorithms.declaration import algorithm
from rbd_ros.algorithms.kinds import CONFIGURATION, LOOP_JACOBIAN, LOOP_RESIDUAL
from rbd_ros.algorithms.kinematics.kinematics import body_transforms, motion_columns
from rbd_ros.array_types import ResultArray
from rbd_ros.model import LoopJoint, Model
from rbd_ros.spatial import ForceVector, PluckerTransform
from rbd_ros.spatial.scalar import Scalar


class LoopClosure(NamedTuple):
    """Constraints of all loop joints, concatenated, n of them.

    :param residual: position errors, (n,) [rad, m]
    :param K: Jacobian of the constraints, (n, nv): K v is the velocity that must be zero
    """

    residual: ResultArray
    K: ResultArray


@algorithm(
    'loop_closure',
    inputs={'q': CONFIGURATION},
    outputs={'residual': LOOP_RESIDUAL, 'K': LOOP_JACOBIAN},
    result=LoopClosure,
    source='RBDA eq 8.9 and table 8.1',
)
def loop_closure(model: Model, q: Sequence[Scalar]) -> LoopClosure:
    """Return the position errors and constraint Jacobian of the loops (book eq 8.9, table 8.1).

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :return: (n,) [rad, m] and (n, tree_nv), a row for each constraint force of each loop joint
    """
    X0 = body_transforms(model, q)
    S = motion_columns(model, q, X0)
    residual: List[Scalar] = []
    K: List[List[Scalar]] = []
    for loop in model.loops:
        Xs, X = loop_transforms(loop, X0)
        residual += loop.joint.loop_error(X)
        for T in loop.joint.constraint_forces_at(X):
            K.append(_row(model, Xs.inverse_apply(T), S, loop))
    return LoopClosure(residual, K)


def loop_transforms(
    loop: LoopJoint, X0: Mapping[int, PluckerTransform]
) -> Tuple[PluckerTransform, PluckerTransform]:
    """Return the transform from base to successor frame of a loop joint, and X between its frames.

    :param loop: the loop joint
    :param X0: transforms from base to body coordinates, by body number
    :return: 0X_s, and the transform X from predecessor to successor coordinates
    """
    Xp, Xs = (frame.placement * X0[frame.body] for frame in (loop.predecessor, loop.successor))
    return Xs, Xs * Xp.inverse()


def _row(model: Model, T: ForceVector, S: Any, loop: LoopJoint) -> List[Scalar]:
    """Return a row of K: T^T times the columns of the successor less those of the predecessor.

    :param T: constraint force in base coordinates
    """
    row: List[Scalar] = [0.0] * model.tree_nv
    for frame, sign in ((loop.successor, 1.0), (loop.predecessor, -1.0)):
        for j in model.support(frame.body):
            for k, s in zip(range(model.tree_nv)[model.body(j).v], S[j]):
                row[k] = row[k] + sign * s.dot(T)
    return row
