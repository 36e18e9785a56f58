# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Verdict on a run: whether it kept the limits of its scenario."""

from __future__ import annotations

from typing import Any, Dict, List, NamedTuple, Tuple

import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.hil.bench import Run
from rbd_ros.hil.scenario.scenario import Scenario


class Check(NamedTuple):
    """A limit and the measured value.

    :param name: limited quantity
    :param value: maximum in the run
    :param limit: limit
    :param unit: unit of both
    :param where: joint and time, or other details
    """

    name: str
    value: float
    limit: float
    unit: str
    where: str

    @property
    def passed(self) -> bool:
        """True if the limit was kept."""
        return bool(self.value <= self.limit)


class Verdict(NamedTuple):
    """All checks of a run.

    :param checks: one for each declared limit
    :param failure: reason for an early end of the run; '' if there is none
    """

    checks: Tuple[Check, ...]
    failure: str

    @property
    def passed(self) -> bool:
        """True if the run was complete and kept all limits."""
        return not self.failure and all(each.passed for each in self.checks)


def position_error(run: Run) -> FloatArray:
    """Return the largest position error of any joint at each step, (T,) [rad, m]."""
    if not run.desired.size:
        return np.zeros(0)
    return np.asarray(np.abs(run.error).max(axis=1))


def judge(scenario: Scenario, run: Run) -> Verdict:
    """Compare a run with the limits of its scenario.

    :param run: a run of the scenario
    """
    limits, checks = scenario.limits, []
    names = scenario.robot.joint_names
    if len(run.time):
        if limits.tracking_error is not None:
            value, where = _largest(np.abs(run.error), names, run.time)
            checks.append(Check('tracking error', value, limits.tracking_error, 'rad, m', where))
        if limits.torque is not None:
            effort = np.array(scenario.robot.effort_limits)
            part = np.where(np.isfinite(effort) & (effort > 0.0), np.abs(run.torque) / effort, 0.0)
            value, where = _largest(part, names, run.time)
            checks.append(Check('torque', value, limits.torque, 'of the effort limit', where))
        if limits.recovery_time is not None:
            value, where = _longest_recovery(run, limits.recovery_error, limits.recovery_time)
            checks.append(Check('recovery time', value, limits.recovery_time, 's', where))
    elif not run.failure:
        # An empty run keeps no limit.
        return Verdict((), 'no timestep was simulated')
    return Verdict(tuple(checks), run.failure)


def _largest(values: FloatArray, names: Tuple[str, ...], time: FloatArray) -> Tuple[float, str]:
    k, j = np.unravel_index(int(values.argmax()), values.shape)
    return float(values[k, j]), f'{names[j]} at {time[k]:.3f} s'


def _longest_recovery(run: Run, error: float, allowed: float) -> Tuple[float, str]:
    """Return the longest recovery time after a change, and the name of that change.

    A change is not judged if another one follows within the allowed time, nor are faults from the
    start.

    :param error: maximum position error after recovery [rad, m]
    :param allowed: allowed recovery time [s]
    """
    found, over = position_error(run), np.inf
    times = sorted({each.time for each in run.changes})
    longest, where = 0.0, 'the scenario has no fault that begins or ends'
    for change in run.changes:
        end = next((t for t in times if t > change.time), over)
        if change.time == 0.0 or (end - change.time <= allowed):
            continue
        at = (run.time >= change.time) & (run.time < end)
        large = np.flatnonzero(found[at] > error)
        lasted = 0.0
        if large.size:
            within, last = run.time[at], large[-1] + 1
            # Too large until the end, so the recovery time is unknown.
            lasted = float(within[last] - change.time) if last < len(within) else np.inf
        if lasted >= longest:
            longest, where = lasted, str(change)
    return longest, where


def row(scenario: Scenario, run: Run) -> Dict[str, Any]:
    """Return the row of a run, in types of JSON and CSV."""
    verdict, error = judge(scenario, run), position_error(run)
    result: Dict[str, Any] = {
        'seed': run.seed,
        'passed': verdict.passed,
        'failure': verdict.failure,
        'exceeded': ', '.join(each.name for each in failed_checks(verdict)),
        'steps': len(run.time),
        'largest_error': float(error.max(initial=0.0)),
        'rms_error': float(np.sqrt(np.mean(error**2))) if error.size else 0.0,
        'largest_torque': float(np.abs(run.torque).max(initial=0.0)),
    }
    for check in verdict.checks:
        result[check.name.replace(' ', '_')] = check.value
    result.update(run.counts)
    result['digest'] = run.digest
    return result


def failed_checks(verdict: Verdict) -> List[Check]:
    """Return the exceeded limits."""
    return [each for each in verdict.checks if not each.passed]
