"""Recordings read from files: CSV, MCAP, and bags of ROS 2 (folders, .db3 or .mcap).

All become series of joint states (`JointSeries`), of which a `Recording` is made.
"""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, List, Optional, Sequence, Tuple

import numpy as np

from rbd_ros.control.names import listed, shown
from rbd_ros.identification.recording import Recording, recording_of, RecordingError

TOPIC = 'joint_states'
#: Maximum number of numbers that are read of a file.
MOST = 200_000_000


class JointSeries:
    """Joint states as they come, by the names that their messages have.

    :param label: what the file is called in messages
    """

    def __init__(self, label: str):
        self.label = label
        self.notes: List[str] = []
        self.without_effort = self.unreadable = 0
        self._rows: Dict[Tuple[str, ...], List[Tuple[float, Any, Any]]] = {}
        self._numbers = 0
        self._origin: Optional[int] = None

    def seconds(self, stamp: int) -> float:
        """Time since the first stamp [s]: in seconds since 1970, doubles keep 0.2 us only.

        :param stamp: time [ns]
        """
        if self._origin is None:
            self._origin = stamp
        return 1e-9 * (stamp - self._origin)

    def add(self, time: float, names: Tuple[str, ...], position: Any, effort: Any) -> None:
        """Take a joint state; without positions or efforts for all names it is only counted.

        :param time: [s]
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
        if self._numbers > MOST:
            raise RecordingError(f'{self.label} is too long; cut it into parts')
        row = (time, np.array(position, dtype=float), np.array(effort, dtype=float))
        self._rows.setdefault(names, []).append(row)

    def recording(self) -> Recording:
        """Recording of the names that came most often.

        :raises RecordingError: if there is none, saying what there was instead
        """
        if not self._rows:
            if self.without_effort:
                raise RecordingError(
                    f'{self.label}: none of its {self.without_effort} joint states has efforts, '
                    'from which alone parameters can be found; record a robot that publishes them'
                )
            raise RecordingError(
                f'{self.label} has no joint states'
                + ''.join(f' ({note})' for note in self.notes)
                + '; record the topic joint_states'
            )
        names = max(self._rows, key=lambda key: len(self._rows[key]))
        rows = self._rows[names]
        others = sum(map(len, self._rows.values())) - len(rows)
        notes = list(self.notes)
        for count, text in (
            (others, 'joint states name other joints'),
            (self.without_effort, 'joint states have no efforts'),
            (self.unreadable, 'joint states cannot be read'),
        ):
            if count:
                notes.append(f'{count} {text} and are left out')
        found = recording_of(
            names,
            np.array([row[0] for row in rows]),
            np.array([row[1] for row in rows]).reshape(-1, len(names)),
            np.array([row[2] for row in rows]).reshape(-1, len(names)),
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


def read_recording(path: str, topic: str = TOPIC) -> Recording:
    """Recording from a file, by the end of its name: .csv, .mcap, .db3, or the folder of a bag.

    :param path: the file
    :param topic: topic of the joint states in files of messages, with or without a first slash
    :raises RecordingError: if it cannot be read, naming file, line or message, and what to do
    """
    place = Path(path).expanduser()
    try:
        if place.is_dir():
            return _of_folder(place, topic)
        reader = _READERS.get(place.suffix.lower())
        if reader is None:
            raise RecordingError(
                f'{path}: the name of a recording ends with {", ".join(_READERS)}, or is that of '
                'the folder of a bag'
            )
        series = JointSeries(place.name)
        with place.open('rb'):
            pass
        reader(place, topic, series)
    except OSError as error:
        raise RecordingError(
            f'{path} cannot be read: {error.strerror or error}; check the path'
        ) from None
    return series.recording()


def _of_folder(folder: Path, topic: str) -> Recording:
    """Recording of the folder of a bag, all files of which count, in the order of their names."""
    files = sorted(folder.glob('*.mcap')) or sorted(folder.glob('*.db3'))
    if not files:
        raise RecordingError(f'{folder} is no bag: it has no file .mcap or .db3')
    series = JointSeries(folder.name)
    # The number of a file is the last part of its name, and need not have leading zeros.
    for file in sorted(files, key=lambda f: (len(f.name), f.name)):
        _READERS[file.suffix](file, topic, series)
    return series.recording()


def topics_of(wanted: str, topics: Iterable[str]) -> List[str]:
    """Topics of joint states that are meant: of that name, or else those that end with it."""
    given = list(topics)
    plain = wanted.strip('/')
    exact = [topic for topic in given if topic.strip('/') == plain]
    return exact or [topic for topic in given if topic.endswith(f'/{plain}')]


def chosen_topic(label: str, wanted: str, topics: Iterable[str]) -> str:
    """Topic of the joint states of a file.

    :raises RecordingError: if there is none or several, naming those that there are
    """
    given = sorted(set(topics))
    found = topics_of(wanted, given)
    if len(found) == 1:
        return found[0]
    which = f'there are {listed(given)}' if given else 'there are none of joint states'
    if not found:
        raise RecordingError(f'{label} has no topic {shown(wanted)}: {which}; name one')
    raise RecordingError(f'{label} has several topics: {listed(found)}; name one')


# -- CSV ------------------------------------------------------------------------------------------


def _read_csv(path: Path, topic: str, series: JointSeries) -> None:
    """CSV with the columns time, JOINT.position and JOINT.effort; others are not looked at."""
    with path.open(newline='', encoding='utf-8-sig', errors='replace') as file:
        reader = csv.reader(file, skipinitialspace=True)
        try:
            head = [word.strip() for word in next(reader, [])]
            names, columns = _columns(series.label, head)
            for row in reader:
                if row:
                    _add_row(series, names, columns, head, row, reader.line_num)
        except csv.Error as error:
            raise RecordingError(
                f'{series.label}: line {reader.line_num}: {error}; correct the CSV there'
            ) from None


def _columns(label: str, head: Sequence[str]) -> Tuple[Tuple[str, ...], List[int]]:
    """Joint names, and the numbers of the columns of time, positions and efforts."""
    example = 'time,JOINT.position,JOINT.effort'
    if len(set(head)) != len(head):
        twice = next(word for word in head if head.count(word) > 1)
        raise RecordingError(f'{label}: there are two columns {shown(twice)}; leave one out')
    if 'time' not in head:
        raise RecordingError(f'{label}: line 1 has no column time; write {example}')
    names = tuple(w[: -len('.position')] for w in head if w.endswith('.position'))
    if not names:
        raise RecordingError(f'{label}: line 1 has no column of a position; write {example}')
    without = [name for name in names if f'{name}.effort' not in head]
    if without:
        raise RecordingError(
            f'{label} has no efforts of joint {listed(without)}, from which alone parameters can '
            f'be found; add a column {without[0]}.effort'
        )
    words = ['time', *(f'{n}.position' for n in names), *(f'{n}.effort' for n in names)]
    return names, [head.index(word) for word in words]


def _add_row(
    series: JointSeries,
    names: Tuple[str, ...],
    columns: Sequence[int],
    head: Sequence[str],
    row: Sequence[str],
    line: int,
) -> None:
    if len(row) != len(head):
        raise RecordingError(
            f'{series.label}: line {line} has {len(row)} values for {len(head)} columns'
        )
    values = []
    for k in columns:
        try:
            values.append(float(row[k]) if row[k].strip() else math.nan)
        except ValueError:
            raise RecordingError(
                f'{series.label}: line {line}: {head[k]} must be a number, got {shown(row[k])}'
            ) from None
    count = len(names)
    series.add(values[0], names, values[1 : 1 + count], values[1 + count :])


def _read_mcap(path: Path, topic: str, series: JointSeries) -> None:
    from rbd_ros.identification.messages import read_mcap

    read_mcap(path, topic, series)


def _read_bag(path: Path, topic: str, series: JointSeries) -> None:
    from rbd_ros.identification.messages import read_bag

    read_bag(path, topic, series)


_READERS: Dict[str, Callable[[Path, str, JointSeries], None]] = {
    '.csv': _read_csv,
    '.mcap': _read_mcap,
    '.db3': _read_bag,
}
