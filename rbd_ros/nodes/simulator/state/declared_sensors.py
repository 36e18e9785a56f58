# SPDX-License-Identifier: Apache-2.0
"""Sensors of the simulated robot: those of parameters, and of the `<ros2_control>` tags."""

from __future__ import annotations

import re
from typing import Any, Callable, Dict, List, Mapping, NamedTuple

from rbd_ros.model import Model
from rbd_ros.nodes.simulator.commands.control_tag import ControlTag, SensorTag
from rbd_ros.simulation.sensors.sensor_places import check_no_loops, find_cut


class SensorNames(NamedTuple):
    """Sensors by the names that their topics have, with their place.

    :param imus: links
    :param force_torque: joints or links
    """

    imus: Dict[str, str]
    force_torque: Dict[str, str]


def sensors_of(
    model: Model, parameters: Mapping[str, Any], tag: ControlTag, warn: Callable[[str], Any]
) -> SensorNames:
    """Return the sensors that are asked for.

    :param parameters: values of the simulator's parameters
    :param tag: what the robot description says
    :param warn: called with sensors that cannot be placed, or stay NaN elsewhere
    :raises ValueError: for a parameter that names what the robot has not, or what has no sensor
    """
    imus: Dict[str, str] = {}
    gauges: Dict[str, str] = {}
    unread: List[str] = []
    for sensor in tag.sensors.values():
        if not (sensor.is_imu or sensor.is_force_torque):
            continue
        try:
            _add_of_tag(model, sensor, imus, gauges)
        except ValueError as error:
            warn(f'sensor {sensor.name!r} of the robot description is left out: {error}')
            continue
        if sensor.is_unread:
            unread.append(f'{sensor.name}: {" and ".join(topics_of(sensor))}')
    if unread:
        warn(
            'JointStateTopicSystem of ros2_control reads joints only, so its state interfaces of '
            f'sensors stay NaN. Their readings are on topics of this node ({"; ".join(unread)})'
        )
    for name in parameters['imus']:
        _check_link(model, name, 'imus')
        _enter(imus, name, name, 'imus')
    for name in parameters['force_torque_sensors']:
        try:
            _check_gauge(model, name)
        except ValueError as error:
            raise ValueError(f'parameter force_torque_sensors: {error}') from None
        _enter(gauges, name, name, 'force_torque_sensors')
    return SensorNames(imus, gauges)


def _add_of_tag(
    model: Model, sensor: SensorTag, imus: Dict[str, str], gauges: Dict[str, str]
) -> None:
    places = [each for each in (sensor.frame, sensor.name) if _is_place(model, each)]
    if not places:
        raise ValueError(
            f'its <param name="frame_id"> {sensor.frame!r} is not a link or joint of the robot, '
            'and neither is its name'
        )
    if sensor.is_force_torque:
        _check_gauge(model, places[0])
    if sensor.is_imu:
        _check_link(model, places[0], 'imus')
        _enter(imus, sensor.name, places[0], 'imus')
    if sensor.is_force_torque:
        _enter(gauges, sensor.name, places[0], 'force_torque_sensors')


def topics_of(sensor: SensorTag) -> List[str]:
    """Return the names of the topics of a sensor."""
    kinds = {'imu': sensor.is_imu, 'wrench': sensor.is_force_torque}
    return [f'{topic_of(sensor.name)}/{kind}' for kind, has in kinds.items() if has]


def _is_place(model: Model, name: str) -> bool:
    joints = (body.joint_name for body in model.bodies)
    return name in model.links or name in model.joint_frames or name in joints


def _check_link(model: Model, name: str, parameter: str) -> None:
    if name not in model.links:
        raise ValueError(f'parameter {parameter}: the robot has no link {name!r}')


def _check_gauge(model: Model, name: str) -> None:
    find_cut(model, name)
    check_no_loops(model, 'sensors of forces')


def _enter(sensors: Dict[str, str], name: str, place: str, parameter: str) -> None:
    topic = topic_of(name)
    if sensors.get(topic, place) != place:
        raise ValueError(
            f'parameter {parameter}: two sensors would have the topic {topic!r}, at '
            f'{sensors[topic]!r} and {place!r}'
        )
    sensors[topic] = place


def topic_of(name: str) -> str:
    """Return the beginning of a sensor's topics: its name in characters that topics can have.

    :param name: name of a sensor, joint or link

    >>> topic_of('left-hand.imu'), topic_of('1st'), topic_of('cart/tool')
    ('left_hand_imu', '_1st', 'cart/tool')
    """
    parts = [re.sub('[^A-Za-z0-9_]', '_', part) for part in name.split('/') if part]
    return '/'.join(f'_{part}' if part[0].isdigit() else part for part in parts) or 'sensor'
