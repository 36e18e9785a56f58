# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The part of `Simulator` for its world: objects, rigid contacts, distances."""

from __future__ import annotations

from dataclasses import replace
import math
import os
from typing import (
    Any,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    Union,
)

import numpy as np
from numpy.typing import ArrayLike

from rbd_ros import collision  # loads distances on first use
from rbd_ros.array_types import FloatArray
from rbd_ros.compiler.loops import Vec
from rbd_ros.constraints.friction import Residuals
from rbd_ros.contact import ContactParameters, HalfSpace
from rbd_ros.model.errors import unknown_name
from rbd_ros.robot import Robot
from rbd_ros.simulation.physics import NO_WORLD, Physics
from rbd_ros.simulation.records.mutex import exclusive
from rbd_ros.simulation.scene.scene_assembly import place
from rbd_ros.simulation.scene.scene_state import CONIC, CONTACT, NOW, SIGNORINI
from rbd_ros.simulation.scene.scene_update import PreparedScene
from rbd_ros.simulation.stepping.rotations import rotation_of
from rbd_ros.world.world import World
from rbd_ros.world.world_objects import level_ground

SrdfSource = Union[str, 'os.PathLike[str]']

WorldSource = Union[None, World, Mapping[str, Any], str, 'os.PathLike[str]']

#: Maximum deviation of a rotation from an orthonormal matrix that counts as rounding.
_ROUNDING = 1e-6


class ContactPoint(NamedTuple):
    """A contact point in a simulated world, in world coordinates.

    :param first: owner of the first shape: 'robot/link', or the name of an object
    :param second: owner of the second shape
    :param position: contact point at the beginning of the last step, (3,) [m]
    :param normal: unit normal from the first to the second, (3,)
    :param force: mean force on the second one in the last step, (3,) [N]
    :param depth: penetration depth at its beginning, negative for a gap [m]
    :param moment: mean moment of torsional and rolling friction on the second one, (3,) [N m]
    """

    first: str
    second: str
    position: FloatArray
    normal: FloatArray
    force: FloatArray
    depth: float
    moment: FloatArray


def resolve_world(
    robot: Optional[Robot],
    source: WorldSource,
    ground: Union[None, bool, HalfSpace],
    contact: Optional[ContactParameters] = None,
    contact_links: Optional[Sequence[str]] = None,
    srdf: Optional[SrdfSource] = None,
) -> Optional[World]:
    """Return the world given by a user, or that of a rigid ground; None for none.

    :param source: path of a world file, its content, or a `World`
    :param contact: gives the friction of a rigid ground
    :param contact_links: links that touch the ground; None for all that move
    :param srdf: SRDF of the robot, with priority over the world's; None: that of the world
    :raises ValueError: if there is a ground as well, or arguments belong to different contact
        models
    :raises WorldFileError: naming file, line, entry and cure
    """
    # The argument has priority over the `srdf` of a world file, as in the launch files.
    world = _read_source(robot, source, ground, contact, contact_links)
    if srdf is None or world is None:
        return world
    return replace(world, srdf=os.fspath(srdf))


def _read_source(
    robot: Optional[Robot],
    source: WorldSource,
    ground: Union[None, bool, HalfSpace],
    contact: Optional[ContactParameters],
    contact_links: Optional[Sequence[str]],
) -> Optional[World]:
    if source is None:
        if ground is not True or robot is None:
            return None
        return _rigid_ground(robot, contact or ContactParameters(), contact_links)
    # A world has its own ground and surfaces: arguments of the other contact model would have no
    # effect there, so each is rejected with the entry that replaces it.
    if ground:
        raise ValueError(
            'ground does not apply to a world; leave it out and add a plane to the world'
        )
    if contact is not None:
        raise ValueError(
            'contact does not apply to a world, which has its own surfaces; leave it out'
        )
    if contact_links is not None:
        raise ValueError(
            'contact_links does not apply to a world; leave it out and use `disable_collisions` '
            'of the world'
        )
    if isinstance(source, World):
        return source
    # Imported here, as most simulations read no file.
    from rbd_ros.world.world_file import read_world

    return read_world(source, robot=robot.model if robot is not None and robot.nv else None)


def _rigid_ground(
    robot: Robot,
    contact: ContactParameters,
    links: Optional[Sequence[str]],
) -> World:
    # Rigid contact has Coulomb friction only: other parameters must have their defaults.
    if contact != replace(ContactParameters(), friction=contact.friction):
        raise ValueError(
            'contact: stiffness and damping need a compliant ground, but ground=True is rigid; '
            'use ground=HalfSpace(), or give only the friction'
        )
    return level_ground(robot.model, friction=contact.friction, links=links)


class SimulatedObjects:
    """Objects and rigid contacts of a simulation."""

    _physics: Physics
    _distances: Optional[Tuple[Optional[World], collision.RobotInWorld]] = None

    @property
    def world(self) -> Optional[World]:
        """Environment of the robot, None if there is none.

        >>> Simulator(robot).world is None
        True
        """
        return self._physics.world

    @property
    def robots(self) -> Tuple[str, ...]:
        """Names of the movable robots of the world, which are parts of `robot`.

        >>> arm = {'urdf': 'urdf/six_axis_arm.urdf', 'xyz': [1.5, 0, 0], 'static': False}
        >>> simulator = Simulator(robot, world={'robots': {'second_arm': arm}})
        >>> simulator.robots, simulator.robot.nv, simulator.robot.joint_names[6]
        (('second_arm',), 12, 'second_arm/shoulder_pan_joint')
        """
        world = self._physics.world
        if world is None:
            return ()
        return tuple(each.name for each in world.moving_in(self._physics.robot.model))

    @property
    def objects(self) -> Tuple[str, ...]:
        """Names of the movable objects.

        >>> Simulator(robot, world='config/table_world.yaml').objects
        ('box', 'peg', 'ball', 'roller')
        """
        scene = self._physics.scene
        return () if scene is None else tuple(each.name for each in scene.objects)

    def _object(self, name: str) -> int:
        names = self.objects
        if name not in names:
            raise ValueError(unknown_name('movable object', str(name)[:80], names))
        return names.index(name)

    @exclusive
    def object_pose(self, name: str) -> FloatArray:
        """Return the pose of a movable object in the world, (4, 4) [1, m].

        :raises ValueError: for an unknown name

        >>> ball = {'ball': {'type': 'sphere', 'radius': 0.1, 'static': False, 'mass': 1.0}}
        >>> simulator = Simulator(None, world={'objects': ball})
        >>> simulator.step(n=100)  # it falls for 0.1 s
        >>> round(simulator.object_pose('ball')[2, 3], 6)  # [m]
        -0.04905
        """
        o = self._object(name)
        # The state is that of the center of mass; the pose is that of the object's frame,
        # whose origin is at p = p_c - R c, with the center c in object coordinates.
        pose = np.eye(4)
        pose[:3, :3] = rotation_of(Vec(*self._physics.objects.quaternion[o]))
        center = self._physics.model.scene.bodies.center[o]
        pose[:3, 3] = self._physics.objects.position[o] - pose[:3, :3] @ center
        return pose

    @exclusive
    def object_velocity(self, name: str) -> FloatArray:
        """Return the velocity of a movable object in world axes, angular first, (6,) [rad/s, m/s].

        :raises ValueError: for an unknown name

        >>> ball = {'ball': {'type': 'sphere', 'radius': 0.1, 'static': False, 'mass': 1.0}}
        >>> simulator = Simulator(None, world={'objects': ball})
        >>> simulator.step(n=100)
        >>> simulator.object_velocity('ball').round(6)
        array([ 0.   ,  0.   ,  0.   ,  0.   ,  0.   , -0.981])
        """
        o = self._object(name)
        objects = self._physics.objects
        bodies = self._physics.model.scene.bodies
        R = np.array(rotation_of(Vec(*objects.quaternion[o])))
        # The state holds the angular momentum L in world coordinates, as free bodies keep it:
        # omega = R I^-1 R^T L. The origin moves at v_c - omega x R c.
        turning = R @ np.linalg.solve(bodies.inertia[o], R.T @ objects.angular_momentum[o])
        return np.concatenate(
            [turning, objects.velocity[o] - np.cross(turning, R @ bodies.center[o])]
        )

    @exclusive
    def place_object(self, name: str, pose: Any = None, velocity: Any = None) -> None:
        """Set pose and velocity of a movable object.

        :param pose: homogeneous matrix of its frame in the world, (4, 4); None: unchanged
        :param velocity: angular velocity and velocity of its origin along the axes of the world,
            (6,) [rad/s, m/s]; None: at rest if a pose is given, else unchanged
        :raises ValueError: for an unknown name, a wrong shape, or an invalid pose; nothing is
            changed

        >>> ball = {'ball': {'type': 'sphere', 'radius': 0.1, 'static': False, 'mass': 1.0}}
        >>> simulator = Simulator(None, world={'objects': ball})
        >>> simulator.place_object('ball', velocity=[0, 0, 0, 0, 0, 9.81])  # up
        >>> simulator.step(n=2000)
        >>> abs(simulator.object_pose('ball')[2, 3]) < 1e-9  # back again
        True
        """
        o = self._object(name)
        if velocity is None:
            twist = np.zeros(6) if pose is not None else self.object_velocity(name)
        else:
            twist = np.array(velocity, dtype=float)
        T = self.object_pose(name) if pose is None else np.array(pose, dtype=float)
        if T.shape != (4, 4) or twist.shape != (6,):
            raise ValueError(
                f'pose must have shape (4, 4) and velocity (6,), got {T.shape}, {twist.shape}'
            )
        if not (np.isfinite(T).all() and np.isfinite(twist).all()):
            raise ValueError(f'pose and velocity of {name!r} must be finite')
        # A reflection is orthonormal as well: only the determinant excludes it.
        R = T[:3, :3]
        if (
            np.abs(R.T @ R - np.eye(3)).max() > _ROUNDING
            or np.linalg.det(R) < 0.0
            or np.abs(T[3] - (0.0, 0.0, 0.0, 1.0)).max() > _ROUNDING
        ):
            raise ValueError('pose must be a rotation, a position, and 0 0 0 1 below')
        scene = self._physics.scene
        assert scene is not None
        # `place` takes the velocity along the object's axes. The list of near pairs is that of the
        # old pose, so the next step tests all pairs.
        local = np.concatenate([R.T @ twist[:3], R.T @ twist[3:]])
        place(self._physics.objects, o, scene.objects[o], T, local)
        self._physics.clear_near_pairs()

    # -- distances --------------------------------------------------------------------------------

    def distances(
        self, q: Optional[ArrayLike] = None, max_distance: float = math.inf
    ) -> collision.Distances:
        """Return the present distances of pairs that may touch, nearest points and gradients.

        :param q: configuration of the robot, (nq,), or many, (B, nq); None: the present one
            [rad, m]. Movable objects have their present poses
        :param max_distance: see `RobotInWorld.distances`
        :raises ValueError: see `RobotInWorld.distances`

        >>> simulator = Simulator(robot, world='config/table_world.yaml')
        >>> simulator.step(n=100)
        >>> found = simulator.distances()
        >>> nearest = int(np.argmin(found.distance))
        >>> simulator.distance_pairs[nearest], found.gradient[nearest].shape
        (('robot/base_link_inertia', 'robot/upper_arm_link'), (6,))
        """
        # Only the state is read under the mutex: distances may take long, and steps of another
        # thread continue meanwhile.
        with self._physics.mutex:
            poses = {name: self.object_pose(name) for name in self.objects}
            configuration = self._physics.state.q.copy() if q is None else q
        return self._robot_in_world().distances(configuration, max_distance, poses)

    @property
    def distance_pairs(self) -> Tuple[Tuple[str, str], ...]:
        """Names of the pairs that `distances` returns, in its order.

        >>> simulator = Simulator(robot, world={'objects': {'floor': {'type': 'plane'}}})
        >>> ('robot/wrist_3_link', 'floor') in simulator.distance_pairs
        True
        """
        return self._robot_in_world().pairs

    def _robot_in_world(self) -> collision.RobotInWorld:
        # Made on first use, and again after the world has changed.
        physics, made = self._physics, self._distances
        if made is None or made[0] is not physics.world:
            made = self._distances = (
                physics.world,
                collision.RobotInWorld(physics.robot, physics.world),
            )
        return made[1]

    # -- changes of the world ---------------------------------------------------------------------

    @exclusive
    def add_object(self, name: str, entry: Mapping[str, Any]) -> None:
        """Add an object to the world; all other motion continues.

        Its entry gives its pose, also after the next `reset`. Machine code is compiled only for a
        kind of shape that is new in the world.

        :param name: unused name
        :param entry: entry of an object in a world file, see docs/world.md
        :raises ValueError: if the simulation has no world
        :raises WorldFileError: for a used name, or an error in the entry, naming key and cure;
            nothing is changed

        >>> simulator = Simulator(robot, world='config/push_world.yaml')
        >>> simulator.step(n=10)
        >>> ball = {'type': 'sphere', 'radius': 0.05, 'static': False, 'mass': 0.2}
        >>> simulator.add_object('ball', {**ball, 'xyz': [0.6, -0.3, 0.5]})
        >>> simulator.step(n=10)
        >>> simulator.objects, round(simulator.time, 6), simulator.object_pose('ball')[2, 3] < 0.5
        (('box', 'ball'), 0.02, True)
        """
        from rbd_ros.world.world_file import extend_world

        model = self._physics.robot.model if self._physics.robot.nv else None
        self.change_world(extend_world(self._present_world(), {'objects': {name: entry}}, model))

    @exclusive
    def remove_object(self, name: str) -> None:
        """Remove an object, movable or not; all other motion continues.

        :raises ValueError: for an unknown name, or if the simulation has no world

        >>> simulator = Simulator(robot, world='config/table_world.yaml')
        >>> simulator.remove_object('peg')
        >>> simulator.objects
        ('box', 'ball', 'roller')
        """
        self.change_world(self._present_world().without(name))

    @exclusive
    def change_world(self, world: Union[WorldSource, PreparedScene]) -> None:
        """Replace the world around the robot; the motion continues.

        Objects of the same name keep their motion, even with other shapes. Wrenches on removed
        objects end.

        :param world: path of a world file, its content, a `World`, None for an empty one, or the
            result of `simulator.physics.prepare_world`, which takes most of the time and may run
            in another thread
        :raises ValueError: if the simulation has no world, or the new one cannot be used

        >>> simulator = Simulator(robot, world='config/table_world.yaml')
        >>> ready = simulator.physics.prepare_world(simulator.world.without('belt'))
        >>> simulator.change_world(ready)
        >>> 'belt' in simulator.world.names
        False
        """
        if not isinstance(world, PreparedScene):
            around = _read_source(self._physics.robot, world, None, None, None) or World()
            world = self._physics.prepare_world(around)
        self._physics.change_world(world)

    def _present_world(self) -> World:
        world = self._physics.world
        if world is None:
            raise ValueError(NO_WORLD)
        return world

    @property
    @exclusive
    def residuals(self) -> Residuals:
        """Residuals of the contact law in the last step; maxima over contacts.

        >>> simulator = Simulator(robot, world='config/table_world.yaml')
        >>> simulator.step(n=100)
        >>> simulator.residuals.contact < 1e-8  # of the ball that rolls, too
        True
        """
        found = self._physics.contact_state.residuals
        return Residuals(
            float(found[SIGNORINI]), float(found[CONIC]), float(found[CONTACT]), 0.0, 0.0, 0.0
        )

    def _pair_contacts(self) -> Tuple[ContactPoint, ...]:
        """Return `contacts` in a world."""
        physics, contact_state = self._physics, self._physics.contact_state
        scene, contacts = physics.scene, contact_state.contacts
        assert scene is not None
        found: List[ContactPoint] = []
        # The arrays have spare rows; contacts without an impulse were only near.
        for c in range(int(contact_state.counts[NOW])):
            if contact_state.impulse[c, 0] > 0.0:
                # Impulses over the length of the step are mean forces; rows of `frame` are normal
                # and tangents in world coordinates.
                moment = contact_state.moment[c] if len(contact_state.moment) else np.zeros(3)
                first, second = scene.names_of(int(contacts.pair[c]))
                frame = contacts.frame[c]
                found.append(
                    ContactPoint(
                        first,
                        second,
                        contacts.position[c].copy(),
                        frame[0].copy(),
                        contact_state.impulse[c] @ frame / physics.model.timestep,
                        -float(contacts.gap[c]),
                        moment @ frame / physics.model.timestep,
                    )
                )
        return tuple(found)
