# SPDX-License-Identifier: Apache-2.0
"""Soft stops: bounds of torque by which joints stay within limits of position and of speed.

They bound every torque last, before the effort limits. docs/control_law.md has the equations.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
import math
from typing import Any, Callable, cast, List, Optional, Sequence, Tuple, Union

import numpy as np

from rbd_ros.compiler import Definition, make_kernel
from rbd_ros.compiler.runtime.kernel import InterpretedKernel, Kernel
from rbd_ros.compiler.source import source_digest
from rbd_ros.control.control_arrays import FloatArray
from rbd_ros.control.robot_joints import dof_names
from rbd_ros.robot import Robot
from rbd_ros.spatial.scalar import absolute, Scalar, sqrt, where_positive

Scalars = Sequence[Scalar]

#: Rate at which excess speed is taken away [1/s]: stable with a dead time of some milliseconds.
BRAKE_RATE = 50.0

#: Speed towards a limit by distance from it [1/s]; a quarter of the brake's rate makes the
#: approach critically damped, so that it does not overshoot.
APPROACH_RATE = 12.5

#: Part of the effort beside the weight that braking before a limit may take; the rest is left for
#: what other joints do to it.
BRAKE_SHARE = 0.5

#: Speed at which a joint beyond its soft limit is led back, at most [rad/s or m/s].
RETURN_SPEED = 0.1

#: Speed left up to the permitted one at which bounds begin; from twice that on there are none.
BAND = 0.5

#: In place of infinite limits, which a kernel does not take.
UNLIMITED_POSITION, UNLIMITED_SPEED, UNLIMITED_TORQUE = 1e9, 1e6, 1e12

INPUTS = ('torque', 'weight', 'limit', 'inertia', 'q', 'v')
NUMBERS = ('lower', 'upper', 'speed', 'drag', 'friction')


def _clipped(x: Scalar, low: Scalar, high: Scalar) -> Scalar:
    return where_positive(x - high, high, where_positive(low - x, low, x))


def _bound(left: Scalar, rate: Scalar, friction: Scalar, reserve: Scalar) -> Scalar:
    """Return the maximum torque beside the weight, with the speed `left` to the permitted."""
    near = _clipped(left / BAND, 0.0, 1.0)
    far = _clipped(left / BAND - 1.0, 0.0, 1.0)
    return rate * left + friction * near + reserve * far


def _permitted(distance: Scalar, braking: Scalar, speed: Scalar) -> Scalar:
    """Return the speed towards a limit from which a joint can stop before it.

    Negative beyond the limit.
    """
    slow = where_positive(RETURN_SPEED - speed, speed, RETURN_SPEED)
    room = where_positive(distance, distance, 0.0)
    stoppable = sqrt(2.0 * braking * room)
    return _clipped(
        APPROACH_RATE * distance, -slow, where_positive(speed - stoppable, stoppable, speed)
    )


def bounded(*arrays: Scalars) -> List[Scalar]:
    """Return the torque within its bounds, and at how many joints they were exceeded, (nv + 1,).

    :param arrays: vectors of `INPUTS` and of `NUMBERS`, each (nv,)
    """
    result, exceeded = [], 0.0
    for x, weight, limit, m, q, v, lower, upper, speed, drag, friction in zip(*arrays):
        left = limit - absolute(weight)
        # a joint that moves no mass can stop at once
        braking = where_positive(left, BRAKE_SHARE * left, 0.0) / where_positive(m, m, 1e-9)
        rate, reserve = BRAKE_RATE * m + drag, 2.0 * limit
        upwards = _permitted(upper - q, braking, speed) - v
        downwards = _permitted(q - lower, braking, speed) + v
        high = weight + _bound(upwards, rate, friction, reserve)
        low = weight - _bound(downwards, rate, friction, reserve)
        within = _clipped(x, low, high)
        result.append(within)
        exceeded = exceeded + where_positive((x - within) * (x - within), 1.0, 0.0)
    return [*result, exceeded]


@lru_cache(maxsize=None)
def _kernel(n: int) -> Union[Kernel, InterpretedKernel]:
    """Return the machine code of `bounded` for `n` joints."""
    inputs = tuple((name, n) for name in (*INPUTS, *NUMBERS))
    key = {'source': source_digest('rbd_ros.compiler.runtime.kernel', bounded)}
    return make_kernel(Definition.of_one_output('bounded_torque', inputs, (n + 1,), bounded, key))


@dataclass(frozen=True, eq=False)
class SoftLimits:
    """Limits that soft stops keep; create them with `for_robot`.

    :param lower: minimum positions, (nv,) [rad or m], -inf where none
    :param upper: maximum positions, likewise
    :param speed: maximum speeds, (nv,) [rad/s or m/s], inf where none
    """

    lower: FloatArray
    upper: FloatArray
    speed: FloatArray

    @classmethod
    def for_robot(
        cls, robot: Robot, margin: float = 0.05, *, positions: bool = True, speeds: bool = True
    ) -> SoftLimits:
        """Return the limits of a robot.

        The soft ones of its description, else `margin` within the hard ones.

        A joint with little room keeps a quarter of it at each side. A speed limit 0 in the
        description counts as not given.

        :param robot: a robot whose joints have one degree of freedom each
        :param margin: distance from the limits of position [rad or m]
        :param positions: whether to keep positions
        :param speeds: whether to keep speeds
        :raises ValueError: for an impossible margin

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
            room = robot.upper_limits - robot.lower_limits
            inset = np.minimum(margin, 0.25 * room)
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


class SoftStops:
    """Bounds of torque by which joints brake before limits of position and at those of speed.

    :param robot: a robot whose joints have one degree of freedom each
    :param limits: what is kept

    >>> from rbd_ros.control.law.soft_stops import SoftLimits, SoftStops
    >>> stops = SoftStops(robot, SoftLimits.for_robot(robot))
    >>> q, rest = robot.neutral(), np.zeros(robot.nv)
    >>> weight = robot.gravity_torque(q)
    >>> bool((stops(weight, weight, q, rest) == weight).all())  # holding is never bounded
    True
    """

    def __init__(self, robot: Robot, limits: SoftLimits):
        self._robot = robot
        kernel = _kernel(robot.nv)
        self._bounded = cast(Callable[..., FloatArray], kernel.function)
        self._numbers: Tuple[Any, ...] = (
            np.maximum(limits.lower, -UNLIMITED_POSITION),
            np.minimum(limits.upper, UNLIMITED_POSITION),
            np.minimum(limits.speed, UNLIMITED_SPEED),
            0.5 * np.asarray(robot.damping),
            np.array(robot.friction),
        )
        self._limits = np.asarray(robot.effort_limits)
        self._torque = slice(robot.nv)
        #: Whether the last torque was beyond its bounds
        self.acting = False

    def __call__(
        self,
        torque: FloatArray,
        weight: FloatArray,
        q: FloatArray,
        v: FloatArray,
        effort_limits: Optional[FloatArray] = None,
    ) -> FloatArray:
        """Return the torque within the bounds, (nv,) [N m or N]; what is not a number stays so.

        :param torque: requested torque, (nv,) [N m or N]
        :param weight: torque that holds the robot where it is, (nv,) [N m or N]
        :param q: measured position, (nv,)
        :param v: measured velocity, (nv,)
        :param effort_limits: torques with which joints can brake, (nv,) [N m or N]; None: the
            robot's
        """
        limits = self._limits if effort_limits is None else effort_limits
        limits = np.minimum(limits, UNLIMITED_TORQUE)
        inertia = self._robot.mass_matrix(q).diagonal()
        result = self._bounded(
            torque, weight, limits, np.ascontiguousarray(inertia), q, v, *self._numbers
        )
        self.acting = result.item(-1) > 0.0
        return result[self._torque]
