# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Every declared integrator, and that of CONTRIBUTING.md."""

import importlib
import re

import numpy as np
import pytest
from support.contributing import as_a_file
from support.simulated_robots import at, body, collision, joint, link, robot
from support.source_imports import ROOT

from rbd_ros import Robot, Simulator
from rbd_ros.contact import HalfSpace
from rbd_ros.lookup.resources import resource_path
from rbd_ros.nodes.simulator.interface.simulator_interface import INTERFACE
from rbd_ros.simulation import integrators as folder
from rbd_ros.simulation.integrators import integrator_names
from rbd_ros.simulation.integrators.integrator import integrators

SHOWN = 'heun'
ARM = resource_path('urdf', 'two_link_arm.urdf')
BOX = collision('box size="0.4 0.3 0.2"')
every_integrator = pytest.mark.parametrize('name', [*integrator_names(), SHOWN])


@pytest.fixture(autouse=True)
def shown_is_a_file(tmp_path, monkeypatch):
    with as_a_file('A new integrator', folder, SHOWN, tmp_path, monkeypatch):
        yield


def end_of(name, timestep):
    """Return the state after 0.1 s of free fall of two damped hinges."""
    subject = robot(
        *(link(each, 1.0, (0.02, 0.03, 0.01), (0, 0, 0.2)) for each in 'abc'),
        joint('ab', 'a', 'b', xyz=(0, 0, 0.4), inside='<dynamics damping="0.3"/>'),
        joint('bc', 'b', 'c', xyz=(0, 0, 0.4), inside='<dynamics damping="0.1"/>'),
    )
    simulator = Simulator(subject, timestep, name)
    simulator.reset([0.3, -0.4], [0.5, -0.2])
    simulator.step(n=round(0.1 / timestep))
    return np.r_[simulator.q, simulator.v]


@every_integrator
def test_an_integrator_converges_at_its_order(name):
    exact = end_of('rk4', 1e-4)
    coarse, fine = (np.abs(end_of(name, h) - exact).max() for h in (1e-2, 5e-3))
    assert np.log2(coarse / fine) == pytest.approx(integrators()[name].order, abs=0.35)


@every_integrator
def test_an_integrator_is_named_like_its_file(name):
    module = importlib.import_module(f'{folder.__name__}.{name}')
    assert integrators()[name] in vars(module).values()


@every_integrator
def test_a_free_body_tumbles_under_a_force(name):
    """Its center of mass moves on the parabola of gravity and the force."""
    simulator = Simulator(body(2.0, (0.02, 0.03, 0.04)), 1e-3, name)
    simulator.reset(at((0, 0, 1)), [1.0, 2.0, 3.0, 0.1, 0.2, 0.3])
    simulator.apply_wrench('body', [0, 0, 0, 4.0, 0, 0], point=(0, 0, 0))
    simulator.step(n=200)
    acceleration, t = np.array([2.0, 0.0, -9.81]), 0.2
    expected = np.array([0, 0, 1]) + t * np.array([0.1, 0.2, 0.3]) + t * t / 2 * acceleration
    found = simulator.robot.center_of_mass(simulator.q)
    assert found == pytest.approx(expected, abs=3e-3 if integrators()[name].order == 1 else 1e-5)


@every_integrator
def test_limits_friction_and_servos_stop_a_joint(name):
    limits = '<limit lower="-1" upper="0.2" effort="100" velocity="3"/><dynamics friction="0.1"/>'
    subject = robot(
        link('base'),
        link('rod', 1.0, (0.01,) * 3, (0, 0, 0.3)),
        joint('hinge', 'base', 'rod', 'revolute', inside=limits),
    )
    simulator = Simulator(subject, 1e-3, name)
    simulator.reset([0.1], [1.0])
    simulator.step(n=500)
    assert simulator.q == pytest.approx([0.2], abs=1e-9) and simulator.v == pytest.approx([0.0])
    simulator.set_joint_pd(q=[-0.5], kp=[500.0], kd=[50.0])
    simulator.step(n=1000)
    assert simulator.q == pytest.approx([-0.5], abs=0.02)


@every_integrator
@pytest.mark.parametrize('ground', [HalfSpace(), True], ids=['compliant', 'rigid'])
def test_a_box_comes_to_rest_on_the_ground(name, ground):
    simulator = Simulator(body(2.0, (0.02, 0.03, 0.04), BOX), 1e-3, name, ground=ground)
    simulator.reset(at((0, 0, 0.12)), [0.0, 0.0, 0.0, 0.2, 0.0, 0.0])
    simulator.step(n=1000)
    assert simulator.status.unconverged_steps == 0
    assert np.abs(simulator.v).max() < 1e-3
    assert simulator.q[6] == pytest.approx(0.1, abs=1e-3)


@every_integrator
def test_a_step_is_differentiated(name):
    simulator = Simulator(Robot.from_urdf(ARM), 1e-3, name)
    simulator.reset([0.3, -0.4], [0.5, -0.2])
    derivatives = simulator.step_derivatives(np.zeros(2))
    assert derivatives.dq_dq == pytest.approx(np.eye(2), abs=1e-2)
    size, v = 1e-6, simulator.v
    before = simulator.snapshot()
    ends = []
    for sign in (1.0, -1.0):
        simulator.restore(before)
        simulator.step([sign * size, 0.0])
        ends.append(simulator.v)
    change = (ends[0] - ends[1]) / (2 * size)
    assert derivatives.dv_dtau[:, 0] == pytest.approx(change, rel=1e-4)
    assert np.abs(ends[0] - v).max() > 0.0


def test_the_node_lists_all_integrators_and_the_page_their_orders():
    choices = {each.name: each.choices for each in INTERFACE.parameters}['integrator']
    page = (ROOT / 'docs' / 'simulation.md').read_text(encoding='utf-8')
    section = page.split('## Integrators')[1].split('\n## ')[0]
    orders = dict(re.findall(r'^\| `(\w+)` \| (\d) \|', section, re.MULTILINE))
    assert {*choices, SHOWN} == set(integrators())
    assert orders and all(
        integrators()[name].order == int(order) for name, order in orders.items()
    )
