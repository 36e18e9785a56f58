# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Compile errors of loops: file, line, function and cure."""

import importlib.util
import logging
from typing import NamedTuple

import numpy as np
import pytest

from rbd_ros.compiler.loops import Record
from rbd_ros.compiler.targets.c99_loops import loop_module
from rbd_ros.compiler.targets.llvm_loops.translation import module_text

HEAD = """
import math
import os
from typing import NamedTuple, Tuple
import numpy as np
from rbd_ros.compiler.loops import compiled, entry_point, load_i64, stack_array, stack_matrix
from rbd_ros.compiler.loops import cross, load_transform, load_vec, Mat, norm, Transform, Vec

NAMES = ['a']

def unmarked(x):
    return x

@compiled
def first_of(x: np.ndarray, factor: float) -> float:
    return x[0] * factor

@compiled
def both(x: float) -> Tuple[float, int]:
    return x, 1

@compiled
def no_annotation(x: float):
    return x

@compiled
def forgets(x: float) -> float:
    if x > 0.0:
        return x

@compiled
def with_default(x: float = 1.0) -> float:
    return x

@compiled
def returns_more(x: float) -> Tuple[float, float]:
    return x, x, x

@compiled
def no_vector(x: float) -> Vec[2]:
    return x, x

@compiled
def of_nothing(x: float) -> None:
    return x

@compiled
def any_number(x: np.ndarray) -> None:
    pass

def made_inside():
    @compiled
    def inner(x: float) -> float:
        return x
    return inner

inside = made_inside()

@entry_point
def top(data: 'Data', x: float, i: int, message: bytes) -> int:
    table, k = data.table, data.k
    y, n, z = 0.0, 0, i > 0
"""


class Data(NamedTuple):
    table: np.ndarray
    k: np.ndarray
    count: int


def data():
    return Data(np.zeros((2, 3)), np.zeros(3, dtype=np.int64), 3)


def record():
    return Record(data())


def as_llvm(top):
    return module_text(top.function, (record().kind,), top.numbers)


def as_c99(top):
    return loop_module([(top.function, (float, int))], data(), [], str)


def made(tmp_path, body, end='    return 0\n', head=HEAD):
    """Return the entry point with some statements, from a separate file.

    And the line where they begin.
    """
    path = tmp_path / 'loops_of_a_user.py'
    text = head + ''.join(f'    {line}\n' for line in body.splitlines()) + end
    path.write_text(text)
    specification = importlib.util.spec_from_file_location('loops_of_a_user', path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module.top, path, head.count('\n') + 1


def error(tmp_path, body, end='    return 0\n', head=HEAD, compile_it=as_llvm):
    top, path, first = made(tmp_path, body, end, head)
    with pytest.raises(ValueError) as caught:
        compile_it(top)
    message = str(caught.value)
    assert message.startswith(f'{path}:')
    line, rest = message[len(f'{path}:') :].split(': in ', 1)
    function, what = rest.split(': ', 1)
    return int(line) - first + 1, function, what


# Statements, the line with the error, and its message.
REJECTED = [
    ('y = [1.0]', 1, 'List ([1.0]) is not compiled'),
    ('y = 1.0\nn = "text"', 2, 'is not a number'),
    ('y = 2\nfor a in table:\n    y = a', 2, 'range(...) and simd_range(...) only'),
    ('for r in range(3):\n    y += r\nelse:\n    y = 1.0', 1, 'else'),
    ('while n < 3:\n    n += 1\nelse:\n    n = 1', 1, 'else'),
    ('for r in range(0, 5, i):\n    y += r', 1, 'step of a range is a literal'),
    ('for r in range(0, 5, 0):\n    y += r', 1, 'step of a range is a literal'),
    ('for r in range(x):\n    y += r', 1, 'must be of type int, not float'),
    ('for r in range(3):\n    for r in range(2):\n        y += r', 2, 'use another name'),
    ('for r, s in range(3):\n    pass', 1, 'target of a for loop must be one variable'),
    ('if i > 0:\n    w = 1.0\ny = w', 3, 'w may have no value here'),
    ('for r in range(i):\n    w = 1.0\ny = w', 3, 'w may have no value here'),
    ('while i > n:\n    w = 1.0\n    n += 1\ny = w', 4, 'w may have no value here'),
    ('while True:\n    if i > 0:\n        break\n    w = 1.0\n    break\ny = w', 6, 'w may have'),
    ('y = later\nlater = 1.0', 1, 'later may have no value here'),
    ('w = table\nw = k', 2, 'cannot become array of int'),
    ('w = table\nw = 1.0', 2, 'cannot become float'),
    ('w = data\nw = data', 1, 'at one place only'),
    ('y = table[i]', 1, 'y is float, and cannot become array'),
    ('y = data', 1, 'y is a record Data, and may be assigned at one place only'),
    ('y = table[x, 0]', 1, 'an index must be an int, not float'),
    ('y = table[z, 0]', 1, 'an index must be an int, not bool'),
    ('w = 0\nw = x\ny = table[w, 0]', 3, 'an index must be an int, not float'),
    ('y = k[-1]', 1, 'write x[len(x) - 1]'),
    ('w = table[0:1]', 1, 'slices are not compiled'),
    ('y = table[0, 1, 2]', 1, '3 indices'),
    ('table[0] = 1.0', 1, 'element by element'),
    ('y = i[0]', 1, 'int has no elements'),
    ('k[0] = x', 1, 'must be of type int, not float; write int(...)'),
    ('k[0] /= 2', 1, 'must be of type int, not float'),
    ('y = data.nothing', 1, 'record Data has no field nothing'),
    ('y = table.size', 1, 'arrays have their shape'),
    ('y = table.shape[i]', 1, 'the index of a tuple must be a literal'),
    ('y = table.shape[2]', 1, 'the index of a tuple must be a literal'),
    ('data.count = 3', 1, 'nothing can be assigned to data.count'),
    ('data.count += 3', 1, 'nothing can be assigned to data.count'),
    ('y, n = x', 1, 'float does not have 2 values'),
    ('y, n = x, i, i', 1, 'does not have 2 values'),
    ('y = unmarked(x)', 1, 'unmarked is unknown to loops; decorate your own functions with @comp'),
    ('y = math.gamma(x)', 1, 'math.gamma is unknown'),
    ('y = os.getpid()', 1, 'os.getpid is not compiled'),
    ('y = NAMES', 1, 'NAMES is neither a variable nor a number'),
    ('y = nowhere', 1, 'nowhere is neither a variable nor a number'),
    ('y = first_of(k, factor=1.0)', 1, 'by position only'),
    ('y = first_of(*k)', 1, 'by position only'),
    ('y = first_of(k)', 1, 'first_of takes 2 arguments'),
    ('y = first_of(k,\n  1.0, 2.0)', 1, 'first_of takes 2 arguments'),
    ('y = first_of(k, k)', 1, 'argument factor of first_of must be a number'),
    ('y = first_of(x, x)', 1, 'argument x of first_of is annotated neither int'),
    ('any_number(i)', 1, 'argument x of any_number is annotated neither int'),
    ('y = no_annotation(x)', 1, 'must be annotated to return'),
    ('y = with_default(x)', 1, 'positional parameters only'),
    ('y = inside(x)', 1, 'not defined at the top level of a file'),
    ('y = any_number(k)', 1, 'y is assigned a call that returns no value'),
    ('y = both(x)', 1, 'y is a (float, int), and may be assigned at one place only'),
    ('y = both(x) + 1', 1, 'must be a number, not (float, int)'),
    ('y = both(x) if z else 1.0', 1, 'must be a number, not (float, int)'),
    ('y = abs(table)', 1, 'the argument of abs must be a number'),
    ('y = abs(x, x)', 1, 'abs takes 1 arguments, got 2'),
    ('y = len(x)', 1, 'float has no length'),
    ('w = stack_array(i)', 1, 'is a literal, 1 or more'),
    ('w = stack_array(0)', 1, 'is a literal, 1 or more'),
    ('w = stack_matrix(2, x)', 1, 'is a literal, 1 or more'),
    ('n = load_i64(i, 3)', 1, 'it takes bytes and an int'),
    ('y = x // 2.0', 1, 'write math.floor(a / b)'),
    ('y = x % 2.0', 1, 'for integers only'),
    ('n = i << i', 1, 'a literal from 0 to 63'),
    ('n = 1 << 64', 1, 'a literal from 0 to 63'),
    ('y = x << 1', 1, 'must be of type int'),
    ('y = x & i', 1, 'bitwise operators need integers'),
    ('y = ~x', 1, 'must be of type int, not float'),
    ('n = i**i', 1, 'literal exponents'),
    ('y = table @ table', 1, 'must be a number'),
    ('y = x @ x', 1, 'operator MatMult is not compiled'),
    ('w = Vec(x, table)', 1, 'a number of a vector must be a number'),
    ('w = Vec(x, x) + Vec(x)', 1, 'Add of Vec[2] and Vec[1] is not compiled'),
    ('w = Vec(x, x) * Vec(x, x)', 1, 'Mult of Vec[2] and Vec[2] is not compiled'),
    ('w = 1.0 / Vec(x, x)', 1, 'Div of float and Vec[2] is not compiled'),
    ('w = Vec(x, x) + x', 1, 'Add of Vec[2] and float is not compiled'),
    ('w = cross(Vec(x, x), Vec(x, x))', 1, 'two vectors of 3, not Vec[2] and Vec[2]'),
    ('y = norm(x)', 1, 'two vectors of one size, not float'),
    ('w = load_vec(table, 3)', 1, 'from an array in one dimension'),
    ('w = load_vec(table[0], i)', 1, 'the size of a vector must be a literal'),
    ('y = (x, x)[i]', 1, 'the index of a tuple must be a literal'),
    ('w = Vec(x, x) if z else Vec(x)', 1, 'the result of a conditional expression must be a nu'),
    ('w = Mat(Vec(x, x), x)', 1, 'the rows of a matrix are vectors of one size'),
    ('w = Mat(Vec(x, x)) @ Vec(x)', 1, 'two vectors of one size, not Vec[2] and Vec[1]'),
    ('w = Mat(Vec(x, x)) @ x', 1, 'MatMult of Mat[1, 2] and float is not compiled'),
    ('w = Transform(x)', 1, 'Transform has 2 fields'),
    ('w = load_transform(table[0]).inverse', 1, 'Transform has no inverse'),
    ('k[i:3] = Vec(x, x)', 1, 'Vec[2] needs x[a:b] with literals and b - a = 2'),
    ('table[0, 1:4] = Vec(x, x)', 1, 'Vec[2] needs x[a:b] with literals and b - a = 2'),
    ('table[0] = Mat(Vec(x, x))', 1, 'array of float with 1 dimensions cannot become Mat[1, 2]'),
    ('table[0, 0] = Vec(x, x)', 1, 'float cannot become Vec[2]'),
    ('k[0] = Vec(x, x)', 1, 'int cannot become Vec[2]'),
    ('w = Vec(x, x)\nw = Vec(x)', 2, 'w is Vec[2], and cannot become Vec[1]'),
    ('z = x is x', 1, 'only <, <=, >, >=, == and !='),
    ('z = x in k', 1, 'only <, <=, >, >=, == and !='),
    ('z = i and z', 1, 'and/or need bools, not int'),
    ('z = z or x', 1, 'and/or need bools, not float'),
    ('if table:\n    y = 1.0', 1, 'a condition must be a number'),
    ('y = (w := 2.0)', 1, 'NamedExpr'),
    ('y = (lambda: 1.0)()', 1, 'is unknown to loops'),
    ('n = 18446744073709551616', 1, 'has more than 64 bits'),
    ('n = 2305843009213693952 * 8', 1, 'has more than 64 bits'),
    ('w: np.ndarray = table', 1, 'annotated as int, float or bool, not np.ndarray'),
    ('w: int = x', 1, 'w must be of type int, not float'),
    ('try:\n    y = 1.0\nfinally:\n    y = 2.0', 1, 'Try is not compiled'),
    ('with x:\n    pass', 1, 'With is not compiled'),
    ('del y', 1, 'Delete is not compiled'),
    ('assert z', 1, 'Assert is not compiled'),
    ('raise ValueError', 1, 'Raise is not compiled'),
    ('y = x\nif z:\n    y = f"{x}"', 3, 'JoinedStr'),
    ('return x', 1, 'the result must be of type int, not float'),
    ('return', 1, 'annotated to return int'),
    ('return None', 1, 'annotated to return int'),
]


@pytest.mark.parametrize(('body', 'line', 'reason'), REJECTED)
def test_an_unsupported_construct_is_rejected_at_its_line(tmp_path, body, line, reason):
    where, function, what = error(tmp_path, body)
    assert (where, function) == (line, 'top')
    assert reason in what


@pytest.mark.parametrize(('body', 'line', 'said'), REJECTED)
def test_a_text_is_rejected_as_c_where_and_why_it_is_as_machine_code(tmp_path, body, line, said):
    head = HEAD.replace(', message: bytes', '')
    where, function, what = error(tmp_path, body, head=head, compile_it=as_c99)
    assert (where, function) == (line, 'top')
    assert said in what


@pytest.mark.parametrize(
    ('signature', 'body', 'said'),
    [
        ('data, x: float', 'return 0', 'must be annotated to return'),
        ('data, x: float', None, 'must be annotated to return int'),
        ('data, x: float = 1.0', 'return 0', 'positional parameters only'),
        ('data, *x', 'return 0', 'positional parameters only'),
        ('data, x: "1 +"', 'return 0', 'SyntaxError: invalid syntax'),
        ('data, x: float', f'y = {"+".join(["x"] * 800)}', 'RecursionError: maximum recursion'),
    ],
)
def test_a_text_that_is_not_an_entry_point_is_rejected_by_file_and_line(
    tmp_path, signature, body, said
):
    path, head = tmp_path / 'odd.py', 'from rbd_ros.compiler.loops import compiled\n'
    result = ' -> None' if body is None else ' -> int' if 'return' not in said else ''
    text = f'\n\n@compiled\ndef top({signature}){result}:\n    {body or "pass"}\n    return 0\n'
    path.write_text(head + text)
    names: dict = {}
    exec(compile(path.read_text(), str(path), 'exec'), names)
    for compile_again in (
        lambda: module_text(names['top'], (record().kind,), ('float',)),
        lambda: loop_module([(names['top'], (float,))], data(), [], str),
    ):
        with pytest.raises(ValueError, match=said) as caught:
            compile_again()
        assert str(caught.value).startswith(f'{path}:4: in top: ')


def test_a_file_that_can_no_longer_be_read_is_named(tmp_path):
    top, path, _ = made(tmp_path, 'y = 1.0')
    line = top.function.__code__.co_firstlineno
    path.write_text('def top(:\n')
    for _ in range(2):
        with pytest.raises(ValueError, match=f'{path}:{line}: in top: (SyntaxError|FileNotFound)'):
            as_llvm(top)
        path.unlink(missing_ok=True)


def test_names_may_be_of_any_alphabet(tmp_path):
    head = HEAD.replace(
        '@entry_point',
        '@compiled\ndef größe(größe: float) -> float:\n    return größe\n\n@entry_point',
    )
    top, _, _ = made(tmp_path, 'ä = größe(x)\nk[0] = int(ä * 2.0)', head=head)
    its = data()
    assert top.bind(Record(its))(1.5, 0, b'') == 0
    assert its.k[0] == 3
    top, _, _ = made(
        tmp_path, 'ä = größe(x)\nk[0] = int(ä * 2.0)', head=head.replace(', message: bytes', '')
    )
    assert as_c99(top).source.isascii()


@pytest.mark.parametrize(
    ('call', 'function', 'text', 'reason'),
    [
        ('y = forgets(x)', 'forgets', '    if x > 0.0:', 'the function can end without a return'),
        ('a, b = returns_more(x)', 'returns_more', 'return x, x, x', 'to return (float, float)'),
        ('w = no_vector(x)', 'no_vector', '-> Vec[2]:\n    return x, x', 'to return Vec[2]'),
        ('of_nothing(x)', 'of_nothing', '-> None:\n    return x', 'annotated to return None'),
    ],
)
def test_an_error_in_a_called_function_is_reported_there(tmp_path, call, function, text, reason):
    where, name, what = error(tmp_path, call)
    line = HEAD[: HEAD.index(text)].count('\n') + text.count('\n') + 1
    assert (where + HEAD.count('\n'), name) == (line, function)
    assert reason in what


def test_an_entry_point_that_ends_without_a_result_is_rejected(tmp_path):
    where, function, what = error(tmp_path, 'if z:\n    return 1', end='')
    assert 'the function can end without a return of type int' in what


def test_a_rejected_function_runs_in_the_interpreter_and_the_reason_is_logged(tmp_path, caplog):
    top, path, first = made(tmp_path, 'names = [i, 2]\nreturn sum(names)')
    with caplog.at_level(logging.WARNING):
        assert top.bind(record())(1.0, 40, b'') == 42
    (logged,) = caplog.records
    assert f'{path}:{first}: in top: List ([i, 2]) is not compiled' in logged.getMessage()


def test_a_file_that_has_changed_since_it_was_imported_is_rejected(tmp_path):
    top, path, _ = made(tmp_path, 'y = 1.0')
    # Another function is where this one was.
    path.write_text(path.read_text().replace('def top(', 'def other('))
    with pytest.raises(ValueError, match='top is not defined at the top level'):
        module_text(top.function, (record().kind,), top.numbers)
