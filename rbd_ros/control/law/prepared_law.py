# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Quantities that a torque law computes from its settings in advance; its memory and its call."""

from __future__ import annotations

from operator import itemgetter
from typing import Callable, cast, NamedTuple, Tuple

import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.compiler.loops import call_kernel, compiled, entry_point
from rbd_ros.control.law.gains import friction_stiffness
from rbd_ros.control.law.law_equations import LawKernel, Layout
from rbd_ros.control.law.law_settings import LawSettings
from rbd_ros.control.law.task_impedance import COUNT
from rbd_ros.robot.wraparound import whole_periods

#: Fraction of the effort limits for the position error with computed torque; the rest is reserved
#: for the other terms, and for braking.
ELASTIC_FRACTION = 0.5

#: Bounds of the integral and of the position error's torque for infinite effort limits, which a
#: kernel does not accept [N m or N].
MAXIMUM_INTEGRAL, MAX_ELASTIC_EFFORT = 1e6, 1e150

#: Maximum time by which one call advances the integral [s], also after a pause.
MAX_STEP = 0.02

#: Possible inputs of a law. `goal` is the desired position at the turn nearest to the measured one
#: (see `Wraparound`), or the difference to it if positions cannot be subtracted, and `still` is a
#: goal that has been reached.
SOURCES = ('q', 'v', 'q_desired', 'v_desired', 'a_desired', 'goal', 'still', 'neutral', 'rest')
Q, V, Q_DESIRED, GOAL = 0, 1, 2, 5  # literals for compiled code


class PreparedLaw:
    """Quantities computed from settings in advance, and replaced together with them.

    :param kernel: machine code of the law
    :param layout: layout of its arrays
    :param inputs: gravity, (3,), and the payload, (10,), if any; they are copied
    :param holding: machine code of the gravity torque
    """

    def __init__(
        self,
        settings: LawSettings,
        kernel: LawKernel,
        layout: Layout,
        inputs: Tuple[FloatArray, ...],
        holding: LawKernel,
    ):
        n = layout.nv
        self.settings = settings
        self.kernel = cast(Callable[..., FloatArray], kernel.function)
        self.address = int(kernel.address)
        computed = settings.feedback == 'computed_torque'
        has_errors = settings.feedback in ('computed_torque', 'pd', 'task_impedance')
        #: Whether each joint has an integral, (nv,) bool.
        self.integrates = (settings.ki > 0.0) & (settings.kp > 0.0) & has_errors
        stiffness: FloatArray = np.zeros(n)
        # Friction that is compensated at the measured velocity does not damp, and needs no
        # additional stiffness.
        if computed and settings.friction != 'measured':
            stiffness = friction_stiffness(settings.viscous, settings.kp)
        share = np.minimum(ELASTIC_FRACTION * settings.effort_limits, MAX_ELASTIC_EFFORT)
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
        #: The last arguments of the kernel, constant for these settings.
        self.constants = (numbers, *(np.array(x) for x in inputs))
        models, gravity = self.constants[1:], cast(Callable[..., FloatArray], holding.function)
        #: Gravity torque of robot and payload, (nv,), at a configuration.
        self.holding: Callable[[FloatArray], FloatArray] = lambda q: gravity(q, *models)
        #: Indices in `SOURCES` of the first arguments of the kernel.
        self.sources = [SOURCES.index(name) for name in _sources(settings)]
        #: Selects these from the values of all sources.
        self.pick = itemgetter(*self.sources)


def _sources(settings: LawSettings) -> Tuple[str, ...]:
    """Return the sources of the first eight of `law_equations.INPUTS`."""
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
    """Memory of a `TorqueLaw`, on which `law_torque` works.

    :param address: address of the kernel, for `call_kernel`
    :param inputs: inputs of the kernel, packed; all but motion and time are constant
    :param result: buffer for the output of the kernel, which begins with the torque
    :param motion: measured and desired motion, in the order of `SOURCES`, (9, nq or nv); the
        caller writes the first five rows, and the sixth unless positions can be subtracted
    :param sources: rows of `motion` of the first inputs, (8,)
    :param sizes: lengths of these inputs, (8,)
    :param linear: whether positions are a vector space, and can be subtracted
    :param applied: view of the inputs: torque that was sent last, (nv,) [N m or N]
    :param before: view of the inputs: last output of the kernel
    :param dt: view of the inputs: time since then, (1,) [s]
    :param periods: periods of positions, 0: not periodic, (nv,) [rad]
    :param rates: 1 / period, likewise, (nv,) [1/rad]
    :param holding: address of the kernel of the gravity torque
    :param holding_inputs: its inputs, packed; all but the configuration are constant
    """

    address: int
    inputs: FloatArray
    result: FloatArray
    motion: FloatArray
    sources: FloatArray
    sizes: FloatArray
    linear: bool
    applied: FloatArray
    before: FloatArray
    dt: FloatArray
    periods: FloatArray
    rates: FloatArray
    holding: int
    holding_inputs: FloatArray


@compiled
def law_torque(law: LawMemory, dt: float) -> int:
    """Compute the torque of a law, before limits.

    :param law: its memory, with the motion
    :param dt: time since the previous state [s]; ignored unless positive
    :return: 1 if it is finite; otherwise 0, and the state of the law is unchanged
    """
    if law.linear:
        for j in range(len(law.applied)):
            q, desired = law.motion[Q, j], law.motion[Q_DESIRED, j]
            ahead = whole_periods(desired - q, law.periods[j], law.rates[j])
            law.motion[GOAL, j] = desired - ahead
    at = 0
    for k in range(len(law.sources)):
        for j in range(law.sizes[k]):
            law.inputs[at] = law.motion[law.sources[k], j]
            at += 1
    # `not dt > 0` is true for NaN, too.
    law.dt[0] = min(dt, MAX_STEP) if dt > 0.0 else 0.0
    call_kernel(law.address, law.inputs, law.result)
    if not law.result[len(law.result) - 1] == 0.0:
        return 0
    for k in range(len(law.result)):
        law.before[k] = law.result[k]
    for j in range(len(law.applied)):
        law.applied[j] = law.result[j]
    return 1


@compiled
def holding_torque(law: LawMemory, torque: FloatArray) -> None:
    """Compute the gravity torque of robot and payload at the measured configuration.

    :param law: memory of the law, with the motion
    :param torque: the result, (nv,) [N m or N]
    """
    for j in range(len(law.applied)):
        law.holding_inputs[j] = law.motion[Q, j]
    call_kernel(law.holding, law.holding_inputs, torque)


#: `law_torque` for Python
compute_torque = entry_point(law_torque)
