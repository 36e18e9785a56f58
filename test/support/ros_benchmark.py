# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The benchmark of nodes for tests; benchmark/ is no package, so its modules are found by path."""

import sys

from support.source_imports import ROOT

_before = list(sys.path)
sys.path.insert(0, str(ROOT / 'benchmark'))
import ros  # noqa: E402
from ros_measures import board, endurance, loops, real_time, row, start, table  # noqa: E402
from sections import nodes as section  # noqa: E402

sys.path[:] = _before

__all__ = [
    'board',
    'endurance',
    'loops',
    'real_time',
    'ros',
    'row',
    'section',
    'start',
    'table',
]
