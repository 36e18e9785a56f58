# SPDX-License-Identifier: Apache-2.0
"""Age and lateness of commands in a run: percentiles for reports.

There are two things. The age of a command is simulated: it is what faults of messages do, and
the same in every run. The time from state to command is real: how long the controller took, with
the middleware on both ways if it is a process.
"""

from __future__ import annotations

from typing import Dict, List, NamedTuple, Optional

import numpy as np

from rbd_ros.contact.contact_arrays import FloatArray
from rbd_ros.hil.bench import Run

#: Parts of all values in hundredths, and what the value below which they lie is called.
PERCENTILES = {'median': 50.0, 'p90': 90.0, 'p99': 99.0, 'p99.9': 99.9, 'largest': 100.0}


class Series(NamedTuple):
    """Values of one kind, one for each cycle.

    :param key: its name in `result.json`
    :param title: its name on the page, with the unit
    :param values: the values [s]
    :param scale: from seconds to the unit of the title
    """

    key: str
    title: str
    values: FloatArray
    scale: float


def series_of(run: Run) -> List[Series]:
    """Return the latencies of a run, and their jitter.

    How much they change from one cycle to the next.

    >>> from rbd_ros.hil import Bench, read_scenario
    >>> from rbd_ros.hil.controllers import make_controller
    >>> from rbd_ros.hil.report.latency import series_of
    >>> scenario = read_scenario('config/hil/slow_network.yaml')
    >>> for each in series_of(Bench(scenario).run(make_controller(scenario)))[:2]:
    ...     print(each.key, np.median(each.values))
    command_age 0.02
    command_age_jitter 0.0
    """
    age, answers = run.delay[np.isfinite(run.delay)], run.answer_times
    return [
        Series('command_age', 'age of the state behind the command in force [ms]', age, 1e3),
        Series('command_age_jitter', 'its change between steps [ms]', _jitter(age), 1e3),
        Series('state_to_command', 'real time from state to command [us]', answers, 1e6),
        Series(
            'state_to_command_jitter',
            'its change between cycles [us]',
            _jitter(answers),
            1e6,
        ),
    ]


def _jitter(values: FloatArray) -> FloatArray:
    return np.asarray(np.abs(np.diff(values)))


def latency_numbers(run: Run) -> Dict[str, Dict[str, Optional[float]]]:
    """Return the percentiles of all series by key, in seconds; None where there is no value."""
    return {
        each.key: {
            name: float(np.percentile(each.values, part)) if each.values.size else None
            for name, part in PERCENTILES.items()
        }
        for each in series_of(run)
    }


def thinned_maxima(values: FloatArray, count: int) -> FloatArray:
    """Return at most so many values, each the largest of those that it stands for.

    :param values: (N,)
    :param count: most values
    """
    if len(values) <= count:
        return values
    size = -(-len(values) // count)
    return np.array([values[k : k + size].max() for k in range(0, len(values), size)])
