# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Timing of loops: sums against statistics of all numbers, thresholds, overruns."""

import random
import statistics

import pytest

from rbd_ros.nodes.common.cycle_timer import (
    allocate,
    CycleMemory,
    CycleTimer,
    note,
    Record,
    take,
)
from rbd_ros.nodes.common.timing_thresholds import (
    check_thresholds,
    MEASURES,
    threshold_name,
    threshold_parameters,
)


def cycles(seed, count=500):
    """Return the begins and ends of cycles [s], late in the life of a machine."""
    numbers = random.Random(seed)
    begin, result = 1e6, []
    for _ in range(count):
        begin += 0.001 + numbers.uniform(0.0, 2e-4)
        result.append((begin, begin + numbers.uniform(1e-5, 9e-4)))
    return result


def durations(times):
    return [end - begin for begin, end in times]


def gaps(times):
    return [b[0] - a[0] for a, b in zip(times, times[1:])]


def assert_describes(found, values):
    assert found.count == len(values)
    assert found.mean == pytest.approx(statistics.fmean(values), rel=1e-12)
    assert found.deviation == pytest.approx(statistics.pstdev(values), rel=1e-9)
    assert (found.minimum, found.maximum) == (min(values), max(values))


def test_sums_are_the_statistics_of_all_cycles():
    timer, times = CycleTimer(), cycles(1)
    for begin, end in times:
        timer.note(begin, end)
    execution, period = timer.take()
    assert_describes(execution, durations(times))
    assert_describes(period, gaps(times))


def test_each_report_covers_the_cycles_since_the_last_one():
    timer, times = CycleTimer(), cycles(2)
    for begin, end in times[:200]:
        timer.note(begin, end)
    timer.take()
    for begin, end in times[200:]:
        timer.note(begin, end)
    execution, period = timer.take()
    assert_describes(execution, durations(times[200:]))
    assert_describes(period, gaps(times[199:]))  # the period that spans both counts once
    assert [each.count for each in timer.take()] == [0, 0]


def test_an_interruption_is_not_a_period():
    timer = CycleTimer()
    for begin in (1.0, 1.5):
        timer.note(begin, begin)
    timer.interrupt()
    for begin in (100.0, 100.5):
        timer.note(begin, begin)
    _, period = timer.take()
    assert (period.count, period.maximum) == (2, 0.5)


def test_overruns_are_cycles_longer_than_expected():
    timer = CycleTimer()
    timer.note(1.0, 9.0)  # nothing is expected yet
    assert timer.overruns == 0
    timer.expect(0.25)
    for end in (2.125, 2.25, 2.5, 3.0):
        timer.note(2.0, end)
    assert timer.overruns == 2
    timer.take()
    assert timer.overruns == 2  # since the start
    timer.expect(0.0)
    timer.note(2.0, 3.0)
    assert timer.overruns == 2


def test_machine_code_and_interpreter_agree_bitwise():
    timer, memory = CycleTimer(), allocate(CycleMemory)
    memory.begin[0] = -1.0
    timer.expect(5e-4)
    memory.longest[0] = 5e-4
    for begin, end in cycles(3):
        timer.note(begin, end)
        note.function(memory, begin, end)
    take.function(memory)
    timer.take()
    for ours, theirs in zip(timer._memory, memory):
        assert ours.tobytes() == theirs.tobytes()
    assert memory.overruns[0] > 0.0 and Record(memory)


def test_a_warning_after_the_error_is_rejected():
    values = {p.name: p.default for p in threshold_parameters((5.0, 10.0), (1000.0, 2000.0))}
    check_thresholds(values)
    for subject, measure in MEASURES:
        warn, error = (threshold_name(subject, measure, each) for each in ('warn', 'error'))
        check_thresholds({**values, warn: 3.0, error: 0.0})
        check_thresholds({**values, warn: 3.0, error: 3.0})
        with pytest.raises(ValueError, match=rf'{warn} 3 must not be above {error} 2'):
            check_thresholds({**values, warn: 3.0, error: 2.0})


def test_thresholds_are_those_of_controller_manager():
    names = {p.name: (p.default, p.live) for p in threshold_parameters((5.0, 10.0))}
    assert names['diagnostics.threshold.periodicity.mean_error.warn'] == (5.0, True)
    assert names['diagnostics.threshold.periodicity.mean_error.error'] == (10.0, True)
    assert names['diagnostics.threshold.execution_time.standard_deviation.error'] == (0.0, True)
    assert len(names) == 8
