# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Robots with payloads: masses fixed to links, one model for each set of payloads."""

from __future__ import annotations

from typing import Dict, Iterable, List, Sequence, Tuple
from weakref import WeakKeyDictionary

from rbd_ros.hil.faults.faults import Fault
from rbd_ros.robot import Robot

#: Robots with payloads that are kept for each robot, the last ones made; each has machine code.
MAX_KEPT = 100

#: What each link carries: names, masses and their centers.
Key = Tuple[Tuple[str, float, Tuple[float, float, float]], ...]

_loaded: WeakKeyDictionary[Robot, Dict[Key, Robot]] = WeakKeyDictionary()


def key_of(payloads: Iterable[Fault]) -> Key:
    """Return the key that distinguishes sets of payloads, whatever their order."""
    return tuple(sorted((each.link, each.value, each.center_of_mass) for each in payloads))


def with_payloads(robot: Robot, payloads: Iterable[Fault]) -> Robot:
    """Return the robot that carries payloads; the same one each time.

    :param robot: the robot without
    :param payloads: faults of that kind

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
        # Never taken out and put back: another thread may look for it meanwhile.
        known[key] = loaded
        while len(known) > MAX_KEPT:
            del known[next(iter(known))]
        return loaded
    return known[key]


def sets_of_payloads(faults: Sequence[Fault]) -> List[Tuple[Fault, ...]]:
    """Return the sets of payloads that a robot will carry at some time, none among them."""
    times = {0.0, *(time for each in faults for time in (each.start_time, each.end))}
    found: Dict[Key, Tuple[Fault, ...]] = {(): ()}
    for time in sorted(times):
        acting = tuple(each for each in faults if each.kind == 'payload' and each.is_active(time))
        found.setdefault(key_of(acting), acting)
    return list(found.values())
