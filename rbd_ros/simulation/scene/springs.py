# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Hunt and Crossley's springs in a world: f = K d^n (1 + c dd/dt), and never less than zero.

Taken at the end of a step, the force depends on w alone, the velocity at which the surface is
pressed in: d = d_0 + h w and dd/dt = w, if the depth at the beginning is d_0. It is a convex
function that does not fall. The problem of an island has its tangent at one w, as if the spring
were linear (compliance.py). Where the solution is beside the curve, each contact goes to the
point of it that it would take while all others stay, and the problem is solved again with the
tangents there: Newton's method, which takes few rounds as forces of the step before are near.
"""

from __future__ import annotations

from typing import Tuple

from rbd_ros.array_types import FloatArray
from rbd_ros.collision.scene.scene_arrays import (
    DISSIPATION,
    EXPONENT,
    SceneContacts,
    STIFFNESS,
    surface_of,
)
from rbd_ros.compiler.loops import compiled
from rbd_ros.simulation.scene.scene_state import SceneModel, SceneWork

#: Maximum number of rounds of a problem with such springs, and of one that is not solved; maximum
#: number of steps to a point of a curve.
MAX_ROUNDS, FEW_ROUNDS, MAX_STEPS = 30, 3, 200

#: Maximum compliance of a contact in the problem, by its own mobility: tangents that
#: are almost flat are taken for less flat ones, which errs by one part in a million a round.
SOFTEST = 1e6

#: Change of a velocity that counts as rounding.
ROUNDING = 4e-16

#: Velocity error by that of the solver up to which a contact is on its curve.
ON_CURVE = 2.0


@compiled
def is_nonlinear(model: SceneModel, contacts: SceneContacts, c: int) -> bool:
    """Return whether the spring of a contact is of Hunt and Crossley."""
    row = surface_of(model.table, contacts.pair[c])
    curved: bool = model.table.surface[row, EXPONENT] > 0.0
    return curved


@compiled
def spring_impulse(surface: FloatArray, h: float, depth: float, w: float) -> Tuple[float, float]:
    """Return the impulse of a spring in a step [N s], and its derivative by w [kg].

    :param surface: row of the pair in the table
    :param h: time step [s]
    :param depth: depth at the beginning [m]
    :param w: velocity at which the surface is pressed in [m/s]
    """
    K, n, c = surface[STIFFNESS], surface[EXPONENT], surface[DISSIPATION]
    d, factor = max(0.0, depth + h * w), max(0.0, 1.0 + c * w)
    power = d**n
    impulse: float = h * K * power * factor
    slope: float = h * K * (n * h * d ** (n - 1.0) * factor + c * power)
    return impulse, slope


@compiled
def release_velocity(surface: FloatArray, h: float, depth: float) -> float:
    """Return the velocity at which a surface is let go of: the largest w without force [m/s].

    :param surface: row of the pair in the table
    :param h: time step [s]
    :param depth: depth at the beginning [m]
    """
    w: float = -depth / h
    if surface[DISSIPATION] > 0.0:
        w = max(w, -1.0 / surface[DISSIPATION])
    return w


@compiled
def pressing_velocity(
    surface: FloatArray, h: float, depth: float, own: float, mobility: float, total: float
) -> float:
    """Solve own * w + mobility * impulse(w) = total; return w.

    :param surface: row of the pair in the table
    :param h: time step [s]
    :param depth: depth at the beginning [m]
    :param own: 1, or 0 to find the w of an impulse that is not zero
    :param mobility: velocity by impulse [1/kg]
    :param total: [m/s]
    """
    low: float = release_velocity(surface, h, depth)
    if own > 0.0:
        if own * low >= total or mobility <= 0.0:
            return total / own
    # From above the root, Newton's method goes down to it: the function is convex.
    most = (total - own * low) / mobility
    deepest = (most / (h * surface[STIFFNESS])) ** (1.0 / surface[EXPONENT])
    w: float = max(0.0, (deepest - depth) / h)
    if own > 0.0:
        w = min(w, total / own)
    for _ in range(MAX_STEPS):
        impulse, slope = spring_impulse(surface, h, depth, w)
        # Newton's method for a convex increasing function, from above: monotone, without
        # overshoot.
        rate = own + mobility * slope
        if rate <= 0.0:
            break
        step = (own * w + mobility * impulse - total) / rate
        if step <= ROUNDING * (abs(w) + depth / h):
            break
        w = max(low, w - step)
    return w


@compiled
def take_tangent(
    model: SceneModel,
    contacts: SceneContacts,
    c: int,
    h: float,
    mobility: float,
    w: float,
    work: SceneWork,
) -> None:
    """Find the tangent of a contact's spring: R and the velocity with R times the impulse.

    :param c: number of the contact
    :param h: time step [s]
    :param mobility: velocity by impulse of the contact [1/kg]
    :param w: where, velocity at which the surface is pressed in [m/s]
    """
    surface = model.table.surface[surface_of(model.table, contacts.pair[c])]
    gap = contacts.gap[c]
    depth = max(0.0, -gap)
    at = max(w, release_velocity(surface, h, depth))
    impulse, slope = spring_impulse(surface, h, depth, at)
    flattest = 1.0 / (SOFTEST * mobility) if mobility > 0.0 else 1.0 / SOFTEST
    R = 1.0 / max(slope, flattest)
    work.springs.compliance[c] = R
    work.springs.bias[c] = max(0.0, gap) / h + at - R * impulse


@compiled
def begin_spring(
    model: SceneModel,
    contacts: SceneContacts,
    c: int,
    h: float,
    mobility: float,
    impulse: float,
    work: SceneWork,
) -> None:
    """Find the first tangent of a contact's spring, at the impulse that it begins with.

    :param c: number of the contact
    :param h: time step [s]
    :param mobility: velocity by impulse of the contact [1/kg]
    :param impulse: along the normal [N s]
    """
    w = 0.0
    if impulse > 0.0:
        surface = model.table.surface[surface_of(model.table, contacts.pair[c])]
        depth = max(0.0, -contacts.gap[c])
        w = pressing_velocity(surface, h, depth, 0.0, 1.0, impulse)
    take_tangent(model, contacts, c, h, mobility, w, work)


@compiled
def follow_spring(
    model: SceneModel,
    contacts: SceneContacts,
    c: int,
    h: float,
    mobility: float,
    impulse: float,
    u: float,
    work: SceneWork,
) -> float:
    """Find the next tangent of a contact's spring; return the error of the last one [m/s].

    :param c: number of the contact
    :param h: time step [s]
    :param mobility: velocity by impulse of the contact [1/kg]
    :param impulse: along the normal, of the problem with the last tangent [N s]
    :param u: velocity along the normal of that problem, with compliance [m/s]
    """
    surface = model.table.surface[surface_of(model.table, contacts.pair[c])]
    gap, springs = contacts.gap[c], work.springs
    depth = max(0.0, -gap)
    w = springs.compliance[c] * impulse + springs.bias[c] - u - max(0.0, gap) / h
    nearest = pressing_velocity(surface, h, depth, 1.0, mobility, w + mobility * impulse)
    take_tangent(model, contacts, c, h, mobility, nearest, work)
    beside: float = abs(nearest - w)
    return beside
