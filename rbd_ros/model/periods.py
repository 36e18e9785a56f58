# SPDX-License-Identifier: Apache-2.0
"""After which change of its position a joint, and all that follows it, is where it was."""

from __future__ import annotations

from fractions import Fraction
import math
from typing import Dict, List

from rbd_ros.model.joints.joint_type import JointType, MAX_LIMIT
from rbd_ros.model.model import Model
from rbd_ros.model.model_parts import JointLimits
from rbd_ros.spatial import PluckerTransform

TURN = 2.0 * math.pi
#: Most turns of a joint after which a mimic joint counts as where it was.
MAX_TURNS = 1000
#: Deviation of a multiplier from a ratio of whole numbers that is rounding in the description.
ROUNDING = 1e-9


def position_periods(model: Model) -> List[float]:
    """Return the changes of position after which joints are where they were, (nv,) [rad].

    That of a joint that turns without limits of position is 2 pi. Where mimic joints follow it by
    a fraction of its angle, it takes whole turns more until these are where they were, too. It is
    infinite for joints with limits or springs, joints that slide or have several degrees of
    degree of freedom, and joints that a mimic joint of that kind follows.
    """
    turns: Dict[int, int] = {i: int(_turns_for_ever(model, i)) for i in model.independent}
    for coupling in model.couplings:
        if coupling.ratio == 0.0 or not turns[coupling.master]:
            continue
        ratio = Fraction(coupling.ratio).limit_denominator(MAX_TURNS)
        exact = abs(float(ratio) - coupling.ratio) <= ROUNDING * abs(coupling.ratio)
        if not exact or not _turns_for_ever(model, coupling.body):
            turns[coupling.master] = 0
            continue
        # The fewest turns that are whole multiples of both numbers.
        before, own = turns[coupling.master], ratio.denominator
        turns[coupling.master] = before * own // math.gcd(before, own)
    return [
        TURN * turns[i] if 0 < turns[i] <= MAX_TURNS else math.inf
        for i in model.independent
        for _ in range(model.body(i).joint.nv)
    ]


def _turns_for_ever(model: Model, i: int) -> bool:
    """Return whether the joint of a body turns without limits, and nothing pulls it back."""
    body = model.body(i)
    return _is_unlimited(body.limits) and body.stiffness == 0.0 and _repeats(body.joint)


def _is_unlimited(limits: JointLimits) -> bool:
    lower = max(limits.lower, limits.soft_lower)
    upper = min(limits.upper, limits.soft_upper)
    return lower < -MAX_LIMIT and MAX_LIMIT < upper


def _repeats(joint: JointType) -> bool:
    """Return whether a turn more is the same place: not for joints that advance as they turn."""
    if joint.nq != 1 or joint.nv != 1 or joint.is_rheonomic:
        return False
    start, half, whole = (joint.transform([q]) for q in (0.0, 0.5 * TURN, TURN))
    return _distance(whole, start) < ROUNDING < _distance(half, start)


def _distance(a: PluckerTransform, b: PluckerTransform) -> float:
    """Return the largest difference of two transforms' numbers."""
    rows = zip((*a.E, a.r), (*b.E, b.r))
    return max(abs(float(x) - float(y)) for row in rows for x, y in zip(*row))
