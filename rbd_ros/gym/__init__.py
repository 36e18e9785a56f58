# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Simulations as Gymnasium environments, for learning; needs `pip install 'rbd_ros[gym]'`.

simulator_env.py makes an environment of a `Simulator`, simulator_vector_env.py steps many of them
in threads, and reach_env.py is one to begin with, `rbd_ros/Reach-v0`.
"""

import gymnasium

from rbd_ros.gym.reach_env import ReachEnv
from rbd_ros.gym.simulator_env import SimulatorEnv
from rbd_ros.gym.simulator_vector_env import SimulatorVectorEnv

__all__ = ['ReachEnv', 'SimulatorEnv', 'SimulatorVectorEnv']

gymnasium.register('rbd_ros/Reach-v0', ReachEnv, max_episode_steps=100, disable_env_checker=True)
