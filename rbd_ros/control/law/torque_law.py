# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The torque law as an object with state: settings, integral, and the terms of the last torque.

law_equations.py has the law, prepared_law.py the quantities that depend on settings, limits.py the
torque limits. A law computes a torque before limits, and `set_applied_torque` reports the result.
"""

from __future__ import annotations

from typing import Any, Callable, ContextManager, Dict, List, Optional, Tuple

import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.compiler.loops import NonCopyable, Record
from rbd_ros.control.law.law_equations import holding_kernel, INPUTS, law_kernel, Layout
from rbd_ros.control.law.law_settings import LawSettings
from rbd_ros.control.law.prepared_law import compute_torque, LawMemory, PreparedLaw, SOURCES
from rbd_ros.control.robot_joints import dof_names
from rbd_ros.robot import Robot
from rbd_ros.robot.wraparound import Wraparound

TERMS = ('model', 'feedback', 'friction', 'integral')


class TorqueLaw(NonCopyable):
    """Torque for a robot from its measured and desired state, before limits.

    One thread computes; others may assign `settings` meanwhile, and each call uses one set of
    settings throughout.

    :param settings: see LawSettings
    :param payload_link: link that carries the payload of the settings; None: no payload
    :param task_frame: link of a task impedance in the settings; None: none
    :param own_weight: whether to compensate gravity of the robot's own links; False for a robot
        that compensates its own weight: only that of the payload remains
    :raises ValueError: for an unknown link, or settings that do not fit this robot

    >>> law = TorqueLaw(robot, settings)
    >>> law(q, rest, q + 0.01, dt=0.002)  # 0.01 rad away from the goal [N m]
    array([-1.22 , 31.651, -0.681,  0.116,  0.068,  0.011])
    >>> law.terms['feedback']
    array([-1.22 , 29.146, 16.622,  1.903, -0.234,  0.011])
    >>> law.set_applied_torque(np.zeros(6))  # nothing was sent: the integral must not grow
    >>> law(q, rest, q, dt=0.002)[1], law.integral[1]
    (2.8551, 0.3497)
    >>> law.reset()
    >>> law.settings = LawSettings.for_robot(robot, feedback='pd', kp=80.0, kd=10.0)
    >>> law(q, rest, q + 0.01) - law.terms['model']
    array([0.8, 0.8, 0.8, 0.8, 0.8, 0.8])
    """

    def __init__(
        self,
        robot: Robot,
        settings: LawSettings,
        payload_link: Optional[str] = None,
        task_frame: Optional[str] = None,
        own_weight: bool = True,
    ):
        self.robot = robot
        self.payload_link, self.task_frame = payload_link, task_frame
        self._layout = Layout(robot.nq, robot.nv, task_frame is not None)
        self._neutral, self._rest = robot.neutral(), np.zeros(robot.nv)
        # If positions have as many numbers as velocities, the law subtracts them.
        self._simple = robot.nq == robot.nv
        self._wraparound = Wraparound(robot.position_periods)
        payload: Tuple[str, ...] = ()
        if payload_link is not None:
            robot.model.link(payload_link)
            payload = (f'payload:{payload_link}',)
        # All variants, so that a change of settings never compiles.
        self._laws = {
            name: law_kernel(
                robot, name == 'computed_torque', payload_link, own_weight, task_frame
            )
            for name in ('pd', 'computed_torque')
        }
        if task_frame is not None:
            if not self._simple:
                raise ValueError(
                    'a task_frame needs a robot whose joints have one degree of freedom each'
                )
            robot.model.link(task_frame)
            self._laws['task_impedance'] = law_kernel(
                robot, False, payload_link, own_weight, task_frame, True
            )
        self._holding = holding_kernel(robot, payload_link, own_weight)
        # The memory is a view of the kernel's inputs, for compiled code: see `memory`.
        sizes = [*self._layout.input_sizes.values(), *(10 for _ in payload)]
        self._inputs = np.zeros(sum(sizes))
        parts: List[FloatArray] = np.split(self._inputs, np.cumsum(sizes[:-1]))
        first = INPUTS.index('added')
        self._added, self._applied, self._before, self._passed, *constants = parts[first:]
        self._constants = self._inputs[-sum(part.size for part in constants) :]
        self._sizes = np.array(sizes[: INPUTS.index('added')])
        models = sum(part.size for part in constants[1:])
        self._holding_inputs = np.zeros(robot.nq + models)
        self._gravity_inputs = constants[1], self._holding_inputs[robot.nq : robot.nq + 3]
        self._motion = np.zeros((len(SOURCES), max(robot.nq, robot.nv)))
        q, v = slice(robot.nq), slice(robot.nv)
        self._motion[SOURCES.index('neutral'), q] = self._neutral
        if self._simple:
            self._motion[SOURCES.index('still')] = self._neutral
        # The rows of the motion that a call writes.
        self._filled = [self._motion[k, which] for k, which in enumerate((q, v, q, v, v, v))]
        self._active = self._prepared(settings)
        self._begin(self._active)

    # -- settings ---------------------------------------------------------------------------------

    @property
    def settings(self) -> LawSettings:
        """All settings; assignable at any time, also from another thread.

        The integral torque is kept if the new feedback has an integral, and feedforward and
        friction are unchanged: it compensates the model error, which does not depend on gains.

        :raises ValueError: for settings that do not fit this robot; the old ones stay
        """
        return self._active.settings

    @settings.setter
    def settings(self, settings: LawSettings) -> None:
        self._active = self._prepared(settings)

    def replace_settings(self, settings: LawSettings, lock: ContextManager[Any]) -> None:
        """Assign settings while holding a lock, which is acquired after the preparation.

        :raises ValueError: for settings that do not fit this robot; the old ones stay
        """
        active = self._prepared(settings)
        with lock:
            self._active = active

    def _prepared(self, settings: LawSettings) -> PreparedLaw:
        nv = self.robot.nv
        for name in ('kp', 'kd', 'ki', 'viscous', 'coulomb', 'effort_limits'):
            if getattr(settings, name).shape != (nv,):
                raise ValueError(
                    f'{name} has shape {getattr(settings, name).shape}, the robot needs ({nv},); '
                    'create the settings with LawSettings.for_robot'
                )
        payload: Tuple[FloatArray, ...] = ()
        if self.payload_link is not None:
            given = settings.payload
            payload = (np.zeros(10) if given is None else given,)
        elif settings.payload is not None and settings.payload.any():
            raise ValueError('payload needs payload_link; give the link that carries the payload')
        if settings.feedback == 'task_impedance' and self.task_frame is None:
            raise ValueError(
                'feedback task_impedance needs task_frame; give a link such as the tool'
            )
        inputs = (settings.gravity, *payload)
        kernel = self._laws.get(settings.feedback, self._laws['pd'])
        active = PreparedLaw(settings, kernel, self._layout, inputs, self._holding)
        self._try(active)
        return active

    def _try(self, active: PreparedLaw) -> None:
        """Reject settings whose torque is not finite at one of a few random states."""
        rng = np.random.default_rng(0)
        robot, rest = self.robot, self._rest
        before, passed, neutral = np.zeros(self._layout.size), np.zeros(1), self._neutral
        for q in (neutral, *(robot.random_configuration(rng) for _ in range(3))):
            v = rng.normal(size=robot.nv)
            goal, still = neutral, neutral
            if not self._simple:
                goal, still = robot.difference(q, neutral), rest
            sources = (q, v, neutral, v, v, goal, still, neutral, rest)
            memory = (rest, rest, before, passed)
            result = active.kernel(*active.pick(sources), *memory, *active.constants)
            if result[-1] != 0.0:
                raise ValueError(
                    f'with these settings {self._which(result)} is not finite; gains, friction, '
                    'gravity or payload are too large'
                )

    # -- torque -----------------------------------------------------------------------------------

    def __call__(
        self,
        q: FloatArray,
        v: FloatArray,
        q_desired: Optional[FloatArray] = None,
        v_desired: Optional[FloatArray] = None,
        a_desired: Optional[FloatArray] = None,
        dt: Optional[float] = None,
    ) -> FloatArray:
        """Return the torque before limits, (nv,) [N m or N].

        :param q: measured configuration, (nq,)
        :param v: measured velocity, (nv,)
        :param q_desired: desired configuration, (nq,); None: the measured one
        :param v_desired: desired velocity, (nv,); None: zero
        :param a_desired: desired acceleration, (nv,); None: zero
        :param dt: time since the previous state [s], for the integral; None or not positive: the
            integral is constant
        :raises FloatingPointError: if it is not finite, with the joints; the integral is unchanged
        """
        if self._active is not self._current:
            self._take_over(self._active)
        if q_desired is None:
            q_desired = q
        if v_desired is None:
            v_desired = self._rest
        if a_desired is None:
            a_desired = self._rest
        given: List[FloatArray] = [q, v, q_desired, v_desired, a_desired]
        if not self._simple:
            given.append(self._wraparound(self.robot.difference(q, q_desired)))
        for row, values in zip(self._filled, given):
            row[...] = values
        if not self._compute(-1.0 if dt is None else dt):
            raise FloatingPointError(self.problem)
        return self._memory.result[: self.robot.nv].copy()

    @property
    def problem(self) -> str:
        """Text about the last torque that was not finite."""
        return f'{self._which(self._memory.result)} is not finite'

    def _take_over(self, active: PreparedLaw) -> None:
        """Change to other settings, at the beginning of a call."""
        before, after = self._current.settings, active.settings
        # The integral compensates the error of one model, and does not apply to another one.
        same_model = (before.feedforward, before.friction) == (after.feedforward, after.friction)
        kept = np.where(active.integrates & same_model, self.integral, 0.0)
        kept = np.clip(kept, -active.bound, active.bound)
        self._before[self._layout.at('next_integral')] = kept
        self._begin(active)

    def _begin(self, active: PreparedLaw) -> None:
        self._current = active
        self._constants[:] = np.concatenate(active.constants)
        self._holding_inputs[self.robot.nq :] = np.concatenate(active.constants[1:])
        self._memory = LawMemory(
            active.address,
            self._inputs,
            np.zeros(self._layout.size),
            self._motion,
            np.array(active.sources),
            self._sizes,
            self._simple,
            self._applied,
            self._before,
            self._passed,
            self._wraparound.periods,
            self._wraparound.rates,
            int(self._holding.address),
            self._holding_inputs,
        )
        self._compute = compute_torque.bind(Record(self._memory), release_gil=False)

    def memory(self) -> LawMemory:
        """Return the memory with the present settings, the same object while they are unchanged.

        Only for the calling thread, and for robots whose positions can be subtracted.
        """
        if self._active is not self._current:
            self._take_over(self._active)
        return self._memory

    def _which(self, result: FloatArray) -> str:
        names = dof_names(self.robot)
        torque = result[self._layout.at('torque')]
        bad = dict.fromkeys(names[i] for i in np.flatnonzero(~np.isfinite(torque)))
        return f'torque of joint {", ".join(bad or names)}'

    def gravity_torque(self, q: FloatArray) -> FloatArray:
        """Return the gravity torque of robot and payload, (nv,) [N m or N].

        :param q: configuration, (nq,)

        >>> law = TorqueLaw(robot, settings)
        >>> np.allclose(law.gravity_torque(q), robot.gravity_torque(q))
        True
        """
        return self._active.holding(q)

    @property
    def gravity_function(self) -> Callable[[FloatArray], FloatArray]:
        """Function `gravity_torque` of the present settings; a change replaces the object."""
        return self._active.holding

    # -- inputs of each call ----------------------------------------------------------------------

    def set_torque_offset(self, torque: FloatArray) -> None:
        """Set a torque that is added to that of the law until it is set again, (nv,) [N m or N].

        Only for the calling thread.

        >>> law = TorqueLaw(robot, settings)
        >>> before = law(q, rest)
        >>> law.set_torque_offset(np.full(6, 0.5))
        >>> law(q, rest) - before
        array([0.5, 0.5, 0.5, 0.5, 0.5, 0.5])
        """
        self._added[:] = torque

    def set_gravity(self, gravity: FloatArray) -> None:
        """Set gravity for the following calls, until other settings are assigned.

        Only for the calling thread; it is much cheaper than new settings.

        :param gravity: acceleration of gravity in base coordinates, (3,) [m/s^2]

        >>> law = TorqueLaw(robot, settings)
        >>> law.set_gravity([9.81, 0.0, 0.0])  # mounted on a wall
        >>> law(q, rest)[0].round(2), law.settings.gravity  # those assigned last stay
        (14.02, array([ 0.  ,  0.  , -9.81]))
        """
        active = self._active
        if active is not self._current:
            self._take_over(active)
        for each in (active.constants[1], *self._gravity_inputs):
            each[:] = gravity

    # -- feedback about the torque ----------------------------------------------------------------

    def set_applied_torque(self, torque: FloatArray) -> None:
        """Report the torque that was sent, so that the integral does not wind up.

        :param torque: torque after limits, (nv,) [N m or N]
        """
        self._applied[:] = torque

    def reset(self) -> None:
        """Reset the integral and all other state of earlier calls."""
        self._before[:] = 0.0
        self._applied[:] = 0.0

    def _last(self, name: str) -> FloatArray:
        last: FloatArray = self._before[self._layout.at(name)].copy()
        return last

    @property
    def integral(self) -> FloatArray:
        """Integral torque of the next call, (nv,) [N m or N]."""
        return self._last('next_integral')

    @property
    def terms(self) -> Dict[str, FloatArray]:
        """Contributions to the last torque by name, each (nv,) [N m or N].

        They are 'model', 'feedback', 'friction' and 'integral'.
        """
        return {name: self._last(name) for name in TERMS}
