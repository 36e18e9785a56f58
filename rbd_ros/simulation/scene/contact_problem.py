# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""From contacts to one frictional problem for each island of bodies in contact.

An impulse lambda at a contact changes velocities by H^-1 J^T lambda. With H = L^T D L of the robot
(book 6.5) and the inertias of the objects, the Delassus matrix of contacts is G = Y Y^T with
Y = J L^-1 D^-1/2: bitwise symmetric and positive-semidefinite. With kinematic loops, Y is the
Jacobian by velocities with closed loops that are orthonormal under H.
"""

from __future__ import annotations

from typing import Tuple

from rbd_ros.array_types import FloatArray
from rbd_ros.collision.scene.scene_arrays import ACROSS, ALONG, SceneContacts, surface_of
from rbd_ros.compiler.loops import compiled
from rbd_ros.constraints.friction_space import CONTACTS as CONES, ROWS
from rbd_ros.simulation.records.simulation_model import SimulationModel, Tree
from rbd_ros.simulation.scene.branch_sparsity import dot_along, rows_along
from rbd_ros.simulation.scene.islands import at_robot
from rbd_ros.simulation.scene.scene_state import Objects, SceneModel, SceneWork

#: Kinds of rows of joints.
LOWER_LIMIT, UPPER_LIMIT, FRICTION = 0, 1, 2


@compiled
def assemble_matrix(
    model: SimulationModel, contacts: SceneContacts, n: int, m: int, work: SceneWork
) -> None:
    """Compute the lower triangle of the Delassus matrix of listed contacts, then rows of joints.

    :param n: number of contacts
    :param m: number of rows of joints
    """
    # G = Y Y^T + sum over objects of J M^-1 J^T, block by block: each block is 3 by 3. Only blocks
    # up to the diagonal are computed, so that the solver reads a bitwise symmetric matrix.
    scene, G = model.scene, work.matrix
    for a in range(n):
        c = work.listed[a]
        for b in range(a + 1):
            d = work.listed[b]
            # The robot, or a common object, couples two contacts.
            apart = True
            if model.has_robot:
                if at_robot(scene, contacts, c) and at_robot(scene, contacts, d):
                    apart, y, z = False, work.response[c], work.response[d]
                    leaf, other = work.leaf_dof[c], work.leaf_dof[d]
                    enter_robot_product(model.tree, leaf, other, y, z, G, 3 * a, 3 * b)
            if apart:
                clear_block(G, 3 * a, 3 * b)
            # An object couples them: J of one contact times M^-1 J^T of the other.
            for i in range(2):
                # All bodies after those of the robot are objects.
                body = contacts.body_id[c, i]
                if body < scene.first_object:
                    continue
                for j in range(2):
                    if contacts.body_id[d, j] == body:
                        add_product(
                            work.object_jacobian[c, i], work.object_response[d, j], G, 3 * a, 3 * b
                        )
    if model.has_robot:
        # Rows of joints in blocks of three, like contacts; elements after the last one are zero.
        for k in range((m + 2) // 3):
            y, first, leaf = work.row_response[k], 3 * n + 3 * k, work.row_leaf_dof[k]
            for r in range(3):
                clear_part(G[first + r], first + 3)
            for b in range(n):
                d = work.listed[b]
                if at_robot(scene, contacts, d):
                    z = work.response[d]
                    enter_robot_product(model.tree, leaf, work.leaf_dof[d], y, z, G, first, 3 * b)
            for j in range(k + 1):
                z, at = work.row_response[j], 3 * (n + j)
                enter_robot_product(model.tree, leaf, work.row_leaf_dof[j], y, z, G, first, at)


@compiled
def enter_robot_product(
    tree: Tree,
    leaf_y: int,
    leaf_z: int,
    Y: FloatArray,
    Z: FloatArray,
    G: FloatArray,
    row: int,
    column: int,
) -> None:
    """Write Y Z^T into a block of G, along the common part of both paths.

    :param leaf_y: leaf of Y, see `SceneWork`
    :param leaf_z: leaf of Z
    :param Y: rows of responses, (3, nv)
    :param Z: likewise
    :param G: the matrix
    :param row: where the block begins
    :param column: likewise
    """
    # Rows of Y are zero off the path from their leaf to the base (branch-induced sparsity, book
    # 6.4): only DoFs that support both leaves contribute.
    common = max(leaf_y, leaf_z)
    if leaf_y >= 0 and leaf_z >= 0:
        common = tree.common_ancestor[leaf_y, leaf_z]
        # Two branches without a common DoF are not coupled.
        if common < 0:
            clear_block(G, row, column)
            return
    # Neither has a single path (leaf -1): all DoFs count.
    if common < 0:
        clear_block(G, row, column)
        add_product(Y, Z, G, row, column)
        return
    p, q, r = Y[0], Y[1], Y[2]
    s, t, u = Z[0], Z[1], Z[2]
    # Nine independent sums at once: each element is read once.
    ps = pt = pu = qs = qt = qu = rs = rt = ru = 0.0
    for at in range(tree.path_first[common], tree.path_first[common + 1]):
        k = tree.path[at]
        a, b, c = p[k], q[k], r[k]
        x, y, z = s[k], t[k], u[k]
        ps += a * x
        pt += a * y
        pu += a * z
        qs += b * x
        qt += b * y
        qu += b * z
        rs += c * x
        rt += c * y
        ru += c * z
    first, second, third = G[row], G[row + 1], G[row + 2]
    first[column] = ps
    first[column + 1] = pt
    first[column + 2] = pu
    second[column] = qs
    second[column + 1] = qt
    second[column + 2] = qu
    third[column] = rs
    third[column + 1] = rt
    third[column + 2] = ru


@compiled
def add_product(Y: FloatArray, Z: FloatArray, G: FloatArray, row: int, column: int) -> None:
    """Add Y Z^T to a block of G; all nine independent sums in one pass.

    :param Y: (3, k)
    :param Z: (3, k)
    :param G: the matrix
    :param row: where the block begins
    :param column: likewise
    """
    p, q, r = Y[0], Y[1], Y[2]
    s, t, u = Z[0], Z[1], Z[2]
    ps = pt = pu = qs = qt = qu = rs = rt = ru = 0.0
    for k in range(len(p)):
        a, b, c = p[k], q[k], r[k]
        x, y, z = s[k], t[k], u[k]
        ps += a * x
        pt += a * y
        pu += a * z
        qs += b * x
        qt += b * y
        qu += b * z
        rs += c * x
        rt += c * y
        ru += c * z
    first, second, third = G[row], G[row + 1], G[row + 2]
    first[column] += ps
    first[column + 1] += pt
    first[column + 2] += pu
    second[column] += qs
    second[column + 1] += qt
    second[column + 2] += qu
    third[column] += rs
    third[column + 1] += rt
    third[column + 2] += ru


@compiled
def entry(work: SceneWork, row: int, column: int) -> float:
    """Return an element of the Delassus matrix, whose lower triangle is stored."""
    element: float = work.matrix[max(row, column), min(row, column)]
    return element


@compiled
def clear_block(G: FloatArray, row: int, column: int) -> None:
    """Set a block of the matrix to zero, (3, 3)."""
    for r in range(3):
        for s in range(3):
            G[row + r, column + s] = 0.0


@compiled
def clear_part(x: FloatArray, n: int) -> None:
    """Set the first elements of x to zero."""
    for i in range(n):
        x[i] = 0.0


@compiled
def contact_velocity(
    model: SimulationModel,
    contacts: SceneContacts,
    objects: Objects,
    v: FloatArray,
    c: int,
    r: int,
    work: SceneWork,
) -> float:
    """Return the relative velocity of the second body at a contact along one direction [m/s].

    :param v: velocity of the joints, (nv,)
    :param c: number of the contact
    :param r: 0 for the normal, 1 and 2 for tangents
    """
    # u = J v of the robot, plus J (omega, velocity) of each object; the sign of a side is in J.
    rate = 0.0
    if at_robot(model.scene, contacts, c):
        rate = dot_along(model.tree, work.leaf_dof[c], work.jacobian[c, r], v)
    for side in range(2):
        o = contacts.body_id[c, side] - model.scene.first_object
        if o >= 0:
            jacobian = work.object_jacobian[c, side, r]
            for s in range(3):
                rate += (
                    jacobian[s] * work.angular_velocity[o, s]
                    + jacobian[3 + s] * objects.velocity[o, s]
                )
    return rate


@compiled
def contact_velocities(
    model: SimulationModel,
    contacts: SceneContacts,
    objects: Objects,
    v: FloatArray,
    c: int,
    work: SceneWork,
) -> Tuple[float, float, float]:
    """Return the contact velocity along normal and tangents, see `contact_velocity` [m/s].

    :param v: velocity of the joints, (nv,)
    :param c: number of the contact
    """
    first = second = third = 0.0
    if at_robot(model.scene, contacts, c):
        first, second, third = rows_along(model.tree, work.leaf_dof[c], work.jacobian[c], v)
    for side in range(2):
        o = contacts.body_id[c, side] - model.scene.first_object
        if o >= 0:
            jacobian = work.object_jacobian[c, side]
            turning = work.angular_velocity[o]
            velocity = objects.velocity[o]
            for s in range(3):
                first += jacobian[0, s] * turning[s] + jacobian[0, 3 + s] * velocity[s]
                second += jacobian[1, s] * turning[s] + jacobian[1, 3 + s] * velocity[s]
                third += jacobian[2, s] * turning[s] + jacobian[2, 3 + s] * velocity[s]
    return first, second, third


@compiled
def enter_problem(
    model: SceneModel, contacts: SceneContacts, n: int, m: int, work: SceneWork
) -> None:
    """Copy `matrix`, `free` and the contacts' friction to the solver, which scales them.

    :param n: number of contacts
    :param m: number of rows of joints
    """
    # The solver scales its matrix in place; springs need the unscaled one again.
    space, size = work.space, 3 * n + m
    space.sizes[CONES], space.sizes[ROWS] = n, m
    for i in range(size):
        row, into = work.matrix[i], space.A[i]
        for j in range(i + 1):
            into[j] = space.A[j, i] = row[j]
        space.b[i] = work.free[i]
    enter_friction(model, contacts, n, work)


@compiled
def enter_friction(model: SceneModel, contacts: SceneContacts, n: int, work: SceneWork) -> None:
    """Enter the coefficients of friction of the listed contacts.

    :param n: number of contacts
    """
    for a in range(n):
        p = surface_of(model.table, contacts.pair[work.listed[a]])
        work.friction[a, 0] = model.table.surface[p, ALONG]
        work.friction[a, 1] = model.table.surface[p, ACROSS]
