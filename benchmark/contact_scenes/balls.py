# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Balls: rolling, bouncing and settling as in SimBenchmark, and three classical scenes."""

from __future__ import annotations

import math
from typing import Dict, List, Tuple

import numpy as np

from contact_scenes.scene import (
    Body,
    Box,
    energy,
    Error,
    GRAVITY,
    grid,
    Ground,
    rotation,
    Scene,
    Sphere,
    Trajectory,
)

GROUND = Body('ground', Ground())


def energy_error(scene: Scene, trajectory: Trajectory) -> float:
    """Return the mean square of the change of energy [J^2]."""
    E = energy(scene, trajectory)
    return float(np.mean((E - E[0]) ** 2))


def largest_change(scene: Scene, trajectory: Trajectory) -> float:
    """Return the maximum change of the energy, relative to the initial one."""
    E = energy(scene, trajectory)
    return float(np.max(np.abs(E - E[0])) / abs(E[0]))


# -- rolling: 25 balls on a plate that is pushed --------------------------------------------------

_PLATE, _BALL, _PUSH, _MU = 10.0, 1.0, 150.0, 0.4
_SIDE = 5
_DEPTH = 2e-5  # initial penetration of the plate into the ground [m]; half of it for balls


def rolling_accelerations() -> Tuple[float, float]:
    """Return the accelerations of the plate and of each ball that rolls on it [m/s^2]."""
    count = _SIDE**2
    ground = _MU * (_PLATE + count * _BALL) * GRAVITY
    ball = (_PUSH - ground) / _PLATE / (3.5 / _BALL + count / _PLATE)
    return (_PUSH - ground - count * ball) / _PLATE, ball / _BALL


def _rolling(name: str, title: str, direction: Tuple[float, float, float]) -> Scene:
    along = np.array(direction)
    wrench = np.concatenate([np.zeros(3), _PUSH * along])
    balls = tuple(
        Body(
            f'ball{i}', Sphere(0.5), (x - 4.0, y - 4.0, 1.5 - 3.0 * _DEPTH), mass=_BALL
        )
        for i, (x, y) in enumerate(grid((_SIDE, _SIDE), 2.0))
    )  # fmt: skip

    def error(scene: Scene, trajectory: Trajectory) -> float:
        found = 0.0
        for body, acceleration in zip(('plate', 'ball0'), rolling_accelerations()):
            exact = np.outer(trajectory.time, acceleration * along)
            v = trajectory.velocity[:, scene.index(body), 3:]
            found += np.mean(np.sum((v - exact) ** 2, axis=1))
        return float(found)

    plate = Body('plate', Box((20.0, 20.0, 1.0)), (0.0, 0.0, 0.5 - _DEPTH), mass=_PLATE)
    return Scene(
        name,
        title,
        (GROUND, plate, *balls),
        duration=4.0,
        quick=0.2,
        errors=(Error('mean square of the velocity error [m²/s²]', error, 1e-6),),
        friction={('ground', 'plate'): _MU, ('plate', 'ball'): 0.8},
        kinds={ball.name: 'ball' for ball in balls},
        wrenches=lambda t: {'plate': wrench},
        steady=True,
    )  # fmt: skip


ROLLING_Y = _rolling('rolling_y', '25 balls on a plate that is pushed along y', (0.0, 1.0, 0.0))
ROLLING_XY = _rolling(
    'rolling_xy',
    '25 balls on a plate that is pushed at 60°',
    (0.5, math.sqrt(0.75), 0.0),
)

# -- bouncing and settling ------------------------------------------------------------------------

_RADIUS, _MASS, _HEIGHT = 0.1, 10.0, 5.0

BOUNCING = Scene(
    'bouncing',
    '49 balls that bounce elastically from 5 m',
    (
        GROUND,
        *(
            Body(f'ball{i}', Sphere(_RADIUS), (x - 6.0, y - 6.0, _HEIGHT), mass=_MASS)
            for i, (x, y) in enumerate(grid((7, 7), 2.0))
        ),
    ),
    duration=20.0,
    quick=2.0,
    errors=(
        Error('mean square of the energy error [J²]', energy_error, best=True),
        Error('largest change of energy, relative', largest_change, 1e-8, variant='event-driven'),
    ),
    restitution=1.0,
    every=0.005,
    apart=True,
)


def overlap(scene: Scene, trajectory: Trajectory) -> float:
    """Return the mean over time of the sum of squared penetrations of balls and ground [m^2]."""
    total = 0.0
    first, second = np.triu_indices(len(scene.free), 1)
    for p in trajectory.position:
        apart = np.linalg.norm(p[first] - p[second], axis=1)
        total += np.sum(np.maximum(0.0, 2.0 * _RADIUS - apart) ** 2)
        total += np.sum(np.maximum(0.0, _RADIUS - p[:, 2]) ** 2)
    return float(total / len(trajectory.position))


def _cube_of_balls(height: float) -> Tuple[Body, ...]:
    """Return a perturbed grid of 6 x 6 x 6 balls, whose lowest layer is at a height."""
    places = grid((6, 6, 6), 0.21)
    places += 1e-3 * np.random.default_rng(42).random(places.shape) + [-0.6, 0.0, height]
    return tuple(
        Body(f'ball{i}', Sphere(_RADIUS), tuple(map(float, place)), mass=_MASS)
        for i, place in enumerate(places)
    )


SETTLING = Scene(
    'settling',
    '666: 216 balls that fall and settle without friction',
    (GROUND, *_cube_of_balls(0.101)),
    duration=10.0,
    quick=0.1,
    errors=(Error('mean sum of squared penetrations [m²]', overlap, best=True),),
    every=0.01,
)
ELASTIC = Scene(
    'elastic',
    'elastic 666: 216 balls that collide without loss',
    (GROUND, *_cube_of_balls(1.101)),
    duration=10.0,
    quick=0.1,
    errors=(Error('mean square of the energy error [J²]', energy_error, best=True),),
    restitution=1.0,
    every=0.01,
)

# -- Newton's cradle ------------------------------------------------------------------------------

_CRADLE, _GAP, _SPEED = 5, 1e-4, 1.0


def cradle_error(scene: Scene, trajectory: Trajectory) -> float:
    """Return the maximum error of final velocities: the last ball has that of the first."""
    exact = np.zeros((_CRADLE, 3))
    exact[-1, 0] = _SPEED
    return float(np.max(np.abs(trajectory.velocity[-1, :, 3:] - exact)))


CRADLE = Scene(
    'cradle',
    "Newton's cradle: five balls in a row, hit by the first",
    tuple(
        Body(
            f'ball{i}',
            Sphere(_RADIUS),
            (i * (2.0 * _RADIUS + _GAP) - (0.05 if i == 0 else 0.0), 0.0, 1.0),
            mass=1.0,
            linear=(_SPEED if i == 0 else 0.0, 0.0, 0.0),
        )
        for i in range(_CRADLE)
    ),
    duration=0.2,
    quick=0.2,
    errors=(Error('largest error of the velocities afterwards [m/s]', cradle_error, 1e-8),),
    restitution=1.0,
    gravity=0.0,
)

# -- a wheel at the sliding limit -----------------------------------------------------------------

_WHEEL_RADIUS, _WHEEL_MASS, _WHEEL_MU = 0.1, 2.0, 0.5
_LIMIT = 1.4 * _WHEEL_MU * _WHEEL_MASS * GRAVITY * _WHEEL_RADIUS  # at which it slides [N m]
_WHEELS = {'rolls': 0.99, 'slides': 1.01}


def wheel_accelerations() -> Dict[str, float]:
    """Return accelerations of the ball just below and just above the sliding limit [m/s^2]."""
    return {'rolls': 0.99 * _WHEEL_MU * GRAVITY, 'slides': _WHEEL_MU * GRAVITY}


def wheel_error(scene: Scene, trajectory: Trajectory) -> float:
    """Return the maximum relative error of final speed, and of rotation of the rolling ball."""
    end, worst = trajectory.time[-1], 0.0
    for name, acceleration in wheel_accelerations().items():
        velocity = trajectory.velocity[-1, scene.index(name)]
        worst = max(worst, abs(velocity[3] / (acceleration * end) - 1.0))
        torque = _WHEELS[name] * _LIMIT
        moment = 0.4 * _WHEEL_MASS * _WHEEL_RADIUS**2
        turning = (torque - _WHEEL_MASS * acceleration * _WHEEL_RADIUS) / moment * end
        worst = max(worst, abs(velocity[1] / turning - 1.0))
    return float(worst)


_TORQUES = {
    name: np.array([0.0, part * _LIMIT, 0.0, 0.0, 0.0, 0.0]) for name, part in _WHEELS.items()
}
WHEEL = Scene(
    'wheel',
    'Balls driven by 0.99 and 1.01 of the torque at which they slide',
    (
        GROUND,
        *(
            Body(name, Sphere(_WHEEL_RADIUS), (0.0, y, _WHEEL_RADIUS), mass=_WHEEL_MASS)
            for y, name in enumerate(_WHEELS)
        ),
    ),
    duration=1.0,
    quick=0.3,
    errors=(Error('largest relative error of speed and turning', wheel_error, 1e-8),),
    friction=_WHEEL_MU,
    wrenches=lambda t: _TORQUES,
    steady=True,
    residual_goal=1e-8,
)

# -- a tippe top
# ------------------------------------------------------------------------------------

_TOP_RADIUS, _TOP_MASS = 0.02, 0.03
_BELOW = 0.3  # distance of the center of mass from the center, in radii


def turned_over(scene: Scene, trajectory: Trajectory) -> float:
    """Return the minimum distance of the heavy side from the top, 0 to 2."""
    up = rotation(trajectory.quaternion[:, 0])[:, 2, 2]
    return float(np.min(1.0 + up))


TOP = Scene(
    'top',
    'A spinning ball with its weight below: a tippe top, which turns over',
    (
        GROUND,
        Body(
            'top',
            Sphere(_TOP_RADIUS),
            (0.0, 0.0, _TOP_RADIUS),
            quaternion=(math.cos(0.05), math.sin(0.05), 0.0, 0.0),
            mass=_TOP_MASS,
            angular=(0.0, 0.0, 180.0),
            center=(0.0, 0.0, -_BELOW * _TOP_RADIUS),
            inertia=tuple(0.4 * _TOP_MASS * _TOP_RADIUS**2 * f for f in (1.0, 1.0, 1.0)),
        ),
    ),
    duration=4.0,
    quick=0.3,
    errors=(Error('1 + cosine of the weight from on top: 0 turned over, 2 not at all',
                  turned_over, 0.1),),
    friction=0.3,
    residual_goal=1e-8,
)  # fmt: skip

SCENES: List[Scene] = [
    ROLLING_Y, ROLLING_XY, BOUNCING, SETTLING, ELASTIC, CRADLE, WHEEL, TOP,
]  # fmt: skip
