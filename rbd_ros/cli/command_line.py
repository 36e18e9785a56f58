# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Command line of `rbd_ros`: its parser, and the exit codes of all commands."""

from __future__ import annotations

import argparse
from importlib import import_module
from textwrap import wrap
from types import ModuleType
from typing import Dict, List, NoReturn, Optional, Sequence, Tuple

from rbd_ros import __version__
from rbd_ros.model.errors import did_you_mean, similar_names
from rbd_ros.programs import INTERRUPTED

#: Commands of each group, with a description.
GROUPS: Dict[str, Dict[str, str]] = {
    'Look at a robot': {
        'robots': 'List the robots that have a name.',
        'worlds': 'List the worlds that have a name.',
        'view': 'Show a robot in a browser, and move its joints by sliders.',
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

#: Related words, and the commands for them.
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
    'viewer': 'view',
}


def load_command(name: str) -> ModuleType:
    """Import the module of a command.

    :raises ImportError: if it cannot be loaded

    >>> from rbd_ros.cli.command_line import load_command
    >>> load_command('static-torque').__name__
    'rbd_ros.cli.static_torque'
    """
    return import_module(f'rbd_ros.cli.{name.replace("-", "_")}')


def nearest(word: str) -> List[str]:
    """Return the commands that a word may mean, the best first; none if nothing is similar.

    >>> from rbd_ros.cli.command_line import nearest
    >>> nearest('simulte'), nearest('holding'), nearest('xyz')
    (['simulate'], ['static-torque'], [])
    """
    word = word.lower().replace('_', '-')
    if word in COMMANDS:
        return [word]
    if word in _RELATED:
        return [_RELATED[word]]
    found = similar_names(word, [*COMMANDS, *_RELATED])
    found = found or [name for name in COMMANDS if len(word) > 2 and word in name]
    return list(dict.fromkeys(_RELATED.get(name, name) for name in found))


def reject_arguments(parser: argparse.ArgumentParser, unknown: Sequence[str]) -> NoReturn:
    """Report unknown arguments of a command, with options of similar names.

    :param parser: the parser of the command
    :raises SystemExit: always, with exit code 2
    """
    options = [name for action in parser._actions for name in action.option_strings]
    words = [word.partition('=')[0] for word in unknown if word.startswith('--')]
    similar = [name for word in words for name in similar_names(word, options, 1)]
    parser.error(f'unrecognized arguments: {" ".join(unknown)}{did_you_mean(similar)}')


#: Meanings of the exit codes of every command, which `--help` shows.
EXIT_CODES = {
    0: 'done',
    1: 'the robot, a file or a value cannot be used',
    2: 'the command line is wrong',
    INTERRUPTED: 'interrupted by Ctrl-C',
}


def named_command(words: Sequence[str]) -> Optional[str]:
    """Return the first word that is not an option, which is the command, or None."""
    return next((word for word in words if not word.startswith('-')), None)


def make_parser(named: Optional[str]) -> argparse.ArgumentParser:
    """Return the parser of the command line.

    :param named: the command whose arguments are added
    :raises ImportError: if the module of that command cannot be loaded
    """
    parser, commands = _parser()
    if named in COMMANDS:
        module = load_command(named)
        command = commands[named]
        module.add_arguments(command)
        command.set_defaults(parser=command)
        codes = _exit_codes(getattr(module, 'EXIT_CODES', {}))
        command.epilog = '\n\n'.join(filter(None, (command.epilog, codes)))
    return parser


def _parser() -> Tuple[argparse.ArgumentParser, Dict[str, argparse.ArgumentParser]]:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog='rbd_ros',
        usage='rbd_ros [-h] [--version] COMMAND ...',
        description='\n'.join(_overview()),
        epilog='rbd_ros COMMAND --help shows the options and the exit codes of a command.',
        formatter_class=raw,
    )
    parser.add_argument('--version', action='version', version=f'rbd_ros {__version__}')
    commands = parser.add_subparsers(
        dest='subcommand', metavar='COMMAND', prog='rbd_ros', help=argparse.SUPPRESS
    )
    return parser, {
        name: commands.add_parser(name, help=text, description=text, formatter_class=raw)
        for name, text in COMMANDS.items()
    }


def _overview() -> List[str]:
    """Return the lines that list the commands in their groups."""
    width = max(map(len, COMMANDS))
    lines = ['Dynamics, simulation and control of a robot from its URDF.']
    for title, commands in GROUPS.items():
        lines += ['', f'{title}:']
        lines += [f'  {name:<{width}}  {text}' for name, text in commands.items()]
    return lines


def _exit_codes(own: Dict[int, str]) -> str:
    lines = ['exit codes:']
    for code, meaning in sorted({**EXIT_CODES, **own}.items()):
        lines += wrap(meaning, 90, initial_indent=f'  {code:<4} ', subsequent_indent=' ' * 7)
    return '\n'.join(lines)
