# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Waiting for conditions on a machine of any load, and artificial load.

No test depends on durations: it waits for a condition, and fails only after a long timeout.
"""

from contextlib import contextmanager
import subprocess
import sys
import time

CEILING = 240.0  # timeout of a condition [s]
PERIOD = 0.01  # between two checks [s]


def until(condition, what='', meanwhile=lambda: time.sleep(PERIOD), ceiling=CEILING):
    """Wait for `condition()` to become true, and return what it returned.

    :param what: name of the condition, or a function that is called after the timeout
    :param meanwhile: called between two checks
    :param ceiling: timeout [s]
    """
    end = time.monotonic() + ceiling
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > end:
            raise AssertionError(f'never came: {what() if callable(what) else what}')
        meanwhile()


@contextmanager
def busy_loops(count):
    """Provide processes that use all available processor time."""
    loops = [subprocess.Popen([sys.executable, '-c', 'while True: pass']) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
