# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Torsional and rolling friction of contacts in a world: moments bounded by normal forces.

A contact with either adds three rows to the problem of its island: rotation about its normal and
about both tangents. They are the moments of constraints/friction_space.py, after the rows of
joints; a coefficient of zero leaves a row without effect.
"""

from __future__ import annotations

import math
from typing import Tuple

from rbd_ros.array_types import FloatArray
from rbd_ros.collision.scene.scene_arrays import ROLLING, SceneContacts, surface_of, TORSIONAL
from rbd_ros.compiler.loops import compiled
from rbd_ros.constraints.friction_space import (
    ALONE,
    CONTACTS as CONES,
    FIRST,
    FrictionSpace,
    MOMENTS,
    ROWS,
    SECOND,
)
from rbd_ros.simulation.records.simulation_model import SimulationModel, Tree
from rbd_ros.simulation.records.workspace import Problem
from rbd_ros.simulation.scene.branch_sparsity import (
    add_along,
    clear_along,
    dot_along,
    half_solve_rows,
)
from rbd_ros.simulation.scene.contact_jacobians import dot3
from rbd_ros.simulation.scene.contact_problem import add_product, clear_part, enter_robot_product
from rbd_ros.simulation.scene.islands import at_robot, node_of
from rbd_ros.simulation.scene.scene_state import ContactState, Objects, SceneModel, SceneWork
from rbd_ros.simulation.stepping.linear import clear


@compiled
def contact_has_moments(model: SceneModel, contacts: SceneContacts, c: int) -> bool:
    """Return whether there is torsional or rolling friction at a contact."""
    surface = model.table.surface[surface_of(model.table, contacts.pair[c])]
    resists: bool = surface[TORSIONAL] > 0.0 or surface[ROLLING] > 0.0
    return resists


@compiled
def find_angular_jacobians(
    model: SimulationModel,
    columns: FloatArray,
    contacts: SceneContacts,
    count: int,
    work: SceneWork,
) -> None:
    """Compute angular Jacobians of contacts, and for objects also their responses.

    :param columns: motion columns of the tree in base coordinates, (tree_nv, 6)
    :param count: number of contacts
    """
    scene, moments = model.scene, work.friction_moments
    for c in range(count):
        # Most contacts have neither: their arrays are neither written nor read.
        if not contact_has_moments(scene, contacts, c):
            continue
        J, frame = moments.jacobian[c], contacts.frame[c]
        # The angular velocity of the second body relative to the first one, along normal and
        # tangents: the rows of J are e_r^T (omega_2 - omega_1).
        for r in range(3):
            clear_along(model.tree, work.leaf_dof[c], J[r])
        for side in range(2):
            body = contacts.body_id[c, side]
            node, sign = node_of(scene, body), -1.0 if side == 0 else 1.0
            if node == 0:
                add_angular_jacobian(model.tree, columns, body, sign, frame, J)
            elif node > 0:
                # An object rotates about its center of mass: its row is the direction itself, and
                # a moment changes its angular velocity by I^-1 e_r.
                jacobian = moments.object_jacobian[c, side]
                response = moments.object_response[c, side]
                for r in range(3):
                    clear(jacobian[r])
                    clear(response[r])
                    for s in range(3):
                        jacobian[r, s] = sign * frame[r, s]
                    for s in range(3):
                        response[r, s] = dot3(work.mobility[node - 1, s], jacobian[r])


@compiled
def add_angular_jacobian(
    tree: Tree, columns: FloatArray, body: int, sign: float, frame: FloatArray, J: FloatArray
) -> None:
    """Add the Jacobian of the angular velocity of a body of the robot about normal and tangents.

    :param columns: motion columns of the tree in base coordinates, (tree_nv, 6)
    :param body: number of the body
    :param sign: 1, or -1 to subtract it
    :param frame: normal and tangents, (3, 3)
    :param J: the sum, (3, nv)
    """
    # Only DoFs that support the body rotate it; mimic joints add to the DoF of their master.
    for at in range(tree.support_first[body], tree.support_first[body + 1]):
        k = tree.support[at]
        for r in range(3):
            rate = dot3(columns[k], frame[r])
            J[r, tree.dof_index[k]] += sign * tree.dof_ratio[k] * rate


@compiled
def respond_to_friction_moments(
    model: SimulationModel, problem: Problem, contacts: SceneContacts, count: int, work: SceneWork
) -> None:
    """Compute the response of the robot to moments at contacts.

    :param count: number of contacts
    """
    moments = work.friction_moments
    for c in range(count):
        if at_robot(model.scene, contacts, c) and contact_has_moments(model.scene, contacts, c):
            half_solve_rows(
                model,
                problem,
                work.root,
                work.leaf_dof[c],
                moments.jacobian[c],
                moments.response[c],
            )


@compiled
def relative_angular_velocity(
    model: SimulationModel, contacts: SceneContacts, v: FloatArray, c: int, r: int, work: SceneWork
) -> float:
    """Return the relative angular velocity of the second body about one direction [rad/s].

    :param v: velocity of the joints, (nv,)
    :param c: number of the contact
    :param r: 0 for the normal, 1 and 2 for tangents
    """
    # u = J v of the robot, plus J omega of each object; the sign of a side is in J.
    rate = 0.0
    if at_robot(model.scene, contacts, c):
        rate = dot_along(model.tree, work.leaf_dof[c], work.friction_moments.jacobian[c, r], v)
    for side in range(2):
        o = contacts.body_id[c, side] - model.scene.first_object
        if o >= 0:
            rate += dot3(
                work.friction_moments.object_jacobian[c, side, r], work.angular_velocity[o]
            )
    return rate


@compiled
def list_friction_moments(
    model: SceneModel, contacts: SceneContacts, n: int, work: SceneWork
) -> int:
    """List the contacts with friction moments among the listed ones; return their number.

    :param n: number of listed contacts
    """
    found = 0
    for a in range(n):
        if contact_has_moments(model, contacts, work.listed[a]):
            work.friction_moments.listed[found] = a
            found += 1
    return found


@compiled
def assemble_friction_moments(
    model: SimulationModel, contacts: SceneContacts, n: int, m: int, count: int, work: SceneWork
) -> None:
    """Add the rows of moments, up to the diagonal, to the Delassus matrix.

    :param n: number of contacts
    :param m: number of rows of joints
    :param count: number of contacts with moments
    """
    scene, moments, G = model.scene, work.friction_moments, work.matrix
    # Rows of moments follow 3 n rows of contacts and m rows of joints, three for each contact.
    # Blocks of G couple them with contacts, rows of joints, and moments up to the diagonal.
    for k in range(count):
        c, first = work.listed[moments.listed[k]], 3 * n + m + 3 * k
        for r in range(3):
            clear_part(G[first + r], first + 3)
        # Through the robot: Y of the moment times Y^T of the other row (see contact_problem.py).
        if model.has_robot:
            if at_robot(scene, contacts, c):
                tree, leaf, y = model.tree, work.leaf_dof[c], moments.response[c]
                for j in range((m + 2) // 3):
                    z = work.row_response[j]
                    enter_robot_product(
                        tree, leaf, work.row_leaf_dof[j], y, z, G, first, 3 * (n + j)
                    )
                for b in range(n):
                    d = work.listed[b]
                    if at_robot(scene, contacts, d):
                        z = work.response[d]
                        enter_robot_product(tree, leaf, work.leaf_dof[d], y, z, G, first, 3 * b)
                for b in range(k + 1):
                    d, column = work.listed[moments.listed[b]], 3 * n + m + 3 * b
                    if at_robot(scene, contacts, d):
                        z = moments.response[d]
                        enter_robot_product(tree, leaf, work.leaf_dof[d], y, z, G, first, column)
        # Through objects: J of the moment times M^-1 J^T of the other row at the same object.
        for i in range(2):
            body, jacobian = contacts.body_id[c, i], moments.object_jacobian[c, i]
            if body < scene.first_object:
                continue
            for j in range(2):
                for b in range(n):
                    d = work.listed[b]
                    if contacts.body_id[d, j] == body:
                        add_product(jacobian, work.object_response[d, j], G, first, 3 * b)
                for b in range(k + 1):
                    d, column = work.listed[moments.listed[b]], 3 * n + m + 3 * b
                    if contacts.body_id[d, j] == body:
                        add_product(jacobian, moments.object_response[d, j], G, first, column)


@compiled
def enter_friction_moments(
    model: SimulationModel,
    contacts: SceneContacts,
    v: FloatArray,
    n: int,
    m: int,
    work: SceneWork,
) -> int:
    """Add moments to the problem of listed contacts; return how many contacts have any.

    :param v: velocity of the joints without contacts, (nv,)
    :param n: number of contacts
    :param m: number of rows of joints
    """
    space, moments = work.space, work.friction_moments
    count: int = list_friction_moments(model.scene, contacts, n, work)
    assemble_friction_moments(model, contacts, n, m, count, work)
    space.sizes[MOMENTS] = 3 * count
    for k in range(count):
        c, first = work.listed[moments.listed[k]], 3 * n + m + 3 * k
        surface = model.scene.table.surface[surface_of(model.scene.table, contacts.pair[c])]
        # Coulomb's law of moments: |tau| <= coefficient times the normal force, in meters. One row
        # about the normal (torsional), and two about the tangents, whose length is bounded
        # (rolling).
        for r in range(3):
            i, row = first + r, 3 * k + r
            for j in range(i + 1):
                space.A[i, j] = space.A[j, i] = work.matrix[i, j]
            work.free[i] = relative_angular_velocity(model, contacts, v, c, r, work)
            space.b[i] = work.free[i]
            space.x[i] = 0.0
            space.moment_contact[row] = moments.listed[k]
            space.coefficient[row] = surface[TORSIONAL] if r == 0 else surface[ROLLING]
        space.part[3 * k], space.part[3 * k + 1], space.part[3 * k + 2] = ALONE, FIRST, SECOND
    return count


@compiled
def begin_friction_moments(contact_state: ContactState, work: SceneWork, count: int) -> None:
    """Set the initial moments: those of the last step, where the normal force allows them.

    :param count: number of contacts with moments
    """
    space = work.space
    n, m = space.sizes[CONES], space.sizes[ROWS]
    for k in range(count):
        a = work.friction_moments.listed[k]
        # A contact that starts open starts without moments.
        if space.x[3 * a] <= 0.0:
            continue
        for r in range(3):
            space.x[3 * n + m + 3 * k + r] = contact_state.moment[work.listed[a], r]


@compiled
def power_of_friction_moment(space: FrictionSpace, a: int) -> Tuple[float, float]:
    """Return the power of a contact's moments, and their part of De Saxce's term; both scaled.

    :param a: number of the contact in the problem
    """
    x, u, power, turning = space.x, space.u, 0.0, 0.0
    first = 3 * space.sizes[CONES] + space.sizes[ROWS]
    # x . u is the power of the moments; |u_t| of each moment adds to De Saxce's term of the
    # contact, like the slip velocity.
    for k in range(space.sizes[MOMENTS]):
        if space.moment_contact[k] == a:
            i = first + k
            power += x[i] * u[i]
            if space.part[k] == ALONE:
                turning += abs(u[i])
            elif space.part[k] == FIRST:
                turning += math.sqrt(u[i] * u[i] + u[i + 1] * u[i + 1])
    return power, turning


@compiled
def apply_friction_moment(
    model: SimulationModel,
    objects: Objects,
    contacts: SceneContacts,
    work: SceneWork,
    c: int,
    moment: FloatArray,
) -> None:
    """Apply a moment at a contact to objects, and accumulate its effect on the robot.

    :param c: number of the contact
    :param moment: about normal and tangents, (3,) [N m s]
    """
    moments = work.friction_moments
    for r in range(3):
        if moment[r] == 0.0:
            continue
        if model.has_robot:
            if at_robot(model.scene, contacts, c):
                response = moments.response[c, r]
                add_along(model.tree, work.leaf_dof[c], moment[r], response, work.gathered)
        for side in range(2):
            o = contacts.body_id[c, side] - model.scene.first_object
            if o >= 0:
                for s in range(3):
                    objects.angular_momentum[o, s] += (
                        moment[r] * moments.object_jacobian[c, side, r, s]
                    )
