# SPDX-License-Identifier: Apache-2.0
"""Settings that identify a campaign, so that one table never holds rows of two."""

from __future__ import annotations

import hashlib
import importlib.util
from pathlib import Path
from typing import Any, Dict, List, Mapping

from rbd_ros import __version__
from rbd_ros.bounded_files import MAX_TEXT, read_bytes
from rbd_ros.hil.scenario.controller_entry import Controller
from rbd_ros.hil.scenario.scenario import Scenario

FORMAT = 'rbd_ros campaign 2'

#: Files among the words of a command that say what a controller does. Others may be its output.
SOURCES = ('.py', '.so', '.fmu', '.xml', '.yaml')
#: Maximum size of one of them [bytes].
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
        result['plant'] = _of_files([Path(scenario.plant.path)])
    return result


def files_of(controller: Controller) -> List[Path]:
    """Return files that a controller names and that are there: Python, libraries, FMUs, programs.

    What these load in turn, and what `ros2 run` finds by the name of a package, is not seen.
    """
    words = controller.words
    if controller.kind == 'python':
        module = words[0].rpartition(':')[0]
        names = [module if module.endswith('.py') else _origin(module)]
    elif controller.kind in ('c', 'fmu'):
        names = [words[0]]
    else:
        names = [*words[:1], *(each for each in words[1:] if each.endswith(SOURCES))]
    return [Path(each) for each in names if each and Path(each).is_file()]


def _origin(module: str) -> str:
    """Return the file of a module; '' if there is none."""
    try:
        spec = importlib.util.find_spec(module)
    except Exception:  # whatever somebody's package raises; making the controller reports it
        return ''
    return '' if spec is None or spec.origin is None else spec.origin


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
        'plant': 'the plant' if scenario.plant is None else f'the plant {scenario.plant.path}',
    }
    return next((named[key] for key in named if one.get(key) != other.get(key)), '')
