"""`rbd_ros codegen robot.urdf --functions ... --out DIR`: a robot's functions as C99."""

from __future__ import annotations

import argparse
from pathlib import Path

from rbd_ros import Robot
from rbd_ros.algorithms import catalogue
from rbd_ros.algorithms.kinds import REFERENCES
from rbd_ros.cli.info import add_model_arguments, description, model_options
from rbd_ros.robot.export import c_library, REALS

_DEFAULT = ('inverse_dynamics', 'forward_dynamics', 'mass_matrix', 'bias_force', 'gravity_torque')


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `rbd_ros codegen`."""
    add_model_arguments(parser)
    parser.add_argument(
        '--functions',
        metavar='NAME,...',
        default=','.join(_DEFAULT),
        help='functions to write (default: %(default)s); --functions list names them all',
    )
    parser.add_argument('--out', metavar='DIR', help='folder of the files; made if need be')
    parser.add_argument(
        '--name', help="name of the library, before those of its functions (default: the robot's)"
    )
    parser.add_argument(
        '--real', choices=REALS, default='double', help='kind of numbers (%(default)s)'
    )
    parser.add_argument('--frame', help='link or joint, for functions of a frame')
    parser.add_argument(
        '--reference',
        choices=REFERENCES,
        default=REFERENCES[0],
        help='what velocities of the frame are expressed in (default: %(default)s)',
    )
    parser.add_argument(
        '--external-forces',
        metavar='LINK,...',
        default='',
        help='links with an external force, inputs of the functions that take some',
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the files.

    :return: 0
    :raises ModelError: if the URDF cannot become a model
    :raises ValueError: for an unknown function or link, or a folder that cannot be written
    """
    if arguments.functions == 'list':
        print('\n'.join(sorted(catalogue())))
        return 0
    if not arguments.out:
        raise ValueError('--out DIR is missing: where do the files go?')
    robot = Robot.from_urdf(description(arguments.robot), **model_options(arguments))
    chosen = {'reference': arguments.reference}
    if arguments.frame:
        chosen['frame'] = arguments.frame
    files = c_library(
        robot,
        list(dict.fromkeys(filter(None, arguments.functions.split(',')))),
        arguments.name,
        arguments.real,
        chosen,
        list(filter(None, arguments.external_forces.split(','))),
    )
    folder = Path(arguments.out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in files.items():
            (folder / file).write_text(text, encoding='utf-8')
            print(folder / file)
    except OSError as error:
        raise ValueError(f'--out {folder} cannot be written: {error.strerror or error}') from error
    return 0
