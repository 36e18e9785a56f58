# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Processes of a launch: installed packages, start of nodes, end of the launch."""

from __future__ import annotations

import os
from pathlib import Path
import shutil
import signal
from typing import Any, Dict, List, Optional, Sequence, Tuple
from xml.etree import ElementTree

from ament_index_python.packages import get_package_prefix, PackageNotFoundError
from launch import Action, LaunchContext
from launch.actions import Shutdown
from launch.events.process import ProcessExited
import launch.logging
from launch_ros.actions import Node

from rbd_ros.bounded_files import MAX_TEXT, read_text

DISPLAY_VARIABLES = ('DISPLAY', 'WAYLAND_DISPLAY', 'QT_QPA_PLATFORM')


class MissingError(RuntimeError):
    """A required package or executable is not installed; the message gives the cure."""


def is_installed(package: str, executable: str) -> bool:
    """Return whether `ros2 run` would find an executable."""
    try:
        prefix = get_package_prefix(package)
    except PackageNotFoundError:
        return False
    return os.access(Path(prefix, 'lib', package, executable), os.X_OK)


def require(package: str, executable: str, cure: str = '') -> None:
    """Raise an error unless an executable is installed.

    :param executable: its name
    :param cure: cure for the message; empty: install the package by apt
    :raises MissingError: if it is missing
    """
    if not is_installed(package, executable):
        cure = cure or _apt(package)
        raise MissingError(f'{executable} of package {package} is not installed: {cure}')


def has_package(package: str) -> bool:
    """Return whether a package is installed."""
    try:
        get_package_prefix(package)
    except PackageNotFoundError:
        return False
    return True


def package_version(package: str) -> Tuple[int, ...]:
    """Return the version of an installed package from its package.xml; () without one."""
    try:
        manifest = Path(get_package_prefix(package), 'share', package, 'package.xml')
        content = ElementTree.fromstring(read_text(manifest, MAX_TEXT))
        text = content.findtext('version') or ''
        return tuple(int(part) for part in text.strip().split('.'))
    except (PackageNotFoundError, OSError, ElementTree.ParseError, ValueError):
        return ()


def require_package(package: str) -> None:
    """Raise an error unless a package is installed.

    :raises MissingError: if it is missing
    """
    if not has_package(package):
        raise MissingError(f'package {package} is not installed: {_apt(package)}')


def _apt(package: str) -> str:
    distribution = os.environ.get('ROS_DISTRO', '$ROS_DISTRO')
    return f'apt install ros-{distribution}-{package.replace("_", "-")}'


def log_folder() -> Path:
    """Return the folder of this launch's log, used for generated files."""
    return Path(launch.logging.launch_config.log_dir)


def has_display() -> bool:
    """Return whether there is a display for windows."""
    return any(os.environ.get(name) for name in DISPLAY_VARIABLES)


def start_node(
    context: LaunchContext,
    package: str,
    executable: str,
    *,
    name: Optional[str] = None,
    namespace: str = '',
    parameters: Sequence[Any] = (),
    remappings: Optional[Dict[str, str]] = None,
    arguments: Sequence[str] = (),
    required: bool = False,
    must_succeed: bool = False,
) -> Node:
    """Return the action that starts a node.

    :param context: context of the launch
    :param package: package of the executable
    :param executable: name of the executable
    :param name: name of the node; None: unchanged
    :param namespace: namespace of the node
    :param parameters: files and dictionaries of parameters; later ones have priority
    :param remappings: new names of topics by their old ones
    :param arguments: arguments of the command line
    :param required: whether the end of the process ends the launch
    :param must_succeed: whether a failure of the process ends the launch
    """
    return Node(
        package=package,
        executable=executable,
        exec_name=executable,  # name of the process in the log, in spite of the prefix
        name=name,
        namespace=namespace,
        output='screen',
        parameters=list(parameters),
        remappings=list((remappings or {}).items()),
        arguments=list(arguments),
        prefix=_ends_with_launch(context),
        on_exit=_end_of_required if required else _end_of_failed if must_succeed else None,
    )


def _ends_with_launch(context: LaunchContext) -> Optional[str]:
    """Return the prefix of a command that Linux ends when the launch is killed."""
    if context.launch_configurations.get('launch-prefix') or not shutil.which('setpriv'):
        return None
    return 'setpriv --pdeathsig TERM'  # background processes of a shell ignore SIGINT


def _end_of_required(event: ProcessExited, context: LaunchContext) -> Optional[List[Action]]:
    """End the launch, with exit code 1 if the process failed.

    :raises RuntimeError: if it failed, the only way to a nonzero exit code of a launch
    """
    if context.is_shutdown:
        return None
    _end_of_failed(event, context)
    return [Shutdown(reason=f'{event.process_name} has ended')]


def _end_of_failed(event: ProcessExited, context: LaunchContext) -> None:
    """End the launch with exit code 1 if the process failed.

    :raises RuntimeError: if it failed, the only way to a nonzero exit code of a launch
    """
    # A shell's Ctrl-C also reaches the node, which may end first.
    if context.is_shutdown or event.returncode in (0, -signal.SIGINT):
        return
    if event.returncode < 0:
        end = f'was ended by {signal.Signals(-event.returncode).name}'
    else:
        end = f'failed with exit code {event.returncode}; the reason is in the output above'
    raise RuntimeError(f'{event.process_name} {end}; the launch ends all other processes')
