# SPDX-License-Identifier: Apache-2.0
"""Joint positions at which a link has a pose, near those that there are: damped least squares."""

from __future__ import annotations

from typing import Any, NamedTuple, Tuple

import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.robot import Robot
from rbd_ros.spatial.rotation import rotation_to_quaternion

ITERATIONS = 60
DAMPING = 1e-3  # of the steps, in units of meters and radians per joint unit, at the beginning
MAX_STEP = 0.3  # of any joint in one iteration [rad or m]
ENOUGH = 1e-9  # squared error below which the pose is reached
WHOLE_RANGE_FROM = 2  # number of the start from which on it is anywhere within the limits
TURN = np.pi  # how far a start may be from where the first one was [rad or m]


class PoseGoal(NamedTuple):
    """Solution that was found for a pose.

    :param q: joint positions within their limits, (nv,)
    :param distance: how far the origin of the link is from the pose there [m]
    :param angle: how far it is turned from the pose there [rad]
    """

    q: FloatArray
    distance: float
    angle: float


def joints_for_pose(robot: Robot, link: str, pose: Any, q: Any, starts: int = 1) -> PoseGoal:
    """Return the positions near `q` at which a link has a pose, as far as limits and arm allow.

    :param robot: the robot, with one degree of freedom a joint
    :param pose: homogeneous matrix of its pose in coordinates of the base, (4, 4)
    :param q: where the search begins, (nv,)
    :param starts: how often it may begin: after the first time, as long as the pose is not
        reached, at positions further and further away, which are always the same for a `q`

    >>> from rbd_ros.control.motion.pose_goals import joints_for_pose
    >>> goal = robot.frame('tool0').pose(q + 0.1)
    >>> found = joints_for_pose(robot, 'tool0', goal, q)
    >>> found.distance < 1e-4, found.angle < 1e-4
    (True, True)
    """
    frame, pose = robot.frame(link), np.asarray(pose, dtype=float)
    lower, upper = robot.lower_limits, robot.upper_limits
    q = np.clip(np.array(q, dtype=float), lower, upper)
    best, least = _search(frame, pose, q, lower, upper)
    rng = np.random.default_rng(0)
    for k in range(1, starts):
        if least < ENOUGH:
            break
        # Anywhere in the end; within a turn where a joint has no limits.
        part = min(1.0, k / WHOLE_RANGE_FROM)
        low, high = np.maximum(lower, q - TURN), np.minimum(upper, q + TURN)
        start = q + part * (rng.uniform(low, high) - q)
        found, error = _search(frame, pose, start, lower, upper)
        if error < least:
            best, least = found, error
    left = _error(frame.pose(best), pose)
    return PoseGoal(best, float(np.linalg.norm(left[3:])), float(np.linalg.norm(left[:3])))


def _search(
    frame: Any, pose: FloatArray, q: FloatArray, lower: FloatArray, upper: FloatArray
) -> Tuple[FloatArray, float]:
    """Search from one start; return positions and the squared error there."""
    error, damping = _error(frame.pose(q), pose), DAMPING
    for _ in range(ITERATIONS):
        if error @ error < ENOUGH:
            break
        J = frame.jacobian(q)
        # A joint at its limit that would go beyond it takes no part.
        gradient = J.T @ error
        free = ~(((q <= lower) & (gradient < 0.0)) | ((q >= upper) & (gradient > 0.0)))
        J = J * free
        step = J.T @ np.linalg.solve(J @ J.T + damping * np.eye(6), error)
        step *= min(1.0, MAX_STEP / max(np.abs(step).max(initial=0.0), 1e-12))
        trial = np.clip(q + step, lower, upper)
        after = _error(frame.pose(trial), pose)
        if after @ after < error @ error:
            q, error, damping = trial, after, max(damping / 4.0, 1e-9)
        else:
            damping = min(4.0 * damping, 1e6)
    return q, float(error @ error)


def _error(present: FloatArray, desired: FloatArray) -> FloatArray:
    """Return rotation vector and displacement between poses, in axes of the first, (6,)."""
    turn = present[:3, :3].T @ desired[:3, :3]
    rows: Any = tuple(map(tuple, turn.tolist()))
    w, *axis = rotation_to_quaternion(rows)
    sine = float(np.linalg.norm(axis))
    angle = 2.0 * np.arctan2(sine, w)
    rotation = np.array(axis) * (angle / sine if sine > 1e-12 else 2.0)
    return np.concatenate([rotation, present[:3, :3].T @ (desired[:3, 3] - present[:3, 3])])
