# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Poisson's law of restitution: expansion returns a part of the compression impulse.

Compression is the frictional problem of an impact without rebound: it ends when no contact
approaches any more. In expansion the normal impulses are e times those of compression. Friction
again dissipates the most energy that its cone allows, now for a known normal impulse: tangential
impulses are moments of constraints/friction_space.py, bounded by contacts that only their own
force moves. With one coefficient for all simultaneous impacts, energy cannot grow: e times the
friction of compression would dissipate enough, and the solution dissipates the most.
"""

from __future__ import annotations

from rbd_ros.collision.scene.scene_arrays import (
    ACROSS,
    ALONG,
    RESTITUTION,
    ROLLING,
    SceneContacts,
    surface_of,
    TORSIONAL,
)
from rbd_ros.compiler.loops import compiled
from rbd_ros.constraints.friction_space import (
    ALONE,
    CONTACTS as CONES,
    FIRST,
    MOMENTS,
    ROWS,
    scale_space,
    SECOND,
    size_of,
)
from rbd_ros.constraints.solvers.friction_solver import COMBINED, solve_friction_space
from rbd_ros.simulation.scene.contact_problem import entry
from rbd_ros.simulation.scene.scene_state import SceneModel, SceneWork

#: Compiled without unrolled loops, see `runs_seldom`.
SELDOM = True


@compiled
def expand(
    model: SceneModel, contacts: SceneContacts, n: int, moments: int, work: SceneWork
) -> bool:
    """Add impulses of expansion to those of compression, `impact_impulse`; return if exact.

    :param n: number of listed contacts
    :param moments: number of those with friction moments
    """
    space, rough, solved = work.space, False, True
    for a in range(n):
        surface = model.table.surface[surface_of(model.table, contacts.pair[work.listed[a]])]
        # Poisson: the normal impulse of expansion is e times that of compression. Kept here until
        # the end.
        work.rebound[a] = surface[RESTITUTION] * work.impact_impulse[a, 0]
        rough = rough or surface[ALONG] > 0.0 or surface[ACROSS] > 0.0
    if rough or moments > 0:
        enter_expansion(model, contacts, n, moments, work)
        scale_space(space, work.friction)
        solved = solve_friction_space(space, COMBINED, model.iterations, model.tolerance)
        for i in range(2 * n):
            at = 3 * n + i
            work.impact_impulse[i // 2, 1 + i % 2] += space.scale[at] * space.x[at]
        for i in range(3 * moments):
            at = 5 * n + i
            work.friction_moments.impact[i // 3, i % 3] += space.scale[at] * space.x[at]
        # Restored: the next problem may have no moments.
        space.sizes[MOMENTS] = 3 * moments
    for a in range(n):
        work.impact_impulse[a, 0] += work.rebound[a]
    return solved


@compiled
def enter_expansion(
    model: SceneModel, contacts: SceneContacts, n: int, moments: int, work: SceneWork
) -> None:
    """Set up the problem of friction and moments with the known normal impulses `rebound`.

    :param n: number of listed contacts
    :param moments: number of those with friction moments
    """
    space, G = work.space, work.matrix
    space.sizes[CONES], space.sizes[ROWS], space.sizes[MOMENTS] = n, 0, 2 * n + 3 * moments
    for i in range(size_of(space)):
        space.x[i] = space.b[i] = 0.0
        for j in range(size_of(space)):
            space.A[i, j] = 0.0
    for a in range(n):
        surface = model.table.surface[surface_of(model.table, contacts.pair[work.listed[a]])]
        # Its force is known and moves nothing else: a row by itself, u_n = G_nn (x_n - known),
        # whose solution is the known impulse, which bounds moments.
        space.A[3 * a, 3 * a] = G[3 * a, 3 * a]
        space.b[3 * a] = -G[3 * a, 3 * a] * work.rebound[a]
        work.friction[a, 0] = work.friction[a, 1] = 0.0
        space.slip[a] = 0.0
        space.part[2 * a], space.part[2 * a + 1] = FIRST, SECOND
        space.coefficient[2 * a], space.coefficient[2 * a + 1] = surface[ALONG], surface[ACROSS]
        for r in range(2):
            space.moment_contact[2 * a + r] = a
    for k in range(moments):
        a, row = work.friction_moments.listed[k], 2 * n + 3 * k
        surface = model.table.surface[surface_of(model.table, contacts.pair[work.listed[a]])]
        space.part[row], space.part[row + 1], space.part[row + 2] = ALONE, FIRST, SECOND
        for r in range(3):
            space.moment_contact[row + r] = a
            space.coefficient[row + r] = surface[TORSIONAL] if r == 0 else surface[ROLLING]
    for i in range(space.sizes[MOMENTS]):
        at, row = 3 * n + i, row_of(n, i)
        for j in range(i + 1):
            column = row_of(n, j)
            space.A[at, 3 * n + j] = space.A[3 * n + j, at] = G[row, column]
        # The velocity after compression, and the change by the normal impulses of expansion.
        velocity = work.free[row]
        for b in range(n):
            for s in range(3):
                impulse = work.impact_impulse[b, s]
                if s == 0:
                    impulse += work.rebound[b]
                velocity += entry(work, row, 3 * b + s) * impulse
        for k in range(moments):
            for s in range(3):
                velocity += (
                    entry(work, row, 3 * n + 3 * k + s) * work.friction_moments.impact[k, s]
                )
        space.b[at] = velocity


@compiled
def row_of(n: int, i: int) -> int:
    """Return the row of the Delassus matrix for a tangential impulse or a friction moment.

    :param n: number of contacts
    :param i: number of the impulse
    """
    return 3 * (i // 2) + 1 + i % 2 if i < 2 * n else n + i
