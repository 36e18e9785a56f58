"""The torque law: a sum of model, feedback, friction and integral terms.

docs/control.md has the formulas and the reasons. Limits of torque are in limits.py: a law computes
the torque it wants, and `TorqueLaw.applied` tells it what became of it.
"""

from __future__ import annotations

import math
from typing import Callable, Dict, Optional, Tuple

import numpy as np

from rbd_ros.control.friction import friction_torque
from rbd_ros.control.gains import friction_stiffness
from rbd_ros.control.law_settings import LawSettings
from rbd_ros.control.robot_joints import dof_names
from rbd_ros.robot import Robot

#: Shortest and longest time by which one call lets the integral advance [s]. It is slow enough
#: for every fourth call at 1 kHz.
SHORTEST_STEP, LONGEST_STEP = 0.0035, 0.02

#: How long the desired motion must have been at rest for the whole deadband to count [s], and the
#: part of it that counts before.
SETTLING_TIME, NARROW = 2.0, 0.25

#: Square of the desired velocity below which it is at rest, above rounding [(rad/s)^2].
REST = 1e-12

#: Part of the effort limits that is for the position error with computed torque.
ELASTIC_SHARE = 0.5

#: Bound of integral torque where there is no effort limit [N m or N].
GREATEST_INTEGRAL = 1e6

TERMS = ('model', 'feedback', 'friction', 'integral')

Kernel = Callable[..., np.ndarray]


class _Active:
    """What one call computes with, derived from settings and replaced with them as one.

    Scalars are kept as arrays, and words as truth values: both are faster in the loop.

    :param settings: the settings
    :param payload: the payload as an input of kernels, if there is one
    """

    def __init__(self, settings: LawSettings, payload: Tuple[np.ndarray, ...]):
        n = len(settings.kp)
        self.settings = settings
        self.inputs = (settings.gravity, *payload)
        self.mass_inputs = payload
        self.computed = settings.feedback == 'computed_torque'
        self.has_errors = self.computed or settings.feedback == 'pd'
        self.damping = settings.feedback == 'damping' and bool(settings.kd.any())
        self.kp, self.kd = settings.kp, settings.kd
        self.viscous, self.coulomb = settings.viscous, settings.coulomb
        self.transition = np.full(n, settings.transition_velocity)
        self.has_friction = settings.friction != 'none' and bool(
            self.viscous.any() or self.coulomb.any()
        )
        self.friction_measured = settings.friction == 'measured'
        #: Stiffness that goes with viscous friction, (nv,) [N m/rad or N/m]; None: none
        self.friction_stiffness: Optional[np.ndarray] = None
        # Friction compensated at the measured velocity no longer damps.
        if self.computed and self.viscous.any() and not self.friction_measured:
            self.friction_stiffness = friction_stiffness(settings.viscous, settings.kp)
        #: ki / kp, (nv,) [1/s]; None: no integral
        self.integral_rate: Optional[np.ndarray] = None
        if self.has_errors and settings.ki.any():
            self.integral_rate = np.divide(
                settings.ki, settings.kp, out=np.zeros(n), where=settings.kp > 0.0
            )
        #: Last step and the integral rate times it, since steps are mostly alike
        self.step, self.step_rate = 0.0, np.zeros(n)
        self.deadband = np.full(n, settings.integral_deadband)
        self.narrow_deadband = NARROW * self.deadband
        self.deadband_squared = settings.integral_deadband**2
        self.narrow_squared = NARROW**2 * self.deadband_squared
        self.shares = shares = ELASTIC_SHARE * settings.effort_limits
        self.inverse_shares = np.divide(1.0, shares, out=np.zeros(n), where=shares > 0.0)
        self.least_share_squared = float(shares[shares > 0.0].min(initial=np.inf)) ** 2
        self.bound = np.minimum(settings.effort_limits, GREATEST_INTEGRAL)
        self.least_bound_squared = float(self.bound.min(initial=GREATEST_INTEGRAL)) ** 2


class TorqueLaw:
    """Torque for a robot from its measured and desired state, before limits.

    One thread computes; others may assign `settings` meanwhile, and each call uses one set of
    settings throughout.

    :param robot: the robot
    :param settings: see LawSettings
    :param payload_link: link that carries the payload of the settings; None: no payload
    :raises ValueError: for an unknown link, or settings that are not for this robot
    """

    def __init__(self, robot: Robot, settings: LawSettings, payload_link: Optional[str] = None):
        self.robot = robot
        self.payload_link = payload_link
        self._rest = np.zeros(robot.nv)
        self._rest.flags.writeable = False
        self._simple = robot.nq == robot.nv == len(robot.joint_names)
        payload: Tuple[str, ...] = ()
        if payload_link is not None:
            robot.model.link(payload_link)
            payload = (f'payload:{payload_link}',)
        # All of them, whatever the settings: then a change of words waits for no compiler.
        self._inverse_dynamics = robot.function('inverse_dynamics', ('gravity', *payload))
        self._gravity = robot.function('gravity_torque', ('gravity', *payload))
        self._mass_matrix = robot.function('mass_matrix', payload)
        self._last = (self._rest,) * 5
        self._wanted = self._integral = self._rest
        self._resting = self._pending = 0.0
        self._lost: Optional[np.ndarray] = None
        self._active = self._current = self._prepared(settings)

    # -- settings ---------------------------------------------------------------------------------

    @property
    def settings(self) -> LawSettings:
        """All settings; assign others at any time, also from another thread.

        The integral torque is kept as long as the feedback has an integral: it is what the
        model lacks, whichever the gains.

        :raises ValueError: for settings that are not for this robot; the old ones stay
        """
        return self._active.settings

    @settings.setter
    def settings(self, settings: LawSettings) -> None:
        self._active = self._prepared(settings)

    def _prepared(self, settings: LawSettings) -> _Active:
        nv = self.robot.nv
        for name in ('kp', 'kd', 'ki', 'viscous', 'coulomb', 'effort_limits'):
            if getattr(settings, name).shape != (nv,):
                raise ValueError(
                    f'{name} has shape {getattr(settings, name).shape}, the robot needs ({nv},); '
                    'make settings with LawSettings.for_robot'
                )
        payload: Tuple[np.ndarray, ...] = ()
        if self.payload_link is not None:
            given = settings.payload
            payload = (np.zeros(10) if given is None else given,)
        elif settings.payload is not None and settings.payload.any():
            raise ValueError('payload needs payload_link, the link that carries it')
        active = _Active(settings, payload)
        self._try(active)
        return active

    def _try(self, active: _Active) -> None:
        """Refuse settings whose torque is not finite at some ordinary states."""
        rng = np.random.default_rng(0)
        robot, rest = self.robot, self._rest
        for q in (robot.neutral(), *(robot.random_configuration(rng) for _ in range(3))):
            v = rng.normal(size=robot.nv)
            with np.errstate(all='ignore'):
                total, _, _ = self._compute(
                    active, q, v, robot.neutral(), v, v, rest, 0.0, True
                )
            if not np.isfinite(total).all():
                raise ValueError(
                    f'with these settings {self._which(total)} is not finite; gains, friction, '
                    'gravity or payload are too great'
                )

    # -- torque -----------------------------------------------------------------------------------

    def __call__(
        self,
        q: np.ndarray,
        v: np.ndarray,
        q_desired: Optional[np.ndarray] = None,
        v_desired: Optional[np.ndarray] = None,
        a_desired: Optional[np.ndarray] = None,
        dt: Optional[float] = None,
    ) -> np.ndarray:
        """Torque before limits, (nv,) [N m or N].

        :param q: measured configuration, (nq,)
        :param v: measured velocity, (nv,)
        :param q_desired: desired configuration, (nq,); None: where the robot is
        :param v_desired: desired velocity, (nv,); None: at rest
        :param a_desired: desired acceleration, (nv,); None: none
        :param dt: time since the state before [s], for the integral; None or not positive: the
            integral does not advance
        :raises FloatingPointError: if it is not finite, naming the joints; the integral is as
            before
        """
        active = self._active
        if active is not self._current:
            self._take_over(active)
        if q_desired is None:
            q_desired = q
        if v_desired is None:
            v_desired = self._rest
        if a_desired is None:
            a_desired = self._rest
        # NaN is no step either.
        passed = min(dt, LONGEST_STEP) if dt is not None and dt > 0.0 else 0.0
        pending = self._pending + passed
        step = min(pending, LONGEST_STEP) if pending >= SHORTEST_STEP else 0.0
        moving = not v_desired.dot(v_desired) <= REST  # also if it is not a number
        total, integral, terms = self._compute(
            active, q, v, q_desired, v_desired, a_desired, self._integral, step, moving
        )
        # The sum of squares may overflow where the numbers do not: then look closer.
        if not math.isfinite(total.dot(total)) and not np.isfinite(total).all():
            raise FloatingPointError(f'{self._which(total)} is not finite')
        self._last = terms
        self._integral = integral
        self._wanted = total
        self._lost = None
        self._pending = 0.0 if step > 0.0 else pending
        self._resting = 0.0 if moving else self._resting + passed
        return total

    def _compute(self, active, q, v, q_desired, v_desired, a_desired, integral, step, moving):
        """Torque, the integral for the next call, and the parts of the torque."""
        feedforward = active.settings.feedforward
        if feedforward == 'inverse_dynamics':
            if active.computed:
                model = self._inverse_dynamics(q, v, a_desired, *active.inputs)
            else:
                model = self._inverse_dynamics(q_desired, v_desired, a_desired, *active.inputs)
        elif feedforward == 'gravity':
            model = self._gravity(q, *active.inputs)
        else:
            model = self._rest
        elastic = damping = friction = self._rest
        following, learns, H = integral, None, None
        # At rest, friction of the desired velocity is zero.
        if active.has_friction and (moving or active.friction_measured):
            friction = friction_torque(
                v if active.friction_measured else v_desired,
                active.viscous,
                active.coulomb,
                active.transition,
            )
            total = model + friction
        else:
            total = model + self._rest
        if active.has_errors:
            error = q_desired - q if self._simple else self.robot.difference(q, q_desired)
            elastic = active.kp * error
            damping = active.kd * (v_desired - v)
            if active.computed:
                H = self._mass_matrix(q, *active.mass_inputs)
                elastic, damping = H.dot(elastic), H.dot(damping)
                if active.friction_stiffness is not None:
                    stiffer = active.friction_stiffness * error
                    stiffer += elastic
                else:
                    stiffer = elastic
                # One sum of squares instead of a comparison for each joint: mostly it is enough.
                if stiffer.dot(stiffer) > active.least_share_squared:
                    elastic, learns = self._affordable(active, elastic, stiffer)
                else:
                    elastic = stiffer
            total += elastic
            total += damping
            if active.integral_rate is not None:
                total += integral
                if step > 0.0:
                    following = self._advanced(active, integral, error, H, learns, step)
        elif active.damping:
            damping = -active.kd * v
            total += damping
        return total, following, (model, elastic, damping, friction, integral)

    @staticmethod
    def _affordable(
        active: _Active, inertial: np.ndarray, elastic: np.ndarray
    ) -> Tuple[np.ndarray, Optional[np.ndarray]]:
        """Torque of the position error within its share of the effort limits.

        What goes through the mass matrix is reduced at all joints alike: the torque of one joint
        counts on the acceleration of all others, and would throw its own off if they could not
        follow. The error decays at the speed whose damping is that torque, so there is torque left
        to brake. What is for a joint's own friction is cut at this joint alone. A long way to go
        is no error of the model: there the integral waits.

        :param inertial: H kp e, (nv,)
        :param elastic: the same and what is for friction, (nv,)
        :return: the torque, and at which joints the integral does not wait, (nv,) bool
        """
        excess = float(np.abs(inertial * active.inverse_shares).max())
        if not excess < math.inf:
            return elastic, None  # no number, which the caller refuses
        if excess > 1.0:
            elastic = elastic - inertial * (1.0 - 1.0 / excess)
        shares = active.shares
        learns = (np.abs(elastic) <= shares) & (excess <= 1.0)
        return np.minimum(np.maximum(elastic, -shares), shares), learns

    def _advanced(self, active, integral, error, H, learns, step) -> np.ndarray:
        """Integral torque for the next call, within its bounds.

        Joints within the deadband count as without error, and their integral rests. Were their
        errors to count, those of heavy joints held by stiction could balance that of a light one,
        whose integral would then rest far from its goal.
        """
        settled = self._resting > SETTLING_TIME
        if error.dot(error) <= (active.deadband_squared if settled else active.narrow_squared):
            return integral
        outside = np.abs(error) > (active.deadband if settled else active.narrow_deadband)
        if learns is not None:
            outside &= learns
        error = error * outside
        change = active.kp * error
        if H is not None:
            change = H.dot(change)
            if active.friction_stiffness is not None:
                error *= active.friction_stiffness
                change += error
            change *= outside
        if step != active.step:
            active.step, active.step_rate = step, active.integral_rate * step
        change *= active.step_rate
        if self._lost is not None:
            # What was cut off from above must not grow further, nor below.
            change[change * self._lost < 0.0] = 0.0
        change += integral
        if change.dot(change) > active.least_bound_squared:
            return np.minimum(np.maximum(change, -active.bound), active.bound)
        return change

    def _take_over(self, active: _Active) -> None:
        """Begin to use other settings."""
        self._current = active
        if active.integral_rate is None:
            self._integral = self._rest
        else:
            kept = np.where(active.integral_rate > 0.0, self._integral, 0.0)
            self._integral = np.minimum(np.maximum(kept, -active.bound), active.bound)

    def _which(self, total: np.ndarray) -> str:
        names = dof_names(self.robot)
        bad = dict.fromkeys(names[i] for i in np.flatnonzero(~np.isfinite(total)))
        return f'torque of joint {", ".join(bad)}'

    def gravity(self, q: np.ndarray) -> np.ndarray:
        """Torque that holds the robot and its payload still against gravity, (nv,) [N m or N].

        :param q: configuration, (nq,)
        """
        return self._gravity(q, *self._active.inputs)

    # -- what became of it ------------------------------------------------------------------------

    def applied(self, torque: np.ndarray) -> None:
        """Tell what was sent instead of the last torque, so that the integral does not wind up.

        :param torque: torque after limits, (nv,)
        """
        lost = torque - self._wanted
        self._lost = lost if lost.dot(lost) > 0.0 else None

    def reset(self) -> None:
        """Forget the integral and all that was before."""
        self._integral = self._wanted = self._rest
        self._resting = self._pending = 0.0
        self._lost = None
        self._last = (self._rest,) * 5

    @property
    def integral(self) -> np.ndarray:
        """Integral torque that the next call begins with, (nv,) [N m or N]."""
        return np.array(self._integral)

    @property
    def terms(self) -> Dict[str, np.ndarray]:
        """Contributions to the last torque: 'model', 'feedback', 'friction', 'integral'."""
        model, elastic, damping, friction, integral = self._last
        terms = (model, elastic + damping, friction, integral)
        return {name: np.array(term) for name, term in zip(TERMS, terms)}
