# SPDX-License-Identifier: Apache-2.0
"""Gradient of gravity torque, by which a feedforward at the desired position loses stiffness.

The torque g(qd) - g(q) of an error e = qd - q is dg/dq e: feedback of stiffness kp then leaves
the stiffness kp + dg/dq, which must be positive definite in all configurations, or the robot falls
away from where it should stay.
"""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from rbd_ros.control.control_arrays import FloatArray
from rbd_ros.robot import Robot

#: Share of the stiffness that must be left over, for what the model does not know.
MARGIN = 0.2

#: Step of the central differences of gravity torque [rad or m].
STEP = 1e-4


def gravity_gradient(
    robot: Robot,
    configurations: Any,
    gravity: Any = None,
    payload: Any = None,
    payload_link: Optional[str] = None,
) -> FloatArray:
    """Return derivative of gravity torque by position, dg/dq, (N, nv, nv), by central differences.

    As the second derivative of the potential energy it is symmetric; what the differences leave
    of asymmetry is removed.

    :param robot: the robot
    :param configurations: configurations, (N, nq)
    :param gravity: acceleration of gravity, (3,) [m/s^2]; None: that of the robot
    :param payload: ten inertial parameters, (10,); None: none
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
    # All displacements of all configurations in one batch, which costs less than many calls.
    steps = STEP * np.concatenate([np.eye(nv), -np.eye(nv)])
    moved = robot.integrate(np.repeat(q, 2 * nv, axis=0), np.tile(steps, (count, 1)))
    g = torque(moved, *inputs).reshape(count, 2, nv, nv)
    gradient = (g[:, 0] - g[:, 1]).transpose(0, 2, 1) / (2.0 * STEP)
    symmetric: FloatArray = 0.5 * (gradient + gradient.transpose(0, 2, 1))
    return symmetric


def needed_stiffness(kp: FloatArray, gradients: FloatArray, margin: float = MARGIN) -> FloatArray:
    """Return the stiffness >= kp for which (1 - margin) kp + dg/dq is semidefinite, (nv,).

    Only joints that matter are raised: where the minimum eigenvalue is negative, the joint that
    moves most in its eigenvector gets what makes it zero.

    :param kp: gains, (nv,)
    :param gradients: dg/dq in several configurations, (N, nv, nv)
    :param margin: share of the stiffness that must be left over
    """
    # Joints have different units and sizes: each is scaled by its own part of the gradient.
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
        # Raising one joint never makes a configuration worse that is stable already, so only the
        # others are looked at again.
        scaled = scaled[weak]
        worst = stiffness[weak][np.argmin(minimum[weak])]
        values, vectors = np.linalg.eigh(worst)
        joint = int(np.argmax(np.abs(vectors[:, 0])))
        # By the Schur complement of the joint, this much makes the eigenvalue zero if no other one
        # is negative; otherwise by part of it, and the loop goes on.
        reach = -np.einsum('ij,j,ij->i', vectors, 1.0 / values, vectors)[joint]
        raise_by = 1.0 / reach if reach > 0.0 else -values[0]
        kept[joint] += 1.001 * raise_by + 1e-6
        raised[joint] = True
    return np.where(raised, kept * size**2 / (1.0 - margin), kp)
