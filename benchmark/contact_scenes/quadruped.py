# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""ANYmal: its energy and momentum as SimBenchmark defines them, standing and lying."""

from __future__ import annotations

from typing import List, Mapping

import numpy as np

from contact_scenes.scene import (
    Body,
    energy,
    Error,
    forces_between,
    GRAVITY,
    Ground,
    Machine,
    ROBOT,
    Scene,
    Sphere,
    Trajectory,
)
from contact_scenes.urdf import ANYMAL, prepared, text_of

GROUND = Body('ground', Ground())
_LEGS = {'LF': (1, 1), 'RF': (-1, 1), 'LH': (1, -1), 'RH': (-1, -1)}
#: Positions of the joints in SimBenchmark, where legs are bent.
STANCE: Mapping[str, float] = {
    f'{leg}_{joint}': sign * angle
    for leg, (left, front) in _LEGS.items()
    for joint, sign, angle in (('HAA', left, 0.03), ('HFE', front, 0.4), ('KFE', -front, 0.8))
}


def mass(machine: Machine) -> float:
    """Return the mass of all links [kg]."""
    return sum(body.inertia.mass for body in machine.robot.model.bodies)


# -- energy in free flight ------------------------------------------------------------------------

_PUSHED = 1.0  # [s]


def free_energy_error(scene: Scene, trajectory: Trajectory) -> float:
    """Return the mean square of the change of energy after the push [J^2]."""
    begin = int(np.searchsorted(trajectory.time, _PUSHED - 1e-9))
    E = energy(scene, trajectory)[begin:]
    return float(np.mean((E - E[0]) ** 2))


def energy_scene(urdf: str) -> Scene:
    """Return a quadruped that is pushed up by twice its weight for a second, then flies freely."""
    machine = Machine(urdf, True, (0.0, 0.0, 2.0), joints=STANCE, collides=False)
    force = 2.0 * mass(machine) * GRAVITY
    up, none = np.array([0, 0, 0, 0, 0, force]), np.zeros(6)
    return Scene(
        'anymal_energy',
        'ANYmal that is pushed up for a second and then flies: energy',
        (),
        duration=3.0,
        quick=1.1,
        errors=(Error('mean square of the energy error [J²]', free_energy_error, 1e-2),),
        machine=machine,
        # A change of force less than half a step ahead counts as past.
        wrenches=lambda t: {ROBOT: up if t < _PUSHED - 1e-9 else none},
        flight=True,
    )


# -- momentum without gravity ---------------------------------------------------------------------

_BALL, _SPEED = 10.0, 5.0


def momentum(scene: Scene, trajectory: Trajectory) -> np.ndarray:
    """Return angular momentum about the origin, then linear momentum, of all bodies, (k, 6)."""
    total = np.array(scene.machine.robot.momentum(*scene.machine.states(trajectory)))
    for i, body in enumerate(scene.free):
        v = trajectory.velocity[:, i]
        linear = body.mass * v[:, 3:]
        total[:, :3] += np.cross(trajectory.position[:, i], linear) + body.moments[0] * v[:, :3]
        total[:, 3:] += linear
    return total


def linear_error(scene: Scene, trajectory: Trajectory) -> float:
    """Return the mean square of the error of linear momentum [(N s)^2]."""
    apart = momentum(scene, trajectory)[:, 3:] - [0.0, _BALL * _SPEED, 0.0]
    return float(np.mean(np.sum(apart**2, axis=1)))


def angular_error(scene: Scene, trajectory: Trajectory) -> float:
    """Return the mean square of the error of angular momentum about the origin [(N m s)^2]."""
    found = momentum(scene, trajectory)[:, :3]
    return float(np.mean(np.sum((found - found[0]) ** 2, axis=1)))


def momentum_scene(urdf: str) -> Scene:
    """Return a ball that hits a quadruped without gravity."""
    ball = Body('ball', Sphere(0.2), (0.0, -5.0, 2.0), mass=_BALL, linear=(0.0, _SPEED, 0.0))
    return Scene(
        'anymal_momentum',
        'ANYmal hit by a ball without gravity: momentum',
        (ball,),
        duration=10.0,
        quick=1.5,
        errors=(
            Error('mean square of the linear momentum error [(N s)²]', linear_error, 1e-9),
            Error('mean square of the angular momentum error [(N m s)²]', angular_error, 1e-9),
        ),
        gravity=0.0,
        machine=Machine(urdf, True, (0.0, 0.0, 2.0), joints=STANCE, gravity=0.0),
        every=0.005,
        flight=True,
    )


# -- standing and lying ---------------------------------------------------------------------------

_STIFFNESS, _DAMPING = 200.0, 5.0  # of the joints [N m/rad, N m s/rad]
HEIGHT = 0.5
CONTROL = 0.002  # between torques [s]


def base_creep(scene: Scene, trajectory: Trajectory) -> float:
    """Return the displacement of the base in the last fifth of the time [m]."""
    part = trajectory.last(0.2 * trajectory.time[-1])
    base = trajectory.base[part, :3]
    return float(np.max(np.linalg.norm(base - base[0], axis=1)))


def weight_error(scene: Scene, trajectory: Trajectory) -> float:
    """Return the relative error of the final ground forces, whose sum is the weight."""
    if not trajectory.contacts:
        return float('nan')
    force = forces_between(trajectory.contacts[-1][1], 'ground', ROBOT)
    weight = mass(scene.machine) * scene.gravity
    return float(np.linalg.norm(force - [0.0, 0.0, weight]) / weight)


def _servo(machine: Machine):
    def torque(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return _STIFFNESS * (machine.start - q) - _DAMPING * v

    return torque


def _on_ground(name: str, title: str, machine: Machine, **more) -> Scene:
    return Scene(
        name,
        title,
        (GROUND,),
        errors=(
            Error('creep of the base in the last fifth [m]', base_creep, 1e-6),
            Error('relative error of the forces at the end', weight_error, 1e-6),
        ),
        friction=0.8,
        machine=machine,
        residual_goal=1e-6,
        **more,
    )


def standing_scene(urdf: str) -> Scene:
    """Return a quadruped that stands on four feet, with springs and dampers at its joints."""
    machine = Machine(urdf, True, (0.0, 0.0, HEIGHT), joints=STANCE)
    return _on_ground(
        'standing', 'ANYmal stands on four feet with PD control', machine,
        duration=10.0, quick=1.0, torque=_servo(machine), control=CONTROL,
    )  # fmt: skip


def lying_scene(urdf: str) -> Scene:
    """Return a quadruped that falls without torque, and comes to rest."""
    machine = Machine(urdf, True, (0.0, 0.0, HEIGHT), joints=STANCE)
    return _on_ground(
        'lying', 'ANYmal falls without torques and lies on the ground', machine,
        duration=10.0, quick=1.0, every=0.01,
    )  # fmt: skip


def scenes() -> List[Scene]:
    """Return the scenes with ANYmal.

    :raises FileNotFoundError: if example-robot-data is not installed
    """
    text = text_of(ANYMAL)
    feet, whole = prepared(text, keep=('LF_FOOT', 'RF_FOOT', 'LH_FOOT', 'RH_FOOT')), prepared(text)
    return [
        energy_scene(feet), momentum_scene(whole), standing_scene(feet), lying_scene(whole),
    ]  # fmt: skip
