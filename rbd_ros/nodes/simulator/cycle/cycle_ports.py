# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Ports of a simulation cycle: sources and sinks of its messages."""

from __future__ import annotations

from typing import Any, Optional, Protocol, Tuple

import numpy as np

Message = Optional[Tuple[bytes, Any]]  # serialized data and message info; None: no message


class Ports(Protocol):
    """Sources and sinks of messages, all serialized except the pose of the base."""

    def take_by_name(self) -> Message:
        """Take the oldest JointState with commands."""

    def take_by_order(self) -> Message:
        """Take the oldest Float64MultiArray with commands."""

    def take_accelerations(self) -> Message:
        """Take the oldest Float64MultiArray with accelerations, if they are enabled."""

    def take_wrench(self) -> Message:
        """Take the oldest WrenchStamped."""

    def send_state(self, data: bytes) -> None:
        """Send a JointState."""

    def send_clock(self, data: bytes) -> None:
        """Send a Clock."""

    def send_base(self, q: np.ndarray, v: np.ndarray, time: int) -> None:
        """Send position, (7,), and velocity, (6,), of the floating joint at a time [ns]."""
