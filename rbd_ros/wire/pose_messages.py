# SPDX-License-Identifier: Apache-2.0
"""Poses of many bodies: MultiDOFJointState, and the list of transforms that /tf carries."""

from __future__ import annotations

from typing import List, Sequence, Tuple

import numpy as np

from rbd_ros.wire.cdr import MessageBuffer, NANOSECONDS, packed_stamp, StampedMessage


class MultiDOFJointStateWriter(StampedMessage):
    """A MultiDOFJointState to be published again and again, filled in through NumPy views.

    The views are `poses`, (n, 7): position, quaternion x, y, z, w; `twists` and `wrenches`,
    (n, 6): linear before angular, force before torque.

    :param names: names of the bodies, in the order of the views
    :param frame_id: frame of the header
    :raises ValueError: for names that a message cannot carry
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
    """A TFMessage to be published again and again, filled in through NumPy views.

    The poses, position, quaternion x, y, z, w, are the rows of `poses`, a list of arrays, (7,).

    :param frame_id: frame that the poses are in
    :param children: names of the frames whose poses they are
    :raises ValueError: for names that a message cannot carry
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
        """Return the bytes of the message as it is now, to be published."""
        return self._bytes.tobytes()
