# SPDX-License-Identifier: Apache-2.0
"""Warm start of a step in a world: the impulses of the step before, contact by contact."""

from __future__ import annotations

import math

from rbd_ros.compiler.loops import compiled
from rbd_ros.simulation.linear import clear, copy
from rbd_ros.simulation.scene.state import BEFORE, ContactState, NOW

#: How much nearer than the same feature another contact must have been to be taken for the same
#: one, as a ratio of squares, and how near at most, squared [m^2].
MUCH_NEARER, SAME_PLACE = 16.0, 1e-4


@compiled
def remember(touches: ContactState) -> None:
    """Keep the impulses of the last step, in world coordinates."""
    contacts, count = touches.contacts, touches.counts[NOW]
    touches.counts[BEFORE] = count
    for c in range(count):
        touches.old_pair[c], touches.old_feature[c] = contacts.pair[c], contacts.feature[c]
        touches.old_steady[c] = touches.steady[c]
        copy(contacts.position[c], touches.old_position[c])
        for s in range(3):
            total = 0.0
            for r in range(3):
                total += touches.impulse[c, r] * contacts.frame[c, r, s]
            touches.old_impulse[c, s] = total
        if len(touches.moment) > 0:
            for s in range(3):
                total = 0.0
                for r in range(3):
                    total += touches.moment[c, r] * contacts.frame[c, r, s]
                touches.old_moment[c, s] = total


@compiled
def recall(touches: ContactState, count: int) -> None:
    """Begin with the impulses that the same contacts had in the step before.

    Those are the same whose features are, unless another one was much nearer: where edges are in
    line, rounding decides which features touch.

    :param count: number of contacts
    """
    contacts, first, before = touches.contacts, 0, touches.counts[BEFORE]
    for c in range(count):
        pair = contacts.pair[c]
        clear(touches.impulse[c])
        touches.steady[c] = 0
        if len(touches.moment) > 0:
            clear(touches.moment[c])
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
            touches.steady[c] = touches.old_steady[same]
            for r in range(3):
                total = 0.0
                for s in range(3):
                    total += contacts.frame[c, r, s] * touches.old_impulse[same, s]
                touches.impulse[c, r] = total
            if len(touches.moment) > 0:
                for r in range(3):
                    total = 0.0
                    for s in range(3):
                        total += contacts.frame[c, r, s] * touches.old_moment[same, s]
                    touches.moment[c, r] = total
