# SPDX-License-Identifier: Apache-2.0
"""Command line of `rbd_ros`: its parser, and the exit codes of all commands."""

from __future__ import annotations

import argparse
from textwrap import wrap
from typing import Dict, List, Optional, Sequence, Tuple

from rbd_ros import __version__
from rbd_ros.cli.commands import COMMANDS, GROUPS, load_command
from rbd_ros.programs import INTERRUPTED

#: Meaning of the exit codes of every command; `--help` ends with them.
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

    :param named: the command whose arguments it has
    :raises ImportError: if the module of that command cannot be loaded
    """
    parser, commands = _parser()
    if named in COMMANDS:
        module = load_command(named)
        command = commands[named]
        module.add_arguments(command)
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
