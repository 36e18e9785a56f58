# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Generalized forces of wrenches on the links, by composite wrenches (Saha 1999, eq 30, 31)."""

from __future__ import annotations

from typing import Dict, List, Mapping, Optional, Sequence

from rbd_ros.algorithms.declaration import algorithm
from rbd_ros.algorithms.kinds import CONFIGURATION, EXTERNAL_FORCES, FORCE
from rbd_ros.model import Model
from rbd_ros.spatial import ForceVector, linear3
from rbd_ros.spatial.linear3 import ZERO3
from rbd_ros.spatial.scalar import Scalar
from rbd_ros.textbook.denoc.links import (
    external_wrenches,
    Link,
    links_of,
    NO_WRENCH,
    placements,
    require_simple_joints,
    Wrench,
)


@algorithm(
    'denoc_generalized_forces',
    inputs={'q': CONFIGURATION, 'external_forces': EXTERNAL_FORCES},
    outputs={'tau': FORCE},
    source='Saha 1999, eq 30 and 31',
    check=require_simple_joints,
)
def generalized_forces(
    model: Model,
    q: Sequence[Scalar],
    external_forces: Optional[Mapping[int, ForceVector]] = None,
) -> List[Scalar]:
    """Return the generalized forces N^T w^E of gravity and external forces.

    With those of the motors they accelerate the links: I qdd + C qd = N^T w^E + tau.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :param external_forces: force on each body in base coordinates, by body number [N m, N]
    :return: generalized forces of the tree, (tree_nv,) [N m, N]
    """
    links = links_of(model, q)
    placed = placements(model, links)
    wrenches = external_wrenches(model, links, external_forces)
    for i, link in links.items():
        weight = linear3.scale(link.mass, model.gravity)
        w = Wrench(ZERO3, linear3.apply_transpose(placed[i][0], weight))
        wrenches[i] = wrenches.get(i, NO_WRENCH).plus(w)
    return composite_forces(model, links, wrenches)


def composite_forces(
    model: Model, links: Mapping[int, Link], wrenches: Mapping[int, Wrench]
) -> List[Scalar]:
    """Return the generalized forces p_i^T wtilde_i of composite wrenches.

    With wtilde_i = w_i + sum B^T wtilde_k.

    :param links: links, by body number
    :param wrenches: wrench on each, along its axes, by body number
    """
    composite: Dict[int, Wrench] = dict(wrenches)
    tau: List[Scalar] = [0.0] * model.tree_nv
    for i, body in model.inward():
        tau[body.v.start] = composite[i].power(links[i].p)
        if body.parent != 0:
            w = links[i].propagated_back(composite[i])
            composite[body.parent] = composite[body.parent].plus(w)
    return tau
