# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Consistency of Robot's methods with the declarations of the algorithms."""

import inspect

import numpy as np
import pytest
from support import random_trees
from support.public_functions import public_functions

from rbd_ros import Robot
from rbd_ros.algorithms import catalog
from rbd_ros.algorithms.kinds import UNIFORM

# What other parts of the package use, and oracles: no user's first choice.
INTERNAL = {
    'contact_kinematics',
    'rnea',
}
FUNCTIONS = list(public_functions())


def test_every_method_has_an_algorithm_and_one_only():
    """An algorithm without a method is a file of its own, and called by `Robot.kernel`."""
    found = [function.algorithm.name for function in FUNCTIONS]
    assert len(found) == len(set(found))
    assert set(found) <= set(catalog()) - INTERNAL
    assert INTERNAL <= set(catalog())


@pytest.mark.parametrize('function', FUNCTIONS, ids=lambda f: f.home + f.method.__name__)
def test_arguments_are_those_declared(function):
    declared = function.algorithm
    symbols = [kind.symbol for kind in declared.inputs.values() if kind.symbol in declared.arrays]
    fixed = {'forward'} if function.home.startswith('hybrid') else {'diagonal'}
    expected = [symbol for symbol in symbols if symbol not in fixed]
    if UNIFORM.symbol in expected:  # where random numbers come from, instead of them
        expected = ['rng']
    expected += ['external_forces'] * declared.takes_forces
    assert list(function.arguments) == expected
    (*_, last) = inspect.signature(function.method).parameters.values()
    assert (last.name, last.kind, last.default) == ('out', last.KEYWORD_ONLY, None)


@pytest.mark.parametrize('function', FUNCTIONS, ids=lambda f: f.home + f.method.__name__)
def test_methods_have_documentation(function):
    text = inspect.getdoc(function.method)
    assert text and text[0].isupper() or text.startswith('See ')


@pytest.fixture(scope='module')
def robot():
    return Robot.from_urdf(random_trees.mixed_tree(3), floating_base=True)


def test_results_are_written_to_out(robot):
    rng = np.random.default_rng(3)
    q, v = robot.random_configuration(rng), rng.normal(size=robot.nv)
    out = np.empty(robot.nv)
    assert robot.bias_force(q, v, out=out) is out
    np.testing.assert_array_equal(out, robot.bias_force(q, v))
    H, C = np.empty((7, robot.nv, robot.nv)), np.empty((7, robot.nv))
    result = robot.equations_of_motion(np.tile(q, (7, 1)), v, out=(H, C))
    assert result.H is H and result.C is C
    np.testing.assert_allclose(C[5], out, rtol=1e-12)


def test_a_result_may_go_into_an_argument(robot):
    rng = np.random.default_rng(4)
    q, v, a = robot.random_configuration(rng), *rng.normal(size=(2, robot.nv))
    expected = robot.inverse_dynamics(q, v, a)
    robot.inverse_dynamics(q, v, a, out=a)
    np.testing.assert_array_equal(a, expected)


@pytest.mark.parametrize(
    'bad',
    [
        lambda n: np.empty(n + 1),
        lambda n: np.empty(n, dtype=np.float32),
        lambda n: np.empty((n, 2))[:, 0],
        lambda n: [0.0] * n,
        lambda n: np.empty((1, n)),
    ],
)
def test_a_result_does_not_go_where_it_does_not_fit(robot, bad):
    with pytest.raises(ValueError, match='out for C'):
        robot.bias_force(robot.neutral(), np.zeros(robot.nv), out=bad(robot.nv))


def test_too_few_arrays_for_several_results_are_rejected(robot):
    H = np.empty((robot.nv, robot.nv))
    with pytest.raises(ValueError, match='out must hold 2 arrays'):
        robot.equations_of_motion(robot.neutral(), np.zeros(robot.nv), out=(H,))
