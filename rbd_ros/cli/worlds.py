# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""`rbd_ros worlds`: the names of worlds for commands and launch files."""

from __future__ import annotations

import argparse
import json

from rbd_ros.cli.options.common_options import add_json_option
from rbd_ros.lookup.worlds import embedded_worlds, ENDING


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `rbd_ros worlds`."""
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the names and files of worlds.

    :return: 0
    """
    worlds = {name.removesuffix(ENDING): str(path) for name, path in embedded_worlds().items()}
    if arguments.json:
        print(json.dumps({'worlds': worlds}, indent=2))
        return 0
    print('Worlds that come with rbd_ros')
    print('\n'.join(f'  {name}' for name in worlds))
    return 0
