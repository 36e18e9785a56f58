#!/usr/bin/env python3
# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Accuracy of arms that follow motions and come to rest, with the defaults of inverse_dynamics.

    benchmark/goals.py [--motions 6] [--robots panda,...] [--document docs/measurements.md]

The plant is the package's simulator with the dry friction and damping of the URDF, at 1 kHz and
with 2 ms of dead time. Exit code 1 if a floor does not hold.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
import sys
from typing import Callable, Dict, Iterator, List, Optional

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / 'test')]

from marked import Part, row  # noqa: E402
from measurement import Progress  # noqa: E402
from measurement.text_table import columns  # noqa: E402
import numpy as np  # noqa: E402
from robots import cmeel_prefix  # noqa: E402
from support.closed_loop import random_motions, run, with_wrong_model  # noqa: E402

from rbd_ros import Robot  # noqa: E402
from rbd_ros.control import LawSettings  # noqa: E402
from rbd_ros.lookup.resources import resource_path  # noqa: E402

EMBEDDED = ('six_axis_arm', 'two_link_arm', 'planar_3r', 'stanford_arm')
REAL = ('panda', 'ur5_robot', 'xarm7', 'z1', 'so101')

SETTLING = 0.5  # after the end of a motion, until the arm must be at rest at its goal [s]
FLOOR, FLOOR_WRONG = 1e-3, 0.02  # maximum error at rest, right model and wrong ones [rad or m]
SAMPLES = 100_000  # configurations for the maximum gradient of gravity
WRONG = 0.2  # relative error of each mass, inertia and friction of the wrong models

PART = Part('measured goals', 'benchmark/goals.py')
HEAD = (
    'robot', 'gravity', 'peak, exact', 'at rest, exact', 'floor', 'peak, wrong', 'at rest, wrong',
    'floor', '',
)  # fmt: skip


@dataclass
class Row:
    """Results of one robot; errors are maxima over joints and motions [rad or m].

    :param robot: name of the robot
    :param gravity: square root of the maximum eigenvalue of -H^-1 dg/dq [rad/s]: rate at which the
        arm falls from an equilibrium, a lower bound on the bandwidth of control without a model
    :param peak: maximum error during the motions, with the right model
    :param rest: maximum error at rest, with the right model
    :param peak_wrong: maximum error during the motions, with the worst of the wrong models
    :param rest_wrong: maximum error at rest, with the worst of the wrong models
    """

    robot: str
    gravity: float = 0.0
    peak: float = 0.0
    rest: float = 0.0
    peak_wrong: float = 0.0
    rest_wrong: float = 0.0

    @property
    def holds(self) -> bool:
        """Whether both floors hold."""
        return self.rest <= FLOOR and self.rest_wrong <= FLOOR_WRONG

    def cells(self) -> List[str]:
        """Return the cells of the table, errors in thousandths."""
        errors = (self.peak, self.rest, self.peak_wrong, self.rest_wrong)
        text = [f'{x:.2g}' if x < 99.5 else f'{x:.0f}' for x in (1e3 * error for error in errors)]
        return [
            self.robot, f'{self.gravity:.1f}', *text[:2], f'{1e3 * FLOOR:g}', *text[2:],
            f'{1e3 * FLOOR_WRONG:g}', 'PASS' if self.holds else 'BELOW',
        ]  # fmt: skip


def find(name: str) -> Optional[Path]:
    """Return the path of a robot's URDF; None if it is not installed."""
    if name in EMBEDDED:
        return Path(resource_path('urdf', f'{name}.urdf'))
    prefix = cmeel_prefix()
    return next(prefix.glob(f'share/example-robot-data/**/{name}.urdf'), None) if prefix else None


def wrong_models() -> Dict[str, Callable[[], float]]:
    """Return the factors of masses, inertias and frictions by kind of error."""
    rng = np.random.default_rng(1)
    models: Dict[str, Callable[[], float]] = {
        'heavy': lambda: 1.0 + WRONG,
        'light': lambda: 1.0 - WRONG,
    }
    for k in range(2):
        models[f'random {k}'] = lambda: 1.0 + WRONG * rng.choice([-1, 1])
    return models


def gravity_rate(robot: Robot) -> float:
    """Return the square root of the maximum eigenvalue of -H^-1 dg/dq, all poses [rad/s]."""
    rng = np.random.default_rng(1)
    q = robot.random_configurations(SAMPLES, rng)
    at_rest = np.zeros((SAMPLES, robot.nv))
    found = robot.derivatives.inverse_dynamics(q, at_rest, at_rest)
    rates = np.linalg.eigvals(-np.linalg.solve(found.dtau_da, found.dtau_dq))
    return float(np.sqrt(max(rates.real.max(), 0.0)))


def measure(name: str, path: Path, motions: int) -> Row:
    """Follow random motions with the right model and with wrong ones."""
    robot = Robot.from_urdf(path)
    result = Row(name, gravity_rate(robot))
    settings = LawSettings.for_robot(robot)
    planned = random_motions(robot, motions)
    for motion in planned:
        once = run(robot, settings, motion)
        result.peak = max(result.peak, once.peak())
        result.rest = max(result.rest, once.resting(SETTLING))
    for factor in wrong_models().values():
        model = with_wrong_model(path, factor)
        settings = LawSettings.for_robot(model)
        for motion in planned:
            once = run(robot, settings, motion, model)
            result.peak_wrong = max(result.peak_wrong, once.peak())
            result.rest_wrong = max(result.rest_wrong, once.resting(SETTLING))
    return result


def markdown(rows: List[Row]) -> Iterator[str]:
    """Yield the lines of the table for a document."""
    yield row(HEAD)
    yield row([':---', *['---:'] * (len(HEAD) - 1)])
    for each in rows:
        yield row(each.cells())


def main(argv: Optional[List[str]] = None) -> int:
    """Run the command line and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument(
        '--robots',
        default=','.join(EMBEDDED + REAL),
        metavar='NAME,...',
        help='robots to measure (default: %(default)s)',
    )
    parser.add_argument('--motions', type=int, default=6, help='default: %(default)s')
    parser.add_argument(
        '--document',
        metavar='FILE.md',
        help='put the table between the markers of a Markdown file',
    )
    parser.add_argument(
        '--progress',
        action='store_true',
        default=None,
        help='say what is being done even where there is no terminal',
    )
    arguments = parser.parse_args(argv)
    names = arguments.robots.split(',')
    if unknown := [name for name in names if name not in EMBEDDED + REAL]:
        parser.error(f'unknown robot {unknown[0]!r}; there are {", ".join(EMBEDDED + REAL)}')

    progress, rows = Progress(arguments.progress, len(names)), []
    for name in names:
        progress.step(name)
        path = find(name)
        if path is None:
            print(f'{name} is skipped: install example-robot-data', file=sys.stderr)
            continue
        rows.append(measure(name, path, arguments.motions))
    progress.finish()
    print('Error of the worst joint [1e-3 rad or m]; gravity [rad/s]')
    print('\n'.join(columns([HEAD, *(tuple(each.cells()) for each in rows)], rule_after=1)))
    if arguments.document:
        PART.replace(Path(arguments.document), list(markdown(rows)))
    return 0 if all(each.holds for each in rows) else 1


if __name__ == '__main__':
    sys.exit(main())
