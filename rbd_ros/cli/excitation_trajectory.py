# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""`rbd_ros excitation-trajectory robot.urdf`: a motion for the identification of a robot."""

from __future__ import annotations

import argparse
import sys
from typing import Dict, Sequence, Tuple

from rbd_ros.cli.options.common_options import (
    add_output_option,
    add_point_spacing_option,
    add_seed_option,
)
from rbd_ros.cli.options.option_values import positive, write_output
from rbd_ros.cli.options.robot_options import add_robot_options, model_options, named_robot
from rbd_ros.cli.output.progress import TerminalProgress
from rbd_ros.cli.output.recorded import robot_of
from rbd_ros.cli.output.text_table import plural
from rbd_ros.control.motion.trajectory_files import format_of, trajectory_text
from rbd_ros.identification import excitation

RANGE = 'JOINT=LOW:HIGH'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `rbd_ros excitation-trajectory`."""
    add_robot_options(parser)
    add_output_option(
        parser, 'FILE', 'write the trajectory to FILE, .csv or YAML (default: - for stdout)', '-'
    )
    parser.add_argument(
        '--range',
        metavar=RANGE,
        action='append',
        default=[],
        help='positions that a joint may take [rad, m]; may be repeated',
    )
    parser.add_argument(
        '--period',
        type=float,
        default=10.0,
        metavar='SECONDS',
        help='period of the motion, which is its duration (default: %(default)g)',
    )
    add_point_spacing_option(parser, 'time between two points (default: %(default)g)', 0.02)
    parser.add_argument(
        '--start-time',
        type=float,
        default=5.0,
        metavar='SECONDS',
        help='time of the first point; the controller moves the robot there until then (default: '
        '%(default)g)',
    )
    parser.add_argument(
        '--velocity-scaling',
        type=float,
        default=0.5,
        metavar='SCALE',
        help='share of the velocity limits that the motion may use, above 0 and at most 1, as in '
        'MoveIt (default: %(default)g)',
    )
    add_seed_option(parser, default=1)


def run(arguments: argparse.Namespace) -> int:
    """Compute the motion and write it.

    :return: 0
    :raises ModelError: if the URDF cannot be converted to a model
    :raises ValueError: for an invalid value
    """
    for option in ('period', 'point_spacing', 'velocity_scaling'):
        positive(f'--{option.replace("_", "-")}', getattr(arguments, option))
    scale = arguments.velocity_scaling
    if scale > 1.0:
        raise ValueError(f'--velocity-scaling must be at most 1, got {scale:g}')
    robot = robot_of(named_robot(arguments), model_options(arguments))
    with TerminalProgress('computing the motion') as progress:
        found = excitation(
            robot,
            period=arguments.period,
            point_spacing=arguments.point_spacing,
            start_time=arguments.start_time,
            ranges=ranges(arguments.range),
            velocity_scaling=scale,
            seed=arguments.seed,
            progress=progress,
        )
    text = trajectory_text(found.trajectory, format_of(arguments.output))
    if arguments.output == '-':
        sys.stdout.write(text)
    else:
        write_output(arguments.output, text)
    print(
        f'{plural(len(found.trajectory.times), "point")}, {found.period:g} s, condition number '
        f'{found.condition_number:.1f}. This command does not check for collisions: look at the '
        'motion in simulation first.',
        file=sys.stderr if arguments.output == '-' else sys.stdout,
    )
    return 0


def ranges(words: Sequence[str]) -> Dict[str, Tuple[float, float]]:
    """Return the ranges of joints from the command line.

    :raises ValueError: for an invalid text
    """
    found = {}
    for word in words:
        name, _, values = word.rpartition('=')
        try:
            low, high = (float(value) for value in values.split(':'))
        except ValueError:
            name = ''
        if not name:
            raise ValueError(f'--range must be {RANGE}, such as elbow=0.5:2.5, got {word!r}')
        found[name] = low, high
    return found
