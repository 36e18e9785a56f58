# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Free flight conserves momentum, of bodies and in Dojo's tests, within tighter thresholds."""

import numpy as np
import pytest
from support import example_robots
from support.urdf_text import inertial, joint, link, robot

from rbd_ros import Robot, Simulator

TIMESTEP, STEPS = 0.01, 100
PER_STEP = 1e-8  # what Dojo asks for [N s, N m s]


def box():
    return robot(link('box', inertial(1.0, (0.1, 0, 0, 0.2, 0, 0.25))))


def pendulum():
    """Return a body that carries another one on a hinge."""
    second = inertial(1.0, (0.01, 0, 0, 0.02, 0, 0.02), '0 0 -0.5')
    hinge = joint('hinge', 'base', 'bob', 'continuous', axis='1 0 0')
    return robot(link('base', inertial(3.0, (0.1, 0, 0, 0.1, 0, 0.1))), link('bob', second), hinge)


def snake(joints=6):
    body = inertial(1.0, (0.01, 0, 0, 0.02, 0, 0.02), '0.1 0 0')
    hinges = [
        joint(
            f'joint{k}',
            f'link{k}',
            f'link{k + 1}',
            'continuous',
            '<origin xyz="0.2 0 0"/>',
            axis='0 0 1' if k % 2 else '0 1 0',
        )
        for k in range(joints)
    ]
    return robot(*(link(f'link{k}', body) for k in range(joints + 1)), *hinges)


SYSTEMS = {
    'box': box,
    'pendulum': pendulum,
    'snake': snake,
    'quadruped': lambda: example_robots.path('solo12'),
    'humanoid': lambda: example_robots.path('talos_reduced'),
}


@pytest.mark.parametrize('integrator', ['semi_implicit', 'midpoint', 'rk4'])
@pytest.mark.parametrize('system', SYSTEMS)
def test_momentum_stays_in_free_flight(system, integrator):
    """Those of Runge and Kutta keep it to their order, the others to rounding."""
    flying = Robot.from_urdf(SYSTEMS[system](), floating_base=True, gravity=(0.0, 0.0, 0.0))
    simulator = Simulator(flying, timestep=TIMESTEP, integrator=integrator)
    simulator.reset(v=np.random.default_rng(0).normal(scale=0.5, size=flying.nv))
    start = momentum = flying.momentum(simulator.q, simulator.v)
    size = max(1.0, np.linalg.norm(start))
    for _ in range(STEPS):
        simulator.step()
        before, momentum = momentum, flying.momentum(simulator.q, simulator.v)
        assert np.linalg.norm(momentum - before) < PER_STEP * size
    if integrator != 'rk4':
        assert np.linalg.norm(momentum - start) < 1e-12 * size
    assert np.abs(simulator.v).max() > 0.1  # it does move


def test_a_body_spun_about_its_middle_axis_turns_over():
    """The Dzhanibekov effect: energy and momentum stay, the axis flips again and again."""
    body = Robot.from_urdf(box(), floating_base=True, gravity=(0.0, 0.0, 0.0))
    simulator = Simulator(body, timestep=TIMESTEP, integrator='rk4')
    simulator.reset(v=[0.01, 6.0, 0.0, 0.0, 0.0, 0.0])
    start, energy = body.momentum(simulator.q, simulator.v), body.energy(simulator.q, simulator.v)
    spins = []
    for _ in range(2000):
        simulator.step()
        spins.append(simulator.v[1])
        momentum = body.momentum(simulator.q, simulator.v)
        assert np.linalg.norm(momentum - start) < 1e-5
    kinetic = body.energy(simulator.q, simulator.v).kinetic
    assert kinetic == pytest.approx(energy.kinetic, rel=1e-5)
    flips = np.count_nonzero(np.diff(np.sign(spins)))
    assert flips >= 3 and max(spins) > 5.9 and min(spins) < -5.9
