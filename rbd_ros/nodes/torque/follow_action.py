# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The action FollowJointTrajectory of control_msgs, which MoveIt uses to drive a controller.

It is offered if that package is installed. Goals are planned like trajectories of the topic
(trajectory_reference.py) and judged in the control loop (following.py). This module, on the
executor, reads tolerances and sends feedback and results a few times a second.

An invalid goal is accepted and aborted, since a rejection has no field for a reason.
"""

from __future__ import annotations

from functools import partial
import time
from typing import Any, List, Optional, Protocol, Tuple

from rclpy.action import CancelResponse, GoalResponse

from rbd_ros.control import TrajectoryError
from rbd_ros.control.motion.tolerances import GivenTolerance, ToleranceError, Tolerances
from rbd_ros.nodes.common.communication import message_type, STEADY_CLOCK
from rbd_ros.nodes.common.deferred_response import LongRunningActionServer
from rbd_ros.nodes.common.diagnostics import OK, WARN
from rbd_ros.nodes.messages.conversions import representable
from rbd_ros.nodes.messages.text import readable
from rbd_ros.nodes.torque.following import (
    CANCELED,
    Followed,
    Following,
    Moment,
    OFF_GOAL,
    OFF_PATH,
    REACHED,
)

ACTION = '~/follow_joint_trajectory'
SUBJECT = 'goal'

# Constants of the action's result.
SUCCESSFUL, INVALID_GOAL, INVALID_JOINTS, OLD_HEADER_TIMESTAMP = 0, -1, -2, -3
PATH_TOLERANCE_VIOLATED, GOAL_TOLERANCE_VIOLATED = -4, -5
CODES = {
    REACHED: SUCCESSFUL,
    CANCELED: SUCCESSFUL,
    OFF_PATH: PATH_TOLERANCE_VIOLATED,
    OFF_GOAL: GOAL_TOLERANCE_VIOLATED,
}

PERIOD = 0.05  # polling period of goals, for feedback and results [s]
NANOSECONDS = 1_000_000_000
LAST_TURNS, TURN = 10, 0.02  # turns of the executor for results at the end, each [s]
FAREWELL = 0.1  # time for the delivery of results [s]


class Driver(Protocol):
    """Follower of the action's trajectories."""

    followed: Followed
    joint_names: Tuple[str, ...]
    partial: bool  # whether trajectories may omit joints

    def tolerances(self) -> Tolerances:
        """Return the tolerances of the parameters."""

    def follow(
        self,
        names: Any,
        times: Any,
        positions: Any,
        velocities: Any,
        accelerations: Any,
        stamp: int,
        tolerances: Tolerances,
        goal: Any,
    ) -> Following:
        """Follow a trajectory; raises TrajectoryError."""

    def cancel(self, following: Following) -> None:
        """Stop a followed trajectory smoothly."""

    def report_rejection(self, error: Exception) -> None:
        """Report a rejected trajectory."""

    def unrecoverable_reason(self) -> str:
        """Return why no trajectory can continue without states; empty if one can."""


class FollowGoals:
    """Server of the action.

    :param node: the torque node
    :param driver: follows the trajectories
    :param kind: class of the action
    """

    def __init__(self, node: Any, driver: Driver, kind: Any):
        self._node, self._driver, self._kind = node, driver, kind
        self._ending = False
        self._timer = node.create_timer(PERIOD, self._on_timer, clock=STEADY_CLOCK)
        self._timer.cancel()
        self._server = LongRunningActionServer(
            node,
            kind,
            ACTION,
            lambda goal: None,
            goal_callback=self._on_goal,
            handle_accepted_callback=self._on_accepted,
            cancel_callback=self._on_cancel,
        )

    # -- requests ---------------------------------------------------------------------------------

    def _on_goal(self, request: Any) -> GoalResponse:
        """Accept all goals while the node answers states."""
        problem = 'the node is ending' if self._ending else ''
        if not problem and not self._node.answering:
            problem = 'there is no usable state of the robot'
        if problem:
            self._report(WARN, f'goal rejected: {problem}', 'goal rejected')
            return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    def _on_accepted(self, handle: Any) -> None:
        handle.execute(None)
        names = handle.request.trajectory.joint_names
        try:
            self._follow(handle)
        except (TrajectoryError, ToleranceError, ValueError) as error:
            self._driver.report_rejection(error)
            self._finish(handle, 'abort', _code(error, names, self._driver), str(error))
        # a goal must get a result
        except Exception as error:
            self._driver.report_rejection(error)
            self._finish(handle, 'abort', INVALID_GOAL, f'{type(error).__name__}: {error}')

    def _follow(self, handle: Any) -> None:
        goal = handle.request
        multiple = getattr(goal, 'multi_dof_trajectory', None)
        if multiple is not None and (multiple.joint_names or multiple.points):
            raise TrajectoryError(
                'multi_dof_trajectory is not empty; give joints of one degree of freedom in '
                'trajectory'
            )
        if not goal.trajectory.points:
            raise TrajectoryError('the trajectory has no points; to stop, cancel the goal')
        own = self._driver.tolerances().of_joints(goal.trajectory.joint_names)
        tolerances = own.overridden(
            _given(goal.path_tolerance),
            _given(goal.goal_tolerance),
            goal.goal_time_tolerance.sec + goal.goal_time_tolerance.nanosec / NANOSECONDS,
        )
        stamp = goal.trajectory.header.stamp
        self._driver.follow(
            *_arrays(goal.trajectory),
            stamp.sec * NANOSECONDS + stamp.nanosec,
            tolerances,
            handle,
        )
        self._report(OK, 'following a goal', f'following {id(handle)}')
        self._timer.reset()

    def _on_cancel(self, handle: Any) -> CancelResponse:
        """Cancel the active goal; its result follows when the robot has stopped."""
        for following in self._driver.followed.waited_for():
            if following.goal is handle:
                self._driver.cancel(following)
                return CancelResponse.ACCEPT
        return CancelResponse.REJECT

    # -- feedback and results ---------------------------------------------------------------------

    def _on_timer(self) -> None:
        waiting = self._driver.followed.waited_for()
        if not waiting:
            self._timer.cancel()
            return
        lost = self._driver.unrecoverable_reason()
        for following in waiting:
            if lost:
                following.drop(lost)
            if following.outcome is not None:
                self._conclude(following)
            elif following.moment is not None:
                following.goal.publish_feedback(self._feedback(following, following.moment))

    def _conclude(self, following: Following) -> None:
        self._driver.followed.remove(following)
        kind, text = following.outcome
        event = {REACHED: 'succeed', CANCELED: 'canceled'}.get(kind, 'abort')
        level = OK if event != 'abort' else WARN
        self._report(level, f'goal {kind}: {text}', kind)
        self._finish(following.goal, event, CODES.get(kind, INVALID_GOAL), text)

    def _finish(self, handle: Any, event: str, code: int, text: str) -> None:
        self._server.finish(handle, partial(self._result, event=event, code=code, text=text))

    def _result(self, handle: Any, event: str, code: int, text: str) -> Any:
        result = self._kind.Result()
        result.error_code = code
        if hasattr(result, 'error_string'):
            result.error_string = readable(text)
        if event == 'canceled' and not handle.is_cancel_requested:
            event = 'abort'
        getattr(handle, event)()
        return result

    def _feedback(self, following: Following, moment: Moment) -> Any:
        feedback = self._kind.Feedback()
        stamp = representable(moment.time)
        feedback.header.stamp.sec, feedback.header.stamp.nanosec = divmod(stamp, NANOSECONDS)
        feedback.joint_names = list(following.tolerances.joint_names)
        q, v, a = moment.desired.tolist()
        feedback.desired.positions, feedback.desired.velocities = q, v
        feedback.desired.accelerations = a
        feedback.actual.positions, feedback.actual.velocities = moment.actual.tolist()
        feedback.error.positions, feedback.error.velocities = moment.error.tolist()
        passed = divmod(max(round(moment.path_time * NANOSECONDS), 0), NANOSECONDS)
        for point in (feedback.desired, feedback.actual, feedback.error):
            point.time_from_start.sec, point.time_from_start.nanosec = passed
        return feedback

    def _report(self, level: Any, text: str, code: str) -> None:
        if level == OK:
            self._node.diagnostics.condition(SUBJECT, OK, text, code=code)
        else:
            self._node.diagnostics.event(SUBJECT, level, text, code=code)

    def drop(self, reason: str) -> int:
        """Send results of all goals; return their number."""
        waiting = self._driver.followed.waited_for()
        for following in waiting:
            following.drop(reason)
            self._conclude(following)
        return len(waiting)

    def stop(self) -> None:
        """Send results of all goals when the node ends."""
        self._ending = True
        self._timer.cancel()
        waiting = self.drop('the node was stopped')
        executor = self._node.executor
        if waiting and executor is not None:
            # Turns to set the results, and to send them.
            for _ in range(LAST_TURNS):
                executor.spin_once(timeout_sec=TURN)
            time.sleep(FAREWELL)  # messages must leave before the middleware ends


def offer_goals(node: Any, driver: Driver) -> Optional[FollowGoals]:
    """Return the server of the action; None if control_msgs is not installed."""
    declaration = node.interface.action(ACTION)
    try:
        kind = message_type(declaration.kind)
    except (ImportError, AttributeError):
        return None
    return FollowGoals(node, driver, kind)


def _given(tolerances: Any) -> List[GivenTolerance]:
    return [(each.name, each.position, each.velocity) for each in tolerances]


def _arrays(trajectory: Any) -> Tuple[Any, ...]:
    """Return the names, times, positions, velocities and accelerations of a message."""
    points = trajectory.points
    times = [p.time_from_start.sec + p.time_from_start.nanosec / NANOSECONDS for p in points]
    rows = ([getattr(p, name) for p in points] for name in ('velocities', 'accelerations'))
    optional = (values if any(len(row) for row in values) else None for values in rows)
    return trajectory.joint_names, times, [p.positions for p in points], *optional


def _code(error: Exception, names: Any, driver: Driver) -> int:
    """Return the error code of an invalid goal."""
    if getattr(error, 'code', '') == 'trajectory in the past':
        return OLD_HEADER_TIMESTAMP
    complete = set(names) == set(driver.joint_names) or (names and driver.partial)
    known = complete and set(names) <= set(driver.joint_names) and len(set(names)) == len(names)
    if getattr(error, 'unknown_joint', False) or not known:
        return INVALID_JOINTS
    return INVALID_GOAL
