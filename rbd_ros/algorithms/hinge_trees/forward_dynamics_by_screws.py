# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Recursive forward dynamics with the fewest operations: U D U^T in Denavit-Hartenberg frames.

The three steps of Saha 1999, section 5.2, for trees of revolute joints, arranged so that a joint
takes 194 multiplications, 183 additions and a division, where his table 2 has 201 and 193:

* Twists and wrenches are those at a point of the joint's axis, which is z, so that p is e_3: psi
  is a column, and its elimination leaves a row and a column of zeros.
* Transforms are two axial screws (book A.4), which keep these zeros.
* The part of an inertia that a hinge does not excite moves to its parent (book table 9.7).
* The bias phi = tau - ID(q, qd, 0) is not computed before step 1: its wrenches and the eta of
  step 1 are propagated together. Accelerations are those of points, without linear velocities.
"""

from __future__ import annotations

import math
from typing import Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from rbd_ros.algorithms.hinge_trees.crba_by_screws import root_screw, screw_tree
from rbd_ros.algorithms.hinge_trees.hinge_frames import hinge_frames, Turn
from rbd_ros.model import Model
from rbd_ros.spatial import (
    ArticulatedBodyInertia,
    ForceVector,
    linear3,
    MotionVector,
    PluckerTransform,
    RigidBodyInertia,
)
from rbd_ros.spatial.axial_screw import AxialScrew
from rbd_ros.spatial.linear3 import (
    add,
    cross,
    Matrix3,
    scale,
    subtract,
    Symmetric3,
    Vector3,
    ZERO3,
)
from rbd_ros.spatial.rotation import rotation_rates
from rbd_ros.spatial.scalar import is_zero, Scalar

_NOTHING: Matrix3 = (ZERO3, ZERO3, ZERO3)


class ScrewLink(NamedTuple):
    """A link with its joint, which rotates about z of the link's frame.

    :param parent: number of its parent
    :param screws: constant screws from the parent's frame to that in front of the joint: about x,
        before it about z where it has one, and behind it along y where axes are nearly parallel
    :param shift: origin of the latter in parent coordinates, (3,) [m]
    :param distance: translation along the joint's axis [m]
    :param offset: joint angle at position zero
    :param h: first moments excited by the joint, (3,), zero along z [kg m]
    :param P: second moments excited by it, xx, xy, xz, yy and yz; zero along z [kg m^2]
    :param armature: inertia of the rotor [kg m^2]
    """

    parent: int
    screws: Tuple[AxialScrew, ...]
    shift: Vector3
    distance: float
    offset: Turn
    h: Vector3
    P: Tuple[float, float, float, float, float]
    armature: float


def forward_dynamics_by_screws(
    links: Sequence[ScrewLink],
    joints: Sequence[Tuple[Scalar, Scalar]],
    qd: Sequence[Scalar],
    tau: Sequence[Scalar],
    gravity: Vector3,
    external_forces: Optional[Mapping[int, ForceVector]] = None,
) -> List[Scalar]:
    """Return the accelerations that joint forces cause; rotor inertia is included.

    :param links: links 1, 2, ... of the tree
    :param joints: cosine and sine of each joint's angle, its offset added, (n, 2)
    :param qd: velocities, (n,) [rad/s]
    :param tau: generalized forces, (n,) [N m]
    :param gravity: acceleration of gravity in base coordinates, (3,) [m/s^2]
    :param external_forces: force on each link in base coordinates, by its number [N m, N]
    :return: accelerations, (n,) [rad/s^2]
    :raises ZeroDivisionError: if the inertia at a joint is the constant 0
    """
    n, screws = len(links), screw_paths(links, joints)
    leaving = completed_subtrees(links)
    z: Dict[int, ForceVector] = {}
    mass: Dict[int, ArticulatedBodyInertia] = {}
    psi: Dict[int, ForceVector] = {}
    tau_tilde: Dict[int, Scalar] = {}
    for j, wrench in link_wrenches(links, screws, qd, [0.0] * n, gravity, external_forces):
        z[j], mass[j] = wrench, ArticulatedBodyInertia.from_rigid(link_inertia(links[j - 1]))
        # Elimination from the leaves, and steps 1 and 2: that = U^-1 phi, ttilde = D^-1 that
        for i in leaving[j]:
            link, path = links[i - 1], screws[i - 1]
            rotor = link.armature
            psi_hat = _column(mass[i])
            inertia = psi_hat.moment[2]
            pivot = inertia if is_zero(rotor) else inertia + rotor
            inverse = 1.0 / pivot
            scaled = psi_hat * inverse
            if is_zero(rotor):
                scaled = ForceVector((scaled.moment[0], scaled.moment[1], 1.0), scaled.linear)
            psi[i] = scaled
            tau_hat = tau[i - 1] - z[i].moment[2]
            tau_tilde[i] = tau_hat * inverse
            if link.parent == 0:
                continue
            f, rest = z[i] + psi[i] * tau_hat, _eliminated(mass[i], psi_hat, psi[i])
            if is_zero(rotor):
                f = ForceVector((f.moment[0], f.moment[1], tau[i - 1]), f.linear)
            for screw in reversed(path):
                f, rest = screw.inverse_apply(f), screw.inverse_apply(rest)
            z[link.parent] = z[link.parent] + f
            mass[link.parent] = mass[link.parent] + rest

    # Step 3: qdd = U^-T ttilde
    mu, qdd = {0: MotionVector.zero()}, []
    for i, (link, path) in enumerate(zip(links, screws), start=1):
        above = mu[link.parent]
        for screw in path:
            above = screw.apply(above)
        rate = tau_tilde[i] - above.dot(psi[i])
        x, y, turn = above.angular
        mu[i] = MotionVector((x, y, turn + rate), above.linear)
        qdd.append(rate)
    return qdd


def screw_paths(
    links: Sequence[ScrewLink], joints: Sequence[Tuple[Scalar, Scalar]]
) -> List[Tuple[AxialScrew, ...]]:
    """Return the screws from the frame of each link's parent to its own, that of the joint last.

    :param links: links 1, 2, ... of the tree
    :param joints: cosine and sine of each joint's angle, its offset added, (n, 2)
    """
    return [(*x.screws, AxialScrew(2, c, s, x.distance)) for x, (c, s) in zip(links, joints)]


def completed_subtrees(links: Sequence[ScrewLink]) -> Dict[int, List[int]]:
    """Return for each link those whose subtree it completes, outermost first.

    Propagation inward is as early as possible: kernels of trees with many branches are faster with
    few live values.

    :param links: links 1, 2, ... of the tree
    """
    last = dict(zip(range(1, len(links) + 1), range(1, len(links) + 1)))
    for i in range(len(links), 0, -1):
        parent = links[i - 1].parent
        last[parent] = max(last.get(parent, 0), last[i])
    found: Dict[int, List[int]] = {i: [] for i in range(1, len(links) + 1)}
    for i in range(len(links), 0, -1):
        found[last[i]].append(i)
    return found


def link_wrenches(
    links: Sequence[ScrewLink],
    screws: Sequence[Tuple[AxialScrew, ...]],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    gravity: Vector3,
    external_forces: Optional[Mapping[int, ForceVector]] = None,
) -> Iterator[Tuple[int, ForceVector]]:
    """Yield the number of each link, and its inertial wrench, without rotor, in its coordinates.

    :param links: links 1, 2, ... of the tree
    :param screws: their `screw_paths`
    :param qd: velocities, (n,) [rad/s]
    :param qdd: accelerations, (n,) [rad/s^2]
    :param gravity: acceleration of gravity in base coordinates, (3,) [m/s^2]
    :param external_forces: force on each link in base coordinates, by its number [N m, N]
    """
    # Angular velocities w, angular accelerations alpha, and accelerations A of origins. Points of
    # the joint's axis move with both links.
    w, alpha, A = {0: ZERO3}, {0: ZERO3}, {0: linear3.negate(gravity)}
    Omega: Dict[int, Matrix3] = {0: _NOTHING}
    for i, (link, path, rate, turning) in enumerate(zip(links, screws, qd, qdd), start=1):
        j = link.parent
        x, y, turn = _rotated(path, w[j])
        w[i] = x, y, turn + rate
        alpha[i] = add(_rotated(path, alpha[j]), (y * rate, -(x * rate), turning))
        Omega[i] = rotation_rates(w[i], alpha[i])
        before = _rotated(path, add(A[j], linear3.apply(Omega[j], link.shift)))
        A[i] = add(before, scale(link.distance, (Omega[i][0][2], Omega[i][1][2], Omega[i][2][2])))
        z = _bias(link, w[i], A[i], Omega[i])
        if external_forces and i in external_forces:
            z = z - _in_link(links, screws, i, external_forces[i])
        yield i, z


def screw_links(model: Model) -> Tuple[ScrewLink, ...]:
    """Return the links of a tree of hinges in Denavit-Hartenberg frames, with least inertias.

    :param model: model whose inertias are floats, or symbols
    :raises ModelError: if a joint is not revolute, naming it
    """
    frames = hinge_frames(model)
    bodies = screw_tree(model, frames)
    inertia = {i: body.inertia for i, body in enumerate(bodies, start=1)}
    inertia[0] = RigidBodyInertia.zero()
    carriers = {body.parent for body in bodies}
    found = []
    for i in range(len(bodies), 0, -1):
        body = bodies[i - 1]
        first = root_screw(frames, i) if body.parent == 0 else body.before
        path = [] if first is None else [AxialScrew(2, first.c, first.s, first.distance)]
        path.append(AxialScrew(0, *body.across[:3]))
        if body.aside != 0.0:
            path.append(AxialScrew(1, 1.0, 0.0, body.aside))
        X = PluckerTransform.identity()
        for screw in path:
            X = screw.transform() * X
        own, distance, offset = inertia[i], body.distance, body.offset
        if i not in carriers and all(isinstance(x, (int, float)) for x in own.h):
            # The frame on the axis is arbitrary: the one with the link's center on x, and a screw
            # without translation.
            turn = Turn.to(own.h[0], own.h[1])
            own = AxialScrew(2, *turn.cosine_and_sine(), -distance).apply(own)
            own = RigidBodyInertia(own.mass, (own.h[0], 0.0, own.h[2]), own.I)
            distance, offset = 0.0, offset.plus(turn)
        # A hinge does not excite mass and moments along its axis (book table 9.7), at any angle:
        # they move to the parent.
        xx, xy, yy, xz, yz, zz = own.I
        square = 0.5 * _sum(xx, yy, -zz)
        delta = RigidBodyInertia(
            own.mass, (0.0, 0.0, own.h[2]), (square, 0.0, square, 0.0, 0.0, 0.0)
        )
        for screw in (AxialScrew(2, 1.0, 0.0, distance), *reversed(path)):
            delta = screw.inverse_apply(delta)
        inertia[body.parent] = inertia[body.parent] + delta
        P = 0.5 * _sum(yy, zz, -xx), -xy, -xz, 0.5 * _sum(xx, zz, -yy), -yz
        hx, hy, _ = own.h
        found.append(
            ScrewLink(
                body.parent,
                tuple(path),
                X.r,
                distance,
                offset,
                (hx, hy, 0.0),
                P,
                body.armature,
            )
        )
    return tuple(reversed(found))


def link_inertia(link: ScrewLink) -> RigidBodyInertia:
    """Return the inertia of a link without the part that its joint does not excite.

    :param link: one of `screw_links`
    """
    xx, xy, xz, yy, yz = link.P
    return RigidBodyInertia(0.0, link.h, (yy, -xy, xx, -xz, -yz, xx + yy))


def cosines_and_sines(
    links: Sequence[ScrewLink], q: Sequence[Scalar]
) -> List[Tuple[Scalar, Scalar]]:
    """Return the cosine and sine of each joint's angle, its offset added, (n, 2).

    :param links: links 1, 2, ... of the tree
    :param q: joint angles as the model counts them, (n,) [rad]
    """
    return [link.offset.cosine_and_sine(x) for link, x in zip(links, q)]


def _in_link(
    links: Sequence[ScrewLink],
    screws: Sequence[Tuple[AxialScrew, ...]],
    i: int,
    force: ForceVector,
) -> ForceVector:
    """Return a force in base coordinates, in those of a link."""
    support = [i]
    while links[support[-1] - 1].parent != 0:
        support.append(links[support[-1] - 1].parent)
    for j in reversed(support):
        for screw in screws[j - 1]:
            force = screw.apply(force)
    return force


def _rotated(path: Sequence[AxialScrew], v: Vector3) -> Vector3:
    """Return the coordinates of a vector after all screws, (3,): 4m + 2a per screw."""
    m = MotionVector(v, ZERO3)
    for screw in path:
        m = screw.apply(m)
    return m.angular


def _sum(*terms: Scalar) -> Scalar:
    """Return the sum of numbers without intermediate rounding.

    For a slender link, almost all of it cancels.
    """
    if all(isinstance(x, (int, float)) for x in terms):
        return math.fsum(terms)
    return sum(terms)


def _bias(link: ScrewLink, w: Vector3, A: Vector3, Omega: Matrix3) -> ForceVector:
    """Return the wrench [h x A + axial vector of Omega P - (Omega P)^T; Omega h] of a link.

    23m + 20a.
    """
    a, b, e, f, g = link.P
    (oxx, oxy, oxz), (oyx, oyy, oyz), (ozx, ozy, _) = Omega
    xx, yy, zz = w[0] * w[0], w[1] * w[1], w[2] * w[2]
    # Differences of the diagonal elements of Omega
    z_y, x_z = zz - yy, xx - zz
    y_x = -(z_y + x_z)
    couple = (
        ozx * b + ozy * f + z_y * g - oyx * e,
        x_z * e + oxy * g - ozx * a - ozy * b,
        oyx * a - oxy * f + y_x * b + oyz * e - oxz * g,
    )
    return ForceVector(add(couple, cross(link.h, A)), linear3.apply(Omega, link.h))


def _column(mass: ArticulatedBodyInertia) -> ForceVector:
    """Return Psi_hat = Mhat p, the third column."""
    _, _, _, xz, yz, zz = mass.I
    return ForceVector((xz, yz, zz), mass.H[2])


def _eliminated(
    mass: ArticulatedBodyInertia, psi_hat: ForceVector, psi: ForceVector
) -> ArticulatedBodyInertia:
    """Return mbar = Mhat - psi_hat psi^T, 15m + 15a: a joint without rotor leaves no third row."""
    (n, f), (u, v) = (psi_hat.moment, psi_hat.linear), (psi.moment, psi.linear)
    I, H = _minus(mass.I, n, u), [subtract(row, scale(x, v)) for row, x in zip(mass.H, n)]
    if is_zero(psi.moment[2] - 1.0):
        I, H[2] = (*I[:3], 0.0, 0.0, 0.0), ZERO3
    return ArticulatedBodyInertia(_minus(mass.M, f, v), linear3.matrix3(H), I)


def _minus(A: Symmetric3, a: Vector3, b: Vector3) -> Symmetric3:
    xx, yx, yy, zx, zy, zz = A
    return (
        xx - a[0] * b[0],
        yx - a[1] * b[0],
        yy - a[1] * b[1],
        zx - a[2] * b[0],
        zy - a[2] * b[1],
        zz - a[2] * b[2],
    )
