# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Kinetic and potential energy and spatial momentum of a tree (book 2.12, eq 1.1)."""

from typing import Any, NamedTuple, Sequence

from rbd_ros.algorithms.declaration import algorithm
from rbd_ros.algorithms.kinds import CONFIGURATION, MOMENTUM, SCALAR, VELOCITY
from rbd_ros.algorithms.kinematics.kinematics import body_velocities
from rbd_ros.model import Model
from rbd_ros.spatial import ForceVector, linear3
from rbd_ros.spatial.scalar import Scalar


class Energy(NamedTuple):
    """Energy of a robot [J]; arrays for a batch.

    :param kinetic: kinetic energy, rotors included
    :param potential: potential energy, zero with all mass at the height of the base origin
    """

    kinetic: Any
    potential: Any

    @property
    def total(self) -> Any:
        """Kinetic and potential energy together [J]."""
        return self.kinetic + self.potential


@algorithm(
    'energy',
    inputs={'q': CONFIGURATION, 'qd': VELOCITY},
    outputs={'kinetic': SCALAR, 'potential': SCALAR},
    result=Energy,
    source='RBDA 2.12',
)
def energy(model: Model, q: Sequence[Scalar], qd: Sequence[Scalar]) -> Energy:
    """Return the kinetic energy, rotors included, and potential energy of all moving bodies.

    The potential energy is zero where all mass is at the height of the base's origin.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :param qd: velocity of the tree, (tree_nv,) [rad/s, m/s]
    :return: kinetic and potential energy [J]
    """
    X0, v = body_velocities(model, q, qd)
    kinetic, potential = 0.0, 0.0
    for i, body in model.outward():
        kinetic = kinetic + v[i].dot(body.inertia * v[i])
        for rate in qd[body.v]:
            kinetic = kinetic + body.armature * rate * rate
        X, inertia = X0[i], body.inertia
        moment = linear3.add(
            linear3.apply_transpose(X.E, inertia.h), linear3.scale(inertia.mass, X.r)
        )
        potential = potential - linear3.dot(tuple(model.gravity), moment)
    return Energy(kinetic * 0.5, potential)


@algorithm(
    'momentum',
    inputs={'q': CONFIGURATION, 'qd': VELOCITY},
    outputs={'h': MOMENTUM},
    source='RBDA eq 2.58',
    pinocchio_equivalent='computeCentroidalMomentum',
)
def momentum(model: Model, q: Sequence[Scalar], qd: Sequence[Scalar]) -> ForceVector:
    """Return the spatial momentum of all moving bodies in base coordinates, (6,) [N m s, N s].

    First the angular momentum about the base's origin, then the linear momentum. Rotors (armature)
    rotate within their bodies, and do not count.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :param qd: velocity of the tree, (tree_nv,) [rad/s, m/s]
    """
    X0, v = body_velocities(model, q, qd)
    total = ForceVector.zero()
    for i, body in model.outward():
        total = total + X0[i].inverse_apply(body.inertia * v[i])
    return total
