# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Compliant contacts in a world: springs and dampers along normals, in the rigid problem.

A contact deforms under f = max(0, K d + D dd/dt), with d the depth, like a massless surface. At
the end of a step d = d_0 - h v with the separation velocity v. So the impulse h f satisfies
v + R (h f) + b >= 0, one of the two being zero, with R = 1 / (h (h K + D)) and
b = -K d_0 / (h K + D): a rigid contact with R on the diagonal of its matrix and a bias velocity.
A gap may close within the step; from then on the surface, not deformed yet, moves with the body.
Nonlinear springs are in springs.py.
"""

from __future__ import annotations

from rbd_ros.collision.scene.scene_arrays import DAMPING, SceneContacts, STIFFNESS, surface_of
from rbd_ros.compiler.loops import compiled
from rbd_ros.simulation.scene.islands import at_robot
from rbd_ros.simulation.scene.scene_state import SceneModel, SceneWork
from rbd_ros.simulation.scene.springs import is_nonlinear
from rbd_ros.simulation.stepping.displacement import CLOSED


@compiled
def is_compliant(model: SceneModel, contacts: SceneContacts, c: int) -> bool:
    """Return whether a contact is compliant."""
    row = surface_of(model.table, contacts.pair[c])
    compliant: bool = model.table.surface[row, STIFFNESS] > 0.0
    return compliant


@compiled
def contact_compliance(
    model: SceneModel, contacts: SceneContacts, c: int, h: float, work: SceneWork
) -> float:
    """Return the compliance R of a contact, velocity per impulse [1/kg]; zero if it is rigid.

    :param c: number of the contact
    :param h: time step [s]
    """
    if model.has_nonlinear_springs:
        if is_nonlinear(model, contacts, c):
            tangent: float = work.springs.compliance[c]
            return tangent
    surface = model.table.surface[surface_of(model.table, contacts.pair[c])]
    # Implicit Euler: stable for any stiffness and time step.
    if surface[STIFFNESS] > 0.0:
        R: float = 1.0 / (h * (h * surface[STIFFNESS] + surface[DAMPING]))
        return R
    return 0.0


@compiled
def normal_bias(
    model: SceneModel, contacts: SceneContacts, c: int, h: float, work: SceneWork
) -> float:
    """Return the normal velocity of a contact that needs no impulse [m/s].

    :param c: number of the contact
    :param h: time step [s]
    """
    if model.has_nonlinear_springs:
        if is_nonlinear(model, contacts, c):
            tangent: float = work.springs.bias[c]
            return tangent
    gap = contacts.gap[c]
    # A gap may close within the step. For free bodies alone, any gap: faces hold them without
    # contradictions, and a cube of a gram under a ton must not react late.
    closed = CLOSED if at_robot(model, contacts, c) else 0.0
    bias: float = gap / h if gap > closed else 0.0
    if gap < 0.0:
        surface = model.table.surface[surface_of(model.table, contacts.pair[c])]
        if surface[STIFFNESS] > 0.0:
            # b = -K d_0 / (h K + D) with d_0 = -gap: the release velocity of the spring alone.
            bias = surface[STIFFNESS] * gap / (h * surface[STIFFNESS] + surface[DAMPING])
    return bias


@compiled
def add_compliance(
    model: SceneModel, contacts: SceneContacts, n: int, h: float, work: SceneWork
) -> None:
    """Add compliance and bias velocities of listed contacts to the problem.

    :param n: number of contacts
    :param h: time step [s]
    """
    A, b = work.space.A, work.space.b
    for a in range(n):
        b[3 * a] += normal_bias(model, contacts, work.listed[a], h, work)
        A[3 * a, 3 * a] += contact_compliance(model, contacts, work.listed[a], h, work)
