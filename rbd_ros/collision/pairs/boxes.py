# SPDX-License-Identifier: Apache-2.0
"""Boxes against boxes: faces on faces by up to four points, edges and vertices by one."""

from __future__ import annotations

from rbd_ros.collision.arrays import FloatArray, FoundPoints
from rbd_ros.collision.pairs.box_axes import (
    best_axis,
    crossing_edges,
    deepest_vertex,
    nearest_of_boxes,
    relative_pose,
    SLACK,
)
from rbd_ros.collision.pairs.box_regions import settle_boxes
from rbd_ros.collision.pairs.face_clipping import add_face
from rbd_ros.collision.pairs.segments import length_of
from rbd_ros.collision.vectors import add, COINCIDENT, placed, turned
from rbd_ros.compiler.loops import compiled, stack_array

#: Cosine of the angle up to which the direction between two boxes counts as normal to a face.
NEARLY = 0.9998


@compiled
def face_contacts(
    half_a: FloatArray,
    pose_a: FloatArray,
    half_b: FloatArray,
    pose_b: FloatArray,
    pose: FloatArray,
    number: int,
    normal: FloatArray,
    margin: float,
    found: FoundPoints,
) -> int:
    """Enter the contacts of a face.

    :param pose: pose of the second box in coordinates of the first one, (12,)
    :param number: axis, 0 to 2 of the first box, 3 to 5 of the second one
    :param normal: from the first box to the second, in coordinates of the first one, (3,)
    """
    if number < 3:
        sign = 1.0 if normal[number] >= 0.0 else -1.0
        return add_face(half_a, pose_a, half_b, pose, number, sign, False, margin, found)
    back, k = stack_array(12), number - 3
    # Clipping takes the box with the face as the first one.
    relative_pose(pose_b, pose_a, back)
    upward = normal[0] * pose[k] + normal[1] * pose[3 + k] + normal[2] * pose[6 + k]
    sign = -1.0 if upward >= 0.0 else 1.0
    return add_face(half_b, pose_b, half_a, back, k, sign, True, margin, found)


@compiled
def box_box(
    size_a: FloatArray,
    pose_a: FloatArray,
    size_b: FloatArray,
    pose_b: FloatArray,
    margin: float,
    nearest: bool,
    found: FoundPoints,
) -> int:
    """Return the contact of two boxes; arguments are those of `capsule_capsule` (capsules.py).

    Features below 729 are 27 times that of the first box plus that of the second one, each a face,
    an edge or a vertex as in `feature_of`; others are vertices of the part that two faces share.
    """
    pose, axis, normal = stack_array(12), stack_array(3), stack_array(3)
    on_a, on_b, point = stack_array(3), stack_array(3), stack_array(3)
    relative_pose(pose_a, pose_b, pose)
    # Most pairs are far apart, and settled by regions of points before any axis is tried.
    if nearest and settle_boxes(size_a, size_b, pose, on_a, on_b):
        for r in range(3):
            axis[r] = on_b[r] - on_a[r]
        distance = length_of(axis)
        if distance > COINCIDENT:
            for r in range(3):
                axis[r] /= distance
            turned(pose_a, axis, normal)
            placed(pose_a, on_a, point)
            return add(found, 0, 0, distance, margin, point, normal)
    separation, number = best_axis(size_a, size_b, pose, nearest, axis)
    if not separation <= margin:  # NaN as well
        return 0
    # The separation along an axis is no more than the distance, which is that of features.
    if separation > 0.0:
        distance, feature = nearest_of_boxes(size_a, size_b, pose, on_a, on_b)
        if distance > margin:
            return 0
        if distance > COINCIDENT:
            for r in range(3):
                axis[r] = (on_b[r] - on_a[r]) / distance
            face, most = -1, NEARLY
            for k in range(6):
                upward = abs(axis[k % 3])
                if k >= 3:
                    j = k - 3
                    upward = abs(axis[0] * pose[j] + axis[1] * pose[3 + j] + axis[2] * pose[6 + j])
                if upward > most:
                    face, most = k, upward + SLACK if k < 3 else upward
            if face >= 0 and not nearest:
                count = face_contacts(
                    size_a, pose_a, size_b, pose_b, pose, face, axis, margin, found
                )
                if count > 0:
                    return count
            turned(pose_a, axis, normal)
            placed(pose_a, on_a, point)
            return add(found, 0, feature, distance, margin, point, normal)
    if number < 6:
        count = face_contacts(size_a, pose_a, size_b, pose_b, pose, number, axis, margin, found)
        if count > 0:
            return count
        # A face was favored whose counterpart is beside it.
        separation, number = best_axis(size_a, size_b, pose, True, axis)
        if number < 6:
            count = face_contacts(
                size_a, pose_a, size_b, pose_b, pose, number, axis, margin, found
            )
            if count > 0:
                return count
    if number < 6:
        # The face only touches the border of the other one, and rounding has cut off all of it.
        feature = deepest_vertex(size_a, size_b, pose, number, separation, axis, on_a)
    else:
        feature = crossing_edges(
            size_a, size_b, pose, (number - 6) // 3, (number - 6) % 3, axis, on_a
        )
    turned(pose_a, axis, normal)
    placed(pose_a, on_a, point)
    return add(found, 0, feature, separation, margin, point, normal)
