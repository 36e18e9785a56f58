# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A plant that is a Python object, such as another simulator, created by a function."""

from __future__ import annotations

from pathlib import Path
from typing import Any, List, Mapping

import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.hil.plants.plant import Plant, PlantEntry, PlantFailure, PlantKind
from rbd_ros.hil.scenario.factories import Factories, read_options
from rbd_ros.model.extension.fields import Field
from rbd_ros.robot import Robot

#: Factories of plants; those of other packages are entry points of this group.
FACTORIES = Factories('plant', 'rbd_ros.plants')


class PythonPlant:
    """Wraps a plant, converts its exceptions, and checks its state."""

    def __init__(self, plant: Plant):
        self._plant = plant
        self.model, self.state = plant.model, plant.state
        self.allow_friction, self.reset = plant.allow_friction, plant.reset

    def step(self, torque: FloatArray) -> None:
        """Take a step."""
        try:
            self._plant.step(torque)
        except PlantFailure:
            raise
        except Exception as error:  # a plant may raise anything
            raise PlantFailure(f'{type(error).__name__}: {error}') from error
        if not (np.isfinite(self.state.q).all() and np.isfinite(self.state.v).all()):
            raise PlantFailure('the state of the plant is not finite')


class PythonPlantKind(PlantKind):
    """An object in this process."""

    keys = ('options',)
    example = 'my_package.my_plant:make'

    def read(self, given: Field, entries: Mapping[str, Field], folder: Path) -> PlantEntry:
        """Return the plant of an entry."""
        return PlantEntry('python', FACTORIES.read(given, folder), read_options(entries))

    def make(self, entry: PlantEntry, robot: Robot, timestep: float) -> Plant:
        """Create the plant."""
        made: Any = FACTORIES.make(entry.name, robot, timestep, **entry.options)
        if not isinstance(made, Plant):
            raise ValueError(
                f'plant {entry.name} returned a {type(made).__name__}, which lacks methods of '
                f'{Plant.__module__}.Plant; derive its class from ArrayPlant there'
            )
        return PythonPlant(made)

    def files(self, entry: PlantEntry) -> List[str]:
        """Return the file of the function."""
        return FACTORIES.files(entry.name)


KIND = PythonPlantKind()
