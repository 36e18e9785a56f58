# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Recordings of motions as of a real arm: noise of efforts, encoders, friction, payloads.

Efforts are those of inverse dynamics at the true state, plus noise that is partly correlated in
time. The recorded state is rounded to counts of an encoder.
"""

import numpy as np
from scipy.signal import lfilter

from rbd_ros import Robot
from rbd_ros.identification import Recording

COUNTS = 2**18  # of an encoder per revolution


def fourier_motion(robot, duration, rate, rng, speed=1.0, harmonics=5):
    """Return times, positions, velocities and accelerations of a periodic motion, (N, n) each."""
    times = np.arange(round(duration * rate)) / rate
    base = 2.0 * np.pi * 0.1
    q = np.tile(np.linspace(-0.4, 0.6, robot.nv), (len(times), 1))
    v, a = np.zeros_like(q), np.zeros_like(q)
    for k in range(1, harmonics + 1):
        w = k * base
        for part, shift in ((rng.normal(size=robot.nv), 0.0), (rng.normal(size=robot.nv), 0.25)):
            size = speed * 0.5 * part / np.sqrt(k)
            phase = w * times[:, None] + 2.0 * np.pi * shift
            q += size / w * 0.6 * np.sin(phase)
            v += size * 0.6 * np.cos(phase)
            a -= size * w * 0.6 * np.sin(phase)
    return times, q, v, a


def recorded(
    robot,
    seed=0,
    duration=20.0,
    rate=250.0,
    payload=None,
    link='tool0',
    noise=0.02,
    counts=COUNTS,
    speed=1.0,
    parameters=None,
    damping=None,
    friction=None,
    offset=None,
):
    """Return the recording of a robot with other parameters than those described.

    :param noise: standard deviation of noise as fraction of that of efforts
    :param parameters: inertial parameters of the bodies, (10 bodies,); None: the robot's
    """
    rng = np.random.default_rng(seed)
    times, q, v, a = fourier_motion(robot, duration, rate, rng, speed)
    tau = robot.inverse_dynamics(q, v, a)
    if parameters is not None:
        Y = robot.regressors.torque(q, v, a)
        tau = tau + Y @ (np.asarray(parameters) - robot.regressors.parameters)
    if payload is not None:
        carrying = robot.function('inverse_dynamics', (f'payload:{link}',))
        tau = tau + carrying(q, v, a, payload) - robot.inverse_dynamics(q, v, a)
    damping = robot.damping if damping is None else damping
    friction = robot.friction if friction is None else friction
    tau = tau + damping * v + friction * np.sign(v)
    if offset is not None:
        tau = tau + offset
    size = noise * tau.std(axis=0)
    white, ripple = rng.normal(size=(2, *tau.shape))
    ripple = lfilter([np.sqrt(1.0 - 0.92**2)], [1.0, -0.92], ripple, axis=0)  # some 50 ms long
    tau = tau + size * (white + 0.5 * ripple)
    step = 2.0 * np.pi / counts
    return Recording(robot.joint_names, times, np.round(q / step) * step, tau)


def arm(name='six_axis_arm'):
    """Return one of the robots of the package."""
    return Robot.from_urdf(f'urdf/{name}.urdf')
