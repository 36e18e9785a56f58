"""All contacts of a scene: which pairs are near, and where they touch, in compiled loops.

Shapes are fixed to carriers: the world, which is number 0, the bodies of a robot after it, and the
movable objects after those.
"""

from __future__ import annotations

import math
from typing import NamedTuple, Sequence, Tuple, Union

from rbd_ros.collision.arrays import (
    FloatArray,
    FoundPoints,
    HEIGHT_FIELD,
    IntArray,
    PLANE,
    Tables,
)
from rbd_ros.collision.narrow_phase import find_contacts
from rbd_ros.compiler.loops import (
    allocate,
    compiled,
    entry_point,
    floats,
    integers,
    Record,
    vector,
)

#: Gap that a contact may have after a step without forces, and still count as one that may close
#: [m]. One too many costs three rows of the solver, one too few a step of penetration.
MARGIN = 2e-4

#: By how much more than that pairs may be apart and still be listed as near ones [m], and in how
#: many steps the fastest shape goes that far at least.
SKIN, STEPS_OF_SKIN = 0.02, 20.0

#: Largest gap, or overlap, of what rests [m]. With more, the arm of the force matters, and is best
#: that of the middle.
THIN = 2e-5

#: How much further the points of one surface are from a plane than those of the other if only one
#: is a plane: more than rounding [m].
LEVEL = 1e-12

#: Places in a row of `Scene.surface`.
ALONG, ACROSS, RESTITUTION, TORSIONAL, ROLLING, STIFFNESS, DAMPING = 0, 1, 2, 3, 4, 5, 6
EXPONENT, DISSIPATION = 7, 8


class SceneTable(NamedTuple):
    """What may touch what: constants for compiled loops.

    :param kind: kind of each shape (narrow_phase.py), (G,)
    :param size: its sizes (shapes.py), or its number in the tables first, (G, 3) [m]
    :param carrier: what carries it, (G,)
    :param placement: its rotation row by row and its position in coordinates of its carrier,
        (G, 12)
    :param reach: radius of its bounding sphere; infinite for planes, (G,) [m]
    :param arm: distance from the origin of its carrier within which it is; zero for planes, which
        do not move, (G,) [m]
    :param carrier_arm: the largest of them of each carrier, (carriers,) [m]
    :param pair: shapes of each pair that may touch, (P, 2)
    :param surface: of each pair friction along the first direction and across it, restitution,
        torsional and rolling friction, stiffness, damping, exponent and dissipation, (P, 9); a
        stiffness of zero is that of a rigid contact, an exponent of zero that of a linear spring
    :param direction: first direction of friction in coordinates of the carrier that has it;
        zero where friction is the same in all directions, (P, 3)
    :param directed_by: that carrier, (P,)
    :param group: number that pairs of the same carriers and with the same surface have in common;
        -1 for one that has none in common, (P,)
    :param tables: tables of hulls, meshes and height fields
    """

    kind: IntArray
    size: FloatArray
    carrier: IntArray
    placement: FloatArray
    reach: FloatArray
    arm: FloatArray
    carrier_arm: FloatArray
    pair: IntArray
    surface: FloatArray
    direction: FloatArray
    directed_by: IntArray
    group: IntArray
    tables: Tables


def with_pairs(scene: SceneTable, which: Union[Sequence[int], IntArray]) -> SceneTable:
    """Table of some of the pairs, in the order that they are given in.

    :param scene: the table
    :param which: numbers of the pairs
    """
    return scene._replace(
        pair=scene.pair[which],
        surface=scene.surface[which],
        direction=scene.direction[which],
        directed_by=scene.directed_by[which],
        group=scene.group[which],
    )


class SceneContacts(NamedTuple):
    """The contacts that were found, of which the first ones count; all in world coordinates.

    :param pair: number of the pair
    :param feature: number of the features that touch
    :param carrier: what carries the first and the second shape
    :param position: where forces act, on either surface or in the middle between both, see
        `share_of_second` [m]
    :param frame: normal from the first to the second shape and two tangents, the rows
    :param gap: signed gap along the normal [m]
    """

    pair: IntArray = integers('contacts')
    feature: IntArray = integers('contacts')
    carrier: IntArray = integers('contacts', 2)
    position: FloatArray = floats('contacts', 3)
    frame: FloatArray = floats('contacts', 3, 3)
    gap: FloatArray = floats('contacts')


class SceneRoom(NamedTuple):
    """Where carriers and shapes are, and room for the contacts of one pair.

    :param pose: rotation row by row and position of each carrier
    :param velocity: spatial velocity of each carrier in world coordinates [rad/s, m/s]
    :param ahead: likewise at the end of the step, as far as it is known
    :param look: 0 to look for what is touched by `velocity`; then, in the same step, 1, 2, ... to
        look for what is touched by `ahead` as well, or by any that it was before
    :param closing: most negative rate of the gap of each pair that was seen ahead, (P,) [m/s]
    :param speed: speed of the origin of each carrier [m/s]
    :param turning: its angular speed [rad/s]
    :param shape_pose: rotation and position of each shape that is looked at in this step
    :param placed: 1 for these
    :param near: numbers of the pairs that are near each other
    :param listed: one more than there are of them; 0: they are not known
    :param slack: how far shapes may still move towards each other before others come near [m]
    :param apart: how far the shapes of a pair may still move before they must be looked at [m]
    :param shifted: how far shapes were moved besides what their velocities say [m]
    :param dropped: how many contacts had no room
    :param found: contacts of one pair
    :param seen: whether a contact has been looked at (scene_reduction.py)
    :param keep: whether it is kept
    :param member: contacts of one face
    :param flat: their places in its plane, and their gaps [m]
    """

    pose: FloatArray = floats('carriers', 12)
    velocity: FloatArray = floats('carriers', 6)
    ahead: FloatArray = floats('carriers', 6)
    look: IntArray = integers(1)
    closing: FloatArray = floats('pairs')
    speed: FloatArray = floats('carriers')
    turning: FloatArray = floats('carriers')
    shape_pose: FloatArray = floats('shapes', 12)
    placed: IntArray = integers('shapes')
    near: IntArray = integers('pairs')
    listed: IntArray = integers(1)
    slack: FloatArray = floats(1)
    apart: FloatArray = floats('pairs')
    shifted: FloatArray = floats(1)
    dropped: IntArray = integers(1)
    found: FoundPoints = FoundPoints  # type: ignore[assignment]
    seen: IntArray = integers('contacts')
    keep: IntArray = integers('contacts')
    member: IntArray = integers('contacts')
    flat: FloatArray = floats('contacts', 3)


@compiled
def compose(pose: FloatArray, placement: FloatArray, result: FloatArray) -> None:
    """Pose of what is placed in a frame that has a pose.

    :param pose: rotation of the frame row by row, and its position, (12,)
    :param placement: rotation and position in that frame, (12,)
    :param result: rotation and position, (12,)
    """
    for r in range(3):
        a, b, c = pose[3 * r], pose[3 * r + 1], pose[3 * r + 2]
        for s in range(3):
            result[3 * r + s] = a * placement[s] + b * placement[3 + s] + c * placement[6 + s]
        result[9 + r] = a * placement[9] + b * placement[10] + c * placement[11] + pose[9 + r]


@compiled
def speed_at_origin(v: FloatArray, pose: FloatArray) -> float:
    """Speed of the origin of a carrier [m/s].

    :param v: its spatial velocity in world coordinates, (6,) [rad/s, m/s]
    :param pose: its pose, (12,)
    """
    total = 0.0
    for r in range(3):
        s, t = (r + 1) % 3, (r + 2) % 3
        rate = v[3 + r] + v[s] * pose[9 + t] - v[t] * pose[9 + s]
        total += rate * rate
    return math.sqrt(total)


@compiled
def angular_speed(v: FloatArray) -> float:
    """Angular speed [rad/s] of a spatial velocity, (6,)."""
    return math.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])


@compiled
def bound_speeds(scene: SceneTable, room: SceneRoom) -> float:
    """Find how fast carriers move and turn, and forget where shapes were.

    :return: a bound on the speed of anything on them [m/s]
    """
    fastest = 0.0
    for carrier in range(len(room.pose)):
        v, pose = room.velocity[carrier], room.pose[carrier]
        speed, turning = speed_at_origin(v, pose), angular_speed(v)
        if room.look[0] > 0:
            ahead = room.ahead[carrier]
            speed = max(room.speed[carrier], speed_at_origin(ahead, pose))
            turning = max(room.turning[carrier], angular_speed(ahead))
        room.speed[carrier], room.turning[carrier] = speed, turning
        fastest = max(fastest, speed + turning * scene.carrier_arm[carrier])
    for g in range(len(room.placed)):
        room.placed[g] = 0
    return fastest


@compiled
def speed_of(scene: SceneTable, room: SceneRoom, g: int) -> float:
    """Bound on the speed of any point of a shape [m/s]."""
    carrier = scene.carrier[g]
    bound: float = room.speed[carrier] + room.turning[carrier] * scene.arm[g]
    return bound


@compiled
def place_shape(scene: SceneTable, room: SceneRoom, g: int) -> None:
    """Find where a shape is, unless that has been done in this step."""
    if room.placed[g] == 0:
        room.placed[g] = 1
        compose(room.pose[scene.carrier[g]], scene.placement[g], room.shape_pose[g])


@compiled
def between_centres(scene: SceneTable, a: int, b: int, p: FloatArray, q: FloatArray) -> float:
    """Squared distance of the centres of two bounding spheres [m^2].

    That of a height field, whose solid has no lower end, is where it is nearest to the other on
    its way down.

    :param a: one shape
    :param b: the other one
    :param p: pose of the first, (12,)
    :param q: pose of the other one, (12,)
    """
    x, y, z = q[9] - p[9], q[10] - p[10], q[11] - p[11]
    below = 0.0
    if scene.kind[b] == HEIGHT_FIELD:
        below = max(0.0, q[2] * x + q[5] * y + q[8] * z)
    if scene.kind[a] == HEIGHT_FIELD:
        below = max(0.0, -(p[2] * x + p[5] * y + p[8] * z))
    return max(0.0, x * x + y * y + z * z - below * below)


@compiled
def are_apart(scene: SceneTable, room: SceneRoom, a: int, b: int, margin: float) -> bool:
    """Whether the bounding spheres of two shapes are further apart than a margin.

    :param a: one shape
    :param b: the other one
    :param margin: [m]
    """
    p, q = room.shape_pose[a], room.shape_pose[b]
    x, y, z = q[9] - p[9], q[10] - p[10], q[11] - p[11]
    if scene.kind[a] == PLANE:
        return p[2] * x + p[5] * y + p[8] * z > scene.reach[b] + margin
    if scene.kind[b] == PLANE:
        return -(q[2] * x + q[5] * y + q[8] * z) > scene.reach[a] + margin
    far = scene.reach[a] + scene.reach[b] + margin
    return between_centres(scene, a, b, p, q) > far * far


@compiled
def list_near_pairs(scene: SceneTable, room: SceneRoom, timestep: float, fastest: float) -> None:
    """List the pairs of which contacts must be looked for, if others may have come near.

    As neighbour lists of molecular dynamics (Verlet 1967): what is not listed is so far away that
    it cannot touch before shapes have moved by the slack. Lists change nothing of what is found.

    :param timestep: h [s]
    :param fastest: bound on the speed of shapes [m/s]
    """
    # Two shapes, each of which moves by h v, and three times as far counts as near.
    way = 2.0 * (timestep * fastest + room.shifted[0])
    if room.listed[0] > 0 and room.slack[0] >= 2.5 * way:
        room.slack[0] -= way
        return
    skin, count = max(SKIN, STEPS_OF_SKIN * way), 0
    for g in range(len(scene.kind)):
        place_shape(scene, room, g)
    for p in range(len(scene.pair)):
        if not are_apart(scene, room, scene.pair[p, 0], scene.pair[p, 1], MARGIN + skin):
            room.near[count] = p
            room.apart[p] = 0.0
            count += 1
    # One more than there are: zero says that nothing is known.
    room.listed[0] = count + 1
    room.slack[0] = skin - way


@compiled
def set_frame(frame: FloatArray, along: FloatArray) -> None:
    """Find two tangents for a normal.

    :param frame: normal, then tangents, (3, 3); changed
    :param along: direction that the first tangent is to have as far as it is tangential, (3,)
    """
    n, t, u = frame[0], frame[1], frame[2]
    length = 0.0
    for _ in range(2):
        share = along[0] * n[0] + along[1] * n[1] + along[2] * n[2]
        length = 0.0
        for r in range(3):
            t[r] = along[r] - share * n[r]
            length += t[r] * t[r]
        if length > 1e-12:
            break
        # Without a direction, or with that of the normal: whichever axis is most tangential.
        least = 0
        for r in range(1, 3):
            if abs(n[r]) < abs(n[least]):
                least = r
        for r in range(3):
            along[r] = 1.0 if r == least else 0.0
    length = math.sqrt(length)
    for r in range(3):
        t[r] /= length
    for r in range(3):
        p, q = (r + 1) % 3, (r + 2) % 3
        u[r] = n[p] * t[q] - n[q] * t[p]


@compiled
def has_sped_up(scene: SceneTable, room: SceneRoom, timestep: float) -> bool:
    """Whether more may be touched at the velocities `ahead` than what has been looked for.

    :param timestep: h [s]
    """
    change = vector(6)
    # In most steps nothing has: told without roots, as (a + b)^2 is at most 2 a^2 + 2 b^2.
    most = 0.0
    for carrier in range(len(room.pose)):
        v, w, at = room.velocity[carrier], room.ahead[carrier], room.pose[carrier]
        arm, total = scene.carrier_arm[carrier], 0.0
        for r in range(3):
            s, t = (r + 1) % 3, (r + 2) % 3
            rate = w[3 + r] - v[3 + r] + (w[s] - v[s]) * at[9 + t] - (w[t] - v[t]) * at[9 + s]
            total += rate * rate + arm * arm * (w[r] - v[r]) * (w[r] - v[r])
        most = max(most, total)
    if 8.0 * timestep * timestep * most <= MARGIN * MARGIN:
        return False
    first, second = 0.0, 0.0
    for carrier in range(len(room.pose)):
        for r in range(6):
            change[r] = room.ahead[carrier, r] - room.velocity[carrier, r]
        speed = speed_at_origin(change, room.pose[carrier])
        speed += angular_speed(change) * scene.carrier_arm[carrier]
        second = max(second, min(first, speed))
        first = max(first, speed)
    # Of two that approach each other; what has no end is for others to tell.
    return MARGIN < timestep * (first + second) < math.inf


@compiled
def approach(v: FloatArray, w: FloatArray, position: FloatArray, normal: FloatArray) -> float:
    """Rate of the gap at a point [m/s].

    :param v: spatial velocity of the carrier of the first shape in world coordinates, (6,)
    :param w: that of the second one's, (6,)
    :param position: the point, (3,) [m]
    :param normal: unit normal from the first to the second, (3,)
    """
    rate = 0.0
    for r in range(3):
        s, t = (r + 1) % 3, (r + 2) % 3
        relative = w[3 + r] - v[3 + r]
        relative += (w[s] - v[s]) * position[t] - (w[t] - v[t]) * position[s]
        rate += normal[r] * relative
    return rate


@compiled
def distance_within(scene: SceneTable, room: SceneRoom, a: int, b: int, most: float) -> float:
    """Distance of two shapes if it is less than a bound, else the bound [m].

    :param a: one shape
    :param b: the other one
    :param most: the bound [m]
    """
    points = find_contacts(
        scene.kind[a],
        scene.size[a],
        room.shape_pose[a],
        scene.kind[b],
        scene.size[b],
        room.shape_pose[b],
        most,
        True,
        scene.tables,
        room.found,
    )
    distance = most
    for k in range(points):
        distance = min(distance, room.found.gap[k])
    return distance


@compiled
def have_one_normal(found: FoundPoints, j: int, k: int) -> bool:
    """Whether two points of a pair have the same normal, as those of a face do."""
    same = True
    for r in range(3):
        same = same and found.normal[j, r] == found.normal[k, r]
    return same


@compiled
def share_of_second(found: FoundPoints, begin: int, end: int, first: bool, second: bool) -> float:
    """Where between both surfaces the points of a face are taken to be: 0 first, 1 second one.

    What rests on something has tiny gaps, different ones, which it closes by turning. All its
    points can be held meanwhile if they are in one plane across the normal; else they contradict
    each other, by little, and yet by more than the solver's tolerance. So they are on the surface
    that is such a plane, or on that of the world, as single points that others share it with.

    :param found: points of a pair
    :param begin: first of those of the face
    :param end: one more than the last point of the pair
    :param first: whether the first shape is fixed to the world
    :param second: whether the second one is
    """
    of_first = of_second = 0.0
    for k in range(begin, end):
        if not have_one_normal(found, begin, k):
            break
        d = e = 0.0
        for r in range(3):
            n = found.normal[begin, r]
            d += n * (found.on_a[k, r] - found.on_a[begin, r])
            e += n * (found.on_b[k, r] - found.on_b[begin, r])
        of_first, of_second = max(of_first, abs(d)), max(of_second, abs(e))
    if abs(of_first - of_second) > LEVEL:
        return 0.0 if of_first < of_second else 1.0
    if first == second:
        return 0.5
    return 0.0 if first else 1.0


@compiled
def find_scene_contacts(
    scene: SceneTable, room: SceneRoom, timestep: float, contacts: SceneContacts
) -> Tuple[int, int]:
    """Contacts that are closed, or may close within the step, in the order of the pairs.

    :param scene: what may touch what
    :param room: poses and velocities of the carriers
    :param timestep: h [s]
    :param contacts: what is found, a result
    :return: how many were found, and how many more had no room
    """
    fastest = bound_speeds(scene, room)
    if room.look[0] == 1:
        for p in range(len(room.closing)):
            room.closing[p] = 0.0
    list_near_pairs(scene, room, timestep, fastest)
    found, count, dropped = room.found, 0, 0
    along = vector(3)
    for near in range(room.listed[0] - 1):
        p = room.near[near]
        a, b = scene.pair[p, 0], scene.pair[p, 1]
        speeds = speed_of(scene, room, a) + speed_of(scene, room, b)
        way = timestep * speeds + 2.0 * room.shifted[0]
        left = room.apart[p] - way
        if left > 1.5 * way:
            room.apart[p] = left
            continue
        margin = MARGIN + 1.5 * way
        place_shape(scene, room, a)
        place_shape(scene, room, b)
        points = find_contacts(
            scene.kind[a],
            scene.size[a],
            room.shape_pose[a],
            scene.kind[b],
            scene.size[b],
            room.shape_pose[b],
            margin,
            False,
            scene.tables,
            found,
        )
        if points == 0:
            room.apart[p] = distance_within(scene, room, a, b, SKIN) - MARGIN
            continue
        room.apart[p] = 0.0
        begin, share = count, 0.5
        first, second = scene.carrier[a], scene.carrier[b]
        for k in range(points):
            if k == 0 or not have_one_normal(found, k - 1, k):
                share = share_of_second(found, k, points, first == 0, second == 0)
            if count == len(contacts.gap):
                dropped += 1
                continue
            position, frame = contacts.position[count], contacts.frame[count]
            at = share if abs(found.gap[k]) <= THIN else 0.5
            for r in range(3):
                position[r] = (1.0 - at) * found.on_a[k, r] + at * found.on_b[k, r]
                frame[0, r] = found.normal[k, r]
            # Half a step more than the velocity says, for forces that act in the meantime.
            rate = approach(room.velocity[first], room.velocity[second], position, frame[0])
            if room.look[0] > 0:
                later = approach(room.ahead[first], room.ahead[second], position, frame[0])
                room.closing[p] = min(room.closing[p], later)
                rate = min(rate, room.closing[p])
            if found.gap[k] + min(0.0, 1.5 * timestep * rate) > MARGIN:
                continue
            # The points of a face have one normal.
            last, same = contacts.frame[max(count - 1, 0)], count > begin
            for r in range(3):
                same = same and last[0, r] == frame[0, r]
            if same:
                for r in range(3):
                    frame[1, r], frame[2, r] = last[1, r], last[2, r]
            else:
                directed = room.pose[scene.directed_by[p]]
                for r in range(3):
                    along[r] = 0.0
                    for s in range(3):
                        along[r] += directed[3 * r + s] * scene.direction[p, s]
                set_frame(frame, along)
            contacts.pair[count] = p
            contacts.feature[count] = found.feature[k]
            contacts.carrier[count, 0], contacts.carrier[count, 1] = first, second
            contacts.gap[count] = found.gap[k]
            count += 1
    # What moves shapes besides has moved them, unless the step that is looked at again does so.
    if room.look[0] == 0:
        room.shifted[0] = 0.0
    return count, dropped


@entry_point
def scene_contacts_of(
    scene: SceneTable, room: SceneRoom, contacts: SceneContacts, timestep: float
) -> int:
    """Contacts that are closed, or may close within the step; returns how many were found.

    Machine code of its own, since it is wanted twice: a step calls it by its address, and before
    there are steps it finds which links of a robot overlap. How many contacts had no room is in
    `room.dropped`; arguments are those of `find_scene_contacts`.
    """
    count, dropped = find_scene_contacts(scene, room, timestep, contacts)
    room.dropped[0] = dropped
    return count


def finder_of(scene: SceneTable) -> int:
    """Address of `scene_contacts_of` for scenes such as this one.

    :param scene: what may touch what
    """
    # Machine code depends on what records have, not on sizes.
    room = allocate(SceneRoom, carriers=0, shapes=0, pairs=0, contacts=0)
    found = allocate(SceneContacts, contacts=0)
    return scene_contacts_of.address(Record(scene), Record(room), Record(found))
