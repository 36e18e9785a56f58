# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The benchmark of one robot for tests; benchmark/ is no package: modules are found by path."""

import sys

from support.source_imports import ROOT

_before = list(sys.path)
sys.path.insert(0, str(ROOT / 'benchmark'))
import measurement  # noqa: E402
from measurement import first_call, text_table  # noqa: E402
import one_robot  # noqa: E402

sys.path[:] = _before

__all__ = ['first_call', 'measurement', 'one_robot', 'text_table']
