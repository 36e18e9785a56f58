"""Composite-rigid-body algorithm in Denavit-Hartenberg frames, by axial screws (book 10.3).

For trees of revolute joints. Each body's frame has its z axis along the joint's axis, and lies so
that the transform to one child is two axial screws, rotations about an axis with a translation
along it: the child of the largest subtree. Other children take a third screw. Motion subspaces are
then all e_3, products with them are elements, and transforms are cheap (book A.4). It is what the
book's operation counts are of (table 10.2, eq 10.3 and 10.12).
"""

from __future__ import annotations

import math
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from rbd_ros.model import Body, Model, ModelError
from rbd_ros.model.joints import Revolute
from rbd_ros.spatial import ForceVector, linear3, PluckerTransform, RigidBodyInertia
from rbd_ros.spatial.linear3 import Matrix3, Vector3
from rbd_ros.spatial.scalar import cos, is_zero, Scalar, sin

# What counts as rounding of a sine, a cosine, or a length of unit order. No more than that: axes
# that a description's digits leave parallel but for 1e-13 are not, and results would tell.
_ROUNDING = 2e-15
# Distances along an axis beyond this multiple of that between two frames, as axes have that are
# parallel but for a small angle, would cost digits.
_NEAR = 4.0
_FEW = 15


class Screw(NamedTuple):
    """Rotation about an axis, and translation along it, from an old to a new frame.

    :param c: cosine of the angle
    :param s: sine of the angle
    :param distance: translation [m]
    :param moment: distance times the mass of all that is transformed, a constant [kg m]
    :param cs: product of cosine and sine
    :param ss: square of the sine
    :param c2: cosine of twice the angle
    :param s2: sine of twice the angle
    """

    c: Scalar
    s: Scalar
    distance: Scalar
    moment: Scalar
    cs: Scalar
    ss: Scalar
    c2: Scalar
    s2: Scalar

    @classmethod
    def of(cls, c: Scalar, s: Scalar, distance: Scalar, moment: Scalar) -> Screw:
        """Screw with the products of its sine and cosine: 2m + 3a when the angle changes."""
        cs, ss = c * s, s * s
        return cls(c, s, distance, moment, cs, ss, 1.0 - (ss + ss), cs + cs)


class ScrewBody(NamedTuple):
    """A body of a tree in Denavit-Hartenberg frames: z, x and z screws lead to it.

    :param parent: number of its parent
    :param before: screw about the parent's z axis; None for a Denavit-Hartenberg transform
    :param across: screw about the common perpendicular, the x axis
    :param offset: joint angle at position zero [rad]
    :param distance: translation along the joint's axis [m]
    :param moment: that, times the mass of the body and all that it carries [kg m]
    :param inertia: inertia in the new frame
    :param armature: inertia of the rotor [kg m^2]
    """

    parent: int
    before: Optional[Screw]
    across: Screw
    offset: float
    distance: Scalar
    moment: Scalar
    inertia: RigidBodyInertia
    armature: float


class ScrewState(NamedTuple):
    """What depends on the position of a joint, and is there when the algorithm begins.

    :param c: cosine of the joint angle
    :param s: sine of the joint angle
    :param E: rotation from parent to body coordinates, (3, 3)
    :param r: origin of the body in parent coordinates, (3,) [m]
    """

    c: Scalar
    s: Scalar
    E: Matrix3
    r: Vector3


def crba_by_screws(
    bodies: Sequence[ScrewBody], states: Sequence[ScrewState]
) -> List[List[Scalar]]:
    """Joint-space inertia matrix, rotor inertia included (book table 10.2).

    Vectors go through general transforms where a body has three screws (book eq 10.10).

    :param bodies: bodies 1, 2, ... of the tree
    :param states: their states
    :return: H, (n, n) [kg m^2]

    >>> from rbd_ros.algorithms.inertia_matrix.crba_by_screws import (
    ...     crba_by_screws,
    ...     screw_states,
    ...     screw_tree,
    ... )
    >>> bodies = screw_tree(model)
    >>> np.allclose(crba_by_screws(bodies, screw_states(bodies, q)), robot.mass_matrix(q))
    True
    """
    n = len(bodies)
    H: List[List[Scalar]] = [[0.0] * n for _ in range(n)]
    Ic = [body.inertia for body in bodies]
    for i in reversed(range(n)):
        parent = bodies[i].parent - 1
        if parent >= 0:
            Ic[parent] = Ic[parent] + _inertia_to_parent(bodies[i], states[i], Ic[i])
        (hx, hy, _), (_, _, _, zx, zy, zz) = Ic[i].h, Ic[i].I
        F = ForceVector((zx, zy, zz), (-hy, hx, 0.0))  # I^c e_3
        H[i][i] = zz if is_zero(bodies[i].armature) else zz + bodies[i].armature
        j = i
        while bodies[j].parent != 0:
            F = _force_to_parent(bodies[j], states[j], F)
            j = bodies[j].parent - 1
            H[i][j] = H[j][i] = F.couple[2]
    return H


def screw_states(bodies: Sequence[ScrewBody], q: Sequence[Scalar]) -> List[ScrewState]:
    """State of each body, from joint angles as the model counts them.

    :param bodies: bodies 1, 2, ... of the tree
    :param q: joint angles, (n,) [rad]
    """
    states = []
    for body, angle in zip(bodies, q):
        c, s = cosine_and_sine(angle, body.offset)
        X = _about_z(c, s, body.distance) * _about_x(*body.across[:3])
        if body.before is not None:
            X = X * _about_z(*body.before[:3])
        states.append(ScrewState(c, s, X.E, X.r))
    return states


def cosine_and_sine(angle: Scalar, offset: float) -> Tuple[Scalar, Scalar]:
    """Cosine and sine of a joint angle with its offset; quarter turns are not added, but swapped.

    :param angle: joint angle as the model counts it [rad]
    :param offset: joint angle at position zero [rad]
    """
    quarters = round(offset / (0.5 * math.pi))
    rest = offset - quarters * 0.5 * math.pi
    if abs(rest) > _ROUNDING:
        angle = angle + rest
    c, s = cos(angle), sin(angle)
    for _ in range(quarters % 4):
        c, s = -s, c
    return c, s


def has_near_screws(model: Model) -> bool:
    """Whether a model is a tree of hinges whose Denavit-Hartenberg frames lie near its joints.

    Not those of axes that are nearly parallel, whose common perpendicular may be anywhere, nor
    where joints follow others.

    :param model: the model

    >>> from rbd_ros.algorithms.inertia_matrix.crba_by_screws import has_near_screws
    >>> has_near_screws(model)
    True
    """
    if model.couplings or not all(isinstance(body.joint, Revolute) for body in model.bodies):
        return False
    for i, body in model.outward():
        found, r = _three_screws(model, i), body.tree_transform.r
        if max(abs(found.d0), abs(found.d1)) > _NEAR * math.sqrt(linear3.dot(r, r)):
            return False
    return True


def has_few_near_screws(model: Model) -> bool:
    """Whether `has_near_screws` holds and a model is small, for functions that compile in no time.

    Of larger ones it takes longer to count operations both ways than is gained.

    :param model: the model
    """
    return len(model.bodies) <= _FEW and has_near_screws(model)


def require_free_hinges(
    model: Model, given_later: Sequence[int], chosen: Mapping[str, Any]
) -> None:
    """Check that all joints of a model are revolute and none follows another.

    :param given_later: bodies that get inertia at run time
    :param chosen: what is chosen
    :raises ModelError: naming the first joint that is not
    """
    for body in model.bodies:
        _to_axis(body)
    for coupling in model.couplings:
        name = model.body(coupling.body).joint_name
        raise ModelError(
            f'joint {name!r} is a mimic joint; this is for revolute joints that move freely'
        )


def screw_tree(model: Model) -> Tuple[ScrewBody, ...]:
    """Denavit-Hartenberg frames of a tree of revolute joints.

    :param model: model whose parameters are floats
    :raises ModelError: if a joint is not revolute, naming it
    """
    subtree = {i: model.subtree(i) for i, _ in model.outward()}
    favourite, found = _screws_of(model, subtree)
    bodies = []
    for i, body in model.outward():
        mass = sum(model.body(k).inertia.mass for k in subtree[i])
        # The frame lies where the first screw to the favourite child is none.
        angle, distance = found[favourite[i]][:2] if i in favourite else (0.0, 0.0)
        theta0, d0, alpha, a, theta1, d1 = found[i]
        if body.parent != 0:
            moved = found[favourite[body.parent]]
            theta0, d0 = theta0 - moved[0], d0 - moved[1]
        direct = body.parent == 0 or favourite[body.parent] == i
        here = _about_z(*_constant(angle), distance) * _to_axis(body)
        bodies.append(
            ScrewBody(
                body.parent,
                None if direct else Screw.of(*_constant(theta0), d0, d0 * mass),
                Screw.of(*_constant(alpha), a, a * mass),
                theta1 + angle,
                d1 + distance,
                (d1 + distance) * mass,
                here.apply(body.inertia),
                body.armature,
            )
        )
    return tuple(bodies)


def root_screw(model: Model, i: int) -> Screw:
    """Screw about the base's z axis to a root body, which the algorithm here leaves out.

    :param model: model that `screw_tree` takes
    :param i: number of a body that the base carries
    """
    subtree = {k: model.subtree(k) for k, _ in model.outward()}
    first = _screws_of(model, subtree)[1][i]
    return Screw.of(*_constant(first.theta0), first.d0, 0.0)


def general_bodies(bodies: Sequence[ScrewBody]) -> List[int]:
    """Numbers of the bodies, from 1, that take three screws: the set pi^g (book eq 10.11)."""
    return [i for i, body in enumerate(bodies, start=1) if body.before is not None]


# -- transforms


def _force_to_parent(body: ScrewBody, state: ScrewState, F: ForceVector) -> ForceVector:
    """Force in parent coordinates: two screws, 20m + 12a, or a transform, 24m + 18a."""
    if body.before is not None:
        return PluckerTransform(state.E, state.r).inverse_apply(F)
    n, f = _screw_force(state.c, state.s, body.distance, F.couple, F.linear)
    n, f = _screw_force(*body.across[:3], _turned(n), _turned(f))
    return ForceVector(_back(n), _back(f))


def _screw_force(
    c: Scalar, s: Scalar, d: Scalar, n: Vector3, f: Vector3
) -> Tuple[Vector3, Vector3]:
    """Couple and force of a screw about the third axis, in the old frame: 10m + 6a."""
    fx, fy = c * f[0] - s * f[1], s * f[0] + c * f[1]
    nx, ny = c * n[0] - s * n[1], s * n[0] + c * n[1]
    return (nx - d * fy, ny + d * fx, n[2]), (fx, fy, f[2])


def _inertia_to_parent(
    body: ScrewBody, state: ScrewState, inertia: RigidBodyInertia
) -> RigidBodyInertia:
    """Inertia in parent coordinates: 15m + 15a a screw, and 2m + 3a for the joint's angle."""
    joint = Screw.of(state.c, state.s, body.distance, body.moment)
    h, I = _screw_inertia(joint, inertia.h, inertia.I)
    xx, xy, yy, xz, yz, zz = I
    h, I = _screw_inertia(body.across, _turned(h), (yy, yz, zz, xy, xz, xx))
    yy, yz, zz, xy, xz, xx = I
    h, I = _back(h), (xx, xy, yy, xz, yz, zz)
    if body.before is not None:
        h, I = _screw_inertia(body.before, h, I)
    return RigidBodyInertia(inertia.mass, h, I)


def _screw_inertia(
    screw: Screw, h: Vector3, I: linear3.Symmetric3
) -> Tuple[Vector3, linear3.Symmetric3]:
    """First moment and rotational inertia of a screw about the third axis, in the old frame."""
    c, s, d, (x, y, z) = screw.c, screw.s, screw.distance, h
    xx, xy, yy, xz, yz, zz = I
    difference = xx - yy
    t = screw.ss * difference + screw.s2 * xy
    xy = screw.cs * difference + screw.c2 * xy
    x, y = c * x - s * y, s * x + c * y
    xz, yz = c * xz - s * yz, s * xz + c * yz
    moved = z + screw.moment
    square = d * (z + moved)
    return (x, y, moved), (xx - t + square, xy, yy + t + square, xz - d * x, yz - d * y, zz)


def _turned(v: Vector3) -> Vector3:
    """Coordinates with the x axis as the third."""
    return v[1], v[2], v[0]


def _back(v: Vector3) -> Vector3:
    """Undo `_turned`."""
    return v[2], v[0], v[1]


# -- frames


def _about_z(c: Scalar, s: Scalar, d: Scalar) -> PluckerTransform:
    """Screw about z as a transform."""
    return PluckerTransform(((c, s, 0.0), (-s, c, 0.0), (0.0, 0.0, 1.0)), (0.0, 0.0, d))


def _about_x(c: Scalar, s: Scalar, d: Scalar) -> PluckerTransform:
    """Screw about x as a transform."""
    return PluckerTransform(((1.0, 0.0, 0.0), (0.0, c, s), (0.0, -s, c)), (d, 0.0, 0.0))


def _constant(angle: float) -> Tuple[float, float]:
    """Cosine and sine, exact for multiples of a quarter turn: zeros save operations."""
    c, s = math.cos(angle), math.sin(angle)
    return (0.0 if abs(c) < _ROUNDING else c), (0.0 if abs(s) < _ROUNDING else s)


def _to_axis(body: Body) -> PluckerTransform:
    """Rotation from body coordinates to some whose z axis is that of the joint.

    :raises ModelError: if the joint does not just turn about a fixed axis through its origin
    """
    columns = body.joint.motion_subspace(body.joint.neutral()).columns
    if len(columns) != 1 or not all(is_zero(x) for x in columns[0].linear):
        raise ModelError(f'joint {body.joint_name!r} is not revolute, but {body.joint!r}')
    z = columns[0].angular
    smallest = min(range(3), key=lambda k: abs(z[k]))
    x = linear3.cross(linear3.IDENTITY3[smallest], z)
    x = linear3.scale(1.0 / math.sqrt(linear3.dot(x, x)), x)
    return PluckerTransform.rotation((x, linear3.cross(z, x), z))


class _ThreeScrews(NamedTuple):
    """Angles and distances of z, x and z screws."""

    theta0: float
    d0: float
    alpha: float
    a: float
    theta1: float
    d1: float

    @property
    def parallel(self) -> bool:
        """Whether the axes are parallel, in the same direction or opposite ones."""
        return self.alpha in (0.0, math.pi)

    @property
    def direction(self) -> float:
        """1 or -1: that of the second of two parallel axes along the first."""
        return 1.0 if self.alpha == 0.0 else -1.0

    def along(self, d1: float) -> _ThreeScrews:
        """Screws between the same parallel axes, with their perpendicular elsewhere."""
        d0 = self.d0 + self.direction * (self.d1 - d1)
        least = _ROUNDING * (abs(self.d0) + abs(self.d1) + abs(d1))
        return self._replace(
            d0=0.0 if abs(d0) <= least else d0, d1=0.0 if abs(d1) <= least else d1
        )


def _screws_of(
    model: Model, subtree: Mapping[int, Sequence[int]]
) -> Tuple[Dict[int, int], Dict[int, ThreeScrews]]:
    """Child of the largest subtree of each body that has any, and `_three_screws` of all bodies.

    The common perpendicular of parallel axes may go anywhere. It goes where the frame of the inner
    one lies on its axis, so that of joints in a row only the last translates, which costs least
    there, and nothing if it ends a chain; next to the base, where the outer one lies.
    """
    favourite: Dict[int, int] = {}
    for i, body in model.outward():
        others = favourite.get(body.parent, i)
        favourite[body.parent] = max(others, i, key=lambda k: (len(subtree[k]), -k))
    found = {i: _three_screws(model, i) for i, _ in model.outward()}
    upright = {0}
    for i, body in model.outward():
        if found[i].parallel and body.parent in upright:
            upright.add(i)
    for i, _ in model.inward():
        if i in upright and i in favourite:
            found[i] = found[i].along(-found[favourite[i]].d0)
    for i, body in model.outward():
        if found[i].parallel and i not in upright:
            first = found[favourite[body.parent]]
            d0 = -found[body.parent].d1 if first.parallel else first.d0
            found[i] = found[i].along(found[i].d1 + (found[i].d0 - d0) * found[i].direction)
    return favourite, found


def _three_screws(model: Model, i: int) -> _ThreeScrews:
    """Screws that lead from the axis of a body's parent to its own.

    The common perpendicular of two axes is the x axis in between (book 4.3); that of parallel ones
    goes through the body's origin.
    """
    body = model.body(i)
    X = _to_axis(body) * body.tree_transform
    if body.parent != 0:
        X = X * _to_axis(model.body(body.parent)).inverse()
    E, r = X.E, X.r
    sine = math.hypot(E[2][0], E[2][1])
    parallel = sine <= _ROUNDING
    alpha = math.atan2(0.0 if parallel else sine, E[2][2])
    theta0 = math.atan2(r[1], r[0]) if parallel else math.atan2(E[2][0], -E[2][1])
    c, s = math.cos(theta0), math.sin(theta0)
    a = c * r[0] + s * r[1]
    d1 = 0.0 if parallel else (s * r[0] - c * r[1]) / sine
    d0 = r[2] - d1 * E[2][2]
    # What is left when the first two screws are taken off turns about z by theta1.
    x = (c, s, 0.0)
    along = linear3.apply(E, x)
    # What is below the rounding of the lengths that it is the difference of is none.
    least = _ROUNDING * sum(map(abs, r))
    d0, a, d1 = (0.0 if abs(x) <= least else x for x in (d0, a, d1))
    return _ThreeScrews(theta0, d0, alpha, a, math.atan2(-along[1], along[0]), d1)
