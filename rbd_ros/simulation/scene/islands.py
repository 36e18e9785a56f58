# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Islands of the robot and of objects in contact."""

from __future__ import annotations

from rbd_ros.array_types import IntArray
from rbd_ros.collision.scene.scene_arrays import SceneContacts
from rbd_ros.compiler.loops import compiled
from rbd_ros.simulation.records.simulation_model import SimulationModel
from rbd_ros.simulation.scene.scene_state import SceneModel, SceneWork


@compiled
def node_of(model: SceneModel, body: int) -> int:
    """Return the owner of a body: -1 the world, 0 the robot, from 1 the objects."""
    if body == 0:
        return -1
    return 0 if body < model.first_object else body - model.first_object + 1


@compiled
def at_robot(model: SceneModel, contacts: SceneContacts, c: int) -> bool:
    """Return whether the robot is at a contact."""
    first, second = contacts.body_id[c, 0], contacts.body_id[c, 1]
    near: bool = 0 < first < model.first_object or 0 < second < model.first_object
    return near


@compiled
def find_islands(model: SceneModel, contacts: SceneContacts, count: int, work: SceneWork) -> None:
    """Label robot and objects: those in contact have the same label.

    :param count: number of contacts
    """
    label = work.label
    # Union-find (Tarjan 1975) over the robot and objects; the static world connects nothing.
    for k in range(len(label)):
        label[k] = k
    for c in range(count):
        a = node_of(model, contacts.body_id[c, 0])
        b = node_of(model, contacts.body_id[c, 1])
        if a >= 0 and b >= 0:
            one, other = root(work, a), root(work, b)
            # The smaller number is the root: labels do not depend on the order of contacts.
            label[max(one, other)] = min(one, other)
    # Afterwards each label is its root.
    for k in range(len(label)):
        label[k] = root(work, k)
    # Counting sort of contacts and nodes by island.
    for k in range(len(label)):
        work.node_end[k] = work.contact_end[k] = 0
    for k in range(len(label)):
        work.node_end[label[k]] += 1
    for c in range(count):
        work.contact_end[label[node_of_contact(model, contacts, c)]] += 1
    nodes = touching = 0
    for k in range(len(label)):
        work.node_end[k], nodes = nodes, nodes + work.node_end[k]
        work.contact_end[k], touching = touching, touching + work.contact_end[k]
    for k in range(len(label)):
        work.node_order[work.node_end[label[k]]] = k
        work.node_end[label[k]] += 1
    for c in range(count):
        island = label[node_of_contact(model, contacts, c)]
        work.contact_order[work.contact_end[island]] = c
        work.contact_end[island] += 1


@compiled
def root(work: SceneWork, node: int) -> int:
    """Return the present root of a node."""
    label, at = work.label, node
    for _ in range(len(label)):
        if label[at] == at:
            break
        # Path halving shortens later searches.
        label[at] = label[label[at]]
        at = label[at]
    return at


@compiled
def node_of_contact(model: SceneModel, contacts: SceneContacts, c: int) -> int:
    """Return the robot or object at a contact that defines its island."""
    node: int = node_of(model, contacts.body_id[c, 0])
    if node < 0:
        node = node_of(model, contacts.body_id[c, 1])
    return node


@compiled
def first_of(end: IntArray, island: int) -> int:
    """Return the first index of an island in an order by islands, from the ends of the parts."""
    first: int = end[island - 1] if island > 0 else 0
    return first


@compiled
def list_contacts(island: int, work: SceneWork) -> int:
    """List the contacts of an island in `listed`, in their order; return their number.

    :param island: label
    """
    first = first_of(work.contact_end, island)
    found: int = work.contact_end[island] - first
    for a in range(found):
        work.listed[a] = work.contact_order[first + a]
    return found


@compiled
def island_dofs(model: SimulationModel, contacts: SceneContacts, c: int, work: SceneWork) -> int:
    """Return the number of degrees of freedom of the island that a contact is in.

    :param c: number of the contact
    """
    island = work.label[node_of_contact(model.scene, contacts, c)]
    nodes = work.node_end[island] - first_of(work.node_end, island)
    # Node 0 is the robot.
    dofs: int = len(model.speed) + 6 * (nodes - 1) if island == 0 else 6 * nodes
    return dofs
