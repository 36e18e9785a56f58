"""Shared fixtures and marks of the whole test suite.

Helper modules live in test/support; `seed` marks name the rows of the theory inventory that a test
covers.
"""

import os
from pathlib import Path
import sys

import hypothesis
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))  # `from support...` whatever pytest's import mode

from support import errors, example_robots

# The same examples in every run; HYPOTHESIS_PROFILE=explore looks for new ones.
hypothesis.settings.register_profile('fixed', derandomize=True)
hypothesis.settings.register_profile('explore')
hypothesis.settings.load_profile(os.environ.get('HYPOTHESIS_PROFILE', 'fixed'))


@pytest.fixture
def rng():
    """Random generator with a fixed seed: every run of a test sees the same numbers."""
    return np.random.default_rng(20080101)


@pytest.fixture(scope='session')
def robot_paths():
    """Paths of the real robots of example-robot-data, by short name."""
    paths = example_robots.paths()
    if not paths:
        pytest.skip('the pip package example-robot-data is not installed')
    return paths


def pytest_addoption(parser):
    """Offer the table of worst errors."""
    parser.addoption(
        '--worst-errors',
        action='store_true',
        help='print the worst error measured for each algorithm',
    )


def pytest_terminal_summary(terminalreporter, config):
    """Print the worst errors that the comparisons recorded."""
    if config.getoption('--worst-errors') and errors.WORST:
        terminalreporter.section('worst relative errors')
        for (comparison, algorithm), (error, case) in sorted(errors.WORST.items()):
            terminalreporter.write_line(f'{comparison:24} {algorithm:32} {error:9.2e}  {case}')
