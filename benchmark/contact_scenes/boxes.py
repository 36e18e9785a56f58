# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Boxes and a rod: sliding, dragged and tipped cubes, stacks, a peg in a hole, Painleve's rod."""

from __future__ import annotations

from functools import lru_cache
import math
from typing import List, Tuple

import numpy as np
from scipy.integrate import solve_ivp

from contact_scenes.scene import (
    about,
    Body,
    Box,
    Capsule,
    Error,
    GRAVITY,
    grid,
    Ground,
    load_error,
    rotation,
    Scene,
    Trajectory,
)

GROUND = Body('ground', Ground())
_SIDE, _MU, _SPEED = 0.2, 0.4, 1.0


def _cube(name: str, z: float, mass: float, side: float = _SIDE, x: float = 0.0) -> Body:
    return Body(name, Box((side, side, side)), (x, 0.0, z), mass=mass)


# -- a cube that slides to rest -------------------------------------------------------------------

STOPPING_TIME = _SPEED / (_MU * GRAVITY)
STOPPING_DISTANCE = 0.5 * _SPEED * STOPPING_TIME


def stopping_error(scene: Scene, trajectory: Trajectory) -> float:
    """Return the error of the final sliding distance of the cube [m]."""
    slid = trajectory.position[-1, 0, 0] - scene.free[0].position[0]
    return float(abs(slid - STOPPING_DISTANCE))


def creep(scene: Scene, trajectory: Trajectory) -> float:
    """Return the maximum speed of any body in the last tenth of the time [m/s]."""
    part = trajectory.last(0.1 * trajectory.time[-1])
    return float(np.max(np.linalg.norm(trajectory.velocity[part, :, 3:], axis=2)))


SLIDING = Scene(
    'sliding',
    'A cube that slides to rest',
    (
        GROUND,
        Body('cube', Box((_SIDE,) * 3), (0.0, 0.0, 0.5 * _SIDE), mass=1.0,
             linear=(_SPEED, 0.0, 0.0)),
    ),
    duration=1.0,
    quick=0.4,
    errors=(
        Error('error of the stopping distance [m]', stopping_error, 5.1e-4),
        Error('speed at rest [m/s]', creep, 1e-10),
    ),
    friction=_MU,
    residual_goal=1e-10,
)  # fmt: skip


def drift(scene: Scene, trajectory: Trajectory) -> float:
    """Return the maximum displacement of any body after 1 s, or a quarter of the time [m]."""
    begin = min(1.0, 0.25 * trajectory.time[-1])
    settled = int(np.searchsorted(trajectory.time, begin))
    apart = trajectory.position[settled:] - trajectory.position[settled]
    return float(np.max(np.linalg.norm(apart, axis=2)))


# -- a cube that is dragged by an increasing force
# ---------------------------------------------------

_RATE, _MAX_FORCE = 4.0 * GRAVITY, 0.9 * GRAVITY * 2.0  # [N/s], [N]
_DRAGGED = 1.098  # release time [s]


def drag(t: float) -> float:
    """Return the force on the dragged cube [N]."""
    return min(_MAX_FORCE, _RATE * t)


def dragged_speed(t: np.ndarray) -> np.ndarray:
    """Return the exact speed of the dragged cube of 1 kg: it sticks first, then slides [m/s]."""
    friction, begin, top = _MU * GRAVITY, _MU * GRAVITY / _RATE, _MAX_FORCE / _RATE
    growing = np.clip(t, begin, top)
    speed = 0.5 * _RATE * (growing**2 - begin**2) - friction * (growing - begin)
    return speed + (_MAX_FORCE - friction) * np.maximum(0.0, t - top)


def dragged_error(scene: Scene, trajectory: Trajectory) -> float:
    """Return the mean square of the velocity error [m^2/s^2]."""
    exact = np.zeros((len(trajectory.time), 3))
    exact[:, 0] = dragged_speed(trajectory.time)
    return float(np.mean(np.sum((trajectory.velocity[:, 0, 3:] - exact) ** 2, axis=1)))


def released_error(scene: Scene, trajectory: Trajectory) -> float:
    """Return the relative error of the sliding distance after release [1]."""
    speed = float(dragged_speed(np.array(_DRAGGED)))
    times = np.linspace(0.0, _DRAGGED, 20001)
    exact = float(np.trapezoid(dragged_speed(times), times)) + speed**2 / (2.0 * _MU * GRAVITY)
    return float(abs(trajectory.position[-1, 0, 0] / exact - 1.0))


DRAGGED = Scene(
    'dragged',
    'A cube that is dragged by a growing force: it sticks, then slides',
    (GROUND, _cube('cube', 0.5 * _SIDE, 1.0)),
    duration=_DRAGGED,
    quick=0.3,
    errors=(Error('mean square of the velocity error [m²/s²]', dragged_error),),
    friction=_MU,
    wrenches=lambda t: {'cube': np.array([0.0, 0.0, 0.0, drag(t), 0.0, 0.0])},
    residual_goal=1e-8,
)

RELEASED = Scene(
    'released',
    'The same cube, let go at the end, which slides on and comes to rest',
    (GROUND, _cube('cube', 0.5 * _SIDE, 1.0)),
    duration=4.5,
    quick=4.5,
    errors=(
        Error('relative error of where it rests', released_error),
        Error('speed at rest [m/s]', creep, 1e-10),
    ),
    friction=_MU,
    wrenches=lambda t: {
        'cube': np.array([0.0, 0.0, 0.0, drag(t) if t < _DRAGGED else 0.0, 0.0, 0.0])
    },
    residual_goal=1e-8,
)

HELD = Scene(
    'held',
    'A cube that nine tenths of its friction pull at for a minute',
    (GROUND, _cube('cube', 0.5 * _SIDE, 1.0)),
    duration=60.0,
    quick=0.5,
    errors=(Error('drift [m]', drift, 1e-8),),
    friction=_MU,
    wrenches=lambda t: {'cube': np.array([0.0, 0.0, 0.0, 0.9 * _MU * GRAVITY, 0.0, 0.0])},
    steady=True,
    every=0.02,
    residual_goal=1e-8,
)

# -- a cube that falls back from standing on an edge ----------------------------------------------

_TILT = math.radians(30.0)


@lru_cache(maxsize=None)
def tipping(tilt: float = _TILT) -> Tuple[np.ndarray, np.ndarray, float]:
    """Return the exact motion of a cube about a sticking edge: times, angles of its face, end.

    The angle is that between lower face and ground; the cube has landed when it is zero.
    """
    half = _SIDE / math.sqrt(2.0)  # from the edge to the center
    moment = _SIDE**2 / 6.0 + half**2

    def rate(_: float, y: np.ndarray) -> np.ndarray:
        return np.array([y[1], -GRAVITY * half * math.cos(y[0] + 0.25 * math.pi) / moment])

    def landed(_: float, y: np.ndarray) -> float:
        return y[0]

    landed.terminal = True
    found = solve_ivp(
        rate, (0.0, 2.0), [tilt, 0.0], events=landed, rtol=1e-11, atol=1e-12, max_step=1e-3
    )
    return found.t, found.y[0], float(found.t[-1])


def tipping_error(scene: Scene, trajectory: Trajectory) -> float:
    """Return the root mean square error of the angle while the cube falls [rad]."""
    times, angles, end = tipping()
    falling = trajectory.time < end
    R = rotation(trajectory.quaternion[falling, 0])
    tilt = np.arctan2(R[:, 2, 0], R[:, 2, 2])
    exact = np.interp(trajectory.time[falling], times, angles)
    return float(np.sqrt(np.mean((tilt - exact) ** 2)))


def _tilted() -> Body:
    """Return a cube on its edge at x = -side/2, rotated about it by the tilt."""
    half = 0.5 * _SIDE
    c, s = math.cos(_TILT), math.sin(_TILT)
    return Body(
        'cube',
        Box((_SIDE,) * 3),
        (-half + half * c - half * s, 0.0, half * s + half * c),
        about((0.0, 1.0, 0.0), -_TILT),
        mass=1.0,
    )


TIPPED = Scene(
    'tipped',
    'A cube that falls back from standing on an edge, which sticks',
    (GROUND, _tilted()),
    duration=0.6,
    quick=0.3,
    errors=(Error('root mean square of the angle error while falling [rad]', tipping_error),),
    friction=1.0,
    residual_goal=1e-8,
)

FALLEN = Scene(
    'fallen',
    'The same cube, which lies for a minute then',
    (GROUND, _tilted()),
    duration=60.0,
    quick=1.0,
    errors=(Error('drift [m]', drift, 1e-8),),
    friction=1.0,
    every=0.02,
    residual_goal=1e-8,
)

# -- stacks ---------------------------------------------------------------------------------------


STACK = Scene(
    'stack',
    'A cube of 1000 kg on a cube of 1 g',
    (GROUND, _cube('light', 0.5 * _SIDE, 1e-3), _cube('heavy', 1.5 * _SIDE, 1e3)),
    duration=60.0,
    quick=0.5,
    errors=(Error('drift [m]', drift, 1e-8),),
    friction=_MU,
    every=0.02,
    residual_goal=1e-8,
)

_BLOCK, _OFFSET = 0.1, 0.01
TOWER = Scene(
    'tower',
    'A tower of ten blocks, not quite in line',
    (
        GROUND,
        *(
            _cube(f'block{i}', (i + 0.5) * _BLOCK, 1.0, _BLOCK, _OFFSET * (i % 2))
            for i in range(10)
        ),
    ),
    duration=60.0,
    quick=0.5,
    errors=(Error('drift [m]', drift, 1e-8),),
    friction=0.5,
    every=0.02,
    residual_goal=1e-8,
)

# -- a peg in a hole ------------------------------------------------------------------------------

PEG, LENGTH, PLAY, DEPTH = 0.02, 0.08, 1e-4, 0.06
_PEG_MASS = 7850.0 * PEG**2 * LENGTH  # of steel [kg]
_WALL = 0.02
_HALF_HOLE = 0.5 * (PEG + PLAY)


def _hole() -> List[Body]:
    """Return four walls around a square hole."""
    away, length = _HALF_HOLE + 0.5 * _WALL, 2.0 * _HALF_HOLE + 2.0 * _WALL
    x, y = Box((_WALL, length, DEPTH)), Box((2.0 * _HALF_HOLE, _WALL, DEPTH))
    return [
        Body('wall0', x, (away, 0.0, 0.5 * DEPTH)),
        Body('wall1', x, (-away, 0.0, 0.5 * DEPTH)),
        Body('wall2', y, (0.0, away, 0.5 * DEPTH)),
        Body('wall3', y, (0.0, -away, 0.5 * DEPTH)),
    ]


def not_inserted(scene: Scene, trajectory: Trajectory) -> float:
    """Return the final distance of the peg from the bottom of the hole [m]."""
    return float(max(0.0, trajectory.position[-1, 0, 2] - 0.5 * LENGTH))


def into_walls(scene: Scene, trajectory: Trajectory) -> float:
    """Return the maximum penetration of the peg's edges into the walls [m]."""
    signs = np.array([[a, b] for a in (-1, 1) for b in (-1, 1)])
    along = np.linspace(-0.5, 0.5, 41) * LENGTH
    points = np.array([[0.5 * PEG * a, 0.5 * PEG * b, z] for a, b in signs for z in along])
    R = rotation(trajectory.quaternion[:, 0])
    edges = trajectory.position[:, None, 0] + np.einsum('kij,pj->kpi', R, points)
    sideways = np.max(np.abs(edges[..., :2]), axis=-1) - _HALF_HOLE
    return float(max(0.0, np.max(np.minimum(sideways, DEPTH - edges[..., 2]))))


PEG_IN_HOLE = Scene(
    'peg',
    'A peg that falls into a hole with 0.1 mm of play',
    (
        GROUND,
        *_hole(),
        Body(
            'peg',
            Box((PEG, PEG, LENGTH)),
            (2e-5, -1e-5, DEPTH - 0.001 + 0.5 * LENGTH),
            about((0.6, 0.8, 0.0), 5e-4),
            mass=_PEG_MASS,
        ),
    ),
    duration=1.0,
    quick=0.3,
    errors=(
        Error('distance from the bottom at the end [m]', not_inserted, 1e-5),
        Error('deepest penetration into the walls [m]', into_walls, 1e-5),
        Error('forces on it at the end, relative error', load_error('peg', _PEG_MASS), 1e-6),
    ),
    friction=0.2,
)

# -- Painleve's rod -------------------------------------------------------------------------------

ROD, _THIN, ROD_MU = 0.5, 0.01, 2.0  # half length and radius [m]
_STEEP = math.atan(2.0)  # where the paradox needs minimum friction, 4/3 for a slender rod
_JAMMED = 0.01  # [s]


def paradox() -> float:
    """Return the normal acceleration of the sliding tip per force on it [1/kg].

    If it is negative, no acceleration obeys both laws, and the tip must stop at once.
    """
    x, _, along = Capsule(_THIN, 2.0 * ROD).moments
    c, s = math.cos(_STEEP), math.sin(_STEEP)
    below = ROD * s + _THIN
    return 1.0 + ROD * c * (ROD * c - ROD_MU * below) / x


def tip(scene: Scene, trajectory: Trajectory) -> Tuple[np.ndarray, np.ndarray]:
    """Return heights and horizontal speeds of the lowest point of the rod's lower end."""
    R = rotation(trajectory.quaternion[:, 0])
    arm = R @ np.array([0.0, 0.0, -ROD]) + [0.0, 0.0, -_THIN]
    velocity = trajectory.velocity[:, 0, 3:] + np.cross(trajectory.velocity[:, 0, :3], arm)
    return trajectory.position[:, 0, 2] + arm[:, 2], velocity[:, 0]


def jamming_error(scene: Scene, trajectory: Trajectory) -> float:
    """Return the horizontal speed of the tip after 10 ms, relative to the initial one."""
    speed = tip(scene, trajectory)[1]
    return float(abs(speed[np.searchsorted(trajectory.time, _JAMMED - 1e-9)]) / _SPEED)


def tip_depth(scene: Scene, trajectory: Trajectory) -> float:
    """Return the maximum penetration of the tip [m]."""
    return float(max(0.0, -np.min(tip(scene, trajectory)[0])))


PAINLEVE = Scene(
    'painleve',
    "Painlevé's rod, pushed ahead of its center at a friction of 2: it jams",
    (
        GROUND,
        Body(
            'rod',
            Capsule(_THIN, 2.0 * ROD),
            (0.0, 0.0, ROD * math.sin(_STEEP) + _THIN),
            # Its lower end is at negative x.
            about((0.0, 1.0, 0.0), 0.5 * math.pi - _STEEP),
            mass=1.0,
            linear=(-_SPEED, 0.0, 0.0),
        ),
    ),
    duration=0.1,
    quick=0.02,
    errors=(
        Error('speed of the tip after 10 ms, by that at the start', jamming_error, 1e-3),
        Error('deepest penetration of the tip [m]', tip_depth, 1e-5),
    ),
    friction=ROD_MU,
    residual_goal=1e-8,
)

# -- 64 boxes -------------------------------------------------------------------------------------


def mean_speed(scene: Scene, trajectory: Trajectory) -> float:
    """Return the mean speed of the boxes in the last tenth of the time [m/s]."""
    part = trajectory.last(0.1 * trajectory.time[-1])
    return float(np.mean(np.linalg.norm(trajectory.velocity[part, :, 3:], axis=2)))


def _pile() -> List[Body]:
    """Return a perturbed grid of 4 x 4 x 4 boxes, with small gaps."""
    rng, side = np.random.default_rng(7), 0.1
    places = grid((4, 4, 4), 1.1 * side) + [-0.165, -0.165, 0.06]
    places += rng.uniform(-0.004, 0.004, places.shape)
    return [
        Body(f'box{i}', Box((side,) * 3), tuple(map(float, place)), mass=1.0)
        for i, place in enumerate(places)
    ]


BOXES = Scene(
    'boxes',
    '64 boxes that fall on each other',
    (GROUND, *_pile()),
    duration=3.0,
    quick=0.1,
    errors=(Error('mean speed of the boxes in the last tenth [m/s]', mean_speed),),
    friction=0.5,
    every=0.01,
)

SCENES: List[Scene] = [
    SLIDING, DRAGGED, RELEASED, HELD, TIPPED, FALLEN, STACK, TOWER, PEG_IN_HOLE, PAINLEVE, BOXES,
]  # fmt: skip
