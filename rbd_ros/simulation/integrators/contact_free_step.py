# SPDX-License-Identifier: Apache-2.0
"""The step of a robot that nothing touches, by an integrator of one's choice."""

from __future__ import annotations

from rbd_ros.compiler.loops import compiled
from rbd_ros.simulation.integrators.midpoint import is_stopped, midpoint_step
from rbd_ros.simulation.integrators.runge_kutta import is_at_limit, runge_kutta_step
from rbd_ros.simulation.integrators.semi_implicit import step_constrained, step_freely
from rbd_ros.simulation.records.simulation_model import SimulationModel
from rbd_ros.simulation.records.simulation_state import ExternalForces, GroundContactPoints, State
from rbd_ros.simulation.records.workspace import Workspace
from rbd_ros.simulation.stepping.joint_servo import any_servos

#: Result of `take_contact_free_step`: nothing that is finite, the velocity, or position as well.
NOTHING, VELOCITY, EVERYTHING = 0, 1, 2


@compiled
def step_by_runge_kutta(
    model: SimulationModel,
    state: State,
    external_forces: ExternalForces,
    contacts: GroundContactPoints,
    work: Workspace,
    count: int,
    h: float,
) -> int:
    """Find `next_v`, and `next_q` as well where no force interrupts the step; return which.

    :param count: number of contact points near the ground
    :param h: time step [s]
    """
    constrained = model.frictional == 1 or count > 0
    constrained = constrained or model.stiff == 1 or is_at_limit(model, state)
    for _ in range(2):
        if constrained and not step_constrained(model, state, contacts, work, count, h):
            return NOTHING
        if runge_kutta_step(model, state, external_forces, work, constrained, h):
            return EVERYTHING
        # A step that no force interrupts is tried first. If it ends beyond a limit, the
        # implicit solve shows what the limit does, and the second round begins with that.
        if constrained:
            break
        constrained = True
    return VELOCITY


@compiled
def take_contact_free_step(
    model: SimulationModel,
    state: State,
    external_forces: ExternalForces,
    unused: GroundContactPoints,
    work: Workspace,
    h: float,
) -> int:
    """Find `next_v`, and `next_q` as well where the integrator does; return which of them.

    :param unused: contacts with a ground, of which there is none
    :param h: time step [s]
    """
    driven = False
    if model.has_servos:
        driven = any_servos(state)
    if driven:
        return VELOCITY if step_constrained(model, state, unused, work, 0, h) else NOTHING
    if model.runge_kutta:
        by_stages: int = step_by_runge_kutta(model, state, external_forces, unused, work, 0, h)
        return by_stages
    if model.midpoint:
        stopped = is_at_limit(model, state)
        if stopped:
            if not step_constrained(model, state, unused, work, 0, h):
                return NOTHING
            stopped = is_stopped(state, work.problem.contact_impulse, False)
        if stopped:
            return VELOCITY
        if midpoint_step(model, state, external_forces, unused, work, h):
            return EVERYTHING
        return VELOCITY if step_constrained(model, state, unused, work, 0, h) else NOTHING
    constrained = model.frictional == 1
    if model.damped == 1 and h != model.timestep:
        constrained = True
    if constrained or not step_freely(model, state, work, h):
        return VELOCITY if step_constrained(model, state, unused, work, 0, h) else NOTHING
    return VELOCITY
