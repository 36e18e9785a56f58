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
    robot: Robot, before: ModelValidation, path: str, after: Sequence[ModelValidation] = ()
) -> None:
    """Plot measured and predicted efforts and the residuals, two panels per joint.

    :param robot: the described model
    :param before: its validation
    :param path: file to write
    :param after: validation of the identified model, if any
    :raises ValueError: if it cannot be written
    """
    panels = JointPanels(robot, before.joint_names, 4.6, 3.0, with_residuals=True)
    times = before.times - before.times[0]
    breaks = np.flatnonzero(np.diff(times) > 4.0 * np.median(np.diff(times))) + 1
    t = np.insert(times, breaks, np.nan)
    models = [(before, WRONG if after else PREDICTED, 'model')]
    models += [(found, PREDICTED, 'identified') for found in after]
    for j, (name, axes) in enumerate(panels):
        measured = np.insert(before.measured[:, j], breaks, np.nan)
        axes.plot(t, measured, color=MEASURED, lw=2.4, label='measured')
        residuals = panels.residuals[name]
        for found, color, label in models:
            predicted = np.insert(found.predicted[:, j], breaks, np.nan)
            axes.plot(t, predicted, color=color, lw=1.0, label=label)
            residuals.plot(t, measured - predicted, color=color, lw=0.8)
        errors = [f'{found.joints[j].error:.3g}' for found, _, _ in models]
        text = f'measured - predicted, root mean square {" -> ".join(errors)} {panels.units[name]}'
        residuals.set_title(text, fontsize=7, color=INK)
        if not j:
            place = {'loc': 'lower left', 'bbox_to_anchor': (0.0, 1.1)}
            axes.legend(**place, ncol=3, fontsize=8, frameon=False)
    panels.save(path)


def robot_of(text: Union[str, bytes], options: dict) -> Robot:
    """Return the robot of a URDF with the options of the command line."""
    return Robot.from_urdf(text, **options)
