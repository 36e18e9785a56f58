# SPDX-License-Identifier: Apache-2.0
"""Measurement for `rbd_ros bench` and benchmark/: timing, cases, the peer, the plot."""

from rbd_ros.cli.measurement.cases import Case, cases, one_thread, random_states
from rbd_ros.cli.measurement.functions import FUNCTIONS, label
from rbd_ros.cli.measurement.machine import machine, versions
from rbd_ros.cli.measurement.pinocchio_peer import PinocchioPeer
from rbd_ros.cli.measurement.timing import Call, compare, Comparison, Progress

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
