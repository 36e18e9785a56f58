# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Waiting for what must come, however long a busy machine takes; and a machine made busy.

No test depends on how long something takes: it waits for a condition, and fails when that has not
come within a ceiling that only something broken reaches.
"""

from contextlib import contextmanager
import subprocess
import sys
import time

CEILING = 240.0  # for whatever a test waits for [s]
PERIOD = 0.01  # between two looks [s]


def until(condition, what='', meanwhile=lambda: time.sleep(PERIOD), ceiling=CEILING):
    """Wait for `condition()` to become true, and return what it returned.

    :param what: what is waited for; if a function, called when it has not come
    :param meanwhile: called between two looks
    :param ceiling: longest wait, for what may well not come [s]
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
    """Provide processes that take all the time that they can get."""
    loops = [subprocess.Popen([sys.executable, '-c', 'while True: pass']) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
