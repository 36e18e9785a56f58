# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""`rbd_ros demo`: a simulated arm tracks a fast motion over ROS 2 under three control laws."""

from __future__ import annotations

import argparse

from rbd_ros.cli.options.common_options import add_output_option, add_time_scale_option
from rbd_ros.cli.options.robot_options import (
    add_armature_option,
    add_extension_option,
    add_robot_argument,
    add_xacro_option,
)
from rbd_ros.demonstration.demo import run
from rbd_ros.lookup.robots import DEFAULT_ROBOT

__all__ = ['add_arguments', 'EXIT_CODES', 'run']

EXIT_CODES = {
    0: 'the error with inverse dynamics is --threshold times smaller than with feedback alone',
    1: 'the ratio of the errors is below --threshold',
    2: 'the demo could not run, or the command line is wrong',
    129: 'stopped by SIGHUP',
    143: 'stopped by SIGTERM',
}
EPILOG = """
All laws have the same feedback: that of the inverse_dynamics node with its default parameters.
The third law is the default. The first one has no model and no friction compensation, the second
one has gravity compensation alone. The motion uses 80 % of the velocity limits and 70 % of the
effort limits; the planner ignores self-collision.

The three runs are in lockstep: the simulator waits for the answer to each state, so the verdict
does not depend on the load of the machine. A fourth run in real time shows latency, answered
states and real-time factor, which are not part of the verdict.

The error is the root mean square of the position error over time and joints, as a share of the
joint's swing.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `rbd_ros demo`."""
    parser.epilog = EPILOG.strip()
    add_robot_argument(parser, default=DEFAULT_ROBOT, stdin=False)
    parser.set_defaults(robot=DEFAULT_ROBOT)
    add_xacro_option(parser)
    add_armature_option(parser)
    add_extension_option(parser)
    add_output_option(
        parser,
        'DIR',
        'folder for the plot, table, recordings and logs (default: %(default)s)',
        'demo',
    )
    parser.add_argument(
        '--threshold',
        type=float,
        default=10.0,
        metavar='FACTOR',
        help='factor by which inverse dynamics must reduce the error (default: %(default)g)',
    )
    add_time_scale_option(parser, '; at least 1', 1.0)
    parser.add_argument(
        '--natural-frequency',
        type=float,
        metavar='RAD/S',
        help='natural frequency of the feedback (default: that of the node)',
    )
    parser.add_argument(
        '--domain-id',
        type=int,
        metavar='N',
        help='ROS_DOMAIN_ID of the demo (default: one that is not in use)',
    )
    parser.add_argument('--no-plot', action='store_true', help='do not write the plot')
