# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Friction of single surfaces from that of pairs, for engines that combine surfaces by a rule."""

from __future__ import annotations

from typing import Callable, Dict, List, Mapping

from contact_scenes.scene import ROBOT, Scene
import numpy as np
from scipy.optimize import lsq_linear

from contact_engines.engine import NotPossible

_SMALL = 1e-6  # replaces zero friction


def surfaces(
    scene: Scene,
    measure: Callable[[float], float],
    back: Callable[[float], float],
    lowest: float = -np.inf,
) -> Dict[str, float]:
    """Return the friction of each kind of body that combines to that of the pairs.

    :param measure: function whose mean the rule takes: the logarithm for a geometric mean, the
        reciprocal for a harmonic one
    :param back: its inverse
    :param lowest: lower bound of its values
    :raises NotPossible: if no surfaces have these pairs
    """
    kinds: List[str] = sorted({scene.kind(body.name) for body in scene.bodies})
    if scene.machine is not None:
        kinds.append(ROBOT)
    if not isinstance(scene.friction, Mapping):
        return {kind: float(scene.friction) for kind in kinds}
    rows, measured = [], []
    for (first, second), mu in scene.friction.items():
        row = np.zeros(len(kinds))
        row[kinds.index(first)] += 0.5
        row[kinds.index(second)] += 0.5
        rows.append(row)
        measured.append(measure(max(mu, _SMALL)))
    A, b = np.array(rows), np.array(measured)
    found = lsq_linear(A, b, (lowest, np.inf), method='bvls').x
    if np.max(np.abs(A @ found - b)) > 1e-9 * np.max(np.abs(b)):
        raise NotPossible('it mixes friction of surfaces by a rule that cannot give these pairs')
    return {kind: back(value) for kind, value in zip(kinds, found)}
