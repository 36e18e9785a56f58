# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Launch arguments become the values that the node takes, or are rejected."""

import pytest

from rbd_ros.nodes.common.node_interface import Parameter

NUMBER = Parameter('number', 1.0, 'A number.', minimum=0.0)
COUNT = Parameter('count', 1, 'A count.', maximum=10)
SWITCH = Parameter('switch', False, 'A switch.')
WORD = Parameter('word', 'a', 'A word.', choices=('a', 'b'))
TEXT = Parameter('text', '', 'A text.')
NUMBERS = Parameter('numbers', (), 'Numbers.')
NAMES = Parameter('names', (), 'Names.', element=str)
VECTOR = Parameter('vector', (0.0, 0.0, 1.0), 'A vector.', length=3)


@pytest.mark.parametrize(
    ('parameter', 'text', 'value'),
    [
        (NUMBER, '2', 2.0),
        (NUMBER, ' 1e-3 ', 1e-3),
        (NUMBER, '.5', 0.5),
        (COUNT, '7', 7),
        (SWITCH, 'true', True),
        (SWITCH, 'True', True),
        (SWITCH, '1', True),
        (SWITCH, 'FALSE', False),
        (SWITCH, '0', False),
        (WORD, 'b', 'b'),
        (TEXT, '12', '12'),
        (TEXT, 'a: b', 'a: b'),
        (TEXT, '""', ''),
        (NUMBERS, '[0.0,-1.57]', (0.0, -1.57)),
        (NUMBERS, '[0.0, -1.57]', (0.0, -1.57)),
        (NUMBERS, '0,1e-3', (0.0, 1e-3)),
        (NUMBERS, ' [ 0 1 2 ] ', (0.0, 1.0, 2.0)),
        (NUMBERS, '3', (3.0,)),
        (NUMBERS, '[]', ()),
        (NAMES, '[elbow, wrist_1]', ('elbow', 'wrist_1')),
        (NAMES, "['1', a b]", ('1', 'a b')),
        (NAMES, 'elbow', ('elbow',)),
        (VECTOR, '[0, 0, -9.81]', (0.0, 0.0, -9.81)),
    ],
)
def test_text_becomes_the_value(machine, parameter, text, value):
    from rbd_ros.launching.arguments import parameter_value

    result = parameter_value(parameter, text)
    assert result == value and type(result) is type(value)


@pytest.mark.parametrize(
    ('parameter', 'text', 'words'),
    [
        (NUMBER, 'fast', ['number', 'a number', 'at least 0', "'fast'"]),
        (NUMBER, 'nan', ['number', "'nan'"]),
        (NUMBER, 'inf', ['number', 'finite']),
        (NUMBER, '-1', ['number', '-1']),
        (COUNT, '1.5', ['count', 'an integer', "'1.5'"]),
        (COUNT, '11', ['count', 'at most 10']),
        (SWITCH, 'maybe', ['switch', 'true or false']),
        (WORD, 'c', ['word', 'a, b', "'c'"]),
        (NUMBERS, '[0, x]', ['numbers', 'a list such as [a, b]', 'a number', "'[0, x]'"]),
        (NUMBERS, '[0, [1]]', ['numbers', 'a list such as [a, b]']),
        (NAMES, '[a, {b: c}]', ['names', 'a list such as [a, b]']),
        (NAMES, '[a, b', ['names', 'a list such as [a, b]']),
        (VECTOR, '0,1', ['vector', '3 elements']),
    ],
)
def test_rejection_names_the_argument_and_its_legal_values(machine, parameter, text, words):
    from rbd_ros.launching.arguments import ArgumentError, parameter_value

    with pytest.raises(ArgumentError) as caught:
        parameter_value(parameter, text)
    message = str(caught.value)
    assert 'launch argument' in message and '\n' not in message
    assert all(word in message for word in words), message
