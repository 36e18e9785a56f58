# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Soft stops: torque bounds that keep joints within limits of position and of speed.

They bound every torque, directly before the effort limits. docs/control_law.md has the equations.
"""

from __future__ import annotations

from dataclasses import dataclass
import math
from math import isfinite, nan, sqrt
from typing import NamedTuple, Optional, Tuple

import numpy as np
from numpy.typing import NDArray

from rbd_ros.array_types import FloatArray
from rbd_ros.compiler.loops import call_kernel, compiled, entry_point, NonCopyable, Record
from rbd_ros.control.robot_joints import dof_names
from rbd_ros.robot import Robot

#: Decay rate of excess speed [1/s]: stable with a dead time of some milliseconds.
BRAKE_RATE = 50.0

#: Maximum approach speed per distance from a limit [1/s]; a quarter of the brake's rate makes the
#: approach critically damped, without overshoot.
APPROACH_RATE = 12.5

#: Fraction of the effort besides the weight for braking before a limit; the rest is reserved for
#: the forces of other joints.
BRAKE_FRACTION = 0.5

#: Maximum return speed of a joint beyond its soft limit [rad/s or m/s].
RETURN_SPEED = 0.1

#: Difference to the permitted speed at which bounds begin; above twice that there are none.
BAND = 0.5

#: Replace infinite limits, so that all bounds are finite.
UNLIMITED_POSITION, UNLIMITED_SPEED, UNLIMITED_TORQUE = 1e9, 1e6, 1e12


class StopsMemory(NamedTuple):
    """Memory of `SoftStops`, for compiled code that bounds torques.

    :param exist: whether there are soft stops; if not, the arrays are empty
    :param mass_matrix: address of the kernel, for `call_kernel`
    :param inertia: buffer for its output, (nv, nv)
    :param weight: gravity torque at the measured position, (nv,) [N m or N]
    :param torque: torque within the bounds, (nv,) [N m or N]
    :param lower: minimum positions, (nv,) [rad or m]
    :param upper: maximum positions, likewise
    :param speed: maximum speeds, (nv,) [rad/s or m/s]
    :param drag: half of the viscous friction, (nv,) [N m s/rad or N s/m]
    :param friction: Coulomb friction, (nv,) [N m or N]
    :param counts: 1 if the last torque was beyond its bounds, otherwise 0; number of these; (2,)
    """

    exist: bool
    mass_matrix: int
    inertia: FloatArray
    weight: FloatArray
    torque: FloatArray
    lower: FloatArray
    upper: FloatArray
    speed: FloatArray
    drag: FloatArray
    friction: FloatArray
    counts: NDArray[np.int64]


@compiled
def _bound(left: float, rate: float, friction: float, reserve: float) -> float:
    """Return the maximum torque besides the weight, at the difference `left` to the speed."""
    near = min(max(left / BAND, 0.0), 1.0)
    far = min(max(left / BAND - 1.0, 0.0), 1.0)
    return rate * left + friction * near + reserve * far


@compiled
def _permitted(distance: float, braking: float, speed: float) -> float:
    """Return the maximum speed from which a joint can stop before a limit; negative beyond it."""
    stoppable = sqrt(2.0 * braking * max(distance, 0.0))
    return min(max(APPROACH_RATE * distance, -min(RETURN_SPEED, speed)), min(speed, stoppable))


@compiled
def bound(
    stops: StopsMemory, torque: FloatArray, q: FloatArray, v: FloatArray, limits: FloatArray
) -> int:
    """Bound a torque; the result is `stops.torque`.

    :param stops: memory of the soft stops, with the weight
    :param torque: requested torque, at least (nv,) [N m or N]
    :param q: measured position, likewise
    :param v: measured velocity, likewise
    :param limits: maximum braking torques, (nv,) [N m or N]
    :return: 1 if the torque was beyond its bounds, otherwise 0
    """
    call_kernel(stops.mass_matrix, q, stops.inertia)
    stops.counts[0] = 0
    for j in range(len(stops.torque)):
        x, weight, m = torque[j], stops.weight[j], stops.inertia[j, j]
        stops.torque[j] = x
        # The next step reports NaN.
        if not isfinite(x + weight + m + v[j]):
            stops.torque[j] = nan
            continue
        limit = min(limits[j], UNLIMITED_TORQUE)
        # a joint without inertia can stop at once
        braking = BRAKE_FRACTION * max(limit - abs(weight), 0.0) / (m if m > 0.0 else 1e-9)
        rate = BRAKE_RATE * m + stops.drag[j]
        upwards = _permitted(stops.upper[j] - q[j], braking, stops.speed[j]) - v[j]
        downwards = _permitted(q[j] - stops.lower[j], braking, stops.speed[j]) + v[j]
        high = weight + _bound(upwards, rate, stops.friction[j], 2.0 * limit)
        low = weight - _bound(downwards, rate, stops.friction[j], 2.0 * limit)
        if x > high or x < low:
            stops.torque[j] = high if x > high else low
            stops.counts[0] = 1
    stops.counts[1] += stops.counts[0]
    return int(stops.counts[0])


#: `bound` for Python
bound_torque = entry_point(bound)


@dataclass(frozen=True, eq=False)
class SoftLimits:
    """Limits that soft stops keep; create them with `for_robot`.

    :param lower: minimum positions, (nv,) [rad or m], -inf: no limit
    :param upper: maximum positions, likewise
    :param speed: maximum speeds, (nv,) [rad/s or m/s], inf: no limit
    """

    lower: FloatArray
    upper: FloatArray
    speed: FloatArray

    @classmethod
    def for_robot(
        cls, robot: Robot, margin: float = 0.05, *, positions: bool = True, speeds: bool = True
    ) -> SoftLimits:
        """Return the soft limits of a robot's description, or `margin` inside the hard ones.

        The margin is at most a quarter of the range. A speed limit 0 in the description counts as
        missing.

        :param robot: a robot with one degree of freedom per joint
        :param margin: distance from the position limits [rad or m]
        :param positions: whether to limit positions
        :param speeds: whether to limit speeds
        :raises ValueError: for an invalid margin

        >>> from rbd_ros.control.law.soft_stops import SoftLimits
        >>> limits = SoftLimits.for_robot(robot, margin=0.1)
        >>> bool((limits.upper - limits.lower <= robot.upper_limits - robot.lower_limits).all())
        True
        """
        if not 0.0 <= margin < math.inf:
            raise ValueError(f'the margin must be finite and not negative, got {margin}')
        nv = robot.nv
        lower, upper, speed = np.full(nv, -math.inf), np.full(nv, math.inf), np.full(nv, math.inf)
        if positions:
            range_ = robot.upper_limits - robot.lower_limits
            inset = np.minimum(margin, 0.25 * range_)
            soft = soft_limits(robot)
            lower = np.where(np.isfinite(soft[0]), soft[0], robot.lower_limits + inset)
            upper = np.where(np.isfinite(soft[1]), soft[1], robot.upper_limits - inset)
        if speeds:
            speed = np.where(robot.velocity_limits > 0.0, robot.velocity_limits, math.inf)
        return cls(lower, upper, speed)


def soft_limits(robot: Robot) -> Tuple[FloatArray, FloatArray]:
    """Return the description's soft position limits, each (nv,), infinite where it has none."""
    model = robot.model
    named = {model.body(i).joint_name: limits for i, limits in model.limits.items()}
    limits = [named[name] for name in dof_names(robot)]
    return (
        np.array([each.soft_lower for each in limits], dtype=float),
        np.array([each.soft_upper for each in limits], dtype=float),
    )


class SoftStops(NonCopyable):
    """Torque bounds with which joints brake before position limits and at speed limits.

    :param robot: a robot with one degree of freedom per joint
    :param limits: the limits

    >>> from rbd_ros.control.law.soft_stops import SoftLimits, SoftStops
    >>> stops = SoftStops(robot, SoftLimits.for_robot(robot))
    >>> q, rest = robot.neutral(), np.zeros(robot.nv)
    >>> weight = robot.gravity_torque(q)
    >>> bool((stops(weight, weight, q, rest) == weight).all())  # holding is never bounded
    True
    """

    def __init__(self, robot: Robot, limits: SoftLimits):
        n = robot.nv
        #: For compiled code that bounds torques; only for the calling thread.
        self.memory = StopsMemory(
            True,
            int(robot.kernel('mass_matrix').address),
            np.zeros((n, n)),
            np.zeros(n),
            np.zeros(n),
            np.maximum(limits.lower, -UNLIMITED_POSITION),
            np.minimum(limits.upper, UNLIMITED_POSITION),
            np.minimum(limits.speed, UNLIMITED_SPEED),
            0.5 * np.asarray(robot.damping),
            np.array(robot.friction),
            np.zeros(2, dtype=np.int64),
        )
        self._bound = bound_torque.bind(Record(self.memory), release_gil=False)
        self._limits = np.asarray(robot.effort_limits)

    @property
    def acting(self) -> bool:
        """Whether the last torque was beyond its bounds."""
        return bool(self.memory.counts[0])

    def __call__(
        self,
        torque: FloatArray,
        weight: FloatArray,
        q: FloatArray,
        v: FloatArray,
        effort_limits: Optional[FloatArray] = None,
    ) -> FloatArray:
        """Return the torque within the bounds, (nv,) [N m or N]; NaN stays NaN.

        :param torque: requested torque, (nv,) [N m or N]
        :param weight: gravity torque at the measured position, (nv,) [N m or N]
        :param q: measured position, (nv,)
        :param v: measured velocity, (nv,)
        :param effort_limits: maximum braking torques, (nv,) [N m or N]; None: the robot's
        """
        limits = self._limits if effort_limits is None else effort_limits
        self.memory.weight[:] = weight
        size = self.memory.torque.shape
        given = (np.broadcast_to(x, size) for x in (torque, q, v, limits))
        self._bound(*(np.ascontiguousarray(x, dtype=float) for x in given))
        return self.memory.torque.copy()


_NONE: FloatArray = np.zeros(0)
#: Memory without soft stops.
NO_STOPS = StopsMemory(
    False,
    0,
    np.zeros((0, 0)),
    *(_NONE, _NONE, _NONE, _NONE, _NONE, _NONE, _NONE),
    counts=np.zeros(2, dtype=np.int64),
)
