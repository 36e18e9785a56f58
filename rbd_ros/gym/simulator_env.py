# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A `Simulator` as a Gymnasium environment."""

from __future__ import annotations

from collections import deque
from functools import cached_property
from typing import Any, Deque, Dict, Optional, Tuple, Union

import gymnasium
import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.simulation import Simulator

#: Meanings of an action.
ACTIONS = ('torque', 'position')


class SimulatorEnv(gymnasium.Env[FloatArray, FloatArray]):
    """A simulation to learn in. A subclass defines `reward`, and further methods.

    `start`, `observe`, `reward`, `terminated` and `info` may use all that `simulator` offers:
    contacts, sensors, objects, frames of its robot; see docs/learning.md. Worlds differ where each
    environment makes a separate simulator: with another payload, world, friction or gains.

    An episode whose dynamics are not finite is terminated, and `info` has the reason as
    'diverged'. Episodes end after a number of actions by gymnasium's `TimeLimit`.

    :param simulator: the simulation, for this environment alone
    :param action: meaning of an action, by motors: 'torque' [N m, N], or 'position' for goals of
        servos, whose gains `Simulator.set_joint_pd` has set [rad, m]
    :param steps: time steps for each action
    :param delay: number of actions by which each one acts late, or the least and largest number,
        of which each reset draws one
    :raises ValueError: if an argument is not valid
    """

    metadata: Dict[str, Any] = {'render_modes': []}

    def __init__(
        self,
        simulator: Simulator,
        action: str = 'torque',
        steps: int = 10,
        delay: Union[int, Tuple[int, int]] = 0,
    ):
        if action not in ACTIONS:
            raise ValueError(f'unknown action {action!r}; there are {", ".join(ACTIONS)}')
        if steps < 1 or steps != int(steps):
            raise ValueError(f'steps must be a whole number from 1 on, got {steps}')
        given = np.atleast_1d(delay)
        if given.dtype.kind not in 'iu' or given.size > 2 or not 0 <= given[0] <= given[-1]:
            raise ValueError(
                f'delay must be a whole number from 0 on, or two that rise, got {delay}'
            )
        self._delays = int(given[0]), int(given[-1])
        self.simulator, self._steps, self._by_position = simulator, steps, action == 'position'
        physics, robot = simulator.physics, simulator.robot
        position = physics.model.position
        #: Degrees of freedom that have motors, by their place in v.
        self.motors = np.array(
            [
                i
                for i in range(robot.nv)
                if position[i] >= 0 and physics.joint_name(i) in robot.model.actuated_joints
            ],
            dtype=int,
        )
        if self._by_position:
            if not any(gains.any() for gains in simulator.joint_pd_gains):
                raise ValueError(
                    "action 'position' needs servos; set their gains by Simulator.set_joint_pd"
                )
            self._places = position[self.motors]
            low, high = robot.lower_limits[self._places], robot.upper_limits[self._places]
        else:
            high = robot.effort_limits[self.motors]
            low = -high
        self.action_space = gymnasium.spaces.Box(low, high, dtype=np.float64)
        self._waiting: Deque[FloatArray] = deque()

    @cached_property
    def observation_space(self) -> gymnasium.spaces.Space[Any]:  # type: ignore[override]
        """Numbers without bounds, as many as `observe` returns."""
        return gymnasium.spaces.Box(-np.inf, np.inf, self.observe().shape, np.float64)

    # -- methods of subclasses -----------------------------------------------------------------

    def start(self, rng: np.random.Generator) -> None:
        """Begin an episode: set the state of `simulator`, and other random variables."""
        self.simulator.reset()

    def observe(self) -> FloatArray:
        """Return the observation, a new array; here q and v."""
        return np.concatenate([self.simulator.q, self.simulator.v])

    def reward(self) -> float:
        """Return the reward of the last action."""
        raise NotImplementedError(f'{type(self).__name__} must define reward()')

    def terminated(self) -> bool:
        """Return whether the episode has come to an end; here never."""
        return False

    def info(self) -> Dict[str, Any]:
        """Return further information on the present state; here nothing."""
        return {}

    # -- gymnasium -----------------------------------------------------------------------------

    def reset(
        self, *, seed: Optional[int] = None, options: Optional[Dict[str, Any]] = None
    ) -> Tuple[FloatArray, Dict[str, Any]]:
        """Begin an episode, see `gymnasium.Env.reset`."""
        super().reset(seed=seed)
        self.start(self.np_random)
        # Until the first action acts: no torque, or servos that hold the start.
        before = np.zeros(self.motors.size)
        if self._by_position:
            self.simulator.set_joint_pd(self.simulator.q)
            before = self.simulator.q[self._places]
        low, high = self._delays
        late = low if low == high else int(self.np_random.integers(low, high, endpoint=True))
        self._waiting = deque([before] * late)
        return self.observe(), self.info()

    def step(self, action: FloatArray) -> Tuple[FloatArray, float, bool, bool, Dict[str, Any]]:
        """Take the time steps of an action, see `gymnasium.Env.step`.

        :raises ValueError: for an action of a wrong shape, or that is not finite
        """
        given = np.array(action, dtype=float)
        if given.shape != self.motors.shape or not np.isfinite(given).all():
            raise ValueError(
                f'action must be {self.motors.size} finite numbers, got {np.asarray(action)}'
            )
        self._waiting.append(given)
        command = self._waiting.popleft()
        info: Dict[str, Any] = {}
        try:
            if self._by_position:
                # As `set_joint_pd` does, less its checks, which take as long as many time steps.
                self.simulator.physics.state.servo.q[self.motors] = command
                self.simulator.step(n=self._steps)
            else:
                torque = np.zeros(self.simulator.robot.nv)
                torque[self.motors] = command
                self.simulator.step(torque, n=self._steps)
        except FloatingPointError as error:
            info['diverged'] = str(error)
        over = bool(info) or bool(self.terminated())
        return self.observe(), float(self.reward()), over, False, {**self.info(), **info}
