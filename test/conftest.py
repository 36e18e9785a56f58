# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Shared fixtures and marks of the whole test suite.

Helper modules live in test/support; `seed` marks name the rows of the theory inventory that a test
covers.
"""

import gc
import os
from pathlib import Path
import signal
import sys

# Processes that test side by side have a core each, on which threads of linear algebra would wait
# for one another. NumPy's library reads this when it is imported.
os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')

import hypothesis
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))  # for `from support...`

from support import errors, example_robots, outside, shared_cache

# A shell script that starts this in the background has it ignore Ctrl-C, and so would all that a
# test starts and then interrupts.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Of the tests in real time, those that want every core: two of them would take each other's.
DEMANDING = (
    'test_demo_run.py',
    'test_node_endurance.py',
    'test_node_fuzz.py',
    'test_node_goals.py',
    'test_node_tracking.py',
)

# Folders whose tests ask what is computed, not how its machine code is optimized; that takes as
# long as all the rest of compiling. RBD_ROS_OPTIMIZATION=1 has everything compiled as for users. A
# module says otherwise of itself by `OPTIMIZED`.
UNOPTIMIZED = (
    *('algorithms', 'invariants', 'model', 'oracles', 'robot', 'textbook'),
    *('benchmark', 'collision', 'control', 'fmi', 'hil', 'identification', 'simulation'),
    *('viewer', 'world'),
)

# The same examples in every run; HYPOTHESIS_PROFILE=explore looks for new ones.
hypothesis.settings.register_profile('fixed', derandomize=True, deadline=None)
hypothesis.settings.register_profile('explore', deadline=None)
hypothesis.settings.load_profile(os.environ.get('HYPOTHESIS_PROFILE', 'fixed'))


@pytest.fixture
def rng():
    """Return a random generator with a fixed seed: every run of a test sees the same numbers."""
    return np.random.default_rng(20080101)


@pytest.fixture(autouse=True, scope='session')
def options_of_this_run():
    """Hide the options of this run, which colcon passes by variables, from child processes."""
    os.environ.pop('PYTEST_ADDOPTS', None)


@pytest.fixture(autouse=True, scope='module')
def optimization(request):
    """Compile kernels quickly where nothing depends on how quick they are."""
    folder = request.path.relative_to(Path(__file__).parent).parts[0]
    with pytest.MonkeyPatch.context() as patch:
        if not getattr(request.module, 'OPTIMIZED', folder not in UNOPTIMIZED):
            if 'RBD_ROS_OPTIMIZATION' not in os.environ:
                patch.setenv('RBD_ROS_OPTIMIZATION', '0')
        yield


@pytest.fixture(scope='session')
def robot_paths():
    """Return the paths of the real robots of example-robot-data, by short name."""
    paths = example_robots.paths()
    if not paths:
        pytest.skip(outside.problem('example_robot_data'))
    return paths


def pytest_addoption(parser):
    """Offer the table of worst errors, and the demand that nothing from outside be missing."""
    parser.addoption(
        '--fuzz-messages',
        type=int,
        default=100_000,
        help='messages of each kind that each node gets in the fuzz test (default: 100 000)',
    )
    parser.addoption(
        '--fuzz-seed', type=int, default=1, help='seed of those messages (default: 1)'
    )
    parser.addoption(
        '--worst-errors',
        action='store_true',
        help='print the worst error measured for each algorithm',
    )
    parser.addoption(
        '--fast',
        action='store_true',
        help='of each test function that is not marked slow, run the first case alone',
    )
    parser.addoption(
        '--nothing-missing',
        action='store_true',
        help='fail at once if an oracle, rclpy or the real robots cannot be loaded',
    )


def pytest_configure(config):
    """Reject runs without required libraries, and share the cache of machine code."""
    shared_cache.share(config)
    if config.getoption('--nothing-missing') and not hasattr(config, 'workerinput'):
        problems = outside.all_problems()
        if problems:
            raise pytest.UsageError('\n'.join(['--nothing-missing', *problems.values()]))


@pytest.hookimpl(hookwrapper=True)
def pytest_collection():
    """Keep the garbage collector away from the tests themselves, of which there are 20 000.

    While they are made nothing is garbage, and afterwards it would look at all of them each time.
    """
    gc.disable()
    yield
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(config, items):
    """Leave the first case of each quick test function, if --fast asks for that."""
    if config.getoption('--fast'):
        seen, kept, left_out = set(), [], []
        for item in items:
            function = (item.path, getattr(item, 'originalname', item.name))
            quick = function not in seen and item.get_closest_marker('slow') is None
            (kept if quick else left_out).append(item)
            seen.add(function)
        config.hook.pytest_deselected(items=left_out)
        items[:] = kept


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Run the tests of a file one after the other, and so all those that want every core."""
    from xdist.scheduler import LoadFileScheduling

    class ByFile(LoadFileScheduling):
        def _split_scope(self, nodeid):
            file = super()._split_scope(nodeid)
            return 'demanding' if file.rpartition('/')[2] in DEMANDING else file

    return ByFile(config, log) if config.getvalue('dist') == 'loadfile' else None


def pytest_sessionfinish(session):
    """Send the missing libraries of a worker of xdist to the main process."""
    if hasattr(session.config, 'workeroutput'):
        session.config.workeroutput['missing_from_outside'] = outside.missing()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    """Receive the missing libraries of a worker of xdist."""
    outside.note(getattr(node, 'workeroutput', {}).get('missing_from_outside', {}))


@pytest.hookimpl(hookwrapper=True, tryfirst=True)  # its end comes after all else
def pytest_terminal_summary(terminalreporter, config):
    """Print the maximum errors of comparisons, and the missing libraries."""
    yield
    if config.getoption('--worst-errors') and errors.WORST:
        terminalreporter.section('worst relative errors')
        for (comparison, algorithm), (error, case) in sorted(errors.WORST.items()):
            terminalreporter.write_line(f'{comparison:24} {algorithm:32} {error:9.2e}  {case}')
    if outside.missing():
        terminalreporter.write_sep('=', 'tests were skipped for want of')
        for _, line in sorted(outside.missing().items()):
            terminalreporter.write_line(line)
