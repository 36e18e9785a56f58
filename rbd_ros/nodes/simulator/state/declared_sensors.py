# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Sensors of the simulated robot from parameters and `<ros2_control>` tags."""

from __future__ import annotations

import re
from typing import Any, Callable, Dict, List, Mapping

from rbd_ros.model import Model
from rbd_ros.nodes.simulator.commands.control_tag import ControlTag, SensorTag
from rbd_ros.simulation.sensors.sensors import sensor_kind, sensor_kinds

#: Frames of sensors by kind, and by the names of their topics.
SensorNames = Dict[str, Dict[str, str]]


def sensors_of(
    model: Model, parameters: Mapping[str, Any], tag: ControlTag, warn: Callable[[str], Any]
) -> SensorNames:
    """Return the requested sensors.

    :param parameters: values of the simulator's parameters
    :param tag: sensors of the robot description
    :param warn: called with sensors that cannot be placed, or stay NaN in ros2_control
    :raises ValueError: for a parameter with an unknown frame, or one that cannot have the sensor
    """
    kinds = {name: kind for name, kind in sensor_kinds().items() if kind.topic}
    names: SensorNames = {name: {} for name in kinds}
    unread: List[str] = []
    for sensor in tag.sensors.values():
        meant = [kind for kind in kinds.values() if sensor.measures(kind.quantities)]
        if not meant:
            continue
        try:
            place = _place_of_tag(model, sensor)
            for kind in meant:
                kind.check(model, place)
        except ValueError as error:
            warn(f'sensor {sensor.name!r} of the robot description is left out: {error}')
            continue
        for kind in meant:
            _enter(names[kind.name], sensor.name, place, kind.parameter)
        if sensor.is_unread:
            topics = ' and '.join(f'{topic_of(sensor.name)}/{kind.topic}' for kind in meant)
            unread.append(f'{sensor.name}: {topics}')
    if unread:
        warn(
            'JointStateTopicSystem of ros2_control reads joints only, so its state interfaces of '
            f'sensors stay NaN. Their readings are on topics of this node ({"; ".join(unread)})'
        )
    entries = [('sensors', entry) for entry in parameters['sensors']]
    for name, kind in kinds.items():
        if kind.parameter:
            entries += [
                (kind.parameter, f'{name}:{place}') for place in parameters[kind.parameter]
            ]
    for parameter, entry in entries:
        name, _, place = entry.partition(':')
        try:
            kind = sensor_kind(name)
            if not kind.topic:
                raise ValueError(f'{name} has no topic for one sensor; use the parameter {name}')
            kind.check(model, place)
        except ValueError as error:
            raise ValueError(f'parameter {parameter}: {error}') from None
        _enter(names.setdefault(name, {}), place, place, parameter)
    return {name: places for name, places in names.items() if places}


def _place_of_tag(model: Model, sensor: SensorTag) -> str:
    joints = [body.joint_name for body in model.bodies]
    for place in (sensor.frame, sensor.name):
        if place in model.links or place in model.joint_frames or place in joints:
            return place
    raise ValueError(
        f'its <param name="frame_id"> {sensor.frame!r} is not a link or joint of the robot, and '
        'neither is its name'
    )


def _enter(sensors: Dict[str, str], name: str, place: str, parameter: str) -> None:
    topic = topic_of(name)
    if sensors.get(topic, place) != place:
        raise ValueError(
            f'parameter {parameter}: two sensors would have the topic {topic!r}, at '
            f'{sensors[topic]!r} and {place!r}'
        )
    sensors[topic] = place


def topic_of(name: str) -> str:
    """Return the prefix of a sensor's topics: its name in characters that topics can have.

    :param name: name of a sensor, joint or link

    >>> topic_of('left-hand.imu'), topic_of('1st'), topic_of('cart/tool')
    ('left_hand_imu', '_1st', 'cart/tool')
    """
    parts = [re.sub('[^A-Za-z0-9_]', '_', part) for part in name.split('/') if part]
    return '/'.join(f'_{part}' if part[0].isdigit() else part for part in parts) or 'sensor'
