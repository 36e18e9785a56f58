# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Outcomes of followed trajectories: reached, off the path, dropped, canceled.

The control loop judges, as it alone sees every state; a client that waits looks at the outcome on
the executor. Trajectories without tolerances that nobody waits for are not looked at.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Optional, Tuple

import numpy as np

from rbd_ros.control import DesiredMotion, MotionPlan
from rbd_ros.control.motion.tolerances import Tolerances
from rbd_ros.nodes.torque.motion_reference import Motion
from rbd_ros.nodes.torque.state_input import MeasuredState

REACHED, OFF_PATH, OFF_GOAL = 'reached', 'off path', 'off goal'
DROPPED, CANCELED = 'dropped', 'canceled'
VIOLATIONS = (OFF_PATH, OFF_GOAL)


class Outcome(NamedTuple):
    """Outcome of following a trajectory.

    :param kind: one of the words above
    :param text: what happened, for the log and for its sender
    """

    kind: str
    text: str


class Moment(NamedTuple):
    """Copy of the desired and measured values at a state, for feedback.

    :param time: time of the state [ns]
    :param path_time: time of the trajectory [s]
    :param desired: position, velocity and acceleration of its joints, (3, m)
    :param actual: position and velocity, (2, m)
    :param error: desired less actual position and velocity, (2, m)
    """

    time: int
    path_time: float
    desired: np.ndarray
    actual: np.ndarray
    error: np.ndarray


class Following:
    """An active trajectory and its tolerances.

    :param plan: the plan, which `DesiredMotion.follow` has taken
    :param tolerances: how far its joints may be from it
    :param goal: handle of the client that waits for the outcome; None: nobody
    """

    def __init__(self, plan: MotionPlan, tolerances: Tolerances, goal: Any = None):
        self.plan, self.tolerances, self.goal = plan, tolerances, goal
        #: How it has ended; None while it is under way
        self.outcome: Optional[Outcome] = None
        #: Whether its sender has asked to cancel it
        self.canceled = False
        #: The last state; None before it began, or if nobody waits
        self.moment: Optional[Moment] = None
        self._arrived: Optional[float] = None  # when its end was reached [s]

    def judge(self, motion: DesiredMotion, state: MeasuredState, desired: Motion) -> None:
        """Judge a state; the control loop calls it for each.

        :param motion: the desired motion, after `advance`
        :param state: the measured state
        :param desired: what `advance` returned
        """
        if self.outcome is not None:
            return
        stage = motion.stage(self.plan)
        if stage == 'scheduled':
            return
        joints = self.plan.joints
        q, v, _ = desired
        error = motion.wraparound(q - state.q)[joints]
        velocity_error = (v - state.v)[joints]
        if self.goal is not None:
            self.moment = Moment(
                state.time,
                motion.path_time(self.plan),
                np.array(desired)[:, joints],
                np.array([state.q, state.v])[:, joints],
                np.array([error, velocity_error]),
            )
        if stage == 'followed':
            self._arrived = None
            beyond = self.tolerances.off_path(error, velocity_error)
            if beyond:
                self._end(OFF_PATH, f'{beyond}; the joints stop and hold their position')
                motion.stop_at(state.q, state.v, self.plan)
        elif self.canceled:
            self._end(CANCELED, 'canceled; the joints hold their position')
        elif stage == 'over':
            self._end(DROPPED, 'preempted: the trajectory was replaced or stopped before its end')
        else:
            self._judge_goal(motion, state, error)

    def _judge_goal(self, motion: DesiredMotion, state: MeasuredState, error: np.ndarray) -> None:
        if self._arrived is None:
            self._arrived = motion.clock
        beyond = self.tolerances.off_goal(error, state.v[self.plan.joints])
        if not beyond:
            self._end(REACHED, 'the goal is reached')
        elif motion.clock - self._arrived > self.tolerances.goal_time:
            self._end(
                OFF_GOAL,
                f'{beyond}, {self.tolerances.goal_time:g} s after the end of the trajectory; the '
                'joints stop and hold their position',
            )
            motion.stop_at(state.q, state.v, self.plan)

    def drop(self, text: str) -> None:
        """Note that it has ended for a reason that no state shows; the first outcome counts."""
        if self.outcome is None:
            self._end(DROPPED, text)

    def _end(self, kind: str, text: str) -> None:
        self.outcome = Outcome(kind, text)


class Followed:
    """All trajectories that are looked at: replaced on the executor, read by the control loop."""

    def __init__(self) -> None:
        #: Those that are looked at, usually none
        self.present: Tuple[Following, ...] = ()

    def add(self, following: Following) -> None:
        """Add a goal; goals that have ended without a waiting client are dropped."""
        self.present = (
            *(each for each in self.present if each.goal is not None or each.outcome is None),
            following,
        )

    def waited_for(self) -> Tuple[Following, ...]:
        """Return those whose outcome somebody waits for."""
        return tuple(each for each in self.present if each.goal is not None)

    def remove(self, following: Following) -> None:
        """Remove a goal."""
        self.present = tuple(each for each in self.present if each is not following)

    def interrupted(self, motion: DesiredMotion, text: str) -> None:
        """Note why the motion has dropped some, if it has; called by the control loop.

        :param motion: the desired motion
        :param text: what became of it
        """
        for each in self.present:
            if not each.canceled and motion.stage(each.plan) == 'over':
                each.drop(text)

    def judge(
        self, motion: DesiredMotion, state: MeasuredState, desired: Motion
    ) -> Tuple[Outcome, ...]:
        """Judge a state.

        :return: outcomes that are new
        """
        before = [each for each in self.present if each.outcome is None]
        for each in before:
            each.judge(motion, state, desired)
        if before and all(each.goal is None and each.outcome is not None for each in self.present):
            self.present = ()  # nothing is left to look at
        return tuple(each.outcome for each in before if each.outcome is not None)
