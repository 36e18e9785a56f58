# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""State of a robot with loops from the states of some of its joints (book 8.8, 8.11)."""

from __future__ import annotations

from typing import List, NamedTuple, Optional

import numpy as np

from rbd_ros.algorithms.closed_loops.loop_assembly import assemble_loops, LoopClosureError
from rbd_ros.array_types import BoolArray, FloatArray
from rbd_ros.robot import Robot
from rbd_ros.robot.wraparound import Wraparound

#: Tolerance between a measured position and that of the closed loops [rad, m].
AGREEMENT = 0.1
#: Relative tolerance of singular values of the loops' Jacobian: below, the moving joint is near a
#: position from which the others may move in either direction.
TOLERANCE = 1e-6
#: Distance from the first configuration within which joints are selected [rad, m].
NEARBY = 0.2
#: Start values for the first assembly, and maximum number of Newton steps.
STARTS, STEPS = 40, 30


class ClosedState(NamedTuple):
    """Positions and velocities of all joints.

    :param q: positions, (nv,) [rad, m]
    :param v: velocities, (nv,) [rad/s, m/s]
    :param G: velocities of all joints per velocity of the independent ones, (nv, n - r)
    """

    q: FloatArray
    v: FloatArray
    G: FloatArray


class LoopClosing:
    """Completes measured states of a robot with loops, whose joints have one DoF each.

    The number of independent joints is that of the mechanism's DoFs: actuated ones first, since
    they are measured, then others if necessary.

    :raises LoopClosureError: if the loops cannot be closed
    """

    def __init__(self, robot: Robot):
        self.robot = robot
        n, names = robot.nv, robot.joint_names
        self._wraparound = Wraparound(robot.position_periods)
        #: Indices of actuated degrees of freedom
        self.actuated = [names.index(name) for name in robot.model.actuated_joints]
        #: Last closed configuration, (nv,)
        self.q: FloatArray = robot.loops.project(robot.neutral(), starts=STARTS)
        self.home = self.q.copy()
        rows = np.asarray(robot.loops.closure(self._ordinary_configuration()).K)
        #: Indices of independent degrees of freedom, (n - r,)
        self.independent: List[int] = []
        rank = _rank(rows)
        for k in (*self.actuated, *(k for k in range(n) if k not in self.actuated)):
            more = np.vstack([rows, np.eye(n)[k]])
            if _rank(more) > rank:
                rows, rank = more, rank + 1
                self.independent.append(k)
        self.dependent = [k for k in range(n) if k not in self.independent]

    def _ordinary_configuration(self) -> FloatArray:
        """Return a closed configuration near the first one that is not a dead point.

        At a dead point, a motor moves nothing and would not count as independent.
        """
        away = np.random.default_rng(1).uniform(-NEARBY, NEARBY, len(self.q))
        try:
            return np.asarray(self.robot.loops.project(self.q + away, starts=STARTS))
        except LoopClosureError:
            return self.q

    @property
    def is_underactuated(self) -> bool:
        """True if the mechanism has motions that the actuators do not control (book 8.12)."""
        return not set(self.independent) <= set(self.actuated)

    def complete(
        self, q: FloatArray, v: FloatArray, measured: Optional[BoolArray] = None
    ) -> ClosedState:
        """Return the state of all joints that closes the loops, from the independent joints.

        :param q: positions, (nv,); measured ones of dependent joints must be near the solution,
            and select the assembly in the first call
        :param v: velocities, (nv,), of which those of the independent joints count
        :param measured: whether each joint is measured, (nv,); None: the independent ones only
        :raises LoopClosureError: if no configuration is found; the last one is kept
        :raises ValueError: if a measured position contradicts the loops
        """
        seen = np.zeros(len(q), dtype=bool) if measured is None else np.asarray(measured, bool)
        starts = [np.where(seen, q, self.q), self.q, self.home]
        found = None
        for start in starts:
            begin = np.array(start, dtype=float)
            begin[self.independent] = np.asarray(q)[self.independent]
            found = assemble_loops(
                self.robot.model, begin, self.independent, 0, STEPS, self.robot.loops.closure
            )
            if found.is_closed:
                break
        if found is None or not found.is_closed or not np.isfinite(found.q).all():
            assert found is not None
            raise LoopClosureError(found)
        off = np.abs(self._wraparound(found.q - q)) * seen
        if off.max(initial=0.0) > AGREEMENT:
            k = int(off.argmax())
            raise ValueError(
                f'position of joint {self.robot.joint_names[k]!r} is {q[k]:.4g}, but the closed '
                f'loops require {found.q[k]:.4g}'
            )
        G = self.velocities(found.q)
        self.q = found.q
        return ClosedState(found.q, G @ np.asarray(v)[self.independent], G)

    def velocities(self, q: FloatArray) -> FloatArray:
        """Return the matrix G from independent to all velocities: K G = 0, (nv, n - r)."""
        K = np.asarray(self.robot.loops.closure(q).K)
        G = np.zeros((K.shape[1], len(self.independent)))
        G[self.independent, range(len(self.independent))] = 1.0
        G[self.dependent] = -self._solve(K, K[:, self.independent])
        return G

    def bias(self, q: FloatArray, v: FloatArray) -> FloatArray:
        """Return the accelerations g of all joints if the independent ones have none, (nv,)."""
        found = self.robot.loops.constraints(q, v)
        g = np.zeros(len(q))
        g[self.dependent] = self._solve(np.asarray(found.K), np.asarray(found.k))
        return g

    def _solve(self, K: FloatArray, right: FloatArray) -> FloatArray:
        solution = np.linalg.lstsq(K[:, self.dependent], right, rcond=TOLERANCE)[0]
        return np.asarray(solution, dtype=float)


def _rank(rows: FloatArray) -> int:
    values = np.linalg.svd(rows, compute_uv=False)
    return int(np.count_nonzero(values > TOLERANCE * values.max(initial=0.0)))
