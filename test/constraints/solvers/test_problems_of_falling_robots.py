# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Problems of fallen quadrupeds, recorded from simulation steps: falling_robots.npz.

Each has sizes, the lower half of the scaled matrix, velocities, bounds of the rows, and the warm
start. Bodies lie on more points than they have DoFs, some creep at a millionth of the speed at
which others open, joints stick.
"""

from pathlib import Path

import numpy as np
import pytest

from rbd_ros.compiler.loops import allocate, Record
from rbd_ros.constraints.friction_space import FrictionSpace, RESIDUAL
from rbd_ros.constraints.solvers.friction_solver import COMBINED, solve_space
from rbd_ros.simulation.physics import ITERATIONS

#: Machine code as users have it: see conftest.py.
OPTIMIZED = True

SAVED = np.load(Path(__file__).parent / 'falling_robots.npz')
NAMES = sorted({name.partition('/')[0] for name in SAVED.files})


def space_of(name):
    """Return the problem, and where its step began."""
    n, m = map(int, SAVED[f'{name}/sizes'])
    space = allocate(FrictionSpace, N=3 * n + m, n=n, m=m)
    space.sizes[:2] = n, m
    lower = SAVED[f'{name}/A']
    space.A[:] = lower + np.tril(lower, -1).T
    space.low[:], space.high[:] = SAVED[f'{name}/bounds']
    space.b[:], space.x[:] = SAVED[f'{name}/b'], SAVED[f'{name}/x']
    return space


@pytest.mark.parametrize('name', NAMES)
def test_contact_at_many_points_is_solved_to_the_tolerance(name):
    space = space_of(name)
    assert solve_space.bind(Record(space))(COMBINED, ITERATIONS, 1e-10)
    assert space.report[RESIDUAL] <= 1e-10
    # By the law, in scaled quantities: cones of 45 degrees, and bounds.
    n, m = map(int, SAVED[f'{name}/sizes'])
    u = space.A @ space.x + space.b
    for x, v in zip(space.x[: 3 * n].reshape(n, 3), u[: 3 * n].reshape(n, 3)):
        speed = np.hypot(v[1], v[2])
        assert np.hypot(x[1], x[2]) <= x[0] + 1e-9 and v[0] >= -1e-9
        assert abs(x @ v + x[0] * speed) < 1e-9
    x, v = space.x[3 * n :], u[3 * n :]
    assert np.abs(x - np.clip(x - v, space.low, space.high)).max(initial=0.0) < 1e-9
