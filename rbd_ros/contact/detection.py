# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Collision detection: contact points at the ground, or that may reach it within a step.

shapes.py makes these shapes from those of a robot.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Tuple

from rbd_ros.array_types import FloatArray, IntArray
from rbd_ros.compiler.loops import (
    compiled,
    cross,
    load_transform,
    load_vec,
    norm,
    Vec3,
)

#: Kinds of shapes.
FIXED_POINTS, SPHERE, RIMS = 0, 1, 2

#: Height above the ground after a step without forces up to which a point counts as a possible
#: contact [m]. A point too many costs a row of the solver, one too few a step of penetration.
MARGIN = 1e-3

#: Angle between a cylinder's axis and the normal below which its caps count as parallel to the
#: plane [rad]: below, the direction of a rim's lowest point is a rounding error.
FLAT = 1e-9


class ContactShapes(NamedTuple):
    """Shapes as arrays for compiled loops, all in coordinates of the bodies that carry them.

    :param kind: FIXED_POINTS, SPHERE or RIMS (of a cylinder), (G,)
    :param body: number of the body, (G,)
    :param center: center of the shape and of its bounding sphere, (G, 3) [m]
    :param reach: radius of the bounding sphere, (G,) [m]
    :param first: number of the first contact point of each shape; one more at the end, (G + 1,)
    :param points: points of FIXED_POINTS; unused rows for the others, (P, 3) [m]
    :param size: radius, half length and nothing, (G, 3) [m]
    :param axes: rows are the axis of a cylinder and two normals to it, (G, 3, 3)
    """

    kind: IntArray
    body: IntArray
    center: FloatArray
    reach: FloatArray
    first: IntArray
    points: FloatArray
    size: FloatArray
    axes: FloatArray


@compiled
def body_velocities(tree: Any, columns: FloatArray, v: FloatArray, velocities: FloatArray) -> None:
    """Find the spatial velocity of every body in base coordinates, from parents to children.

    :param tree: kinematic tree, `Tree` of a simulation
    :param columns: motion columns of the tree in base coordinates, (tree_nv, 6)
    :param v: velocity, (nv,) [rad/s, m/s]
    :param velocities: the result, (N + 1, 6) [rad/s, m/s]
    """
    parent, first = tree.parent, tree.dof_first
    # In base coordinates, velocities add up without transforms.
    for i in range(1, len(parent)):
        for r in range(6):
            velocities[i, r] = velocities[parent[i], r]
        for k in range(first[i], first[i + 1]):
            speed = tree.dof_ratio[k] * v[tree.dof_index[k]]
            for r in range(6):
                velocities[i, r] += columns[k, r] * speed


@compiled
def point_rate(velocity: FloatArray, point: Vec3, direction: Vec3) -> float:
    """Return the velocity along a direction of a point of a body: n . (v + w x p) [m/s].

    :param velocity: spatial velocity [w; v] of the body in base coordinates, (6,) [rad/s, m/s]
    :param point: the point in base coordinates [m]
    :param direction: unit vector n
    """
    return direction @ (load_vec(velocity, 3, 3) + cross(load_vec(velocity, 3), point))


@compiled
def on_rim(axis: Vec3, first: Vec3, normal: Vec3, size: FloatArray, number: int) -> Vec3:
    """Return the vector from the center of a cylinder to one of its contact points [m].

    Numbers 0 to 3 are on one rim, 4 to 7 on the other. Number 0 (4) is the lowest point of its
    rim; the others follow at quarter turns. If the caps are parallel to the plane, `first`
    replaces the direction down.

    :param axis: axis of the cylinder in base coordinates
    :param first: a normal to the axis that is fixed to the body
    :param normal: normal of the plane
    :param size: radius and half length [m]
    :param number: number of the contact point
    """
    # The lowest point, exact in every pose, lets a cylinder roll without bumps; the points at
    # quarter turns support one that stands on its cap. The direction is straight down, without its
    # component along the axis.
    down = axis @ normal * axis - normal
    length = norm(down)
    down = down / length if length > FLAT else first
    quarter = number % 4
    # A quarter turn further: axis x down.
    radial = down if quarter % 2 == 0 else cross(axis, down)
    half: float = size[1] if number < 4 else -size[1]
    return half * axis + (size[0] if quarter < 2 else -size[0]) * radial


@compiled
def contact_point(
    shapes: ContactShapes, shape: int, number: int, poses: FloatArray, normal: Vec3
) -> Vec3:
    """Return the position of one contact point in base coordinates [m].

    :param shapes: shapes of the robot
    :param shape: number of the shape
    :param number: number of the point among those of all shapes
    :param poses: rotation row by row and position of the bodies, (N + 1, 12)
    :param normal: normal of the plane
    """
    pose = load_transform(poses[shapes.body[shape]])
    if shapes.kind[shape] == FIXED_POINTS:
        return pose @ load_vec(shapes.points[number], 3)
    center = pose @ load_vec(shapes.center[shape], 3)
    if shapes.kind[shape] == SPHERE:
        # The point slides over the surface of the sphere, which rolls without a bump.
        return center - normal * shapes.size[shape, 0]
    axis = pose.rotation @ load_vec(shapes.axes[shape, 0], 3)
    first = pose.rotation @ load_vec(shapes.axes[shape, 1], 3)
    return center + on_rim(axis, first, normal, shapes.size[shape], number - shapes.first[shape])


@compiled
def near_ground(
    shapes: ContactShapes,
    poses: FloatArray,
    velocities: FloatArray,
    plane: FloatArray,
    offset: float,
    timestep: float,
    found: Any,
) -> Tuple[int, int]:
    """Return the contact points that touch the ground or may reach it within the step.

    :param shapes: shapes of the robot
    :param poses: rotation and position of the bodies, (N + 1, 12)
    :param velocities: spatial velocities of the bodies in base coordinates, (N + 1, 6)
    :param plane: normal and tangents, (3, 3)
    :param offset: distance of the plane from the origin [m]
    :param timestep: h [s]
    :param found: record of the points found, a result: `point`, their numbers, `shape`, their
        shapes, `position` [m], and `gap`, their heights above the plane [m]
    :return: number of points found, and number of points that did not fit
    """
    normal = load_vec(plane[0], 3)
    count, dropped = 0, 0
    for s in range(len(shapes.kind)):
        body = shapes.body[s]
        velocity, center = velocities[body], load_vec(shapes.center[s], 3)
        # Heights above the plane and their rates are linear functions of the point in body
        # coordinates: n . (w x p) = p . (n x w).
        pose, turning = load_transform(poses[body]), load_vec(velocity, 3)
        up, turn = pose.rotation.T @ normal, pose.rotation.T @ cross(normal, turning)
        height = normal @ pose.position - offset
        rate = point_rate(velocity, pose.position, normal)
        # The bounding sphere first: most shapes are far from the ground. No point falls faster
        # than the center does, plus the angular speed times the radius.
        fall = max(0.0, norm(turning) * shapes.reach[s] - rate - turn @ center)
        # Half a step more, for forces that accelerate it downwards in the meantime.
        if height + up @ center - shapes.reach[s] > MARGIN + 1.5 * timestep * fall:
            continue
        for number in range(shapes.first[s], shapes.first[s + 1]):
            if shapes.kind[s] == FIXED_POINTS:
                # A mesh has hundreds of points: six multiplications reject most of them.
                local = load_vec(shapes.points[number], 3)
                h, r = height + up @ local, rate + turn @ local
                # Skip points that are high now and still at the end of the step.
                if h > MARGIN and h + 1.5 * timestep * r > MARGIN:
                    continue
            point = contact_point(shapes, s, number, poses, normal)
            h = normal @ point - offset
            r = point_rate(velocity, point, normal)
            if h > MARGIN and h + 1.5 * timestep * r > MARGIN:
                continue
            if count == len(found.point):
                dropped += 1  # counted and reported: without such points, forces are too small
                continue
            found.point[count], found.shape[count] = number, s
            found.position[count], found.gap[count] = point, h
            count += 1
    return count, dropped


@compiled
def contact_jacobian(
    columns: FloatArray, tree: Any, body: int, point: Vec3, plane: FloatArray, J: FloatArray
) -> None:
    """Compute the Jacobian of the velocity of a contact point along normal and tangents, (3, nv).

    :param columns: motion columns of the tree in base coordinates, (tree_nv, 6)
    :param tree: record of the tree: `support`, degrees of freedom that move each body, one body
        after another, `support_first`, where those of each body begin, `dof_index`, independent
        degree of freedom behind each one of the tree, and `dof_ratio`, its transmission ratio
    :param body: number of the body
    :param point: the contact point in base coordinates [m]
    :param plane: normal and tangents, (3, 3)
    :param J: the result, (3, nv)
    """
    for r in range(3):
        for i in range(J.shape[1]):
            J[r, i] = 0.0
    # Added to, not set: with gears, several joints of the tree move with one degree of freedom.
    for at in range(tree.support_first[body], tree.support_first[body + 1]):
        k = tree.support[at]
        for r in range(3):
            rate = point_rate(columns[k], point, load_vec(plane[r], 3))
            J[r, tree.dof_index[k]] += tree.dof_ratio[k] * rate
