# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Recordings of joint states: positions and efforts as arrays.

recording_reader.py and other modules read them; this module checks them against a robot, orders
their joints, and splits them at gaps.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, List, Mapping, Optional, Sequence, Tuple

import numpy as np
from numpy.typing import NDArray

from rbd_ros.control.law.feedforward import check_robot
from rbd_ros.control.robot_joints import listed, shown
from rbd_ros.robot import Robot
from rbd_ros.robot.wraparound import Wraparound

Floats = NDArray[np.float64]

#: A time step longer than this many typical ones is a gap.
GAP = 4.5
#: Minimum number of states without a gap that can be filtered.
SHORTEST = 50
#: Tolerance of measured positions to their limits [rad or m].
MARGIN = 0.5


class RecordingError(ValueError):
    """An unreadable or unusable recording; the message names the problem and the cure."""


@dataclass(frozen=True)
class Recording:
    """Joint states over time.

    :param joint_names: names of the n joints
    :param times: times of the N states [s], (N,), strictly increasing
    :param positions: (N, n) [rad or m]
    :param efforts: measured efforts, (N, n) [N m or N]
    :param notes: warnings about the recording, and corrections
    :param label: name of the recording in messages

    >>> from rbd_ros.identification import Recording
    >>> rest = np.zeros((3, 2))
    >>> Recording(('shoulder', 'elbow'), [0.0, 0.01, 0.02], rest, rest).rate
    100.0
    >>> measured = recorded().for_robot(robot)
    >>> measured.part(1.0, 3.0).duration, round(measured.step, 6)  # [s]
    (2.0, 0.004)
    >>> measured.segments()  # without a gap
    [slice(0, 5000, None)]
    """

    joint_names: Tuple[str, ...]
    times: Floats
    positions: Floats
    efforts: Floats
    notes: Tuple[str, ...] = ()
    label: str = 'recording'
    gaps: Tuple[float, ...] = field(default=(), init=False)

    def __post_init__(self) -> None:
        names = tuple(self.joint_names)
        object.__setattr__(self, 'joint_names', names)
        for name, shape in (('times', 1), ('positions', 2), ('efforts', 2)):
            array = np.array(getattr(self, name), dtype=float)
            if array.ndim != shape:
                raise RecordingError(f'{self.label}: {name} must have {shape} axes')
            object.__setattr__(self, name, array)
        expected = (len(self.times), len(names))
        for name in ('positions', 'efforts'):
            if getattr(self, name).shape != expected:
                raise RecordingError(
                    f'{self.label}: {name} must have shape {expected}, got '
                    f'{getattr(self, name).shape}'
                )
        if len(self.times) > 1 and not (np.diff(self.times) > 0.0).all():
            raise RecordingError(f'{self.label}: times must increase')

    @property
    def step(self) -> float:
        """Typical time step, the median [s]."""
        if len(self.times) < 2:
            raise RecordingError(
                f'{self.label}: {len(self.times)} states are too few for a recording'
            )
        return float(np.median(np.diff(self.times)))

    @property
    def rate(self) -> float:
        """States per second [1/s]."""
        return round(1.0 / self.step, 9)

    @property
    def duration(self) -> float:
        """Time from the first state to the last [s]."""
        return float(self.times[-1] - self.times[0]) if len(self.times) else 0.0

    @classmethod
    def from_pandas(cls, frame: Any, label: str = 'frame') -> Recording:
        """Return the recording of a pandas data frame, as read from a CSV file.

        States that are not finite, or go back in time, are ignored, with notes.

        :param frame: columns JOINT.position [rad or m] and JOINT.effort [N m or N]; others are
            ignored; an index or a column `time` [s]
        :param label: name of the recording in messages
        :raises RecordingError: if columns are missing or not numeric, or no usable state is left

        >>> frame = recorded().to_pandas()
        >>> Recording.from_pandas(frame[frame.index < 1.0]).duration  # [s]
        0.996
        """
        if frame.index.name == 'time':
            frame = frame.reset_index()
        names, columns = columns_of(label, [str(each) for each in frame.columns])
        try:
            values = frame.iloc[:, columns].to_numpy(dtype=float)
        except (TypeError, ValueError) as error:
            raise RecordingError(f'{label}: the columns must be numbers: {error}') from None
        q, tau = np.split(values[:, 1:], 2, axis=1)
        return recording_of(names, values[:, 0], q, tau, label)

    def to_pandas(self) -> Any:
        """Return the states as a pandas data frame, with the columns of a CSV file.

        :return: columns JOINT.position [rad or m] and JOINT.effort [N m or N], index time [s]
        :raises ImportError: if pandas is not installed

        >>> frame = recorded().to_pandas()
        >>> frame.index.name, frame.columns[0], frame.shape
        ('time', 'shoulder_pan_joint.position', (5000, 12))
        """
        try:
            import pandas
        except ImportError:
            cure = "to_pandas needs pandas: pip install 'rbd_ros[pandas]'"
            raise ImportError(cure) from None
        values = np.hstack([self.positions, self.efforts])
        times = pandas.Index(self.times, name='time')
        return pandas.DataFrame(values, times, _columns(self.joint_names))

    def segments(self) -> List[slice]:
        """Return the parts without a gap that are long enough to be filtered."""
        breaks = np.flatnonzero(np.diff(self.times) > GAP * self.step) + 1
        edges = [0, *breaks.tolist(), len(self.times)]
        return [slice(a, b) for a, b in zip(edges, edges[1:]) if b - a >= SHORTEST]

    def part(self, begin: float, end: float) -> Recording:
        """Return the states within a time interval.

        :param begin: begin, relative to the first state [s]
        :param end: end, likewise [s]
        :raises RecordingError: if no state is left
        """
        since = self.times - self.times[0]
        here = (since >= begin) & (since <= end)
        if here.sum() < 2:
            raise RecordingError(
                f'{self.label}: no state was recorded between {begin:g} and {end:g} s; it '
                f'lasts {self.duration:g} s'
            )
        return Recording(
            self.joint_names,
            self.times[here],
            self.positions[here],
            self.efforts[here],
            self.notes,
            self.label,
        )

    def for_robot(
        self, robot: Robot, missing_joints: Optional[Mapping[str, float]] = None
    ) -> Recording:
        """Return the recording of a robot's joints only, in their order.

        :param robot: robot with a fixed base and joints of one degree of freedom
        :param missing_joints: constant positions of joints that the recording lacks [rad or m];
            their effort is unknown (NaN)
        :raises RecordingError: if it belongs to another robot, with the joints and the cure

        Positions of continuous joints may be within +-pi: whole turns from one state to the next
        are removed.
        """
        try:
            check_robot(robot)
        except ValueError as error:
            raise RecordingError(f'this robot cannot be identified: {error}') from None
        held = dict(missing_joints or {})
        for name in held:
            if name not in robot.joint_names:
                raise RecordingError(
                    f'joint {shown(name)} to be held is not a joint of the robot; there are '
                    f'{listed(robot.joint_names)}'
                )
        known = [name for name in robot.joint_names if name in self.joint_names]
        if not known:
            raise RecordingError(
                f'{self.label} belongs to another robot: it has joint '
                f'{listed(self.joint_names)}, but the robot has {listed(robot.joint_names)}; '
                'give the URDF of the robot that was recorded'
            )
        missing = [n for n in robot.joint_names if n not in known and n not in held]
        if missing:
            raise RecordingError(
                f'{self.label} lacks joint {listed(missing)} of the robot, on whose position the '
                'efforts depend; record it, or give the position at which it was held'
            )
        extra = [n for n in self.joint_names if n not in robot.joint_names]
        notes = self.notes
        if extra:
            notes += (f'joint {listed(extra)} is not a joint of the robot and is ignored',)
        at = {name: self.joint_names.index(name) for name in known}
        q = np.empty((len(self.times), robot.nv))
        tau = np.full_like(q, np.nan)
        for j, name in enumerate(robot.joint_names):
            q[:, j] = self.positions[:, at[name]] if name in at else held[name]
            if name in at:
                tau[:, j] = self.efforts[:, at[name]]
        q = Wraparound(robot.position_periods).unwrapped(q)
        _check_limits(robot, q, self.label)
        return Recording(robot.joint_names, self.times, q, tau, notes, self.label)


def columns_of(label: str, head: Sequence[str]) -> Tuple[Tuple[str, ...], List[int]]:
    """Return the joint names, and the indices of the columns of time, positions and efforts.

    :param label: name of the table head in messages
    :param head: names of the columns
    :raises RecordingError: if one is missing or duplicate
    """
    example = 'time,JOINT.position,JOINT.effort'
    if len(set(head)) != len(head):
        twice = next(word for word in head if head.count(word) > 1)
        raise RecordingError(f'{label} has two columns {shown(twice)}; leave one out')
    if 'time' not in head:
        raise RecordingError(f'{label} has no column time; write {example}')
    names = tuple(w[: -len('.position')] for w in head if w.endswith('.position'))
    if not names:
        raise RecordingError(f'{label} has no column of a position; write {example}')
    without = [name for name in names if f'{name}.effort' not in head]
    if without:
        raise RecordingError(
            f'{label} has no efforts of joint {listed(without)}, which identification needs; add '
            f'a column {without[0]}.effort'
        )
    words = ['time', *_columns(names)]
    return names, [head.index(word) for word in words]


def _columns(names: Sequence[str]) -> List[str]:
    return [f'{name}.{what}' for what in ('position', 'effort') for name in names]


def recording_of(
    joint_names: Sequence[str], times: Floats, q: Floats, tau: Floats, label: str
) -> Recording:
    """Return the recording of raw states: unusable ones are ignored, with notes.

    :param joint_names: names of the n joints
    :param times: in the order of arrival [s], (N,)
    :param q: positions, (N, n); NaN: none
    :param tau: efforts, (N, n); NaN: none
    :param label: name of the recording in messages
    :raises RecordingError: if no usable state is left
    """
    notes: List[str] = []
    finite = np.isfinite(times) & np.isfinite(q).all(axis=1) & np.isfinite(tau).all(axis=1)
    if not finite.all():
        notes.append(f'{(~finite).sum()} of {len(times)} states are not finite and are ignored')
    times, q, tau = times[finite], q[finite], tau[finite]
    if len(times):
        # Of several states with one time, the first counts. States before a later time are
        # ignored: the clock was set back, or the recording was played twice.
        latest = np.concatenate([[-np.inf], np.maximum.accumulate(times)[:-1]])
        onward = times > latest
        again = int((times == latest).sum())
        back = int((times < latest).sum())
        if again:
            notes.append(f'{again} states repeat the time of an earlier state and are ignored')
        if back:
            when = float(times[times < latest][0] - times[0])
            notes.append(
                f'the time goes back for {back} states, first to {when:.3f} s after the '
                'beginning; they are ignored'
            )
        if back > 0.5 * len(times):
            raise RecordingError(
                f'{label}: the time goes back for {back} of {len(times)} states; cut the '
                'recording where the clock was set'
            )
        times, q, tau = times[onward], q[onward], tau[onward]
    if len(times) < SHORTEST:
        raise RecordingError(
            f'{label} has {len(times)} usable states of joint {listed(joint_names)}; at least '
            f'{SHORTEST} are needed' + ''.join(f' ({note})' for note in notes)
        )
    found = Recording(tuple(joint_names), times, q, tau, tuple(notes), label)
    pieces = found.segments()
    if not pieces:
        raise RecordingError(
            f'{label} has no {SHORTEST} consecutive states without a gap (typical step '
            f'{found.step:.4g} s); record at a steady rate'
        )
    lost = len(times) - sum(piece.stop - piece.start for piece in pieces)
    gaps = np.diff(times)
    gaps = gaps[gaps > GAP * found.step]
    if len(gaps):
        text = f'{len(gaps)} gaps, up to {gaps.max():.3g} s; parts are filtered separately'
        notes.append(text + (f', {lost} states between gaps are ignored' if lost else ''))
    return Recording(found.joint_names, times, q, tau, tuple(notes), label)


def _check_limits(robot: Robot, q: Floats, label: str) -> None:
    low, high = q.min(axis=0), q.max(axis=0)
    outside = (low < robot.lower_limits - MARGIN) | (high > robot.upper_limits + MARGIN)
    for j in np.flatnonzero(outside):
        raise RecordingError(
            f'{label}: joint {shown(robot.joint_names[j])} was between {low[j]:.4g} and '
            f'{high[j]:.4g}, outside its limits {robot.lower_limits[j]:.4g} and '
            f'{robot.upper_limits[j]:.4g}; check whether it is the same robot, and radians '
            'instead of degrees'
        )
