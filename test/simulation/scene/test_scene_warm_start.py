# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Warm starts of steps in worlds: unchanged contacts need no iterations.

The interpreter takes the steps; each of them obeys the laws, see support/scene_laws.py.
"""

from types import SimpleNamespace

import numpy as np
import pytest
from support.interpreted import without_compiler
from support.rigid_worlds import ball, cube, simulated
from support.scene_laws import Step
from support.simulated_robots import collision, joint, link, robot as chain

from rbd_ros.constraints.solvers import friction_body_sweeps as friction_bodies
from rbd_ros.simulation.scene import island, matrix_free_islands, scene_step as step
from rbd_ros.simulation.scene.contact_problem import FRICTION, LOWER_LIMIT, UPPER_LIMIT
from rbd_ros.simulation.scene.friction_moments import begin_friction_moments
from rbd_ros.simulation.scene.warm_start import begin_row
from rbd_ros.simulation.scene.warm_start_check import reuse_forces


@pytest.fixture(autouse=True, scope='module')
def by_the_interpreter():
    with without_compiler(), np.errstate(all='ignore'):
        yield


def on_rails():
    """Return a ball that rolls along a rail, with friction in its joints."""
    inside = '<limit lower="-9" upper="9" effort="100" velocity="100"/>'
    held = '<dynamics friction="0.3" damping="0"/>'
    inertia = (0.004,) * 3
    return chain(
        link('world'),
        link('rail', 0.2, inertia),
        link('fork', 0.1, inertia),
        link('ball', 1.0, inertia, shape=collision('sphere radius="0.1"')),
        joint('x', 'world', 'rail', 'prismatic', (1, 0, 0), inside=inside + held),
        joint('z', 'rail', 'fork', 'prismatic', (0, 0, 1), inside=inside + held),
        joint('y', 'fork', 'ball', axis=(0, 1, 0), inside='<dynamics friction="0.01"/>'),
    )


MOVING = {
    'slides': cube(velocity=(0.5, 0.3, 0), friction=0.3),
    'slides along': cube(velocity=(0.5, 0, 0)),
    'slides across': cube(velocity=(0, -0.5, 0)),
    'rests': cube(friction=0.4),
    'spins': cube(spin=(0, 0, 3.0), friction=0.0, torsional=0.01),
    'rolls': ball(velocity=(0.5, 0, 0), spin=(0, 5.0, 0), friction=0.5, rolling=0.002),
}
UNEQUAL = [
    {'links': ['floor', 'thing'], 'friction': [0.2, 0.4], 'direction': [1, 0, 0]},
]


@pytest.fixture
def efforts(monkeypatch):
    """Return the sweeps and steps of the solvers, of each problem; none where forces are kept."""
    found = []

    def keep(*arguments):
        kept, unit = reuse_forces(*arguments)
        if kept:
            found.append(0.0)
        return kept, unit

    def counted(solve):
        def solve_space(space, *arguments):
            solved = solve(space, *arguments)
            found.append(space.report[3:5].sum())
            return solved

        return solve_space

    def solve_body_space(space, *arguments):
        solved = friction_bodies.solve_body_space(space, *arguments)
        found.append(space.report[friction_bodies.ITERATIONS])
        return solved

    monkeypatch.setattr(island, 'reuse_forces', keep)
    for name in ('solve_friction_space', 'solve_redundant'):
        monkeypatch.setattr(island, name, counted(getattr(island, name)))
    monkeypatch.setattr(matrix_free_islands, 'solve_body_space', solve_body_space)
    return found


def check_that_it_goes_on(simulator, efforts, most=0):
    for _ in range(4):
        Step(simulator).check()
    assert len(efforts) >= 4 and efforts[0] > most and max(efforts[-2:]) <= most


@pytest.mark.parametrize('is_pile', [False, True])
@pytest.mark.parametrize('kind', MOVING)
def test_steps_of_an_object_in_steady_motion_need_no_solver(kind, is_pile, efforts, monkeypatch):
    if is_pile:
        monkeypatch.setattr(step, 'MATRIX_FREE_THRESHOLD', 0)
    pairs = UNEQUAL if 'slides ' in kind else []
    gravity = (1.0, -0.5, -9.81) if kind == 'rests' else (0.0, 0.0, -9.81)
    # As of a pile, forces are not taken to the last digit: then one sweep passes over it.
    most = 1 if is_pile and kind == 'slides' else 0
    simulator = simulated(gravity=gravity, pairs=pairs, thing=MOVING[kind])
    check_that_it_goes_on(simulator, efforts, most)


@pytest.mark.parametrize('side', [1.0, -1.0])
def test_steps_of_a_robot_in_steady_motion_need_no_solver(side, efforts):
    """Its joints slide to either side, but for one that rests."""
    pairs = [{'links': ['floor', 'robot'], 'friction': 0.5, 'rolling': 0.002}]
    simulator = simulated(pairs=pairs, robot=on_rails())
    simulator.reset([0.0, 0.1, 0.0], [0.5 * side, 0.0, 5.0 * side])
    check_that_it_goes_on(simulator, efforts)


def test_a_robot_that_stays_at_its_limit_takes_nothing_to_solve(efforts):
    """Pushed against it, so that the limit has a force, with friction of joints that rest."""
    pairs = [{'links': ['floor', 'robot'], 'friction': 0.5}]
    simulator = simulated(pairs=pairs, robot=on_rails())
    for q in (9.0, -9.0):
        simulator.reset([q, 0.1, 0.0], [0.0, 0.0, 0.0])
        for _ in range(4):
            Step(simulator, [3.0 * q, 0.1, 0.004]).check()
        assert len(efforts) >= 4 and efforts[0] > 0.0 and not any(efforts[-2:])
        assert abs(simulator.q[0] - q) < 1e-9
        efforts.clear()


def test_rows_of_joints_start_from_their_impulse_as_far_as_bounds_allow():
    """The rows of the previous step may differ."""
    kinds = [FRICTION, LOWER_LIMIT, FRICTION, UPPER_LIMIT, FRICTION, LOWER_LIMIT]
    impulses = [0.2, 0.3, -0.7, -0.1, 0.5, 0.0]
    boxes = [0.4, 0.0, 0.5, 0.0, 0.4, 0.0]
    starts = [0.2, 0.3, -0.5, 0.0, 0.4, 0.0]
    scene = SimpleNamespace(row_kind=kinds, row_impulse=impulses, row_box=boxes)
    n, m = 2, len(kinds)
    space = SimpleNamespace(
        low=np.full(m, np.nan), high=np.full(m, np.nan),
        x=np.full(3 * n + m, np.nan),
    )  # fmt: skip
    for k in range(m):
        begin_row(space, scene, n, k)
    friction = np.array(kinds) == FRICTION
    assert np.array_equal(space.low, np.where(friction, -np.array(boxes), 0.0))
    assert np.array_equal(space.high, np.where(friction, boxes, np.inf))
    # Nothing of the contacts before them is touched.
    assert np.isnan(space.x[: 3 * n]).all() and space.x[3 * n :].tolist() == starts


def test_moments_start_from_those_before_where_a_normal_force_holds_them():
    n, m, count = 5, 1, 4
    listed = [6, 2, 9, 4, 7]  # all contacts of the problem, of which the second has no moments
    moment = np.zeros((10, 3))
    moment[6] = (0.1, 0.3, -0.4)
    moment[9] = (-0.2, 0.3, 0.3)
    moment[4] = (0.1, 0.2, 0.3)  # no normal force is there to hold it
    x = np.full(3 * n + m + 3 * count, 0.5)
    x[: 3 * n : 3] = (2.0, 1.0, 4.0, 0.0, 1.0)
    start = x.copy()
    space = SimpleNamespace(sizes=[n, m, 3 * count], x=x)
    work = SimpleNamespace(
        space=space, listed=listed, friction_moments=SimpleNamespace(listed=[0, 2, 3, 4])
    )
    begin_friction_moments(SimpleNamespace(moment=moment), work, count)
    first = 3 * n + m
    assert np.array_equal(x[:first], start[:first])
    found = x[first:].reshape(count, 3)
    assert np.array_equal(found[[0, 1, 3]], moment[[6, 9, 7]])
    assert np.array_equal(found[2], [0.5] * 3)
