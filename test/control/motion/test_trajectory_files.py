# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Trajectory files: reading, writing, and errors."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest
from support import doctests

from rbd_ros.control import FeedforwardTrajectory, TrajectoryError
from rbd_ros.control.motion.trajectory_files import (
    format_of,
    FORMATS,
    MAX_BYTES,
    parse_trajectory,
    read_trajectory,
    trajectory_text,
)

ECHO = """\
header:
  stamp:
    sec: 0
    nanosec: 0
  frame_id: ''
joint_names:
- elbow
- 'on'
points:
- positions:
  - 0.0
  - 1
  velocities: [0.0, 0.5]
  accelerations: []
  effort: []
  time_from_start:
    sec: 0
    nanosec: 0
- positions: [0.25, 1.5e-1]
  velocities: [0.0, 0.0]
  time_from_start: {sec: 1, nanosec: 500000000}
---
"""
TABLE = """\
time, elbow.position, wrist.1, elbow.velocity, wrist.1.velocity, elbow.effort

0.0, 0, 1, 0, .5, x
1.5, 0.25, 0.15, 0, 0, x
"""


@pytest.mark.parametrize(
    ('text', 'form', 'names'),
    [(ECHO, 'yaml', ('elbow', 'on')), (TABLE, 'csv', ('elbow', 'wrist.1'))],
)
def test_a_file_is_read(text, form, names):
    trajectory = parse_trajectory(text, form)
    assert trajectory.joint_names == names
    assert_array_equal(trajectory.times, [0.0, 1.5])
    assert_array_equal(trajectory.positions, [[0.0, 1.0], [0.25, 0.15]])
    assert_array_equal(trajectory.velocities, [[0.0, 0.5], [0.0, 0.0]])
    assert trajectory.accelerations is None


@pytest.mark.parametrize('form', FORMATS)
@pytest.mark.parametrize('given', [1, 2, 3])
def test_a_written_trajectory_is_read_bitwise_identical(rng, tmp_path, form, given):
    names = ('a', "it's: 1", 'null', 'b.c')
    times = np.array([0.0, 0.1, 1.0 / 3.0, 7.000000001])
    q, v, a, tau = rng.normal(size=(4, 4, 4)) * 10.0 ** rng.integers(-8, 3, size=(4, 4))
    v[-1] = 0.0
    values = [x if k < given else None for k, x in enumerate((q, v, a))]
    text = trajectory_text(FeedforwardTrajectory(names, times, *values, tau), form)
    path = tmp_path / f'out.{form}'
    path.write_text(text)
    read = read_trajectory(str(path))
    assert read.joint_names == names
    assert_allclose(read.times, times, rtol=0, atol=1e-9)
    for found, expected in zip((read.positions, read.velocities, read.accelerations), values):
        assert (found is None) == (expected is None)
        if expected is not None:
            assert_array_equal(found, expected)


def test_the_efforts_are_those_of_a_message():
    yaml = pytest.importorskip('yaml')
    row = np.array([[1.0, 2.0]])
    text = trajectory_text(
        FeedforwardTrajectory(('a', 'b'), np.array([0.5]), row, None, None, -row)
    )
    assert yaml.safe_load(text) == {
        'joint_names': ['a', 'b'],
        'points': [
            {
                'positions': [1.0, 2.0],
                'effort': [-1.0, -2.0],
                'time_from_start': {'sec': 0, 'nanosec': 500000000},
            }
        ],
    }


def changed(old, new, text=ECHO):
    assert old in text
    return text.replace(old, new, 1)


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        ('', 'line 1: the file must be a mapping'),
        ('[1]', 'line 1: the file must be a mapping'),
        ('a: [1', 'line .*correct the YAML there'),
        ('joint_names: [a]\n', 'line 1: points is missing'),
        (changed('- elbow', '- [elbow]'), r'line 7: joint_names\[0\] must be a name'),
        (changed('  - 1\n', '  - one\n'), r'line 12: points\[0\].positions\[1\] must be a number'),
        (changed('1.5e-1', '.nan'), r"line 19: point 1, joint 'on': positions must be finite"),
        (changed('[0.25, ', '['), r'line 19: points\[1\].positions has 1 numbers for 2 joints'),
        (changed('velocities: [0.0, 0.0]', 'speed: []'), r"line 19: points\[1\].*key 'speed'"),
        (changed('{sec: 1, ', '{s: 1, '), r'line 21: points\[1\].time_from_start must be seconds'),
        (changed('sec: 1, nanosec', 'sec: 0, nanosec'), None),
        (changed('sec: 1, nanosec: 5', 'sec: 0, nanosec: 0'), 'line 19: .*must strictly increase'),
        (changed('- positions: [0.25', '- position: [0.25'), "unknown key 'position'"),
        (changed('  velocities: [0.0, 0.0]\n', ''), 'line 19: point 1 has no velocities'),
        (changed('[0.0, 0.0]', '[0.0, 0.1]'), "line 19: .*joint 'on'.*end with velocity 0"),
        (changed("- 'on'", '- elbow'), "joint 'elbow' is named twice"),
        (changed('points:', 'joint_names:'), "the file has 'joint_names' twice"),
        ('joint_names: [a]\npoints: {}', 'line 2: points must be a list'),
        ('joint_names: [a]\npoints: []', 'needs at least one point'),
    ],
)
def test_an_error_names_line_and_key(text, message):
    if message is None:
        parse_trajectory(text)
        return
    with pytest.raises(TrajectoryError, match=message):
        parse_trajectory(text)


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        ('', 'line 1: the first column must be "time"'),
        ('t,a\n0,0', 'line 1: the first column must be "time"'),
        ('time,a,,b', 'line 1: column 3 has no name'),
        ('time,a,a.position', 'line 1: there are two columns a.position'),
        ('time,a,b.velocity', 'line 1: velocities of .* are missing'),
        ('time,a,a.velocity,b.velocity', 'line 1: there is no column b.position'),
        ('time,a\n0,0,0', 'line 2: there are 3 values for 2 columns'),
        ('time,a\n0,0\n1,x', "line 3: a must be a number, got 'x'"),
        ('time,a\n\n1,0\n1,0', 'line 4: .*must strictly increase'),
        ('time,a\n0,inf', "line 2: point 0, joint 'a'.*must be finite"),
        ('time\n0', 'names no joints'),
    ],
)
def test_an_error_of_a_table_names_line_and_column(text, message):
    with pytest.raises(TrajectoryError, match=message):
        parse_trajectory(text, 'csv')


def test_files_that_cannot_be_read_are_named(tmp_path):
    with pytest.raises(TrajectoryError, match='no.yaml cannot be read: No such file'):
        read_trajectory('no.yaml')
    path = tmp_path / 'bytes.yaml'
    path.write_bytes(b'a: \xff')
    with pytest.raises(TrajectoryError, match='byte 3 is not UTF-8'):
        read_trajectory(str(path))
    with path.open('r+b') as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(TrajectoryError, match='more than the limit of 67108864'):
        read_trajectory(str(path))
    with pytest.raises(TrajectoryError, match='more than 64 levels'):
        parse_trajectory('[' * 50_000)


def test_formats_follow_from_names():
    assert [format_of(name) for name in ('a.CSV', 'a.yaml', 'csv')] == ['csv', 'yaml', 'yaml']


def test_the_example_gives_the_documented_output():
    assert doctests.run(parse_trajectory.__doc__, {}) == ''
