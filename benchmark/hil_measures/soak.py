# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Soak test: many steps of a simulation with intermittent faults, for NaN, leaks and counters."""

from __future__ import annotations

from pathlib import Path
from typing import Callable, List

import numpy as np

from hil_measures.figure import at_most, Figure, reported
from rbd_ros import Robot
from rbd_ros.hil import Fault, FaultInjector
from rbd_ros.lookup.resources import resource_path
from rbd_ros.simulation import Physics

PART = 'soak'
BLOCK = 10_000  # steps between changes of faults
WARM = 20  # blocks before memory is recorded
MAX_GROWTH = 1.0  # [MB]
TIMESTEP = 0.001  # [s]
_OF_MESSAGES = {'latency': 0.02, 'jitter': 0.01, 'drop': 0.3, 'duplicate': 0.3}
_OF_JOINTS = {
    'position_noise': 1e-3, 'velocity_noise': 1e-2, 'position_bias': 0.05, 'velocity_bias': 0.1,
    'quantization': 1e-3, 'backlash': 2e-3, 'effort_derating': 0.9, 'friction': 5.0,
}  # fmt: skip


def memory() -> float:
    """Return the resident memory of this process [MB]."""
    pages = int(Path('/proc/self/statm').read_text().split()[1])
    return pages * 4096 / 1e6


def random_faults(rng: np.random.Generator, joints: tuple) -> List[Fault]:
    """Return some faults that begin and end within the next block."""
    faults, span = [], BLOCK * TIMESTEP
    for _ in range(int(rng.integers(0, 6))):
        at, lasts = rng.uniform(0.0, 0.5) * span, rng.uniform(0.01, 0.8) * span
        chosen = tuple(name for name in joints if rng.random() < 0.4)
        which = rng.integers(3)
        if which == 0:
            kind = str(rng.choice(list(_OF_MESSAGES)))
            value = _OF_MESSAGES[kind] * rng.random()
            channel = str(rng.choice(['state', 'command', 'both']))
            faults.append(Fault(kind, value, channel=channel, start_time=at, duration=lasts))
        elif which == 1:
            kind = str(rng.choice(list(_OF_JOINTS)))
            value = _OF_JOINTS[kind] * rng.uniform(0.1, 1.0)
            faults.append(Fault(kind, value, joints=chosen, start_time=at, duration=lasts))
        else:
            kind = str(rng.choice(['actuator_failure', 'joint_lock', 'power_cut']))
            concerns = () if kind == 'power_cut' else chosen
            faults.append(Fault(kind, joints=concerns, start_time=at, duration=lasts))
    return faults


def measure(steps: int, on_progress: Callable[[int, int], None], seed: int = 1) -> List[Figure]:
    """Simulate an arm whose controller, sensors and messages are disturbed.

    :param steps: number of steps
    :param on_progress: called with the number of steps done, and of all steps
    """
    robot = Robot.from_urdf(resource_path('urdf', 'six_axis_arm.urdf'))
    physics, n = Physics(robot, TIMESTEP), robot.nv
    names = tuple(robot.joint_names)
    injector = FaultInjector(names, np.arange(n), seed, keep_changes=False)
    injector.attach(physics)
    rng = np.random.default_rng(seed)
    kp, kd = np.array([400.0, 400, 200, 40, 20, 2]), np.array([40.0, 40, 20, 4, 2, 0.02])
    goal, hold = np.array([0.2, -1.2, 1.2, -0.5, 0.3, 0.0]), robot.gravity_torque
    physics.reset(goal, np.zeros(n))
    links, taken = injector.links, {'state': 0, 'command': 0}
    torque, command, steady = np.zeros(n), np.zeros(n), hold(goal)
    bad, resident, warm = 0, [], min(WARM, max(1, steps // BLOCK // 4))
    done = 0
    while done < steps:
        now = done * TIMESTEP
        injector.plan(random_faults(rng, names), now)
        goal_now = goal + 0.2 * rng.normal(size=n)
        for _ in range(min(BLOCK, steps - done)):
            now = done * TIMESTEP
            injector.update(now)
            state = physics.state
            q, v = injector.sensors.measure(state.q, state.v)
            links['state'].send((q.copy(), v.copy()), now)
            while (seen := links['state'].receive(now)) is not None:
                taken['state'] += 1
                command = steady + kp * (goal_now - seen[0]) - kd * seen[1]
                links['command'].send(command, now)
            while (got := links['command'].receive(now)) is not None:
                taken['command'] += 1
                torque = got
            physics.step(torque)
            done += 1
        bad += not (np.isfinite(physics.state.q).all() and np.isfinite(physics.state.v).all())
        bad += not np.isfinite(torque).all()
        if done // BLOCK >= warm:
            resident.append(memory())
        on_progress(done, steps)
    drift = 0
    for channel, link in links.items():
        under_way = len(link.snapshot()['waiting'])
        drift += abs(link.sent - link.dropped + link.duplicated - taken[channel] - under_way)
    return [
        at_most(PART, f'values that are not finite, in {steps} steps', bad, 0.0),
        at_most(
            PART, 'memory, growth after warm-up [MB]', max(resident) - resident[0], MAX_GROWTH
        ),
        at_most(PART, 'messages that the counters do not account for', drift, 0.0),
        at_most(
            PART,
            'simulated time, beside that of the steps [s]',
            abs(physics.time - steps * TIMESTEP),
            1e-6,
        ),
        reported(PART, 'messages lost', float(sum(link.dropped for link in links.values()))),
    ]
