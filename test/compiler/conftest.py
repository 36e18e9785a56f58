# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the compiler's tests: machine code is cached in a folder of each test's own."""

import pytest
from support import random_trees

TWO_LINKS = random_trees.tree(3, bodies=2, types=('revolute', 'prismatic'))


@pytest.fixture(scope='session')
def cache_of_modules(tmp_path_factory):
    """Return the folder for what fixtures of modules compile."""
    return tmp_path_factory.mktemp('cache')


# Of each module, not of the session: it must not hold for the tests of other folders that follow.
@pytest.fixture(autouse=True, scope='module')
def no_common_cache(cache_of_modules):
    """Yield what fixtures of modules compile is not kept where other tests find it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv('RBD_ROS_CACHE_DIR', str(cache_of_modules))
        yield


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    """Return the cache directory that no other test or user sees."""
    monkeypatch.setenv('RBD_ROS_CACHE_DIR', str(tmp_path / 'cache'))
    return tmp_path / 'cache'


@pytest.fixture(scope='session')
def two_links():
    """Return the URDF text of a robot with two joints: everything compiles in a moment."""
    return TWO_LINKS
