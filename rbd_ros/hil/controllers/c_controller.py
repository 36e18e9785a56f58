# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A controller under test that is a function of a shared library, called in this process.

    int control(int64_t joints, double time,
                const double position[], const double velocity[],
                const double desired_position[], const double desired_velocity[],
                const double desired_acceleration[], double torque[]);

or, with `arguments`, a function exported by `rbd_ros codegen`, which takes some of these vectors
and then `double torque[]`, and returns nothing. A crash of the function ends the process.
"""

from __future__ import annotations

import ctypes
from pathlib import Path
import re
import threading
from typing import Any, Dict, List, Mapping

import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.hil.scenario.controller_entry import (
    Callback,
    Controller,
    ControllerFailure,
    ControllerKind,
)
from rbd_ros.hil.scenario.desired import ARRAYS, desired_samples
from rbd_ros.hil.scenario.scenario import Scenario
from rbd_ros.model.extension.fields import Field

_NAME_IN_C = re.compile(r'[A-Za-z_]\w*', re.ASCII)


class CController:
    """Calls a C function; created for each run, which `begin` announces to the library.

    :param scenario: the scenario
    :raises ValueError: if the library or function does not exist
    """

    def __init__(self, scenario: Scenario):
        self._path, name = scenario.controller.words
        options = scenario.controller.options
        try:
            self._library = ctypes.CDLL(self._path)
        except OSError as error:
            raise ValueError(f'controller {self._path}: {error}; give a shared library') from None
        self._desired = desired_samples(scenario.trajectory, scenario.timestep)
        n = self._count = scenario.robot.nv
        # One block, so that the desired motion is one copy; the output is separate.
        self._values: FloatArray = np.zeros(len(ARRAYS) * n)
        self._torque: FloatArray = np.zeros(n)
        places = {name: self._values[k * n :].ctypes.data for k, name in enumerate(ARRAYS)}
        vectors = [places[each] for each in options.get('arguments', ARRAYS)]
        pointers: List[Any] = [ctypes.c_void_p(at) for at in vectors]
        pointers.append(ctypes.c_void_p(self._torque.ctypes.data))
        self._function = self._find(name)
        self._time = ctypes.c_double()
        # The function runs without the GIL on the memory of this object.
        self._mutex = threading.Lock()
        self._arguments = pointers
        self._bare = 'arguments' in options
        if self._bare:
            self._function.restype = None
        else:
            self._function.restype = ctypes.c_int
            self._arguments = [ctypes.c_int64(n), self._time, *pointers]
        if 'begin' in options:
            begin = self._find(options['begin'])
            begin.restype = None
            begin(ctypes.c_int64(n), ctypes.c_double(scenario.timestep))

    def _find(self, name: str) -> Any:
        """Return a function of the library, as a new object."""
        try:
            return self._library[name]
        except AttributeError:
            raise ValueError(
                f'controller {self._path} has no function {name}; export it, in C++ with extern '
                '"C"'
            ) from None

    def __call__(self, time: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """Return the torques for a state, (n,) [N m, N]; the next call overwrites them.

        :raises ControllerFailure: if the function returns a number other than 0
        """
        n, values = self._count, self._values
        with self._mutex:
            values[:n], values[n : 2 * n], values[2 * n :] = q, v, self._desired.at(time)
            self._torque[:] = np.nan  # detects values that the function does not set
            self._time.value = time
            code = self._function(*self._arguments)
        if code and not self._bare:
            raise ControllerFailure(f'the function in C returned {code} at {time:.6f} s')
        return self._torque


class CKind(ControllerKind):
    """A function of a shared library."""

    example = {'library': 'libcontrol.so', 'function': 'control'}

    def read(self, given: Field, entries: Mapping[str, Field], folder: Path) -> Controller:
        """Return the controller of an entry."""
        entries = given.mapping(['library', 'function'], ['begin', 'arguments'])
        for key in ('function', 'begin'):
            if key in entries and not _NAME_IN_C.fullmatch(entries[key].name()):
                raise entries[key].error(
                    'it is not a valid name in C; give the name of a function, such as control'
                )
        options: Dict[str, Any] = {}
        if 'begin' in entries:
            options['begin'] = entries['begin'].name()
        if 'arguments' in entries:
            fields = entries['arguments'].sequence()
            options['arguments'] = tuple(each.choice(ARRAYS) for each in fields)
            if not fields:
                raise entries['arguments'].error(
                    f'the list is empty; give some of {", ".join(ARRAYS)}'
                )
        library = str((folder / entries['library'].name()).resolve())
        return Controller('c', (library, entries['function'].name()), options)

    def make(self, scenario: Scenario) -> Callback:
        """Create the controller."""
        return CController(scenario)


KIND = CKind()
