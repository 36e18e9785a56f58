# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""All settings of a torque law as one value, checked against the robot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, Optional, Tuple

import numpy as np

from rbd_ros.array_types import BoolArray, FloatArray
from rbd_ros.control.law.gains import default_gains, min_damping_rate
from rbd_ros.control.law.task_impedance import TaskImpedance
from rbd_ros.control.robot_joints import dof_names, workspace
from rbd_ros.model.payload import check_payload
from rbd_ros.robot import Robot

FEEDFORWARDS = ('inverse_dynamics', 'gravity', 'none')
FEEDBACKS = ('computed_torque', 'pd', 'task_impedance', 'damping', 'none')
FRICTIONS = ('desired', 'measured', 'none')
WORDS = {'feedforward': FEEDFORWARDS, 'feedback': FEEDBACKS, 'friction': FRICTIONS}

TERM_DESCRIPTIONS = {
    'feedforward': {
        'inverse_dynamics': 'H ad + C + g: inertia, Coriolis, centrifugal and gravity; of the '
        'desired motion, with feedback computed_torque of the measured state',
        'gravity': 'g(q): gravity at the measured position',
        'none': 'nothing',
    },
    'feedback': {
        'computed_torque': 'H(q) (kp e + kd de) + D sqrt(kp) e with the viscous friction D, and '
        'its integral: gains in 1/s^2, 1/s and 1/s^3, the same behavior of all joints in all '
        'configurations',
        'pd': 'kp e + kd de and the integral of ki e: gains in N m/rad, N m s/rad, N m/(rad s)',
        'task_impedance': 'J^T (K e + D de) of a frame, with its pose e and its velocity de, and '
        '(H - J^T L J) (kp e + kd de) of the joints, which the frame does not feel; L is its '
        'operational-space inertia, gains of the joints are in 1/s^2 and 1/s',
        'damping': '-kd v with the measured velocity',
        'none': 'nothing',
    },
    'friction': {
        'desired': 'viscous and Coulomb friction of the desired velocity, smooth around rest',
        'measured': 'viscous and Coulomb friction of the measured velocity, smooth around rest',
        'none': 'nothing',
    },
}

#: Velocity at which 76 % of Coulomb friction is compensated [rad/s or m/s]. The desired velocity
#: has no noise and may switch it almost at once; the measured one would make it chatter.
TRANSITION_VELOCITY = {'desired': 3e-4, 'measured': 0.05, 'none': 0.05}

#: Position error below which the integral is constant, against stiction limit cycles [rad or m].
INTEGRAL_DEADBAND = 8e-4

#: Gains of the joints in addition to the impedance of a frame [1/s^2, 1/s].
NULL_STIFFNESS, NULL_DAMPING = 10.0, 6.0

#: Maximum values of settings; larger ones are typing errors.
MAXIMUM = {
    'kp': 1e9,
    'kd': 1e9,
    'ki': 1e9,
    'viscous': 1e6,
    'coulomb': 1e6,
    'gravity': 1e3,
}


@dataclass(frozen=True, eq=False)
class LawSettings:
    """Settings of a `TorqueLaw`; create them with `for_robot`, which checks them.

    Arrays are read-only, so that a law may use them while another thread replaces the settings.

    :param feedforward: one of FEEDFORWARDS
    :param feedback: one of FEEDBACKS
    :param friction: one of FRICTIONS
    :param kp: gain of the position error, (nv,) [N m/rad or N/m; 1/s^2 with computed_torque]
    :param kd: gain of the velocity error, (nv,) [N m s/rad or N s/m; 1/s with computed_torque]
    :param ki: gain of the integral of the position error, (nv,) [N m/(rad s) or N/(m s); 1/s^3
        with computed_torque]
    :param gravity: acceleration of gravity in base coordinates, (3,) [m/s^2]
    :param payload: ten inertial parameters, see `payload_parameters`, (10,); None: no payload
    :param viscous: viscous friction of the joints, (nv,) [N m s/rad or N s/m]
    :param coulomb: Coulomb friction of the joints, (nv,) [N m or N]
    :param transition_velocity: velocity with 76 % of the Coulomb friction [rad/s or m/s]
    :param effort_limits: maximum torques, beyond which the integral does not grow, (nv,) [N m
        or N], infinite without a limit
    :param integral_deadband: position error below which the integral is constant once the desired
        motion has been at rest for a while; a quarter of it before [rad or m]
    :param task: impedance of a frame, for feedback 'task_impedance'
    """

    feedforward: str
    feedback: str
    friction: str
    kp: FloatArray
    kd: FloatArray
    ki: FloatArray
    gravity: FloatArray
    payload: Optional[FloatArray]
    viscous: FloatArray
    coulomb: FloatArray
    transition_velocity: float
    effort_limits: FloatArray
    integral_deadband: float
    task: Optional[TaskImpedance] = None

    @classmethod
    def for_robot(
        cls,
        robot: Robot,
        *,
        feedforward: str = 'inverse_dynamics',
        feedback: str = 'computed_torque',
        friction: str = 'desired',
        kp: Any = None,
        kd: Any = None,
        ki: Any = None,
        gravity: Any = None,
        payload: Any = None,
        viscous: Any = None,
        coulomb: Any = None,
        transition_velocity: Optional[float] = None,
        effort_limits: Any = None,
        integral_deadband: float = INTEGRAL_DEADBAND,
        task: Optional[TaskImpedance] = None,
    ) -> LawSettings:
        """Complete and check settings for a robot.

        A setting of the joints is one number for all of them or one for each, (nv,). Default gains
        are those of `default_gains`, and other defaults are those of the robot; if kp or kd is
        given without ki, ki is zero.

        :raises ValueError: for an unknown word or an invalid number, with the setting, the joint
            and the cure

        >>> soft = LawSettings.for_robot(robot, feedback='pd', kp=80.0, kd=10.0, friction='none')
        >>> soft.kp, soft.ki
        (array([80., 80., 80., 80., 80., 80.]), array([0., 0., 0., 0., 0., 0.]))
        >>> LawSettings.for_robot(robot, kp=-1.0, kd=1.0)
        Traceback (most recent call last):
            ...
        ValueError: kp of joint 'shoulder_pan_joint' is -1; give a number that is not negative...
        """
        given = {'feedforward': feedforward, 'feedback': feedback, 'friction': friction}
        for name, word in given.items():
            if word not in WORDS[name]:
                raise ValueError(f'{name} must be one of {", ".join(WORDS[name])}, got {word!r}')
        if feedback == 'task_impedance':
            if task is None:
                raise ValueError('feedback task_impedance needs task, the impedance of a frame')
            if ki is not None and np.any(ki):
                raise ValueError('feedback task_impedance has no integral; set ki to 0')
            kp = NULL_STIFFNESS if kp is None else kp
            kd = NULL_DAMPING if kd is None else kd
        gains = _gains(robot, feedback, {'kp': kp, 'kd': kd, 'ki': ki})
        viscous = robot.damping if viscous is None else viscous
        coulomb = robot.friction if coulomb is None else coulomb
        limits = robot.effort_limits if effort_limits is None else effort_limits
        settings = cls(
            feedforward=feedforward,
            feedback=feedback,
            friction=friction,
            kp=gains['kp'],
            kd=gains['kd'],
            ki=gains['ki'],
            gravity=_vector('gravity', robot.gravity if gravity is None else gravity),
            payload=None if payload is None else _frozen(check_payload(payload)),
            viscous=_for_joints(robot, 'viscous', viscous),
            coulomb=_for_joints(robot, 'coulomb', coulomb),
            transition_velocity=_positive(
                'transition_velocity',
                TRANSITION_VELOCITY[friction]
                if transition_velocity is None
                else transition_velocity,
            ),
            effort_limits=_for_joints(robot, 'effort_limits', limits, np.inf),
            integral_deadband=_positive('integral_deadband', integral_deadband, or_zero=True),
            task=task,
        )
        if ki is not None:
            check_integral(robot, settings)
        return settings


def _gains(robot: Robot, feedback: str, given: Dict[str, Any]) -> Dict[str, FloatArray]:
    """Return the gains kp, kd and ki: given ones, defaults, or zeros."""
    if all(values is None for values in given.values()):
        names = ('kp', 'kd', 'ki')
        if feedback in ('pd', 'computed_torque'):
            return {n: _frozen(x) for n, x in zip(names, default_gains(robot, feedback))}
        return {name: _frozen(np.zeros(robot.nv)) for name in names}
    if feedback in ('pd', 'computed_torque') and (given['kp'] is None or given['kd'] is None):
        missing = next(name for name in ('kp', 'kd') if given[name] is None)
        raise ValueError(
            f'{missing} is missing: with feedback {feedback} give kp and kd (and ki), or none of '
            'them'
        )
    return {
        name: _for_joints(robot, name, 0.0 if values is None else values)
        for name, values in given.items()
    }


def check_integral(robot: Robot, settings: LawSettings) -> None:
    """Reject an integral gain that makes the model of the robot unstable.

    :raises ValueError: with the joint
    """
    if settings.feedback not in ('pd', 'computed_torque') or not settings.ki.any():
        return
    kp, kd, ki = settings.kp, settings.kd, settings.ki
    bad = (ki > 0.0) & (kp == 0.0)
    if bad.any():
        _reject_integral(robot, ki, bad, 'give kp too, since an integral without kp oscillates')
    if settings.feedback == 'computed_torque':
        # All joints are equal: p^3 + kd p^2 + kp p + ki is stable by Hurwitz if kd kp > ki.
        bad = (ki > 0.0) & (ki >= kp * kd)
        if bad.any():
            _reject_integral(robot, ki, bad, f'keep it below kp kd = {(kp * kd)[bad][0]:.6g}')
        return
    H = robot.mass_matrix(workspace(robot, 50))
    if not np.einsum('nii->ni', H).all():
        return  # a joint without mass has no equation of motion
    growth, motion = _fastest_growth(H, kd + settings.viscous, kp, ki)
    if growth > 0.0:
        most = min_damping_rate(H, kd + settings.viscous) * kp
        bad = np.zeros(robot.nv, dtype=bool)
        bad[np.argmax(np.abs(motion) * np.sqrt(kp) * (ki > 0.0))] = True
        _reject_integral(robot, ki, bad, f'ki below {most[bad][0]:.4g} is certainly stable')


def _reject_integral(robot: Robot, ki: FloatArray, bad: BoolArray, cure: str) -> None:
    i = int(np.flatnonzero(bad)[0])
    raise ValueError(
        f'ki of joint {dof_names(robot)[i]!r} is {ki[i]:.6g}, which makes the loop unstable; '
        f'{cure}'
    )


def _fastest_growth(
    H: FloatArray, damping: FloatArray, kp: FloatArray, ki: FloatArray
) -> Tuple[float, FloatArray]:
    """Return the maximum growth rate of H p^3 + Kd p^2 + Kp p + Ki over all H, and its motion.

    :param H: mass matrices, (N, nv, nv)
    :return: real part of the rightmost pole [1/s], and its eigenvector, (nv,) complex
    """
    count, n = len(H), len(kp)
    inverse = np.linalg.inv(H)
    companion = np.zeros((count, 3 * n, 3 * n))
    companion[:, : 2 * n, n:] = np.eye(2 * n)
    for block, gain in enumerate((ki, kp, damping)):
        companion[:, 2 * n :, block * n : (block + 1) * n] = -inverse * gain
    values, vectors = np.linalg.eig(companion)
    k, i = np.unravel_index(np.argmax(values.real), values.shape)
    return float(values[k, i].real), vectors[k, :n, i]


def _for_joints(
    robot: Robot, name: str, values: Any, maximum: Optional[float] = None
) -> FloatArray:
    """Return an array for all joints, (nv,), from one number or one for each."""
    if maximum is None:
        maximum = MAXIMUM[name]
    try:
        result = np.broadcast_to(np.asarray(values, dtype=float), (robot.nv,)).copy()
    except (TypeError, ValueError):
        raise ValueError(
            f'{name} must be one number or {robot.nv}, one for each joint, got shape '
            f'{_shape(values)}'
        ) from None
    # NaN fails both comparisons.
    bad = ~((result >= 0.0) & (result <= maximum))
    if bad.any():
        i = int(np.flatnonzero(bad)[0])
        most = '' if np.isinf(maximum) else f', from 0 to {maximum:g}'
        raise ValueError(
            f'{name} of joint {dof_names(robot)[i]!r} is {result[i]:g}; give a number that is '
            f'not negative{most}'
        )
    return _frozen(result)


def _vector(name: str, values: Any) -> FloatArray:
    try:
        result = np.array(values, dtype=float)
    except (TypeError, ValueError):
        result = np.full(0, np.nan)
    if result.shape != (3,) or not np.linalg.norm(result) <= MAXIMUM[name]:
        raise ValueError(
            f'{name} must be 3 numbers with a norm of at most {MAXIMUM[name]:g} m/s^2, got '
            f'{values}'
        )
    return _frozen(result)


def _positive(name: str, value: Any, or_zero: bool = False) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if not (0.0 < number < np.inf or (or_zero and number == 0.0)):
        what = 'not be negative or infinite' if or_zero else 'be positive and finite'
        raise ValueError(f'{name} must {what}, got {value}')
    return number


def _frozen(array: FloatArray) -> FloatArray:
    array = np.array(array, dtype=float)
    array.flags.writeable = False
    return array


def _shape(values: Any) -> Tuple[int, ...]:
    try:
        return np.shape(values)
    except ValueError:
        return ()
