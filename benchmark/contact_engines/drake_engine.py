# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Drake's discrete MultibodyPlant: convex approximations of contact, and pressure fields."""

from __future__ import annotations

from importlib import import_module
import logging
import math
from typing import Any, List, Mapping, Optional, Tuple

from contact_scenes.scene import (
    Body,
    Box,
    Capsule,
    Contact,
    Cylinder,
    Ground,
    ROBOT,
    rotation,
    Scene,
    Sphere,
)
import numpy as np

from contact_engines.engine import Engine, NotPossible
from contact_engines.rules import surfaces

LIBRARY = ('pydrake', 'drake')
_MODULUS = 1e8  # of boxes, hydroelastic [Pa]
_RESOLUTION = 0.5  # of their meshes, in shortest edges


class DrakeWorld:
    """A scene in Drake."""

    def __init__(self, scene: Scene, timestep: float):
        if scene.elastic:
            raise NotPossible('its discrete contact has no restitution')
        for module in ('common.value', 'geometry', 'multibody.parsing', 'multibody.plant',
                       'multibody.tree', 'systems.analysis', 'systems.framework'):  # fmt: skip
            name = module.rpartition('.')[2]
            setattr(self, f'{name}_', import_module(f'pydrake.{module}'))
        self.spatial_ = import_module('pydrake.multibody.math')
        self.rigid_ = import_module('pydrake.math')
        # Its log has messages unrelated to these scenes.
        logging.getLogger('drake').setLevel(logging.ERROR)
        self.scene, self.timestep = scene, timestep
        builder = self.framework_.DiagramBuilder()
        config = self.plant_.MultibodyPlantConfig(
            time_step=timestep, contact_model='hydroelastic_with_fallback'
        )
        plant, self.geometry = self.plant_.AddMultibodyPlant(config, builder)
        self.plant = plant
        plant.mutable_gravity_field().set_gravity_vector([0.0, 0.0, -scene.gravity])
        # Drake takes the harmonic mean of two surfaces.
        self.friction = surfaces(scene, lambda mu: 1.0 / mu, lambda part: 1.0 / part, 0.01)
        if scene.machine is not None:
            self._machine()
        self.of = {body.name: self._add(body) for body in scene.bodies}
        plant.Finalize()
        self.free = [self.of[body.name] for body in scene.free]
        diagram = builder.Build()
        self.simulator = self.analysis_.Simulator(diagram)
        self.root = self.simulator.get_mutable_context()
        self.context = plant.GetMyMutableContextFromRoot(self.root)
        self.count = 0
        if plant.num_actuators():
            plant.get_actuation_input_port().FixValue(
                self.context, np.zeros(plant.num_actuators())
            )
        self._start()
        plant.get_applied_generalized_force_input_port().FixValue(
            self.context, np.zeros(plant.num_velocities())
        )
        self.simulator.Initialize()

    def _properties(self, kind: str, box: bool, ground: bool = False) -> Any:
        made = self.geometry_.ProximityProperties()
        mu = self.friction[kind]
        friction = self.plant_.CoulombFriction(mu, mu)
        self.geometry_.AddContactMaterial(friction=friction, properties=made)
        if ground:
            self.geometry_.AddRigidHydroelasticProperties(made)
        elif box:
            self.geometry_.AddCompliantHydroelasticProperties(self._edge, _MODULUS, made)
        return made

    def _machine(self) -> None:
        plant, machine = self.plant, self.scene.machine
        parser = self.parsing_.Parser(plant)
        (self.robot,) = parser.AddModelsFromString(machine.urdf, 'urdf')
        plant.set_adjacent_bodies_collision_filters(True)
        self.links = [plant.get_body(index) for index in plant.GetBodyIndices(self.robot)]
        has_parent = {
            plant.get_joint(index).child_body().index()
            for index in plant.GetJointIndices(self.robot)
        }
        self.base = next(link for link in self.links if link.index() not in has_parent)
        place = self.rigid_.RigidTransform(np.array(machine.position))
        if not machine.floating:
            plant.WeldFrames(plant.world_frame(), self.base.body_frame(), place)

    def _add(self, body: Body) -> Any:
        plant, shape, kind = self.plant, body.shape, self.scene.kind(body.name)
        geometry = self.geometry_
        box = isinstance(shape, Box)
        # Boxes on boxes or on the ground need a pressure field: points would make one contact.
        made, fixed = geometry.HalfSpace() if isinstance(shape, Ground) else None, None
        self._edge = 1.0
        if box:
            made, self._edge = geometry.Box(*shape.size), _RESOLUTION * min(shape.size)
        elif isinstance(shape, Sphere):
            made = geometry.Sphere(shape.radius)
        elif isinstance(shape, Capsule):
            made = geometry.Capsule(shape.radius, shape.length)
        elif isinstance(shape, Cylinder):
            made = geometry.Cylinder(shape.radius, shape.length)
        properties = self._properties(kind, box, isinstance(shape, Ground))
        here = self.rigid_.RigidTransform()
        if body.mass is None:
            fixed = plant.world_body()
            turn = self.rigid_.RotationMatrix(rotation(np.array(body.quaternion)))
            here = self.rigid_.RigidTransform(turn, np.array(body.position))
            plant.RegisterCollisionGeometry(fixed, here, made, body.name, properties)
            return fixed
        center, moments = np.array(body.center), np.array(body.moments)
        inertia = self.tree_.SpatialInertia.MakeFromCentralInertia(
            mass=body.mass,
            p_PScm_E=center,
            I_SScm_E=self.tree_.RotationalInertia(*moments),
        )
        instance = plant.AddModelInstance(body.name)
        found = plant.AddRigidBody(body.name, instance, inertia)
        plant.RegisterCollisionGeometry(found, here, made, body.name, properties)
        return found

    def _start(self) -> None:
        plant, machine, rigid = self.plant, self.scene.machine, self.rigid_
        for body, found in zip(self.scene.free, self.free):
            turn = rigid.RotationMatrix(rotation(np.array(body.quaternion)))
            plant.SetFreeBodyPose(
                self.context, found, rigid.RigidTransform(turn, np.array(body.position))
            )
            velocity = self.spatial_.SpatialVelocity(
                w=np.array(body.angular), v=np.array(body.linear)
            )
            plant.SetFreeBodySpatialVelocity(self.context, found, velocity)
        if machine is None:
            return
        joints = [plant.GetJointByName(name, self.robot) for name in machine.names]
        self.joint_q = np.array([joint.position_start() for joint in joints], dtype=int)
        self.joint_v = np.array([joint.velocity_start() for joint in joints], dtype=int)
        for joint, q in zip(joints, machine.start):
            self.context.SetDiscreteState(self._with(joint.position_start(), q))
        if machine.floating:
            turn = rigid.RotationMatrix(rotation(np.array(machine.quaternion)))
            place = rigid.RigidTransform(turn, np.array(machine.position))
            plant.SetFreeBodyPose(self.context, self.base, place)
            velocity = self.spatial_.SpatialVelocity(
                w=np.array(machine.angular), v=np.array(machine.linear)
            )
            plant.SetFreeBodySpatialVelocity(self.context, self.base, velocity)

    def _with(self, index: int, value: float) -> np.ndarray:
        state = self.context.get_discrete_state_vector().CopyToVector()
        state[index] = value
        return state

    def push(self, wrenches: Mapping[str, np.ndarray]) -> None:
        """Set moments and forces on bodies."""
        forces = []
        for name, wrench in wrenches.items():
            body = self.base if name == ROBOT else self.of[name]
            force = self.plant_.ExternallyAppliedSpatialForce()
            force.body_index = body.index()
            force.p_BoBq_B = np.zeros(3)
            force.F_Bq_W = self.spatial_.SpatialForce(tau=wrench[:3], f=wrench[3:])
            forces.append(force)
        port = self.plant.get_applied_spatial_force_input_port()
        port.FixValue(self.context, self.value_.AbstractValue.Make(forces))

    def drive(self, torque: np.ndarray) -> None:
        """Set torques of the machine's joints."""
        forces = np.zeros(self.plant.num_velocities())
        forces[self.joint_v] = torque
        port = self.plant.get_applied_generalized_force_input_port()
        port.FixValue(self.context, forces)

    def step(self, count: int) -> None:
        """Advance by steps."""
        self.count += count
        self.simulator.AdvanceTo(self.count * self.timestep)

    def _bodies(self, bodies: List[Any]) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
        plant, context = self.plant, self.context
        places = [plant.EvalBodyPoseInWorld(context, body) for body in bodies]
        speeds = [plant.EvalBodySpatialVelocityInWorld(context, body) for body in bodies]
        return (
            np.array([place.translation() for place in places]),
            np.array([place.rotation().ToQuaternion().wxyz() for place in places]),
            np.array([[*speed.rotational(), *speed.translational()] for speed in speeds]),
        )

    def bodies(self) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the positions, quaternions and velocities of free bodies."""
        return self._bodies(self.free)

    def machine(self) -> Tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return the base, its velocity, joint positions and velocities."""
        base, speed = np.array([0, 0, 0, 1, 0, 0, 0.0]), np.zeros(6)
        if self.scene.machine.floating:
            places, turns, speeds = self._bodies([self.base])
            base, speed = np.concatenate([places[0], turns[0]]), speeds[0]
        q, v = self.plant.GetPositions(self.context), self.plant.GetVelocities(self.context)
        return base, speed, q[self.joint_q], v[self.joint_v]

    def watch(self) -> None:
        """Do nothing: contacts are reported with all data."""

    def contacts(self) -> Optional[List[Contact]]:
        """Return contact points, and resultants of pressure fields, without a single velocity."""
        results = self.plant.get_contact_results_output_port().Eval(self.context)
        found = []
        for i in range(results.num_hydroelastic_contacts()):
            info = results.hydroelastic_contact_info(i)
            surface = info.contact_surface()
            names = [self._name(self._body_of(each)) for each in (surface.id_N(), surface.id_M())]
            force = info.F_Ac_W().translational()  # on the body of M
            normal = force / max(np.linalg.norm(force), 1e-300)
            found.append(Contact(*names, surface.centroid(), normal, force, np.full(3, math.nan)))
        for i in range(results.num_point_pair_contacts()):
            info = results.point_pair_contact_info(i)
            names = [
                self._name(self.plant.get_body(index))
                for index in (info.bodyA_index(), info.bodyB_index())
            ]
            normal = -info.point_pair().nhat_BA_W
            force, slip = info.contact_force(), info.slip_speed()
            # On the second body, whose sliding velocity opposes friction.
            tangential = force - (force @ normal) * normal
            size = np.linalg.norm(tangential)
            along = -tangential / size if size > 0.0 else np.zeros(3)
            velocity = info.separation_speed() * normal + slip * along
            found.append(Contact(*names, info.contact_point(), normal, force, velocity))
        return found

    def _body_of(self, geometry: Any) -> Any:
        inspector = self.geometry.model_inspector()
        return self.plant.GetBodyFromFrameId(inspector.GetFrameId(geometry))

    def _name(self, body: Any) -> str:
        if body.index() == self.plant.world_body().index():
            return next(each.name for each in self.scene.bodies if each.mass is None)
        if self.scene.machine is not None and body.model_instance() == self.robot:
            return f'{ROBOT}/{body.name()}'
        return body.name()


ENGINES = [
    Engine(
        'Drake',
        LIBRARY,
        DrakeWorld,
        'discrete, its default approximation; boxes are hydroelastic with '
        f'{_MODULUS:g} Pa, on rigid ground, all else touches in points',
    )
]
