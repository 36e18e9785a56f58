# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Deadlines of the simulator, and whether a subscriber receives every state."""

from __future__ import annotations

from typing import List

from measurement import Progress

from ros_measures import endurance
from ros_measures.row import at_most, Row

FACTOR = 'real-time factor, distance from 1'
MISSED = 'states missed by a subscriber that keeps up'
MAX_DISTANCE = 0.001
PARAMETERS = {'clock_publish_rate': 100.0, 'clock_policy': 'fixed_rate'}


def measure(seconds: float, progress: Progress) -> List[Row]:
    """Record the states of a simulator that receives commands at 1 kHz.

    :param seconds: duration [s]
    :raises RuntimeError: if a process does not start, or ends
    """
    progress.step(f'real time of the simulator, {seconds:g} s')
    found = endurance.run('simulator', 10**9, seconds, PARAMETERS)
    distance = abs(found.stamps / found.elapsed - 1.0)
    return [
        at_most('simulator', f'{FACTOR}, over {seconds:g} s', distance, MAX_DISTANCE),
        at_most('simulator', f'{MISSED}, of {found.messages}', found.lost, 0.0),
    ]
