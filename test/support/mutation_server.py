# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A process that runs tests in forked children, which share the imported libraries.

    python mutation_server.py

reads lines of JSON from its standard input and answers each with one on its standard output:

    {"tests": ["test/model/joints/test_joints.py"], "keep_bytecode": false, "limit": 600.0}
    {"failed": "test/model/joints/test_joints.py::test_sizes_fit", "is_test": true, "seconds": 0.4}

`failed` is the first failing test, null without one; `is_test` is false if that test is unknown,
as after a crash. Libraries are imported once, in this process; modules of the repository in each
child, since they may have changed.
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

# The libraries of tests that take long to import.
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
    """A plugin that records the first failing test."""

    def __init__(self):
        self.name = None

    def pytest_runtest_logreport(self, report):
        """Record the report of a test."""
        if report.failed and self.name is None:
            self.name = report.nodeid


def run(tests, keep_bytecode):
    """Run tests; return the first failure, None if all pass, and whether it is a test's name."""
    import pytest

    sys.dont_write_bytecode = not keep_bytecode
    with open(os.devnull, 'w') as nowhere:
        for stream in (1, 2):
            os.dup2(nowhere.fileno(), stream)
    first = FirstFailure()
    code = pytest.main([*_OPTIONS, *tests], plugins=[first])
    # A file that cannot be imported has no failing test.
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
        if received:  # nothing from a process that crashed
            failed, is_test = json.loads(received)
    os.close(reader)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # with its own children
    os.waitpid(child, 0)
    seconds = round(time.monotonic() - begin, 2)
    return {'failed': failed, 'is_test': is_test, 'seconds': seconds}


def main():
    """Answer until the input ends."""
    for name in _HEAVY:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    # Frozen: otherwise the garbage collector of each child would traverse these objects
    # repeatedly.
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)


if __name__ == '__main__':
    main()
