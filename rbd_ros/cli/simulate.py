# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""`rbd_ros simulate robot.urdf`: the simulated robot live in a browser page, or as a recording."""

from __future__ import annotations

import argparse
import math
import signal
import sys
import threading
from typing import Any, Optional, Sequence, Tuple, TYPE_CHECKING, Union
import webbrowser

from rbd_ros import Robot, Simulator
from rbd_ros.algorithms.inertia_matrix.singularity import singular_joints
from rbd_ros.cli.options import start_option
from rbd_ros.cli.options.option_values import positive
from rbd_ros.cli.options.robot_options import add_robot_options, model_options, named_robot
from rbd_ros.cli.output.progress import TerminalProgress
from rbd_ros.cli.output.text_table import plural
from rbd_ros.cli.simulate_torque import chosen_torque
from rbd_ros.lookup.worlds import find_world
from rbd_ros.model.errors import SingularMassMatrixError
from rbd_ros.programs import INTERRUPTED
from rbd_ros.simulation.integrators import integrator_names
from rbd_ros.simulation.scene.scene_assembly import simulated_robot
from rbd_ros.viewer.live import LOCAL
from rbd_ros.viewer.motion_recording import check_format
from rbd_ros.viewer.session import LiveSession, record
from rbd_ros.viewer.viewer_scene import make_scene, Scene, SHAPES
from rbd_ros.world import read_world, World

if TYPE_CHECKING:
    from rbd_ros.viewer.watching import WatchSession

_RECORDED = 10.0  # without --duration [s]
_NOTICES = 5  # maximum number that is printed

_OF_A_ROBOT = ('start', 'hold_start', 'gravity_compensation', 'watch', 'srdf')


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `rbd_ros simulate`."""
    add_robot_options(parser, default='the objects of --world, without a robot')
    add_world_options(parser)
    torque = parser.add_mutually_exclusive_group()
    torque.add_argument(
        '--gravity-compensation', action='store_true', help='apply the gravity torques'
    )
    torque.add_argument(
        '--hold-start',
        action='store_true',
        help='hold the start configuration by the default torque law of the nodes, or by a spring '
        'and a damper at each joint if the base is floating',
    )
    parser.add_argument(
        '--ground',
        action='store_true',
        help='add rigid contact with the ground, z <= 0, with a friction coefficient of 0.8',
    )
    parser.add_argument(
        '--timestep',
        type=float,
        default=1e-3,
        metavar='SECONDS',
        help='timestep of the simulation (default: %(default)s)',
    )
    parser.add_argument(
        '--integrator',
        choices=integrator_names(),
        help='integrator (default: midpoint, or semi_implicit with kinematic loops)',
    )
    parser.add_argument(
        '--no-velocity-limits',
        action='store_true',
        help='allow joint velocities beyond the limits of the description',
    )
    parser.add_argument(
        '--record',
        metavar='FILE',
        help='write a recording instead of a live page: a page that plays the motion (.html), a '
        'video (.mp4) or an MCAP file for Foxglove (.mcap)',
    )
    parser.add_argument(
        '--watch',
        action='store_true',
        help='show the joint states of a running simulator or robot, instead of a simulation',
    )
    parser.add_argument(
        '--namespace', default='', metavar='NAME', help='namespace of the topics of --watch'
    )
    add_page_options(
        parser, f'simulated time (default: until Ctrl-C, or {_RECORDED:g} s with --record)'
    )


def add_world_options(parser: argparse.ArgumentParser) -> None:
    """Add options of the world, and of the robot's start."""
    parser.add_argument('--start', metavar=start_option.METAVAR, help=start_option.HELP)
    parser.add_argument(
        '--world',
        metavar='WORLD',
        help='surroundings of the robot: YAML file, see docs/world.md, or name of a world, such '
        'as push (see rbd_ros worlds)',
    )
    parser.add_argument(
        '--srdf',
        metavar='FILE',
        help='SRDF of the robot, with the link pairs without self-collision, and configurations '
        'for --start (default: that of the world file)',
    )


def add_page_options(parser: argparse.ArgumentParser, duration: str) -> None:
    """Add options of a page: its content, address and duration.

    :param duration: help of --duration
    """
    parser.add_argument('--duration', type=float, metavar='SECONDS', help=duration)
    parser.add_argument(
        '--shapes',
        choices=SHAPES,
        default=SHAPES[0],
        help='shapes to show; links without visual shapes show their collision shapes '
        '(default: %(default)s)',
    )
    parser.add_argument(
        '--port',
        type=int,
        default=8000,
        metavar='N',
        help='port of the live page; 0 takes a free one (default: %(default)s)',
    )
    parser.add_argument(
        '--host',
        metavar='ADDRESS',
        default=LOCAL,
        help='address of this machine to serve the page at, without encryption, such as 0.0.0.0: '
        'other machines need the token of the printed address (default: this machine alone)',
    )
    parser.add_argument(
        '--no-browser',
        action='store_true',
        help='print the address of the page, do not open it',
    )


def run(arguments: argparse.Namespace) -> int:
    """Simulate.

    :return: 0, or 130 after Ctrl-C
    :raises ModelError: if the URDF cannot be converted to a model, or the model not simulated
    :raises ValueError: for an invalid option, a port in use, a file that cannot be written, or
        dynamics that are not finite
    """
    duration = positive('--duration', arguments.duration)
    if arguments.record is not None:
        check_format(arguments.record)
    robot, world = named_robot_and_world(arguments)
    model = None if robot is None else robot.model
    if arguments.watch:
        watched = simulated_robot(robot, world)
        return _watch(arguments, watched, make_scene(watched.model, arguments.shapes, world=world))
    simulator, static_reason = simulation(
        robot,
        world,
        timestep=arguments.timestep,
        integrator=arguments.integrator,
        ground=arguments.ground,
        external_forces=arguments.record is None,  # the live page pulls at links
        srdf=arguments.srdf,
        enforce_velocity_limits=not arguments.no_velocity_limits,
    )
    if static_reason is not None and arguments.record is not None:
        raise ValueError(static_reason)
    if robot is not None or simulator.robots:
        model = simulator.robot.model  # includes movable robots of the world
    scene = make_scene(model, arguments.shapes, world=simulator.world)
    if arguments.start is not None:
        start_option.begin(arguments.start, simulator, robot)
    torque = None
    if static_reason is None:
        torque = chosen_torque(simulator, arguments.hold_start, arguments.gravity_compensation)
    notices = [*filter(None, [static_reason]), *simulator.warnings, *scene.notices]
    report(notices, scene, arguments.shapes)
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
    return serve(
        arguments,
        LiveSession(simulator, scene, torque, arguments.port, static_reason, arguments.host),
    )


def named_robot_and_world(
    arguments: argparse.Namespace,
) -> Tuple[Optional[Robot], Optional[World]]:
    """Return the robot, None if there are only the objects of a world, and that world.

    :raises ValueError: if neither is given, or an option needs the robot
    """
    robot = world = None
    if arguments.robot is not None:
        robot = Robot.from_urdf(named_robot(arguments), **model_options(arguments))
    elif arguments.world is None:
        raise ValueError('no robot is given; name one, or give a --world with movable objects')
    if arguments.world is not None:
        world = read_world(find_world(arguments.world), None if robot is None else robot.model)
    if robot is None:
        _reject_robot_options(arguments, world)
    return robot, world


def simulation(
    robot: Optional[Robot], world: Optional[World], **options: Any
) -> Tuple[Simulator, Optional[str]]:
    """Return the simulation, and the reason why it does not move, None if it does.

    A robot with a singular mass matrix has no forward dynamics. A page shows it by a model with an
    armature that is never stepped.

    :param options: of the simulator
    """
    try:
        return Simulator(robot, world=world, **options), None
    except SingularMassMatrixError as error:
        model = simulated_robot(robot, world).model
        armature = dict.fromkeys(singular_joints(model), 1.0)
        moved = Robot(model.with_armature(armature))
        return Simulator(moved, world=world, **options), f'not simulated: {error}'


def _reject_robot_options(arguments: argparse.Namespace, world: Optional[World]) -> None:
    own = world is not None and any(each.movable for each in world.robots)
    for option in ('watch', 'srdf') if own else _OF_A_ROBOT:
        if getattr(arguments, option, False):
            raise ValueError(f'--{option.replace("_", "-")} needs a robot; name one')


def _watch(arguments: argparse.Namespace, robot: Robot, scene: Scene) -> int:
    for option in ('record', 'start', 'hold_start', 'gravity_compensation', 'ground', 'srdf'):
        if getattr(arguments, option):
            name = option.replace('_', '-')
            raise ValueError(f'--{name} does not apply to --watch; leave one of them out')
    report(scene.notices, scene, arguments.shapes)
    # Only this import needs ROS.
    from rbd_ros.viewer.watching import WatchSession

    return serve(
        arguments, WatchSession(robot, scene, arguments.namespace, arguments.port, arguments.host)
    )


def serve(arguments: argparse.Namespace, session: Union[LiveSession, WatchSession]) -> int:
    """Show a session in the browser until it ends.

    :return: 0, or 130 if Ctrl-C ends it
    """

    def interrupt(*_: object) -> None:
        # An exception in a destructor would be lost.
        session.stopped = True
        raise KeyboardInterrupt

    # SIGINT stays ignored under nohup. Only the main thread can set signal handlers.
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
        session.stopped = True
        print()
    finally:
        if ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        session.close()
    return INTERRUPTED if session.stopped else 0


def report(notices: Sequence[str], scene: Scene, shapes: str) -> None:
    """Print the first notices, and that there is nothing to draw."""
    for notice in notices[:_NOTICES]:
        print(notice, file=sys.stderr)
    if len(notices) > _NOTICES:
        print(f'({plural(len(notices) - _NOTICES, "more notice")})', file=sys.stderr)
    if not scene.shapes:
        name = scene.name
        print(f'{name} has no {shapes} shapes to draw', file=sys.stderr)
