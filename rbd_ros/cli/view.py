# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""`rbd_ros view robot.urdf`: a robot in a browser page, whose sliders move its joints."""

from __future__ import annotations

import argparse

from rbd_ros.cli.options import start_option
from rbd_ros.cli.options.robot_options import add_robot_options
from rbd_ros.cli.simulate import (
    add_page_options,
    add_world_options,
    named_robot_and_world,
    report,
    serve,
    simulation,
)
from rbd_ros.viewer.session import LiveSession
from rbd_ros.viewer.viewer_scene import make_scene


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `rbd_ros view`."""
    add_robot_options(parser, default='the objects of --world, without a robot')
    add_world_options(parser)
    add_page_options(parser, 'time until the page ends (default: until Ctrl-C)')


def run(arguments: argparse.Namespace) -> int:
    """Show a robot.

    :return: 130, as Ctrl-C ends it; 0 after --duration
    :raises ModelError: if the URDF cannot become a model
    :raises ValueError: for an option that cannot be used, or a port in use
    """
    robot, world = named_robot_and_world(arguments)
    simulator, reason = simulation(robot, world, srdf=arguments.srdf, external_forces=False)
    model = simulator.robot.model if robot is not None or simulator.robots else None
    scene = make_scene(model, arguments.shapes, world=simulator.world)
    if arguments.start is not None:
        start_option.begin(arguments.start, simulator, robot)
    report([*filter(None, [reason]), *scene.notices], scene, arguments.shapes)
    session = LiveSession(
        simulator, scene, port=arguments.port, static_reason=reason or '', host=arguments.host
    )
    return serve(arguments, session)
