# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Equations of motion in closed form: H qdd + C_ijk qd_j qd_k + g (book eq 5.6).

It precedes the recursive algorithms: coefficients of all accelerations and of all products of two
velocities. Their number grows with the cube of the number of joints.
"""

from typing import List, Sequence

from rbd_ros.algorithms.declaration import algorithm, EQUIVALENT
from rbd_ros.algorithms.inertia_matrix.crba_absolute import crba_absolute
from rbd_ros.algorithms.inverse_dynamics.coriolis import coriolis_matrix
from rbd_ros.algorithms.inverse_dynamics.special_cases import gravity_compensation
from rbd_ros.algorithms.kinds import ACCELERATION, CONFIGURATION, CORIOLIS_TENSOR, FORCE, VELOCITY
from rbd_ros.model import Model
from rbd_ros.spatial.scalar import inner, Scalar

Tensor = List[List[List[Scalar]]]


@algorithm(
    'coriolis_tensor',
    inputs={'q': CONFIGURATION},
    outputs={'C': CORIOLIS_TENSOR},
    model=EQUIVALENT,
    source='RBDA eq 5.6',
)
def coriolis_tensor(model: Model, q: Sequence[Scalar]) -> Tensor:
    """Return the coefficients C_ijk of the velocity products: tau_i has the part C_ijk qd_j qd_k.

    The Coriolis matrix is C_ij = C_ijk qd_k, computed column by column. If the
    velocity is the rate of the position they are the Christoffel symbols of the first kind,
    C_ijk = (dH_ij/dq_k + dH_ik/dq_j - dH_jk/dq_i) / 2, and symmetric in j and k.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :return: C, (tree_nv, tree_nv, tree_nv) [kg m^2, kg m, kg]
    """
    n = model.tree_nv
    slices = [
        coriolis_matrix(model, q, [1.0 if k == m else 0.0 for m in range(n)]) for k in range(n)
    ]
    return [[[slices[k][i][j] for k in range(n)] for j in range(n)] for i in range(n)]


@algorithm(
    'closed_form_inverse_dynamics',
    inputs={'q': CONFIGURATION, 'qd': VELOCITY, 'qdd': ACCELERATION},
    outputs={'tau': FORCE},
    model=EQUIVALENT,
    source='RBDA eq 5.6',
    pinocchio_equivalent='rnea',
)
def closed_form_inverse_dynamics(
    model: Model, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> List[Scalar]:
    """Return the joint forces H_ij qdd_j + C_ijk qd_j qd_k + g_i, (tree_nv,) [N m, N].

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :param qd: velocity of the tree, (tree_nv,) [rad/s, m/s]
    :param qdd: acceleration of the tree, (tree_nv,) [rad/s^2, m/s^2]

    >>> forces = robot.kernel('closed_form_inverse_dynamics').function(q, v, a)
    >>> np.allclose(forces, tau)
    True
    """
    H, C = crba_absolute(model, q), coriolis_tensor(model, q)
    g = gravity_compensation(model, q)
    return [
        inner(H[i], qdd) + inner([inner(row, qd) for row in C[i]], qd) + g[i]
        for i in range(model.tree_nv)
    ]
