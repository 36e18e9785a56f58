# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Parameters of thresholds above which the timing of a loop gives a warning or an error.

Their names are those of controller_manager, without the prefix.
"""

from __future__ import annotations

from typing import Any, Mapping, Tuple

from rbd_ros.nodes.common.node_interface import Parameter

THRESHOLD = 'diagnostics.threshold.'
LEVELS = ('warn', 'error')
MAX_THRESHOLD = 1e9  # [Hz or us]

# Subject and measure: description and unit.
MEASURES = {
    ('periodicity', 'mean_error'): ('Difference between mean rate and expected rate', 'Hz'),
    ('periodicity', 'standard_deviation'): ('Standard deviation of the rate', 'Hz'),
    ('execution_time', 'mean_error'): ('Mean execution time', 'us'),
    ('execution_time', 'standard_deviation'): ('Standard deviation of the execution time', 'us'),
}

UPDATE_RATE = Parameter(
    'update_rate',
    0.0,
    'Rate at which states are expected, in real time [Hz]; 0: any, without checks of the rate '
    'and without counting over-runs. It affects diagnostics only.',
    minimum=0.0,
    maximum=1e6,
    live=True,
)


def threshold_name(subject: str, measure: str, level: str) -> str:
    """Return the name of a parameter."""
    return f'{THRESHOLD}{subject}.{measure}.{level}'


def threshold_parameters(
    rate: Tuple[float, float] = (0.0, 0.0), execution: Tuple[float, float] = (0.0, 0.0)
) -> Tuple[Parameter, ...]:
    """Return the thresholds of a node.

    :param rate: defaults for the mean rate, for a warning and for an error [Hz]
    :param execution: defaults for the mean execution time, likewise [us]
    """
    defaults = {('periodicity', 'mean_error'): rate, ('execution_time', 'mean_error'): execution}
    return tuple(
        Parameter(
            threshold_name(subject, measure, level),
            defaults.get((subject, measure), (0.0, 0.0))[k],
            f'{words} during a second above which diagnostics show '
            f'{"a warning" if level == "warn" else "an error"} [{unit}]; 0: never.',
            minimum=0.0,
            maximum=MAX_THRESHOLD,
            live=True,
        )
        for (subject, measure), (words, unit) in MEASURES.items()
        for k, level in enumerate(LEVELS)
    )


def check_thresholds(values: Mapping[str, Any]) -> None:
    """Reject a warning threshold above that of the error.

    :param values: values of the node's parameters by name
    :raises ValueError: with the names of both parameters
    """
    for subject, measure in MEASURES:
        warn, error = (threshold_name(subject, measure, level) for level in LEVELS)
        if 0.0 < values[error] < values[warn]:
            raise ValueError(
                f'{warn} {values[warn]:g} must not be above {error} {values[error]:g}'
            )
