"""Which points of the robot are at the ground, or may get there within a step: compiled loops over contact shapes."""

import math

import numpy as np

from rbd_ros.contact.compiled import compiled
from rbd_ros.contact.shapes import BALL, FIXED_POINTS

#: Points nearer to the ground than this after a step without forces are looked at more closely [m].
MARGIN = 1e-3

#: Angle between a cylinder's axis and the normal below which its caps count as parallel to the plane [rad].
FLAT = 1e-9


@compiled
def body_velocities(kinematics, parent, dof_first, tree_index, tree_ratio, v, velocities):
    """Spatial velocity of every body in base coordinates, from parents to children.

    :param kinematics: output of the kernel contact_kinematics
    :param parent: number of each body's parent, (N + 1,)
    :param dof_first: first degree of freedom of the tree of each body, one more at the end, (N + 2,)
    :param v: velocity, (nv,)
    :param velocities: the result, (N + 1, 6) [rad/s, m/s]
    """
    columns = 12 * len(parent)
    velocities[0, :] = 0.0
    for i in range(1, len(parent)):
        velocities[i, :] = velocities[parent[i], :]
        for k in range(dof_first[i], dof_first[i + 1]):
            speed = tree_ratio[k] * v[tree_index[k]]
            for r in range(6):
                velocities[i, r] += kinematics[columns + 6 * k + r] * speed


@compiled
def place(kinematics, body, local, point):
    """Position in base coordinates of a point given in those of a body, (3,)."""
    at = 12 * body
    for r in range(3):
        point[r] = (kinematics[at + 9 + r] + kinematics[at + 3 * r] * local[0]
                    + kinematics[at + 3 * r + 1] * local[1] + kinematics[at + 3 * r + 2] * local[2])


@compiled
def turn(kinematics, body, local, direction):
    """Direction in base coordinates of one given in those of a body, (3,)."""
    at = 12 * body
    for r in range(3):
        direction[r] = (kinematics[at + 3 * r] * local[0] + kinematics[at + 3 * r + 1] * local[1]
                        + kinematics[at + 3 * r + 2] * local[2])


@compiled
def dot(a, b):
    """Scalar product of two vectors, (3,)."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@compiled
def point_rate(velocity, point, direction):
    """Velocity along a direction of the point of a body with this spatial velocity [m/s]."""
    return (direction[0] * (velocity[3] + velocity[1] * point[2] - velocity[2] * point[1])
            + direction[1] * (velocity[4] + velocity[2] * point[0] - velocity[0] * point[2])
            + direction[2] * (velocity[5] + velocity[0] * point[1] - velocity[1] * point[0]))


@compiled
def rim_point(centre, axis, first, second, normal, size, number, point):
    """Contact point of a cylinder: number 0 to 3 on the rim at +axis, 4 to 7 on the other.

    Number 0 (4) is the lowest point of the rim; the others follow at quarter turns. If the cap is parallel to the
    plane, the body's `first` normal to the axis takes the place of the direction down.
    """
    along = dot(axis, normal)
    down = np.empty(3)
    for r in range(3):
        down[r] = along * axis[r] - normal[r]
    length = math.sqrt(dot(down, down))
    if length > FLAT:
        for r in range(3):
            down[r] /= length
    else:
        for r in range(3):
            down[r] = first[r]
    side = np.empty(3)
    side[0] = axis[1] * down[2] - axis[2] * down[1]
    side[1] = axis[2] * down[0] - axis[0] * down[2]
    side[2] = axis[0] * down[1] - axis[1] * down[0]
    quarter = number % 4
    sign = 1.0 if quarter < 2 else -1.0
    half = size[1] if number < 4 else -size[1]
    for r in range(3):
        radial = down[r] if quarter % 2 == 0 else side[r]
        point[r] = centre[r] + half * axis[r] + sign * size[0] * radial


@compiled
def contact_point(shapes, shape, number, kinematics, normal, point):
    """Position of one contact point in base coordinates, (3,) [m].

    :param shape: number of the shape
    :param number: number of the point among those of all shapes
    """
    body = shapes.body[shape]
    if shapes.kind[shape] == FIXED_POINTS:
        place(kinematics, body, shapes.points[number], point)
        return
    place(kinematics, body, shapes.centre[shape], point)
    if shapes.kind[shape] == BALL:
        for r in range(3):
            point[r] -= shapes.size[shape, 0] * normal[r]
        return
    axes = np.empty((3, 3))
    for r in range(3):
        turn(kinematics, body, shapes.axes[shape, r], axes[r])
    centre = point.copy()
    rim_point(centre, axes[0], axes[1], axes[2], normal, shapes.size[shape], number - shapes.first[shape], point)


@compiled
def near_ground(shapes, kinematics, velocities, plane, offset, timestep, found_point, found_shape, position, gap):
    """Contact points that touch the ground or may reach it within the step.

    :param shapes: shapes of the robot
    :param kinematics: output of the kernel contact_kinematics
    :param velocities: spatial velocities of the bodies in base coordinates, (N + 1, 6)
    :param plane: normal and tangents, (3, 3)
    :param offset: distance of the plane from the origin [m]
    :param found_point: numbers of the points found; a result, (C,)
    :param found_shape: their shapes; a result, (C,)
    :param position: their positions; a result, (C, 3) [m]
    :param gap: their heights above the plane; a result, (C,) [m]
    :return: how many were found, and how many of them had no room
    """
    normal = plane[0]
    count, dropped = 0, 0
    point = np.empty(3)
    for s in range(len(shapes.kind)):
        body = shapes.body[s]
        velocity = velocities[body]
        place(kinematics, body, shapes.centre[s], point)
        turning = math.sqrt(dot(velocity, velocity))
        fall = max(0.0, turning * shapes.reach[s] - point_rate(velocity, point, normal))
        if dot(normal, point) - offset - shapes.reach[s] > MARGIN + 1.5 * timestep * fall:
            continue
        for number in range(shapes.first[s], shapes.first[s + 1]):
            contact_point(shapes, s, number, kinematics, normal, point)
            height = dot(normal, point) - offset
            fall = max(0.0, -point_rate(velocity, point, normal))
            if height > MARGIN + 1.5 * timestep * fall:
                continue
            if count == len(found_point):
                dropped += 1
                continue
            found_point[count] = number
            found_shape[count] = s
            position[count, :] = point
            gap[count] = height
            count += 1
    return count, dropped


@compiled
def contact_jacobian(kinematics, body_count, support, first, last, tree_index, tree_ratio, point, plane, J):
    """Velocity of a point of a body along the normal and the tangents, as a matrix times v, (3, nv).

    :param body_count: number of bodies with the base
    :param support: degrees of freedom of the tree that move each body, one body after another
    :param first: where those of the body begin in `support`
    :param last: where they end
    :param J: the result, (3, nv)
    """
    J[:, :] = 0.0
    for at in range(first, last):
        k = support[at]
        column = kinematics[12 * body_count + 6 * k:12 * body_count + 6 * k + 6]
        for r in range(3):
            J[r, tree_index[k]] += tree_ratio[k] * point_rate(column, point, plane[r])
