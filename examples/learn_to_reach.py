# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""An arm that learns to reach points, by CMA-ES (Hansen 2016) on a policy linear in features.

pip install cma 'rbd_ros[gym]'
python examples/learn_to_reach.py

Each generation is one episode of 32 environments, a candidate of the policy in each.
"""

import argparse

import cma
import gymnasium
import numpy as np

from rbd_ros.gym import SimulatorVectorEnv

NQ = 6  # joints, and position targets
TARGET = slice(2 * NQ, 2 * NQ + 3)  # relative to the initial tool position, in an observation [m]


def goals(parameters, observations, start):
    """Return position targets: the start, plus terms linear and quadratic in the target."""
    target = observations[:, TARGET]
    rows, columns = np.triu_indices(3)
    products = target[:, rows] * target[:, columns]
    features = np.concatenate([target, products], axis=1)
    return start + np.einsum('bij,bj->bi', parameters.reshape(len(target), NQ, -1), features)


def episode(environments, parameters, seed):
    """Return the mean distance of each policy in the last quarter of an episode [m]."""
    observations, _ = environments.reset(seed=seed)
    start, distances, ended = observations[:, :NQ], [], np.zeros(len(parameters), dtype=bool)
    while not ended.any():
        found = environments.step(goals(parameters, observations, start))
        observations, rewards, terminated, truncated, _ = found
        ended = terminated | truncated
        distances.append(-rewards)
    return np.mean(distances[-len(distances) // 4 :], axis=0)


def main():
    """Learn, and print the tool's distance from targets outside the training set."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--generations', type=int, default=150)
    parser.add_argument('--environments', type=int, default=32, help='candidates of a generation')
    parser.add_argument('--seed', type=int, default=1)
    arguments = parser.parse_args()
    environments = SimulatorVectorEnv(
        [lambda: gymnasium.make('rbd_ros/Reach-v0', max_episode_steps=40)] * arguments.environments
    )
    options = {'popsize': arguments.environments, 'seed': arguments.seed, 'verbose': -9}
    search = cma.CMAEvolutionStrategy(np.zeros(NQ * 9), 0.5, options)
    for generation in range(arguments.generations):
        candidates = search.ask()
        # The same targets for all candidates, so only their parameters differ.
        seeds = [generation] * arguments.environments
        distances = episode(environments, np.array(candidates), seeds)
        search.tell(candidates, distances)
        if generation % 25 == 0:
            print(f'generation {generation}: mean distance {distances.mean():.3f} m')
    learned = np.tile(search.result.xfavorite, (arguments.environments, 1))
    idle = episode(environments, np.zeros_like(learned), 1_000_000).mean()
    reached = episode(environments, learned, 1_000_000).mean()
    print(f'mean distance to new targets: {reached:.3f} m, {idle:.3f} m without having learned')
    environments.close()


if __name__ == '__main__':
    main()
