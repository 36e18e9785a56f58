# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Torque law of robots with loops: forces of the actuators by closed-loop inverse dynamics.

    G_u^T u = G^T (ID(q, v, G a + g) + friction) + damping       (book 8.12, eq 8.63)

with a the desired acceleration of the independent joints plus the correction of the feedback. With
redundant actuators, the torques have the smallest sum of squares. An underactuated robot cannot
follow accelerations: gravity and friction are compensated as far as possible, and damping acts on
the actuated independent joints.
"""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any, Callable, ContextManager, Optional

import numpy as np

from rbd_ros.algorithms.closed_loops.actuation import actuator_forces
from rbd_ros.array_types import FloatArray
from rbd_ros.control.closed_loop_state import LoopClosing
from rbd_ros.control.law.law_settings import LawSettings
from rbd_ros.robot.wraparound import Wraparound

#: Maximum time by which one call advances the integral [s].
MAX_STEP = 0.02
#: Maximum correction by the integral, as kp times this error [rad or m].
MAXIMUM_INTEGRAL = 0.5


class IndependentJoints:
    """The independent joints of a robot with loops, with the interface of a robot for settings.

    :param closing: closure of the loops
    """

    def __init__(self, closing: LoopClosing):
        robot, chosen = closing.robot, closing.independent
        model = robot.model
        numbers = [model.independent[k] for k in chosen]
        self.nq = self.nv = len(chosen)
        self.joint_names = tuple(robot.joint_names[k] for k in chosen)
        self.lower_limits, self.upper_limits = (
            robot.lower_limits[chosen],
            robot.upper_limits[chosen],
        )
        self.position_periods = robot.position_periods[chosen]
        self.velocity_limits = robot.velocity_limits[chosen]
        self.effort_limits = robot.effort_limits[chosen]
        self.damping, self.friction = robot.damping[chosen], robot.friction[chosen]
        self.gravity = robot.gravity
        self.model = SimpleNamespace(independent=numbers, body=model.body, link=model.link)
        self._home = closing.home[chosen]
        G = closing.velocities(closing.home)
        self._inertia = G.T @ np.asarray(robot.mass_matrix(closing.home)) @ G

    def neutral(self) -> FloatArray:
        """Return the closed configuration near neutral, (nv,)."""
        return self._home.copy()

    def random_configuration(self, rng: Any = None) -> FloatArray:
        """Return the same, since loops cannot be closed everywhere, (nv,)."""
        return self._home.copy()

    def mass_matrix(self, q: Any) -> FloatArray:
        """Return G^T H G there, repeated for each configuration, (N, nv, nv)."""
        return np.broadcast_to(self._inertia, (*np.shape(q)[:-1], self.nv, self.nv))


class ClosedLoopLaw:
    """Torque of the actuators of a robot with loops, before limits; called like `TorqueLaw`.

    :param closing: independent and actuated joints of the robot
    :param settings: settings for its `IndependentJoints`
    :param payload_link: link that carries the payload of the settings; None: no payload
    :param own_weight: whether to compensate gravity of the robot's own links, see `TorqueLaw`
    :raises ValueError: for an unknown link, or feedback 'pd'
    """

    def __init__(
        self,
        closing: LoopClosing,
        settings: LawSettings,
        payload_link: Optional[str] = None,
        own_weight: bool = True,
    ):
        self.closing, self.robot, self.payload_link = closing, closing.robot, payload_link
        payload = () if payload_link is None else (f'payload:{payload_link}',)
        runtime = ('gravity', *payload)
        self._dynamics: Any = self.robot.function('inverse_dynamics', runtime)
        self._weight: Any = self.robot.function('gravity_torque', ('gravity',))
        self._own_weight = own_weight
        self._wraparound = Wraparound(self.robot.position_periods[closing.independent])
        #: Compensated fraction of the joints' friction; assignable
        self.friction_compensation_scale = 1.0
        self._rest: FloatArray = np.zeros(self.robot.nv)
        self._added: FloatArray = np.zeros(self.robot.nv)
        self.settings = settings
        self._integral: FloatArray = np.zeros(len(closing.independent))
        self._desired: FloatArray = self._rest
        self._cut = False

    @property
    def settings(self) -> LawSettings:
        """All settings; assignable at any time."""
        return self._settings

    @settings.setter
    def settings(self, settings: LawSettings) -> None:
        self.check(settings)
        self._gravity = settings.gravity
        self._settings = settings
        self._holding: Callable[[FloatArray], FloatArray] = partial(
            self._against_gravity, settings
        )

    def replace_settings(self, settings: LawSettings, lock: ContextManager[Any]) -> None:
        """Assign settings while holding a lock."""
        with lock:
            self.settings = settings

    def check(self, settings: LawSettings) -> None:
        """Reject settings that do not fit this robot, by a ValueError."""
        if settings.feedback in ('pd', 'task_impedance'):
            raise ValueError(
                f'feedback {settings.feedback} does not support robots with loops; use '
                'computed_torque'
            )
        if not self.closing.is_underactuated:
            return
        for what, mode, unsupported in (
            ('feedforward', settings.feedforward, 'inverse_dynamics'),
            ('feedback', settings.feedback, 'computed_torque'),
        ):
            if mode == unsupported:
                raise ValueError(
                    f'{what} {mode} does not support an underactuated robot, which cannot follow '
                    'a trajectory; choose feedforward gravity or none with feedback damping or '
                    'none, or name more joints under "actuated" of the extension'
                )

    def __call__(
        self,
        q: FloatArray,
        v: FloatArray,
        q_desired: FloatArray,
        v_desired: FloatArray,
        a_desired: FloatArray,
        dt: Optional[float] = None,
    ) -> FloatArray:
        """Return the torques before limits, zero for passive joints, (nv,) [N m or N].

        :param q: measured configuration with closed loops, (nv,)
        :param v: measured velocity, likewise
        :param q_desired: desired positions of the independent joints, (n - r,)
        :param v_desired: desired velocities of the independent joints, (n - r,)
        :param a_desired: desired accelerations of the independent joints, (n - r,)
        :param dt: time since the previous state [s]; None or not positive: the integral is
            constant
        :raises FloatingPointError: if a torque is not finite; the integral is unchanged
        """
        settings, y = self._settings, self.closing.independent
        G, rest = self.closing.velocities(q), self._rest
        integral, a = self._integral, np.zeros(len(y))
        if settings.feedback == 'computed_torque':
            error = self._wraparound(np.asarray(q_desired) - q[y])
            passed = min(dt, MAX_STEP) if dt is not None and dt > 0.0 else 0.0
            if not self._cut:
                outside = np.abs(error) > settings.integral_deadband
                bound = MAXIMUM_INTEGRAL * settings.kp
                integral = np.clip(
                    integral + settings.ki * error * outside * passed, -bound, bound
                )
            a = settings.kp * error + settings.kd * (v_desired - v[y]) + integral
        if settings.feedforward == 'inverse_dynamics':
            tau = self._of(settings, q, v, G @ (a_desired + a) + self.closing.bias(q, v))
        else:
            tau = self._of(settings, q, rest, G @ a)
            if settings.feedforward == 'none':
                tau = tau - self._of(settings, q, rest, rest)
        if settings.friction != 'none':
            moving = v if settings.friction == 'measured' else G @ v_desired
            robot, transition = self.robot, settings.transition_velocity
            friction = robot.damping * moving + robot.friction * np.tanh(moving / transition)
            tau = tau + self.friction_compensation_scale * friction
        if settings.feedback == 'damping':
            tau = tau.copy()
            # A passive joint cannot be damped, and must not disturb others.
            acting = np.isin(y, self.closing.actuated)
            tau[y] -= settings.kd * v[y] * acting
        desired = self._actuators(G, tau) + self._added
        self._integral, self._desired = integral, desired
        return desired

    def _of(
        self, settings: LawSettings, q: FloatArray, v: FloatArray, a: FloatArray
    ) -> FloatArray:
        payload: Any = ()
        if self.payload_link is not None:
            payload = (np.zeros(10) if settings.payload is None else settings.payload,)
        gravity = self._gravity if settings is self._settings else settings.gravity
        tau: FloatArray = np.array(self._dynamics(q, v, a, gravity, *payload))
        if not self._own_weight:
            tau -= self._weight(q, gravity)
        return tau

    def _actuators(self, G: FloatArray, tau: FloatArray) -> FloatArray:
        if not np.isfinite(tau).all():
            raise FloatingPointError('the torque is not finite')
        return actuator_forces(G, tau, self.closing.actuated).tau

    def gravity_torque(self, q: FloatArray) -> FloatArray:
        """Return the actuator torques that compensate gravity of robot and payload, (nv,)."""
        return self._holding(q)

    def _against_gravity(self, settings: LawSettings, q: FloatArray) -> FloatArray:
        return self._actuators(
            self.closing.velocities(q), self._of(settings, q, self._rest, self._rest)
        )

    @property
    def gravity_function(self) -> Callable[[FloatArray], FloatArray]:
        """Function `gravity_torque` of the present settings; a change replaces the object."""
        return self._holding

    def set_torque_offset(self, torque: FloatArray) -> None:
        """Set a torque to add to that of the law, (nv,) [N m or N]."""
        self._added = np.array(torque)

    def set_gravity(self, gravity: FloatArray) -> None:
        """Set gravity in base coordinates until other settings are assigned, (3,) [m/s^2]."""
        self._gravity = np.array(gravity)

    def set_applied_torque(self, torque: FloatArray) -> None:
        """Report the torque that was sent; the integral does not grow at its limits."""
        self._cut = bool(np.any(torque != self._desired))

    def reset(self) -> None:
        """Reset the integral and all other state of earlier calls."""
        self._integral = np.zeros(len(self.closing.independent))
        self._desired = self._rest
        self._cut = False
