# SPDX-License-Identifier: Apache-2.0
"""The commands of `rbd_ros` in groups, and the nearest command to a word that is none."""

from __future__ import annotations

import difflib
from importlib import import_module
from types import ModuleType
from typing import Dict, List

#: Title of a group -> its commands, each with a sentence.
GROUPS: Dict[str, Dict[str, str]] = {
    'Look at a robot': {
        'robots': 'List the robots that have a name.',
        'worlds': 'List the worlds that have a name.',
        'info': 'Print the tree, masses, limits and warnings of a URDF.',
    },
    'Set up and diagnose': {
        'doctor': 'Find errors of a URDF, the machine and the running nodes.',
    },
    'Simulate': {
        'simulate': 'Show a simulated robot in a browser, or record it.',
        'demo': 'Track a trajectory with a simulated arm over ROS 2.',
    },
    'Compute torques': {
        'static-torque': 'Check whether the effort limits hold a robot against gravity.',
        'feedforward': 'Add efforts to a trajectory, and check it against the limits.',
    },
    'Identify a robot': {
        'excitation-trajectory': 'Write a motion that excites the parameters of a robot.',
        'identify': 'Estimate payload, inertias and friction from a recording.',
        'validate-model': 'Compare the efforts of a recording with those of the model.',
    },
    'Test a controller': {
        'hil': 'Run a controller against a simulated robot with faults, and report.',
    },
    'Export': {
        'codegen': 'Write functions of a robot as C99 sources, or the robot as an FMU.',
    },
}
COMMANDS = {name: text for commands in GROUPS.values() for name, text in commands.items()}

#: Words that people try, and the commands that do this.
_RELATED = {
    'annotate': 'feedforward',
    'c': 'codegen',
    'check': 'doctor',
    'evaluate': 'validate-model',
    'excite': 'excitation-trajectory',
    'export': 'codegen',
    'fmu': 'codegen',
    'gravity': 'static-torque',
    'holding': 'static-torque',
    'lint': 'doctor',
    'list': 'robots',
    'payload': 'identify',
    'show': 'info',
    'simulator': 'simulate',
    'validate': 'validate-model',
    'view': 'simulate',
    'viewer': 'simulate',
}


def load_command(name: str) -> ModuleType:
    """Import the module of a command.

    :raises ImportError: if it cannot be loaded

    >>> from rbd_ros.cli.commands import load_command
    >>> load_command('static-torque').__name__
    'rbd_ros.cli.static_torque'
    """
    return import_module(f'rbd_ros.cli.{name.replace("-", "_")}')


def nearest(word: str) -> List[str]:
    """Return the commands that a word may mean, the best first; none if there is no such one.

    >>> from rbd_ros.cli.commands import nearest
    >>> nearest('simulte'), nearest('holding'), nearest('xyz')
    (['simulate'], ['static-torque'], [])
    """
    word = word.lower().replace('_', '-')
    if word in COMMANDS:
        return [word]
    if word in _RELATED:
        return [_RELATED[word]]
    found = difflib.get_close_matches(word, [*COMMANDS, *_RELATED], n=3)
    found = found or [name for name in COMMANDS if len(word) > 2 and word in name]
    return list(dict.fromkeys(_RELATED.get(name, name) for name in found))
