# SPDX-License-Identifier: Apache-2.0
"""Arguments and plots of efforts that the commands about recordings share."""

from __future__ import annotations

import argparse
import math
from typing import Sequence, Union

import numpy as np

from rbd_ros import Robot
from rbd_ros.cli.info import add_model_arguments, named_robot
from rbd_ros.cli.joint_panels import INK, JointPanels
from rbd_ros.cli.option_values import POSITIONS
from rbd_ros.identification import Evaluation, read_description, read_recording, Recording
from rbd_ros.plot_names import plot_name

MEASURED, PREDICTED, WRONG = '#9aa5b1', '#1769aa', '#e4572e'


def add_recording_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that say which recording of which robot, and how it is filtered."""
    add_model_arguments(parser, required=False)
    parser.add_argument(
        'recording',
        help='.csv with the columns time, JOINT.position and JOINT.effort; .mcap or .db3 with '
        'joint states, or the folder of a bag',
    )
    parser.add_argument(
        '--topic',
        default='joint_states',
        help='topic of the joint states, or several with commas between (joint_states)',
    )
    parser.add_argument(
        '--between', metavar='BEGIN,END', help='use the time between these alone [s]'
    )
    parser.add_argument(
        '--cutoff',
        type=float,
        default=0.0,
        metavar='HZ',
        help='cutoff frequency of the filter (10, less if the recording is slow)',
    )
    parser.add_argument(
        '--missing-joints',
        metavar=POSITIONS,
        default='',
        help='where joints were held that the recording leaves out',
    )
    parser.add_argument('--plot', metavar='FILE.png', help='write a plot')
    parser.add_argument('--json', action='store_true', help='print JSON')


def described(arguments: argparse.Namespace) -> Union[str, bytes]:
    """Return path or text of the robot that the arguments name, or else of that in the recording.

    :raises RobotNotFoundError: if it is not found
    :raises ValueError: if none is named, and none recorded
    """
    if arguments.robot is None:
        return read_description(arguments.recording).encode()
    return named_robot(arguments)


def recording_of(arguments: argparse.Namespace) -> Recording:
    """Return the recording that the arguments name.

    :raises ValueError: if it cannot be read, or a value makes no sense
    """
    if not (math.isfinite(arguments.cutoff) and arguments.cutoff >= 0.0):
        raise ValueError(f'--cutoff must be positive, got {arguments.cutoff:g}')
    recording = read_recording(arguments.recording, arguments.topic)
    if arguments.between is None:
        return recording
    try:
        begin, end = (float(word) for word in arguments.between.split(','))
    except ValueError:
        raise ValueError(f'--between {arguments.between!r}: write BEGIN,END in seconds') from None
    return recording.part(begin, end)


def plot_efforts(
    before: Evaluation, path: str, after: Sequence[Evaluation] = (), title: str = ''
) -> None:
    """Plot measured efforts and those of the model, one panel a joint.

    :param before: the model as described
    :param path: file to write
    :param after: the model as identified, if it was
    :param title: of the whole
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
        for values, colour, width, label in lines:
            shown = np.insert(values[:, j], breaks, np.nan)
            axes.plot(t, shown, color=colour, lw=width, label=label)
        if not j:
            axes.legend(fontsize=7, frameon=False)
    panels.figure.suptitle(plot_name(title), fontsize=10, color=INK)
    panels.save(path)


def robot_of(text: Union[str, bytes], options: dict) -> Robot:
    """Return the robot of a URDF with the options of the command line."""
    return Robot.from_urdf(text, **options)
