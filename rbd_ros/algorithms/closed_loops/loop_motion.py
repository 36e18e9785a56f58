# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Positions and velocities of the loop joints, for their springs and dampers.

They are no coordinates of the tree, but follow from the poses of the joint's two frames.
"""

from typing import List, NamedTuple, Sequence

from rbd_ros.algorithms.closed_loops.loop_closure import loop_transforms
from rbd_ros.algorithms.closed_loops.loop_equations import active_force_subspace
from rbd_ros.algorithms.declaration import algorithm
from rbd_ros.algorithms.kinds import CONFIGURATION, LOOP_POSITION, LOOP_RATE, VELOCITY
from rbd_ros.algorithms.kinematics.kinematics import body_velocities
from rbd_ros.array_types import ResultArray
from rbd_ros.model import Model
from rbd_ros.spatial.scalar import Scalar


class LoopMotion(NamedTuple):
    """Positions and velocities of the loop joints, by degree of freedom.

    :param position: angles and displacements relative to coincident frames, [rad, m]
    :param rate: velocities, [rad/s, m/s]
    """

    position: ResultArray
    rate: ResultArray


@algorithm(
    'loop_motion',
    inputs={'q': CONFIGURATION, 'qd': VELOCITY},
    outputs={'position': LOOP_POSITION, 'rate': LOOP_RATE},
    result=LoopMotion,
    source='RBDA 8.2 and 8.6',
)
def loop_motion(model: Model, q: Sequence[Scalar], qd: Sequence[Scalar]) -> LoopMotion:
    """Return the positions and velocities of the loop joints, assuming closed loops.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :param qd: velocity of the tree, (tree_nv,) [rad/s, m/s]
    """
    X0, v = body_velocities(model, q, qd)
    position: List[Scalar] = []
    rate: List[Scalar] = []
    for loop in model.loops:
        _, X = loop_transforms(loop, X0)
        vp, vs = (frame.placement * v[frame.body] for frame in (loop.predecessor, loop.successor))
        position += loop.joint.displacement_at(X)
        rate += [(vs - X * vp).dot(Ta) for Ta in active_force_subspace(loop.joint, X)]
    return LoopMotion(position, rate)
