# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Contact (contact.py): our errors and residuals on the field's scenes, our speed by MuJoCo's."""

from __future__ import annotations

import math
from typing import Dict, List, Tuple

import contact
from contact_engines import ENGINES, OURS
from contact_engines.engine import isolated, Result
import contact_scenes
from rows import Row

from sections.section import Section, Tools

NAME = 'contact'
_RESIDUAL, _SPEED = 'residuals', 'steps a second against MuJoCo'


def _rows() -> List[Row]:
    rows = []
    for name in contact_scenes.NAMES:
        try:
            scene = contact_scenes.load(name)
        except FileNotFoundError as error:
            rows.append(Row(NAME, name, 'all', '', None, skipped=str(error)))
            continue
        rows += [
            Row(NAME, name, error.what + contact.VARIANTS[error.variant], '', error.goal)
            for error in scene.errors
        ]
        if scene.residual_goal is not None:
            rows.append(Row(NAME, name, _RESIDUAL, 'J', scene.residual_goal))
        if name in contact.SPEEDS:
            rows.append(Row(NAME, name, _SPEED, 'x', contact.SPEEDS[name]))
    return rows


_measured: Dict[Tuple[str, str, str], Result] = {}


def _run(name: str, engine: str, quick: bool, variant: str = '') -> Result:
    key = name, engine, variant
    if key not in _measured:
        chosen = next(e for e in ENGINES if (e.name, e.variant) == (engine, variant))
        _measured[key] = isolated(
            contact_scenes.load(name), chosen, contact.TIMESTEP, quick, contact.BUDGET
        )
    return _measured[key]


def _measure(row: Row, tools: Tools) -> None:
    if row.skipped:
        return
    ours = _run(row.robot, OURS, tools.quick)
    if row.function == _SPEED:
        theirs = _run(row.robot, 'MuJoCo', tools.quick)
        if math.isnan(ours.step) or math.isnan(theirs.step):
            raise RuntimeError(ours.skipped or theirs.skipped)
        row.value = theirs.step / ours.step
        row.detail = {'ours_ns': 1e9 * ours.step, 'theirs_ns': 1e9 * theirs.step}
        return
    if ours.skipped:
        raise RuntimeError(ours.skipped)
    if row.function == _RESIDUAL:
        found = ours.residuals
        if found is None:
            raise RuntimeError('nothing touched')
        row.value = max(found.signorini, found.contact)
        return
    scene = contact_scenes.load(row.robot)
    names = [error.what + contact.VARIANTS[error.variant] for error in scene.errors]
    k = names.index(row.function)
    if variant := scene.errors[k].variant:
        ours = _run(row.robot, OURS, tools.quick, variant)
        if ours.skipped:
            raise RuntimeError(ours.skipped)
    row.value = ours.errors[k]
    row.detail = {'ours_ns': 1e9 * ours.step}


SECTION = Section(
    'Contact: errors and residuals on scenes of the field; the other engines are in contact.md',
    _rows,
    _measure,
    long=True,
)
