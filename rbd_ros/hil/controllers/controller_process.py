# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The process of a controller under test, which ends with the bench."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
import signal
import subprocess
import sys
from typing import Any, Sequence

from rbd_ros.bounded_files import read_end

END_TIMEOUT = 5.0  # from the signal to the end [s]
LAST_WORDS = 400  # length of the output in an error message
START_TIMEOUT = 120.0  # until the first answer, which may need a compilation [s]
START_VARIABLE = 'RBD_ROS_HIL_START_TIMEOUT'  # environment variable that replaces it


def start_timeout() -> float:
    """Return the time that a controller has for its first answer [s]."""
    return float(os.environ.get(START_VARIABLE, START_TIMEOUT))


PR_SET_PDEATHSIG = 1  # of Linux
_prctl: Any = None
if sys.platform == 'linux':
    _prctl = ctypes.CDLL(None, use_errno=True).prctl  # looked up before a fork


def _terminate_with_bench() -> None:
    """Make the kernel send SIGINT to the controller when the bench is killed.

    Processes that a shell script starts in the background ignore it.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if _prctl is not None:
        _prctl(PR_SET_PDEATHSIG, int(signal.SIGINT))


class ControllerProcess:
    """A command in a new process group; a context manager.

    :param words: the command
    :param log: file for its output
    :raises ValueError: if it cannot be started
    """

    def __init__(self, words: Sequence[str], log: Path):
        self._log, self._words = log, list(words)
        try:
            log.parent.mkdir(parents=True, exist_ok=True)
            with log.open('wb') as file:
                self._process: Any = subprocess.Popen(
                    self._words,
                    stdout=file,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                    preexec_fn=_terminate_with_bench,
                )
        except OSError as error:
            raise ValueError(
                f'controller {self._words[0]}: {error.strerror or error}; check the command'
            ) from None

    def ended(self) -> str:
        """Return its exit code and last output; '' while it runs."""
        code = self._process.poll()
        if code is None:
            return ''
        output = read_end(self._log, LAST_WORDS).strip()
        return f'the controller ended with code {code}: {output or "no output"}'

    def __enter__(self) -> ControllerProcess:
        return self

    def __exit__(self, *_: object) -> None:
        for number in (signal.SIGINT, signal.SIGKILL):
            # To the whole group: a launch file has children.
            try:
                os.killpg(self._process.pid, number)
            except ProcessLookupError:
                break
            try:
                self._process.wait(END_TIMEOUT)
            except subprocess.TimeoutExpired:
                continue
            if number is signal.SIGINT and not self._group_lives():
                break

    def _group_lives(self) -> bool:
        try:
            os.killpg(self._process.pid, 0)
        except (ProcessLookupError, PermissionError):
            return False
        return True
