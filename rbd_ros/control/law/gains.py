# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Default gains, computed from the robot's inertia, friction and gravity."""

from __future__ import annotations

from typing import Any, Optional, Tuple, Union

import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.control.robot_joints import free_inertia, inertia_of_all_joints, workspace
from rbd_ros.robot import Robot

#: Default frequency of the closed loop [rad/s]. The crossover is at 55 rad/s, and 22 ms of dead
#: time are tolerated; at 200 Hz with one period of delay, the phase margin is 48 degrees.
NATURAL_FREQUENCY = 18.0

#: Default damping ratio of the closed loop: critical, without overshoot.
DAMPING_RATIO = 1.0


def default_gains(
    robot: Robot,
    feedback: str = 'computed_torque',
    natural_frequency: float = NATURAL_FREQUENCY,
    damping_ratio: float = DAMPING_RATIO,
) -> Tuple[FloatArray, FloatArray, FloatArray]:
    """Return the gains kp, kd, ki of position error, velocity error and integral, each (nv,).

    With w the frequency and z the ratio, they are the coefficients of
    (p^2 + 2 z w p + w^2)(p + w) = p^3 + kd p^2 + kp p + ki, with 'pd' times the minimum inertia of
    each joint and raised where friction and gravity require it; docs/control_law.md explains how.

    :param feedback: 'computed_torque' or 'pd'; otherwise the gains are zero
    :param natural_frequency: natural frequency of the closed loop [rad/s]
    :param damping_ratio: damping ratio of the closed loop
    :raises ValueError: for numbers that are not positive and finite, or a joint without mass

    >>> kp, kd, ki = default_gains(robot)
    >>> kp[0], kd[0], ki[0]  # 1/s^2, 1/s, 1/s^3
    (972.0, 54.0, 5832.0)
    >>> default_gains(robot, 'pd')[0]  # [N m/rad]
    array([136.496, 411.909, 113.652,  13.593,   9.097,   0.75 ])
    """
    if feedback not in ('computed_torque', 'pd'):
        return np.zeros(robot.nv), np.zeros(robot.nv), np.zeros(robot.nv)
    w, z = _positive(natural_frequency=natural_frequency, damping_ratio=damping_ratio)
    kp, kd, ki = (1.0 + 2.0 * z) * w**2, (1.0 + 2.0 * z) * w, w**3
    H = inertia_of_all_joints(robot, workspace(robot))
    if feedback == 'computed_torque':
        return np.full(robot.nv, kp), np.full(robot.nv, kd), np.full(robot.nv, ki)
    return _diagonal_gains(robot, H, kp, kd, ki, z)


def _diagonal_gains(
    robot: Robot, H: FloatArray, kp: float, kd: float, ki: float, damping_ratio: float
) -> Tuple[FloatArray, FloatArray, FloatArray]:
    """Return gains of separate joints, valid in all configurations, from unit-inertia gains."""
    inertia = free_inertia(robot, workspace(robot)).min(axis=0)
    stiffness, damping = kp * inertia, kd * inertia
    raised = needed_stiffness(
        stiffness + friction_stiffness(robot.damping, kp),
        gravity_gradient(robot, workspace(robot, 500)),
    )
    # The additional stiffness for gravity is damped like the rest.
    added = raised - friction_stiffness(robot.damping, kp)
    damping = np.maximum(damping, 2.0 * damping_ratio * np.sqrt(np.maximum(added, 0.0) * inertia))
    slowest = min_damping_rate(H, damping + robot.damping)
    return raised, damping, raised * min(ki / kp, 0.5 * slowest)


def min_damping_rate(H: FloatArray, damping: FloatArray) -> float:
    """Return the minimum rate r at which damping brings the robot to rest, over all H [1/s].

    H p^3 + Kd p^2 + Kp p + Ki is stable if Ki < r Kp with this r: multiplied from both sides by
    an eigenvector, it is a polynomial of four positive numbers h, d, k, i with d > r h and
    i < r k, therefore d k > h i (Hurwitz).

    :param H: mass matrices, (N, nv, nv)
    :param damping: damping of the joints including viscous friction, (nv,)
    """
    if not damping.all():
        return 0.0
    scale = 1.0 / np.sqrt(damping)
    return float(1.0 / np.linalg.eigvalsh(H * scale[:, None] * scale)[:, -1].max())


def friction_stiffness(viscous: FloatArray, kp: Union[float, FloatArray]) -> FloatArray:
    """Return the additional stiffness for viscous friction, D sqrt(kp), (nv,) [N m/rad or N/m].

    Viscous friction D damps like kd. If it dominates, kp alone leaves the joint slow; with this
    stiffness a joint with friction only gets the pole sqrt(kp).

    :param viscous: viscous friction, (nv,) [N m s/rad or N s/m]
    :param kp: gain for unit inertia, one number or (nv,) [1/s^2]
    """
    stiffness: FloatArray = viscous * np.sqrt(kp)
    return stiffness


def _positive(**values: float) -> Tuple[float, ...]:
    for name, value in values.items():
        if not (np.isfinite(value) and value > 0.0):
            raise ValueError(f'{name} must be positive and finite, got {value}')
    return tuple(float(value) for value in values.values())


def pd_gains(
    robot: Robot, configurations: Any, natural_frequency: float, damping_ratio: float = 1.0
) -> Tuple[FloatArray, FloatArray]:
    """Return stiffness and damping with the same frequency and damping ratio for all joints.

    The inertia of joint i is 1 / (H^-1)_ii, with all other joints free, which is less than H_ii.
    With it, no mode of the coupled robot is faster than sqrt(nv) times the frequency, so gains
    stay moderate even for the last, light joints. The median over the configurations is used.

    :param configurations: typical configurations, (N, nq) or (nq,)
    :param natural_frequency: natural frequency of each joint [rad/s]
    :param damping_ratio: damping ratio of each joint
    :return: kp (nv,) [N m/rad or N/m] and kd (nv,) [N m s/rad or N s/m]
    :raises ValueError: for a frequency or damping ratio that is negative or not finite, or a joint
        without mass

    >>> kp, kd = pd_gains(robot, q, natural_frequency=20.0)
    >>> kp  # [N m/rad]
    array([129.546, 493.581, 121.74 ,   4.848,   2.174,   0.053])
    """
    if not (np.isfinite(natural_frequency) and natural_frequency > 0.0):
        raise ValueError(f'natural_frequency must be positive, got {natural_frequency}')
    if not (np.isfinite(damping_ratio) and damping_ratio >= 0.0):
        raise ValueError(f'damping_ratio must not be negative, got {damping_ratio}')
    inertia = np.median(free_inertia(robot, configurations), axis=0)
    kp = natural_frequency**2 * inertia
    return kp, 2.0 * damping_ratio * natural_frequency * inertia


#: Fraction of the stiffness reserved for model errors.
MARGIN = 0.2

#: Step of the central differences of the gravity torque [rad or m].
STEP = 1e-4


def gravity_gradient(
    robot: Robot,
    configurations: Any,
    gravity: Any = None,
    payload: Any = None,
    payload_link: Optional[str] = None,
) -> FloatArray:
    """Return the gravity gradient dg/dq, (N, nv, nv), by central differences.

    As the second derivative of the potential energy it is symmetric; the asymmetry of the
    differences is removed.

    :param configurations: configurations, (N, nq)
    :param gravity: acceleration of gravity, (3,) [m/s^2]; None: that of the robot
    :param payload: ten inertial parameters, (10,); None: no payload
    :param payload_link: link that carries the payload
    """
    q = np.asarray(configurations, dtype=float)
    count, nv = len(q), robot.nv
    inputs = [np.asarray(robot.gravity if gravity is None else gravity, dtype=float)]
    runtime = ['gravity']
    if payload_link is not None and payload is not None:
        runtime.append(f'payload:{payload_link}')
        inputs.append(np.asarray(payload, dtype=float))
    torque = robot.function('gravity_torque', runtime)
    # One batch of all displacements, which is faster than many calls.
    steps = STEP * np.concatenate([np.eye(nv), -np.eye(nv)])
    moved = robot.integrate(np.repeat(q, 2 * nv, axis=0), np.tile(steps, (count, 1)))
    g = torque(moved, *inputs).reshape(count, 2, nv, nv)
    gradient = (g[:, 0] - g[:, 1]).transpose(0, 2, 1) / (2.0 * STEP)
    symmetric: FloatArray = 0.5 * (gradient + gradient.transpose(0, 2, 1))
    return symmetric


def needed_stiffness(kp: FloatArray, gradients: FloatArray, margin: float = MARGIN) -> FloatArray:
    """Return the stiffness >= kp for which (1 - margin) kp + dg/dq is semidefinite, (nv,).

    If the minimum eigenvalue is negative, the joint with the largest component of its eigenvector
    gets the stiffness that makes it zero; other joints are unchanged.

    :param kp: gains, (nv,)
    :param gradients: dg/dq in several configurations, (N, nv, nv)
    :param margin: fraction of the stiffness that is reserved
    """
    # Joints have different units and sizes: each is scaled by its part of the gradient.
    size = np.sqrt(np.abs(np.einsum('nii->ni', gradients)).max(axis=0, initial=0.0))
    size = np.maximum(size, 1e-6 * max(size.max(initial=0.0), 1e-12))
    scaled = gradients / (size[:, None] * size)
    kept = (1.0 - margin) * np.asarray(kp, dtype=float) / size**2
    raised = np.zeros(len(size), dtype=bool)
    for _ in range(50 * len(size)):
        stiffness = scaled + np.diag(kept)
        minimum = np.linalg.eigvalsh(stiffness)[:, 0]
        weak = minimum < -1e-6
        if not weak.any():
            break
        # Raising a joint never destabilizes a stable configuration, so only the others remain.
        scaled = scaled[weak]
        worst = stiffness[weak][np.argmin(minimum[weak])]
        values, vectors = np.linalg.eigh(worst)
        joint = int(np.argmax(np.abs(vectors[:, 0])))
        # By the Schur complement of the joint, this makes the eigenvalue zero if no other one is
        # negative; otherwise it is a part of that, and the loop continues.
        reach = -np.einsum('ij,j,ij->i', vectors, 1.0 / values, vectors)[joint]
        raise_by = 1.0 / reach if reach > 0.0 else -values[0]
        kept[joint] += 1.001 * raise_by + 1e-6
        raised[joint] = True
    return np.where(raised, kept * size**2 / (1.0 - margin), kp)
