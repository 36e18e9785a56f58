"""`rbd_ros simulate robot.urdf`: the simulated robot live in a browser page, or as a recording."""

from __future__ import annotations

import argparse
import math
import sys
from typing import List, Optional
import webbrowser

import numpy as np
from numpy.typing import NDArray

from rbd_ros import Robot, Simulator
from rbd_ros.cli.info import add_model_arguments, description, model_options
from rbd_ros.control.law_settings import LawSettings
from rbd_ros.control.torque import TorqueLaw
from rbd_ros.model.joints import Floating
from rbd_ros.simulation.world import INTEGRATORS
from rbd_ros.viewer.scene import make_scene, SHAPES
from rbd_ros.viewer.session import LiveSession, record, Torque

FloatArray = NDArray[np.float64]

_RECORDED = 10.0  # without --duration [s]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `rbd_ros simulate`."""
    add_model_arguments(parser)
    parser.add_argument(
        '--start',
        metavar='NUMBER,...',
        help='configuration to start from, as --start=0,-1.5,... (default: the neutral one)',
    )
    torque = parser.add_mutually_exclusive_group()
    torque.add_argument(
        '--gravity-compensation', action='store_true', help='joints carry the weight of the links'
    )
    torque.add_argument(
        '--hold', action='store_true', help='hold the start by the default law of the torque nodes'
    )
    parser.add_argument(
        '--ground', action='store_true', help='let the robot touch the ground, z <= 0'
    )
    parser.add_argument(
        '--timestep', type=float, default=1e-3, metavar='SECONDS', help='step (%(default)s)'
    )
    parser.add_argument(
        '--integrator',
        choices=INTEGRATORS,
        help='integrator (midpoint; with kinematic loops semi_implicit)',
    )
    parser.add_argument(
        '--duration',
        type=float,
        metavar='SECONDS',
        help=f'simulated time (default: until Ctrl-C; {_RECORDED:g} s of a recording)',
    )
    parser.add_argument(
        '--shapes',
        choices=SHAPES,
        default=SHAPES[0],
        help='visual shapes, with the collision shapes of links that have none, or the collision '
        'shapes alone (default: %(default)s)',
    )
    parser.add_argument(
        '--record',
        metavar='FILE.html',
        help='write a page that plays the motion anywhere, as fast as can be computed, and show '
        'none live',
    )
    parser.add_argument(
        '--port', type=int, default=8000, help='port of the live page; 0 for any (%(default)s)'
    )
    parser.add_argument(
        '--no-browser', action='store_true', help='only print the address of the live page'
    )


def run(arguments: argparse.Namespace) -> int:
    """Simulate.

    :return: 0, also when Ctrl-C ends it
    :raises ModelError: if the URDF cannot become a model, or that model cannot be simulated
    :raises ValueError: for an option that does not fit, a port in use, a file that cannot be
        written, or dynamics that are not finite
    """
    duration = arguments.duration
    if duration is not None and not 0.0 < duration < math.inf:
        raise ValueError(f'--duration must be positive and finite, got {duration:g}')
    robot = Robot.from_urdf(description(arguments.robot), **model_options(arguments))
    simulator = Simulator(robot, arguments.timestep, arguments.integrator, arguments.ground)
    if arguments.start is not None:
        simulator.reset(_numbers(arguments.start, robot.nq))
    torque = _torque(arguments, simulator)
    scene = make_scene(robot.model, arguments.shapes)
    notices = [*simulator.warnings, *scene.notices]
    if not scene.shapes:
        notices.append(f'{robot.name} has no {arguments.shapes} shapes that could be drawn')
    for notice in notices:
        print(notice, file=sys.stderr)
    if arguments.record is not None:
        try:
            recording = record(
                simulator, scene, _RECORDED if duration is None else duration, torque
            )
        except FloatingPointError as error:
            raise ValueError(f'{error}; try a smaller --timestep') from error
        recording.write(arguments.record)
        print(arguments.record)
        return 0
    session = LiveSession(simulator, scene, torque, arguments.port)
    try:
        print(f'{session.url}  (Ctrl-C ends)', flush=True)
        if not arguments.no_browser:
            webbrowser.open(session.url)
        session.run(math.inf if duration is None else duration)
    except KeyboardInterrupt:
        print()
    finally:
        session.close()
    return 0


class _Hold:
    """The default law of the torque nodes, with the start as what is desired."""

    def __init__(self, simulator: Simulator):
        self.robot, self.q, self.period = simulator.robot, simulator.q, simulator.timestep
        self.rest = np.zeros(self.robot.nv)
        self.settings = LawSettings.for_robot(self.robot)
        self.restart()

    def restart(self) -> None:
        """Forget the integral."""
        self.law = TorqueLaw(self.robot, self.settings)

    def __call__(self, simulator: Simulator) -> FloatArray:
        return self.law(simulator.q, simulator.v, self.q, self.rest, self.rest, self.period)


def _torque(arguments: argparse.Namespace, simulator: Simulator) -> Optional[Torque]:
    model, robot = simulator.robot.model, simulator.robot
    chosen = '--hold' if arguments.hold else '--gravity-compensation'
    if not (arguments.hold or arguments.gravity_compensation):
        return None
    if model.loops:
        raise ValueError(f'{chosen} is for robots without loops; leave it out')
    floating = any(isinstance(body.joint, Floating) for body in model.bodies)
    if arguments.hold:
        if floating:
            raise ValueError('--hold is for robots whose base is fixed; leave it out')
        return _Hold(simulator)
    if floating:
        raise ValueError(
            '--gravity-compensation is for robots whose base is fixed: nothing carries another; '
            'leave it out'
        )
    return lambda now: robot.gravity_torque(now.q)


def _numbers(text: str, count: int) -> List[float]:
    try:
        numbers = [float(word) for word in text.split(',')]
    except ValueError:
        raise ValueError(f'--start {text!r}: give numbers, separated by commas') from None
    if len(numbers) != count:
        raise ValueError(f'--start has {len(numbers)} numbers, this robot has {count}')
    return numbers
