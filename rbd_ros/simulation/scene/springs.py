# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Hunt-Crossley springs in a world: f = K d^n (1 + c dd/dt), and never less than zero.

At the end of a step, the force depends on w alone, the velocity of compression: d = d_0 + h w and
dd/dt = w, with the depth d_0 at the beginning. It is a convex increasing function. The problem of
an island has its tangent at one w, like a linear spring (compliance.py). If the solution is off
the curve, each contact moves to the point of the curve that it would have with all others fixed,
and the problem is solved again with the tangents there: Newton's method, with few rounds thanks to
the warm start.
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

#: Maximum number of rounds of a problem with such springs, and of an unsolved one; maximum number
#: of steps to a point of a curve.
MAX_ROUNDS, FEW_ROUNDS, MAX_STEPS = 30, 3, 200

#: Maximum compliance of a contact in the problem, relative to its own mobility: almost flat
#: tangents become steeper, with an error of one part in a million per round.
SOFTEST = 1e6

#: Change of a velocity that counts as rounding.
ROUNDING = 4e-16

#: Velocity error of a contact on its curve, relative to that of the solver.
ON_CURVE = 2.0


@compiled
def is_nonlinear(model: SceneModel, contacts: SceneContacts, c: int) -> bool:
    """Return whether the spring of a contact is a Hunt-Crossley one."""
    row = surface_of(model.table, contacts.pair[c])
    curved: bool = model.table.surface[row, EXPONENT] > 0.0
    return curved


@compiled
def spring_impulse(surface: FloatArray, h: float, depth: float, w: float) -> Tuple[float, float]:
    """Return the impulse of a spring in a step [N s], and its derivative by w [kg].

    :param surface: row of the pair in the table
    :param h: time step [s]
    :param depth: depth at the beginning [m]
    :param w: velocity of compression [m/s]
    """
    K, n, c = surface[STIFFNESS], surface[EXPONENT], surface[DISSIPATION]
    d, factor = max(0.0, depth + h * w), max(0.0, 1.0 + c * w)
    power = d**n
    impulse: float = h * K * power * factor
    slope: float = h * K * (n * h * d ** (n - 1.0) * factor + c * power)
    return impulse, slope


@compiled
def release_velocity(surface: FloatArray, h: float, depth: float) -> float:
    """Return the release velocity of a surface: the largest w without force [m/s].

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
    :param mobility: velocity per impulse [1/kg]
    :param total: right-hand side [m/s]
    """
    low: float = release_velocity(surface, h, depth)
    if own > 0.0:
        if own * low >= total or mobility <= 0.0:
            return total / own
    # Newton's method starts above the root: the function is convex.
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
    """Compute the tangent of a contact's spring: compliance R and bias velocity.

    :param c: number of the contact
    :param h: time step [s]
    :param mobility: velocity per impulse of the contact [1/kg]
    :param w: velocity of compression at the tangent [m/s]
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
    """Compute the first tangent of a contact's spring, at its initial impulse.

    :param c: number of the contact
    :param h: time step [s]
    :param mobility: velocity per impulse of the contact [1/kg]
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
    """Compute the next tangent of a contact's spring; return the error of the last one [m/s].

    :param c: number of the contact
    :param h: time step [s]
    :param mobility: velocity per impulse of the contact [1/kg]
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
