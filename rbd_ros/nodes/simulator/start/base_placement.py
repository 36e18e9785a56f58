# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Floating base of a simulated robot: whether it exists, and its placement."""

from __future__ import annotations

from typing import Optional, Sequence

import numpy as np

from rbd_ros.model import Model
from rbd_ros.model.floating_model import is_free_base
from rbd_ros.robot import Robot
from rbd_ros.simulation.physics import Physics
from rbd_ros.spatial.rotation import quaternion_to_rotation


def has_floating_base(robot: Robot) -> bool:
    """Return whether the first joint has six degrees of freedom, under any name."""
    return base_body(robot.model, '') == 1


def base_body(model: Model, prefix: str) -> Optional[int]:
    """Return the number of a robot's base body; None if it is fixed.

    :param model: all robots of a simulation
    :param prefix: prefix of the robot's joint names
    """
    for i, body in model.outward():
        if body.joint_name.startswith(prefix):
            return i if is_free_base(body) else None
    return None


def floating_joint_position(pose: Sequence[float]) -> np.ndarray:
    """Return the position of a floating joint, (7,): unit quaternion w, x, y, z, then x, y, z [m].

    :param pose: position [m], nonzero quaternion x, y, z, w, (7,)
    """
    x, y, z, qx, qy, qz, qw = pose
    quaternion = np.array([qw, qx, qy, qz])
    return np.array([*(quaternion / np.linalg.norm(quaternion)), x, y, z])


def place_base(
    physics: Physics,
    at_q: int,
    at_v: int,
    pose: Optional[np.ndarray],
    twist: Optional[np.ndarray],
) -> None:
    """Set pose and velocity of a floating base.

    :param physics: the simulation
    :param at_q: index of its configuration
    :param at_v: index of its velocity
    :param pose: position [m], quaternion x, y, z, w, (7,); None: unchanged
    :param twist: angular velocity and velocity of its origin, along the axes of the world,
        (6,) [rad/s, m/s]; None: unchanged
    """
    state = physics.state
    if pose is not None:
        state.q[at_q : at_q + 7] = floating_joint_position(pose)
    if twist is not None:
        R = np.array(quaternion_to_rotation(tuple(state.q[at_q : at_q + 4].tolist())))
        state.v[at_v : at_v + 3] = twist[:3] @ R
        state.v[at_v + 3 : at_v + 6] = twist[3:] @ R
    physics.clear_near_pairs()
