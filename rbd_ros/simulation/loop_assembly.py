"""Putting a mechanism together at a start: the configuration and velocity that close its loops."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rbd_ros.algorithms.closed_loops.loop_assembly import LoopClosureError
from rbd_ros.contact.arrays import FloatArray
from rbd_ros.robot import Robot

#: Velocity error, relative to the maximum velocity, of one that keeps the loops closed.
CLOSED = 1e-12

#: Singular values of K below this part of the largest count as zero.
_RANK = 1e-9

#: Number of other configurations that assembly begins with, if it fails from the one asked for.
_STARTS = 40


class Assembly(NamedTuple):
    """A start with its loops closed.

    :param q: configuration, (nq,)
    :param v: velocity, (nv,)
    :param displacement: from what was asked for, in velocity variables, (nv,) [rad, m]
    :param change: of the velocity, (nv,) [rad/s, m/s]
    """

    q: FloatArray
    v: FloatArray
    displacement: FloatArray
    change: FloatArray


def assemble_loops(robot: Robot, q: FloatArray, v: FloatArray) -> Assembly:
    """Find the assembly that Newton's method leads to, and the velocity projected onto it.

    :param robot: the robot
    :param q: configuration, (nq,)
    :param v: velocity, (nv,)
    :raises ValueError: if none was found, with the loop that stays open and by how much
    """
    try:
        closed = robot.loops.project(q, starts=_STARTS)
    except LoopClosureError as error:
        raise ValueError(
            f'the loops of {robot.name!r} cannot be closed: in the closest assembly found, loop '
            f'joint {error.assembly.loop!r} is open by {error.assembly.distance:.3g} (m or rad); '
            "begin nearer to an assembly, or check the places of the loop's frames"
        ) from None
    K = np.asarray(robot.loops.closure(closed).K)
    H = np.asarray(robot.mass_matrix(closed))
    allowed = v
    if np.abs(K @ v).max(initial=0.0) > CLOSED * np.abs(v).max(initial=0.0):
        # By impulses of the constraints, as if the loops had been closed with a jerk
        root = np.linalg.inv(np.linalg.cholesky(H))
        allowed = v - root.T @ np.linalg.pinv(K @ root.T, rcond=_RANK) @ (K @ v)
    displacement = np.asarray(robot.difference(q, closed))
    return Assembly(closed, allowed, displacement, allowed - v)
