# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Programs of this package, as the installer makes commands of them.

Until a program takes care of signals itself, which takes a second of imports, Ctrl-C ends it
without a traceback: with exit code 0 if it is a node, as nodes always end, and with 130 otherwise.
Libraries of linear algebra, which read this when they are imported, make no threads: for matrices
as small as ours threads gain little, and beside other work they wait for each other twenty times
longer than they compute. Nothing is imported here but what Python has loaded anyway.
"""

from __future__ import annotations

from importlib import import_module
import os
import signal
import sys
from typing import Any, Callable, NoReturn

#: Modules of the commands that are no nodes; those of nodes have their names.
COMMANDS = {
    'rbd_ros': 'rbd_ros.cli.main',
    'hil_record': 'rbd_ros.nodes.bench.hil_record',
    'hil_run': 'rbd_ros.nodes.bench.hil_run',
}
NODES = 'rbd_ros.nodes.'
SINGLE_THREADED = ('OPENBLAS_NUM_THREADS', 'OMP_NUM_THREADS', 'MKL_NUM_THREADS')
INTERRUPTED = 130  # 128 and the number of SIGINT, as shells have it


def __getattr__(name: str) -> Callable[[], NoReturn]:
    """Return the function that runs a program, such as `rbd_ros.programs.simulator`."""
    if name.startswith('_'):
        raise AttributeError(name)

    def run() -> NoReturn:
        module = COMMANDS.get(name, f'{NODES}{name}')
        guard(module)
        sys.exit(import_module(module).main())

    return run


def guard(module: str) -> None:
    """Make Ctrl-C end this process, until `unguard` or a handler of the program.

    And have libraries make no threads, unless the environment asks for them.

    :param module: the program's
    """
    for name in SINGLE_THREADED:
        os.environ.setdefault(name, '1')
    node = module.startswith(NODES) and module not in COMMANDS.values()
    try:
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, _Guard(0 if node else INTERRUPTED))
    except ValueError:  # not in the main thread
        pass


def guard_module() -> None:
    """Guard if Python is about to run a module of this package, python -m rbd_ros.nodes....

    Packages call it, which are imported before the module is run.
    """
    words = sys.orig_argv
    if sys.argv[:1] == ['-m'] and '-m' in words[:-1]:
        module = words[words.index('-m') + 1]
        if module.partition('.')[0] == 'rbd_ros':
            guard(module)


def unguard() -> None:
    """Make Ctrl-C raise KeyboardInterrupt again."""
    if isinstance(signal.getsignal(signal.SIGINT), _Guard):
        signal.signal(signal.SIGINT, signal.default_int_handler)


class _Guard:
    """Handler of a signal that ends the process."""

    def __init__(self, code: int):
        self._code = code

    def __call__(self, *_: Any) -> None:
        os._exit(self._code)
