# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Loop language: each construct behaves in machine code as in the interpreter, bitwise.

Inputs are random numbers and special ones: zeros of both signs, infinities, NaN, minimum and
maximum integers.
"""

import math
from typing import Callable, NamedTuple, Tuple

import numpy as np
import pytest

from rbd_ros.compiler.loops import (
    compiled,
    cross,
    dot,
    entry_point,
    interpreted_reason,
    load_transform,
    load_vec,
    Mat,
    norm,
    Record,
    simd_range,
    stack_array,
    stack_matrix,
    Transform,
    Vec,
)

SIZE = 40
LIMIT, HALF, ON = 3, 0.5, True


class Inner(NamedTuple):
    weights: np.ndarray
    offset: int
    enabled: bool


class Data(NamedTuple):
    """Record of the examples.

    :param out: results, (SIZE,)
    :param whole: results that are integers, (SIZE,)
    :param x: numbers, (5,)
    :param k: integers, (5,)
    :param table: numbers, (3, 4)
    :param cube: numbers, (2, 3, 4)
    """

    out: np.ndarray
    whole: np.ndarray
    x: np.ndarray
    k: np.ndarray
    table: np.ndarray
    cube: np.ndarray
    inner: Inner
    scale: float
    count: int
    flag: bool
    chosen: Callable[[float, float], float]


@compiled
def larger(a: float, b: float) -> float:
    """Return the larger number, twice."""
    return 2.0 * max(a, b)


def make_data(seed: int) -> Data:
    random = np.random.default_rng(seed)
    return Data(
        out=np.zeros(SIZE),
        whole=np.zeros(SIZE, dtype=np.int64),
        x=random.normal(size=5),
        k=random.integers(-9, 9, size=5),
        table=random.normal(size=(3, 4)),
        cube=random.normal(size=(2, 3, 4)),
        scale=float(random.normal()),
        count=int(random.integers(0, 9)),
        flag=True,
        chosen=larger,
        inner=Inner(random.normal(size=4), int(random.integers(0, 4)), False),
    )


@entry_point
def operators_of_floats(data: Data, a: float, b: float, i: int, j: int) -> int:
    """Return the operators of floats, and of floats with integers and bools."""
    i %= 1000  # as any integer that is a float
    out = data.out
    out[0], out[1], out[2] = a + b, a - b, a * b
    out[3] = a / (b * b + 1.0)
    out[4], out[5] = -a, +a
    out[6], out[7], out[8] = abs(a) ** 1, data.x[1] ** 3, data.x[0] ** 10
    out[9], out[10], out[11] = i + a, a - i, i * a
    out[12], out[13] = i / 3, (a < b) + a
    out[14] = 1 - 2 * (a * b + i) - 3.5
    out[15] = a * b + data.x[2]  # not fused
    out[16] = a - b - data.x[3]
    out[17], out[18] = True / 4, data.x[0] / data.x[1]
    out[19] = data.x[3] ** 2 - data.x[4] ** 2
    out[20], out[21], out[22] = abs(data.x[0]) ** 0.3, 2**-1, 3**2.5
    return 0


@entry_point
def operators_of_integers(data: Data, a: float, b: float, i: int, j: int) -> int:
    """Return the operators of integers; divisions round down."""
    out, small = data.whole, j % 7 + 1
    out[0], out[1], out[2] = i + small, i - small, small * LIMIT
    out[3], out[4] = i // small, i % small
    out[5], out[6] = i // -small, i % -small
    out[7], out[8], out[9], out[10] = i // 2, i % 3, i // -7, i % -7
    out[11], out[12], out[13] = i & j, i | j, i ^ j
    out[14], out[15] = ~i, small << 3
    out[16], out[17] = i >> 2, i >> 63
    out[18], out[19] = -small, +i
    out[20], out[21] = small**3, abs(-small) + abs(small)
    out[22] = (i > j) & (small > 3)
    out[23] = (i > j) ^ (small > 3) | (i == j)
    out[24] = i // 1 - i // -1 * (small < 0)
    out[25] = 7 // small + 7 % small + -7 // small + -7 % small
    return 2 * 3 - 4 + (1 + 1) + small


@entry_point
def comparisons(data: Data, a: float, b: float, i: int, j: int) -> int:
    """Return all comparisons, in chains and between types; NaN is unequal to itself."""
    out = data.whole
    out[0], out[1], out[2] = a < b, a <= b, a > b
    out[3], out[4], out[5] = a >= b, a == b, a != b
    out[6], out[7], out[8] = i < j, i <= j, i > j
    out[9], out[10], out[11] = i >= j, i == j, i != j
    out[12], out[13] = a < 1 < b, -1.0 <= a <= b <= 1.0
    out[14], out[15] = data.count < a, a == (i > j)
    out[16], out[17] = a == a, a != a
    out[18], out[19] = not a, not i
    out[20], out[21] = not a < b, (a < b) == (i < j)
    out[22] = 0 <= data.count < 5 != i
    if a:
        out[23] = 1
    if i:
        out[24] = 1
    out[25] = abs(a) < math.inf
    out[26] = (a < b) < (i < j)
    return 0


@entry_point
def choices(data: Data, a: float, b: float, i: int, j: int) -> int:
    """Return the minimum, maximum and conditional expressions, with the order that NaN shows."""
    out = data.out
    out[0], out[1] = min(a, b), max(a, b)
    out[2], out[3] = min(b, a, data.scale), max(b, a, data.scale)
    out[4], out[5] = min(a, 1), max(2, b)
    data.whole[0], data.whole[1] = min(i, j), max(i, j, 3)
    out[6] = a if a < b else b
    out[7] = 1 if a < b else 2.5
    out[8] = a if i < j else (b if a > 0.0 else 7)
    out[9] = (a if i < j else b) + (1.0 if a < 0.0 else -1.0)
    data.whole[2] = 3 if i < 0 else (i < j)
    data.whole[3] = (i < j) if i < 0 else (i > j)
    out[10] = abs(a) + abs(i > j)
    data.whole[4] = LIMIT if ON else 0
    out[11] = min(max(a, -HALF), HALF)
    return 1 if a < b else 0


@compiled
def noted(data: Data, answer: bool) -> bool:
    """Return the answer, and count the calls."""
    data.whole[0] += 1
    return answer


@entry_point
def conditions(data: Data, a: float, b: float, i: int, j: int) -> int:
    """Evaluate nothing of what no longer matters."""
    out, k = data.whole, data.k
    at = j % 7
    out[1] = at < len(k) and k[at] > 0
    out[2] = at >= len(k) or k[at] > 0
    out[3] = noted(data, a < b) and noted(data, i < j)
    out[4] = noted(data, a < b) or noted(data, i < j) or noted(data, True)
    out[5] = noted(data, a < b) and not (noted(data, i < j) or a > 0.0)
    if noted(data, a < 0.0) or noted(data, b < 0.0) and noted(data, i < 0):
        out[6] = 1
    elif a < b:
        out[6] = 2
    elif i < j:
        out[6] = 3
    else:
        out[6] = 4
    if a < 0.0:
        pass
    elif noted(data, b < 0.0):
        out[7] = 5
    cut = False
    for r in range(5):
        cut = cut or k[r] == 3
    out[8] = cut
    return 0 < noted(data, True) < 2


@entry_point
def loops(data: Data, a: float, b: float, i: int, j: int) -> int:
    """Return counts of both kinds of loops with all kinds of ends."""
    out, n = data.whole, data.count
    for r in range(n):
        out[0] = 10 * out[0] + r
    for r in range(2, n):
        out[1] = 10 * out[1] + r
    for r in range(n, -2, -1):
        out[2] = 3 * out[2] + r
    for r in range(0, n, 3):
        out[3] = 10 * out[3] + r
    for r in range(n, 0, -2):
        out[4] = 10 * out[4] + r
    end = n
    for _ in range(end):
        end = 2  # the range is that of the beginning
        out[5] += end
    for r in range(4):
        for c in range(r, 4):
            if c == 2:
                continue
            if r + c == 5:
                break
            out[6] = 7 * out[6] + r - c
    left = n + 6
    while left > 0:
        left -= 1
        if left == 4:
            continue
        out[7] += left * left
        if left == 2:
            break
    rounds = 0
    while True:
        rounds += 1
        if rounds > n:
            found = rounds * rounds
            break
    out[8] = found
    while rounds > 0 and data.k[rounds % 5] < 5:
        rounds -= 1
    out[9] = rounds
    for r in range(5):
        if data.k[r] > 2:
            return r
        r += 100  # changes nothing for the next round
        out[10] += r
    return -1


@entry_point
def variables(data: Data, a: float, b: float, i: int, j: int) -> int:
    """Return the variables of several values, and numbers that become others on the way."""
    out, whole = data.out, data.whole
    total = 0
    for r in range(5):
        total += data.x[r]
    out[0] = total
    count = False
    for r in range(5):
        if data.k[r] > 0:
            count += 1
    whole[0] = count
    p, q = a, b
    p, q = q, p + q
    out[1], out[2] = p, q
    s = t = i
    s += 1
    whole[1], whole[2] = s, t
    whole[3] = whole[4] = out[3] = j
    if a < b:
        chosen = a
    else:
        chosen = 1
    out[4] = chosen
    exact: float = i
    whole[5] = int(exact)
    later: int
    later = 5
    later //= 2
    whole[6] = later
    x = data.x
    x[0], x[1] = x[1], x[0]
    x[2] += x[0]
    x[3] -= x[1] * x[2]
    x[4] *= a
    data.k[0] |= 5
    data.k[data.k[0] & 3] += 1
    rising = 1
    rising *= a
    rising -= 1
    out[5] = rising
    (u, v), w = (a, i), b
    out[6] = u * w - v
    row = data.table[0]
    for r in range(3):
        row[0] += r
        row = data.table[r]
    out[7] = row[0]
    for j in range(3):
        out[8] += j
    out[9] = j
    return whole[0]


@compiled
def both_ways(a: float, n: int) -> Tuple[float, int]:
    """Return two numbers."""
    if a > 0.0:
        return a, n
    return n, a > -1.0


@compiled
def total_of(values: np.ndarray) -> float:
    """Return the sum of an array in one dimension, of either type."""
    total = 0.0
    for r in range(len(values)):
        total += values[r]
    return total


@compiled
def halve(values: np.ndarray, times: int) -> None:
    """Halve the numbers of an array, so many times."""
    if times == 0:
        return
    for r in range(len(values)):
        values[r] *= HALF
    halve(values, times - 1)


@compiled
def halved(n: int) -> float:
    """Return half of a number, in a parameter that becomes a float."""
    n = n * 0.5
    return n


@compiled
def is_large(a: float) -> bool:
    """Return whether a number is large."""
    if a > 1.0:
        return True
    return a < -1.0


@entry_point
def functions(data: Data, a: float, b: float, i: int, j: int) -> int:
    """Return the calls: of functions with several results or none, of themselves.

    With rows and integers.
    """
    out = data.out
    out[0], data.whole[0] = both_ways(a, j % 100)
    first, second = both_ways(data.count, data.k[1])
    out[1] = first * second
    out[2] = total_of(data.x) - total_of(data.k)
    out[3] = total_of(data.cube[1, 2])
    for r in range(3):
        halve(data.table[r], r)
    out[4] = is_large(a) + is_large(i) * 2
    out[5] = both_ways(b, 3)[1]
    out[7] = halved(j % 100)
    pair = both_ways(b, 4)
    out[6] = pair[0]
    return is_large(data.scale)


@entry_point
def arrays(data: Data, a: float, b: float, i: int, j: int) -> int:
    """Return the elements, rows and shapes of arrays in one to three dimensions."""
    table, cube, out = data.table, data.cube, data.out
    rows, columns = table.shape
    for r in range(rows):
        for c in range(columns):
            out[r * columns + c] = table[r, c] + cube[1, r, c] - cube[0][r][c]
    cube[1, 2, 3], cube[0, 1][2] = a, b
    page = cube[1]
    page[0, 1] = page[1][0]
    page[2][1] = -1
    data.whole[0] = len(cube) + 10 * len(cube[0]) + 100 * len(cube[0, 0])
    data.whole[1] = cube.shape[0] * cube.shape[1] * cube[1].shape[1]
    table[data.k[0] % 3, i % 4] += 1
    data.whole[data.k[1] % 5 + 2] = 9
    copied = data.inner.weights
    copied[0] = copied[3]
    return len(data.x)


@entry_point
def room_on_the_stack(data: Data, a: float, b: float, i: int, j: int) -> int:
    """Return the vectors and matrices of a function, once for all rounds of a loop."""
    for r in range(3):
        u, m = stack_array(LIMIT), stack_matrix(2, LIMIT)
        for c in range(LIMIT):
            u[c] = a * c + r
            m[0, c], m[1, c] = u[c], b - c
        data.out[r] = total_of(u) + total_of(m[1]) * m[0, 2]
        data.whole[r] = len(m) + 10 * m.shape[1]
    return 0


@entry_point
def rounds_side_by_side(data: Data, a: float, b: float, i: int, j: int) -> int:
    """Return the rounds that run in vector registers.

    Any number, from anywhere, in an array and onto it.
    """
    out, first, last = data.out, i % 7, SIZE - j % 9
    for k in simd_range(SIZE):
        out[k] = k * a
    for k in simd_range(first, last):
        out[k] -= b * data.cube[0, 1, 2] + out[k]
    for k in simd_range(last, first):
        out[k] = 7.0
    total = 0
    for k in simd_range(last - 1, first, -2):
        data.whole[k] = k - i
        total += k
    return total


@entry_point
def mathematics(data: Data, a: float, b: float, i: int, j: int) -> int:
    """Return the functions of numbers, and what turns them into others."""
    out, whole, x = data.out, data.whole, data.x
    size = min(abs(a), 1e6)
    out[0], out[1] = math.sqrt(size), np.sqrt(size)
    out[2], out[3] = np.floor(a), np.ceil(a)
    out[4], out[5] = math.copysign(x[0], b), np.copysign(a, i)
    out[6], out[7] = math.fabs(a), np.abs(b)
    out[8], out[9], out[10] = math.sin(size), math.cos(size), math.tan(x[0])
    out[11], out[12] = math.asin(1.0 / (1.0 + size)), math.acos(1.0 / (1.0 + size))
    out[13], out[14] = math.atan(a), math.atan2(a, b)
    out[15], out[16] = math.exp(-size), math.log(1.0 + size)
    out[17], out[18], out[19] = math.sinh(x[0]), math.cosh(x[1]), math.tanh(a)
    out[20], out[21] = math.pow(size, 0.3), math.fmod(x[0], 0.1)
    out[22], out[23] = float(i), math.pi * math.inf
    whole[0], whole[1], whole[2] = math.isfinite(a), math.isnan(a), np.isfinite(b)
    whole[3], whole[4], whole[5] = int(x[0] * 9.0), int(i > j), math.floor(x[1] * 9.0)
    whole[6], whole[7], whole[8] = math.ceil(x[2] * 9.0), bool(a), bool(i)
    whole[9], whole[10] = int(i), math.trunc(x[3] * 9.0)
    whole[11] = np.isnan(b)
    return 0


@compiled
def reflected(v: Vec[3], normal: Vec[3]) -> Vec[3]:
    """Return a velocity with the other sign along a direction."""
    return v - 2 * (v @ normal) * normal


@compiled
def turned(v: Vec[2], times: int) -> Vec[2]:
    """Return a vector in the plane, turned by a right angle so many times."""
    for _ in range(times):
        v = Vec(-v[1], v[0])
    return v


@compiled
def asked_once(data: Data, v: Vec[3]) -> Vec[3]:
    """Return a vector, and count the calls."""
    data.whole[3] += 1
    return v


@entry_point
def vectors(data: Data, a: float, b: float, i: int, j: int) -> int:
    """Return vectors of each operator, as arguments, results, variables and rows."""
    out, table, cube = data.out, data.table, data.cube
    u, v = load_vec(data.x, 3), Vec(a, 1, j % 5)
    table[0] = Vec(a, b, i % 100, 1)
    n = cross(u, v)
    out[0], out[1], out[2] = n
    out[3], out[4], out[5] = u + v - n * 0.5
    out[6], out[7], out[8] = -u / (b * b + 1.0) + i % 7 * n
    out[9], out[10], out[11] = u @ v, dot(n, n), norm(u)
    out[12], out[13], out[14] = reflected(u, cross(v, u) / 3)
    total = Vec(0, 0, 0)
    for r in range(3):
        total += load_vec(cube[1, r], 3) * data.x[r]
    cube[0, 1] = Vec(total[0], total[1], total[2], norm(total))
    cube[0, 0], cube[0, 2] = load_vec(cube[0, 2], 4), load_vec(cube[0, 0], 4)
    pair = turned(Vec(a, b), j % 4)
    out[15], out[16] = pair[0], pair[1] * len(pair)
    out[17] = asked_once(data, u) @ cross(asked_once(data, v), asked_once(data, n))
    out[18] = norm(Vec(a, b)) if a > 0.0 and u @ v > 0.0 else norm(v - u)
    out[19], out[20] = turned(pair, 2)
    return 1 if (u - v)[1] > 0.0 else 0


class Placed(NamedTuple):
    """An array with numbers beside it, as a value."""

    size: int
    scale: float
    row: np.ndarray
    inner: Inner
    at: Transform


@compiled
def moved(each: Placed, v: Vec[3]) -> Tuple[Vec[3], int, Mat[2, 2]]:
    """Return a vector where something is, a number and a matrix."""
    scale = each.scale * each.row[0] + each.inner.weights[each.inner.offset]
    return scale * (each.at @ v), each.size + 1, Mat(Vec(scale, 1), Vec(v[each.size], v @ v))


@compiled
def between(a: Transform, b: Transform) -> Transform:
    """Return the second frame in the first one."""
    back = a.rotation.T
    return Transform(back @ b.rotation, back @ (b.position - a.position))


@entry_point
def matrices(data: Data, a: float, b: float, i: int, j: int) -> int:
    """Return matrices, transforms, named tuples, and parts of arrays that they are stored in."""
    out, table = data.out, data.table
    u, k = load_vec(data.x, 3, 1), j % 3
    m = Mat(u, Vec(a, 1, 2), Vec(0, -1, i % 7))
    out[:3] = m @ u
    out[3:6] = m.T @ u
    out[6:9] = (m @ m)[k]
    here = Transform(m, u)
    first = load_transform(out)
    if a > b:
        first = first @ here
    relative = between(here, first)
    out[9:12] = relative.position if i > j else -relative.rotation[1]
    v, n, pair = moved(Placed(k, 2, table[0], data.inner, here), u)
    table[0, 1:4] = v
    out[16:18] = data.x[0] * Vec(a, b)
    out[12] = n + pair[1][0] + pair.T[0] @ Vec(1.0, 2.0)
    data.cube[1] = Mat(load_vec(out, 4), load_vec(out, 4, 2 * k), load_vec(data.x, 4))
    out[13], out[14], out[15] = here.rotation @ Vec(k == 0, k == 1, k == 2)
    return n


@entry_point
def what_is_known(data: Data, a: float, b: float, i: int, j: int) -> int:
    """Return what bools and functions of records decide; the rest is not compiled."""
    inner = data.inner
    if inner.enabled:
        return sum([str(a)])
    if not data.flag or inner.enabled and data.nowhere:
        data.out[0] = 'text'
    elif data.flag and a < b:
        data.out[1] = 1.0
    data.out[2] = a if data.flag else data.nowhere
    data.out[3] = inner.weights[inner.offset] * data.scale + data.count
    open_now = inner.enabled or i < j
    closed = data.flag
    if closed and open_now or not closed and data.nowhere:
        data.out[4] = 1.0
    while inner.enabled:
        data.nowhere()
    data.whole[0] = data.flag + inner.enabled
    data.out[5] = data.chosen(a, 1)
    return 5


EXAMPLES = [
    operators_of_floats,
    operators_of_integers,
    comparisons,
    choices,
    conditions,
    loops,
    variables,
    functions,
    arrays,
    room_on_the_stack,
    rounds_side_by_side,
    mathematics,
    vectors,
    matrices,
    what_is_known,
]
FLOATS = [0.0, -0.0, 1.0, -1.0, 2.5, math.inf, -math.inf, math.nan, 5e-324, 1e300, 1.7e308, -3.7]
INTEGERS = [0, 1, -1, 2, -7, 12, 2**31, -(2**40), 2**53 + 1, 2**62, -(2**62)]


def arguments():
    random = np.random.default_rng(20)
    for a in FLOATS:
        for b in FLOATS:
            yield a, b, *(int(each) for each in random.choice(INTEGERS, 2))
    for _ in range(100):
        i, j = (int(each) for each in random.integers(-20, 20, size=2))
        yield *(float(each) for each in random.normal(size=2)), i, j


def bits(data: Data) -> list:
    """Return all numbers of a record, exactly; NaN has no sign that counts."""
    arrays = [*(each for each in data if isinstance(each, np.ndarray)), data.inner.weights]
    return [np.where(np.isnan(each), 9e99, each).tobytes() for each in arrays]


@pytest.mark.parametrize('example', EXAMPLES, ids=lambda each: each.__name__)
@pytest.mark.filterwarnings('ignore::RuntimeWarning')
def test_each_construct_agrees_with_the_interpreter(example, caplog):
    assert interpreted_reason() is None
    mine, its = make_data(0), make_data(0)
    bound = example.bind(Record(its))
    for seed, given in enumerate(arguments()):
        for data in (mine, its):
            for array, fresh in zip((*data[:6], data.inner.weights), (*make_data(seed)[:6], None)):
                array[:] = array if fresh is None else fresh
        expected = example.function(mine, *given)
        assert bound(*given) == expected, given
        assert bits(its) == bits(mine), given
    assert not caplog.records  # which would tell that it is interpreted


class Quotients(NamedTuple):
    whole: np.ndarray
    out: np.ndarray


@entry_point
def divide(result: Quotients, a: float, b: float, i: int, j: int) -> int:
    """Return all kinds of quotients."""
    result.out[0] = a / b
    result.out[1] = math.sqrt(a)
    result.whole[0], result.whole[1] = i // j, i % j
    return 0


@pytest.mark.parametrize(
    ('a', 'b', 'quotient', 'root'),
    [
        (1.0, 0.0, math.inf, 1.0),
        (-1.0, 0.0, -math.inf, math.nan),
        (0.0, 0.0, math.nan, 0.0),
    ],
)
def test_python_errors_become_infinity_or_nan(a, b, quotient, root):
    result = Quotients(np.zeros(2, dtype=np.int64), np.zeros(2))
    divide.bind(Record(result))(a, b, 1, 1)
    np.testing.assert_array_equal(result.out, [quotient, root])


@pytest.mark.parametrize(
    ('i', 'j', 'quotient', 'remainder'),
    [(5, 0, 0, 0), (-5, 0, 0, 0), (-(2**63), -1, -(2**63), 0), (7, -1, -7, 0)],
)
def test_no_integer_division_ends_the_process(i, j, quotient, remainder):
    result = Quotients(np.zeros(2, dtype=np.int64), np.zeros(2))
    divide.bind(Record(result))(1.0, 1.0, i, j)
    assert result.whole.tolist() == [quotient, remainder]
