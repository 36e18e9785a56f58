# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Composite-rigid-body algorithm in Denavit-Hartenberg frames, by axial screws (book 10.3).

For trees of revolute joints. Each body's frame has its z axis along the joint's axis, and is
placed such that the transform to the child of the largest subtree is two axial screws, rotations
about an axis with a translation along it. Other children take a third screw. Motion subspaces are
then all e_3, products with them are elements, and transforms are cheap (book A.4). The book's
operation counts are those of this algorithm (table 10.2, eq 10.3 and 10.12).
"""

from __future__ import annotations

from typing import List, NamedTuple, Optional, Sequence, Tuple

from rbd_ros.algorithms.hinge_trees.hinge_frames import hinge_frames, HingeFrames, to_axis, Turn
from rbd_ros.model import Model
from rbd_ros.spatial import ForceVector, linear3, PluckerTransform, RigidBodyInertia
from rbd_ros.spatial.linear3 import Matrix3, Vector3
from rbd_ros.spatial.scalar import is_zero, Scalar


class Screw(NamedTuple):
    """Rotation about an axis, and translation along it, from an old to a new frame.

    :param c: cosine of the angle
    :param s: sine of the angle
    :param distance: translation [m]
    :param moment: distance times the mass of all transformed bodies, a constant [kg m]
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
        """Return the screw with the products of its sine and cosine.

        2m + 3a when the angle changes.
        """
        cs, ss = c * s, s * s
        return cls(c, s, distance, moment, cs, ss, 1.0 - (ss + ss), cs + cs)


class ScrewBody(NamedTuple):
    """A body of a tree in Denavit-Hartenberg frames: z, x and z screws lead to it.

    :param parent: number of its parent
    :param before: screw about the parent's z axis; None for a Denavit-Hartenberg transform
    :param across: screw about the common perpendicular, the x axis
    :param offset: joint angle at position zero
    :param distance: translation along the joint's axis [m]
    :param moment: that, times the mass of the body and its subtree [kg m]
    :param inertia: inertia in the new frame
    :param armature: inertia of the rotor [kg m^2]
    :param aside: translation along y before the joint's axis, zero except for frames of nearly
        parallel axes [m]
    :param aside_moment: that, times the mass of the body and its subtree [kg m]
    """

    parent: int
    before: Optional[Screw]
    across: Screw
    offset: Turn
    distance: Scalar
    moment: Scalar
    inertia: RigidBodyInertia
    armature: float
    aside: Scalar = 0.0
    aside_moment: Scalar = 0.0


class ScrewState(NamedTuple):
    """State of a joint that depends on its position alone, computed in advance.

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
    """Return the joint-space inertia matrix, rotor inertia included (book table 10.2).

    Vectors go through general transforms where a body has three screws (book eq 10.10).

    :param bodies: bodies 1, 2, ... of the tree
    :param states: their states
    :return: H, (n, n) [kg m^2]
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
            H[i][j] = H[j][i] = F.moment[2]
    return H


def screw_states(bodies: Sequence[ScrewBody], q: Sequence[Scalar]) -> List[ScrewState]:
    """Return the state of each body, from joint angles as the model counts them.

    :param bodies: bodies 1, 2, ... of the tree
    :param q: joint angles, (n,) [rad]
    """
    states = []
    for body, angle in zip(bodies, q):
        c, s = body.offset.cosine_and_sine(angle)
        X = _about_z(c, s, body.distance) * PluckerTransform.translation((0.0, body.aside, 0.0))
        X = X * _about_x(*body.across[:3])
        if body.before is not None:
            X = X * _about_z(*body.before[:3])
        states.append(ScrewState(c, s, X.E, X.r))
    return states


def screw_tree(model: Model, frames: Optional[HingeFrames] = None) -> Tuple[ScrewBody, ...]:
    """Return the Denavit-Hartenberg frames of a tree of revolute joints.

    :param model: model whose parameters are floats
    :param frames: its `hinge_frames`, if already computed
    :raises ModelError: if a joint is not revolute, naming it
    """
    subtree, favorite, found = frames or hinge_frames(model)
    bodies = []
    for i, body in model.outward():
        mass = sum(model.body(k).inertia.mass for k in subtree[i])
        # The frame is where the first screw to the favorite child is the identity.
        angle, distance = found[favorite[i]][:2] if i in favorite else (Turn(0, 0.0), 0.0)
        theta0, d0, alpha, a, theta1, d1, b = found[i]
        if body.parent != 0:
            moved = found[favorite[body.parent]]
            theta0, d0 = theta0.minus(moved.theta0), d0 - moved.d0
        direct = body.parent == 0 or favorite[body.parent] == i
        here = _about_z(*angle.cosine_and_sine(), distance) * to_axis(body)
        bodies.append(
            ScrewBody(
                body.parent,
                None if direct else Screw.of(*theta0.cosine_and_sine(), d0, d0 * mass),
                Screw.of(*alpha.cosine_and_sine(), a, a * mass),
                theta1.plus(angle),
                d1 + distance,
                (d1 + distance) * mass,
                here.apply(body.inertia),
                body.armature,
                b,
                b * mass,
            )
        )
    return tuple(bodies)


def root_screw(frames: HingeFrames, i: int) -> Screw:
    """Return the screw about the base's z axis to a root body, which this algorithm omits.

    :param frames: frames of the model that `screw_tree` takes
    :param i: number of a body that the base carries
    """
    first = frames.screws[i]
    return Screw.of(*first.theta0.cosine_and_sine(), first.d0, 0.0)


def general_bodies(bodies: Sequence[ScrewBody]) -> List[int]:
    """Return the numbers of the bodies, from 1, that take three screws: the set pi^g.

    Book eq 10.11.
    """
    return [i for i, body in enumerate(bodies, start=1) if body.before is not None]


# -- transforms


def _force_to_parent(body: ScrewBody, state: ScrewState, F: ForceVector) -> ForceVector:
    """Return the force in parent coordinates: two screws, 20m + 12a, or a transform, 24m + 18a."""
    if body.before is not None:
        return PluckerTransform(state.E, state.r).inverse_apply(F)
    n, f = _screw_force(state.c, state.s, body.distance, F.moment, F.linear)
    if not is_zero(body.aside):
        n = n[0] + body.aside * f[2], n[1], n[2] - body.aside * f[0]
    n, f = _screw_force(*body.across[:3], _turned(n), _turned(f))
    return ForceVector(_back(n), _back(f))


def _screw_force(
    c: Scalar, s: Scalar, d: Scalar, n: Vector3, f: Vector3
) -> Tuple[Vector3, Vector3]:
    """Return the moment and force of a screw about the third axis, in the old frame: 10m + 6a."""
    fx, fy = c * f[0] - s * f[1], s * f[0] + c * f[1]
    nx, ny = c * n[0] - s * n[1], s * n[0] + c * n[1]
    return (nx - d * fy, ny + d * fx, n[2]), (fx, fy, f[2])


def _inertia_to_parent(
    body: ScrewBody, state: ScrewState, inertia: RigidBodyInertia
) -> RigidBodyInertia:
    """Return the inertia in parent coordinates.

    15m + 15a a screw, and 2m + 3a for the joint's angle.
    """
    joint = Screw.of(state.c, state.s, body.distance, body.moment)
    h, I = _screw_inertia(joint, inertia.h, inertia.I)
    if not is_zero(body.aside):
        h, I = _shifted(body, h, I)
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
    """Return the first moment and rotational inertia of a screw about z, in the old frame."""
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


def _shifted(
    body: ScrewBody, h: Vector3, I: linear3.Symmetric3
) -> Tuple[Vector3, linear3.Symmetric3]:
    """Return the first moment and rotational inertia of a shift along y, in the old frame."""
    b, (x, y, z), (xx, xy, yy, xz, yz, zz) = body.aside, h, I
    moved = y + body.aside_moment
    square = b * (y + moved)
    return (x, moved, z), (xx + square, xy - b * x, yy, xz, yz - b * z, zz + square)


def _turned(v: Vector3) -> Vector3:
    """Return the coordinates with the x axis as the third."""
    return v[1], v[2], v[0]


def _back(v: Vector3) -> Vector3:
    """Undo `_turned`."""
    return v[2], v[0], v[1]


# -- frames


def _about_z(c: Scalar, s: Scalar, d: Scalar) -> PluckerTransform:
    """Return the screw about z as a transform."""
    return PluckerTransform(((c, s, 0.0), (-s, c, 0.0), (0.0, 0.0, 1.0)), (0.0, 0.0, d))


def _about_x(c: Scalar, s: Scalar, d: Scalar) -> PluckerTransform:
    """Return the screw about x as a transform."""
    return PluckerTransform(((1.0, 0.0, 0.0), (0.0, c, s), (0.0, -s, c)), (d, 0.0, 0.0))
