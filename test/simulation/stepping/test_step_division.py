# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Divided steps where the inertia changes quickly with position.

With heavy tips on light links, at the end of their reach the energy of the tip is in the links
for a moment, which rotate at the corresponding speed within a hundredth of a radian.
"""

from dataclasses import replace

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import fresh_python, heavy_tips

from rbd_ros import Robot, Simulator
from rbd_ros.simulation.records.simulation_model import MAX_SUBSTEPS
from rbd_ros.simulation.stepping.step_division import (
    CHANGE_PER_SUBSTEP,
    fastest_rotation,
    find_substep,
    inertial_rate,
    SMALL_TURN,
)

TREE = ('semi_implicit', 'midpoint', 'rk4')
WITH_LOOPS = ('semi_implicit', 'rk4')
ALL = [
    *(('two_links', integrator) for integrator in TREE),
    *(('five_bar', integrator) for integrator in WITH_LOOPS),
    *(('parallel_arm', integrator) for integrator in WITH_LOOPS),
]
#: Loss and gain of energy, as parts of the maximum kinetic energy. Euler dissipates it in all of
#: its steps where a tip goes round, and what it gains is in proportion to the step.
BOUNDS = {'semi_implicit': (np.inf, 0.05), 'midpoint': (0.05, 0.02), 'rk4': (0.005, 0.005)}
# Two links in line that fold: nothing but them moves at first, about as fast as with them.
IN_LINE, FOLDING = [0.4, 0.0], [-100.0, 200.0]


def started(robot, q, v=None, integrator='rk4', timestep=1e-3):
    simulator = Simulator(robot, timestep, integrator)
    simulator.reset(q, v)
    return simulator


def energy_errors(simulator, steps):
    """Return the maximum loss and gain of energy, as parts of the maximum kinetic energy."""
    robot, totals, kinetic = simulator.robot, [], 0.0
    for _ in range(steps):
        energy = robot.energy(simulator.q, simulator.v)
        springs = 0.5 * robot.stiffness @ (simulator.q - robot.spring_rest) ** 2
        totals.append(energy.total + springs)
        kinetic = max(kinetic, energy.kinetic)
        simulator.step()
    return (totals[0] - min(totals)) / kinetic, (max(totals) - totals[0]) / kinetic


def check_energy(simulator, steps):
    loss, gain = energy_errors(simulator, steps)
    max_loss, max_gain = BOUNDS[simulator.integrator]
    assert loss < max_loss and gain < max_gain
    assert simulator.status.unconverged_steps == simulator.status.velocity_clamped_steps == 0


# -- energy ---------------------------------------------------------------------------------------


@pytest.mark.parametrize('mass', [1.0, 10.0, 100.0, 1000.0])
@pytest.mark.parametrize('name, integrator', ALL)
def test_a_heavy_tip_on_light_links_neither_finds_nor_loses_energy(name, integrator, mass):
    robot = getattr(heavy_tips, name)(mass)
    simulator = started(robot, heavy_tips.STARTS[name], integrator=integrator)
    check_energy(simulator, 3000)
    # Where the tip weighs about as much as the links, inertia divides no step.
    if mass == 1.0:
        assert simulator.status.substeps == 0


@pytest.mark.parametrize('name, integrator', ALL)
def test_without_gravity_a_thrown_tip_keeps_its_energy(name, integrator, rng):
    model = getattr(heavy_tips, name)(300.0).model
    robot = Robot(replace(model, gravity=(0.0, 0.0, 0.0)))
    v = 3.0 * rng.normal(size=robot.nv)
    check_energy(started(robot, heavy_tips.STARTS[name], v, integrator), 2000)


@pytest.mark.parametrize('name, integrator', ALL)
def test_springs_store_the_energy_that_the_tip_loses(name, integrator):
    model = getattr(heavy_tips, name)(1000.0).model
    robot = Robot(model.with_springs({model.bodies[0].joint_name: 3000.0}))
    check_energy(started(robot, heavy_tips.STARTS[name], integrator=integrator), 2000)


@pytest.mark.parametrize('integrator, bound', list(zip(TREE, (0.2, 0.03, 0.001))))
@pytest.mark.parametrize('fold', [0.0, 1e-3, -0.02])
def test_a_start_in_the_middle_of_it_is_divided_at_once(integrator, bound, fold):
    """Where the links are in line, their inertia does not change for a moment."""
    q = [IN_LINE[0] - 0.5 * fold, fold]
    simulator = started(heavy_tips.two_links(1000.0), q, FOLDING, integrator)
    # The energy after one step: a second one would be divided by its fast beginning.
    assert max(energy_errors(simulator, 2)) < bound


def test_robots_that_rest_or_start_are_not_divided():
    simulator = started(heavy_tips.five_bar(1000.0), heavy_tips.STARTS['five_bar'])
    simulator.step(n=100)
    assert simulator.status.substeps == 0


def test_a_step_at_rest_but_for_rounding_is_not_divided():
    """Forces of loops, too, are right to rounding only, which is much beside such a speed."""
    simulator = started(heavy_tips.five_bar(1.0), heavy_tips.STARTS['five_bar'])
    physics, h = simulator.physics, 1e-3
    simulator.physics.state.v[:] = 1e-30
    assert find_substep(physics.model, physics.state, physics.fields.work, h) == h


# -- the rate -------------------------------------------------------------------------------------


@pytest.mark.parametrize('name', heavy_tips.STARTS)
def test_the_rate_is_that_of_the_acceleration_without_forces(name, rng):
    robot = getattr(heavy_tips, name)(10.0)
    simulator = started(robot, heavy_tips.STARTS[name], rng.normal(size=robot.nv))
    physics, q, v = simulator.physics, simulator.q, simulator.v
    for ahead in (0.0, 0.01):
        there = robot.integrate(q, v, ahead)
        balanced = robot.gravity_torque(there)
        if name == 'two_links':
            a = robot.forward_dynamics(there, v, balanced)
        else:
            a = robot.loops.forward_dynamics(there, v, balanced).a
        expected = np.abs(a).max() / max(np.abs(v).max(), SMALL_TURN / 1e-3)
        found = inertial_rate(physics.model, physics.state, physics.fields.work, ahead)
        assert found == pytest.approx(expected, rel=1e-6)
        assert np.array_equal(simulator.q, q) and np.array_equal(simulator.v, v)


def test_a_substep_changes_the_speed_by_no_more_than_it_may_at_both_of_its_ends():
    simulator = started(heavy_tips.two_links(1000.0), IN_LINE, FOLDING)
    physics, h = simulator.physics, 1e-3
    model, state, work = physics.model, physics.state, physics.fields.work
    substep = find_substep(model, state, work, h)
    halvings = np.log2(h / substep)
    assert halvings == round(halvings) > 2
    rates = [inertial_rate(model, state, work, ahead) for ahead in (0.0, substep, 2.0 * substep)]
    assert substep * max(rates[:2]) <= CHANGE_PER_SUBSTEP < 2.0 * substep * max(rates[0], rates[2])


def test_the_number_of_substeps_is_bounded():
    simulator = started(heavy_tips.two_links(1000.0), IN_LINE, FOLDING)
    physics, h = simulator.physics, 1e-3
    physics.state.v[:] *= 1e6
    substep = find_substep(physics.model, physics.state, physics.fields.work, h)
    assert h / MAX_SUBSTEPS >= substep > 0.4 * h / MAX_SUBSTEPS


def test_nan_is_not_used_as_a_divisor():
    simulator = started(heavy_tips.two_links(1000.0), IN_LINE)
    simulator.physics.state.v[:] = np.nan
    physics = simulator.physics
    assert find_substep(physics.model, physics.state, physics.fields.work, 1e-3) == 1e-3


def test_rotation_alone_counts_as_speed():
    model = started(heavy_tips.two_links(1.0), IN_LINE).physics.model
    geared = model._replace(turning=np.array([1.0, 3.0, 0.0]))
    assert fastest_rotation(geared, np.array([2.0, -1.0, 50.0])) == 3.0


# -- continuation


def passing(integrator='rk4'):
    """Return the simulation of a five-bar linkage in the midst of a pass, after a divided step."""
    simulator = started(
        heavy_tips.five_bar(1000.0), heavy_tips.STARTS['five_bar'], None, integrator
    )
    while simulator.status.substeps == 0:
        simulator.step()
    return simulator


@pytest.mark.parametrize('integrator', WITH_LOOPS)
def test_a_snapshot_between_divided_steps_continues_bitwise(integrator):
    simulator = passing(integrator)
    kept, before = simulator.snapshot(), simulator.status.substeps
    simulator.step(n=20)
    end, substeps = simulator.snapshot().arrays, simulator.status.substeps
    assert substeps > before
    other = Simulator(simulator.robot, 1e-3, integrator)
    other.restore(kept)
    for _ in range(20):
        other.step()
    assert other.status.substeps == substeps
    for name, array in other.snapshot().arrays.items():
        assert np.array_equal(array, end[name])


@pytest.mark.parametrize('integrator', WITH_LOOPS)
def test_rollouts_are_divided_as_steps_are(integrator):
    simulator, one = passing(integrator), passing(integrator)
    q, v = simulator.q, simulator.v
    many = one.rollout(
        np.stack([q, heavy_tips.STARTS['five_bar']]), np.stack([v, 0.0 * v]), steps=30
    )
    simulator.reset(q, v)
    simulator.step(n=30)
    assert simulator.status.substeps > 0
    assert np.array_equal(many.q[0, -1], simulator.q) and np.array_equal(
        many.v[0, -1], simulator.v
    )


PASS = """
import numpy as np
from support import heavy_tips
from rbd_ros import Simulator
states = []
for name, integrator in (('two_links', 'midpoint'), ('five_bar', 'rk4')):
    robot = getattr(heavy_tips, name)(1000.0)
    simulator = Simulator(robot, 1e-3, integrator)
    simulator.reset([0.4, 0.0, 2.3, -0.8][: robot.nv], 50.0 * np.arange(-1.0, robot.nv - 1.0))
    for _ in range(3):
        simulator.step()
        states += [*simulator.q, *simulator.v]
    states.append(simulator.status.substeps)
"""


def test_compiled_substeps_agree_with_the_interpreter():
    here = {}
    exec(PASS, here)
    assert here['states'][-1] > 3
    code = f'{PASS}print(repr(np.array(states).tolist()))'
    interpreted = eval(fresh_python.run(code, RBD_ROS_COMPILER='off').stdout)
    assert_allclose(here['states'], interpreted, rtol=1e-8, atol=1e-9)
