"""Bodies that overlap are parted by moving them, which gives them no velocity."""

from __future__ import annotations

from rbd_ros.compiler.loops import compiled
from rbd_ros.simulation.free_base import correct_free_bases
from rbd_ros.simulation.linear import add_scaled, clear, copy
from rbd_ros.simulation.loop_closing import close_positions
from rbd_ros.simulation.moving import move, RETURN_SPEED
from rbd_ros.simulation.plant import Plant
from rbd_ros.simulation.scene.compliance import is_compliant
from rbd_ros.simulation.scene.islands import at_robot
from rbd_ros.simulation.scene.paths import add_along, full_response
from rbd_ros.simulation.scene.pile import part_pile, PART_SWEEPS
from rbd_ros.simulation.scene.problem import assemble_matrix, entry
from rbd_ros.simulation.scene.state import Touches
from rbd_ros.simulation.workspace import Workspace

#: Depth from which on bodies are parted [m]: above rounding, below what anybody can see.
PART_FROM = 1e-9


@compiled
def part_bodies(
    plant: Plant, touches: Touches, work: Workspace, n: int, pile: bool, h: float
) -> bool:
    """Find displacements that part the bodies of an island; returns whether there are any.

    They are those that forces along the normals would cause, the least that part all.

    :param n: number of contacts
    :param pile: whether there is no room for a matrix of the island
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
    if not pile and scene.has_matrix[0] == 0:
        assemble_matrix(plant, contacts, n, 0, scene)
    push, most = scene.push, RETURN_SPEED * h
    # How far bodies go although they have no speed: levers make it more than the depth.
    scene.room.shifted[0] = max(scene.room.shifted[0], 4.0 * min(most, -deepest))
    if plant.scene.has_objects:
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
                left += entry(scene, 3 * a, 3 * b) * push[b]
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
