# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A process that runs tests again and again, each time in a child that starts with what is heavy.

    python mutation_server.py

reads lines of JSON from its standard input and answers each with one on its standard output:

    {"tests": ["test/model/joints/test_joints.py"], "keep_bytecode": false, "limit": 600.0}
    {"failed": "test/model/joints/test_joints.py::test_sizes_fit", "is_test": true, "seconds": 0.4}

`failed` is the first test that fails, null if none does; `is_test` is false if it is not known
which one that is, as of a crash. Libraries are imported once, here;
everything of the repository in each child again, since it may have changed.
"""

import contextlib
import gc
import importlib
import json
import os
import select
import signal
import sys
import time

# Of the libraries that tests use, those that take long to import.
_HEAVY = (
    'hypothesis.strategies',
    'llvmlite.binding',
    'mpmath',
    'mujoco',
    'numpy',
    'pinocchio',
    'pytest',
    'scipy.integrate',
    'scipy.linalg',
    'scipy.optimize',
    'scipy.spatial.transform',
    'sympy',
    'urdf_parser_py.urdf',
    'yaml',
)
_OPTIONS = ['-x', '-q', '-p', 'no:cacheprovider', '-p', 'no:randomly']


class FirstFailure:
    """A plugin that notes the first test that fails."""

    def __init__(self):
        self.name = None

    def pytest_runtest_logreport(self, report):
        """Take the report of a test."""
        if report.failed and self.name is None:
            self.name = report.nodeid


def run(tests, keep_bytecode):
    """Run tests; the first that fails, None if all pass, and whether it is the name of one."""
    import pytest

    sys.dont_write_bytecode = not keep_bytecode
    with open(os.devnull, 'w') as nowhere:
        for stream in (1, 2):
            os.dup2(nowhere.fileno(), stream)
    first = FirstFailure()
    code = pytest.main([*_OPTIONS, *tests], plugins=[first])
    # A file that cannot be imported has no test that fails.
    return first.name or (None if code == pytest.ExitCode.OK else tests[0]), first.name is not None


def answer(request):
    """Run the tests of a request in a child."""
    begin = time.monotonic()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        os.close(reader)
        try:
            end = run(request['tests'], request['keep_bytecode'])
        except BaseException as error:
            end = f'{request["tests"][0]} ({type(error).__name__})', False
        os.write(writer, json.dumps(end).encode())
        os._exit(0)
    os.close(writer)
    failed, is_test = f'{request["tests"][0]} (crash, or no end)', False
    if select.select([reader], [], [], request['limit'])[0]:
        received = os.read(reader, 65536)
        if received:  # nothing at all from a process that crashed
            failed, is_test = json.loads(received)
    os.close(reader)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # what it may have started as well
    os.waitpid(child, 0)
    seconds = round(time.monotonic() - begin, 2)
    return {'failed': failed, 'is_test': is_test, 'seconds': seconds}


def main():
    """Answer until the input ends."""
    for name in _HEAVY:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    # What is there now stays: else each child would look through it again and again, for garbage.
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)


if __name__ == '__main__':
    main()
