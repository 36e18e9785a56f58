# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Writers of sensor messages, and of the poses of many bodies."""

from __future__ import annotations

from typing import List, Sequence, Tuple

import numpy as np

from rbd_ros.wire.cdr import MessageBuffer, NANOSECONDS, packed_stamp, StampedMessage

# Sizes of the covariances of three and of six quantities.
THREE, SIX = 9, 36


class ImuWriter(StampedMessage):
    """An Imu with NumPy views; its covariances are zero, which means unknown.

    The views are `orientation`, quaternion x, y, z, w, (4,), `angular_velocity` and
    `linear_acceleration`, (3,).

    :param frame_id: frame of the header
    :raises ValueError: for an invalid name
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
    """A WrenchStamped with the NumPy views `force` and `torque`, (3,).

    :param frame_id: frame of the header
    :raises ValueError: for an invalid name
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
    """An Odometry with NumPy views; its covariances are zero.

    The views are `pose`, position, quaternion x, y, z, w, (7,), and `twist`, linear before
    angular, (6,).

    :param frame_id: frame of the pose
    :param child_frame_id: frame of the body, in whose axes the twist is
    :raises ValueError: for invalid names
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


class MultiDOFJointStateWriter(StampedMessage):
    """A MultiDOFJointState for repeated publishing, with NumPy views.

    The views are `poses`, (n, 7): position, quaternion x, y, z, w; `twists` and `wrenches`,
    (n, 6): linear before angular, force before torque.

    :param names: names of the bodies, in the order of the views
    :param frame_id: frame of the header
    :raises ValueError: for invalid names
    """

    def __init__(self, names: Sequence[str], frame_id: str):
        self.names = tuple(names)
        memory = MessageBuffer()
        memory.stamp()
        memory.text(frame_id)
        memory.texts(self.names)
        for size in (7, 6, 6):
            memory.unsigned(len(self.names))
            memory.numbers(size * len(self.names))
        poses, twists, wrenches = memory.finish()
        self.poses, self.twists = poses.reshape(-1, 7), twists.reshape(-1, 6)
        self.wrenches = wrenches.reshape(-1, 6)
        super().__init__(memory)


class TransformsWriter:
    """A TFMessage for repeated publishing, with NumPy views.

    The poses, position, quaternion x, y, z, w, are the rows of `poses`, a list of arrays, (7,).

    :param frame_id: reference frame of the poses
    :param children: names of the frames
    :raises ValueError: for invalid names
    """

    def __init__(self, frame_id: str, children: Sequence[str]):
        memory = MessageBuffer()
        memory.unsigned(len(children))
        stamps: List[int] = []
        for child in children:
            stamps.append(memory.stamp())
            memory.text(frame_id)
            memory.text(child)
            memory.numbers(7)
        self.poses: Tuple[np.ndarray, ...] = tuple(memory.finish())
        self._bytes = memory.bytes
        self._stamps = [memory.bytes[at : at + 8] for at in stamps]

    def set_stamp_ns(self, time: int) -> None:
        """Write the time of all transforms [ns]."""
        packed = packed_stamp(time // NANOSECONDS, time % NANOSECONDS)
        for stamp in self._stamps:
            stamp[:] = packed

    def data(self) -> bytes:
        """Return the bytes of the message."""
        return self._bytes.tobytes()
