# SPDX-License-Identifier: Apache-2.0
"""Settings that identify a campaign, so that one table never holds rows of two."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, Dict, List, Mapping

from rbd_ros import __version__
from rbd_ros.bounded_files import MAX_TEXT, read_bytes
from rbd_ros.hil.plants.plant import PLANTS
from rbd_ros.hil.scenario.controller_entry import Controller, CONTROLLERS
from rbd_ros.hil.scenario.scenario import Scenario

FORMAT = 'rbd_ros campaign 2'

#: Maximum size of a file that says what a controller does [bytes].
MAX_SOURCE = 1 << 30


def fingerprints(path: str, scenario: Scenario) -> Dict[str, str]:
    """Return the fingerprints of all that rows depend on, by what it is.

    :param path: of the scenario file
    :param scenario: the same, read
    """
    content = read_bytes(path, MAX_TEXT) + scenario.description.encode()
    result = {
        'version': __version__,
        'scenario': hashlib.sha256(content).hexdigest(),
        'controller': _of_files(files_of(scenario.controller)),
    }
    if scenario.plant is not None:
        files = PLANTS[scenario.plant.kind].files(scenario.plant)
        result['plant'] = _of_files([Path(each) for each in files])
    return result


def files_of(controller: Controller) -> List[Path]:
    """Return files that a controller names and that are there: Python, libraries, FMUs, programs.

    What these load in turn, and what `ros2 run` finds by the name of a package, is not seen.
    """
    names = CONTROLLERS[controller.kind].files(controller)
    return [Path(each) for each in names if Path(each).is_file()]


def _of_files(paths: List[Path]) -> str:
    total = hashlib.sha256()
    for path in paths:
        # One after another: where one ends and the next begins is part of it.
        total.update(hashlib.sha256(read_bytes(path, MAX_SOURCE)).digest())
    return total.hexdigest()


def what_differs(one: Mapping[str, Any], other: Mapping[str, Any], scenario: Scenario) -> str:
    """Return the name what is not the same in two sets of fingerprints; '' if all is.

    :param scenario: whose controller and plant are named
    """
    named = {
        'version': 'the version of rbd_ros',
        'scenario': 'the scenario',
        'controller': f'the controller {" ".join(scenario.controller.words)}',
        'plant': 'the plant' if scenario.plant is None else f'the plant {scenario.plant.name}',
    }
    return next((named[key] for key in named if one.get(key) != other.get(key)), '')
