# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A fresh interpreter, for tests with other environment variables, crashes or forks."""

import os
from pathlib import Path
import subprocess
import sys

ROOT = Path(__file__).resolve().parents[2]


def python_path(*folders):
    """Return a PYTHONPATH of folders, the repository and the present PYTHONPATH."""
    entries = [*map(str, folders), str(ROOT), os.environ.get('PYTHONPATH', '')]
    return os.pathsep.join(filter(None, entries))


def run(code, *arguments, check=True, timeout=300, **variables):
    """Run Python code that may import rbd_ros and the tests' support.

    :param arguments: of the program, in sys.argv[1:]
    :param variables: environment variables, None to remove one
    :return: the result of subprocess.run, with text output
    """
    environment = {**os.environ, 'PYTHONPATH': python_path(ROOT / 'test')}
    for name, value in variables.items():
        if value is None:
            environment.pop(name, None)
        else:
            environment[name] = str(value)
    done = subprocess.run(
        [sys.executable, '-c', code, *map(str, arguments)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    if check:
        assert done.returncode == 0, f'exit code {done.returncode}: {done.stderr}'
    return done
