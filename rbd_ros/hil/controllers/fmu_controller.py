# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A controller under test that is an FMU: one step for each state."""

from __future__ import annotations

from pathlib import Path
from typing import List, Mapping
from weakref import finalize

import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.hil.plants.loaded_fmu import FmuError, missing, named, open_fmu
from rbd_ros.hil.scenario.controller_entry import (
    Callback,
    Controller,
    ControllerFailure,
    ControllerKind,
    read_fmu,
)
from rbd_ros.hil.scenario.desired import ARRAYS, desired_samples
from rbd_ros.hil.scenario.scenario import Scenario
from rbd_ros.model.extension.fields import Field


class FmuController:
    """Writes measured and desired motion to an FMU, advances it, and reads its torques.

    Variable names are those of `named`: by default '<joint>.position' etc., '<joint>.effort'.

    :param scenario: the scenario
    :raises ValueError: if the FMU cannot be used, or lacks a variable
    """

    def __init__(self, scenario: Scenario):
        (path,), options = scenario.controller.words, scenario.controller.options
        joints, self._timestep = scenario.robot.joint_names, scenario.timestep
        unit = open_fmu(path)
        patterns = {
            name: options['variables'].get(name, f'{{joint}}.{name}')
            for name in (*ARRAYS, 'effort')
        }
        efforts = named(patterns['effort'], joints)
        if lacking := missing(unit, efforts, 'output'):
            raise FmuError(f'{path} has no output {lacking[0]!r}, {_cure("effort")}')
        inputs: List[str] = []
        places: List[int] = []  # indices of the inputs in the packet
        for k, name in enumerate(ARRAYS):
            names = named(patterns[name], joints)
            lacking = missing(unit, names, 'input')
            if lacking and (len(lacking) < len(names) or name in options['variables']):
                raise FmuError(f'{path} has no input {lacking[0]!r}, {_cure(name)}')
            if not lacking:
                inputs += names
                places += range(k * len(joints), (k + 1) * len(joints))
        if not inputs:
            first = named(patterns['position'], joints)[0]
            raise FmuError(f'{path} has no input such as {first!r}, {_cure("position")}')
        self._instance = unit.instance()
        finalize(self, self._instance.close)
        self._instance.begin(options['parameters'])
        self._inputs = self._instance.channel(inputs)
        self._outputs = self._instance.channel(efforts)
        self._places = np.array(places, dtype=np.intp)
        self._all: FloatArray = np.zeros(len(ARRAYS) * len(joints))
        self._desired = desired_samples(scenario.trajectory, scenario.timestep)
        self._steps = 0  # taken; the time of the FMU

    def __call__(self, time: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """Return the torques for a state, (n,) [N m, N]; the next call overwrites them.

        :param time: time of the state [s]; a state older than the last one changes nothing
        :raises ControllerFailure: if the FMU fails
        """
        n, values, h = len(q), self._all, self._timestep
        due = round(time / h) + 1
        if due > self._steps:
            values[:n], values[n : 2 * n], values[2 * n :] = q, v, self._desired.at(time)
            np.take(values, self._places, out=self._inputs.values)
            try:
                self._instance.write(self._inputs)
                # A gap of lost states is filled with equal steps.
                for k in range(self._steps, due):
                    self._instance.step(k * h, h)
                self._instance.read(self._outputs)
            except FmuError as error:
                raise ControllerFailure(str(error)) from None
            self._steps = due
        return self._outputs.values


def _cure(name: str) -> str:
    return f'which a controller must have; or give its name by variables: {{{name}: ...}}'


class FmuKind(ControllerKind):
    """An FMU."""

    example = 'controller.fmu'

    def read(self, given: Field, entries: Mapping[str, Field], folder: Path) -> Controller:
        """Return the controller of an entry."""
        path, options = read_fmu(given, folder, (*ARRAYS, 'effort'))
        return Controller('fmu', (path,), options)

    def make(self, scenario: Scenario) -> Callback:
        """Create the controller."""
        return FmuController(scenario)


KIND = FmuKind()
