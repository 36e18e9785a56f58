# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""MuJoCo: convex, compliant contact."""

from __future__ import annotations

from importlib import import_module
from typing import Any, List, Mapping, Tuple

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

LIBRARY = ('mujoco', 'mujoco')
_COMPILER = (
    '<mujoco><compiler fusestatic="false" discardvisual="true" strippath="false"/></mujoco>'
)
_STIFFNESS = 1e6  # of elastic contacts [1/s^2]: MuJoCo has no restitution, but springs
_ROBOTS, _BODIES = 1, 2  # bits of contact affinity


def _shape(mujoco: Any, body: Body) -> Tuple[Any, List[float]]:
    kinds, shape = mujoco.mjtGeom, body.shape
    if isinstance(shape, Sphere):
        return kinds.mjGEOM_SPHERE, [shape.radius, 0, 0]
    if isinstance(shape, Box):
        return kinds.mjGEOM_BOX, [0.5 * length for length in shape.size]
    if isinstance(shape, Capsule):
        return kinds.mjGEOM_CAPSULE, [shape.radius, 0.5 * shape.length, 0]
    if isinstance(shape, Cylinder):
        return kinds.mjGEOM_CYLINDER, [shape.radius, 0.5 * shape.length, 0]
    return kinds.mjGEOM_PLANE, [0, 0, 1]


class MujocoWorld:
    """A scene in MuJoCo."""

    def __init__(self, scene: Scene, timestep: float, hard: bool = False, rk4: bool = False):
        self.mujoco = mujoco = import_module('mujoco')
        if scene.elastic and hard:
            raise NotPossible('elastic contacts are springs in MuJoCo, with settings of their own')
        self.scene = scene
        spec = mujoco.MjSpec()
        if scene.machine is not None:
            spec = self._machine(scene)
        option = spec.option
        option.timestep = timestep
        option.gravity = [0, 0, -scene.gravity]
        option.integrator = (
            mujoco.mjtIntegrator.mjINT_RK4 if rk4 else mujoco.mjtIntegrator.mjINT_EULER
        )
        option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
        option.solver = mujoco.mjtSolver.mjSOL_NEWTON
        if hard:
            option.tolerance = 1e-12
        for body in scene.bodies:
            place = spec.worldbody
            if body.mass is not None:
                place = spec.worldbody.add_body(
                    name=body.name, pos=body.position, quat=body.quaternion
                )
                place.add_freejoint(name=f'{body.name}_joint')
                place.mass, place.ipos = body.mass, body.center
                place.inertia, place.explicitinertial = body.moments, True
            kind, size = _shape(mujoco, body)
            geom = place.add_geom(name=body.name, type=kind, size=size)
            if body.mass is None:
                geom.pos, geom.quat = body.position, body.quaternion
            geom.contype, geom.conaffinity = _BODIES, _BODIES | _ROBOTS
        for geom in spec.geoms:
            if scene.restitution:
                geom.solref = [-_STIFFNESS, 0.0]
            elif hard:
                geom.solref, geom.solimp = [2.0 * timestep, 1.0], [0.99, 0.9999, 1e-5, 0.5, 2]
            if not isinstance(scene.friction, Mapping):
                geom.friction[0] = scene.friction
            geom.condim = 3
        if isinstance(scene.friction, Mapping):
            self._pairs(spec, hard)
        self.model = model = spec.compile()
        self.data = mujoco.MjData(model)
        self._find(model)
        self._start()

    def _machine(self, scene: Scene) -> Any:
        machine = scene.machine
        spec = self.mujoco.MjSpec.from_string(
            machine.urdf.replace('"world"', '"world_link"').replace(
                '</robot>', f'{_COMPILER}</robot>'
            )
        )
        for body in list(spec.worldbody.bodies):
            body.pos = machine.position
            if machine.floating:
                body.add_freejoint(name='floating_base')
        for k, geom in enumerate(spec.geoms):
            geom.name = f'{ROBOT}{k}'
            geom.contype = _ROBOTS if machine.collides else 0
            geom.conaffinity = _BODIES if machine.collides else 0
        return spec

    def _pairs(self, spec: Any, hard: bool) -> None:
        """Set the friction of each pair; by default MuJoCo takes the larger one."""
        geoms = [(geom, self._name(geom.name, geom.parent.name)) for geom in spec.geoms]
        for i, (first, name) in enumerate(geoms):
            for second, other in geoms[:i]:
                if first.parent.name == second.parent.name or not (
                    first.contype & second.conaffinity or second.contype & first.conaffinity
                ):
                    continue
                mu = self.scene.friction_of(other, name)
                pair = spec.add_pair(geomname1=second.name, geomname2=first.name, condim=3)
                pair.friction = [mu, mu, 0.0, 0.0, 0.0]
                if hard:
                    pair.solref, pair.solimp = first.solref, first.solimp

    def _name(self, geom: str, body: str) -> str:
        return f'{ROBOT}/{body}' if geom.startswith(ROBOT) else geom

    def _find(self, model: Any) -> None:
        joints = [model.joint(f'{body.name}_joint') for body in self.scene.free]
        self.at_q = np.array([joint.qposadr[0] for joint in joints], dtype=int)
        self.at_v = np.array([joint.dofadr[0] for joint in joints], dtype=int)
        self.of = [model.body(body.name).id for body in self.scene.free]
        machine = self.scene.machine
        if machine is not None:
            joints = [model.joint(name) for name in machine.names]
            self.joint_q = np.array([joint.qposadr[0] for joint in joints], dtype=int)
            self.joint_v = np.array([joint.dofadr[0] for joint in joints], dtype=int)
            if machine.floating:
                base = model.joint('floating_base')
                self.base_q, self.base_v = base.qposadr[0], base.dofadr[0]
                self.root = int(base.bodyid[0])

    def _start(self) -> None:
        data, machine = self.data, self.scene.machine
        for body, q, v in zip(self.scene.free, self.at_q, self.at_v):
            data.qpos[q : q + 3], data.qpos[q + 3 : q + 7] = body.position, body.quaternion
            data.qvel[v : v + 3] = body.linear
            data.qvel[v + 3 : v + 6] = rotation(np.array(body.quaternion)).T @ body.angular
        if machine is not None:
            data.qpos[self.joint_q] = machine.start
            if machine.floating:
                q, v, turn = self.base_q, self.base_v, rotation(np.array(machine.quaternion))
                data.qpos[q : q + 7] = [*machine.position, *machine.quaternion]
                data.qvel[v : v + 6] = [*machine.linear, *(turn.T @ machine.angular)]
        self.mujoco.mj_forward(self.model, data)

    def push(self, wrenches: Mapping[str, np.ndarray]) -> None:
        """Set moments and forces on bodies."""
        data = self.data
        names = [body.name for body in self.scene.free]
        for name, wrench in wrenches.items():
            body = self.root if name == ROBOT else self.of[names.index(name)]
            # MuJoCo's forces act at the center of mass.
            arm = data.xpos[body] - data.xipos[body]
            data.xfrc_applied[body, :3] = wrench[3:]
            data.xfrc_applied[body, 3:] = wrench[:3] + np.cross(arm, wrench[3:])

    def drive(self, torque: np.ndarray) -> None:
        """Set torques of the machine's joints."""
        self.data.qfrc_applied[self.joint_v] = torque

    def step(self, count: int) -> None:
        """Advance by steps."""
        self.mujoco.mj_step(self.model, self.data, count)

    def bodies(self) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the positions, quaternions and velocities of free bodies."""
        q, v = self.data.qpos, self.data.qvel
        places = q[self.at_q[:, None] + np.arange(7)]
        speeds = v[self.at_v[:, None] + np.arange(6)]
        turning = np.einsum('nij,nj->ni', rotation(places[:, 3:]), speeds[:, 3:])
        return places[:, :3], places[:, 3:], np.hstack([turning, speeds[:, :3]])

    def machine(self) -> Tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return the base, its velocity, joint positions and velocities."""
        base, speed = np.array([0, 0, 0, 1, 0, 0, 0.0]), np.zeros(6)
        q, v = self.data.qpos, self.data.qvel
        if self.scene.machine.floating:
            base = q[self.base_q : self.base_q + 7]
            found = v[self.base_v : self.base_v + 6]
            speed = np.concatenate([rotation(base[3:]) @ found[3:], found[:3]])
        return base, speed, q[self.joint_q], v[self.joint_v]

    def watch(self) -> None:
        """Do nothing: contacts are reported with all data."""

    def contacts(self) -> List[Contact]:
        """Return the contacts of the previous step, detected at its beginning."""
        mujoco, model, data = self.mujoco, self.model, self.data
        found, force = [], np.zeros(6)
        jacobians = np.zeros((2, 3, model.nv))
        for i, contact in enumerate(data.contact):
            if contact.efc_address < 0:
                continue
            mujoco.mj_contactForce(model, data, i, force)
            frame = contact.frame.reshape(3, 3)
            bodies = [int(model.geom_bodyid[geom]) for geom in (contact.geom1, contact.geom2)]
            for jacobian, body in zip(jacobians, bodies):
                mujoco.mj_jac(model, data, jacobian, None, contact.pos, body)
            names = [
                self._name(model.geom(geom).name, model.body(body).name)
                for geom, body in zip((contact.geom1, contact.geom2), bodies)
            ]
            velocity = (jacobians[1] - jacobians[0]) @ data.qvel
            found.append(
                Contact(
                    *names,
                    contact.pos.copy(),
                    frame[0].copy(),
                    frame.T @ force[:3],
                    velocity,
                    contact.dist,
                )
            )
        return found


ENGINES = [
    Engine('MuJoCo', LIBRARY, MujocoWorld, 'elliptic cones, Newton, semi-implicit Euler'),
    Engine(
        'MuJoCo, hard',
        LIBRARY,
        lambda scene, timestep: MujocoWorld(scene, timestep, hard=True),
        'contacts as hard as they may be: solref of two steps, solimp 0.99 to 0.9999, tolerance '
        '1e-12',
    ),
    Engine(
        'MuJoCo',
        LIBRARY,
        lambda scene, timestep: MujocoWorld(scene, timestep, rk4=True),
        'likewise, fourth-order Runge-Kutta',
        variant='rk4',
    ),
]
