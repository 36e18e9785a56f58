# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Loops as C99: each construct behaves in C as in the interpreter, without warnings."""

import ctypes
import shutil
import subprocess
from typing import NamedTuple, Tuple

import numpy as np
import pytest
from support import outside
from test_loop_language import arguments, bits, EXAMPLES, make_data

from rbd_ros.compiler.loops import call_kernel, compiled
from rbd_ros.compiler.targets.c99_loops import loop_module

COMPILERS = [name for name in ('gcc', 'clang') if shutil.which(name)]
STRICT = ['-std=c99', '-Wall', '-Wextra', '-Wpedantic', '-Werror']
HEAD = '#include <math.h>\n#include <stdbool.h>\n#include <stdint.h>\n'

pytestmark = outside.needs('gcc or clang')


def build(folder, function, record, numbers=(), constants=(), kernels=None, compiler=None):
    """Return the function of C that takes the address of a struct and numbers.

    Its layout of arrays.
    """
    known = kernels or {}
    module = loop_module([(function, numbers)], record, constants, lambda k: known[k][0])
    names = {int: 'int64_t', float: 'double'}
    given = ''.join(f', {names[kind]} n{k}' for k, kind in enumerate(numbers))
    passed = ''.join(f', n{k}' for k in range(len(numbers)))
    struct = f'struct {module.record}'
    places = [f'case {k}: return w->{place};' for k, place in enumerate(module.places.values())]
    text = '\n'.join(
        [
            HEAD,
            module.structs,
            *(text for _, text in known.values()),
            module.source,
            f'int64_t go({struct} *w{given});\nvoid *place({struct} *w, int k);\nlong size(void);',
            f'int64_t go({struct} *w{given}) {{ return {module.entries[0]}(w{passed}); }}',
            f'long size(void) {{ return (long)sizeof({struct}); }}',
            f'void *place({struct} *w, int k) {{ switch (k) {{ {" ".join(places)} }} return w; }}',
            '',
        ]
    )
    source, target = folder / 'it.c', folder / 'it.so'
    source.write_text(text, encoding='utf-8')
    command = [compiler or COMPILERS[0], *STRICT, '-O2', '-fwrapv', '-ffp-contract=off']
    subprocess.run([*command, '-shared', '-fPIC', '-o', target, source, '-lm'], check=True)
    library = ctypes.CDLL(str(target))
    library.go.restype, library.size.restype = ctypes.c_int64, ctypes.c_long
    library.place.restype = ctypes.c_void_p
    memory = ctypes.create_string_buffer(library.size())
    kinds = {int: ctypes.c_int64, float: ctypes.c_double}
    library.go.argtypes = [ctypes.c_void_p, *(kinds[each] for each in numbers)]

    def call(arrays, *given):
        """Copy arrays, by their names, into the struct, run, and copy them back."""
        at = {name: library.place(memory, k) for k, name in enumerate(module.places)}
        for name, array in arrays.items():
            ctypes.memmove(at[name], array.ctypes.data, array.nbytes)
        result = library.go(ctypes.addressof(memory), *given)
        for name, array in arrays.items():
            ctypes.memmove(array.ctypes.data, at[name], array.nbytes)
        return result

    return call, module, text


@pytest.mark.parametrize('compiler', COMPILERS)
@pytest.mark.parametrize('example', EXAMPLES, ids=lambda each: each.__name__)
@pytest.mark.filterwarnings('ignore::RuntimeWarning')
def test_each_construct_agrees_with_the_interpreter(tmp_path, example, compiler):
    mine, its = make_data(0), make_data(0)
    kinds = (float, float, int, int)
    call, _, _ = build(tmp_path, example.function, its, kinds, compiler=compiler)
    arrays = {name: getattr(its, name) for name in its._fields[:6]}
    arrays['inner.weights'] = its.inner.weights
    for seed, given in enumerate(arguments()):
        for data in (mine, its):
            for array, fresh in zip(data[:6], make_data(seed)[:6]):
                array[:] = fresh
        expected = example.function(mine, *given)
        assert call(arrays, *given) == expected, given
        assert bits(its) == bits(mine), given


class Table(NamedTuple):
    weights: np.ndarray
    address: int
    enabled: bool


class Work(NamedTuple):
    """Record of the functions below.

    :param table: constants
    :param whole: memory of the next two
    :param first: a part of it, (2,)
    :param second: the rest, (3,)
    :param count: integers, (2,)
    :param empty: nothing, (0,)
    """

    table: Table
    whole: np.ndarray
    first: np.ndarray
    second: np.ndarray
    count: np.ndarray
    empty: np.ndarray


def make_work(enabled=True):
    whole = np.zeros(5)
    table = Table(np.array([0.5, np.inf, -np.inf]), 77, enabled)
    count = np.zeros(2, dtype=np.int64)
    return Work(table, whole, whole[:2], whole[2:], count, np.zeros(0))


@compiled
def next_number(work: Work) -> int:
    """Return how often it has been asked."""
    work.count[0] += 1
    return work.count[0]


@compiled
def numbers_in_order(work: Work) -> int:
    """Return a number that depends on the order of evaluation, from left to right."""
    whole = work.whole
    whole[0] = work.count[0] + 10 * next_number(work)
    whole[1] = next_number(work) - 10 * next_number(work) + 100 * work.count[0]
    whole[2] = min(next_number(work), work.count[0]) + work.table.weights[0]
    whole[next_number(work) - 1] += next_number(work)
    whole[next_number(work) - 4] = next_number(work)
    whole[work.count[0] - 7] += next_number(work)
    whole[4] -= 2.0 if next_number(work) < work.count[0] < next_number(work) else 0.5
    work.count[1] = work.count[0] < next_number(work) < next_number(work) + work.count[0] - 1
    work.count[0] -= 4
    if work.count[0] > 100 and next_number(work) + work.count[0] > 3:
        return 1
    if work.count[0] > 1 and next_number(work) + work.count[0] > 3:
        whole[4] = next_number(work) if work.count[0] > 0 else -1
    work.count[0] += next_number(work)
    for i in range(len(work.empty)):
        work.empty[i] = 1.0
    while next_number(work) + work.count[0] < 40:
        work.count[1] += 1
    return next_number(work) * 2


@pytest.mark.parametrize('compiler', COMPILERS)
def test_operands_are_evaluated_from_left_to_right(tmp_path, compiler):
    mine, its = make_work(), make_work()
    call, module, _ = build(
        tmp_path, numbers_in_order, its, constants=['table'], compiler=compiler
    )
    expected = numbers_in_order(mine)
    assert call({'whole': its.whole, 'count': its.count}) == expected
    assert its.whole.tolist() == mine.whole.tolist()
    assert its.count.tolist() == mine.count.tolist()
    # Parts of a memory are parts in C, too.
    assert module.places['second'] == 'whole + 2'


class Spelling(NamedTuple):
    """Record of the next function.

    :param x: numbers, (3,)
    :param out: results, (9,)
    :param whole: integers, (9,)
    :param part: all of `out` under another name, as where other parts of a memory are empty
    """

    x: np.ndarray
    out: np.ndarray
    whole: np.ndarray
    part: np.ndarray


@compiled
def within(a: float, b: float) -> Tuple[float, float]:
    """Return two numbers, of which C makes a structure."""
    return a - b, a + b


@compiled
def operands_in_parentheses(data: Spelling, i: int, j: int) -> int:
    """Return the expressions that mean something else without their parentheses."""
    out, x = data.out, data.x
    a, b, c = x[0], x[1], x[2]
    out[0], out[1], out[2] = a - (b - c), a / (b / c), a / (b * c)
    out[3], out[4], out[5] = a * (b / c), a - (b + c), -(a - b)
    out[6] = (a - b) * (c - a) + (a if a > b else b) * 2.0
    data.part[7] = a + (b + c)
    whole = data.whole
    whole[0], whole[1], whole[2] = i - (j - 1), (i & j) + 1, i << 1 + 1
    whole[3], whole[4], whole[5] = i // j, i % j, i // (j // 3 + 7)
    whole[6] = not (a < b and b < c)
    # Later operands of `or` and `and` need statements.
    whole[7] = a > 100.0 or within(a, b)[0] < 0.0
    whole[8] = a > 100.0 and within(a, b)[1] < 0.0
    return (i > j) == (a < b)


@pytest.mark.parametrize('compiler', COMPILERS)
@pytest.mark.parametrize(('i', 'j'), [(7, 2), (-7, 3), (7, -3), (-(2**59), -1), (0, 5), (6, 3)])
@pytest.mark.parametrize('x', [(1.1, 2.3, 0.7), (3.3, 0.2, -1.7), (200.0, 0.1, 0.3)])
def test_parentheses_are_where_they_are_needed(tmp_path, compiler, i, j, x):
    mine, its = (
        Spelling(np.array(x), out, np.zeros(9, dtype=np.int64), out[:])
        for out in (np.zeros(9), np.zeros(9))
    )
    call, module, _ = build(tmp_path, operands_in_parentheses, its, (int, int), compiler=compiler)
    expected = operands_in_parentheses(mine, i, j)
    assert call({'x': its.x, 'out': its.out, 'whole': its.whole}, i, j) == expected
    assert its.out.tolist() == mine.out.tolist()
    assert its.whole.tolist() == mine.whole.tolist()
    assert module.places['part'].startswith('out')


@compiled
def quotients(work: Work, i: int, j: int) -> int:
    """Return the divisions at which processors trap."""
    work.count[0], work.count[1] = i // j, i % j
    return 0


@pytest.mark.parametrize(
    ('i', 'j', 'quotient', 'remainder'),
    [(5, 0, 0, 0), (-(2**63), -1, -(2**63), 0), (7, -1, -7, 0)],
)
def test_no_integer_division_ends_the_process(tmp_path, i, j, quotient, remainder):
    work = make_work()
    call, _, _ = build(tmp_path, quotients, work, (int, int), ['table'])
    call({'count': work.count}, i, j)
    assert work.count.tolist() == [quotient, remainder]


@compiled
def kernels_and_constants(work: Work) -> int:
    """Call a kernel, and read constants that no literal of C spells like Python."""
    from_kernel(work)
    for i in range(3):
        if work.table.weights[i] > 1e300:
            work.count[0] = i
        if work.table.weights[i] < -1e300:
            work.count[1] = i
    if work.table.enabled:
        return 3
    return work.table.nothing_of_that_name


@compiled
def from_kernel(work: Work) -> None:
    """Find `second` from `first`."""
    call_kernel(work.table.address, work.first, work.second)


def test_kernels_are_called_by_name_and_constants_are_tables(tmp_path):
    work = make_work()
    work.first[:] = 2.0, 3.0
    body = 'static void twice(const double *in, double *out) { out[0] = 2 * in[1]; }'
    call, module, text = build(
        tmp_path,
        kernels_and_constants,
        work,
        constants=['table'],
        kernels={77: ('twice', body)},
    )
    assert call({'whole': work.whole, 'count': work.count}) == 3
    assert work.second[0] == 6.0 and work.count.tolist() == [1, 2]
    assert module.kernels == (77,)
    assert 'static const double table_weights[3] = {0.5, HUGE_VAL, -HUGE_VAL};' in text


@compiled
def values_nobody_reads(work: Work, a: float) -> int:
    """Give values to variables that have no use in C."""
    table, empty, unread, total = work.table, work.empty, next_number(work), 0.0  # noqa: F841
    for _ in range(2):
        total += a
        last = a  # noqa: F841
    other = 1.0
    if a > 0.0:
        other = next_number(work)  # noqa: F841
    return len(empty) + table.enabled


def test_unread_variables_need_no_warning(tmp_path):
    work = make_work()
    call, _, _ = build(tmp_path, values_nobody_reads, work, (float,), constants=['table'])
    assert call({'count': work.count}, 1.0) == 1
    assert work.count.tolist() == [2, 0]


@compiled
def stores_in_a_constant(work: Work) -> int:
    """Store where nothing may be stored."""
    work.table.weights[0] = 1.0
    return 0


@compiled
def opens_a_file(work: Work) -> int:
    """Call what C does not have."""
    open('file')
    return 0


@compiled
def slices(work: Work) -> int:
    """Take a part that no pointer and shape describe."""
    other = work.whole[1:]
    return len(other)


@compiled
def kernel_of_unknown_address(work: Work) -> int:
    """Call a kernel by a number that is found while it runs."""
    call_kernel(work.count[0], work.first, work.second)
    return 0


@compiled
def reads_what_it_lacks(work: Work) -> int:
    """Read a field that is not there, in a branch that is taken."""
    if not work.table.enabled:
        return work.missing
    return 0


@pytest.mark.parametrize(
    ('function', 'words'),
    [
        (stores_in_a_constant, r'weights\[0\] is constant'),
        (opens_a_file, 'not a number|not written in C'),
        (slices, 'slices are not compiled'),
        (kernel_of_unknown_address, 'address that is a constant'),
        (reads_what_it_lacks, 'no field missing'),
    ],
)
def test_unsupported_constructs_are_rejected_by_file_and_line(function, words):
    enabled = function is not reads_what_it_lacks
    line = function.__code__.co_firstlineno
    where = f'test_c99_loops.py:[0-9]+: in {function.__name__}: '
    with pytest.raises(ValueError, match=f'{where}.*({words})') as error:
        loop_module([(function, ())], make_work(enabled), ['table'], str)
    found = int(str(error.value).split(':')[1])
    assert line < found <= line + 5
