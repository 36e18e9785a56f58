# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Contact points of a robot's bodies: points on faces, and spheres (book 11.4, 11.6).

A contact is known by the gap between two features, phi(q): a point of one body, or the center of a
sphere, and a flat face of another, or two spheres. The gap is positive where they are apart. A
face may have bounds: a point that is not above it neither touches it nor is stopped by it, and one
that runs off its edge is a geometric loss of contact.
"""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import cast, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from rbd_ros.array_types import FloatArray, IntArray
from rbd_ros.robot import Robot

Vector = Tuple[float, float, float]

# Indices of the coordinates after each one, and of those after these.
_NEXT, _AFTER = [1, 2, 0], [2, 0, 1]


@dataclass(frozen=True)
class FaceContact:
    """A point, or a sphere around it, that may touch a flat face.

    :param link: link that carries the point, None for the fixed base
    :param point: the point in the coordinates of its link, (3,) [m]
    :param face_link: link that carries the face, None for the fixed base
    :param origin: any point of the face, in the coordinates of its link, (3,) [m]
    :param normal: outward normal of the face, likewise, (3,); made a unit vector
    :param bounds: half-spaces a . x <= b in the coordinates of the link of the face that the face
        is cut off by, as pairs of a, (3,), and b [m]; none for an endless plane
    :param radius: radius of the sphere, zero for a point [m]
    :param restitution: coefficient of restitution, 0 to 1
    :param name: name of the contact in events
    :raises ValueError: for invalid numbers

    >>> from rbd_ros.textbook.simulation import FaceContact
    >>> table = FaceContact('tool0', (0, 0, 0), None, (0, 0, 0.8), (0, 0, 1), radius=0.01)
    >>> table.pair
    (None, 'tool0')
    """

    link: Optional[str]
    point: Vector = (0.0, 0.0, 0.0)
    face_link: Optional[str] = None
    origin: Vector = (0.0, 0.0, 0.0)
    normal: Vector = (0.0, 0.0, 1.0)
    bounds: Tuple[Tuple[Vector, float], ...] = ()
    radius: float = 0.0
    restitution: float = 0.0
    name: str = ''

    def __post_init__(self) -> None:
        _check(self, ('point', 'origin', 'normal'), ('radius',))
        if not np.any(self.normal):
            raise ValueError('the normal of a face must not be zero')
        for a, b in self.bounds:
            if np.shape(a) != (3,) or not np.isfinite(a).all() or not math.isfinite(b):
                raise ValueError(f'a bound must be a finite normal (3,) and number, got {a}, {b}')

    @property
    def pair(self) -> Tuple[Optional[str], Optional[str]]:
        """Predecessor and successor."""
        return self.face_link, self.link


@dataclass(frozen=True)
class SphereContact:
    """Two spheres, or a sphere and a point, that may touch.

    :param link: link that carries the first sphere, None for the fixed base
    :param other: link that carries the other sphere, likewise
    :param center: center of the first sphere in the coordinates of its link, (3,) [m]
    :param other_center: center of the other sphere in the coordinates of its link, (3,) [m]
    :param radius: radius of the first sphere, zero for a point [m]
    :param other_radius: radius of the other sphere [m]
    :param restitution: coefficient of restitution, 0 to 1
    :param name: name of the contact in events
    :raises ValueError: for invalid numbers

    >>> from rbd_ros.textbook.simulation import SphereContact
    >>> clash = SphereContact('forearm_link', 'tool0', radius=0.08, other_radius=0.05)
    >>> clash.pair
    ('tool0', 'forearm_link')
    """

    link: Optional[str]
    other: Optional[str] = None
    center: Vector = (0.0, 0.0, 0.0)
    other_center: Vector = (0.0, 0.0, 0.0)
    radius: float = 0.0
    other_radius: float = 0.0
    restitution: float = 0.0
    name: str = ''

    def __post_init__(self) -> None:
        _check(self, ('center', 'other_center'), ('radius', 'other_radius'))
        if not self.radius + self.other_radius > 0.0:
            raise ValueError('one of two spheres that touch must have a radius')

    @property
    def pair(self) -> Tuple[Optional[str], Optional[str]]:
        """Predecessor and successor."""
        return self.other, self.link


CandidateContact = Union[FaceContact, SphereContact]


def _check(contact: CandidateContact, vectors: Sequence[str], radii: Sequence[str]) -> None:
    for name in vectors:
        value = getattr(contact, name)
        if np.shape(value) != (3,) or not np.isfinite(value).all():
            raise ValueError(f'{name} must be three finite numbers, got {value}')
    for name in radii:
        value = getattr(contact, name)
        if not 0.0 <= value < math.inf:
            raise ValueError(f'{name} must not be negative or infinite, got {value}')
    if not 0.0 <= contact.restitution <= 1.0:
        raise ValueError(f'restitution must be between 0 and 1, got {contact.restitution}')


class Gaps(NamedTuple):
    """Contacts at a state, in base coordinates.

    :param gap: phi, (c,) [m]
    :param margin: how far each point is within the bounds of its face, negative outside, (c,) [m]
    :param points: points on the lines of action of the contact forces, (c, 3) [m]
    :param normals: unit normals from predecessor to successor, (c, 3)
    :param point_rates: velocities of the points, (c, 3) [m/s]
    :param normal_rates: rates of the normals, (c, 3) [1/s]
    """

    gap: FloatArray
    margin: FloatArray
    points: FloatArray
    normals: FloatArray
    point_rates: FloatArray
    normal_rates: FloatArray


class CandidateContacts:
    """Gaps of some contacts as functions of the state of a robot.

    :raises ValueError: for an unknown link
    """

    def __init__(self, robot: Robot, contacts: Sequence[CandidateContact]):
        model = robot.model
        self._kinematics = robot.kernel('contact_kinematics').function
        # Which degrees of freedom of the tree move each body, and how fast they go for given v.
        self._moves = np.zeros((len(model.bodies) + 1, model.tree_nv))
        for i, _ in model.outward():
            self._moves[i, list(model.support_dofs(i))] = 1.0
        self._index: IntArray = np.array(model.tree_dof_index, dtype=np.int64)
        self._ratio: FloatArray = np.array(model.tree_dof_ratio)
        self._faces = [i for i, x in enumerate(contacts) if isinstance(x, FaceContact)]
        self._spheres = [i for i, x in enumerate(contacts) if isinstance(x, SphereContact)]
        ends: List[Tuple[int, FloatArray, int, FloatArray]] = []
        normals: List[FloatArray] = []
        self._bounds: List[Tuple[int, FloatArray, FloatArray]] = []
        for i, contact in enumerate(contacts):
            first, second = contact.pair
            if isinstance(contact, FaceContact):
                p, s = contact.origin, contact.point
                normal = _direction(robot, first, contact.normal)
                normals.append(normal / np.linalg.norm(normal))
                if contact.bounds:
                    a = np.array([_direction(robot, first, each[0]) for each in contact.bounds])
                    shift = _point(robot, first, (0.0, 0.0, 0.0))[1]
                    b = np.array([each[1] for each in contact.bounds]) + a @ shift
                    length = np.linalg.norm(a, axis=1)
                    self._bounds.append((i, a / length[:, None], b / length))
            else:
                p, s = contact.other_center, contact.center
                normals.append(np.zeros(3))
            ends.append((*_point(robot, first, p), *_point(robot, second, s)))
        self._p = np.array([end[0] for end in ends], dtype=np.int64)
        self._p_point = np.array([end[1] for end in ends]).reshape(-1, 3)
        self._s = np.array([end[2] for end in ends], dtype=np.int64)
        self._s_point = np.array([end[3] for end in ends]).reshape(-1, 3)
        self._normal = np.array(normals).reshape(-1, 3)
        self._radius = np.array(
            [x.radius + (x.other_radius if isinstance(x, SphereContact) else 0) for x in contacts],
            dtype=float,
        )

    def at(self, q: FloatArray, v: FloatArray) -> Gaps:
        """Return the gaps and their rates at a state.

        :param q: configuration, (nq,)
        :param v: velocity, (nv,)
        """
        frames, columns = cast(Tuple[FloatArray, FloatArray], self._kinematics(q))
        rotation, position = frames[:, :9].reshape(-1, 3, 3), frames[:, 9:]
        velocity = (self._moves * (self._ratio * v[self._index])) @ columns
        p, s = self._p, self._s
        here = position[s] + np.einsum('cij,cj->ci', rotation[s], self._s_point)
        there = position[p] + np.einsum('cij,cj->ci', rotation[p], self._p_point)
        here_rate = velocity[s, 3:] + _cross(velocity[s, :3], here)
        normals = np.einsum('cij,cj->ci', rotation[p], self._normal)
        normal_rates = _cross(velocity[p, :3], normals)
        if self._spheres:
            k = self._spheres
            d = here[k] - there[k]
            length = np.linalg.norm(d, axis=1, keepdims=True)
            there_rate = velocity[p[k], 3:] + _cross(velocity[p[k], :3], there[k])
            d_rate = here_rate[k] - there_rate
            n = d / length
            normals[k] = n
            normal_rates[k] = (d_rate - n * np.sum(n * d_rate, axis=1, keepdims=True)) / length
        gap = np.sum(normals * (here - there), axis=1) - self._radius
        margin = np.full(len(p), np.inf)
        for i, a, b in self._bounds:
            local = rotation[p[i]].T @ (here[i] - position[p[i]])
            margin[i] = np.min(b - a @ local)
        return Gaps(gap, margin, here, normals, here_rate, normal_rates)


def _point(robot: Robot, link: Optional[str], point: Vector) -> Tuple[int, FloatArray]:
    """Return the body that carries a point of a link, and the point in its coordinates."""
    if link is None:
        return 0, np.array(point, dtype=float)
    found = robot.model.link(link)
    x, y, z = map(float, point)
    return found.body, np.array(found.placement.inverse_point((x, y, z)))


def _direction(robot: Robot, link: Optional[str], direction: Vector) -> FloatArray:
    """Return the direction of a link in the coordinates of its body."""
    given = np.array(direction, dtype=float)
    if link is None:
        return given
    turned: FloatArray = np.array(robot.model.link(link).placement.E).T @ given
    return turned


def _cross(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the cross products of rows, (n, 3).

    Several times as fast as NumPy's for a few of them.
    """
    product: FloatArray = a[:, _NEXT] * b[:, _AFTER] - a[:, _AFTER] * b[:, _NEXT]
    return product
