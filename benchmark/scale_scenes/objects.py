# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Scenes of many objects: dominoes, walls of bricks, mixed shapes in a bin, piles of boxes."""

from __future__ import annotations

import math
from typing import Iterator, List, Tuple

from contact_scenes.scene import (
    about,
    Body,
    Box,
    Capsule,
    Cylinder,
    grid,
    Ground,
    Scene,
    Shape,
    Sphere,
)
import numpy as np

GROUND = Body('ground', Ground())
_FRICTION = 0.5


def _scene(
    name: str, title: str, bodies: List[Body], duration: float, friction: float = _FRICTION
) -> Scene:
    return Scene(name, title, (GROUND, *bodies), duration, 0.05, errors=(), friction=friction)


def _turned(rng: np.random.Generator, most: float) -> Tuple[float, float, float, float]:
    """Return the quaternion of a rotation about a random axis, up to an angle [rad]."""
    axis = rng.normal(size=3)
    return about(axis / np.linalg.norm(axis), float(rng.uniform(0.0, most)))


# -- dominoes -------------------------------------------------------------------------------------

_DOMINO, _SPACING, _DOMINO_MASS = Box((0.01, 0.04, 0.08)), 0.04, 0.05


def dominoes(count: int = 12) -> Scene:
    """Return a row of dominoes of which the first tips over."""
    thick, _, height = _DOMINO.size
    lean = 0.25  # of the first [rad]: its weight is beyond its edge
    center = 0.5 * (thick * math.cos(lean) + height * math.sin(lean)) - 0.5 * thick
    lifted = 0.5 * (thick * math.sin(lean) + height * math.cos(lean))
    first = Body(
        'domino0', _DOMINO, (center, 0.0, lifted), about((0, 1, 0), lean), mass=_DOMINO_MASS
    )
    others = [
        Body(f'domino{k}', _DOMINO, (k * _SPACING, 0.0, 0.5 * height), mass=_DOMINO_MASS)
        for k in range(1, count)
    ]
    return _scene('dominoes', f'{count} dominoes that fall', [first, *others], 2.0, friction=0.4)


# -- walls ----------------------------------------------------------------------------------------

_BRICK, _BRICK_MASS = Box((0.2, 0.1, 0.1)), 2.0
_BALL, _BALL_MASS, _BALL_SPEED = Sphere(0.1), 5.0, 6.0


def wall(side: int) -> Scene:
    """Return a wall with as many layers as bricks per layer, which a ball hits in the middle."""
    length, _, height = _BRICK.size
    bricks = [
        Body(
            f'brick{layer}_{k}',
            _BRICK,
            # Every other layer is shifted by half a brick.
            ((k + 0.5 * (layer % 2)) * length, 0.0, (layer + 0.5) * height),
            mass=_BRICK_MASS,
        )
        for layer in range(side)
        for k in range(side)
    ]
    place = 0.5 * (side - 0.5) * length, -0.5, 0.5 * side * height
    ball = Body('ball', _BALL, place, mass=_BALL_MASS, linear=(0.0, _BALL_SPEED, 0.0))
    return _scene(
        f'wall{side}',
        f'{side} x {side} bricks that a ball of {_BALL_MASS:g} kg hits at {_BALL_SPEED:g} m/s',
        [*bricks, ball],
        2.0 if side <= 5 else 1.0,
    )


# -- mixed shapes in a bin ------------------------------------------------------------------------

_SHAPES: Tuple[Shape, ...] = (
    Capsule(0.03, 0.08),
    Cylinder(0.04, 0.08),
    Box((0.1, 0.06, 0.08)),
    Sphere(0.045),
)
_WALL, _BIN_HEIGHT, _CELL = 0.05, 0.6, 0.16


def _bin(inside: float) -> Iterator[Body]:
    away, length = 0.5 * (inside + _WALL), inside + 2.0 * _WALL
    x, y = Box((_WALL, length, _BIN_HEIGHT)), Box((length, _WALL, _BIN_HEIGHT))
    for k, sign in enumerate((1.0, -1.0)):
        yield Body(f'wall{k}', x, (sign * away, 0.0, 0.5 * _BIN_HEIGHT))
        yield Body(f'wall{k + 2}', y, (0.0, sign * away, 0.5 * _BIN_HEIGHT))


def mixed(count: int) -> Scene:
    """Return alternating capsules, cylinders, boxes and spheres that fall into a bin."""
    rng, side = np.random.default_rng(3), 3 if count <= 32 else 4
    inside = side * _CELL + 0.04
    cells = grid((-(-count // side**2), side, side), _CELL)[:count, ::-1]
    places = cells + [*[-0.5 * (side - 1) * _CELL] * 2, 0.12]
    places += rng.uniform(-0.01, 0.01, places.shape)
    bodies = [
        Body(
            f'body{k}',
            _SHAPES[k % len(_SHAPES)],
            tuple(map(float, place)),
            _turned(rng, math.pi),
            mass=0.3,
        )
        for k, place in enumerate(places)
    ]
    return _scene(
        f'mixed{count}',
        f'{count} capsules, cylinders, boxes and spheres that fall into a bin',
        [*_bin(inside), *bodies],
        2.0 if count <= 32 else 1.2,
    )


# -- piles of boxes -------------------------------------------------------------------------------

_SIDE = 0.1
PILE_STEPS = 300  # simulated steps of piles of all sizes


def pile(count: int) -> Scene:
    """Return boxes in a block, rotated by some tenths of a radian, which collapses into a pile."""
    rng, side = np.random.default_rng(7), math.ceil(count ** (1.0 / 3.0) - 1e-9)
    layer = side**2
    places = grid((-(-count // layer), side, side), 1.35 * _SIDE)[:count, ::-1]
    places = places + [*[-0.675 * (side - 1) * _SIDE] * 2, 0.7 * _SIDE]
    bodies = [
        Body(
            f'box{k}',
            Box((_SIDE,) * 3),
            tuple(map(float, place)),
            _turned(rng, 0.3),
            mass=1.0,
        )
        for k, place in enumerate(places)
    ]
    # More boxes have fewer steps, of which the first are common to all piles.
    duration = 1.0 if count < 200 else 0.6 if count < 500 else 1e-3 * PILE_STEPS
    return _scene(f'boxes{count}', f'{count} boxes that fall into a pile', bodies, duration)
