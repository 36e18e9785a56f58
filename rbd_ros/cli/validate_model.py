# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""`rbd_ros validate-model [robot.urdf] recording`: measured efforts and those of the model."""

from __future__ import annotations

import argparse
import json
from typing import List

from rbd_ros.cli.options.option_values import joint_values
from rbd_ros.cli.options.robot_options import model_options
from rbd_ros.cli.output.recorded import (
    add_recording_arguments,
    described,
    plot_efforts,
    recording_of,
    robot_of,
)
from rbd_ros.cli.output.text_table import table
from rbd_ros.identification import ModelValidation, validate_model

_HEAD = ('joint', 'error', 'effort', 'bias', 'scale', 'viscous', 'Coulomb', 'likely cause')


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `rbd_ros validate-model`."""
    add_recording_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the errors of the model.

    :return: 0
    :raises ModelError: if the URDF cannot be converted to a model
    :raises ValueError: for an unusable recording
    """
    robot = robot_of(described(arguments), model_options(arguments))
    recording, missing_joints = (
        recording_of(arguments),
        joint_values('--missing-joints', arguments.missing_joints),
    )
    found = validate_model(
        robot, recording, cutoff=arguments.cutoff, missing_joints=missing_joints
    )
    print(_json(found) if arguments.json else '\n'.join(lines(found)))
    if arguments.plot:
        plot_efforts(robot, found, arguments.plot)
    return 0


def lines(found: ModelValidation) -> List[str]:
    """Return the lines of the text report."""
    rows = [
        (
            fit.joint,
            f'{100.0 * fit.relative_error:.1f} %',
            f'{fit.effort:.4g}',
            f'{fit.bias:.3g}',
            f'{fit.scale:.3f}',
            f'{fit.viscous:.3g}',
            f'{fit.coulomb:.3g}',
            fit.hint,
        )
        for fit in found.joints
    ]
    span = found.times[-1] - found.times[0]
    result = [f'Measured and predicted efforts (N m or N) over {span:.1f} s']
    result += table(_HEAD, rows, '.>>>>>>.')
    result += [
        '',
        'error: root mean square of the error, divided by that of the effort.',
        'bias, scale, viscous, Coulomb: offset [N m or N], factor and friction that the model '
        'lacks.',
    ]
    if found.payload is not None:
        payload = found.payload
        center = ', '.join(f'{x:.3f}' for x in payload.center)
        result += [
            f'A payload of {payload.mass:.3f} kg at ({center}) m in {payload.link} explains '
            f'{100.0 * found.payload_explained:.0f} % of the squared errors. To estimate it: '
            f'rbd_ros identify --payload-link {payload.link}.'
        ]
    return result + [f'Note: {note}.' for note in found.notes]


def _json(found: ModelValidation) -> str:
    payload = found.payload
    return json.dumps(
        {
            'joints': [
                {**fit._asdict(), 'relative_error': fit.relative_error} for fit in found.joints
            ],
            'payload': None
            if payload is None
            else {
                'link': payload.link,
                'mass': payload.mass,
                'center_of_mass': payload.center.tolist(),
                'explained': found.payload_explained,
            },
            'notes': list(found.notes),
        },
        indent=2,
    )
