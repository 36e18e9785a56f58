# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Models from Denavit-Hartenberg tables, by either of two conventions.

Both have four numbers per link, and differ in which transform of a link comes first: from its
frame to the next one, T = Rz(theta) Tz(d) Tx(a) Rx(alpha) (`distal_chain`; Saha 1999, appendix A,
where d is b and the frame before joint i is called i), or from the previous one to its own,
T = Rx(alpha) Tx(a) Rz(theta) Tz(d) (`proximal_chain`; book 4.3). The joint's variable adds to
theta of a revolute joint and to d of a prismatic one, which are zero in the usual tables.
"""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import NamedTuple, Optional, Sequence, Tuple

from rbd_ros.model.errors import ModelError
from rbd_ros.model.joints import JointType, Prismatic, Revolute
from rbd_ros.model.model import Body, Link, Model
from rbd_ros.spatial import linear3, PluckerTransform, RigidBodyInertia
from rbd_ros.spatial.linear3 import Matrix3, Vector3

_Z = (0.0, 0.0, 1.0)
_NONE = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
_TYPES = ('revolute', 'prismatic')


class DHFrame(NamedTuple):
    """The four numbers of a frame.

    :param a: distance along x [m], not negative
    :param alpha: angle about x [rad]
    :param d: distance along z [m]
    :param theta: angle about z [rad]
    """

    a: float
    alpha: float
    d: float
    theta: float


@dataclass(frozen=True)
class DHLink:
    """A link with its joint: a row of a table.

    :param a: distance between the axes of two joints, along x [m], not negative
    :param alpha: angle between them, about x [rad]
    :param d: distance along z, without the variable of a prismatic joint [m]
    :param theta: angle about z, without the variable of a revolute joint [rad]
    :param type: 'revolute' or 'prismatic'
    :param mass: mass [kg]
    :param center: center of mass in the frame of the link, (3,) [m]: that beyond it by the distal
        convention, where Saha gives r = -center, and that at its joint by the proximal one
    :param inertia: rotational inertia about the center of mass, along the axes of that frame,
        symmetric, (3, 3) [kg m^2]

    >>> from rbd_ros.textbook.models.dh import DHLink
    >>> DHLink(0.3, 0.0, 0.0, 0.0, mass=1.0, center=(-0.15, 0.0, 0.0)).type
    'revolute'
    """

    a: float = 0.0
    alpha: float = 0.0
    d: float = 0.0
    theta: float = 0.0
    type: str = 'revolute'
    mass: float = 0.0
    center: Vector3 = (0.0, 0.0, 0.0)
    inertia: Matrix3 = _NONE


def distal_chain(
    name: str,
    table: Sequence[DHLink],
    gravity: Sequence[float] = (0.0, 0.0, -9.81),
) -> Model:
    """Return the model of a serial chain by the distal convention (Saha 1999, appendix A).

    Links are called link1, link2, ... and joints joint1, joint2, ...; frame1 of the table is
    fixed to the base, where the axis of joint 1 is z, and frame2, frame3, ... to link 1, 2, ...:
    frame i + 1 in frame i is Rz(theta) Tz(d) Tx(a) Rx(alpha) of row i.

    :param name: name of the robot
    :param table: links from the base outwards
    :param gravity: acceleration of gravity in frame1, (3,) [m/s^2]
    :raises ModelError: for an invalid row, naming the link

    >>> from rbd_ros.textbook.models.dh import DHLink, distal_chain
    >>> link = DHLink(0.3, 0.0, 0.0, 0.0, mass=1.0, center=(-0.15, 0.0, 0.0))
    >>> arm = Robot(distal_chain('arm', [link, link], gravity=(0.0, -9.81, 0.0)))
    >>> arm.gravity_torque([0.0, 0.0])  # level: 9.81 (0.15 + 0.45), 9.81 0.15 [N m]
    array([5.886, 1.472])
    """
    checked(table)
    bodies, links = (
        [],
        [_base(), Link('frame1', 0, PluckerTransform.identity(), RigidBodyInertia.zero())],
    )
    before = PluckerTransform.identity()
    for i, row in enumerate(table, start=1):
        bodies.append(_body(i, row, _along_z(row.d, row.theta) * before))
        before = _along_x(row.a, row.alpha)
        own, inertia = PluckerTransform.identity(), before.inverse_apply(_inertia(row))
        links.append(Link(f'link{i}', i, own, inertia))
        links.append(Link(f'frame{i + 1}', i, before, RigidBodyInertia.zero()))
    x, y, z = gravity
    return Model.create(name, bodies, links, gravity=(x, y, z))


def proximal_chain(
    name: str,
    table: Sequence[DHLink],
    base: Tuple[float, float] = (0.0, 0.0),
    end: Optional[DHFrame] = None,
    gravity: Sequence[float] = (0.0, 0.0, -9.81),
) -> Model:
    """Return the model of a serial chain by the proximal convention (book 4.3).

    Links are called link1, link2, ... and joints joint1, joint2, ...; the frame of link i in that
    of link i - 1 is Rx(alpha) Tx(a) Rz(theta) Tz(d) of row i.

    :param name: name of the robot
    :param table: links from the base outwards
    :param base: d_0 [m] and theta_0 [rad] between the base and x_0, which row 1 begins with
    :param end: frame of the end-effector in the last link, which gets the name `end`
    :param gravity: acceleration of gravity in base coordinates, (3,) [m/s^2]
    :raises ModelError: for an invalid row, naming the link

    >>> from rbd_ros.textbook.models.dh import DHLink, proximal_chain
    >>> first = DHLink(0.0, 0.0, 0.0, 0.0, mass=1.0, center=(0.15, 0.0, 0.0))
    >>> second = DHLink(0.3, 0.0, 0.0, 0.0, mass=1.0, center=(0.15, 0.0, 0.0))
    >>> arm = Robot(proximal_chain('arm', [first, second], gravity=(0.0, -9.81, 0.0)))
    >>> arm.gravity_torque([0.0, 0.0])  # [N m]
    array([5.886, 1.472])
    """
    checked(table)
    bodies, links = [], [_base()]
    before = _along_z(*base)
    for i, row in enumerate(table, start=1):
        placed = _along_z(row.d, row.theta) * _along_x(row.a, row.alpha) * before
        bodies.append(_body(i, row, placed))
        links.append(Link(f'link{i}', i, PluckerTransform.identity(), _inertia(row)))
        before = PluckerTransform.identity()
    if end is not None:
        _check_distance('end', end.a)
        placement = _along_z(end.d, end.theta) * _along_x(end.a, end.alpha)
        links.append(Link('end', len(table), placement, RigidBodyInertia.zero()))
    x, y, z = gravity
    return Model.create(name, bodies, links, gravity=(x, y, z))


def checked(table: Sequence[DHLink]) -> None:
    """Check every row of a table.

    :raises ModelError: for an empty table, an unknown type of joint, a number that is not finite,
        a negative distance between axes, a negative mass, or an inertia that is not symmetric
    """
    if not table:
        raise ModelError('a Denavit-Hartenberg table needs at least one link')
    for i, row in enumerate(table, start=1):
        link = f'link{i}'
        if row.type not in _TYPES:
            raise ModelError(f'{link}: joint type {row.type!r}; there are {", ".join(_TYPES)}')
        try:
            center = linear3.vector3(row.center, 'center')
            inertia = linear3.matrix3(row.inertia, 'inertia')
        except ValueError as error:
            raise ModelError(f'{link}: {error}') from None
        numbers = {
            'alpha': [row.alpha],
            'd': [row.d],
            'theta': [row.theta],
            'mass': [row.mass],
            'center': center,
            'inertia': [x for values in inertia for x in values],
        }
        for what, values in numbers.items():
            if not all(math.isfinite(x) for x in values):
                raise ModelError(f'{link}: {what} must be finite, got {getattr(row, what)}')
        _check_distance(link, row.a)
        if row.mass < 0.0:
            raise ModelError(f'{link}: mass must not be negative, got {row.mass}')
        if inertia != linear3.transpose(inertia):
            raise ModelError(f'{link}: inertia must be symmetric, got {row.inertia}')


def _check_distance(link: str, a: float) -> None:
    if not (math.isfinite(a) and a >= 0.0):
        raise ModelError(
            f'{link}: a is the distance between two axes and must not be negative, got {a}; '
            'rotate the frame by pi about z'
        )


def _along_x(a: float, alpha: float) -> PluckerTransform:
    """Return the axial screw transform scrx(alpha, a) (book A.4)."""
    turned = PluckerTransform.rotation_x(float(alpha))
    return turned * PluckerTransform.translation((float(a), 0.0, 0.0))


def _along_z(d: float, theta: float) -> PluckerTransform:
    """Return the axial screw transform scrz(theta, d) (book A.4)."""
    turned = PluckerTransform.rotation_z(float(theta))
    return turned * PluckerTransform.translation((0.0, 0.0, float(d)))


def _body(i: int, row: DHLink, placed: PluckerTransform) -> Body:
    joint: JointType = Revolute(_Z) if row.type == 'revolute' else Prismatic(_Z)
    return Body(
        f'link{i}',
        i - 1,
        f'joint{i}',
        joint,
        placed,
        RigidBodyInertia.zero(),
        urdf_type='continuous' if row.type == 'revolute' else 'prismatic',
    )


def _inertia(row: DHLink) -> RigidBodyInertia:
    return RigidBodyInertia.from_mass_center(row.mass, row.center, row.inertia)


def _base() -> Link:
    return Link('base', 0, PluckerTransform.identity(), RigidBodyInertia.zero())
