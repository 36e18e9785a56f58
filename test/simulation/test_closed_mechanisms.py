# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Mechanisms of two DoFs by explicit equations, and loops that stay closed."""

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from support import explicit_mechanisms, loop_mechanisms
from support.cassie import cassie
from support.stewart import stewart, stewart_start

from rbd_ros import Robot, Simulator
from rbd_ros.model.joints import Revolute
from rbd_ros.spatial import PluckerTransform

#: It simulates minutes: see conftest.py.
OPTIMIZED = True

BOTH = pytest.mark.parametrize('integrator', ['semi_implicit', 'rk4'])
CLOSED = 1e-9
#: Made by name; where they start, as y; forces of the joints that are driven.
PLANAR = {
    'triangle_arm': ([0.9, -0.7], [12.0, -2.0]),
    'five_bar': ([2.0, 0.8], [0.4, -0.9]),
}


@lru_cache(maxsize=None)
def solved(name, duration):
    """Return mechanism, and the end of its motion by the explicit equations, as y and its rate."""
    mechanism, (y, force) = getattr(explicit_mechanisms, name)(), PLANAR[name]
    equations = mechanism.equations

    def rate(t, x):
        Q = mechanism.rates(x[:2]).T @ force
        return [*x[2:], *equations.acceleration(x[:2], x[2:], Q)]

    end = solve_ivp(rate, (0.0, duration), [*y, 0.0, 0.0], 'DOP853', rtol=1e-9, atol=1e-9).y
    return mechanism, end[:2, -1], end[2:, -1]


@BOTH
@pytest.mark.parametrize('name', PLANAR)
def test_a_mechanism_of_two_dofs_moves_as_its_explicit_equations_say(name, integrator):
    (y, force), duration = PLANAR[name], 0.5
    mechanism, y_end, yd_end = solved(name, duration)
    assert np.abs(y_end - y).min() > 0.2

    timestep, close = (1e-3, 1e-6) if integrator == 'rk4' else (1e-5, 2e-3)
    simulator = Simulator(mechanism.robot, timestep, integrator)
    simulator.reset(mechanism.ordered(mechanism.position(np.array(y))))
    torque = mechanism.ordered(dict(zip(mechanism.driven, force)))
    simulator.step(torque, round(duration / timestep))
    expected = mechanism.ordered(mechanism.position(y_end))
    assert np.exp(1j * simulator.q) == pytest.approx(np.exp(1j * expected), abs=close)
    places = [explicit_mechanisms.number(mechanism.robot, name) - 1 for name in mechanism.driven]
    driven = mechanism.rates(y_end) @ yd_end
    assert simulator.v[places] == pytest.approx(driven, abs=10 * close)


# -- a minute, or 20 s ----------------------------------------------------------------------------


def stays_closed(simulator, torque, count=6000):
    """Take ten steps at a time under a torque that depends on the simulator."""
    for _ in range(count):
        simulator.step(torque(simulator), 10)
        assert np.abs(simulator.loop_errors).max() < CLOSED
    assert simulator.time == pytest.approx(0.01 * count)
    assert simulator.status.unconverged_steps == 0


@BOTH
@pytest.mark.parametrize('name', ['crank_slider', *PLANAR])
def test_planar_loops_stay_closed_for_a_minute_and_keep_their_energy(name, integrator):
    if name == 'crank_slider':
        robot, q = loop_mechanisms.crank_slider()[0], loop_mechanisms.crank_slider_position(1.0)
    else:
        mechanism = getattr(explicit_mechanisms, name)()
        robot = mechanism.robot
        q = mechanism.ordered(mechanism.position(np.array(PLANAR[name][0])))
    simulator = Simulator(robot, 1e-3, integrator)
    simulator.reset(q)
    assert simulator.warnings == ()
    start = robot.energy(simulator.q, simulator.v).total
    stays_closed(simulator, lambda _: None)
    if integrator == 'rk4':
        # Euler's drifts by some joules, as that of trees with two degrees of freedom does.
        energy = robot.energy(simulator.q, simulator.v).total
        assert energy == pytest.approx(start, abs=1e-3)


@pytest.mark.slow
def test_a_stewart_platform_that_is_moved_stays_closed_for_a_minute():
    """Its legs follow sines of six frequencies, by springs."""
    robot = stewart()
    simulator = Simulator(robot, 1e-3)
    simulator.reset(stewart_start(robot))
    legs = [body.v.start for body in robot.model.bodies if body.name.startswith('upper')]
    at = [body.q.start for body in robot.model.bodies if body.name.startswith('upper')]
    start, torque, reached = simulator.q[at], np.zeros(robot.nv), []

    def drive(simulator):
        desired = start + 0.05 * np.sin(np.arange(2.0, 8.0) * simulator.time)
        q = simulator.q[at]
        reached.append(q)
        torque[legs] = 1000.0 * (desired - q) - 30.0 * simulator.v[legs]
        return torque

    stays_closed(simulator, drive)
    assert np.ptp(reached, axis=0).min() > 0.05


@pytest.mark.slow
@pytest.mark.parametrize('integrator, strength', [('semi_implicit', 10.0), ('rk4', 1.0)])
def test_cassies_legs_stay_closed_and_never_stop(integrator, strength, rng):
    """Its hinges are driven at random; they have no limits, and turn over with more of it."""
    walker = cassie()
    simulator = Simulator(walker, 1e-3, integrator)
    hinges = np.zeros(walker.nv)
    for body in walker.model.bodies:
        hinges[body.v] = body.joint.nv == 1
    start = simulator.q
    stays_closed(simulator, lambda _: strength * hinges * rng.normal(size=walker.nv), 2000)
    assert np.abs(simulator.q - start).max() > (0.3 if strength == 1.0 else 3.0)


# -- axes that are nearly parallel ----------------------------------------------------------------


def tilted_four_bar(tilt):
    """Return the four-bar linkage, neutral where its crank is at 1 rad.

    The crank's axis out of true.
    """
    model = loop_mechanisms.four_bar().model
    axes = [np.array([tilt, 0.0, 1.0]), np.array([0.0, 0.0, 1.0]), np.array([0.0, 0.0, 1.0])]
    bodies = [
        replace(
            body,
            tree_transform=PluckerTransform.rotation_z(angle) * body.tree_transform,
            joint=Revolute(tuple((axis / np.linalg.norm(axis)).tolist())),
        )
        for body, angle, axis in zip(model.bodies, loop_mechanisms.four_bar_position(1.0), axes)
    ]
    return Robot(replace(model, bodies=tuple(bodies)))


@pytest.mark.parametrize('tilt', [3.7e-6, 1e-8])
def test_a_loop_that_rounded_axes_lock_is_named_at_the_start(tilt):
    """With numbers that contradict each other it stays closed, and where it is."""
    simulator = Simulator(tilted_four_bar(tilt))
    (warning,) = simulator.warnings
    assert "'closing0' has a constraint that is redundant up to" in warning
    assert 'all digits' in warning
    simulator.step(n=500)
    assert np.abs(simulator.loop_errors).max() <= 1.001e-10
    assert np.abs(simulator.q).max() < 0.1
    # Of those steps that are given up, each counts once.
    assert simulator.status.unconverged_steps <= 500


def test_parallel_axes_neither_warn_nor_lock():
    simulator = Simulator(tilted_four_bar(0.0))
    assert simulator.warnings == ()
    simulator.step(n=500)
    assert np.abs(simulator.q).max() > 0.5 and simulator.status.unconverged_steps == 0


def test_a_nearly_singular_start_is_not_reported_as_a_rounded_axis():
    simulator = Simulator(loop_mechanisms.parallelogram())
    simulator.reset([1e-7, -1e-7, 1e-7])
    assert simulator.warnings == ()


def test_cassie_gets_a_warning_as_its_file_is_written_only():
    written = Simulator(cassie(angle=float)).warnings
    assert any("'right-plantar-foot-joint'" in text for text in written)
    assert Simulator(cassie()).warnings == ()
