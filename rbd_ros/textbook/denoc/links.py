# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Twists, wrenches and mass matrices of links at their centers of mass, and how they propagate.

Saha 1999, sections 2 and 3: eq 1, 2, 7, 8 and 11 to 15. A twist t = [w; v] holds the angular
velocity and the velocity of the center of mass C, a wrench w = [n; f] the moment about C and the
force. So a twist rate is an ordinary acceleration of a point here, unlike in the rest of the
package. The paper's chains become trees with the parent of link i in place of i - 1. Scalars, 3-D
vectors and the model are types of the package.
"""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from rbd_ros.model import Model, ModelError
from rbd_ros.spatial import ForceVector, linear3
from rbd_ros.spatial.linear3 import IDENTITY3, Matrix3, Symmetric3, Vector3, ZERO3
from rbd_ros.spatial.scalar import is_zero, Scalar

Matrix = List[List[Scalar]]


class Twist(NamedTuple):
    """Twist t = [w; v] of a link, or its rate (eq 1).

    :param w: angular velocity, (3,) [rad/s]
    :param v: velocity of the center of mass, (3,) [m/s]
    """

    w: Vector3
    v: Vector3

    def plus(self, other: Twist) -> Twist:
        """Return the sum of two twists of one link."""
        return Twist(linear3.add(self.w, other.w), linear3.add(self.v, other.v))

    def times(self, factor: Scalar) -> Twist:
        """Return the multiple of the twist."""
        return Twist(linear3.scale(factor, self.w), linear3.scale(factor, self.v))

    def turned(self, w: Vector3) -> Twist:
        """Return the product Omega t with the matrix of angular velocity Omega = diag(w x, w x).

        Eq 2.
        """
        return Twist(linear3.cross(w, self.w), linear3.cross(w, self.v))


class Wrench(NamedTuple):
    """Wrench w = [n; f] on a link (eq 1).

    :param n: moment about the center of mass, (3,) [N m]
    :param f: force, (3,) [N]
    """

    n: Vector3
    f: Vector3

    def plus(self, other: Wrench) -> Wrench:
        """Return the sum of two wrenches on one link."""
        return Wrench(linear3.add(self.n, other.n), linear3.add(self.f, other.f))

    def times(self, factor: Scalar) -> Wrench:
        """Return the multiple of the wrench."""
        return Wrench(linear3.scale(factor, self.n), linear3.scale(factor, self.f))

    def minus(self, other: Wrench) -> Wrench:
        """Return the difference of two wrenches on one link."""
        return Wrench(linear3.subtract(self.n, other.n), linear3.subtract(self.f, other.f))

    def power(self, t: Twist) -> Scalar:
        """Return the scalar product w^T t."""
        return linear3.dot(self.n, t.w) + linear3.dot(self.f, t.v)


NO_TWIST, NO_WRENCH = Twist(ZERO3, ZERO3), Wrench(ZERO3, ZERO3)


class Link(NamedTuple):
    """A link with its joint, along the axes of the link.

    :param E: rotation from the axes of the parent to those of the link, (3, 3)
    :param c: vector c_ij from the center of mass of the link to that of its parent, (3,) [m]
    :param p: joint-rate propagation vector p_i, the twist per unit of joint rate
    :param revolute: whether the joint is revolute; else it is prismatic
    :param mass: mass [kg]
    :param I: rotational inertia about the center of mass, its lower triangle, (6,) [kg m^2]
    :param rotor: inertia of the rotor, which moves with the joint alone [kg m^2, kg]
    """

    E: Matrix3
    c: Vector3
    p: Twist
    revolute: bool
    mass: Scalar
    I: Symmetric3
    rotor: float

    # -- the twist propagation matrix B_ij = [[E, 0], [c x E, E]] of the joint (eq 13)

    def propagated(self, t: Twist) -> Twist:
        """Return the twist B t of the link if it were fixed to its parent of twist t."""
        w = linear3.apply(self.E, t.w)
        return Twist(w, linear3.add(linear3.apply(self.E, t.v), linear3.cross(self.c, w)))

    def propagated_back(self, w: Wrench) -> Wrench:
        """Return the wrench B^T w on the parent that is equivalent to a wrench on the link."""
        n = linear3.subtract(w.n, linear3.cross(self.c, w.f))
        return Wrench(linear3.apply_transpose(self.E, n), linear3.apply_transpose(self.E, w.f))

    # -- Newton and Euler (eq 6 to 8)

    def mass_times(self, t: Twist) -> Wrench:
        """Return the product M t with the mass matrix M = diag(I, m 1)."""
        return Wrench(linear3.apply(linear3.full(self.I), t.w), linear3.scale(self.mass, t.v))

    def newton_euler(self, w: Vector3, tdot: Twist) -> Wrench:
        """Return the wrench M tdot + Mdot t of a motion (eq 7).

        :param w: angular velocity, (3,), the part of the twist that Mdot = diag(w x I, 0) is of
            and applies to [rad/s]
        :param tdot: rate of the twist
        """
        momentum = linear3.apply(linear3.full(self.I), w)
        return self.mass_times(tdot).plus(Wrench(linear3.cross(w, momentum), ZERO3))


def joint_rate_vector(axis: Vector3, revolute: bool, d: Vector3) -> Twist:
    """Return the joint-rate propagation vector p_i = [e; e x d], [0; e] for a slider (eq 13, 15).

    :param axis: unit vector e of the joint, (3,)
    :param revolute: whether the joint is revolute
    :param d: vector from the joint to the center of mass, (3,) [m]
    """
    return Twist(axis, linear3.cross(axis, d)) if revolute else Twist(ZERO3, axis)


def links_of(model: Model, q: Sequence[Scalar]) -> Dict[int, Link]:
    """Return the links at a configuration, by body number; each along the axes of its body.

    :param model: a model that `require_simple_joints` lets pass
    :param q: configuration of the tree, (tree_nq,) [rad, m]
    """
    centers: Dict[int, Vector3] = {0: ZERO3}
    links = {}
    for i, body in model.outward():
        mass, centers[i], I = _at_center(model, i)
        X = body.joint.transform(q[body.q]) * body.tree_transform
        s = body.joint.motion_subspace(q[body.q]).columns[0]
        revolute = not _vanishes(s.angular)
        to_parent = linear3.subtract(centers[body.parent], X.r)
        c = linear3.subtract(linear3.apply(X.E, to_parent), centers[i])
        axis = s.angular if revolute else s.linear
        p = joint_rate_vector(axis, revolute, centers[i])
        links[i] = Link(X.E, c, p, revolute, mass, I, body.armature)
    return links


def along_base(model: Model, links: Mapping[int, Link]) -> Dict[int, Link]:
    """Return the same links with all vectors along the axes of the base, as the paper has them.

    :param links: links along their own axes, by body number
    """
    R: Dict[int, Matrix3] = {0: IDENTITY3}
    turned = {}
    for i, body in model.outward():
        link = links[i]
        R[i] = linear3.multiply(R[body.parent], linear3.transpose(link.E))
        p = Twist(linear3.apply(R[i], link.p.w), linear3.apply(R[i], link.p.v))
        I = linear3.rotate_symmetric(R[i], link.I)
        c = linear3.apply(R[i], link.c)
        turned[i] = link._replace(E=IDENTITY3, c=c, p=p, I=I)
    return turned


def placements(model: Model, links: Mapping[int, Link]) -> Dict[int, Tuple[Matrix3, Vector3]]:
    """Return the axes and center of mass of each link in base coordinates, by body number.

    :param links: links, by body number
    :return: rotation R from the axes of the link to those of the base, (3, 3), and the position
        of the center of mass, (3,) [m]
    """
    placed: Dict[int, Tuple[Matrix3, Vector3]] = {0: (IDENTITY3, ZERO3)}
    for i, body in model.outward():
        R_parent, C_parent = placed[body.parent]
        R = linear3.multiply(R_parent, linear3.transpose(links[i].E))
        placed[i] = R, linear3.subtract(C_parent, linear3.apply(R, links[i].c))
    return placed


def external_wrenches(
    model: Model,
    links: Mapping[int, Link],
    external_forces: Optional[Mapping[int, ForceVector]],
) -> Dict[int, Wrench]:
    """Return the wrenches w^E on links, about centers of mass, along their axes, by number.

    :param links: links, by body number
    :param external_forces: force on each body in base coordinates, by body number [N m, N]
    """
    if not external_forces:
        return {}
    placed, wrenches = placements(model, links), {}
    for i, force in external_forces.items():
        if i != 0:  # forces on the base have no effect
            R, C = placed[i]
            n = linear3.subtract(force.moment, linear3.cross(C, force.linear))
            wrenches[i] = Wrench(
                linear3.apply_transpose(R, n), linear3.apply_transpose(R, force.linear)
            )
    return wrenches


def against_gravity(model: Model) -> Twist:
    """Return the twist rate rho = [0; -g] of the base, which represents gravity (eq 32)."""
    return Twist(ZERO3, linear3.negate(model.gravity))


def require_simple_joints(
    model: Model, runtime_bodies: Sequence[int], chosen: Mapping[str, Any]
) -> None:
    """Check that every joint is revolute or prismatic, and that there are no loops.

    Other joints are chains of these, with links between that have no mass (after eq 15).

    :param runtime_bodies: bodies that get inertia at run time
    :param chosen: compile-time choices
    :raises ModelError: if there are others, naming them
    """
    others = [body.joint_name for body in model.bodies if not _is_simple(body.joint)]
    if others:
        raise ModelError(
            f'joints that are neither revolute nor prismatic: {_listed(others)}; replace each by '
            'a chain of revolute and prismatic joints'
        )
    if model.loops:
        raise ModelError(
            'this function ignores the loop constraints, but the robot has loops: '
            f'{_listed(loop.name for loop in model.loops)}'
        )


def require_free_joints(
    model: Model, runtime_bodies: Sequence[int], chosen: Mapping[str, Any]
) -> None:
    """Check the conditions of `require_simple_joints`, and that there are no mimic joints.

    :param runtime_bodies: bodies that get inertia at run time
    :param chosen: compile-time choices
    :raises ModelError: if not, naming the joints
    """
    require_simple_joints(model, runtime_bodies, chosen)
    if model.couplings:
        raise ModelError(
            'the recursion does not support mimic joints: '
            f'{_listed(model.body(c.body).joint_name for c in model.couplings)}'
        )


def _is_simple(joint: Any) -> bool:
    if joint.nv != 1 or joint.nq != 1 or not joint.is_lower_pair:
        return False
    s = joint.motion_subspace([0.0]).columns[0]
    return _vanishes(s.angular) != _vanishes(s.linear)


def _vanishes(a: Vector3) -> bool:
    return all(is_zero(x) for x in a)


def _at_center(model: Model, i: int) -> Tuple[Scalar, Vector3, Symmetric3]:
    """Return the mass, center and inertia about it; of a link without mass, about its origin."""
    inertia = model.body(i).inertia
    if is_zero(inertia.mass):
        return inertia.mass, ZERO3, inertia.I
    mass, center, I = inertia.mass_center()
    return mass, center, linear3.symmetric(I)


def _listed(names: Any) -> str:
    return ', '.join(map(repr, names))
