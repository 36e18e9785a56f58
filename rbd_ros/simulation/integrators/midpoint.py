# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Stoermer-Verlet steps: half a step at v, forces there give v', half a step at v'.

The method is of second order and symmetric in time, so it conserves energy on average for any
duration (Hairer, Lubich and Wanner 2006, VI and XI). Forces that depend on velocity are those of
the mean (v + v') / 2, by fixed-point iteration. Damping acts on the mean velocity too, or on v' if
it is too stiff for that. Springs act at (q + q') / 2, or at q + h v' if they are stiff. The solver
(solver.py) finds Coulomb friction with H and C of the middle. The momentum of a free base is
conserved up to rounding (free_base.py).

Stops are not smooth: a step with a joint at a limit or an active contact is semi-implicit
(semi_implicit.py), as are the steps of robots with servos (joint_servo.py).
"""

from __future__ import annotations

from typing import NamedTuple, Optional, TYPE_CHECKING

import numpy as np

from rbd_ros.algorithms.inertia_matrix.midpoint_acceleration import ROUNDS
from rbd_ros.array_types import FloatArray
from rbd_ros.compiler.loops import floats, NamedFunction, view
from rbd_ros.simulation.integrators.integrator import FRICTION_ROUNDS, IN_MIDDLE, Integrator

if TYPE_CHECKING:
    from rbd_ros.simulation.differentiated_step import Point, System


class Middle(NamedTuple):
    """The middle of a step.

    :param packed: inputs of the kernel midpoint_acceleration, concatenated; kernels of q, or
        of q and v, read its beginning
    :param q: configuration there
    :param v: velocity there, or initial value of its iteration
    :param torque: generalized force less the damping of the velocity at the beginning [N m, N]
    :param duration: the time step, (1,) [s]
    :param start_q: q at the beginning of the step, while `state` is that of the middle
    """

    packed: FloatArray = view()
    q: FloatArray = floats('nq', within='packed')
    v: FloatArray = floats('nv', within='packed')
    torque: FloatArray = floats('nv', within='packed')
    duration: FloatArray = floats(1, within='packed')
    start_q: FloatArray = floats('nq')


def _derivative(system: System, at: Point, h: float) -> Optional[Point]:
    model = system.model
    if model.has_free_bases:  # whose momentum is corrected
        return None
    elastic = system.elastic(at, model.spring_lead, h)
    # The acceleration of the middle depends on the mean velocity, and vice versa: as many
    # iterations as in the step, each of them differentiated.
    q, dq = system.moved(at.q, at.dq, 0.5 * h * at.v, 0.5 * h * at.dv)
    a, da = np.zeros_like(at.v), np.zeros_like(at.dv)
    solved = model.frictional or (model.has_springs and h != model.timestep)
    for _ in range(FRICTION_ROUNDS if solved else ROUNDS):
        mean = at._replace(q=q, v=at.v + 0.5 * h * a, dq=dq, dv=at.dv + 0.5 * h * da)
        added = h * model.implicit_damping
        a, da = system.acceleration(mean, at.v, at.dv, added, elastic, h)
    v, dv = at.v + h * a, at.dv + h * da
    q, dq = system.moved(q, dq, 0.5 * h * v, 0.5 * h * dv)
    return at._replace(q=q, v=v, dq=dq, dv=dv)


MIDPOINT = Integrator(
    name='midpoint',
    order=2,
    step=NamedFunction('rbd_ros.simulation.stepping.midpoint_step', 'step_by_midpoint'),
    kernel='midpoint_acceleration',
    inertia=IN_MIDDLE,
    buffers=Middle,
    derivative=_derivative,
)
