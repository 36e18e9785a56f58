# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Environments stepped in threads are those of Gymnasium's SyncVectorEnv, to the last digit."""

import threading

import numpy as np
import pytest
from support import outside

from rbd_ros import Robot, Simulator

gymnasium = outside.load('gymnasium')

from gymnasium.utils.env_checker import data_equivalence  # noqa: E402
from gymnasium.vector import AutoresetMode, SyncVectorEnv  # noqa: E402
from gymnasium.wrappers import RescaleAction, TimeLimit  # noqa: E402

from rbd_ros.gym import SimulatorEnv, SimulatorVectorEnv  # noqa: E402

ARM = Robot.from_urdf('urdf/six_axis_arm.urdf')


class Drop(SimulatorEnv):
    """An arm that falls from random places; an episode ends where it is fast."""

    def start(self, rng):
        self.simulator.reset(rng.uniform(-1.0, 1.0, 6))

    def reward(self):
        return float(self.simulator.v[1])

    def terminated(self):
        return abs(self.simulator.v[1]) > 1.0

    def info(self):
        return {'time': self.simulator.time}


def make():
    return RescaleAction(TimeLimit(Drop(Simulator(ARM), steps=20, delay=(0, 2)), 12), -1.0, 1.0)


def run(environments, count=30):
    """Return all that the environments return in some steps."""
    environments.action_space.seed(7)
    found = [environments.reset(seed=3)]
    for _ in range(count):
        found.append(environments.step(environments.action_space.sample()))
        if environments.autoreset_mode == AutoresetMode.DISABLED:
            ended = found[-1][2] | found[-1][3]
            if ended.any():
                found.append(environments.reset(options={'reset_mask': ended}))
    environments.close()
    return found


@pytest.mark.parametrize('mode', ['NextStep', 'SameStep', 'Disabled'])
@pytest.mark.parametrize('threads', [1, 3])
def test_results_are_those_of_gymnasium(mode, threads):
    expected = run(SyncVectorEnv([make] * 5, autoreset_mode=mode))
    found = run(SimulatorVectorEnv([make] * 5, threads, autoreset_mode=mode))
    ended = sum((step[2] | step[3]).sum() for step in expected if len(step) == 5)
    assert ended >= 5  # episodes end, by their state and by their length
    assert data_equivalence(found, expected, exact=True)


def test_simulations_are_stepped_in_threads():
    names = set()

    class Named(Drop):
        def reward(self):
            names.add(threading.current_thread().name)
            return 0.0

    environments = SimulatorVectorEnv([lambda: Named(Simulator(ARM))] * 6, threads=2)
    environments.reset(seed=1)
    for _ in range(5):
        environments.step(np.zeros((6, 6)))
    environments.close()
    assert names and all(name.startswith('environments') for name in names)
    assert not any(thread.name.startswith('environments') for thread in threading.enumerate())


def test_an_error_in_a_thread_is_raised_and_leaves_the_others_usable():
    environments = SimulatorVectorEnv([make] * 3, threads=2)
    environments.reset(seed=1)
    actions = np.zeros((3, 6))
    actions[1] = np.nan
    with pytest.raises(ValueError, match='action must be 6 finite numbers'):
        environments.step(actions)
    environments.reset(seed=1)
    observations, *_ = environments.step(np.zeros((3, 6)))
    assert np.isfinite(observations).all()
    environments.close()


def test_a_registered_environment_is_made_by_its_name():
    environments = SimulatorVectorEnv([lambda: gymnasium.make('rbd_ros/Reach-v0')] * 2)
    observations, infos = environments.reset(seed=5)
    np.testing.assert_allclose(infos['distance'], np.linalg.norm(observations[:, 15:], axis=1))
    environments.close()
