# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Sections of benchmark/run.py, one file each, listed here by name."""

from __future__ import annotations

from importlib import import_module
from typing import Dict

from sections.section import Section

_FILES = (
    'single_calls',
    'every_call',
    'derivatives',
    'batches',
    'small_batches',
    'threads',
    'out',
    'first_calls',
    'kernels',
    'generated_c',
    'long_chains',
    'distances',
    'simulators',
    'rollouts',
    'contact',
    'resting',
    'nodes',
)

#: Sections by name, in the order of the table.
SECTIONS: Dict[str, Section] = {name: import_module(f'sections.{name}').SECTION for name in _FILES}
