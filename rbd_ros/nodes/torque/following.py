# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Outcomes of followed trajectories: reached, off the path, dropped, canceled.

The control loop judges, since only it sees every state; the executor reads the outcome for a
client. Trajectories without tolerances and without a client are not judged.
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

    :param kind: one of the constants above
    :param text: description, for the log and the client
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

    :param plan: plan that `DesiredMotion.follow` has accepted
    :param tolerances: tolerances of its joints
    :param goal: handle of the waiting client; None: none
    """

    def __init__(self, plan: MotionPlan, tolerances: Tolerances, goal: Any = None):
        self.plan, self.tolerances, self.goal = plan, tolerances, goal
        #: The outcome; None while active
        self.outcome: Optional[Outcome] = None
        #: Whether the client has requested to cancel it
        self.canceled = False
        #: The last state; None before the begin, or without a client
        self.moment: Optional[Moment] = None
        self._arrived: Optional[float] = None  # time at its end [s]

    def judge(self, motion: DesiredMotion, state: MeasuredState, desired: Motion) -> None:
        """Judge a state; called in the control loop.

        :param motion: the desired motion, after `advance`
        :param state: the measured state
        :param desired: result of `advance`
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
        """Set an outcome that no state shows; the first outcome counts."""
        if self.outcome is None:
            self._end(DROPPED, text)

    def _end(self, kind: str, text: str) -> None:
        self.outcome = Outcome(kind, text)


class Followed:
    """All judged trajectories: replaced on the executor, read by the control loop."""

    def __init__(self) -> None:
        #: Judged trajectories, usually none
        self.present: Tuple[Following, ...] = ()

    def add(self, following: Following) -> None:
        """Add a goal; drop ended ones without a waiting client."""
        self.present = (
            *(each for each in self.present if each.goal is not None or each.outcome is None),
            following,
        )

    def waited_for(self) -> Tuple[Following, ...]:
        """Return those with a waiting client."""
        return tuple(each for each in self.present if each.goal is not None)

    def remove(self, following: Following) -> None:
        """Remove a goal."""
        self.present = tuple(each for each in self.present if each is not following)

    def interrupted(self, motion: DesiredMotion, text: str) -> None:
        """Set the outcome of trajectories that the motion has dropped; in the control loop.

        :param motion: the desired motion
        :param text: reason
        """
        for each in self.present:
            if not each.canceled and motion.stage(each.plan) == 'over':
                each.drop(text)

    def judge(
        self, motion: DesiredMotion, state: MeasuredState, desired: Motion
    ) -> Tuple[Outcome, ...]:
        """Judge a state.

        :return: new outcomes
        """
        before = [each for each in self.present if each.outcome is None]
        for each in before:
            each.judge(motion, state, desired)
        if before and all(each.goal is None and each.outcome is not None for each in self.present):
            self.present = ()
        return tuple(each.outcome for each in before if each.outcome is not None)
