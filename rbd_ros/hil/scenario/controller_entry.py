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
#: Runs a scenario whose controller is a process: scenario, folder for files, seed, recorder.
RunAlone = Callable[['Scenario', Path, Optional[int], Optional['RunRecorder']], 'Run']
#: Runs a scenario whose controller is a process, beside others: scenario, folder for files, seed.
#: A function that other processes can import.
IsolatedRun = Callable[['Scenario', Path, Optional[int]], 'Run']

#: What is the answer to a state: the command with its stamp, or the next one, whatever its stamp.
BY_STAMP, BY_ORDER = 'stamp', 'order'
#: Files among the words of a command that say what a controller does. Others may be its output.
SOURCES = ('.py', '.so', '.fmu', '.xml', '.yaml')


class ControllerFailure(RuntimeError):
    """The controller under test failed: it raised, does not answer, or sends invalid answers."""


@dataclass(frozen=True)
class Controller:
    """The controller under test.

    :param kind: one of `CONTROLLERS`
    :param words: name of the callable; library and function; path of the FMU; words of the
        command, none if somebody else starts it; file and arguments
    :param options: for the callable; what else the other kinds say
    """

    kind: str
    words: Tuple[str, ...]
    options: Mapping[str, Any]


class ControllerKind(ABC):
    """A kind of controllers: how its entry is read, and how a scenario is run with it.

    It is the object `KIND` of a file `<key>_controller.py` in `hil/controllers/`.
    """

    keys: Tuple[str, ...] = ()
    example: Any
    #: Whether it is a process that talks ROS, which `nodes/bench/` runs.
    over_ros: ClassVar[bool] = False

    @abstractmethod
    def read(self, given: Field, entries: Mapping[str, Field], folder: Path) -> Controller:
        """Return the controller of an entry.

        :param given: what stands under its key
        :param entries: what else the entry says, by `keys`
        :param folder: that of the file, which paths start from
        :raises ModelError: for whatever is wrong with it, naming file, line, key and cure
        """

    def make(self, scenario: Scenario) -> Callback:
        """Return the controller, newly made, in this process.

        :raises ValueError: if it cannot be made
        """
        raise ValueError(
            f'a controller of the kind {scenario.controller.kind} runs in its own process'
        )

    def runner(self) -> Optional[RunAlone]:
        """Return what runs a scenario with it; None: the bench, in this process."""
        return None

    def isolated(self, controller: Controller) -> Optional[IsolatedRun]:
        """Return what runs it several times at once; None: in each process of a campaign.

        :raises ValueError: if it cannot
        """
        return None

    def command(self, controller: Controller) -> Tuple[str, ...]:
        """Return the words of the command that starts it, if there is one."""
        return ()

    def files(self, controller: Controller) -> List[str]:
        """Return the names of files that define its behavior."""
        return list(controller.words[:1])


#: The kinds of controllers, by the key of a scenario.
CONTROLLERS: Kinds[ControllerKind] = Kinds('controller', 'rbd_ros.hil.controllers')


def read_controller(field: Field, folder: Path) -> Controller:
    """Return the controller of a scenario.

    :param field: what stands under `controller`
    :param folder: that of the file, which paths start from
    :raises ModelError: for whatever is wrong with it, naming file, line, key and cure
    """
    name, kind, entries = CONTROLLERS.read(field)
    return kind.read(entries[name], entries, folder)


def read_fmu(
    given: Field, folder: Path, patterns: Tuple[str, ...]
) -> Tuple[str, Mapping[str, Any]]:
    """Return the path of an FMU, and the declared names of its variables.

    :param given: the path, or a mapping with the keys file, variables and parameters
    :param folder: that of the scenario, which the path starts from
    :param patterns: vectors that `variables` may give names for
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
    """Return the words of a command: a list, or a text that is cut at blanks."""
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
