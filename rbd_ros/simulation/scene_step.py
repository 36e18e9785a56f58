"""A step of a robot in a world: rigid contact with friction, joint limits and joint friction.

Contacts are found at the beginning of the step. Those that bounce do so first, at velocities as
they are. Then forces are found such that at the end of the step nothing penetrates: where there
is a gap, the velocity may close it but no further; contacts, joint limits and joint friction of
all that touches each other are one problem (scene_problem.py), solved by constraints/solvers.
Bodies that overlap are parted by moving them, which gives them no velocity.
"""

from __future__ import annotations

import math

from rbd_ros.collision.scene_contacts import find_scene_contacts, RESTITUTION, SceneContacts
from rbd_ros.collision.scene_reduction import drop_implied
from rbd_ros.compiler.loops import call_kernel, compiled, vector
from rbd_ros.constraints.friction_space import (
    CONTACTS as CONES,
    FrictionSpace,
    MOMENTS,
    OPEN,
    scale_space,
    SLIDE,
    STICK,
)
from rbd_ros.constraints.solvers.friction import COMBINED, solve_friction_space
from rbd_ros.contact.arrays import FloatArray
from rbd_ros.contact.detection import body_velocities
from rbd_ros.simulation.external_forces import find_applied_force
from rbd_ros.simulation.free_base import correct_free_bases
from rbd_ros.simulation.free_bodies import (
    accelerate_objects,
    find_wrenches,
    move_objects,
    place_objects,
)
from rbd_ros.simulation.linear import (
    add_scaled,
    clear,
    copy,
    factorise,
    is_finite,
    solve_factorised,
)
from rbd_ros.simulation.loop_closing import close_positions
from rbd_ros.simulation.loop_directions import find_basis, respond
from rbd_ros.simulation.loop_solver import keep_loop_force
from rbd_ros.simulation.moving import move, RETURN_SPEED
from rbd_ros.simulation.plant import Plant
from rbd_ros.simulation.scene_compliance import is_compliant, normal_bias, soften
from rbd_ros.simulation.scene_couples import (
    begin_couples,
    enter_couples,
    find_turning,
    list_couples,
    power_of_couples,
    respond_to_couples,
    twist,
)
from rbd_ros.simulation.scene_impacts import expand
from rbd_ros.simulation.scene_pile import part_pile, PART_SWEEPS, PILE, solve_blows, solve_pile
from rbd_ros.simulation.scene_problem import (
    add_along,
    assemble_matrix,
    at_robot,
    clear_along,
    contact_velocity,
    enter_problem,
    find_islands,
    find_jacobians,
    FRICTION,
    full_response,
    half_responses,
    list_contacts,
    LOWER_LIMIT,
    UPPER_LIMIT,
)
from rbd_ros.simulation.scene_state import (
    BEFORE,
    CONIC,
    CONTACT,
    NOW,
    Objects,
    ScenePlant,
    SceneWork,
    SIGNORINI,
    Touches,
)
from rbd_ros.simulation.semi_implicit import follow_velocity, prepare
from rbd_ros.simulation.settling import settle
from rbd_ros.simulation.state import (
    CONTACTS,
    Contacts,
    DROPPED,
    ExternalForces,
    GUARDED,
    LIMITED,
    NEAR,
    State,
    UNCONVERGED,
)
from rbd_ros.simulation.untouched import NOTHING, step_untouched, VELOCITY
from rbd_ros.simulation.workspace import Problem, Workspace

#: Most sweeps of the solver, and most steps of ADMM.
MAX_ITERATIONS = 500

#: Rounds of impacts in a step, each of which hands a blow on to the next body.
MAX_IMPACTS = 100

#: Contacts that approach each other more slowly than this many times h g do not bounce: at rest,
#: gravity alone makes velocities of h g.
RESTING = 2.0

#: Duration of a blow [s]: none, in which servos do nothing.
BLOW = 1e-12

#: Depth from which on bodies are parted [m]: above rounding, below what anybody can see.
PART_FROM = 1e-9

#: How much nearer than the same feature another contact must have been to be taken for the same
#: one, as a ratio of squares, and how near at most, squared [m^2].
MUCH_NEARER, SAME_PLACE = 16.0, 1e-4

#: Velocity beyond the limits within which a joint may be stopped in a step [rad/s, m/s].
REACH = 0.1


@compiled
def take_scene_substep(
    plant: Plant,
    state: State,
    external_forces: ExternalForces,
    unused: Contacts,
    objects: Objects,
    touches: Touches,
    work: Workspace,
    h: float,
) -> bool:
    """Advance by h; returns False, with q and v unchanged, if a velocity is not finite.

    :param unused: contacts with a ground, of which there is none
    """
    scene, problem = work.scene, work.problem
    contacts = touches.contacts
    remember(touches)
    place_objects(plant.scene, objects, scene)
    if plant.has_external_forces:
        find_wrenches(plant.scene, external_forces, objects, scene)
    if plant.has_robot:
        place_robot(plant, state, external_forces, work)
    count: int
    count, dropped = find_scene_contacts(plant.scene.table, scene.room, h, contacts)
    if plant.scene.table.compound:
        count = drop_implied(plant.scene.table, scene.room, contacts, count)
    touches.counts[NOW] = state.counters[NEAR] = count
    state.counters[DROPPED] += dropped
    recall(touches, count)
    robot_touched = find_jacobians(plant, work.dynamics.columns, contacts, count, scene)
    if plant.scene.has_couples:
        find_turning(plant, work.dynamics.columns, contacts, count, scene)
    find_islands(plant.scene, contacts, count, scene)
    clear(touches.residuals)

    rows, found = 0, VELOCITY
    if plant.has_robot:
        clear(problem.impulse)
        if robot_touched:
            respond_to_contacts(plant, state, contacts, work, count, h)
        else:
            # What touches nothing moves as it would without a world, to the bit.
            found = step_untouched(plant, state, external_forces, unused, work, h)
            if found == NOTHING:
                return False
    rebounds = False
    if plant.has_servos:
        rebounds = robot_touched and may_rebound(plant, contacts, count)
        if rebounds:
            respond_to_contacts(plant, state, contacts, work, count, BLOW)
    if collide(plant, state, objects, touches, work, count, h):
        if robot_touched:
            prepare(plant, state, work.dynamics, problem, h)
    if plant.has_servos:
        if rebounds:
            respond_to_contacts(plant, state, contacts, work, count, h)
    if robot_touched:
        rows = find_free_velocity(plant, state, work, h)
    accelerate_objects(plant.scene.bodies, objects, scene, h)
    for o in range(len(objects.position)):
        clear(scene.object_push[o])
    clear(scene.pushed)
    clear(scene.gathered)

    parted = False
    for island in range(len(scene.label)):
        if scene.label[island] != island:
            continue
        n = list_contacts(plant.scene, contacts, count, island, scene)
        # Of objects alone: those of the robot have its joints in common.
        if n > PILE and not (island == 0 and robot_touched):
            if not solve_pile(plant.scene, objects, touches, scene, n, h):
                # Where sweeps stall, a matrix helps, as long as there is room for one.
                if n > len(scene.friction) or not solve_island(
                    plant, objects, touches, work, n, 0, h
                ):
                    state.counters[UNCONVERGED] += 1
            end_island(plant, objects, touches, work, n)
            part_bodies(plant, touches, work, n, True, h)
            continue
        if n > len(scene.friction):
            state.counters[DROPPED] += n - len(scene.friction)
            for a in range(len(scene.friction), n):
                clear(touches.impulse[scene.listed[a]])
                if plant.scene.has_couples:
                    clear(touches.couple[scene.listed[a]])
            n = len(scene.friction)
        m = rows if island == 0 else 0
        if n + m == 0:
            continue
        if not solve_island(plant, objects, touches, work, n, m, h):
            state.counters[UNCONVERGED] += 1
        end_island(plant, objects, touches, work, n)
        if part_bodies(plant, touches, work, n, False, h):
            parted = True
    state.counters[CONTACTS] = 0
    for c in range(count):
        state.counters[CONTACTS] += touches.impulse[c, 0] > 0.0
    for o in range(len(objects.position)):
        if not is_finite(objects.velocity[o]) or not is_finite(objects.spin[o]):
            return False
    if plant.has_robot:
        if robot_touched:
            end_robot(plant, state, touches, work, rows, h)
        if not is_finite(work.motion.next_v):
            return False
        if found == VELOCITY:
            follow_velocity(plant, state, work, h)
        if parted and robot_touched:
            move_robot_apart(plant, work)
        if not is_finite(work.motion.next_v) or not is_finite(work.motion.next_q):
            return False
        settle(plant, state, work.motion, problem.impulse, h)
    move_objects(plant.scene.bodies, objects, scene, h)
    return True


@compiled
def may_rebound(plant: Plant, contacts: SceneContacts, count: int) -> bool:
    """Return whether any contact has restitution.

    :param count: number of contacts
    """
    for c in range(count):
        if plant.scene.table.surface[contacts.pair[c], RESTITUTION] > 0.0:
            return True
    return False


@compiled
def remember(touches: Touches) -> None:
    """Keep the impulses of the last step, in world coordinates."""
    contacts, count = touches.contacts, touches.counts[NOW]
    touches.counts[BEFORE] = count
    for c in range(count):
        touches.old_pair[c], touches.old_feature[c] = contacts.pair[c], contacts.feature[c]
        copy(contacts.position[c], touches.old_position[c])
        for s in range(3):
            total = 0.0
            for r in range(3):
                total += touches.impulse[c, r] * contacts.frame[c, r, s]
            touches.old_impulse[c, s] = total
        if len(touches.couple) > 0:
            for s in range(3):
                total = 0.0
                for r in range(3):
                    total += touches.couple[c, r] * contacts.frame[c, r, s]
                touches.old_couple[c, s] = total


@compiled
def recall(touches: Touches, count: int) -> None:
    """Begin with the impulses that the same contacts had in the step before.

    Those are the same whose features are, unless another one was much nearer: where edges are in
    line, rounding decides which features touch.

    :param count: number of contacts
    """
    contacts, first, before = touches.contacts, 0, touches.counts[BEFORE]
    for c in range(count):
        pair = contacts.pair[c]
        clear(touches.impulse[c])
        if len(touches.couple) > 0:
            clear(touches.couple[c])
        # Both are in the order of the pairs.
        while first < before and touches.old_pair[first] < pair:
            first += 1
        same, nearest, at = -1, -1, first
        least, own = math.inf, math.inf
        while at < before and touches.old_pair[at] == pair:
            away = 0.0
            for r in range(3):
                part = touches.old_position[at, r] - contacts.position[c, r]
                away += part * part
            if away < least:
                nearest, least = at, away
            if touches.old_feature[at] == contacts.feature[c]:
                same, own = at, away
            at += 1
        if own > MUCH_NEARER * least:
            same = nearest if least < SAME_PLACE else -1
        if same >= 0:
            for r in range(3):
                total = 0.0
                for s in range(3):
                    total += contacts.frame[c, r, s] * touches.old_impulse[same, s]
                touches.impulse[c, r] = total
            if len(touches.couple) > 0:
                for r in range(3):
                    total = 0.0
                    for s in range(3):
                        total += contacts.frame[c, r, s] * touches.old_couple[same, s]
                    touches.couple[c, r] = total


@compiled
def place_robot(
    plant: Plant, state: State, external_forces: ExternalForces, work: Workspace
) -> None:
    """Find the applied force, and poses and velocities of the robot's bodies."""
    dynamics, room, tree = work.dynamics, work.scene.room, plant.tree
    if not find_applied_force(plant, state, external_forces, dynamics):
        call_kernel(plant.contact_kinematics, state.packed, dynamics.kinematics)
    body_velocities(
        dynamics.columns,
        tree.parent,
        tree.dof_first,
        tree.dof_index,
        tree.dof_ratio,
        state.v,
        dynamics.velocities,
    )
    for i in range(len(dynamics.velocities)):
        copy(dynamics.poses[i], room.pose[i])
        copy(dynamics.velocities[i], room.velocity[i])


@compiled
def respond_to_contacts(
    plant: Plant, state: State, contacts: SceneContacts, work: Workspace, count: int, h: float
) -> None:
    """Find the linear part of the problem, and what impulses at contacts do to the robot.

    :param count: number of contacts
    :param h: time step [s]
    """
    problem, scene, tree = work.problem, work.scene, plant.tree
    prepare(plant, state, work.dynamics, problem, h)
    if plant.has_loops:
        find_basis(plant, problem.loops)
    else:
        for i in range(len(state.v)):
            copy(problem.inertia[i], problem.factor[i])
        factorise(problem.factor, tree.row_first, tree.row_index)
        for i in range(len(state.v)):
            scene.root[i] = 1.0 / math.sqrt(problem.factor[i, i])
    for c in range(count):
        if at_robot(plant.scene, contacts, c):
            half_responses(
                plant, problem, scene.root, scene.tip[c], scene.jacobian[c], scene.response[c]
            )
    if plant.scene.has_couples:
        respond_to_couples(plant, problem, contacts, count, scene)


@compiled
def find_free_velocity(plant: Plant, state: State, work: Workspace, h: float) -> int:
    """Find the velocity without contacts, and the rows of joints; returns their number.

    :param h: time step [s]
    """
    problem, scene, tree = work.problem, work.scene, plant.tree
    v, rows = scene.velocity, 0
    copy(problem.momentum, v)
    if plant.has_loops:
        respond(plant, problem.loops, v)
    else:
        solve_factorised(problem.factor, tree.row_first, tree.row_index, v)
    for i in range(len(v)):
        low, high = problem.low[i], problem.high[i]
        near = REACH + 0.5 * abs(v[i])
        # Joints without limits have infinite ones.
        if v[i] - near < low:
            rows = add_row(scene, rows, i, LOWER_LIMIT, -low)
        if v[i] + near > high:
            rows = add_row(scene, rows, i, UPPER_LIMIT, high)
        if plant.friction[i] > 0.0:
            rows = add_row(scene, rows, i, FRICTION, 0.0)
            scene.row_box[rows - 1] = h * plant.friction[i]
    respond_to_rows(plant, problem, scene, rows)
    return rows


@compiled
def add_row(scene: SceneWork, rows: int, i: int, kind: int, bias: float) -> int:
    """Add a row of a joint; returns how many there are now.

    :param rows: how many there were
    :param i: degree of freedom
    :param kind: LOWER_LIMIT, UPPER_LIMIT or FRICTION
    :param bias: what is added to the velocity along the row
    """
    scene.row_joint[rows], scene.row_kind[rows], scene.row_bias[rows] = i, kind, bias
    return rows + 1


@compiled
def respond_to_rows(plant: Plant, problem: Problem, scene: SceneWork, rows: int) -> None:
    """Find what impulses along rows of joints do to the robot, three rows side by side.

    :param rows: how many there are
    """
    units, tree = scene.units, plant.tree
    for first in range(0, rows, 3):
        tip = -1
        if not plant.has_loops:
            tip = scene.row_joint[first]
            for k in range(first + 1, min(first + 3, rows)):
                i = scene.row_joint[k]
                common = tree.meet[i, tip] if tip >= 0 else -1
                # All on one path, or anywhere.
                tip = max(i, tip) if tip >= 0 and (common == i or common == tip) else -1
        scene.row_tip[first // 3] = tip
        for r in range(3):
            clear_along(tree, tip, units[r])
        for r in range(min(3, rows - first)):
            upper = scene.row_kind[first + r] == UPPER_LIMIT
            units[r, scene.row_joint[first + r]] = -1.0 if upper else 1.0
        half_responses(plant, problem, scene.root, tip, units, scene.row_response[first // 3])


@compiled
def collide(
    plant: Plant,
    state: State,
    objects: Objects,
    touches: Touches,
    work: Workspace,
    count: int,
    h: float,
) -> bool:
    """Let what bounces rebound, changing velocities; returns whether anything did.

    Contacts that approach each other take part, all at once, with Newton's law of restitution or
    Poisson's (scene_impacts.py); what they set in motion towards others, in the next round. So a
    blow runs through a row of balls.

    :param count: number of contacts
    :param h: time step [s]
    """
    scene, contacts = work.scene, touches.contacts
    gravity, slow = plant.scene.bodies.gravity, 0.0
    for r in range(3):
        slow += gravity[r] * gravity[r]
    slow = RESTING * h * math.sqrt(slow)
    any_of_them = False
    for c in range(count):
        any_of_them = any_of_them or restitution(plant.scene, contacts, c) > 0.0
    if not any_of_them:
        return False
    happened = False
    for _ in range(MAX_IMPACTS):
        n = 0
        for c in range(count):
            if restitution(plant.scene, contacts, c) > 0.0:
                rate = contact_velocity(plant, contacts, objects, state.v, c, 0, scene)
                if rate < -slow and contacts.gap[c] + h * rate <= 0.0:
                    scene.listed[n] = c
                    n += 1
        if n == 0:
            break
        happened, robot = True, False
        for a in range(n):
            c = scene.listed[a]
            rate = contact_velocity(plant, contacts, objects, state.v, c, 0, scene)
            scene.rebound[a] = restitution(plant.scene, contacts, c) * rate
            if plant.scene.poisson:
                scene.rebound[a] = 0.0
            robot = robot or at_robot(plant.scene, contacts, c)
        if n > PILE and not robot and not plant.scene.poisson:
            solve_blows(plant.scene, objects, contacts, scene, n)
        else:
            n = min(n, len(scene.friction))  # the others follow in the next round
            solve_rebound(plant, state, objects, contacts, scene, n)
        clear(scene.gathered)
        for a in range(n):
            for r in range(3):
                strike(plant, objects, contacts, scene, scene.listed[a], r, scene.blow[a, r])
        if plant.scene.has_couples:
            for k in range(list_couples(plant.scene, contacts, n, scene)):
                c = scene.listed[scene.couples.listed[k]]
                twist(plant, objects, contacts, scene, c, scene.couples.blow[k])
        if robot:
            full_response(plant, work.problem, scene.root, scene.gathered, scene.velocity)
            add_scaled(1.0, scene.velocity, state.v)
        turn_with_spin(objects, scene)
    return happened


@compiled
def restitution(plant: ScenePlant, contacts: SceneContacts, c: int) -> float:
    """Coefficient of restitution of a contact: zero where springs return what they take."""
    e: float = plant.table.surface[contacts.pair[c], RESTITUTION]
    return 0.0 if is_compliant(plant, contacts, c) else e


@compiled
def solve_rebound(
    plant: Plant,
    state: State,
    objects: Objects,
    contacts: SceneContacts,
    scene: SceneWork,
    n: int,
) -> None:
    """Find the impulses `blow` of listed contacts that rebound.

    :param n: number of contacts, whose velocities after the blow are in `rebound` but for
        expansion
    """
    space = scene.space
    for a in range(n):
        c = scene.listed[a]
        for r in range(3):
            scene.free[3 * a + r] = contact_velocity(
                plant, contacts, objects, state.v, c, r, scene
            )
            space.x[3 * a + r] = 0.0
        scene.free[3 * a] += scene.rebound[a]
        space.state[a], space.slip[a] = OPEN, 0.0
    assemble_matrix(plant, contacts, n, 0, scene)
    enter_problem(plant.scene, contacts, n, 0, scene)
    if plant.scene.has_couples:
        enter_couples(plant, contacts, state.v, n, 0, scene)
    scale_space(space, scene.friction)
    solve_friction_space(space, COMBINED, MAX_ITERATIONS, plant.scene.tolerance)
    for a in range(n):
        for r in range(3):
            scene.blow[a, r] = space.scale[3 * a + r] * space.x[3 * a + r]
    if plant.scene.has_couples:
        for i in range(space.sizes[MOMENTS]):
            impulse = space.scale[3 * n + i] * space.x[3 * n + i]
            scene.couples.blow[i // 3, i % 3] = impulse
    if plant.scene.poisson:
        expand(plant.scene, contacts, n, space.sizes[MOMENTS] // 3, MAX_ITERATIONS, scene)


@compiled
def turn_with_spin(objects: Objects, scene: SceneWork) -> None:
    """Find the angular velocities of the objects from their angular momenta."""
    for o in range(len(objects.spin)):
        for r in range(3):
            total = 0.0
            for s in range(3):
                total += scene.mobility[o, r, s] * objects.spin[o, s]
            scene.turning[o, r] = total


@compiled
def strike(
    plant: Plant,
    objects: Objects,
    contacts: SceneContacts,
    scene: SceneWork,
    c: int,
    r: int,
    impulse: float,
) -> None:
    """Apply an impulse at a contact to objects, and gather what it does to the robot.

    :param c: number of the contact
    :param r: 0 for the normal, 1 and 2 for tangents
    :param impulse: [N s]
    """
    if impulse == 0.0:
        return
    if plant.has_robot:
        if at_robot(plant.scene, contacts, c):
            add_along(plant.tree, scene.tip[c], impulse, scene.response[c, r], scene.gathered)
    for side in range(2):
        o = contacts.carrier[c, side] - plant.scene.first_object
        if o >= 0:
            lever, mass = scene.lever[c, side, r], plant.scene.bodies.mass[o]
            for s in range(3):
                objects.spin[o, s] += lever[s] * impulse
                objects.velocity[o, s] += lever[3 + s] * impulse / mass


@compiled
def solve_island(
    plant: Plant, objects: Objects, touches: Touches, work: Workspace, n: int, m: int, h: float
) -> bool:
    """Find the impulses of the listed contacts and of rows of joints, and apply them.

    :param n: number of contacts
    :param m: number of rows
    :param h: time step [s]
    :return: whether they solve the problem to the tolerance
    """
    scene, contacts, space = work.scene, touches.contacts, work.scene.space
    for a in range(n):
        c = scene.listed[a]
        for r in range(3):
            scene.free[3 * a + r] = contact_velocity(
                plant, contacts, objects, scene.velocity, c, r, scene
            )
        scene.free[3 * a] += normal_bias(plant.scene, contacts, c, h)
    for k in range(m):
        v = scene.velocity[scene.row_joint[k]]
        v = -v if scene.row_kind[k] == UPPER_LIMIT else v
        scene.free[3 * n + k] = v + scene.row_bias[k]
    assemble_matrix(plant, contacts, n, m, scene)
    enter_problem(plant.scene, contacts, n, m, scene)
    soften(plant.scene, contacts, n, h, scene)
    for a in range(n):
        begin_contact(space, scene.friction[a], a, touches.impulse[scene.listed[a]])
    for k in range(m):
        begin_row(space, scene, touches, n, k)
    count = 0
    if plant.scene.has_couples:
        count = enter_couples(plant, contacts, scene.velocity, n, m, scene)
        begin_couples(touches, scene, count)
    unit = scale_space(space, scene.friction)
    solved: bool = solve_friction_space(space, COMBINED, MAX_ITERATIONS, plant.scene.tolerance)
    find_residuals(space, touches.residuals, unit)
    for a in range(n):
        for r in range(3):
            touches.impulse[scene.listed[a], r] = space.scale[3 * a + r] * space.x[3 * a + r]
    for k in range(count):
        c = scene.listed[scene.couples.listed[k]]
        for r in range(3):
            i = 3 * n + m + 3 * k + r
            touches.couple[c, r] = space.scale[i] * space.x[i]
    for k in range(m):
        i, kind = scene.row_joint[k], scene.row_kind[k]
        impulse = space.scale[3 * n + k] * space.x[3 * n + k]
        scene.row_impulse[k] = impulse
        work.problem.impulse[i] += -impulse if kind == UPPER_LIMIT else impulse
        response, tip = scene.row_response[k // 3, k % 3], scene.row_tip[k // 3]
        add_along(plant.tree, tip, impulse, response, scene.gathered)
    return solved


@compiled
def end_island(plant: Plant, objects: Objects, touches: Touches, work: Workspace, n: int) -> None:
    """Apply the impulses of the listed contacts.

    :param n: number of contacts
    """
    scene, contacts = work.scene, touches.contacts
    for a in range(n):
        c = scene.listed[a]
        for r in range(3):
            impulse = touches.impulse[c, r]
            strike(plant, objects, contacts, scene, c, r, impulse)
            if plant.has_robot:
                if impulse != 0.0 and at_robot(plant.scene, contacts, c):
                    J = scene.jacobian[c, r]
                    add_along(plant.tree, scene.tip[c], impulse, J, work.problem.impulse)
        if plant.scene.has_couples:
            end_couple(plant, objects, touches, work, c)
        if touches.impulse[c, 0] > 0.0:
            for side in range(2):
                o = contacts.carrier[c, side] - plant.scene.first_object
                if o >= 0:
                    scene.touched[o] = 1


@compiled
def end_couple(plant: Plant, objects: Objects, touches: Touches, work: Workspace, c: int) -> None:
    """Apply the couple of a contact.

    :param c: number of the contact
    """
    couple, scene = touches.couple[c], work.scene
    if couple[0] != 0.0 or couple[1] != 0.0 or couple[2] != 0.0:
        twist(plant, objects, touches.contacts, scene, c, couple)
        if plant.has_robot:
            if at_robot(plant.scene, touches.contacts, c):
                for r in range(3):
                    J = scene.couples.jacobian[c, r]
                    add_along(plant.tree, scene.tip[c], couple[r], J, work.problem.impulse)


@compiled
def begin_contact(space: FrictionSpace, friction: FloatArray, a: int, impulse: FloatArray) -> None:
    """Enter the start of a contact: its impulse and what it does.

    :param friction: coefficients along both tangents, (2,)
    :param a: number of the contact in the problem
    :param impulse: along normal and tangents, (3,) [N s]
    """
    x, part = space.x, vector(2)
    for r in range(3):
        x[3 * a + r] = impulse[r]
    for r in range(2):
        part[r] = impulse[1 + r] / friction[r] if friction[r] > 0.0 else 0.0
    length = math.sqrt(part[0] * part[0] + part[1] * part[1])
    space.slip[a] = 0.0
    if impulse[0] <= 0.0:
        space.state[a] = OPEN
        for r in range(3):
            x[3 * a + r] = 0.0
    elif length < impulse[0] * (1.0 - 1e-9):
        space.state[a] = STICK
    else:
        space.state[a] = SLIDE
        for r in range(2):
            space.direction[a, r] = -part[r] / length
            # Frames turn, so that it is on the boundary but for rounding.
            x[3 * a + 1 + r] = impulse[1 + r] * (impulse[0] / length)


@compiled
def begin_row(space: FrictionSpace, scene: SceneWork, touches: Touches, n: int, k: int) -> None:
    """Enter bounds and start of a row of a joint.

    :param n: number of contacts
    :param k: number of the row
    """
    i, kind = scene.row_joint[k], scene.row_kind[k]
    space.low[k] = -scene.row_box[k] if kind == FRICTION else 0.0
    space.high[k] = scene.row_box[k] if kind == FRICTION else math.inf
    force = min(max(touches.joint_impulse[kind, i], space.low[k]), space.high[k])
    space.x[3 * n + k] = force
    space.state[n + k] = STICK if space.low[k] < force < space.high[k] else OPEN


@compiled
def find_residuals(space: FrictionSpace, residuals: FloatArray, unit: float) -> None:
    """Enter the largest residuals of the contacts of a problem; see `Residuals`.

    :param residuals: those so far, (3,)
    :param unit: unit of the velocities
    """
    x, u, power = space.x, space.u, unit * unit
    for a in range(space.sizes[CONES]):
        i = 3 * a
        conic = x[i] * u[i] + x[i + 1] * u[i + 1] + x[i + 2] * u[i + 2]
        slip = math.sqrt(u[i + 1] * u[i + 1] + u[i + 2] * u[i + 2])
        if space.sizes[MOMENTS] > 0:
            of_couples, turning = power_of_couples(space, a)
            conic += of_couples
            slip += turning
        residuals[SIGNORINI] = max(residuals[SIGNORINI], power * abs(x[i] * u[i]))
        residuals[CONIC] = max(residuals[CONIC], power * abs(conic))
        residuals[CONTACT] = max(residuals[CONTACT], power * abs(conic + x[i] * slip))


@compiled
def part_bodies(
    plant: Plant, touches: Touches, work: Workspace, n: int, pile: bool, h: float
) -> bool:
    """Find displacements that part the bodies of an island; returns whether there are any.

    They are those that forces along the normals would cause, the least that part all.

    :param n: number of contacts
    :param pile: whether there is no matrix of the island
    :param h: time step [s]
    """
    scene, contacts, G = work.scene, touches.contacts, work.scene.matrix
    deepest = 0.0
    for a in range(n):
        # What is compliant is to overlap.
        if not is_compliant(plant.scene, contacts, scene.listed[a]):
            deepest = min(deepest, contacts.gap[scene.listed[a]])
    if deepest > -PART_FROM:
        return False
    push, most = scene.push, RETURN_SPEED * h
    # How far bodies go although they have no speed: levers make it more than the depth.
    scene.room.shifted[0] = max(scene.room.shifted[0], 4.0 * min(most, -deepest))
    if pile:
        part_pile(plant.scene, contacts, scene, n, most)
        return True
    for a in range(n):
        push[a] = 0.0
    for _ in range(PART_SWEEPS):
        change = 0.0
        for a in range(n):
            if G[3 * a, 3 * a] <= 0.0 or is_compliant(plant.scene, contacts, scene.listed[a]):
                continue
            # What is apart may come nearer.
            left = max(contacts.gap[scene.listed[a]], -most)
            for b in range(n):
                left += G[3 * a, 3 * b] * push[b]
            new = max(0.0, push[a] - left / G[3 * a, 3 * a])
            change = max(change, abs(new - push[a]) * G[3 * a, 3 * a])
            push[a] = new
        if change <= 1e-3 * min(most, -deepest):
            break
    clear(scene.gathered_push)
    robot = False
    for a in range(n):
        c = scene.listed[a]
        if push[a] == 0.0:
            continue
        if at_robot(plant.scene, contacts, c):
            robot = True
            response = scene.response[c, 0]
            add_along(plant.tree, scene.tip[c], push[a], response, scene.gathered_push)
        for side in range(2):
            o = contacts.carrier[c, side] - plant.scene.first_object
            if o >= 0:
                add_scaled(push[a], scene.lever_response[c, side, 0], scene.object_push[o])
    if robot:
        full_response(plant, work.problem, scene.root, scene.gathered_push, scene.turned)
        add_scaled(1.0, scene.turned, scene.pushed)
    return True


@compiled
def end_robot(
    plant: Plant, state: State, touches: Touches, work: Workspace, rows: int, h: float
) -> None:
    """Find the velocity of the robot at the end of the step.

    :param rows: number of rows of joints
    :param h: time step [s]
    """
    scene, next_v, counters = work.scene, work.motion.next_v, state.counters
    full_response(plant, work.problem, scene.root, scene.gathered, next_v)
    add_scaled(1.0, scene.velocity, next_v)
    if plant.has_loops:
        keep_loop_force(plant, state, work.problem, next_v, h)
    limited, guarded = False, False
    for kind in range(3):
        clear(touches.joint_impulse[kind])
    for k in range(rows):
        i, kind = scene.row_joint[k], scene.row_kind[k]
        touches.joint_impulse[kind, i] = scene.row_impulse[k]
        if kind != FRICTION and touches.joint_impulse[kind, i] > 0.0:
            # The guard on the speed is one more pair of limits, counted apart from the others.
            if abs(next_v[i]) >= plant.speed[i] * (1.0 - 1e-9):
                guarded = True
            else:
                limited = True
    counters[LIMITED] += limited
    counters[GUARDED] += guarded


@compiled
def move_robot_apart(plant: Plant, work: Workspace) -> None:
    """Add the displacements that part bodies to `next_q`."""
    motion = work.motion
    copy(work.scene.pushed, motion.displacement)
    move(plant, motion, motion.next_q)
    if plant.has_loops:
        close_positions(plant, motion, work.dynamics, work.problem.loops)
    if plant.has_free_bases:
        # Where inertia is another, the same momentum is another velocity.
        correct_free_bases(plant, work.dynamics, motion, work.free_bases, False)
