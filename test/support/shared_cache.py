# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A folder of machine code that all processes of a test run share."""

import contextlib
import os


def share(config):
    """Make all processes of a run cache machine code in one folder instead of the user's.

    Most robots are in several test files, so each process would compile them again. The key of an
    entry is a digest of its source, so entries of earlier runs are valid. In a read-only checkout,
    or one in which another user has run the tests, the user's folder is used.
    """
    if 'RBD_ROS_CACHE_DIR' not in os.environ and hasattr(config, 'cache'):
        with contextlib.suppress(OSError):
            folder = config.cache.mkdir('kernels')
            folder.chmod(0o700)  # otherwise it is not used
            if folder.stat().st_uid == os.getuid():
                os.environ['RBD_ROS_CACHE_DIR'] = str(folder)
