# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Markers of a robot's center of mass, inertia and gravity torques."""

from __future__ import annotations

from typing import Iterable, List, Optional, Tuple

from geometry_msgs.msg import Point, Vector3
import numpy as np
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker

from rbd_ros.nodes.messages.conversions import pose_from_floating_joint, set_stamp
from rbd_ros.nodes.messages.inertia_shapes import Ellipsoid, JointBar, ModelView
from rbd_ros.spatial.rotation import rotation_to_quaternion

CENTER, INERTIA, TORQUE = 'center_of_mass', 'inertia', 'gravity_torque'
YELLOW = (1.0, 0.8, 0.0, 1.0)
BLUE = (0.2, 0.45, 0.8, 0.45)
GRAY = (0.5, 0.5, 0.5, 1.0)
CENTER_SIZE = 0.06  # diameter of the sphere at the center of mass [m]
FULL_LENGTH = 0.3  # of an arrow at the effort limit [m]
SHAFT, HEAD = 0.02, 0.04  # diameters of an arrow [m]
SHORTEST = 1e-4  # shorter arrows have no direction and are omitted [m]


def model_markers(
    view: ModelView,
    q: np.ndarray,
    torques: np.ndarray,
    limits: np.ndarray,
    frame: str,
    time: int,
) -> List[Marker]:
    """Return the markers of a configuration, preceded by a marker that deletes earlier ones.

    :param view: the robot
    :param q: configuration, (nq,)
    :param torques: displayed torques, (nv,) [N m or N]
    :param limits: effort limits, (nv,); infinite without a limit
    :param frame: name of the frame of the base
    :param time: time of the markers [ns]
    """
    poses = view.poses(q)
    found = [Marker(action=Marker.DELETEALL)]
    center = view.center_of_mass(poses)
    if center is not None:
        at_center = np.eye(4)
        at_center[:3, 3] = center
        sphere = Ellipsoid(np.full(3, 0.5 * CENTER_SIZE), at_center)
        found.append(_ellipsoid(sphere, CENTER, 0, YELLOW))
    for number, (_, each) in enumerate(view.ellipsoids(poses)):
        found.append(_ellipsoid(each, INERTIA, number, BLUE))
    found += _arrows(view.bars(q, poses, torques, limits))
    for marker in found:
        marker.header.frame_id = frame
        set_stamp(marker.header.stamp, time)
    return found


def saturation_color(share: Optional[float]) -> Tuple[float, float, float, float]:
    """Return the color of a torque: green at zero, yellow at half of the effort limit, red at it.

    Without a limit (None), it is gray.

    >>> saturation_color(0.0), saturation_color(-1.0)
    ((0.0, 0.8, 0.1, 1.0), (0.9, 0.0, 0.1, 1.0))
    """
    if share is None:
        return GRAY
    used = min(abs(share), 1.0)
    return 0.9 * min(1.0, 2.0 * used), 0.8 * min(1.0, 2.0 - 2.0 * used), 0.1, 1.0


def _arrows(bars: Iterable[JointBar]) -> List[Marker]:
    """Return arrows along the joints' axes, with lengths proportional to torque / limit."""
    found = []
    for number, bar in enumerate(bars):
        # Without a limit, the length is constant and only the sign shows.
        length = FULL_LENGTH * (0.5 * np.sign(bar.torque) if bar.share is None else bar.share)
        if abs(length) < SHORTEST:
            continue
        marker = Marker(
            ns=TORQUE,
            id=number,
            type=Marker.ARROW,
            scale=Vector3(x=SHAFT, y=HEAD, z=0.0),
            color=_color(saturation_color(bar.share)),
            points=[_point(bar.origin), _point(bar.origin + length * bar.axis)],
        )
        marker.pose.orientation.w = 1.0
        found.append(marker)
    return found


def _ellipsoid(
    shape: Ellipsoid, namespace: str, number: int, color: Tuple[float, float, float, float]
) -> Marker:
    x, y, z = (2.0 * float(each) for each in shape.semi_axes)
    marker = Marker(ns=namespace, id=number, type=Marker.SPHERE, scale=Vector3(x=x, y=y, z=z))
    w, i, j, k = rotation_to_quaternion(shape.pose[:3, :3].tolist())
    marker.pose = pose_from_floating_joint(np.array([w, i, j, k, *shape.pose[:3, 3]]))
    marker.color = _color(color)
    return marker


def _point(values: np.ndarray) -> Point:
    x, y, z = (float(value) for value in values)
    return Point(x=x, y=y, z=z)


def _color(color: Tuple[float, float, float, float]) -> ColorRGBA:
    r, g, b, a = color
    return ColorRGBA(r=r, g=g, b=b, a=a)
