# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Recursive forward dynamics in three steps (Saha 1999, section 5.2, eq 33 to 37)."""

from __future__ import annotations

from typing import Dict, List, Mapping, Optional, Sequence

from rbd_ros.algorithms.declaration import algorithm, INDEPENDENT
from rbd_ros.algorithms.kinds import ACCELERATION, CONFIGURATION, EXTERNAL_FORCES, FORCE, VELOCITY
from rbd_ros.model import Model
from rbd_ros.spatial import ForceVector
from rbd_ros.spatial.scalar import Scalar
from rbd_ros.textbook.denoc.links import (
    external_wrenches,
    links_of,
    NO_TWIST,
    NO_WRENCH,
    require_free_joints,
    Twist,
    Wrench,
)
from rbd_ros.textbook.denoc.recursive_inverse_dynamics import inverse_dynamics_of
from rbd_ros.textbook.denoc.udu_decomposition import reverse_elimination


@algorithm(
    'denoc_forward_dynamics',
    inputs={
        'q': CONFIGURATION,
        'qd': VELOCITY,
        'tau': FORCE,
        'external_forces': EXTERNAL_FORCES,
    },
    outputs={'a': ACCELERATION},
    coordinates=INDEPENDENT,
    source='Saha 1999, section 5.2',
    check=require_free_joints,
)
def recursive_forward_dynamics(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    tau: Sequence[Scalar],
    external_forces: Optional[Mapping[int, ForceVector]] = None,
) -> List[Scalar]:
    """Return the accelerations that joint forces cause, from U D U^T qdd = phi.

    Rotor inertia is included.

    :param q: configuration, (nq,) [rad, m]
    :param qd: velocity, (nv,) [rad/s, m/s]
    :param tau: generalized forces, (nv,) [N m, N]
    :param external_forces: force on each body in base coordinates, by body number [N m, N]
    :return: accelerations, (nv,) [rad/s^2, m/s^2]
    :raises ZeroDivisionError: if the inertia at a joint is the constant 0
    """
    links = links_of(model, q)
    given = external_wrenches(model, links, external_forces)
    bias = inverse_dynamics_of(model, links, qd, [0.0] * model.tree_nv, given)
    phi = [force - b for force, b in zip(tau, bias)]
    found = reverse_elimination(model, links)

    # Steps 1 and 2: that = U^-1 phi and ttilde = D^-1 that (eq 34, 35). eta_i is the wrench of the
    # joints of its children on link i.
    eta: Dict[int, Wrench] = dict.fromkeys(links, NO_WRENCH)
    tau_tilde: Dict[int, Scalar] = {}
    for i, body in model.inward():
        link, psi = links[i], found[i].psi
        tau_hat = phi[body.v.start] - eta[i].power(link.p)
        tau_tilde[i] = tau_hat / found[i].pivot
        if body.parent != 0:
            w = link.propagated_back(psi.times(tau_hat).plus(eta[i]))
            eta[body.parent] = eta[body.parent].plus(w)

    # Step 3: qdd = U^-T ttilde (eq 36, 37)
    mu: Dict[int, Twist] = {0: NO_TWIST}
    qdd: List[Scalar] = [0.0] * model.tree_nv
    for i, body in model.outward():
        above = links[i].propagated(mu[body.parent])
        rate = tau_tilde[i] - found[i].psi.power(above)
        qdd[body.v.start] = rate
        mu[i] = above.plus(links[i].p.times(rate))
    return qdd
