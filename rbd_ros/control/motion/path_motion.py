# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A motion along a path, which changes to another path, stops and resumes without a jump."""

from __future__ import annotations

from enum import Enum
from typing import Any, Optional, Union

import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.control.motion.blending import Bounds, Coasting, Offset, Ramp, Still
from rbd_ros.control.motion.trajectory import JointTrajectory
from rbd_ros.robot.wraparound import Wraparound

Path = Union[JointTrajectory, Still, Coasting]


class Rest(Enum):
    """How a motion has come to rest."""

    STOPPED = 'stopped'  # by a ramp, somewhere on the path
    ARRIVED = 'arrived'  # at the end of the path


class PathMotion:
    """Position, velocity and acceleration along a path with its own time.

    :param q: initial position, at rest, (n,)
    :param bounds: limits of position and velocity
    :param wraparound: continuous joints; a path on another turn begins at the nearest turn
    """

    q: FloatArray  # (n,), read-only
    v: FloatArray
    a: FloatArray
    path: Path
    s: float  # present time of the path [s]
    end: float  # end time of the path [s]
    offset: Optional[Offset]  # difference to the previous motion; None: none
    resting: bool  # whether it is at rest, and steps change nothing

    def __init__(self, q: Any, bounds: Bounds, wraparound: Wraparound):
        self._limits, self._wraparound = bounds, wraparound
        self._rest: FloatArray = np.zeros(np.shape(q))
        self._rest.flags.writeable = False
        self.rest_at(q)

    def rest_at(self, q: Any) -> None:
        """Hold a position, (n,)."""
        q = np.array(q, dtype=float)
        q.flags.writeable = False
        self.q, self.v, self.a = q, self._rest, self._rest
        self.path, self.s, self.end = Still(q), 0.0, 0.0
        self._bounds = self._limits
        self.offset = None
        self._ramp: Optional[Ramp] = None
        self.resting = True

    @property
    def stopping(self) -> bool:
        """True if a ramp brings it to rest."""
        return self._ramp is not None and self._ramp.stops

    def enter(
        self, path: Path, s: float, bounds: Bounds, ramp_time: float, at_rest: bool = False
    ) -> None:
        """Continue along another path from its time `s`, starting from the present motion.

        The motion keeps its velocity, or, `at_rest`, starts from rest with a `Ramp`.

        :param bounds: limits of the path
        :param ramp_time: duration of a ramp [s]
        """
        q, v, _ = path.sample(s)
        self._ramp = Ramp.up(ramp_time) if at_rest else None
        old = self._wraparound.nearest(self.q, q), v if at_rest else self.v
        self.offset = Offset.between(old, (q, v), bounds, ramp_time)
        self._bounds = bounds
        self.path, self.end, self.s = path, path.end_time, s
        self.resting = False

    def resume_at(self, q: FloatArray, ramp_time: float) -> None:
        """Continue along the same path from another position, at rest, (n,)."""
        self.q, self.v, self.a = q, self._rest, self._rest
        self.enter(self.path, self.s, self._bounds, ramp_time, at_rest=True)

    def coast(self, path: Coasting, ramp_time: float) -> None:
        """Stop along a path that begins at the present position."""
        self.rest_at(self.q)
        self.path, self.end = path, path.end_time
        self._ramp = Ramp.down(None, ramp_time)
        self.q, self.v, self.a = path.sample(0.0)
        self.resting = False

    def slow_down(self, ramp_time: float) -> None:
        """Stop on the path."""
        self._ramp = Ramp.down(self._ramp, ramp_time)

    def move(self, step: float) -> Optional[Rest]:
        """Advance by `step` of the motion's clock [s].

        :return: how it has come to rest; None while it moves
        """
        if self.resting or step <= 0.0:
            return None
        ramp = self._ramp
        g, dg = 1.0, 0.0
        if ramp is not None:
            step, g, dg = ramp.advance(step)
        offset = self.offset
        if offset is None:
            self.s += step
            q, v, a = self.path.sample(self.s)
        else:
            offset, step = offset.after(step)
            self.s += step
            q, v, a = offset.added_to(*self.path.sample(self.s))
            self.offset = None if offset.over else offset
        if ramp is not None:
            v, a = g * v, g * g * a + dg * v
            if ramp.over:
                self._ramp = None
        self.q, self.v, self.a = q, v, a
        if ramp is not None and ramp.over and ramp.stops:
            return Rest.STOPPED
        if self.offset is None and self._ramp is None and self.s >= self.end:
            return Rest.ARRIVED
        return None
