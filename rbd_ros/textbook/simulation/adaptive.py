# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Smooth motion of a robot over time, with steps adapted to a tolerance (book 10.1).

Accelerations of a robot often have spikes: brief times at which they are far higher than at
others. A method that adapts its steps takes long ones where not much happens and short ones in the
spikes, so that fewer evaluations of the dynamics lead to the same accuracy.

The motion is that of `Robot.forward_dynamics` under given torques, and viscous joint damping.
Discontinuous forces (Coulomb friction, limits, contact) need `Simulator` or
`EventDrivenSimulator`.
"""

from __future__ import annotations

from bisect import bisect_right
import math
from typing import Callable, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike

from rbd_ros.array_types import FloatArray
from rbd_ros.robot import Robot
from rbd_ros.textbook.simulation.dense_output import (
    Acceleration,
    DenseStep,
    Group,
    METHODS,
    RK45,
    take_step,
)
from rbd_ros.textbook.simulation.dop853 import Dop853Step, take_dop853_step

#: Torques: constant ones, or a function of time, configuration and velocity.
Torque = Union[None, ArrayLike, Callable[[float, FloatArray, FloatArray], ArrayLike]]

#: Names of the methods of `integrate_ode`, and those that adapt their steps.
ODE_METHODS = ('euler', 'semi_implicit', 'heun', 'rk4', 'rk45', 'dop853')
ADAPTIVE_METHODS = ('rk45', 'dop853')

#: Minimum relative tolerance that DOP853 takes: below it, rounding counts for more.
MIN_RTOL = 100.0 * float(np.finfo(float).eps)

# Of the step that the error estimate allows, part that is taken; and how much it may change.
_SAFETY, _SHRINK, _GROW = 0.9, 0.2, 5.0


class OdeSolution(NamedTuple):
    """A motion over time.

    :param time: times of the steps, the first one included, (K + 1,) [s]
    :param q: configurations, (K + 1, nq)
    :param v: velocities, (K + 1, nv)
    :param rejected: number of steps that were taken again with a shorter one; 0 for dop853, which
        does not report
    :param evaluations: number of times that the dynamics were evaluated
    :param steps: the steps, which can be interpolated; none for `semi_implicit`

    >>> from rbd_ros.textbook.simulation import integrate_ode
    >>> motion = integrate_ode(robot, q, v, 0.1, torque=tau)
    >>> at_first, at_last = motion.at(0.0), motion.at(0.1)
    >>> np.allclose(at_first[0], q), np.allclose(at_last[0], motion.q[-1])
    (True, True)
    """

    time: FloatArray
    q: FloatArray
    v: FloatArray
    rejected: int
    evaluations: int
    steps: Tuple[Union[DenseStep, Dop853Step], ...]

    def at(self, t: float) -> Tuple[FloatArray, FloatArray]:
        """Return the configuration, (nq,), and velocity, (nv,), at any time of the motion.

        :param t: time [s]
        :raises ValueError: if the motion does not reach there, or has no dense output
        """
        if not self.time[0] <= t <= self.time[-1]:
            raise ValueError(
                f'the motion goes from {self.time[0]:g} s to {self.time[-1]:g} s, not to {t:g} s'
            )
        if not self.steps:
            raise ValueError('steps of semi_implicit cannot be interpolated; use another method')
        step = self.steps[min(bisect_right(self.time.tolist(), t), len(self.steps)) - 1]
        return step.at((t - step.t) / step.h)


def integrate_ode(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    duration: float,
    torque: Torque = None,
    method: str = 'rk45',
    timestep: Optional[float] = None,
    rtol: float = 1e-8,
    atol: float = 1e-10,
    max_step: float = math.inf,
) -> OdeSolution:
    """Return the motion of a robot from a state, on its configuration space.

    :param q: configuration at time zero, (nq,) [rad, m]
    :param v: velocity at time zero, (nv,) [rad/s, m/s]
    :param duration: how long [s]
    :param torque: generalized forces, (nv,) [N m, N]: constant, or a function of time,
        configuration and velocity; None for none
    :param method: 'rk45' (Dormand-Prince) or 'dop853' (of order 8, by SciPy, for references),
        which adapt their steps, or with a constant time step 'euler', 'semi_implicit' (Euler),
        'heun' or 'rk4'
    :param timestep: the time step [s]; of adaptive methods the first one to try, None to have it
        found
    :param rtol: error of a step, relative to the velocity, and to 1 rad or 1 m; of adaptive
        methods
    :param atol: absolute error of a step [rad, m, rad/s, m/s]; of adaptive methods
    :param max_step: longest step [s]; of adaptive methods
    :raises ValueError: for invalid arguments
    :raises FloatingPointError: if the motion does not stay finite
    :raises SingularMassMatrixError: if there are joints that move no mass, naming them

    >>> from rbd_ros.textbook.simulation import integrate_ode
    >>> hold = lambda t, q, v: robot.gravity_torque(q)  # [N m]
    >>> motion = integrate_ode(robot, q, 0 * v, 0.5, torque=hold)
    >>> np.allclose(motion.q[-1], q)
    True
    """
    if method not in ODE_METHODS:
        raise ValueError(f'unknown method {method!r}; there are {", ".join(ODE_METHODS)}')
    numbers = {'duration': duration, 'rtol': rtol, 'atol': atol}
    if timestep is not None:
        numbers['timestep'] = timestep
    elif method not in ADAPTIVE_METHODS:
        raise ValueError(f'{method} needs a timestep')
    for name, value in numbers.items():
        if not 0.0 < float(value) < math.inf:
            raise ValueError(f'{name} must be positive and finite, got {value}')
    if not max_step > 0.0:
        raise ValueError(f'max_step must be positive, got {max_step}')
    if method == 'dop853' and rtol < MIN_RTOL:
        raise ValueError(f'rtol of dop853 must be at least {MIN_RTOL:.2g}, got {rtol}')
    start = _state(robot, q, v)
    counted = Counted(dynamics(robot, torque))
    if method == 'dop853':
        return _by_dop853(
            robot, counted, *start, float(duration), timestep, rtol, atol, float(max_step)
        )
    if method == 'rk45':
        control = StepControl(Group(robot), rtol, atol, max_step)
        return control.run(counted, *start, duration, timestep)
    return _fixed(robot, counted, *start, duration, float(timestep or 0.0), method)


def _state(robot: Robot, q: ArrayLike, v: ArrayLike) -> Tuple[FloatArray, FloatArray]:
    """Return the state as new arrays.

    :raises ValueError: for a wrong shape, or numbers that are not finite
    """
    given = []
    for name, values, size in (('q', q, robot.nq), ('v', v, robot.nv)):
        array = np.array(values, dtype=float)
        if array.shape != (size,):
            raise ValueError(f'{name} must have shape ({size},), got {array.shape}')
        if not np.isfinite(array).all():
            raise ValueError(f'{name} must be finite, got {array}')
        given.append(array)
    # Quaternions of unit length, as every step leaves them.
    return robot.integrate(given[0], np.zeros(robot.nv)), given[1]


def dynamics(robot: Robot, torque: Torque) -> Acceleration:
    """Return the acceleration of a robot with viscous joint damping and springs under torques.

    :param torque: as for `integrate_ode`
    :raises ValueError: if the torques have a wrong shape
    """
    force = applied_force(robot, torque)
    return lambda t, q, v: robot.forward_dynamics(q, v, force(t, q, v))


def applied_force(robot: Robot, torque: Torque) -> Acceleration:
    """Return the torques of a robot with its viscous joint damping and springs, of time and state.

    :param torque: as for `integrate_ode`
    :raises ValueError: if constant torques have a wrong shape
    """
    damping, stiffness, rest = robot.damping, robot.stiffness, robot.spring_rest
    # Springs are at joints with one degree of freedom, and these have one position.
    at_q = np.zeros(robot.nv, dtype=np.int64)
    for where_q, where_v in robot.model.independent_slices.values():
        if where_v.stop - where_v.start == 1:
            at_q[where_v] = where_q.start

    def passive(q: FloatArray, v: FloatArray) -> FloatArray:
        return damping * v + stiffness * (q[at_q] - rest)

    if callable(torque):
        given = torque
        return lambda t, q, v: np.asarray(given(t, q, v), dtype=float) - passive(q, v)
    constant = np.zeros(robot.nv) if torque is None else np.array(torque, dtype=float)
    if constant.shape != (robot.nv,):
        raise ValueError(f'torque must have shape ({robot.nv},), got {constant.shape}')
    return lambda t, q, v: constant - passive(q, v)


class Counted:
    """An acceleration that counts its evaluations.

    :param acceleration: the function
    """

    def __init__(self, acceleration: Acceleration):
        self._acceleration, self.calls = acceleration, 0

    def __call__(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """Return the acceleration at a time, a configuration and a velocity, (nv,)."""
        self.calls += 1
        return self._acceleration(t, q, v)


class StepControl:
    """Dormand-Prince steps as long as tolerances allow.

    :param group: where configurations are
    :param rtol: relative error of a step
    :param atol: absolute error of a step
    :param max_step: longest step [s]
    """

    def __init__(self, group: Group, rtol: float, atol: float, max_step: float = math.inf):
        self.group, self.rtol, self.atol, self.max_step = group, rtol, atol, max_step
        self.rejected = 0

    def error(self, step: DenseStep) -> float:
        """Return the root mean square of the estimated error relative to the tolerance.

        1 at the limit.
        """
        position, velocity = step.error
        _, v = step.at(1.0)
        speed = np.maximum(np.abs(step.v), np.abs(v))
        over = np.concatenate(
            [
                position / (self.atol + self.rtol),
                velocity / (self.atol + self.rtol * speed),
            ]
        )
        return float(np.sqrt(np.mean(over**2))) if len(over) else 0.0

    def first_step(self, v: FloatArray, a: FloatArray) -> float:
        """Return the length to try at first.

        One over which velocities and accelerations do little [s].
        """
        rates = max(float(np.abs(v).max(initial=0.0)), float(np.abs(a).max(initial=0.0)))
        return min(0.01 / rates if rates > 0.0 else 1.0, 0.1)

    def advance(
        self,
        acceleration: Acceleration,
        t: float,
        q: FloatArray,
        v: FloatArray,
        h: float,
        first: FloatArray,
    ) -> Tuple[DenseStep, float]:
        """Take one step, shortened until its error is tolerated.

        :param acceleration: acceleration at a time, a configuration and a velocity
        :param t: time [s]
        :param q: configuration, (nq,)
        :param v: velocity, (nv,)
        :param h: longest step to take [s]
        :param first: acceleration at the beginning, (nv,)
        :return: the step, and the length that suits the next one [s]
        :raises FloatingPointError: if no step is short enough
        """
        bound = min(self.max_step, self.group.maximum_step(v))
        h = min(h, bound)
        while True:
            # Not a number, or a step that no longer changes the time: nothing is short enough.
            if not (h > 0.0 and t + h > t):
                raise FloatingPointError(
                    f'the motion cannot be continued beyond {t:g} s: it becomes infinite or '
                    'jumps, or the tolerances are too tight'
                )
            step = take_step(self.group, RK45, acceleration, t, q, v, h, first)
            error = self.error(step)
            if error <= 1.0:
                grow = _GROW if error == 0.0 else min(_GROW, _SAFETY * error**-0.2)
                return step, h * max(_SHRINK, grow)
            self.rejected += 1
            h *= max(_SHRINK, _SAFETY * error**-0.2) if math.isfinite(error) else _SHRINK

    def run(
        self,
        acceleration: Counted,
        q: FloatArray,
        v: FloatArray,
        duration: float,
        timestep: Optional[float],
    ) -> OdeSolution:
        """Take steps until a time is reached; arguments are those of `integrate_ode`."""
        a = acceleration(0.0, q, v)
        h = timestep or self.first_step(v, a)
        times, states, steps = [0.0], [(q, v)], []
        while times[-1] < duration:
            t = times[-1]
            left = duration - t
            # The last step ends where it should, and is no sliver of the one before it.
            length = left if h >= left else min(h, 0.5 * left)
            step, h = self.advance(acceleration, t, q, v, length, a)
            q, v = step.at(1.0)
            a = step.last_acceleration
            times.append(duration if step.h == left else t + step.h)
            states.append((q, v))
            steps.append(step)
        return _rollout(times, states, self.rejected, acceleration.calls, steps)


def _by_dop853(
    robot: Robot,
    acceleration: Counted,
    q: FloatArray,
    v: FloatArray,
    duration: float,
    timestep: Optional[float],
    rtol: float,
    atol: float,
    max_step: float,
) -> OdeSolution:
    """Take steps of DOP853 until a time is reached; arguments are those of `integrate_ode`."""
    group = Group(robot)
    h = timestep or StepControl(group, rtol, atol).first_step(v, acceleration(0.0, q, v))
    times, states, steps = [0.0], [(q, v)], []
    while times[-1] < duration:
        step, h = take_dop853_step(
            group, acceleration, times[-1], q, v, duration, h, rtol, atol, max_step
        )
        q, v = step.at(1.0)
        times.append(step.end)
        states.append((q, v))
        steps.append(step)
    # SciPy does not report how many steps it took again.
    return _rollout(times, states, 0, acceleration.calls, steps)


def _fixed(
    robot: Robot,
    acceleration: Counted,
    q: FloatArray,
    v: FloatArray,
    duration: float,
    timestep: float,
    method: str,
) -> OdeSolution:
    """Take the number of equal steps that fills the duration, rounded up."""
    count = max(1, math.ceil(duration / timestep - 1e-9))
    h, group = duration / count, Group(robot)
    times, states, steps = [0.0], [(q, v)], []
    for k in range(count):
        a = acceleration(k * h, q, v)
        if method == 'semi_implicit':
            v = v + h * a
            q = group.moved(q, h * v)
        else:
            step = take_step(group, METHODS[method], acceleration, k * h, q, v, h, a)
            q, v = step.at(1.0)
            steps.append(step)
        if not (np.isfinite(v).all() and np.isfinite(q).all()):
            raise FloatingPointError(f'the motion is not finite after {(k + 1) * h:g} s')
        times.append(duration if k + 1 == count else (k + 1) * h)
        states.append((q, v))
    return _rollout(times, states, 0, acceleration.calls, steps)


def _rollout(
    times: List[float],
    states: List[Tuple[FloatArray, FloatArray]],
    rejected: int,
    evaluations: int,
    steps: Sequence[Union[DenseStep, Dop853Step]],
) -> OdeSolution:
    positions, velocities = zip(*states)
    return OdeSolution(
        np.array(times),
        np.array(positions),
        np.array(velocities),
        rejected,
        evaluations,
        tuple(steps),
    )
