# SPDX-License-Identifier: Apache-2.0
"""Arrays of compiled loops over a scene: candidate pairs, contacts, and buffers for both.

Shapes are fixed to bodies: the world, which is number 0, those of a robot after it, and the
movable objects after those.
"""

from __future__ import annotations

from typing import NamedTuple, Sequence, Union

from rbd_ros.array_types import FloatArray, IntArray
from rbd_ros.collision.arrays import (
    FoundPoints,
    Tables,
)
from rbd_ros.compiler.loops import floats, integers

#: Places in a row of `Scene.surface`.
ALONG, ACROSS, RESTITUTION, TORSIONAL, ROLLING, STIFFNESS, DAMPING = 0, 1, 2, 3, 4, 5, 6
EXPONENT, DISSIPATION = 7, 8


class SceneTable(NamedTuple):
    """Pairs that may touch: constants for compiled loops.

    :param kind: kind of each shape (narrow_phase.py), (G,)
    :param size: its sizes (shapes.py), or its number in the tables first, (G, 3) [m]
    :param body_id: number of its body, (G,)
    :param placement: its rotation row by row and its position in coordinates of its body,
        (G, 12)
    :param reach: radius of its bounding sphere; infinite for planes, (G,) [m]
    :param arm: distance from the origin of its body within which it is; zero for planes, which
        do not move, (G,) [m]
    :param body_arm: the largest of them of each body, (bodies,) [m]
    :param pair: shapes of each pair that may touch, (P, 2)
    :param surface: of each pair friction along the first direction and across it, restitution,
        torsional and rolling friction, stiffness, damping, exponent and dissipation, (P, 9); a
        stiffness of zero is that of a rigid contact, an exponent of zero that of a linear spring
    :param direction: first direction of friction in coordinates of the body that has it;
        zero where friction is the same in all directions, (P, 3)
    :param directed_by: that body, (P,)
    :param group: number that pairs of the same bodies and with the same surface have in common;
        -1 for one that has none in common, (P,)
    :param of_robot: 1 for pairs of which a body of a robot carries a shape, (P,)
    :param tables: tables of hulls, meshes and height fields
    """

    kind: IntArray
    size: FloatArray
    body_id: IntArray
    placement: FloatArray
    reach: FloatArray
    arm: FloatArray
    body_arm: FloatArray
    pair: IntArray
    surface: FloatArray
    direction: FloatArray
    directed_by: IntArray
    group: IntArray
    of_robot: IntArray
    tables: Tables


def with_pairs(scene: SceneTable, which: Union[Sequence[int], IntArray]) -> SceneTable:
    """Return the table of some of the pairs, in the order that they are given in.

    :param scene: the table
    :param which: numbers of the pairs
    """
    # Shapes stay, even those without pairs left: numbers of shapes are used elsewhere.
    return scene._replace(
        pair=scene.pair[which],
        surface=scene.surface[which],
        direction=scene.direction[which],
        directed_by=scene.directed_by[which],
        group=scene.group[which],
        of_robot=scene.of_robot[which],
    )


class SceneContacts(NamedTuple):
    """The contacts that were found, of which the first ones count; all in world coordinates.

    :param pair: number of the pair
    :param feature: number of the features that touch
    :param body_id: number of the body of the first and of the second shape
    :param position: where forces act, on either surface or in the middle between both, see
        `surface_fraction` [m]
    :param frame: normal from the first to the second shape and two tangents, the rows
    :param gap: signed gap along the normal [m]
    """

    pair: IntArray = integers('contacts')
    feature: IntArray = integers('contacts')
    body_id: IntArray = integers('contacts', 2)
    position: FloatArray = floats('contacts', 3)
    frame: FloatArray = floats('contacts', 3, 3)
    gap: FloatArray = floats('contacts')


class SceneBuffers(NamedTuple):
    """Poses of bodies and shapes, and buffers for the contacts of one pair.

    :param pose: rotation row by row and position of each body
    :param velocity: spatial velocity of each body in world coordinates [rad/s, m/s]
    :param ahead: likewise at the end of the step, as far as it is known
    :param look: 0 to look for what is touched by `velocity`; then, in the same step, 1, 2, ... to
        look for what is touched by `ahead` as well, or by any that it was before
    :param closing: most negative rate of the gap of each pair that was seen ahead, (P,) [m/s]
    :param speed: speed of the origin of each body [m/s]
    :param angular_speed: its angular speed [rad/s]
    :param shape_pose: rotation and position of each shape that is looked at in this step
    :param placed: 1 for these
    :param near: numbers of the pairs that are near each other
    :param listed: one more than there are of them; 0: they are not known
    :param slack: how far shapes may still move towards each other before others come near [m]
    :param clearance: how far the shapes of a pair may still move before they must be looked at [m]
    :param shifted: how far shapes were moved besides what their velocities say [m]
    :param dropped: how many contacts had no room
    :param found: contacts of one pair
    :param seen: whether a contact has been looked at (scene_reduction.py)
    :param keep: whether it is kept
    :param member: contacts of one face
    :param flat: their places in its plane, and their gaps [m]
    """

    pose: FloatArray = floats('scene_bodies', 12)
    velocity: FloatArray = floats('scene_bodies', 6)
    ahead: FloatArray = floats('scene_bodies', 6)
    look: IntArray = integers(1)
    closing: FloatArray = floats('pairs')
    speed: FloatArray = floats('scene_bodies')
    angular_speed: FloatArray = floats('scene_bodies')
    shape_pose: FloatArray = floats('shapes', 12)
    placed: IntArray = integers('shapes')
    near: IntArray = integers('pairs')
    listed: IntArray = integers(1)
    slack: FloatArray = floats(1)
    clearance: FloatArray = floats('pairs')
    shifted: FloatArray = floats(1)
    dropped: IntArray = integers(1)
    found: FoundPoints = FoundPoints  # type: ignore[assignment]
    seen: IntArray = integers('contacts')
    keep: IntArray = integers('contacts')
    member: IntArray = integers('contacts')
    flat: FloatArray = floats('contacts', 3)
