# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Combination of models: robots side by side on one fixed base, or one mounted on another."""

from __future__ import annotations

from dataclasses import replace
from typing import Container, Dict, List, Mapping, Optional, Sequence, Set, Tuple

import numpy as np
from numpy.typing import ArrayLike

from rbd_ros.array_types import pose_matrices
from rbd_ros.model.errors import ModelError, unknown_name
from rbd_ros.model.floating_model import base_inertia, not_floating
from rbd_ros.model.geometry import Geometry
from rbd_ros.model.model import Body, Frame, Link, LoopJoint, Model
from rbd_ros.model.model_parts import Coupling, snapped
from rbd_ros.spatial import PluckerTransform
from rbd_ros.spatial.scalar import Scalar

#: Tolerance of the rotation of a pose to an orthonormal matrix, for rounding.
_ROUNDING = 1e-6


def combine_models(
    models: Mapping[str, Model],
    placements: Optional[Mapping[str, PluckerTransform]] = None,
    gravity: Optional[Sequence[Scalar]] = None,
    name: str = '',
) -> Model:
    """Return the model of several robots, connected by the base only.

    Names of joints, links and shapes are prefixed by their robot's name and a slash, except for a
    robot named ''. Bodies and variables are in the order of the robots.

    :param models: models by the names of the robots
    :param placements: transforms from base coordinates of the whole to those of a robot, by its
        name; the default is the identity. The pose of a floating base is relative to its robot's
        coordinates, as in the robot alone
    :param gravity: acceleration of gravity in base coordinates of the whole, (3,) [m/s^2]; None:
        the common one of all models
    :param name: name of the whole; '': made from those of the robots
    :raises ModelError: without a model, for a name with a slash, an unknown name in `placements`,
        duplicate names of links or joints, or different gravities

    >>> from rbd_ros.model import combine_models
    >>> from rbd_ros.spatial import PluckerTransform
    >>> aside = PluckerTransform.translation((0.0, 1.0, 0.0))
    >>> both = combine_models({'left': model, 'right': model}, {'left': aside})
    >>> both.nv, both.joint_names[0], both.link('left/base_link').placement.r
    (12, 'left/shoulder_pan_joint', (0.0, 1.0, 0.0))
    """
    placements = placements or {}
    if not models:
        raise ModelError('no robots are given; give at least one')
    for each in models:
        if '/' in each:
            raise ModelError(
                f'{each!r} is not a valid name of a robot; a name must not be empty and must not '
                'contain a slash'
            )
    for each in placements:
        if each not in models:
            raise ModelError(f'placements: {unknown_name("robot", each, models)}')
    here = PluckerTransform.identity()
    parts, before = [], 0
    for each, model in models.items():
        parts.append(_Part(model, each, Frame(0, placements.get(each, here)), before))
        before += len(model.bodies)
    whole = name or '_'.join(each or model.name for each, model in models.items())
    return _joined(parts, whole, _common_gravity(models, gravity))


def with_robot_mounted(
    model: Model, other: Model, link: str, placement: PluckerTransform, name: str = ''
) -> Model:
    """Return the model that carries another one, such as a gripper, on a link.

    :param model: the carrying model
    :param other: the mounted model; its gravity is ignored
    :param link: name of the link, or of the joint, in whose frame it is mounted
    :param placement: transform from coordinates of that frame to base coordinates of `other`
    :param name: prefix of the mounted links, joints and shapes, followed by a slash; '': no prefix
    :raises ModelError: for a duplicate name, or if the base of `other` floats
    :raises ValueError: for an unknown link

    >>> from rbd_ros.model import load_urdf, with_robot_mounted
    >>> from rbd_ros.spatial import PluckerTransform
    >>> finger = load_urdf('urdf/four_bar.urdf')
    >>> both = with_robot_mounted(model, finger, 'tool0', PluckerTransform.identity(), 'tool')
    >>> both.nv - model.nv == finger.nv, both.link('tool/ground').parent
    (True, 'tool0')
    """
    if not not_floating(other):
        raise ModelError(
            f'the base of {other.name!r} floats; load it without a floating base to mount it'
        )
    frame = model.frame(link)
    parts = [
        _Part(model, '', Frame(0, PluckerTransform.identity()), 0),
        _Part(other, name, Frame(frame.body, placement * frame.placement), len(model.bodies)),
    ]
    joined = _joined(parts, model.name, model.gravity)
    bodies, links, carrier = list(joined.bodies), dict(joined.links), parts[1].mount
    for each in parts[1].links():
        if not each.parent:
            links[each.name] = replace(each, parent=link if link in model.links else '')
    if carrier.body:
        body = bodies[carrier.body - 1]
        carried = carrier.placement.inverse_apply(base_inertia(other))
        bodies[carrier.body - 1] = replace(body, inertia=body.inertia + carried)
    return replace(joined, bodies=tuple(bodies), links=links)


def _joined(parts: Sequence[_Part], name: str, gravity: Tuple[Scalar, Scalar, Scalar]) -> Model:
    """Return the model of parts, with consecutive bodies and variables."""
    bodies: List[Body] = []
    links: Dict[str, Link] = {}
    frames: Dict[str, Frame] = {}
    couplings: List[Coupling] = []
    loops: List[LoopJoint] = []
    geometries: List[Geometry] = []
    warnings: List[str] = []
    joints: Set[str] = set()
    nq = nv = 0
    for part in parts:
        for link in part.links():
            _take('links', link.name, links)
            links[link.name] = link
        for joint in part.joints():
            _take('joints', joint, joints)
            joints.add(joint)
        bodies += part.bodies(nq, nv)
        frames.update(part.frames())
        couplings += part.couplings()
        loops += part.loops()
        geometries += part.geometries()
        warnings += part.warnings()
        nq, nv = nq + part.model.tree_nq, nv + part.model.tree_nv
    return Model(
        name,
        tuple(bodies),
        links,
        frames,
        tuple(couplings),
        tuple(loops),
        tuple(geometries),
        gravity,
        tuple(warnings),
        _actuated(parts),
    )


def transform_of_pose(name: str, pose: ArrayLike) -> PluckerTransform:
    """Return the transform to the coordinates of a robot from its pose.

    :param name: name of the robot
    :param pose: homogeneous matrix, orthonormal up to rounding, (4, 4) [1, m]
    :raises ModelError: if it is not a pose, with the name of the robot
    """
    try:
        T = pose_matrices(f'the placement of {name!r}', pose).copy()
    except ValueError as error:
        raise ModelError(str(error)) from None
    if T.shape != (4, 4) or not np.isfinite(T).all():
        raise ModelError(
            f'the placement of {name!r} must be finite and have shape (4, 4), got {T.tolist()}'
        )
    U, sizes, V = np.linalg.svd(T[:3, :3])
    if (
        np.abs(sizes - 1.0).max() > _ROUNDING
        or np.linalg.det(T[:3, :3]) < 0.0
        or np.abs(T[3] - (0.0, 0.0, 0.0, 1.0)).max() > _ROUNDING
    ):
        raise ModelError(
            f'the placement of {name!r} must be a homogeneous matrix: a rotation, a position, and '
            '0 0 0 1 below'
        )
    T[:3, :3] = U @ V  # the closest rotation
    return snapped(PluckerTransform.from_pose(T.tolist()))


class _Part:
    """A model as a part of a larger one.

    :param name: prefix of its names, followed by a slash; '': no prefix
    :param mount: frame of the whole at its base
    :param before: number of preceding bodies
    """

    def __init__(self, model: Model, name: str, mount: Frame, before: int):
        self.model, self.name, self.mount, self.before = model, name, mount, before
        self.prefix = f'{name}/' if name else ''

    def number(self, body: int) -> int:
        """Return the number of a body in the whole; its base is part of another body."""
        return body + self.before if body else self.mount.body

    def placed(self, X: PluckerTransform, body: int) -> PluckerTransform:
        """Return the transform from coordinates of a body; the base is part of another one."""
        if body or self.mount.placement == PluckerTransform.identity():
            return X
        return snapped(X * self.mount.placement)

    def frame(self, frame: Frame) -> Frame:
        """Return the frame in the whole."""
        return Frame(self.number(frame.body), self.placed(frame.placement, frame.body))

    def links(self) -> List[Link]:
        return [
            Link(
                self.prefix + link.name,
                self.number(link.body),
                self.placed(link.placement, link.body),
                link.inertia,
                # The root of a robot has neither.
                link.parent and self.prefix + link.parent,
                link.joint and self.prefix + link.joint,
            )
            for link in self.model.links.values()
        ]

    def joints(self) -> Sequence[str]:
        """Return the names of all joints, including fixed ones and loop joints."""
        own = [*(body.joint_name for body in self.model.bodies), *self.model.joint_frames]
        own += [loop.name for loop in self.model.loops]
        return [self.prefix + name for name in dict.fromkeys(own)]

    def bodies(self, nq: int, nv: int) -> List[Body]:
        """Return the bodies in the whole.

        :param nq: position variables of the preceding bodies
        :param nv: velocity variables of the preceding bodies
        """
        return [
            replace(
                body,
                name=self.prefix + body.name,
                joint_name=self.prefix + body.joint_name,
                parent=self.number(body.parent),
                tree_transform=self.placed(body.tree_transform, body.parent),
                q=slice(body.q.start + nq, body.q.stop + nq),
                v=slice(body.v.start + nv, body.v.stop + nv),
            )
            for body in self.model.bodies
        ]

    def frames(self) -> Dict[str, Frame]:
        return {
            self.prefix + name: self.frame(each) for name, each in self.model.joint_frames.items()
        }

    def couplings(self) -> List[Coupling]:
        return [
            replace(each, body=self.number(each.body), master=self.number(each.master))
            for each in self.model.couplings
        ]

    def loops(self) -> List[LoopJoint]:
        return [
            LoopJoint(
                self.prefix + loop.name,
                self.frame(loop.predecessor),
                self.frame(loop.successor),
                loop.joint,
            )
            for loop in self.model.loops
        ]

    def geometries(self) -> List[Geometry]:
        return [
            replace(
                each,
                # Unnamed shapes have no prefix.
                name=each.name and self.prefix + each.name,
                link=self.prefix + each.link,
                body=self.number(each.body),
                placement=self.placed(each.placement, each.body),
            )
            for each in self.model.geometries
        ]

    def warnings(self) -> List[str]:
        return [f'{self.name}: {each}' if self.name else each for each in self.model.warnings]


def _take(what: str, name: str, taken: Container[str]) -> None:
    if name in taken:
        raise ModelError(f'two {what} are named {name!r}; give the robots other names')


def _common_gravity(
    models: Mapping[str, Model], gravity: Optional[Sequence[Scalar]]
) -> Tuple[Scalar, Scalar, Scalar]:
    if gravity is None:
        (first, model), *others = models.items()
        gravity = model.gravity
        for each, other in others:
            if tuple(other.gravity) != tuple(gravity):
                raise ModelError(
                    f'gravity of robot {each!r} is {tuple(other.gravity)}, that of {first!r} '
                    f'{tuple(gravity)}; give one for all of them, such as gravity=(0, 0, -9.81)'
                )
    x, y, z = gravity
    return x, y, z


def _actuated(parts: Sequence[_Part]) -> Optional[Tuple[str, ...]]:
    """Return names of the actuated joints of all robots; None: unknown."""
    if all(part.model.actuated is None and not part.model.loops for part in parts):
        return None
    return tuple(part.prefix + joint for part in parts for joint in part.model.actuated_joints)
