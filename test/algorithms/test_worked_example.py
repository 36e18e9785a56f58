# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The algorithm shown in CONTRIBUTING.md works, as text, as a file and as a function."""

import types

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import random_trees
from support.contributing import shown_in

from rbd_ros import algorithms, Robot
from rbd_ros.algorithms import catalog
from rbd_ros.robot.kernels import declared


@pytest.fixture
def in_the_folder(tmp_path, monkeypatch):
    """Yield the example as a file among the algorithms."""
    (tmp_path / 'base_wrench.py').write_text(shown_in('A new algorithm'), encoding='utf-8')
    monkeypatch.setattr(algorithms, '__path__', [*algorithms.__path__, str(tmp_path)])
    catalog.cache_clear()
    yield
    catalog.cache_clear()


@pytest.fixture
def robot():
    return Robot.from_urdf(random_trees.mixed_tree(4))


def state(robot):
    rng = np.random.default_rng(2)
    return robot.random_configuration(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)


def check(robot, kernel):
    """Check that the base's force is the rate of momentum less the weight."""
    q, v, a = state(robot)
    h = 1e-5

    def momentum(t):
        return robot.momentum(robot.integrate(q, v * t + 0.5 * a * t * t), v + a * t)

    rate = (momentum(h) - momentum(-h)) / (2.0 * h)
    mass = sum(body.inertia.mass for body in robot.model.bodies)
    weight = mass * robot.gravity
    expected = rate - np.r_[np.cross(robot.center_of_mass(q), weight), weight]
    found = kernel.function(q, v, a)
    assert_allclose(found, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())
    rows = kernel.function(np.tile(q, (9, 1)), v, a)
    assert_allclose(rows, np.tile(found, (9, 1)), rtol=1e-12)


def test_a_file_in_the_folder_is_an_algorithm(in_the_folder, robot):
    assert declared('base_wrench').source == 'RBDA 5.3'
    check(robot, robot.kernel('base_wrench'))


def test_a_function_elsewhere_is_an_algorithm(robot):
    module = types.ModuleType('mine')
    exec(compile(shown_in('A new algorithm'), 'CONTRIBUTING.md', 'exec'), module.__dict__)
    check(robot, robot.kernel(module.base_wrench))
    link = robot.link_names[-1]
    q, v, a = state(robot)
    force = np.array([0.1, 0.2, 0.3, 1.0, 2.0, 3.0])
    loaded = robot.kernel(module.base_wrench, forces=(link,)).function(q, v, a, force)
    body = robot.model.link(link).body
    free = robot.kernel(module.base_wrench).function(q, v, a)
    assert_allclose(free - loaded, force if body else np.zeros(6), atol=1e-10)


def test_a_function_that_says_nothing_is_rejected(robot):
    with pytest.raises(ValueError, match='not a declared algorithm'):
        robot.kernel(lambda model, q: q)
    with pytest.raises(ValueError, match='unknown function .levitate.; did you mean .integrate.'):
        robot.kernel('levitate')
