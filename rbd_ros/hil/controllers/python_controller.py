# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A controller under test that is a function in Python, by its module, its file or a package.

A controller is made by a factory, `make(robot, trajectory, timestep, **options)`, and is called
with time [s], positions, (n,), and velocities, (n,), as they were measured; it returns torques,
(n,). It may keep a memory, and must not use any clock or unseeded chance.
"""

from __future__ import annotations

from pathlib import Path
from typing import List, Mapping

from rbd_ros.hil.scenario.controller_entry import Callback, Controller, ControllerKind
from rbd_ros.hil.scenario.factories import Factories, read_options
from rbd_ros.hil.scenario.scenario import Scenario
from rbd_ros.model.extension.fields import Field

#: Functions that make controllers; those of other packages are entry points of this group.
FACTORIES = Factories('controller', 'rbd_ros.controllers')


class PythonController(ControllerKind):
    """A callable in this process."""

    keys = ('options',)
    example = 'rbd_ros.hil.controllers:computed_torque'

    def read(self, given: Field, entries: Mapping[str, Field], folder: Path) -> Controller:
        """Return the controller of an entry."""
        return Controller('python', (FACTORIES.read(given, folder),), read_options(entries))

    def make(self, scenario: Scenario) -> Callback:
        """Return the controller, newly made."""
        (name,), options = scenario.controller.words, scenario.controller.options
        made: Callback = FACTORIES.make(
            name, scenario.robot, scenario.trajectory, scenario.timestep, **options
        )
        return made

    def files(self, controller: Controller) -> List[str]:
        """Return the file of the function."""
        return FACTORIES.files(*controller.words)


KIND = PythonController()
