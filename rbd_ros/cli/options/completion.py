# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Shell completion by argcomplete: commands, options, names of robots and worlds, and files.

The shell runs the program with the line in COMP_LINE and reads the completions from descriptor 8.
Only then are this module and argcomplete imported.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any, Callable, Iterable, List, Optional, Sequence

from rbd_ros.cli.command_line import COMMANDS, make_parser, named_command
from rbd_ros.lookup.robots import common_names, embedded_robots, example_robots, SUFFIXES
from rbd_ros.lookup.worlds import embedded_worlds, ENDING

Completer = Callable[..., List[str]]

_WORLD_SUFFIXES = ('.yaml', '.yml')


def complete() -> int:
    """Write the completions of the shell's line; none without argcomplete.

    :return: exit code, 1 without argcomplete
    """
    try:
        import argcomplete
    except ImportError:
        return 1
    parser = completing_parser(os.environ['COMP_LINE'][: int(os.environ['COMP_POINT'])])
    argcomplete.autocomplete(parser, always_complete_options=False)
    return 0


def completing_parser(line: str) -> argparse.ArgumentParser:
    """Return the parser of a line, with completers for its values.

    :param line: the line up to the cursor; its last word is incomplete

    >>> from rbd_ros.cli.options.completion import completing_parser
    >>> completing_parser('rbd_ros info six').prog
    'rbd_ros'
    """
    # The program may be a file, python FILE or python -m MODULE.
    words = line.split()[int(os.environ.get('_ARGCOMPLETE', 1)) :]
    named = named_command(words if line[-1:].isspace() else words[:-1])
    parser = make_parser(named if named in COMMANDS else None)
    for each in _all_parsers(parser):
        for action in each._actions:
            found = completer(action)
            if found is not None:
                action.completer = found
    return parser


def _all_parsers(parser: argparse.ArgumentParser) -> Iterable[argparse.ArgumentParser]:
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.values()


def completer(action: argparse.Action) -> Optional[Completer]:
    """Return the completer of an argument's values; None for its choices, or no value.

    :param action: the argument
    """
    if action.choices is not None or action.nargs == 0:
        return None
    metavar = str(action.metavar or '')
    if action.dest == 'robot':
        return _robots
    if action.dest == 'world':
        return _worlds
    if metavar == 'DIR':
        return lambda prefix, **_: paths(prefix, ())
    if metavar.startswith('FILE') or metavar == 'PATH' or not action.option_strings:
        return lambda prefix, **_: paths(prefix)
    return lambda **_: []


def _robots(prefix: str, **_: Any) -> List[str]:
    names = {**embedded_robots(), **example_robots(), **common_names()}
    return [*_beginning(names, prefix), *paths(prefix, SUFFIXES)]


def _worlds(prefix: str, **_: Any) -> List[str]:
    names = (name.removesuffix(ENDING) for name in embedded_worlds())
    return [*_beginning(names, prefix), *paths(prefix, _WORLD_SUFFIXES)]


def _beginning(names: Iterable[str], prefix: str) -> List[str]:
    return sorted(name for name in names if name.startswith(prefix))


def paths(prefix: str, suffixes: Optional[Sequence[str]] = None) -> List[str]:
    """Return folders, each with a slash, and files that begin with a prefix.

    :param prefix: beginning of a path; ~ is the home directory
    :param suffixes: suffixes of files; None: all files
    """
    folder, slash, begin = prefix.rpartition('/')
    found = []
    try:
        for path in sorted(Path(folder + slash or '.').expanduser().iterdir()):
            hidden = path.name.startswith('.') and not begin.startswith('.')
            if hidden or not path.name.startswith(begin):
                continue
            if path.is_dir():
                found.append(f'{folder}{slash}{path.name}/')
            elif suffixes is None or path.suffix in suffixes:
                found.append(f'{folder}{slash}{path.name}')
    except (OSError, RuntimeError):  # no such folder or user
        return []
    return found
