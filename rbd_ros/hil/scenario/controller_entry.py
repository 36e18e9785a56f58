# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Entry of the controller in a scenario, and the interface of kinds of controllers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import (
    Any,
    Callable,
    ClassVar,
    Dict,
    List,
    Mapping,
    Optional,
    Sequence,
    Tuple,
    TYPE_CHECKING,
)

from rbd_ros.array_types import FloatArray
from rbd_ros.hil.scenario.factories import Kinds
from rbd_ros.model.extension.fields import Field

if TYPE_CHECKING:
    from rbd_ros.hil.bench import Run
    from rbd_ros.hil.report.run_recorder import RunRecorder
    from rbd_ros.hil.scenario.scenario import Scenario

#: A controller: time, positions, velocities; torques.
Callback = Callable[[float, FloatArray, FloatArray], FloatArray]
#: Runs a scenario with a controller process: scenario, folder for files, seed, recorder.
RunAlone = Callable[['Scenario', Path, Optional[int], Optional['RunRecorder']], 'Run']
#: Runs a scenario with a controller process, in parallel to others: scenario, folder for files,
#: seed. It is importable by other processes.
IsolatedRun = Callable[['Scenario', Path, Optional[int]], 'Run']

#: Answer to a state: the command with its stamp, or the next command.
BY_STAMP, BY_ORDER = 'stamp', 'order'
#: Suffixes of files in a command that define a controller. Others may be its output.
SOURCES = ('.py', '.so', '.fmu', '.xml', '.yaml')


class ControllerFailure(RuntimeError):
    """The controller under test failed: it raised, does not answer, or sends invalid answers."""


@dataclass(frozen=True)
class Controller:
    """The controller under test.

    :param kind: one of `CONTROLLERS`
    :param words: name of the callable; library and function; path of the FMU; words of the
        command, empty if it is started separately; file and arguments
    :param options: options of the callable; further entries of other kinds
    """

    kind: str
    words: Tuple[str, ...]
    options: Mapping[str, Any]


class ControllerKind(ABC):
    """A kind of controllers: reads its entry, and runs a scenario with it.

    It is the object `KIND` of a file `<key>_controller.py` in `hil/controllers/`.
    """

    keys: Tuple[str, ...] = ()
    example: Any
    #: Whether it is a process that uses ROS, which `nodes/bench/` runs.
    over_ros: ClassVar[bool] = False

    @abstractmethod
    def read(self, given: Field, entries: Mapping[str, Field], folder: Path) -> Controller:
        """Return the controller of an entry.

        :param given: value of its key
        :param entries: further entries, by `keys`
        :param folder: folder of the file, the base of relative paths
        :raises ModelError: if it is invalid, with file, line, key and cure
        """

    def make(self, scenario: Scenario) -> Callback:
        """Create the controller, in this process.

        :raises ValueError: if it cannot be created
        """
        raise ValueError(
            f'a controller of the kind {scenario.controller.kind} runs in its own process'
        )

    def runner(self) -> Optional[RunAlone]:
        """Return the function that runs a scenario with it; None: the bench, in this process."""
        return None

    def isolated(self, controller: Controller) -> Optional[IsolatedRun]:
        """Return the function for parallel runs; None: in each process of a campaign.

        :raises ValueError: if they are not supported
        """
        return None

    def command(self, controller: Controller) -> Tuple[str, ...]:
        """Return the start command, empty without one."""
        return ()

    def files(self, controller: Controller) -> List[str]:
        """Return the names of files that define its behavior."""
        return list(controller.words[:1])


#: The kinds of controllers, by their key in a scenario.
CONTROLLERS: Kinds[ControllerKind] = Kinds('controller', 'rbd_ros.hil.controllers')


def read_controller(field: Field, folder: Path) -> Controller:
    """Return the controller of a scenario.

    :param field: the entry `controller`
    :param folder: folder of the file, the base of relative paths
    :raises ModelError: if it is invalid, with file, line, key and cure
    """
    name, kind, entries = CONTROLLERS.read(field)
    return kind.read(entries[name], entries, folder)


def read_fmu(
    given: Field, folder: Path, patterns: Tuple[str, ...]
) -> Tuple[str, Mapping[str, Any]]:
    """Return the path of an FMU, and the declared names of its variables.

    :param given: the path, or a mapping with the keys file, variables and parameters
    :param folder: folder of the scenario, the base of the path
    :param patterns: vectors for which `variables` may give names
    :return: path; the mappings 'variables', patterns by vector, and 'parameters', numbers by name
    """
    options: Dict[str, Any] = {'variables': {}, 'parameters': {}}
    file = given
    if isinstance(given.item.value, dict):
        entries = given.mapping(['file'], ['variables', 'parameters'])
        file = entries['file']
        if 'variables' in entries:
            for name, each in entries['variables'].mapping((), patterns).items():
                pattern = each.name()
                if '{joint}' not in pattern and '{index' not in pattern:
                    raise each.error(
                        'the pattern gives all joints the same name; write {joint}, {index} or '
                        '{index1} in it'
                    )
                try:
                    pattern.format(joint='', index=0, index1=1)
                except (KeyError, IndexError, ValueError):
                    raise each.error(
                        'unknown placeholder; use {joint}, {index} or {index1}'
                    ) from None
                options['variables'][name] = pattern
        if 'parameters' in entries:
            options['parameters'] = {
                name: each.number()
                for name, each in entries['parameters'].mapping((), None).items()
            }
    return str((folder / file.name()).resolve()), options


def files_among(words: Sequence[str]) -> List[str]:
    """Return the words of a command that may be files which define its behavior."""
    return [*words[:1], *(each for each in words[1:] if each.endswith(SOURCES))]


def words_of(given: Field) -> Tuple[str, ...]:
    """Return the words of a command: a list, or a text that is split at blanks."""
    if isinstance(given.item.value, list):
        words = tuple(_word(each) for each in given.sequence())
    else:
        words = tuple(given.name().split())
    if not words:
        raise given.error('it is empty; give the words of a command')
    return words


def _word(field: Field) -> str:
    value = field.item.value
    if not isinstance(value, str):
        raise field.error('expected a word; put it in quotes')
    return str(value)
