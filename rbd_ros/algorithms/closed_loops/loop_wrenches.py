# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Forces that loop joints transmit from predecessor to successor (book 8.4)."""

from typing import List, Sequence

from rbd_ros.algorithms.closed_loops.loop_closure import loop_transforms
from rbd_ros.algorithms.closed_loops.loop_equations import active_force_subspace
from rbd_ros.algorithms.declaration import algorithm
from rbd_ros.algorithms.kinds import CONFIGURATION, LOOP_FORCES, LOOP_MULTIPLIERS, LOOP_WRENCHES
from rbd_ros.algorithms.kinematics.kinematics import body_transforms
from rbd_ros.model import Model
from rbd_ros.spatial import ForceVector
from rbd_ros.spatial.scalar import Scalar


@algorithm(
    'loop_wrenches',
    inputs={
        'q': CONFIGURATION,
        'multipliers': LOOP_MULTIPLIERS,
        'loop_forces': LOOP_FORCES,
    },
    outputs={'wrenches': LOOP_WRENCHES},
    source='RBDA eq 8.30',
)
def loop_wrenches(
    model: Model,
    q: Sequence[Scalar],
    multipliers: Sequence[Scalar],
    loop_forces: Sequence[Scalar],
) -> List[ForceVector]:
    """Return the force f_k = T lambda_k + T^a tau_k of each loop joint on its successor.

    Book eq 8.30.

    The predecessor gets the opposite force.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :param multipliers: constraint force variables lambda, (n^c,) [N m, N]
    :param loop_forces: active forces of the loop joints along their degrees of freedom [N m, N]
    :return: a force for each loop joint, in base coordinates [N m, N]
    """
    X0 = body_transforms(model, q)
    constraint, active = iter(multipliers), iter(loop_forces)
    wrenches = []
    for loop in model.loops:
        f = ForceVector.zero()
        Xs, X = loop_transforms(loop, X0)
        for T, x in zip(loop.joint.constraint_forces_at(X), constraint):
            f = f + T * x
        for Ta, x in zip(active_force_subspace(loop.joint, X), active):
            f = f + Ta * x
        wrenches.append(Xs.inverse_apply(f))
    return wrenches
