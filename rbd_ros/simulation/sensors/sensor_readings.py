# SPDX-License-Identifier: Apache-2.0
"""Readings of sensors on the robot after a step, in machine code.

See sensors.py for their meaning.

A step has a mean acceleration; what bodies transmit for it follows by the Newton-Euler
algorithm (book 5.3) where the step takes its forces, at its beginning or, with integrators that
look at the middle, there. What the world does to links that are beyond a sensor is not transmitted
by it, and taken off.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from rbd_ros.collision.scene.scene_bounds import compose
from rbd_ros.compiler.loops import (
    call_kernel,
    compiled,
    entry_point,
    floats,
    stack_array,
    view,
)
from rbd_ros.contact.contact_arrays import FloatArray, IntArray
from rbd_ros.contact.detection import body_velocities
from rbd_ros.simulation.records.simulation_model import SimulationModel
from rbd_ros.simulation.records.simulation_state import NEAR, State, STEPS
from rbd_ros.simulation.records.workspace import PhysicsRecord
from rbd_ros.simulation.scene.scene_state import NOW
from rbd_ros.simulation.stepping.linear import clear, copy


class SensorPlaces(NamedTuple):
    """Places of the sensors, constants.

    Sensors of inertia first; then gauges, joints of which it is known what they transmit. Poses
    are rotation row by row and position.

    :param has_gauges: whether there are gauges
    :param midpoint: whether the step takes its forces in the middle
    :param kinematics: address of the kernel contact_kinematics
    :param reactions: address of the kernel joint_reactions of the cut model, 0 without gauges
    :param body: body of each sensor of inertia, (I,)
    :param pose: pose of each in its body, (I, 12)
    :param cut_body: body of the cut model beyond each gauge, (G,)
    :param gauge_body: body of the robot that it is part of, (G,)
    :param gauge_pose: pose of the gauge in that, (G, 12)
    :param column: degree of freedom of the tree along which torque is asked for, -1: none, (G,)
    :param link_beyond: 1 for links of the robot that are beyond each gauge, (G, links)
    :param ground_beyond: likewise for shapes that touch a compliant ground, (G, shapes)
    :param scene_beyond: likewise for shapes in a world, (G, shapes)
    :param gravity: acceleration of gravity, (3,) [m/s^2]
    """

    has_gauges: bool
    midpoint: bool
    kinematics: int
    reactions: int
    body: IntArray
    pose: FloatArray
    cut_body: IntArray
    gauge_body: IntArray
    gauge_pose: FloatArray
    column: IntArray
    link_beyond: IntArray
    ground_beyond: IntArray
    scene_beyond: IntArray
    gravity: FloatArray


class SensorBuffers(NamedTuple):
    """Readings of the sensors, and buffers for finding them.

    :param rotation: of each sensor of inertia, from its axes to those of the world, row by row
    :param orientation: the same as quaternion w, x, y, z
    :param angular_velocity: in its axes [rad/s]
    :param acceleration: proper acceleration in its axes [m/s^2]
    :param wrench: moment and force of each gauge, in its axes, about its origin [N m, N]
    :param torque: what each gauge transmits along its degree of freedom [N m, N]
    :param given: inputs of kernels one after another
    :param q: of it, configuration
    :param v: of it, velocity
    :param a: of it, acceleration
    :param found: outputs of the kernel contact_kinematics one after another
    :param poses: of it, rotation row by row and position of each body
    :param columns: of it, motion columns of the tree in base coordinates
    :param velocities: spatial velocities of the bodies in base coordinates
    :param speed: velocity of the origin of each sensor of inertia [m/s]
    :param reactions: what is transmitted to each body of the cut model [N m, N]
    :param moved: inputs of the kernel integrate one after another
    :param from_q: of it, where from
    :param displacement: of it, by what
    """

    rotation: FloatArray = floats('inertial', 9)
    orientation: FloatArray = floats('inertial', 4)
    angular_velocity: FloatArray = floats('inertial', 3)
    acceleration: FloatArray = floats('inertial', 3)
    wrench: FloatArray = floats('gauges', 6)
    torque: FloatArray = floats('gauges')
    given: FloatArray = view()
    q: FloatArray = floats('nq', within='given')
    v: FloatArray = floats('nv', within='given')
    a: FloatArray = floats('nv', within='given')
    found: FloatArray = view()
    poses: FloatArray = floats('bodies', 12, within='found')
    columns: FloatArray = floats('tree_nv', 6, within='found')
    velocities: FloatArray = floats('bodies', 6)
    speed: FloatArray = floats('inertial', 3)
    reactions: FloatArray = floats('cut_bodies', 6)
    moved: FloatArray = view()
    from_q: FloatArray = floats('nq', within='moved')
    displacement: FloatArray = floats('nv', within='moved')


@entry_point
def read_sensors(physics: PhysicsRecord, places: SensorPlaces, buffers: SensorBuffers) -> int:
    """Read all sensors after the last step; before the first one, those of a robot that is held.

    :return: number of steps taken so far
    """
    model, state = physics.model, physics.state
    steps: int = state.counters[STEPS]
    if len(places.body) > 0:
        read_inertia(model, state, places, buffers)
    if places.has_gauges:
        look_at_step(model, state, places, buffers)
        call_kernel(places.kinematics, buffers.given, buffers.found)
        call_kernel(places.reactions, buffers.given, buffers.reactions)
        total, pose = stack_array(6), stack_array(12)
        for g in range(len(places.cut_body)):
            compose(buffers.poses[places.gauge_body[g]], places.gauge_pose[g], pose)
            into_base(pose, buffers.reactions[places.cut_body[g]], total)
            if steps > 0:
                take_off_world(physics, places, g, total)
            from_base(pose, total, buffers.wrench[g])
            buffers.torque[g] = 0.0
            k = places.column[g]
            if k >= 0:
                for r in range(6):
                    buffers.torque[g] += buffers.columns[k, r] * total[r]
    return steps


@compiled
def read_inertia(
    model: SimulationModel, state: State, places: SensorPlaces, buffers: SensorBuffers
) -> None:
    """Read sensors of inertia: the mean acceleration of a step is how it changes the velocity."""
    resting = state.counters[STEPS] == 0
    if not resting:
        copy(state.start_q, buffers.q)
        copy(state.start_v, buffers.v)
        place_inertial(model, places, buffers)
        for s in range(len(places.body)):
            copy(buffers.speed[s], buffers.acceleration[s])
    copy(state.q, buffers.q)
    copy(state.v, buffers.v)
    place_inertial(model, places, buffers)
    change = stack_array(3)
    for s in range(len(places.body)):
        R, w = buffers.rotation[s], buffers.velocities[places.body[s]]
        to_quaternion(R, buffers.orientation[s])
        for r in range(3):
            change[r] = -places.gravity[r]
            if not resting:
                change[r] += (buffers.speed[s, r] - buffers.acceleration[s, r]) / model.timestep
        for r in range(3):
            buffers.angular_velocity[s, r] = R[r] * w[0] + R[3 + r] * w[1] + R[6 + r] * w[2]
            buffers.acceleration[s, r] = (
                R[r] * change[0] + R[3 + r] * change[1] + R[6 + r] * change[2]
            )


@compiled
def to_quaternion(R: FloatArray, quaternion: FloatArray) -> None:
    """Compute the unit quaternion w, x, y, z of a rotation, with its largest part positive.

    :param R: rotation matrix row by row, (9,)
    :param quaternion: the result, (4,)
    """
    # Four times the squares of its parts: from the largest, nothing cancels.
    trace, best = R[0] + R[4] + R[8], 0
    most = trace
    for k in range(3):
        if R[4 * k] > most:
            most, best = R[4 * k], k + 1
    if best == 0:
        quaternion[0] = 0.5 * math.sqrt(1.0 + trace)
        for r in range(3):
            i, j = (r + 1) % 3, (r + 2) % 3
            quaternion[1 + r] = (R[3 * j + i] - R[3 * i + j]) / (4.0 * quaternion[0])
    else:
        r = best - 1
        i, j = (r + 1) % 3, (r + 2) % 3
        half = 0.5 * math.sqrt(1.0 + R[4 * r] - R[4 * i] - R[4 * j])
        quaternion[0] = (R[3 * j + i] - R[3 * i + j]) / (4.0 * half)
        quaternion[1 + r] = half
        quaternion[1 + i] = (R[3 * i + r] + R[3 * r + i]) / (4.0 * half)
        quaternion[1 + j] = (R[3 * j + r] + R[3 * r + j]) / (4.0 * half)


@compiled
def place_inertial(model: SimulationModel, places: SensorPlaces, buffers: SensorBuffers) -> None:
    """Find rotations and velocities of the sensors of inertia at `q` and `v`."""
    tree, pose = model.tree, stack_array(12)
    call_kernel(places.kinematics, buffers.given, buffers.found)
    body_velocities(
        buffers.columns,
        tree.parent,
        tree.dof_first,
        tree.dof_index,
        tree.dof_ratio,
        buffers.v,
        buffers.velocities,
    )
    for s in range(len(places.body)):
        compose(buffers.poses[places.body[s]], places.pose[s], pose)
        v = buffers.velocities[places.body[s]]
        for r in range(9):
            buffers.rotation[s, r] = pose[r]
        for r in range(3):
            i, j = (r + 1) % 3, (r + 2) % 3
            buffers.speed[s, r] = v[3 + r] + v[i] * pose[9 + j] - v[j] * pose[9 + i]


@compiled
def look_at_step(
    model: SimulationModel, state: State, places: SensorPlaces, buffers: SensorBuffers
) -> None:
    """Find `q`, `v` and `a` of the last step, where it takes its forces."""
    if state.counters[STEPS] == 0:
        copy(state.q, buffers.q)
        copy(state.v, buffers.v)
        clear(buffers.a)
        return
    copy(state.start_q, buffers.q)
    copy(state.start_v, buffers.v)
    copy(state.acceleration, buffers.a)
    if places.midpoint:
        for i in range(len(buffers.v)):
            buffers.v[i] = 0.5 * (state.start_v[i] + state.v[i])
            buffers.displacement[i] = 0.5 * model.timestep * buffers.v[i]
        copy(state.start_q, buffers.from_q)
        call_kernel(model.integrate, buffers.moved, buffers.q)


@compiled
def take_off_world(
    physics: PhysicsRecord, places: SensorPlaces, g: int, total: FloatArray
) -> None:
    """Subtract what the world did in the last step to links that are beyond a gauge.

    :param g: number of the gauge
    :param total: what is transmitted, about the origin of the base, (6,) [N m, N]
    """
    model, state = physics.model, physics.state
    outer, force, moment = physics.external_forces, stack_array(3), stack_array(3)
    if model.has_external_forces:
        for w in range(len(outer.acted)):
            if outer.acted[w] == state.counters[STEPS] and outer.link[w] >= 0:
                if places.link_beyond[g, outer.link[w]] == 1:
                    for r in range(6):
                        total[r] -= outer.wrench[w, r]
    if model.has_ground:
        contacts, plane = physics.contacts, model.ground.plane
        for c in range(state.counters[NEAR]):
            if places.ground_beyond[g, contacts.shape[c]] == 1:
                along(plane, contacts.force[c], 1.0, force)
                subtract_force(total, contacts.position[c], force)
    if model.has_scene:
        contact_state, touching = physics.contact_state, physics.contact_state.contacts
        for c in range(contact_state.counts[NOW]):
            pair = model.scene.table.pair[touching.pair[c]]
            # What acts on the second acts the other way on the first; within, both cancel.
            sign = places.scene_beyond[g, pair[1]] - places.scene_beyond[g, pair[0]]
            if sign != 0:
                share = sign / model.timestep
                along(touching.frame[c], contact_state.impulse[c], share, force)
                subtract_force(total, touching.position[c], force)
                if model.scene.bounces:
                    along(touching.frame[c], contact_state.impact_impulse[c], share, force)
                    subtract_force(total, touching.position[c], force)
                if model.scene.has_friction_moments:
                    along(touching.frame[c], contact_state.moment[c], share, moment)
                    for r in range(3):
                        total[r] -= moment[r]
                    if model.scene.bounces:
                        along(touching.frame[c], contact_state.impact_moment[c], share, moment)
                        for r in range(3):
                            total[r] -= moment[r]


@compiled
def along(axes: FloatArray, parts: FloatArray, scale: float, result: FloatArray) -> None:
    """Compute the vector that has parts along axes.

    :param axes: the rows, (3, 3)
    :param parts: (3,)
    :param scale: factor
    :param result: (3,)
    """
    for r in range(3):
        result[r] = scale * (parts[0] * axes[0, r] + parts[1] * axes[1, r] + parts[2] * axes[2, r])


@compiled
def subtract_force(total: FloatArray, point: FloatArray, force: FloatArray) -> None:
    """Subtract a force that acts at a point from what acts about the origin."""
    for r in range(3):
        i, j = (r + 1) % 3, (r + 2) % 3
        total[r] -= point[i] * force[j] - point[j] * force[i]
        total[3 + r] -= force[r]


@compiled
def into_base(pose: FloatArray, local: FloatArray, total: FloatArray) -> None:
    """Compute the wrench about the origin of the base of one in the axes of a frame.

    :param pose: rotation of the frame row by row, and its position, (12,)
    :param local: moment and force, (6,)
    :param total: the result, (6,)
    """
    for r in range(3):
        total[r] = total[3 + r] = 0.0
        for k in range(3):
            total[r] += pose[3 * r + k] * local[k]
            total[3 + r] += pose[3 * r + k] * local[3 + k]
    for r in range(3):
        i, j = (r + 1) % 3, (r + 2) % 3
        total[r] += pose[9 + i] * total[3 + j] - pose[9 + j] * total[3 + i]


@compiled
def from_base(pose: FloatArray, total: FloatArray, local: FloatArray) -> None:
    """Compute the wrench in the axes of a frame of one about the origin of the base.

    Undoes `into_base`.
    """
    moment = stack_array(3)
    for r in range(3):
        i, j = (r + 1) % 3, (r + 2) % 3
        moment[r] = total[r] - pose[9 + i] * total[3 + j] + pose[9 + j] * total[3 + i]
    for r in range(3):
        local[r] = local[3 + r] = 0.0
        for k in range(3):
            local[r] += pose[3 * k + r] * moment[k]
            local[3 + r] += pose[3 * k + r] * total[3 + k]
