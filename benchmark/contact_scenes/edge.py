# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A peg that slides along the edge of a table, pressed on it by a gantry."""

from __future__ import annotations

import math
from typing import List, Tuple

import numpy as np

from contact_scenes.scene import (
    Body,
    Box,
    Error,
    forces_between,
    GRAVITY,
    Machine,
    ROBOT,
    Scene,
    Trajectory,
)

_PEG, _LENGTH, _MASS = 0.02, 0.1, 0.2  # side and length [m], mass [kg]
_TURNED = 0.25 * math.pi  # rotation of the peg about the edge
_MU, _PRESS = 0.3, 20.0  # friction, force on the edge [N]
_SPEED, _BEGIN, _RAMP, _EVEN = 0.1, 0.2, 0.2, 0.8  # [m/s], [s]
_DIAGONAL = math.sqrt(0.5)
#: Gains along the edge, and of passive axes: a spring across the edge, damping in both.
_ALONG, _ACROSS, _DAMPING = (4000.0, 120.0), 400.0, 20.0


def gantry() -> str:
    """Return the URDF of three slides along x, y and z, with a square peg at 45 deg about x."""
    lengths = f'{_LENGTH} {_PEG} {_PEG}'
    place = 0.5 * _PEG * _DIAGONAL
    text = '<robot name="gantry"><link name="stand"/>'
    for name, parent, axis in (
        ('x', 'stand', '1 0 0'), ('y', 'x_slide', '0 1 0'), ('z', 'y_slide', '0 0 1')
    ):  # fmt: skip
        child, origin, collision = f'{name}_slide', '0 0 0', ''
        if name == 'z':
            child, origin = 'peg', f'0 {place} {place}'
            collision = (
                f'<collision><origin xyz="0 0 0" rpy="{_TURNED} 0 0"/><geometry>'
                f'<box size="{lengths}"/></geometry></collision>'
            )
        text += (
            f'<link name="{child}"><inertial><mass value="{_MASS}"/><inertia ixx="1e-4" '
            f'iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial>{collision}</link>'
            f'<joint name="{name}" type="prismatic"><parent link="{parent}"/>'
            f'<child link="{child}"/><origin xyz="{origin}"/><axis xyz="{axis}"/>'
            '<limit lower="-1e6" upper="1e6" effort="1e6" velocity="1e6"/></joint>'
        )
    return text + '</robot>'


def desired(t: float) -> Tuple[float, float, float]:
    """Return position, speed and acceleration along the edge: a trapezoidal profile, then rest."""
    s = t - _BEGIN
    rate = _SPEED / _RAMP
    if s <= 0.0:
        return 0.0, 0.0, 0.0
    if s < _RAMP:
        return 0.5 * rate * s * s, rate * s, rate
    if s < _RAMP + _EVEN:
        return _SPEED * (s - 0.5 * _RAMP), _SPEED, 0.0
    left = 2.0 * _RAMP + _EVEN - s
    end = _SPEED * (_RAMP + _EVEN)
    if left > 0.0:
        return end - 0.5 * rate * left * left, rate * left, -rate
    return end, 0.0, 0.0


def drive(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return the forces of the slides: a servo along the edge, a constant force toward it."""
    x, speed, acceleration = desired(t)
    kp, kd = _ALONG
    along = kp * (x - q[0]) + kd * (speed - v[0]) + 3.0 * _MASS * acceleration
    along += _MU * _PRESS if speed > 0.0 else 0.0
    towards = -_PRESS - _DAMPING * _DIAGONAL * (v[1] + v[2])
    across = -_ACROSS * _DIAGONAL * (q[1] - q[2]) - _DAMPING * _DIAGONAL * (v[1] - v[2])
    return np.array([
        along,
        _DIAGONAL * (towards + across),
        _DIAGONAL * (towards - across) + _MASS * GRAVITY,
    ])  # fmt: skip


def normal_error(scene: Scene, trajectory: Trajectory) -> float:
    """Return the maximum relative error of the normal force on the edge after 0.1 s."""
    forces = [
        forces_between(contacts, ROBOT, 'table')
        for t, contacts in trajectory.contacts
        if t > 0.5 * _BEGIN
    ]
    if not forces:
        return math.nan
    normal = np.array(forces) @ [0.0, -_DIAGONAL, -_DIAGONAL]
    return float(np.max(np.abs(normal / _PRESS - 1.0)))


def friction_error(scene: Scene, trajectory: Trajectory) -> float:
    """Return the maximum relative error of friction along the edge at constant speed."""
    begin = _BEGIN + 1.5 * _RAMP
    forces = [
        forces_between(contacts, ROBOT, 'table')
        for t, contacts in trajectory.contacts
        if begin < t < _BEGIN + _RAMP + _EVEN
    ]
    if not forces:
        return math.nan
    return float(np.max(np.abs(np.array(forces)[:, 0] / (_MU * _PRESS) - 1.0)))


def edge_creep(scene: Scene, trajectory: Trajectory) -> float:
    """Return the maximum change of any slide in the last fifth of the time, at rest [m]."""
    q = trajectory.q[trajectory.last(0.2 * trajectory.time[-1])]
    return float(np.max(np.abs(q - q[0])))


EDGE = Scene(
    'edge',
    'A peg that a gantry presses on the edge of a table and slides along it',
    (Body('table', Box((1.2, 0.4, 0.1)), (0.0, -0.2, -0.05)),),
    duration=2.5,
    quick=0.8,
    errors=(
        Error('largest relative error of the normal force', normal_error, 1e-6),
        Error('largest relative error of the friction while sliding', friction_error, 1e-6),
        Error('largest change of a slide in the last fifth [m]', edge_creep, 1e-6),
    ),
    friction=_MU,
    machine=Machine(gantry()),
    torque=drive,
    control=0.002,
    residual_goal=1e-6,
)

SCENES: List[Scene] = [EDGE]
