# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Shapes that show inertia: ellipsoids with the mass and inertia of bodies. No messages here."""

from __future__ import annotations

from typing import NamedTuple, Optional, Sequence, Tuple

import numpy as np

from rbd_ros.algorithms.kinematics.kinematics import body_transforms
from rbd_ros.model import Model
from rbd_ros.spatial import RigidBodyInertia

THINNEST = 1e-3  # minimum drawn semi-axis of a flat or linear body [m]


class Ellipsoid(NamedTuple):
    """A solid ellipsoid of uniform density.

    :param semi_axes: lengths of its semi-axes, (3,) [m]
    :param pose: its center and axes, a right-handed frame, (4, 4)
    """

    semi_axes: np.ndarray
    pose: np.ndarray


def equivalent_ellipsoid(inertia: RigidBodyInertia) -> Optional[Ellipsoid]:
    """Return the solid ellipsoid with the mass, center of mass and inertia; None without mass.

    Its moments of inertia are m (b^2 + c^2) / 5 and so on. Moments that violate the triangle
    inequality are drawn as a flat ellipsoid.

    >>> ball = RigidBodyInertia.from_mass_center(5.0, (0, 0, 1), np.diag([2.0, 2.0, 2.0]).tolist())
    >>> equivalent_ellipsoid(ball).semi_axes.round(9)
    array([1., 1., 1.])

    :param inertia: inertia of the body in its coordinates
    """
    if not inertia.mass > 0.0:
        return None
    mass, center, about_center = inertia.mass_center()
    moments, axes = np.linalg.eigh(np.array(about_center, dtype=float))
    if np.linalg.det(axes) < 0.0:
        axes[:, 0] *= -1.0
    squares = 2.5 / mass * (moments.sum() - 2.0 * moments)
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = axes, center
    return Ellipsoid(np.sqrt(np.maximum(squares, THINNEST**2)), pose)


class JointBar(NamedTuple):
    """A torque at its joint.

    :param name: the joint
    :param origin: origin of the joint in base coordinates, (3,) [m]
    :param axis: positive direction of motion, a unit vector in base coordinates, (3,)
    :param torque: the torque or force [N m or N]
    :param share: torque / effort limit, in -1 ... 1; None without a limit
    """

    name: str
    origin: np.ndarray
    axis: np.ndarray
    torque: float
    share: Optional[float]


class ModelView:
    """Shapes of a robot's masses and torques in a configuration, in base coordinates.

    :param model: the robot's model
    """

    def __init__(self, model: Model):
        self._model = model
        bodies = ((i, model.body(i)) for i in range(1, len(model.bodies) + 1))
        found = [(i, body.name, equivalent_ellipsoid(body.inertia)) for i, body in bodies]
        self._ellipsoids = [(i, name, each) for i, name, each in found if each is not None]
        masses = np.array([model.body(i).inertia.mass for i, _, _ in self._ellipsoids])
        self.mass = float(masses.sum())
        self._weights = masses / self.mass if self.mass > 0.0 else masses

    def poses(self, q: np.ndarray) -> Sequence[np.ndarray]:
        """Return the pose of each body by its number, (4, 4) each; the base is number 0.

        :param q: configuration, (nq,)
        """
        model = self._model
        transforms = body_transforms(model, model.tree_position(np.asarray(q, dtype=float)))
        moving = [transforms[i].pose() for i in range(1, len(model.bodies) + 1)]
        return [np.eye(4), *(np.array(pose, dtype=float) for pose in moving)]

    def ellipsoids(self, poses: Sequence[np.ndarray]) -> Sequence[Tuple[str, Ellipsoid]]:
        """Return the name and ellipsoid, in base coordinates, of each body that has mass."""
        return [
            (name, Ellipsoid(each.semi_axes, poses[i] @ each.pose))
            for i, name, each in self._ellipsoids
        ]

    def center_of_mass(self, poses: Sequence[np.ndarray]) -> Optional[np.ndarray]:
        """Return the center of mass of the moving links, (3,) [m]; None without mass."""
        if not self._ellipsoids:
            return None
        centers = np.array([(poses[i] @ each.pose)[:3, 3] for i, _, each in self._ellipsoids])
        return np.asarray(self._weights @ centers)

    def bars(
        self, q: np.ndarray, poses: Sequence[np.ndarray], torques: np.ndarray, limits: np.ndarray
    ) -> Sequence[JointBar]:
        """Return the torques at the joints with one degree of freedom.

        :param q: configuration, (nq,)
        :param torques: generalized forces, (nv,) [N m or N]
        :param limits: effort limits, (nv,), infinite without a limit
        """
        found = []
        for i, (at, to) in self._model.independent_slices.items():
            body = self._model.body(i)
            if body.joint.nv != 1:
                continue
            [column] = body.joint.motion_subspace(np.asarray(q[at], dtype=float).tolist()).columns
            axis = np.array(column.angular, dtype=float)
            if not axis.any():
                axis = np.array(column.linear, dtype=float)
            axis = poses[i][:3, :3] @ (axis / np.linalg.norm(axis))
            torque, limit = float(torques[to][0]), float(limits[to][0])
            known = np.isfinite(limit) and limit > 0.0
            share = float(np.clip(torque / limit, -1.0, 1.0)) if known else None
            found.append(JointBar(body.joint_name, poses[i][:3, 3], axis, torque, share))
        return found
