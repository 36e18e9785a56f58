# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Robots with many contacts: a base on twin casters, a PR2 and a Go1 that fall."""

from __future__ import annotations

from contact_scenes.scene import Body, Box, Cylinder, Ground, Machine, Scene, Shape
from contact_scenes.urdf import prepared, text_of
import numpy as np
import robots
from scipy.spatial.transform import Rotation

GROUND = Body('ground', Ground())
_FRICTION = 0.8


def _scene(name: str, title: str, machine: Machine, duration: float) -> Scene:
    return Scene(
        name, title, (GROUND,), duration, 0.05, errors=(), friction=_FRICTION, machine=machine
    )


# -- a base on casters ----------------------------------------------------------------------------

_BASE, _BASE_MASS, _BASE_CENTER = Box((0.6, 0.6, 0.5)), 116.0, '-0.06 0 0.3'
_FORK, _FORK_MASS = Box((0.15, 0.15, 0.15)), 3.5
_WHEEL, _WHEEL_MASS = Cylinder(0.08, 0.034), 0.44
_LYING = '1.5707963267948966 0 0'  # rotates the axis of a cylinder to the y axis
_AWAY, _TWIN = 0.22, 0.049  # of swivels from the center, of wheels from their swivel [m]
_AXLE = 0.03  # height of the axles above the frame of the base [m]
_DAMPING = 1.0  # of swivels and axles [N m s/rad]


def _link(name: str, shape: Shape, mass: float, center: str = '0 0 0', wheel: bool = False) -> str:
    x, y, z = (mass * moment for moment in shape.moments)
    origin = f'<origin xyz="{center}" rpy="{_LYING if wheel else "0 0 0"}"/>'
    collision = ''
    if wheel:
        size = f'radius="{shape.radius}" length="{shape.length}"'
        collision = f'<collision>{origin}<geometry><cylinder {size}/></geometry></collision>'
    return (
        f'<link name="{name}"><inertial>{origin}<mass value="{mass}"/><inertia ixx="{x}" '
        f'iyy="{y}" izz="{z}" ixy="0" ixz="0" iyz="0"/></inertial>{collision}</link>'
    )


def _joint(name: str, parent: str, child: str, place: str, axis: str) -> str:
    return (
        f'<joint name="{name}" type="continuous"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{place}"/><axis xyz="{axis}"/><dynamics damping="{_DAMPING}"/></joint>'
    )


def caster_base() -> str:
    """Return the URDF of a base on four casters without trail, each with two wheels."""
    parts = [_link('base', _BASE, _BASE_MASS, _BASE_CENTER)]
    for end, x in (('front', _AWAY), ('rear', -_AWAY)):
        for side, y in (('left', _AWAY), ('right', -_AWAY)):
            fork = f'{end}_{side}_fork'
            parts.append(_link(fork, _FORK, _FORK_MASS, '0 0 0.07'))
            parts.append(_joint(f'{fork}_swivel', 'base', fork, f'{x} {y} {_AXLE}', '0 0 1'))
            for twin, away in (('outer', _TWIN), ('inner', -_TWIN)):
                wheel = f'{end}_{side}_{twin}_wheel'
                parts.append(_link(wheel, _WHEEL, _WHEEL_MASS, wheel=True))
                parts.append(_joint(f'{wheel}_axle', fork, wheel, f'0 {away} 0', '0 1 0'))
    return f'<robot name="caster_base">{"".join(parts)}</robot>'


def casters() -> Scene:
    """Return the base on casters, initially rolling and turning."""
    machine = Machine(
        caster_base(),
        floating=True,
        position=(0.0, 0.0, _WHEEL.radius - _AXLE + 1e-4),
        linear=(0.4, 0.3, 0.0),
        angular=(0.0, 0.0, 0.4),
    )
    title = f'A base of {_BASE_MASS:g} kg that rolls out on four twin casters'
    return _scene('casters', title, machine, 1.0)


# -- falling robots
# ---------------------------------------------------------------------------------


def pr2() -> Scene:
    """Return a PR2 that falls on rigid ground, with its meshes; its casters have no shapes."""
    packages = robots.find(robots.PR2).parents[4]
    text = prepared(text_of(robots.PR2), limits=True, dynamics=True, meshes=packages)
    machine = Machine(text, floating=True, position=(0.0, 0.0, 0.1))
    return _scene('pr2', 'PR2 that falls on the ground', machine, 2.0)


def go1_drop(seed: int) -> Scene:
    """Return a Go1 that falls on the ground from a random pose."""
    text = prepared(text_of(robots.GO1), limits=True, dynamics=True)
    rng = np.random.default_rng(seed)
    q = Machine(text, floating=True).robot.random_configuration(rng)
    names = Machine(text, floating=True).names
    x, y, z, w = Rotation.random(random_state=seed).as_quat()
    machine = Machine(
        text,
        floating=True,
        position=(0.0, 0.0, 0.6),
        quaternion=(w, x, y, z),
        joints=dict(zip(names, q[7:])),
    )
    return _scene('go1_drops', 'Go1 that falls from a random pose', machine, 1.5)
