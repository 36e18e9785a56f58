# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A controller under test that is a Python function, given by module, file or entry point.

The factory `make(robot, trajectory, timestep, **options)` returns a callable. It receives time
[s], measured positions, (n,), and velocities, (n,), and returns torques, (n,). It may have a
state, but must not use a clock or unseeded random numbers.
"""

from __future__ import annotations

from pathlib import Path
from typing import List, Mapping

from rbd_ros.hil.scenario.controller_entry import Callback, Controller, ControllerKind
from rbd_ros.hil.scenario.factories import Factories, read_options
from rbd_ros.hil.scenario.scenario import Scenario
from rbd_ros.model.extension.fields import Field

#: Factories of controllers; those of other packages are entry points of this group.
FACTORIES = Factories('controller', 'rbd_ros.controllers')


class PythonController(ControllerKind):
    """A callable in this process."""

    keys = ('options',)
    example = 'rbd_ros.hil.controllers:computed_torque'

    def read(self, given: Field, entries: Mapping[str, Field], folder: Path) -> Controller:
        """Return the controller of an entry."""
        return Controller('python', (FACTORIES.read(given, folder),), read_options(entries))

    def make(self, scenario: Scenario) -> Callback:
        """Create the controller."""
        (name,), options = scenario.controller.words, scenario.controller.options
        made: Callback = FACTORIES.make(
            name, scenario.robot, scenario.trajectory, scenario.timestep, **options
        )
        return made

    def files(self, controller: Controller) -> List[str]:
        """Return the file of the function."""
        return FACTORIES.files(*controller.words)


KIND = PythonController()
