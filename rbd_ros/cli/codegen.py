# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""`rbd_ros codegen robot.urdf --functions ... --output DIR`: a robot's functions as C99.

With `--fmu`, the simulated robot as an FMU for co-simulation.
"""

from __future__ import annotations

import argparse
from pathlib import Path
import sys

from rbd_ros import __version__, Robot
from rbd_ros.algorithms import catalog
from rbd_ros.algorithms.kinds import REFERENCES
from rbd_ros.cli.options.common_options import add_output_option
from rbd_ros.cli.options.robot_options import add_robot_options, model_options, named_robot
from rbd_ros.contact import HalfSpace
from rbd_ros.fmi import compile_fmu, make_fmu
from rbd_ros.robot.export import c_library, PRECISIONS
from rbd_ros.simulation.integrators import integrator_names

_DEFAULT = ('inverse_dynamics', 'forward_dynamics', 'mass_matrix', 'bias_force', 'gravity_torque')


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `rbd_ros codegen`."""
    add_robot_options(parser)
    parser.add_argument(
        '--functions',
        metavar='NAME,...',
        default=','.join(_DEFAULT),
        help='functions to write (default: %(default)s); --functions list prints all names',
    )
    add_output_option(
        parser,
        'PATH',
        'folder for the files, which is created; with --fmu a path that ends with .fmu is the '
        'file (default: NAME.fmu in the working directory)',
    )
    parser.add_argument(
        '--name', help="name of the library and prefix of its functions (default: the robot's)"
    )
    parser.add_argument(
        '--precision',
        choices=PRECISIONS,
        default='double',
        help='floating-point type of all numbers (default: %(default)s)',
    )
    parser.add_argument('--frame', help='link or joint whose frame functions such as jacobian use')
    parser.add_argument(
        '--reference',
        choices=REFERENCES,
        default=REFERENCES[0],
        help='frame in which velocities are expressed (default: %(default)s)',
    )
    parser.add_argument(
        '--external-forces',
        metavar='LINK,...',
        default='',
        help='links with an external force, which becomes an input of the functions',
    )
    unit = parser.add_argument_group('FMI 3.0 co-simulation')
    unit.add_argument(
        '--fmu',
        action='store_true',
        help='write an FMU instead, with torques as inputs and joint states as outputs',
    )
    unit.add_argument(
        '--timestep',
        type=float,
        default=1e-3,
        metavar='SECONDS',
        help='timestep of the FMU; communication steps are multiples of it (default: %(default)s)',
    )
    unit.add_argument(
        '--integrator',
        choices=integrator_names(),
        help='integrator of the FMU (default: midpoint, or semi_implicit with kinematic loops)',
    )
    unit.add_argument(
        '--ground',
        action='store_true',
        help='add compliant contact with the ground, z <= 0; FMUs have no rigid contact',
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the files.

    :return: 0
    :raises ModelError: if the URDF cannot be converted to a model, or the model not simulated
    :raises ValueError: for an unknown function or link, or a path that cannot be written
    """
    if arguments.fmu:
        return _write_unit(arguments)
    if arguments.functions == 'list':
        print('\n'.join(sorted(catalog())))
        return 0
    if not arguments.output:
        raise ValueError('--output is missing; give the folder for the files')
    robot = Robot.from_urdf(
        named_robot(arguments),
        **model_options(arguments),
    )
    chosen = {'reference': arguments.reference}
    if arguments.frame:
        chosen['frame'] = arguments.frame
    files = c_library(
        robot,
        list(dict.fromkeys(filter(None, arguments.functions.split(',')))),
        arguments.name,
        arguments.precision,
        chosen,
        list(filter(None, arguments.external_forces.split(','))),
    )
    folder = Path(arguments.output)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in files.items():
            (folder / file).write_text(text, encoding='utf-8')
            print(folder / file)
    except OSError as error:
        raise ValueError(
            f'--output {folder} cannot be written: {error.strerror or error}'
        ) from error
    return 0


def _write_unit(arguments: argparse.Namespace) -> int:
    """Write an FMU."""
    if arguments.precision != 'double':
        raise ValueError(
            f'--precision {arguments.precision} does not apply to an FMU; leave it out'
        )
    if arguments.external_forces:
        raise ValueError('--external-forces does not apply to an FMU; leave it out')
    robot = Robot.from_urdf(
        named_robot(arguments),
        **model_options(arguments),
    )
    unit = make_fmu(
        robot,
        arguments.timestep,
        arguments.integrator,
        HalfSpace() if arguments.ground else None,
        arguments.name,
        f'rbd_ros {__version__}',
    )
    out = Path(arguments.output or '.')
    path = out if out.suffix == '.fmu' else out / f'{unit.identifier}.fmu'
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        binaries = compile_fmu(unit)
        path.write_bytes(unit.archive(binaries))
    except OSError as error:
        raise ValueError(f'--output {out} cannot be written: {error.strerror or error}') from error
    if not binaries:
        print(
            'The FMU contains sources only, because no C compiler for Linux was found; install '
            'cc, gcc or clang to add a binary.',
            file=sys.stderr,
        )
    print(path)
    return 0
