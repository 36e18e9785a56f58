# SPDX-License-Identifier: Apache-2.0
"""Imu, WrenchStamped and Odometry: messages about what moves, to be published again and again."""

from __future__ import annotations

from rbd_ros.wire.cdr import MessageBuffer, StampedMessage

# Numbers of a covariance: of three quantities, and of six.
THREE, SIX = 9, 36


class ImuWriter(StampedMessage):
    """An Imu, filled in through NumPy views; its covariances are zero, which says unknown.

    The views are `orientation`, quaternion x, y, z, w, (4,), `angular_velocity` and
    `linear_acceleration`, (3,).

    :param frame_id: frame of the header
    :raises ValueError: for a name that a message cannot carry
    """

    def __init__(self, frame_id: str):
        memory = MessageBuffer()
        memory.stamp()
        memory.text(frame_id)
        for count in (4, THREE, 3, THREE, 3, THREE):
            memory.numbers(count)
        self.orientation, _, self.angular_velocity, _, self.linear_acceleration, _ = (
            memory.finish()
        )
        super().__init__(memory)


class WrenchStampedWriter(StampedMessage):
    """A WrenchStamped, filled in through the NumPy views `force` and `torque`, (3,).

    :param frame_id: frame of the header
    :raises ValueError: for a name that a message cannot carry
    """

    def __init__(self, frame_id: str):
        memory = MessageBuffer()
        memory.stamp()
        memory.text(frame_id)
        memory.numbers(3)
        memory.numbers(3)
        self.force, self.torque = memory.finish()
        super().__init__(memory)


class OdometryWriter(StampedMessage):
    """An Odometry, filled in through NumPy views; its covariances are zero.

    The views are `pose`, position, quaternion x, y, z, w, (7,), and `twist`, linear before
    angular, (6,).

    :param frame_id: frame of the pose
    :param child_frame_id: frame whose pose it is, in whose axes the twist is
    :raises ValueError: for names that a message cannot carry
    """

    def __init__(self, frame_id: str, child_frame_id: str):
        memory = MessageBuffer()
        memory.stamp()
        memory.text(frame_id)
        memory.text(child_frame_id)
        for count in (7, SIX, 6, SIX):
            memory.numbers(count)
        self.pose, _, self.twist, _ = memory.finish()
        super().__init__(memory)
