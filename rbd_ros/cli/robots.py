# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""`rbd_ros robots`: the names of robots for commands, launch files and `Robot`."""

from __future__ import annotations

import argparse
import json

from rbd_ros.cli.options.common_options import add_json_option
from rbd_ros.cli.output.text_table import table
from rbd_ros.lookup.robots import common_names, embedded_robots, example_robots, INSTALL_EXAMPLES


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `rbd_ros robots`."""
    add_json_option(parser)


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
        print(
            f'\nMore robots are in example-robot-data, which is not installed: {INSTALL_EXAMPLES}'
        )
        return 0
    called = {name: [] for name in others}
    for common, name in common_names().items():
        called[name].append(common)
    print('\nRobots of example-robot-data')
    rows = [(name, ', '.join(called[name])) for name in others]
    print('\n'.join(table(('name', 'also called'), rows, '..')))
    print('\nA unique part of a name is enough, such as ur10_r. The case does not matter.')
    return 0
