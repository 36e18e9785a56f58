# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Bounds on the speeds and distances of shapes: pairs that may touch within a step."""

from __future__ import annotations

import math
from typing import Tuple

from rbd_ros.array_types import FloatArray
from rbd_ros.collision.arrays import (
    HEIGHT_FIELD,
    PLANE,
)
from rbd_ros.collision.scene.scene_arrays import SceneBuffers, SceneTable
from rbd_ros.collision.vectors import axis, origin, store_pose
from rbd_ros.compiler.loops import compiled, cross, load_transform, load_vec, norm, Vec3

#: Gap after a step without forces up to which a contact may close [m]. A contact too many costs
#: three rows of the solver, one too few a step of penetration.
MARGIN = 2e-4


@compiled
def compose(pose: FloatArray, placement: FloatArray, result: FloatArray) -> None:
    """Compute the world pose of a pose relative to a frame.

    :param pose: rotation of the frame row by row, and its position, (12,)
    :param placement: rotation and position in that frame, (12,)
    :param result: rotation and position, (12,)
    """
    store_pose(load_transform(pose) @ load_transform(placement), result)


@compiled
def velocity_at(v: FloatArray, point: Vec3) -> Vec3:
    """Return the velocity of a point of a body [m/s].

    :param v: its spatial velocity in world coordinates, that of the point at the world's origin,
        (6,) [rad/s, m/s]
    """
    return load_vec(v, 3, 3) + cross(load_vec(v, 3), point)


@compiled
def speed_at_origin(v: FloatArray, pose: FloatArray) -> float:
    """Return the speed of the origin of a body [m/s].

    :param v: its spatial velocity in world coordinates, (6,) [rad/s, m/s]
    :param pose: its pose, (12,)
    """
    return norm(velocity_at(v, origin(pose)))


@compiled
def angular_speed(v: FloatArray) -> float:
    """Return the angular speed [rad/s] of a spatial velocity, (6,)."""
    return norm(load_vec(v, 3))


@compiled
def bound_speeds(scene: SceneTable, buffers: SceneBuffers) -> float:
    """Compute the speeds of bodies, and forget the poses of shapes.

    :return: a bound on the speed of any point of them [m/s]
    """
    fastest = 0.0
    for body in range(len(buffers.pose)):
        v, pose = buffers.velocity[body], buffers.pose[body]
        speed, turning = speed_at_origin(v, pose), angular_speed(v)
        if buffers.search[0] > 0:
            ahead = buffers.ahead[body]
            speed = max(buffers.speed[body], speed_at_origin(ahead, pose))
            turning = max(buffers.angular_speed[body], angular_speed(ahead))
        buffers.speed[body], buffers.angular_speed[body] = speed, turning
        fastest = max(fastest, speed + turning * scene.body_arm[body])
    for g in range(len(buffers.placed)):
        buffers.placed[g] = 0
    return fastest


@compiled
def speed_of(scene: SceneTable, buffers: SceneBuffers, g: int) -> float:
    """Bound on the speed of any point of a shape [m/s]."""
    body = scene.body_id[g]
    bound: float = buffers.speed[body] + buffers.angular_speed[body] * scene.arm[g]
    return bound


@compiled
def relative_speeds(v: FloatArray, w: FloatArray, pose: FloatArray) -> Tuple[float, float]:
    """Return the speed of a body's origin and its angular speed, relative to another body.

    :param v: spatial velocity of the other body in world coordinates, (6,) [rad/s, m/s]
    :param w: that of the body, (6,) [rad/s, m/s]
    :param pose: pose of the body, (12,)
    """
    center = origin(pose)
    speed = norm(velocity_at(w, center) - velocity_at(v, center))
    return speed, norm(load_vec(w, 3) - load_vec(v, 3))


@compiled
def closing_speed(scene: SceneTable, buffers: SceneBuffers, a: int, b: int) -> float:
    """Bound on the rate at which two shapes approach each other by their velocities [m/s].

    It is the speed of one relative to the other: less than both speeds for shapes that move
    together, as links of a walking robot.
    """
    # A plane is infinite, so the other shape is the moving one.
    g = a if scene.kind[b] == PLANE else b
    k = scene.body_id[g]
    v, w, pose = buffers.velocity[scene.body_id[a + b - g]], buffers.velocity[k], buffers.pose[k]
    speed, turning = relative_speeds(v, w, pose)
    return speed + turning * scene.arm[g]


@compiled
def has_sped_up(scene: SceneTable, buffers: SceneBuffers, timestep: float) -> bool:
    """Return whether shapes may reach more contacts at the velocities `ahead` than were tested.

    :param timestep: h [s]
    """
    # In most steps nothing has: decided without roots, by (a + b)^2 <= 2 a^2 + 2 b^2.
    most = 0.0
    for body in range(len(buffers.pose)):
        v, w, at = buffers.velocity[body], buffers.ahead[body], buffers.pose[body]
        arm, center = scene.body_arm[body], origin(at)
        rate, turn = (
            velocity_at(w, center) - velocity_at(v, center),
            load_vec(w, 3) - load_vec(v, 3),
        )
        total = rate @ rate + arm * arm * (turn @ turn)
        most = max(most, total)
    if 8.0 * timestep * timestep * most <= MARGIN * MARGIN:
        return False
    first, second = 0.0, 0.0
    for body in range(len(buffers.pose)):
        speed, turning = relative_speeds(
            buffers.velocity[body], buffers.ahead[body], buffers.pose[body]
        )
        speed += turning * scene.body_arm[body]
        second = max(second, min(first, speed))
        first = max(first, speed)
    # For two that approach each other; infinite shapes do not decide.
    return MARGIN < timestep * (first + second) < math.inf


@compiled
def approach(v: FloatArray, w: FloatArray, position: Vec3, normal: Vec3) -> float:
    """Return the rate of the gap at a point [m/s].

    :param v: spatial velocity of the body of the first shape in world coordinates, (6,)
    :param w: that of the second one's, (6,)
    :param position: the point [m]
    :param normal: unit normal from the first to the second
    """
    return normal @ (velocity_at(w, position) - velocity_at(v, position))


@compiled
def place_shape(scene: SceneTable, buffers: SceneBuffers, g: int) -> None:
    """Compute the pose of a shape, once per step."""
    if buffers.placed[g] == 0:
        buffers.placed[g] = 1
        compose(buffers.pose[scene.body_id[g]], scene.placement[g], buffers.shape_pose[g])


@compiled
def between_centers(scene: SceneTable, a: int, b: int, p: FloatArray, q: FloatArray) -> float:
    """Return the squared distance of the centers of two bounding spheres [m^2].

    For a height field, whose solid is infinite below, its center is replaced by the point below it
    nearest to the other shape.

    :param a: one shape
    :param b: the other one
    :param p: pose of the first, (12,)
    :param q: pose of the other one, (12,)
    """
    offset, below = origin(q) - origin(p), 0.0
    if scene.kind[b] == HEIGHT_FIELD:
        below = max(0.0, axis(q, 2) @ offset)
    if scene.kind[a] == HEIGHT_FIELD:
        below = max(0.0, -(axis(p, 2) @ offset))
    return max(0.0, offset @ offset - below * below)


@compiled
def clearance(scene: SceneTable, buffers: SceneBuffers, a: int, b: int) -> float:
    """Return the distance of the bounding spheres of two shapes; negative if they overlap [m].

    :param a: one shape
    :param b: the other one
    """
    p, q = buffers.shape_pose[a], buffers.shape_pose[b]
    if scene.kind[a] == PLANE:
        return axis(p, 2) @ (origin(q) - origin(p)) - scene.reach[b]
    if scene.kind[b] == PLANE:
        return axis(q, 2) @ (origin(p) - origin(q)) - scene.reach[a]
    return math.sqrt(between_centers(scene, a, b, p, q)) - scene.reach[a] - scene.reach[b]
