# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The folder of machine code that all processes of a test run share."""

import contextlib
import os


def share(config):
    """Have all processes of a run keep machine code in one folder, and not in the user's.

    Most robots are in several files, so that each process would compile them anew. The key of an
    entry is a digest of the texts that make it, so what an earlier run left is as good as new. In
    a checkout that somebody else has run the tests in, or that is read-only, it is the user's.
    """
    if 'RBD_ROS_CACHE_DIR' not in os.environ and hasattr(config, 'cache'):
        with contextlib.suppress(OSError):
            folder = config.cache.mkdir('kernels')
            folder.chmod(0o700)  # otherwise it is not used
            if folder.stat().st_uid == os.getuid():
                os.environ['RBD_ROS_CACHE_DIR'] = str(folder)
