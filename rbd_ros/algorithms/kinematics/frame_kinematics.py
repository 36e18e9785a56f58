# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Pose and Jacobian of a frame in one pass, for inverse kinematics."""

from typing import Any, NamedTuple, Sequence

from rbd_ros.algorithms.declaration import algorithm
from rbd_ros.algorithms.kinds import CONFIGURATION, FRAME, JACOBIAN, POSE, REFERENCE
from rbd_ros.algorithms.kinematics.frame_motion import frame_pose
from rbd_ros.algorithms.kinematics.jacobians import jacobian
from rbd_ros.model import Frame, Model
from rbd_ros.spatial.scalar import Scalar


class FrameKinematics(NamedTuple):
    """Pose and Jacobian of a frame.

    :param T: pose in the base frame, (4, 4)
    :param J: Jacobian, angular rows first, (6, nv)
    """

    T: Any
    J: Any


@algorithm(
    'frame_kinematics',
    inputs={'q': CONFIGURATION, 'frame': FRAME, 'reference': REFERENCE},
    outputs={'T': POSE, 'J': JACOBIAN},
    result=FrameKinematics,
    source='RBDA examples 4.2 and 4.3',
)
def frame_kinematics(
    model: Model, q: Sequence[Scalar], frame: Frame, reference: str
) -> FrameKinematics:
    """Return the pose of a frame with its Jacobian; the compiler computes common parts once.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :param frame: the frame, with its place on its body
    :param reference: coordinates of velocities; see `kinematics.jacobians.jacobian`

    >>> found = robot.kernel('frame_kinematics', frame='tool0').function(q)
    >>> np.array_equal(found.T, robot.frame('tool0').pose(q)), found.J.shape
    (True, (6, 6))
    """
    return FrameKinematics(frame_pose(model, q, frame), jacobian(model, q, frame, reference))
