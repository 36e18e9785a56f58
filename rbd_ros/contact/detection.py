# SPDX-License-Identifier: Apache-2.0
"""Collision detection: contact points at the ground, or that may get there within a step.

What the shapes of a robot are made into is in shapes.py.
"""

from __future__ import annotations

import math
from typing import NamedTuple, Tuple

from rbd_ros.compiler.loops import compiled, stack_array
from rbd_ros.contact.contact_arrays import FloatArray, IntArray

#: Kinds of shapes.
FIXED_POINTS, SPHERE, RIMS = 0, 1, 2

#: Height that a point may have after a step without forces, and still count as one that may touch
#: the ground [m]. A point too many costs a row of the solver, one too few a step of penetration.
MARGIN = 1e-3

#: Angle between a cylinder's axis and the normal below which its caps count as parallel to the
#: plane [rad]: the direction of the lowest point of a rim would be made of rounding errors.
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
def body_velocities(
    columns: FloatArray,
    parent: IntArray,
    dof_first: IntArray,
    tree_index: IntArray,
    tree_ratio: FloatArray,
    v: FloatArray,
    velocities: FloatArray,
) -> None:
    """Compute the spatial velocity of every body in base coordinates, from parents to children.

    :param columns: motion columns of the tree in base coordinates, (tree_nv, 6)
    :param parent: number of each body's parent, (N + 1,)
    :param dof_first: first degree of freedom of the tree of each body, and one past the last
        one's, (N + 2,)
    :param tree_index: independent degree of freedom behind each one of the tree, (tree_nv,)
    :param tree_ratio: transmission ratio of each one of the tree, (tree_nv,)
    :param v: velocity, (nv,) [rad/s, m/s]
    :param velocities: the result, (N + 1, 6) [rad/s, m/s]
    """
    # In base coordinates, a velocity needs no transform from body to body: it simply adds up.
    for i in range(1, len(parent)):
        for r in range(6):
            velocities[i, r] = velocities[parent[i], r]
        for k in range(dof_first[i], dof_first[i + 1]):
            speed = tree_ratio[k] * v[tree_index[k]]
            for r in range(6):
                velocities[i, r] += columns[k, r] * speed


@compiled
def direction_in_base(pose: FloatArray, local: FloatArray, direction: FloatArray) -> None:
    """Compute the direction in base coordinates of one given in those of a body, (3,).

    :param pose: rotation of the body row by row, and its position, (12,)
    :param local: the direction in body coordinates, (3,)
    :param direction: the result, (3,)
    """
    for r in range(3):
        direction[r] = (
            pose[3 * r] * local[0] + pose[3 * r + 1] * local[1] + pose[3 * r + 2] * local[2]
        )


@compiled
def point_in_base(pose: FloatArray, local: FloatArray, point: FloatArray) -> None:
    """Compute the position in base coordinates of a point given in those of a body, (3,) [m].

    :param pose: rotation of the body row by row, and its position, (12,)
    :param local: the point in body coordinates, (3,) [m]
    :param point: the result, (3,) [m]
    """
    direction_in_base(pose, local, point)
    for r in range(3):
        point[r] += pose[9 + r]


@compiled
def dot(a: FloatArray, b: FloatArray) -> float:
    """Return the scalar product of the first three components of two vectors."""
    product: float = a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    return product


@compiled
def point_rate(velocity: FloatArray, point: FloatArray, direction: FloatArray) -> float:
    """Return the velocity along a direction of a point of a body: n . (v + w x p) [m/s].

    :param velocity: spatial velocity [w; v] of the body in base coordinates, (6,) [rad/s, m/s]
    :param point: the point in base coordinates, (3,) [m]
    :param direction: unit vector n, (3,)
    """
    rate: float = (
        direction[0] * (velocity[3] + velocity[1] * point[2] - velocity[2] * point[1])
        + direction[1] * (velocity[4] + velocity[2] * point[0] - velocity[0] * point[2])
        + direction[2] * (velocity[5] + velocity[0] * point[1] - velocity[1] * point[0])
    )
    return rate


@compiled
def add_rim(
    axis: FloatArray,
    first: FloatArray,
    normal: FloatArray,
    size: FloatArray,
    number: int,
    point: FloatArray,
) -> None:
    """Move a point from the center of a cylinder to one of its contact points.

    Numbers 0 to 3 are on one rim, 4 to 7 on the other. Number 0 (4) is the lowest point of its
    rim; the others follow at quarter turns. If the caps are parallel to the plane, `first` takes
    the place of the direction down.

    :param axis: axis of the cylinder in base coordinates, (3,)
    :param first: a normal to the axis that is fixed to the body, (3,)
    :param normal: normal of the plane, (3,)
    :param size: radius and half length [m]
    :param number: number of the contact point
    :param point: the center, moved to the contact point, (3,) [m]
    """
    # The lowest point, exact in every pose, lets a cylinder roll without a bump; the points at
    # quarter turns are what one that stands on its cap is supported by.
    # Straight down, less what of it is along the axis: the lowest point of a rim is that way.
    along = dot(axis, normal)
    down = stack_array(3)
    for r in range(3):
        down[r] = along * axis[r] - normal[r]
    length = math.sqrt(dot(down, down))
    quarter = number % 4
    sign = size[0] if quarter < 2 else -size[0]
    half = size[1] if number < 4 else -size[1]
    for r in range(3):
        down[r] = down[r] / length if length > FLAT else first[r]
    for r in range(3):
        s, t = (r + 1) % 3, (r + 2) % 3
        # A quarter turn further: axis x down.
        radial = down[r] if quarter % 2 == 0 else axis[s] * down[t] - axis[t] * down[s]
        point[r] += half * axis[r] + sign * radial


@compiled
def contact_point(
    shapes: ContactShapes,
    shape: int,
    number: int,
    poses: FloatArray,
    normal: FloatArray,
    point: FloatArray,
) -> None:
    """Compute the position of one contact point in base coordinates, (3,) [m].

    :param shapes: shapes of the robot
    :param shape: number of the shape
    :param number: number of the point among those of all shapes
    :param poses: rotation row by row and position of the bodies, (N + 1, 12)
    :param normal: normal of the plane, (3,)
    :param point: the result, (3,) [m]
    """
    pose = poses[shapes.body[shape]]
    if shapes.kind[shape] == FIXED_POINTS:
        point_in_base(pose, shapes.points[number], point)
        return
    point_in_base(pose, shapes.center[shape], point)
    if shapes.kind[shape] == SPHERE:
        # The point slides over the surface of the sphere, which rolls without a bump.
        for r in range(3):
            point[r] -= shapes.size[shape, 0] * normal[r]
        return
    axis, first = stack_array(3), stack_array(3)
    direction_in_base(pose, shapes.axes[shape, 0], axis)
    direction_in_base(pose, shapes.axes[shape, 1], first)
    add_rim(axis, first, normal, shapes.size[shape], number - shapes.first[shape], point)


@compiled
def near_ground(
    shapes: ContactShapes,
    poses: FloatArray,
    velocities: FloatArray,
    plane: FloatArray,
    offset: float,
    timestep: float,
    found_point: IntArray,
    found_shape: IntArray,
    position: FloatArray,
    gap: FloatArray,
) -> Tuple[int, int]:
    """Return the contact points that touch the ground or may reach it within the step.

    :param shapes: shapes of the robot
    :param poses: rotation and position of the bodies, (N + 1, 12)
    :param velocities: spatial velocities of the bodies in base coordinates, (N + 1, 6)
    :param plane: normal and tangents, (3, 3)
    :param offset: distance of the plane from the origin [m]
    :param timestep: h [s]
    :param found_point: numbers of the points found; a result, (C,)
    :param found_shape: their shapes; a result, (C,)
    :param position: their positions; a result, (C, 3) [m]
    :param gap: their heights above the plane; a result, (C,) [m]
    :return: how many were found, and how many of them had no room
    """
    normal = plane[0]
    count, dropped = 0, 0
    point, height, rate = stack_array(3), stack_array(4), stack_array(4)
    for s in range(len(shapes.kind)):
        body = shapes.body[s]
        point_in_base(poses[body], shapes.center[s], point)
        # Angular speed: `dot` takes the first three components. No point of the bounding sphere
        # falls faster than its center does, plus that times the radius.
        turning = math.sqrt(dot(velocities[body], velocities[body]))
        # The bounding sphere first: most shapes of a robot are far from the ground.
        fall = max(0.0, turning * shapes.reach[s] - point_rate(velocities[body], point, normal))
        lowest = dot(normal, point) - offset - shapes.reach[s]
        # Half a step more than the velocity says, for forces that pull it down in the meantime.
        if lowest > MARGIN + 1.5 * timestep * fall:
            continue
        # Once for each shape: after it, a point costs two scalar products.
        height_functions(poses[body], velocities[body], normal, offset, height, rate)
        for number in range(shapes.first[s], shapes.first[s + 1]):
            if shapes.kind[s] == FIXED_POINTS:
                # A mesh has hundreds of points: six multiplications decide about most of them.
                local = shapes.points[number]
                h = height[3] + dot(height, local)
                r = rate[3] + dot(rate, local)
                # Left out is what is high now and still is at the end of the step.
                if h > MARGIN and h + 1.5 * timestep * r > MARGIN:
                    continue
            contact_point(shapes, s, number, poses, normal, point)
            h = dot(normal, point) - offset
            r = point_rate(velocities[body], point, normal)
            if h > MARGIN and h + 1.5 * timestep * r > MARGIN:
                continue
            if count == len(found_point):
                dropped += 1  # counted and reported: without such points, forces are too small
                continue
            found_point[count] = number
            found_shape[count] = s
            for k in range(3):
                position[count, k] = point[k]
            gap[count] = h
            count += 1
    return count, dropped


@compiled
def height_functions(
    pose: FloatArray,
    velocity: FloatArray,
    normal: FloatArray,
    offset: float,
    height: FloatArray,
    rate: FloatArray,
) -> None:
    """Compute the height of a body's point above the plane, and its rate, as linear functions.

    They are functions of the point.

    For a point x in body coordinates: height[3] + height[:3] . x and rate[3] + rate[:3] . x.

    :param pose: rotation of the body row by row, and its position, (12,)
    :param velocity: spatial velocity of the body in base coordinates, (6,) [rad/s, m/s]
    :param normal: normal of the plane, (3,)
    :param offset: distance of the plane from the origin [m]
    :param height: the result, (4,) [1, m]
    :param rate: the result, (4,) [1/s, m/s]
    """
    height[3], rate[3] = -offset, 0.0
    for k in range(3):
        s, t = (k + 1) % 3, (k + 2) % 3
        turning = normal[s] * velocity[t] - normal[t] * velocity[s]  # n . (w x p) = p . (n x w)
        height[3] += normal[k] * pose[9 + k]
        rate[3] += normal[k] * velocity[3 + k] + turning * pose[9 + k]
        height[k] = rate[k] = 0.0
    for k in range(3):
        s, t = (k + 1) % 3, (k + 2) % 3
        turning = normal[s] * velocity[t] - normal[t] * velocity[s]
        for j in range(3):
            height[j] += pose[3 * k + j] * normal[k]
            rate[j] += pose[3 * k + j] * turning


@compiled
def contact_jacobian(
    columns: FloatArray,
    support: IntArray,
    first: int,
    last: int,
    tree_index: IntArray,
    tree_ratio: FloatArray,
    point: FloatArray,
    plane: FloatArray,
    J: FloatArray,
) -> None:
    """Compute the Jacobian of the velocity of a contact point along normal and tangents, (3, nv).

    :param columns: motion columns of the tree in base coordinates, (tree_nv, 6)
    :param support: degrees of freedom of the tree that move each body, one body after another
    :param first: where those of the body begin in `support`
    :param last: where they end
    :param tree_index: independent degree of freedom behind each one of the tree, (tree_nv,)
    :param tree_ratio: transmission ratio of each one of the tree, (tree_nv,)
    :param point: the contact point in base coordinates, (3,) [m]
    :param plane: normal and tangents, (3, 3)
    :param J: the result, (3, nv)
    """
    for r in range(3):
        for i in range(J.shape[1]):
            J[r, i] = 0.0
    # Added to, not set: with gears, several joints of the tree move with one degree of freedom.
    for at in range(first, last):
        k = support[at]
        for r in range(3):
            J[r, tree_index[k]] += tree_ratio[k] * point_rate(columns[k], point, plane[r])
