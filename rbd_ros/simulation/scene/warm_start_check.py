# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Check whether the previous forces still solve the problem of an island, without its matrix.

Most contacts keep sticking or sliding. The Delassus matrix is Y Y^T (contact_problem.py), so the
effect of forces is Y (Y^T lambda), and the units of the problem follow from the lengths of Y's
rows: the check needs no products of rows with each other, of which there are many more.
"""

from __future__ import annotations

from typing import Tuple

from rbd_ros.array_types import FloatArray
from rbd_ros.collision.scene.scene_arrays import SceneContacts
from rbd_ros.compiler.loops import compiled, stack_array
from rbd_ros.constraints.friction_space import (
    BEST,
    CONTACTS as CONES,
    find_units,
    residual,
    ROWS,
    scale_vectors,
    size_of,
)
from rbd_ros.simulation.records.simulation_model import SimulationModel
from rbd_ros.simulation.scene.branch_sparsity import (
    add_along,
    add_rows_along,
    dot_along,
    rows_along,
    squares_along,
)
from rbd_ros.simulation.scene.compliance import contact_compliance, normal_bias
from rbd_ros.simulation.scene.contact_problem import enter_friction
from rbd_ros.simulation.scene.islands import at_robot
from rbd_ros.simulation.scene.scene_state import ContactState, SceneWork
from rbd_ros.simulation.scene.warm_start import begin_contact, begin_row
from rbd_ros.simulation.stepping.linear import add_scaled, clear


@compiled
def reuse_forces(
    model: SimulationModel, contact_state: ContactState, scene: SceneWork, n: int, m: int, h: float
) -> Tuple[bool, float]:
    """Set up a problem except for its matrix; return whether forces solve it, and U.

    If they do, the space holds them and their velocities, like a solution; else its contents are
    meaningless. Linear springs are supported, nonlinear ones and moments are not.

    :param n: number of contacts
    :param m: number of rows
    :param h: time step [s]
    :return: whether they solve the problem to the tolerance, and `scale_space`
    """
    space, contacts = scene.space, contact_state.contacts
    space.sizes[CONES], space.sizes[ROWS] = n, m
    # Products of Y with one vector instead of Y Y^T: O(rows nv) instead of O(rows^2 nv).
    enter_friction(model.scene, contacts, n, scene)
    for a in range(n):
        begin_contact(space, scene.friction[a], a, contact_state.impulse[scene.listed[a]])
    for k in range(m):
        begin_row(space, scene, n, k)
    # y = Y^T lambda, then A lambda = Y y, row by row; the diagonal is the squared length of a row.
    add_responses(model, contacts, scene, n, m)
    for a in range(n):
        enter_contact(model, contacts, scene, a, h)
    for k in range(m):
        i, leaf, y = 3 * n + k, scene.row_leaf_dof[k // 3], scene.row_response[k // 3, k % 3]
        space.b[i] = scene.free[i]
        space.u[i] = dot_along(model.tree, leaf, y, scene.response_sum)
        space.scale[i] = dot_along(model.tree, leaf, y, y)
    # Scaling needs the diagonal blocks only.
    unit: float = find_units(space, scene.friction)
    scale_vectors(space, unit)
    # u = A x + b in scaled units, as the solver computes it.
    for i in range(size_of(space)):
        space.u[i] = space.b[i] + space.u[i] * (space.scale[i] / (unit * unit))
    space.report[BEST] = 0.0  # nothing is better, so nothing is stored
    # The same criterion as in the solver: forces are kept only if they solve the problem.
    kept: bool = residual(space) <= model.scene.tolerance
    return kept, unit


@compiled
def add_responses(
    model: SimulationModel, contacts: SceneContacts, scene: SceneWork, n: int, m: int
) -> None:
    """Compute Y^T lambda: the effect of all forces of a problem on the robot and the objects.

    :param n: number of contacts
    :param m: number of rows
    """
    x, force = scene.space.x, stack_array(3)
    clear(scene.response_sum)
    for a in range(n):
        for side in range(2):
            o = contacts.body_id[scene.listed[a], side] - model.scene.first_object
            if o >= 0:
                clear(scene.object_sum[o])
    for a in range(n):
        c = scene.listed[a]
        for r in range(3):
            force[r] = x[3 * a + r]
        # No normal force, no friction: the contact has no effect.
        if force[0] == 0.0:
            continue
        if model.has_robot:
            if at_robot(model.scene, contacts, c):
                add_rows_along(
                    model.tree, scene.leaf_dof[c], force, scene.response[c], scene.response_sum
                )
        for side in range(2):
            o = contacts.body_id[c, side] - model.scene.first_object
            if o >= 0:
                for r in range(3):
                    add_scaled(force[r], scene.object_response[c, side, r], scene.object_sum[o])
    for k in range(m):
        f, y = x[3 * n + k], scene.row_response[k // 3, k % 3]
        if f != 0.0:
            add_along(model.tree, scene.row_leaf_dof[k // 3], f, y, scene.response_sum)


@compiled
def enter_contact(
    model: SimulationModel, contacts: SceneContacts, scene: SceneWork, a: int, h: float
) -> None:
    """Compute a contact's velocity without forces, their effect on it, and its diagonal.

    :param a: number of the contact in the problem
    :param h: time step [s]
    """
    space, c, i = scene.space, scene.listed[a], 3 * a
    u, diagonal = stack_array(3), stack_array(3)
    clear(u)
    clear(diagonal)
    if model.has_robot:
        if at_robot(model.scene, contacts, c):
            leaf, Y = scene.leaf_dof[c], scene.response[c]
            u[0], u[1], u[2] = rows_along(model.tree, leaf, Y, scene.response_sum)
            diagonal[0], diagonal[1], diagonal[2] = squares_along(model.tree, leaf, Y)
    for side in range(2):
        o = contacts.body_id[c, side] - model.scene.first_object
        if o >= 0:
            jacobian, response = scene.object_jacobian[c, side], scene.object_response[c, side]
            for r in range(3):
                u[r] += dot6(jacobian[r], scene.object_sum[o])
                diagonal[r] += dot6(jacobian[r], response[r])
    # A spring adds its compliance to the diagonal, as in `add_compliance`.
    compliance = contact_compliance(model.scene, contacts, c, h, scene)
    u[0] += compliance * space.x[i]
    diagonal[0] += compliance
    for r in range(3):
        space.b[i + r] = scene.free[i + r]
        space.u[i + r] = u[r]
        space.scale[i + r] = diagonal[r]
    space.b[i] += normal_bias(model.scene, contacts, c, h, scene)


@compiled
def dot6(x: FloatArray, y: FloatArray) -> float:
    """Return the scalar product of two vectors of six elements, by two independent sums."""
    product: float = (x[0] * y[0] + x[1] * y[1] + x[2] * y[2]) + (
        x[3] * y[3] + x[4] * y[4] + x[5] * y[5]
    )
    return product
