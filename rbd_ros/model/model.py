# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""System model of a robot (book 4.6, table 4.3): a kinematic tree with loops, shapes, gravity.

The tree and its numbering are in geared_tree.py, bodies and joints in model_parts.py. A model is
immutable; the `with_` methods return variants, and their arguments may be symbols.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
import math
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple

from rbd_ros.model.errors import ModelError, unknown_name
from rbd_ros.model.geared_tree import GearedTree
from rbd_ros.model.geometry import Geometry
from rbd_ros.model.joints.joint_type import JointType, MAX_LIMIT
from rbd_ros.model.model_parts import (
    Body,
    Coupling,
    Frame,
    JointLimits,
    Link,
    LoopJoint,
    snapped,
)
from rbd_ros.spatial import PluckerTransform, RigidBodyInertia
from rbd_ros.spatial.scalar import Scalar

__all__ = [
    'Body',
    'Coupling',
    'FLOATING_BASE_JOINT',
    'Frame',
    'JointLimits',
    'Link',
    'LoopJoint',
    'Model',
]

FLOATING_BASE_JOINT = 'floating_base'


@dataclass(frozen=True)
class Model(GearedTree):
    """Kinematic tree with its gears, its loops and its shapes, under a gravity.

    :param name: name of the robot
    :param bodies: bodies 1, 2, ... in regular order; `body(i)` and `outward()` use the book's
        numbers
    :param links: links of the description by name
    :param joint_frames: frames of all joints of the description (fixed ones too) by joint name
    :param couplings: gear constraints
    :param loops: joints that close kinematic loops
    :param geometries: shapes
    :param gravity: acceleration of gravity in base coordinates, (3,) [m/s^2]
    :param warnings: warnings from the construction
    :param actuated: names of the joints that have actuators; None: unknown, see
        `actuated_joints`

    >>> model.loop_constraints, len(model.loops), len(model.geometries), model.warnings
    (0, 0, 18, ())
    """

    loops: Tuple[LoopJoint, ...] = ()
    geometries: Tuple[Geometry, ...] = ()
    gravity: Tuple[Scalar, Scalar, Scalar] = (0.0, 0.0, -9.81)
    warnings: Tuple[str, ...] = ()
    actuated: Optional[Tuple[str, ...]] = None

    @classmethod
    def create(
        cls, name: str, bodies: Iterable[Body], links: Iterable[Link], **others: Any
    ) -> Model:
        """Return the model with the joint variables of `bodies` laid out one after another.

        The inertias of the bodies are computed from their links. Elements of transforms that are
        zero or one up to rounding become exact, since known zeros need no computation.

        :param name: name of the robot
        :param bodies: bodies in regular order (parents first), whose `q`, `v` and `inertia` are
            set
        :param links: links on these bodies and on the base
        :param others: further fields of the model
        :raises ModelError: if the numbering is not regular

        >>> from rbd_ros.model import Body, Link, Model
        >>> from rbd_ros.model.joints import Revolute
        >>> from rbd_ros.spatial import PluckerTransform, RigidBodyInertia
        >>> here = PluckerTransform.identity()
        >>> inertia = RigidBodyInertia.from_mass_center(1.0, (0.5, 0.0, 0.0), np.zeros((3, 3)))
        >>> body = Body('bob', 0, 'pivot', Revolute((0.0, -1.0, 0.0)), here, inertia)
        >>> pendulum = Model.create('pendulum', [body], [Link('bob', 1, here, inertia)])
        >>> Robot(pendulum).gravity_torque([0.0])  # 1 kg, level, at 0.5 m [N m]
        array([4.905])
        """
        by_name = {link.name: replace(link, placement=snapped(link.placement)) for link in links}
        inertia: Dict[int, RigidBodyInertia] = {}
        for link in by_name.values():
            inertia[link.body] = inertia.get(
                link.body, RigidBodyInertia.zero()
            ) + link.placement.inverse_apply(link.inertia)
        numbered, nq, nv = [], 0, 0
        for i, body in enumerate(bodies, start=1):
            if not 0 <= body.parent < i:
                raise ModelError(
                    f'body {body.name!r}: its parent must come before it, got number {body.parent}'
                )
            numbered.append(
                replace(
                    body,
                    inertia=inertia.get(i, RigidBodyInertia.zero()),
                    tree_transform=snapped(body.tree_transform),
                    q=slice(nq, nq + body.joint.nq),
                    v=slice(nv, nv + body.joint.nv),
                )
            )
            nq, nv = nq + body.joint.nq, nv + body.joint.nv
        return cls(name, tuple(numbered), by_name, **others)

    # -- loops

    @cached_property
    def loop_constraints(self) -> int:
        """Number of constraints that the loop joints impose."""
        return sum(6 - loop.joint.nv for loop in self.loops)

    @cached_property
    def actuated_joints(self) -> Tuple[str, ...]:
        """Names of the independent joints that have actuators, in order.

        Those named by the extension; otherwise all of a tree, and with loops those with a finite,
        nonzero effort limit.

        >>> linkage = Robot.from_urdf('urdf/four_bar.urdf', extension='config/four_bar.yaml')
        >>> linkage.model.actuated_joints
        ('crank_joint',)
        """
        if self.actuated is not None:
            return tuple(name for name in self.joint_names if name in self.actuated)
        if not self.loops:
            return self.joint_names
        limits = {body.joint_name: body.limits.effort for body in self.bodies}
        return tuple(name for name in self.joint_names if 0.0 < limits[name] < math.inf)

    # -- variants

    def moved_parts(self, now: Mapping[int, Frame]) -> Dict[str, Any]:
        """Return links, frames, gears, loops and shapes on other bodies, by field of the model.

        Everything on a body that is not in `now` is dropped, including its gears and loops.

        :param now: by number of a body, including 0: the body of which it is a part now, and the
            transform from there to its coordinates

        >>> from rbd_ros.model import Frame
        >>> from rbd_ros.spatial import PluckerTransform
        >>> now = {i: Frame(i + 1, PluckerTransform.identity()) for i in range(7)}
        >>> model.moved_parts(now)['links']['tool0'].body  # with one body before
        7
        """

        def moved(part: Any) -> Any:
            here = now[part.body]
            return replace(part, body=here.body, placement=part.placement * here.placement)

        return {
            'links': {name: moved(each) for name, each in self.links.items() if each.body in now},
            'joint_frames': {
                name: moved(each) for name, each in self.joint_frames.items() if each.body in now
            },
            'couplings': tuple(
                replace(each, body=now[each.body].body, master=now[each.master].body)
                for each in self.couplings
                if each.body in now and each.master in now
            ),
            'loops': tuple(
                replace(each, predecessor=moved(each.predecessor), successor=moved(each.successor))
                for each in self.loops
                if each.predecessor.body in now and each.successor.body in now
            ),
            'geometries': tuple(moved(each) for each in self.geometries if each.body in now),
        }

    def with_gravity(self, gravity: Sequence[Scalar]) -> Model:
        """Return the model under another gravity.

        :param gravity: acceleration of gravity in base coordinates, (3,) [m/s^2]

        >>> moon = Robot(model.with_gravity((0.0, 0.0, -1.62)))
        >>> np.allclose(moon.gravity_torque(q) * 9.81 / 1.62, robot.gravity_torque(q))
        True
        """
        x, y, z = gravity
        return replace(self, gravity=(x, y, z))

    def with_link_inertia(self, name: str, inertia: RigidBodyInertia, add: bool = False) -> Model:
        """Return the model with another inertia of one link.

        :param name: name of the link
        :param inertia: inertia in link coordinates; its parameters may be symbols
        :param add: whether to add it to the link's own inertia, like a payload, or to replace that
        :raises ValueError: if there is no such link

        >>> from rbd_ros.spatial import RigidBodyInertia
        >>> inertia = np.diag([0.01, 0.01, 0.004])  # about its center of mass [kg m^2]
        >>> load = RigidBodyInertia.from_mass_center(2.0, (0.0, 0.0, 0.1), inertia)
        >>> loaded = model.with_link_inertia('tool0', load, add=True)
        >>> Robot(loaded).gravity_torque(q) - robot.gravity_torque(q)  # [N m]
        array([-0.   , -4.196, -8.193, -1.718,  2.111,  0.   ])
        """
        link = self.link(name)
        if add:
            inertia = link.inertia + inertia
        links = {**self.links, name: replace(link, inertia=inertia)}
        constant = RigidBodyInertia.zero()
        for other in links.values():
            if other.body == link.body and other.name != name:
                constant = constant + other.placement.inverse_apply(other.inertia)
        bodies = list(self.bodies)
        if link.body > 0:
            bodies[link.body - 1] = replace(
                self.body(link.body), inertia=constant + link.placement.inverse_apply(inertia)
            )
        return replace(self, links=links, bodies=tuple(bodies))

    def with_loops(self, loops: Iterable[LoopJoint]) -> Model:
        """Return the model with other loops.

        :raises ModelError: if a name is taken, a body does not exist, or a joint cannot
            close a loop

        >>> from rbd_ros.model import LoopJoint
        >>> from rbd_ros.model.joints import Fixed
        >>> weld = LoopJoint('weld', model.frame('base_link'), model.frame('tool0'), Fixed())
        >>> held = Robot(model.with_loops([weld]))
        >>> held.loops.mobility(q).mobility
        0
        """
        loops, names = tuple(loops), {body.joint_name for body in self.bodies}
        for loop in loops:
            if loop.name in names:
                raise ModelError(f'loop joint {loop.name!r}: another joint has this name')
            names.add(loop.name)
            for frame in (loop.predecessor, loop.successor):
                if not 0 <= frame.body <= len(self.bodies):
                    raise ModelError(
                        f'loop joint {loop.name!r}: there is no body {frame.body}; bodies are '
                        f'numbered from 0, the base, to {len(self.bodies)}'
                    )
            if not loop.joint.closes_loops:
                raise ModelError(
                    f'loop joint {loop.name!r}: {loop.joint!r} cannot close a loop, since it is '
                    'not a lower pair and has no loop_error; cut the loop at another joint'
                )
        return replace(self, loops=loops)

    def with_armature(self, armature: Mapping[str, float]) -> Model:
        """Return the model with other armatures of some joints.

        :param armature: reflected rotor inertia by joint name [kg m^2 or kg]; other joints keep
            theirs
        :raises ModelError: for an unknown joint, or a value that is negative or not finite

        >>> geared = Robot(model.with_armature({'elbow_joint': 0.2}))  # [kg m^2]
        >>> (geared.mass_matrix(q) - robot.mass_matrix(q))[2, 2].round(3)
        0.2
        """
        known = {body.joint_name for body in self.bodies}
        for joint, value in armature.items():
            if joint not in known:
                raise ModelError(f'armature: {unknown_name("moving joint", joint, known)}')
            if not (math.isfinite(value) and value >= 0.0):
                raise ModelError(
                    f'armature of joint {joint!r} must be finite and not negative, got {value}'
                )
        bodies = tuple(
            replace(body, armature=float(armature.get(body.joint_name, body.armature)))
            for body in self.bodies
        )
        return replace(self, bodies=bodies)

    def with_springs(
        self, stiffness: Mapping[str, float], rest: Optional[Mapping[str, float]] = None
    ) -> Model:
        """Return the model with other springs at some joints, which the simulator uses.

        :param stiffness: by joint name [N m/rad or N/m], 0 for none; other joints keep theirs
        :param rest: position where the spring is not deformed; the default is 0 [rad or m]
        :raises ModelError: for an unknown joint, one with several DoFs or one that moves as
            a function of time, a negative stiffness, or a number that is not finite

        >>> sprung = Robot(model.with_springs({'elbow_joint': 40.0}, rest={'elbow_joint': -1.5}))
        >>> sprung.stiffness[2], sprung.spring_rest[2]  # [N m/rad], [rad]
        (40.0, -1.5)
        """
        rest = {} if rest is None else rest
        joints = {body.joint_name: body.joint for body in self.bodies}
        for name, given in (('stiffness', stiffness), ('rest', rest)):
            for joint, value in given.items():
                if joint not in joints:
                    raise ModelError(f'{name}: {unknown_name("moving joint", joint, joints)}')
                if not math.isfinite(value) or (name == 'stiffness' and value < 0.0):
                    sign = ' and not negative' if name == 'stiffness' else ''
                    raise ModelError(
                        f'{name} of joint {joint!r} must be finite{sign}, got {value}'
                    )
                if joint not in stiffness:
                    raise ModelError(f'rest: joint {joint!r} has no stiffness; give it one')
                kind = joints[joint]
                if not kind.nq == kind.nv == 1 or kind.is_rheonomic:
                    raise ModelError(
                        f'joint {joint!r} has {kind.nv} degrees of freedom; give springs to '
                        'joints that have one'
                    )
        bodies = tuple(
            replace(
                body,
                stiffness=float(stiffness[body.joint_name]),
                rest=float(rest.get(body.joint_name, 0.0)),
            )
            if body.joint_name in stiffness
            else body
            for body in self.bodies
        )
        return replace(self, bodies=bodies)


TURN = 2.0 * math.pi
#: Maximum number of turns in the period of a joint with mimic joints.
MAX_TURNS = 1000
#: Tolerance of a multiplier to a ratio of integers, for rounding in the description.
ROUNDING = 1e-9


def position_periods(model: Model) -> List[float]:
    """Return the periods of positions, after which the configuration is the same, (nv,) [rad].

    That of a continuous joint is 2 pi. If mimic joints follow it with a fraction of its angle, the
    period is a multiple that also restores these. It is infinite for joints with limits or
    springs, joints that slide or have several DoFs, and joints that such a mimic joint follows.
    """
    turns: Dict[int, int] = {i: int(_is_periodic(model, i)) for i in model.independent}
    for coupling in model.couplings:
        if coupling.ratio == 0.0 or not turns[coupling.master]:
            continue
        ratio = Fraction(coupling.ratio).limit_denominator(MAX_TURNS)
        exact = abs(float(ratio) - coupling.ratio) <= ROUNDING * abs(coupling.ratio)
        if not exact or not _is_periodic(model, coupling.body):
            turns[coupling.master] = 0
            continue
        # The least common multiple.
        before, own = turns[coupling.master], ratio.denominator
        turns[coupling.master] = before * own // math.gcd(before, own)
    return [
        TURN * turns[i] if 0 < turns[i] <= MAX_TURNS else math.inf
        for i in model.independent
        for _ in range(model.body(i).joint.nv)
    ]


def _is_periodic(model: Model, i: int) -> bool:
    """Return whether the joint of a body rotates without limits and without a spring."""
    body = model.body(i)
    return _is_unlimited(body.limits) and body.stiffness == 0.0 and _repeats(body.joint)


def _is_unlimited(limits: JointLimits) -> bool:
    lower = max(limits.lower, limits.soft_lower)
    upper = min(limits.upper, limits.soft_upper)
    return lower < -MAX_LIMIT and MAX_LIMIT < upper


def _repeats(joint: JointType) -> bool:
    """Return whether a full turn restores the position: not for joints that also advance."""
    if joint.nq != 1 or joint.nv != 1 or joint.is_rheonomic:
        return False
    start, half, whole = (joint.transform([q]) for q in (0.0, 0.5 * TURN, TURN))
    return _distance(whole, start) < ROUNDING < _distance(half, start)


def _distance(a: PluckerTransform, b: PluckerTransform) -> float:
    """Return the largest difference of two transforms' numbers."""
    rows = zip((*a.E, a.r), (*b.E, b.r))
    return max(abs(float(x) - float(y)) for row in rows for x, y in zip(*row))
