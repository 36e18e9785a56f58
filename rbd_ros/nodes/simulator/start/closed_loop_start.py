# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Robots with kinematic loops in the simulator: initial configuration and holding effort."""

from __future__ import annotations

from typing import Any, Callable, List

import numpy as np

from rbd_ros.algorithms.closed_loops.actuation import actuator_forces
from rbd_ros.algorithms.closed_loops.elimination import eliminate
from rbd_ros.algorithms.closed_loops.loop_assembly import LoopClosureError
from rbd_ros.nodes.messages.text import shorten
from rbd_ros.robot import Robot
from rbd_ros.simulation import Simulator

#: Number of start values of the assembly if the requested one fails.
STARTS = 40
#: Displacement by the assembly that is not reported [rad, m].
ROUNDING = 1e-6


def assembled_start(
    simulator: Simulator, q: np.ndarray, kept: List[str], warn: Callable[[str], Any]
) -> np.ndarray:
    """Return the configuration near `q` in which all loops are closed, (nq,).

    Joints in `kept` do not move if the loops close without them; the largest move is reported.

    :param q: initial configuration, (nq,)
    :param kept: names of joints
    :param warn: called with the report
    :raises ValueError: if the loops cannot be closed, with the loop that stays open
    """
    robot = simulator.robot
    if not robot.model.loops:
        return q
    try:
        closed = robot.loops.project(q, fixed=kept, starts=STARTS)
    except LoopClosureError:
        # Without fixed joints; if that fails too, the simulator names the open loop.
        simulator.reset(q)
        closed = simulator.q.copy()
    moved = np.abs(np.asarray(robot.difference(q, closed)))
    if moved.max(initial=0.0) > ROUNDING:
        k = int(moved.argmax())
        warn(
            f'the loops are open at the initial positions and have been closed: joint '
            f'{shorten([simulator.physics.joint_name(k)])} moved most, by {moved[k]:.3g} [rad, m]'
        )
    return closed


def holding_effort(robot: Robot, q: np.ndarray) -> np.ndarray:
    """Return the gravity torques, zero for joints without actuator, (nv,).

    :param q: configuration with closed loops, (nq,)
    """
    gravity = robot.gravity_torque(q)
    model = robot.model
    slices = {model.body(i).joint_name: at for i, (_, at) in model.independent_slices.items()}
    actuated = [k for name in model.actuated_joints for k in range(robot.nv)[slices[name]]]
    if not model.loops:
        return np.where(np.isin(np.arange(robot.nv), actuated), gravity, 0.0)
    G = eliminate(np.asarray(robot.loops.closure(q).K)).G
    return actuator_forces(G, gravity, actuated).tau
