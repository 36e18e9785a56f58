# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Parts of a system model: bodies with their joints, links, frames, gears, loop joints."""

from __future__ import annotations

from dataclasses import dataclass, field
import math
from typing import Sequence, Tuple

from rbd_ros.model.joints import JointType
from rbd_ros.spatial import linear3, PluckerTransform, RigidBodyInertia
from rbd_ros.spatial.rotation import NORM_TOLERANCE


@dataclass(frozen=True)
class JointLimits:
    """Limits of a joint, which apply to each of its degrees of freedom.

    Missing limits are infinite.

    :param lower: minimum position [rad or m]
    :param upper: maximum position [rad or m]
    :param velocity: maximum speed [rad/s or m/s]
    :param effort: maximum generalized force [N m or N]
    :param soft_lower: minimum position that controllers should keep [rad or m]
    :param soft_upper: maximum position that they should keep [rad or m]

    >>> from rbd_ros.model import JointLimits
    >>> JointLimits(-1.5, 1.5, effort=28.0).velocity
    inf
    """

    lower: float = -math.inf
    upper: float = math.inf
    velocity: float = math.inf
    effort: float = math.inf
    soft_lower: float = -math.inf
    soft_upper: float = math.inf


@dataclass(frozen=True)
class Body:
    """A moving body together with the joint that connects it to its parent.

    :param name: name of the link that gives the body its frame
    :param parent: number of the parent body
    :param joint_name: name of the joint
    :param joint: kinematic type of the joint
    :param tree_transform: X_T, from the parent's to the joint's coordinates
    :param inertia: inertia of the body and all links fixed to it, in body coordinates
    :param damping: viscous damping [N m s/rad or N s/m]
    :param friction: Coulomb friction [N m or N]
    :param armature: reflected rotor inertia, added to the diagonal of the mass matrix [kg m^2 or
        kg]
    :param limits: limits of the joint
    :param urdf_type: joint type in the URDF
    :param q: slice of the joint's position variables in those of the tree
    :param v: slice of the joint's velocity variables in those of the tree
    :param stiffness: stiffness of a spring at the joint [N m/rad or N/m]
    :param rest: position of the joint without spring force [rad or m]

    >>> body = model.body(3)
    >>> body.name, body.joint_name, body.parent, body.limits.effort
    ('forearm_link', 'elbow_joint', 2, 150.0)
    """

    name: str
    parent: int
    joint_name: str
    joint: JointType
    tree_transform: PluckerTransform
    inertia: RigidBodyInertia
    damping: float = 0.0
    friction: float = 0.0
    armature: float = 0.0
    limits: JointLimits = JointLimits()
    urdf_type: str = ''
    q: slice = field(default_factory=lambda: slice(0, 0))
    v: slice = field(default_factory=lambda: slice(0, 0))
    stiffness: float = 0.0
    rest: float = 0.0

    def unit_position(self, q: Sequence[float]) -> Tuple[float, ...]:
        """Return a position from user input, with a unit quaternion.

        :param q: position variables of the joint, (nq,)
        :raises ValueError: if the quaternion is zero, or its norm so far from 1 that the numbers
            are probably in another order

        >>> model.body(1).unit_position([0.5])
        (0.5,)
        """
        try:
            unit = self.joint.normalize(q)
        except ValueError as error:
            raise ValueError(f'position of joint {self.joint_name!r}: {error}') from None
        # The distance to the unit quaternion is the error of the norm.
        if math.dist(unit, q) > NORM_TOLERANCE:
            after = ', then the position' if len(unit) > 4 else ''
            raise ValueError(
                f'position of joint {self.joint_name!r}: its quaternion has the norm '
                f'{math.hypot(*q[:4]):.6g} instead of 1; the order is quaternion w, x, y, z{after}'
                ' (ROS parameters and messages: x, y, z, w)'
            )
        return unit


@dataclass(frozen=True)
class Link:
    """A link of the description: a frame on a body, and its part of that body's inertia.

    :param name: name of the link
    :param body: number of its body, 0 for the base
    :param placement: transform from body to link coordinates
    :param inertia: inertia of the link alone, in link coordinates
    :param parent: name of the parent link, '' if unknown or without one
    :param joint: name of the joint between them, likewise

    >>> link = model.link('tool0')
    >>> link.body, link.inertia.mass, link.joint
    (6, 0, 'tool_joint')
    """

    name: str
    body: int
    placement: PluckerTransform
    inertia: RigidBodyInertia
    parent: str = ''
    joint: str = ''


@dataclass(frozen=True)
class Frame:
    """A named coordinate frame fixed to a body.

    :param body: number of the body
    :param placement: transform from body to frame coordinates

    >>> frame = model.frame('tool0')
    >>> frame.body, np.allclose(frame.placement.r, 0.0)
    (6, True)
    """

    body: int
    placement: PluckerTransform


@dataclass(frozen=True)
class Coupling:
    """Gear constraint of a mimic joint, q = ratio * q_master + offset (book 9.6).

    :param body: body whose joint mimics
    :param master: body whose joint is mimicked, itself not mimicking
    :param ratio: transmission ratio
    :param offset: position at master position zero

    >>> from rbd_ros.model import Coupling
    >>> Coupling(body=2, master=1, ratio=-1.0, offset=0.0).ratio  # a mirrored finger
    -1.0
    """

    body: int
    master: int
    ratio: float
    offset: float


@dataclass(frozen=True)
class LoopJoint:
    """A joint outside the spanning tree, which closes a kinematic loop (book 4.1.3, 8.2).

    :param name: name of the joint
    :param predecessor: frame on the first body
    :param successor: frame on the second body
    :param joint: kinematic type of the joint, one that `closes_loops`

    >>> from rbd_ros.model import LoopJoint
    >>> from rbd_ros.model.joints import Fixed
    >>> weld = LoopJoint('weld', model.frame('base_link'), model.frame('tool0'), Fixed())
    >>> model.with_loops([weld]).loop_constraints
    6
    """

    name: str
    predecessor: Frame
    successor: Frame
    joint: JointType


def snapped(X: PluckerTransform) -> PluckerTransform:
    """Return a transform with exact elements: those within 1e-15 of 0, 1 or -1 are rounded.

    For the translation, within 1e-15 of its largest element.
    """
    reach = 1e-15 * max(abs(x) for x in X.r)

    def unit(x: float) -> float:
        nearest = round(x)
        return float(nearest) if abs(x - nearest) < 1e-15 else x

    return PluckerTransform(
        linear3.matrix3((unit(x) for x in row) for row in X.E),
        linear3.vector3(0.0 if abs(x) < reach else x for x in X.r),
    )
