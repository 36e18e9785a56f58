# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Coulomb friction and limits of a joint as one law between its velocity and its impulse.

The law is a falling staircase, the impulse p against the velocity v at the end of the step (F h is
the box of friction, `low` and `high` are the velocities that just reach the limits of the joint
within the step):

    p   |LOWER             v = low             p >= F h            at the lower limit (inelastic)
        |____ BACKWARD     low < v < 0         p = F h             slides back
            |  STICK       v = 0              -F h <= p <= F h     sticks: exactly zero
            |____ FORWARD  0 < v < high        p = -F h            slides forward
                 |UPPER    v = high            p <= -F h           at the upper limit

The segments are numbered from -2 to 2.
"""

from __future__ import annotations

from typing import NamedTuple

from rbd_ros.compiler.loops import compiled

LOWER, BACKWARD, STICK, FORWARD, UPPER = -2, -1, 0, 1, 2

#: No segment yet, for `next_segment`.
NOWHERE = 9

#: Relative excess over the impulse of friction at which a sticking joint breaks away: far above
#: rounding, far below the accuracy of any friction value.
BREAKAWAY = 1e-9


class JointLaw(NamedTuple):
    """The law of one joint in a step.

    :param box: impulse of friction F h
    :param low: minimum velocity
    :param high: maximum velocity
    """

    box: float
    low: float
    high: float


@compiled
def held_velocity(segment: int, low: float, high: float) -> float:
    """Return the velocity that the segments LOWER, STICK and UPPER prescribe."""
    if segment == LOWER:
        return low
    if segment == UPPER:
        return high
    return 0.0


@compiled
def is_held(segment: int) -> bool:
    """Return whether the segment prescribes the velocity instead of the impulse."""
    return segment == LOWER or segment == STICK or segment == UPPER


@compiled
def friction_impulse(segment: int, box: float) -> float:
    """Return the impulse that the segments BACKWARD and FORWARD prescribe."""
    return box if segment == BACKWARD else -box


@compiled
def next_segment(
    law: JointLaw, segment: int, v: float, p: float, mobility: float, slack: float
) -> int:
    """Return the segment where the line of slope 1/`mobility` through (v, p) meets the law.

    If (v, p) is on the law, it is the present segment, for any mobility. Without friction all
    velocities between the limits are FORWARD.

    :param segment: where (v, p) was computed
    :param v: velocity at the end of the step
    :param p: impulse of the joint's friction and limits
    :param mobility: change of velocity per impulse, a positive estimate
    :param slack: impulse by which rounding may move a held joint off its part of the law
    """
    box = law.box
    # A sticking joint stays unless its law is clearly violated: near the edge of the box, rounding
    # would let Newton's method alternate between two segments.
    slack += BREAKAWAY * box
    if segment == STICK and box > 0.0 and abs(p) <= box + slack:
        return STICK
    if segment == LOWER and p >= box - slack:
        return LOWER
    if segment == UPPER and p <= slack - box:
        return UPPER
    # The line rises and the law falls, so they meet once. The line's velocity at p = 0 decides:
    # for the lines through the corners of the law at v = 0, it is +-mobility * box.
    u = v - mobility * p
    if u + mobility * box < law.low:
        return LOWER
    if u - mobility * box > law.high:
        return UPPER
    if u > mobility * box or box == 0.0:
        return FORWARD
    return BACKWARD if u < -mobility * box else STICK


@compiled
def law_impulse(law: JointLaw, u: float, mobility: float) -> float:
    """Return the impulse of the law for a joint with velocity u + mobility p: exact for one joint.

    :param u: velocity without the impulse
    :param mobility: change of velocity per impulse
    """
    if u > mobility * law.box:
        v = u - mobility * law.box
    elif u < -mobility * law.box:
        v = u + mobility * law.box
    else:
        v = 0.0
    # Limits last: they have priority over friction, and stop a joint without rebound. The impulse
    # is the missing velocity over the mobility.
    return (min(max(v, law.low), law.high) - u) / mobility
