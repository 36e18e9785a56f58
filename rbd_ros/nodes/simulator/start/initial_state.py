# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""State of the simulated robot at the start and after a reset, and warnings about it."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Callable, List, Mapping, Sequence

import numpy as np

from rbd_ros.algorithms.closed_loops.loop_assembly import LoopClosureError
from rbd_ros.nodes.messages.conversions import NANOSECONDS
from rbd_ros.nodes.messages.joint_names import JointNames
from rbd_ros.nodes.messages.text import shorten
from rbd_ros.nodes.simulator.commands.command_messages import Commands
from rbd_ros.nodes.simulator.start.base_placement import (
    floating_joint_position,
    has_floating_base,
)
from rbd_ros.nodes.simulator.start.closed_loop_start import assembled_start, STARTS
from rbd_ros.nodes.simulator.world.simulated_ground import contact_options
from rbd_ros.robot import Robot
from rbd_ros.simulation import Simulator

MAX_NOTICES = 8  # about unsupported pairs of shapes in a world


def first_time(parameters: Mapping[str, Any]) -> int:
    """Return the simulated time of the first state [ns]: one cycle after the start.

    It is not 0, since a zero stamp means no time.

    :param parameters: values of the simulator's parameters

    >>> first_time({'timestep': 0.001, 'start_time': 2.0004})
    2001000000
    """
    timestep = round(parameters['timestep'] * NANOSECONDS)
    return timestep + round(parameters['start_time'] * NANOSECONDS) // timestep * timestep


def initial_configuration(
    simulator: Simulator,
    described: Robot,
    commands: Commands,
    parameters: Mapping[str, Any],
    warn: Callable[[str], Any],
) -> np.ndarray:
    """Return the initial configuration, (nq,), and reset the simulation to it.

    :param simulator: simulation of the robot and of other movable robots
    :param described: the robot alone
    :param commands: commands of all joints
    :param parameters: values of the simulator's parameters
    :param warn: called with joints that were moved to close loops
    :raises ValueError: for positions that do not fit the robot
    """
    state = parameters['initial_group_state']
    simulator.reset()
    q, placed = simulator.q, False
    if state:
        try:
            q, placed = simulator.named_configuration(state)
        except ValueError as error:
            raise ValueError(f'parameter initial_group_state: {error}') from None
    _place_joints(q, described, commands.names, commands.at_q, parameters)
    pose, is_floating = parameters['initial_base_pose'], has_floating_base(described)
    if is_floating and len(pose) == 1:
        q[6] = pose[0]
    elif is_floating and pose:
        q[:7] = floating_joint_position(pose)
    driven = [commands.names[k] for k in commands.driven]
    q = assembled_start(simulator, q, _given(driven, parameters), warn)
    return q if pose or placed else simulator.standing_configuration(q)


def held_configuration(
    robot: Robot, names: Sequence[str], at_q: np.ndarray, parameters: Mapping[str, Any]
) -> np.ndarray:
    """Return the configuration of `initial_configuration` except for the base, (nq,).

    It needs no simulation, which takes long to compile.


    :param names: its joints with one degree of freedom
    :param at_q: indices of their positions, (k,)
    :param parameters: values of the simulator's parameters
    :raises ValueError: for positions that do not fit the robot
    """
    q = robot.clamp(robot.neutral())
    if state := parameters['initial_group_state']:
        from rbd_ros.world.group_states import named_configuration

        around = contact_options(parameters, robot.model)
        world = around.get('world')
        srdf = around.get('srdf') if world is None else world.srdf
        if srdf is not None:
            q, _ = named_configuration(robot.model, srdf, state, q)
    _place_joints(q, robot, names, at_q, parameters)
    if robot.model.loops:
        kept = _given([n for n in names if n in robot.model.actuated_joints], parameters)
        with suppress(LoopClosureError):  # the simulation names the open loop
            q = robot.loops.project(q, fixed=kept, starts=STARTS)
    return q


def _place_joints(
    q: np.ndarray,
    described: Robot,
    names: Sequence[str],
    at_q: np.ndarray,
    parameters: Mapping[str, Any],
) -> None:
    """Set the joints to the positions of the parameters.

    :param q: configuration, changed, (nq,)
    :param described: the robot alone
    :param names: joints that can be placed
    :param at_q: indices of their positions, (k,)
    :raises ValueError: for positions that do not fit the robot
    """
    positions = parameters['initial_positions']
    if not positions:
        return
    own = parameters['initial_joints'] or [name for name in names if name in described.joint_names]
    order = JointNames(names).naming(own)
    if order.unknown:
        raise ValueError(
            f'parameter initial_joints: the robot has no joint {shorten(order.unknown)}'
        )
    if len(positions) != order.size:
        raise ValueError(
            f'parameter initial_positions has {len(positions)} numbers for the '
            f'{order.size} joints {shorten(own)}'
        )
    q[at_q[order.target]] = np.array(positions)[order.source]


def _given(driven: Sequence[str], parameters: Mapping[str, Any]) -> List[str]:
    """Return the actuated joints with a given initial position."""
    if not parameters['initial_positions']:
        return []
    names = parameters['initial_joints']
    return [name for name in driven if not names or name in names]


class StartWarnings:
    """Warnings about the start of a simulation, and about the shapes of its world.

    :param warn: called with it
    """

    def __init__(self, simulator: Simulator, warn: Callable[[str], Any]):
        self._simulator, self._warn = simulator, warn
        self._reported_notices = False

    def report(self) -> None:
        """Report the warnings of the start, and once a limited number about the shapes."""
        scene = self._simulator.physics.scene
        notices = () if scene is None else scene.notices
        for warning in self._simulator.warnings:
            if warning not in notices:
                self._warn(warning)
        if not self._reported_notices:
            for notice in notices[:MAX_NOTICES]:
                self._warn(notice)
            if len(notices) > MAX_NOTICES:
                self._warn(f'{len(notices) - MAX_NOTICES} more notices of this kind')
        self._reported_notices = True
