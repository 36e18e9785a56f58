# SPDX-License-Identifier: Apache-2.0
"""Entry of the controller under test in a scenario: kinds of controllers, and their keys."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
import re
from typing import Any, Dict, Mapping, Tuple

from rbd_ros.hil.scenario.desired import ARRAYS
from rbd_ros.hil.update_rate import MAX_UPDATE_RATE
from rbd_ros.model.extension.extension_document import Item, Number
from rbd_ros.model.extension.fields import Field

#: Ways to say what the controller under test is.
CONTROLLERS = ('python', 'c', 'fmu', 'udp', 'command', 'launch')
#: Those that run in the process of the bench.
IN_PROCESS = ('python', 'c', 'fmu')
#: Those that are processes and talk ROS.
OVER_ROS = ('command', 'launch')
#: What is the answer to a state: the command with its stamp, or the next one, whatever its stamp.
BY_STAMP, BY_ORDER = 'stamp', 'order'

_PROCESS_KEYS = ('keep', 'answers', 'update_rate')
ADDRESS = '127.0.0.1'
#: Vectors that the names of variables of an FMU are patterns for.
PATTERNS = (*ARRAYS, 'effort')
_NAME_IN_C = re.compile(r'[A-Za-z_]\w*', re.ASCII)


@dataclass(frozen=True)
class Controller:
    """The controller under test.

    :param kind: one of `CONTROLLERS`: 'python', a callable in this process; 'c', a function of a
        shared library; 'fmu', an FMU; 'udp', a process behind packets; 'command', a process;
        'launch', a launch file; the last two talk ROS
    :param words: name of the callable; library and function; path of the FMU; words of the
        command, none if somebody else starts it; file and arguments
    :param options: for the callable; what else the other kinds say
    """

    kind: str
    words: Tuple[str, ...]
    options: Mapping[str, Any]


def read_controller(field: Field, folder: Path) -> Controller:
    """Return the controller of a scenario.

    :param field: what stands under `controller`
    :param folder: that of the file, which paths start from
    :raises ModelError: for whatever is wrong with it, naming file, line, key and cure
    """
    entries = field.mapping((), [*CONTROLLERS, 'options', *_PROCESS_KEYS])
    kinds = [name for name in CONTROLLERS if name in entries]
    if len(kinds) != 1:
        raise field.error(f'give one of {", ".join(CONTROLLERS)}; got {len(kinds)} of them')
    (kind,) = kinds
    given = entries[kind]
    if 'options' in entries and kind != 'python':
        raise entries['options'].error(
            'options apply to python only; give arguments as words of the command'
        )
    for name in _PROCESS_KEYS:
        if name in entries and kind not in OVER_ROS:
            raise entries[name].error(f'{name} is for {" and ".join(OVER_ROS)}; leave it out')
    if kind == 'python':
        return _python(given, entries, folder)
    if kind == 'c':
        return _c(given, folder)
    if kind == 'fmu':
        path, options = read_fmu(given, folder, PATTERNS)
        return Controller(kind, (path,), options)
    if kind == 'udp':
        return _udp(given, folder)
    options = {}
    if 'keep' in entries and entries['keep'].boolean():
        options['keep'] = True
    if 'answers' in entries and entries['answers'].choice((BY_STAMP, BY_ORDER)) == BY_ORDER:
        options['answers'] = BY_ORDER
    if 'update_rate' in entries:
        options['update_rate'] = _update_rate(entries['update_rate'], options)
    return Controller(kind, _words(given), options)


def _python(given: Field, entries: Mapping[str, Field], folder: Path) -> Controller:
    name = given.name()
    if name.count(':') != 1:
        raise given.error('give module:name, or file.py:name')
    module, attribute = name.split(':')
    if module.endswith('.py'):
        name = f'{(folder / module).resolve()}:{attribute}'
    options: Dict[str, Any] = {}
    if 'options' in entries:
        options = {
            name: _plain(each.item) for name, each in entries['options'].mapping((), None).items()
        }
    return Controller('python', (name,), options)


def _c(given: Field, folder: Path) -> Controller:
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


def _udp(given: Field, folder: Path) -> Controller:
    entries = given.mapping(['port'], ['address', 'command'])
    port = entries['port'].number()
    if port != int(port) or not 1 <= port <= 65535:
        raise entries['port'].error(
            f'{port:g} is not a valid port; give a whole number up to 65535'
        )
    words: Tuple[str, ...] = ()
    if 'command' in entries:
        words = _words(entries['command'])
        if (folder / words[0]).is_file():
            words = (str((folder / words[0]).resolve()), *words[1:])
    address = entries['address'].name() if 'address' in entries else ADDRESS
    return Controller('udp', words, {'address': address, 'port': int(port)})


def read_fmu(
    given: Field, folder: Path, patterns: Tuple[str, ...]
) -> Tuple[str, Mapping[str, Any]]:
    """Return the path of an FMU, and what is known of its variables.

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


def _update_rate(given: Field, options: Mapping[str, Any]) -> int:
    """Return the rate of a controller_manager [Hz]."""
    if options.get('answers') != BY_ORDER:
        raise given.error('update_rate needs answers in order; add "answers: order"')
    if 'keep' in options:
        raise given.error('a controller_manager cannot be restarted between runs; leave out keep')
    rate = given.number()
    if rate != int(rate) or not 1 <= rate <= MAX_UPDATE_RATE:
        raise given.error(f'{rate:g} is not a valid rate; give a whole number of Hz')
    return int(rate)


def _words(given: Field) -> Tuple[str, ...]:
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


def _plain(item: Item) -> Any:
    """Return the value of an item as Python's own."""
    value = item.value
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return float(value) if isinstance(value, Number) else value
