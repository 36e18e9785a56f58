# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""This package: the unrelaxed law of Signorini and Coulomb."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Tuple

from contact_scenes.scene import (
    Body,
    Box,
    Capsule,
    Contact,
    Cylinder,
    ROBOT,
    rotation,
    Scene,
    Sphere,
)
import numpy as np

from contact_engines.engine import Engine, NotPossible
from rbd_ros import Simulator

LIBRARY = ('rbd_ros', 'rbd_ros')


def world_of(scene: Scene) -> Dict[str, Any]:
    """Return the content of a world file with the bodies of a scene."""
    surface: Dict[str, Any] = {'restitution': float(scene.restitution)}
    pairs = []
    if isinstance(scene.friction, Mapping):
        names = [body.name for body in scene.bodies]
        if scene.machine is not None:
            names.append(ROBOT)
        for i, first in enumerate(names):
            for second in names[:i]:
                mu = scene.friction_of(second, first)
                if mu:
                    pairs.append({'links': [second, first], 'friction': float(mu)})
        surface['friction'] = 0.0
    else:
        surface['friction'] = float(scene.friction)
    made: Dict[str, Any] = {
        'gravity': [0.0, 0.0, 0.0 - float(scene.gravity)],
        'defaults': {'surface': surface},
        'objects': {body.name: _object(body) for body in scene.bodies},
    }
    if pairs:
        made['pairs'] = pairs
    if scene.machine is not None:
        made['disable_collisions'] = [[ROBOT, ROBOT]]
    return made


def _object(body: Body) -> Dict[str, Any]:
    shape = body.shape
    made: Dict[str, Any] = {'type': 'plane'}
    if isinstance(shape, Sphere):
        made = {'type': 'sphere', 'radius': shape.radius}
    elif isinstance(shape, Box):
        made = {'type': 'box', 'size': [float(length) for length in shape.size]}
    elif isinstance(shape, Capsule):
        made = {'type': 'capsule', 'radius': shape.radius, 'length': shape.length}
    elif isinstance(shape, Cylinder):
        made = {'type': 'cylinder', 'radius': shape.radius, 'length': shape.length}
    made['xyz'] = [float(x) for x in body.position]
    made['quaternion'] = dict(zip('wxyz', map(float, body.quaternion)))
    if body.mass is not None:
        made |= {
            'static': False,
            'mass': float(body.mass),
            'inertia': {
                **{f'i{axis}{axis}': float(x) for axis, x in zip('xyz', body.moments)},
                'ixy': 0.0, 'ixz': 0.0, 'iyz': 0.0,
            },
            'center_of_mass': [float(x) for x in body.center],
            'velocity': {
                'linear': [float(x) for x in body.linear],
                'angular': [float(x) for x in body.angular],
            },
        }  # fmt: skip
    return made


class OurWorld:
    """A scene in `Simulator`."""

    def __init__(self, scene: Scene, timestep: float, integrator: str = ''):
        self.scene, self.timestep = scene, timestep
        machine = scene.machine
        robot = None if machine is None else machine.robot
        settings: Dict[str, Any] = {
            'timestep': timestep,
            'external_forces': scene.wrenches is not None,
        }
        if integrator:
            settings['integrator'] = integrator
        if scene.bodies:
            settings['world'] = world_of(scene)
        try:
            self.simulator = Simulator(robot, **settings)
        except ValueError as error:
            raise NotPossible(str(error)) from None
        if machine is not None:
            q, v = machine.start, np.zeros(robot.nv)
            if machine.floating:
                q = np.concatenate([machine.quaternion, machine.position, q])
                turn = rotation(np.array(machine.quaternion))
                v[:3], v[3:6] = turn.T @ machine.angular, turn.T @ machine.linear
            self.simulator.reset(q, v)
            self.tau = np.zeros(robot.nv)
        else:
            self.tau = None
        self.pushed: Dict[str, np.ndarray] = {}
        self.frames: Dict[str, Any] = {}
        self.before: Tuple[np.ndarray, ...] = ()
        if scene.free:
            bodies = self.simulator.physics.model.scene.bodies
            count = len(scene.free)
            self.inverse = np.linalg.inv(np.array(bodies.inertia[:count]))
            self.centers = np.array(bodies.center[:count])
            if self.simulator.objects != tuple(body.name for body in scene.free):
                raise RuntimeError('objects are not in the order of the scene')

    def push(self, wrenches: Mapping[str, np.ndarray]) -> None:
        """Set moments and forces on bodies."""
        if self.pushed.keys() == wrenches.keys() and all(
            np.array_equal(self.pushed[name], wrench) for name, wrench in wrenches.items()
        ):
            return
        self.pushed = dict(wrenches)
        self.simulator.clear_wrenches()
        for name, wrench in wrenches.items():
            link = self.scene.machine.robot.model.body(1).name if name == ROBOT else name
            self.simulator.apply_wrench(link, wrench, point=[0.0, 0.0, 0.0])

    def drive(self, torque: np.ndarray) -> None:
        """Set torques of the machine's joints."""
        self.tau[-len(torque) :] = torque

    def step(self, count: int) -> None:
        """Advance by steps."""
        self.simulator.step(self.tau, count)

    def bodies(self) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the positions, quaternions and velocities of free bodies."""
        objects, count = self.simulator.physics.objects, len(self.scene.free)
        quaternion = np.array(objects.quaternion[:count])
        R = rotation(quaternion)
        inverse = R @ self.inverse @ np.swapaxes(R, 1, 2)
        turning = np.einsum('nij,nj->ni', inverse, objects.angular_momentum[:count])
        arm = np.einsum('nij,nj->ni', R, self.centers)
        velocity = objects.velocity[:count] - np.cross(turning, arm)
        return objects.position[:count] - arm, quaternion, np.hstack([turning, velocity])

    def machine(self) -> Tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return the base, its velocity, joint positions and velocities."""
        q, v = self.simulator.q, self.simulator.v
        if not self.scene.machine.floating:
            return np.array([0, 0, 0, 1, 0, 0, 0.0]), np.zeros(6), q, v
        base = q[[4, 5, 6, 0, 1, 2, 3]]
        R = rotation(base[3:])
        return base, np.concatenate([R @ v[:3], R @ v[3:6]]), q[7:], v[6:]

    def watch(self) -> None:
        """Store the poses before the step, for its contacts."""
        count = len(self.scene.free)
        self.before = (
            np.array(self.simulator.physics.objects.position[:count])
            if count
            else np.zeros((0, 3)),
            self.simulator.q,
        )

    def contacts(self) -> Optional[List[Contact]]:
        """Return the contacts of the previous step."""
        if not self.scene.bodies:
            return None
        found = []
        for contact in self.simulator.contacts:
            velocity = self._velocity(contact.second, contact.position)
            velocity = velocity - self._velocity(contact.first, contact.position)
            found.append(
                Contact(
                    contact.first,
                    contact.second,
                    contact.position,
                    contact.normal,
                    contact.force,
                    velocity,
                    -contact.depth,
                )
            )
        return found

    def _velocity(self, name: str, point: np.ndarray) -> np.ndarray:
        centers, q = self.before
        link = name.partition('/')[2]
        if link:
            if link not in self.frames:
                self.frames[link] = self.scene.machine.robot.frame(link, 'aligned')
            frame = self.frames[link]
            speed = frame.velocity(q, self._speed(q))
            return speed[3:] + np.cross(speed[:3], point - frame.pose(q)[:3, 3])
        for i, body in enumerate(self.scene.free):
            if body.name == name:
                turning = self.bodies()[2][i, :3]
                velocity = self.simulator.physics.objects.velocity[i]
                return velocity + np.cross(turning, point - centers[i])
        return np.zeros(3)

    def _speed(self, q: np.ndarray) -> np.ndarray:
        """Return the velocity now, of a floating base in coordinates of the last configuration."""
        v = self.simulator.v
        if self.scene.machine.floating:
            turned = rotation(q[:4]).T @ rotation(self.simulator.q[:4])
            v[:3], v[3:6] = turned @ v[:3], turned @ v[3:6]
        return v


ENGINES = [
    Engine('rbd_ros', LIBRARY, OurWorld, 'defaults'),
    *(
        Engine(
            'rbd_ros',
            LIBRARY,
            lambda scene, timestep, integrator=integrator: OurWorld(scene, timestep, integrator),
            f'integrator {integrator!r}',
            variant=integrator,
        )
        for integrator in ('midpoint', 'rk4')
    ),
]
