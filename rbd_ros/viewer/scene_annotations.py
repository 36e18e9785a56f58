# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Annotations of a model on a page: joints, centers of mass, inertias."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, Sequence, Tuple

import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.model import Model
from rbd_ros.model.joints import Prismatic
from rbd_ros.spatial import RigidBodyInertia


@dataclass(frozen=True)
class SceneJoint:
    """A joint of one degree of freedom that can be set.

    :param name: its name
    :param position: index of its position in q
    :param velocity: index of its velocity in v
    :param lower: lower position limit, -inf without one [rad or m]
    :param upper: upper position limit
    :param effort: effort limit, inf without one [N m or N]
    :param unit: 'rad' or 'm'
    :param frame: frame of the scene that it moves, -1 if nothing is drawn there
    :param origin: a point of its axis in that frame, (3,) [m]
    :param axis: direction of its axis in that frame, (3,); zero without a fixed one
    """

    name: str
    position: int
    velocity: int
    lower: float
    upper: float
    effort: float
    unit: str
    frame: int
    origin: FloatArray
    axis: FloatArray


@dataclass(frozen=True)
class SceneMass:
    """Mass that moves with a frame.

    :param frame: frame of the scene
    :param mass: mass of the link and all that is fixed to it [kg]
    :param pose: pose of the center of mass and the principal axes in that frame, (4, 4)
    :param size: edges of the box of the same mass and inertia, (3,) [m]
    """

    frame: int
    mass: float
    pose: FloatArray
    size: FloatArray


def joints_and_masses(
    model: Model, links: Sequence[str]
) -> Tuple[Tuple[SceneJoint, ...], Tuple[SceneMass, ...]]:
    """Return the joints and masses of a robot.

    :param model: its model
    :param links: links that are frames of the scene

    >>> from rbd_ros.viewer.scene_annotations import joints_and_masses
    >>> joints, masses = joints_and_masses(robot.model, ['forearm_link'])
    >>> joints[2].name, joints[2].unit, joints[2].frame, joints[2].axis
    ('elbow_joint', 'rad', 0, array([0., 1., 0.]))
    >>> [round(each.mass, 3) for each in masses]
    [2.846]
    """
    frames: Dict[int, int] = {}
    for k, link in enumerate(links):
        frames.setdefault(model.links[link].body, k)
    joints, masses = [], []
    for i, body in enumerate(model.bodies, 1):
        frame, from_body = frames.get(i, -1), np.eye(4)
        if frame >= 0:
            from_body = np.linalg.inv(np.array(model.links[links[frame]].placement.pose()))
            if body.inertia.mass > 0.0:
                masses.append(_mass(frame, from_body, body.inertia))
        at_q, at_v = model.independent_slices.get(i, (slice(0, 0), slice(0, 0)))
        if at_q.stop - at_q.start == 1:
            joints.append(
                SceneJoint(
                    body.joint_name,
                    at_q.start,
                    at_v.start,
                    body.limits.lower,
                    body.limits.upper,
                    body.limits.effort,
                    'm' if isinstance(body.joint, Prismatic) else 'rad',
                    frame,
                    from_body[:3, 3],
                    from_body[:3, :3] @ np.array(getattr(body.joint, 'axis', np.zeros(3))),
                )
            )
    return tuple(joints), tuple(masses)


def _mass(frame: int, from_body: FloatArray, inertia: RigidBodyInertia) -> SceneMass:
    m, center, about_center = inertia.mass_center()
    moments, axes = np.linalg.eigh(np.array(about_center, dtype=float))
    axes[:, 2] *= np.linalg.det(axes)
    # A box of edges s has the moments m (s_2^2 + s_3^2) / 12, ...
    size = np.sqrt(np.maximum(6.0 * (moments.sum() - 2.0 * moments) / m, 0.0))
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = axes, center
    return SceneMass(frame, float(m), from_body @ pose, size)
