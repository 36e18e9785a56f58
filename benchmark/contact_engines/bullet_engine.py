# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Bullet by PyBullet: sequential impulses, friction pyramids clipped to cones."""

from __future__ import annotations

from importlib import import_module
import itertools
import math
import os
from pathlib import Path
import tempfile
from typing import Any, List, Mapping, Optional, Tuple

from contact_scenes.scene import Body, Box, Capsule, Contact, Cylinder, ROBOT, Scene, Sphere
import numpy as np

from contact_engines.engine import Engine, NotPossible
from contact_engines.rules import surfaces

LIBRARY = ('pybullet', 'pybullet')
_ITERATIONS = 1000
_NEVER = 1e9


def _library() -> Any:
    """Return the module of PyBullet, without its output at import."""
    kept = os.dup(2)
    try:
        with open(os.devnull, 'wb') as nothing:
            os.dup2(nothing.fileno(), 2)
            return import_module('pybullet')
    finally:
        os.dup2(kept, 2)
        os.close(kept)


class BulletWorld:
    """A scene in Bullet."""

    def __init__(self, scene: Scene, timestep: float):
        self.bullet = bullet = _library()
        self.scene = scene
        if any(any(body.center) for body in scene.free):
            raise NotPossible('PyBullet reports frames at the center of mass only')
        self.client = bullet.connect(bullet.DIRECT)
        bullet.setPhysicsEngineParameter(
            physicsClientId=self.client,
            fixedTimeStep=timestep,
            numSolverIterations=_ITERATIONS,
            solverResidualThreshold=1e-30,
            erp=0.0,
            contactERP=0.0,
            frictionERP=0.0,
            numSubSteps=0,
            restitutionVelocityThreshold=0.0,
            enableConeFriction=1,
            globalCFM=0.0,
        )
        bullet.setGravity(0, 0, -scene.gravity, physicsClientId=self.client)
        # Bullet multiplies the coefficients of two surfaces.
        friction = surfaces(scene, math.log, math.exp)
        self.names: dict = {}
        self.free: List[int] = []
        self.wrenches: Mapping[str, np.ndarray] = {}
        self.torque: Optional[np.ndarray] = None
        for body in scene.bodies:
            self._add(body, math.sqrt(friction[scene.kind(body.name)]))
        if scene.machine is not None:
            self._machine(math.sqrt(friction[ROBOT]))

    def __del__(self):
        if hasattr(self, 'client'):
            self.bullet.disconnect(self.client)

    def _add(self, body: Body, friction: float) -> None:
        bullet, client, shape = self.bullet, self.client, body.shape
        if isinstance(shape, Sphere):
            kind = {'shapeType': bullet.GEOM_SPHERE, 'radius': shape.radius}
        elif isinstance(shape, Box):
            half = [0.5 * length for length in shape.size]
            kind = {'shapeType': bullet.GEOM_BOX, 'halfExtents': half}
        elif isinstance(shape, Capsule):
            kind = {
                'shapeType': bullet.GEOM_CAPSULE,
                'radius': shape.radius,
                'height': shape.length,
            }
        elif isinstance(shape, Cylinder):
            kind = {
                'shapeType': bullet.GEOM_CYLINDER,
                'radius': shape.radius,
                'height': shape.length,
            }
        else:
            kind = {'shapeType': bullet.GEOM_PLANE, 'planeNormal': [0, 0, 1]}
        w, x, y, z = body.quaternion
        found = bullet.createMultiBody(
            baseMass=body.mass or 0.0,
            baseCollisionShapeIndex=bullet.createCollisionShape(physicsClientId=client, **kind),
            basePosition=body.position,
            baseOrientation=[x, y, z, w],
            physicsClientId=client,
        )
        self.names[found, -1] = body.name
        self._surface(found, -1, friction)
        if body.mass is not None:
            bullet.changeDynamics(
                found, -1, localInertiaDiagonal=body.moments, physicsClientId=client
            )
            bullet.resetBaseVelocity(found, body.linear, body.angular, physicsClientId=client)
            self.free.append(found)

    def _surface(self, body: int, link: int, friction: float) -> None:
        self.bullet.changeDynamics(
            body,
            link,
            lateralFriction=friction,
            restitution=math.sqrt(self.scene.restitution),
            rollingFriction=0.0,
            spinningFriction=0.0,
            linearDamping=0.0,
            angularDamping=0.0,
            jointDamping=0.0,
            maxJointVelocity=_NEVER,
            activationState=self.bullet.ACTIVATION_STATE_DISABLE_SLEEPING,
            physicsClientId=self.client,
        )

    def _machine(self, friction: float) -> None:
        bullet, client, machine = self.bullet, self.client, self.scene.machine
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, 'machine.urdf')
            path.write_text(machine.urdf, encoding='utf-8')
            self.robot = robot = bullet.loadURDF(
                str(path),
                machine.position,
                useFixedBase=not machine.floating,
                flags=bullet.URDF_USE_INERTIA_FROM_FILE,
                physicsClientId=client,
            )
        base, _ = bullet.getBodyInfo(robot, physicsClientId=client)
        self.names[robot, -1] = f'{ROBOT}/{base.decode()}'
        self._surface(robot, -1, friction)
        joints = {}
        for joint in range(bullet.getNumJoints(robot, physicsClientId=client)):
            info = bullet.getJointInfo(robot, joint, physicsClientId=client)
            joints[info[1].decode()] = joint
            self.names[robot, joint] = f'{ROBOT}/{info[12].decode()}'
            self._surface(robot, joint, friction)
        self.joints = [joints[name] for name in machine.names]
        for joint, q in zip(self.joints, machine.start):
            bullet.resetJointState(robot, joint, q, 0.0, physicsClientId=client)
            # Bullet's joints have braking motors unless their maximum force is set to zero.
            bullet.setJointMotorControl2(
                robot, joint, bullet.VELOCITY_CONTROL, force=0.0, physicsClientId=client
            )
        if machine.floating:
            # Its frame is at the center of mass of the root link.
            inertial = bullet.getDynamicsInfo(robot, -1, physicsClientId=client)
            self.inertial = np.array(inertial[3]), np.array(inertial[4])
            w, x, y, z = machine.quaternion
            place = bullet.multiplyTransforms(
                machine.position, [x, y, z, w], inertial[3], inertial[4]
            )
            bullet.resetBasePositionAndOrientation(robot, *place, physicsClientId=client)
            # Bullet's velocity is that of the center of mass.
            arm = np.array(place[0]) - machine.position
            linear = machine.linear + np.cross(machine.angular, arm)
            bullet.resetBaseVelocity(robot, linear, machine.angular, physicsClientId=client)
        links = [-1, *range(bullet.getNumJoints(robot, physicsClientId=client))]
        for first, second in itertools.combinations(links, 2):
            bullet.setCollisionFilterPair(robot, robot, first, second, 0, physicsClientId=client)
        if not machine.collides:
            for link in links:
                bullet.setCollisionFilterGroupMask(robot, link, 0, 0, physicsClientId=client)

    def push(self, wrenches: Mapping[str, np.ndarray]) -> None:
        """Set moments and forces on bodies."""
        self.wrenches = wrenches

    def drive(self, torque: np.ndarray) -> None:
        """Set torques of the machine's joints."""
        self.torque = torque

    def _act(self) -> None:
        """Apply forces and torques, which Bullet clears after each step."""
        bullet, client, frame = self.bullet, self.client, self.bullet.WORLD_FRAME
        names = [body.name for body in self.scene.free]
        for name, wrench in self.wrenches.items():
            at = self.machine()[0][:3] if name == ROBOT else None
            body = self.robot if name == ROBOT else self.free[names.index(name)]
            if at is None:
                at, _ = bullet.getBasePositionAndOrientation(body, physicsClientId=client)
            bullet.applyExternalForce(body, -1, wrench[3:], at, frame, physicsClientId=client)
            if np.any(wrench[:3]):
                bullet.applyExternalTorque(body, -1, wrench[:3], frame, physicsClientId=client)
        if self.torque is not None:
            bullet.setJointMotorControlArray(
                self.robot,
                self.joints,
                bullet.TORQUE_CONTROL,
                forces=list(self.torque),
                physicsClientId=client,
            )

    def step(self, count: int) -> None:
        """Advance by steps."""
        for _ in range(count):
            if self.wrenches or self.torque is not None:
                self._act()
            self.bullet.stepSimulation(physicsClientId=self.client)

    def bodies(self) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the positions, quaternions and velocities of free bodies."""
        places = [
            self.bullet.getBasePositionAndOrientation(body, physicsClientId=self.client)
            for body in self.free
        ]
        speeds = [
            self.bullet.getBaseVelocity(body, physicsClientId=self.client) for body in self.free
        ]
        quaternions = np.array([turn for _, turn in places])
        return (
            np.array([place for place, _ in places]),
            quaternions[:, [3, 0, 1, 2]],
            np.array([[*angular, *linear] for linear, angular in speeds]),
        )

    def machine(self) -> Tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return the base, its velocity, joint positions and velocities."""
        bullet, client = self.bullet, self.client
        states = bullet.getJointStates(self.robot, self.joints, physicsClientId=client)
        q, v = (np.array([state[k] for state in states]) for k in (0, 1))
        base, speed = np.array([0, 0, 0, 1, 0, 0, 0.0]), np.zeros(6)
        if self.scene.machine.floating:
            center = bullet.getBasePositionAndOrientation(self.robot, physicsClientId=client)
            back = bullet.invertTransform(*self.inertial)
            place, turn = bullet.multiplyTransforms(*center, *back)
            linear, angular = map(
                np.array, bullet.getBaseVelocity(self.robot, physicsClientId=client)
            )
            linear = linear + np.cross(angular, np.array(place) - center[0])
            base = np.array([*place, turn[3], *turn[:3]])
            speed = np.concatenate([angular, linear])
        return base, speed, q, v

    def watch(self) -> None:
        """Store the poses before the step, for its contacts."""
        self.before = {link: self._center(link) for link in self.names}

    def _center(self, link: Tuple[int, int]) -> np.ndarray:
        """Return the center of mass of a body or link."""
        bullet, client = self.bullet, self.client
        if link[1] < 0:
            return np.array(
                bullet.getBasePositionAndOrientation(link[0], physicsClientId=client)[0]
            )
        return np.array(bullet.getLinkState(*link, physicsClientId=client)[0])

    def contacts(self) -> Optional[List[Contact]]:
        """Return the contacts of the previous step."""
        bullet, client = self.bullet, self.client
        found = []
        for contact in bullet.getContactPoints(physicsClientId=client):
            first, second = (contact[1], contact[3]), (contact[2], contact[4])
            on_first, on_second, normal = map(np.array, contact[5:8])
            # The normal is on the second body, toward the first.
            force = -(
                contact[9] * normal
                + contact[10] * np.array(contact[11])
                + contact[12] * np.array(contact[13])
            )
            velocity = self._velocity(second, on_second) - self._velocity(first, on_first)
            names = self.names[first], self.names[second]
            found.append(Contact(*names, on_second, -normal, force, velocity, contact[8]))
        return found

    def _velocity(self, link: Tuple[int, int], point: np.ndarray) -> np.ndarray:
        """Return the velocity of a point of a body or link."""
        bullet, client = self.bullet, self.client
        if link[1] < 0:
            linear, angular = bullet.getBaseVelocity(link[0], physicsClientId=client)
        else:
            state = bullet.getLinkState(*link, computeLinkVelocity=1, physicsClientId=client)
            linear, angular = state[6:8]
        return np.array(linear) + np.cross(angular, point - self.before[link])


ENGINES = [
    Engine(
        'Bullet',
        LIBRARY,
        BulletWorld,
        f'ERP 0, {_ITERATIONS} iterations, no damping: the settings of SimBenchmark',
    ),
]
