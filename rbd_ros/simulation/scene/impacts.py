# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Restitution of a step in a world: rounds of impacts at the present velocities.

Newton's law of restitution; restitution.py has Poisson's.
"""

from __future__ import annotations

from rbd_ros.collision.scene.scene_arrays import RESTITUTION, SceneContacts, surface_of
from rbd_ros.compiler.loops import compiled, load_vec, norm
from rbd_ros.constraints.friction_space import MOMENTS, scale_space
from rbd_ros.constraints.solvers.friction_solver import COMBINED, solve_friction_space
from rbd_ros.simulation.records.simulation_model import SimulationModel
from rbd_ros.simulation.records.simulation_state import State, UNCONVERGED
from rbd_ros.simulation.records.workspace import Workspace
from rbd_ros.simulation.scene.branch_sparsity import finish_half_solve
from rbd_ros.simulation.scene.compliance import is_compliant
from rbd_ros.simulation.scene.contact_problem import (
    assemble_matrix,
    contact_velocities,
    contact_velocity,
    enter_problem,
)
from rbd_ros.simulation.scene.friction_moments import (
    apply_friction_moment,
    enter_friction_moments,
    list_friction_moments,
)
from rbd_ros.simulation.scene.island import apply_impulse
from rbd_ros.simulation.scene.islands import at_robot
from rbd_ros.simulation.scene.matrix_free_islands import (
    MATRIX_FREE_THRESHOLD,
    solve_matrix_free_impacts,
)
from rbd_ros.simulation.scene.restitution import expand
from rbd_ros.simulation.scene.scene_state import ContactState, Objects, SceneModel, SceneWork
from rbd_ros.simulation.stepping.free_bodies import find_angular_velocity
from rbd_ros.simulation.stepping.linear import add_scaled, clear

#: Maximum number of rounds of impacts in a step, and per contact: each round reaches the next body
#: in a row.
MAX_IMPACTS, IMPACTS_OF_CONTACT = 100, 2

#: Contacts that approach more slowly than this multiple of h g do not bounce: at rest, gravity
#: alone causes velocities of h g.
RESTING = 2.0


@compiled
def may_rebound(model: SimulationModel, contacts: SceneContacts, count: int) -> bool:
    """Return whether any contact has restitution.

    :param count: number of contacts
    """
    for c in range(count):
        row = surface_of(model.scene.table, contacts.pair[c])
        if model.scene.table.surface[row, RESTITUTION] > 0.0:
            return True
    return False


@compiled
def collide(
    model: SimulationModel,
    state: State,
    objects: Objects,
    contact_state: ContactState,
    work: Workspace,
    count: int,
    h: float,
) -> bool:
    """Apply restitution to contacts that rebound; return whether any did.

    An impact that is not solved to the tolerance, or that continues after all rounds, is counted.

    Each round solves all approaching contacts at once, with Newton's or Poisson's restitution
    (restitution.py); bodies that they accelerate towards others follow in the next round. So an
    impact runs through a row of balls.

    :param count: number of contacts
    :param h: time step [s]
    """
    scene, contacts = work.scene, contact_state.contacts
    # A threshold in velocity: a body at rest would bounce forever with gravity's h g.
    slow = RESTING * h * norm(load_vec(model.scene.bodies.gravity, 3))
    any_of_them = False
    for c in range(count):
        clear(contact_state.impact_impulse[c])
        if model.scene.has_friction_moments:
            clear(contact_state.impact_moment[c])
        any_of_them = any_of_them or restitution(model.scene, contacts, c) > 0.0
    if not any_of_them:
        return False
    # Rounds resolve an impact in sequence; within a round, all approaching contacts are one
    # problem.
    happened, exact, ended = False, True, False
    for _ in range(MAX_IMPACTS + IMPACTS_OF_CONTACT * count):
        n = 0
        for c in range(count):
            if restitution(model.scene, contacts, c) > 0.0:
                rate = contact_velocity(model, contacts, objects, state.v, c, 0, scene)
                # Only contacts that approach, and close their gap within this step.
                if rate < -slow and contacts.gap[c] + h * rate <= 0.0:
                    scene.listed[n] = c
                    n += 1
        ended = n == 0
        if ended:
            break
        happened, robot = True, False
        for a in range(n):
            c = scene.listed[a]
            rate = contact_velocity(model, contacts, objects, state.v, c, 0, scene)
            # Newton: u_n+ = -e u_n-. With e u_n- added to the velocity, the contact problem is
            # u_n+ + e u_n- >= 0 with the usual complementarity.
            scene.rebound[a] = restitution(model.scene, contacts, c) * rate
            # Compression ends at rest, without a bias; expansion follows in `solve_rebound`.
            if model.scene.poisson:
                scene.rebound[a] = 0.0
            robot = robot or at_robot(model.scene, contacts, c)
        swept = False
        if model.scene.has_objects:
            # Many free bodies: matrix-free sweeps are linear in contacts. Poisson's expansion
            # needs the matrix.
            swept = n > MATRIX_FREE_THRESHOLD and not robot and not model.scene.poisson
            if swept and not solve_matrix_free_impacts(model.scene, objects, contacts, scene, n):
                exact = False
        if not swept:
            n = min(n, len(scene.friction))  # the others follow in the next round
            if not solve_rebound(model, state, objects, contacts, scene, n):
                exact = False
        clear(scene.gathered)
        for a in range(n):
            add_scaled(1.0, scene.impact_impulse[a], contact_state.impact_impulse[scene.listed[a]])
            # Contacts that were not listed see the changed velocities in the next round.
            apply_impulse(
                model, objects, contacts, scene, scene.listed[a], scene.impact_impulse[a]
            )
        if model.scene.has_friction_moments:
            for k in range(list_friction_moments(model.scene, contacts, n, scene)):
                c = scene.listed[scene.friction_moments.listed[k]]
                apply_friction_moment(
                    model, objects, contacts, scene, c, scene.friction_moments.impact[k]
                )
                add_scaled(1.0, scene.friction_moments.impact[k], contact_state.impact_moment[c])
        if robot:
            finish_half_solve(model, work.problem, scene.root, scene.gathered, scene.velocity)
            add_scaled(1.0, scene.velocity, state.v)
        for o in range(len(objects.position)):
            find_angular_velocity(objects, scene, o)
    # Contacts that still approach after all rounds do not bounce.
    if not (exact and ended):
        state.counters[UNCONVERGED] += 1
    return happened


@compiled
def restitution(model: SceneModel, contacts: SceneContacts, c: int) -> float:
    """Return the coefficient of restitution of a contact: zero for a compliant one."""
    row = surface_of(model.table, contacts.pair[c])
    e: float = model.table.surface[row, RESTITUTION]
    return 0.0 if is_compliant(model, contacts, c) else e


@compiled
def solve_rebound(
    model: SimulationModel,
    state: State,
    objects: Objects,
    contacts: SceneContacts,
    scene: SceneWork,
    n: int,
) -> bool:
    """Compute `impact_impulse` of listed contacts that rebound; return whether it is exact.

    :param n: number of contacts; `rebound` has their velocities after the impact, without
        expansion
    """
    space = scene.space
    for a in range(n):
        c = scene.listed[a]
        u = contact_velocities(model, contacts, objects, state.v, c, scene)
        scene.free[3 * a], scene.free[3 * a + 1], scene.free[3 * a + 2] = u
        # Each round starts without impulses: the previous ones belong to other velocities.
        for r in range(3):
            space.x[3 * a + r] = 0.0
        scene.free[3 * a] += scene.rebound[a]
        space.slip[a] = 0.0
    assemble_matrix(model, contacts, n, 0, scene)
    enter_problem(model.scene, contacts, n, 0, scene)
    if model.scene.has_friction_moments:
        enter_friction_moments(model, contacts, state.v, n, 0, scene)
    scale_space(space, scene.friction)
    solved: bool = solve_friction_space(
        space, COMBINED, model.scene.iterations, model.scene.tolerance
    )
    for a in range(n):
        for r in range(3):
            scene.impact_impulse[a, r] = space.scale[3 * a + r] * space.x[3 * a + r]
    if model.scene.has_friction_moments:
        for i in range(space.sizes[MOMENTS]):
            impulse = space.scale[3 * n + i] * space.x[3 * n + i]
            scene.friction_moments.impact[i // 3, i % 3] = impulse
    if model.scene.poisson:
        moments = space.sizes[MOMENTS] // 3
        # Inexact compression counts too.
        if not expand(model.scene, contacts, n, moments, scene):
            solved = False
    return solved
