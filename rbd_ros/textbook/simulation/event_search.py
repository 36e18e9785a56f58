# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The earliest event within an interpolated time step (book table 11.1, steps 2 and 3)."""

from __future__ import annotations

from typing import Callable, Dict, NamedTuple, Optional, Sequence, Tuple

from scipy.optimize import brentq

from rbd_ros.array_types import FloatArray
from rbd_ros.textbook.simulation.dense_output import DenseStep

#: Moments of a step that are looked at, before an event between two of them is located.
SAMPLES = 8

#: What is watched: a gap that closes, a face that is entered or left at an edge, the force of an
#: active contact, the gap of a current contact that bears none.
CLOSING, ENTERING, LEAVING = 'closing', 'entering', 'leaving'
PULLING, SINKING = 'pulling', 'sinking'


class Values(NamedTuple):
    """Values that are watched, at one moment.

    :param gap: gap of each contact, (c,) [m]
    :param rate: its rate, (c,) [m/s]
    :param margin: how far the contact is within the bounds of its face, (c,) [m]
    :param force: contact force, zero unless the contact is active, (c,) [N]
    """

    gap: FloatArray
    rate: FloatArray
    margin: FloatArray
    force: FloatArray


class Watch(NamedTuple):
    """A function of time that is positive until an event.

    :param what: `CLOSING`, `ENTERING`, `LEAVING`, `PULLING` or `SINKING`
    :param contact: number of the contact
    :param tolerance: how far beyond zero the event is [m or N]
    """

    what: str
    contact: int
    tolerance: float

    def value(self, values: Values) -> float:
        """Return the value that is positive until the event [m or N]."""
        i = self.contact
        if self.what == ENTERING:
            return float(self.tolerance - values.margin[i])
        if self.what == LEAVING:
            return float(values.margin[i] + self.tolerance)
        if self.what == PULLING:
            return float(values.force[i] + self.tolerance)
        return float(values.gap[i] + self.tolerance)


Evaluate = Callable[[float], Values]


def earliest(
    watched: Sequence[Watch], evaluate: Evaluate, flush: float
) -> Optional[Tuple[Watch, float]]:
    """Find the first event of a step, and when it is, as a part of the step.

    :param watched: event functions
    :param evaluate: values at a moment, 0 to 1
    :param flush: gap up to which a point that enters a face from the side touches it [m]
    """
    known: Dict[float, Values] = {}

    def at(delta: float) -> Values:
        if delta not in known:
            known[delta] = evaluate(delta)
        return known[delta]

    for k in range(SAMPLES):
        begin, end = k / SAMPLES, (k + 1) / SAMPLES
        found = []
        for each in watched:
            watch, start = _armed(each, at, begin, end)
            delta = _crossing(watch, at, start, end)
            if delta is not None and _counts(watch, at(delta), flush):
                found.append((delta, watch))
        if found:
            delta, watch = min(found, key=lambda pair: pair[0])
            return watch, delta
    return None


def _armed(watch: Watch, at: Evaluate, begin: float, end: float) -> Tuple[Watch, float]:
    """Watch with the tolerance that it needs in an interval, and where to look from.

    Right after a collision or a break, a gap is zero up to rounding. It opens first; only if it
    does not, what counts is that it is clearly negative.
    """
    if watch.what != CLOSING:
        return watch, begin
    if begin == 0.0:
        begin = _apex(watch.contact, at, end)
    return watch._replace(tolerance=0.0) if at(begin).gap[watch.contact] > 0.0 else watch, begin


def _crossing(watch: Watch, at: Evaluate, begin: float, end: float) -> Optional[float]:
    """Return the moment at which a value falls below zero in an interval."""

    def value(delta: float) -> float:
        return watch.value(at(delta))

    if value(end) >= 0.0:
        return None
    if value(begin) <= 0.0:
        # Of a point beyond a face, that it stays there is no event.
        return begin if watch.what in (PULLING, LEAVING, SINKING) else None
    return float(brentq(value, begin, end, xtol=1e-15, rtol=1e-14))


def _apex(contact: int, at: Evaluate, end: float) -> float:
    """Return the moment at which a gap that opens at the beginning of a step is largest."""
    if at(0.0).rate[contact] <= 0.0 or at(end).rate[contact] >= 0.0:
        return 0.0
    return float(brentq(lambda delta: at(delta).rate[contact], 0.0, end, xtol=1e-15, rtol=1e-14))


def _counts(watch: Watch, values: Values, flush: float) -> bool:
    """Return whether the zero is an event: a face is entered from above, or along it."""
    if watch.what == CLOSING:
        return bool(values.margin[watch.contact] >= 0.0)
    if watch.what == ENTERING:
        return bool(abs(values.gap[watch.contact]) <= flush)
    return True


def slope(watch: Watch, evaluate: Evaluate, delta: float, step: DenseStep) -> float:
    """Return the time derivative of the event function within a step [m/s or N/s]."""
    e = 1e-4
    ahead, behind = min(delta + e, 1.0), max(delta - e, 0.0)
    change = watch.value(evaluate(ahead)) - watch.value(evaluate(behind))
    return change / ((ahead - behind) * step.h)
