# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Variation between the runs of a campaign: values of faults, drawn from ranges."""

from __future__ import annotations

from dataclasses import dataclass, replace
import re
from typing import Dict, Optional, Sequence, Tuple
import zlib

import numpy as np

from rbd_ros.hil.faults.faults import Fault, FAULT_KINDS
from rbd_ros.model.errors import unknown_name

UNITS = {'': 1.0, 's': 1.0, 'ms': 1e-3, 'us': 1e-6, 'kg': 1.0, 'g': 1e-3, 'rad': 1.0}
UNITS['deg'] = float(np.pi / 180.0)
UNITS['mrad'] = 1e-3

MAX_LEVELS = 1000
_RANGE = re.compile(r'([-+.\deE]+?):([-+.\deE]+?)(us|ms|mrad|rad|deg|kg|g|s|)(?::(\d+))?$')


@dataclass(frozen=True)
class Variation:
    """Range of the value of a kind of fault.

    :param kind: kind of fault
    :param low: smallest value
    :param high: largest value
    :param levels: number of different values, evenly spaced; 0: any
    """

    kind: str
    low: float
    high: float
    levels: int = 0

    def draw(self, seed: int, number: int) -> float:
        """Return the value in one run, independent of other runs.

        :param seed: seed of the campaign
        :param number: number of the run
        """
        chance = np.random.Generator(
            np.random.PCG64([seed, zlib.crc32(self.kind.encode()), number])
        ).random()
        if self.levels:
            place = int(chance * self.levels) / max(self.levels - 1, 1)
            return self.low + place * (self.high - self.low)
        return self.low + chance * (self.high - self.low)


def read_variations(text: Optional[str]) -> Tuple[Variation, ...]:
    """Return the variations of a command line.

    :param text: such as 'payload=0:5,latency=0:20ms', with :LEVELS after a range for evenly
        spaced values; None: no variation
    :raises ValueError: if it is invalid

    >>> from rbd_ros.hil.campaign.variation import read_variations
    >>> for each in read_variations('payload=0:5:6,latency=0:20ms'):
    ...     print(each.kind, each.low, each.high, each.levels)
    payload 0.0 5.0 6
    latency 0.0 0.02 0
    """
    found: Dict[str, Variation] = {}
    for word in (text or '').split(','):
        if not word.strip():
            continue
        name, _, given = word.strip().partition('=')
        if name not in FAULT_KINDS:
            raise ValueError(f'--vary: {unknown_name("fault", name[:80], FAULT_KINDS)}')
        kind = FAULT_KINDS[name]
        if not kind.quantity:
            raise ValueError(f'--vary: {name} has no value to vary')
        if name in found:
            raise ValueError(f'--vary: {name} is given twice; keep one')
        matched = _RANGE.match(given)
        try:
            if matched is None:
                raise ValueError
            factor = UNITS[matched[3]]
            low, high = float(matched[1]) * factor, float(matched[2]) * factor
        except ValueError:
            raise ValueError(
                f'--vary: {given[:80]!r} is not a range of {name}; write {name}=0:1, with a unit '
                'such as 0:20ms, and :LEVELS at the end'
            ) from None
        smallest = kind.minimum
        if not smallest <= low <= high <= kind.maximum:
            raise ValueError(
                f'--vary: {name}={given[:80]}: give a range within {smallest:g} and '
                f'{kind.maximum:g}, the smaller number first; it is the {kind.quantity}'
            )
        levels = int(matched[4]) if matched[4] else kind.samples
        if levels > MAX_LEVELS or matched[4] == '0':
            raise ValueError(f'--vary: {name}: give 1 to {MAX_LEVELS} levels, or none')
        found[name] = Variation(name, low, high, levels)
    return tuple(found.values())


def varied(faults: Sequence[Fault], values: Dict[str, float]) -> Tuple[Fault, ...]:
    """Return the faults with other values.

    The value applies to all faults of the kind. If the scenario has none, one is added from the
    start, for all joints or messages.

    :param values: values by kind
    :raises ValueError: if there is no payload, since its link is unknown
    """
    result = [replace(f, value=values[f.kind]) if f.kind in values else f for f in faults]
    for kind, value in values.items():
        if any(each.kind == kind for each in faults):
            continue
        if FAULT_KINDS[kind].scope == 'link':
            raise ValueError(
                f'--vary {kind}: the scenario has no such fault; add one with its link'
            )
        result.append(Fault(kind, value))
    return tuple(result)
