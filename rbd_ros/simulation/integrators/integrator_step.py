# SPDX-License-Identifier: Apache-2.0
"""The step of a robot by the integrator that was chosen."""

from __future__ import annotations

from rbd_ros.compiler.loops import compiled
from rbd_ros.simulation.integrators.semi_implicit import step_constrained
from rbd_ros.simulation.records.simulation_model import SimulationModel
from rbd_ros.simulation.records.simulation_state import ExternalForces, GroundContactPoints, State
from rbd_ros.simulation.records.workspace import Substep, Workspace
from rbd_ros.simulation.stepping.joint_servo import any_servos


@compiled
def take_integrator_step(
    model: SimulationModel,
    state: State,
    external_forces: ExternalForces,
    contacts: GroundContactPoints,
    work: Workspace,
    count: int,
    h: float,
) -> int:
    """Find `next_v`, and `next_q` as well where the integrator does; return which of them.

    :param count: number of contact points near a compliant ground
    :param h: time step [s]
    """
    step = Substep(model, state, external_forces, contacts, work, count, h)
    driven = False
    if model.has_servos:
        driven = any_servos(state)
    found: int = step_constrained(step) if driven else model.integrator_step(step)
    return found
