# SPDX-License-Identifier: Apache-2.0
"""Movable objects: free rigid bodies beside the robot.

Their state is the angular momentum, not the angular velocity, so that it is conserved exactly
where nothing acts. Free flight is exact but for the rotation, which is that of the implicit
midpoint rule.
"""

from __future__ import annotations

import math

from rbd_ros.compiler.loops import (
    compiled,
    cross,
    load_transform,
    load_vec,
    stack_array,
    stack_matrix,
    Vec,
)
from rbd_ros.contact.contact_arrays import FloatArray
from rbd_ros.simulation.records.simulation_state import ExternalForces
from rbd_ros.simulation.scene.scene_state import FreeBodies, Objects, SceneModel, SceneWork
from rbd_ros.simulation.stepping.external_forces import present_part
from rbd_ros.simulation.stepping.linear import clear, is_finite

#: Maximum rotation of a free body in a part of a step [rad], and maximum number of parts.
MAX_ROTATION, MAX_PARTS = 0.25, 1000

#: Rounds in which the velocity in the middle of a part is found: each gains a digit and more, so
#: few are used. A turn that rounds change by less is found [rad].
MAX_ROUNDS, SMALL_TURN = 30, 1e-17


@compiled
def rotation_of(quaternion: FloatArray, R: FloatArray) -> None:
    """Compute the rotation matrix of a unit quaternion.

    :param quaternion: w first, (4,)
    :param R: the result, from body to world coordinates, (3, 3)
    """
    w, x, y, z = quaternion[0], quaternion[1], quaternion[2], quaternion[3]
    R[0, 0], R[0, 1], R[0, 2] = 1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)
    R[1, 0], R[1, 1], R[1, 2] = 2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)
    R[2, 0], R[2, 1], R[2, 2] = 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)


@compiled
def turn(quaternion: FloatArray, angle: FloatArray, result: FloatArray) -> None:
    """Compute the orientation after a rotation by a vector in world coordinates.

    :param quaternion: unit quaternion, w first, (4,)
    :param angle: axis times angle, (3,) [rad]
    :param result: unit quaternion, (4,)
    """
    size = angle[0] * angle[0] + angle[1] * angle[1] + angle[2] * angle[2]
    half = 0.5 * math.sqrt(size)
    # sin(x) / x, by its series where a quotient would lose digits
    part = 0.5 * math.sin(half) / half if half > 1e-3 else 0.5 - half * half / 12.0
    c, x, y, z = math.cos(half), part * angle[0], part * angle[1], part * angle[2]
    w, i, j, k = quaternion[0], quaternion[1], quaternion[2], quaternion[3]
    a = c * w - x * i - y * j - z * k
    b = c * i + x * w + y * k - z * j
    d = c * j - x * k + y * w + z * i
    e = c * k + x * j - y * i + z * w
    # Of a unit length again, so that rounding does not add up.
    length = math.sqrt(a * a + b * b + d * d + e * e)
    result[0], result[1], result[2], result[3] = a / length, b / length, d / length, e / length


@compiled
def rotational_mobility(
    inertia: FloatArray, R: FloatArray, inverse: FloatArray, cofactors: FloatArray
) -> None:
    """Compute the inverse of a rotational inertia in world coordinates.

    :param inertia: in body coordinates, symmetric and positive definite, (3, 3) [kg m^2]
    :param R: from body to world coordinates, (3, 3)
    :param inverse: the result, (3, 3)
    :param cofactors: buffer for cofactors of the inertia, (3, 3)
    """
    for r in range(3):
        s, t = (r + 1) % 3, (r + 2) % 3
        for c in range(3):
            u, v = (c + 1) % 3, (c + 2) % 3
            # Cramer's rule in body coordinates, where the inertia is constant; then R I^-1 R^T.
            cofactors[r, c] = inertia[s, u] * inertia[t, v] - inertia[s, v] * inertia[t, u]
    determinant = 0.0
    for c in range(3):
        determinant += inertia[0, c] * cofactors[0, c]
    by, part = 1.0 / determinant, stack_array(3)
    for r in range(3):
        for t in range(3):
            part[t] = by * (
                R[r, 0] * cofactors[0, t] + R[r, 1] * cofactors[1, t] + R[r, 2] * cofactors[2, t]
            )
        for c in range(r, 3):
            total = part[0] * R[c, 0] + part[1] * R[c, 1] + part[2] * R[c, 2]
            # Exactly symmetric, as position correction and contact responses read rows for
            # columns.
            inverse[r, c] = inverse[c, r] = total


@compiled
def multiply(A: FloatArray, x: FloatArray, y: FloatArray) -> None:
    """Find y = A x, of three dimensions."""
    for r in range(3):
        y[r] = A[r, 0] * x[0] + A[r, 1] * x[1] + A[r, 2] * x[2]


@compiled
def find_twist(objects: Objects, work: SceneWork, o: int, twist: FloatArray) -> None:
    """Compute the spatial velocity of an object in world coordinates from its state.

    :param o: number of the object
    :param twist: the result, (6,) [rad/s, m/s]
    """
    turning, x = work.angular_velocity[o], objects.position[o]
    for r in range(3):
        s, t = (r + 1) % 3, (r + 2) % 3
        twist[r] = turning[r]
        # Of the point of the body at the origin of the world: v + x cross w.
        twist[3 + r] = objects.velocity[o, r] + x[s] * turning[t] - x[t] * turning[s]


@compiled
def place_objects(model: SceneModel, objects: Objects, work: SceneWork) -> None:
    """Find poses and velocities of the objects, and what impulses do to them."""
    R, cofactors = stack_matrix(3, 3), stack_matrix(3, 3)
    bodies = model.bodies
    for r in range(3):
        work.buffers.pose[0, 4 * r] = 1.0  # the world itself
    for o in range(len(bodies.mass)):
        pose, x = work.buffers.pose[model.first_object + o], objects.position[o]
        rotation_of(objects.quaternion[o], R)
        rotational_mobility(bodies.inertia[o], R, work.mobility[o], cofactors)
        multiply(work.mobility[o], objects.angular_momentum[o], work.angular_velocity[o])
        for r in range(3):
            pose[9 + r] = x[r]
            for s in range(3):
                pose[3 * r + s] = R[r, s]
                # States are of the center of mass, poses of the object's own frame.
                pose[9 + r] -= R[r, s] * bodies.center[o, s]
        find_twist(objects, work, o, work.buffers.velocity[model.first_object + o])


@compiled
def find_wrenches(
    model: SceneModel, external_forces: ExternalForces, objects: Objects, work: SceneWork
) -> None:
    """Find what external forces do to the objects."""
    use = external_forces.use
    for o in range(len(objects.position)):
        clear(work.wrench[o])
    for w in range(len(use)):
        o = use[w, 0] - model.first_object
        if use[w, 2] == 0 or o < 0:
            continue
        moment = load_vec(external_forces.moment[w], 3)
        force, into = load_vec(external_forces.force[w], 3), work.wrench[o]
        part, point = present_part(external_forces, w), Vec(0.0, 0.0, 0.0)
        if use[w, 1] == 1:
            local = load_vec(external_forces.point[w], 3)
            point = load_transform(work.buffers.pose[use[w, 0]]) @ local
        # Arm of the force from the center of mass: its moment is taken about that.
        arm = point - load_vec(objects.position[o], 3)
        into[0:3] = load_vec(into, 3) + part * (moment + cross(arm, force))
        into[3:6] = load_vec(into, 3, 3) + part * force


@compiled
def accelerate_objects(bodies: FreeBodies, objects: Objects, work: SceneWork, h: float) -> None:
    """Change velocities and angular momenta by gravity and outside forces.

    :param h: time step [s]
    """
    for o in range(len(bodies.mass)):
        work.in_contact[o] = 0
        for r in range(3):
            work.start_velocity[o, r] = objects.velocity[o, r]
            # dL/dt is the moment about the center of mass, without gyroscopic terms: these are in
            # the rotation.
            objects.angular_momentum[o, r] += h * work.wrench[o, r]
            force = work.wrench[o, 3 + r] / bodies.mass[o]
            objects.velocity[o, r] += h * (bodies.gravity[r] + force)
        multiply(work.mobility[o], objects.angular_momentum[o], work.angular_velocity[o])


@compiled
def move_objects(bodies: FreeBodies, objects: Objects, work: SceneWork, h: float) -> None:
    """Move the objects to the end of the step.

    What nothing presses on moves with the mean velocity of the step, on an exact parabola. What
    is in contact moves with that of the end, which is the one that contact allows.

    :param h: time step [s]
    """
    angle, turned = stack_array(3), stack_array(4)
    for o in range(len(bodies.mass)):
        in_contact = work.in_contact[o] != 0
        for r in range(3):
            # Angular momenta have changed since.
            mean = objects.velocity[o, r]
            if not in_contact:
                # Under gravity alone the mean velocity is exact: x = v_0 h + g h^2 / 2.
                mean = 0.5 * (mean + work.start_velocity[o, r])
            objects.position[o, r] += h * mean + work.object_displacement[o, 3 + r]
        multiply(work.mobility[o], objects.angular_momentum[o], work.angular_velocity[o])
        own = h
        # Contact forces were found for the velocity at the end: to rotate with another one would
        # violate them.
        if not in_contact:
            own = turn_freely(
                bodies.inertia[o],
                objects.angular_momentum[o],
                objects.quaternion[o],
                work.angular_velocity[o],
                h,
            )
        for r in range(3):
            angle[r] = own * work.angular_velocity[o, r] + work.object_displacement[o, r]
        turn(objects.quaternion[o], angle, turned)
        for r in range(4):
            objects.quaternion[o, r] = turned[r]


@compiled
def turn_freely(
    inertia: FloatArray,
    angular_momentum: FloatArray,
    quaternion: FloatArray,
    turning: FloatArray,
    h: float,
) -> float:
    """Turn a body that nothing presses on; return what is left of the step, for its last part.

    It turns with the velocity of the middle of each part, which is that of its orientation there:
    the rule is its own reverse, so that errors of the energy come back instead of adding up.

    :param inertia: rotational inertia in object coordinates, (3, 3) [kg m^2]
    :param angular_momentum: angular momentum, which stays, (3,) [N m s]
    :param quaternion: orientation at the beginning, then of the last part, (4,)
    :param turning: angular velocity at the beginning, then in the middle of the last part, (3,)
        [rad/s]
    :param h: time step [s]
    """
    angle = stack_array(3)
    middle = stack_array(4)
    R = stack_matrix(3, 3)
    cofactors = stack_matrix(3, 3)
    mobility, new = stack_matrix(3, 3), stack_array(3)
    square = turning[0] * turning[0] + turning[1] * turning[1] + turning[2] * turning[2]
    # I is a multiple of the identity: the axis of rotation stays where it is, whatever the step.
    if square == 0.0 or is_round(inertia):
        return h
    speed = math.sqrt(square)
    parts = 1 + int(min(h * speed / MAX_ROTATION, MAX_PARTS))
    own = h / parts
    for part in range(parts):
        # Fixed point of the implicit midpoint rule, omega = I(q_mid)^-1 L: it contracts, as a part
        # turns by no more than MAX_ROTATION.
        for _ in range(MAX_ROUNDS):
            for r in range(3):
                angle[r] = 0.5 * own * turning[r]
            turn(quaternion, angle, middle)
            rotation_of(middle, R)
            rotational_mobility(inertia, R, mobility, cofactors)
            multiply(mobility, angular_momentum, new)
            change, size = 0.0, 0.0
            for r in range(3):
                change = max(change, abs(new[r] - turning[r]))
                size = max(size, abs(new[r]))
                turning[r] = new[r]
            # Of what a part is turned by, not of the velocity: slow bodies need no more digits.
            if not own * change > SMALL_TURN + 1e-15 * own * size:
                break
        # The last part is left to the caller, who adds position correction in the same rotation.
        if part < parts - 1:
            for r in range(3):
                angle[r] = own * turning[r]
            turn(quaternion, angle, middle)
            for r in range(4):
                quaternion[r] = middle[r]
    return own


@compiled
def is_round(inertia: FloatArray) -> bool:
    """Return whether an inertia is the same about all axes, as of balls and cubes."""
    equal = inertia[0, 0] == inertia[1, 1] and inertia[0, 0] == inertia[2, 2]
    apart = inertia[0, 1] == 0.0 and inertia[0, 2] == 0.0 and inertia[1, 2] == 0.0
    round_: bool = equal and apart
    return round_


@compiled
def are_lost(objects: Objects, work: SceneWork) -> bool:
    """Return whether a pose is not finite.

    `in_contact` of such objects is -1, for reports of it.
    """
    lost = False
    for o in range(len(objects.position)):
        if not is_finite(objects.position[o]) or not is_finite(objects.quaternion[o]):
            work.in_contact[o] = -1
            lost = True
    return lost


@compiled
def keep_objects(objects: Objects, kept: FloatArray) -> None:
    """Keep the state of the objects, to go back to if a step fails.

    :param kept: the result, (O, 13)
    """
    for o in range(len(kept)):
        for r in range(3):
            kept[o, r], kept[o, 3 + r] = objects.position[o, r], objects.angular_momentum[o, r]
            kept[o, 6 + r] = objects.velocity[o, r]
        for r in range(4):
            kept[o, 9 + r] = objects.quaternion[o, r]


@compiled
def restore_objects(objects: Objects, kept: FloatArray) -> None:
    """Go back to what `keep_objects` kept.

    :param kept: (O, 13)
    """
    for o in range(len(kept)):
        for r in range(3):
            objects.position[o, r], objects.angular_momentum[o, r] = kept[o, r], kept[o, 3 + r]
            objects.velocity[o, r] = kept[o, 6 + r]
        for r in range(4):
            objects.quaternion[o, r] = kept[o, 9 + r]


@compiled
def start_objects(model: SceneModel, objects: Objects) -> None:
    """Move the objects to their poses in the world file."""
    start = model.start
    for o in range(len(model.bodies.mass)):
        for r in range(3):
            objects.position[o, r], objects.angular_momentum[o, r] = (
                start.position[o, r],
                start.angular_momentum[o, r],
            )
            objects.velocity[o, r] = start.velocity[o, r]
        for r in range(4):
            objects.quaternion[o, r] = start.quaternion[o, r]
