# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Robots with payloads: masses fixed to links, one model for each set of payloads."""

from __future__ import annotations

from typing import Dict, Iterable, List, Sequence, Tuple
from weakref import WeakKeyDictionary

from rbd_ros.hil.faults.faults import Fault
from rbd_ros.robot import Robot

#: Number of cached robots with payloads for each robot; each has machine code.
MAX_KEPT = 100

#: Payloads of links: names, masses and their centers.
Key = Tuple[Tuple[str, float, Tuple[float, float, float]], ...]

_loaded: WeakKeyDictionary[Robot, Dict[Key, Robot]] = WeakKeyDictionary()


def key_of(payloads: Iterable[Fault]) -> Key:
    """Return the key of a set of payloads, independent of their order."""
    return tuple(sorted((each.link, each.value, each.center_of_mass) for each in payloads))


def with_payloads(robot: Robot, payloads: Iterable[Fault]) -> Robot:
    """Return the robot with payloads; the same object each time.

    :param robot: the robot without payloads
    :param payloads: payload faults

    >>> from rbd_ros.hil import Fault
    >>> from rbd_ros.hil.scenario.payloads import with_payloads
    >>> loaded = with_payloads(robot, [Fault('payload', 2.0, link='tool0')])
    >>> loaded.gravity_torque(q) - robot.gravity_torque(q)  # [N m]
    array([-0.   , -4.017, -7.951, -1.476,  1.858,  0.   ])
    """
    key = key_of(payloads)
    if not key:
        return robot
    known = _loaded.setdefault(robot, {})
    if key not in known:
        loaded = robot
        for link, mass, com in key:
            loaded = loaded.with_payload(link, mass, com)
        # Never removed and reinserted: another thread may look it up meanwhile.
        known[key] = loaded
        while len(known) > MAX_KEPT:
            del known[next(iter(known))]
        return loaded
    return known[key]


def payload_sets(faults: Sequence[Fault]) -> List[Tuple[Fault, ...]]:
    """Return all sets of payloads during a scenario, including the empty one."""
    times = {0.0, *(time for each in faults for time in (each.start_time, each.end))}
    found: Dict[Key, Tuple[Fault, ...]] = {(): ()}
    for time in sorted(times):
        acting = tuple(each for each in faults if each.kind == 'payload' and each.is_active(time))
        found.setdefault(key_of(acting), acting)
    return list(found.values())
