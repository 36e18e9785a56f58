# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Recordings read from files: CSV, MCAP, and ROS 2 bags (folders, .db3 or .mcap).

All are read as series of joint states (`JointSeries`), which give a `Recording`.
"""

from __future__ import annotations

import csv
from functools import partial
import io
import math
from pathlib import Path
from typing import Callable, Dict, Iterator, List, Sequence, TextIO, Tuple

from rbd_ros.bounded_files import MAX_RECORDING, open_regular
from rbd_ros.control.robot_joints import shown
from rbd_ros.identification.joint_series import JointSeries
from rbd_ros.identification.recording import columns_of, Recording, RecordingError

TOPIC = 'joint_states'
BAGS, PACKED = ('.mcap', '.db3'), '.zstd'
#: Maximum length of a CSV line.
MAX_LINE = 1 << 20


def read_recording(path: str, topic: str = TOPIC) -> Recording:
    """Return the recording of a file .csv, .mcap or .db3, or of the folder of a bag.

    :param topic: topic of the joint states in message files, with or without a leading slash;
        several, separated by commas, if each has some of the joints
    :raises RecordingError: if it cannot be read, with file, line or message, and the cure
    """
    place = Path(path).expanduser()
    try:
        if place.is_dir():
            return _of_folder(place, topic)
        reader = _READERS.get(_suffix(place))
        if reader is None:
            raise RecordingError(
                f'{path}: unknown type of recording; give a file that ends with '
                f'{", ".join(_READERS)}, or the folder of a bag'
            )
        series = JointSeries(place.name)
        with open_regular(place, MAX_RECORDING):
            pass
        reader(place, topic, series)
    except OSError as error:
        raise RecordingError(
            f'{error.filename or path} cannot be read: {error.strerror or error}; check the path'
        ) from None
    return series.recording()


def read_robot_description(path: str) -> str:
    """Return the robot description of a recording: the URDF on its topic `robot_description`.

    :param path: file .mcap or .db3, or the folder of a bag
    :raises RecordingError: if there is none, or the file cannot be read
    """
    place = Path(path).expanduser()
    files = [place]
    if place.is_dir():
        files = _files(place)
    for file in files:
        if _suffix(file) not in BAGS:
            continue
        from rbd_ros.identification.messages import read_robot_description

        try:
            with open_regular(file, MAX_RECORDING):
                pass
            found = read_robot_description(file)
        except OSError as error:
            raise RecordingError(
                f'{path} cannot be read: {error.strerror or error}; check the path'
            ) from None
        if found:
            return found
    raise RecordingError(
        f'{path} has no robot description: give the robot as well, or record the topic '
        'robot_description too'
    )


def _of_folder(folder: Path, topic: str) -> Recording:
    """Return the recording of a bag's folder, with its files in the order of their names."""
    files = _files(folder)
    if not files:
        raise RecordingError(
            f'{folder} is not a bag: it has no .mcap, .db3, .mcap.zstd or .db3.zstd file; '
            'convert other compressed bags by ros2 bag convert'
        )
    series = JointSeries(folder.name)
    # The number at the end of a file's name need not have leading zeros.
    for file in sorted(files, key=lambda f: (len(f.name), f.name)):
        with open_regular(file, MAX_RECORDING):
            pass
        _READERS[_suffix(file)](file, topic, series)
    return series.recording()


def _files(folder: Path) -> List[Path]:
    """Return the files of a bag, compressed or not."""
    for ending in BAGS:
        found = sorted([*folder.glob(f'*{ending}'), *folder.glob(f'*{ending}{PACKED}')])
        if found:
            return found
    return []


def _suffix(path: Path) -> str:
    """Return the suffix of a recording, which precedes that of a compression."""
    name = path.with_suffix('') if path.suffix.lower() == PACKED else path
    return name.suffix.lower()


# -- CSV ------------------------------------------------------------------------------------------


def _read_csv(path: Path, topic: str, series: JointSeries) -> None:
    """Read the columns time, JOINT.position and JOINT.effort of a CSV file."""
    with (
        open_regular(path, MAX_RECORDING) as content,
        io.TextIOWrapper(content, 'utf-8-sig', 'replace', newline='') as file,
    ):
        reader = csv.reader(_lines(file), skipinitialspace=True)
        try:
            head = [word.strip() for word in next(reader, [])]
            names, columns = columns_of(f'{series.label}: line 1', head)
            for row in reader:
                if row:
                    _add_row(series, names, columns, head, row, reader.line_num)
        except csv.Error as error:
            raise RecordingError(
                f'{series.label}: line {reader.line_num}: {error}; correct the CSV there'
            ) from None


def _lines(file: TextIO) -> Iterator[str]:
    for line in iter(partial(file.readline, MAX_LINE), ''):
        if len(line) == MAX_LINE:
            raise csv.Error(f'a line has {MAX_LINE} characters or more')
        yield line


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
