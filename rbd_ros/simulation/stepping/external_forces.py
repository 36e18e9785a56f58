# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""External forces on bodies, and their generalized force together with the torques."""

from __future__ import annotations

from rbd_ros.compiler.loops import (
    call_kernel,
    compiled,
    cross,
    load_transform,
    load_vec,
    Vec,
)
from rbd_ros.simulation.records.simulation_model import SimulationModel, Tree
from rbd_ros.simulation.records.simulation_state import ExternalForces, FORCES, State, STEPS
from rbd_ros.simulation.records.workspace import Dynamics
from rbd_ros.simulation.stepping.linear import add_scaled, clear, copy, dot


@compiled
def find_applied_force(
    model: SimulationModel, state: State, external_forces: ExternalForces, dynamics: Dynamics
) -> bool:
    """Compute `applied_force` in the present state.

    :return: whether `kinematics` was computed too, for contact detection
    """
    # External forces are not subject to effort limits.
    copy(state.applied, dynamics.applied_force)
    if model.has_external_forces:
        # Only external forces need poses here.
        if state.counters[FORCES] > 0:
            call_kernel(model.contact_kinematics, state.packed, dynamics.kinematics)
            step = state.counters[STEPS] + 1
            add_external_forces(model.tree, external_forces, dynamics, step)
            return True
    return False


@compiled
def add_external_forces(
    tree: Tree, external_forces: ExternalForces, dynamics: Dynamics, step: int
) -> None:
    """Add the generalized force J^T f of all external forces to `applied_force`.

    :param step: number of the step, counted from 1
    """
    total, use, wrench = dynamics.body_forces, external_forces.use, external_forces.wrench
    for i in range(len(total)):
        clear(total[i])
    for w in range(len(use)):
        body = use[w, 0]
        # free_bodies.py handles those on objects of a world.
        if use[w, 2] == 0 or body >= len(total):
            continue
        moment = load_vec(external_forces.moment[w], 3)
        force = load_vec(external_forces.force[w], 3)
        part, point = present_part(external_forces, w), Vec(0.0, 0.0, 0.0)
        if use[w, 1] == 1:
            local = load_vec(external_forces.point[w], 3)
            point = load_transform(dynamics.poses[body]) @ local
        # About the origin of the base, for any point: only so do moments add.
        wrench[w, 0:3] = part * (moment + cross(point, force))
        wrench[w, 3:6] = part * force
        external_forces.acted[w] = step
        add_scaled(1.0, wrench[w], total[body])
    # From the tips to the base, each body passes the rest of its force to its parent: in base
    # coordinates, forces simply add.
    for i in range(len(tree.parent) - 1, 0, -1):
        for k in range(tree.dof_first[i], tree.dof_first[i + 1]):
            along = tree.dof_ratio[k] * dot(dynamics.columns[k], total[i])
            dynamics.applied_force[tree.dof_index[k]] += along
        add_scaled(1.0, total[i], total[tree.parent[i]])


@compiled
def present_part(external_forces: ExternalForces, w: int) -> float:
    """Return the fraction of an external force that acts in this step, below 1 in ramps.

    Its sum over all steps is that of a force without ramps that ends where the fall begins.

    :param w: its row
    """
    ramp, age = external_forces.ramp[w, 0], external_forces.ramp[w, 1]
    if ramp == 0:
        return 1.0
    part, left = min(1.0, (age + 0.5) / ramp), external_forces.use[w, 2]
    if left > 0:
        part -= max(0.0, 1.0 - (left - 0.5) / ramp)
    present: float = part
    return present


@compiled
def age_external_forces(external_forces: ExternalForces, state: State) -> None:
    """Count down the remaining steps of external forces, and the number of active ones."""
    acting, use = 0, external_forces.use
    for w in range(len(use)):
        if use[w, 2] > 0:
            use[w, 2] -= 1
        if use[w, 2] != 0:
            external_forces.ramp[w, 1] += 1
            acting += 1
    state.counters[FORCES] = acting
