# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Topic of model markers: masses and gravity torques, only while subscribed to.

It does not use the control loop. Subscribers are checked once a second, and a timer of the
executor creates markers for them; without subscribers, the module of markers is not imported.
"""

from __future__ import annotations

from typing import Any, Callable, Optional

import numpy as np
from rclpy.node import Node

from rbd_ros.nodes.common.communication import publisher, STEADY_CLOCK
from rbd_ros.nodes.common.diagnostics import Diagnostics, WARN
from rbd_ros.nodes.torque.state_input import MeasuredState
from rbd_ros.nodes.torque.torque_interface import MODEL_MARKERS
from rbd_ros.robot import Robot

PERIOD = 0.1  # between two messages [s]
SUBJECT = 'torque'


class ModelDisplay:
    """Publisher of the model markers.

    :param node: the torque node
    :param frame: name of the frame of the robot's base
    :param state: returns the last usable state; None before the first
    :param gravity: returns the gravity torque at a configuration, (nv,) [N m or N]
    :param limits: returns the effort limits, (nv,)
    :param diagnostics: reports failures
    """

    def __init__(
        self,
        node: Node,
        robot: Robot,
        frame: str,
        state: Callable[[], Optional[MeasuredState]],
        gravity: Callable[[np.ndarray], np.ndarray],
        limits: Callable[[], np.ndarray],
        diagnostics: Diagnostics,
    ):
        self._node, self._robot, self._frame = node, robot, frame
        self._state, self._gravity, self._limits = state, gravity, limits
        self._diagnostics = diagnostics
        self._publisher = publisher(node, MODEL_MARKERS)
        self._view: Any = None
        self._timer: Any = None

    def every_second(self) -> None:
        """Start or stop publishing, depending on subscribers."""
        has_subscribers = self._publisher.get_subscription_count() > 0
        if has_subscribers and self._timer is None:
            self._timer = self._node.create_timer(PERIOD, self._publish, clock=STEADY_CLOCK)
        elif not has_subscribers and self._timer is not None:
            self._node.destroy_timer(self._timer)
            self._timer = None

    def _publish(self) -> None:
        state = self._state()
        if state is None:
            return
        try:
            self._publisher.publish(self._message(state))
        except Exception as error:  # markers must not end a controller
            self._diagnostics.event(SUBJECT, WARN, f'no model markers: {error}', 'markers')

    def _message(self, state: MeasuredState) -> Any:
        from visualization_msgs.msg import MarkerArray

        from rbd_ros.nodes.messages.inertia_shapes import ModelView
        from rbd_ros.nodes.messages.model_markers import model_markers

        if self._view is None:
            self._view = ModelView(self._robot.model)
        q, stamp = np.array(state.q), state.stamp
        torques, limits = self._gravity(q), self._limits()
        return MarkerArray(
            markers=model_markers(self._view, q, torques, limits, self._frame, stamp)
        )
