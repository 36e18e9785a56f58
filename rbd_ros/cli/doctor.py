# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""`rbd_ros doctor [robot.urdf] [--graph]`: findings with their cures.

It checks the description, the machine, and with --graph the running nodes.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import Any, Dict, List, Tuple, Union

from rbd_ros.cli.options.common_options import add_json_option, add_output_option
from rbd_ros.cli.options.option_values import write_output
from rbd_ros.cli.options.robot_options import (
    add_robot_options,
    model_options,
    named_robot,
    urdf_text,
)
from rbd_ros.collision.scene.scene import self_collision_notices
from rbd_ros.doctor.findings import counted, ERROR, Finding, finding_lines, OK, worst_level
from rbd_ros.doctor.machine import check_machine
from rbd_ros.doctor.urdf_lint import lint_urdf
from rbd_ros.model import load_urdf, ModelError

FORMAT = 'rbd_ros doctor 1'
EXIT_CODES = {
    0: 'no error was found; there may be warnings',
    1: 'an error was found, or the robot, a file or a value cannot be used',
}

#: Title of a group, and its findings.
Section = Tuple[str, List[Finding]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `rbd_ros doctor`."""
    add_robot_options(parser, default='check the machine only')
    parser.add_argument(
        '--graph', action='store_true', help='check the nodes and topics of this ROS domain, too'
    )
    parser.add_argument(
        '--listen',
        type=float,
        default=3.0,
        metavar='SECONDS',
        help='time for which --graph listens to joint states (default: %(default)s)',
    )
    parser.add_argument(
        '--density',
        type=float,
        metavar='KG/M^3',
        help='give moving links without mass the inertia of their shapes at this density, for -o',
    )
    add_output_option(parser, 'FILE.urdf', 'write the URDF with the inertias of --density')
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Check everything and print the findings.

    :return: 0 if there are no errors, otherwise 1
    :raises ValueError: if the robot does not exist, or for --graph without ROS
    """
    fills = arguments.density is not None
    if fills != bool(arguments.output) or fills and arguments.robot is None:
        raise ValueError('give --density and -o together, and a robot')
    sections: List[Section] = []
    source, options = None, model_options(arguments)
    if arguments.robot is not None:
        source = named_robot(arguments)
        found = [*lint_urdf(source, **options), *_self_collision(source, options)]
        sections.append((f'robot {arguments.robot}', found))
    sections.append(('machine', check_machine()))
    if arguments.graph:
        sections.append(
            (
                f'ROS graph of domain {_domain()}',
                _graph_findings(source, options, arguments.listen),
            )
        )
    if arguments.json:
        print(json.dumps(summary(sections), indent=2))
    else:
        print('\n'.join(report(sections)))
    if fills:
        _write_filled(source, options, arguments.density, arguments.output)
    return int(any(worst_level(findings) == ERROR for _, findings in sections))


def _domain() -> str:
    return os.environ.get('ROS_DOMAIN_ID') or '0'


def _self_collision(source: Union[str, bytes], options: Dict[str, Any]) -> List[Finding]:
    """Return the pairs of links without self-collision by default."""
    try:
        model = load_urdf(source, **options)
    except ModelError:
        return []  # the lint reports it
    return [Finding(OK, 'self-collision', text) for text in self_collision_notices(model)]


def _graph_findings(
    source: Union[str, bytes, None], options: Dict[str, Any], duration: float
) -> List[Finding]:
    from rbd_ros.doctor.events_executor import executor_finding, try_events_executor
    from rbd_ros.doctor.graph import check_graph
    from rbd_ros.doctor.graph_reading import model_joints, read_graph

    joints = None
    if source is not None:
        try:
            joints = model_joints(load_urdf(source, **options))
        except ModelError:
            pass  # the lint reports it
    found = check_graph(read_graph(duration), joints)
    return [*found, executor_finding(try_events_executor())]


def _write_filled(
    source: Union[str, bytes], options: Dict[str, Any], density: float, path: str
) -> None:
    """Write the URDF with inertias of shapes, and print the affected links."""
    from rbd_ros.identification.urdf_patch import with_inertials
    from rbd_ros.robot.inertia_from_shapes import with_inertia_from_shapes

    model = load_urdf(source, **options)
    filled = with_inertia_from_shapes(model, density)
    new = {name: link.inertia for name, link in filled.links.items() if link != model.link(name)}
    write_output(path, with_inertials(urdf_text(source, options['package_paths']), new, {}))
    for note in filled.warnings[len(model.warnings) :] or ('no link lacks an inertia',):
        print(f'{path}: {note}', file=sys.stderr)


def summary(sections: List[Section]) -> Dict[str, Any]:
    """Return the findings as JSON values.

    :param sections: title and findings of each group
    """
    return {
        'format': FORMAT,
        'level': worst_level(finding for _, findings in sections for finding in findings),
        'sections': [
            {'title': title, 'findings': [finding.as_dict() for finding in findings]}
            for title, findings in sections
        ],
    }


def report(sections: List[Section]) -> List[str]:
    """Return the lines of a report, the worst finding of each group first.

    :param sections: title and findings of each group
    """
    lines: List[str] = []
    for title, findings in sections:
        good = worst_level(findings) == OK
        lines += [title if good else f'{title}: {counted(findings)}', *finding_lines(findings), '']
    return [*lines, counted(finding for _, findings in sections for finding in findings)]
