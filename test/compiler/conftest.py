"""Fixtures of the compiler's tests: machine code is cached in a folder of each test's own."""

import pytest
from support import random_trees

TWO_LINKS = random_trees.tree(3, bodies=2, types=('revolute', 'prismatic'))


@pytest.fixture(autouse=True, scope='session')
def no_user_cache(tmp_path_factory):
    """What fixtures of modules compile does not land in the user's cache either."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv('RBD_ROS_CACHE_DIR', str(tmp_path_factory.mktemp('cache')))
        yield


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    """Cache directory that no other test or user sees."""
    monkeypatch.setenv('RBD_ROS_CACHE_DIR', str(tmp_path / 'cache'))
    return tmp_path / 'cache'


@pytest.fixture(scope='session')
def two_links():
    """URDF text of a robot with two joints: everything compiles in a moment."""
    return TWO_LINKS
