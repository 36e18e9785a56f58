# SPDX-License-Identifier: Apache-2.0
"""Entry point of the `rbd_ros` command.

A command is a module of this package with `add_arguments(parser)` and `run(arguments)`, which
returns the exit code. It is imported only when it is named, so that `rbd_ros info` does not wait
for the imports of `rbd_ros identify`. Its `EXIT_CODES` are the exit codes that only it has.
"""

from __future__ import annotations

import argparse
import os
import sys
from textwrap import wrap
from typing import Dict, List, Optional, Sequence, Tuple

from rbd_ros import __version__
from rbd_ros.cli.commands import COMMANDS, GROUPS, load_command, nearest
from rbd_ros.cli.output.progress import CompilationNotices
from rbd_ros.programs import INTERRUPTED, unguard

#: Meaning of the exit codes of every command; `--help` ends with them.
EXIT_CODES = {
    0: 'done',
    1: 'the robot, a file or a value cannot be used',
    2: 'the command line is wrong',
    INTERRUPTED: 'interrupted by Ctrl-C',
}
#: Set by the shell that asks for completions.
_COMPLETION = '_ARGCOMPLETE'


def main(argv: Optional[List[str]] = None) -> int:
    """Run the command.

    :param argv: arguments without the program's name; those of the process by default
    :return: exit code, see `EXIT_CODES` here and in the modules of the commands
    """
    try:
        if _COMPLETION in os.environ and argv is None:
            from rbd_ros.cli.options.completion import complete

            return complete()
        return _run(sys.argv[1:] if argv is None else list(argv))
    except KeyboardInterrupt:  # while modules are imported or arguments read, too
        return INTERRUPTED


def _run(argv: List[str]) -> int:
    named = named_command(argv)
    if named is not None and named not in COMMANDS:
        return _unknown(named)
    try:
        parser = make_parser(named)
    except ImportError as error:
        return _fail(named, f'cannot be loaded: {error}', 2)
    arguments = parser.parse_args(argv)
    if named is None:
        parser.print_help()
        return 2
    module = load_command(named)
    if hasattr(sys.stdout, 'reconfigure'):
        sys.stdout.reconfigure(errors='backslashreplace')  # names of links may hold any character
    try:
        unguard()
        with CompilationNotices():
            code: int = module.run(arguments)
        sys.stdout.flush()
        return code
    except ValueError as error:  # ModelError is one
        return _fail(named, str(error), 1)
    except BrokenPipeError:
        # The reader (head, less) has seen enough; keep Python from complaining at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def named_command(words: Sequence[str]) -> Optional[str]:
    """Return the first word that is no option, which is the command; None if there is none."""
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


def _unknown(word: str) -> int:
    """Report a word that is no command, with the nearest ones."""
    found = nearest(word)
    hint = f'did you mean {" or ".join(found)}? ' if found else ''
    make_parser(None).print_usage(sys.stderr)
    text = f'unknown command {word[:80]!r}; {hint}rbd_ros --help lists all commands'
    print(f'rbd_ros: error: {text}', file=sys.stderr)
    return 2


def _fail(command: Optional[str], message: str, code: int) -> int:
    print(f'rbd_ros {command}: error: {message}', file=sys.stderr)
    return code


if __name__ == '__main__':
    sys.exit(main())
