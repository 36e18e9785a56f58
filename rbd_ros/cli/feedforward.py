# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""`rbd_ros feedforward robot.urdf trajectory.yaml`: its efforts, and a check against limits.

Trajectory controllers add the efforts of the written trajectory to their feedback.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from typing import Any, Dict, List, Optional, Sequence

from rbd_ros import Robot
from rbd_ros.cli.options.common_options import (
    add_gravity_option,
    add_json_option,
    add_missing_joints_option,
    add_output_option,
    add_payload_option,
    add_plot_option,
    add_point_spacing_option,
    add_time_scale_option,
)
from rbd_ros.cli.options.option_values import (
    joint_values,
    numbers,
    payload,
    positive,
    write_output,
)
from rbd_ros.cli.options.robot_options import add_robot_options, model_options, named_robot
from rbd_ros.cli.output.feedforward_plot import plot_feedforward
from rbd_ros.cli.output.text_table import table
from rbd_ros.control import (
    add_feedforward,
    check_trajectory,
    Feedforward,
    LawSettings,
    Margin,
    TrajectoryReport,
)
from rbd_ros.control.analysis.trajectory_report import effort_samples
from rbd_ros.control.motion.trajectory_files import format_of, read_trajectory, trajectory_text

EXCEEDED = 3
EXIT_CODES = {EXCEEDED: 'the trajectory exceeds a limit'}
_UNITS = {'position': 'rad or m', 'velocity': 'rad/s or m/s', 'effort': 'N m or N'}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `rbd_ros feedforward`."""
    add_robot_options(parser)
    parser.add_argument(
        'trajectory',
        help='YAML file with a JointTrajectory, such as `ros2 topic echo` prints it, or .csv file '
        'with the columns time, JOINT.position, JOINT.velocity, JOINT.acceleration',
    )
    add_output_option(
        parser, 'FILE', 'write the trajectory with efforts to FILE, .csv or YAML; - is stdout'
    )
    add_missing_joints_option(parser, 'trajectory')
    add_point_spacing_option(
        parser,
        'insert points, with at most SECONDS between two of them; controllers interpolate efforts '
        'linearly',
    )
    add_time_scale_option(parser, '; fit is the least FACTOR within all limits')
    add_gravity_option(parser)
    add_payload_option(parser)
    parser.add_argument('--no-friction', action='store_true', help='ignore joint friction')
    add_json_option(parser)
    add_plot_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Check the trajectory, and write it with its efforts.

    :return: 0, or 3 if it exceeds a limit
    :raises ModelError: if the URDF cannot be converted to a model
    :raises ValueError: for an invalid trajectory or option, with its name
    """
    robot = Robot.from_urdf(
        named_robot(arguments),
        **model_options(arguments),
    )
    feedforward = _feedforward(robot, arguments)
    trajectory = read_trajectory(arguments.trajectory)
    missing_joints = joint_values('--missing-joints', arguments.missing_joints)
    factor = _factor(arguments.time_scale)
    spacing = positive('--point-spacing', arguments.point_spacing)
    report = check_trajectory(feedforward, trajectory, missing_joints)
    if arguments.time_scale == 'fit':
        if not report.min_time_scale:
            raise ValueError(f'--time-scale fit: {_no_duration(report)}')
        factor = report.min_time_scale
    if factor is not None:
        trajectory = trajectory.scale_time(factor)
        report = check_trajectory(feedforward, trajectory, missing_joints)
    result = add_feedforward(feedforward, trajectory, missing_joints, spacing)
    to_output = arguments.output == '-'
    text = _json(report) if arguments.json else '\n'.join(report_lines(report))
    print(text, file=sys.stderr if to_output else sys.stdout)
    if arguments.output is not None:
        form = format_of(arguments.trajectory if to_output else arguments.output)
        written = trajectory_text(result, form)
        if to_output:
            sys.stdout.write(written)
        else:
            write_output(arguments.output, written)
    if arguments.plot:
        samples = effort_samples(feedforward, trajectory, missing_joints)
        limits = feedforward.settings.effort_limits
        plot_feedforward(result.joint_names, samples, report, robot, limits, arguments.plot)
    return 0 if report.within_limits else EXCEEDED


def _feedforward(robot: Robot, arguments: argparse.Namespace) -> Feedforward:
    link, load = None, None
    if arguments.payload is not None:
        link, load = payload(robot, arguments.payload)
    settings = LawSettings.for_robot(
        robot,
        feedback='none',
        friction='none' if arguments.no_friction else 'desired',
        gravity=None if arguments.gravity is None else numbers('--gravity', arguments.gravity, 3),
        payload=load,
    )
    return Feedforward(robot, settings, link)


def _factor(text: Optional[str]) -> Optional[float]:
    if text in (None, 'fit'):
        return None
    assert text is not None
    (factor,) = numbers('--time-scale', text, 1)
    return positive('--time-scale', factor)


# -- report ---------------------------------------------------------------------------------------


def report_lines(report: TrajectoryReport) -> List[str]:
    """Return the lines of the text report."""
    lines = []
    for quantity, unit in _UNITS.items():
        margins = report.margins_of(quantity).values()
        if margins:
            rows = [_row(margin) for margin in margins]
            head = ('joint', quantity, 'limit', 'margin', 'used', 'time [s]', '')
            lines += [f'Smallest margins to the {quantity} limits ({unit})']
            lines += table(head, rows, '.>>>>>.') + ['']
        else:
            lines += [f'No joint has a limit of {quantity}.', '']
    return [*lines, *_verdict(report)]


def _row(margin: Margin) -> Sequence[str]:
    used = abs(margin.value / margin.limit) if margin.limit else math.inf
    return (
        margin.joint,
        f'{margin.value:.4g}',
        f'{margin.limit:.4g}',
        f'{margin.margin:.4g}',
        '' if margin.quantity == 'position' else f'{100.0 * used:.0f} %',
        f'{margin.time:.3f}',
        '' if margin.within_limits else 'EXCEEDED',
    )


def _verdict(report: TrajectoryReport) -> List[str]:
    lines = [f'The trajectory {"keeps all limits" if report.within_limits else "exceeds limits"}.']
    duration, fastest, safe = report.duration, report.min_time_scale, report.safe_time_scale
    if fastest is None:
        return [*lines, _no_duration(report)]
    if fastest == 0.0:
        return [*lines, 'The trajectory keeps all limits with any duration.']
    lines.append(
        f'Shortest duration within the limits: {fastest * duration:.4g} s '
        f'(time scale {fastest:.4g}).'
    )
    if safe is None:
        lines.append(
            f'A slow motion is not possible: {_which(report.obstacles)} exceeded by the static '
            'efforts alone.'
        )
    elif safe > fastest * (1.0 + 1e-6):
        lines.append(
            f'Between that and {safe * duration:.4g} s (time scale {safe:.4g}), some durations '
            'exceed limits.'
        )
    return lines


def _no_duration(report: TrajectoryReport) -> str:
    if not report.obstacles:
        return 'No duration keeps all limits: one requires a fast motion, another a slow one.'
    kinds = {margin.quantity for margin in report.obstacles}
    cure = {
        'position': 'move the points away from the position limits',
        'effort': 'choose another posture, a smaller payload or a stronger actuator',
    }
    return (
        f'No duration keeps all limits: {_which(report.obstacles)} exceeded even by the slowest '
        f'motion; {", or ".join(cure[kind] for kind in sorted(kinds))}.'
    )


def _which(obstacles: Sequence[Margin]) -> str:
    names = [f'the {margin.quantity} limit of {margin.joint}' for margin in obstacles]
    return f'{", ".join(names)} {"is" if len(names) == 1 else "are"}'


def _json(report: TrajectoryReport) -> str:
    def facts(margins: Sequence[Margin]) -> List[Dict[str, Any]]:
        return [{**vars(margin), 'within_limits': margin.within_limits} for margin in margins]

    return json.dumps(
        {
            'within_limits': report.within_limits,
            'duration': report.duration,
            'min_time_scale': report.min_time_scale,
            'safe_time_scale': report.safe_time_scale,
            'margins': facts(report.margins),
            'obstacles': facts(report.obstacles),
        },
        indent=2,
    )
