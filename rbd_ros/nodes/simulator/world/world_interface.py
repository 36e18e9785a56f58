# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Interface to the simulated world: placing, publishing and drawing its objects.

All methods run in the thread of the simulation loop. Like the cycle, they need no node: messages
pass through `WorldPorts`.
"""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Protocol, Set, Tuple

from geometry_msgs.msg import WrenchStamped
import numpy as np

from rbd_ros.collision.scene.scene import Scene
from rbd_ros.nodes.common.diagnostics import Diagnostics, OK, WARN
from rbd_ros.nodes.messages.conversions import NANOSECONDS, set_stamp, wrench_from_force
from rbd_ros.nodes.messages.text import shorten
from rbd_ros.nodes.simulator.world import markers
from rbd_ros.nodes.simulator.world.contact_cloud import contact_cloud
from rbd_ros.nodes.simulator.world.object_motion import (
    about,
    Motion,
    ObjectContacts,
    ObjectMotion,
)
from rbd_ros.nodes.simulator.world.object_poses import matrix_row, NO_LINK, row_matrix
from rbd_ros.nodes.simulator.world.spawn_overlaps import SpawnOverlapMonitor
from rbd_ros.nodes.simulator.world.world_ports import (
    CONTACT_MARKERS,
    CONTACTS,
    OBJECT_MARKERS,
    WRENCHES,
)
from rbd_ros.simulation import Simulator
from rbd_ros.simulation.scene.scene_state import FreeBodies
from rbd_ros.simulation.start.start_overlaps import unresolved_overlap_warnings
from rbd_ros.wire import (
    MultiDOFJointStateWriter,
    TransformsWriter,
)
from rbd_ros.world.world import World

SUBJECT = 'world'


class WorldPorts(Protocol):
    """Sources and sinks of messages about the world."""

    def send_objects(self, data: bytes) -> None:
        """Send a MultiDOFJointState."""

    def send_frames(self, data: bytes) -> None:
        """Send a TFMessage."""

    def send_standing(self, found: List[Any]) -> None:
        """Send the markers of static objects."""

    def has_subscribers(self, topic: str) -> bool:
        """Return whether a topic has subscribers."""

    def send_wrench(self, message: WrenchStamped) -> None:
        """Send a wrench."""

    def send_markers(self, topic: str, found: List[Any]) -> None:
        """Send markers."""


class Frames(NamedTuple):
    """Names of frames.

    :param prefix: prefix of all frames except that of a world in which no robot is fixed
    :param world: frame of the world
    :param odom: reference frame of a floating base's pose; '' without one
    """

    prefix: str
    world: str
    odom: str

    @classmethod
    def of(cls, simulator: Simulator, prefix: str, odom: str) -> Frames:
        """Return the frames of a robot in a world; the frame of a fixed root link is the world's.

        :param prefix: prefix of the robot's frames
        :param odom: reference frame of its floating root link's pose, without the prefix; '' if it
            is fixed
        """
        model = simulator.robot.model
        if odom:
            return cls(prefix, NO_LINK, prefix + odom)
        root = next((link.name for link in model.links.values() if link.body == 0), NO_LINK)
        return cls(prefix, prefix + root, '')

    def local(self, frame: str) -> str:
        """Return the name of a link or object from its frame, with or without the prefix."""
        name = frame.lstrip('/')
        return name[len(self.prefix) :] if name.startswith(self.prefix) else name


class View(NamedTuple):
    """Published view of a world.

    :param state: reads the state of its objects
    :param objects: message with their states
    :param frames: message with the frames of movable bodies
    :param links: links of further movable robots
    :param standing: markers of static objects
    :param markers: markers of movable objects
    """

    state: ObjectMotion
    objects: MultiDOFJointStateWriter
    frames: TransformsWriter
    links: Tuple[str, ...]
    standing: List[Any]
    markers: List[markers.Placed]


class WorldInterface:
    """The world of a simulation: topics, diagnostics, and states that services set.

    :param simulator: simulation with a world
    :param parameters: values of the simulator node's parameters
    :param diagnostics: diagnostics of the node
    :param ports: sources and sinks of messages
    :param has_base: whether the root link floats
    """

    def __init__(
        self,
        simulator: Simulator,
        parameters: Mapping[str, Any],
        diagnostics: Diagnostics,
        ports: WorldPorts,
        has_base: bool,
    ):
        self._simulator, self._parameters = simulator, parameters
        self._diagnostics, self._ports = diagnostics, ports
        odom = parameters['odom_frame'] if has_base else ''
        self.frames = Frames.of(simulator, parameters['frame_prefix'], odom)
        self._spawn_overlaps = SpawnOverlapMonitor(simulator, diagnostics)
        self._has_base = has_base
        self._use(self._present())
        rate = parameters['world_publish_rate']
        self._period = NANOSECONDS / rate if rate > 0.0 else 0.0
        self._next, self._published_frames, self._time = 0.0, 0, 0
        self._pressed: set = set()  # names of bodies whose last wrench was not zero
        self._changed = False  # whether there may be markers of removed objects
        self._worst = np.zeros(3)  # maximum residuals since the last report
        self._counted = (0, 0)
        self._staying: Set[str] = set()
        ports.send_standing(self._standing)
        self._report()

    def view_of(self, world: World, scene: Scene, bodies: FreeBodies) -> View:
        """Return the view of a world, also of a prepared one.

        :param scene: its shapes
        :param bodies: its movable objects
        """
        simulator, frame, prefix = self._simulator, self.frames.world, self.frames.prefix
        names = tuple(each.name for each in scene.objects)
        base = [self.frames.odom] if self._has_base else []
        robots = world.moving_in(simulator.robot.model)
        links = tuple(f'{robot.name}/{link}' for robot in robots for link in robot.model.links)
        moving = [
            *markers.object_markers(world, frame),
            *markers.robot_markers(robots, frame),
        ]
        for k, each in enumerate(moving):
            each.marker.id = k
        return View(
            ObjectMotion(simulator, scene, bodies),
            MultiDOFJointStateWriter(names, frame),
            TransformsWriter(frame, [*base, *(prefix + name for name in (*names, *links))]),
            links,
            markers.static_markers(world, frame, robots),
            moving,
        )

    def _use(self, view: View) -> None:
        self._state, self._objects, self._frames, self._links, self._standing, self._markers = view

    def _present(self) -> View:
        """Return the view of the present world."""
        simulator = self._simulator
        physics = simulator.physics
        return self.view_of(simulator.world, physics.scene, physics.model.scene.bodies)

    def _report(self) -> None:
        names, count = self._simulator.objects, len(self._simulator.world.objects)
        self._diagnostics.condition(
            SUBJECT,
            OK,
            f'{count} objects, {len(names)} of them movable: {shorten(names)}',
            code='loaded',
        )

    def world_changed(self, view: Optional[View]) -> None:
        """Switch to the present objects of the simulation.

        :param view: result of `view_of`; None: it is called now
        """
        self._use(self._present() if view is None else view)
        self._spawn_overlaps.world_changed()
        self._pressed &= set(self._state.bodies)
        self._changed = True
        self._ports.send_standing([markers.nothing(self.frames.world), *self._standing])
        self._report()
        self._next = 0.0  # publish the new view in the next cycle

    # -- for services, between two cycles ---------------------------------------------------------

    @property
    def objects(self) -> Tuple[str, ...]:
        """Names of the movable objects."""
        return self._simulator.objects

    def states(self) -> Tuple[int, Motion]:
        """Return the simulated time [ns] and motion of the movable objects."""
        return self._time, self._state.motion()

    def set_state(
        self, name: str, pose: Optional[np.ndarray], velocity: Optional[np.ndarray]
    ) -> None:
        """Set pose and velocity of a movable object.

        :param pose: position [m], quaternion x, y, z, w, (7,); None: unchanged
        :param velocity: angular velocity and velocity of its origin along the axes of the world,
            (6,) [rad/s, m/s]; None: unchanged
        """
        if velocity is None:
            velocity = self._simulator.object_velocity(name)
        self._simulator.place_object(name, None if pose is None else row_matrix(pose), velocity)
        self._spawn_overlaps.placed(name)

    # -- publishing -------------------------------------------------------------------------------

    def after_cycle(self, time: int) -> None:
        """Record the residual of the contacts; publish messages that are due.

        :param time: simulated time [ns]
        """
        self._time = time
        np.maximum(self._worst, self._simulator.physics.contact_state.residuals, out=self._worst)
        if self._spawn_overlaps.names:
            self._spawn_overlaps.report()
        if time >= self._next:
            self._next = max(self._next + self._period, time)
            self.publish(time)

    def publish(self, time: int) -> None:
        """Publish the view of the world.

        :param time: simulated time [ns]
        """
        self._time = time
        motion, contacts = self._state.motion(), self._state.contacts()
        wrenches = self._state.wrenches(contacts)
        first = self._state.first_object
        self._objects.poses[:], self._objects.twists[:] = motion.poses, motion.twists
        self._objects.wrenches[:] = about(wrenches[first:], motion.poses[:, :3])
        self._objects.set_stamp_ns(time)
        self._ports.send_objects(self._objects.data())
        # Listeners of /tf warn of two transforms with the same time.
        if time > self._published_frames and self._frames.poses:
            self._published_frames = time
            self._send_frames(motion, time)
        if self._ports.has_subscribers(WRENCHES):
            self._send_wrenches(motion, contacts, wrenches, time)
        if self._ports.has_subscribers(CONTACTS):
            self._ports.send_contacts(contact_cloud(contacts, self.frames.world, time))
        if self._ports.has_subscribers(CONTACT_MARKERS):
            self._send_contact_markers(contacts, time)
        if self._ports.has_subscribers(OBJECT_MARKERS) and (self._markers or self._changed):
            rows = dict(zip(self._simulator.objects, motion.poses))
            poses = {name: row_matrix(row) for name, row in rows.items()}
            markers.move(self._markers, {**poses, **self._link_poses()}, time)
            found = [each.marker for each in self._markers]
            if self._changed:
                found.insert(0, markers.nothing(self.frames.world))
            self._changed = False
            self._ports.send_markers(OBJECT_MARKERS, found)

    def _send_frames(self, motion: Motion, time: int) -> None:
        rows = list(self._frames.poses)
        if self._has_base:
            rows.pop(0)[:] = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0  # odometry is exact
        for row, pose in zip(rows, motion.poses):
            row[:] = pose
        for row, matrix in zip(rows[len(motion.poses) :], self._link_poses().values()):
            row[:] = matrix_row(matrix)
        self._frames.set_stamp_ns(time)
        self._ports.send_frames(self._frames.data())

    def _link_poses(self) -> Dict[str, np.ndarray]:
        """Return the link poses of further movable robots, by name, in order, (4, 4)."""
        if not self._links:
            return {}
        poses = self._simulator.robot.forward_kinematics(self._simulator.q)
        return {link: poses[link] for link in self._links}

    def _send_wrenches(
        self, motion: Motion, contacts: ObjectContacts, wrenches: np.ndarray, time: int
    ) -> None:
        """Publish the contact wrench of each body in contact, and zero once contact ends."""
        first, bodies = self._state.first_object, self._state.bodies
        now = {bodies[b]: int(b) for b in np.flatnonzero(self._state.bodies_in_contact(contacts))}
        links: Dict[str, np.ndarray] = {}
        if any(b < first for b in now.values()):
            links = self._simulator.robot.forward_kinematics(self._simulator.q)
        for name in sorted({*now, *self._pressed}):
            message = WrenchStamped()
            set_stamp(message.header.stamp, time)
            message.header.frame_id = self.frames.prefix + name
            if name in now:
                b = now[name]
                pose = links[bodies[b]] if b < first else row_matrix(motion.poses[b - first])
                force, moment = np.split(about(wrenches[b : b + 1], pose[:3, 3])[0], 2)
                R = pose[:3, :3]
                message.wrench = wrench_from_force(np.concatenate([moment @ R, force @ R]))
            self._ports.send_wrench(message)
        self._pressed = set(now)

    def _send_contact_markers(self, contacts: ObjectContacts, time: int) -> None:
        most = markers.MAX_ARROWS
        pairs = [self._state.names(int(pair)) for pair in contacts.pairs[:most]]
        scale = self._parameters['contact_arrow_scale']
        found = markers.arrows(
            pairs, contacts.positions, contacts.forces, self.frames.world, time, scale
        )
        self._ports.send_markers(CONTACT_MARKERS, found)

    # -- diagnostics ------------------------------------------------------------------------------

    def values(self) -> Dict[str, Any]:
        """Return diagnostics values; residuals are the maximum since the last call."""
        status, worst = self._simulator.status, self._worst.copy()
        self._worst[:] = 0.0
        return {
            'contacts': len(self._state.contacts().pairs),
            'residual_signorini': float(worst[0]),
            'residual_conic': float(worst[1]),
            'residual_contact': float(worst[2]),
            'unconverged_steps': status.unconverged_steps,
            'contacts_truncated': status.contacts_truncated,
            'unresolved_overlap_steps': status.unresolved_overlap_steps,
        }

    def watch(self) -> None:
        """Report, once a second, unconverged steps and unresolved overlaps."""
        status = self._simulator.status
        before, self._counted = (
            self._counted,
            (status.unconverged_steps, status.contacts_truncated),
        )
        unconverged, dropped = (max(now - b, 0) for now, b in zip(self._counted, before))
        if unconverged:
            self._diagnostics.event(
                SUBJECT,
                WARN,
                f'the contact solver did not reach solver_tolerance in {unconverged} steps and '
                'used its best solution; use a smaller timestep, more solver_iterations, or a '
                'larger solver_tolerance',
                code='unconverged',
            )
        if dropped:
            self._diagnostics.event(
                SUBJECT,
                WARN,
                f'too many contacts at a time; {dropped} of them were ignored',
                code='contacts truncated',
            )
        reported, self._staying = self._staying, set()
        for text in unresolved_overlap_warnings(self._simulator.physics):
            # Once per pair, while the overlap persists.
            pair = text.split(' overlap')[0]
            self._staying.add(pair)
            if pair not in reported:
                self._diagnostics.event(SUBJECT, WARN, text, code=pair)
