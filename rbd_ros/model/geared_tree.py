# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Kinematic tree of a system model: its numbering, its coordinates, its gears, its frames.

Bodies are numbered regularly (parents first), 0 is the fixed base, and body i is connected to its
parent by joint i. Tree coordinates include every joint; independent coordinates, used by the
public interface, exclude mimic joints. Without mimic joints the two are the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
import math
from typing import Dict, Iterator, List, Mapping, Sequence, Tuple, TYPE_CHECKING

from rbd_ros.model.errors import unknown_name
from rbd_ros.model.model_parts import Body, Coupling, Frame, JointLimits, Link
from rbd_ros.spatial.scalar import Scalar

if TYPE_CHECKING:
    from rbd_ros.model.parent_array import ParentArray


#: Relative tolerance of limits for rounding in the description.
_ROUNDING = 1e-6

#: Names of the limits in messages, their fields, and their units.
_NAMES = (
    ('positions', ('lower', 'upper'), 'rad or m'),
    ('speed', ('velocity',), 'rad/s or m/s'),
    ('effort', ('effort',), 'N m or N'),
)


@dataclass(frozen=True)
class GearLimits:
    """Limits of independent joints, including those of the joints that follow them.

    With q_f = r q + o, a follower's position limits are (limit - o) / r, exchanged for r < 0;
    its speed limit is divided by |r|. Its effort limit is multiplied by |r|: by power, an effort
    tau that is transmitted to the follower is tau / r there.

    :param limits: limits by number of the body
    :param notices: narrowed and contradictory limits
    """

    limits: Mapping[int, JointLimits]
    notices: Tuple[str, ...]


def gear_limits(bodies: Sequence[Body], couplings: Sequence[Coupling]) -> GearLimits:
    """Return limits of independent joints that also keep those of their mimic joints.

    A speed or effort limit 0 of a follower counts as unknown. So do position limits that permit no
    motion, with a notice.

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
        if stands_outside or not _overlap(before, geared):
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
        # Infinite limits get their sign, for any ratio.
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


def _overlap(given: JointLimits, geared: JointLimits) -> bool:
    """Return whether two ranges of positions overlap in more than one position."""
    common = min(given.upper, geared.upper) - max(given.lower, geared.lower)
    range_ = min(given.upper - given.lower, geared.upper - geared.lower)
    # A joint that cannot move needs no range.
    return common > _ROUNDING * range_ or (range_ == 0.0 and common >= 0.0) or common == math.inf


def _narrowed(given: JointLimits, geared: JointLimits) -> JointLimits:
    """Return limits that keep both; those `given` if the others differ by rounding only."""

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
        velocity = geared.velocity  # 0 is unknown
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
    """Return the changes to the limits of a joint as text; '' if those shown are unchanged."""
    found = []
    for name, fields, unit in _NAMES:
        before = [getattr(given, field) for field in fields]
        after = [getattr(kept, field) for field in fields]
        if before != after:
            was, now = (' to '.join(f'{x:.6g}' for x in values) for values in (before, after))
            found.append(f'{name} {now} instead of {was} {unit}')
    return ', '.join(found)


@dataclass(frozen=True)
class GearedTree:
    """Bodies and joints of a kinematic tree, with gears between joints.

    :param name: name of the robot
    :param bodies: bodies 1, 2, ... in regular order; `body(i)` and `outward()` use the book's
        numbers
    :param links: links of the description by name
    :param joint_frames: frames of all joints of the description (fixed ones too) by joint name
    :param couplings: gear constraints
    """

    name: str
    bodies: Tuple[Body, ...]
    links: Mapping[str, Link]
    joint_frames: Mapping[str, Frame] = field(default_factory=dict)
    couplings: Tuple[Coupling, ...] = ()

    # -- the tree

    def body(self, i: int) -> Body:
        """Return the body of number `i`, from 1."""
        return self.bodies[i - 1]

    def outward(self) -> Iterator[Tuple[int, Body]]:
        """Return the bodies with their numbers, from the base to the leaves."""
        return enumerate(self.bodies, start=1)

    def inward(self) -> Iterator[Tuple[int, Body]]:
        """Return the bodies with their numbers, from the leaves to the base."""
        return reversed(list(enumerate(self.bodies, start=1)))

    @cached_property
    def parent_array(self) -> ParentArray:
        """Parents of the bodies, with supports, children and subtrees."""
        from rbd_ros.model.parent_array import ParentArray

        return ParentArray(tuple(body.parent for body in self.bodies))

    def support(self, i: int) -> List[int]:
        """Return the support kappa(i): bodies on the path from body `i` to the base (book 4.1.4).

        The list begins with `i`; the base is not in it.
        """
        path = []
        while i > 0:
            path.append(i)
            i = self.body(i).parent
        return path

    def subtree(self, i: int) -> List[int]:
        """Return the subtree nu(i): body `i` and all that it supports, ascending (book 4.1.4)."""
        return [
            j for j in range(max(i, 1), len(self.bodies) + 1) if i == 0 or i in self.support(j)
        ]

    def support_dofs(self, i: int) -> Tuple[int, ...]:
        """Return the degrees of freedom of the tree that move body `i`, in ascending order."""
        return tuple(
            k for j in reversed(self.support(i)) for k in range(self.tree_nv)[self.body(j).v]
        )

    # -- coordinates

    @cached_property
    def tree_nq(self) -> int:
        """Number of position variables of the tree, mimic joints included."""
        return sum(body.joint.nq for body in self.bodies)

    @cached_property
    def tree_nv(self) -> int:
        """Degrees of freedom of the tree, mimic joints included."""
        return sum(body.joint.nv for body in self.bodies)

    @cached_property
    def independent(self) -> Tuple[int, ...]:
        """Numbers of the bodies whose joints are independent, in order."""
        mimics = {coupling.body for coupling in self.couplings}
        return tuple(i for i, _ in self.outward() if i not in mimics)

    @cached_property
    def joint_names(self) -> Tuple[str, ...]:
        """Names of the independent joints, in order."""
        return tuple(self.body(i).joint_name for i in self.independent)

    @cached_property
    def position_units(self) -> Tuple[str, ...]:
        """Units of the positions of the independent joints: m of sliding ones, otherwise rad.

        >>> Robot.from_urdf('urdf/stanford_arm.urdf').model.position_units
        ('rad', 'rad', 'm', 'rad', 'rad', 'rad')
        """
        types = (self.body(i).urdf_type for i in self.independent)
        return tuple('m' if each == 'prismatic' else 'rad' for each in types)

    @cached_property
    def nq(self) -> int:
        """Number of independent position variables."""
        return sum(self.body(i).joint.nq for i in self.independent)

    @cached_property
    def nv(self) -> int:
        """Number of independent degrees of freedom."""
        return sum(self.body(i).joint.nv for i in self.independent)

    @cached_property
    def independent_slices(self) -> Dict[int, Tuple[slice, slice]]:
        """Slices of q and v of each independent body, by its number.

        The values are a slice of q and a slice of v each.
        """
        result, nq, nv = {}, 0, 0
        for i in self.independent:
            joint = self.body(i).joint
            result[i] = (slice(nq, nq + joint.nq), slice(nv, nv + joint.nv))
            nq, nv = nq + joint.nq, nv + joint.nv
        return result

    @cached_property
    def _gears(self) -> Dict[int, Tuple[int, float, float]]:
        """For each body the independent body that drives it, with ratio and offset."""
        gears = {i: (i, 1.0, 0.0) for i in self.independent}
        gears.update({c.body: (c.master, c.ratio, c.offset) for c in self.couplings})
        return gears

    @cached_property
    def tree_dof_index(self) -> Tuple[int, ...]:
        """Independent degree of freedom that drives each one of the tree, (tree_nv,)."""
        return tuple(
            k
            for i, _ in self.outward()
            for k in range(self.nv)[self.independent_slices[self._gears[i][0]][1]]
        )

    @cached_property
    def tree_dof_ratio(self) -> Tuple[float, ...]:
        """Transmission ratio of each degree of freedom of the tree, (tree_nv,)."""
        return tuple(self._gears[i][1] for i, body in self.outward() for _ in range(body.joint.nv))

    @cached_property
    def _gear_limits(self) -> GearLimits:
        return gear_limits(self.bodies, self.couplings)

    @property
    def limits(self) -> Mapping[int, JointLimits]:
        """Limits of the independent joints, which also keep those of their mimic joints.

        The keys are the numbers of the bodies. `Body.limits` has the declared limits.
        """
        return self._gear_limits.limits

    @property
    def limit_notices(self) -> Tuple[str, ...]:
        """Limits of mimic joints that narrow those of their driving joint, or cannot hold."""
        return self._gear_limits.notices

    # -- gears: q_tree = gamma(q), v_tree = G v (book eq 3.11, 9.26)

    def tree_position(self, q: Sequence[Scalar]) -> List[Scalar]:
        """Return positions of all joints, gamma(q), (tree_nq,), from the independent q, (nq,)."""
        result: List[Scalar] = []
        for i, _ in self.outward():
            master, ratio, offset = self._gears[i]
            positions = q[self.independent_slices[master][0]]
            result.extend(positions if master == i else [ratio * x + offset for x in positions])
        return result

    def tree_velocity(self, v: Sequence[Scalar]) -> List[Scalar]:
        """Return the velocities or accelerations of all joints, G v, from the independent ones.

        :param v: velocities or accelerations of the independent joints, (nv,)
        :return: velocities or accelerations of the tree, (tree_nv,)
        """
        return [
            v[k] if ratio == 1.0 else ratio * v[k]
            for k, ratio in zip(self.tree_dof_index, self.tree_dof_ratio)
        ]

    def independent_velocity(self, v: Sequence[Scalar]) -> List[Scalar]:
        """Return the velocities or accelerations of the independent joints, (nv,), from all."""
        return [v[k] for i in self.independent for k in range(self.tree_nv)[self.body(i).v]]

    def independent_force(self, tau: Sequence[Scalar]) -> List[Scalar]:
        """Return the forces on the independent coordinates, G^T tau, from those on all joints.

        :param tau: generalized forces of the tree, (tree_nv,)
        :return: generalized forces, (nv,)
        """
        if not self.couplings:
            return list(tau)
        result = [0.0] * self.nv
        for value, k, ratio in zip(tau, self.tree_dof_index, self.tree_dof_ratio):
            result[k] = result[k] + ratio * value
        return result

    def independent_columns(self, J: Sequence[Sequence[Scalar]]) -> List[List[Scalar]]:
        """Return J G, with columns for the independent coordinates, from J for all joints.

        :param J: matrix of m rows, such as a Jacobian, (m, tree_nv)
        :return: matrix for the independent velocities, (m, nv)
        """
        return [self.independent_force(row) for row in J]

    def independent_matrix(self, H: Sequence[Sequence[Scalar]]) -> List[List[Scalar]]:
        """Return G^T H G for the independent coordinates, (nv, nv), from H of the tree.

        :param H: matrix of the tree, such as its mass matrix, (tree_nv, tree_nv)
        """
        if not self.couplings:
            return [list(row) for row in H]
        columns = list(zip(*self.independent_columns(H)))
        return [list(row) for row in zip(*(self.independent_force(column) for column in columns))]

    # -- frames

    def link(self, name: str) -> Link:
        """Return the link of the given name.

        :raises ValueError: if it does not exist, with similar names
        """
        if name not in self.links:
            raise ValueError(unknown_name('link', name, self.links))
        return self.links[name]

    def frame(self, name: str) -> Frame:
        """Return the frame of a link, or of a joint if no link has that name.

        :raises ValueError: if it does not exist, with similar names
        """
        if name in self.links:
            return Frame(self.links[name].body, self.links[name].placement)
        if name not in self.joint_frames:
            raise ValueError(
                unknown_name('link or joint', name, [*self.links, *self.joint_frames])
            )
        return self.joint_frames[name]
