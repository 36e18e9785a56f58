"""`rbd_ros codegen robot.urdf --functions ... --out DIR`: a robot's functions as C99."""

from __future__ import annotations

import argparse
from pathlib import Path
import sys
from typing import Any, Dict, List

from rbd_ros import __version__, Robot
from rbd_ros.algorithms import catalogue
from rbd_ros.algorithms.kinds import REFERENCES
from rbd_ros.cli.info import add_model_arguments, description, model_options
from rbd_ros.compiler.program import Program
from rbd_ros.compiler.targets.c99 import SUFFIXES
from rbd_ros.compiler.targets.c99_library import library, library_name
from rbd_ros.model import load_urdf

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
        '--real', choices=list(SUFFIXES), default='double', help='kind of numbers (%(default)s)'
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
    robot = Robot(load_urdf(description(arguments.robot), **model_options(arguments)))
    names = list(dict.fromkeys(filter(None, arguments.functions.split(','))))
    programs = {name: _program(robot, name, arguments) for name in names}
    name = arguments.name or library_name(robot.model.name)
    files = library(
        programs,
        name,
        arguments.real,
        {'NQ': robot.nq, 'NV': robot.nv},
        _notes(robot, arguments),
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


def _program(robot: Robot, name: str, arguments: argparse.Namespace) -> Program:
    declared = catalogue().get(name)
    if declared is None:
        raise ValueError(f'unknown function {name!r}; --functions list names them all')
    options: Dict[str, Any] = {}
    for symbol in declared.choices:
        if symbol == 'frame' and not arguments.frame:
            raise ValueError(f'{name} needs a frame: --frame LINK')
        options[symbol] = getattr(arguments, symbol, None)
    links: List[str] = list(filter(None, arguments.external_forces.split(',')))
    if declared.takes_forces and links:
        options['forces'] = tuple(links)
    print(f'compiling {name}', file=sys.stderr)
    program: Program = robot.kernel(name, **options).definition.program()
    return program


def _notes(robot: Robot, arguments: argparse.Namespace) -> List[str]:
    """What a reader of the header must know of the robot."""
    model = robot.model
    places = [
        f'  {model.body(i).joint_name}: q[{_range(q)}], v[{_range(v)}]'
        for i, (q, v) in model.independent_slices.items()
    ]
    gravity = ', '.join(f'{x:g}' for x in robot.gravity)
    return [
        f'Rigid-body dynamics of {model.name}, written by rbd_ros {__version__} '
        f'(rbd_ros codegen).',
        '',
        'SI units and radians. Spatial vectors have their angular part first; quaternions their',
        'scalar. Places of the joints in positions q and in velocities v, accelerations, forces:',
        *places,
        f'Base: {"floating" if arguments.floating_base else "fixed"}; gravity ({gravity}) m/s^2.',
        'No allocation, no recursion, no state: functions may run in several threads at once.',
    ]


def _range(at: slice) -> str:
    return f'{at.start}' if at.stop == at.start + 1 else f'{at.start}..{at.stop - 1}'
