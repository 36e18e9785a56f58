# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The simulator: overhead of a call over the step, and time to the first step."""

from __future__ import annotations

from functools import lru_cache
import json
import os
from pathlib import Path
import subprocess
import sys
import tempfile
from typing import Dict, List, Tuple

from measurement import Call, compare
import numpy as np
import robots
from rows import Row

from rbd_ros import Robot, Simulator
from rbd_ros.contact import HalfSpace
from sections.section import Section, Tools

NAME = 'simulators'
_STEP, NEW, LATER = 'call besides the step', 'first ever', 'later ones'
_FLOORS = {robots.UR5: 3.0, robots.GO1: 8.0}
#: With rigid contact: in a world with objects of all kinds, and on rigid ground.
_TABLE, _GROUND = 'first ever, in table_world.yaml', 'first ever, on rigid ground'
_IN_WORLDS = {
    (robots.UR5, _TABLE): 8.0,
    (robots.PANDA, _TABLE): 8.0,
    (robots.GO1, _GROUND): 8.0,
    (robots.ANYMAL, _GROUND): 8.0,
}
_WORLD = Path(__file__).resolve().parents[2] / 'config' / 'table_world.yaml'
_STEPS = 64

_FIRST = """
import json, os, sys
path, floating, world = sys.argv[1], sys.argv[2] == 'floating', sys.argv[3]
from rbd_ros import Robot, Simulator
from rbd_ros.contact import HalfSpace
robot = Robot.from_urdf(path, floating_base=floating)
around = {'world': world}
if world in ('', 'ground'):
    soft = HalfSpace() if floating else None
    around = {'ground': True if world else soft}
simulator = Simulator(robot, **around)
simulator.step()
times = os.times()
print(json.dumps(times.user + times.system + times.children_user + times.children_system))
"""


def _rows() -> List[Row]:
    rows = []
    for robot, first in _FLOORS.items():
        rows += [
            Row(NAME, robot.name, _STEP, 'µs', 1.0),
            Row(NAME, robot.name, NEW, 's', first),
            Row(NAME, robot.name, LATER, 's', 0.3),
        ]
    for (robot, what), first in _IN_WORLDS.items():
        rows.append(Row(NAME, robot.name, what, 's', first))
    return rows


def _measure(row: Row, tools: Tools) -> None:
    robots_by_name = {each.name: each for each in (*_FLOORS, *(key[0] for key in _IN_WORLDS))}
    robot = robots_by_name[row.robot]
    if row.function == _STEP:
        row.value, row.detail = _call(robot, tools)
    elif row.function in (_TABLE, _GROUND):
        world = str(_WORLD) if row.function == _TABLE else 'ground'
        row.value = start_times(robot, world)[NEW]
    else:
        row.value = start_times(robot)[row.function]


def _call(robot: robots.RealRobot, tools: Tools) -> Tuple[float, Dict[str, float]]:
    ours = Robot.from_urdf(robots.find(robot), floating_base=robot.floating_base)
    # In the air, where all steps take equally long.
    simulator = Simulator(ours, ground=HalfSpace(offset=-1e6) if robot.floating_base else None)
    start, tau = simulator.snapshot(), np.zeros(ours.nv)

    def one_by_one() -> None:
        simulator.restore(start)
        for _ in range(_STEPS):
            simulator.step(tau)

    def at_once() -> None:
        simulator.restore(start)
        simulator.step(tau, _STEPS)

    one, many = (
        compare(Call(function, states=_STEPS), seconds=tools.seconds).ours
        for function in (one_by_one, at_once)
    )
    return 1e-3 * (one - many), {'ours_ns': one, 'theirs_ns': many}


@lru_cache(maxsize=None)
def start_times(robot: robots.RealRobot, world: str = '') -> Dict[str, float]:
    """Return the processor time of a whole process that takes one step, children included [s].

    :param world: path of a world file, 'ground' for rigid ground, '' for soft ground or none
    """
    kind = 'floating' if robot.floating_base else 'fixed'
    command = [sys.executable, '-c', _FIRST, str(robots.find(robot)), kind, world]
    with tempfile.TemporaryDirectory(prefix='rbd_ros-bench-') as cache:
        environment = {
            **os.environ,
            'RBD_ROS_CACHE_DIR': cache,
            'PYTHONPATH': str(Path(__file__).resolve().parents[2]),
        }
        # The first process writes byte code for the later ones, as in an installed package.
        environment.pop('PYTHONDONTWRITEBYTECODE', None)
        times = [
            json.loads(
                subprocess.run(
                    command, env=environment, check=True, capture_output=True, text=True
                ).stdout
            )
            for _ in range(2)
        ]
    return dict(zip((NEW, LATER), times))


SECTION = Section(
    'Simulator.step(tau), and processor time until the first step is done, imports included',
    _rows,
    _measure,
)
