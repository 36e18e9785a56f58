# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Semi-implicit Euler steps: v' from the forces at q and v, then q' from v'.

Damping, springs, servos, joint friction, limits and contacts act at the end of the step
(solver.py). A robot without contacts, Coulomb friction and servos that reaches no limit needs the
articulated-body algorithm alone.
"""

from __future__ import annotations

from typing import Optional, TYPE_CHECKING

import numpy as np

from rbd_ros.compiler.loops import NamedFunction
from rbd_ros.simulation.integrators.integrator import AT_END, Integrator

if TYPE_CHECKING:
    from rbd_ros.simulation.differentiated_step import Point, System


def _derivative(system: System, at: Point, h: float) -> Optional[Point]:
    if system.model.has_free_bases:  # whose momentum is corrected
        return None
    # v' = v + h a(q, v), then q' = q exp(h v'): symplectic Euler, with damping at the new
    # velocity, which adds h D to the inertia.
    elastic = system.elastic(at, np.ones(len(at.v)), h)
    a, da = system.acceleration(at, at.v, at.dv, h * system.model.damping, elastic, h)
    v, dv = at.v + h * a, at.dv + h * da
    q, dq = system.moved(at.q, at.dq, h * v, h * dv)
    return at._replace(q=q, v=v, dq=dq, dv=dv)


SEMI_IMPLICIT = Integrator(
    name='semi_implicit',
    order=1,
    step=NamedFunction('rbd_ros.simulation.stepping.semi_implicit_step', 'step_by_euler'),
    kernel='forward_dynamics',
    inertia=AT_END,
    derivative=_derivative,
    forces_in_middle=False,
    with_loops=True,
    with_loops_in_world=True,
)
