# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Lint of the `<ros2_control>` tags of a robot description."""

from __future__ import annotations

from typing import Any, Iterable, List, Union

from rbd_ros.doctor.findings import ERROR, Finding, WARN
from rbd_ros.model.bounded_xml import parse_xml
from rbd_ros.model.urdf.control_interfaces import unread_commands, unread_sensors
from rbd_ros.model.urdf.urdf_document import MAX_ELEMENTS, urdf_of_file


def control_findings(
    source: Union[str, bytes], package_paths: Iterable[Any] = ()
) -> List[Finding]:
    """Return interfaces that topic-based hardware does not support, or leaves without a value.

    :param source: path of a valid description, or its content
    :param package_paths: directories that xacro searches first for packages

    >>> from rbd_ros.doctor.control_lint import control_findings
    >>> control_findings('urdf/two_link_arm.urdf')
    []
    """
    if not isinstance(source, bytes):
        source = str(source)  # also of a Path
    if isinstance(source, str) and not source.lstrip('\ufeff \t\r\n').startswith('<'):
        source = urdf_of_file(source, package_paths)
    data = source.encode() if isinstance(source, str) else source
    found = []
    for tag in parse_xml(data.lstrip(), MAX_ELEMENTS).iterfind('ros2_control'):
        subject = f'ros2_control {tag.get("name", "")!r}'
        if unread := unread_commands(tag):
            found.append(
                Finding(
                    ERROR,
                    subject,
                    f'the command interfaces {", ".join(unread)} have no state interface of that '
                    'name: the hardware deactivates itself',
                    'declare a state interface for each command interface',
                )
            )
        if sensors := unread_sensors(tag):
            found.append(
                Finding(
                    WARN,
                    subject,
                    f'the state interfaces of {", ".join(sensors)} stay NaN: the hardware reads '
                    'joints only',
                    'remove their broadcasters; the simulator publishes SENSOR/imu and '
                    'SENSOR/wrench itself',
                )
            )
    return found
