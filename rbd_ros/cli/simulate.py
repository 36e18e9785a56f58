# SPDX-License-Identifier: Apache-2.0
"""`rbd_ros simulate robot.urdf`: the simulated robot live in a browser page, or as a recording."""

from __future__ import annotations

import argparse
import math
import signal
import sys
import threading
from typing import Optional, Sequence, Tuple, TYPE_CHECKING, Union
import webbrowser

from rbd_ros import Robot, Simulator
from rbd_ros.algorithms.inertia_matrix.singularity import singular_joints
from rbd_ros.cli import start_option
from rbd_ros.cli.info import add_model_arguments, model_options, named_robot
from rbd_ros.cli.progress import TerminalProgress
from rbd_ros.cli.simulate_torque import chosen_torque
from rbd_ros.collision import read_world, World
from rbd_ros.model.errors import SingularMassMatrixError
from rbd_ros.simulation.physics import INTEGRATORS
from rbd_ros.simulation.simulated_robots import simulated_robot
from rbd_ros.viewer.recording import check_format
from rbd_ros.viewer.scene import make_scene, Scene, SHAPES
from rbd_ros.viewer.session import LiveSession, record
from rbd_ros.worlds import find_world

if TYPE_CHECKING:
    from rbd_ros.viewer.watching import WatchSession

_RECORDED = 10.0  # without --duration [s]
_NOTICES = 5  # that are printed

_OF_A_ROBOT = ('start', 'hold_start', 'gravity_compensation', 'watch', 'srdf')


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `rbd_ros simulate`."""
    add_model_arguments(parser, required=False)
    parser.add_argument(
        '--start',
        metavar='START',
        help=start_option.HELP,
    )
    torque = parser.add_mutually_exclusive_group()
    torque.add_argument(
        '--gravity-compensation', action='store_true', help='joints carry the weight of the links'
    )
    torque.add_argument(
        '--hold-start',
        action='store_true',
        help='hold the start by the default law of the torque nodes, or by a spring and a damper '
        'at each joint if the base is floating',
    )
    parser.add_argument(
        '--world',
        metavar='WORLD',
        help='what is around the robot: YAML file, see docs/world.md, or name of a world that '
        'comes with rbd_ros, such as push',
    )
    parser.add_argument(
        '--ground',
        action='store_true',
        help='let the robot touch the ground, z <= 0, rigidly and with a friction of 0.8, as in a '
        'world of one plane',
    )
    parser.add_argument(
        '--srdf',
        metavar='FILE',
        help='SRDF of the robot, which says which of its links touch each other in the world or '
        'on the ground, and names configurations for --start (default: what the world file says)',
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
        '--no-velocity-limits',
        action='store_true',
        help='let joints exceed the velocity limits of the description, which they keep otherwise',
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
        metavar='FILE',
        help='write a page that plays the motion anywhere (.html), a video (.mp4) or an MCAP file '
        'for Foxglove (.mcap), as fast as can be computed, and show none live',
    )
    parser.add_argument(
        '--watch',
        action='store_true',
        help='simulate nothing: show what the joint states of a running simulator or robot say',
    )
    parser.add_argument(
        '--namespace', default='', metavar='NAME', help='of the topics that --watch listens to'
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
    if arguments.record is not None:
        check_format(arguments.record)
    robot = _robot(arguments)
    model = None if robot is None else robot.model
    world = None
    if arguments.world is not None:
        world = read_world(find_world(arguments.world), model)
    if robot is None:
        _refuse_what_needs_a_robot(arguments, world)
    if arguments.watch:
        watched = simulated_robot(robot, world)
        return _watch(arguments, watched, make_scene(watched.model, arguments.shapes, world=world))
    simulator, still = _simulator(arguments, robot, world)
    if robot is not None or simulator.robots:
        model = simulator.robot.model  # with the robots of the world that move
    scene = make_scene(model, arguments.shapes, world=simulator.world)
    if arguments.start is not None:
        start_option.begin(arguments.start, simulator, robot)
    torque = None
    if not still:
        torque = chosen_torque(simulator, arguments.hold_start, arguments.gravity_compensation)
    _report(arguments, [*filter(None, [still]), *simulator.warnings, *scene.notices], scene)
    if arguments.record is not None:
        try:
            with TerminalProgress('simulating') as progress:
                recording = record(
                    simulator, scene, _RECORDED if duration is None else duration, torque, progress
                )
        except FloatingPointError as error:
            raise ValueError(f'{error}; try a smaller --timestep') from error
        recording.write(arguments.record)
        print(arguments.record)
        return 0
    return _serve(arguments, LiveSession(simulator, scene, torque, arguments.port, still))


def _simulator(
    arguments: argparse.Namespace, robot: Optional[Robot], world: Optional[World]
) -> Tuple[Simulator, str]:
    """Return the simulation, and why it stands still, '' if it does not.

    A robot whose motion nothing determines is placed all the same: by one with an armature in its
    stead, of which nobody takes a step.
    """

    def simulation(of: Optional[Robot]) -> Simulator:
        return Simulator(
            of,
            arguments.timestep,
            arguments.integrator,
            arguments.ground,
            external_forces=arguments.record is None,  # of a page that pulls
            world=world,
            srdf=arguments.srdf,
            enforce_velocity_limits=not arguments.no_velocity_limits,
        )

    try:
        return simulation(robot), ''
    except SingularMassMatrixError as error:
        if arguments.record is not None:
            raise
        model = simulated_robot(robot, world).model
        armature = dict.fromkeys(singular_joints(model), 1.0)
        return simulation(Robot(model.with_armature(armature))), f'not simulated: {error}'


def _robot(arguments: argparse.Namespace) -> Optional[Robot]:
    """Return the robot, None if there is but what is in a world."""
    if arguments.robot is not None:
        return Robot.from_urdf(
            named_robot(arguments),
            **model_options(arguments),
        )
    if arguments.world is None:
        raise ValueError('name a robot, or give a --world whose objects move')
    return None


def _refuse_what_needs_a_robot(arguments: argparse.Namespace, world: Optional[World]) -> None:
    own = world is not None and any(each.movable for each in world.robots)
    for option in ('watch', 'srdf') if own else _OF_A_ROBOT:
        if getattr(arguments, option):
            raise ValueError(f'--{option.replace("_", "-")} is for a robot; name one')


def _watch(arguments: argparse.Namespace, robot: Robot, scene: Scene) -> int:
    for option in ('record', 'start', 'hold_start', 'gravity_compensation', 'ground', 'srdf'):
        if getattr(arguments, option):
            name = option.replace('_', '-')
            raise ValueError(f'--{name} is for what is simulated here; leave it out with --watch')
    _report(arguments, scene.notices, scene)
    # Here, not above: it is the one thing that needs ROS.
    from rbd_ros.viewer.watching import WatchSession

    return _serve(arguments, WatchSession(robot, scene, arguments.namespace, arguments.port))


def _serve(arguments: argparse.Namespace, session: Union[LiveSession, WatchSession]) -> int:
    def interrupt(*_: object) -> None:
        # What is raised while Python takes something apart is lost.
        session.stopped = True
        raise KeyboardInterrupt

    # Whoever has SIGINT ignored (nohup) wants it so; only the main thread may ask for signals.
    ours = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )
    if ours:
        signal.signal(signal.SIGINT, interrupt)
    try:
        print(f'{session.url}  (Ctrl-C ends)', flush=True)
        if not arguments.no_browser:
            webbrowser.open(session.url)
        session.run(math.inf if arguments.duration is None else arguments.duration)
    except KeyboardInterrupt:
        print()
    finally:
        if ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        session.close()
    return 0


def _report(arguments: argparse.Namespace, notices: Sequence[str], scene: Scene) -> None:
    for notice in notices[:_NOTICES]:
        print(notice, file=sys.stderr)
    if len(notices) > _NOTICES:
        print(f'(and {len(notices) - _NOTICES} notices more)', file=sys.stderr)
    if not scene.shapes:
        name = scene.name
        print(f'{name} has no {arguments.shapes} shapes that could be drawn', file=sys.stderr)
