# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Position commands that make servos without torque input produce a torque: an offset tau / k."""

from __future__ import annotations

import numpy as np

from rbd_ros.array_types import FloatArray


def servo_command(
    target: FloatArray,
    torque: FloatArray,
    stiffness: FloatArray,
    max_position_offset: float,
    lower: FloatArray,
    upper: FloatArray,
) -> FloatArray:
    """Return the position command at which a soft servo reaches its target under load, (n,).

    A servo with the torque k (command - q) rests at the target q for the command
    target + tau / k, with tau the load torque there. Units are [rad or m].

    :param target: target positions, (n,) [rad or m]
    :param torque: load torques, (n,) [N m or N]
    :param stiffness: stiffness k of the servos, (n,), positive [N m/rad or N/m]
    :param max_position_offset: maximum distance from the target [rad or m]
    :param lower: lower limits of the joints, applied last, (n,), -inf: no limit
    :param upper: upper limits, likewise
    """
    offset = np.clip(torque / stiffness, -max_position_offset, max_position_offset)
    command: FloatArray = np.minimum(np.maximum(target + offset, lower), upper)
    return command
