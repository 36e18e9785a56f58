# SPDX-License-Identifier: Apache-2.0
"""`rbd_ros robots`: the robots that commands, launch files and `Robot.from_urdf` know by name."""

from __future__ import annotations

import argparse
import json

from rbd_ros.cli.info import table
from rbd_ros.robots import common_names, embedded_robots, example_robots, INSTALL_EXAMPLES


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `rbd_ros robots`."""
    parser.add_argument('--json', action='store_true', help='print JSON')


def run(arguments: argparse.Namespace) -> int:
    """Print the names and files of robots.

    :return: 0
    """
    embedded, examples = embedded_robots(), example_robots()
    others = {name: path for name, path in examples.items() if name not in embedded}
    if arguments.json:
        files = {name: str(path) for name, path in {**others, **embedded}.items()}
        print(json.dumps({'robots': files, 'common_names': common_names()}, indent=2))
        return 0
    print('Robots that come with rbd_ros')
    print('\n'.join(f'  {name}' for name in embedded))
    if not others:
        print(f'\nRobots of example-robot-data: none is installed; {INSTALL_EXAMPLES}')
        return 0
    called = {name: [] for name in others}
    for common, name in common_names().items():
        called[name].append(common)
    print('\nRobots of example-robot-data')
    rows = [(name, ', '.join(called[name])) for name in others]
    print('\n'.join(table(('name', 'also called'), rows, '..')))
    print(
        '\nA part of a name is enough where it is clear, as ur10_r; upper and lower case do not '
        'matter.'
    )
    return 0
