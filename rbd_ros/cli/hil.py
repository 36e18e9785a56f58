# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""`rbd_ros hil scenario.yaml`: test of a controller against a simulated robot with faults."""

from __future__ import annotations

import argparse
import subprocess
import sys
from typing import List, NoReturn

from rbd_ros.hil.command import (
    add_arguments as _add_arguments,
    execute,
    is_of_a_node,
    remove_old_reports,
)
from rbd_ros.hil.scenario.controller_entry import CONTROLLERS
from rbd_ros.hil.scenario.scenario import read_scenario

HIL_RUN = 'rbd_ros.nodes.bench.hil_run'
EXIT_CODES = {
    0: 'all limits were kept',
    1: 'a limit was exceeded, the controller failed, or a file or a value cannot be used',
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `rbd_ros hil`."""
    _add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run a scenario and write its report.

    :return: 0 if all limits were kept, otherwise 1
    :raises ValueError: for an invalid scenario or controller
    """
    if is_of_a_node(arguments):
        file = arguments.replay_recording
        return subprocess.call([sys.executable, '-m', HIL_RUN, '--replay-recording', file])
    remove_old_reports(arguments)
    alone = arguments.scenario is None or arguments.replay_recording
    if alone or not CONTROLLERS[read_scenario(arguments.scenario).controller.kind].over_ros:
        code, text = execute(arguments, _reject)
        print(text)
        return code
    # Code that needs ROS runs in another process, like nodes.
    return subprocess.call([sys.executable, '-m', HIL_RUN, *words_of(arguments)])


def words_of(arguments: argparse.Namespace) -> List[str]:
    """Return the command line of these arguments."""
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    words: List[str] = []
    for name, default in vars(parser.parse_args(['scenario'])).items():
        value = getattr(arguments, name)
        if name != 'scenario' and value != default:
            option = f'--{name.replace("_", "-")}'
            words.append(option if value is True else f'{option}={value}')
    return [*words, '--', arguments.scenario]


def _reject(*_: object) -> NoReturn:
    raise ValueError('the controller of the scenario has changed meanwhile; run the command again')
