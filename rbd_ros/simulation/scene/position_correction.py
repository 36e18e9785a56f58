# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Position correction: overlapping bodies are moved apart, without a change of velocity.

The displacement x of the bodies of an island is the smallest one, in the norm of kinetic energy,
that separates all contacts: x^T H x is minimal under J x >= d, where d are the depths, or their
part due in one step. Sweeps over the contacts find it (Hildreth 1957), in coordinates in which H
is the identity: the rows of J are `response` there, see contact_problem.py.

Usually that is all. If it would move anything faster than `RETURN_SPEED`, or a joint beyond its
limits, or if no solution exists, as for a body between two walls, the sweeps are repeated with

* a compliance for each contact, so that contradictions are resolved in the sense of least squares
  (constraint force mixing);
* J x >= 0 for overlaps: none gets deeper in favor of another one;
* bounds on the displacement of each joint, by the speed and by its limits, and rows for joints
  outside their limits, which return like overlaps;
* Jacobians without the joints that cannot separate a contact, but only rotate or slide the bodies.

Finally the displacement of an island is shortened until no point of an object is faster than
`RETURN_SPEED`, and the remaining depths together decrease. Remaining overlaps are marked in
`ContactState.unresolved`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from rbd_ros.array_types import FloatArray
from rbd_ros.collision.scene.scene_arrays import SceneContacts
from rbd_ros.collision.scene.scene_bounds import angular_speed, speed_at_origin
from rbd_ros.compiler.loops import compiled, load_vec, norm, Vec
from rbd_ros.contact.detection import body_velocities
from rbd_ros.simulation.loops.loop_closing import close_positions, is_near, MAX_HALVINGS
from rbd_ros.simulation.loops.loop_directions import RANK
from rbd_ros.simulation.records.simulation_model import RETURN_SPEED, SimulationModel
from rbd_ros.simulation.records.simulation_state import State, UNRESOLVED_OVERLAPS
from rbd_ros.simulation.records.workspace import Problem, Workspace
from rbd_ros.simulation.scene.branch_sparsity import (
    add_along,
    dot_along,
    finish_half_solve,
    half_solve,
)
from rbd_ros.simulation.scene.compliance import is_compliant
from rbd_ros.simulation.scene.contact_problem import contact_velocity
from rbd_ros.simulation.scene.islands import at_robot, first_of, list_contacts
from rbd_ros.simulation.scene.scene_state import ContactState, NOW, Objects, SceneWork
from rbd_ros.simulation.stepping.displacement import (
    CLOSED,
    correction_bounds,
    move,
    move_at,
    returned,
)
from rbd_ros.simulation.stepping.free_base import correct_free_bases
from rbd_ros.simulation.stepping.linear import add_scaled, clear, copy

#: Minimum depth of a correction [m]: above rounding, below visibility.
MIN_DEPTH = 1e-9

#: Maximum number of sweeps; later steps correct the rest.
MAX_SWEEPS = 20

#: Maximum number of sweeps under bounds. If two contacts oppose each other, each sweep reduces the
#: error by 1 / (1 + COMPLIANCE) at least: to 1e-4 in 50.
MAX_BOUNDED_SWEEPS = 50

#: Compliance of contacts under bounds, relative to the mobility along their normals: each step
#: corrects 1 / (1 + COMPLIANCE) of the depth.
COMPLIANCE = 0.25

#: A joint separates a contact if it moves the bodies by this part of their relative motion along
#: the normal at least; otherwise they would slide by more than a hundred times the depth.
STEEP = 1e-2

#: Part of the largest motion at a contact by any joint that counts as rounding.
ROUNDING = 1e-9

#: Minimum depth of a remaining overlap that is reported [m], and the fraction of `RETURN_SPEED`
#: that counts as no motion.
UNRESOLVED_DEPTH, STILL = 1e-4, 1e-3


class Island(NamedTuple):
    """Bodies in contact that are corrected together: a value that functions pass on.

    :param n: number of contacts, `SceneWork.listed`
    :param of_robot: whether the robot is one of them
    :param h: time step [s]
    """

    model: SimulationModel
    state: State
    contact_state: ContactState
    work: Workspace
    n: int
    label: int
    of_robot: bool
    h: float


@compiled
def correct_positions(
    model: SimulationModel,
    state: State,
    objects: Objects,
    contact_state: ContactState,
    work: Workspace,
    robot_in_contact: bool,
    h: float,
) -> bool:
    """Compute `object_displacement` and `joint_displacement`, which separate overlapping bodies.

    :param robot_in_contact: whether the robot is at any contact
    :param h: time step [s]
    :return: whether the robot must be moved, joints outside their limits included
    """
    scene, contacts, count = work.scene, contact_state.contacts, contact_state.counts[NOW]
    for o in range(len(scene.object_displacement)):
        clear(scene.object_displacement[o])
    clear(scene.joint_displacement)
    for c in range(count):
        contact_state.unresolved[c] = 0
    # Joints outside their limits are corrected together with contacts, or each would undo the
    # other.
    outside = False
    if model.has_robot:
        # With loops, they have been moved back already.
        if robot_in_contact and not model.has_loops:
            outside = is_outside(model, work.motion.next_q)
    deepest = 0.0
    for c in range(count):
        # Compliant contacts are meant to overlap.
        if not is_compliant(model.scene, contacts, c):
            deepest = min(deepest, contacts.gap[c])
    if deepest > -MIN_DEPTH and not outside:
        return False
    moves, unresolved = False, False
    for label in range(len(scene.label)):
        # The smallest node of an island has its own number as label.
        if scene.label[label] != label:
            continue
        n = list_rigid(model, contacts, label, scene)
        of_robot = label == 0 and robot_in_contact
        deepest = 0.0
        for a in range(n):
            deepest = min(deepest, contacts.gap[scene.listed[a]])
        if deepest > -MIN_DEPTH and not (of_robot and outside):
            continue
        island = Island(model, state, contact_state, work, n, label, of_robot, h)
        correct_island(island, outside, -deepest)
        limit_displacement(island)
        moves = moves or of_robot
        unresolved = mark_unresolved(island, objects) or unresolved
    state.counters[UNRESOLVED_OVERLAPS] += unresolved
    return moves


@compiled
def is_outside(model: SimulationModel, q: FloatArray) -> bool:
    """Return whether any joint is outside its limits by more than rounding."""
    for i in range(len(model.position)):
        at = model.position[i]
        if at >= 0:
            if is_far_outside(model, i, q[at]):
                return True
    return False


@compiled
def list_rigid(
    model: SimulationModel, contacts: SceneContacts, island: int, scene: SceneWork
) -> int:
    """List the rigid contacts of an island in `listed`; return their number."""
    found = 0
    for a in range(list_contacts(island, scene)):
        c = scene.listed[a]
        if not is_compliant(model.scene, contacts, c):
            scene.listed[found] = c
            found += 1
    return found


@compiled
def correct_island(island: Island, outside: bool, deepest: float) -> None:
    """Compute the displacements of the bodies of an island; see the beginning of this file.

    :param outside: whether joints of the robot are outside their limits
    :param deepest: depth of the deepest overlap [m]
    """
    model, work, scene = island.model, island.work, island.work.scene
    # The depth due in this step, and the displacement that scales changes.
    before, size = remaining_depth(island, 0.0), min(RETURN_SPEED * island.h, deepest)
    if island.of_robot:
        find_bounds(model, island.state, work, island.h)
    # First without bounds: cheap, and enough for slight overlaps.
    if not (island.of_robot and outside):
        begin_sweeps(island)
        done = False
        for _ in range(MAX_SWEEPS):
            done = sweep(island, 0.0) <= 1e-3 * size
            if done:
                break
        within = True
        if island.of_robot:
            find_joint_displacement(model, work)
            within = is_within_bounds(scene)
        # For many bodies, later steps correct the rest. Squared depths: half of the depth is gone.
        done = done or remaining_depth(island, 1.0) < 0.25 * before
        # Else again, under bounds; the module's docstring lists the differences.
        if within and done:
            return
    if island.of_robot:
        drop_idle_joints(island)
        respond_to_joints(model, work.problem, scene)
    begin_sweeps(island)
    for _ in range(MAX_BOUNDED_SWEEPS):
        change = sweep(island, COMPLIANCE)
        if island.of_robot:
            change = max(change, sweep_joints(model, work.motion.next_q, scene))
        if change <= 1e-4 * size:
            break
    if island.of_robot:
        find_joint_displacement(model, work)
        for i in range(len(scene.joint_displacement)):
            x = scene.joint_displacement[i]
            # Remaining error of the sweeps; NaN becomes zero.
            bounded = min(max(x, scene.min_displacement[i]), scene.max_displacement[i])
            scene.joint_displacement[i] = bounded if x == x else 0.0


@compiled
def find_bounds(model: SimulationModel, state: State, work: Workspace, h: float) -> None:
    """Compute the minimum and maximum displacement of each degree of freedom of the robot.

    :param h: time step [s]
    """
    scene, motion = work.scene, work.motion
    for i in range(len(model.position)):
        # The bound on the speed keeps the step within the linearization, and a controller from
        # reacting to the correction.
        lower, upper = -model.return_speed[i] * h, model.return_speed[i] * h
        at = model.position[i]
        if at >= 0:
            q = motion.next_q[at]
            if model.has_loops:
                # The motion by loops and limits is part of it.
                followed = motion.followed_q[at]
                lower, upper = correction_bounds(model, i, followed - state.q[at], h)
                lower, upper = min(0.0, lower - q + followed), max(0.0, upper - q + followed)
            else:
                lower, upper = correction_bounds(model, i, q - state.q[at], h)
            # Not beyond a limit, nor further outside.
            lower = max(lower, min(0.0, model.lower[i] - q))
            upper = min(upper, max(0.0, model.upper[i] - q))
        scene.min_displacement[i], scene.max_displacement[i] = lower, upper


@compiled
def is_within_bounds(scene: SceneWork) -> bool:
    """Return whether the robot's displacement is within bounds, and not NaN."""
    for i in range(len(scene.joint_displacement)):
        if (
            not scene.min_displacement[i]
            <= scene.joint_displacement[i]
            <= scene.max_displacement[i]
        ):
            return False
    return True


@compiled
def begin_sweeps(island: Island) -> None:
    """Clear displacements, and compute the mobilities along the normals."""
    model, scene, contacts = island.model, island.work.scene, island.contact_state.contacts
    clear(scene.scaled_displacement)
    clear(scene.joint_multiplier)
    for a in range(island.n):
        c, mobility = scene.listed[a], 0.0
        scene.multiplier[a] = 0.0
        if model.has_robot:
            if at_robot(model.scene, contacts, c):
                # |Y_n|^2 = J H^-1 J^T: with H the identity, the squared length of the row.
                row = scene.response[c, 0]
                mobility += dot_along(model.tree, scene.leaf_dof[c], row, row)
        for side in range(2):
            o = contacts.body_id[c, side] - model.scene.first_object
            if o >= 0:
                # Only objects at these contacts; some are cleared several times.
                clear(scene.object_displacement[o])
                jacobian = scene.object_jacobian[c, side, 0]
                for s in range(6):
                    mobility += jacobian[s] * scene.object_response[c, side, 0, s]
        scene.normal_mobilities[a] = mobility


@compiled
def displacement_along(island: Island, c: int, rows: FloatArray, x: FloatArray) -> float:
    """Return the displacement along the normal of a contact, to first order.

    :param c: number of the contact
    :param rows: rows of the robot: `jacobian` for x in its joints, `response` for it scaled
    :param x: displacement of the robot, (nv,)
    """
    model, scene, w = island.model, island.work.scene, 0.0
    contacts = island.contact_state.contacts
    if model.has_robot:
        if at_robot(model.scene, contacts, c):
            w += dot_along(model.tree, scene.leaf_dof[c], rows[c, 0], x)
    for side in range(2):
        o = contacts.body_id[c, side] - model.scene.first_object
        if o >= 0:
            jacobian = scene.object_jacobian[c, side, 0]
            for s in range(6):
                w += jacobian[s] * scene.object_displacement[o, s]
    return w


@compiled
def sweep(island: Island, compliance: float) -> float:
    """Change the displacements contact by contact; return the largest change along a normal.

    :param compliance: that of each contact relative to its mobility; 0: exact separation
    """
    model, scene, contacts = island.model, island.work.scene, island.contact_state.contacts
    y, change = scene.scaled_displacement, 0.0
    for a in range(island.n):
        c, mobility = scene.listed[a], scene.normal_mobilities[a]
        if not mobility > 0.0:
            continue
        w = displacement_along(island, c, scene.response, y)
        # Separated contacts may approach. Hildreth's step for one row: the multiplier, at least
        # zero, that puts J x at its target while all others stay. Accumulated multipliers make the
        # result the minimum, not just a feasible point.
        target = min(-contacts.gap[c], RETURN_SPEED * island.h)
        lower = min(target, 0.0) if compliance > 0.0 else target
        new = multiplier_of(
            w - mobility * scene.multiplier[a], mobility, lower, target, math.inf, compliance
        )
        step = new - scene.multiplier[a]
        scene.multiplier[a] = new
        if step == 0.0:
            continue
        # In meters, independent of the mobility.
        change = max(change, abs(step) * mobility)
        if model.has_robot:
            if at_robot(model.scene, contacts, c):
                add_along(model.tree, scene.leaf_dof[c], step, scene.response[c, 0], y)
        for side in range(2):
            o = contacts.body_id[c, side] - model.scene.first_object
            if o >= 0:
                add_scaled(step, scene.object_response[c, side, 0], scene.object_displacement[o])
    return change


@compiled
def multiplier_of(
    w: float, mobility: float, lower: float, target: float, upper: float, compliance: float
) -> float:
    """Return the multiplier of a row: that of a spring to its target, and of two stops.

    :param w: displacement along the row without it
    :param mobility: displacement per multiplier
    :param lower: displacement at the first stop
    :param target: displacement at which the spring is relaxed; beyond, it has no force
    :param upper: displacement at the second stop
    :param compliance: that of the spring, relative to the mobility
    """
    # The spring only pushes; the stops are hard, and the upper one may pull.
    multiplier = max(0.0, (target - w) / (mobility * (1.0 + compliance)))
    if w + mobility * multiplier < lower:
        multiplier = (lower - w) / mobility
    if w + mobility * multiplier > upper:
        multiplier = (upper - w) / mobility
    return multiplier


@compiled
def sweep_joints(model: SimulationModel, q: FloatArray, scene: SceneWork) -> float:
    """Change the displacements joint by joint: within bounds, and back within limits.

    :param q: configuration to displace, (nq,)
    :return: the largest change of a displacement
    """
    change, y = 0.0, scene.scaled_displacement
    for i in range(len(model.position)):
        row, leaf = scene.row_response[i // 3, i % 3], -1 if model.has_loops else i
        mobility = dot_along(model.tree, leaf, row, row)
        if not mobility > 0.0:
            continue
        w = dot_along(model.tree, leaf, row, y) - mobility * scene.joint_multiplier[i]
        lower, upper, at = scene.min_displacement[i], scene.max_displacement[i], model.position[i]
        outside = 0.0
        if at >= 0:
            # Displacement back to the limit, with its sign; zero within limits.
            outside = max(model.lower[i] - q[at], 0.0) + min(model.upper[i] - q[at], 0.0)
        # The row's spring pushes upward only: for a downward displacement, all signs change.
        if outside < 0.0:
            new = -multiplier_of(-w, mobility, -upper, min(-outside, -lower), -lower, COMPLIANCE)
        else:
            target = min(outside, upper) if outside > 0.0 else lower
            new = multiplier_of(w, mobility, lower, target, upper, COMPLIANCE)
        step = new - scene.joint_multiplier[i]
        scene.joint_multiplier[i] = new
        if step != 0.0:
            change = max(change, abs(step) * mobility)
            add_along(model.tree, leaf, step, row, y)
    return change


@compiled
def find_joint_displacement(model: SimulationModel, work: Workspace) -> None:
    """Compute `joint_displacement` of the robot from `scaled_displacement`."""
    scene = work.scene
    # L^-1 D^-1/2 of the sum of rows, as for velocities (contact_problem.py), which destroys the
    # buffer.
    copy(scene.scaled_displacement, scene.displacement_buffer)
    finish_half_solve(
        model, work.problem, scene.root, scene.displacement_buffer, scene.joint_displacement
    )


@compiled
def drop_idle_joints(island: Island) -> None:
    """Compute `response` along normals by those joints alone that can separate a contact.

    A joint cannot if it moves the bodies along their surfaces, or would have to rotate by more
    than a radian. So rounding moves nothing if an overlap is along the axis of a hinge.
    """
    model, scene, problem = island.model, island.work.scene, island.work.problem
    contacts = island.contact_state.contacts
    for a in range(island.n):
        c = scene.listed[a]
        if not at_robot(model.scene, contacts, c):
            continue
        depth, J, Y = max(0.0, -contacts.gap[c]), scene.jacobian[c], scene.response[c]
        if model.has_loops:
            # Motions with closed loops replace joints.
            free, nothing = len(scene.displacement_buffer) - problem.loops.counts[RANK], 0.0
            for k in range(free):
                nothing = max(nothing, ROUNDING * motion_of(Y, k))
            for k in range(free):
                if not abs(Y[0, k]) > max(STEEP * motion_of(Y, k), nothing):
                    Y[0, k] = 0.0
            continue
        clear(scene.displacement_buffer)
        leaf, nothing = scene.leaf_dof[c], 0.0
        # Elements off the path of a contact are undefined.
        first = model.tree.path_first[leaf] if leaf >= 0 else 0
        end = model.tree.path_first[leaf + 1] if leaf >= 0 else len(scene.displacement_buffer)
        for at in range(first, end):
            k = model.tree.path[at] if leaf >= 0 else at
            nothing = max(nothing, ROUNDING * motion_of(J, k))
        for at in range(first, end):
            k = model.tree.path[at] if leaf >= 0 else at
            slides = max(STEEP * motion_of(J, k), nothing)
            # A joint that would have to rotate by more than a radian, depth / J > 1, leaves the
            # linearization.
            if abs(J[0, k]) > max(slides, depth * model.turning[k]):
                scene.displacement_buffer[k] = J[0, k]
        half_solve(model, problem, scene.root, scene.displacement_buffer, Y[0])


@compiled
def motion_of(J: FloatArray, k: int) -> float:
    """Return the relative motion at a contact by one variable, along normal and tangents.

    :param J: rows of a Jacobian, (3, nv)
    :param k: number of the variable
    """
    return norm(Vec(J[0, k], J[1, k], J[2, k]))


@compiled
def respond_to_joints(model: SimulationModel, problem: Problem, scene: SceneWork) -> None:
    """Compute the rows of all joints, like `response` of contacts: in `row_response`, by threes.

    They replace those of limits and friction, which are no longer needed.
    """
    for i in range(len(scene.displacement_buffer)):
        clear(scene.displacement_buffer)
        # Row i of the identity: the Jacobian of a joint's own displacement.
        scene.displacement_buffer[i] = 1.0
        row = scene.row_response[i // 3, i % 3]
        half_solve(model, problem, scene.root, scene.displacement_buffer, row)


@compiled
def remaining_depth(island: Island, part: float) -> float:
    """Return the squared depth that part of the displacement leaves uncorrected [m^2].

    :param part: the part of the displacement
    """
    scene, total = island.work.scene, 0.0
    for a in range(island.n):
        c = scene.listed[a]
        # Depth beyond the allowed step is not due yet.
        left = min(-island.contact_state.contacts.gap[c], RETURN_SPEED * island.h)
        if part > 0.0:
            left -= part * displacement_along(island, c, scene.jacobian, scene.joint_displacement)
        if left > 0.0:
            total += left * left
    return total


@compiled
def limit_displacement(island: Island) -> None:
    """Shorten a displacement so that it is slow and reduces overlaps."""
    scene, max_step, part = island.work.scene, RETURN_SPEED * island.h, 1.0
    farthest, bodies, table = 0.0, island.model.scene.bodies, island.model.scene.table
    first, end = first_of(scene.node_end, island.label), scene.node_end[island.label]
    for k in range(first, end):
        o = scene.node_order[k] - 1
        if o >= 0:
            displacement = scene.object_displacement[o]
            # `body_arm` is from the origin of the body, rotation is about the center of mass: a
            # bound on the displacement of any point.
            arm = table.body_arm[island.model.scene.first_object + o]
            arm += norm(load_vec(bodies.center[o], 3))
            far = norm(load_vec(displacement, 3, 3)) + angular_speed(displacement) * arm
            if part * far > max_step:
                part = max_step / far
            # Without a finite displacement: none.
            elif not far < math.inf:
                part = 0.0
            farthest = max(farthest, far)
    before = remaining_depth(island, 0.0)
    # Joints may return to their limits where nothing overlaps.
    allowed = max(before, island.n * MIN_DEPTH * MIN_DEPTH)
    # Backtracking until the remaining overlaps do not increase; in the end nothing moves.
    for halving in range(MAX_HALVINGS + 1):
        if remaining_depth(island, part) <= allowed:
            break
        part = 0.0 if halving == MAX_HALVINGS else 0.5 * part
    if part < 1.0:
        for k in range(first, end):
            o = scene.node_order[k] - 1
            if o >= 0:
                displacement = scene.object_displacement[o]
                for s in range(6):
                    displacement[s] = part * displacement[s] if part > 0.0 else 0.0
        if island.label == 0:
            for i in range(len(scene.joint_displacement)):
                scene.joint_displacement[i] *= part
    if part > 0.0:
        # Neighbor lists rely on velocities, so other motion is reported (near_pairs.py).
        scene.buffers.shifted[0] = max(scene.buffers.shifted[0], part * farthest)


@compiled
def mark_unresolved(island: Island, objects: Objects) -> bool:
    """Mark contacts in `unresolved` that stay in overlap; return whether there are any.

    Contacts that velocities separate do not count: at a velocity limit, no correction is possible.
    """
    model, scene, next_v = island.model, island.work.scene, island.work.motion.next_v
    contacts, found = island.contact_state.contacts, False
    for a in range(island.n):
        c = scene.listed[a]
        if contacts.gap[c] < -UNRESOLVED_DEPTH:
            min_motion = STILL * min(-contacts.gap[c], RETURN_SPEED * island.h)
            apart = displacement_along(island, c, scene.jacobian, scene.joint_displacement)
            # Separation by velocity in the next step needs no correction.
            apart += island.h * contact_velocity(model, contacts, objects, next_v, c, 0, scene)
            if apart < min_motion:
                island.contact_state.unresolved[c] = 1
                found = True
    return found


@compiled
def correct_robot(
    model: SimulationModel, state: State, work: Workspace, moves: bool, h: float
) -> None:
    """Add the position correction to `next_q`, and return joints to their limits.

    :param moves: whether there are displacements, which include joints outside their limits
    :param h: time step [s]
    """
    scene, motion = work.scene, work.motion
    if moves:
        copy(scene.joint_displacement, motion.displacement)
        if model.has_loops:
            close_after(model, state, work, h)
        else:
            move(model, motion, motion.next_q)
        if model.has_free_bases:
            # With another inertia, the same momentum is another velocity.
            correct_free_bases(model, work.dynamics, motion, work.free_bases, False)
    changed = moves
    for i in range(len(model.position)):
        at = model.position[i]
        if at >= 0:
            if model.has_loops:
                scene.joint_displacement[i] = motion.next_q[at] - motion.followed_q[at]
                changed = changed or scene.joint_displacement[i] != 0.0
            elif not moves or not is_far_outside(model, i, motion.next_q[at]):
                lower, upper = correction_bounds(model, i, motion.next_q[at] - state.q[at], h)
                q = returned(model, i, motion.next_q[at], lower, upper)
                if q != motion.next_q[at]:
                    scene.joint_displacement[i] += q - motion.next_q[at]
                    motion.next_q[at] = q
                    changed = True
    # Enforced limits alone move links too.
    if changed:
        record_shift(model, work)


@compiled
def is_far_outside(model: SimulationModel, i: int, q: float) -> bool:
    """Return whether a joint is outside its limits by more than rounding.

    :param i: degree of freedom
    :param q: its position [rad, m]
    """
    far: bool = q < model.lower[i] - CLOSED or q > model.upper[i] + CLOSED
    return far


@compiled
def close_after(model: SimulationModel, state: State, work: Workspace, h: float) -> None:
    """Displace a robot with loops and close these again, by as much as bounds allow.

    :param h: time step [s]
    """
    scene, motion, dynamics = work.scene, work.motion, work.dynamics
    # For undo: closing the loops may fail, or lead to another branch of solutions.
    copy(motion.next_q, motion.kept_q)
    part = 1.0
    for _ in range(MAX_HALVINGS + 1):
        move_at(model, motion, motion.kept_q, scene.joint_displacement, part)
        if close_positions(model, motion, dynamics, work.problem.loops):
            if is_near(model, state.q, motion.followed_q, motion.next_q, h):
                return
        part *= 0.5
    copy(motion.kept_q, motion.next_q)


@compiled
def record_shift(model: SimulationModel, work: Workspace) -> None:
    """Record the maximum motion of any point of the robot by `joint_displacement`."""
    buffers, tree, table = work.scene.buffers, model.tree, model.scene.table
    body_velocities(tree, work.dynamics.columns, work.scene.joint_displacement, buffers.ahead)
    for body in range(1, len(tree.parent)):
        far = speed_at_origin(buffers.ahead[body], buffers.pose[body])
        far += angular_speed(buffers.ahead[body]) * table.body_arm[body]
        # Bodies move on arcs, longer than that by less than a tenth.
        buffers.shifted[0] = max(buffers.shifted[0], 1.1 * far)
