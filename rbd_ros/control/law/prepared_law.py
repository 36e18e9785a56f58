# SPDX-License-Identifier: Apache-2.0
"""Quantities that a torque law derives from its settings beforehand; its memory."""

from __future__ import annotations

from operator import itemgetter
from typing import Callable, cast, NamedTuple, Tuple

import numpy as np

from rbd_ros.compiler.loops import compiled
from rbd_ros.control.control_arrays import FloatArray
from rbd_ros.control.law.gains import friction_stiffness
from rbd_ros.control.law.law_equations import Layout
from rbd_ros.control.law.law_kernels import LawKernel
from rbd_ros.control.law.law_settings import LawSettings
from rbd_ros.control.law.task_impedance import COUNT
from rbd_ros.robot.wraparound import whole_periods

#: Share of the effort limits for the position error with computed torque; the rest is left for the
#: other terms, and to brake.
ELASTIC_SHARE = 0.5

#: Bounds of the integral and of the position error's torque in place of infinite effort limits,
#: which a kernel does not take [N m or N].
MAXIMUM_INTEGRAL, MAXIMUM_SHARE = 1e6, 1e150

#: What may be passed to a law. `goal` is the desired position less whole turns, as near to the
#: measured one as can be (see `Wraparound`), or the difference to it for joints whose positions
#: cannot be subtracted, and `still` is a goal that has been reached.
SOURCES = ('q', 'v', 'q_desired', 'v_desired', 'a_desired', 'goal', 'still', 'neutral', 'rest')
Q, Q_DESIRED, GOAL = (SOURCES.index(name) for name in ('q', 'q_desired', 'goal'))


class PreparedLaw:
    """Quantities of one call, derived from settings and replaced together with them.

    :param settings: the settings
    :param kernel: machine code of the law
    :param layout: layout of its arrays
    :param inputs: gravity, (3,), and the payload, (10,), if there is one; they are copied
    :param gravity: function of a configuration, gravity and payload: torque against gravity
    """

    def __init__(
        self,
        settings: LawSettings,
        kernel: LawKernel,
        layout: Layout,
        inputs: Tuple[FloatArray, ...],
        gravity: Callable[..., FloatArray],
    ):
        n = layout.nv
        self.settings = settings
        self.kernel = cast(Callable[..., FloatArray], kernel.function)
        self.address = int(kernel.address)
        computed = settings.feedback == 'computed_torque'
        has_errors = settings.feedback in ('computed_torque', 'pd', 'task_impedance')
        #: Whether there is an integral at each joint, (nv,) bool.
        self.integrates = (settings.ki > 0.0) & (settings.kp > 0.0) & has_errors
        stiffness: FloatArray = np.zeros(n)
        # Friction that is compensated at the measured velocity no longer damps, and so needs no
        # stiffness to go with it.
        if computed and settings.friction != 'measured':
            stiffness = friction_stiffness(settings.viscous, settings.kp)
        share = np.minimum(ELASTIC_SHARE * settings.effort_limits, MAXIMUM_SHARE)
        #: Maximum integral torque, (nv,) [N m or N].
        self.bound = np.minimum(settings.effort_limits, MAXIMUM_INTEGRAL)
        friction = settings.friction != 'none'
        numbers = layout.numbers({
            'kp': settings.kp * has_errors,
            'kd': settings.kd * (settings.feedback != 'none'),
            'viscous': settings.viscous * friction,
            'coulomb': settings.coulomb * friction,
            'friction_stiffness': stiffness,
            'share': share,
            'inverse_share': np.divide(1.0, share, out=np.zeros(n), where=share > 0.0),
            'integral_rate': np.divide(
                settings.ki, settings.kp, out=np.zeros(n), where=self.integrates
            ),
            'integral_bound': self.bound,
            'model': settings.feedforward != 'none',
            'transition_rate': 1.0 / settings.transition_velocity,
            'deadband': settings.integral_deadband,
            'task': np.zeros(COUNT) if settings.task is None else settings.task.numbers,
        })  # fmt: skip
        #: The last arguments of the kernel, the same in all calls.
        self.constants = (numbers, *(np.array(x) for x in inputs))
        models = self.constants[1:]
        #: Torque that holds robot and payload against gravity, (nv,), at a configuration.
        self.holding: Callable[[FloatArray], FloatArray] = lambda q: gravity(q, *models)
        #: Which of `SOURCES` the first arguments of the kernel are.
        self.sources = [SOURCES.index(name) for name in _sources(settings)]
        #: Selects these from the values of all sources.
        self.pick = itemgetter(*self.sources)


def _sources(settings: LawSettings) -> Tuple[str, ...]:
    """Return the sources of the first eight of `law.INPUTS`."""
    measured, desired = ('q', 'v'), ('q_desired', 'v_desired')
    computed = settings.feedback in ('computed_torque', 'task_impedance')
    model = {
        'inverse_dynamics': (*(measured if computed else desired), 'a_desired'),
        'gravity': ('q', 'rest', 'rest'),
        'none': ('neutral', 'rest', 'rest'),
    }[settings.feedforward]
    error = (*measured, 'goal', 'v_desired')
    feedback = {
        'computed_torque': error,
        'pd': error,
        'task_impedance': error,
        'damping': ('neutral', 'v', 'still', 'rest'),
        'none': ('neutral', 'rest', 'still', 'rest'),
    }[settings.feedback]
    friction = {'none': 'rest', 'measured': 'v', 'desired': 'v_desired'}[settings.friction]
    return (*model, *feedback, friction)


class LawMemory(NamedTuple):
    """Memory of a `TorqueLaw`, for machine code that does all that a call of it does.

    :param address: address of the kernel, for `call_kernel`
    :param inputs: inputs of the kernel, packed; all but the motion and the time are filled in
    :param result: buffer for the output of the kernel
    :param motion: measured and desired motion, in the order of `SOURCES`, (9, nv); the first five
        rows are to be filled in, and `fill_goal` fills in the sixth
    :param sources: which rows of `motion` the first inputs are, (8,)
    :param applied: part of the inputs: torque that was sent last, (nv,) [N m or N]
    :param before: part of the inputs: last output of the kernel
    :param dt: part of the inputs: time since then, (1,) [s]
    :param longest_step: maximum of `dt` [s]
    :param periods: periods of positions, 0 where there are none, (nv,) [rad]
    :param rates: 1 / period, likewise, (nv,) [1/rad]
    """

    address: int
    inputs: FloatArray
    result: FloatArray
    motion: FloatArray
    sources: FloatArray
    applied: FloatArray
    before: FloatArray
    dt: FloatArray
    longest_step: float
    periods: FloatArray
    rates: FloatArray


@compiled
def fill_goal(law: LawMemory) -> None:
    """Fill in the goal: the desired position, whole turns apart, nearest to the measured one."""
    for j in range(law.motion.shape[1]):
        q, desired = law.motion[Q, j], law.motion[Q_DESIRED, j]
        ahead = whole_periods(desired - q, law.periods[j], law.rates[j])
        law.motion[GOAL, j] = desired - ahead
