# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Trajectories in files: YAML as `ros2 topic echo` prints a JointTrajectory, or CSV.

A CSV file begins with a line of names: `time`, then `JOINT.position`, `JOINT.velocity`,
`JOINT.acceleration` and `JOINT.effort` in any order; a `JOINT` alone is its position. Efforts in
the file are ignored, since they are computed.
"""

from __future__ import annotations

import csv
import io
import math
from typing import Any, Dict, List, NoReturn, Optional, Sequence, Tuple

import numpy as np
import yaml

from rbd_ros.array_types import FloatArray
from rbd_ros.bounded_files import FileRejectedError, read_bytes
from rbd_ros.control.analysis.feedforward_trajectory import FeedforwardTrajectory
from rbd_ros.control.motion.trajectory import JointTrajectory
from rbd_ros.control.motion.trajectory_checks import TrajectoryError
from rbd_ros.control.robot_joints import listed, shown
from rbd_ros.model.bounded_yaml import BoundedDepth

FORMATS = ('yaml', 'csv')
#: Maximum size of a file [bytes].
MAX_BYTES = 64 << 20
#: Names in CSV and in messages.
QUANTITIES = {
    'position': 'positions',
    'velocity': 'velocities',
    'acceleration': 'accelerations',
    'effort': 'effort',
}
READ = ('positions', 'velocities', 'accelerations')

_Base: Any = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)


class _Loader(BoundedDepth, _Base):  # type: ignore[misc]
    """Loader that rejects deep nesting."""


def format_of(path: str) -> str:
    """Return the format of a file by its name: 'csv' or 'yaml'."""
    return 'csv' if path.lower().endswith('.csv') else 'yaml'


def read_trajectory(path: str) -> JointTrajectory:
    """Return the trajectory from a file, CSV if its name ends with .csv, YAML otherwise.

    :raises TrajectoryError: with the file, the line, the key, and the cure
    """
    try:
        data = read_bytes(path, MAX_BYTES)
    except FileRejectedError as error:
        raise TrajectoryError(str(error)) from None
    except OSError as error:
        raise TrajectoryError(
            f'{path} cannot be read: {error.strerror or error}; check the path'
        ) from None
    try:
        text = data.decode('utf-8-sig')
    except UnicodeDecodeError as error:
        raise TrajectoryError(
            f'{path}: byte {error.start} is not UTF-8; save the file as text in UTF-8'
        ) from None
    return parse_trajectory(text, format_of(path), path)


def parse_trajectory(text: str, form: str = 'yaml', label: str = 'trajectory') -> JointTrajectory:
    r"""Return the trajectory from the text of a file.

    :param form: one of FORMATS
    :param label: name of the text in messages
    :raises TrajectoryError: with the line, the key, and the cure

    >>> from rbd_ros.control.motion.trajectory_files import parse_trajectory
    >>> parse_trajectory('time,elbow\n0,0.0\n2,1.0', 'csv').positions.ravel()
    array([0., 1.])
    """
    content = (_Csv if form == 'csv' else _Yaml)(text, label)
    try:
        return JointTrajectory(content.names, content.times, *(content.rows[k] for k in READ))
    except TrajectoryError as error:
        line = 0 if error.point is None else content.lines[error.point]
        raise TrajectoryError(
            f'{_where(label, line)}: {error}', error.joint, error.point, error.code
        ) from None


def trajectory_text(trajectory: FeedforwardTrajectory, form: str = 'yaml') -> str:
    """Return the text of a file with a trajectory and its efforts.

    :param form: one of FORMATS
    """
    given = {
        'positions': trajectory.positions,
        'velocities': trajectory.velocities,
        'accelerations': trajectory.accelerations,
        'effort': trajectory.efforts,
    }
    columns = {name: values for name, values in given.items() if values is not None}
    if form == 'csv':
        return _csv_text(trajectory, columns)
    lines = [
        f'joint_names: {_flow([_quoted(name) for name in trajectory.joint_names])}',
        'points:',
    ]
    for k, time in enumerate(trajectory.times):
        sec, nanosec = divmod(round(float(time) * 1e9), 1_000_000_000)
        texts = [f'{name}: {_flow(map(_number, values[k]))}' for name, values in columns.items()]
        texts.append(f'time_from_start: {{sec: {sec}, nanosec: {nanosec}}}')
        lines += [f'{"-" if i == 0 else " "} {text}' for i, text in enumerate(texts)]
    return '\n'.join(lines) + '\n'


def _csv_text(trajectory: FeedforwardTrajectory, columns: Dict[str, FloatArray]) -> str:
    words = {plural: word for word, plural in QUANTITIES.items()}
    out = io.StringIO()
    writer = csv.writer(out, lineterminator='\n')
    names = trajectory.joint_names
    writer.writerow(['time', *(f'{j}.{words[name]}' for name in columns for j in names)])
    table = np.concatenate([trajectory.times[:, None], *columns.values()], axis=1)
    writer.writerows(map(_number, row) for row in table)
    return out.getvalue()


def _number(value: float) -> str:
    return repr(float(value))


def _flow(items: Any) -> str:
    return f'[{", ".join(items)}]'


def _quoted(name: str) -> str:
    return yaml.safe_dump(name, default_style="'", width=math.inf).strip()


def _where(label: str, line: int) -> str:
    return f'{label}: line {line}' if line else label


class _Content:
    """Content of a file: names, times, rows of numbers, and the line of each point."""

    def __init__(self, label: str):
        self.label = label
        self.names: List[str] = []
        self.times: List[float] = []
        self.rows: Dict[str, List[List[float]]] = {name: [] for name in READ}
        self.lines: List[int] = []

    def reject(self, text: str, line: int = 0, point: Optional[int] = None) -> NoReturn:
        raise TrajectoryError(f'{_where(self.label, line)}: {text}', point=point)


class _Csv(_Content):
    def __init__(self, text: str, label: str):
        super().__init__(label)
        reader = csv.reader(io.StringIO(text), skipinitialspace=True)
        try:
            head = [word.strip() for word in next(reader, [])]
            columns = self._columns(head)
            for row in reader:
                if any(word.strip() for word in row):
                    self._add(row, head, columns, reader.line_num)
        except csv.Error as error:
            self.reject(f'{error}; correct the CSV there', reader.line_num)

    def _columns(self, head: Sequence[str]) -> List[Tuple[str, str]]:
        """Return the quantity and joint of each column."""
        example = 'time,JOINT.position,JOINT.velocity'
        if head[:1] != ['time']:
            self.reject(f'the first column must be "time", as in {example}', 1)
        columns = [('time', '')]
        for word in head[1:]:
            joint, _, quantity = word.rpartition('.')
            if quantity not in QUANTITIES or not joint:
                joint, quantity = word, 'position'
            if not joint:
                self.reject(f'column {len(columns) + 1} has no name; write {example}', 1)
            if (QUANTITIES[quantity], joint) in columns:
                self.reject(f'there are two columns {joint}.{quantity}; leave one out', 1)
            columns.append((QUANTITIES[quantity], joint))
        self.names = [joint for name, joint in columns if name == 'positions']
        for name in READ[1:]:
            have = [joint for quantity, joint in columns if quantity == name]
            lacking = [joint for joint in self.names if joint not in have]
            if have and lacking:
                self.reject(
                    f'{name} of {listed(lacking)} are missing; give those of all joints, or none',
                    1,
                )
        alone = [joint for _, joint in columns[1:] if joint not in self.names]
        if alone:
            self.reject(f'there is no column {alone[0]}.position; add it', 1)
        return columns

    def _add(
        self,
        row: Sequence[str],
        head: Sequence[str],
        columns: Sequence[Tuple[str, str]],
        line: int,
    ) -> None:
        if len(row) != len(columns):
            self.reject(f'there are {len(row)} values for {len(columns)} columns', line)
        values: Dict[Tuple[str, str], float] = {}
        for word, name, column in zip(row, head, columns):
            if column[0] != 'effort':
                try:
                    values[column] = float(word)
                except ValueError:
                    self.reject(f'{name} must be a number, got {shown(word)}', line)
        self.lines.append(line)
        self.times.append(values[('time', '')])
        for quantity, rows in self.rows.items():
            rows.append([values[quantity, j] for j in self.names if (quantity, j) in values])


class _Yaml(_Content):
    def __init__(self, text: str, label: str):
        super().__init__(label)
        root = self._root(text)
        keys = self._mapping(root, 'the file')
        for key in ('joint_names', 'points'):
            if key not in keys:
                self.reject(f'{key} is missing; write joint_names: [...] and points: [...]', 1)
        for k, node in enumerate(self._sequence(keys['joint_names'], 'joint_names')):
            self.names.append(self._text(node, f'joint_names[{k}]'))
        for k, node in enumerate(self._sequence(keys['points'], 'points')):
            self._add(k, node)

    def _root(self, text: str) -> Any:
        try:
            nodes = yaml.compose_all(text, Loader=_Loader)
            return next((node for node in nodes if node is not None), None)
        except yaml.YAMLError as error:
            mark = getattr(error, 'problem_mark', None)
            reason = getattr(error, 'problem', None) or 'it is not YAML'
            self.reject(f'{reason}; correct the YAML there', 0 if mark is None else mark.line + 1)

    def _add(self, k: int, node: Any) -> None:
        what = f'points[{k}]'
        keys = self._mapping(node, what)
        known = (*READ, 'effort', 'time_from_start')
        for key in keys:
            if key not in known:
                self.reject(
                    f'{what} has an unknown key {shown(key)}; there are {", ".join(known)}',
                    node.start_mark.line + 1,
                )
        for key in ('positions', 'time_from_start'):
            if key not in keys:
                self.reject(f'{what} has no {key}; add it', node.start_mark.line + 1)
        self.lines.append(node.start_mark.line + 1)
        self.times.append(self._time(keys['time_from_start'], f'{what}.time_from_start'))
        for key, rows in self.rows.items():
            row = self._sequence(keys[key], f'{what}.{key}') if key in keys else []
            if row and len(row) != len(self.names):
                self.reject(
                    f'{what}.{key} has {len(row)} numbers for {len(self.names)} joints',
                    keys[key].start_mark.line + 1,
                )
            rows.append([self._number(x, f'{what}.{key}[{i}]') for i, x in enumerate(row)])

    def _time(self, node: Any, what: str) -> float:
        """Return the time [s] from a number or from sec and nanosec."""
        if isinstance(node, yaml.ScalarNode):
            return self._number(node, what)
        keys = self._mapping(node, what)
        if not keys or not set(keys) <= {'sec', 'nanosec'}:
            self.reject(
                f'{what} must be seconds, or {{sec: 1, nanosec: 500000000}}',
                node.start_mark.line + 1,
            )
        parts = {key: self._number(value, f'{what}.{key}') for key, value in keys.items()}
        return parts.get('sec', 0.0) + 1e-9 * parts.get('nanosec', 0.0)

    def _mapping(self, node: Any, what: str) -> Dict[str, Any]:
        if not isinstance(node, yaml.MappingNode):
            line = 1 if node is None else node.start_mark.line + 1
            self.reject(f'{what} must be a mapping, as in docs/feedforward.md', line)
        result: Dict[str, Any] = {}
        for key, value in node.value:
            name = self._text(key, f'a key of {what}')
            if name in result:
                self.reject(f'{what} has {shown(name)} twice', key.start_mark.line + 1)
            result[name] = value
        return result

    def _sequence(self, node: Any, what: str) -> Sequence[Any]:
        if not isinstance(node, yaml.SequenceNode):
            self.reject(f'{what} must be a list', node.start_mark.line + 1)
        nodes: Sequence[Any] = node.value
        return nodes

    def _text(self, node: Any, what: str) -> str:
        if not isinstance(node, yaml.ScalarNode):
            self.reject(f'{what} must be a name', node.start_mark.line + 1)
        return str(node.value)

    def _number(self, node: Any, what: str) -> float:
        text = node.value if isinstance(node, yaml.ScalarNode) else 'a list or mapping'
        try:
            return float(text.replace('.nan', 'nan').replace('.inf', 'inf'))
        except ValueError:
            self.reject(f'{what} must be a number, got {shown(text)}', node.start_mark.line + 1)
