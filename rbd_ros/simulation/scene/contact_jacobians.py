# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Jacobians of contacts: of the robot by its joints, of objects by their velocities."""

from __future__ import annotations

from rbd_ros.array_types import FloatArray
from rbd_ros.collision.scene.scene_arrays import SceneContacts
from rbd_ros.compiler.loops import compiled, stack_array
from rbd_ros.simulation.records.simulation_model import SimulationModel, Tree
from rbd_ros.simulation.scene.branch_sparsity import clear_along
from rbd_ros.simulation.scene.islands import node_of
from rbd_ros.simulation.scene.scene_state import SceneModel, SceneWork


@compiled
def find_jacobians(
    model: SimulationModel,
    columns: FloatArray,
    contacts: SceneContacts,
    count: int,
    work: SceneWork,
) -> bool:
    """Compute Jacobians of contacts, and for objects also their responses.

    :param columns: motion columns of the tree in base coordinates, (tree_nv, 6)
    :param count: number of contacts
    :return: whether the robot is at any of them
    """
    scene, robot = model.scene, False
    for c in range(count):
        J, position, frame = work.jacobian[c], contacts.position[c], contacts.frame[c]
        work.leaf_dof[c] = leaf_dof_of(model, contacts, c)
        for r in range(3):
            # On the path only: other elements are never read (branch-induced sparsity).
            clear_along(model.tree, work.leaf_dof[c], J[r])
        for side in range(2):
            body = contacts.body_id[c, side]
            node = node_of(scene, body)
            # Velocity of the second body relative to the first: positive along the normal
            # separates.
            sign = -1.0 if side == 0 else 1.0
            if node == 0:
                robot = True
                add_jacobian(model.tree, columns, body, sign, position, frame, J)
            elif node > 0:
                find_object_jacobian(
                    scene,
                    work,
                    node - 1,
                    sign,
                    position,
                    frame,
                    work.object_jacobian[c, side],
                    work.object_response[c, side],
                )
    return robot


@compiled
def leaf_dof_of(model: SimulationModel, contacts: SceneContacts, c: int) -> int:
    """Return the degree of freedom whose path has all that move a contact, -1 if none has."""
    first, second = contacts.body_id[c, 0], contacts.body_id[c, 1]
    a = model.tree.leaf_dof[first] if 0 < first < model.scene.first_object else -2
    b = model.tree.leaf_dof[second] if 0 < second < model.scene.first_object else -2
    # -2: not a body of the robot. The path is that of the other body, or -1.
    if a == -2 or b == -2:
        return max(a, b)
    leaf = -1
    if a >= 0 and b >= 0:
        # Two links of one branch: the path of the deeper one includes the other. Children have
        # larger numbers than their parents.
        common = model.tree.common_ancestor[a, b]
        if common == a or common == b:
            leaf = max(a, b)
    return leaf


@compiled
def add_jacobian(
    tree: Tree,
    columns: FloatArray,
    body: int,
    sign: float,
    point: FloatArray,
    frame: FloatArray,
    J: FloatArray,
) -> None:
    """Add the Jacobian of the velocity of a point of the robot along normal and tangents.

    :param columns: motion columns of the tree in base coordinates, (tree_nv, 6)
    :param body: number of the body
    :param sign: 1, or -1 to subtract it
    :param point: the point in base coordinates, (3,) [m]
    :param frame: normal and tangents, (3, 3)
    :param J: the sum, (3, nv)
    """
    x, y, z = point[0], point[1], point[2]
    n, s, t = frame[0], frame[1], frame[2]
    J_n, J_s, J_t = J[0], J[1], J[2]
    for at in range(tree.support_first[body], tree.support_first[body + 1]):
        k = tree.support[at]
        i, ratio, column = tree.dof_index[k], sign * tree.dof_ratio[k], columns[k]
        # Velocity of the point by that of the joint, v + w x p.
        a = ratio * (column[3] + column[1] * z - column[2] * y)
        b = ratio * (column[4] + column[2] * x - column[0] * z)
        c = ratio * (column[5] + column[0] * y - column[1] * x)
        J_n[i] += n[0] * a + n[1] * b + n[2] * c
        J_s[i] += s[0] * a + s[1] * b + s[2] * c
        J_t[i] += t[0] * a + t[1] * b + t[2] * c


@compiled
def find_object_jacobian(
    model: SceneModel,
    work: SceneWork,
    o: int,
    sign: float,
    point: FloatArray,
    frame: FloatArray,
    jacobian: FloatArray,
    response: FloatArray,
) -> None:
    """Compute the Jacobian of an object at a contact, and its response to impulses there.

    :param o: number of the object
    :param sign: 1, or -1 if it is the first of the two
    :param point: the contact point, (3,) [m]
    :param frame: normal and tangents, (3, 3)
    :param jacobian: contact velocity per angular and linear velocity; a result, (3, 6)
    :param response: change of these velocities per impulse; a result, (3, 6)
    """
    center, bodies, arm = model.bodies.center[o], model.bodies, stack_array(3)
    pose = work.buffers.pose[model.first_object + o]
    for s in range(3):
        # From the center of mass, which lies at R c from the origin of the object.
        turned = (
            pose[3 * s] * center[0] + pose[3 * s + 1] * center[1] + pose[3 * s + 2] * center[2]
        )
        arm[s] = point[s] - pose[9 + s] - turned
    for r in range(3):
        for s in range(3):
            t, u = (s + 1) % 3, (s + 2) % 3
            # (arm x n) . omega + n . v of the center of mass.
            jacobian[r, s] = sign * (arm[t] * frame[r, u] - arm[u] * frame[r, t])
            jacobian[r, 3 + s] = sign * frame[r, s]
        for s in range(3):
            # M^-1 J^T: `mobility` is I^-1 in world coordinates, symmetric, so rows serve as
            # columns.
            response[r, s] = dot3(work.mobility[o, s], jacobian[r])
            response[r, 3 + s] = jacobian[r, 3 + s] / bodies.mass[o]


@compiled
def dot3(a: FloatArray, b: FloatArray) -> float:
    """Return the scalar product of the first three components."""
    product: float = a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    return product
