#!/usr/bin/env python3
# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Drift of energy and momentum in free motions, by integrator.

    benchmark/energy.py [--document docs/simulation_accuracy.md]

Robots have no damping, friction and limits, so only the integrator changes energy and momentum.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
import sys
from typing import Callable, Dict, Iterator, List, Optional, Tuple

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / 'test')]

from marked import Part, row  # noqa: E402
from measurement import Progress  # noqa: E402
from measurement.text_table import columns  # noqa: E402
import numpy as np  # noqa: E402
from support.example_robots import without_losses  # noqa: E402

from rbd_ros import Robot, Simulator  # noqa: E402

INTEGRATORS = ('semi_implicit', 'midpoint', 'rk4')

PART = Part('measured energy', 'benchmark/energy.py')

SPINNER = """<robot name="spinner"><link name="box"><inertial><origin xyz="0.03 -0.02 0.05"/>
<mass value="1"/><inertia ixx="0.1" iyy="0.2" izz="0.25" ixy="0" ixz="0" iyz="0"/></inertial>
</link></robot>"""


@dataclass(frozen=True)
class Motion:
    """A free motion and its error.

    :param label: mechanism, duration, and quantity with its unit
    :param start: function that returns the simulator with an integrator, at the start of the
        motion
    :param steps: number of time steps
    :param error: function that reduces the deviations of the quantity, (steps, 1 or 6), to one
        number
    :param quantity: conserved quantity of robot, q and v, (1 or 6,)
    """

    label: str
    start: Callable[[str], Simulator]
    steps: int
    error: Callable[[np.ndarray], float]
    quantity: Callable[[Robot, np.ndarray, np.ndarray], np.ndarray]

    def measure(self, integrator: str) -> float:
        """Simulate the motion and return the error."""
        simulator = self.start(integrator)
        robot, found = simulator.robot, np.empty((self.steps + 1, 6))
        for k in range(self.steps + 1):
            if k:
                simulator.step()
            found[k] = self.quantity(robot, simulator.q, simulator.v)
        status = simulator.status
        assert status.limit_steps == status.velocity_clamped_steps == 0, self.label
        return self.error(found - found[0])


def energy(robot: Robot, q: np.ndarray, v: np.ndarray) -> float:
    """Return the sum of kinetic and potential energy [J]."""
    return robot.energy(q, v).total


def momentum(robot: Robot, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return the spatial momentum about the world's origin, (6,) [N m s, N s]."""
    return robot.momentum(q, v)


def mean_square(deviation: np.ndarray) -> float:
    """Return the mean of the squares over time."""
    return float(np.mean(np.square(deviation[1:, 0])))


def maximum(deviation: np.ndarray) -> float:
    """Return the maximum over time and coordinates."""
    return float(np.abs(deviation).max())


def thrown(integrator: str, gravity: Tuple[float, float, float] = (0.0, 0.0, -9.81)) -> Simulator:
    """Return the ANYmal after SimBenchmark's push: twice its weight upward for a second."""
    text = without_losses('anymal_b_simple_description/anymal')
    robot = Robot.from_urdf(text, floating_base=True, gravity=gravity)
    simulator = Simulator(robot, 1e-3, integrator)
    q, mass = robot.neutral(), robot.mass_matrix(robot.neutral())[5, 5]
    q[6], q[7:] = 2.0, [0.03, 0.4, -0.8, -0.03, 0.4, -0.8, 0.03, -0.4, 0.8, -0.03, -0.4, 0.8]
    simulator.reset(q)
    push = [0, 0, 0, 0, 0, 2 * mass * 9.81]
    simulator.apply_wrench(robot.link_names[0], push, 1.0, (0, 0, 0))
    simulator.step(n=1000)
    return simulator


def falling(name: str, q: List[float]) -> Callable[[str], Simulator]:
    """Return the function that makes the simulator of an arm that starts at rest."""
    robot = Robot.from_urdf(without_losses(name))

    def start(integrator: str) -> Simulator:
        simulator = Simulator(robot, 1e-3, integrator)
        simulator.reset(q)
        return simulator

    return start


def spun(integrator: str) -> Simulator:
    """Return a box that rotates at 6 rad/s about its intermediate axis, in steps of 10 ms."""
    robot = Robot.from_urdf(SPINNER, floating_base=True, gravity=(0.0, 0.0, 0.0))
    simulator = Simulator(robot, 1e-2, integrator)
    simulator.reset(v=[0.01, 6.0, 0.0, 0.1, 0.2, -0.1])
    return simulator


MOTIONS = (
    Motion('ANYmal thrown, 2 s: mean square of the energy error [J^2]',
           thrown, 2000, mean_square, energy),
    Motion('double pendulum of 0.3 J, 60 s: maximum energy error [J]',
           falling('double_pendulum', [2.0, 1.0]), 60_000, maximum, energy),
    Motion('UR5 of 50 J that falls about, 60 s: maximum energy error [J]',
           falling('ur5_robot', [0.3, -0.9, 0.8, 0.2, 0.1, 0.0]), 60_000, maximum, energy),
    Motion('box of 3.6 J spun about its middle axis, 60 s at 10 ms: maximum energy error [J]',
           spun, 6000, maximum, energy),
    Motion('ANYmal thrown without gravity, 2 s: maximum momentum error [N s, N m s]',
           lambda integrator: thrown(integrator, (0.0, 0.0, 0.0)), 2000, maximum, momentum),
)  # fmt: skip


def measure(progress: Progress) -> Dict[str, List[float]]:
    """Return the errors of all motions, by label, in the order of `INTEGRATORS`."""
    found: Dict[str, List[float]] = {}
    for motion in MOTIONS:
        progress.step(motion.label)
        found[motion.label] = [motion.measure(name) for name in INTEGRATORS]
    progress.finish()
    return found


def markdown(found: Dict[str, List[float]]) -> Iterator[str]:
    """Yield the lines of the table for a document."""
    yield row(['', *(f'`{name}`' for name in INTEGRATORS)])
    yield row([':---', *['---:'] * len(INTEGRATORS)])
    for label, errors in found.items():
        yield row([label, *(f'{error:.1e}' for error in errors)])


def main(argv: Optional[List[str]] = None) -> int:
    """Measure, print the table, and write it into a document."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument(
        '--document',
        metavar='FILE.md',
        help='put the table between the markers of a Markdown file',
    )
    parser.add_argument('--progress', action='store_true', default=None)
    arguments = parser.parse_args(argv)
    found = measure(Progress(arguments.progress, len(MOTIONS)))
    cells = [(label, *(f'{x:.1e}' for x in errors)) for label, errors in found.items()]
    print('\n'.join(columns([('', *INTEGRATORS), *cells], rule_after=1)))
    if arguments.document:
        PART.replace(Path(arguments.document), list(markdown(found)))
    return 0


if __name__ == '__main__':
    sys.exit(main())
