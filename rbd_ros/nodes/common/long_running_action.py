# SPDX-License-Identifier: Apache-2.0
"""An action server whose goals run for long, without a callback that waits."""

from __future__ import annotations

from typing import Any, Callable

from rclpy.action import ActionServer


class LongRunningActionServer(ActionServer):
    """Action server whose goals run until `finish` ends them, without a callback that waits.

    Not all executors of rclpy can wait in a callback.
    """

    def notify_execute(self, goal_handle: Any, execute_callback: Any) -> None:
        """Note that a goal is being executed; nothing is called."""

    def finish(self, goal_handle: Any, end: Callable[[Any], Any]) -> None:
        """Make the executor call `end`, which sets a state and returns the result."""
        super().notify_execute(goal_handle, end)
