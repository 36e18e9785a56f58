# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Checks of loaded models with loops: assembly and redundant constraints."""

from __future__ import annotations

from dataclasses import replace
from typing import Tuple

import numpy as np
from numpy.typing import NDArray

from rbd_ros.algorithms.closed_loops.loop_assembly import assemble_loops, CLOSED, cure_of_rounding
from rbd_ros.algorithms.closed_loops.loop_closure import loop_closure
from rbd_ros.algorithms.closed_loops.mobility import mobility
from rbd_ros.model import Model, ModelError
from rbd_ros.model.extension import Extension

#: Number of start values before a mechanism counts as impossible.
STARTS = 40


def assembled(model: Model, extension: Extension) -> Tuple[Model, NDArray[np.float64]]:
    """Return the model with warnings of its loops, and the assembly nearest to neutral, (nq,).

    :param model: model with loops
    :param extension: source of the loops
    :raises ModelError: if the loops do not close, with the error of the closest assembly
    """
    neutral = [x for i in model.independent for x in model.body(i).joint.neutral()]
    residual = loop_closure(model, model.tree_position(neutral)).residual
    opening = max(map(abs, residual), default=0.0)
    found = assemble_loops(model, neutral, starts=STARTS)
    if not found.is_closed:
        raise ModelError(
            f'{extension.where_is_loop(found.loop)}: the loop cannot be closed: the closest '
            f'assembly found leaves it open by {found.distance:.4g} (rad, m)'
            + (
                cure_of_rounding(found)
                or '; correct its frames and axis, or the lengths of the links'
            )
        )
    warnings = list(model.warnings)
    if opening > CLOSED:
        warnings.append(
            f'the loops are open by {opening:.4g} (rad, m) at the neutral configuration; '
            'robot.loops.project(robot.neutral(), starts=40) closes them'
        )
    motion = mobility(model, found.q)
    if not motion.is_properly_constrained:
        warnings.append(f'loop constraints of rank {motion.rank}: {motion.report}')
    return replace(model, warnings=tuple(warnings)), found.q
