# SPDX-License-Identifier: Apache-2.0
"""Guiding by hand: a soft hold that follows, damping, and brakes on speed and kinetic energy.

It is added to gravity compensation. docs/control_law.md has the equations and bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

from rbd_ros.control.control_arrays import FloatArray
from rbd_ros.control.robot_joints import dof_names, free_inertia, workspace
from rbd_ros.robot import Robot
from rbd_ros.robot.wraparound import Wraparound

#: Natural frequency of the default hold [rad/s], critically damped, for the mean inertia.
HOLD_FREQUENCY = 3.0

#: Default rate at which velocity decays [1/s].
DAMPING_RATE = 2.0 * HOLD_FREQUENCY

#: Rate at which the full brake takes velocity away [1/s].
BRAKE_RATE = 50.0

#: Maximum product of the period of the states with the rate of damping and brake, and with the
#: frequency of the hold, so that both are stable with a period of dead time.
MAX_PART = 0.3

#: Part of a limit beyond it, over which the brake rises to its full rate.
MARGIN = 0.2

#: A pause after which the hold begins where the arm is [s].
MAX_STEP = 0.1


@dataclass(frozen=True, eq=False)
class GuidingSettings:
    """Settings of `HandGuiding`; create them with `for_robot`, which completes and checks them.

    :param stiffness: stiffness of the hold, (nv,) [N m/rad or N/m]
    :param damping: rate at which velocity decays at any speed [1/s]
    :param band: displacement beyond which the hold follows, (nv,) [rad or m]
    :param speed: speed above which it brakes, (nv,) [rad/s or m/s]
    :param energy: kinetic energy above which it brakes [J]
    :param inertia: minimum inertia of the joints, the others free, (nv,) [kg m^2 or kg]
    """

    stiffness: FloatArray
    damping: float
    band: FloatArray
    speed: FloatArray
    energy: float
    inertia: FloatArray

    @classmethod
    def for_robot(
        cls,
        robot: Robot,
        *,
        stiffness: Any = None,
        damping: float = DAMPING_RATE,
        band: Any = 0.05,
        speed: Any = 1.0,
        energy: float = 4.0,
    ) -> GuidingSettings:
        """Return the settings from one number for all joints or one for each, (nv,).

        A stiffness that is None is w^2 m, with w = `HOLD_FREQUENCY` and m the mean inertia of a
        joint over the workspace, the others free.

        :raises ValueError: for an impossible number, or a joint that moves no mass; the message
            names the joint

        >>> GuidingSettings.for_robot(robot, speed=0.8).speed
        array([0.8, 0.8, 0.8, 0.8, 0.8, 0.8])
        >>> GuidingSettings.for_robot(robot, energy=0.0)
        Traceback (most recent call last):
            ...
        ValueError: energy must be positive and finite, got 0.0
        """
        inertia = free_inertia(robot, workspace(robot))
        if stiffness is None:
            stiffness = HOLD_FREQUENCY**2 * inertia.mean(axis=0)
        if not 0.0 < energy < np.inf:
            raise ValueError(f'energy must be positive and finite, got {energy}')
        if not 0.0 <= damping < np.inf:
            raise ValueError(f'damping must not be negative or infinite, got {damping}')
        return cls(
            _numbers(robot, 'stiffness', stiffness),
            float(damping),
            _numbers(robot, 'band', band, positive=True),
            _numbers(robot, 'speed', speed, positive=True),
            float(energy),
            _numbers(robot, 'inertia', inertia.min(axis=0)),
        )


def _numbers(robot: Robot, name: str, values: Any, positive: bool = False) -> FloatArray:
    try:
        result = np.broadcast_to(np.asarray(values, dtype=float), (robot.nv,)).copy()
    except (TypeError, ValueError):
        raise ValueError(f'{name} must be one number or {robot.nv}, one for each joint') from None
    bad = ~(np.isfinite(result) & ((result > 0.0) if positive else (result >= 0.0)))
    if bad.any():
        i = int(np.flatnonzero(bad)[0])
        what = 'positive' if positive else 'not negative'
        raise ValueError(
            f'{name} of joint {dof_names(robot)[i]!r} is {result[i]:g}; give a number that is '
            f'{what} and finite'
        )
    result.flags.writeable = False
    return result


class HandGuiding:
    """Torque for an arm that is guided by hand, to be added to that against gravity.

        torque = k (r - q) - (d + beta) H(q) v

    r is where the arm is held: it stays until q is farther away than the band, and then follows at
    that distance. The damping d takes all velocities away alike. The brake beta is zero up to the
    limits of speed and kinetic energy, and full `MARGIN` beyond the first that is exceeded.

    :param robot: robot whose positions can be subtracted (one degree of freedom a joint)
    :param settings: see `GuidingSettings.for_robot`; others may be assigned at any time

    >>> from rbd_ros.control.law.hand_guiding import GuidingSettings, HandGuiding
    >>> guiding = HandGuiding(robot, GuidingSettings.for_robot(robot, stiffness=10.0, band=0.1))
    >>> guiding(q, np.zeros(6), 1e-3)  # it is held where it is
    array([0., 0., 0., 0., 0., 0.])
    >>> guiding(q + 0.05, np.zeros(6), 1e-3)
    array([-0.5, -0.5, -0.5, -0.5, -0.5, -0.5])
    >>> guiding(q + 0.5, np.zeros(6), 1e-3)  # pushed away, it follows at the distance of the band
    array([-1., -1., -1., -1., -1., -1.])
    """

    def __init__(self, robot: Robot, settings: GuidingSettings):
        self.robot, self.settings = robot, settings
        self._names = dof_names(robot)
        self._wraparound = Wraparound(robot.position_periods)
        #: Position r of the hold, (nv,); None: where the arm is at the next call
        self.reference: Optional[FloatArray] = None
        self._period = 0.0
        #: Kinetic energy at the last call [J]
        self.energy = 0.0
        #: Rate of the brake at the last call [1/s]
        self.braking = 0.0
        #: What the last call braked for, in words; empty if it did not
        self.reason = ''

    def release(self) -> None:
        """Let the hold begin where the arm is at the next call.

        >>> guiding = HandGuiding(robot, GuidingSettings.for_robot(robot))
        >>> torque = guiding(q, rest, 1e-3)
        >>> guiding.release()
        >>> guiding(q + 0.5, rest, 1e-3)  # it is held where it is now
        array([0., 0., 0., 0., 0., 0.])
        """
        self.reference = None

    def __call__(self, q: FloatArray, v: FloatArray, dt: float, share: float = 1.0) -> FloatArray:
        """Return the torque, (nv,) [N m or N].

        :param q: measured position, (nv,)
        :param v: measured velocity, (nv,)
        :param dt: time since the call before [s]; after more than `MAX_STEP`, or a time that
            ran back, the hold begins where the arm is
        :param share: part of the whole torque, from 0 to 1; it may only fall for the energy not
            to grow
        """
        settings = self.settings
        if self.reference is None or not 0.0 <= dt <= MAX_STEP:
            self.reference = q
        away = self._wraparound(self.reference - q)
        away = np.clip(away, -settings.band, settings.band)
        self.reference = q + away
        # The longest of the last periods: all must be stable at each of them.
        if 0.0 < dt <= MAX_STEP:
            self._period = max(dt, 0.98 * self._period)
        rate = MAX_PART / self._period if self._period > 0.0 else np.inf
        stiffness = np.minimum(settings.stiffness, settings.inertia * rate**2)
        momentum = self.robot.mass_matrix(q) @ v
        self.energy = 0.5 * float(v @ momentum)
        self.braking = min(self._brake(v), rate)
        torque: FloatArray = share * (
            stiffness * away - min(settings.damping + self.braking, rate) * momentum
        )
        return torque

    def _brake(self, v: FloatArray) -> float:
        """Return the rate of the brake [1/s], and the reason for it."""
        settings = self.settings
        ratios = np.abs(v) / settings.speed
        i = int(np.argmax(ratios))
        speed, energy = float(ratios[i]), self.energy / settings.energy
        if max(speed, energy) <= 1.0:
            self.reason = ''
            return 0.0
        if speed >= energy:
            self.reason = (
                f'{self._names[i]} moves at {abs(v[i]):.3g}, above {settings.speed[i]:g} (rad/s '
                'or m/s)'
            )
        else:
            self.reason = f'kinetic energy {self.energy:.3g} J, above {settings.energy:g} J'
        return BRAKE_RATE * min((max(speed, energy) - 1.0) / MARGIN, 1.0)
