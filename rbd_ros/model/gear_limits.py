# SPDX-License-Identifier: Apache-2.0
"""Limits of joints that others mimic, with those of the joints that follow them.

With q_f = r q + o, a follower's position limits are (limit - o) / r, exchanged where r < 0; its
speed limit is divided by |r|. Its effort limit is multiplied by |r|: by power, an effort tau that
goes to the follower whole is tau / r there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
import math
from typing import Dict, List, Mapping, Sequence, Tuple

from rbd_ros.model.model_parts import Body, Coupling, JointLimits

#: Part of a limit, or of a range, below which a difference is rounding of the description.
_ROUNDING = 1e-6

#: Names of the limits in messages, the fields that they are in, and their units.
_NAMES = (
    ('positions', ('lower', 'upper'), 'rad or m'),
    ('speed', ('velocity',), 'rad/s or m/s'),
    ('effort', ('effort',), 'N m or N'),
)


@dataclass(frozen=True)
class GearLimits:
    """Limits of independent joints, those of the joints that follow them among them.

    :param limits: by number of the body
    :param notices: which limits became narrower, and which contradict each other
    """

    limits: Mapping[int, JointLimits]
    notices: Tuple[str, ...]


def gear_limits(bodies: Sequence[Body], couplings: Sequence[Coupling]) -> GearLimits:
    """Return limits of independent joints, with which those of their mimic joints hold as well.

    A speed or an effort limit 0 of a follower is one that the description does not know, and so
    are position limits that leave no room: those are left out, with a notice.

    :param bodies: bodies 1, 2, ... of the tree
    :param couplings: its gears
    """
    followers = {coupling.body for coupling in couplings}
    limits: Dict[int, JointLimits] = {
        i: body.limits for i, body in enumerate(bodies, start=1) if i not in followers
    }
    notices: List[str] = []
    narrowing: Dict[int, List[str]] = {}
    for coupling in couplings:
        name, before = bodies[coupling.body - 1].joint_name, limits[coupling.master]
        own = bodies[coupling.body - 1].limits
        geared = _transformed(own, coupling)
        stands_outside = coupling.ratio == 0.0 and not own.lower <= coupling.offset <= own.upper
        if stands_outside or not _leaves_room(before, geared):
            notices.append(_contradiction(bodies, coupling, before))
            geared = replace(geared, lower=-math.inf, upper=math.inf)
        after = _narrowed(before, geared)
        if after != before:
            limits[coupling.master] = after
            narrowing.setdefault(coupling.master, []).append(name)
    for i, names in narrowing.items():
        changes = _changes(bodies[i - 1].limits, limits[i])
        if changes:
            notices.append(
                f'joint {bodies[i - 1].joint_name!r}: the limits of the joints that mimic it, '
                f'{", ".join(map(repr, names))}, also limit it: {changes}'
            )
    return GearLimits(limits, tuple(notices))


def _transformed(limits: JointLimits, coupling: Coupling) -> JointLimits:
    """Return the limits of a follower as those of its master; none if it never moves."""
    ratio, offset = coupling.ratio, coupling.offset
    if ratio == 0.0:
        return JointLimits()

    def positions(lower: float, upper: float) -> Tuple[float, float]:
        # Infinite ones by their sign, whatever the ratio.
        one, other = (lower - offset) / ratio, (upper - offset) / ratio
        return min(one, other), max(one, other)

    lower, upper = positions(limits.lower, limits.upper)
    soft_lower, soft_upper = positions(limits.soft_lower, limits.soft_upper)
    return JointLimits(
        lower,
        upper,
        velocity=limits.velocity / abs(ratio) if limits.velocity > 0.0 else math.inf,
        effort=limits.effort * abs(ratio) if limits.effort > 0.0 else math.inf,
        soft_lower=soft_lower,
        soft_upper=soft_upper,
    )


def _leaves_room(given: JointLimits, geared: JointLimits) -> bool:
    """Return whether two ranges of positions have more in common than one position."""
    room = min(given.upper, geared.upper) - max(given.lower, geared.lower)
    range_ = min(given.upper - given.lower, geared.upper - geared.lower)
    # What cannot move by itself need not be able to.
    return room > _ROUNDING * range_ or (range_ == 0.0 and room >= 0.0) or room == math.inf


def _narrowed(given: JointLimits, geared: JointLimits) -> JointLimits:
    """Return limits that keep both, those `given` where the others differ by rounding alone."""

    def most(x: float, y: float, size: float) -> float:
        return y if y < x and not x - y <= _ROUNDING * size else x

    width = given.upper - given.lower
    size = width if width < math.inf else 0.0
    lower = -most(-given.lower, -geared.lower, size)
    upper = most(given.upper, geared.upper, size)
    soft_lower = max(given.soft_lower, geared.soft_lower)
    soft_upper = min(given.soft_upper, geared.soft_upper)
    if not soft_lower < soft_upper:
        soft_lower, soft_upper = given.soft_lower, given.soft_upper
    velocity = most(given.velocity, geared.velocity, geared.velocity)
    if given.velocity == 0.0 and geared.velocity < math.inf:
        velocity = geared.velocity  # 0 is not known, and narrowed by any
    effort = most(given.effort, geared.effort, geared.effort)
    return JointLimits(lower, upper, velocity, effort, soft_lower, soft_upper)


def _contradiction(bodies: Sequence[Body], coupling: Coupling, given: JointLimits) -> str:
    follower, master = bodies[coupling.body - 1], bodies[coupling.master - 1]
    ends = (given.lower, given.upper) if coupling.ratio else (0.0, 0.0)
    reached = sorted(coupling.ratio * x + coupling.offset for x in ends)
    return (
        f'joint {follower.joint_name!r}: its position limits, {follower.limits.lower:g} to '
        f'{follower.limits.upper:g} rad or m, cannot be met, because joint {master.joint_name!r} '
        f'moves it from {reached[0]:.6g} to {reached[1]:.6g}. They are ignored; correct the '
        'limits, or multiplier and offset'
    )


def _changes(given: JointLimits, kept: JointLimits) -> str:
    """Return the changes to the limits of a joint, in words; '' if those shown are unchanged."""
    found = []
    for name, fields, unit in _NAMES:
        before = [getattr(given, field) for field in fields]
        after = [getattr(kept, field) for field in fields]
        if before != after:
            was, now = (' to '.join(f'{x:.6g}' for x in values) for values in (before, after))
            found.append(f'{name} {now} instead of {was} {unit}')
    return ', '.join(found)
