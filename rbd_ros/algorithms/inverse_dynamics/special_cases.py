# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Inverse dynamics without zero terms: gravity alone, velocity products alone (book 5.3).

They show the simplified forms of `gravity_torque` and `bias_force` of rnea.py after compilation.
"""

from typing import List, Sequence

from rbd_ros.algorithms.declaration import algorithm, EQUIVALENT
from rbd_ros.algorithms.inverse_dynamics.forces import gravity_acceleration
from rbd_ros.algorithms.inverse_dynamics.rnea import rnea
from rbd_ros.algorithms.kinds import CONFIGURATION, FORCE, VELOCITY
from rbd_ros.model import Model
from rbd_ros.spatial.scalar import Scalar


def gravity_compensation(model: Model, q: Sequence[Scalar]) -> List[Scalar]:
    """Return the joint forces that hold the tree still: f_i = -I_i a_g + those of the children.

    Eq 5.12.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :return: tau = ID(q, 0, 0), (tree_nv,) [N m, N]
    """
    X, a_g, f = {}, {0: gravity_acceleration(model)}, {}
    for i, body in model.outward():
        X[i] = body.joint.transform(q[body.q]) * body.tree_transform
        a_g[i] = X[i] * a_g[body.parent]
        f[i] = -(body.inertia * a_g[i])
    tau: List[Scalar] = [0.0] * model.tree_nv
    for i, body in model.inward():
        tau[body.v] = body.joint.motion_subspace(q[body.q]).T @ f[i]
        if body.parent != 0:
            f[body.parent] = f[body.parent] + X[i].inverse_apply(f[i])
    return tau


@algorithm(
    'coriolis_torque',
    inputs={'q': CONFIGURATION, 'qd': VELOCITY},
    outputs={'tau': FORCE},
    model=EQUIVALENT,
    source='RBDA 5.3',
)
def coriolis_torque(model: Model, q: Sequence[Scalar], qd: Sequence[Scalar]) -> List[Scalar]:
    """Return the joint forces of Coriolis and centrifugal effects: ID(q, qd, 0) without gravity.

    They are quadratic in the velocity.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :param qd: velocity of the tree, (tree_nv,) [rad/s, m/s]
    :return: C(q, qd) qd, (tree_nv,) [N m, N]
    """
    weightless = model.with_gravity((0.0, 0.0, 0.0))
    return rnea(weightless, q, qd, [0.0] * model.tree_nv)
