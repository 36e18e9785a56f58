# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Recursive inverse dynamics (Saha 1999, section 5.1): twists outward, wrenches inward."""

from __future__ import annotations

from typing import Dict, List, Mapping, Optional, Sequence

from rbd_ros.algorithms.declaration import algorithm
from rbd_ros.algorithms.kinds import ACCELERATION, CONFIGURATION, EXTERNAL_FORCES, FORCE, VELOCITY
from rbd_ros.model import Model
from rbd_ros.spatial import ForceVector, linear3
from rbd_ros.spatial.linear3 import Vector3, ZERO3
from rbd_ros.spatial.scalar import Scalar
from rbd_ros.textbook.denoc.generalized_forces import composite_forces
from rbd_ros.textbook.denoc.links import (
    against_gravity,
    external_wrenches,
    Link,
    links_of,
    NO_WRENCH,
    require_simple_joints,
    Twist,
    Wrench,
)


@algorithm(
    'denoc_inverse_dynamics',
    inputs={
        'q': CONFIGURATION,
        'qd': VELOCITY,
        'qdd': ACCELERATION,
        'external_forces': EXTERNAL_FORCES,
    },
    outputs={'tau': FORCE},
    source='Saha 1999, section 5.1',
    check=require_simple_joints,
)
def recursive_inverse_dynamics(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    external_forces: Optional[Mapping[int, ForceVector]] = None,
) -> List[Scalar]:
    """Return the joint forces of a motion; rotor inertia is included, joint friction is not.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :param qd: velocity of the tree, (tree_nv,) [rad/s, m/s]
    :param qdd: acceleration of the tree, (tree_nv,) [rad/s^2, m/s^2]
    :param external_forces: force on each body in base coordinates, by body number [N m, N]
    :return: generalized forces of the tree, (tree_nv,) [N m, N]
    """
    links = links_of(model, q)
    given = external_wrenches(model, links, external_forces)
    tau = inverse_dynamics_of(model, links, qd, qdd, given)
    for i, body in model.outward():
        k = body.v.start
        tau[k] = tau[k] + links[i].rotor * qdd[k]
    return tau


def inverse_dynamics_of(
    model: Model,
    links: Mapping[int, Link],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    given: Mapping[int, Wrench],
) -> List[Scalar]:
    """Return the joint forces of a motion of links without rotors.

    :param links: links, by body number
    :param qd: joint rates of the tree, (tree_nv,) [rad/s, m/s]
    :param qdd: their rates, (tree_nv,) [rad/s^2, m/s^2]
    :param given: external wrenches on links, by body number
    """
    # Gravity is an acceleration rho of the base (eq 32). Of the twists nu, only the angular
    # velocities w and differences of velocities enter the forces.
    w: Dict[int, Vector3] = {0: ZERO3}
    nudot: Dict[int, Twist] = {0: against_gravity(model)}
    gamma: Dict[int, Wrench] = {}
    for i, body in model.outward():
        link, j, k = links[i], body.parent, body.v.start
        joint, w_j = link.p.times(qd[k]), linear3.apply(link.E, w[j])
        w[i] = linear3.add(w_j, joint.w)
        # Bdot_ij nu_j = cdot_ij x w_j with cdot_ij = v_j - v_i
        relative = linear3.add(linear3.cross(link.c, w_j), joint.v)
        nudot[i] = (
            link.propagated(nudot[j])
            .plus(Twist(ZERO3, linear3.cross(w_j, relative)))
            .plus(joint.turned(w[i]))
            .plus(link.p.times(qdd[k]))
        )
        gamma[i] = link.newton_euler(w[i], nudot[i]).minus(given.get(i, NO_WRENCH))
    return composite_forces(model, links, gamma)
