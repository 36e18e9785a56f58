"""`rbd_ros identify [robot.urdf] recording`: payload, or inertias and friction, of a recording."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any, Dict, List, Sequence, Union

import numpy as np

from rbd_ros.cli.info import model_options, table
from rbd_ros.cli.recorded import (
    add_recording_arguments,
    described,
    held,
    plot_efforts,
    recording_of,
    robot_of,
    write,
)
from rbd_ros.identification import (
    Estimate,
    evaluate,
    identify_base_parameters,
    identify_payload,
    ModelEstimate,
    patched_urdf,
    PayloadEstimate,
)

Found = Union[PayloadEstimate, ModelEstimate]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `rbd_ros identify`."""
    add_recording_arguments(parser)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument('--payload', metavar='LINK', help='what this link carries')
    what.add_argument(
        '--base-parameters', action='store_true', help='inertias of all links, as far as they show'
    )
    parser.add_argument(
        '--friction',
        action='store_true',
        help='viscous and Coulomb friction of all joints as well; otherwise the URDF says it',
    )
    parser.add_argument(
        '--offset', action='store_true', help='a constant offset of each effort as well'
    )
    parser.add_argument(
        '--confidence',
        type=float,
        default=0.99,
        metavar='P',
        help='probability that a parameter lies within its interval (0.99)',
    )
    parser.add_argument('-o', '--out', metavar='FILE.urdf', help='write the URDF with the result')


def run(arguments: argparse.Namespace) -> int:
    """Estimate, print, plot and write.

    :return: 0
    :raises ModelError: if the URDF cannot become a model
    :raises ValueError: for a recording that cannot be used, or a value that makes no sense
    """
    if not 0.0 < arguments.confidence < 1.0:
        raise ValueError(f'--confidence must be between 0 and 1, got {arguments.confidence:g}')
    source = described(arguments)
    text = source if isinstance(source, bytes) else _text(source)
    options = model_options(arguments)
    robot, recording = robot_of(source, options), recording_of(arguments)
    hold = held(arguments.hold)
    asked = {
        'friction': arguments.friction,
        'offset': arguments.offset,
        'cutoff': arguments.cutoff,
    }
    found: Found
    if arguments.payload:
        found = identify_payload(robot, recording, arguments.payload, hold=hold, **asked)
    else:
        found = identify_base_parameters(robot, recording, **asked)
    print(
        json.dumps(facts(found, arguments.confidence), indent=2)
        if arguments.json
        else '\n'.join(lines(found, arguments.confidence))
    )
    if arguments.out or arguments.plot:
        patched = patched_urdf(text, robot, found)
        if arguments.out:
            write('--out', arguments.out, patched)
        if arguments.plot:
            identified = robot_of(patched, options)
            same = {'cutoff': arguments.cutoff, 'hold': hold}
            plot_efforts(
                evaluate(robot, recording, **same),
                arguments.plot,
                [evaluate(identified, recording, **same)],
            )
    return 0


def _text(path: str) -> bytes:
    if path.lstrip().startswith('<'):
        return path.encode()
    return Path(path).read_bytes()


def lines(found: Found, confidence: float) -> List[str]:
    """Lines of the report for people."""
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
    result += [f'Estimates, with their confidence of {percent}']
    result += table(('parameter', 'value', '', 'URDF'), rows, '.>>>') + ['']
    return [*result, *_quality(estimate), *(f'Note: {note}.' for note in found.notes)]


def _payload_lines(found: PayloadEstimate, confidence: float) -> List[str]:
    half = found.estimate.intervals(confidence)
    sure = found.centre_deviations()
    result = [f'Payload of {found.link}: {found.mass:.4f} kg']
    if found.seen[:1] == ('m',):
        result[0] += f' +- {half[0]:.2g} kg'
    centre = ', '.join(f'{x:.4f}' for x in found.centre)
    text = f'centre of mass ({centre}) m in {found.link}'
    if sure is not None:
        factor = half[0] / found.estimate.deviations[0]
        text += f' +- ({", ".join(f"{factor * s:.2g}" for s in sure)}) m'
    values = found.inertia[np.triu_indices(3)]
    result += [
        text,
        'inertia about it, xx xy xz yy yz zz: ' + ' '.join(f'{x:.3g}' for x in values),
    ]
    if len(found.seen) < 10:
        result += [f'Efforts of this robot show {len(found.seen)} of its 10 parameters.']
    if found.adjusted:
        result += ['The estimate itself is none that a body can have; this is the nearest one.']
    return result


def _quality(estimate: Estimate) -> List[str]:
    errors = ', '.join('-' if np.isnan(e) else f'{100.0 * e:.1f} %' for e in estimate.validation)
    return [
        f'{estimate.samples} equations, condition number {estimate.condition:.1f}',
        f'Error of efforts that were not used for the estimate, by joint: {errors}',
    ]


def facts(found: Found, confidence: float) -> Dict[str, Any]:
    """The result in the types of JSON."""
    estimate = found.estimate
    result: Dict[str, Any] = {
        'confidence': confidence,
        'parameters': [
            {'name': name, 'value': float(x), 'interval': float(h)}
            for name, x, h in zip(estimate.names, estimate.values, estimate.intervals(confidence))
        ],
        'condition': estimate.condition,
        'validation': [None if np.isnan(e) else float(e) for e in estimate.validation],
        'notes': list(found.notes),
    }
    if isinstance(found, PayloadEstimate):
        result['payload'] = {
            'link': found.link,
            'mass': found.mass,
            'centre': found.centre.tolist(),
            'inertia': found.inertia.tolist(),
            'adjusted': found.adjusted,
        }
    return result
