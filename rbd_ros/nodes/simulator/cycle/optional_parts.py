# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Optional parts of a simulation cycle.

Their modules are imported on demand, so that simulations without them start sooner.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, Mapping, Optional, Sequence, TYPE_CHECKING

from rbd_ros.nodes.common.diagnostics import Diagnostics
from rbd_ros.nodes.simulator.commands.command_messages import Commands
from rbd_ros.nodes.simulator.commands.control_tag import ControlTag
from rbd_ros.nodes.simulator.interface.simulator_parameters import SENSOR_PARAMETERS
from rbd_ros.nodes.simulator.start.base_placement import has_floating_base
from rbd_ros.nodes.simulator.state.state_output import StateOutput
from rbd_ros.robot import Robot
from rbd_ros.simulation import Simulator
from rbd_ros.simulation.sensors.sensor_places import check_no_loops

if TYPE_CHECKING:
    from rbd_ros.nodes.simulator.state.measurements import MeasurementPorts, Measurements
    from rbd_ros.nodes.simulator.state.robot_topics import RobotPorts, RobotTopics
    from rbd_ros.nodes.simulator.world.world_interface import WorldInterface, WorldPorts

Parameters = Mapping[str, Any]


def make_world_interface(
    simulator: Simulator,
    parameters: Parameters,
    diagnostics: Diagnostics,
    ports: Optional[Callable[[], WorldPorts]],
    has_base: bool,
) -> Optional[WorldInterface]:
    """Return the interface to the world around the robot; None without a world.

    :param ports: creates the ports of the world
    :param has_base: whether the root link floats
    """
    if simulator.world is None:
        return None
    if ports is None:
        raise ValueError('a world needs its own messages; give world_ports')
    from rbd_ros.nodes.simulator.world.world_interface import WorldInterface

    return WorldInterface(simulator, parameters, diagnostics, ports(), has_base)


def make_measurements(
    simulator: Simulator,
    described: Robot,
    parameters: Parameters,
    commands: Commands,
    tag: ControlTag,
    ports: Optional[Callable[[], MeasurementPorts]],
    timestep: int,
    warn: Callable[[str], Any],
    world_frame: str = '',
) -> Optional[Measurements]:
    """Return sensors and odometry; None if there are none.

    :param described: the robot, without further robots of the world
    :param tag: sensors in the robot description
    :param ports: creates the ports of the measurements
    :param timestep: simulated time of a cycle [ns]
    :param warn: called with unsupported sensors
    :param world_frame: frame of the world, '' if there is none
    """
    if ports is None:
        return None
    from rbd_ros.nodes.simulator.state.measured_robots import (
        measured_robots,
        with_further_sensors,
    )

    model, has_base = simulator.robot.model, has_floating_base(described)
    robots: Sequence[str] = ()
    if world_frame and simulator.robots:
        tag = with_further_sensors(tag, simulator.world.moving_in(model))
        robots = simulator.robots if parameters['robot_namespaces'] else ()
    names: Dict[str, Dict[str, str]] = {}
    if tag.sensors or any(parameters[name] for name in SENSOR_PARAMETERS):
        from rbd_ros.nodes.simulator.state.declared_sensors import sensors_of

        names = sensors_of(model, parameters, tag, warn)
    joints = commands.names if parameters['joint_torques'] else ()
    found = measured_robots(
        simulator,
        robots,
        joints,
        described.model.body(1).name if has_base else '',
        parameters['frame_prefix'],
        parameters['odom_frame'],
        world_frame,
    )
    if not (any(r.base or r.joints for r in found) or names):
        return None
    if joints:
        check_no_loops(model, 'joint_torques')
    from rbd_ros.nodes.simulator.state.measurements import Measurements

    return Measurements(simulator, parameters, names, found, ports(), timestep)


def make_robot_topics(
    simulator: Simulator,
    parameters: Parameters,
    commands: Commands,
    states: StateOutput,
    ports: Optional[Callable[[str], RobotPorts]],
) -> Optional[RobotTopics]:
    """Return the topics of further robots; None if all robots share the topics.

    :param ports: creates the ports of a further robot, by its name
    """
    robots = simulator.robots
    if not parameters['robot_namespaces'] or ports is None or not robots:
        return None
    from rbd_ros.nodes.simulator.state.robot_topics import check_names, RobotTopics

    check_names(robots)
    return RobotTopics(commands, robots, states.fields, states.send_complete, ports)


def array_joints(simulator: Simulator, parameters: Parameters) -> Sequence[str]:
    """Return the joints in the order of efforts without names; empty: all commandable ones."""
    if parameters['joints'] or not parameters['robot_namespaces']:
        given: Sequence[str] = parameters['joints']
        return given
    model = simulator.robot.model
    joints = [
        model.body(i).joint_name
        for i in model.independent_slices
        if model.body(i).joint.nv == 1 and model.body(i).joint_name in model.actuated_joints
    ]
    from rbd_ros.nodes.simulator.state.robot_topics import own_joints

    return own_joints(joints, simulator.robots)
