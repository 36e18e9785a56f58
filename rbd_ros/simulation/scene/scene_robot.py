# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The robot in a step in a world: its poses, velocity without contacts, and rows of joints.

Joint limits and dry friction of joints are rows of the problem of the robot's island.
"""

from __future__ import annotations

import math

from rbd_ros.array_types import IntArray
from rbd_ros.collision.scene.scene_arrays import SceneContacts
from rbd_ros.compiler.loops import call_kernel, compiled
from rbd_ros.contact.detection import body_velocities
from rbd_ros.simulation.loops.loop_directions import find_basis, respond
from rbd_ros.simulation.loops.loop_solver import keep_loop_force
from rbd_ros.simulation.records.simulation_model import SimulationModel
from rbd_ros.simulation.records.simulation_state import ExternalForces, GUARDED, LIMITED, State
from rbd_ros.simulation.records.workspace import Problem, Workspace
from rbd_ros.simulation.scene.branch_sparsity import (
    clear_along,
    finish_half_solve,
    half_solve_rows,
)
from rbd_ros.simulation.scene.contact_problem import FRICTION, LOWER_LIMIT, UPPER_LIMIT
from rbd_ros.simulation.scene.friction_moments import respond_to_friction_moments
from rbd_ros.simulation.scene.islands import at_robot, node_of
from rbd_ros.simulation.scene.scene_state import ContactState, SceneWork
from rbd_ros.simulation.stepping.external_forces import find_applied_force
from rbd_ros.simulation.stepping.linear import (
    add_scaled,
    clear,
    copy,
    copy_rows,
    factorize,
    solve_factorized,
)
from rbd_ros.simulation.stepping.semi_implicit_step import prepare

#: Velocity margin to the limits within which contacts are expected to push a joint to them [rad/s,
#: m/s], besides half of its velocity.
REACH = 0.1

#: Ratio to the previous load above which the load has jumped: an impact on the robot.
JUMP = 1.5


@compiled
def place_robot(
    model: SimulationModel, state: State, external_forces: ExternalForces, work: Workspace
) -> None:
    """Compute the applied force, and poses and velocities of the robot's bodies."""
    dynamics, buffers, tree = work.dynamics, work.scene.buffers, model.tree
    # External forces need kinematics themselves, and have computed them then.
    if not find_applied_force(model, state, external_forces, dynamics):
        call_kernel(model.contact_kinematics, state.packed, dynamics.kinematics)
    body_velocities(tree, dynamics.columns, state.v, dynamics.velocities)
    for i in range(len(dynamics.velocities)):
        # Collision detection treats the robot's bodies like any others, by pose and velocity.
        copy(dynamics.poses[i], buffers.pose[i])
        copy(dynamics.velocities[i], buffers.velocity[i])


@compiled
def respond_to_contacts(
    model: SimulationModel,
    state: State,
    contacts: SceneContacts,
    work: Workspace,
    count: int,
    h: float,
) -> None:
    """Compute the linear part of the problem, and the response of the robot to contacts.

    :param count: number of contacts
    :param h: time step [s]
    """
    problem, scene, tree = work.problem, work.scene, model.tree
    # H with h times damping and joint stiffness, the momentum H v + h (tau - C), and bounds
    # of joint velocities: the linearly implicit step (semi_implicit_step.py).
    prepare(model, state, work.dynamics, problem, h)
    if model.has_loops:
        find_basis(model, problem.loops)
    else:
        # Factorization is in place; loops and servos need the matrix again.
        copy_rows(problem.inertia, problem.factor)
        factorize(problem.factor, tree)
        for i in range(len(state.v)):
            # D^-1/2 of H = L^T D L, for Y = J L^-1 D^-1/2 (contact_problem.py).
            scene.root[i] = 1.0 / math.sqrt(problem.factor[i, i])
    for c in range(count):
        if at_robot(model.scene, contacts, c):
            half_solve_rows(
                model, problem, scene.root, scene.leaf_dof[c], scene.jacobian[c], scene.response[c]
            )
    if model.scene.has_friction_moments:
        respond_to_friction_moments(model, problem, contacts, count, scene)


@compiled
def find_free_velocity(model: SimulationModel, work: Workspace, h: float) -> int:
    """Compute the velocity without contacts, and the rows of joints; return their number.

    Most joint limits are out of reach in a step, and a problem without them is easier. Exceeded
    ones become rows of the next problem, see `exceeds_limits`.

    :param h: time step [s]
    """
    problem, scene, tree = work.problem, work.scene, model.tree
    v, rows = scene.velocity, 0
    # v = H^-1 (H v_0 + h tau): without contacts and limits.
    copy(problem.momentum, v)
    if model.has_loops:
        respond(model, problem.loops, v)
    else:
        solve_factorized(problem.factor, tree, v)
    for i in range(len(v)):
        # Contact forces may still change the velocity: limits within this margin are rows at once,
        # others once they are exceeded.
        low, high, near = problem.low[i], problem.high[i], REACH + 0.5 * abs(v[i])
        # Joints without limits have infinite ones.
        add_limits(scene, i, v[i] - near < low, v[i] + near > high)
        if scene.has_row[LOWER_LIMIT, i] == 1:
            rows = add_row(scene, rows, i, LOWER_LIMIT, -low)
        if scene.has_row[UPPER_LIMIT, i] == 1:
            rows = add_row(scene, rows, i, UPPER_LIMIT, high)
        if model.friction[i] > 0.0:
            rows = add_row(scene, rows, i, FRICTION, 0.0)
            # Dry friction as an impulse between bounds, with zero velocity between them: exact
            # stiction.
            scene.row_box[rows - 1] = h * model.friction[i]
    respond_to_rows(model, problem, scene, rows)
    return rows


@compiled
def add_limits(scene: SceneWork, i: int, lower: bool, upper: bool) -> bool:
    """Add rows for limits of a joint in this step; return whether any is new.

    :param i: degree of freedom
    :param lower: whether to add the lower limit
    :param upper: whether to add the upper limit
    """
    has_row = scene.has_row
    more = (lower and has_row[LOWER_LIMIT, i] == 0) or (upper and has_row[UPPER_LIMIT, i] == 0)
    # Rows stay for the step: dropping one in a repeated solve could alternate forever.
    if lower:
        has_row[LOWER_LIMIT, i] = 1
    if upper:
        has_row[UPPER_LIMIT, i] = 1
    return more


@compiled
def add_row(scene: SceneWork, rows: int, i: int, kind: int, bias: float) -> int:
    """Add a row of a joint; return the new number of rows.

    :param rows: previous number of rows
    :param i: degree of freedom
    :param kind: LOWER_LIMIT, UPPER_LIMIT or FRICTION
    :param bias: velocity added along the row
    """
    scene.row_joint[rows], scene.row_kind[rows], scene.row_bias[rows] = i, kind, bias
    return rows + 1


@compiled
def respond_to_rows(model: SimulationModel, problem: Problem, scene: SceneWork, rows: int) -> None:
    """Compute the response of the robot to impulses along rows of joints, three at a time.

    :param rows: number of rows
    """
    units, tree = scene.units, model.tree
    for first in range(0, rows, 3):
        leaf = -1
        # Three rows share a pass over the path if one path contains all of them.
        if not model.has_loops:
            leaf = scene.row_joint[first]
            for k in range(first + 1, min(first + 3, rows)):
                i = scene.row_joint[k]
                common = tree.common_ancestor[i, leaf] if leaf >= 0 else -1
                # All on one path, or anywhere in the tree.
                leaf = max(i, leaf) if leaf >= 0 and (common == i or common == leaf) else -1
        scene.row_leaf_dof[first // 3] = leaf
        for r in range(3):
            clear_along(tree, leaf, units[r])
        for r in range(min(3, rows - first)):
            # An upper limit pushes downward; friction and lower limits have the sign of the joint.
            upper = scene.row_kind[first + r] == UPPER_LIMIT
            units[r, scene.row_joint[first + r]] = -1.0 if upper else 1.0
        half_solve_rows(model, problem, scene.root, leaf, units, scene.row_response[first // 3])


@compiled
def end_robot(
    model: SimulationModel,
    state: State,
    contact_state: ContactState,
    work: Workspace,
    rows: int,
    h: float,
) -> None:
    """Compute the velocity of the robot at the end of the step.

    :param rows: number of rows of joints
    :param h: time step [s]
    """
    scene, next_v, counters = work.scene, work.motion.next_v, state.counters
    # `gathered` is Y^T lambda of all contacts and rows; the velocity changes by L^-1 D^-1/2 of it.
    finish_half_solve(model, work.problem, scene.root, scene.gathered, next_v)
    add_scaled(1.0, scene.velocity, next_v)
    if model.has_loops:
        keep_loop_force(model, state, work.problem, next_v, h)
    limited, guarded = False, False
    for kind in range(3):
        clear(contact_state.joint_impulse[kind])
    for k in range(rows):
        i, kind = scene.row_joint[k], scene.row_kind[k]
        contact_state.joint_impulse[kind, i] = scene.row_impulse[k]
        if kind != FRICTION and contact_state.joint_impulse[kind, i] > 0.0:
            # Velocity limits are further limits, counted separately.
            if abs(next_v[i]) >= model.speed[i] * (1.0 - 1e-9):
                guarded = True
            else:
                limited = True
    counters[LIMITED] += limited
    counters[GUARDED] += guarded


@compiled
def exceeds_limits(model: SimulationModel, work: Workspace) -> bool:
    """Return whether joints exceed limits without rows, after adding these rows.

    A row exceeded by the solver's tolerance is satisfied exactly, unless that opens loops.
    """
    more, next_v = False, work.motion.next_v
    for i in range(len(next_v)):
        low, high = work.problem.low[i], work.problem.high[i]
        beyond = add_limits(work.scene, i, next_v[i] < low, next_v[i] > high)
        more = more or beyond
        if not model.has_loops and not beyond:
            # Only by the solver's tolerance: a limit must hold exactly, as the next step starts
            # from it.
            next_v[i] = min(max(next_v[i], low), high)
    return more


@compiled
def load_on_robot(model: SimulationModel, contact_state: ContactState, count: int) -> float:
    """Return the sum of the normal impulses at contacts of the robot [N s].

    :param count: number of contacts
    """
    total = 0.0
    for c in range(count):
        if at_robot(model.scene, contact_state.contacts, c):
            total += contact_state.impulse[c, 0]
    return total


@compiled
def hold_bases(
    model: SimulationModel,
    contact_state: ContactState,
    count: int,
    expected: float,
    work: Workspace,
) -> None:
    """Mark free bases that the world has stopped: those with contacts, if the load has jumped.

    :param count: number of contacts
    :param expected: load on the robot in the step before [N s]
    """
    scene, contacts, held = work.scene, contact_state.contacts, work.free_bases.held
    for base in range(len(held)):
        held[base] = 0
    # If the world has taken a base's momentum, it is not conserved: free_base.py must not correct
    # it.
    anchored = load_on_robot(model, contact_state, count) > JUMP * expected
    if anchored:
        anchored = False
        for c in range(count):
            a = node_of(model.scene, contacts.body_id[c, 0])
            b = node_of(model.scene, contacts.body_id[c, 1])
            # A contact with the world itself, of the robot or of an object in its island.
            if min(a, b) < 0 and contact_state.impulse[c, 0] > 0.0:
                # The robot's island has label 0.
                anchored = anchored or scene.label[max(a, b)] == 0
    if not anchored:
        return
    for c in range(count):
        if contact_state.impulse[c, 0] > 0.0:
            for side in range(2):
                body = contacts.body_id[c, side]
                if 0 < body < model.scene.first_object:
                    hold_base(model, body, held)


@compiled
def hold_base(model: SimulationModel, body: int, held: IntArray) -> None:
    """Mark the free base, if any, that carries a body of the robot.

    :param body: number of the body
    :param held: the marks, one for each free base
    """
    tree = model.tree
    for at in range(tree.support_first[body], tree.support_first[body + 1]):
        for base in range(len(held)):
            # The base is in the support of a body if its degrees of freedom move the body.
            if tree.dof_index[tree.support[at]] == model.free_bases[base, 2]:
                held[base] = 1
