# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""As much of launch and launch_ros as rbd_ros.launching uses, for machines without them.

They are not on PyPI. What launch files decide can be tested all the same: declared arguments, and
the nodes that follow from what is given. Nothing is ever started.
"""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace


class LaunchContext:
    """Launch arguments by name, as given and then with defaults."""

    def __init__(self, argv=()):
        self.argv = list(argv)
        self.launch_configurations = {}
        self.is_shutdown = False


class LaunchDescription:
    """Entities in their order."""

    def __init__(self, entities):
        self.entities = list(entities)


class Action:
    """Something that a launch does."""

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
    """Find no package: nothing is installed where this stands in."""
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
