# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Mechanisms assembled from bodies and joints, for tests of spanning trees and polarity."""

import numpy as np

from rbd_ros.model.joints import Floating, Prismatic, Revolute
from rbd_ros.spatial import PluckerTransform, RigidBodyInertia
from rbd_ros.spatial.rotation import rpy_rotation
from rbd_ros.textbook.models import assemble, Connection, connectivity
from support.all_joints import slope

Z = (0.0, 0.0, 1.0)
CRANK, ROD, GRAVITY = 0.3, 0.8, (1.0, -9.0, 0.0)
MASSES = {'crank': 1.3, 'rod': 0.9, 'slider': 2.0}
CENTERS = {'crank': (0.1, 0.02, 0.3), 'rod': (0.5, -0.03, -0.2), 'slider': (0.05, 0.04, 0.1)}
MOMENTS = {'crank': 0.02, 'rod': 0.07, 'slider': 0.03}


def random_placement(rng):
    E = np.transpose(rpy_rotation(*rng.uniform(-3.0, 3.0, 3)))
    return PluckerTransform(tuple(map(tuple, E.tolist())), tuple(rng.normal(size=3).tolist()))


def random_inertia(rng):
    A = rng.normal(size=(3, 3))
    return RigidBodyInertia.from_mass_center(
        rng.uniform(0.5, 2.0), tuple(rng.normal(size=3).tolist()), (A @ A.T).tolist()
    )


def free_chain(joint, root, seed):
    """Return bodies a, b, c: the joint from a to b, a hinge from c to b; one of them floats.

    :param root: name of the body that the floating joint carries
    """
    rng = np.random.default_rng(seed)
    inertias = {name: random_inertia(rng) for name in 'abc'}
    places = [random_placement(rng) for _ in range(4)]
    between = Connection('between', 'a', 'b', joint, *places[:2], armature=0.3)
    return assemble(
        'chain',
        'world',
        inertias,
        [
            between,
            Connection('hinge', 'c', 'b', Revolute((0.48, -0.6, 0.64)), *places[2:]),
            Connection('free', 'world', root, Floating()),
        ],
        gravity=(1.0, -2.0, -9.0),
    )


def crank_slider_parts():
    """Return inertias and joints of a planar crank-slider, book figure 4.1, in the plane z = 0."""
    inertias = {
        name: RigidBodyInertia.from_mass_center(
            MASSES[name], CENTERS[name], np.diag([0.01, 0.02, MOMENTS[name]]).tolist()
        )
        for name in MASSES
    }
    at = PluckerTransform.translation
    along_x = Prismatic((1.0, 0.0, 0.0))
    joints = [
        Connection('J1', 'base', 'crank', Revolute(Z)),
        Connection('J2', 'crank', 'rod', Revolute(Z), at((CRANK, 0.0, 0.0))),
        Connection('J3', 'rod', 'slider', Revolute(Z), at((ROD, 0.0, 0.0))),
        Connection('J4', 'slider', 'base', along_x),  # so that it is reversed in some trees
    ]
    return inertias, joints


def crank_slider_graph():
    inertias, joints = crank_slider_parts()
    return connectivity('base', inertias, joints)


def crank_slider(numbering=None, **others):
    inertias, joints = crank_slider_parts()
    return assemble('crank slider', 'base', inertias, joints, numbering, gravity=GRAVITY, **others)


def crank_slider_joints(theta):
    """Return the positions of all four joints at a crank angle, by name."""
    phi = -np.arcsin(CRANK * np.sin(theta) / ROD)
    slide = CRANK * np.cos(theta) + ROD * np.cos(phi)
    # J4 connects from the slider to the base, so the base moves relative to it, in reverse
    return {'J1': theta, 'J2': phi - theta, 'J3': -phi, 'J4': -slide}


def crank_slider_acceleration(theta, rate):
    """Return the acceleration of the crank under gravity alone.

    It is from Lagrange's equation of one degree of freedom.
    """

    def centers(angle):
        q = crank_slider_joints(angle)
        phi = q['J1'] + q['J2']
        origins = {
            'crank': (angle, np.zeros(2)),
            'rod': (phi, CRANK * np.array([np.cos(angle), np.sin(angle)])),
            'slider': (0.0, np.array([-q['J4'], 0.0])),
        }
        found = {}
        for name, (turn, origin) in origins.items():
            R = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
            found[name] = turn, origin + R @ CENTERS[name][:2]
        return found

    def inertia(angle):
        total = 0.0
        for name in MASSES:
            turning = slope(lambda t, name=name: centers(angle + t)[name][0])
            moving = slope(lambda t, name=name: centers(angle + t)[name][1])
            total += MASSES[name] * moving @ moving + MOMENTS[name] * turning**2
        return total

    def potential(angle):
        return -sum(MASSES[name] * centers(angle)[name][1] @ GRAVITY[:2] for name in MASSES)

    dm = slope(lambda t: inertia(theta + t))
    dV = slope(lambda t: potential(theta + t))
    return -(0.5 * dm * rate**2 + dV) / inertia(theta)
