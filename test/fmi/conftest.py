"""Fixtures of the FMUs' tests: what they compile does not land in the user's cache."""

import pytest


@pytest.fixture(autouse=True, scope='session')
def no_user_cache(tmp_path_factory):
    """Cache directory of this run alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv('RBD_ROS_CACHE_DIR', str(tmp_path_factory.mktemp('cache')))
        yield
