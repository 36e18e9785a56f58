# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""An FMU in place of the simulated robot: torque in, state out, step by step."""

from __future__ import annotations

from pathlib import Path
from typing import cast, Dict, Mapping, Optional
from weakref import finalize

import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.hil.plants.loaded_fmu import FmuError, Instance, missing, named, open_fmu
from rbd_ros.hil.plants.plant import (
    ArrayPlant,
    Plant,
    PlantEntry,
    PlantFailure,
    PlantJoints,
    PlantKind,
)
from rbd_ros.hil.scenario.controller_entry import read_fmu
from rbd_ros.model.extension.fields import Field
from rbd_ros.robot import Robot
from rbd_ros.robot.wraparound import Wraparound

#: Tolerance of the initial positions to the trajectory's [rad, m].
START_TOLERANCE = 1e-6
#: Vectors with a name pattern in the variables of a plant.
PLANT_PATTERNS = ('position', 'velocity', 'effort', 'start')
DEFAULTS = {name: f'{{joint}}.{name}' for name in ('position', 'velocity', 'effort')}


class FmuPlant(ArrayPlant):
    """An FMU in place of a simulation of the robot.

    Each `reset` creates another instance of the FMU, so runs are independent.

    :param plant: the FMU
    :param robot: joints, their order and their limits
    :param timestep: length of a step [s]
    :raises FmuError: if the FMU cannot be used, or lacks a variable
    """

    def __init__(self, plant: PlantEntry, robot: Robot, timestep: float):
        super().__init__(robot.effort_limits)
        self._declared, self._timestep = plant, timestep
        self._unit = open_fmu(plant.name)
        joints = robot.joint_names
        patterns = plant.options['patterns']
        names = {key: named(pattern, joints) for key, pattern in patterns.items()}
        for key, each in names.items():
            kind = 'input' if key in ('effort', 'start') else 'output'
            if lacking := missing(self._unit, each, kind):
                raise FmuError(
                    f'{plant.name} has no variable {lacking[0]!r}; give its name by variables: '
                    f'{{{key}: ...}}'
                )
        self._names = names
        self._steps = 0
        self._wraparound = Wraparound(robot.position_periods)
        self._open: Optional[Instance] = None

    def reset(self, q: FloatArray, v: Optional[FloatArray] = None, time: float = 0.0) -> None:
        """Reset to rest.

        :param q: positions, (n,) [rad, m]
        :param v: ignored: it begins at rest
        :param time: ignored: it begins at zero
        :raises FmuError: if the FMU rejects it, or begins at another position
        """
        self.close()
        instance = self._open = self._unit.instance()
        self._end = finalize(self, instance.close)
        key = 'start' if 'start' in self._names else 'position'
        values = {
            **dict(zip(self._names[key], q.tolist())),
            **self._declared.options['parameters'],
        }
        instance.begin(values)
        self._input = instance.channel(self._names['effort'])
        self._output = instance.channel([*self._names['position'], *self._names['velocity']])
        self._steps = 0
        self.applied[:] = 0.0
        self._read(instance)
        far = np.abs(self._wraparound(self.q - q))
        if not far.max() <= START_TOLERANCE:
            joint = int(far.argmax())
            raise FmuError(
                f'{self._declared.name}: {self._names["position"][joint]} begins at '
                f'{self.q[joint]:g}, but the trajectory at {q[joint]:g}; name the variables that '
                'set it by variables: {start: ...}, or begin the trajectory there'
            )

    def step(self, torque: FloatArray) -> None:
        """Take a step.

        :param torque: desired torques, saturated at the limits, (n,) [N m, N]
        :raises PlantFailure: if the FMU fails, or its state is not finite
        """
        instance, h = self._open, self._timestep
        if instance is None:
            raise PlantFailure('the FMU is not initialized')
        np.clip(torque, -self.effort, self.effort, out=self.applied)
        self._input.values[:] = self.applied
        try:
            instance.write(self._input)
            instance.step(self._steps * h, h)
            self._steps += 1
            self._read(instance)
        except FmuError as error:
            raise PlantFailure(str(error)) from None
        if not np.isfinite(self._output.values).all():
            raise PlantFailure(f'the state of the FMU is not finite after {self._steps * h:.6f} s')

    def _read(self, instance: Instance) -> None:
        instance.read(self._output)
        n = len(self.q)
        self.q[:], self.v[:] = self._output.values[:n], self._output.values[n:]

    def close(self) -> None:
        """Free the FMU's instance."""
        if self._open is not None:
            self._end()
            self._open = None


class FmuPlantKind(PlantKind):
    """An FMU."""

    example = 'arm.fmu'

    def read(self, given: Field, entries: Mapping[str, Field], folder: Path) -> PlantEntry:
        """Return the plant of an entry."""
        path, options = read_fmu(given, folder, PLANT_PATTERNS)
        patterns = {**DEFAULTS, **options['variables']}
        return PlantEntry('fmu', path, {'patterns': patterns, 'parameters': options['parameters']})

    def make(self, entry: PlantEntry, robot: Robot, timestep: float) -> Plant:
        """Create the plant."""
        return FmuPlant(entry, robot, timestep)

    def joints(self, entry: PlantEntry, field: Field) -> Robot:
        """Return the joints of an FMU, in the order of its efforts."""
        pattern = entry.options['patterns']['effort']
        before, found, after = pattern.partition('{joint}')
        limits: Dict[str, float] = {}
        try:
            if not found:
                raise FmuError(
                    'the pattern of efforts has no {joint}; give robot in addition to plant'
                )
            unit = open_fmu(entry.name)
            for name in unit.names:
                middle = name[len(before) : len(name) - len(after)]
                if name != f'{before}{middle}{after}' or not middle:
                    continue
                effort = unit.variable(name)
                if effort is not None and effort.causality == 'input':
                    limits[middle] = effort.maximum
            if not limits:
                example = pattern.format(joint='JOINT')
                raise FmuError(
                    f'{entry.name} has no input such as {example!r}; give their names by '
                    'variables: {effort: ...}'
                )
        except FmuError as error:
            raise field.error(str(error)) from None
        joints = PlantJoints(Path(entry.name).stem, tuple(limits), np.array(list(limits.values())))
        return cast(Robot, joints)


KIND = FmuPlantKind()
