# SPDX-License-Identifier: Apache-2.0
"""`rbd_ros excitation-trajectory robot.urdf`: a motion from which a robot can be identified."""

from __future__ import annotations

import argparse
import sys
from typing import Dict, Sequence, Tuple

from rbd_ros.cli.info import add_model_arguments, model_options, named_robot
from rbd_ros.cli.option_values import write_output
from rbd_ros.cli.progress import TerminalProgress
from rbd_ros.cli.recorded import robot_of
from rbd_ros.control.trajectory_files import format_of, trajectory_text
from rbd_ros.identification import excitation


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `rbd_ros excitation-trajectory`."""
    add_model_arguments(parser)
    parser.add_argument(
        '-o',
        '--output',
        metavar='FILE',
        default='-',
        help='trajectory to write, .csv or YAML (standard output)',
    )
    parser.add_argument(
        '--range',
        metavar='JOINT=LOW:HIGH',
        action='append',
        default=[],
        help='where a joint may move; may be repeated',
    )
    parser.add_argument(
        '--period', type=float, default=10.0, metavar='SECONDS', help='of the motion (10)'
    )
    parser.add_argument(
        '--point-spacing',
        type=float,
        default=0.02,
        metavar='SECONDS',
        help='between points (0.02)',
    )
    parser.add_argument(
        '--start-time',
        type=float,
        default=5.0,
        metavar='SECONDS',
        help='time of the first point, in which the controller takes the robot there (5)',
    )
    parser.add_argument(
        '--velocity-scaling',
        type=float,
        default=0.5,
        metavar='SHARE',
        help='share of the speed limits (0.5)',
    )
    parser.add_argument('--seed', type=int, default=1, help='of the optimisation (1)')


def run(arguments: argparse.Namespace) -> int:
    """Find the motion and write it.

    :return: 0
    :raises ModelError: if the URDF cannot become a model
    :raises ValueError: for a value that cannot be used
    """
    robot = robot_of(named_robot(arguments), model_options(arguments))
    with TerminalProgress('looking for a motion') as progress:
        found = excitation(
            robot,
            period=arguments.period,
            step=arguments.point_spacing,
            start=arguments.start_time,
            ranges=ranges(arguments.range),
            speed=arguments.velocity_scaling,
            seed=arguments.seed,
            progress=progress,
        )
    text = trajectory_text(found.trajectory, format_of(arguments.output))
    if arguments.output == '-':
        sys.stdout.write(text)
    else:
        write_output(arguments.output, text)
    print(
        f'{len(found.trajectory.times)} points, {found.period:g} s, condition number '
        f'{found.condition:.1f}. Collisions are not looked at: see the motion before a robot '
        'makes it.',
        file=sys.stderr if arguments.output == '-' else sys.stdout,
    )
    return 0


def ranges(words: Sequence[str]) -> Dict[str, Tuple[float, float]]:
    """Return the ranges of joints from the command line.

    :raises ValueError: for what is none
    """
    found = {}
    for word in words:
        name, _, values = word.rpartition('=')
        try:
            low, high = (float(value) for value in values.split(':'))
        except ValueError:
            raise ValueError(f'--range {word!r}: write JOINT=LOW:HIGH') from None
        if not name:
            raise ValueError(f'--range {word!r}: write JOINT=LOW:HIGH')
        found[name] = low, high
    return found
