# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""`rbd_ros identify [robot.urdf] recording`: payload, or inertias and friction, of a recording."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any, Dict, List, Sequence, Union

import numpy as np

from rbd_ros.cli.options.common_options import add_output_option
from rbd_ros.cli.options.option_values import joint_values, write_output
from rbd_ros.cli.options.robot_options import model_options, urdf_text
from rbd_ros.cli.output.recorded import (
    add_recording_arguments,
    described,
    plot_efforts,
    recording_of,
    robot_of,
)
from rbd_ros.cli.output.text_table import plural, table
from rbd_ros.identification import (
    Estimate,
    identify_base_parameters,
    identify_payload,
    ModelEstimate,
    patched_urdf,
    PayloadEstimate,
    validate_model,
)
from rbd_ros.robot.families.regressors_family import NAMES

UNKNOWN = 'not determined by this recording'
Found = Union[PayloadEstimate, ModelEstimate]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `rbd_ros identify`."""
    add_recording_arguments(parser)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument('--payload-link', metavar='LINK', help='estimate the payload of LINK')
    what.add_argument(
        '--base-parameters',
        action='store_true',
        help='estimate the combinations of all inertias that efforts depend on',
    )
    parser.add_argument(
        '--friction',
        action='store_true',
        help='estimate viscous and Coulomb friction of all joints, too (default: as in the URDF)',
    )
    parser.add_argument(
        '--offset', action='store_true', help='estimate a constant offset of each effort, too'
    )
    parser.add_argument(
        '--confidence',
        type=float,
        default=0.99,
        metavar='P',
        help='probability that a parameter is within its interval (default: %(default)g)',
    )
    add_output_option(parser, 'FILE.urdf', 'write the URDF with the estimates')


def run(arguments: argparse.Namespace) -> int:
    """Estimate, print, plot and write.

    :return: 0
    :raises ModelError: if the URDF cannot be converted to a model
    :raises ValueError: for an unusable recording, or a value out of range
    """
    if not 0.0 < arguments.confidence < 1.0:
        raise ValueError(f'--confidence must be between 0 and 1, got {arguments.confidence:g}')
    source = described(arguments)
    text = urdf_text(source, arguments.package_path)
    options = model_options(arguments)
    robot, recording = robot_of(source, options), recording_of(arguments)
    missing_joints = joint_values('--missing-joints', arguments.missing_joints)
    settings = {
        'friction': arguments.friction,
        'offset': arguments.offset,
        'cutoff': arguments.cutoff,
    }
    found: Found
    if arguments.payload_link:
        found = identify_payload(
            robot, recording, arguments.payload_link, missing_joints=missing_joints, **settings
        )
    else:
        found = identify_base_parameters(robot, recording, **settings)
    print(
        json.dumps(facts(found, arguments.confidence), indent=2)
        if arguments.json
        else '\n'.join(lines(found, arguments.confidence))
    )
    if arguments.output or arguments.plot:
        patched = patched_urdf(text, robot, found)
        if arguments.output:
            write_output(arguments.output, patched)
            warning = _of_the_file(found)
            if warning:
                print(f'{arguments.output}: {warning}', file=sys.stderr)
        if arguments.plot:
            identified = robot_of(patched, options)
            same = {'cutoff': arguments.cutoff, 'missing_joints': missing_joints}
            plot_efforts(
                robot,
                validate_model(robot, recording, **same),
                arguments.plot,
                [validate_model(identified, recording, **same)],
            )
    return 0


def lines(found: Found, confidence: float) -> List[str]:
    """Return the lines of the text report."""
    estimate, percent = found.estimate, f'{100.0 * confidence:g} %'
    result = []
    if isinstance(found, PayloadEstimate):
        result += _payload_lines(found, confidence) + ['']
        nominal: Sequence[float] = [float('nan')] * len(estimate.values)
    else:
        nominal = found.nominal.tolist()
    half = estimate.intervals(confidence)
    rows = [
        (name, f'{x:.5g}', f'+- {h:.2g}', '' if np.isnan(n) else f'{n:.5g}')
        for name, x, h, n in zip(estimate.names, estimate.values, half, nominal)
    ]
    if any(len(terms) > 1 for terms in found.combinations):
        result += ['Of a sum, only the value of the sum is known, not the values of its terms.']
    result += [f'Estimates and their intervals of {percent} confidence']
    result += table(('parameter', 'value', '', 'URDF'), rows, '.>>>') + ['']
    return [*result, *_quality(estimate), *(f'Note: {note}.' for note in found.notes)]


def _payload_lines(found: PayloadEstimate, confidence: float) -> List[str]:
    half = found.estimate.intervals(confidence)
    factor = half[0] / found.estimate.deviations[0]
    sure = found.center_deviations()
    result = [f'Payload of {found.link}', f'mass: {UNKNOWN}']
    if not np.isnan(found.mass):
        width = f' +- {half[0]:.2g} kg' if 'm' in found.identified and not found.adjusted else ''
        result = [f'Payload of {found.link}: {found.mass:.4f} kg{width}']
    if np.isnan(found.center).all():
        result += [f'center of mass: {UNKNOWN}']
    else:
        text = f'center of mass ({_numbers(found.center, ".4f", ", ")}) m in {found.link}'
        if sure is not None and not found.adjusted:
            text += f' +- ({_numbers(factor * sure, ".2g", ", ")}) m'
        result += [text]
    values = found.inertia[np.triu_indices(3)]
    if np.isnan(values).all():
        result += [f'inertia about it: {UNKNOWN}']
    else:
        text = f'inertia about it [kg m^2], xx xy xz yy yz zz: {_numbers(values, ".3g", " ")}'
        spread = found.inertia_deviations()
        if spread is not None and not found.adjusted:
            text += f' +- ({_numbers(factor * spread[np.triu_indices(3)], ".2g", " ")})'
        result += [text]
    if len(found.identified) < 10:
        mixed = sum(len(terms) > 1 for terms in found.combinations)
        more = f', and {plural(mixed, "combination")} of others' if mixed else ''
        seen = ', '.join(found.identified) or 'none'
        result += [f'Of its 10 parameters, the recording determines {seen}{more}.']
    if found.adjusted:
        result += [
            'No body can have the estimated parameters; these are the nearest that one can have.'
        ]
    return result


def _numbers(values: Any, form: str, between: str) -> str:
    """Return the numbers of a line; ? for undetermined ones."""
    return between.join('?' if np.isnan(x) else f'{x:{form}}' for x in values)


def _known(values: Any) -> Any:
    """Return numbers for JSON, in lists; null for undetermined ones."""
    if np.ndim(values):
        return [_known(x) for x in values]
    return None if np.isnan(values) else float(values)


def _of_the_file(found: Found) -> str:
    """Return a note about values in the written URDF that are not measured; '' if all are."""
    if isinstance(found, ModelEstimate):
        return (
            'the inertias are the nearest to the old ones that have the estimated combinations; '
            'single inertias are not measured'
        )
    chosen = [name for name in NAMES if name not in found.identified]
    if not chosen or not found.body.any():
        return ''
    return (
        f'the payload in it has the estimated parameters; {", ".join(chosen)} '
        f'{"is" if len(chosen) == 1 else "are"} chosen, not measured '
        f'(mass {found.body[0]:.4g} kg)'
    )


def _quality(estimate: Estimate) -> List[str]:
    errors = ', '.join('-' if np.isnan(e) else f'{100.0 * e:.1f} %' for e in estimate.validation)
    return [
        f'{plural(estimate.samples, "equation")}, condition number '
        f'{estimate.condition_number:.1f}',
        f'Error of the efforts in cross-validation, by joint: {errors}',
    ]


def facts(found: Found, confidence: float) -> Dict[str, Any]:
    """Return the result in JSON types."""
    estimate = found.estimate
    result: Dict[str, Any] = {
        'confidence': confidence,
        'parameters': [
            {
                'name': name,
                'value': float(x),
                'interval': float(h),
                **({'combination': terms} if len(terms) > 1 else {}),
            }
            for name, x, h, terms in zip(
                estimate.names,
                estimate.values,
                estimate.intervals(confidence),
                [*found.combinations, *[{}] * len(estimate.names)],
            )
        ],
        'condition_number': estimate.condition_number,
        'validation': [None if np.isnan(e) else float(e) for e in estimate.validation],
        'notes': list(found.notes),
    }
    if isinstance(found, PayloadEstimate):
        result['payload'] = {
            'link': found.link,
            'mass': _known(found.mass),
            'center_of_mass': _known(found.center),
            'inertia': _known(found.inertia),
            'not_determined': [name for name in NAMES if name not in found.identified],
            'adjusted': found.adjusted,
        }
    return result
