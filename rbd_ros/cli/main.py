# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Entry point of the `rbd_ros` command.

A command is a module of this package with `add_arguments(parser)` and `run(arguments)`, which
returns the exit code. It is imported on demand, so that `rbd_ros info` does not wait for the
imports of `rbd_ros identify`. Its `EXIT_CODES` are specific exit codes.
"""

from __future__ import annotations

import logging
import os
import sys
from typing import Any, List, Optional

from rbd_ros.cli.command_line import (
    COMMANDS,
    load_command,
    make_parser,
    named_command,
    nearest,
    reject_arguments,
)
from rbd_ros.model.errors import did_you_mean
from rbd_ros.programs import INTERRUPTED, unguard

#: Set by the shell for completions.
_COMPLETION = '_ARGCOMPLETE'


class CompilationNotices(logging.Handler):
    """Context manager that shows compilations on a terminal, one line per loop.

    :param stream: output; None: standard error

    >>> from rbd_ros.cli.main import CompilationNotices
    >>> with CompilationNotices():
    ...     simulator = Simulator(robot, world={})
    """

    def __init__(self, stream: Optional[Any] = None):
        super().__init__(logging.INFO)
        self._stream = sys.stderr if stream is None else stream
        self._logger = logging.getLogger('rbd_ros.compiler')

    def __enter__(self) -> CompilationNotices:
        if self._stream.isatty():
            self._level = self._logger.level
            self._logger.addHandler(self)
            self._logger.setLevel(logging.INFO)
        return self

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line."""
        text = f'{record.getMessage()} (some seconds, only the first time on this machine)'
        print(text, file=self._stream, flush=True)

    def __exit__(self, *_: object) -> None:
        if self in self._logger.handlers:
            self._logger.removeHandler(self)
            self._logger.setLevel(self._level)


def main(argv: Optional[List[str]] = None) -> int:
    """Run the command.

    :param argv: arguments without the program's name; None: those of the process
    :return: exit code, see `EXIT_CODES` in command_line.py and in the modules of the commands
    """
    for name in ('stdout', 'stderr'):
        if getattr(sys, name) is None:  # closed by the caller
            setattr(sys, name, open(os.devnull, 'w'))
    try:
        if _COMPLETION in os.environ and argv is None:
            from rbd_ros.cli.options.completion import complete

            return complete()
        return _run(sys.argv[1:] if argv is None else list(argv))
    except KeyboardInterrupt:  # also during imports and parsing
        return INTERRUPTED


def _run(argv: List[str]) -> int:
    named = named_command(argv)
    if named is not None and named not in COMMANDS:
        return _unknown(named)
    try:
        parser = make_parser(named)
    except ImportError as error:
        return _fail(named, f'cannot be loaded: {error}', 2)
    arguments, unknown = parser.parse_known_args(argv)
    if named is None:
        parser.print_help()
        return 2
    if unknown:
        reject_arguments(arguments.parser, unknown)
    module = load_command(named)
    if hasattr(sys.stdout, 'reconfigure'):
        sys.stdout.reconfigure(errors='backslashreplace')  # names of links may have any character
    try:
        unguard()
        with CompilationNotices():
            code: int = module.run(arguments)
        sys.stdout.flush()
        return code
    except ValueError as error:  # ModelError is a subclass
        return _fail(named, str(error), 1)
    except OSError as error:
        try:
            sys.stdout.flush()
        except OSError:  # prevents another attempt at exit
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            return 0  # the reader (head, less) has ended
        return _fail(named, str(error), 1)


def _unknown(word: str) -> int:
    """Report an unknown command, with similar ones."""
    make_parser(None).print_usage(sys.stderr)
    hint = did_you_mean(nearest(word)) or '; rbd_ros --help lists all commands'
    text = f'unknown command {word[:80]!r}{hint}'
    print(f'rbd_ros: error: {text}', file=sys.stderr)
    return 2


def _fail(command: Optional[str], message: str, code: int) -> int:
    print(f'rbd_ros {command}: error: {message}', file=sys.stderr)
    return code


if __name__ == '__main__':
    sys.exit(main())
