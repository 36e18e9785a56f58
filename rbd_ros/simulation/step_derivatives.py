# SPDX-License-Identifier: Apache-2.0
"""Derivatives of a smooth step of `Simulator` by its state and its torque.

They are those of the discrete map that the integrator is, by the chain rule through its stages,
not of the motion in continuous time; from those of inverse dynamics (`Robot.derivatives`). On
joints whose velocities do not commute, displacements u are differentiated by the derivative of the
exponential, sum of (-ad u)^k / (k + 1)! with the bracket ad u of velocities. What corrects the
momentum of free bases, and external wrenches, have no such text: see step_differences.py.
"""

from __future__ import annotations

from typing import Callable, Dict, NamedTuple, Tuple, TYPE_CHECKING

import numpy as np
from scipy.linalg import expm

from rbd_ros.algorithms.inertia_matrix.midpoint_acceleration import ROUNDS
from rbd_ros.contact.contact_arrays import BoolArray, FloatArray, IntArray
from rbd_ros.robot import Robot
from rbd_ros.robot.wraparound import Wraparound
from rbd_ros.simulation.integrators.midpoint import ROUNDS as ROUNDS_OF_FRICTION
from rbd_ros.simulation.integrators.step_division import count_substeps, find_substep
from rbd_ros.simulation.records.simulation_model import SimulationModel
from rbd_ros.simulation.records.simulation_state import FORCES, Servo, WHOLE
from rbd_ros.simulation.step_differences import differences, NOT_SMOOTH
from rbd_ros.simulation.stepping.joint_law import BACKWARD, FORWARD, STICK
from rbd_ros.simulation.stepping.joint_servo import FREE

if TYPE_CHECKING:
    from rbd_ros.simulation.simulator import Simulator

#: Difference between the step found here and the simulator's that counts as rounding, relative to
#: the velocity.
_ROUNDING = 1e-8


class StepDerivatives(NamedTuple):
    """State after a step, and its derivatives by the state before and by the torque.

    Derivatives of and by configurations are along the velocities, as in `Robot.derivatives`: a
    quaternion counts as the three degrees of freedom that it has.

    :param q: configuration after the step, (nq,) [rad, m]
    :param v: velocity after it, (nv,) [rad/s, m/s]
    :param dq_dq: change of that configuration by the one before, (nv, nv)
    :param dq_dv: by the velocity before, (nv, nv)
    :param dq_dtau: by the torque, (nv, nv)
    :param dv_dq: change of the velocity by the configuration before, (nv, nv)
    :param dv_dv: by the velocity before, (nv, nv)
    :param dv_dtau: by the torque, (nv, nv)
    """

    q: FloatArray
    v: FloatArray
    dq_dq: FloatArray
    dq_dv: FloatArray
    dq_dtau: FloatArray
    dv_dq: FloatArray
    dv_dv: FloatArray
    dv_dtau: FloatArray


class _Point(NamedTuple):
    """An intermediate state, and its derivatives by initial state and torque.

    :param dq: derivative of q along the velocities at q, (nv, 3 nv)
    :param dv: derivative of v, (nv, 3 nv)
    """

    q: FloatArray
    v: FloatArray
    dq: FloatArray
    dv: FloatArray


class _System(NamedTuple):
    """System that moves, and the forces on it.

    :param tau: torque within the effort limits, and the friction of joints that slide, (nv,)
    :param dtau: its derivative, (nv, 3 nv)
    :param stuck: which joints come to rest by friction, or stay there, (nv,) of bool
    :param driven: whether there are servos, with which steps are semi-implicit
    :param servo: servos
    :param kp: their gains where the torque is not cut, 0 elsewhere, (nv,)
    :param kd: likewise for velocities, (nv,)
    """

    robot: Robot
    model: SimulationModel
    tau: FloatArray
    dtau: FloatArray
    stuck: BoolArray
    driven: bool
    servo: Servo
    kp: FloatArray
    kd: FloatArray

    def elastic(
        self, start: _Point, lead: FloatArray, h: float
    ) -> Tuple[FloatArray, FloatArray, FloatArray]:
        """Return the force of springs and servos, its derivative, and their part in H's diagonal.

        :param lead: part of the step after which springs are looked at, (nv,)
        :param h: time step [s], 0 for where they are
        """
        model, position = self.model, np.maximum(self.model.position, 0)
        # A joint with one degree of freedom has one position, which changes by its velocity.
        # Springs are implicit, at s = h lead after the beginning: x(s) = x + s v + s^2 a. The part
        # with the unknown acceleration a moves to the left side, as s^2 K on the diagonal of H.
        x, dx = start.q[position], start.dq
        ahead, dahead = h * lead * start.v, h * lead[:, None] * start.dv
        force = -model.stiffness * (x + ahead - model.spring_rest)
        change = -model.stiffness[:, None] * (dx + dahead)
        added = (h * lead) ** 2 * model.stiffness
        if self.driven:
            # Likewise the servo, at the end of the step: position x + h v + h^2 a, and
            # velocity v + h a.
            away = Wraparound(self.robot.position_periods)(self.servo.q - x)
            force += self.kp * (away - h * start.v)
            force += self.kd * (self.servo.v - start.v)
            change -= self.kp[:, None] * (dx + h * start.dv) + self.kd[:, None] * start.dv
            added = added + h * self.kd + h * h * self.kp
        return force, change, added

    def bracket(self, u: FloatArray) -> FloatArray:
        """Return the matrix ad u of the bracket [u, v] of velocities, (nv, nv)."""
        result = np.zeros((len(u), len(u)))
        for (i, j, k), value in zip(self.model.bracket_index, self.model.bracket_value):
            result[i, k] += value * u[j]
        return result

    def moved(
        self, q: FloatArray, dq: FloatArray, u: FloatArray, du: FloatArray
    ) -> Tuple[FloatArray, FloatArray]:
        """Return q exp(u), and its derivative."""
        if self.model.is_flat:
            return q + u, dq + du
        # (q exp(u)) exp(w) for small changes: what dq moves at the beginning is carried along the
        # displacement by exp(-ad u); a change of u itself counts by the derivative of the
        # exponential.
        n = len(u)
        # exp of [[-ad u, 1], [0, 0]] has exp(-ad u) and the sum over (-ad u)^k / (k + 1)!.
        both = np.zeros((2 * n, 2 * n))
        both[:n, :n] = -self.bracket(u)
        both[:n, n:] = np.eye(n)
        power = expm(both)[:n]
        end = np.asarray(self.robot.integrate(q, u, 1.0))
        return end, power[:, :n] @ dq + power[:, n:] @ du

    def acceleration(
        self,
        at: _Point,
        damped: FloatArray,
        ddamped: FloatArray,
        added: FloatArray,
        elastic: Tuple[FloatArray, FloatArray, FloatArray],
        h: float,
    ) -> Tuple[FloatArray, FloatArray]:
        """Return the solution a of (H + added) a + C = tau - damping, and its derivative.

        :param damped: that velocity, (nv,)
        :param ddamped: its derivative, (nv, 3 nv)
        :param added: to the diagonal of H, (nv,)
        :param elastic: what `elastic` returned
        :param h: time in which what is stuck loses that velocity [s]
        """
        damping = self.model.damping
        # Implicit differentiation of ID(q, v, a) + added a = f, where ID = H a + C:
        # (H + added) da = df - dID/dq dq - dID/dv dv. The derivative of H is part of that of ID.
        H = self.robot.mass_matrix(at.q) + np.diag(added + elastic[2])
        force = self.tau + elastic[0] - damping * damped - self.robot.bias_force(at.q, at.v)
        # Joints that stick lose their velocity within the step, whatever the forces: a = -v / h.
        H[self.stuck] = np.eye(len(force))[self.stuck]
        force[self.stuck] = -damped[self.stuck] / h
        a = np.asarray(np.linalg.solve(H, force), dtype=float)
        inverse = self.robot.derivatives.inverse_dynamics(at.q, at.v, a)
        change = self.dtau + elastic[1] - damping[:, None] * ddamped
        change -= inverse.dtau_dq @ at.dq + inverse.dtau_dv @ at.dv
        change[self.stuck] = -ddamped[self.stuck] / h
        return a, np.asarray(np.linalg.solve(H, change), dtype=float)


def _semi_implicit(system: _System, at: _Point, h: float) -> _Point:
    # v' = v + h a(q, v), then q' = q exp(h v'): symplectic Euler, with damping at the new
    # velocity, which adds h D to the inertia.
    elastic = system.elastic(at, np.ones(len(at.v)), h)
    a, da = system.acceleration(at, at.v, at.dv, h * system.model.damping, elastic, h)
    v, dv = at.v + h * a, at.dv + h * da
    q, dq = system.moved(at.q, at.dq, h * v, h * dv)
    return _Point(q, v, dq, dv)


def _midpoint(system: _System, at: _Point, h: float) -> _Point:
    elastic = system.elastic(at, system.model.spring_lead, h)
    # The acceleration of the middle depends on the mean velocity, which depends on it: as many
    # rounds of substitution as the simulator makes, each of them differentiated.
    q, dq = system.moved(at.q, at.dq, 0.5 * h * at.v, 0.5 * h * at.dv)
    a, da = np.zeros_like(at.v), np.zeros_like(at.dv)
    # What the solver is needed for, see midpoint.py.
    model = system.model
    divided = model.has_springs and h != model.timestep
    solved = model.frictional or divided
    for _ in range(ROUNDS_OF_FRICTION if solved else ROUNDS):
        mean = _Point(q, at.v + 0.5 * h * a, dq, at.dv + 0.5 * h * da)
        added = h * system.model.implicit_damping
        a, da = system.acceleration(mean, at.v, at.dv, added, elastic, h)
    v, dv = at.v + h * a, at.dv + h * da
    q, dq = system.moved(q, dq, 0.5 * h * v, 0.5 * h * dv)
    return _Point(q, v, dq, dv)


def _runge_kutta(system: _System, at: _Point, h: float) -> _Point:
    none = np.zeros(len(at.v))
    # Runge-Kutta-Munthe-Kaas: stages are displacements u from the beginning, in the Lie algebra of
    # the configurations; w is the velocity of a stage, and `part` and `weight` are those of the
    # classical method of order 4.
    u, w, du, dw = none, at.v, np.zeros_like(at.dv), at.dv
    shift, gain, dshift, dgain = none, none, np.zeros_like(du), np.zeros_like(du)
    for part, weight in ((0.5, 1.0), (0.5, 2.0), (1.0, 2.0), (0.0, 1.0)):
        q, dq = system.moved(at.q, at.dq, u, du)
        stage = _Point(q, w, dq, dw)
        a, da = system.acceleration(stage, w, dw, none, system.elastic(stage, none, 0.0), h)
        # w + [u, w] / 2 + [u, [u, w]] / 12, as in runge_kutta.py.
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
    return _Point(q, at.v + gain, dq, at.dv + dgain)


_STEPS: Dict[str, Callable[[_System, _Point, float], _Point]] = {
    'semi_implicit': _semi_implicit,
    'midpoint': _midpoint,
    'rk4': _runge_kutta,
}


def step_derivatives(simulator: Simulator, tau: FloatArray) -> StepDerivatives:
    """See `Simulator.step_derivatives`."""
    physics = simulator.physics
    model, n = physics.model, physics.robot.nv
    _require_smooth(simulator)
    corrected = model.has_free_bases and not model.runge_kutta
    if corrected or physics.state.counters[FORCES] > 0:
        q, v, D = differences(simulator, tau)
        return StepDerivatives(q, v, *np.hsplit(D[:n], 3), *np.hsplit(D[n:], 3))
    taken = _taken(simulator, tau)
    slides = np.select([taken.segment == FORWARD, taken.segment == BACKWARD], [-1.0, 1.0])
    # What is cut at the effort limit does not change with what is asked.
    applied, free = np.clip(tau, -model.effort, model.effort), np.abs(tau) <= model.effort
    servo = physics.state.servo
    # A servo replaces the torque of its joint; cut at the effort limit, it is constant as well.
    driven = (servo.kp > 0.0) | (servo.kd > 0.0)
    if driven.any():
        free = np.where(driven, taken.servo_segment == FREE, free)
        applied = np.where(driven, np.where(free, tau, taken.applied), applied)
    dtau = np.zeros((n, 3 * n))
    dtau[:, 2 * n :] = np.diag(free.astype(float))
    stuck = (taken.segment == STICK) & (model.friction > 0.0)
    system = _System(
        physics.robot,
        model,
        applied + slides * model.friction,
        dtau,
        stuck,
        bool(driven.any()),
        servo,
        np.where(free, servo.kp, 0.0),
        np.where(free, servo.kd, 0.0),
    )
    # Columns are derivatives by q, v and tau at the beginning, in this order.
    nothing, one = np.zeros((n, n)), np.eye(n)
    at = _Point(
        simulator.q,
        simulator.v,
        np.hstack([one, nothing, nothing]),
        np.hstack([nothing, one, nothing]),
    )
    step = _semi_implicit if system.driven else _STEPS[simulator.integrator]
    # Substeps are as long as those of the simulator. Their number and lengths are piecewise
    # constant in the state, so they are not differentiated.
    parts = count_substeps(model, at.v)
    for _ in range(parts):
        left = model.timestep / parts
        while left > 0.0:
            h = _substep(simulator, at, left) if taken.divided else left
            at = step(system, at, h)
            left -= h
    _require_same(simulator, taken, at, bool(stuck.any()))
    return StepDerivatives(at.q, at.v, *np.hsplit(at.dq, 3), *np.hsplit(at.dv, 3))


def _require_smooth(simulator: Simulator) -> None:
    """Reject loops, and springs that are too stiff: their steps are not differentiated."""
    physics = simulator.physics
    model, name = physics.model, repr(physics.robot.name)
    if model.has_loops:
        raise ValueError(
            f'{name} has kinematic loops, for which step derivatives are not supported'
        )
    if model.runge_kutta and model.stiff:
        raise ValueError(
            f'the damping, or a spring, of {name} is too stiff for rk4 at {model.timestep:g} s; '
            "use integrator='midpoint'"
        )


class _Taken(NamedTuple):
    """A step of the simulator, undone.

    :param segment: on which segment of its law each joint was found (joint_law.py), (nv,)
    :param servo_segment: likewise each servo (joint_servo.py), (nv,)
    :param applied: torque, (nv,) [N m, N]
    :param divided: whether inertia has divided it (step_division.py)
    """

    q: FloatArray
    v: FloatArray
    segment: IntArray
    servo_segment: IntArray
    applied: FloatArray
    divided: bool


def _taken(simulator: Simulator, tau: FloatArray) -> _Taken:
    # Only the step itself finds on which segment of its law of friction a joint is: it is made,
    # and undone by the snapshot.
    before = simulator.snapshot()
    try:
        simulator.step(tau)
        state = simulator.physics.state
        segment, servo_segment = state.segment.copy(), state.servo.segment.copy()
        divided = not state.counters[WHOLE]
        return _Taken(simulator.q, simulator.v, segment, servo_segment, simulator.tau, divided)
    finally:
        simulator.restore(before)


def _substep(simulator: Simulator, at: _Point, left: float) -> float:
    """Find how much the simulator takes at once of what is left of a step, at a state in it."""
    physics = simulator.physics
    state = physics.state
    q, v = state.q.copy(), state.v.copy()
    state.q[:], state.v[:] = at.q, at.v
    try:
        return float(find_substep(physics.model, state, physics.fields.work, left))
    finally:
        state.q[:], state.v[:] = q, v


def _require_same(simulator: Simulator, taken: _Taken, end: _Point, sticks: bool) -> None:
    """Check that the simulator takes the step that was differentiated."""
    driven = simulator.physics.state.servo.kp.any() or simulator.physics.state.servo.kd.any()
    if sticks and simulator.integrator == 'rk4' and not driven:
        raise ValueError(
            'a joint sticks by friction, where the step of rk4 is not differentiable; use '
            "integrator='midpoint'"
        )
    # If both differ, the simulator did something that is not differentiated: it met a contact or a
    # position limit, or friction changed its direction within the step.
    close = _ROUNDING * (1.0 + np.abs(end.v).max(initial=0.0))
    same = np.allclose(taken.q, end.q, rtol=_ROUNDING, atol=close)
    if not (same and np.allclose(taken.v, end.v, rtol=_ROUNDING, atol=close)):
        raise ValueError(NOT_SMOOTH)
