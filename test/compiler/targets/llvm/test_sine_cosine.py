# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Accuracy of the compiled sine and cosine of kernels, against mpmath."""

import math

import numpy as np
import pytest
from support import fresh_python, outside
from support.small_kernels import kernel

from rbd_ros.compiler.targets.llvm.trigonometry import MAX_ANGLE

mpmath = outside.load('mpmath')
LIMIT = 2.0  # ulp promised; 1.06 is the worst that was found


@pytest.fixture(scope='module')
def sine_cosine():
    """Return the kernel of both functions of one angle."""
    return kernel(lambda x: [x[0].sin(), x[0].cos()], shape=(2,))


def worst_error(angles, results):
    """Return the largest error of sine and cosine [ulp of the true value]."""
    worst = 0.0
    with mpmath.workprec(300):
        for angle, pair in zip(angles.tolist(), results.tolist()):
            for function, value in zip((mpmath.sin, mpmath.cos), pair):
                exact = function(mpmath.mpf(angle))
                ulp = math.ulp(float(exact)) or math.ulp(0.0)
                worst = max(worst, float(abs(mpmath.mpf(value) - exact) / mpmath.mpf(ulp)))
    return worst


def angles_of(kind):
    rng = np.random.default_rng(4)
    if kind == 'everyday':
        return np.concatenate([rng.uniform(-10, 10, 1500), np.linspace(-7, 7, 500)])
    if kind == 'a million':
        return rng.uniform(-1e6, 1e6, 2000)
    if kind == 'odd octants':  # where the reduced angle is largest
        return (rng.integers(-636619, 636619, 3000) + 0.5) * (math.pi / 2)
    if kind == 'beside quarter turns':
        near = np.concatenate([np.arange(-300, 301), rng.integers(-636000, 636000, 500)])
        angle = near * (math.pi / 2)
        return np.concatenate([angle, np.nextafter(angle, np.inf), np.nextafter(angle, -np.inf)])
    if kind == 'tiny':
        return np.ldexp(rng.uniform(-1, 1, 500), rng.integers(-1060, -1, 500))
    if kind == 'subnormal':
        return np.array([0.0, 5e-324, -5e-324, 1e-310, -2.2e-308, 2.0**-1022])
    if kind == 'nearest to quarter turns':
        return np.array([nearest_to_a_zero(exponent) for exponent in range(-60, -4)])
    edge = [MAX_ANGLE, -MAX_ANGLE, np.nextafter(MAX_ANGLE, 0)]
    octants = (rng.integers(0, 3 * 10**14, 1000) + 0.5) * (math.pi / 2)
    return np.concatenate([rng.uniform(-MAX_ANGLE, MAX_ANGLE, 1000), octants, edge])


def nearest_to_a_zero(exponent):
    """Return the double m 2^exponent closest, relative to its size, to a multiple n of pi/2.

    The best m/n are the convergents of the continued fraction of pi/2 2^-exponent.
    """
    with mpmath.workprec(400):
        x = mpmath.pi / 2 * mpmath.mpf(2) ** -exponent
        before, m = 1, int(mpmath.floor(x))
        rest = x - m
        while True:
            x = 1 / rest
            whole = int(mpmath.floor(x))
            rest = x - whole
            before, m, last = m, whole * m + before, m
            if m >= 2**53:
                return math.ldexp(last, exponent)


KINDS = [
    'everyday',
    'a million',
    'odd octants',
    'beside quarter turns',
    'nearest to quarter turns',
    'tiny',
    'subnormal',
    'up to the largest',
]


@pytest.mark.parametrize('kind', KINDS)
def test_error_is_below_two_units_in_the_last_place(sine_cosine, kind):
    angles = angles_of(kind)
    assert worst_error(angles, sine_cosine(angles[:, None])) < LIMIT


@pytest.mark.parametrize('kind', KINDS)
def test_one_angle_and_many_give_the_same_bits(sine_cosine, kind):
    angles = angles_of(kind)[:300]
    one = np.array([sine_cosine(np.array([angle])) for angle in angles])
    np.testing.assert_array_equal(sine_cosine(angles[:, None]), one)


def test_sine_of_a_tiny_angle_is_the_angle(sine_cosine):
    for angle in (1e-9, -1e-200, 5e-324):
        assert sine_cosine(np.array([angle])).tolist() == [angle, 1.0]


def test_sine_is_odd_and_cosine_even_bitwise(sine_cosine):
    angles = angles_of('a million')[:, None]
    np.testing.assert_array_equal(sine_cosine(-angles), sine_cosine(angles) * [-1.0, 1.0])


@pytest.mark.parametrize('angle', [np.nextafter(MAX_ANGLE, np.inf), -1e16, 1e300, np.inf, np.nan])
def test_beyond_the_largest_angle_there_is_no_number(sine_cosine, angle):
    assert np.isnan(sine_cosine(np.array([angle]))).all()
    results = sine_cosine(np.array([[0.5], [angle]] * 10))
    assert np.isnan(results[1::2]).all() and np.isfinite(results[::2]).all()


ON_ANOTHER_PROCESSOR = """
import sys
import numpy as np
from rbd_ros.compiler.runtime.native import simd_lanes
from support.small_kernels import kernel
both = kernel(lambda x: [x[0].sin(), x[0].cos()], shape=(2,))
angles = np.load(sys.argv[1])
results = both(angles[:, None])
assert np.array_equal(results, [both(np.array([angle])) for angle in angles])
np.save(sys.argv[2], results)
print(simd_lanes())
"""


@pytest.mark.parametrize('processor, lanes', [('x86-64', 2), ('x86-64-v3', 4), ('x86-64-v4', 8)])
def test_every_processor_gives_the_same_sines(sine_cosine, tmp_path, processor, lanes):
    angles = np.concatenate([angles_of(kind)[::7] for kind in KINDS])
    np.save(tmp_path / 'angles.npy', angles)
    done = fresh_python.run(
        ON_ANOTHER_PROCESSOR,
        tmp_path / 'angles.npy',
        tmp_path / 'results.npy',
        check=False,
        RBD_ROS_CPU=processor,
    )
    if 'RBD_ROS_CPU is' in done.stderr:
        pytest.skip('this machine cannot stand in for that processor')
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == lanes
    np.testing.assert_array_equal(np.load(tmp_path / 'results.npy'), sine_cosine(angles[:, None]))
