# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Starting point of an island's solver: the previous forces of its contacts and joints."""

from __future__ import annotations

import math

from rbd_ros.array_types import FloatArray
from rbd_ros.compiler.loops import compiled, stack_array
from rbd_ros.constraints.friction_space import FrictionSpace
from rbd_ros.simulation.scene.contact_problem import FRICTION
from rbd_ros.simulation.scene.scene_state import SceneWork


@compiled
def begin_contact(space: FrictionSpace, friction: FloatArray, a: int, impulse: FloatArray) -> None:
    """Set the initial impulse of a contact, and add its effect on the velocities.

    :param friction: coefficients along both tangents, (2,)
    :param a: number of the contact in the problem
    :param impulse: along normal and tangents, (3,) [N s]
    """
    x, part = space.x, stack_array(2)
    for r in range(3):
        x[3 * a + r] = impulse[r] if impulse[0] > 0.0 else 0.0
    for r in range(2):
        part[r] = impulse[1 + r] / friction[r] if friction[r] > 0.0 else 0.0
    length = math.sqrt(part[0] * part[0] + part[1] * part[1])
    space.slip[a] = 0.0
    if impulse[0] > 0.0 and length >= impulse[0] * (1.0 - 1e-9):
        for r in range(2):
            # Frames rotate, so it is on the boundary up to rounding.
            x[3 * a + 1 + r] = impulse[1 + r] * (impulse[0] / length)


@compiled
def begin_row(space: FrictionSpace, scene: SceneWork, n: int, k: int) -> None:
    """Set bounds and start of a row of a joint.

    :param n: number of contacts
    :param k: number of the row
    """
    kind = scene.row_kind[k]
    space.low[k] = -scene.row_box[k] if kind == FRICTION else 0.0
    space.high[k] = scene.row_box[k] if kind == FRICTION else math.inf
    # Bounds change with the time step and with friction: the start is clamped to them.
    space.x[3 * n + k] = min(max(scene.row_impulse[k], space.low[k]), space.high[k])
