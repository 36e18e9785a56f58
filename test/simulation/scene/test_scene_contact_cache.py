# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Persistent contacts start a step with their impulses of the previous step."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from rbd_ros.compiler.loops import allocate
from rbd_ros.simulation.scene.contact_cache import load_impulses, store_impulses
from rbd_ros.simulation.scene.scene_state import BEFORE, ContactState, NOW

SIZES = {'contacts': 4, 'moment_contacts': 4, 'nv': 0}


def remembered(rng, pairs, features, positions):
    """Return touches after a step with contacts, and their impulses and moments in the world."""
    contact_state, count = allocate(ContactState, **SIZES), len(pairs)
    frames = Rotation.random(count, random_state=rng).as_matrix()
    contact_state.contacts.pair[:count], contact_state.contacts.feature[:count] = pairs, features
    contact_state.contacts.position[:count], contact_state.contacts.frame[:count] = (
        positions,
        frames,
    )
    contact_state.impulse[:], contact_state.moment[:] = rng.normal(size=(2, 4, 3))
    contact_state.counts[NOW] = count
    recalled = [
        np.einsum('cr,crs->cs', x[:count], frames)
        for x in (contact_state.impulse, contact_state.moment)
    ]
    store_impulses(contact_state)
    assert contact_state.counts[BEFORE] == count
    return contact_state, *recalled


def now(contact_state, rng, pair, feature, position):
    """Return the initial impulse of a single contact, in the world."""
    frame = Rotation.random(random_state=rng).as_matrix()
    contacts = contact_state.contacts
    contacts.pair[0], contacts.feature[0] = pair, feature
    contacts.position[0], contacts.frame[0] = position, frame
    load_impulses(contact_state, 1)
    return contact_state.impulse[0] @ frame, contact_state.moment[0] @ frame


PLACES = np.array([[1.0, 2.0, 3.0], [1.001, 2.0, 3.0], [1.1, 2.0, 3.0]])


@pytest.mark.parametrize(
    'pair, feature, place, same',
    [
        (7, 5, PLACES[1], 1),  # the same feature
        (7, 4, PLACES[0] + 1e-6, 0),
        (7, 6, PLACES[0] + 1e-6, 0),  # the same place, though another feature was there
        (7, 5, PLACES[0] + 3e-4, 1),  # somewhat nearer to another one
        (7, 5, PLACES[0] + 1e-5, 0),  # much nearer
        (7, 8, PLACES[0] + 1e-6, 0),  # a new feature at an old place
        (7, 8, PLACES[0] - [0.02, 0, 0], None),  # and one at a new place
        (3, 5, PLACES[0], None),  # pairs that did not touch
        (8, 5, PLACES[0], None),
    ],
)
def test_a_contact_starts_with_the_cached_impulse_of_its_feature(rng, pair, feature, place, same):
    contact_state, impulses, moments = remembered(rng, [7, 7, 7], [4, 5, 6], PLACES)
    impulse, moment = now(contact_state, rng, pair, feature, place)
    expected = np.zeros((2, 3)) if same is None else (impulses[same], moments[same])
    assert np.allclose(impulse, expected[0], atol=1e-14)
    assert np.allclose(moment, expected[1], atol=1e-14)


def test_contacts_of_several_pairs_find_their_own(rng):
    contact_state, impulses, _ = remembered(rng, [2, 5, 5, 9], [1, 1, 2, 1], np.zeros((4, 3)))
    contacts = contact_state.contacts
    contacts.pair[:3], contacts.feature[:3] = [5, 7, 9], [2, 1, 1]
    load_impulses(contact_state, 3)
    found = np.einsum('cr,crs->cs', contact_state.impulse[:3], contacts.frame[:3])
    assert np.allclose(found, [impulses[2], np.zeros(3), impulses[3]], atol=1e-14)
