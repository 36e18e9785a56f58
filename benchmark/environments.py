#!/usr/bin/env python3
# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Speed of vector environments, compared with Gymnasium's MuJoCo ones and `mujoco.rollout`.

    benchmark/environments.py [--quick] [--document docs/learning.md]

The robots differ: Gymnasium's are the ant (8 motors) and the humanoid (17), whose steps are RK4;
ours a Go1 (12) and a G1 (29), semi-implicit, as `mujoco.rollout` simulates the same Go1. Every
action is five time steps; a rollout has no observations.
"""

from __future__ import annotations

import argparse
from pathlib import Path
import sys
import time
from typing import Any, Callable, Dict, List, Tuple

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import gymnasium  # noqa: E402
from gymnasium.vector import SyncVectorEnv, VectorEnv  # noqa: E402
from marked import Part, row  # noqa: E402
from measurement import machine, one_thread, versions  # noqa: E402
from measurement.text_table import columns  # noqa: E402
import mujoco  # noqa: E402
import numpy as np  # noqa: E402
import robots  # noqa: E402
from sections import rollouts  # noqa: E402

from rbd_ros import Robot, Simulator  # noqa: E402
from rbd_ros.gym import SimulatorEnv, SimulatorVectorEnv  # noqa: E402

COUNT, STEPS, ACTIONS, ROUNDS = 8, 5, 100, 5
PART = Part('measured environments', 'benchmark/environments.py')
HEAD = ('Environments', 'One thread [actions/s]', f'{machine()["cores"]} threads [actions/s]')


class Standing(SimulatorEnv):
    """A legged robot on position servos; an episode ends when its trunk is low."""

    def __init__(self, robot: robots.RealRobot):
        model = Robot.from_urdf(robots.find(robot), floating_base=True)
        # As the peers': no self-contact.
        world = {'objects': {'floor': {'type': 'plane'}}, 'disable_collisions': [['robot'] * 2]}
        simulator = Simulator(model, 2e-3, 'semi_implicit', world=world)
        simulator.set_joint_pd(kp=200.0, kd=5.0)
        super().__init__(simulator, 'position', STEPS)
        self._begin = simulator.standing_configuration(simulator.q)
        self._low = 0.5 * self._begin[6]

    def start(self, rng: np.random.Generator) -> None:
        """Start on the feet, at rest."""
        self.simulator.reset(self._begin)

    def reward(self) -> float:
        """Return the forward velocity [m/s]."""
        return float(self.simulator.v[3])

    def terminated(self) -> bool:
        """Return whether the trunk is low."""
        return bool(self.simulator.q[6] < self._low)

    @property
    def middle(self) -> np.ndarray:
        """Initial joint positions [rad]."""
        return self._begin[7:]


def rates(made: Dict[str, Tuple[Callable[[], Any], int]], rounds: int) -> Dict[str, float]:
    """Return the actions per second of each call, medians of rounds in turn."""
    found: Dict[str, List[float]] = {name: [] for name in made}
    for _ in range(rounds):
        for name, (call, count) in made.items():
            begun = time.perf_counter()
            call()
            found[name].append(count / (time.perf_counter() - begun))
    return {name: float(np.median(values)) for name, values in found.items()}


def stepping(environments: VectorEnv, actions: np.ndarray) -> Tuple[Callable[[], Any], int]:
    """Return a call that performs actions in all environments, and their number."""
    environments.reset(seed=1)

    def call() -> None:
        for each in actions:
            environments.step(each)

    call()
    return call, len(actions) * environments.num_envs


def ours(robot: robots.RealRobot, threads: int) -> Tuple[Callable[[], Any], int]:
    """Return a call that performs actions of one of our robots."""
    environments = SimulatorVectorEnv([lambda: Standing(robot)] * COUNT, threads)
    middle = environments.get_attr('middle')[0]
    moves = np.random.default_rng(1).uniform(-0.1, 0.1, (ACTIONS, COUNT, middle.size))
    return stepping(environments, middle + moves)


def theirs(name: str) -> Tuple[Callable[[], Any], int]:
    """Return a call that performs actions of one of Gymnasium's robots."""
    environments = SyncVectorEnv([lambda: gymnasium.make(name, disable_env_checker=True)] * COUNT)
    space = environments.single_action_space
    moves = np.random.default_rng(1).uniform(-1.0, 1.0, (ACTIONS, COUNT, space.shape[0]))
    return stepping(environments, 0.3 * space.high * moves)


def measure(rounds: int) -> List[List[str]]:
    """Return the rows of the table."""
    several = machine()['cores']
    _, rollout, _ = rollouts.calls(robots.GO1, False, rigid=True, standing=True)
    actions = rollouts.STATES * rollouts.STEPS // STEPS
    made: Dict[str, Tuple[Callable[[], Any], int]] = {}
    for threads in (1, several):
        made[f'Go1 {threads}'] = ours(robots.GO1, threads)
        made[f'G1 {threads}'] = ours(robots.G1, threads)
        made[f'rollout {threads}'] = lambda threads=threads: rollout(threads), actions
    made['ant'], made['humanoid'] = theirs('Ant-v5'), theirs('Humanoid-v5')
    found = rates(made, rounds)
    named = {
        'rbd_ros.gym, Go1': 'Go1',
        'mujoco.rollout, the same Go1': 'rollout',
        "Gymnasium's Ant-v5": 'ant',
        'rbd_ros.gym, G1': 'G1',
        "Gymnasium's Humanoid-v5": 'humanoid',
    }
    rows = []
    for title, name in named.items():
        one = found.get(f'{name} 1', found.get(name))
        many = found.get(f'{name} {several}')
        rows.append([title, *('-' if x is None else f'{x:.0f}' for x in (one, many))])
    return rows


def main() -> None:
    """Measure, print the table, and write it into a page on request."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--quick', action='store_true', help='measure for a shorter time')
    parser.add_argument('--document', type=Path, metavar='FILE', help='page to write it into')
    arguments = parser.parse_args()
    with one_thread():
        rows = measure(2 if arguments.quick else ROUNDS)
    print('\n'.join(columns([HEAD, *rows], rule_after=1)))
    if arguments.document:
        computer, made_by = machine(), versions()
        lines = [
            f'Measured on {computer["cpu"]}, {computer["cores"]} cores, Python '
            f'{made_by["python"]}, Gymnasium {gymnasium.__version__}, MuJoCo '
            f'{mujoco.__version__}.',
            '',
            row(HEAD),
            row([':---', *['---:'] * (len(HEAD) - 1)]),
            *map(row, rows),
        ]
        PART.replace(arguments.document, lines)


if __name__ == '__main__':
    main()
