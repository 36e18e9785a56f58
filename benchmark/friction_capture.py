# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Friction problems of simulated steps, as files that benchmark/friction.py reads."""

from __future__ import annotations

import heapq
from pathlib import Path
import time
from typing import Any, Dict, Iterator, List, Optional, Tuple

from contact_engines.our_engine import OurWorld
import numpy as np
import scale_scenes
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

TIMESTEP = 1e-3  # [s]
KEPT = 8  # problems of a scene: those of its slowest steps
#: Scenes of free bodies without a robot, whose problems consist of contacts alone.
SCENES = tuple(
    name for name in scale_scenes.NAMES if name.startswith(('domino', 'wall', 'mixed', 'boxes'))
)


def step_problem(world: OurWorld) -> Optional[Dict[str, np.ndarray]]:
    """Return W, q, mu of the contacts of the last step and its impulses; None without contacts.

    The impulses are in the units of the problem and contact by contact, as `force`.
    """
    physics = world.simulator.physics
    state, work = physics.contact_state, physics.fields.work.scene
    n, first = int(work.contact_count[0]), physics.model.scene.first_object
    if n == 0:
        return None
    J = np.zeros((n, 3, len(physics.objects.velocity), 6))
    response = np.zeros_like(J)  # M^-1 J^T, transposed
    for c, bodies in enumerate(state.contacts.body_id[:n]):
        for side, body in enumerate(bodies):
            if body >= first:
                J[c, :, body - first] = work.object_jacobian[c, side]
                response[c, :, body - first] = work.object_response[c, side]
    J, force = J.reshape(3 * n, -1), state.impulse[:n].ravel()
    W = J @ response.reshape(3 * n, -1).T
    # The impulses of the step led from the velocities without contact to those at its end.
    velocity = np.hstack([work.angular_velocity, physics.objects.velocity]).ravel()
    q = J @ velocity - W @ force
    # A gap may close within the step.
    q[::3] += np.maximum(state.contacts.gap[:n], 0.0) / world.timestep
    return {'W': W, 'q': q, 'mu': np.full(n, float(world.scene.friction)), 'force': force}


def largest_island(problem: Dict[str, np.ndarray]) -> Dict[str, np.ndarray]:
    """Return the part of a problem with the most contacts that depend on each other."""
    n = len(problem['mu'])
    coupled = np.any(problem['W'].reshape(n, 3, n, 3) != 0.0, axis=(1, 3))
    _, labels = connected_components(csr_matrix(coupled), directed=False)
    inside = labels == np.argmax(np.bincount(labels))
    rows = np.repeat(inside, 3)
    return {
        'W': problem['W'][np.ix_(rows, rows)],
        'q': problem['q'][rows],
        'mu': problem['mu'][inside],
        'force': problem['force'][rows],
    }


def slowest_steps(name: str, steps: int) -> Iterator[Tuple[int, Dict[str, np.ndarray]]]:
    """Yield the problems of the slowest steps of a scene, in the order of the steps.

    :param name: one of `SCENES`
    :param steps: number of steps to simulate
    """
    (scene,) = scale_scenes.load(name)
    world = OurWorld(scene, TIMESTEP)
    world.step(1)  # loads machine code
    found: List[Tuple[float, int, Any]] = []
    for k in range(1, steps):
        begin = time.thread_time()
        world.step(1)
        spent = time.thread_time() - begin
        if len(found) < KEPT or spent > found[0][0]:
            problem = step_problem(world)
            if problem is not None:
                heapq.heappush(found, (spent, k, problem))
                if len(found) > KEPT:
                    heapq.heappop(found)
    for _, k, problem in sorted(found, key=lambda each: each[1]):
        yield k, largest_island(problem)


def capture(name: str, folder: Path, steps: Optional[int] = None) -> List[Path]:
    """Write the problems of the slowest steps of a scene; return their files.

    :param name: one of `SCENES`
    :param steps: number of steps to simulate; default those of the scene
    """
    folder.mkdir(parents=True, exist_ok=True)
    if steps is None:
        steps = round(scale_scenes.load(name)[0].duration / TIMESTEP)
    files = []
    for k, problem in slowest_steps(name, steps):
        W = csr_matrix(problem['W'])
        files.append(folder / f'{name}_{k:04d}.npz')
        np.savez_compressed(
            files[-1],
            data=W.data,
            indices=W.indices,
            indptr=W.indptr,
            shape=W.shape,
            q=problem['q'],
            mu=problem['mu'],
        )
    return files
