# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""One classical Runge-Kutta step of fourth order on the robot's configuration space.

The implicit solve of the semi-implicit step (solver.py) gives sliding friction, contact forces,
and damping and springs too stiff for an explicit method; they are held over the step. Joints that
stick or rest at a limit do not move. A step in which a joint comes to rest, reverses, or reaches a
limit is semi-implicit as a whole.

Configurations of floating and planar joints are found by the exponential map (Runge-Kutta-Munthe-
Kaas): with q(t) = q(0) exp(u), the displacement obeys du/dt = v + u x v / 2 + u x (u x v) / 12 +
O(u^4 v).
"""

from __future__ import annotations

from typing import NamedTuple, Optional, TYPE_CHECKING

import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.compiler.loops import floats, NamedFunction
from rbd_ros.simulation.integrators.integrator import Integrator

if TYPE_CHECKING:
    from rbd_ros.simulation.differentiated_step import Point, System


class Stages(NamedTuple):
    """The stages of a step.

    :param q: q at the beginning of a substep
    :param v: v at the beginning of a substep
    :param held_force: generalized force that is constant over the substep [N m, N]
    :param implicit_v: velocity at its end that the implicit solve found
    :param displacement: u at a stage
    :param rate: du/dt at a stage
    :param acceleration: dv/dt at a stage
    :param total_rate: weighted sum of `rate` over the stages
    :param total_acceleration: weighted sum of `acceleration`
    :param first_bracket: [u, v]
    :param second_bracket: [u, [u, v]]
    """

    q: FloatArray = floats('nq')
    v: FloatArray = floats('nv')
    held_force: FloatArray = floats('nv')
    implicit_v: FloatArray = floats('nv')
    displacement: FloatArray = floats('nv')
    rate: FloatArray = floats('nv')
    acceleration: FloatArray = floats('nv')
    total_rate: FloatArray = floats('nv')
    total_acceleration: FloatArray = floats('nv')
    first_bracket: FloatArray = floats('nv')
    second_bracket: FloatArray = floats('nv')


def _derivative(system: System, at: Point, h: float) -> Optional[Point]:
    if system.model.stiff:
        raise ValueError(
            f'the damping, or a spring, of {system.robot.name!r} is too stiff for rk4 at '
            f"{system.model.timestep:g} s; use integrator='midpoint'"
        )
    if system.stuck.any():
        raise ValueError(
            'a joint sticks by friction, where the step of rk4 is not differentiable; use '
            "integrator='midpoint'"
        )
    none = np.zeros(len(at.v))
    # Stages are displacements u from the beginning, in the Lie algebra of the configurations; w is
    # the velocity of a stage, and `part` and `weight` are those of the classical method.
    u, w, du, dw = none, at.v, np.zeros_like(at.dv), at.dv
    shift, gain, dshift, dgain = none, none, np.zeros_like(du), np.zeros_like(du)
    for part, weight in ((0.5, 1.0), (0.5, 2.0), (1.0, 2.0), (0.0, 1.0)):
        q, dq = system.moved(at.q, at.dq, u, du)
        stage = at._replace(q=q, v=w, dq=dq, dv=dw)
        a, da = system.acceleration(stage, w, dw, none, system.elastic(stage, none, 0.0), h)
        # w + [u, w] / 2 + [u, [u, w]] / 12, as in `find_displacement_rate`.
        ad_u, ad_w = system.bracket(u), system.bracket(w)
        once = ad_u @ w
        donce = ad_u @ dw - ad_w @ du
        rate = w + 0.5 * once + ad_u @ once / 12.0
        drate = dw + 0.5 * donce + (ad_u @ donce - system.bracket(once) @ du) / 12.0
        shift, dshift = shift + weight * h / 6.0 * rate, dshift + weight * h / 6.0 * drate
        gain, dgain = gain + weight * h / 6.0 * a, dgain + weight * h / 6.0 * da
        u, du = part * h * rate, part * h * drate
        w, dw = at.v + part * h * a, at.dv + part * h * da
    q, dq = system.moved(at.q, at.dq, shift, dshift)
    return at._replace(q=q, v=at.v + gain, dq=dq, dv=at.dv + dgain)


RK4 = Integrator(
    name='rk4',
    order=4,
    step=NamedFunction('rbd_ros.simulation.stepping.runge_kutta_step', 'step_by_runge_kutta'),
    # In a stage, damping is explicit: each has its own velocity to damp.
    kernel='forward_dynamics',
    buffers=Stages,
    derivative=_derivative,
    with_loops=True,
)
