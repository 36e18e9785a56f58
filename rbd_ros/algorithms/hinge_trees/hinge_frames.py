# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Denavit-Hartenberg frames of trees of hinges, as screws between joint axes (book 4.3, A.4).

Three screws lead from one axis to the next: about z to the common perpendicular, about that, which
is x, and about z to the frame of the outer body. Angles are split into quarter turns and a
remainder, as most of them in descriptions are quarter turns up to the last digits.
"""

from __future__ import annotations

import math
from typing import Any, Dict, List, Mapping, NamedTuple, Sequence, Tuple

from rbd_ros.model import Body, Model, ModelError
from rbd_ros.model.joints import Revolute
from rbd_ros.spatial import linear3, PluckerTransform
from rbd_ros.spatial.scalar import cos, is_zero, Scalar, sin

# Rounding of a sine, a cosine, or a length of unit order. No larger: axes that a description
# leaves parallel up to 1e-13 are not parallel, and results would show it.
_ROUNDING = 2e-15
# Maximum distance along an axis as a multiple of that between two frames: nearly parallel axes
# have larger ones, which would cost digits.
_NEAR = 3.0
_FEW = 15  # bodies of a small model


class Turn(NamedTuple):
    """Angle, split into quarter turns and a remainder.

    :param quarters: number of quarter turns, 0 to 3, whose sines and cosines are exact
    :param rest: remainder, at most an eighth of a turn [rad]
    """

    quarters: int
    rest: float

    @classmethod
    def to(cls, x: float, y: float) -> Turn:
        """Turn from the x axis to the point (x, y); a remainder at rounding level is zero."""
        if abs(y) > abs(x):
            quarters = 1 if y > 0 else 3
        else:
            quarters = 2 if x < 0 else 0
        for _ in range(quarters):
            x, y = y, -x
        rest = math.atan2(y, x)
        return cls(quarters, 0.0 if abs(rest) <= _ROUNDING else rest)

    def plus(self, other: Turn) -> Turn:
        """Return both turns."""
        rest = self.rest + other.rest
        more = round(rest / (0.5 * math.pi))
        return Turn((self.quarters + other.quarters + more) % 4, rest - more * 0.5 * math.pi)

    def minus(self, other: Turn) -> Turn:
        """Return this turn less the other."""
        return self.plus(Turn(-other.quarters % 4, -other.rest))

    def cosine_and_sine(self, angle: Scalar = 0.0) -> Tuple[Scalar, Scalar]:
        """Return the cosine and sine of this turn and an angle.

        Quarter turns are not added, but swapped.

        :param angle: a further angle, such as that of a joint [rad]
        """
        if abs(self.rest) > _ROUNDING:
            angle = angle + self.rest
        c, s = cos(angle), sin(angle)
        for _ in range(self.quarters):
            c, s = -s, c
        return c, s


class HingeScrews(NamedTuple):
    """Turns about, and distances along, z, x and z from an axis to the next [m].

    If the common perpendicular is far away, as for nearly parallel axes, there is a translation b
    along y before the last; d1 is zero then.
    """

    theta0: Turn
    d0: float
    alpha: Turn
    a: float
    theta1: Turn
    d1: float
    b: float = 0.0

    @property
    def direction(self) -> float:
        """1 if the axes are parallel, -1 if they point in opposite directions, else 0."""
        return 0.0 if self.alpha.rest != 0.0 else (1.0, 0.0, -1.0, 0.0)[self.alpha.quarters]

    def with_d1(self, d1: float) -> HingeScrews:
        """Return the screws between the same parallel axes, with their perpendicular elsewhere."""
        d0 = self.d0 + self.direction * (self.d1 - d1)
        least = _ROUNDING * (abs(self.d0) + abs(self.d1))
        return self._replace(
            d0=0.0 if abs(d0) <= least else d0, d1=0.0 if abs(d1) <= least else d1
        )


class HingeFrames(NamedTuple):
    """Frames of all bodies along the hinges' axes.

    :param subtree: bodies of the subtree of each body
    :param favorite: child of the largest subtree of each body that has any, and of the base, 0:
        the body's frame is where its first screw is the identity
    :param screws: screws from the axis of each body's parent, or that of the base, to its own
    """

    subtree: Mapping[int, Sequence[int]]
    favorite: Mapping[int, int]
    screws: Mapping[int, HingeScrews]


def hinge_frames(model: Model) -> HingeFrames:
    """Return the frames of the bodies of a tree of revolute joints.

    The common perpendicular of parallel axes is arbitrary. Here it goes through the frame of the
    inner one, so that of consecutive joints only the last translates, which costs least there, and
    nothing at the end of a chain; next to the base, through the frame of the outer one.

    :raises ModelError: if a joint is not revolute, naming it
    """
    subtree = {i: model.subtree(i) for i, _ in model.outward()}
    favorite: Dict[int, int] = {}
    for i, body in model.outward():
        others = favorite.get(body.parent, i)
        favorite[body.parent] = max(others, i, key=lambda k: (len(subtree[k]), -k))
    screws = {i: _between_axes(model, i) for i, _ in model.outward()}
    upright: List[int] = []
    for i, body in model.outward():
        if screws[i].direction and (body.parent == 0 or body.parent in upright):
            upright.append(i)
    for i in reversed(upright):
        if i in favorite:
            screws[i] = screws[i].with_d1(-screws[favorite[i]].d0)
    for i, body in model.outward():
        if screws[i].direction and i not in upright:
            first = screws[favorite[body.parent]]
            d0 = -screws[body.parent].d1 if first.direction else first.d0
            # d1 is zero so far
            screws[i] = screws[i].with_d1(screws[i].direction * (screws[i].d0 - d0))
    return HingeFrames(subtree, favorite, screws)


def has_free_hinges(model: Model) -> bool:
    """Return whether all joints of a model are revolute, without mimic joints.

    :param model: the model
    """
    return not model.couplings and all(isinstance(x.joint, Revolute) for x in model.bodies)


def has_few_free_hinges(model: Model) -> bool:
    """Return whether `has_free_hinges` holds and a model is small enough to compile fast.

    For larger ones, counting operations both ways takes longer than it gains.
    """
    return len(model.bodies) <= _FEW and has_free_hinges(model)


def require_free_hinges(
    model: Model, runtime_bodies: Sequence[int], chosen: Mapping[str, Any]
) -> None:
    """Check that all joints of a model are revolute, without mimic joints.

    :param runtime_bodies: bodies that get inertia at run time
    :param chosen: compile-time choices
    :raises ModelError: naming the first joint that violates this
    """
    for body in model.bodies:
        to_axis(body)
    for coupling in model.couplings:
        name = model.body(coupling.body).joint_name
        raise ModelError(
            f'joint {name!r} is a mimic joint; this function supports independent revolute '
            'joints only'
        )


def to_axis(body: Body) -> PluckerTransform:
    """Return a rotation from body coordinates to some whose z axis is that of the joint.

    :param body: body of a revolute joint
    :raises ModelError: unless the joint only rotates about a fixed axis through its origin
    """
    columns = body.joint.motion_subspace(body.joint.neutral()).columns
    if len(columns) != 1 or not all(is_zero(x) for x in columns[0].linear):
        raise ModelError(f'joint {body.joint_name!r} is not revolute, but {body.joint!r}')
    z = columns[0].angular
    smallest = min(range(3), key=lambda k: abs(z[k]))
    x = linear3.cross(linear3.IDENTITY3[smallest], z)
    x = linear3.scale(1.0 / math.sqrt(linear3.dot(x, x)), x)
    return PluckerTransform.rotation((x, linear3.cross(z, x), z))


def _between_axes(model: Model, i: int) -> HingeScrews:
    """Return the screws from the axis of a body's parent to its own.

    The common perpendicular of two axes is the x axis in between (book 4.3); that of parallel ones
    goes through the body's origin here.
    """
    body = model.body(i)
    X = to_axis(body) * body.tree_transform
    if body.parent != 0:
        X = X * to_axis(model.body(body.parent)).inverse()
    E, r = X.E, X.r
    # A difference below the rounding of its lengths is zero.
    least = _ROUNDING * sum(map(abs, r))
    sine = math.hypot(E[2][0], E[2][1])
    parallel = sine <= _ROUNDING
    if not parallel:
        theta0 = Turn.to(-E[2][1], E[2][0])
    elif math.hypot(r[0], r[1]) > least:
        theta0 = Turn.to(r[0], r[1])
    else:
        theta0 = Turn(0, 0.0)
    c, s = theta0.cosine_and_sine()
    a, across, b = c * r[0] + s * r[1], c * r[1] - s * r[0], 0.0
    d1 = 0.0 if parallel else -across / sine
    d0 = r[2] - d1 * E[2][2]
    if max(abs(d0), abs(d1)) > _NEAR * math.sqrt(linear3.dot(r, r)):
        b, d1 = across / E[2][2], 0.0
        d0 = r[2] - b * sine
    d0, a, d1, b = (0.0 if abs(x) <= least else x for x in (d0, a, d1, b))
    # After the first two screws, the rest is a rotation about z by theta1.
    along = linear3.apply(E, (c, s, 0.0))
    return HingeScrews(theta0, d0, Turn.to(E[2][2], sine), a, Turn.to(along[0], -along[1]), d1, b)
