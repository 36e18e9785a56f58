# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Several models as one: robots that stand side by side on one fixed base."""

from __future__ import annotations

from dataclasses import replace
from typing import Container, Dict, List, Mapping, Optional, Sequence, Set, Tuple

import numpy as np
from numpy.typing import ArrayLike

from rbd_ros.model.errors import ModelError, unknown_name
from rbd_ros.model.geometry import Geometry
from rbd_ros.model.model import Body, Frame, Link, LoopJoint, Model
from rbd_ros.model.model_parts import Coupling, snapped
from rbd_ros.spatial import PluckerTransform
from rbd_ros.spatial.scalar import Scalar

#: Deviation of the rotation of a pose from an orthonormal matrix that passes for rounding.
_ROUNDING = 1e-6


def combine_models(
    models: Mapping[str, Model],
    placements: Optional[Mapping[str, PluckerTransform]] = None,
    gravity: Optional[Sequence[Scalar]] = None,
    name: str = '',
) -> Model:
    """Return the model of several robots, connected by the base only.

    Joints, links and shapes are called by the name of their robot, a slash, and their own name;
    those of a robot named '' keep theirs. Bodies and variables follow each other in the order of
    the robots.

    :param models: models by the names of the robots
    :param placements: transforms from base coordinates of the whole to those of a robot, by its
        name; others are not moved. The pose of a base that floats is relative to its robot's
        coordinates, as it is in the robot alone
    :param gravity: acceleration of gravity in base coordinates of the whole, (3,) [m/s^2]; None:
        the one that all models have in their own
    :param name: name of the whole; '': made of those of the robots
    :raises ModelError: without a model, for a name with a slash, an unknown name among the
        placements, two links or joints of one name, or gravities that differ

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
    bodies: List[Body] = []
    links: Dict[str, Link] = {}
    frames: Dict[str, Frame] = {}
    couplings: List[Coupling] = []
    loops: List[LoopJoint] = []
    geometries: List[Geometry] = []
    warnings: List[str] = []
    joints: Set[str] = set()
    nq = nv = 0
    for each, model in models.items():
        part = _Part(model, f'{each}/' if each else '', placements.get(each), len(bodies))
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
        warnings += [f'{each}: {warning}' if each else warning for warning in model.warnings]
        nq, nv = nq + model.tree_nq, nv + model.tree_nv
    return Model(
        name or '_'.join(each or model.name for each, model in models.items()),
        tuple(bodies),
        links,
        frames,
        tuple(couplings),
        tuple(loops),
        tuple(geometries),
        _common_gravity(models, gravity),
        tuple(warnings),
        _actuated(models),
    )


def transform_of_pose(name: str, pose: ArrayLike) -> PluckerTransform:
    """Transform to the coordinates of a robot from its pose.

    :param name: name of the robot
    :param pose: homogeneous matrix, orthonormal but for rounding, (4, 4) [1, m]
    :raises ModelError: if it is not a pose, naming the robot
    """
    try:
        T = np.array(pose, dtype=float)
    except (TypeError, ValueError) as error:
        raise ModelError(
            f'the placement of {name!r} is not an array of numbers: {error}'
        ) from None
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

    :param prefix: what its names begin with
    :param placement: transform from base coordinates of the whole to its own; None: the same
    :param before: number of bodies before its own
    """

    def __init__(
        self, model: Model, prefix: str, placement: Optional[PluckerTransform], before: int
    ):
        self.model, self.prefix, self.placement, self.before = model, prefix, placement, before

    def number(self, body: int) -> int:
        """Return the number of a body in the whole; both have one base."""
        return body + self.before if body else 0

    def placed(self, X: PluckerTransform, body: int) -> PluckerTransform:
        """Transform from coordinates of a body, which for the base are those of the whole."""
        return X if body or self.placement is None else snapped(X * self.placement)

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
        """Return the names of all joints, fixed ones and those that close loops too."""
        own = [*(body.joint_name for body in self.model.bodies), *self.model.joint_frames]
        own += [loop.name for loop in self.model.loops]
        return [self.prefix + name for name in dict.fromkeys(own)]

    def bodies(self, nq: int, nv: int) -> List[Body]:
        """Return the bodies in the whole.

        :param nq: position variables of the bodies before
        :param nv: velocity variables of the bodies before
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
                # Those without a name remain so.
                name=each.name and self.prefix + each.name,
                link=self.prefix + each.link,
                body=self.number(each.body),
                placement=self.placed(each.placement, each.body),
            )
            for each in self.model.geometries
        ]


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


def _actuated(models: Mapping[str, Model]) -> Optional[Tuple[str, ...]]:
    """Return names of the joints that have actuators in the robots alone; None: unknown."""
    if all(model.actuated is None and not model.loops for model in models.values()):
        return None
    return tuple(
        f'{each}/{joint}' if each else joint
        for each, model in models.items()
        for joint in model.actuated_joints
    )
