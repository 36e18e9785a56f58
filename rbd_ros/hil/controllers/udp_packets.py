# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Packets between a bench, or a node, and a controller behind UDP; docs/hil_controllers.md.

Numbers are little-endian and packed without gaps. Of n joints a state has 32 + 40 n bytes:

    0   char[4]    'RBDS'
    4   uint16     version, 1
    6   uint16     n
    8   uint64     sequence: one more with each state
    16  int64      stamp [ns]
    24  uint32     flags: bit 0, a motion begins
    28  uint32     0
    32  double[n]  position, velocity, desired position, desired velocity, desired acceleration

and an answer 16 + 8 n bytes:

    0   char[4]    'RBDA'
    4   uint16     version, 1
    6   uint16     n
    8   uint64     sequence of the state that it answers
    16  double[n]  torque [N m, N]
"""

from __future__ import annotations

import struct

import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.hil.scenario.desired import ARRAYS

STATE_MAGIC, ANSWER_MAGIC, VERSION = b'RBDS', b'RBDA', 1
BEGINS = 1  # flag of the first state of a motion
STATE_HEAD, ANSWER_HEAD = struct.Struct('<4sHHQqII'), struct.Struct('<4sHHQ')
MAX_PACKET = 65507  # that UDP can carry over IPv4 [bytes]
MAX_JOINTS = (MAX_PACKET - STATE_HEAD.size) // (8 * len(ARRAYS))


class PacketError(ValueError):
    """An invalid answer; the message gives the reason."""


class StateWriter:
    """The packet of a state, filled in place.

    :param count: number of joints, n
    :raises ValueError: if a packet is too small for so many
    """

    def __init__(self, count: int):
        if not 1 <= count <= MAX_JOINTS:
            raise ValueError(f'{count} joints; a packet must have 1 to {MAX_JOINTS}')
        self._count = count
        self.data = bytearray(STATE_HEAD.size + 8 * len(ARRAYS) * count)
        #: Numbers after the header: the vectors of `ARRAYS`, (5n,)
        self.values: FloatArray = np.frombuffer(self.data, '<f8', offset=STATE_HEAD.size)

    def set_head(self, sequence: int, stamp: int, begins: bool) -> None:
        """Write the header.

        :param sequence: number of the state
        :param stamp: its time [ns]
        :param begins: whether a motion begins, so that the controller resets its state
        """
        flags = BEGINS if begins else 0
        STATE_HEAD.pack_into(
            self.data, 0, STATE_MAGIC, VERSION, self._count, sequence, stamp, flags, 0
        )


def sequence_of(data: memoryview, count: int) -> int:
    """Return the sequence number that a packet answers; -1 if it is no answer.

    :param data: received packet
    :param count: number of joints
    :raises PacketError: for an answer of another version or size
    """
    if data[:4] != ANSWER_MAGIC:
        return -1
    if len(data) < ANSWER_HEAD.size:
        raise PacketError(f'an answer has {len(data)} bytes, fewer than its header')
    _, version, joints, sequence = ANSWER_HEAD.unpack_from(data)
    if version != VERSION:
        raise PacketError(
            f'an answer has protocol version {version}; the required version is {VERSION}'
        )
    if joints != count:
        raise PacketError(f'an answer is for {joints} joints; the robot has {count}')
    size = ANSWER_HEAD.size + 8 * count
    if len(data) != size:
        raise PacketError(f'an answer has {len(data)} bytes; {count} joints need {size}')
    return int(sequence)


def torque_of(data: memoryview, count: int) -> FloatArray:
    """Return a copy of the torques of an answer, (n,).

    :raises PacketError: if one is not finite
    """
    torque: FloatArray = np.frombuffer(data, '<f8', count, ANSWER_HEAD.size).astype(np.float64)
    if not np.isfinite(torque).all():
        raise PacketError('an answer has a torque that is not finite')
    return torque
