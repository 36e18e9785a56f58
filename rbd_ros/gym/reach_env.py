# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""An arm whose tool is to reach points: an environment to begin with."""

from __future__ import annotations

from typing import Any, Dict, Union

import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.gym.simulator_env import SimulatorEnv
from rbd_ros.lookup.robots import load_robot
from rbd_ros.robot import Robot
from rbd_ros.simulation import Simulator


class ReachEnv(SimulatorEnv):
    """An arm whose tool is to reach a point; `rbd_ros/Reach-v0` with the six-axis arm.

    Each episode starts at one configuration, at rest, and draws a target in a cube around the
    tool. An observation is q, v, the target from where the tool started, and from where it is now.
    The reward is minus the distance from tool to target [m].

    :param robot: a `Robot`, or a name or path as for `rbd_ros simulate`
    :param frame: name of the link that is the tool
    :param start: configuration to start from, (nq,); None for that of `Simulator.reset`
    :param size: edge of the cube of targets [m]
    :param options: further arguments of `Simulator`, as `world`
    """

    def __init__(
        self,
        robot: Union[str, Robot] = 'six_axis_arm',
        frame: str = 'tool0',
        start: Any = (0.0, -1.2, 1.8, -0.6, 0.5, 0.0),
        size: float = 0.4,
        **options: Any,
    ):
        made = Robot.from_urdf(load_robot(robot).source) if isinstance(robot, str) else robot
        simulator = Simulator(made, **options)
        # Gains that use half of the effort limit for an error of 3 degrees.
        effort = simulator.robot.effort_limits
        effort = np.where(np.isfinite(effort), effort, 0.0)
        simulator.set_joint_pd(kp=10.0 * effort, kd=effort)
        super().__init__(simulator, 'position', steps=20)
        self._start, self._size = start, size
        self._frame = simulator.robot.frame(frame)
        self._home = self._target = self._position()

    def start(self, rng: np.random.Generator) -> None:
        """Start at rest, with another target."""
        self.simulator.reset(self._start)
        self._home = self._position()
        self._target = self._home + self._size * rng.uniform(-0.5, 0.5, 3)

    def observe(self) -> FloatArray:
        """Return q, v and the target, from the start of the tool and from the tool."""
        simulator, target = self.simulator, self._target
        return np.concatenate(
            [simulator.q, simulator.v, target - self._home, target - self._position()]
        )

    def reward(self) -> float:
        """Return minus the distance from tool to target [m]."""
        return -float(np.linalg.norm(self._target - self._position()))

    def info(self) -> Dict[str, Any]:
        """Return the distance from tool to target [m]."""
        return {'distance': -self.reward()}

    def _position(self) -> FloatArray:
        return np.asarray(self._frame.pose(self.simulator.q))[:3, 3]
