# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Measurement of functions of a robot: timing, cases, the peer, the plot."""

from measurement.cases import Case, cases, one_thread, random_states
from measurement.functions import FUNCTIONS, label
from measurement.machine import machine, versions
from measurement.pinocchio_peer import PinocchioPeer
from measurement.timing import Call, compare, Comparison, Progress

__all__ = [
    'Call',
    'Case',
    'Comparison',
    'FUNCTIONS',
    'PinocchioPeer',
    'Progress',
    'cases',
    'label',
    'compare',
    'machine',
    'one_thread',
    'random_states',
    'versions',
]
