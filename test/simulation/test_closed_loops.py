# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Robots with kinematic loops: their motion by explicit equations, and loops that stay closed."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from support import fresh_python, loop_mechanisms as mechanisms
from support.loop_mechanisms import HINGE

from rbd_ros import Robot, Simulator
from rbd_ros.model import LoopJoint
from rbd_ros.model.joints import Revolute, Spherical
from rbd_ros.simulation import Physics

BOTH = pytest.mark.parametrize('integrator', ['semi_implicit', 'rk4'])
CLOSED = 1e-9


def opening(simulator):
    """Return the maximum error of the loops.

    And of their velocities relative to the maximum velocity.
    """
    K = simulator.robot.loops.closure(simulator.q).K
    v = simulator.v
    return np.abs(simulator.loop_errors).max(), np.abs(K @ v).max() / (np.abs(v).max() + 1e-3)


def four_bar(cut='ground'):
    robot, bars = mechanisms.four_bar(cut=cut), mechanisms.four_bar_bars(cut)
    return robot, bars, lambda y: mechanisms.four_bar_position(y, cut)


def crank_slider():
    robot, slider = mechanisms.crank_slider()
    bars, _ = mechanisms.crank_slider_bars(slider)
    return robot, bars, mechanisms.crank_slider_position


MECHANISMS = {
    'four-bar, a chain': lambda: four_bar(),
    'four-bar, two branches': lambda: four_bar('rocker'),
    'crank-slider': crank_slider,
}


def explicit(bars, y, torque, duration):
    """Return the angle and speed of the crank by its own equation of motion, from rest."""
    solution = solve_ivp(
        lambda t, x: [x[1], bars.acceleration(x[0], x[1], torque)],
        (0.0, duration),
        [y, 0.0],
        'DOP853',
        rtol=1e-11,
        atol=1e-11,
    )
    return solution.y[:, -1]


def cranked(robot, q, torque, timestep, integrator, duration):
    simulator = Simulator(robot, timestep, integrator)
    simulator.reset(q)
    simulator.step([torque, 0.0, 0.0], round(duration / timestep))
    return simulator


@BOTH
@pytest.mark.parametrize('name', MECHANISMS)
def test_a_mechanism_moves_as_its_explicit_equation_says(name, integrator):
    robot, bars, gamma = MECHANISMS[name]()
    expected = explicit(bars, 1.0, 0.7, 0.8)
    timestep, close = (1e-3, 1e-7) if integrator == 'rk4' else (1e-5, 2e-3)
    simulator = cranked(robot, gamma(1.0), 0.7, timestep, integrator, 0.8)
    assert [simulator.q[0], simulator.v[0]] == pytest.approx(expected, abs=close)
    assert np.cos(simulator.q) == pytest.approx(np.cos(gamma(expected[0])), abs=close)
    assert abs(expected[0] - 1.0) > 0.5


@pytest.mark.parametrize('integrator, order', [('semi_implicit', 1), ('rk4', 4)])
def test_integrators_keep_their_order_with_loops(integrator, order):
    robot, bars, gamma = four_bar()
    steps = np.array([8e-3, 4e-3, 2e-3])
    exact = explicit(bars, 1.0, 0.7, 0.8)[0]
    errors = [abs(cranked(robot, gamma(1.0), 0.7, h, integrator, 0.8).q[0] - exact) for h in steps]
    slopes = np.diff(np.log(errors)) / np.diff(np.log(steps))
    assert slopes == pytest.approx([order, order], abs=0.4)


@BOTH
def test_loops_stay_closed_and_energy_stays_for_a_minute(integrator):
    robot, _, gamma = four_bar()
    simulator = Simulator(robot, 1e-3, integrator)
    simulator.reset(gamma(1.0))
    start, energies = robot.energy(simulator.q, simulator.v).total, []
    for _ in range(6000):
        simulator.step(n=10)
        error, rate = opening(simulator)
        assert error < CLOSED and rate < CLOSED
        energies.append(robot.energy(simulator.q, simulator.v).total - start)
    assert simulator.status.unconverged_steps == 0
    # Euler's is that of another, nearby system: it swings, and does not drift.
    # Euler's: no worse than that of the tree alone, which is off by 12 J.
    assert np.abs(energies).max() < {'semi_implicit': 0.8, 'rk4': 1e-6}[integrator]


@BOTH
@pytest.mark.parametrize('speed', [0.0, 8.0])
def test_a_parallelogram_passes_its_flat_position(integrator, speed):
    """There K loses rank, and the coupler could as well fold: the motion that it has goes on."""
    robot = mechanisms.parallelogram()
    simulator = Simulator(robot, 1e-3, integrator)
    simulator.reset([1.0, -1.0, 1.0], [speed, -speed, speed])
    start = robot.energy(simulator.q, simulator.v).total
    passages, turned = 0, simulator.q[0]
    for _ in range(6000):
        simulator.step(n=10)
        error, rate = opening(simulator)
        assert error < CLOSED and rate < CLOSED
        passages += np.floor(turned / np.pi) != np.floor(simulator.q[0] / np.pi)
        turned = simulator.q[0]
        assert simulator.q[2] == pytest.approx(turned, abs=1e-6)
    assert passages > 50
    energy = robot.energy(simulator.q, simulator.v).total
    assert energy == pytest.approx(start, abs={'semi_implicit': 0.2, 'rk4': 1e-4}[integrator])


@BOTH
def test_rhombi_that_fold_neither_open_nor_explode(integrator, rng):
    """Two loops, each of which has three branches that meet in singular configurations."""
    robot = mechanisms.two_rhombi()
    simulator = Simulator(robot, 1e-3, integrator)
    for attempt in range(5):
        simulator.reset(mechanisms.two_rhombi_position(robot, 0.3 * attempt))
        for _ in range(500):
            simulator.step(rng.uniform(-3.0, 3.0, robot.nv), 10)
            assert opening(simulator)[0] < CLOSED
            assert np.abs(simulator.v).max() < 200.0


@BOTH
@pytest.mark.parametrize('gears', [False, True])
@pytest.mark.parametrize('joint', [HINGE, Spherical(), Revolute((0.6, 0.0, 0.8))])
def test_random_trees_with_loops_accelerate_as_the_book_says(integrator, joint, gears):
    """A tiny step against `robot.loops.forward_dynamics`, by another method of linear algebra."""
    for seed in range(2):
        _, robot, q, v, tau = mechanisms.closed_robot(seed, (joint,), ((2, 7),), gears)
        simulator = Simulator(robot, 1e-6, integrator)
        simulator.reset(q, v)
        simulator.step(tau)
        exact = robot.loops.forward_dynamics(q, v, tau)
        size = np.abs(exact.a).max()
        assert simulator.a == pytest.approx(exact.a, abs=2e-4 * size)
        size = np.abs(exact.multipliers).max()
        assert simulator.loop_multipliers == pytest.approx(exact.multipliers, abs=1e-5 * size)
        force = robot.loops.closure(q).K.T @ exact.multipliers
        assert simulator.loop_force == pytest.approx(force, abs=1e-5 * np.abs(force).max())


@BOTH
def test_copies_of_a_loop_change_nothing(integrator):
    _, _, gamma = four_bar()
    ends = []
    for copies in (1, 3):
        simulator = Simulator(mechanisms.four_bar(copies=copies), 1e-3, integrator)
        simulator.reset(gamma(1.0))
        simulator.step(n=2000)
        ends.append([*simulator.q, *simulator.v])
    assert ends[0] == pytest.approx(ends[1], abs=1e-9)


# -- the start ------------------------------------------------------------------------------------


def test_an_open_start_is_closed_and_reported():
    robot, _, gamma = four_bar()
    simulator = Simulator(robot)
    q = gamma(1.0) + [0.0, 0.02, -0.01]
    simulator.reset(q, [1.0, 0.0, 0.0])
    assert opening(simulator)[0] < 1e-12 and opening(simulator)[1] < 1e-12
    assert 0.0 < np.abs(simulator.q - q).max() < 0.05
    moved, slowed = simulator.warnings
    assert 'loops are open there' in moved and "joint '" in moved and 'velocity' in slowed
    simulator.reset(gamma(1.0))
    assert simulator.warnings == () and simulator.q == pytest.approx(gamma(1.0), abs=1e-12)


def test_a_velocity_is_projected_as_impulses_of_the_loops_do():
    robot, _, gamma = four_bar()
    simulator, q, v = Simulator(robot), gamma(1.0), np.array([1.0, 0.3, -0.2])
    simulator.reset(q, v)
    K, H = robot.loops.closure(q).K, robot.mass_matrix(q)
    impulse = H @ (simulator.v - v)
    assert K @ simulator.v == pytest.approx(np.zeros(5), abs=1e-12)
    assert K.T @ np.linalg.pinv(K.T, rcond=1e-9) @ impulse == pytest.approx(impulse, abs=1e-12)


def test_an_impossible_assembly_is_rejected_by_name_and_changes_nothing():
    robot = mechanisms.four_bar()
    loop = robot.model.loops[0]
    far = Robot(
        robot.model.with_loops(
            [LoopJoint('out_of_reach', mechanisms.frame(0, 2.0), loop.successor, HINGE)]
        )
    )
    with pytest.raises(ValueError, match=r"'out_of_reach' is open by 0\.85") as caught:
        Simulator(far)
    assert 'closest assembly' in str(caught.value)


def test_a_rejected_reset_changes_nothing():
    robot, _, gamma = four_bar()
    simulator = Simulator(robot)
    simulator.reset(gamma(1.0))
    before = simulator.snapshot().arrays
    with pytest.raises(ValueError, match='finite'):
        simulator.reset(gamma(1.0), [np.nan, 0.0, 0.0])
    assert all(np.array_equal(x, before[k]) for k, x in simulator.snapshot().arrays.items())


# -- records --------------------------------------------------------------------------------------


@BOTH
def test_a_snapshot_brings_back_loops_bitwise(integrator):
    robot, _, gamma = four_bar()
    simulator = Simulator(robot, 1e-3, integrator)
    simulator.reset(gamma(1.0))
    simulator.step([0.3, 0.0, 0.0], 100)
    kept, multipliers = simulator.snapshot(), simulator.loop_multipliers
    simulator.step(n=300)
    end = simulator.q
    simulator.restore(kept)
    assert np.array_equal(simulator.loop_multipliers, multipliers)
    for _ in range(300):
        simulator.step()
    assert np.array_equal(simulator.q, end)


def test_only_loops_are_compiled_and_given_room_where_there_are_any():
    robot, _, _ = four_bar()
    tree = Robot(robot.model.with_loops(()))
    assert Physics(robot).model.has_loops and not Physics(tree).model.has_loops
    assert Simulator(tree).loop_errors.shape == (0,)
    assert np.array_equal(Simulator(tree).loop_force, np.zeros(3))
    assert Simulator(tree).loop_multipliers.shape == (0,)


def test_dynamics_that_are_not_finite_leave_the_state_as_it_was():
    robot, _, gamma = four_bar()
    simulator = Simulator(robot)
    simulator.reset(gamma(1.0))
    simulator.physics.state.v[0] = np.nan
    q = simulator.q
    with pytest.raises(FloatingPointError, match='not finite'):
        simulator.step(n=3)
    assert np.array_equal(simulator.q, q) and simulator.status.steps == 0


SWINGING = """
import numpy as np
from dataclasses import replace
from support import loop_mechanisms as mechanisms
from rbd_ros import Robot, Simulator
model = mechanisms.four_bar().model
friction = [replace(body, friction=0.1, damping=0.02) for body in model.bodies]
states = []
for integrator in ('semi_implicit', 'rk4'):
    simulator = Simulator(Robot(replace(model, bodies=tuple(friction))), 1e-3, integrator)
    simulator.reset(mechanisms.four_bar_position(1.0))
    for _ in range(12):
        simulator.step()
        states.append([*simulator.q, *simulator.v, *simulator.loop_force])
"""


def test_a_linkage_is_where_the_interpreter_says():
    here = {}
    exec(SWINGING, here)
    code = f'{SWINGING}print(repr(np.array(states).tolist()))'
    interpreted = eval(fresh_python.run(code, RBD_ROS_COMPILER='off').stdout)
    np.testing.assert_allclose(here['states'], interpreted, rtol=1e-9, atol=1e-11)
