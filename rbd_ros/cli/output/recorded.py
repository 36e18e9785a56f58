# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Arguments and plots of the commands for recordings."""

from __future__ import annotations

import argparse
import math
from typing import Sequence, Union

import numpy as np

from rbd_ros import Robot
from rbd_ros.cli.options.common_options import (
    add_json_option,
    add_missing_joints_option,
    add_plot_option,
)
from rbd_ros.cli.options.robot_options import add_robot_options, named_robot
from rbd_ros.cli.output.joint_panels import INK, JointPanels
from rbd_ros.identification import (
    ModelValidation,
    read_recording,
    read_robot_description,
    Recording,
)
from rbd_ros.plot_names import plot_name

MEASURED, PREDICTED, WRONG = '#9aa5b1', '#1769aa', '#e4572e'


def add_recording_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments for the robot, its recording, and the filter."""
    add_robot_options(parser, default='the robot_description in the recording')
    parser.add_argument(
        'recording',
        help='.csv file with the columns time, JOINT.position and JOINT.effort; .mcap or .db3 '
        'file with joint states; or folder of a bag',
    )
    parser.add_argument(
        '--topic',
        default='joint_states',
        metavar='TOPIC,...',
        help='topics of the joint states (default: %(default)s)',
    )
    parser.add_argument(
        '--between', metavar='BEGIN,END', help='use only the states between these times [s]'
    )
    parser.add_argument(
        '--cutoff',
        type=float,
        default=0.0,
        metavar='HZ',
        help='cutoff frequency of the filter (default: 10, or less for a slow recording)',
    )
    add_missing_joints_option(parser, 'recording')
    add_json_option(parser)
    add_plot_option(parser)


def described(arguments: argparse.Namespace) -> Union[str, bytes]:
    """Return the path or text of the named robot, otherwise that of the recording.

    :raises RobotNotFoundError: if it is not found
    :raises ValueError: if neither exists
    """
    if arguments.robot is None:
        return read_robot_description(arguments.recording).encode()
    return named_robot(arguments)


def recording_of(arguments: argparse.Namespace) -> Recording:
    """Return the recording of the arguments.

    :raises ValueError: if it or a value is invalid
    """
    if not (math.isfinite(arguments.cutoff) and arguments.cutoff >= 0.0):
        raise ValueError(f'--cutoff must be positive and finite, got {arguments.cutoff:g}')
    recording = read_recording(arguments.recording, arguments.topic)
    if arguments.between is None:
        return recording
    try:
        begin, end = (float(word) for word in arguments.between.split(','))
    except ValueError:
        text = f'--between must be BEGIN,END in seconds, such as 2,8.5, got {arguments.between!r}'
        raise ValueError(text) from None
    return recording.part(begin, end)


def plot_efforts(
    before: ModelValidation, path: str, after: Sequence[ModelValidation] = (), title: str = ''
) -> None:
    """Plot the measured efforts and those of the model, one panel per joint.

    :param before: validation of the described model
    :param path: file to write
    :param after: validation of the identified model, if any
    :param title: title of the figure
    :raises ValueError: if it cannot be written
    """
    panels = JointPanels(before.joint_names, 4.6, 2.3, margin=0.9)
    times = before.times - before.times[0]
    breaks = np.flatnonzero(np.diff(times) > 4.0 * np.median(np.diff(times))) + 1
    t = np.insert(times, breaks, np.nan)
    for j, (_, axes) in enumerate(panels):
        lines = [(before.measured, MEASURED, 2.4, 'measured')]
        lines += [(before.predicted, WRONG if after else PREDICTED, 1.0, 'model')]
        lines += [(found.predicted, PREDICTED, 1.0, 'identified') for found in after]
        for values, color, width, label in lines:
            shown = np.insert(values[:, j], breaks, np.nan)
            axes.plot(t, shown, color=color, lw=width, label=label)
        if not j:
            axes.legend(fontsize=7, frameon=False)
    panels.figure.suptitle(plot_name(title), fontsize=10, color=INK)
    panels.save(path)


def robot_of(text: Union[str, bytes], options: dict) -> Robot:
    """Return the robot of a URDF with the options of the command line."""
    return Robot.from_urdf(text, **options)
