# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Planar robots (book 2.16): the same tree in the plane that all its bodies move parallel to.

Every joint must move its body parallel to one plane; how far above the plane bodies are makes no
difference. The plane's frame of a body has its origin at the body's, and z along the normal.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
import math
from typing import Any, Dict, List, Optional, Sequence

from rbd_ros.model.errors import ModelError
from rbd_ros.model.joints import JointType
from rbd_ros.model.joints.joint_type import across, JointState, Scalars
from rbd_ros.model.model import Model
from rbd_ros.spatial import linear3, MotionVector, PluckerTransform
from rbd_ros.spatial.linear3 import Vector3, ZERO3
from rbd_ros.textbook.planar.planar_algebra import (
    PlanarInertia,
    PlanarMotionSubspace,
    PlanarMotionVector,
    PlanarTransform,
)

# Directions of unit length that differ by less are the same up to rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class PlanarJoint:
    """A joint of any type that moves in the plane, with planar quantities.

    :param plane: rotation from joint coordinates to those of the plane

    >>> from rbd_ros.textbook.planar.planar_model import planar_model
    >>> joint = planar_model(Robot.from_urdf('urdf/planar_3r.urdf').model).bodies[0].joint
    >>> joint.nq, joint.nv
    (1, 1)
    >>> joint.motion_subspace([0.5]).columns, joint.transform([0.0])
    ((PlanarMotionVector(1.0, (0.0, 0.0)),), PlanarTransform(c=1.0, s=0.0, r=(0.0, 0.0)))
    >>> joint.motion_subspace_rate([0.5], [1.0]).columns, joint.bias([0.5], [1.0])
    ((PlanarMotionVector(0.0, (0.0, 0.0)),), PlanarMotionVector(0.0, (0.0, 0.0)))
    >>> joint.calc([0.5], [1.0]).v
    PlanarMotionVector(1.0, (0.0, 0.0))
    """

    joint: JointType
    plane: PluckerTransform

    @property
    def nq(self) -> int:
        """Number of position variables."""
        return self.joint.nq

    @property
    def nv(self) -> int:
        """Number of degrees of freedom."""
        return self.joint.nv

    def transform(self, q: Scalars) -> PlanarTransform:
        """Return the joint transform X_J within the plane at `q`, (nq,)."""
        return PlanarTransform.of(self.plane * self.joint.transform(q) * self.plane.inverse())

    def motion_subspace(self, q: Scalars) -> PlanarMotionSubspace:
        """Return the motion subspace S, (3, nv)."""
        return self._in_plane(self.joint.motion_subspace(q).columns)

    def motion_subspace_rate(self, q: Scalars, qd: Scalars) -> PlanarMotionSubspace:
        """Return the apparent derivative of S at velocity `qd`, (3, nv)."""
        return self._in_plane(self.joint.motion_subspace_rate(q, qd).columns)

    def bias(self, q: Scalars, qd: Scalars) -> PlanarMotionVector:
        """Return the velocity-product acceleration c_J."""
        return PlanarMotionVector.of(self.plane.apply(self.joint.bias(q, qd)))

    def calc(self, q: Scalars, qd: Scalars) -> JointState:
        """Return the joint calculation (jcalc) of planar quantities."""
        S = self.motion_subspace(q)
        planar: Any = (self.transform(q), S, S @ qd, self.bias(q, qd))
        return JointState(*planar)

    def _in_plane(self, columns: Sequence[MotionVector]) -> PlanarMotionSubspace:
        return PlanarMotionSubspace(
            [PlanarMotionVector.of(self.plane.apply(column)) for column in columns]
        )


def planar_model(model: Model, normal: Optional[Vector3] = None) -> Model:
    """Return the model whose bodies have planar transforms, inertias and joints.

    Links stay as they are.

    Coordinates, gears and rotors are those of the model; gravity is in coordinates of the plane.
    Texts of algorithms run on it by `rbd_ros.textbook.planar.planar_algorithms.in_plane`.

    :param model: model of a planar robot
    :param normal: unit normal of the plane in base coordinates, (3,); by default that of the
        robot's own motion
    :raises ModelError: if a joint leads out of the plane; the message names it

    >>> from rbd_ros.textbook.planar.planar_model import planar_model
    >>> arm = planar_model(Robot.from_urdf('urdf/planar_3r.urdf').model)
    >>> type(arm.bodies[0].inertia).__name__
    'PlanarInertia'
    """
    normal = plane_normal(model) if normal is None else linear3.vector3(normal, 'normal')
    normals: Dict[int, Vector3] = {0: normal}
    planes = {0: to_plane(normal)}
    bodies = []
    for i, body in model.outward():
        normals[i] = n = linear3.apply(body.tree_transform.E, normals[body.parent])
        if not _moves_in_plane(body.joint, n):
            raise ModelError(
                f'joint {body.joint_name!r} of {model.name!r} moves its body out of the plane '
                f'with the normal {tuple(round(float(x), 6) for x in normal)}'
            )
        planes[i] = to_plane(n)
        X = planes[i] * body.tree_transform * planes[body.parent].inverse()
        planar: Dict[str, Any] = {
            'joint': PlanarJoint(body.joint, planes[i]),
            'tree_transform': PlanarTransform.of(X),
            'inertia': PlanarInertia.of(planes[i].apply(body.inertia)),
        }
        bodies.append(replace(body, **planar))
    gravity = linear3.apply(planes[0].E, linear3.vector3(model.gravity))
    return replace(model, bodies=tuple(bodies), gravity=gravity)


def to_plane(normal: Vector3) -> PluckerTransform:
    """Return the rotation to coordinates of the plane.

    The smallest that makes `normal`, (3,), the z axis.
    """
    return PluckerTransform.rotation((*across(normal), normal))


def plane_normal(model: Model) -> Vector3:
    """Return the unit normal of the plane that a planar robot moves in, in base coordinates, (3,).

    It is the axis of the first joint that turns, or else across the first two that slide in
    different directions, or across the first that slides.

    :raises ModelError: if nothing moves
    """
    X0: Dict[int, PluckerTransform] = {0: PluckerTransform.identity()}
    slides: List[Vector3] = []
    for i, body in model.outward():
        q = body.joint.neutral()
        X0[i] = body.joint.transform(q) * body.tree_transform * X0[body.parent]
        for column in body.joint.motion_subspace(q).columns:
            motion = X0[i].inverse_apply(column)
            if _length(motion.angular) > _ROUNDING:
                return _unit(motion.angular)
            slides.append(_unit(motion.linear))
    for other in slides[1:]:
        across_both = linear3.cross(slides[0], other)
        if _length(across_both) > _ROUNDING:
            return _unit(across_both)
    if not slides:
        raise ModelError(f'{model.name!r} has no movable joint, so it has no plane of motion')
    return across(slides[0])[0]


def _moves_in_plane(joint: JointType, normal: Vector3) -> bool:
    """Return whether a joint keeps the normal, and moves along the plane only."""
    q = joint.sample((0.3,) * joint.uniforms, -1.0, 1.0)
    kept = linear3.subtract(linear3.apply(joint.transform(q).E, normal), normal)
    return _length(kept) < _ROUNDING and all(
        _length(linear3.cross(column.angular, normal)) < _ROUNDING
        and abs(linear3.dot(column.linear, normal)) < _ROUNDING
        for column in joint.motion_subspace(q).columns
    )


def _length(v: Vector3) -> float:
    return math.sqrt(linear3.dot(v, v))


def _unit(v: Vector3) -> Vector3:
    length = _length(v)
    return linear3.scale(1.0 / length, v) if length > 0.0 else ZERO3
