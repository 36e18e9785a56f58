# SPDX-License-Identifier: Apache-2.0
"""Every integrator that is declared."""

import re

import numpy as np
import pytest
from support.source_imports import ROOT

from rbd_ros import Robot, Simulator
from rbd_ros.lookup.resources import resource_path
from rbd_ros.nodes.simulator.interface.simulator_interface import INTERFACE
from rbd_ros.simulation.integrators.integrators import INTEGRATORS
from rbd_ros.simulation.records.simulation_model import SimulationModel

ARM = resource_path('urdf', 'two_link_arm.urdf')
every_integrator = pytest.mark.parametrize('name', INTEGRATORS)


def end_of(name, timestep):
    """Return the state after 0.1 s of free fall."""
    robot = Robot.from_urdf(ARM)
    simulator = Simulator(robot, timestep, name, enforce_velocity_limits=False)
    simulator.reset([0.3, -0.4], [0.5, -0.2])
    simulator.step(n=round(0.1 / timestep))
    return np.r_[simulator.q, simulator.v]


@every_integrator
def test_an_integrator_converges_at_its_order(name):
    exact = end_of('rk4', 1e-4)
    coarse, fine = (np.abs(end_of(name, h) - exact).max() for h in (1e-2, 5e-3))
    assert np.log2(coarse / fine) == pytest.approx(INTEGRATORS[name].order, abs=0.35)


@every_integrator
def test_its_kernels_are_fields_of_the_simulation(name):
    assert set(INTEGRATORS[name].kernels) <= set(SimulationModel._fields)


@every_integrator
def test_a_step_is_differentiated(name):
    simulator = Simulator(Robot.from_urdf(ARM), 1e-3, name)
    simulator.reset([0.3, -0.4], [0.5, -0.2])
    derivatives = simulator.step_derivatives(np.zeros(2))
    assert derivatives.dq_dq == pytest.approx(np.eye(2), abs=1e-2)


def test_the_node_and_the_page_list_all_integrators():
    choices = {each.name: each.choices for each in INTERFACE.parameters}['integrator']
    page = (ROOT / 'docs' / 'simulation.md').read_text(encoding='utf-8')
    section = page.split('## Integrators')[1].split('\n## ')[0]
    orders = dict(re.findall(r'^\| `(\w+)` \| (\d) \|', section, re.MULTILINE))
    assert set(choices) == set(orders) == set(INTEGRATORS)
    assert all(INTEGRATORS[name].order == int(order) for name, order in orders.items())
