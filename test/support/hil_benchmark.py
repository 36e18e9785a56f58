# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The HIL benchmark for tests; benchmark/ is no package, so its modules are found by path."""

import sys

from support.source_imports import ROOT

_before = list(sys.path)
sys.path.insert(0, str(ROOT / 'benchmark'))
import hil  # noqa: E402
from hil_measures import campaigns, figure, lockstep, processes, soak  # noqa: E402

sys.path[:] = _before

__all__ = ['campaigns', 'figure', 'hil', 'lockstep', 'processes', 'soak']
