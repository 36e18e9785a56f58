# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Warm start of a step in a world: the previous impulses, contact by contact."""

from __future__ import annotations

import math

from rbd_ros.compiler.loops import compiled
from rbd_ros.simulation.scene.scene_state import BEFORE, CHANGING, ContactState, NOW
from rbd_ros.simulation.stepping.linear import clear, copy

#: Minimum ratio of squared distances for preferring a nearer contact to one with the same feature,
#: and its maximum squared distance [m^2].
MUCH_NEARER, SAME_PLACE = 16.0, 1e-4


@compiled
def store_impulses(contact_state: ContactState) -> None:
    """Store the impulses of the last step, in world coordinates."""
    contacts, count = contact_state.contacts, contact_state.counts[NOW]
    contact_state.counts[BEFORE] = count
    for c in range(count):
        contact_state.old_pair[c] = contacts.pair[c]
        contact_state.old_feature[c] = contacts.feature[c]
        contact_state.old_steady[c] = contact_state.steady[c]
        copy(contacts.position[c], contact_state.old_position[c])
        for s in range(3):
            total = 0.0
            for r in range(3):
                # In world coordinates: tangents may change between steps.
                total += contact_state.impulse[c, r] * contacts.frame[c, r, s]
            contact_state.old_impulse[c, s] = total
        if len(contact_state.moment) > 0:
            for s in range(3):
                total = 0.0
                for r in range(3):
                    total += contact_state.moment[c, r] * contacts.frame[c, r, s]
                contact_state.old_moment[c, s] = total


@compiled
def load_impulses(contact_state: ContactState, count: int) -> None:
    """Start from the previous impulses of the same contacts.

    Contacts are the same if their features are, unless another one was much nearer: with collinear
    edges, rounding decides which features touch.

    :param count: number of contacts
    """
    contacts, first, before = contact_state.contacts, 0, contact_state.counts[BEFORE]
    for c in range(count):
        pair = contacts.pair[c]
        clear(contact_state.impulse[c])
        contact_state.steady[c] = CHANGING
        if len(contact_state.moment) > 0:
            clear(contact_state.moment[c])
        # Both lists are in the order of the pairs: merging them is linear.
        while first < before and contact_state.old_pair[first] < pair:
            first += 1
        same, nearest, at = -1, -1, first
        least, own = math.inf, math.inf
        while at < before and contact_state.old_pair[at] == pair:
            away = 0.0
            for r in range(3):
                part = contact_state.old_position[at, r] - contacts.position[c, r]
                away += part * part
            if away < least:
                nearest, least = at, away
            if contact_state.old_feature[at] == contacts.feature[c]:
                same, own = at, away
            at += 1
        if own > MUCH_NEARER * least:
            same = nearest if least < SAME_PLACE else -1
        if same >= 0:
            contact_state.steady[c] = contact_state.old_steady[same]
            for r in range(3):
                total = 0.0
                for s in range(3):
                    total += contacts.frame[c, r, s] * contact_state.old_impulse[same, s]
                contact_state.impulse[c, r] = total
            if len(contact_state.moment) > 0:
                for r in range(3):
                    total = 0.0
                    for s in range(3):
                        total += contacts.frame[c, r, s] * contact_state.old_moment[same, s]
                    contact_state.moment[c, r] = total
