# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""IMUs: orientation, angular velocity and proper acceleration of links (REP 145)."""

from __future__ import annotations

import math
from typing import Any, Callable, NamedTuple, Optional, Sequence

import numpy as np

from rbd_ros.array_types import FloatArray, IntArray
from rbd_ros.collision.scene.scene_bounds import velocity_at
from rbd_ros.compiler.loops import (
    allocate,
    call_kernel,
    compiled,
    entry_point,
    floats,
    load_transform,
    load_vec,
    Mat,
    Record,
    Vec,
    Vec4,
    view,
)
from rbd_ros.contact.detection import body_velocities
from rbd_ros.model import Model
from rbd_ros.model.errors import unknown_name
from rbd_ros.simulation.physics import Physics
from rbd_ros.simulation.records.simulation_model import SimulationModel
from rbd_ros.simulation.records.simulation_state import STEPS
from rbd_ros.simulation.records.workspace import PhysicsRecord
from rbd_ros.simulation.sensors.sensor import Sensor
from rbd_ros.simulation.sensors.sensor_places import integers, poses
from rbd_ros.simulation.sensors.transmitted_forces import TransmittedForces
from rbd_ros.simulation.stepping.linear import copy, copy_rows
from rbd_ros.simulation.stepping.rotations import load_matrix
from rbd_ros.wire import ImuWriter


class ImuReading(NamedTuple):
    """Reading of an inertial unit, in its own axes.

    :param orientation: quaternion w, x, y, z of its axes in the world, (4,)
    :param angular_velocity: (3,) [rad/s]
    :param linear_acceleration: proper acceleration of its origin: at rest g, upwards, (3,) [m/s^2]
    """

    orientation: FloatArray
    angular_velocity: FloatArray
    linear_acceleration: FloatArray


class ImuPlaces(NamedTuple):
    """Places of inertial units, constants.

    :param kinematics: address of the kernel contact_kinematics
    :param body: body of each, (n,)
    :param pose: pose of each in its body, rotation row by row and position, (n, 12)
    :param gravity: acceleration of gravity, (3,) [m/s^2]
    """

    kinematics: int
    body: IntArray
    pose: FloatArray
    gravity: FloatArray


class ImuBuffers(NamedTuple):
    """Readings of inertial units, and buffers.

    :param rotation: of each, from its axes to those of the world
    :param orientation: the same as quaternion w, x, y, z
    :param angular_velocity: in its axes [rad/s]
    :param acceleration: proper acceleration in its axes [m/s^2]
    :param given: inputs of the kernel, concatenated
    :param q: part of it: configuration
    :param v: part of it: velocity
    :param found: outputs of the kernel, concatenated
    :param poses: part of it: rotation row by row and position of each body
    :param columns: part of it: motion columns of the tree in base coordinates
    :param velocities: spatial velocities of the bodies in base coordinates
    :param speed: velocity of the origin of each [m/s]
    """

    rotation: FloatArray = floats('n', 3, 3)
    orientation: FloatArray = floats('n', 4)
    angular_velocity: FloatArray = floats('n', 3)
    acceleration: FloatArray = floats('n', 3)
    given: FloatArray = view()
    q: FloatArray = floats('nq', within='given')
    v: FloatArray = floats('nv', within='given')
    found: FloatArray = view()
    poses: FloatArray = floats('bodies', 12, within='found')
    columns: FloatArray = floats('tree_nv', 6, within='found')
    velocities: FloatArray = floats('bodies', 6)
    speed: FloatArray = floats('n', 3)


class Imus(Sensor):
    """Inertial measurement units (IMUs) at links.

    They read the orientation and the angular velocity after the last step. The acceleration is the
    mean one of their origin over the step, less gravity: it integrates to the velocity, impacts
    included, with any integrator.
    """

    name = 'imus'
    parameter = 'imus'
    topic = 'imu'
    message_type = 'sensor_msgs/msg/Imu'
    quantities = ('orientation', 'angular_velocity', 'linear_acceleration')

    def __init__(self, physics: Physics, places: Sequence[str]):
        super().__init__(physics, places)
        robot, model = physics.robot, physics.robot.model
        frames = [model.link(name) for name in places]
        self._places = Record(
            ImuPlaces(
                kinematics=int(robot.kernel('contact_kinematics').address),
                body=integers([frame.body for frame in frames]),
                pose=poses([frame.placement for frame in frames]),
                gravity=np.array(model.gravity, dtype=float),
            )
        )
        self._buffers = allocate(
            ImuBuffers,
            n=len(places),
            nq=robot.nq,
            nv=robot.nv,
            bodies=len(model.bodies) + 1,
            tree_nv=model.tree_nv,
        )
        self._record = Record(self._buffers)

    @classmethod
    def check(cls, model: Model, place: str) -> None:
        """Reject names that are not those of links."""
        if place not in model.links:
            raise ValueError(unknown_name('link', place, tuple(model.links)))

    def bind(
        self, record: Record, forces: Optional[TransmittedForces], first: int
    ) -> Callable[[], Any]:
        """Return the function that reads them."""
        return read_imus.bind(record, self._places, self._record, release_gil=False)

    def reading(self, k: int) -> ImuReading:
        """Return the reading of a unit."""
        buffers = self._buffers
        return ImuReading(
            buffers.orientation[k].copy(),
            buffers.angular_velocity[k].copy(),
            buffers.acceleration[k].copy(),
        )

    def message(self, frame_id: str) -> ImuWriter:
        """Return a message, of unknown covariance."""
        return ImuWriter(frame_id)

    def fill(self, message: ImuWriter, k: int) -> None:
        """Write the reading of a unit."""
        buffers = self._buffers
        message.orientation[:3] = buffers.orientation[k, 1:]
        message.orientation[3] = buffers.orientation[k, 0]
        message.angular_velocity[:] = buffers.angular_velocity[k]
        message.linear_acceleration[:] = buffers.acceleration[k]


@entry_point
def read_imus(physics: PhysicsRecord, places: ImuPlaces, buffers: ImuBuffers) -> int:
    """Read the units after the last step; before the first one, those of a robot at rest.

    The acceleration is the change of the velocity over the step.

    :return: number of steps taken so far
    """
    model, state = physics.model, physics.state
    resting = state.counters[STEPS] == 0
    if not resting:
        copy(state.start_q, buffers.q)
        copy(state.start_v, buffers.v)
        place_imus(model, places, buffers)
        copy_rows(buffers.speed, buffers.acceleration)
    copy(state.q, buffers.q)
    copy(state.v, buffers.v)
    place_imus(model, places, buffers)
    for s in range(len(places.body)):
        R = load_matrix(buffers.rotation[s])
        change = -load_vec(places.gravity, 3)
        if not resting:
            before = load_vec(buffers.acceleration[s], 3)
            change = change + (load_vec(buffers.speed[s], 3) - before) / model.timestep
        buffers.orientation[s] = quaternion_of(R)
        buffers.angular_velocity[s] = R.T @ load_vec(buffers.velocities[places.body[s]], 3)
        buffers.acceleration[s] = R.T @ change
    steps: int = state.counters[STEPS]
    return steps


@compiled
def quaternion_of(R: Mat) -> Vec4:
    """Return the unit quaternion w, x, y, z of a rotation, with its largest part positive."""
    # Four times its squared parts: the largest has no cancellation.
    a, b, c = R[0][0], R[1][1], R[2][2]
    w, x, y, z = 1.0 + (a + b + c), 1.0 + a - b - c, 1.0 + b - c - a, 1.0 + c - a - b
    turn = Vec(R[2][1] - R[1][2], R[0][2] - R[2][0], R[1][0] - R[0][1])
    xy, xz, yz = R[0][1] + R[1][0], R[0][2] + R[2][0], R[1][2] + R[2][1]
    if w >= 1.0 + max(a, b, c):
        half = 0.5 * math.sqrt(w)
        by = 4.0 * half
        return Vec(half, turn[0] / by, turn[1] / by, turn[2] / by)
    if a >= max(b, c):
        half = 0.5 * math.sqrt(x)
        by = 4.0 * half
        return Vec(turn[0] / by, half, xy / by, xz / by)
    if b >= c:
        half = 0.5 * math.sqrt(y)
        by = 4.0 * half
        return Vec(turn[1] / by, xy / by, half, yz / by)
    half = 0.5 * math.sqrt(z)
    by = 4.0 * half
    return Vec(turn[2] / by, xz / by, yz / by, half)


@compiled
def place_imus(model: SimulationModel, places: ImuPlaces, buffers: ImuBuffers) -> None:
    """Compute rotations and velocities of the units at `q` and `v`."""
    call_kernel(places.kinematics, buffers.given, buffers.found)
    body_velocities(model.tree, buffers.columns, buffers.v, buffers.velocities)
    for s in range(len(places.body)):
        body = places.body[s]
        frame = load_transform(buffers.poses[body]) @ load_transform(places.pose[s])
        buffers.rotation[s] = frame.rotation
        buffers.speed[s] = velocity_at(buffers.velocities[body], frame.position)
