# SPDX-License-Identifier: Apache-2.0
"""Entry point of the `rbd_ros` command.

A subcommand is a module of this package with `add_arguments(parser)` and `run(arguments)`, which
returns the exit code; it is imported only when it is named, so that `rbd_ros info` does not wait
for what `rbd_ros bench` needs. Exit codes that only it has are in its `EXIT_CODES`.
"""

from __future__ import annotations

import argparse
from importlib import import_module
import os
import sys
from typing import Dict, List, Optional

from rbd_ros import __version__
from rbd_ros.cli.progress import CompilationNotices
from rbd_ros.programs import INTERRUPTED, unguard

SUBCOMMANDS = {
    'robots': 'list the robots that are known by name',
    'worlds': 'list the worlds that are known by name',
    'info': 'print the tree, masses, limits and warnings of a URDF',
    'doctor': 'tell what is wrong with a URDF, this machine and the running nodes, and the cures',
    'static-torque': 'tell whether the effort limits of a robot hold it against gravity',
    'feedforward': 'add the efforts of a trajectory to it, and check it against limits',
    'excitation-trajectory': 'write a motion that excites the parameters of a robot',
    'identify': 'estimate payload, inertias and friction of a robot from a recording',
    'validate-model': 'compare the efforts of a recording with those of the model of a robot',
    'bench': 'measure the compiled algorithms against their peers',
    'codegen': 'write functions of a robot as a C99 library, or the robot as an FMU',
    'hil': 'test a controller against a simulated robot that breaks on purpose',
    'simulate': 'show a simulated robot in a browser page, or record it as one',
    'demo': 'track a trajectory with a simulated arm over ROS 2',
}


#: Meaning of the exit codes of every subcommand; `--help` ends with them.
EXIT_CODES = {
    0: 'done',
    1: 'the robot, a file or a value cannot be used',
    2: 'the command line is wrong',
    INTERRUPTED: 'interrupted by Ctrl-C',
}


def main(argv: Optional[List[str]] = None) -> int:
    """Run the command.

    :param argv: arguments without the program's name; those of the process by default
    :return: exit code, see `EXIT_CODES` here and in the subcommands
    """
    try:
        return _run(sys.argv[1:] if argv is None else list(argv))
    except KeyboardInterrupt:  # while modules are imported or arguments read, too
        return INTERRUPTED


def _run(argv: List[str]) -> int:
    named = next((word for word in argv if word in SUBCOMMANDS), None)
    parser, subparsers = _parser()
    if named is not None:
        try:
            module = import_module(f'rbd_ros.cli.{named.replace("-", "_")}')
        except ImportError as error:
            return _fail(named, f'cannot be loaded: {error}', 2)
        module.add_arguments(subparsers[named])
        if not subparsers[named].epilog:
            subparsers[named].epilog = _exit_codes(getattr(module, 'EXIT_CODES', {}))
    arguments = parser.parse_args(argv)
    if arguments.subcommand is None:
        parser.print_help()
        return 2
    if hasattr(sys.stdout, 'reconfigure'):
        sys.stdout.reconfigure(errors='backslashreplace')  # names of links may hold any character
    try:
        unguard()
        with CompilationNotices():
            code = module.run(arguments)
        sys.stdout.flush()
        return code
    except ValueError as error:  # ModelError is one
        return _fail(named, str(error), 1)
    except BrokenPipeError:
        # The reader (head, less) has seen enough; keep Python from complaining at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _parser() -> tuple:
    parser = argparse.ArgumentParser(
        prog='rbd_ros', description='Rigid-body dynamics of a robot from its URDF.'
    )
    parser.add_argument('--version', action='version', version=f'rbd_ros {__version__}')
    commands = parser.add_subparsers(dest='subcommand', metavar='SUBCOMMAND')
    subparsers = {
        name: commands.add_parser(name, help=text, description=f'{text[0].upper()}{text[1:]}.')
        for name, text in SUBCOMMANDS.items()
    }
    return parser, subparsers


def _exit_codes(own: Dict[int, str]) -> str:
    meanings = sorted({**EXIT_CODES, **own}.items())
    return f'Exit codes: {"; ".join(f"{code}: {meaning}" for code, meaning in meanings)}.'


def _fail(subcommand: str, message: str, code: int) -> int:
    print(f'rbd_ros {subcommand}: error: {message}', file=sys.stderr)
    return code


if __name__ == '__main__':
    sys.exit(main())
