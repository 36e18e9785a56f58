"""What acts on the robot from outside: external wrenches and the patches of the ground."""

from __future__ import annotations

from rbd_ros.compiler.loops import call_kernel, compiled, merged, vector
from rbd_ros.contact.detection import (
    body_velocities,
    contact_jacobian,
    contact_point,
    near_ground,
    place,
)
from rbd_ros.contact.law import relaxed_patch
from rbd_ros.simulation.linear import add_scaled, clear, copy, dot
from rbd_ros.simulation.plant import CONTACTS, DEFORMED, DROPPED, FOUND, Memory, Plant, WRENCHES

#: Displacement of a free patch below which it is taken to be at rest [m].
AT_REST = 1e-12

#: Added to `touching` of points that have been dealt with.
DONE = 2


@compiled
def find_drive(plant: Plant, memory: Memory) -> bool:
    """Find `drive`, torques with external wrenches; returns whether `kinematics` was found too."""
    copy(memory.applied, memory.drive)
    if memory.counters[WRENCHES] == 0:
        return False
    call_kernel(plant.contact_kinematics, memory.state, memory.kinematics)
    add_wrenches(plant, memory)
    return True


@compiled
def survey(plant: Plant, memory: Memory, h: float) -> int:
    """Find `drive` and the contact points near the ground at the present state.

    :return: number of contact points near the ground
    """
    placed = find_drive(plant, memory)
    memory.counters[FOUND] = 0
    if len(plant.shapes.kind) == 0:
        return 0
    if not placed:
        call_kernel(plant.contact_kinematics, memory.state, memory.kinematics)
    body_velocities(
        memory.columns,
        plant.parent,
        plant.dof_first,
        plant.tree_index,
        plant.tree_ratio,
        memory.v,
        memory.velocities,
    )
    count, dropped = near_ground(
        plant.shapes,
        memory.poses,
        memory.velocities,
        plant.plane,
        plant.offset,
        h,
        memory.found_point,
        memory.found_shape,
        memory.found_position,
        memory.gap,
    )
    memory.counters[DROPPED] += dropped
    memory.counters[FOUND] = count
    for c in range(count):
        point, body = memory.found_point[c], plant.shapes.body[memory.found_shape[c]]
        contact_jacobian(
            memory.columns,
            plant.support,
            plant.support_first[body],
            plant.support_first[body + 1],
            plant.tree_index,
            plant.tree_ratio,
            memory.found_position[c],
            plant.plane,
            memory.jacobian[c],
        )
        if memory.touching[point] == 1:
            memory.patch_z[point] = memory.gap[c]  # touching means z = p
    return count


@merged
def add_wrenches(plant: Plant, memory: Memory) -> None:
    """Add the generalized force J^T f of all external wrenches to `drive`."""
    total, point = memory.wrenches, vector(3)
    for i in range(len(total)):
        clear(total[i])
    for w in range(len(memory.wrench_use)):
        body = memory.wrench_use[w, 0]
        if memory.wrench_use[w, 2] == 0:
            continue
        moment, force = memory.wrench_moment[w], memory.wrench_force[w]
        clear(point)
        if memory.wrench_use[w, 1] == 1:
            place(memory.poses[body], memory.wrench_point[w], point)
        for r in range(3):
            s, t = (r + 1) % 3, (r + 2) % 3
            total[body, r] += moment[r] + point[s] * force[t] - point[t] * force[s]
            total[body, 3 + r] += force[r]
    for i in range(len(plant.parent) - 1, 0, -1):
        for k in range(plant.dof_first[i], plant.dof_first[i + 1]):
            force = plant.tree_ratio[k] * dot(memory.columns[k], total[i])
            memory.drive[plant.tree_index[k]] += force
        add_scaled(1.0, total[i], total[plant.parent[i]])


@compiled
def let_patches_follow(plant: Plant, memory: Memory, count: int, h: float) -> None:
    """Move all surface patches to the end of the step (11.76, 11.77) under their forces."""
    counters, z, x, touching = memory.counters, memory.patch_z, memory.patch_x, memory.touching
    counters[CONTACTS] = 0
    if counters[DEFORMED] == 0 and count == 0:
        return
    K, D, K_t, D_t = plant.contact[0], plant.contact[1], plant.contact[2], plant.contact[3]
    counters[DEFORMED] = 0
    for c in range(count):
        point, force = memory.found_point[c], memory.contact_force[c]
        z[point] = relaxed_patch(z[point], force[0], K, D, h)
        x[point, 0] = relaxed_patch(x[point, 0], force[1], K_t, D_t, h)
        x[point, 1] = relaxed_patch(x[point, 1], force[2], K_t, D_t, h)
        touching[point] = DONE + (1 if force[0] > 0.0 else 0)
    for point in range(len(z)):
        if touching[point] >= DONE:
            touching[point] -= DONE
            counters[CONTACTS] += touching[point]
        elif touching[point] == 1 or z[point] != 0.0 or x[point, 0] != 0.0 or x[point, 1] != 0.0:
            touching[point] = 0
            z[point] = relaxed_patch(z[point], 0.0, K, D, h)
            x[point, 0] = relaxed_patch(x[point, 0], 0.0, K_t, D_t, h)
            x[point, 1] = relaxed_patch(x[point, 1], 0.0, K_t, D_t, h)
        if (
            touching[point] == 0
            and max(abs(z[point]), abs(x[point, 0]), abs(x[point, 1])) < AT_REST
        ):
            z[point] = x[point, 0] = x[point, 1] = 0.0
        else:
            counters[DEFORMED] += 1


@compiled
def press_patches(plant: Plant, memory: Memory) -> int:
    """Give contact points inside the ground a patch that touches them; others one at rest.

    :return: the contact point that is deepest, -1 if none is inside
    """
    call_kernel(plant.contact_kinematics, memory.state, memory.kinematics)
    memory.counters[DEFORMED] = 0
    deepest, at = 0.0, -1
    point = vector(3)
    for s in range(len(plant.shapes.kind)):
        for number in range(plant.shapes.first[s], plant.shapes.first[s + 1]):
            contact_point(plant.shapes, s, number, memory.poses, plant.plane[0], point)
            gap = dot(plant.plane[0], point) - plant.offset
            memory.patch_z[number] = min(gap, 0.0)
            memory.patch_x[number, 0] = memory.patch_x[number, 1] = 0.0
            memory.touching[number] = 0
            if gap < 0.0:
                memory.touching[number] = 1
                memory.counters[DEFORMED] += 1
            if gap < deepest:
                deepest, at = gap, number
    return at
