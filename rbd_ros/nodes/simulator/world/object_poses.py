# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Poses of movable objects in messages: checks, and conversion to matrices."""

from __future__ import annotations

from typing import Optional, Sequence, Tuple

import numpy as np

from rbd_ros.nodes.simulator.interface.simulator_parameters import MAX_COORDINATE
from rbd_ros.spatial.rotation import quaternion_to_rotation, rotation_to_quaternion

#: Name of the world's frame if the robot is not fixed in it.
NO_LINK = 'world'


def pose_problem(
    position: Sequence[float], orientation: Sequence[float]
) -> Optional[Tuple[str, str]]:
    """Return the problem of a pose: text and short code; None if it is valid.

    :param position: (3,) [m]
    :param orientation: quaternion x, y, z, w, (4,)
    """
    if not (np.isfinite(position).all() and np.isfinite(orientation).all()):
        return 'the pose is not finite', 'not finite'
    farthest = float(np.abs(position).max())
    if farthest > MAX_COORDINATE:
        return f'{farthest:g} m is beyond {MAX_COORDINATE:g}', 'too large'
    with np.errstate(over='ignore'):
        square = float(np.dot(orientation, orientation))
    if not 0.5 < square < 2.0:
        return f'{list(map(float, orientation))} is not a unit quaternion', 'not a unit quaternion'
    return None


def pose_matrix(position: Sequence[float], orientation: Sequence[float]) -> np.ndarray:
    """Return the homogeneous matrix of a pose, (4, 4).

    :param position: (3,) [m]
    :param orientation: nonzero quaternion x, y, z, w, (4,)
    """
    x, y, z, w = (float(part) for part in orientation)
    pose = np.eye(4)
    pose[:3, :3] = quaternion_to_rotation((w, x, y, z))
    pose[:3, 3] = position
    return pose


def row_matrix(row: np.ndarray) -> np.ndarray:
    """Return the homogeneous matrix of a pose, (4, 4).

    :param row: position [m], quaternion x, y, z, w, (7,)
    """
    return pose_matrix(row[:3], row[3:])


def matrix_row(pose: np.ndarray) -> np.ndarray:
    """Return the position [m] and quaternion x, y, z, w of a pose, (7,).

    :param pose: homogeneous matrix, (4, 4)
    """
    w, x, y, z = rotation_to_quaternion(pose[:3, :3].tolist())
    return np.array([*pose[:3, 3], x, y, z, w])
