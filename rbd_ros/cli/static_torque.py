# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""`rbd_ros static-torque robot.urdf`: whether effort limits hold the robot against gravity.

A build can use the exit code as a check, so a robot that cannot be judged does not pass.
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
import sys
from typing import Any, Dict, List, Optional, Sequence

import numpy as np

from rbd_ros.cli.options.common_options import (
    add_gravity_option,
    add_json_option,
    add_payload_option,
    add_plot_option,
    add_seed_option,
    CONFIGURATION,
)
from rbd_ros.cli.options.option_values import (
    joint_values,
    numbers,
    payload,
    place_joints,
    single_positions,
)
from rbd_ros.cli.options.robot_options import add_robot_options, model_options, named_robot
from rbd_ros.cli.output.text_table import plural
from rbd_ros.control import static_torque_margin, StaticTorqueMargin, worst_case_poses
from rbd_ros.control.analysis.static_torque_margin import NOTHING, TOLERANCE, UnjudgedError
from rbd_ros.robot import Robot

FORMAT = 'rbd_ros static-torque 1'
UNJUDGED = 2
EXIT_CODES = {
    0: 'all poses that were examined can be held',
    1: 'a pose cannot be held, or the robot, a file or a value cannot be used',
    UNJUDGED: 'the robot cannot be judged (masses or effort limits are missing, or the base is '
    'floating), or the command line is wrong',
}
_MAX_SAMPLES = 10**6
_OUTSIDE = 1e-4  # tolerance of typed positions to a limit [rad or m]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `rbd_ros static-torque`."""
    add_robot_options(parser)
    parser.add_argument(
        '--pose',
        action='append',
        default=[],
        metavar=CONFIGURATION,
        help='examine this pose instead of random poses: a number for each position variable, '
        'such as --pose=0,-1.57,1.57, or positions of some joints, such as --pose=elbow=1.5, with '
        'the others at zero or at the limit nearest to it; may be repeated',
    )
    parser.add_argument(
        '--samples',
        type=int,
        default=2000,
        metavar='N',
        help='number of random poses within the position limits; a search continues from the '
        'worst of them (default: %(default)s)',
    )
    add_seed_option(parser, default=0)
    add_payload_option(parser)
    add_gravity_option(parser)
    add_json_option(parser)
    add_plot_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Check the poses and print the table.

    :return: 0 if all poses can be held, 1 if some cannot, 2 if that cannot be judged
    :raises ModelError: if the URDF cannot be converted to a model
    :raises ValueError: for an invalid pose, number or payload
    """
    if not 1 <= arguments.samples <= _MAX_SAMPLES:
        raise ValueError(f'--samples must be from 1 to {_MAX_SAMPLES}, got {arguments.samples}')
    if arguments.seed < 0:
        raise ValueError(f'--seed must not be negative, got {arguments.seed}')
    if arguments.plot is not None and not Path(arguments.plot).absolute().parent.is_dir():
        raise ValueError(f'the folder of {arguments.plot} does not exist')
    robot = Robot.from_urdf(
        named_robot(arguments),
        **model_options(arguments),
    )
    try:
        found = _examined(robot, arguments)
    except UnjudgedError as error:
        if arguments.json:
            print(json.dumps({'format': FORMAT, 'name': robot.name, **_unknown(str(error))}))
        print(
            f'rbd_ros static-torque: error: the robot cannot be judged: {error}', file=sys.stderr
        )
        return UNJUDGED
    facts = summary(robot, found, sampled=not arguments.pose, payload=arguments.payload)
    print(json.dumps(facts, indent=2) if arguments.json else '\n'.join(report(facts)))
    if arguments.plot is not None:
        from rbd_ros.cli.output.static_torque_plot import plot_static_torque

        plot_static_torque(facts, found, arguments.plot)
        print(f'{arguments.plot} written', file=sys.stderr)
    return UNJUDGED if facts['held'] is None else int(not facts['held'])


def _unknown(reason: str) -> Dict[str, Any]:
    """Return the facts about a robot that cannot be judged."""
    return {'held': None, 'not_judged': [{'joint': None, 'reason': reason}]}


def _examined(robot: Robot, arguments: argparse.Namespace) -> StaticTorqueMargin:
    """Return the torques in the given poses, or in random poses and the worst ones found."""
    options: Dict[str, Any] = {}
    if arguments.gravity is not None:
        options['gravity'] = numbers('--gravity', arguments.gravity, 3)
    if arguments.payload is not None:
        link, load = payload(robot, arguments.payload)
        options.update(payload=load, payload_link=link)
    if arguments.pose:
        poses = np.array([_pose(robot, text) for text in arguments.pose])
        return static_torque_margin(robot, poses, **options)
    rng = np.random.default_rng(arguments.seed)
    poses = robot.random_configurations(arguments.samples, rng)
    if robot.model.loops:
        from rbd_ros.control.analysis.closed_loop_statics import ClosedPoses

        poses = ClosedPoses(robot).possible(poses)
    hardest = worst_case_poses(robot, poses, **options)
    return static_torque_margin(robot, np.concatenate([poses, hardest]), **options)


def _pose(robot: Robot, text: str) -> np.ndarray:
    """Return the position variables of a pose from the command line, within limits, (nq,)."""
    pose = robot.clamp(robot.neutral())
    if '=' in text:
        place_joints('--pose', joint_values('--pose', text), robot, pose)
    else:
        count = len(text.split(','))
        if count != robot.nq:
            raise ValueError(
                f'--pose {text} has {plural(count, "number")}, but the robot has '
                f'{plural(robot.nq, "position variable")} ({", ".join(robot.joint_names)})'
            )
        pose[:] = numbers('--pose', text, count)
    for name, at in single_positions(robot).items():
        low, high = robot.lower_limits[at], robot.upper_limits[at]
        if not low - _OUTSIDE <= pose[at] <= high + _OUTSIDE:
            raise ValueError(
                f'--pose {text}: {name} at {pose[at]:g} is outside its limits, {low:g} to '
                f'{high:g}; give a position within them'
            )
    within: np.ndarray = robot.clamp(pose)
    return within


def summary(
    robot: Robot, found: StaticTorqueMargin, sampled: bool = True, payload: Optional[str] = None
) -> Dict[str, Any]:
    """Return facts about the static torques in JSON types; a missing limit is None.

    :param found: the torques
    :param sampled: whether the poses are random ones and the worst one of a search
    :param payload: payload text of the command line
    """
    held, worst, maxima = found.within_limits, found.worst_poses, found.maxima
    not_judged = [{'joint': name, 'reason': why} for name, why in found.unjudged.items()]
    if np.isinf(found.limits).all():
        not_judged += [
            {'joint': name, 'reason': 'neither this joint nor any other one has an effort limit'}
            for name in dict.fromkeys(found.joints)
            if name not in found.unjudged
        ]
    unknown = {each['joint'] for each in not_judged}
    joints = []
    for i, name in enumerate(found.joints):
        limited = bool(np.isfinite(found.limits[i]))
        margin = float(found.margins[i])
        joints.append(
            {
                'joint': name,
                'effort_limit': float(found.limits[i]) if limited else None,
                'torque': float(maxima[i]) if abs(maxima[i]) > NOTHING else 0.0,
                'margin': (margin if math.isfinite(margin) else None) if limited else None,
                'held': _verdict(margin >= -TOLERANCE, name in unknown),
                'worst_pose': [float(x) for x in found.configurations[worst[i]]],
            }
        )
    hardest = int(np.argmax(found.loads.max(axis=1)))
    return {
        'format': FORMAT,
        'name': robot.name,
        'joint_names': list(robot.joint_names),
        'sampled': sampled,
        'payload': payload,
        'poses': len(held),
        'poses_held': int(held.sum()),
        'held': _verdict(bool(held.all()), bool(unknown)),
        'not_judged': not_judged,
        'joints': joints,
        'worst_pose': [float(x) for x in found.configurations[hardest]],
        'joints_without_limit': list(
            dict.fromkeys(joint['joint'] for joint in joints if joint['effort_limit'] is None)
        ),
    }


def _verdict(held: bool, unknown: bool) -> Optional[bool]:
    """Return whether it is held; None if missing masses or limits prevent an answer."""
    return None if held and unknown else held


def report(facts: Dict[str, Any]) -> List[str]:
    """Return the lines of a text report with the facts of `summary`."""
    how = ', random poses and the worst one that a search found' if facts['sampled'] else ' given'
    load = f' with payload {facts["payload"]} (kg@link)' if facts['payload'] else ''
    lines = [f'{facts["name"]}{load}: {plural(facts["poses"], "pose")}{how}', '']
    rows: List[Sequence[str]] = [('joint', 'limit', 'torque', 'margin', '')]
    for joint in facts['joints']:
        limit, margin = joint['effort_limit'], joint['margin']
        remark = {True: '', False: 'EXCEEDED', None: 'not judged'}[joint['held']]
        if limit is None and joint['held']:
            remark = 'no limit'
        rows.append(
            (
                joint['joint'],
                '-' if limit is None else f'{limit:.5g}',
                f'{joint["torque"] + 0.0:.4g}',
                '-' if margin is None else f'{100.0 * margin:.0f}%',
                remark,
            )
        )
    widths = [max(map(len, column)) for column in zip(*rows)]
    for name, *figures, remark in rows:
        cells = [f'{cell:>{width}}' for cell, width in zip(figures, widths[1:])]
        lines.append('  '.join([f'  {name:<{widths[0]}}', *cells, remark]).rstrip())
    pose = ','.join(f'{x + 0.0:.6g}' for x in facts['worst_pose'])
    lines += [
        '',
        'Limit and torque are in N m or N. The margin is the share of the limit that is left in '
        'the worst pose.',
        f'Worst pose: --pose={pose}',
    ]
    for each in facts['not_judged']:
        lines.append(f'{each["joint"]} cannot be judged: {each["reason"]}')
    if facts['held'] is None:
        lines.append(
            'The robot cannot be judged: add <inertial> to the links, and effort="..." to the '
            '<limit> of the joints.'
        )
    elif facts['held'] and facts['joints_without_limit']:
        lines.append(
            'The joints with an effort limit hold all poses. Add effort="..." to the <limit> of '
            f'{", ".join(facts["joints_without_limit"])}.'
        )
    elif facts['held']:
        lines.append('All poses can be held.')
    else:
        share = 100.0 * facts['poses_held'] / facts['poses']
        lines.append(
            f'Only {facts["poses_held"]} of {plural(facts["poses"], "pose")} ({share:.0f}%) can '
            'be held. Avoid the others, reduce the payload, or use stronger actuators.'
        )
    return lines
