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
    """A package or executable that is needed is not installed; the message says what to do."""


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
    :param cure: what to do if it is missing, for the message; empty: install the package by apt
    :raises MissingError: if it is not there
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
    """Return the version of an installed package by its package.xml; () if it has none."""
    try:
        manifest = Path(get_package_prefix(package), 'share', package, 'package.xml')
        content = ElementTree.fromstring(read_text(manifest, MAX_TEXT))
        text = content.findtext('version') or ''
        return tuple(int(part) for part in text.strip().split('.'))
    except (PackageNotFoundError, OSError, ElementTree.ParseError, ValueError):
        return ()


def require_package(package: str) -> None:
    """Raise an error unless a package is installed.

    :raises MissingError: if it is not there
    """
    if not has_package(package):
        raise MissingError(f'package {package} is not installed: {_apt(package)}')


def _apt(package: str) -> str:
    distribution = os.environ.get('ROS_DISTRO', '$ROS_DISTRO')
    return f'apt install ros-{distribution}-{package.replace("_", "-")}'


def log_folder() -> Path:
    """Return the folder of this launch's log, where a generated file is found and does no harm."""
    return Path(launch.logging.launch_config.log_dir)


def has_display() -> bool:
    """Return whether there is a display to show a window on."""
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
    :param name: name of the node, None to leave it as it is
    :param namespace: namespace of the node
    :param parameters: files and dictionaries of parameters, of which later ones take precedence
    :param remappings: new names of topics by their old ones
    :param arguments: arguments of the command line
    :param required: whether the launch ends when the process does
    :param must_succeed: whether the launch ends when the process fails
    """
    return Node(
        package=package,
        executable=executable,
        exec_name=executable,  # what the log calls the process, in spite of the prefix
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
    """Return the prefix of a command under which Linux ends it when the launch is killed."""
    if context.launch_configurations.get('launch-prefix') or not shutil.which('setpriv'):
        return None
    return 'setpriv --pdeathsig TERM'  # a shell makes what runs in the background ignore SIGINT


def _end_of_required(event: ProcessExited, context: LaunchContext) -> Optional[List[Action]]:
    """End the launch, with exit code 1 if the process failed.

    :raises RuntimeError: if it failed; nothing else gives a launch an exit code other than 0
    """
    if context.is_shutdown:
        return None
    _end_of_failed(event, context)
    return [Shutdown(reason=f'{event.process_name} has ended')]


def _end_of_failed(event: ProcessExited, context: LaunchContext) -> None:
    """End the launch with exit code 1 if the process failed.

    :raises RuntimeError: if it failed; nothing else gives a launch an exit code other than 0
    """
    # A shell's Ctrl-C reaches the node as it does the launch, and may end the node first.
    if context.is_shutdown or event.returncode in (0, -signal.SIGINT):
        return
    if event.returncode < 0:
        end = f'was ended by {signal.Signals(-event.returncode).name}'
    else:
        end = f'failed with exit code {event.returncode}; the reason is in the output above'
    raise RuntimeError(f'{event.process_name} {end}; the launch ends all other processes')
