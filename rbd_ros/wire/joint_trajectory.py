# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""JointTrajectory: equal points are read in bulk, others one by one.

The offset of a point depends on the content of all points before it. Points with equal counts have
equal distances (from the second on: the first may have another alignment), so a run of them is
found by comparing the counts at those distances.
"""

from __future__ import annotations

from typing import List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from rbd_ros.wire.cdr import aligned, Cursor, NANOSECONDS, UNSIGNED, WireError

FIELDS = ('positions', 'velocities', 'accelerations')  # fields that are read
ALL_FIELDS = (*FIELDS, 'effort')  # in the order of the message
_TIME = 2 * len(FIELDS)  # row of the table with the offsets of the times

MAX_BYTES = 1 << 26  # maximum size of a message [bytes]
MAX_POINTS = 250_000
MIN_POINT_SIZE = 24  # bytes: four counts and a time

# Minimum length of a run that is faster than single points, and maximum number of trials.
SHORT_RUN = 64
SHORT_RUNS = 8
SOME = 512  # single points between two entries in the table

PIECE = 1 << 19  # bytes per copy, so that other threads run


class JointTrajectoryData(NamedTuple):
    """Content of a JointTrajectory with P points for n joints.

    :param joint_names: names of the joints
    :param stamp: time of the header [ns]
    :param times: times from the start, (P,) [s]
    :param positions: positions, (P, n) [rad or m]
    :param velocities: velocities, (P, n), or None if no point has any [rad/s or m/s]
    :param accelerations: accelerations, (P, n), or None if no point has any [rad/s^2 or m/s^2]
    """

    joint_names: Tuple[str, ...]
    stamp: int
    times: np.ndarray
    positions: np.ndarray
    velocities: Optional[np.ndarray]
    accelerations: Optional[np.ndarray]


class JointTrajectoryReader:
    """Reader of JointTrajectory messages."""

    def read(self, data: bytes) -> JointTrajectoryData:
        """Return the content of a message without efforts.

        :raises WireError: if it is invalid, or a point lacks a number for a joint
        """
        cursor = Cursor(data, MAX_BYTES)
        stamp = cursor.stamp()
        cursor.text('frame_id')
        names = cursor.names()
        count = cursor.count('the points', MIN_POINT_SIZE)
        if count > MAX_POINTS:
            raise WireError(
                'too many points', f'{count} points, more than the limit of {MAX_POINTS}'
            )
        table = _table(cursor, count, len(names))
        times = _gather(cursor, table[_TIME], 8)
        times = times.view(np.dtype([('s', f'{cursor.order}i4'), ('ns', f'{cursor.order}u4')]))
        return JointTrajectoryData(
            names,
            stamp,
            times['s'] + times['ns'] / float(NANOSECONDS),
            *(_column(cursor, table, k, len(names)) for k in range(len(FIELDS))),
        )


def _table(cursor: Cursor, count: int, joints: int) -> np.ndarray:
    """Return counts and offsets of fields, and the offset of the time of all points, (7, P)."""
    table = np.empty((_TIME + 1, count), dtype=np.int64)
    point, short = 0, 0
    while count - point >= SHORT_RUN and short < SHORT_RUNS:
        begin = cursor.at
        row, counts_at, efforts = _point(cursor, point, joints)
        stride = cursor.at - begin
        length = 1
        if stride % 8 == 0:  # otherwise the next point has another alignment
            most = min(count - point, (cursor.size - begin) // stride)
            counts = (*row[: len(FIELDS)], efforts)
            length = _alike(cursor, counts, counts_at, stride, most)
            cursor.at = begin + length * stride
        run = slice(point, point + length)
        table[:, run] = np.array(row)[:, None]
        table[len(FIELDS) :, run] += stride * np.arange(length)
        point += length
        short += length < SHORT_RUN
    while point < count:
        rows = [_point(cursor, k, joints)[0] for k in range(point, min(point + SOME, count))]
        table[:, point : point + len(rows)] = np.array(rows).T
        point += len(rows)
    return table


def _alike(
    cursor: Cursor, counts: Sequence[int], counts_at: Sequence[int], stride: int, most: int
) -> int:
    """Return the number, at most `most`, of successive points with equal counts at a stride."""
    same = np.ones(most, dtype=bool)
    for value, at in zip(counts, counts_at):
        same &= value == np.ndarray(
            most, f'{cursor.order}u4', buffer=cursor.data, offset=at, strides=(stride,)
        )
    return most if same.all() else int(same.argmin())


def _point(cursor: Cursor, point: int, joints: int) -> Tuple[Tuple[int, ...], List[int], int]:
    """Skip one point.

    :return: its column of the table; offsets of its four counts; its number of efforts
    :raises WireError: if it is incomplete, or lacks numbers for joints
    """
    data, size, unsigned, at = cursor.data, cursor.size, UNSIGNED[cursor.order], cursor.at
    counts, counts_at, values_at = [], [], []
    for field in ALL_FIELDS:
        if at + 4 > size:
            raise cursor.truncated(f'trajectory point {point}')
        counts_at.append(at)
        count = unsigned(data, at)[0]
        at += 4
        if count != joints and field != 'effort' and (count or field == 'positions'):
            raise _wrong_length(point, count, field, joints)
        counts.append(count)
        if count:
            at = aligned(at, 8)
        values_at.append(at)
        at += 8 * count
        if at > size:
            raise cursor.truncated(f'trajectory point {point}')
    if at + 8 > size:
        raise cursor.truncated(f'trajectory point {point}')
    cursor.at = at + 8
    return (*counts[:-1], *values_at[:-1], at), counts_at, counts[-1]


def _wrong_length(point: int, count: int, field: str, joints: int) -> WireError:
    return WireError(
        'trajectory has wrong lengths',
        f'trajectory point {point} has {count} {field} for {joints} joint names',
    )


def _column(cursor: Cursor, table: np.ndarray, field: int, joints: int) -> Optional[np.ndarray]:
    """Return one field of all points, (P, n), or None if it is optional and empty."""
    counts, places = table[field], table[len(FIELDS) + field]
    if field and not counts.any():
        return None
    if (counts != joints).any():
        point = int(np.argmax(counts != joints))
        raise _wrong_length(point, int(counts[point]), FIELDS[field], joints)
    if not joints or not len(counts):
        return np.zeros((len(counts), joints))
    numbers = _gather(cursor, places, 8 * joints).view(f'{cursor.order}f8')
    return numbers.astype(float, copy=False).reshape(len(counts), joints)


def _gather(cursor: Cursor, places: np.ndarray, width: int) -> np.ndarray:
    """Copy `width` bytes from each offset, (P,) of type void."""
    if not len(places):
        return np.zeros(0, dtype=f'V{width}')
    # An element begins at every byte; elements overlap.
    windows = np.ndarray(cursor.size - width + 1, f'V{width}', buffer=cursor.data, strides=(1,))
    found = np.empty(len(places), dtype=windows.dtype)
    step = max(1, PIECE // width)
    for k in range(0, len(places), step):
        found[k : k + step] = windows[places[k : k + step]]
    return found
