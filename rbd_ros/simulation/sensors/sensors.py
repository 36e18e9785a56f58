# SPDX-License-Identifier: Apache-2.0
"""Sensors on a simulated robot: inertial units, force and torque sensors, joint torque sensors.

They read what is exact: noise is left to the caller. Nothing is computed until they are read.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple
from weakref import WeakKeyDictionary

import numpy as np

from rbd_ros.collision.scene.scene import Scene
from rbd_ros.compiler.loops import allocate, Record
from rbd_ros.contact.contact_arrays import FloatArray
from rbd_ros.model.errors import unknown_name
from rbd_ros.robot import Robot
from rbd_ros.simulation.physics import Physics
from rbd_ros.simulation.records.mutex import exclusive
from rbd_ros.simulation.sensors.sensor_places import check_no_loops, Cut, cut_model, find_cut
from rbd_ros.simulation.sensors.sensor_readings import read_sensors, SensorBuffers, SensorPlaces
from rbd_ros.spatial import PluckerTransform
from rbd_ros.world.world import ROBOT


class ImuReading(NamedTuple):
    """Reading of an inertial unit, in its own axes.

    :param orientation: quaternion w, x, y, z of its axes in the world, (4,)
    :param angular_velocity: (3,) [rad/s]
    :param linear_acceleration: proper acceleration of its origin: at rest g, upwards, (3,) [m/s^2]
    """

    orientation: FloatArray
    angular_velocity: FloatArray
    linear_acceleration: FloatArray


class SensorBinding(NamedTuple):
    """Sensors in one world: what they read, and where from.

    :param record: the simulation
    :param read: reads them all; returns the number of steps taken
    :param kept: what machine code has the addresses of
    """

    record: Record
    read: Callable[[], int]
    kept: Tuple[Record, ...]


class Sensors:
    """Sensors on the robot of a simulation; see `Simulator.sensors`.

    Inertial units read the orientation and the angular velocity after the last step, and as
    acceleration that which takes the velocity of their origin from the beginning of the step to
    its end, less gravity: velocities add up from it, with impacts, whatever the integrator.

    Force and torque sensors read what the parent of a joint exerts on its child, about the origin
    and in the axes of the child link: [moment; force], the mean of the last step. It is what the
    motion of all beyond the joint takes, less gravity, contacts and external forces there. Joint
    torques are its part along the joint's DoF: what drive, friction, limits, springs and
    damping exert together, less what the rotor (armature) takes.

    In a step that is divided because joints turn fast, contact forces are those of its last part.

    :param physics: the simulation
    :param imus: names of links
    :param force_torque: names of joints, fixed ones too, or of links for the joints that bear them
    :param joint_torques: names of joints with one degree of freedom
    :raises ValueError: for unknown names, and where no joint bears a link
    :raises ModelError: for force and torque sensors on a robot with kinematic loops
    """

    def __init__(
        self,
        physics: Physics,
        imus: Sequence[str] = (),
        force_torque: Sequence[str] = (),
        joint_torques: Sequence[str] = (),
    ):
        self._physics, self._robot = physics, physics.robot
        model = physics.robot.model
        for name in imus:
            if name not in model.links:
                raise ValueError(f'imus: {unknown_name("link", name, tuple(model.links))}')
        if force_torque or joint_torques:
            check_no_loops(model, 'sensors of forces and torques')
        self._imus = tuple(imus)
        self._gauges = tuple(force_torque)
        self._joints = tuple(joint_torques)
        columns, cuts = _columns(physics.robot, self._joints), []
        for name in self._gauges:
            cuts.append(find_cut(model, name))
        for name in self._joints:
            cuts.append(find_cut(model, name))
        self._cuts: List[Cut] = cuts
        self._columns = np.array([-1] * len(self._gauges) + columns, dtype=np.int64)
        cut_bodies: List[int] = []
        bodies = 0
        if cuts:
            cut, cut_bodies = cut_model(model, cuts)
            bodies = len(cut.bodies)
        #: Kernel of the reactions at all cuts, of the robot with its inertias or with others.
        self._reactions: WeakKeyDictionary[Robot, Any] = WeakKeyDictionary()
        self.prepare(physics.loaded)
        # The kernel has all bodies but the base.
        self._cut_bodies = np.array(cut_bodies, dtype=np.int64) - 1
        self.buffers = allocate(
            SensorBuffers,
            inertial=len(self._imus),
            gauges=len(cuts),
            nq=self._robot.nq,
            nv=self._robot.nv,
            bodies=len(model.bodies) + 1,
            tree_nv=model.tree_nv,
            cut_bodies=bodies,
        )
        self._buffers = Record(self.buffers)
        self._binding: Optional[SensorBinding] = None

    def prepare(self, robot: Robot) -> None:
        """Compile what sensors need if the robot gets other inertias: see `Physics.load`.

        :param robot: the robot with them
        """
        if self._cuts and robot not in self._reactions:
            cut, _ = cut_model(robot.model, self._cuts)
            self._reactions[robot] = Robot(cut).kernel('joint_reactions')

    def binding(self, record: Record, scene: Optional[Scene]) -> SensorBinding:
        """Return the sensors for a world, perhaps one that the simulation does not have yet.

        :param record: the simulation in it
        :param scene: its shapes
        """
        physics, model = self._physics, self._robot.model
        self.prepare(physics.loaded)
        links = list(model.links)
        frames = [model.link(name) for name in self._imus]
        prefix = f'{ROBOT}/'
        names = [] if scene is None else [each.name for each in scene.shapes]
        places = SensorPlaces(
            has_gauges=len(self._cuts) > 0,
            midpoint=physics.integrator != 'semi_implicit',
            kinematics=int(self._robot.kernel('contact_kinematics').address),
            reactions=int(self._reactions[physics.loaded].address) if self._cuts else 0,
            body=_integers([frame.body for frame in frames]),
            pose=_poses([frame.placement for frame in frames]),
            cut_body=self._cut_bodies,
            gauge_body=_integers([cut.body for cut in self._cuts]),
            gauge_pose=_poses([cut.placement for cut in self._cuts]),
            column=self._columns,
            link_beyond=self._beyond(links),
            ground_beyond=self._beyond([each.link for each in physics.geometries]),
            scene_beyond=self._beyond(
                [name.removeprefix(prefix) if name not in model.links else name for name in names]
            ),
            gravity=np.array(model.gravity, dtype=float),
        )
        kept = Record(places)
        read = read_sensors.bind(record, kept, self._buffers, release_gil=False)
        return SensorBinding(record, read, (record, kept))

    def _beyond(self, names: Sequence[str]) -> np.ndarray:
        """Return which of the links are beyond each gauge, (G, n)."""
        rows = [[int(name in cut.beyond) for name in names] for cut in self._cuts]
        return np.array(rows, dtype=np.int64).reshape(len(self._cuts), len(names))

    def use(self, binding: SensorBinding) -> None:
        """Go over to another world.

        :param binding: what `binding` made for it
        """
        self._binding = binding

    @exclusive
    def read(self) -> int:
        """Read all sensors after the last step.

        :return: number of steps taken since the last reset
        """
        binding, record = self._binding, self._physics.record
        if binding is None or binding.record is not record:
            binding = self._binding = self.binding(record, self._physics.scene)
        return binding.read()

    @property
    @exclusive
    def imus(self) -> Dict[str, ImuReading]:
        """Readings of the inertial units, by link."""
        self.read()
        buffers = self.buffers
        return {
            name: ImuReading(
                buffers.orientation[k].copy(),
                buffers.angular_velocity[k].copy(),
                buffers.acceleration[k].copy(),
            )
            for k, name in enumerate(self._imus)
        }

    @property
    @exclusive
    def wrenches(self) -> Dict[str, FloatArray]:
        """Readings of force and torque sensors by name: moment, force [N m, N]."""
        self.read()
        return {name: self.buffers.wrench[k].copy() for k, name in enumerate(self._gauges)}

    @property
    @exclusive
    def joint_torques(self) -> Dict[str, float]:
        """Forces that joints transmit along their degrees of freedom, by name [N m, N]."""
        self.read()
        torque = self.buffers.torque[len(self._gauges) :].tolist()
        return dict(zip(self._joints, torque))

    @property
    def wrench_links(self) -> Tuple[str, ...]:
        """Links in whose axes the force and torque sensors read."""
        return tuple(cut.link for cut in self._cuts[: len(self._gauges)])


def _columns(robot: Robot, joints: Sequence[str]) -> List[int]:
    """Return the degree of freedom of the tree of each joint."""
    model = robot.model
    own = {body.joint_name: body for body in model.bodies if body.joint.nv == 1}
    for name in joints:
        if name not in own:
            what = unknown_name('joint with one degree of freedom', name, tuple(own))
            raise ValueError(f'joint_torques: {what}')
    return [own[name].v.start for name in joints]


def _integers(values: Sequence[int]) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def _poses(placements: Sequence[PluckerTransform]) -> FloatArray:
    """Return the poses of frames, rotation row by row and position, (n, 12)."""
    rows = []
    for placement in placements:
        pose = np.array(placement.pose(), dtype=float)
        rows.append(np.concatenate([pose[:3, :3].ravel(), pose[:3, 3]]))
    return np.array(rows, dtype=float).reshape(-1, 12)
