# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Torque nodes of robots with loops: states of all joints from the measured ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Optional, Sequence

import numpy as np

from rbd_ros.algorithms.closed_loops.loop_assembly import LoopClosureError
from rbd_ros.control.closed_loop_state import LoopClosing
from rbd_ros.nodes.common.diagnostics import Diagnostics, WARN
from rbd_ros.nodes.torque.state_input import MeasuredState, StateInput, SUBJECT


class ClosingStateInput(StateInput):
    """Reader of joint states that computes unmeasured joints by closing the loops.

    A state is rejected if it contradicts the loops, or if no closed configuration is found.

    :param closing: the robot's loops
    :param diagnostics: reports rejected messages
    :param timeout: age at which a joint's state expires [s]; 0 or less: never
    :param optional_joints: joints that may be absent, besides dependent ones
    :param margin: tolerance of the position limits [rad or m]
    """

    def __init__(
        self,
        closing: LoopClosing,
        diagnostics: Diagnostics,
        timeout: float,
        optional_joints: Sequence[str] = (),
        margin: float = np.inf,
    ):
        names = closing.robot.joint_names
        followers = [names[k] for k in closing.dependent]
        optional = dict.fromkeys((*optional_joints, *followers))
        super().__init__(closing.robot, diagnostics, timeout, list(optional), margin)
        self._closing, self.moved = closing, closing.independent
        self._closed: Optional[MeasuredState] = None

    def outcome(self, status: int, now: float, source: Any = None) -> Optional[MeasuredState]:
        """Report the outcome of the last message; see `StateInput.outcome`."""
        state = super().outcome(status, now, source)
        if state is None:
            return None
        seen, age = self._memory.seen, self._memory.max_age
        seen = now - seen < age if np.isfinite(age) else np.isfinite(seen)
        try:
            q, v, _ = self._closing.complete(state.q, state.v, seen)
        except (ValueError, np.linalg.LinAlgError) as error:
            self.rejected += 1
            self.last_problem = str(error)
            code = 'loops open' if isinstance(error, LoopClosureError) else 'loops contradicted'
            self._diagnostics.event(SUBJECT, WARN, f'message rejected: {error}', code=code)
            return None
        self._closed = replace(state, q=q, v=v)
        return self._closed

    @property
    def usable(self) -> Optional[MeasuredState]:
        """Last usable state, of all joints."""
        return self._closed
