# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Islands of objects in contact: each processes only its contacts."""

from types import SimpleNamespace

import numpy as np
import pytest

from rbd_ros.simulation.scene.islands import (
    find_islands,
    first_of,
    island_dofs,
    list_contacts,
    node_of_contact,
)

NV = 9
MODEL = SimpleNamespace(first_object=4)  # the world, three links


def islands_of(seed):
    """Return islands of thirty objects and random contacts, found and as graphs have them."""
    rng = np.random.default_rng(seed)
    objects, count = 30, 25
    body_id = rng.integers(0, 4 + objects, (count, 2))
    body_id[:, 1] = np.maximum(body_id[:, 1], 4)
    body_id = body_id[body_id[:, 0] != body_id[:, 1]]
    contacts, nodes, count = SimpleNamespace(body_id=body_id), objects + 1, len(body_id)
    work = SimpleNamespace(
        label=np.zeros(nodes, dtype=int),
        node_order=np.zeros(nodes, dtype=int),
        node_end=np.zeros(nodes, dtype=int),
        contact_end=np.zeros(nodes, dtype=int),
        contact_order=np.zeros(count, dtype=int),
        listed=np.zeros(count, dtype=int),
    )
    find_islands(MODEL, contacts, count, work)
    # By repeated merging.
    expected = np.arange(nodes)
    for _ in range(nodes):
        for first, second in body_id:
            a, b = max(0, first - 3), max(0, second - 3)
            if first > 0:
                expected[[a, b]] = min(expected[a], expected[b])
    return contacts, work, expected


@pytest.mark.parametrize('seed', range(6))
def test_labels_contacts_and_nodes_are_those_of_each_island(seed):
    contacts, work, expected = islands_of(seed)
    assert np.array_equal(work.label, expected)
    nodes = [work.label[node_of_contact(MODEL, contacts, c)] for c in range(len(work.listed))]
    listed = 0
    for island in range(len(work.label)):
        found = list_contacts(island, work)
        assert work.listed[:found].tolist() == np.flatnonzero(nodes == np.int64(island)).tolist()
        first, end = first_of(work.node_end, island), work.node_end[island]
        members = np.flatnonzero(work.label == island)
        assert work.node_order[first:end].tolist() == members.tolist()
        listed += found
    # All islands together list each contact once.
    assert listed == len(work.listed) > 15


def test_degrees_of_freedom_are_those_of_the_island():
    model = SimpleNamespace(scene=MODEL, speed=np.zeros(NV))
    contacts, work, _ = islands_of(1)
    for c in range(len(work.listed)):
        island = work.label[node_of_contact(MODEL, contacts, c)]
        members = int((work.label == island).sum())
        expected = 6 * members if island else NV + 6 * (members - 1)
        assert island_dofs(model, contacts, c, work) == expected
