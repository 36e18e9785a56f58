"""Putting a mechanism together at a start: the configuration and velocity that close its loops."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rbd_ros.contact.arrays import FloatArray
from rbd_ros.robot import Robot

#: Position error of loops that are closed [rad, m].
CLOSED = 1e-12

#: Position error that is accepted if nothing makes it smaller [rad, m].
NEARLY_CLOSED = 1e-10

#: Singular values of K below this part of the largest count as zero.
_RANK = 1e-9

#: Configurations near the one asked for that are tried, too, with these displacements.
_ELSEWHERE = (1e-3, 1e-2, 0.1, 0.1, 0.3, 0.3, 0.6, 0.6, 1.0, 1.0, 1.0, 1.0)

#: Number of configurations anywhere that are tried after those.
_ANYWHERE = 20


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
    closed, error = _close(robot, q)
    if error > NEARLY_CLOSED:
        # In a singular configuration no direction leads on, from one beside it there may be one.
        rng = np.random.default_rng(0)
        tries = [(closed, error)]
        starts = [
            robot.integrate(q, reach * rng.uniform(-1.0, 1.0, robot.nv), dt=1.0)
            for reach in _ELSEWHERE
        ]
        starts += [robot.random_configuration(rng) for _ in range(_ANYWHERE)]
        tries += [_close(robot, start) for start in starts]
        found = [each for each in tries if each[1] <= NEARLY_CLOSED]
        if not found:
            raise ValueError(_refusal(robot, *min(tries, key=lambda each: each[1])))
        closed = min((x for x, _ in found), key=lambda x: _distance(robot, q, x))
    K = np.asarray(robot.loops.closure(closed).K)
    H = np.asarray(robot.mass_matrix(closed))
    allowed = v
    if np.abs(K @ v).max(initial=0.0) > CLOSED * np.abs(v).max(initial=0.0):
        # By impulses of the constraints, as if the loops had been closed with a jerk
        root = np.linalg.inv(np.linalg.cholesky(H))
        allowed = v - root.T @ np.linalg.pinv(K @ root.T, rcond=_RANK) @ (K @ v)
    displacement = np.asarray(robot.difference(q, closed))
    return Assembly(closed, allowed, displacement, allowed - v)


def _close(robot: Robot, q: FloatArray) -> tuple[FloatArray, float]:
    """Configuration by the Levenberg-Marquardt method, and the error that is left."""
    residual, K = (np.asarray(x) for x in robot.loops.closure(q))
    error, damping = float(np.abs(residual).max(initial=0.0)), 0.0
    for _ in range(200):
        if error <= CLOSED:
            break
        if damping:
            step = K.T @ np.linalg.solve(K @ K.T + damping * np.eye(len(K)), residual)
        else:
            step = np.linalg.pinv(K, rcond=_RANK) @ residual
        step *= min(1.0, 0.5 / max(np.abs(step).max(), 1e-300))
        there = np.asarray(robot.integrate(q, -step, dt=1.0))
        ahead, K_ahead = (np.asarray(x) for x in robot.loops.closure(there))
        if np.linalg.norm(ahead) < np.linalg.norm(residual):
            q, residual, K = there, ahead, K_ahead
            error, damping = float(np.abs(residual).max()), 0.1 * damping
            damping = damping if damping > 1e-9 else 0.0
        elif damping > 1e3:
            break
        else:
            damping = max(10.0 * damping, 1e-6)
    return q, error


def _distance(robot: Robot, q: FloatArray, x: FloatArray) -> float:
    return float(np.linalg.norm(robot.difference(q, x)))


def _refusal(robot: Robot, q: FloatArray, error: float) -> str:
    model = robot.model
    residual = np.abs(robot.loops.closure(q).residual)
    first = np.cumsum([0] + [6 - loop.joint.nv for loop in model.loops])
    open_by = [residual[a:b].max(initial=0.0) for a, b in zip(first, first[1:])]
    name = model.loops[int(np.argmax(open_by))].name
    return (
        f'the loops of {model.name!r} cannot be closed: in the closest assembly found, loop joint '
        f'{name!r} is open by {error:.3g} (m or rad); begin nearer to an assembly, or check the '
        "places of the loop's frames"
    )
