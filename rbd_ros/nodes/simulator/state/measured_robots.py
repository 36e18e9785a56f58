# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Mapping of measurements to topics, for one robot or for several with their own topics.

With the parameter `robot_namespaces`, joint torques and odometry of a further robot have topics
below its name. Sensors of further robots are always named `robot/link`.
"""

from __future__ import annotations

from typing import List, NamedTuple, Optional, Sequence, Tuple

from rbd_ros.model import Model
from rbd_ros.nodes.simulator.commands.control_tag import ControlTag, read_control_tag
from rbd_ros.nodes.simulator.start.base_placement import base_body
from rbd_ros.simulation import Simulator
from rbd_ros.world.world import WorldRobot


class MeasuredBase(NamedTuple):
    """A floating base.

    :param frame: reference frame of its pose
    :param child: frame of its link
    :param at_q: index of its quaternion and position in q
    :param at_v: index of its velocity in v
    :param publishes_frame: whether its frame is published here on /tf; otherwise with the world
    """

    frame: str
    child: str
    at_q: int
    at_v: int
    publishes_frame: bool


class MeasuredRobot(NamedTuple):
    """A robot whose joint torques and odometry are published.

    :param prefix: prefix of its topics, and of its joints in the simulation
    :param joints: joints whose torque is published, by their names in the simulation; empty: none
    :param base: its floating base; None: fixed
    """

    prefix: str
    joints: Tuple[str, ...]
    base: Optional[MeasuredBase]


def measured_robots(
    simulator: Simulator,
    robots: Sequence[str],
    joints: Sequence[str],
    base: str,
    frame_prefix: str,
    odom: str,
    world_frame: str,
) -> List[MeasuredRobot]:
    """Return the robots with measurements: the described one, and those with topics.

    :param robots: names of the further robots that have their own topics
    :param joints: joints whose torque is published, by their names in the simulation
    :param base: floating link of the described robot, '' if there is none
    :param frame_prefix: prefix of frame names
    :param odom: reference frame of that link's pose, without the prefix
    :param world_frame: frame of the world, the reference of other poses
    """
    model = simulator.robot.model
    further = tuple(f'{name}/' for name in robots)
    own = tuple(joint for joint in joints if not joint.startswith(further))
    described = None
    if base:
        described = MeasuredBase(frame_prefix + odom, frame_prefix + base, 0, 0, True)
    found = [MeasuredRobot('', own, described)]
    for prefix in further:
        own = tuple(joint for joint in joints if joint.startswith(prefix))
        found.append(MeasuredRobot(prefix, own, _base(model, prefix, frame_prefix, world_frame)))
    return found


def _base(
    model: Model, prefix: str, frame_prefix: str, world_frame: str
) -> Optional[MeasuredBase]:
    i = base_body(model, prefix)
    if i is None:
        return None
    at_q, at_v = model.independent_slices[i]
    child = frame_prefix + model.body(i).name
    return MeasuredBase(world_frame, child, at_q.start, at_v.start, False)


def with_further_sensors(tag: ControlTag, robots: Sequence[WorldRobot]) -> ControlTag:
    """Return the tag with the sensors of further robots, named robot/sensor and robot/frame.

    :param tag: tag of the described robot
    :param robots: further movable robots
    """
    sensors = dict(tag.sensors)
    for robot in robots:
        for name, sensor in read_control_tag(robot.path).sensors.items():
            frame = f'{robot.name}/{sensor.frame}' if sensor.frame else ''
            full = f'{robot.name}/{name}'
            sensors[full] = sensor._replace(name=full, frame=frame)
    return ControlTag(tag.joints, sensors)
