# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Options for a robot and its description, the same in all commands."""

from __future__ import annotations

import argparse
import sys
from typing import Any, Dict, Sequence, Union

from rbd_ros.lookup.robots import load_robot, RobotNotFoundError
from rbd_ros.model.extension import read_extension
from rbd_ros.model.urdf.urdf_document import MAX_BYTES, urdf_of_file


def add_robot_options(parser: argparse.ArgumentParser, default: str = '') -> None:
    """Add the robot and the options of its description.

    :param default: help text for a missing robot; '' if it is required
    """
    add_robot_argument(parser, default)
    add_xacro_option(parser)
    add_floating_base_option(parser)
    parser.add_argument(
        '--strict',
        action='store_true',
        help='reject inertias that no rigid body can have, instead of a warning',
    )
    add_armature_option(parser)
    add_extension_option(parser)
    parser.add_argument(
        '--package-path',
        metavar='DIR',
        action='append',
        default=[],
        help='look for package:// meshes and $(find PACKAGE) in DIR first; may be repeated',
    )


def add_robot_argument(
    parser: argparse.ArgumentParser, default: str = '', stdin: bool = True
) -> None:
    """Add the robot itself.

    :param default: help text for a missing robot; '' if it is required
    :param stdin: whether the standard input is supported
    """
    kinds = ['path of a URDF or xacro file', 'name of a robot (see rbd_ros robots)']
    text = ', '.join([*kinds, 'or - for stdin']) if stdin else ', or '.join(kinds)
    if default:
        text = f'{text} (default: {default})'
    parser.add_argument('robot', nargs='?' if default else None, help=text)


def add_xacro_option(parser: argparse.ArgumentParser) -> None:
    """Add the option for the arguments of a xacro file."""
    parser.add_argument(
        '--xacro',
        metavar='NAME:=VALUE',
        action='append',
        default=[],
        help='argument of the xacro file; may be repeated',
    )


def add_floating_base_option(parser: argparse.ArgumentParser) -> None:
    """Add the option for a floating base."""
    parser.add_argument(
        '--floating-base',
        action='store_true',
        help='connect the root link to the world by a floating joint, not a fixed one',
    )


def add_armature_option(parser: argparse.ArgumentParser) -> None:
    """Add the option for a file with rotor inertias."""
    parser.add_argument(
        '--armature',
        metavar='FILE',
        help='YAML file with the reflected rotor inertia of joints, {JOINT: kg m^2}',
    )


def add_extension_option(parser: argparse.ArgumentParser) -> None:
    """Add the option for an extension file."""
    parser.add_argument(
        '--extension',
        metavar='FILE',
        help='YAML file of extensions that URDF cannot express: joint types, gears, rotors, loops',
    )


def description(
    robot: str, xacro_arguments: Sequence[str] = (), package_paths: Sequence[str] = ()
) -> Union[str, bytes]:
    """Return the path, or the document if `robot` is - (standard input) or xacro with arguments.

    :param xacro_arguments: arguments of the xacro file, each as name:=value
    :param package_paths: directories that are searched first for packages
    :raises RobotNotFoundError: if it does not exist, or xacro cannot expand it
    """
    if robot == '-':
        if xacro_arguments:
            raise RobotNotFoundError(
                '--xacro does not apply to stdin, which must be a URDF; name the xacro file'
            )
        return sys.stdin.buffer.read(MAX_BYTES + 1)
    return load_robot(robot, xacro_arguments, package_paths).source


def named_robot(arguments: argparse.Namespace) -> Union[str, bytes]:
    """Return the path or document of the robot of `add_robot_options`.

    :raises RobotNotFoundError: if it does not exist, or xacro cannot expand it
    """
    return description(arguments.robot, arguments.xacro, arguments.package_path)


def urdf_text(source: Union[str, bytes], package_paths: Sequence[str]) -> bytes:
    """Return the document of a robot.

    :param source: its path or document, see `named_robot`
    """
    if isinstance(source, bytes):
        return source
    return source.encode() if source.lstrip()[:1] == '<' else urdf_of_file(source, package_paths)


def model_options(arguments: argparse.Namespace) -> Dict[str, Any]:
    """Return the keyword arguments of `load_urdf` from the command line."""
    return {
        'floating_base': arguments.floating_base,
        'strict': arguments.strict,
        'armature': arguments.armature,
        'extension': None if arguments.extension is None else read_extension(arguments.extension),
        'package_paths': arguments.package_path,
    }
