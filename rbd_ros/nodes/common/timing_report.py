# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Subject `timing` of a node's diagnostics: rate and execution time of its loop in one second.

Keys are those of controller_manager: `periodicity.average` and the like in Hz,
`execution_time.average` and the like in microseconds.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Mapping, Tuple

from rbd_ros.nodes.common.cycle_timer import CycleTimer, Statistics
from rbd_ros.nodes.common.diagnostics import Diagnostics, ERROR, OK, WARN
from rbd_ros.nodes.common.timing_thresholds import MEASURES, threshold_name

SUBJECT = 'timing'
ENOUGH = 2  # minimum number of cycles per second for an evaluation

Numbers = Dict[str, float]


class TimingReport:
    """Report of a `CycleTimer`, once a second, with the level from the thresholds.

    :param diagnostics: diagnostics of the node
    :param timer: the timer of its loop
    :param values: returns the parameters of the node by name
    :param overruns: returns the number of over-runs
    """

    def __init__(
        self,
        diagnostics: Diagnostics,
        timer: CycleTimer,
        values: Callable[[], Mapping[str, Any]],
        overruns: Callable[[], int],
    ):
        self._diagnostics, self._timer = diagnostics, timer
        self._parameters, self._overruns = values, overruns
        self._shown: Dict[str, Any] = {}
        diagnostics.add_values(SUBJECT, self._values)

    def refresh(self, rate: float) -> None:
        """Evaluate the statistics of the last second.

        :param rate: expected rate [Hz]; 0: any
        """
        execution, period = self._timer.take()
        found = {'periodicity': rates(period), 'execution_time': microseconds(execution)}
        self._shown = {
            'update_rate': rate,
            **{f'{name}.{key}': v for name, each in found.items() for key, v in each.items()},
        }
        if execution.count < ENOUGH:
            self._diagnostics.condition(SUBJECT, OK, 'no data yet', code='idle')
            return
        problems = judged(found, rate, period.count, self._parameters())
        if problems:
            level = max(level for level, _ in problems)
            code = f'{level!r} {sorted(text.partition(":")[0] for _, text in problems)}'
            text = '; '.join(text for _, text in problems)
            self._diagnostics.condition(SUBJECT, level, text, code=code)
        else:
            self._diagnostics.condition(SUBJECT, OK, 'within the thresholds', code='good')

    def _values(self) -> Dict[str, Any]:
        return {**self._shown, 'overruns': self._overruns()}


def rates(period: Statistics) -> Numbers:
    """Return rates [Hz] from the times between cycles; the average is cycles per total time."""
    mean = period.mean
    return {
        'average': _inverse(mean),
        # First order; unlike the deviation of 1/period, not dominated by one short period.
        'standard_deviation': period.deviation * _inverse(mean) ** 2,
        'min': _inverse(period.maximum),
        'max': _inverse(period.minimum),
    }


def microseconds(execution: Statistics) -> Numbers:
    """Return the execution times in microseconds."""
    return {
        'average': 1e6 * execution.mean,
        'standard_deviation': 1e6 * execution.deviation,
        'min': 1e6 * execution.minimum,
        'max': 1e6 * execution.maximum,
    }


def judged(
    found: Mapping[str, Numbers], rate: float, periods: int, thresholds: Mapping[str, Any]
) -> List[Tuple[bytes, str]]:
    """Return the levels and texts of exceeded thresholds.

    :param found: measured values by subject
    :param rate: expected rate [Hz]; 0: any
    :param periods: number of measured periods
    :param thresholds: values of the parameters by name
    """
    problems = []
    for (subject, measure), (_, unit) in MEASURES.items():
        of_rate = subject == 'periodicity'
        if of_rate and (rate <= 0.0 or periods < ENOUGH):
            continue
        key = 'average' if measure == 'mean_error' else measure
        value = found[subject][key]
        wrong = abs(value - rate) if of_rate and measure == 'mean_error' else value
        for word, level in (('error', ERROR), ('warn', WARN)):
            limit = thresholds[threshold_name(subject, measure, word)]
            if 0.0 < limit < wrong:
                expected = f' instead of {rate:.6g} Hz' if of_rate and key == 'average' else ''
                problems.append(
                    (
                        level,
                        f'{subject}.{key}: {value:.4g} {unit}{expected}, above the threshold '
                        f'{measure}.{word} of {limit:g} {unit}',
                    )
                )
                break
    return problems


def _inverse(duration: float) -> float:
    return 1.0 / duration if duration > 0.0 else 0.0
