# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Mechanisms with loops, made link by link, and their dynamics by textbook linear algebra.

Links are rods along x of their frames, hinged about z, so angles add up and plane trigonometry can
check everything; masses and inertias are random ones in space.
"""

import math
from typing import NamedTuple

import numpy as np

from rbd_ros.algorithms.closed_loops.loop_closure import loop_closure
from rbd_ros.algorithms.inertia_matrix.crba import crba
from rbd_ros.model import Body, Frame, Link, LoopJoint, Model
from rbd_ros.model.joints import Prismatic, Revolute, Spherical
from rbd_ros.spatial import PluckerTransform, RigidBodyInertia
from rbd_ros.spatial.scalar import cos, sin, sqrt
from rbd_ros.textbook.closed_loops.explicit_loops import four_quadrant_angle
from rbd_ros.textbook.tree_dynamics.rnea_spatial import rnea_spatial

HINGE = Revolute((0.0, 0.0, 1.0))
SLIDER = Prismatic((1.0, 0.0, 0.0))
GRAVITY = (0.7, -9.0, 0.4)  # out of the plane as well: the bearings carry it
STEP = 1e-30


class Rod(NamedTuple):
    """A body, and the placement of its joint on its parent.

    :param parent: number of the parent
    :param at: distance along the parent's x axis, or a point (3,), or a whole transform
    :param joint: joint type
    """

    parent: int
    at: object = 0.0
    joint: object = HINGE


def place(at):
    """Return the transform of a point on x, of a point in space, or the transform itself."""
    if isinstance(at, PluckerTransform):
        return at
    return PluckerTransform.translation((at, 0.0, 0.0) if np.isscalar(at) else tuple(at))


def frame(body, at=0.0):
    """Return a frame on a body."""
    return Frame(body, place(at))


def linkage(rods, loops=(), seed=0, armature=0.0, massless=()):
    """Return the model of rods, closed by loop joints.

    :param rods: bodies 1, 2, ... in order
    :param loops: (predecessor frame, successor frame, joint type) each
    :param massless: numbers of the bodies without inertia
    """
    rng = np.random.default_rng(seed)
    bodies, links = [], []
    for i, rod in enumerate(rods, start=1):
        A = rng.normal(size=(3, 3))
        center = tuple(rng.uniform(-0.2, 0.3, 3).tolist())
        mass = rng.uniform(0.5, 2.0)
        inertia = RigidBodyInertia.from_mass_center(mass, center, (0.1 * A @ A.T).tolist())
        if i in massless:
            inertia = RigidBodyInertia.zero()
        X_T = place(rod.at)
        bodies.append(
            Body(f'rod{i}', rod.parent, f'joint{i}', rod.joint, X_T, inertia, armature=armature)
        )
        links.append(Link(f'rod{i}', i, PluckerTransform.identity(), inertia))
    model = Model.create('linkage', bodies, links, gravity=GRAVITY)
    return model.with_loops(
        LoopJoint(f'loop{n}', predecessor, successor, joint)
        for n, (predecessor, successor, joint) in enumerate(loops, start=1)
    )


# -- configurations


def closure(model, q):
    """Return the position errors and Jacobian of the loops of the tree, as arrays."""
    residual, K = loop_closure(model, list(q))
    return np.array(residual), np.array(K).reshape(-1, model.tree_nv)


def closed(model, q, fixed=()):
    """Return a configuration near q with closed loops; some variables stay fixed."""
    q = np.array(q, dtype=float)
    moving = [j for j in range(len(q)) if j not in fixed]
    for _ in range(60):
        residual, K = closure(model, q)
        q[moving] -= np.linalg.lstsq(K[:, moving], residual, rcond=1e-9)[0]
    assert np.abs(closure(model, q)[0]).max() < 1e-12, 'the loops do not close'
    return q


def admissible(model, q, rng):
    """Return a random velocity that keeps the loops closed."""
    _, K = closure(model, q)
    _, s, Vt = np.linalg.svd(K)
    null = Vt[np.sum(s > 1e-9 * s.max(initial=1.0)) :]
    return null.T @ rng.normal(size=len(null))


# -- dynamics


def acceleration_constraint(model, q, qd):
    """Return K and k of K qdd = k, with k = -Kdot qd by a complex step along qd."""
    rate = np.concatenate(
        [body.joint.position_rate(q[body.q], qd[body.v]) for body in model.bodies]
    )
    _, K = closure(model, q)
    _, ahead = closure(model, q + 1j * STEP * rate)
    return K.real, -(ahead.imag / STEP) @ qd


def kkt(model, q, qd, tau, forces=None):
    """Return the accelerations of the tree by its mass matrix and Lagrange multipliers.

    Book eq 3.17.
    """
    H = np.array(crba(model, list(q)))
    C = np.array(rnea_spatial(model, list(q), list(qd), [0.0] * model.tree_nv, forces))
    K, k = acceleration_constraint(model, q, qd)
    free = np.linalg.solve(H, tau - C)
    A = K @ np.linalg.solve(H, K.T)
    multipliers = np.linalg.pinv(A, rcond=1e-9, hermitian=True) @ (k - K @ free)
    return free + np.linalg.solve(H, K.T @ multipliers), multipliers


# -- mechanisms


def four_bar(joint=HINGE, lengths=(0.3, 0.25, 0.22), ground=0.5, seed=1, out_of_plane=0.0):
    """Return the crank, coupler and rocker.

    The rocker's tip is joined to the ground by a loop joint.
    """
    crank, coupler, rocker = lengths
    rods = [Rod(0), Rod(1, crank), Rod(2, coupler)]
    tip = (rocker, 0.0, out_of_plane)
    return linkage(rods, [(frame(0, ground), frame(3, tip), joint)], seed)


FOUR_BAR = (0.9, -1.2, -0.9)  # roughly closed


def kites(joint=HINGE, arm=0.4, side=0.3):
    """Return two kites that share a side which turns: n = 5, two loops (book figure 8.2a).

    Body 1 rotates about the ground's origin A and has C at its end; B is on the ground, equally
    far from A. A kite is A, B, C and a point D with arms BD and CD of equal length.
    """
    rods = [Rod(0), Rod(1, arm), Rod(0, arm), Rod(1, arm), Rod(0, arm)]
    loops = [
        (frame(2, side), frame(3, side), joint),
        (frame(4, side), frame(5, side), joint),
    ]
    return linkage(rods, loops, seed=2)


def kites_closed(theta, arm=0.4, side=0.3):
    """Return the configuration with D beyond BC in one kite, before it in the other."""
    half, q = 0.5 * theta, [theta]
    C = arm * np.exp(1j * theta)
    for sign in (1.0, -1.0):
        along = arm * np.cos(half) + sign * np.sqrt(side**2 - (arm * np.sin(half)) ** 2)
        D = along * np.exp(1j * half)
        q += [np.angle(D - C) - theta, np.angle(D - arm)]
    return np.array(q)


def folded_kites(first, second):
    """Return the configuration of kites with coincident B and C.

    Each pair of arms rotates as one, at its own angle.
    """
    return np.array([0.0, first, first, second, second])


TRIANGLE = (0.9, 0.6)  # its sides l1 and l2


def triangle_arm(joint=HINGE):
    """Return a two-link arm whose first link is moved by a linear actuator (book figure 8.3).

    Body 1 is the arm, which rotates about the origin of the ground; body 2 the cylinder, on a
    hinge l1 along x; body 3 the piston, which slides along the cylinder's x axis; body 4 the
    forearm. The piston's end is hinged to body 1, l2 from its axis.
    """
    l1, l2 = TRIANGLE
    rods = [Rod(0), Rod(0, l1), Rod(2, 0.0, SLIDER), Rod(1, 1.1)]
    return linkage(rods, [(frame(1, l2), frame(3), joint)], seed=3)


def triangle(y):
    """Return the loop-closure function of figure 8.3: q = (y1, theta2, d, y2)."""
    l1, l2 = TRIANGLE
    x, z = l2 * cos(y[0]) - l1, l2 * sin(y[0])
    d = sqrt(l1 * l1 + l2 * l2 - 2.0 * l1 * l2 * cos(y[0]))
    return [y[0], four_quadrant_angle(z, x), d, y[1]]


def triangle_derivatives(y, yd):
    """Return G and g as printed in figure 8.3, and its u1 and u2."""
    l1, l2 = TRIANGLE
    c, s = math.cos(y[0]), math.sin(y[0])
    d = math.sqrt(l1**2 + l2**2 - 2 * l1 * l2 * c)
    u1 = (l2**2 - l1 * l2 * c) / d**2
    u2 = l1 * l2 * s / d
    u3 = (l1**2 - l2**2) * l1 * l2 * s / d**4 * yd[0] ** 2
    u4 = (l1 * l2 * c - u2**2) / d * yd[0] ** 2
    return np.array([[1, 0], [u1, 0], [u2, 0], [0, 1]]), np.array([0, u3, u4, 0]), (u1, u2)


def clusters():
    """Return the system of 20 tree joints and 4 loop joints: loops 1 and 2 coupled, 3 and 4 alone.

    Loop joints 21 and 22 close joints 3 to 7, 23 closes 10 to 12, 24 closes 19 and 20. The second
    is a ball, the others are hinges.
    """
    parents = [0, 1, 2, 3, 2, 5, 4, 7, 8, 9, 10, 9, 8, 13, 14, 13, 16, 1, 18, 18]
    pairs = [(4, 6), (7, 6), (11, 12), (19, 20)]
    joints = (HINGE, Spherical(), HINGE, HINGE)
    loops = [(frame(p, 0.2), frame(s, 0.3), joint) for (p, s), joint in zip(pairs, joints)]
    return linkage([Rod(parent, 0.25) for parent in parents], loops, seed=4)


def ladder(rungs, joint):
    """Return a ladder, extended by a square for each rung (book figure 8.4).

    It has two rails, and loops between them.

    Bodies 1, 3, 5, ... and 2, 4, 6, ... are the rods of the rails, each on the one before; rungs
    are loop joints between the tips of the one rail and arms of the other.

    :param joint: type of all joints
    """
    rods, loops = [], []
    for i in range(rungs):
        for side in (1, 2):
            before = 2 * (i - 1) + side if i else 0
            start = (0.0, 0.4 * (side - 1), 0.0) if i == 0 else (0.5, 0.0, 0.0)
            rods.append(Rod(before, start, joint))
        ends = frame(2 * i + 1, (0.5, 0.0, 0.0)), frame(2 * i + 2, (0.5, -0.4, 0.0))
        loops.append((*ends, joint))
    return linkage(rods, loops, seed=5)


def neutral(model):
    """Return the neutral configuration, (tree_nq,)."""
    return np.concatenate([body.joint.neutral() for body in model.bodies])
