# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Inertia matrix of trees of hinges by axial screws, for kernels (book 10.3, 9.7)."""

from __future__ import annotations

from typing import List, Sequence

from rbd_ros.algorithms.declaration import algorithm, INDEPENDENT, REDUCED
from rbd_ros.algorithms.hinge_trees.crba_by_screws import (
    crba_by_screws,
    Screw,
    screw_states,
    ScrewBody,
)
from rbd_ros.algorithms.hinge_trees.forward_dynamics_by_screws import (
    link_inertia,
    screw_links,
    ScrewLink,
)
from rbd_ros.algorithms.hinge_trees.hinge_frames import require_free_hinges
from rbd_ros.algorithms.kinds import CONFIGURATION, INERTIA_MATRIX
from rbd_ros.model import Model
from rbd_ros.spatial.scalar import Scalar


@algorithm(
    'hinge_mass_matrix',
    inputs={'q': CONFIGURATION},
    outputs={'H': INERTIA_MATRIX},
    coordinates=INDEPENDENT,
    model=REDUCED,
    source='RBDA 10.3, table 10.2; 9.7',
    check=require_free_hinges,
)
def hinge_mass_matrix(model: Model, q: Sequence[Scalar]) -> List[List[Scalar]]:
    """Return the joint-space inertia matrix of a tree of revolute joints without mimic joints.

    :param q: joint angles, (nq,) [rad]
    :return: symmetric, rotor inertia included, (nv, nv) [kg m^2]

    >>> np.allclose(robot.kernel('hinge_mass_matrix').function(q), robot.mass_matrix(q))
    True
    """
    bodies = [_body(link) for link in screw_links(model)]
    return crba_by_screws(bodies, screw_states(bodies, q))


def _body(link: ScrewLink) -> ScrewBody:
    """Return the part of a body's inertia that its hinge excites, which has no mass."""
    screws = {x.axis: Screw.of(x.c, x.s, x.d, 0.0) for x in link.screws}
    return ScrewBody(
        link.parent,
        None if link.parent == 0 else screws.get(2),
        screws[0],
        link.offset,
        link.distance,
        0.0,
        link_inertia(link),
        link.armature,
        screws[1].distance if 1 in screws else 0.0,
    )
