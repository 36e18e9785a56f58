# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Forward dynamics: by the articulated-body algorithm, or by the joint-space inertia matrix.

The articulated-body algorithm (aba.py) does not support gears between branches; a tree with gears
uses the reduced inertia matrix (book 6.1, 9.6). Kernels for trees of hinges use axial screws
(hinge_trees/hinge_forward_dynamics.py) where that takes fewer operations.
"""

from typing import List, Mapping, Optional, Sequence

from rbd_ros.algorithms.articulated_body.aba import aba, plus_diagonal
from rbd_ros.algorithms.declaration import algorithm, EQUIVALENT, INDEPENDENT
from rbd_ros.algorithms.hinge_trees.hinge_forward_dynamics import hinge_forward_dynamics
from rbd_ros.algorithms.hinge_trees.hinge_frames import has_free_hinges
from rbd_ros.algorithms.inertia_matrix.crba import mass_matrix
from rbd_ros.algorithms.inertia_matrix.factorization import ltdl
from rbd_ros.algorithms.inertia_matrix.singularity import require_regular_mass_matrix
from rbd_ros.algorithms.inverse_dynamics.rnea import rnea
from rbd_ros.algorithms.kinds import (
    ACCELERATION,
    CONFIGURATION,
    DIAGONAL,
    EXTERNAL_FORCES,
    FORCE,
    VELOCITY,
)
from rbd_ros.model import Model
from rbd_ros.spatial import ForceVector
from rbd_ros.spatial.scalar import Scalar


@algorithm(
    'forward_dynamics',
    inputs={
        'q': CONFIGURATION,
        'qd': VELOCITY,
        'tau': FORCE,
        'external_forces': EXTERNAL_FORCES,
        'diagonal': DIAGONAL,
    },
    outputs={'a': ACCELERATION},
    coordinates=INDEPENDENT,
    model=EQUIVALENT,
    source='RBDA table 7.1; 9.6 with gears',
    check=require_regular_mass_matrix,
    pinocchio_equivalent='aba',
    specialization=hinge_forward_dynamics,
    applicable_when=has_free_hinges,
)
def forward_dynamics(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    tau: Sequence[Scalar],
    external_forces: Optional[Mapping[int, ForceVector]] = None,
    diagonal: Optional[Sequence[Scalar]] = None,
) -> List[Scalar]:
    """Return the accelerations that generalized forces cause, by the algorithm for the model.

    It is the articulated-body algorithm (`aba`); with gears, the inertia matrix is factorized. The
    kernel of a tree of free hinges is made of `hinge_forward_dynamics`, the U D U^T recursion by
    axial screws, if that takes fewer operations.

    :param q: independent configuration, (nq,) [rad, m]
    :param qd: independent velocity, (nv,) [rad/s, m/s]
    :param tau: independent generalized forces, (nv,) [N m, N]
    :param external_forces: force on each body in base coordinates, by body number [N m, N]
    :param diagonal: added to the diagonal of the inertia matrix, (nv,) [kg m^2, kg]
    :return: independent accelerations, (nv,) [rad/s^2, m/s^2]
    :raises ZeroDivisionError: if the inertia at a joint is the constant 0
    """
    if model.couplings:
        return forward_dynamics_by_inertia_matrix(model, q, qd, tau, external_forces, diagonal)
    return aba(model, q, qd, tau, external_forces, diagonal)


def forward_dynamics_by_inertia_matrix(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    tau: Sequence[Scalar],
    external_forces: Optional[Mapping[int, ForceVector]] = None,
    diagonal: Optional[Sequence[Scalar]] = None,
) -> List[Scalar]:
    """Return the accelerations ydd of G^T H G ydd = tau - G^T C of the independent coordinates.

    Source: book eq 3.20 and 9.26, with g = 0.

    :param q: independent configuration, (nq,) [rad, m]
    :param qd: independent velocity, (nv,) [rad/s, m/s]
    :param tau: independent generalized forces, (nv,) [N m, N]
    :param external_forces: force on each body in base coordinates, by body number [N m, N]
    :param diagonal: added to the diagonal of the inertia matrix, (nv,)
    :return: independent accelerations, (nv,) [rad/s^2, m/s^2]
    """
    tree_q, tree_qd = model.tree_position(q), model.tree_velocity(qd)
    C = model.independent_force(
        rnea(model, tree_q, tree_qd, [0.0] * model.tree_nv, external_forces)
    )
    H = mass_matrix(model, q)
    if diagonal is not None:
        H = plus_diagonal(H, diagonal)
    return ltdl(H).solve([t - c for t, c in zip(tau, C)])
