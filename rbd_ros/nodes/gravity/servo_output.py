# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Output for servos without torque input: positions that make them produce the torque."""

from __future__ import annotations

import time
from typing import Any, Callable, Dict, Sequence, Tuple

import numpy as np
from rclpy.node import Node

from rbd_ros.control import servo_command
from rbd_ros.nodes.common.communication import subscription
from rbd_ros.nodes.common.diagnostics import Diagnostics, OK, WARN
from rbd_ros.nodes.gravity.gravity_interface import JOINT_TARGETS, POSITION_COMMANDS
from rbd_ros.nodes.messages.joint_names import JointNames, MessageProblem
from rbd_ros.nodes.messages.text import shorten
from rbd_ros.nodes.torque.torque_output import TorqueOutput
from rbd_ros.robot import Robot
from rbd_ros.wire import JointStateReader, WireError

SUBJECT = 'servos'
MAX_STEP = 0.1  # maximum time by which offsets change between two commands [s]


class ServoOutput(TorqueOutput):
    """Publishes target + torque / stiffness.

    It publishes nothing until every commanded joint has a target. Offsets begin at zero; the
    largest takes at least `payload_transition_time`.

    :param joints: joints to command, in the order of the array; empty: all
    :param form: types of messages, as for `TorqueOutput`
    :param stiffness: stiffness of the servos, (nv,) [N m/rad or N/m]
    :param values: returns the node's parameters
    :param diagnostics: where to report
    :raises ValueError: if a name in `joints` is repeated or unknown
    """

    def __init__(
        self,
        node: Node,
        robot: Robot,
        joints: Sequence[str],
        form: str,
        stiffness: np.ndarray,
        values: Callable[[], Dict[str, Any]],
        diagnostics: Diagnostics,
    ):
        super().__init__(node, robot.joint_names, joints, form, 'position', POSITION_COMMANDS)
        names = self.names
        chosen = self._joints
        self._stiffness = stiffness[chosen]
        self._lower, self._upper = robot.lower_limits[chosen], robot.upper_limits[chosen]
        self._values, self._diagnostics = values, diagnostics
        self._names, self._reader = JointNames(names, robot.joint_names), JointStateReader()
        self._torque, self._nothing = np.zeros(len(names)), np.zeros(0)
        self._target = np.full(len(names), np.nan)
        self._offset, self._last_sent = np.zeros(len(names)), time.monotonic()
        self._report()
        subscription(node, JOINT_TARGETS, self._on_target, raw=True)

    # -- targets, in the executor -----------------------------------------------------------------

    def _on_target(self, data: bytes) -> None:
        try:
            self._take_target(data)
        except (MessageProblem, WireError) as problem:
            self._diagnostics.event(
                SUBJECT, WARN, f'target rejected: {problem}', code=f'target {problem.code}'
            )
            return
        self._report()

    def _take_target(self, data: bytes) -> None:
        message = self._reader.read(data)
        naming = self._names.naming(message.names.names)
        if not naming.target.size:
            raise MessageProblem('no known joints', 'it names no commanded joint')
        position = message.position
        if position is None or position.size != naming.size:
            size = 0 if position is None else position.size
            raise MessageProblem(
                'position has wrong length', f'{size} positions for {naming.size} names'
            )
        chosen = position[naming.source]
        bad = [name for name, x in zip(naming.names, chosen) if not np.isfinite(x)]
        if bad:
            raise MessageProblem('not finite', f'position of {shorten(bad)} is not a number')
        target = self._target.copy()
        target[naming.target] = chosen
        self._target = target  # one assignment: the control loop may read it

    def _report(self) -> None:
        absent = [n for n, x in zip(self._names.joint_names, self._target) if np.isnan(x)]
        if absent:
            self._diagnostics.condition(
                SUBJECT,
                WARN,
                f'waiting for targets on {JOINT_TARGETS.name} for {shorten(absent)}',
                code='waiting',
            )
        else:
            self._diagnostics.condition(SUBJECT, OK, 'all targets were received', code='targets')

    # -- output, in the control loop and for last commands ----------------------------------------

    @property
    def places(self) -> Tuple[np.ndarray, ...]:
        """Arrays for machine code, see `TorqueMessages`: torques go to a separate array."""
        return self._joints, self._by_name.stamp, self._torque, self._nothing

    def send(self, last: bool = False) -> None:
        """Publish the positions for the present torques.

        :param last: whether it is the last command: offsets then change at once
        """
        target = self._target
        if np.isnan(target).any():
            return
        values, now = self._values(), time.monotonic()
        max_offset, ramp = values['max_position_offset'], values['payload_transition_time']
        elapsed, self._last_sent = min(now - self._last_sent, MAX_STEP), now
        desired = np.clip(self._torque / self._stiffness, -max_offset, max_offset)
        if not last and ramp > 0.0:
            step = max_offset * elapsed / ramp
            desired = self._offset + np.clip(desired - self._offset, -step, step)
        self._offset = desired
        self._by_name.position[:] = self._by_order.values[:] = servo_command(
            target,
            desired * self._stiffness,
            self._stiffness,
            max_offset,
            self._lower,
            self._upper,
        )
        super().send(last)
