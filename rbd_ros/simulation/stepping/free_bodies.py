# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Movable objects: free rigid bodies beside the robot.

Their state is the angular momentum, not the angular velocity, so that it is conserved exactly
without forces. Free flight is exact except for the rotation, by the implicit midpoint rule.
"""

from __future__ import annotations

from rbd_ros.array_types import FloatArray
from rbd_ros.compiler.loops import (
    compiled,
    cross,
    load_transform,
    load_vec,
    Mat,
    Mat3,
    norm,
    Vec,
    Vec3,
)
from rbd_ros.simulation.records.simulation_state import ExternalForces
from rbd_ros.simulation.scene.scene_state import FreeBodies, Objects, SceneModel, SceneWork
from rbd_ros.simulation.stepping.external_forces import present_part
from rbd_ros.simulation.stepping.linear import clear, copy_rows, is_finite
from rbd_ros.simulation.stepping.rotations import load_matrix, rotated, rotation_of

#: Maximum rotation of a free body in a part of a step [rad], and maximum number of parts.
MAX_ROTATION, MAX_PARTS = 0.25, 1000

#: Maximum number of fixed-point iterations of the midpoint velocity: each gains a digit and more,
#: so few are used. Change of the rotation at convergence [rad].
MAX_ROUNDS, SMALL_TURN = 30, 1e-17


@compiled
def rotational_mobility(I: Mat, R: Mat) -> Mat3:
    """Return the inverse of a rotational inertia in world coordinates.

    :param I: in body coordinates, symmetric and positive definite [kg m^2]
    :param R: from body to world coordinates
    """
    # Cramer's rule in body coordinates, where the inertia is constant; then R I^-1 R^T.
    cofactors = Mat(cross(I[1], I[2]), cross(I[2], I[0]), cross(I[0], I[1]))
    by, half = 1.0 / (I[0] @ cofactors[0]), R @ cofactors
    x, y, z = by * half[0], by * half[1], by * half[2]
    # Exactly symmetric: position correction and contact responses read rows as columns.
    xy, xz, yz = x @ R[1], x @ R[2], y @ R[2]
    return Mat(Vec(x @ R[0], xy, xz), Vec(xy, y @ R[1], yz), Vec(xz, yz, z @ R[2]))


@compiled
def find_twist(objects: Objects, work: SceneWork, o: int, twist: FloatArray) -> None:
    """Compute the spatial velocity of an object in world coordinates from its state.

    :param o: number of the object
    :param twist: the result, (6,) [rad/s, m/s]
    """
    turning, x = load_vec(work.angular_velocity[o], 3), load_vec(objects.position[o], 3)
    # Of the point of the body at the origin of the world: v + x cross w.
    twist[0:3], twist[3:6] = turning, load_vec(objects.velocity[o], 3) + cross(x, turning)


@compiled
def place_objects(model: SceneModel, objects: Objects, work: SceneWork) -> None:
    """Compute poses and velocities of the objects, and their responses to impulses."""
    bodies = model.bodies
    for r in range(3):
        work.buffers.pose[0, 4 * r] = 1.0  # the world itself
    for o in range(len(bodies.mass)):
        pose, x = work.buffers.pose[model.first_object + o], load_vec(objects.position[o], 3)
        R = rotation_of(load_vec(objects.quaternion[o], 4))
        work.mobility[o] = rotational_mobility(load_matrix(bodies.inertia[o]), R)
        find_angular_velocity(objects, work, o)
        pose[0:3], pose[3:6], pose[6:9] = R[0], R[1], R[2]
        # States are of the center of mass, poses of the object's own frame.
        pose[9:12] = x - R @ load_vec(bodies.center[o], 3)
        find_twist(objects, work, o, work.buffers.velocity[model.first_object + o])


@compiled
def find_wrenches(
    model: SceneModel, external_forces: ExternalForces, objects: Objects, work: SceneWork
) -> None:
    """Compute the wrenches of external forces on the objects."""
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
        # Moment arm of the force about the center of mass.
        arm = point - load_vec(objects.position[o], 3)
        into[0:3] = load_vec(into, 3) + part * (moment + cross(arm, force))
        into[3:6] = load_vec(into, 3, 3) + part * force


@compiled
def find_angular_velocity(objects: Objects, work: SceneWork, o: int) -> None:
    """Compute the angular velocity of an object from its angular momentum.

    :param o: number of the object
    """
    momentum = load_vec(objects.angular_momentum[o], 3)
    work.angular_velocity[o] = load_matrix(work.mobility[o]) @ momentum


@compiled
def accelerate_objects(bodies: FreeBodies, objects: Objects, work: SceneWork, h: float) -> None:
    """Change velocities and angular momenta by gravity and external forces.

    :param h: time step [s]
    """
    for o in range(len(bodies.mass)):
        work.in_contact[o] = 0
        v, L = load_vec(objects.velocity[o], 3), load_vec(objects.angular_momentum[o], 3)
        work.start_velocity[o] = v
        # dL/dt is the moment about the center of mass; gyroscopic terms are in the rotation.
        objects.angular_momentum[o] = L + h * load_vec(work.wrench[o], 3)
        force = load_vec(work.wrench[o], 3, 3)
        objects.velocity[o] = v + h * (load_vec(bodies.gravity, 3) + force / bodies.mass[o])
        find_angular_velocity(objects, work, o)


@compiled
def move_objects(bodies: FreeBodies, objects: Objects, work: SceneWork, h: float) -> None:
    """Move the objects to the end of the step.

    Objects without contact move with the mean velocity of the step, on an exact parabola. Others
    move with that of the end, which satisfies the contact constraints.

    :param h: time step [s]
    """
    for o in range(len(bodies.mass)):
        # Angular momenta have changed since.
        find_angular_velocity(objects, work, o)
        mean, own = load_vec(objects.velocity[o], 3), h
        # Contact forces belong to the velocity at the end: another one would violate them.
        if work.in_contact[o] == 0:
            # Under gravity alone the mean velocity is exact: x = v_0 h + g h^2 / 2.
            mean = 0.5 * (mean + load_vec(work.start_velocity[o], 3))
            own = turn_freely(bodies.inertia[o], objects, work, o, h)
        displacement = h * mean + load_vec(work.object_displacement[o], 3, 3)
        objects.position[o] = load_vec(objects.position[o], 3) + displacement
        angle = own * load_vec(work.angular_velocity[o], 3)
        angle = angle + load_vec(work.object_displacement[o], 3)
        objects.quaternion[o] = rotated(load_vec(objects.quaternion[o], 4), angle)


@compiled
def turn_freely(inertia: FloatArray, objects: Objects, work: SceneWork, o: int, h: float) -> float:
    """Rotate a body without contact; return the length of the last part, left to the caller.

    It rotates with the velocity of the middle of each part, which is that of its orientation there
    (implicit midpoint): the rule is time-reversible, so errors of the energy do not add up.
    `quaternion` becomes that at the beginning of the last part, `angular_velocity` that in its
    middle.

    :param inertia: rotational inertia in object coordinates, (3, 3) [kg m^2]
    :param o: number of the object
    :param h: time step [s]
    """
    w, q = load_vec(work.angular_velocity[o], 3), load_vec(objects.quaternion[o], 4)
    # I is a multiple of the identity: the axis of rotation is constant.
    if w @ w == 0.0 or is_round(inertia):
        return h
    I, momentum = load_matrix(inertia), load_vec(objects.angular_momentum[o], 3)
    parts = 1 + int(min(h * norm(w) / MAX_ROTATION, MAX_PARTS))
    own = h / parts
    for part in range(parts):
        # Fixed point of the implicit midpoint rule, omega = I(q_mid)^-1 L: it contracts, as a part
        # turns by no more than MAX_ROTATION.
        for _ in range(MAX_ROUNDS):
            new = rotational_mobility(I, rotation_of(rotated(q, 0.5 * own * w))) @ momentum
            change, size = largest(new - w), largest(new)
            w = new
            # By the rotation of the part, not the velocity: slow bodies need no more digits.
            if not own * change > SMALL_TURN + 1e-15 * own * size:
                break
        # The caller adds position correction to the rotation of the last part.
        if part < parts - 1:
            q = rotated(q, own * w)
    objects.quaternion[o], work.angular_velocity[o] = q, w
    return own


@compiled
def largest(v: Vec3) -> float:
    """Return the maximum absolute element of a vector."""
    most: float = max(abs(v[0]), abs(v[1]), abs(v[2]))
    return most


@compiled
def is_round(inertia: FloatArray) -> bool:
    """Return whether an inertia is isotropic, as of balls and cubes."""
    equal = inertia[0, 0] == inertia[1, 1] and inertia[0, 0] == inertia[2, 2]
    is_diagonal = inertia[0, 1] == 0.0 and inertia[0, 2] == 0.0 and inertia[1, 2] == 0.0
    round_: bool = equal and is_diagonal
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
def save_objects(objects: Objects, kept: FloatArray) -> None:
    """Store the state of the objects, for undo after a failed step.

    :param kept: the result, (O, 13)
    """
    for o in range(len(kept)):
        kept[o, 0:3] = load_vec(objects.position[o], 3)
        kept[o, 3:6] = load_vec(objects.angular_momentum[o], 3)
        kept[o, 6:9] = load_vec(objects.velocity[o], 3)
        kept[o, 9:13] = load_vec(objects.quaternion[o], 4)


@compiled
def restore_objects(objects: Objects, kept: FloatArray) -> None:
    """Restore the state stored by `save_objects`.

    :param kept: (O, 13)
    """
    for o in range(len(kept)):
        objects.position[o] = load_vec(kept[o], 3)
        objects.angular_momentum[o] = load_vec(kept[o], 3, 3)
        objects.velocity[o] = load_vec(kept[o], 3, 6)
        objects.quaternion[o] = load_vec(kept[o], 4, 9)


@compiled
def start_objects(model: SceneModel, objects: Objects) -> None:
    """Move the objects to their poses in the world file."""
    copy_rows(model.start.position, objects.position)
    copy_rows(model.start.angular_momentum, objects.angular_momentum)
    copy_rows(model.start.velocity, objects.velocity)
    copy_rows(model.start.quaternion, objects.quaternion)
