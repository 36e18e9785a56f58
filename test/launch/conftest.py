# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Launch files without processes: their declarations, and the processes that they would start."""

from dataclasses import dataclass, field
import importlib.util
from pathlib import Path
import sys
from typing import Any, Dict, List

import pytest
from support import launch_stand_in

if importlib.util.find_spec('launch_ros') is None:
    launch_stand_in.install()

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Started:
    """A node that a launch file would start."""

    package: str
    executable: str
    name: str
    namespace: str
    files: List[str]
    parameters: Dict[str, Any]
    remappings: Dict[str, str]
    arguments: List[str]
    required: bool
    must_succeed: bool


@dataclass
class Machine:
    """A machine with some ROS packages, for launching files."""

    patch: Any
    folder: Path
    packages: set = field(default_factory=lambda: {'rbd_ros'})
    versions: dict = field(default_factory=dict)

    def description(self, file):
        """Return the launch description of one of the launch files."""
        spec = importlib.util.spec_from_file_location('launch_file', ROOT / 'launch' / file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.generate_launch_description()

    def arguments(self, file):
        """Return the declared arguments by name."""
        from launch.actions import DeclareLaunchArgument

        entities = self.description(file).entities
        return {e.name: e for e in entities if isinstance(e, DeclareLaunchArgument)}

    def launch(self, file, *words, included_by=None):
        """Return the nodes that would be started by a command line, by executable."""
        return {a.executable: a for a in self.every(file, *words, included_by=included_by)}

    def every(self, file, *words, included_by=None):
        """Return all nodes that would be started by a command line."""
        from launch import LaunchContext

        self.patch.setattr(sys, 'argv', ['ros2', 'launch', 'rbd_ros', included_by or file, *words])
        context = LaunchContext(argv=list(words))
        context.launch_configurations.update(word.split(':=', 1) for word in words)
        actions = [entity.execute(context) for entity in self.description(file).entities]
        return [a for a in actions[-1] if isinstance(a, Started)]

    def error_of(self, file, *words):
        """Return the one line by which a command line is rejected."""
        with pytest.raises(RuntimeError) as caught:
            self.launch(file, *words)
        text = str(caught.value)
        assert '\n' not in text
        return text


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """Return a machine on which rbd_ros is built, and nothing else; no display."""
    from rbd_ros.launching import bringup, launch_processes as processes, own_nodes, ros2_control

    def start_node(context, package, executable, **options):
        files = [p for p in options.get('parameters', ()) if not isinstance(p, dict)]
        values = {
            k: v
            for p in options.get('parameters', ())
            if isinstance(p, dict)
            for k, v in p.items()
        }
        return Started(
            package,
            executable,
            options.get('name'),
            options.get('namespace', ''),
            files,
            values,
            options.get('remappings', {}),
            options.get('arguments', []),
            options.get('required', False),
            options.get('must_succeed', False),
        )

    for module in (bringup, own_nodes, ros2_control):
        monkeypatch.setattr(module, 'start_node', start_node)
    made = Machine(monkeypatch, tmp_path)
    for module in (bringup, processes):
        monkeypatch.setattr(module, 'is_installed', lambda package, _: package in made.packages)
    monkeypatch.setattr(processes, 'has_package', lambda package: package in made.packages)
    monkeypatch.setattr(ros2_control, 'package_version', lambda p: made.versions.get(p, ()))
    for name in processes.DISPLAY_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return made
