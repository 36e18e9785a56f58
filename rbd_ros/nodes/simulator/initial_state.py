"""Where the simulated robot begins, and again after a reset, and what is odd about it."""

from __future__ import annotations

from typing import Any, Callable, List, Mapping

import numpy as np

from rbd_ros.nodes.common.joint_names import JointNames
from rbd_ros.nodes.common.text import shorten
from rbd_ros.nodes.simulator.closed_loops import assembled_start
from rbd_ros.nodes.simulator.commands import Commands
from rbd_ros.nodes.simulator.floating_base import floating_joint_position, has_floating_base
from rbd_ros.robot import Robot
from rbd_ros.simulation import Simulator

MOST_NOTICES = 8  # about shapes of a world that cannot touch


def initial_configuration(
    simulator: Simulator,
    described: Robot,
    commands: Commands,
    parameters: Mapping[str, Any],
    warn: Callable[[str], Any],
) -> np.ndarray:
    """Configuration that the simulation begins with, (nq,); it is reset for that.

    :param simulator: the simulation, of the robot and of others that move with it
    :param described: the robot by itself
    :param commands: commands of all joints
    :param parameters: values of the simulator's parameters
    :param warn: told what had to be moved so that loops are closed
    :raises ValueError: for positions that do not fit the robot
    """
    positions, state = parameters['initial_positions'], parameters['initial_group_state']
    simulator.reset()
    q, placed = simulator.q, False
    if state:
        try:
            q, placed = simulator.named_configuration(state)
        except ValueError as error:
            raise ValueError(f'parameter initial_group_state: {error}') from None
    if positions:
        own = parameters['initial_joints'] or [
            name for name in commands.names if name in described.joint_names
        ]
        order = JointNames(commands.names).naming(own)
        if order.unknown:
            raise ValueError(
                f'parameter initial_joints: the robot has no joint {shorten(order.unknown)}'
            )
        if len(positions) != order.size:
            raise ValueError(
                f'parameter initial_positions has {len(positions)} numbers for the '
                f'{order.size} joints {shorten(own)}'
            )
        q[commands.at_q[order.target]] = np.array(positions)[order.source]
    pose, is_floating = parameters['initial_base_pose'], has_floating_base(described)
    if is_floating and len(pose) == 1:
        q[6] = pose[0]
    elif is_floating and pose:
        q[:7] = floating_joint_position(pose)
    q = assembled_start(simulator, q, _given(commands, parameters), warn)
    return q if pose or placed else simulator.stand(q)


def _given(commands: Commands, parameters: Mapping[str, Any]) -> List[str]:
    """Joints with actuators whose initial positions are given."""
    if not parameters['initial_positions']:
        return []
    names = parameters['initial_joints']
    driven = [commands.names[k] for k in commands.driven]
    return [name for name in driven if not names or name in names]


class StartWarnings:
    """What is odd about the start of a simulation, and about the shapes of its world.

    :param simulator: the simulation
    :param warn: told about it
    """

    def __init__(self, simulator: Simulator, warn: Callable[[str], Any]):
        self._simulator, self._warn = simulator, warn
        self._told_notices = False

    def tell(self) -> None:
        """Tell what is odd about the start; of the shapes of a world, some, and once."""
        scene = self._simulator.world.scene
        notices = () if scene is None else scene.notices
        for warning in self._simulator.warnings:
            if warning not in notices:
                self._warn(warning)
        if not self._told_notices:
            for notice in notices[:MOST_NOTICES]:
                self._warn(notice)
            if len(notices) > MOST_NOTICES:
                self._warn(f'{len(notices) - MOST_NOTICES} more notices of this kind')
        self._told_notices = True
