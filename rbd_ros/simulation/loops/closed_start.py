# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Assembly of a mechanism at the start: the configuration and velocity that close its loops."""

from __future__ import annotations

from typing import List, NamedTuple, Tuple

import numpy as np

from rbd_ros.algorithms.closed_loops.loop_assembly import cure_of_rounding, LoopClosureError
from rbd_ros.array_types import FloatArray
from rbd_ros.robot import Robot

#: Maximum velocity error of closed loops, relative to the maximum velocity.
CLOSED = 1e-12

#: Singular values of K below this part of the largest count as zero.
_RANK = 1e-9

#: Distance from the start at which constraints are tested for redundancy [rad, m]: parallel axes
#: are redundant everywhere, a singular configuration only locally.
_ASIDE = 0.3

#: Singular values of one loop's rows of K, relative to its largest, between rounding and design:
#: constraints that more digits in the model would make redundant. A right angle with five digits
#: is wrong by 4e-6.
_ROUNDING, _BLUNDER = 1e-12, 1e-5

#: Number of other initial configurations of the assembly, if it fails from the given one.
_STARTS = 40


class ClosedStart(NamedTuple):
    """A start with its loops closed.

    :param q: configuration, (nq,)
    :param v: velocity, (nv,)
    :param displacement: from the requested configuration, in velocity variables, (nv,) [rad, m]
    :param change: of the velocity, (nv,) [rad/s, m/s]
    :param rounded: names of the loops with a constraint that is redundant up to a small part, and
        that part
    """

    q: FloatArray
    v: FloatArray
    displacement: FloatArray
    change: FloatArray
    rounded: Tuple[Tuple[str, float], ...]


def close_start(robot: Robot, q: FloatArray, v: FloatArray) -> ClosedStart:
    """Return the assembly that Newton's method finds, and the velocity projected onto it.

    :param q: configuration, (nq,)
    :param v: velocity, (nv,)
    :raises ValueError: if none was found, with the open loop and its distance
    """
    try:
        closed = robot.loops.project(q, starts=_STARTS)
    except LoopClosureError as error:
        raise ValueError(
            f'the loops of {robot.name!r} cannot be closed: in the closest assembly found, loop '
            f'joint {error.assembly.loop!r} is open by {error.assembly.distance:.3g} (m or rad)'
            + (
                cure_of_rounding(error.assembly)
                or '; start nearer to an assembly, or check the frames of the loop'
            )
        ) from None
    K = np.asarray(robot.loops.closure(closed).K)
    H = np.asarray(robot.mass_matrix(closed))
    allowed = v
    if np.abs(K @ v).max(initial=0.0) > CLOSED * np.abs(v).max(initial=0.0):
        # By impulses of the constraints, as if the loops had been closed with a jerk
        root = np.linalg.inv(np.linalg.cholesky(H))
        allowed = v - root.T @ np.linalg.pinv(K @ root.T, rcond=_RANK) @ (K @ v)
    displacement = np.asarray(robot.difference(q, closed))
    return ClosedStart(closed, allowed, displacement, allowed - v, rounded_loops(robot, closed, K))


def rounded_loops(robot: Robot, q: FloatArray, K: FloatArray) -> Tuple[Tuple[str, float], ...]:
    """Return loops with a constraint that is redundant up to a part that rounding may explain.

    Such constraints contradict each other as soon as the loop moves, and lock it.

    :param q: configuration, (nq,)
    :param K: Jacobian of the constraints there, (n^c, nv)
    :return: names of the loops, and the largest such part of each
    """
    _, sizes, directions = np.linalg.svd(K)
    free = directions[np.count_nonzero(sizes > _BLUNDER * sizes.max(initial=0.0)) :].sum(axis=0)
    most = np.abs(free).max(initial=0.0)
    if most == 0.0:
        return ()
    aside = np.asarray(robot.integrate(q, _ASIDE / most * free, 1.0))
    rows = np.asarray(robot.loops.closure(aside).K)
    found: List[Tuple[str, float]] = []
    first = 0
    for loop in robot.model.loops:
        count = 6 - loop.joint.nv
        sizes = np.linalg.svd(rows[first : first + count], compute_uv=False)
        first += count
        parts = sizes / max(sizes.max(initial=0.0), np.finfo(float).tiny)
        parts = parts[(parts > _ROUNDING) & (parts < _BLUNDER)]
        if len(parts):
            found.append((loop.name, float(parts.max())))
    return tuple(found)
