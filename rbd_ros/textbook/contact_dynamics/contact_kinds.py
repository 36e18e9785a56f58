# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Kinds of inputs and outputs of point contacts between pairs of bodies (book ch. 11)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, List, Sequence, Tuple

from rbd_ros.algorithms.array import Array, as_list, Choice, row_by_row, symmetric, unchanged
from rbd_ros.algorithms.kinds import FRAME, JACOBIAN
from rbd_ros.model import Model


def _contacts(model: Model, pairs: Sequence[Tuple[Any, Any]]) -> Tuple[Tuple[int, int], ...]:
    if isinstance(pairs, str) or not pairs:
        raise ValueError('no contacts are given; give at least one pair (predecessor, successor)')
    found: List[Tuple[int, int]] = []
    for pair in pairs:
        if isinstance(pair, str) or len(pair) != 2:
            raise ValueError(f'a contact must be a pair (predecessor, successor), got {pair!r}')
        p, s = (0 if name is None else FRAME.resolve(model, name).body for name in pair)
        if p == s:
            raise ValueError(
                f'{pair[0]!r} and {pair[1]!r} belong to one body and cannot touch; name links of '
                'two bodies'
            )
        found.append((p, s))
    return tuple(found)


CONTACTS = Choice(
    'contacts', 'predecessor and successor of each contact, links or joints by name', _contacts
)
TANGENTS = Choice(
    'tangents',
    'whether each contact has two tangents beside its normal',
    lambda model, value: bool(value),
    False,
)
CONTACT_POINTS = Array(
    'points',
    'contact points in base coordinates',
    '[m]',
    ('contacts', 3),
    unchanged,
)
CONTACT_NORMALS = Array(
    'normals',
    'unit normals from predecessor to successor, with two tangents each if chosen, in base '
    'coordinates',
    '',
    ('contact rows', 3),
    unchanged,
)
CONTACT_POINT_RATES = replace(
    CONTACT_POINTS,
    symbol='point_rates',
    meaning='velocities of the contact points, which no body carries',
    unit='[m/s]',
    from_tree=as_list,
)
CONTACT_NORMAL_RATES = replace(
    CONTACT_NORMALS,
    symbol='normal_rates',
    meaning='rates of the normals, and of the tangents if chosen',
    unit='[1/s]',
    from_tree=as_list,
)
CONTACT_JACOBIAN = Array(
    'T',
    'contact normals in joint space, by columns: tau_c = T lambda',
    '',
    ('nv', 'contact rows'),
    from_tree=lambda model, rows: row_by_row(list(zip(*model.independent_columns(rows)))),
    flat=row_by_row,
)
CONTACT_RESPONSE = replace(
    CONTACT_JACOBIAN, symbol='response', meaning='accelerations per contact force, H^-1 T'
)
CONTACT_VELOCITY = Array(
    'velocity',
    'separation velocities zeta = T^T v',
    '[m/s]',
    ('contact rows',),
    from_tree=as_list,
)
CONTACT_BIAS = replace(
    CONTACT_VELOCITY,
    symbol='bias',
    meaning='separation accelerations while no joint accelerates, Tdot^T v',
    unit='[m/s^2]',
)
CONTACT_FREE = replace(
    CONTACT_BIAS, symbol='d', meaning='separation accelerations without contact forces'
)
CONTACT_INVERSE_INERTIA = Array(
    'M',
    'separation accelerations per contact force, T^T H^-1 T',
    '[1/kg]',
    ('contact rows', 'contact rows'),
    flat=symmetric,
)
CONTACT_CURVATURES = Array(
    'curvatures',
    'how the normal of each predecessor changes as a point moves over its surface',
    '[1/m]',
    ('contacts', 3, 3),
    unchanged,
)
CONTACT_RADII = replace(
    CONTACT_CURVATURES,
    symbol='radii',
    meaning='how a point moves over the surface of each successor as its normal changes',
    unit='[m]',
)
ROLLING_JACOBIAN = replace(
    JACOBIAN,
    symbol='K',
    meaning='Jacobian of the relative velocities where bodies touch',
    dimensions=('contact rows', 'nv'),
)
ROLLING_VELOCITY = replace(CONTACT_VELOCITY, meaning='relative velocities where bodies touch, K v')
ROLLING_BIAS = replace(CONTACT_BIAS, symbol='k', meaning='right-hand side of K a = k')
