# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Options of several commands: one name, one syntax and one help text for each.

`rbd_ros.cli.options.option_values` parses their values.
"""

from __future__ import annotations

import argparse
from typing import Optional

GRAVITY = 'X,Y,Z'
JOINT_VALUES = 'JOINT=VALUE,...'
PAYLOAD = 'MASS@LINK[:X,Y,Z]'
#: Position variables as numbers, or those of some joints by name.
CONFIGURATION = 'Q1,Q2,...|JOINT=VALUE,...'


def add_json_option(parser: argparse.ArgumentParser) -> None:
    """Add `--json`."""
    parser.add_argument('--json', action='store_true', help='print JSON')


def add_plot_option(parser: argparse.ArgumentParser) -> None:
    """Add `--plot`."""
    parser.add_argument('--plot', metavar='FILE.png', help='write a plot')


def add_output_option(
    parser: argparse.ArgumentParser, metavar: str, text: str, default: Optional[str] = None
) -> None:
    """Add `-o`, `--output`.

    :param metavar: kind of path
    :param text: content of the output
    """
    parser.add_argument('-o', '--output', metavar=metavar, default=default, help=text)


def add_gravity_option(parser: argparse.ArgumentParser) -> None:
    """Add `--gravity`."""
    parser.add_argument(
        '--gravity',
        metavar=GRAVITY,
        help='acceleration of gravity in base coordinates [m/s^2], such as --gravity=0,0,9.81 on '
        'a ceiling (default: 0,0,-9.81)',
    )


def add_payload_option(parser: argparse.ArgumentParser) -> None:
    """Add `--payload`."""
    parser.add_argument(
        '--payload',
        metavar=PAYLOAD,
        help='point mass [kg] on a link, at X,Y,Z in the link [m] (default: at its origin), such '
        'as 2.5@tool0 or 2.5@tool0:0,0,0.1',
    )


def add_missing_joints_option(parser: argparse.ArgumentParser, of: str) -> None:
    """Add `--missing-joints`.

    :param of: name of the incomplete input
    """
    parser.add_argument(
        '--missing-joints',
        metavar=JOINT_VALUES,
        default='',
        help=f'positions of the joints that the {of} does not contain [rad, m]',
    )


def add_point_spacing_option(
    parser: argparse.ArgumentParser, text: str, default: Optional[float] = None
) -> None:
    """Add `--point-spacing`.

    :param text: help text
    """
    parser.add_argument(
        '--point-spacing', type=float, default=default, metavar='SECONDS', help=text
    )


def add_time_scale_option(
    parser: argparse.ArgumentParser, more: str = '', default: Optional[float] = None
) -> None:
    """Add `--time-scale`, which multiplies times: a larger one makes a motion slower.

    :param more: further values in the help text
    """
    parser.add_argument(
        '--time-scale',
        type=str if default is None else float,
        default=default,
        metavar='FACTOR',
        help='multiply the times of the motion by FACTOR and divide its velocities by it: 2 makes '
        f'it half as fast{more} (default: 1)',
    )


def add_seed_option(parser: argparse.ArgumentParser, default: int) -> None:
    """Add `--seed`."""
    parser.add_argument(
        '--seed',
        type=int,
        default=default,
        metavar='N',
        help='seed of the random numbers (default: %(default)s)',
    )
