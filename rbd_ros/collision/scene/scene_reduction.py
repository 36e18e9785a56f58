# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Contacts of bodies with several shapes, reduced to the corners of their common face.

If shapes of one body touch another body with coplanar faces, forces at points inside their convex
hull are sums of forces at its corners: f at p = sum w_k p_k equals w_k f at each p_k, with the
same moment and the same friction law. If corners do not penetrate, neither do points between them
(book 11.6). So the reduction is exact.
"""

from __future__ import annotations

from rbd_ros.array_types import FloatArray
from rbd_ros.collision.convex.reduction import area, HEIGHT
from rbd_ros.collision.scene.scene_arrays import SceneBuffers, SceneContacts, SceneTable
from rbd_ros.compiler.loops import compiled, load_vec, Vec

#: Distance of points, or from the plane of a face, that counts as zero [m].
SAME = 1e-9

#: Difference of normals up to which they are the same.
PARALLEL = 1e-9

#: Direction in which the first corner is searched, along no usual edge.
SLANTED = 0.618


@compiled
def drop_implied(
    scene: SceneTable, buffers: SceneBuffers, contacts: SceneContacts, count: int
) -> int:
    """Drop contacts that others imply; return how many remain, in the same order.

    :param scene: shapes and pairs
    :param buffers: buffers of the scene
    :param contacts: all contacts, changed
    :param count: number of contacts
    """
    keep, any_dropped = buffers.keep, False
    for c in range(count):
        keep[c] = 1
        # Bodies with one shape need no reduction.
        buffers.seen[c] = 1
        if contacts.pair[c] < len(scene.group):
            buffers.seen[c] = 1 if scene.group[contacts.pair[c]] < 0 else 0
    # Contacts of each group are linked, in their order: a face searches its own group only.
    for c in range(count):
        if buffers.seen[c] == 0:
            buffers.group_first[scene.group[contacts.pair[c]]] = -1
    for back in range(count):
        c = count - 1 - back
        if buffers.seen[c] == 0:
            group = scene.group[contacts.pair[c]]
            buffers.group_next[c], buffers.group_first[group] = buffers.group_first[group], c
    for c in range(count):
        if buffers.seen[c] == 0:
            members = gather_face(buffers, contacts, c)
            # Two points are corners in any case. Gaps that are not linear in position belong to
            # different planes, and inner points might be the deepest.
            if members > 2 and is_flat(buffers, members):
                wrap(buffers, members)
                any_dropped = True
    if not any_dropped:
        return count
    left = 0
    for c in range(count):
        if keep[c] == 0:
            continue
        # Compacted in place, in order: features and warm start rely on it.
        if left < c:
            contacts.pair[left], contacts.feature[left] = contacts.pair[c], contacts.feature[c]
            contacts.gap[left] = contacts.gap[c]
            for r in range(2):
                contacts.body_id[left, r] = contacts.body_id[c, r]
            contacts.position[left] = load_vec(contacts.position[c], 3)
            for r in range(3):
                contacts.frame[left, r] = load_vec(contacts.frame[c, r], 3)
        left += 1
    return left


@compiled
def gather_face(buffers: SceneBuffers, contacts: SceneContacts, c: int) -> int:
    """List in `member` the contacts of the same group with the same normal; return their number.

    `flat` gets their coordinates in the plane, and their gaps.

    :param c: number of the first of them
    """
    members, frame, origin = 0, contacts.frame[c], contacts.position[c]
    following = c
    while following >= 0:
        d = following
        following = buffers.group_next[d]
        if buffers.seen[d] == 1:
            continue
        x, y, z = load_vec(contacts.frame[d, 0], 3) - load_vec(frame[0], 3)
        # With different normals, forces at the corners would have a tangential part.
        if max(abs(x), abs(y), abs(z)) > PARALLEL:
            continue
        buffers.seen[d] = 1
        buffers.member[members] = d
        # Coordinates in the plane, along the tangents of the first contact.
        offset = load_vec(contacts.position[d], 3) - load_vec(origin, 3)
        buffers.flat[members] = Vec(
            load_vec(frame[1], 3) @ offset, load_vec(frame[2], 3) @ offset, contacts.gap[d]
        )
        members += 1
    return members


@compiled
def is_flat(buffers: SceneBuffers, members: int) -> bool:
    """Return whether the points lie in a plane of the body, so that gaps are linear in position.

    Reorders the points: the first is a corner, the second the farthest from it, the third the
    farthest from their line.

    :param members: number of points
    """
    flat = buffers.flat
    first, second, third = 0, 0, 0
    for i in range(1, members):
        if ahead(flat, i) < ahead(flat, first) - SAME:
            first = i
    exchange(buffers, 0, first)
    for i in range(1, members):
        if distance2(flat, 0, i) > distance2(flat, 0, second):
            second = i
    exchange(buffers, 1, second)
    # Affine coordinates by three distant points: gaps of the other points are compared with
    # interpolated ones.
    length2, most = distance2(flat, 0, 1), 0.0
    if not length2 > SAME * SAME:
        return False
    for i in range(2, members):
        if abs(area(flat, 0, 1, i)) > most:
            third, most = i, abs(area(flat, 0, 1, i))
    in_line = not most * most > SAME * SAME * length2
    if not in_line:
        exchange(buffers, 2, third)
    whole = area(flat, 0, 1, 2)
    for i in range(2, members):
        if in_line:
            x, y = flat[i, 0] - flat[0, 0], flat[i, 1] - flat[0, 1]
            dx, dy = flat[1, 0] - flat[0, 0], flat[1, 1] - flat[0, 1]
            b, c = (x * dx + y * dy) / length2, 0.0
        else:
            b, c = area(flat, 0, i, 2) / whole, area(flat, 0, 1, i) / whole
        height = flat[0, HEIGHT] + b * (flat[1, HEIGHT] - flat[0, HEIGHT])
        if not in_line:
            height += c * (flat[2, HEIGHT] - flat[0, HEIGHT])
        if abs(flat[i, HEIGHT] - height) > SAME:
            return False
    return True


@compiled
def wrap(buffers: SceneBuffers, members: int) -> None:
    """Keep the listed contacts at the corners of their convex hull (Jarvis 1973).

    :param members: number of contacts; the first is a corner
    """
    flat = buffers.flat
    for i in range(members):
        buffers.keep[buffers.member[i]] = 0
    at = 0
    for _ in range(members):
        buffers.keep[buffers.member[at]] = 1
        following = -1
        for i in range(members):
            far = distance2(flat, at, i)
            if not far > SAME * SAME:
                continue
            if following < 0:
                following = i
                continue
            reach = distance2(flat, at, following)
            # Gift wrapping: the next corner has all other points on its left.
            side = area(flat, at, following, i)
            # Of collinear points the farthest, of coincident ones the first.
            if side * side > SAME * SAME * max(reach, far):
                if side < 0.0:
                    following = i
            elif far > reach and distance2(flat, following, i) > SAME * SAME:
                following = i
        # Back at the first corner: the hull is closed.
        if following < 0 or not distance2(flat, 0, following) > SAME * SAME:
            break
        at = following


@compiled
def ahead(flat: FloatArray, i: int) -> float:
    """Return the coordinate of a point along the search direction of the first corner [m]."""
    place: float = flat[i, 0] + SLANTED * flat[i, 1]
    return place


@compiled
def distance2(flat: FloatArray, i: int, j: int) -> float:
    """Return the square of the distance of two points in the plane [m^2]."""
    x, y = flat[j, 0] - flat[i, 0], flat[j, 1] - flat[i, 1]
    square: float = x * x + y * y
    return square


@compiled
def exchange(buffers: SceneBuffers, i: int, j: int) -> None:
    """Swap two of the listed contacts."""
    buffers.member[i], buffers.member[j] = buffers.member[j], buffers.member[i]
    buffers.flat[i], buffers.flat[j] = load_vec(buffers.flat[j], 3), load_vec(buffers.flat[i], 3)
