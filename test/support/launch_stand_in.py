# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Stand-in for the parts of launch and launch_ros that rbd_ros.launching uses.

They are not on PyPI. Declared arguments of launch files, and the resulting nodes, can be tested
with it. It starts no process.
"""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace


class LaunchContext:
    """Launch arguments by name, with defaults for missing ones."""

    def __init__(self, argv=()):
        self.argv = list(argv)
        self.launch_configurations = {}
        self.is_shutdown = False


class LaunchDescription:
    """Entities in their order."""

    def __init__(self, entities):
        self.entities = list(entities)


class Action:
    """Action of a launch."""

    def __init__(self, **options):
        self.options = options

    def execute(self, context):
        return None


class DeclareLaunchArgument(Action):
    """One argument."""

    def __init__(self, name, *, default_value, description):
        super().__init__()
        self.name, self.default_value, self.description = name, default_value, description

    def execute(self, context):
        context.launch_configurations.setdefault(self.name, self.default_value)


class OpaqueFunction(Action):
    """A function that is called when the arguments are known."""

    def execute(self, context):
        return self.options['function'](context)


class LogInfo(Action):
    """A line of the log."""


class Shutdown(Action):
    """The end of the launch."""


class Node(Action):
    """A process."""


class PackageNotFoundError(KeyError):
    """No such package."""


def get_package_prefix(package):
    """Raise the error of a missing package: none is installed."""
    raise PackageNotFoundError(package)


def install():
    """Make the modules importable."""
    actions = {
        kind.__name__: kind for kind in (DeclareLaunchArgument, LogInfo, OpaqueFunction, Shutdown)
    }
    names = {
        'launch': {
            'Action': Action,
            'LaunchContext': LaunchContext,
            'LaunchDescription': LaunchDescription,
        },
        'launch.actions': actions,
        'launch.events': {},
        'launch.events.process': {'ProcessExited': SimpleNamespace},
        'launch.logging': {'launch_config': SimpleNamespace(log_dir='.')},
        'launch_ros': {},
        'launch_ros.actions': {'Node': Node},
    }
    if 'ament_index_python' not in sys.modules:
        names['ament_index_python'] = {}
        names['ament_index_python.packages'] = {
            'get_package_prefix': get_package_prefix,
            'PackageNotFoundError': PackageNotFoundError,
        }
    for name, content in names.items():
        module = sys.modules[name] = ModuleType(name)
        vars(module).update(content)
        parent, _, child = name.rpartition('.')
        if parent:
            setattr(sys.modules[parent], child, module)
