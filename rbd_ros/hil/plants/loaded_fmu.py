# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""FMUs for co-simulation (FMI 2.0 and 3.0), read and loaded by fmpy, run without its overhead.

fmpy is optional: it is imported when a scenario names an FMU. Values are in preallocated arrays; a
step is three calls of the FMU's own functions.
"""

from __future__ import annotations

import ctypes
from multiprocessing.util import Finalize
from pathlib import Path
import shutil
import tempfile
import threading
from typing import Any, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Tuple
import zipfile
import zlib

import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.bounded_files import archive_problem, FileRejectedError, open_regular
from rbd_ros.model.bounded_xml import parse_xml

VERSIONS = ('2', '3')
WARNING = 1  # worse statuses are errors
DOUBLE = ('Real', 'Float64')

#: Maximum size of an FMU, unpacked, and of its description [bytes].
MAX_SIZE = 1 << 30
MAX_UNPACKED = 4 << 30
MAX_DESCRIPTION = 64 << 20
#: Maximum number of elements of the description.
MAX_ELEMENTS = 1_000_000
_DESCRIPTION = 'modelDescription.xml'


class FmuError(ValueError):
    """An unusable or failed FMU; the message gives its name, and the cure."""


def _version(path: str) -> int:
    """Return the major version of FMI.

    :raises FmuError: for an unknown version or another file
    """
    try:
        with open_regular(path, MAX_SIZE) as file, zipfile.ZipFile(file) as archive:
            problem = archive_problem(archive, MAX_UNPACKED)
            if problem:
                raise FmuError(f'{path}: {problem}; export it without unneeded content')
            if archive.getinfo(_DESCRIPTION).file_size > MAX_DESCRIPTION:
                raise FmuError(
                    f'{path}: {_DESCRIPTION} has more than {MAX_DESCRIPTION} bytes; export fewer '
                    'variables'
                )
            root = parse_xml(archive.read(_DESCRIPTION), MAX_ELEMENTS)
    except FmuError:
        raise
    except FileRejectedError as error:
        raise FmuError(str(error)) from None
    except (
        OSError,
        zipfile.BadZipFile,
        zlib.error,
        KeyError,
        ValueError,
        RuntimeError,  # a password
        NotImplementedError,
        EOFError,
    ) as error:
        raise FmuError(f'{path} is not an FMU: {error}') from None
    version = root.get('fmiVersion', 'no version')
    if version[:1] not in VERSIONS:
        raise FmuError(f'{path} has FMI {version}; export it as FMI 2.0 or 3.0')
    return int(version[0])


class FmuVariable(NamedTuple):
    """A double-precision variable of an FMU.

    :param reference: its value reference
    :param causality: 'input', 'output', 'parameter', ...
    :param maximum: maximum value; infinite without one
    """

    name: str
    reference: int
    causality: str
    maximum: float


class LoadedFmu:
    """An FMU, unpacked into a folder that is deleted with this object.

    :param path: path of the archive
    :raises FmuError: if it cannot be used
    """

    def __init__(self, path: str):
        self.path = path
        try:
            import fmpy
        except ImportError:
            raise FmuError(f"{path}: FMUs need fmpy: pip install 'rbd_ros[fmu]'") from None
        self.version = _version(path)
        try:
            self._description: Any = fmpy.read_model_description(path, validate=False)
        except Exception as error:  # fmpy raises any exception for an invalid description
            raise FmuError(f'{path} cannot be read as an FMU: {error}') from None
        if self._description.coSimulation is None:
            raise FmuError(f'{path} does not support co-simulation; export it for co-simulation')
        self._folder = tempfile.mkdtemp(prefix='rbd_ros_fmu_')
        # Processes of multiprocessing do not call weakref.finalize at their end.
        Finalize(self, shutil.rmtree, (self._folder, True), exitpriority=0)
        try:
            fmpy.extract(path, unzipdir=self._folder)
        except Exception as error:  # a damaged member, a name outside of the folder
            raise FmuError(f'{path} cannot be unpacked: {error}') from None
        self._variables: Dict[str, Any] = {
            each.name: each for each in self._description.modelVariables
        }

    @property
    def names(self) -> Tuple[str, ...]:
        """Names of all variables, in the order of the description."""
        return tuple(self._variables)

    def variable(self, name: str) -> Optional[FmuVariable]:
        """Return a variable; None if the name is unknown.

        :raises FmuError: if it is not a double-precision scalar
        """
        found = self._variables.get(name)
        if found is None:
            return None
        if found.type not in DOUBLE or found.dimensions:
            kind = 'an array' if found.dimensions else f'of the type {found.type}'
            raise FmuError(f'{self.path}: {name} is {kind}; it must be one Real or Float64')
        maximum = np.inf if found.max is None else float(found.max)
        return FmuVariable(name, found.valueReference, found.causality, maximum)

    def instance(self) -> Instance:
        """Create an instance; an FMU has only one at a time.

        :raises FmuError: if there is no binary for this machine, or it fails
        """
        from fmpy import fmi2, fmi3

        make = {2: fmi2.FMU2Slave, 3: fmi3.FMU3Slave}[self.version]
        identifier = self._description.coSimulation.modelIdentifier
        try:
            slave = make(
                instanceName='rbd_ros',
                guid=self._description.guid,
                modelIdentifier=identifier,
                unzipDirectory=self._folder,
            )
        except Exception as error:  # fmpy has no specific exceptions for these
            raise FmuError(
                f'{self.path} cannot be loaded: {error} If it has sources: python -m fmpy compile '
                f'{self.path}'
            ) from None
        return Instance(self, slave)


class Instance:
    """One instance of an FMU.

    :param unit: its FMU
    :param slave: fmpy's object, loaded
    :raises FmuError: if it fails
    """

    def __init__(self, unit: LoadedFmu, slave: Any):
        self._unit, self._slave, self._last_message = unit, slave, ''
        # The functions run without the GIL, and FMI allows one thread at a time.
        self._mutex = threading.RLock()
        self._library = slave.dll
        try:
            if unit.version == 3:
                slave.instantiate(loggingOn=True, logMessage=self._log)
            else:
                slave.instantiate(loggingOn=True, callbacks=self._callbacks())
        except Exception as error:
            slave.freeLibrary()
            raise FmuError(f'{unit.path}: {error}{self._reason()}') from None
        self._component = ctypes.c_void_p(slave.component)
        prefix = f'fmi{unit.version}'
        kind = 'Real' if unit.version == 2 else 'Float64'
        self._get, self._set, self._do = (
            self._function(f'{prefix}{name}') for name in (f'Get{kind}', f'Set{kind}', 'DoStep')
        )
        self._time, self._size = ctypes.c_double(), ctypes.c_double()
        self._flags = [ctypes.c_bool() for _ in range(3)]
        self._reached = ctypes.c_double()
        step: List[Any] = [self._component, self._time, self._size]
        if unit.version == 2:
            step.append(ctypes.c_int(1))
        else:
            step.append(ctypes.c_bool(True))
            step += [ctypes.byref(each) for each in self._flags]
            step.append(ctypes.byref(self._reached))
        self._step = step

    def _function(self, name: str) -> Any:
        # A subscript creates a new object, without the argument types of fmpy, whose conversion
        # would cost time in each call.
        function = self._library[name]
        function.restype = ctypes.c_int
        return function

    def _log(self, environment: Any, status: int, category: bytes, message: bytes) -> None:
        self._last_message = message.decode(errors='replace')

    def _callbacks(self) -> Any:
        """Return the functions that an FMU of version 2 may call."""
        from fmpy import calloc, fmi2, free

        def log(component: Any, name: bytes, status: int, category: bytes, text: bytes) -> None:
            self._last_message = text.decode(errors='replace')

        made = fmi2.fmi2CallbackFunctions()
        made.logger = fmi2.fmi2CallbackLoggerTYPE(log)
        made.allocateMemory = fmi2.fmi2CallbackAllocateMemoryTYPE(calloc)
        made.freeMemory = fmi2.fmi2CallbackFreeMemoryTYPE(free)
        try:
            from fmpy.logging import addLoggerProxy

            addLoggerProxy(ctypes.byref(made))
        except OSError:  # messages then keep their %s
            pass
        return made

    def _reason(self) -> str:
        return f': {self._last_message}' if self._last_message else ''

    def _check(self, what: str, status: int) -> None:
        if status > WARNING:
            name = Path(self._unit.path).name
            raise FmuError(f'{name} rejects {what} (status {status}){self._reason()}')

    def begin(self, values: Mapping[str, float]) -> None:
        """Set initial values, and initialize.

        :param values: values by name
        :raises FmuError: if it rejects them, or a variable does not exist
        """
        try:
            with self._mutex:
                slave = self._opened()
                if self._unit.version == 2:
                    slave.setupExperiment(startTime=0.0)
                for name, value in values.items():
                    channel = self.channel([name])
                    channel.values[:] = value
                    self._check(f'{name} = {value:g}', self._set(*channel.arguments))
                slave.enterInitializationMode()
                slave.exitInitializationMode()
        except FmuError:
            raise
        except Exception as error:  # of fmpy, for a bad status
            raise FmuError(f'{self._unit.path}: {error}{self._reason()}') from None

    def channel(self, names: Iterable[str]) -> Channel:
        """Create a channel for variables.

        :raises FmuError: if a variable does not exist
        """
        references = []
        for name in names:
            found = self._unit.variable(name)
            if found is None:
                raise FmuError(f'{self._unit.path} has no variable {name!r}')
            references.append(found.reference)
        return Channel(self._component, references, self._unit.version == 3)

    def _opened(self) -> Any:
        """Return fmpy's object; the caller holds the mutex.

        :raises FmuError: after `close`
        """
        if self._slave is None:
            raise FmuError(f'{self._unit.path}: the instance is closed; create a new one')
        return self._slave

    def write(self, channel: Channel) -> None:
        """Write the values of a channel to the FMU.

        :raises FmuError: if it rejects them
        """
        with self._mutex:
            self._opened()
            self._check('its inputs', self._set(*channel.arguments))

    def read(self, channel: Channel) -> None:
        """Read the values of a channel from the FMU.

        :raises FmuError: if it fails
        """
        with self._mutex:
            self._opened()
            self._check('its outputs', self._get(*channel.arguments))

    def step(self, time: float, size: float) -> None:
        """Take a step.

        :param time: begin [s]
        :param size: length [s]
        :raises FmuError: if it is not completed
        """
        with self._mutex:
            self._opened()
            self._time.value, self._size.value = time, size
            status = self._do(*self._step)
            if status > WARNING:
                self._check(f'the step from {time:.6f} s', status)
            if self._flags[1]:
                raise FmuError(
                    f'{Path(self._unit.path).name} requested the end of the simulation at '
                    f'{time:.6f} s'
                )

    def close(self) -> None:
        """Free the instance, and the library with its memory."""
        with self._mutex:
            slave, self._slave = self._slave, None
            if slave is not None:
                slave.freeInstance()


class Channel:
    """Values of some variables, at a fixed address.

    :param component: the instance
    :param references: value references, (k,)
    :param counted: whether calls have the number of values, as in FMI 3.0
    """

    def __init__(self, component: Any, references: Sequence[int], counted: bool):
        count = len(references)
        self._references = (ctypes.c_uint32 * max(count, 1))(*references)
        #: The values, (k,)
        self.values: FloatArray = np.zeros(count)
        size, at = ctypes.c_size_t(count), ctypes.c_void_p(self.values.ctypes.data)
        self.arguments = [component, self._references, size, at, *([size] if counted else [])]


_units: Dict[Tuple[str, int, int], LoadedFmu] = {}


def open_fmu(path: str) -> LoadedFmu:
    """Return the FMU at a path, unpacked once for all users.

    :raises FmuError: if it cannot be used
    """
    try:
        facts = Path(path).stat()
    except OSError as error:
        raise FmuError(f'{path}: {error.strerror or error}; give the path of an FMU') from None
    key = (path, facts.st_mtime_ns, facts.st_size)
    if key not in _units:
        _units[key] = LoadedFmu(path)
    return _units[key]


def named(pattern: str, joints: Sequence[str]) -> List[str]:
    """Return the names of the variables of all joints.

    :param pattern: with {joint}, {index} from 0, or {index1} from 1
    """
    return [pattern.format(joint=joint, index=k, index1=k + 1) for k, joint in enumerate(joints)]


def missing(unit: LoadedFmu, names: Sequence[str], causality: str) -> List[str]:
    """Return the names without a variable in an FMU.

    :param causality: required causality of the others: 'input' or 'output'
    :raises FmuError: for another causality
    """
    lacking, other = [], {'input': 'output', 'output': 'input'}[causality]
    for name in names:
        found = unit.variable(name)
        if found is None:
            lacking.append(name)
        elif found.causality == other:
            raise FmuError(f'{unit.path}: {name} is an {other}, but must be an {causality}')
    return lacking
