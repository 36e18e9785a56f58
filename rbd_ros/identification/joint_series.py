# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Raw joint states of a file, and the selection of their topic."""

from __future__ import annotations

from typing import Any, Dict, Iterable, List, Optional, Tuple

import numpy as np

from rbd_ros.control.robot_joints import listed, shown
from rbd_ros.identification.recording import GAP, Recording, recording_of, RecordingError

#: Maximum number of numbers read from a file.
MAX_NUMBERS = 200_000_000


class JointSeries:
    """Raw joint states, by the joint names of their messages.

    :param label: name of the file in messages
    """

    def __init__(self, label: str):
        self.label = label
        self.notes: List[str] = []
        self.without_effort = self.unreadable = 0
        self._rows: Dict[Tuple[str, ...], List[Tuple[float, Any, Any]]] = {}
        self._numbers = 0
        self._origin: Optional[int] = None

    def seconds(self, stamp: int) -> float:
        """Return the time since the first stamp [s]; doubles of 1970 time are exact to 0.2 us.

        :param stamp: time [ns]
        """
        if self._origin is None:
            self._origin = stamp
        return 1e-9 * (stamp - self._origin)

    def add(self, time: float, names: Tuple[str, ...], position: Any, effort: Any) -> None:
        """Add a joint state; without positions or efforts for all names it is only counted.

        :param time: time [s]
        :param names: joint names
        :param position: (n,) or None [rad or m]
        :param effort: (n,) or None [N m or N]
        """
        if position is None or len(position) != len(names) or len(set(names)) != len(names):
            self.unreadable += 1
            return
        if effort is None or len(effort) != len(names):
            self.without_effort += 1
            return
        self._numbers += 2 * len(names)
        if self._numbers > MAX_NUMBERS:
            raise RecordingError(f'{self.label} is too long; cut it into parts')
        row = (time, np.array(position, dtype=float), np.array(effort, dtype=float))
        self._rows.setdefault(names, []).append(row)

    def recording(self) -> Recording:
        """Return the recording of the most frequent names, and of joints in messages in between.

        :raises RecordingError: if there is none, with the reason
        """
        if not self._rows:
            if self.without_effort:
                raise RecordingError(
                    f'{self.label}: none of its {self.without_effort} joint states has efforts, '
                    'which identification needs; record a robot that publishes them'
                )
            raise RecordingError(
                f'{self.label} has no joint states'
                + ''.join(f' ({note})' for note in self.notes)
                + '; record the topic joint_states'
            )
        names = max(self._rows, key=lambda key: len(self._rows[key]))
        rows = self._rows[names]
        times = np.array([row[0] for row in rows])
        q, tau = (np.array([row[k] for row in rows]).reshape(-1, len(names)) for k in (1, 2))
        others, notes = 0, list(self.notes)
        for key in sorted(self._rows, key=lambda key: -len(self._rows[key])):
            if key == names[: len(key)]:
                continue
            more = None if set(key) & set(names) else _interpolated(self._rows[key], times)
            if more is None:
                others += len(self._rows[key])
                continue
            notes.append(
                f'joint {listed(key)} is in separate messages and is interpolated to the times '
                f'of joint {listed(names)}'
            )
            names, q, tau = (*names, *key), np.hstack([q, more[0]]), np.hstack([tau, more[1]])
        for count, text in (
            (others, 'joint states name other joints'),
            (self.without_effort, 'joint states have no efforts'),
            (self.unreadable, 'joint states cannot be read'),
        ):
            if count:
                notes.append(f'{count} {text} and are left out')
        found = recording_of(
            names,
            times,
            q,
            tau,
            self.label,
        )
        return Recording(
            found.joint_names,
            found.times,
            found.positions,
            found.efforts,
            (*notes, *found.notes),
            self.label,
        )


def _interpolated(rows: List[Tuple[float, Any, Any]], times: Any) -> Any:
    """Return the positions and efforts of joints at other times; None if there are too few.

    NaN within gaps, where the state is unknown.

    :param rows: time [s], positions and efforts, unchanged
    :param times: increasing in the used part [s], (N,)
    """
    stamps, first = np.unique([row[0] for row in rows], return_index=True)
    if len(stamps) < 2:
        return None
    after = np.clip(np.searchsorted(stamps, times), 1, len(stamps) - 1)
    step = np.diff(stamps)
    known = (times >= stamps[0]) & (times <= stamps[-1])
    known &= step[after - 1] <= GAP * max(np.median(step), np.median(np.abs(np.diff(times))))
    if known.sum() < 0.5 * len(times):
        return None
    found = []
    for k in (1, 2):
        values = np.array([rows[i][k] for i in first])
        at = np.column_stack([np.interp(times, stamps, column) for column in values.T])
        found.append(np.where(known[:, None], at, np.nan))
    return found


def topics_of(requested: str, topics: Iterable[str]) -> List[str]:
    """Return the topics of joint states with this name, or otherwise those that end with it."""
    given = list(topics)
    plain = requested.strip('/')
    exact = [topic for topic in given if topic.strip('/') == plain]
    return exact or [topic for topic in given if topic.endswith(f'/{plain}')]


def chosen_topics(label: str, requested: str, topics: Iterable[str]) -> List[str]:
    """Return the topics of joint states in a file: the only one, or the named ones.

    :raises RecordingError: if a name matches no topic, or several, with the list of topics
    """
    given = sorted(set(topics))
    which = f'there are {listed(given)}' if given else 'there are none of joint states'
    chosen = []
    for name in requested.split(','):
        found = topics_of(name.strip(), given)
        if not found:
            raise RecordingError(f'{label} has no topic {shown(name)}: {which}; name one')
        if len(found) > 1:
            raise RecordingError(
                f'{label} has several topics: {listed(found)}; name one, or '
                'several with commas that contain all joints of the robot together'
            )
        chosen.extend(found)
    return chosen
