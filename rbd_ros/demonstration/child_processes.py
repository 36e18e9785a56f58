# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Processes that end with the program that started them.

Each child leads its own process group, so that Ctrl-C only reaches this program, which then stops
the groups. If this program is killed, Linux ends the children.
"""

from __future__ import annotations

from contextlib import contextmanager
import ctypes
import os
from pathlib import Path
import signal
import subprocess
import sys
import time
from types import FrameType
from typing import Callable, Dict, Iterator, List, Optional, Sequence, Set

STOP_SIGNALS = tuple(
    getattr(signal, name) for name in ('SIGINT', 'SIGTERM', 'SIGHUP') if hasattr(signal, name)
)
GENTLE_TIMEOUT = 10.0  # for a node to publish its last command and end [s]
FIRM_TIMEOUT = 5.0
LAST_TIMEOUT = 60.0  # for the system to end killed processes [s]
POLL = 0.02
PR_SET_PDEATHSIG = 1
URGENT = -10  # added to the niceness


class Interrupted(KeyboardInterrupt):
    """Raised when a signal requests the end of this program.

    :param number: number of the signal
    """

    def __init__(self, number: int):
        super().__init__(f'stopped by {signal.Signals(number).name}')
        self.number = number


class ChildProcesses:
    """Child processes; as a context manager it stops all of them, also after an error.

    Within the context, SIGINT, SIGTERM and SIGHUP raise `Interrupted` in the main thread. While a
    child is being started or stopped, they are deferred.

    :param environment: environment of the children
    :param log_folder: folder for their standard error, one file each
    """

    def __init__(self, environment: Dict[str, str], log_folder: Path):
        self._environment = environment
        self._log_folder = log_folder
        self._processes: Dict[str, subprocess.Popen] = {}
        self._logs: Set[Path] = set()
        self._previous: Dict[int, object] = {}
        self._deferring = 0
        self._pending: Optional[int] = None

    def __enter__(self) -> ChildProcesses:
        for number in STOP_SIGNALS:
            self._previous[number] = signal.signal(number, self._on_signal)
        return self

    def __exit__(self, *_: object) -> None:
        self._deferring += 1  # never reset: nothing interrupts the stopping
        self._stop()
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def _on_signal(self, number: int, _: Optional[FrameType]) -> None:
        if self._deferring:
            self._pending = number
        else:
            raise Interrupted(number)

    @contextmanager
    def _undisturbed(self) -> Iterator[None]:
        self._deferring += 1
        try:
            yield
        finally:
            self._deferring -= 1
            if self._pending is not None and not self._deferring:
                number, self._pending = self._pending, None
                raise Interrupted(number)

    def start(
        self, name: str, command: Sequence[str], pipe: bool = False, urgent: bool = False
    ) -> subprocess.Popen:
        """Start a process.

        :param name: name for its log file
        :param command: program and arguments
        :param pipe: whether its standard output is a pipe; otherwise it goes to the log
        :param urgent: whether to raise its priority, if permitted
        """
        path = self.log(name)
        # An earlier process of the same name has the same log.
        with self._undisturbed(), open(path, 'ab' if path in self._logs else 'wb') as log:
            self._logs.add(path)
            process = subprocess.Popen(
                command,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE if pipe else log,
                stderr=log,
                start_new_session=True,
                preexec_fn=_before_start(os.getpid(), urgent),
            )
            self._processes[name] = process
        return process

    def log(self, name: str) -> Path:
        """Return the file with the output of a child process."""
        return self._log_folder / f'{name}.log'

    def exited(self) -> List[str]:
        """Return the names of children that have ended."""
        return [name for name, process in self._processes.items() if process.poll() is not None]

    def wait(self, name: str, timeout: float) -> Optional[int]:
        """Return a child's exit code; None if it has not ended within `timeout` [s]."""
        try:
            return self._processes[name].wait(timeout)
        except subprocess.TimeoutExpired:
            return None

    def stop(self) -> None:
        """Stop all children, as at the end."""
        with self._undisturbed():
            self._stop()

    def _stop(self) -> None:
        """Stop all children, with increasingly forceful signals."""
        for number, timeout in (
            (signal.SIGINT, GENTLE_TIMEOUT),
            (signal.SIGTERM, FIRM_TIMEOUT),
            (signal.SIGKILL, LAST_TIMEOUT),
        ):
            alive = [p for p in self._processes.values() if p.poll() is None]
            for process in alive if number != signal.SIGKILL else self._processes.values():
                # The whole group, with the child's own children.
                _signal_group(process.pid, number)
            deadline = time.monotonic() + timeout
            while any(p.poll() is None for p in alive) and time.monotonic() < deadline:
                time.sleep(POLL)
        for process in self._processes.values():
            if process.stdout is not None:
                process.stdout.close()
        self._processes.clear()


def _signal_group(group: int, number: int) -> None:
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        pass  # all have ended


def _before_start(parent: int, urgent: bool) -> Callable[[], None]:
    """Return the function that a child process runs before its program.

    :param parent: process whose death kills the child (on Linux)
    :param urgent: whether to request a higher priority
    """
    libc = ctypes.CDLL(None) if sys.platform == 'linux' else None

    def prepare() -> None:
        if libc is not None:
            libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # the parent died in between
            os._exit(1)
        if urgent:
            try:
                os.nice(URGENT)
            except OSError:
                pass  # not permitted

    return prepare
