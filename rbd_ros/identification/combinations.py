# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Inertial parameters that a recording determines, individually or only in combinations.

A base parameter is named after its first inertial parameter, which is the pivot of a row in
reduced echelon form. Without further terms it is that parameter; otherwise none of them is known
individually, and only their combination has a value and an interval.
"""

from __future__ import annotations

from typing import Dict, List, Sequence, Tuple

from rbd_ros.algorithms.regressors.base_parameters import BaseParameters

_MAX_TERMS = 3  # further terms that a name contains


def determined(base: BaseParameters) -> Tuple[int, ...]:
    """Return the indices of the inertial parameters that are base parameters by themselves.

    :param base: base parameters of a robot, or of a link's payload

    >>> from rbd_ros.identification.combinations import determined
    >>> base = robot.regressors.base_parameters()
    >>> [robot.regressors.parameter_names[k] for k in determined(base)][:2]
    ['shoulder_link: Izz', 'upper_arm_link: Ixy']
    """
    return tuple(k for k, row in zip(base.columns, base.grouping) if (row != 0.0).sum() == 1)


def combinations(base: BaseParameters, names: Sequence[str]) -> List[Dict[str, float]]:
    """Return the inertial parameters in each base parameter, with their factors, by name.

    :param base: base parameters
    :param names: names of the inertial parameters
    """
    return [
        {names[k]: float(row[k]) for k in [at, *(k for k in row.nonzero()[0] if k != at)]}
        for at, row in zip(base.columns, base.grouping)
    ]


def combination_name(terms: Dict[str, float]) -> str:
    """Return the name of a combination, such as 'Ixx - Izz + 0.25 m', shortened if it is long.

    :param terms: factors by name, the first of which is 1

    >>> from rbd_ros.identification.combinations import combination_name
    >>> combination_name({'Ixx': 1.0, 'Izz': -1.0, 'm': 0.25})
    'Ixx - Izz + 0.25 m'
    """
    first, *others = terms
    words = [first]
    for name in others[:_MAX_TERMS]:
        factor = terms[name]
        size = '' if abs(abs(factor) - 1.0) < 1e-9 else f'{abs(factor):.4g} '
        term = f'({name})' if ':' in name else name
        words.append(f'{"-" if factor < 0.0 else "+"} {size}{term}')
    if len(others) > _MAX_TERMS:
        words.append(f'+ {len(others) - _MAX_TERMS} more')
    return ' '.join(words)
