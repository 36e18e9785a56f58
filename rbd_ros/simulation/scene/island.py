# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The contact problem of an island: assembly, solution, application of its impulses."""

from __future__ import annotations

import math
from typing import Tuple

from rbd_ros.array_types import FloatArray
from rbd_ros.collision.scene.scene_arrays import SceneContacts
from rbd_ros.compiler.loops import compiled
from rbd_ros.constraints.friction_space import (
    COARSEST,
    CONTACTS as CONES,
    energy_line_search,
    FLOOR,
    FrictionSpace,
    MOMENTS,
    NEWTON_STEPS,
    RESIDUAL,
    ROUGH,
    scale_space,
)
from rbd_ros.constraints.solvers.friction_solver import (
    COMBINED,
    solve_friction_space,
    solve_redundant,
)
from rbd_ros.simulation.records.simulation_model import SimulationModel
from rbd_ros.simulation.records.workspace import Workspace
from rbd_ros.simulation.scene.branch_sparsity import add_along, add_rows_along
from rbd_ros.simulation.scene.compliance import add_compliance
from rbd_ros.simulation.scene.contact_problem import (
    assemble_matrix,
    contact_velocities,
    enter_problem,
    UPPER_LIMIT,
)
from rbd_ros.simulation.scene.friction_moments import (
    apply_friction_moment,
    begin_friction_moments,
    enter_friction_moments,
    power_of_friction_moment,
)
from rbd_ros.simulation.scene.islands import at_robot, island_dofs, node_of_contact
from rbd_ros.simulation.scene.scene_state import (
    CHANGING,
    CONIC,
    CONTACT,
    ContactState,
    Objects,
    SceneModel,
    SceneWork,
    SIGNORINI,
    STEADY,
)
from rbd_ros.simulation.scene.springs import (
    begin_spring,
    FEW_ROUNDS,
    follow_spring,
    is_nonlinear,
    MAX_ROUNDS,
    ON_CURVE,
)
from rbd_ros.simulation.scene.warm_start import begin_contact, begin_row
from rbd_ros.simulation.scene.warm_start_check import reuse_forces
from rbd_ros.simulation.stepping.linear import add_scaled

#: Maximum number of iterations for objects alone, if they have more contacts than that.
FEW_ITERATIONS, FEW_CONTACTS = 20, 4


@compiled
def solve_island(
    model: SimulationModel,
    objects: Objects,
    contact_state: ContactState,
    work: Workspace,
    n: int,
    m: int,
    h: float,
) -> bool:
    """Solve for the impulses of listed contacts and rows of joints, and apply them.

    :param n: number of contacts
    :param m: number of rows
    :param h: time step [s]
    :return: whether they solve the problem to the tolerance
    """
    scene, contacts = work.scene, contact_state.contacts
    # Velocities without contact impulses: the solver finds x with u = G x + free
    # (contact_problem.py).
    for a in range(n):
        c = scene.listed[a]
        u = contact_velocities(model, contacts, objects, scene.velocity, c, scene)
        scene.free[3 * a], scene.free[3 * a + 1], scene.free[3 * a + 2] = u
    for k in range(m):
        v = scene.velocity[scene.row_joint[k]]
        # An upper limit has the opposite sign, so that its impulse is not negative.
        v = -v if scene.row_kind[k] == UPPER_LIMIT else v
        scene.free[3 * n + k] = v + scene.row_bias[k]
        scene.row_impulse[k] = contact_state.joint_impulse[scene.row_kind[k], scene.row_joint[k]]
    kept, solved, unit = False, True, 1.0
    # Nonlinear springs need the matrix, and moments have no rows without it.
    if not model.scene.has_nonlinear_springs:
        if not model.scene.has_friction_moments:
            # Contacts with large changes keep changing: the check would fail.
            if all_steady(contact_state, scene, n):
                kept, unit = reuse_forces(model, contact_state, scene, n, m, h)
    scene.has_matrix[0] = 0 if kept else 1
    # The previous impulses still solve the problem: their effect on the robot is known.
    if kept:
        take_forces(contact_state, scene, n, m)
        add_scaled(1.0, scene.response_sum, scene.gathered)
    else:
        assemble_matrix(model, contacts, n, m, scene)
        solved, unit = solve_with_springs(model, contact_state, scene, n, m, h)
        steady = STEADY if scene.space.report[NEWTON_STEPS] == 0.0 else CHANGING
        for a in range(n):
            # Impulses that needed Newton's method changed much: the next step skips the check.
            contact_state.steady[scene.listed[a]] = steady
    find_residuals(scene.space, contact_state.residuals, unit)
    for k in range(m):
        i, kind, impulse = scene.row_joint[k], scene.row_kind[k], scene.row_impulse[k]
        work.problem.impulse[i] += -impulse if kind == UPPER_LIMIT else impulse
        if not kept:
            response, leaf = scene.row_response[k // 3, k % 3], scene.row_leaf_dof[k // 3]
            add_along(model.tree, leaf, impulse, response, scene.gathered)
    return solved


@compiled
def all_steady(contact_state: ContactState, scene: SceneWork, n: int) -> bool:
    """Return whether no listed contact is new, or needed Newton's method in the last problem.

    :param n: number of contacts
    """
    for a in range(n):
        if contact_state.steady[scene.listed[a]] != STEADY:
            return False
    return True


@compiled
def solve_with_springs(
    model: SimulationModel, contact_state: ContactState, scene: SceneWork, n: int, m: int, h: float
) -> Tuple[bool, float]:
    """Solve with the matrix until springs are on their curves; see `solve_problem`.

    :param n: number of contacts
    :param m: number of rows
    :param h: time step [s]
    """
    if model.scene.has_nonlinear_springs:
        begin_springs(model.scene, contact_state, scene, n, h)
    solved: bool
    solved, unit = solve_problem(model, contact_state, scene, n, m, h)
    # Newton's method on the curves of the springs: each round has tangents at the compression of
    # the last round (springs.py).
    if model.scene.has_nonlinear_springs:
        on_curves = follow_springs(model.scene, contact_state, scene, n, h, unit)
        for k in range(MAX_ROUNDS):
            if on_curves or (k >= FEW_ROUNDS and not solved):
                break
            solved, unit = solve_problem(model, contact_state, scene, n, m, h)
            on_curves = follow_springs(model.scene, contact_state, scene, n, h, unit)
        solved = solved and on_curves
    return solved, unit


@compiled
def solve_problem(
    model: SimulationModel, contact_state: ContactState, scene: SceneWork, n: int, m: int, h: float
) -> Tuple[bool, float]:
    """Solve for impulses, with warm start; return whether they solve the problem, and U.

    :param n: number of contacts
    :param m: number of rows
    :param h: time step [s]
    :return: whether they solve the problem to the tolerance, and `scale_space`
    """
    contacts, space = contact_state.contacts, scene.space
    # 1. G and b = free, with the compliance of springs on the diagonal (compliance.py).
    enter_problem(model.scene, contacts, n, m, scene)
    add_compliance(model.scene, contacts, n, h, scene)
    # 2. Warm start: impulses of the last step, on or inside the friction cones (warm_start.py).
    for a in range(n):
        begin_contact(space, scene.friction[a], a, contact_state.impulse[scene.listed[a]])
    for k in range(m):
        begin_row(space, scene, n, k)
    count = 0
    if model.scene.has_friction_moments:
        count = enter_friction_moments(model, contacts, scene.velocity, n, m, scene)
        begin_friction_moments(contact_state, scene, count)
    # 3. Scaling: cones become Lorentz cones, diagonal blocks one (friction_space.py).
    unit: float = scale_space(space, scene.friction)
    tolerance, limit = model.scene.tolerance, model.scene.iterations
    # Objects alone have another solver, which is less exact: see matrix_free_islands.py.
    if n > FEW_CONTACTS and not model.scene.has_nonlinear_springs:
        if scene.label[node_of_contact(model.scene, contacts, scene.listed[0])] > 0:
            limit = min(limit, FEW_ITERATIONS)
    # With more rows than DoFs forces are not unique: the smallest ones stick where possible.
    solved: bool
    if 3 * n > island_dofs(model, contacts, scene.listed[0], scene):
        solved = solve_redundant(space, limit, tolerance)
    else:
        solved = solve_friction_space(space, COMBINED, limit, tolerance)
    # 4. Without a solution, the best iterate is scaled so that it adds no energy.
    if not solved:
        solved = space.report[RESIDUAL] <= ROUGH
        energy_line_search(space)
    # 5. Back to N s, for the next warm start.
    take_forces(contact_state, scene, n, m)
    for k in range(count):
        c = scene.listed[scene.friction_moments.listed[k]]
        for r in range(3):
            i = 3 * n + m + 3 * k + r
            contact_state.moment[c, r] = space.scale[i] * space.x[i]
    return solved, unit


@compiled
def take_forces(contact_state: ContactState, scene: SceneWork, n: int, m: int) -> None:
    """Copy the impulses of the listed contacts and of rows of joints from the solver.

    :param n: number of contacts
    :param m: number of rows
    """
    space = scene.space
    for a in range(n):
        for r in range(3):
            contact_state.impulse[scene.listed[a], r] = space.scale[3 * a + r] * space.x[3 * a + r]
    for k in range(m):
        scene.row_impulse[k] = space.scale[3 * n + k] * space.x[3 * n + k]


@compiled
def begin_springs(
    model: SceneModel, contact_state: ContactState, scene: SceneWork, n: int, h: float
) -> None:
    """Compute the first tangents of nonlinear springs.

    :param n: number of contacts
    :param h: time step [s]
    """
    for a in range(n):
        c = scene.listed[a]
        if is_nonlinear(model, contact_state.contacts, c):
            mobility, impulse = scene.matrix[3 * a, 3 * a], contact_state.impulse[c, 0]
            begin_spring(model, contact_state.contacts, c, h, mobility, impulse, scene)


@compiled
def follow_springs(
    model: SceneModel, contact_state: ContactState, scene: SceneWork, n: int, h: float, unit: float
) -> bool:
    """Compute the next tangents of springs; return whether the last ones had converged.

    :param n: number of contacts
    :param h: time step [s]
    :param unit: see `scale_space`
    """
    space, on_curves = scene.space, True
    excused = max(model.tolerance, min(space.report[FLOOR], COARSEST))
    for a in range(n):
        c = scene.listed[a]
        if is_nonlinear(model, contact_state.contacts, c):
            mobility, impulse = scene.matrix[3 * a, 3 * a], contact_state.impulse[c, 0]
            # Velocity [m/s] per unit of a scaled velocity of this contact.
            speed = unit * unit / space.scale[3 * a]
            u = speed * space.u[3 * a]
            beside = follow_spring(
                model, contact_state.contacts, c, h, mobility, impulse, u, scene
            )
            on_curves = on_curves and beside <= ON_CURVE * excused * speed
    return on_curves


@compiled
def end_island(
    model: SimulationModel, objects: Objects, contact_state: ContactState, work: Workspace, n: int
) -> None:
    """Apply the impulses of the listed contacts.

    :param n: number of contacts
    """
    scene, contacts = work.scene, contact_state.contacts
    for a in range(n):
        c = scene.listed[a]
        impulse = contact_state.impulse[c]
        # Exact zeros are common: open contacts have no impulse.
        if not is_zero(impulse):
            apply_impulse_to_objects(model, objects, contacts, scene, c, impulse)
            if model.has_robot:
                if at_robot(model.scene, contacts, c):
                    leaf, J = scene.leaf_dof[c], scene.jacobian[c]
                    add_rows_along(model.tree, leaf, impulse, J, work.problem.impulse)
                    # The effect on the robot of reused forces is already gathered.
                    if scene.has_matrix[0] == 1:
                        add_rows_along(
                            model.tree, leaf, impulse, scene.response[c], scene.gathered
                        )
        if model.scene.has_friction_moments:
            end_moment(model, objects, contact_state, work, c)
        if impulse[0] > 0.0:
            for side in range(2):
                o = contacts.body_id[c, side] - model.scene.first_object
                if o >= 0:
                    scene.in_contact[o] = 1


@compiled
def end_moment(
    model: SimulationModel, objects: Objects, contact_state: ContactState, work: Workspace, c: int
) -> None:
    """Apply the moment of a contact.

    :param c: number of the contact
    """
    moment, scene = contact_state.moment[c], work.scene
    if not is_zero(moment):
        apply_friction_moment(model, objects, contact_state.contacts, scene, c, moment)
        if model.has_robot:
            if at_robot(model.scene, contact_state.contacts, c):
                J = scene.friction_moments.jacobian[c]
                add_rows_along(model.tree, scene.leaf_dof[c], moment, J, work.problem.impulse)


@compiled
def apply_impulse(
    model: SimulationModel,
    objects: Objects,
    contacts: SceneContacts,
    scene: SceneWork,
    c: int,
    impulse: FloatArray,
) -> None:
    """Apply an impulse at a contact to objects, and accumulate its effect on the robot.

    :param c: number of the contact
    :param impulse: along normal and tangents, (3,) [N s]
    """
    if model.has_robot:
        if at_robot(model.scene, contacts, c):
            add_rows_along(
                model.tree, scene.leaf_dof[c], impulse, scene.response[c], scene.gathered
            )
    apply_impulse_to_objects(model, objects, contacts, scene, c, impulse)


@compiled
def apply_impulse_to_objects(
    model: SimulationModel,
    objects: Objects,
    contacts: SceneContacts,
    scene: SceneWork,
    c: int,
    impulse: FloatArray,
) -> None:
    """Apply an impulse at a contact to objects; see `apply_impulse`."""
    for side in range(2):
        o = contacts.body_id[c, side] - model.scene.first_object
        if o >= 0:
            # The state of an object is its angular momentum: impulses add without an inertia.
            mass = model.scene.bodies.mass[o]
            for r in range(3):
                jacobian = scene.object_jacobian[c, side, r]
                for s in range(3):
                    objects.angular_momentum[o, s] += jacobian[s] * impulse[r]
                    objects.velocity[o, s] += jacobian[3 + s] * impulse[r] / mass


@compiled
def is_zero(x: FloatArray) -> bool:
    """Return whether an impulse or a moment is zero."""
    zero: bool = x[0] == 0.0 and x[1] == 0.0 and x[2] == 0.0
    return zero


@compiled
def find_residuals(space: FrictionSpace, residuals: FloatArray, unit: float) -> None:
    """Update the largest residuals of the contacts of a problem; see `Residuals`.

    :param residuals: those so far, (3,)
    :param unit: unit of the velocities
    """
    x, u, power = space.x, space.u, unit * unit
    for a in range(space.sizes[CONES]):
        i = 3 * a
        # SIGNORINI is x_n u_n, CONIC is x . u, and CONTACT the residual of De Saxce's law,
        # x . (u + (|u_t|, 0, 0)) = 0.
        conic = x[i] * u[i] + x[i + 1] * u[i + 1] + x[i + 2] * u[i + 2]
        slip = math.sqrt(u[i + 1] * u[i + 1] + u[i + 2] * u[i + 2])
        if space.sizes[MOMENTS] > 0:
            moment_power, turning = power_of_friction_moment(space, a)
            conic += moment_power
            slip += turning
        residuals[SIGNORINI] = max(residuals[SIGNORINI], power * abs(x[i] * u[i]))
        residuals[CONIC] = max(residuals[CONIC], power * abs(conic))
        residuals[CONTACT] = max(residuals[CONTACT], power * abs(conic + x[i] * slip))
