# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Functions of a robot as a C99 library, for use without Python."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Sequence

from rbd_ros.compiler.program import Program
from rbd_ros.compiler.targets.c99 import SUFFIXES
from rbd_ros.compiler.targets.c99_library import library, library_name
from rbd_ros.robot.kernels import declared as declaration
from rbd_ros.robot.robot import Robot

#: Number types of a library.
PRECISIONS = tuple(SUFFIXES)


def c_library(
    robot: Robot,
    functions: Sequence[str],
    name: Optional[str] = None,
    precision: str = 'double',
    choices: Mapping[str, Any] = {},
    external_forces: Sequence[str] = (),
) -> Dict[str, str]:
    """Return the files of a C99 library by name: header, sources, CMakeLists.txt.

    :param functions: names of algorithms, see `rbd_ros.algorithms.catalog`
    :param name: name of the library, the prefix of its functions; None: the robot's name
    :param precision: type of its numbers, one of `PRECISIONS`
    :param choices: choices of the algorithms, such as a frame, by name
    :param external_forces: links with an external force, additional inputs of functions with
        forces
    :raises ValueError: for an unknown function or link, a missing choice, or an invalid name in C

    >>> from rbd_ros.robot.export import c_library
    >>> files = c_library(robot, ['gravity_torque', 'jacobian'], 'arm', choices={'frame': 'tool0'})
    >>> sorted(files)
    ['CMakeLists.txt', 'arm.h', 'arm_gravity_torque.c', 'arm_jacobian.c']
    """
    programs = {each: _program(robot, each, choices, external_forces) for each in functions}
    name = library_name(robot.model.name) if name is None else name
    sizes = {'NQ': robot.nq, 'NV': robot.nv}
    return library(programs, name, precision, sizes, _notes(robot))


def _program(robot: Robot, name: str, choices: Mapping[str, Any], links: Sequence[str]) -> Program:
    declared = declaration(name)
    options: Dict[str, Any] = {}
    for symbol, choice in declared.choices.items():
        options[symbol] = choices.get(symbol, choice.default)
        if options[symbol] is None:
            raise ValueError(f'{name} needs a {symbol}: {choice.meaning}')
    if declared.takes_forces and links:
        options['forces'] = tuple(links)
    program: Program = robot.kernel(name, **options).definition.program()
    return program


def _notes(robot: Robot) -> List[str]:
    """Return the comments about the robot in the header."""
    model = robot.model
    places = [
        f'  {model.body(i).joint_name}: q[{_range(q)}], v[{_range(v)}]'
        for i, (q, v) in model.independent_slices.items()
    ]
    gravity = ', '.join(f'{x:g}' for x in robot.gravity)
    return [
        f'Rigid-body dynamics of {model.name}, written by rbd_ros codegen.',
        '',
        'SI units and radians. Spatial vectors have their angular part first; quaternions their',
        'scalar. Places of the joints in positions q and in velocities v, accelerations, forces:',
        *places,
        f'Gravity is ({gravity}) m/s^2 in base coordinates.',
        'No allocation, no recursion, no state: functions may run in several threads at once.',
    ]


def _range(at: slice) -> str:
    return f'{at.start}' if at.stop == at.start + 1 else f'{at.start}..{at.stop - 1}'
