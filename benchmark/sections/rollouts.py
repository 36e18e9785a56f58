"""Many motions at once, against MuJoCo's rollouts."""

from __future__ import annotations

from functools import lru_cache
import os
import time
from typing import Any, Callable, List, Tuple

import mujoco_models
import numpy as np
import robots
from rows import Row

from rbd_ros import Robot, Simulator
from rbd_ros.cli.measurement import Call, compare, machine, one_thread
from sections.section import Section, Tools

NAME = 'rollouts'
STATES, STEPS, _TIMESTEP = 64, 1000, 1e-3
_ONE, _ALL = 'one thread', 'all threads'
_FLOORS = {robots.UR5: 10.0, robots.PANDA: 10.0, robots.GO1: 3.0}


def _rows() -> List[Row]:
    return [
        Row(NAME, robot.name, what, 'x', floor)
        for robot, floor in _FLOORS.items()
        for what in (_ONE, _ALL)
    ]


def _measure(row: Row, tools: Tools) -> None:
    robot = next(each for each in _FLOORS if each.name == row.robot)
    ours, theirs, row.freedoms = _calls(robot)
    count = STATES * STEPS
    if row.function == _ONE:
        with one_thread():
            row.fill(
                compare(
                    Call(ours, states=count), Call(lambda: theirs(1), states=count), tools.seconds
                )
            )
        return
    threads = machine()['cores']
    if threads < 2:
        raise RuntimeError('there is one core only')
    row.fill(
        compare(
            Call(ours, states=count),
            Call(lambda: theirs(threads), states=count),
            tools.seconds,
            clock=time.perf_counter,
        )
    )


@lru_cache(maxsize=None)
def _calls(
    robot: robots.RealRobot,
) -> Tuple[Callable[[], Any], Callable[[int], Any], List[int]]:
    """Our call and, by the number of threads, the peer's; the freedoms of both models.

    Both write into arrays that are there. Arms move freely under random torques that stay the same
    for a tenth of a second; a quadruped falls to the ground from low above it, and lies there.
    """
    from mujoco import rollout

    path, on_ground = robots.find(robot), robot.floating_base
    model = Robot.from_urdf(path, floating_base=robot.floating_base)
    simulator = Simulator(model, _TIMESTEP, ground=on_ground)
    peer = mujoco_models.model(path, _TIMESTEP, robot.floating_base, on_ground)
    rng = np.random.default_rng(0)
    q = np.array([model.neutral()] * STATES)
    v, torque = np.zeros((STATES, model.nv)), np.zeros((STATES, STEPS, model.nv))
    if on_ground:
        q[:, 6] = rng.uniform(0.3, 0.4, STATES)
        q[:, 7:] = rng.uniform(-0.3, 0.3, (STATES, model.nq - 7))
    else:
        q = np.array([model.random_configuration(rng) for _ in range(STATES)])
        torque = np.repeat(rng.normal(size=(STATES, STEPS // 100, model.nv)), 100, axis=1)
    out = simulator.rollout(q, v, torque)

    mujoco = mujoco_models.load()
    start = mujoco_models.states(peer, model, q, v)
    forces = np.zeros((STATES, STEPS, peer.nv))
    # Joints come in the same order; those that mimic others are the last ones.
    forces[:, :, : model.nv] = torque
    states = np.empty((STATES, STEPS, start.shape[1]))
    data = [mujoco.MjData(peer) for _ in range(os.cpu_count() or 1)]

    def theirs(threads: int) -> None:
        rollout.rollout(
            peer,
            data[:threads],
            start,
            forces,
            control_spec=int(mujoco.mjtState.mjSTATE_QFRC_APPLIED),
            state=states,
            persistent_pool=True,
        )

    def ours() -> None:
        simulator.rollout(q, v, torque, out=out)

    return ours, theirs, [model.nv, peer.nv]


SECTION = Section(
    f'Simulator.rollout: {STATES} motions of {STEPS} steps, against mujoco.rollout', _rows, _measure
)
