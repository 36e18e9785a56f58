# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The action SimulateSteps of `simulation_interfaces`: steps with feedback after each."""

from __future__ import annotations

import contextlib
from functools import partial
import time
from typing import Any, Optional, Tuple

from rclpy.action import CancelResponse, GoalResponse

from rbd_ros.nodes.common.communication import STEADY_CLOCK
from rbd_ros.nodes.common.deferred_response import DeferredResponse, LongRunningActionServer
from rbd_ros.nodes.messages.text import readable

ACTION = '~/simulate_steps'
OK, FAILED = 1, 4
PERIOD = 0.02  # polling period of the steps [s]
LAST_TURNS, TURN = (
    10,
    0.02,
)  # for results of goals at the end: turns, each [s]
MAX_STEPS = 1_000_000


class StepAction:
    """Server of the action.

    Every goal is accepted, and aborted if it is invalid: a rejection has no field for a reason.


    :param node: the simulator node, with `step` and `cancel_steps`
    :param kind: class of the action
    """

    def __init__(self, node: Any, kind: Any):
        self._node, self._kind = node, kind
        self._under_way: list = []  # goals with their outcomes, success and message
        self._timer = node.create_timer(PERIOD, self._poll, clock=STEADY_CLOCK)
        self._timer.cancel()
        self._server = LongRunningActionServer(
            node,
            kind,
            ACTION,
            lambda goal: None,
            goal_callback=lambda request: GoalResponse.ACCEPT,
            handle_accepted_callback=self._on_accepted,
            cancel_callback=self._on_cancel,
        )

    def _on_accepted(self, handle: Any) -> None:
        handle.execute(None)
        outcomes: list = []
        self._under_way.append((handle, outcomes))
        self._timer.reset()
        try:
            outcome = self._begin(handle)
        except Exception as error:  # a goal must get a result
            outcome = False, str(error) or type(error).__name__
        if isinstance(outcome, DeferredResponse):
            outcome.then(outcomes.append)
        else:
            outcomes.append(outcome)

    def _begin(self, handle: Any) -> Any:
        steps = int(handle.request.steps)
        if not 1 <= steps <= MAX_STEPS:
            return False, f'steps must be from 1 to {MAX_STEPS}, got {steps}'
        feedback = self._kind.Feedback()

        def report(left: int) -> None:
            feedback.completed_steps, feedback.remaining_steps = steps - left, left
            # In the loop, an exception would count as a failure of the dynamics.
            with contextlib.suppress(Exception):
                handle.publish_feedback(feedback)

        return self._node.step(steps, report)

    def _on_cancel(self, handle: Any) -> CancelResponse:
        if any(each is handle and not outcomes for each, outcomes in self._under_way):
            self._node.cancel_steps('the goal was canceled')
            return CancelResponse.ACCEPT
        return CancelResponse.REJECT

    def _poll(self) -> None:
        """Send the results of goals that have ended."""
        for each in [each for each in self._under_way if each[1]]:
            self._under_way.remove(each)
            handle, (outcome,) = each
            self._server.finish(handle, partial(self._result, outcome=outcome))
        if not self._under_way:
            self._timer.cancel()

    def _result(self, handle: Any, outcome: Tuple[bool, str]) -> Any:
        success, text = outcome
        result = self._kind.Result()
        result.result.result = OK if success else FAILED
        result.result.error_message = readable(text)
        if success:
            handle.succeed()
        elif handle.is_cancel_requested:
            handle.canceled()
        else:
            handle.abort()
        return result

    def stop(self) -> None:
        """Send the results of all goals at the end of the node, after the loop."""
        executor = self._node.executor
        if not self._under_way or executor is None:
            return
        self._poll()
        for _ in range(LAST_TURNS):
            executor.spin_once(timeout_sec=TURN)
        time.sleep(TURN)


def offer_steps(node: Any) -> Optional[StepAction]:
    """Return the server of the action; None if the package does not have the action."""
    try:
        from simulation_interfaces.action import SimulateSteps
    except ImportError:
        return None
    return StepAction(node, SimulateSteps)
