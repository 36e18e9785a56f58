# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Values of launch arguments, converted and checked before anything starts.

A value of a node's parameter is converted and checked as in the node.
"""

from __future__ import annotations

import math
import os
from pathlib import Path
import re
import sys
from typing import Any, Dict, Iterable, List, Sequence

from launch import LaunchContext
import yaml

from rbd_ros.bounded_files import MAX_TEXT, read_text
from rbd_ros.lookup.worlds import find_world, WorldNotFoundError
from rbd_ros.model.bounded_yaml import load_yaml
from rbd_ros.model.errors import did_you_mean, similar_names
from rbd_ros.nodes.common.node_interface import Parameter

TRUE, FALSE = ('true', '1', 'yes', 'on'), ('false', '0', 'no', 'off')
WORDS = {bool: 'true or false', int: 'an integer', float: 'a number', str: 'a text'}
NAMESPACE = re.compile(r'(/?[A-Za-z_]\w*(/[A-Za-z_]\w*)*)?')
#: Parameter for a world file, which is searched differently from other files.
WORLD = 'world'
TOPIC = re.compile(r'/?[A-Za-z_]\w*(/[A-Za-z_]\w*)*')


class ArgumentError(RuntimeError):
    """An invalid launch argument; the message gives its name and the legal values."""


def parameter_value(parameter: Parameter, text: str) -> Any:
    """Return the value of a parameter from the text of its launch argument.

    Lists may be written with or without brackets: '[0.0, -1.57]', '0.0,-1.57', '0 -1.57'.

    :param parameter: declaration of the parameter
    :param text: text of the argument
    :raises ArgumentError: if the value is not legal
    """
    name = parameter.name
    if parameter.is_list:
        value: Any = [_scalar(parameter, word, text) for word in _words(name, text)]
    else:
        value = _scalar(parameter, text.strip(), text)
    try:
        return parameter.convert(value)
    except ValueError as error:
        raise ArgumentError(f'launch argument {error}') from None


def _scalar(parameter: Parameter, word: str, text: str) -> Any:
    kind = parameter.scalar
    if kind is str:
        return _unquoted(word)
    if kind is bool and word.lower() in TRUE + FALSE:
        return word.lower() in TRUE
    if kind in (int, float):
        try:
            number = kind(word)
        except ValueError:
            number = math.nan
        if number == number:
            return number
    raise ArgumentError(
        f'launch argument {parameter.name} must be {_legal(parameter)}, not {text!r}'
    )


def _legal(parameter: Parameter) -> str:
    words = WORDS[parameter.scalar]
    if parameter.is_list:
        words = f'a list such as [a, b], each {words}'
    return words + (f' ({parameter.range})' if parameter.range else '')


def _words(name: str, text: str) -> List[str]:
    """Return the source text of the elements of a list."""
    inside = text.strip()
    if inside[:1] == '[' and inside[-1:] == ']':
        inside = inside[1:-1]
    if ',' not in inside and '"' not in inside and "'" not in inside:
        return inside.split()
    try:
        words = load_yaml(f'[{inside}]', words=True)
    except yaml.YAMLError:
        words = [None]
    if not all(isinstance(word, str) for word in words):
        raise ArgumentError(f'launch argument {name} must be a list such as [a, b], not {text!r}')
    return words


def _unquoted(text: str) -> str:
    """Return the text without the quotes of an empty text or a number."""
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in '\'"' else text


class Arguments:
    """Launch arguments of one launch file, by name.

    :param context: context of the launch
    :param file_name: name of the launch file
    :param known: names of all declared arguments
    :raises ArgumentError: if the command line has an unknown one
    """

    def __init__(self, context: LaunchContext, file_name: str, known: Iterable[str]):
        self._texts = context.launch_configurations
        self._known = tuple(known)
        # A launch file that is included by another one sees arguments of that one.
        if any(os.path.basename(word) == file_name for word in sys.argv):
            self._check_names(context.argv, file_name)

    def _check_names(self, words: Sequence[str], file_name: str) -> None:
        for name in (word.partition(':=')[0] for word in words if ':=' in word):
            # Arguments of launch itself, such as launch-prefix.
            if name not in self._known and not name.startswith('launch-'):
                raise ArgumentError(
                    f'{file_name} has no argument {name}'
                    + did_you_mean(similar_names(name, self._known))
                    + ' (--show-args lists them)'
                )

    def __getitem__(self, name: str) -> str:
        return self._texts.get(name, '').strip()

    def words(self, name: str) -> List[str]:
        """Return the elements of an argument that is a list of texts.

        :raises ArgumentError: if it is not a list
        """
        return _words(name, self[name])

    def paths(self, name: str) -> List[str]:
        """Return the absolute paths of an argument that is a list of paths.

        :raises ArgumentError: if it is not a list
        """
        return [_absolute(each) for each in self.words(name)]

    def choice(self, name: str, choices: Sequence[str]) -> str:
        """Return the value of an argument that is one of several words.

        :raises ArgumentError: for another value
        """
        if self[name] not in choices:
            raise ArgumentError(
                f'launch argument {name} must be one of {", ".join(choices)}; not {self[name]!r}'
            )
        return self[name]

    def boolean(self, name: str, other: Sequence[str] = ()) -> str:
        """Return the value of an argument that is 'true', 'false', or one of the `other` words.

        :raises ArgumentError: for another value
        """
        word = self[name].lower()
        word = 'true' if word in TRUE else 'false' if word in FALSE else word
        if word not in ('true', 'false', *other):
            legal = ', '.join(['true', 'false', *other])
            raise ArgumentError(
                f'launch argument {name} must be one of {legal}; not {self[name]!r}'
            )
        return word

    def parameters(self, parameters: Iterable[Parameter]) -> Dict[str, Any]:
        """Return the values of parameters given as arguments, by name.

        :param parameters: declarations of the parameters
        :raises ArgumentError: if a value is not legal
        """
        given = {}
        for parameter in parameters:
            if self[parameter.name]:
                value = parameter_value(parameter, self[parameter.name])
                if value == ():
                    raise ArgumentError(
                        f'launch argument {parameter.name} cannot be an empty list: leave it out, '
                        'or write the empty list into the parameter file'
                    )
                given[parameter.name] = self._located(parameter, value)
        return given

    @staticmethod
    def _located(parameter: Parameter, value: Any) -> Any:
        """Return the value with absolute paths, since nodes have another working directory.

        :raises ArgumentError: if the file does not exist
        """
        if parameter.name.endswith('_file'):
            path = _absolute(value)
            if not os.path.isfile(path):
                raise ArgumentError(f'launch argument {parameter.name}: there is no file {path}')
            return path
        if parameter.name == WORLD and not value.startswith('package://'):
            try:
                return str(find_world(value))
            except WorldNotFoundError as error:
                raise ArgumentError(f'launch argument {WORLD}: {error}') from None
        if parameter.name.endswith('_paths'):
            return [_absolute(path) for path in value]
        return list(value) if isinstance(value, tuple) else value

    def parameter_file(self, name: str) -> str:
        """Return the absolute path of the YAML parameter file of argument `name`.

        :raises ArgumentError: if it cannot be read or has no parameters
        """
        path = Path(_absolute(self[name]))
        try:
            content = load_yaml(read_text(path, MAX_TEXT))
        except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
            reason = ' '.join(str(error).split())
            raise ArgumentError(f'launch argument {name}: cannot read {path}: {reason}') from None
        if not _holds_parameters(content):
            raise ArgumentError(
                f'launch argument {name}: {path} is not a parameter file of ROS; add the key '
                'ros__parameters'
            )
        return str(path)

    def namespace(self) -> str:
        """Return the namespace of all nodes, without a slash at the end.

        :raises ArgumentError: if it is invalid
        """
        namespace = self['namespace'].rstrip('/')
        if not NAMESPACE.fullmatch(namespace):
            raise ArgumentError(
                'launch argument namespace must consist of letters, digits, _ and /, and no part '
                f'may start with a digit; not {self["namespace"]!r}'
            )
        return namespace

    def frame_prefix(self) -> str:
        """Return the prefix of the names of all frames.

        :raises ArgumentError: if it is invalid
        """
        prefix = self['frame_prefix']
        # RViz and other tools put a slash between prefix and name.
        if prefix and not prefix.endswith('/'):
            raise ArgumentError(f'launch argument frame_prefix must end with /, not {prefix!r}')
        return prefix

    def clock(self) -> str:
        """Return the topic of simulated time, empty without simulated time.

        :raises ArgumentError: if it is not a valid topic
        """
        topic = self['clock']
        if topic.lower() in FALSE:
            return ''
        if topic.lower() in TRUE:
            return '/clock'
        if not TOPIC.fullmatch(topic):
            raise ArgumentError(
                f'launch argument clock must be a topic such as /clock, or false; not {topic!r}'
            )
        return topic


def _absolute(path: str) -> str:
    return os.path.abspath(os.path.expanduser(path))


def _holds_parameters(content: Any) -> bool:
    return isinstance(content, dict) and any(
        key == 'ros__parameters' or _holds_parameters(value) for key, value in content.items()
    )
