# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""External wrenches with ramps: time course and impulse, on links and objects."""

import numpy as np
import pytest
from support.rigid_worlds import ball, simulated
from support.simulated_robots import sled

from rbd_ros import Simulator

H = 1e-3


def rail():
    """Return 2 kg on a rail along x."""
    return sled(2.0, 'sphere radius="0.1"', effort=10.0)


def course(simulator, name, count):
    """Return the force on a link or an object of 2 kg, in each step."""
    speeds = [0.0]
    for _ in range(count):
        simulator.step()
        speed = simulator.v[0] if name == 'sled' else simulator.object_velocity(name)[3]
        speeds.append(float(speed))
    return 2.0 * np.diff(speeds) / H


@pytest.mark.parametrize('integrator', ['semi_implicit', 'rk4'])
@pytest.mark.parametrize('name', ['sled', 'disc'])
@pytest.mark.parametrize('duration, ramp', [(0.02, 0.01), (0.01, 0.01), (0.004, 0.01), (0.01, 0)])
def test_it_rises_and_falls_evenly_with_the_impulse_of_one_without(
    name, duration, ramp, integrator
):
    if name == 'sled':
        simulator = Simulator(rail(), timestep=H, integrator=integrator)
    else:
        simulator = simulated(floor=False, gravity=(0, 0, 0), disc=ball(mass=2.0))
    simulator.apply_wrench(name, [0, 0, 0, 30.0, 0, 0], duration, (0, 0, 0), ramp)
    forces = course(simulator, name, 40)
    t = (np.arange(40) + 0.5) * H
    wide = max(ramp, 1e-12)
    expected = 30.0 * (np.clip(t / wide, 0, 1) - np.clip((t - duration) / wide, 0, 1))
    assert forces == pytest.approx(expected, abs=1e-9)
    assert forces.sum() * H == pytest.approx(30.0 * duration, rel=1e-9)


def test_one_that_never_ends_rises_and_stays():
    simulator = Simulator(rail(), timestep=H)
    handle = simulator.apply_wrench('sled', [0, 0, 0, 30.0, 0, 0], ramp=0.01)
    forces = course(simulator, 'sled', 40)
    assert forces[9] == pytest.approx(28.5) and forces[10:] == pytest.approx(30.0)
    simulator.clear_wrenches(handle)
    assert course(simulator, 'sled', 41)[1:] == pytest.approx(0.0, abs=1e-9)


def test_a_reset_removes_the_ramp_of_a_wrench():
    simulator = Simulator(rail(), timestep=H)
    simulator.apply_wrench('sled', [0, 0, 0, 30.0, 0, 0], 0.005, ramp=0.005)
    course(simulator, 'sled', 20)
    simulator.reset()
    simulator.apply_wrench('sled', [0, 0, 0, 30.0, 0, 0], 0.005)
    assert course(simulator, 'sled', 10) == pytest.approx([30.0] * 5 + [0.0] * 5, abs=1e-9)


def test_a_snapshot_holds_how_far_it_has_risen():
    simulator = Simulator(rail(), timestep=H)
    simulator.apply_wrench('sled', [0, 0, 0, 30.0, 0, 0], 0.02, ramp=0.01)
    simulator.step(n=6)
    kept = simulator.snapshot()
    simulator.step(n=30)
    first = simulator.q[0], simulator.v[0]
    simulator.restore(kept)
    simulator.step(n=30)
    assert (simulator.q[0], simulator.v[0]) == first


@pytest.mark.parametrize('ramp', [-1.0, float('nan'), float('inf')])
def test_a_ramp_that_is_none_is_rejected(ramp):
    simulator = Simulator(rail(), timestep=H)
    with pytest.raises(ValueError, match='ramp'):
        simulator.apply_wrench('sled', np.zeros(6), 0.1, ramp=ramp)
