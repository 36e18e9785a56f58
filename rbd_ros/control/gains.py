"""Gains of joint PD control from the robot's own inertia."""

from __future__ import annotations

from typing import Any, Tuple

import numpy as np

from rbd_ros.control.friction import friction_torque
from rbd_ros.robot import Robot

#: Default frequency of the closed loop [rad/s].
NATURAL_FREQUENCY = 20.0

#: Default damping of the closed loop as part of the critical one.
DAMPING_RATIO = 1.0

#: Pole of the integral as part of the frequency of the closed loop.
INTEGRAL_PART = 0.5


def default_gains(
    robot: Robot,
    feedback: str = 'computed_torque',
    natural_frequency: float = NATURAL_FREQUENCY,
    damping_ratio: float = DAMPING_RATIO,
) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gains of the position error, the velocity error and the integral: kp, kd, ki, each (nv,).

    :param robot: the robot
    :param feedback: 'computed_torque' or 'pd'
    :param natural_frequency: frequency of the closed loop [rad/s]
    :param damping_ratio: damping of the closed loop as part of the critical one
    :raises ValueError: for numbers that are none, or joints that move no mass
    """
    w, z = natural_frequency, damping_ratio
    r = INTEGRAL_PART * w
    # (p^2 + 2 z w p + w^2) (p + r)
    kp, kd, ki = w * w + 2.0 * z * w * r, 2.0 * z * w + r, w * w * r
    if feedback == 'computed_torque':
        return tuple(np.full(robot.nv, k) for k in (kp, kd, ki))
    rng = np.random.default_rng(0)
    configurations = np.array([robot.random_configuration(rng) for _ in range(64)])
    inertia = np.median(free_inertia(robot, configurations), axis=0)
    return kp * inertia, kd * inertia, ki * inertia


def pd_gains(
    robot: Robot, configurations: Any, natural_frequency: float, damping_ratio: float = 1.0
) -> Tuple[np.ndarray, np.ndarray]:
    """Stiffness and damping that give each joint one frequency and damping ratio.

    The inertia of joint i is 1 / (H^-1)_ii: what its motor feels when all other joints are free,
    which is less than H_ii. With it the coupled robot has no mode faster than sqrt(nv) times the
    frequency asked for, so that gains stay modest even for the last, light joints; the median is
    taken over the configurations given.

    :param robot: the robot
    :param configurations: typical configurations, (N, nq) or (nq,)
    :param natural_frequency: frequency of each joint [rad/s]
    :param damping_ratio: damping of each joint as part of the critical one
    :return: kp (nv,) [N m/rad or N/m] and kd (nv,) [N m s/rad or N s/m]
    :raises ValueError: for a frequency or damping that is no gain, or a singular mass matrix
    """
    if not (np.isfinite(natural_frequency) and natural_frequency > 0.0):
        raise ValueError(f'natural_frequency must be positive, got {natural_frequency}')
    if not (np.isfinite(damping_ratio) and damping_ratio >= 0.0):
        raise ValueError(f'damping_ratio must not be negative, got {damping_ratio}')
    inertia = np.median(free_inertia(robot, configurations), axis=0)
    kp = natural_frequency**2 * inertia
    return kp, 2.0 * damping_ratio * natural_frequency * inertia


def motion_gains(
    robot: Robot,
    configurations: Any,
    velocities: Any,
    *,
    natural_frequency: float = 15.0,
    damping_ratio: float = 0.7,
    deflection: float = 0.15,
    highest_frequency: float = 60.0,
) -> Tuple[np.ndarray, np.ndarray]:
    """Gains of `pd_gains`, raised where feedback alone could not carry its load.

    A joint whose gravity and friction torque would deflect it by more than `deflection` gets a
    greater frequency, but none above `highest_frequency`, so that the loop stays stable at 1 kHz.

    :param robot: the robot
    :param configurations: configurations of the motion, (N, nq)
    :param velocities: its velocities, (N, nv)
    :param natural_frequency: least frequency of each joint [rad/s]
    :param damping_ratio: damping of each joint as part of the critical one
    :param deflection: deflection under load [rad or m]
    :param highest_frequency: greatest frequency of each joint [rad/s]
    :return: kp (nv,) [N m/rad or N/m] and kd (nv,) [N m s/rad or N s/m]
    """
    inertia, _ = pd_gains(robot, configurations, 1.0)
    v = np.asarray(velocities, dtype=float)
    gravity = robot.gravity_torque(np.asarray(configurations, dtype=float))
    load = np.abs(gravity + friction_torque(v, robot.damping, robot.friction, 0.02)).max(axis=0)
    carrying = np.sqrt(load / (deflection * inertia))
    frequency = np.clip(carrying, natural_frequency, max(highest_frequency, natural_frequency))
    return frequency**2 * inertia, 2.0 * damping_ratio * frequency * inertia


def free_inertia(robot: Robot, configurations: Any) -> np.ndarray:
    """Inertia about each joint while the others are free, 1 / (H^-1)_ii, (N, nv).

    :param configurations: (N, nq) or (nq,)
    """
    H = robot.mass_matrix(np.atleast_2d(np.asarray(configurations, dtype=float)))
    # Units differ among joints (kg m^2, kg): the scaled matrix tells whether H is regular.
    diagonal = np.einsum('...ii->...i', H)
    light = [name for name, least in zip(dof_names(robot), diagonal.min(axis=0)) if not least > 0]
    if light:
        raise ValueError(f'joint {", ".join(light)} moves no mass: gains cannot follow from it')
    scale = 1.0 / np.sqrt(diagonal)
    inverse = np.linalg.pinv(H * scale[..., :, None] * scale[..., None, :], hermitian=True)
    return 1.0 / (np.einsum('...ii->...i', inverse) * scale**2)


def dof_names(robot: Robot) -> Tuple[str, ...]:
    """Name of the joint of each degree of freedom, (nv,)."""
    model = robot.model
    bodies = (model.body(i) for i in model.independent)
    return tuple(body.joint_name for body in bodies for _ in range(body.joint.nv))
