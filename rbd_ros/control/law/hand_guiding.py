# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Hand guiding: a soft hold that follows the hand, damping, and brakes on speed and energy.

It adds to gravity compensation. docs/control_law.md has the equations and bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any, NamedTuple, Optional

import numpy as np
from numpy.typing import NDArray

from rbd_ros.array_types import FloatArray
from rbd_ros.compiler.loops import call_kernel, compiled, entry_point, NonCopyable, Record
from rbd_ros.control.robot_joints import dof_names, free_inertia, workspace
from rbd_ros.robot import Robot
from rbd_ros.robot.wraparound import whole_periods, Wraparound

#: Natural frequency of the default hold [rad/s], critically damped for the mean inertia.
HOLD_FREQUENCY = 3.0

#: Default decay rate of velocity [1/s].
DAMPING_RATE = 2.0 * HOLD_FREQUENCY

#: Decay rate of velocity at the full brake [1/s].
BRAKE_RATE = 50.0

#: Maximum product of the state period with the rates of damping and brake, and with the frequency
#: of the hold; both are then stable with a period of dead time.
MAX_PART = 0.3

#: Relative excess of a limit over which the brake rises to its full rate.
MARGIN = 0.2

#: After a longer pause, the hold restarts at the present position [s].
MAX_STEP = 0.1

#: Rows of `GuidingMemory.joints`, and indices in `rates` and `state`.
STIFFNESS, BAND, SPEED, INERTIA = range(4)
DAMPING, ENERGY_LIMIT = range(2)
SHARE, HOLDS, PERIOD, ENERGY, BRAKING, EXCESS = range(6)


@dataclass(frozen=True, eq=False)
class GuidingSettings:
    """Settings of `HandGuiding`; create them with `for_robot`, which completes and checks them.

    :param stiffness: stiffness of the hold, (nv,) [N m/rad or N/m]
    :param damping: decay rate of velocity [1/s]
    :param deadband: displacement above which the hold follows, (nv,) [rad or m]
    :param max_velocity: speed above which it brakes, (nv,) [rad/s or m/s]
    :param max_kinetic_energy: kinetic energy above which it brakes [J]
    :param inertia: minimum inertia of the joints, with the others free, (nv,) [kg m^2 or kg]
    """

    stiffness: FloatArray
    damping: float
    deadband: FloatArray
    max_velocity: FloatArray
    max_kinetic_energy: float
    inertia: FloatArray

    @classmethod
    def for_robot(
        cls,
        robot: Robot,
        *,
        stiffness: Any = None,
        damping: float = DAMPING_RATE,
        deadband: Any = 0.05,
        max_velocity: Any = 1.0,
        max_kinetic_energy: float = 4.0,
    ) -> GuidingSettings:
        """Return the settings from one number for all joints or one for each, (nv,).

        The default stiffness is w^2 m, with w = `HOLD_FREQUENCY` and m the mean inertia of a joint
        over the workspace, with the others free.

        :raises ValueError: for an invalid number or a joint without mass, with the joint's name

        >>> GuidingSettings.for_robot(robot, max_velocity=0.8).max_velocity
        array([0.8, 0.8, 0.8, 0.8, 0.8, 0.8])
        >>> GuidingSettings.for_robot(robot, max_kinetic_energy=0.0)
        Traceback (most recent call last):
            ...
        ValueError: max_kinetic_energy must be positive and finite, got 0.0
        """
        inertia = free_inertia(robot, workspace(robot))
        if stiffness is None:
            stiffness = HOLD_FREQUENCY**2 * inertia.mean(axis=0)
        if not 0.0 < max_kinetic_energy < np.inf:
            raise ValueError(
                f'max_kinetic_energy must be positive and finite, got {max_kinetic_energy}'
            )
        if not 0.0 <= damping < np.inf:
            raise ValueError(f'damping must not be negative or infinite, got {damping}')
        return cls(
            _numbers(robot, 'stiffness', stiffness),
            float(damping),
            _numbers(robot, 'deadband', deadband, positive=True),
            _numbers(robot, 'max_velocity', max_velocity, positive=True),
            float(max_kinetic_energy),
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


class GuidingMemory(NamedTuple):
    """Memory of `HandGuiding`, for compiled code that adds its torque.

    :param exist: whether there is hand guiding; if not, the arrays are empty
    :param mass_matrix: address of the kernel, for `call_kernel`
    :param inertia: buffer for its output, (nv, nv)
    :param joints: stiffness, band, speed and minimum inertia of the settings, (4, nv)
    :param rates: damping and energy of the settings, (2,)
    :param periods: periods of positions, 0: not periodic, (nv,) [rad]
    :param inverse_periods: 1 / period, likewise, (nv,) [1/rad]
    :param reference: position of the hold, (nv,)
    :param torque: the torque, (nv,) [N m or N]
    :param state: fraction of the torque, from 0 to 1; 1 if there is a hold, otherwise 0; longest
        recent period [s]; kinetic energy [J]; rate of the brake [1/s]; relative excess of the
        limit; (6,)
    :param fastest: joint whose speed causes braking, -1: the energy, (1,)
    """

    exist: bool
    mass_matrix: int
    inertia: FloatArray
    joints: FloatArray
    rates: FloatArray
    periods: FloatArray
    inverse_periods: FloatArray
    reference: FloatArray
    torque: FloatArray
    state: FloatArray
    fastest: NDArray[np.int64]


@compiled
def guide(guiding: GuidingMemory, q: FloatArray, v: FloatArray, dt: float) -> int:
    """Compute the torque of hand guiding; see `HandGuiding`.

    :param guiding: its memory
    :param q: measured position, (nv,)
    :param v: measured velocity, (nv,)
    :param dt: time since the previous call [s]
    :return: 1 if it brakes, otherwise 0
    """
    n, state = len(guiding.torque), guiding.state
    begins = state[HOLDS] == 0.0 or not 0.0 <= dt <= MAX_STEP
    state[HOLDS] = 1.0
    # The longest of the recent periods, since all must be stable at each of them.
    if 0.0 < dt <= MAX_STEP:
        state[PERIOD] = max(dt, 0.98 * state[PERIOD])
    rate = MAX_PART / state[PERIOD] if state[PERIOD] > 0.0 else inf
    call_kernel(guiding.mass_matrix, q, guiding.inertia)
    energy, excess, guiding.fastest[0] = 0.0, 1.0, -1
    for i in range(n):
        momentum = 0.0
        for j in range(n):
            momentum += guiding.inertia[i, j] * v[j]
        guiding.torque[i] = momentum
        energy += 0.5 * v[i] * momentum
        if abs(v[i]) > excess * guiding.joints[SPEED, i]:
            excess, guiding.fastest[0] = abs(v[i]) / guiding.joints[SPEED, i], i
    if energy > excess * guiding.rates[ENERGY_LIMIT]:
        excess, guiding.fastest[0] = energy / guiding.rates[ENERGY_LIMIT], -1
    state[ENERGY], state[EXCESS] = energy, excess
    state[BRAKING] = min(BRAKE_RATE * min((excess - 1.0) / MARGIN, 1.0), rate)
    drag = min(guiding.rates[DAMPING] + state[BRAKING], rate)
    for i in range(n):
        away = 0.0 if begins else guiding.reference[i] - q[i]
        away -= whole_periods(away, guiding.periods[i], guiding.inverse_periods[i])
        band, inertia = guiding.joints[BAND, i], guiding.joints[INERTIA, i]
        away = min(max(away, -band), band)
        guiding.reference[i] = q[i] + away
        stiffness = min(guiding.joints[STIFFNESS, i], inertia * rate**2)
        guiding.torque[i] = state[SHARE] * (stiffness * away - drag * guiding.torque[i])
    return int(state[BRAKING] > 0.0)


#: `guide` for Python
guide_once = entry_point(guide)


class HandGuiding(NonCopyable):
    """Torque for hand guiding, to be added to gravity compensation.

        torque = k (r - q) - (d + beta) H(q) v

    The hold r stays until q is farther away than the deadband, and then follows at that distance.
    The damping d reduces all velocities at the same rate. The brake beta is zero up to the limits
    of speed and kinetic energy, and full at a relative excess of `MARGIN`.

    :param robot: robot whose positions can be subtracted (one degree of freedom a joint)
    :param settings: see `GuidingSettings.for_robot`; assignable between calls; required before the
        first one

    >>> from rbd_ros.control.law.hand_guiding import GuidingSettings, HandGuiding
    >>> settings = GuidingSettings.for_robot(robot, stiffness=10.0, deadband=0.1)
    >>> guiding = HandGuiding(robot, settings)
    >>> guiding(q, np.zeros(6), 1e-3)  # it is held where it is
    array([0., 0., 0., 0., 0., 0.])
    >>> guiding(q + 0.05, np.zeros(6), 1e-3)
    array([-0.5, -0.5, -0.5, -0.5, -0.5, -0.5])
    >>> guiding(q + 0.5, np.zeros(6), 1e-3)  # pushed away, it follows at the distance of the band
    array([-1., -1., -1., -1., -1., -1.])
    >>> guiding.reference - q, guiding.energy, guiding.braking, guiding.reason
    (array([0.4, 0.4, 0.4, 0.4, 0.4, 0.4]), 0.0, 0.0, '')
    >>> guiding.release()  # hold it where it is at the next call
    >>> guiding.settings = GuidingSettings.for_robot(robot, max_kinetic_energy=2.0)
    """

    def __init__(self, robot: Robot, settings: Optional[GuidingSettings] = None):
        self.robot, n = robot, robot.nv
        self._names = dof_names(robot)
        wraparound = Wraparound(robot.position_periods)
        #: For compiled code that adds the torque; only for the calling thread.
        self.memory = GuidingMemory(
            True,
            int(robot.kernel('mass_matrix').address),
            np.zeros((n, n)),
            np.zeros((4, n)),
            np.zeros(2),
            wraparound.periods,
            wraparound.rates,
            np.zeros(n),
            np.zeros(n),
            np.zeros(6),
            np.zeros(1, dtype=np.int64),
        )
        self._guide = guide_once.bind(Record(self.memory), release_gil=False)
        self.settings = settings

    @property
    def settings(self) -> Optional[GuidingSettings]:
        """All settings; None: not yet assigned."""
        return self._settings

    @settings.setter
    def settings(self, settings: Optional[GuidingSettings]) -> None:
        self._settings = settings
        if settings is not None:
            own = settings.stiffness, settings.deadband, settings.max_velocity, settings.inertia
            self.memory.joints[:] = own
            self.memory.rates[:] = settings.damping, settings.max_kinetic_energy

    @property
    def reference(self) -> Optional[FloatArray]:
        """Position r of the hold, (nv,); None: the position of the next call."""
        return self.memory.reference.copy() if self.memory.state[HOLDS] else None

    @property
    def energy(self) -> float:
        """Kinetic energy at the last call [J]."""
        return self.memory.state.item(ENERGY)

    @property
    def braking(self) -> float:
        """Rate of the brake at the last call [1/s]."""
        return self.memory.state.item(BRAKING)

    def release(self) -> None:
        """Restart the hold at the position of the next call."""
        self.memory.state[HOLDS] = 0.0

    def __call__(self, q: FloatArray, v: FloatArray, dt: float, share: float = 1.0) -> FloatArray:
        """Return the torque, (nv,) [N m or N].

        :param q: measured position, (nv,)
        :param v: measured velocity, (nv,)
        :param dt: time since the previous call [s]; after more than `MAX_STEP`, or a negative
            time, the hold restarts at the present position
        :param share: factor of the torque, from 0 to 1; the energy may grow if it rises
        """
        self.memory.state[SHARE] = share
        q, v = (np.ascontiguousarray(x, dtype=float) for x in (q, v))
        self._guide(q, v, dt)
        return self.memory.torque.copy()

    @property
    def reason(self) -> str:
        """Reason why the last call braked; empty if it did not."""
        i, excess = self.memory.fastest.item(), self.memory.state.item(EXCESS)
        if not self.braking:
            return ''
        if i < 0:
            limit = self.memory.rates.item(ENERGY_LIMIT)
            return f'kinetic energy {self.energy:.3g} J, above {limit:g} J'
        limit = self.memory.joints.item(SPEED, i)
        return f'{self._names[i]} moves at {excess * limit:.3g}, above {limit:g} (rad/s or m/s)'


_NONE: FloatArray = np.zeros(0)
#: Memory without hand guiding.
NO_GUIDING = GuidingMemory(
    False,
    0,
    np.zeros((0, 0)),
    np.zeros((4, 0)),
    np.zeros(2),
    *(_NONE, _NONE, _NONE, _NONE),
    state=np.zeros(6),
    fastest=np.zeros(1, dtype=np.int64),
)
